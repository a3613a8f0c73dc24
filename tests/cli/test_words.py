"""Values as photographers write them, and what is said of those that cannot be meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dala
from dala.cli import main
from dala.cli.flags import chain_of, split_flags
from dala.cli.mistakes import UsageMistake


def values(*words: str) -> dict[str, object]:
    """What the only filter of a command line was given."""
    rest, flags = split_flags(["in.jpg", "out.jpg", *words], own={"--strength"})
    assert rest == ["in.jpg", "out.jpg"]
    (step,) = chain_of(flags).steps
    return dict(step.params)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--resize 50%", {"scale": 0.5}),
        ("--resize=12.5%", {"scale": 0.125}),
        ("--resize 1920", {"width": 1920}),
        ("--resize x1080", {"height": 1080}),
        ("--resize 1920x1080", {"width": 1920, "height": 1080}),
        ("--resize 1920×1080 --fit cover", {"width": 1920, "height": 1080, "fit": "cover"}),
        ("--resize long_edge=2048", {"long_edge": 2048}),
        ("--resize --long-edge 2048", {"long_edge": 2048}),
        ("--crop 100x80+20+10", {"width": 100, "height": 80, "x": 20, "y": 10}),
        ("--crop 100x80", {"width": 100, "height": 80, "at": "center"}),
        ("--crop 100x80 --at top-left", {"width": 100, "height": 80, "at": "top-left"}),
        ("--crop 100x80 at=top-left", {"width": 100, "height": 80, "at": "top-left"}),
        ("--crop 100x80 --x 7", {"width": 100, "height": 80, "x": 7}),
        ("--crop 3:2", {"ratio": 1.5}),
        ("--crop 3/2", {"ratio": 1.5}),
        ("--crop 1.5", {"ratio": 1.5}),
        ("--flip vertical", {"horizontal": False, "vertical": True}),
        ("--flip both", {"horizontal": True, "vertical": True}),
        ("--crop 3:2 --at top", {"ratio": 1.5, "at": "top"}),
        ("--blur 3 --sigma=2", {"radius": 3, "sigma": 2.0}),
        ("--rotate 90", {"degrees": -90.0}),
    ],
)
def test_sizes(words: str, wanted: dict[str, object]) -> None:
    given = values(*words.split())
    given.pop("interpolation", None)
    assert given == wanted


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            "--sharpen lots",
            "--sharpen: amount must be a number, got 'lots'; values follow as amount=",
        ),
        ("--blur 3px", "--blur: radius must be a number, got '3px'"),
        ("--brightness 10%", "--brightness: value must be a number, got '10%'; 10% is 0.1"),
        ("--resize 50percent", "--resize: expected 50%, 1920, x1080, 1920x1080 or long_edge="),
        ("--crop middle", "--crop: expected 100x100+20+10, 400x400, 16:9 or 1.5, got 'middle'"),
        ("--crop 100", "--crop: expected 100x100+20+10, 400x400, 16:9 or 1.5, got '100'"),
        ("--flip sideways", "--flip: expected horizontal, vertical or both, got 'sideways'"),
        ("--crop 0:9", "--crop: 0:9 is no ratio of sides"),
        ("--grayscale 5", "--grayscale takes no values, got '5'"),
        ("--grayscale lots", "--grayscale takes no values, got 'lots'"),
        ("--resize 5x5 --fit", "--resize: --fit needs a value"),
        ("--resize 5x5 --fit fill", "--resize: fit must be one of 'stretch', 'contain', 'cover'"),
        ("--blur 3 5", "--blur: 5 is the value of what"),
    ],
)
def test_a_wrong_value_is_about_its_option(words: str, complaint: str) -> None:
    with pytest.raises(UsageMistake) as caught:
        values(*words.split())
    assert str(caught.value).startswith(complaint)


def test_files_may_follow_a_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert split_flags(["--grayscale", "in.jpg", "out.jpg"])[0] == ["in.jpg", "out.jpg"]
    assert split_flags(["in.jpg", "--grayscale", "out.jpg"])[0] == ["in.jpg", "out.jpg"]
    assert split_flags(["in.jpg", "--sharpen", "1.jpg"])[0] == ["in.jpg", "1.jpg"]
    monkeypatch.chdir(tmp_path)
    Path("lots").mkdir()
    assert split_flags(["in.jpg", "--sharpen", "lots"])[0] == ["in.jpg", "lots"]  # it is there


def test_a_commands_own_options_stay_its_own() -> None:
    rest, flags = split_flags(["--denoise", "--strength", "0.5"], own={"--strength"})
    assert rest == ["--strength", "0.5"] and flags[0].words == ()


def test_on_a_photo(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    source, logo = tmp_path / "in.png", tmp_path / "logo.png"
    Image.fromarray(rng.integers(0, 100, (40, 60, 3), np.uint8)).save(source)
    Image.new("RGBA", (20, 10), (255, 255, 255, 255)).save(logo)
    for number, (words, size) in enumerate(
        {
            "--rotate 90": (40, 60),
            "--resize 50%": (30, 20),
            "--resize 30x30 --fit contain": (30, 20),
            "--resize 30x30 --fit cover": (30, 30),
            "--crop 1:1 --auto-levels --auto-white-balance": (40, 40),
        }.items()
    ):
        target = tmp_path / f"{number}.png"
        with dala.use("cpu"):
            assert main(["filter", str(source), str(target), *words.split()]) == 0
        with Image.open(target) as image:
            assert image.size == size
    marked = tmp_path / "marked.png"
    words = ["--at", "top-left", "--scale", "0.5", "--opacity", "0.8", "--margin", "0"]
    with dala.use("cpu"):
        assert main(["filter", str(source), str(marked), "--overlay", str(logo), *words]) == 0
    with Image.open(marked) as image:
        assert np.asarray(image)[:15, :30].min() >= 204
        assert np.asarray(image)[15:].max() < 100
