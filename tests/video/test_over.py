"""Pictures over every frame, behind the filters."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tracks import LOSSLESS, RATE, STEP, samples, write_counted

import dala
from dala import video
from dala.errors import ShapeError


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_counted(tmp_path_factory.mktemp("counted") / "counted.mkv", 8)


@pytest.mark.parametrize("filters", [[], ["invert"]])
def test_a_picture_over_every_frame(counted: Path, tmp_path: Path, filters: list[str]) -> None:
    seen: list[video.Instant] = []

    def mark(instant: video.Instant) -> object:
        seen.append(instant)
        if instant.number == 1:
            return None
        layer = np.zeros((instant.height, instant.width, 4), np.uint8)
        layer[:, :8] = 255
        layer[:, 8:16] = (255, 255, 255, 128)
        return layer

    out = tmp_path / "out.mkv"
    with dala.use("cpu"):
        video.transcode(counted, out, filters, end=0.12, over=mark, encoding=LOSSLESS)
    assert [(i.number, i.time) for i in seen] == [(n, Fraction(n, 25)) for n in range(3)]
    with video.Reader(out) as reader:
        rows = [frame.rgba[0, :, 0].astype(int) for frame in reader]
    below = [255 - n * STEP if filters else n * STEP for n in range(3)]
    assert [int(row[0]) for row in rows] == [255, below[1], 255]
    assert [int(row[-1]) for row in rows] == below
    assert abs(int(rows[2][11]) - (below[2] + (255 - below[2]) * 128 // 255)) <= 2
    assert np.array_equal(samples(out), np.arange(0.12 * RATE))  # the sound stays


def test_a_part_begins_at_zero(counted: Path, tmp_path: Path) -> None:
    seen: list[Fraction] = []
    with dala.use("cpu"):
        video.transcode(
            counted, tmp_path / "out.mkv", start=0.08, end=0.16, encoding=LOSSLESS,
            over=lambda instant: seen.append(instant.time),
        )  # fmt: skip
    assert seen == [Fraction(0), Fraction(1, 25)]


def test_a_picture_of_another_size_is_refused(counted: Path, tmp_path: Path) -> None:
    with (
        dala.use("cpu"),
        pytest.raises(ShapeError, match=r"over: expected a picture of 32 × 16.*8 × 8"),
    ):
        video.transcode(
            counted, tmp_path / "out.mkv", over=lambda instant: np.zeros((8, 8, 4), np.uint8)
        )
