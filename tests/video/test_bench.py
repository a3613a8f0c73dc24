"""The benchmark of video races things that do the same, and tells what it measured."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from clips import frame_times, real_clip

from dala import video

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("cv2")
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.delitem(sys.modules, "video", raising=False)
    return importlib.import_module("video")


def test_the_loop_writes_the_same_frames(bench: ModuleType, tmp_path: Path) -> None:
    """What it is raced against is a whole transcode: all frames, at their times."""
    clip = tmp_path / "clip.mp4"
    size = {"width": bench.WIDTH, "height": bench.HEIGHT}
    video.transcode(
        real_clip("carphone_pristine.mp4"), clip, [("resize", size)], preset="ultrafast"
    )
    out = tmp_path / "out.mp4"
    frames = bench.pyav_loop(clip, out, "ultrafast", bench.opencv_frame, "AUTO")
    assert frames == 120
    assert [round(float(t), 3) for t in frame_times(out)] == [
        round(float(t), 3) for t in frame_times(clip)
    ]


def test_the_filter_part_is_compared_first(bench: ModuleType, tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    size = {"width": bench.WIDTH, "height": bench.HEIGHT}
    video.transcode(
        real_clip("carphone_pristine.mp4"), clip, [("resize", size)], preset="ultrafast"
    )
    times = bench.measure_filter(clip, 0.1)
    assert set(times) == {"dala", "OpenCV, PyAV converts", "OpenCV, converts itself"}
    rows = {name: {"ms": 1.0, "cpu_ms": 1.0} for name in ("dala", "PyAV + OpenCV", "decode + encode",
            "decode + encode, frame threads")}  # fmt: skip
    text = bench.describe(times, {"veryfast": rows},
                          {"frames": 1, "early_mib": 1, "end_mib": 1, "most_mib": 1})  # fmt: skip
    assert "OpenCV ÷ dala" in text and "(wanted: 1.5)" in text
