"""Sources and results by address, where fsspec is installed; without it, the word on what to install."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleet_workers import assert_same_video

from dala import fleet, media
from dala.errors import FleetError, UnsupportedError
from dala.fleet.addresses import absolute, inside, state_of
from dala.video.parts.journal import is_url, name_of

needs_fsspec = pytest.mark.skipif(
    importlib.util.find_spec("fsspec") is None, reason="fsspec is not installed"
)
ASKED: dict[str, Any] = {"workers": 2, "threads": 1, "segment_s": 0.4, "device": "cpu"}


def test_what_is_an_address() -> None:
    assert is_url("s3://bucket/a.mp4") and not is_url("a.mp4") and not is_url(Path("s3://x"))
    assert not is_url("C:\\videos\\a.mp4") and not is_url("/videos/a.mp4")
    assert name_of("s3://bucket/a.mp4?version=2") == name_of("/videos/a.mp4") == "a.mp4"
    assert inside("s3://bucket/out/", "a.mp4") == "s3://bucket/out/a.mp4"
    assert absolute("s3://bucket/a.mp4") == "s3://bucket/a.mp4"
    assert absolute("a.mp4") == os.path.abspath("a.mp4")


@needs_fsspec
def test_a_video_from_an_address_to_another(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fleet.transcode(clip, "here.mp4", ["invert"], **ASKED)
    (tmp_path / "there").mkdir()
    far = tmp_path / "there" / "out.mp4"
    source = clip.as_uri()
    report = fleet.transcode(source, far.as_uri(), ["invert"], **ASKED)
    assert report.frames == 60
    assert_same_video(far, tmp_path / "here.mp4")
    assert os.listdir(far.parent) == ["out.mp4"]
    assert sorted(os.listdir(tmp_path)) == ["here.mp4", "there"]


class _Enough(Exception):
    pass


@needs_fsspec
def test_such_a_job_is_resumed(clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    far = (tmp_path / "there" / "out.mp4").as_uri()

    def stop(progress: fleet.Progress) -> None:
        if progress.finished >= 2:
            raise _Enough

    with pytest.raises(_Enough):
        fleet.transcode(clip.as_uri(), far, ["invert"], progress=stop, **ASKED)
    left = fleet.status(far)
    assert left.finished >= 2 and os.listdir(tmp_path / "there") == []
    assert fleet.resume(far, workers=1).resumed == left.finished
    assert os.listdir(tmp_path / "there") == ["out.mp4"]
    assert os.listdir(tmp_path) == ["there"]


@needs_fsspec
def test_many_files_by_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    media.save(np.full((8, 8, 3), 7, np.uint8), tmp_path / "a.png")
    sources = [(tmp_path / name).as_uri() for name in ("a.png", "missing.png")]
    folder = (tmp_path / "out").as_uri()
    report = fleet.map(sources, folder, ["invert"], workers=1, device="cpu")
    (failure,) = report.failures
    assert failure.name == sources[1] and "cannot be fetched" in failure.reason
    assert os.listdir(tmp_path / "out") == ["a.png"]
    assert (media.open(tmp_path / "out" / "a.png").pixels == 248).all()
    assert fleet.map(sources, folder, ["invert"], workers=1, device="cpu").resumed == 1
    assert state_of(sources[1]) is None
    with pytest.raises(FleetError, match="there is no such file"):
        fleet.transcode(sources[1], "out.mp4")


def test_without_fsspec_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)  # so it cannot be imported
    with pytest.raises(UnsupportedError, match=r"fsspec.*pip install 'dala-gpu\[fleet\]'"):
        fleet.transcode("s3://bucket/a.mp4", tmp_path / "out.mp4")
    assert os.listdir(tmp_path) == []
