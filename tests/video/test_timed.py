"""Filters that ask for the frame: new in every frame, and nothing is compiled for it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from dala import media, video
from dala.language.kernel import make_kernel
from dala.language.parameter import param, static
from dala.language.values import Image, Vec
from dala.language.vocabulary import rgb
from dala.media import Chain
from dala.media.step import make_step
from dala.media.timed import chain_at, values_at


def frames_of(path: Path) -> list[np.ndarray]:
    with video.Reader(path) as reader:
        return [f.rgba[..., :3].astype(int) for f in reader]


@pytest.fixture
def still(tmp_path: Path) -> Path:
    with video.Writer(tmp_path / "still.mkv", codec="ffv1", fps=10, range="full") as writer:
        for _ in range(4):
            writer.write(np.full((16, 32, 3), 128, np.uint8))
    return tmp_path / "still.mkv"


def test_grain_is_new_in_every_frame(still: Path, tmp_path: Path) -> None:
    for number, out in enumerate((tmp_path / "a.mkv", tmp_path / "b.mkv")):
        words = {} if number == 0 else {"frame": 5}
        video.transcode(still, out, [("grain", {"amount": 0.5, **words})], codec="ffv1")
    moving, standing = frames_of(tmp_path / "a.mkv"), frames_of(tmp_path / "b.mkv")
    for before, after in itertools.pairwise(moving):
        assert (before != after).mean() > 0.8
    assert all(np.array_equal(standing[0], f) for f in standing)  # a frame that was given stays
    video.transcode(still, tmp_path / "a.mkv", [("grain", {"amount": 0.5})], codec="ffv1")
    assert all(
        np.array_equal(a, b) for a, b in zip(moving, frames_of(tmp_path / "a.mkv"), strict=True)
    )


def test_a_photo_keeps_its_grain() -> None:
    photo = np.full((8, 8, 3), 100, np.uint8)
    assert np.array_equal(media.grain(photo), media.grain(photo, frame=0))
    assert (media.grain(photo) != media.grain(photo, frame=1)).any()
    assert (media.generate_noise(8, 8) != media.generate_noise(8, 8, frame=1)).any()


def _count(src: Image, frame: int = param(0), time: float = param(0.0)) -> Vec:
    p = src[0, 0]
    return rgb(frame * (20 / 255), time, p.b).with_alpha(p.a)


def test_a_kernel_asks_for_number_and_time(still: Path, tmp_path: Path) -> None:
    chain = Chain([make_step(make_kernel(_count, name="count"), {})])
    video.transcode(still, str(tmp_path / "%d.png"), chain, start=0.1)
    frames = [np.asarray(Picture.open(p)) for p in sorted(tmp_path.glob("*.png"))]
    assert [int(f[0, 0, 0]) for f in frames] == [0, 20, 40]
    assert [int(f[0, 0, 1]) for f in frames] == [0, 26, 51]  # 0, 0.1 and 0.2 s of the output


def test_a_chain_at_a_frame() -> None:
    plain = Chain.of(["blur"])
    assert chain_at(plain, 3, 0.1) is plain
    grainy = Chain.of(["grain"])
    assert chain_at(grainy, 3, 0.1).structure == grainy.structure  # one code for all frames
    assert chain_at(grainy, 2**31 + 4, 0.1).steps[0].values["frame"] == 4
    given = Chain.of([("grain", {"frame": 9})])
    assert chain_at(given, 3, 0.1) is given


def test_static_words_are_left_alone() -> None:
    def fixed(src: Image, frame: int = static(0)) -> Vec:
        return src[0, 0]

    kernel = make_kernel(fixed, name="fixed")
    assert values_at(kernel, {"frame": 0}, 4, 0.2) == {}
