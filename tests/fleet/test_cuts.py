"""Where videos are cut: at clean key frames, at the same places whoever asks."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dala import video
from dala.fleet.cuts import LEAD, Scan, cut, scan


def write_clip(path: Path, frames: int, **options: str) -> Path:
    """A clip of ``frames`` that differ, at 25 a second."""
    with video.Writer(path, fps=25, options=options) as writer:
        for number in range(frames):
            level = np.full((48, 64, 3), 40 + number % 160, np.uint8)
            level[:, : number % 64] = 200
            writer.write(level)
    return path


def test_a_clip_is_cut_at_its_key_frames(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", 50, g="10", sc_threshold="0")
    segments = cut(scan(clip), 0.4)
    assert [s.frames for s in segments] == [10] * 5
    assert [s.begin for s in segments] == [None, *(Fraction(2 * n, 5) for n in range(1, 5))]
    assert [s.end for s in segments] == [*(Fraction(2 * n, 5) for n in range(1, 5)), None]


def test_a_segment_knows_the_frames_that_lead_to_it(tmp_path: Path) -> None:
    times = [0, 3, 1, 2, *range(4, 100)]  # as they are stored
    scanned = Scan(Fraction(1, 25), times, [t % 10 == 0 for t in times])
    segments = cut(scanned, 0.4)
    assert [s.before for s in segments] == list(range(0, 100, 10))
    assert [s.lead for s in segments] == [0, 10, 20, *[LEAD] * 7]
    assert [s.warm for s in segments[:4]] == [None, 0, 0, Fraction(30 - LEAD, 25)]


def test_segments_are_as_long_as_was_asked_for(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", 50, g="10", sc_threshold="0")
    assert [s.frames for s in cut(scan(clip), 0.5)] == [20, 20, 10]
    assert [s.frames for s in cut(scan(clip), 100)] == [50]


def test_segments_become_shorter_towards_the_end() -> None:
    """So that workers end together; at the same places, however many there are."""
    times = range(25 * 600)
    scanned = Scan(Fraction(1, 25), times, [t % 25 == 0 for t in times])
    lengths = [s.frames // 25 for s in cut(scanned, 10)]
    assert lengths[:20] == [10] * 20
    assert sorted(lengths[:-1], reverse=True) == lengths[:-1]
    assert max(lengths[-24:]) <= 3
    assert sum(lengths) == 600
    assert {s.frames for s in cut(scanned, 2)} == {50}  # none is shorter


def test_open_groups_of_pictures_are_not_cut(tmp_path: Path) -> None:
    """Their first pictures in order of time need the group before."""
    clip = write_clip(
        tmp_path / "a.mp4", 60, g="15", bf="3", **{"x264-params": "open-gop=1:scenecut=0:b-adapt=0"}
    )
    scanned = scan(clip)
    times = [t for t in scanned.times if t is not None]
    begins = {s.begin for s in cut(scanned, 0.1)}
    keys = [n for n, key in enumerate(scanned.keys) if key]
    of_open_groups = [n for n in keys if min(times[n:]) < times[n]]
    assert of_open_groups, "the encoder made no open group: nothing is tested"
    for n in of_open_groups:
        assert (times[n] - min(times)) * scanned.time_base not in begins


def test_packets_without_times_are_one_segment() -> None:
    assert len(cut(Scan(Fraction(1, 25), [0, None, 2], [True, True, True]), 0.01)) == 1


@pytest.mark.parametrize("seconds", [0.01, 0.07, 0.3, 2.0])
def test_every_frame_is_in_one_segment(seconds: float) -> None:
    times = [0, 3, 1, 2, 4, 7, 5, 6, 8, 9]
    keys = [True, False, False, False, True, False, False, False, True, True]
    segments = cut(Scan(Fraction(1, 25), times, keys), seconds)
    assert sum(s.frames for s in segments) == len(times)
    for before, after in pairwise(segments):
        assert before.end == after.begin
