"""What a job survives: workers killed or told to end, a killed driver, full disks, poisoned files."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleet_workers import SLOWLY, assert_same_video, hooked, signalled, worker_pids
from in_threads import wait_until
from processes import run_to_the_end, start_python

from dala import fleet, media
from dala.errors import FleetError
from dala.fleet import local
from dala.video.parts.journal import folder_of

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="workers are looked up in /proc, and killed by signals"
)
CHAIN = [("brightness", {"value": 0.1})]
ASKED: dict[str, Any] = {
    "workers": 2,
    "threads": 1,
    "segment_s": 0.4,
    "device": "cpu",
    "codec": "ffv1",
}
ROUNDS = int(os.environ.get("DALA_FLEET_ROUNDS", "1"))  # of killing; twenty are made by hand


@pytest.fixture(scope="module")
def right(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every job must come to."""
    target = tmp_path_factory.mktemp("right") / "right.mp4"
    fleet.transcode(clip, target, CHAIN, **ASKED)
    return target


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_third_of_the_workers_is_killed(
    number: int, clip: Path, right: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, while and after they make a part; each kill is a part that somebody else makes."""
    hooked(SLOWLY, tmp_path / "hook", monkeypatch)
    wanted = math.ceil(0.3 * 6 / 0.7)  # of all attempts three in ten are lost
    with signalled(signal.SIGKILL, wanted, number) as killed:
        report = fleet.transcode(clip, tmp_path / "out.mp4", CHAIN, **ASKED)
    print(f"round {number}: {report.lost} of {report.tasks + report.lost} attempts were lost")
    assert killed and report.failures == ()
    assert (report.tasks, report.frames) == (6, 60)
    assert_same_video(tmp_path / "out.mp4", right)
    assert sorted(os.listdir(tmp_path)) == ["hook", "out.mp4"]


def test_who_is_told_to_end_hands_the_part_back(
    clip: Path, right: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as it is told: that is no failure of the part."""
    hooked(SLOWLY, tmp_path / "hook", monkeypatch)
    with signalled(signal.SIGTERM, 12, 0) as told:
        report = fleet.transcode(clip, tmp_path / "out.mp4", CHAIN, **ASKED)
    assert told and report.failures == ()
    assert_same_video(tmp_path / "out.mp4", right)
    assert sorted(os.listdir(tmp_path)) == ["hook", "out.mp4"]


DRIVER = """
    import json, sys
    from dala import fleet
    source, target, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    def tell(progress):
        print(progress.finished, flush=True)
        if progress.finished >= 2:
            sys.stdin.readline()
    fleet.transcode(source, target, [("brightness", {"value": 0.1})], progress=tell, **asked)
    """


def test_a_killed_driver_is_resumed(clip: Path, right: Path, tmp_path: Path) -> None:
    """Its workers end with it; what was finished stays as it is and is not done again."""
    target = tmp_path / "out.mp4"
    with start_python(DRIVER, str(clip), str(target), json.dumps(ASKED)) as driver:
        assert driver.stdout is not None
        for line in driver.stdout:
            if int(line) >= 2:
                break
        workers = worker_pids(driver.pid)
        driver.kill()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert not target.exists()
    left = fleet.status(target)
    assert 2 <= left.finished < left.total
    parts = {p.name: p.stat().st_mtime_ns for p in folder_of(target).glob("part-*")}
    seen: dict[str, int] = {}

    def look(_progress: fleet.Progress) -> None:
        seen.update((p.name, p.stat().st_mtime_ns) for p in folder_of(target).glob("part-*"))

    report = fleet.resume(target, workers=2, progress=look)
    assert (report.resumed, report.frames) == (left.finished, 60 - left.frames)
    noted = [name for name in parts if parts[name] == seen[name]]
    assert len(noted) >= left.finished
    assert_same_video(target, right)
    assert os.listdir(tmp_path) == ["out.mp4"]


FULL = """
    import json, resource, sys
    from dala import fleet
    from dala.errors import FleetError
    source, target, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), resource.RLIM_INFINITY))
    try:
        fleet.transcode(source, target, [("brightness", {"value": 0.1})], **asked)
    except FleetError as error:
        print(error)
    """


def test_no_room_for_a_part(clip: Path, right: Path, tmp_path: Path) -> None:
    """As on a full disk (files may not grow beyond a few bytes): said once, and resumed when there is."""
    target = tmp_path / "out.mp4"
    words = (str(clip), str(target), json.dumps(ASKED), "4000")
    code, out, errors = run_to_the_end(FULL, *words)
    assert code == 0 and "out.mp4: part-0000" in out, out + errors
    assert os.listdir(tmp_path) == [folder_of(target).name]
    assert not list(folder_of(target).glob("*part.*"))
    assert fleet.resume(target, workers=1).failures == ()
    assert_same_video(target, right)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, for whoever may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(folder)]
    try:
        subprocess.run(mounting, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a disk can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full(clip: Path, right: Path, small_disk: Path) -> None:
    """Some parts fit, all of them and the whole do not; with room again, the job goes on."""
    target = small_disk / "out.mp4"
    ballast = small_disk / "ballast"
    room = os.statvfs(small_disk)
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - 60_000))
    with pytest.raises(FleetError):
        fleet.transcode(clip, target, CHAIN, **ASKED)
    assert not target.exists()
    finished = fleet.status(target).finished
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    report = fleet.resume(target, workers=2)
    assert report.resumed == finished
    assert_same_video(target, right)
    assert os.listdir(small_disk) == ["out.mp4"]


def test_poisoned_files_are_one_line_each(clip: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    media.save(np.full((8, 8, 3), 7, np.uint8), folder / "good.png")
    good = (folder / "good.png").read_bytes()
    damaged = bytearray(clip.read_bytes())
    middle = damaged.index(b"mdat") + len(damaged) // 2
    damaged[middle : middle + 400] = bytes(400)
    bomb = bytearray(good)
    bomb[16:24] = (1 << 30).to_bytes(4, "big") * 2
    poison = {
        "text.jpg": b"no picture", "cut.png": good[:40], "empty.mp4": b"", "bomb.png": bytes(bomb),
        "damaged.mp4": bytes(damaged),
    }  # fmt: skip
    for name, content in poison.items():
        (folder / name).write_bytes(content)
    (folder / "folder.png").mkdir()
    names = [*poison, "folder.png", "missing.png", "good.png"]
    report = fleet.map(
        [folder / name for name in names], tmp_path / "out", ["invert"], workers=2, device="cpu"
    )
    failed = {Path(failure.name).name: failure.reason for failure in report.failures}
    assert sorted(failed) == sorted(names[:-1])
    assert "frame" in failed["damaged.mp4"]
    assert all(reason and "\n" not in reason for reason in failed.values()), failed
    assert os.listdir(tmp_path / "out") == ["good.png"]


def test_a_file_that_ends_its_worker_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up after a few workers; the others are done."""
    hook = """
import os, signal
from dala.fleet import tasks
plain = tasks.filter_file
def filter_file(facts, tell):
    if "poison" in facts["source"]:
        os.kill(os.getpid(), signal.SIGSEGV)
    return plain(facts, tell)
tasks.ACTIONS["filter_file"] = filter_file
"""
    hooked(hook, tmp_path / "hook", monkeypatch)
    monkeypatch.setattr(local, "ATTEMPTS", 2)
    for name in ("poison.png", "a.png", "b.png"):
        media.save(np.full((8, 8, 3), 7, np.uint8), tmp_path / name)
    sources = [tmp_path / name for name in ("poison.png", "a.png", "b.png")]
    report = fleet.map(sources, tmp_path / "out", ["invert"], workers=1, device="cpu")
    (failure,) = report.failures
    assert failure.name.endswith("poison.png")
    assert "its worker was lost 2 times" in failure.reason and "signal 11" in failure.reason
    assert sorted(os.listdir(tmp_path / "out")) == ["a.png", "b.png"]


KILLED = """
import os, signal
from pathlib import Path
from dala.fleet import tasks
from dala.media.files import writing
seen = Path(__file__).with_name("seen")
def once(name):
    if not (seen / name).exists():
        (seen / name).touch()
        os.kill(os.getpid(), signal.SIGKILL)
plain, write = tasks.filter_file, writing._write
def filter_file(facts, tell):
    return plain(facts, lambda frames: once("video"))
def _write(photo, path, *words):
    write(photo, path, *words)
    once("photo")
tasks.ACTIONS["filter_file"] = filter_file
writing._write = _write
"""


def test_who_is_killed_leaves_nothing_half_written(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of the user's, where nobody else would remove it."""
    hooked(KILLED, tmp_path / "hook", monkeypatch)
    (tmp_path / "hook" / "seen").mkdir()
    media.save(np.full((8, 8, 3), 7, np.uint8), tmp_path / "a.png")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".b.0123abcd.part.png").write_bytes(b"somebody's")
    sources = [clip, tmp_path / "a.png"]
    report = fleet.map(sources, tmp_path / "out", ["invert"], workers=1, device="cpu")
    assert (report.lost, report.failures) == (2, ())
    assert sorted(os.listdir(tmp_path / "out")) == [".b.0123abcd.part.png", "a.png", clip.name]


def test_a_changed_file_is_done_anew(tmp_path: Path) -> None:
    sources = [tmp_path / "a.png", tmp_path / "missing.png"]
    media.save(np.full((8, 8, 3), 7, np.uint8), sources[0])
    asked: dict[str, Any] = {"workers": 1, "device": "cpu"}
    assert len(fleet.map(sources, tmp_path / "out", ["invert"], **asked).failures) == 1
    assert fleet.map(sources, tmp_path / "out", ["invert"], **asked).resumed == 1
    media.save(np.full((9, 9, 3), 8, np.uint8), sources[0])
    again = fleet.map(sources, tmp_path / "out", ["invert"], **asked)
    assert (again.resumed, len(again.failures)) == (0, 1)
    assert media.open(tmp_path / "out" / "a.png").pixels.shape[:2] == (9, 9)


def test_files_are_done_anew_with_another_table(tmp_path: Path) -> None:
    sources, table = [tmp_path / "a.png", tmp_path / "missing.png"], tmp_path / "film.cube"
    media.save(np.full((8, 8, 3), 7, np.uint8), sources[0])

    def grade() -> fleet.Report:
        filters = [("lut", {"lut": str(table)})]
        return fleet.map(sources, tmp_path / "out", filters, workers=1, device="cpu")

    table.write_text("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
    assert (grade().resumed, grade().resumed) == (0, 1)
    table.write_text("LUT_1D_SIZE 2\n1 1 1\n0 0 0\n")
    assert grade().resumed == 0
    assert media.open(tmp_path / "out" / "a.png").pixels[0, 0, 0] == 248
