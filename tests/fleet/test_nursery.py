"""Workers are forked by one process that has loaded what they need; where that is not so, they load it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleet_workers import SLOWLY, assert_same_video, hooked, nursery_pids, worker_pids
from in_threads import wait_until
from processes import run_to_the_end

from dala import fleet, media, scene
from dala.errors import FleetError
from dala.fleet import local
from dala.fleet.local import starter_of
from dala.fleet.placement import task_environment
from dala.fleet.starting import TOLD, Starter
from dala.media import looks
from dala.media.chain import Chain

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks workers")
ASKED: dict[str, Any] = {
    "workers": 2, "threads": 1, "segment_s": 0.4, "device": "cpu", "codec": "ffv1",
}  # fmt: skip


@pytest.mark.parametrize("make", [starter_of, Starter])
def test_a_worker_answers_and_ends(make: Callable[[dict[str, str]], Starter]) -> None:
    with make(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker = starter.start(errors)
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.write('{"key": "a", "action": "nothing", "facts": {}}\n')
        worker.stdin.flush()
        assert "a worker knows encode_segment" in worker.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(0.01)
        worker.stdin.close()
        assert worker.wait(60) == 0
        worker.stdout.close()


@pytest.mark.parametrize("make", [starter_of, Starter])
def test_how_a_worker_has_ended(make: Callable[[dict[str, str]], Starter]) -> None:
    with make(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker = starter.start(errors)
        assert worker.stdin is not None and worker.stdout is not None
        worker.kill()
        assert worker.wait(60) == -signal.SIGKILL
        worker.kill()  # it is not there any more
        for pipe in (worker.stdin, worker.stdout):
            pipe.close()


@pytest.mark.skipif(not hasattr(signal, "pidfd_send_signal"), reason="Linux 5.3 has handles")
def test_who_has_ended_gets_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """His number may be another process's, once the nursery has waited for him."""
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker: Any = starter.start(errors)
        worker.kill()
        wait_until(lambda: bool(select.select([worker._hears], [], [], 0)[0]))
        with monkeypatch.context() as patched:
            patched.setattr(os, "kill", lambda *words: pytest.fail(f"kill{words}"))
            worker.terminate()
        assert worker.wait(60) == -signal.SIGKILL
        worker.stdin.close()
        worker.stdout.close()


@pytest.mark.skipif(not hasattr(signal, "pidfd_send_signal"), reason="Linux 5.3 has handles")
def test_a_handle_is_not_inherited() -> None:
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker: Any = starter.start(errors)
        assert not os.get_inheritable(worker._handle)
        end(worker)


def test_a_handle_that_takes_no_signals_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container that allows to open one, and no more."""
    refused = """
        import errno, signal
        def pidfd_send_signal(*words):
            raise OSError(errno.ENOSYS, "there is no such call")
        signal.pidfd_send_signal = pidfd_send_signal
        """
    hooked(textwrap.dedent(refused), tmp_path / "hook", monkeypatch)
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker: Any = starter.start(errors)
        assert worker._handle is None
        end(worker)


def end(worker: Any) -> None:
    """By its number or its handle."""
    worker.kill()
    assert worker.wait(60) == -signal.SIGKILL
    worker.stdin.close()
    worker.stdout.close()


MANY_OPEN = """
    import os, resource
    from tempfile import TemporaryFile
    from dala.fleet.local import starter_of
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 1200), most))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1050)]
    with starter_of({}) as starter, TemporaryFile() as errors:
        worker = starter.start(errors)
        worker.stdin.close()
        print(worker.wait(60))
    """


def test_a_driver_may_have_many_files_open() -> None:
    """Then its sockets have numbers that ``select`` does not take."""
    resource = pytest.importorskip("resource")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < 1200:
        pytest.skip("here it may not")
    code, out, errors = run_to_the_end(MANY_OPEN)
    assert (code, out.split()) == (0, ["0"]), out + errors


FORKS = """
import errno, os
plain, calls = os.fork, iter({calls})
def fork():
    if next(calls, {then}):
        return plain()
    raise OSError(errno.EAGAIN, "there is no room")
os.fork = fork
"""


def test_a_fork_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same nursery: it is well, the machine was full."""
    hooked(FORKS.format(calls=[False, False], then=True), tmp_path / "hook", monkeypatch)
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        before = nursery_pids()
        worker = starter.start(errors)
        assert nursery_pids() == before
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.close()
        assert worker.wait(60) == 0
        worker.stdout.close()


def test_a_worker_that_cannot_be_started_is_done_without(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others do its tasks; without any, the job says so."""
    hooked(FORKS.format(calls=[True], then=False), tmp_path / "one", monkeypatch)
    report = fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)
    assert (report.frames, report.failures, report.placement) == (60, (), "1 × 1")
    hooked(FORKS.format(calls=[], then=False), tmp_path / "none", monkeypatch)
    with pytest.raises(FleetError, match=r"no worker can be started .*ulimit -u"):
        fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)


def test_a_thread_that_cannot_be_started_is_done_without(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a machine has no room for first: they count as processes do."""
    begin = threading.Thread.start
    room = iter([True])

    def start(self: threading.Thread) -> None:
        if self.name.startswith("dala-fleet") and not next(room, False):
            raise RuntimeError("can't start new thread")
        begin(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    report = fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)
    assert (report.frames, report.failures, report.placement) == (60, (), "1 × 1")
    with pytest.raises(FleetError, match=r"no worker can be started .*ulimit -u"):
        fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)


def test_what_a_module_prints_when_python_begins_is_no_reply(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked("print('good morning')", tmp_path / "hook", monkeypatch)
    # where each loads for itself
    monkeypatch.setattr(local, "starter_of", lambda variables, needed: Starter(variables))
    report = fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED | {"workers": 1})
    assert (report.frames, report.lost, report.failures) == (60, 0, ())


UNHEARD = """
import os, signal
from dala.fleet import tasks
class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass
def unheard(facts, tell):
    Ends()
    return {"frames": 1}
tasks.ACTIONS["unheard"] = unheard
"""


def test_who_is_told_within_a_finalizer_ends_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python throws exceptions away there."""
    hooked(UNHEARD, tmp_path / "hook", monkeypatch)
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker = starter.start(errors)
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.write('{"key": "a", "action": "unheard", "facts": {"device": "cpu"}}\n')
        worker.stdin.flush()
        assert "finished" in worker.stdout.readline()
        assert worker.wait(60) == TOLD
        for pipe in (worker.stdin, worker.stdout):
            pipe.close()


def test_who_has_nothing_to_do_says_that_it_was_told() -> None:
    """So that a task that was just handed to it does not count as tried."""
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        worker = starter.start(errors)
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.write('{"key": "a", "action": "nothing", "facts": {}}\n')
        worker.stdin.flush()
        assert "failed" in worker.stdout.readline()
        worker.terminate()
        assert worker.wait(60) == TOLD
        for pipe in (worker.stdin, worker.stdout):
            pipe.close()


def test_a_worker_holds_nothing_of_others() -> None:
    """Else the end of one's stdin would not be heard as long as another lives."""
    with starter_of(task_environment(1)) as starter, tempfile.TemporaryFile() as errors:
        first, second = starter.start(errors), starter.start(errors)
        for worker in (first, second):
            assert worker.stdin is not None and worker.stdout is not None
            worker.stdin.close()
            assert worker.wait(60) == 0
            assert worker.stdout.read() == ""
            worker.stdout.close()


def test_a_nursery_that_is_killed_is_replaced(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its workers, as where memory is short."""
    fleet.transcode(clip, tmp_path / "right.mp4", ["invert"], **ASKED)
    hooked(SLOWLY, tmp_path / "hook", monkeypatch)
    killed: list[int] = []

    def kill() -> None:
        wait_until(lambda: bool(worker_pids()))
        for process in (*nursery_pids(), *worker_pids()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    killer = threading.Thread(target=kill)
    killer.start()
    report = fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)
    killer.join()
    assert killed and report.failures == ()
    assert_same_video(tmp_path / "out.mp4", tmp_path / "right.mp4")
    assert sorted(os.listdir(tmp_path)) == ["hook", "out.mp4", "right.mp4"]


def test_what_cannot_be_loaded_is_said(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "numpy.py").write_text("raise ImportError('it is broken')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hook"))
    with pytest.raises(FleetError, match=r"no worker can be started.*it is broken"):
        fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)


def test_photos_need_no_library_of_videos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "av.py").write_text("raise ImportError('it is not installed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hook"))
    media.save(np.full((8, 8, 3), 7, np.uint8), tmp_path / "a.png")
    report = fleet.map([tmp_path / "a.png"], tmp_path / "out", ["invert"], workers=1, device="cpu")
    assert report.failures == ()


LOADED = """
    import json, sys
    from dala.fleet import nursery, tasks
    action, facts = sys.argv[1], json.loads(sys.argv[2])
    nursery.load(tasks.NEEDED[action])
    before = set(sys.modules)
    tasks.run_task(action, facts, lambda frames: None)
    print(*(name for name in set(sys.modules) - before if name.startswith(("dala", "av"))))
    """


@pytest.mark.parametrize("action", ["encode_segment", "export_span", "filter_file"])
def test_workers_load_nothing_that_all_of_them_need(
    action: str, clip: Path, tmp_path: Path
) -> None:
    with scene.Scene(64, 48, target_fps=25) as stage:
        stage.add_video(str(clip), size=(64, 48))
        written = scene.save(stage, tmp_path / "scene.json")
    look = looks.save(tmp_path / "a.look", Chain.of(["blur", "contrast"]))
    facts = {
        "source": str(clip), "part": str(tmp_path / "part.mp4"), "target": str(tmp_path / "o.mp4"),
        "scene": str(written), "look": str(look), "strength": 1.0, "begin": "0", "end": "1",
        "before": 0, "shown": "0", "warm": None, "fps": "25", "is_video": True, "state": None,
        "encoding": {}, "on_damage": "error", "device": "cpu",
    }  # fmt: skip
    code, out, errors = run_to_the_end(LOADED, action, json.dumps(facts))
    assert (code, out.split()) == (0, []), out + errors


def test_nobody_is_left(clip: Path, tmp_path: Path) -> None:
    fleet.transcode(clip, tmp_path / "out.mp4", ["invert"], **ASKED)
    wait_until(lambda: not nursery_pids() and not worker_pids())
