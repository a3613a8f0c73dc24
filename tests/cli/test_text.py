"""``dala filter --text``: on pictures, animations and videos."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

import dala
from dala import video
from dala.cli import main
from dala.cli.captions import Caption, tell_time


def run(*arguments: object) -> int:
    with dala.use("cpu"):
        return main([str(a) for a in arguments])


def ink(pixels: np.ndarray, ground: tuple[int, int, int]) -> tuple[float, float]:
    """The middle of what is not the ground."""
    found = np.argwhere(np.abs(pixels.astype(int) - ground).max(axis=2) > 40)
    assert len(found)
    y, x = found.mean(axis=0)
    return float(x), float(y)


@pytest.mark.parametrize(
    ("at", "x", "y"), [("top-left", 20, 12), ("bottom", 100, 90), ("center", 100, 50)]
)
def test_a_picture(tmp_path: Path, at: str, x: float, y: float) -> None:
    Image.new("RGB", (200, 100), (0, 0, 255)).save(tmp_path / "in.png")
    out = tmp_path / "out.png"
    assert run("filter", tmp_path / "in.png", out, "--invert", "--text", "Oo", "--text-at", at,
               "--text-color", "red", "--text-size", 16, "-q") == 0  # fmt: skip
    pixels = np.asarray(Image.open(out))
    assert pixels[50, 0].tolist() == [255, 255, 0]  # inverted, and the text behind that
    assert ink(pixels, (255, 255, 0)) == pytest.approx((x, y), abs=8)
    assert [255, 0, 0] in pixels.reshape(-1, 3).tolist()


def test_pixels_a_deep_picture_and_every_file_by_its_name(tmp_path: Path) -> None:
    deep = np.full((60, 120), 30_000, np.uint16)
    Image.fromarray(deep).save(tmp_path / "i.png")
    Image.fromarray(deep).save(tmp_path / "a_much_longer_name.png")
    out = tmp_path / "out"
    out.mkdir()
    assert run("filter", tmp_path / "i.png", tmp_path / "a_much_longer_name.png", f"{out}/", "-q",
               "--text", "{name}", "--text-at", "4,20", "--text-size", 9) == 0  # fmt: skip
    short, long = (
        np.asarray(Image.open(out / name)) for name in ("i.png", "a_much_longer_name.png")
    )
    assert short.dtype == np.uint16 and short[0, 0] == 30_000 and short.max() > 45_000
    assert (long != 30_000).any(0).sum() > 2 * (short != 30_000).any(0).sum()
    assert not (short[:18] != 30_000).any()


def test_an_animation(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (160, 60), (0, level, 0)) for level in (0, 60, 120)]
    frames[0].save(tmp_path / "in.gif", save_all=True, append_images=frames[1:], duration=500)
    out = tmp_path / "out.gif"
    assert run("filter", tmp_path / "in.gif", out, "--text", "{frame} {time}", "-q") == 0
    with Image.open(out) as opened:
        shown = [np.asarray(f.convert("RGB")) for f in ImageSequence.Iterator(opened)]
    assert len(shown) == 3
    masks = [(frame.min(axis=2) > 128) for frame in shown]
    assert masks[0].any() and not np.array_equal(masks[0], masks[1])


def test_a_video(tmp_path: Path) -> None:
    clip, out = tmp_path / "clip.mkv", tmp_path / "out.mkv"
    lossless = video.Encoding("ffv1")
    with dala.use("cpu"), video.Writer(clip, fps=10, encoding=lossless) as writer:
        for _ in range(3):
            writer.write(np.full((64, 160, 3), (0, 0, 128), np.uint8))
    assert (
        run(
            "filter",
            clip,
            out,
            "--codec",
            "ffv1",
            "--text",
            "{frame}: {time}",
            "--text-at",
            "top",
            "-q",
        )
        == 0
    )
    with video.Reader(out) as reader:
        shown = [frame.rgb.copy() for frame in reader]
    wanted = Caption("{frame}: {time}", "top")
    for number, frame in enumerate(shown):
        plain = np.full((64, 160, 3), shown[0][-1, 0], np.uint8)
        wanted.draw(plain, number, Fraction(number, 10))
        assert (
            np.abs(plain[..., 1].astype(int) - frame[..., 1]).mean() < 4
        )  # colours are of half the size
        assert ink(frame, tuple(shown[0][-1, 0])) == pytest.approx((80, 16), abs=8)  # type: ignore[arg-type]
    assert not np.array_equal(shown[0], shown[1])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--text", "{frme}"), "--text knows {frame}, {time}, {name}, not {frme}"),
        (("--text", "{frame.real}"), "not {frame.real}"),
        (("--text", "{"), "a brace is written twice"),
        (("--text", "x", "--text-color", "glod"), "did you mean 'gold'"),
        (("--text", "x", "--text-at", "middle"), "a place is (x, y) or one of top-left"),
        (("--text", "x", "--text-at", "a,b"), "--text-at is a place or x,y"),
        (("--text", "x", "--text-font", "No Such Font"), "no font of this machine is called"),
    ],
)
def test_mistakes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    Image.new("RGB", (20, 20)).save(tmp_path / "in.png")
    assert run("filter", tmp_path / "in.png", tmp_path / "out.png", *arguments) == 2
    assert told in capfd.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "out.png").exists()


def test_words() -> None:
    caption = Caption("{{{frame}}} {name}\\n{time}").of("a.png")
    assert caption.words(7, Fraction(12_345, 1000)) == "{7} a.png\n0:00:12.345"
    assert tell_time(Fraction(3_723_004, 1000)) == "1:02:03.004"
