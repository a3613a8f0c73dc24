"""Parts are joined while later ones are made; a joint that is left leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from dala import fleet
from dala.errors import FleetError, VideoFileError
from dala.fleet.joining import Joint
from dala.video.parts.joint import Part
from dala.video.parts.journal import Journal, folder_of

KEYS = ["part-00000", "part-00001", "part-00002"]
PARTS = {key: Part(key, Fraction(0)) for key in KEYS}


@pytest.fixture
def journal(tmp_path: Path) -> Any:
    with Journal(tmp_path / "out.mp4", {"kind": "transcode"}, len(KEYS)) as made:
        yield made


def test_a_part_is_joined_when_those_before_it_are(journal: Journal) -> None:
    joined: SimpleQueue[str] = SimpleQueue()

    def join(parts: Iterable[Part]) -> list[str]:
        for part in parts:
            joined.put(part.path)
        return ["its sound"]

    journal.note(KEYS[1], {"frames": 1})  # by a run before
    with Joint("out.mp4", journal, PARTS, join) as joint:
        assert joined.empty()
        joint.take(KEYS[0])
        assert [joined.get(), joined.get()] == KEYS[:2]
        joint.take(KEYS[2])
        assert joint.finish() == ["its sound"]
    assert joined.get() == KEYS[2]


def test_a_joint_that_is_left_does_not_end(journal: Journal) -> None:
    ended: list[str] = []

    def join(parts: Iterable[Part]) -> list[str]:
        try:
            ended.extend(part.path for part in parts)
        finally:
            ended.append("given up")
        return []

    def interrupt() -> None:
        with Joint("out.mp4", journal, PARTS, join) as joint:
            joint.take(KEYS[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert ended[-1:] == ["given up"] and KEYS[1] not in ended


def test_what_cannot_be_joined_ends_the_job(journal: Journal) -> None:
    """At the next part that is finished, and at the end; what is finished stays so."""

    def join(parts: Iterable[Part]) -> list[str]:
        raise VideoFileError("out.mp4: the disk is full", errno=28)

    with Joint("out.mp4", journal, PARTS, join) as joint:
        journal.note(KEYS[0], {"frames": 1})
        with pytest.raises(FleetError, match=r"the disk is full; 1 of 3 parts are finished"):
            joint.finish()
        with pytest.raises(FleetError, match="cannot be joined"):
            joint.take(KEYS[0])


def test_what_a_killed_driver_had_joined_is_removed(journal: Journal) -> None:
    left = journal.folder / ".out-0123456789abcdef.part.mp4"
    part = journal.folder / ".part-00000-0123456789abcdef.part.mp4"  # a worker may still write it
    for path in (left, part):
        path.touch()
    with Joint("out.mp4", journal, PARTS, lambda parts: []) as joint:
        joint.finish()
    assert (left.exists(), part.exists()) == (False, True)


def test_nothing_half_written_is_beside_the_file(clip: Path, tmp_path: Path) -> None:
    """All of a job is in its folder until it is complete, also what is joined so far."""
    seen: set[str] = set()
    begun: set[str] = set()

    def look(_progress: fleet.Progress) -> None:
        seen.update(os.listdir(tmp_path))
        begun.update(path.name[:5] for path in folder_of(target).glob(".out-*.part.mp4"))

    target = tmp_path / "out.mp4"
    fleet.transcode(
        clip,
        target,
        ["invert"],
        workers=1,
        segment_s=0.4,
        device="cpu",
        codec="ffv1",
        progress=look,
    )
    assert seen == {folder_of(target).name}
    assert begun == {".out-"}
    assert os.listdir(tmp_path) == ["out.mp4"]
