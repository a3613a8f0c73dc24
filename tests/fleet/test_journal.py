"""What is finished of a job outlives the process; a line that was cut off does not count."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import run_to_the_end

from dala import fleet, media, scene
from dala.errors import DalaError, FleetError
from dala.fleet.local import LocalPool
from dala.video.parts.folder import JOURNAL, part_key
from dala.video.parts.journal import Journal, folder_of

ASKED = {"kind": "map", "chain": "blur"}


def test_finished_tasks_are_known_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-00000", {"frames": 10})
        journal.note("part-00001", {"frames": 5})
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert journal.finished == {"part-00000": {"frames": 10}, "part-00001": {"frames": 5}}
    found = fleet.status(tmp_path / "out.mp4")
    assert (found.kind, found.total, found.finished, found.frames) == ("map", 3, 2, 15)
    assert not found.is_complete


def test_another_list_of_files_is_the_same_job(tmp_path: Path) -> None:
    """What was done of the first list counts, and so does what is done of the second."""
    first, second = {"paths": ["a", "b"]}, {"paths": ["b", "c", "d"]}
    with Journal(tmp_path / "out", ASKED, 2, first) as journal:
        journal.note("a", {"frames": 1})
        journal.note("b", {"frames": 1})
    for _ in range(2):
        with Journal(tmp_path / "out", ASKED, 3, second) as journal:
            assert "b" in journal.finished and "a" not in journal.finished
            journal.note("c", {"frames": 1})
    with Journal(tmp_path / "out", ASKED, 3, second) as journal:
        assert sorted(journal.finished) == ["b", "c"]
    found = fleet.status(tmp_path / "out")
    assert (found.total, found.finished, found.asked["paths"]) == (3, 2, ["b", "c", "d"])
    with Journal(tmp_path / "out", ASKED, 2, first) as journal:  # and back
        assert sorted(journal.finished) == ["a", "b"]
    path = folder_of(tmp_path / "out") / JOURNAL
    assert path.read_text().count('"fingerprint"') == 3  # asked for twice with the same: said once


def test_the_same_job_is_said_once(tmp_path: Path) -> None:
    """A tuple comes out of a journal as a list."""
    for _ in range(3):
        with Journal(tmp_path / "out", ASKED, 2, {"pairs": (("a", 1), ("b", 2))}):
            pass
    path = folder_of(tmp_path / "out") / JOURNAL
    assert path.read_text().count('"fingerprint"') == 1


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_off_does_not_count(cut: int, tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-00000", {"frames": 10})
        journal.note("part-00001", {"frames": 5})
    path = folder_of(tmp_path / "out.mp4") / JOURNAL
    path.write_bytes(path.read_bytes()[: -cut - 1])
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert list(journal.finished) == ["part-00000"]
        journal.note("part-00002", {"frames": 1})
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert list(journal.finished) == ["part-00000", "part-00002"]


def test_another_job_begins_anew(tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-00000", {"frames": 10})
        (journal.folder / "part-00000.mp4").write_bytes(b"old")
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
        journal.note("part-00000", {})
        journal.remove()
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_leads_to_nothing_of_ours(tmp_path: Path) -> None:
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / "part-00000.mp4").write_bytes(b"somebody's")
    folder_of(tmp_path / "out.mp4").symlink_to(letters)
    with pytest.raises(FleetError, match="is a link"):
        Journal(tmp_path / "out.mp4", ASKED, 3)
    assert os.listdir(letters) == ["part-00000.mp4"]
    folder = folder_of(tmp_path / "other.mp4")
    folder.mkdir()
    (letters / "notes").write_text("keep")
    (folder / JOURNAL).symlink_to(letters / "notes")
    with pytest.raises(FleetError, match="holds one as its journal"):
        Journal(tmp_path / "other.mp4", ASKED, 3)
    assert (letters / "notes").read_text() == "keep"


@pytest.mark.parametrize("name", ["letter.txt", JOURNAL])
def test_a_folder_of_somebody_else_is_refused(name: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "out.mp4")
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(FleetError, match=f"is no folder of a job .{name}"):
        Journal(tmp_path / "out.mp4", ASKED, 3)
    assert os.listdir(folder) == [name] and (folder / name).read_text() == "mine"
    folder_of(tmp_path / "file.mp4").write_text("mine")
    with pytest.raises(FleetError, match="parts cannot be kept there"):
        Journal(tmp_path / "file.mp4", ASKED, 3)


def test_what_others_put_there_stays(tmp_path: Path) -> None:
    ours = ["part-00000.mp4", ".part-00001-0123456789abcdef.part.mp4", "chain.look", "scene.json"]
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        for name in [*ours, "letter.txt"]:
            (journal.folder / name).write_bytes(b"old")
        (journal.folder / "letters").mkdir()
    with Journal(tmp_path / "out.mp4", {**ASKED, "chain": "invert"}, 3) as journal:
        assert sorted(os.listdir(journal.folder)) == [JOURNAL, "letter.txt", "letters"]
        (journal.folder / "part-00000.mp4").write_bytes(b"new")
        journal.remove()
    assert sorted(os.listdir(journal.folder)) == ["letter.txt", "letters"]


@pytest.mark.parametrize("length", [0, 1, 4, 40])
def test_a_head_that_was_cut_off_is_written_anew(length: int, tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        path = journal.folder / JOURNAL
    path.write_bytes(path.read_bytes()[:length])
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-00001", {"frames": 5})
    assert fleet.status(tmp_path / "out.mp4").finished == 1


BAD_LINES = [
    {"finished": "part-00001"},
    {"finished": "part-00001", "frames": "x"},
    {"finished": "part-00001", "frames": -1},
    {"finished": "part-00001", "frames": True},
    {"finished": "part-00001", "frames": 5, "bytes": None},
    {"finished": "part-99999", "frames": 5},
    {"finished": "part-1", "frames": 5},
    {"finished": "part-²", "frames": 5},
    {"finished": "part-" + "9" * 5000, "frames": 5},
    {"finished": 1, "frames": 5},
    {"frames": 5},
]


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: str(line)[:40])
def test_a_line_that_says_nothing_of_the_job_does_not_count(
    line: dict[str, Any], tmp_path: Path
) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-00000", {"frames": 10, "bytes": 3})
    with (journal.folder / JOURNAL).open("a") as file:
        file.write(json.dumps(line) + "\n")
    found = fleet.status(tmp_path / "out.mp4")
    assert (found.finished, found.frames) == (1, 10)
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert journal.finished == {"part-00000": {"frames": 10, "bytes": 3}}


def test_a_part_of_another_length_is_forgotten(tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 4) as journal:
        parts = {part_key(n): journal.folder / f"{part_key(n)}.mp4" for n in range(4)}
        for key in list(parts)[:3]:
            parts[key].write_bytes(b"whole")
            journal.note(key, {"frames": 1, "bytes": 5})
        parts["part-00001"].write_bytes(b"")
        parts["part-00002"].unlink()
        journal.check(parts)
        assert list(journal.finished) == ["part-00000"]


@pytest.mark.parametrize("head", [{"job": 1}, {"job": {}, "given": {}}, {"job": {}, "tasks": 3}])
def test_a_journal_without_its_words_has_no_status(head: dict[str, Any], tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "out.mp4")
    folder.mkdir()
    (folder / JOURNAL).write_text("\n" + json.dumps(head) + "\n")
    with pytest.raises(FleetError, match="does not begin as it should"):
        fleet.status(tmp_path / "out.mp4")
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        assert journal.finished == {}


@pytest.mark.parametrize("kind", ["transcode", "export", "map", "dance"])
def test_a_journal_that_does_not_say_how_is_not_resumed(kind: str, tmp_path: Path) -> None:
    asked = {"kind": kind, "encoding": {"word of another version": 1}}
    with Journal(tmp_path / "out.mp4", asked, 3):
        pass
    with pytest.raises(FleetError, match=r"does not say all|no job of fleet's"):
        fleet.resume(tmp_path / "out.mp4")


class _Enough(Exception):
    pass


def stop(progress: fleet.Progress) -> None:
    """When something is finished."""
    if progress.finished:
        raise _Enough


def leave(kind: str, clip: Path, output: Path) -> None:
    """A job of that kind that was begun."""
    asked: dict[str, Any] = {"workers": 1, "device": "cpu", "progress": stop}
    with contextlib.suppress(_Enough), scene.Scene(64, 48, target_fps=25) as stage:
        if kind == "transcode":
            fleet.transcode(clip, output, ["invert"], segment_s=0.4, **asked)
        elif kind == "export":
            stage.add_shape(position=(4, 4), size=(9, 9), fill="gold")
            fleet.export(stage, output, end=0.8, segment_s=0.4, **asked)
        else:
            media.save(np.full((8, 8, 3), 7, np.uint8), output.with_name("a.png"))
            fleet.map([output.with_name("a.png"), "missing.png"], output, ["invert"], **asked)


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of everything in a journal's line."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*before, key)
        yield from places(value[key], (*before, key))


def with_other(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    """The same with something else there."""
    if not place:
        return other
    changed = value.copy()
    changed[place[0]] = with_other(value[place[0]], place[1:], other)
    return changed


@pytest.mark.parametrize("kind", ["transcode", "export", "map"])
def test_a_journal_that_a_stranger_has_changed_is_an_error_of_ours(
    kind: str, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a job like any other, which this test does not run."""

    def run(_pool: object, _tasks: object) -> Iterator[Any]:
        raise _Enough
        yield

    output = tmp_path / "out.mp4"
    leave(kind, clip, output)
    monkeypatch.setattr(LocalPool, "run", run)
    journal = folder_of(output) / JOURNAL
    head, *rest = journal.read_text().split("\n")[1:]
    for place in places(json.loads(head)):
        for other in (None, True, -1, "x", "\0", [], {}):
            changed = json.dumps(with_other(json.loads(head), place, other))
            folder_of(output).mkdir(exist_ok=True)
            journal.write_text("\n".join(["", changed, *rest]))
            for look in (fleet.status, fleet.resume):
                with contextlib.suppress(DalaError, _Enough):
                    look(output)


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b'{"tasks":' + b"9" * 4000])
def test_a_line_that_is_no_line_of_a_journal_does_not_count(line: bytes, tmp_path: Path) -> None:
    with Journal(tmp_path / "out.mp4", ASKED, 3) as journal:
        journal.note("part-00000", {"frames": 10})
    path = journal.folder / JOURNAL
    path.write_bytes(path.read_bytes() + b"\n" + line)
    assert fleet.status(tmp_path / "out.mp4").finished == 1
    path.write_bytes(line)
    with pytest.raises(FleetError, match="does not begin as it should"):
        fleet.status(tmp_path / "out.mp4")
