"""Transitions: FFmpeg's own pictures, and kernels of one's own."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest

import dala
from dala.errors import ParameterError
from dala.scene.transitions import mixed, names

WIDTH, HEIGHT, FRAMES = 64, 48, 10
ROWS, COLUMNS = np.mgrid[:HEIGHT, :WIDTH]
OPAQUE = np.full((HEIGHT, WIDTH), 255)
A = np.stack([COLUMNS * 4 % 256, ROWS * 5 % 256, (COLUMNS + ROWS) * 2 % 256, OPAQUE], -1).astype(
    np.uint8
)
B = np.stack([255 - ROWS * 3 % 256, COLUMNS * ROWS % 256, OPAQUE * 0 + 40, OPAQUE], -1).astype(
    np.uint8
)
OURS = {"lumawipe"}
IN_NO_ORDER = {"dissolve"}  # which pixels go first is our own


def xfade(name: str) -> list[np.ndarray]:
    """What FFmpeg makes of the two pictures, frame by frame."""
    graph = av.filter.Graph()
    base = Fraction(1, FRAMES)
    inputs = [
        graph.add_buffer(width=WIDTH, height=HEIGHT, format="gbrap", time_base=base) for _ in "ab"
    ]
    fade = graph.add("xfade", f"transition={name}:duration=1:offset=0")
    rates = [graph.add("fps", str(FRAMES)) for _ in inputs]
    sink = graph.add("buffersink")
    for number, (source, rate) in enumerate(zip(inputs, rates, strict=True)):
        source.link_to(rate)
        rate.link_to(fade, 0, number)
    fade.link_to(sink)
    graph.configure()
    for source, picture in zip(inputs, (A, B), strict=True):
        for number in range(FRAMES + 2):
            frame = av.VideoFrame.from_ndarray(picture, format="rgba").reformat(format="gbrap")
            frame.pts, frame.time_base = number, base
            source.push(frame)
        source.push(None)
    frames = []
    while len(frames) < FRAMES:
        frames.append(sink.pull().reformat(format="rgba").to_ndarray())
    return frames


@pytest.mark.parametrize("name", sorted(set(names()) - OURS - IN_NO_ORDER))
def test_a_transition_is_that_of_ffmpeg(name: str) -> None:
    wanted = xfade(name)
    for number in (3, 6, 8):
        seen = mixed(A, B, name, number / FRAMES, {})
        assert abs(seen.astype(int) - wanted[number]).max() <= 2, number


def test_there_are_many() -> None:
    assert len(set(names()) - OURS) >= 40


def test_pixels_dissolve_one_by_one() -> None:
    share = []
    for progress in (0.3, 0.5, 0.7):
        seen = mixed(A, B, "dissolve", progress, {})
        first, second = (seen == A).all(-1), (seen == B).all(-1)
        assert (first | second).all()
        share.append(float(second.mean()))
    assert share[0] < 0.4 < share[1] < 0.6 < share[2]


def test_the_dark_parts_come_first() -> None:
    ramp = np.repeat(np.linspace(0, 255, WIDTH).astype(np.uint8)[None, :, None], 4, 2).repeat(
        HEIGHT, 0
    )
    ramp[..., 3] = 255
    black = np.zeros_like(ramp)
    black[..., 3] = 255
    seen = mixed(black, ramp, "lumawipe", 0.5, {"softness": 0.0})[..., 0]
    assert (seen[:, 2:30] > 0).all() and (seen[:, 34:] == 0).all()


@pytest.mark.parametrize("name", names())
def test_the_ends_are_the_pictures_themselves(name: str) -> None:
    assert mixed(A, B, name, 0.0, {}) is A and mixed(A, B, name, 1.0, {}) is B


def test_a_kernel_of_two_images_is_a_transition() -> None:
    @dala.kernel
    def blinds(first, second, progress: float = 0.0):  # type: ignore[no-untyped-def]
        return first[0, 0] * (1 - progress) + second[0, 0] * progress

    assert abs(mixed(A, B, blinds, 0.5, {}).astype(int) - mixed(A, B, "fade", 0.5, {})).max() <= 1
    with pytest.raises(ParameterError, match="two images with a parameter progress; blend has 2"):
        mixed(A, B, "blend", 0.5, {})
