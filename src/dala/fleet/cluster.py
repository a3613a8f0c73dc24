"""Tasks on a Ray cluster: Ray places them, and tries those again whose worker or machine is lost.

What travels are paths and small records, so sources, job folder and output must lie where every machine
of the cluster sees them under the same name. Ray is loaded when a cluster is asked for, never before.
"""

from __future__ import annotations

import importlib
import logging
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dala._version import __version__
from dala.errors import FleetError, UnsupportedError
from dala.fleet.placement import Placement, task_environment
from dala.fleet.running import ATTEMPTS, Event, Task
from dala.video.parts.journal import Record

KNOCK_S = 5.0  # for the head of a cluster to answer
_PLACE = re.compile(r"(?:ray://)?([^/:]+):(\d+)")
# tasks of each worker from which on variables of its own pay: Ray starts another process for them, though
# it has some ready (a second of processor time), and then a part costs a tenth of a second less
MANY = 10
AHEAD = 4  # tasks that Ray holds for each worker, so that none waits for the driver


class RayCluster:
    """See Engine."""

    def __init__(
        self, placement: Placement, address: str | None, device: str | None, most: int | None
    ) -> None:
        """``most`` is how many tasks may run at once; None: as many as the cluster has room for."""
        self._ray = load_ray()
        self.placement = placement
        self._address = address
        self._most = most
        self._needs_gpu = device is not None and device.startswith("webgpu")

    def run(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """What happens to the tasks; closing it cancels what is under way."""
        joined = self._join()
        under_way: dict[Any, Task] = {}
        try:
            yield from self._events(tasks, under_way)
        finally:
            for reference in under_way:
                self._ray.cancel(reference, force=True)
            if joined:
                self._ray.shutdown()

    def _events(self, tasks: Sequence[Task], under_way: dict[Any, Task]) -> Iterator[Event]:
        room = self._room(len(tasks))
        submit = self._remote(len(tasks))
        waiting = deque(tasks)
        while waiting or under_way:
            while waiting and len(under_way) < room:
                task = waiting.popleft()
                named = submit.options(name=f"dala {title_of(task)}")
                under_way[named.remote(task.action, task.facts)] = task
            ready, _ = self._ray.wait(list(under_way), num_returns=1)
            for reference in ready:
                yield self._event(under_way.pop(reference), reference)

    def _join(self) -> bool:
        """Whether this call has joined the cluster, and so has to leave it."""
        if self._ray.is_initialized():
            return False
        try:
            _knock(self._address)
            self._ray.init(
                address=self._address or "auto", log_to_driver=False, logging_level=logging.WARNING
            )
        except (OSError, RuntimeError, ValueError) as error:
            where = self._address or "any of this machine's"
            raise FleetError(
                f"no Ray cluster answers at {where} ({error}); `ray start --head` starts one"
            ) from error
        return True

    def _room(self, tasks: int) -> int:
        """How many tasks Ray may hold at once."""
        if self._most is not None:
            return self._most
        total = self._ray.cluster_resources()
        places = total.get("CPU", 1) // self.placement.threads
        if self._needs_gpu:
            places = min(places, total.get("GPU", 0))
        workers = max(1, min(int(places), tasks))
        self.placement = replace(self.placement, workers=workers)
        return AHEAD * workers

    def _remote(self, tasks: int) -> Any:
        options: dict[str, Any] = {
            "num_cpus": self.placement.threads,
            "memory": self.placement.worker_bytes,
            "max_retries": ATTEMPTS,  # of lost workers; errors of a task itself are told once
        }
        if self._needs_gpu:
            options["num_gpus"] = 1
        if tasks >= MANY * self.placement.workers:
            options["runtime_env"] = {"env_vars": task_environment(self.placement.threads)}
        return self._ray.remote(**options)(_beginning(self.placement.threads))

    def _event(self, task: Task, reference: Any) -> Event:
        try:
            answer: Record = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error  # of an exception on the other machine
            why = (str(cause).strip() or type(cause).__name__).splitlines()[0]
            return Event("failed", task.key, reason=f"Ray gave it up: {why}")
        if "failed" in answer:
            return Event("failed", task.key, reason=answer["failed"])
        return Event("finished", task.key, record=answer)


def _knock(address: str | None) -> None:
    """OSError where nobody answers; Ray itself would try for many minutes."""
    found = _PLACE.fullmatch(address or "")
    if found is not None:
        socket.create_connection((found[1], int(found[2])), KNOCK_S).close()


def title_of(task: Task) -> str:
    """A task among those of many jobs, as Ray's dashboard lists them."""
    part = task.facts.get("part")
    of = "" if part is None else Path(part).parent.name.removeprefix(".").removesuffix(".fleet")
    return f"{of} {task.key}".lstrip()


def _beginning(threads: int) -> Callable[[str, Record], Record]:
    """What a worker of Ray's is sent, as code: nothing of dala is loaded before it runs."""
    wanted = __version__

    def begin(action: str, facts: Record) -> Record:
        import os

        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from dala._version import __version__ as there

        if there != wanted:  # its parts might be others
            return {"failed": f"a machine of the cluster has dala {there}, this one {wanted}"}
        from dala.fleet.placement import adopt

        adopt(threads)
        here = importlib.import_module(
            "dala.fleet.cluster"
        )  # by name: else it would be loaded first
        answer: Record = here.run_remotely(action, facts)
        return answer

    return begin


def run_remotely(action: str, facts: Record) -> Record:
    """A task on a machine of the cluster; what goes wrong comes back as words, not as an exception."""
    from dala.fleet.tasks import reason_of, run_task

    own = {name: _own_gpu() for name in ("device", "default") if facts.get(name) == "webgpu"}
    facts = {**facts, **own}
    try:
        return run_task(action, facts, lambda frames: None)
    except Exception as error:
        return {"failed": reason_of(error)}


def _own_gpu() -> str:
    """The GPU that Ray has given to this task alone: no two tasks of a machine have the same number.

    Ray hides the others from CUDA only; WebGPU sees them all.
    """
    numbers = load_ray().get_gpu_ids()
    return f"webgpu:{int(numbers[0])}" if numbers else "webgpu"


def load_ray() -> Any:
    """The module ``ray``, or an error that names the command that installs it."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UnsupportedError(
            f"engine='ray' needs Ray ({error}); install it with: pip install 'dala-gpu[fleet]'. "
            "engine='local' uses this machine's cores and needs nothing"
        ) from error
