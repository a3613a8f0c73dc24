"""What is finished of a job outlives the process; a line that was cut off does not count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from processes import run_to_the_end

from dala import fleet
from dala.errors import FleetError
from dala.video.parts.journal import JOURNAL, Journal, folder_of

ASKED = {"kind": "map", "chain": "blur"}


def test_finished_tasks_are_known_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-0", {"frames": 10})
        journal.note("part-1", {"frames": 5})
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert journal.finished == {"part-0": {"frames": 10}, "part-1": {"frames": 5}}
    found = fleet.status(tmp_path / "out.mp4")
    assert (found.kind, found.total, found.finished, found.frames) == ("map", 3, 2, 15)
    assert not found.is_complete


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_off_does_not_count(cut: int, tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-0", {"frames": 10})
        journal.note("part-1", {"frames": 5})
    path = folder_of(tmp_path / "out.mp4") / JOURNAL
    path.write_bytes(path.read_bytes()[: -cut - 1])
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert list(journal.finished) == ["part-0"]
        journal.note("part-2", {"frames": 1})
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert list(journal.finished) == ["part-0", "part-2"]


def test_another_job_begins_anew(tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-0", {"frames": 10})
        (journal.folder / "part-0.mp4").write_bytes(b"old")
    with Journal(tmp_path / "out.mp4", {**ASKED, "chain": "invert"}, 3) as journal:
        assert journal.finished == {}
        assert os.listdir(journal.folder) == [JOURNAL]


def test_one_driver_at_a_time(tmp_path: Path) -> None:
    text = f"""
        from pathlib import Path
        from dala.errors import FleetError
        from dala.video.parts.journal import Journal
        try:
            Journal(Path({str(tmp_path / "out.mp4")!r}), {ASKED!r}, 3)
        except FleetError as error:
            print(error)
    """
    with Journal(tmp_path / "out.mp4", ASKED, 3):
        code, out, errors = run_to_the_end(text)
    assert code == 0, errors
    assert "another process works on this job" in out


def test_no_job_no_status(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="no job is under way"):
        fleet.status(tmp_path / "out.mp4")


def test_a_job_that_is_done_leaves_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 1) as journal:
        journal.note("part-0", {})
        journal.remove()
    assert os.listdir(tmp_path) == []
