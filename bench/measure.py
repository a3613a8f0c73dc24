"""What the benchmarks share: timing in turns, the machine in a line, files for the results."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import dala
from dala import compute

Run = Callable[[], object]
FEWEST, MOST = 5, 400  # runs of each
TURN = 4  # runs that are counted
SLOW_S = 0.4  # what takes longer than this is run twice only


def measure(runs: Mapping[str, Run], seconds: float) -> dict[str, float]:
    """Median milliseconds of each: in turns, so that a noisy moment hits all; equal time for each.

    A turn is a few runs, of which the first is not counted: each library's threads look on for a while
    after their work (OpenCV's for about a millisecond), and would slow down whoever comes next.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    unfinished = dict(runs)
    while unfinished:
        for name, run in list(unfinished.items()):
            spent = times[name]
            slow = bool(spent) and spent[0] > SLOW_S
            for counted in [True] if slow else (not spent, *[True] * TURN):
                started = time.perf_counter()
                run()
                if counted:
                    spent.append(time.perf_counter() - started)
            enough = len(spent) >= (2 if spent[0] > SLOW_S else FEWEST)
            if len(spent) >= MOST or (enough and sum(spent) > seconds / len(runs)):
                del unfinished[name]
    return {name: statistics.median(t) * 1e3 for name, t in times.items()}


def median_ms(run: Run, seconds: float = 0.3) -> float:
    return measure({"it": run}, seconds)["it"]


def use_the_cpu() -> None:
    """For benchmarks of the CPU: a GPU, if there is one, would be the default."""
    dala.use("cpu")


def machine() -> str:
    """What the numbers were measured on; after ``use_the_cpu``."""
    info = compute.device_info()
    return (
        f"{info['name']}, {info['threads']} threads, {info['vector_bits']}-bit vectors; "
        f"dala {info['version']}, NumPy {np.__version__}, Python {platform.python_version()}"
        f"{other_work()}"
    )


def other_work() -> str:
    """Numbers from a machine that does something else are not worth much: say so beside them."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return ""
    looks = []
    for pause_s in (0.0, 1.0):
        time.sleep(pause_s)
        times = [int(field) for field in stat.read_text().splitlines()[0].split()[1:9]]
        looks.append((sum(times), times[3] + times[4]))  # all, idle
    (all_before, idle_before), (all_after, idle_after) = looks
    busy = 1 - (idle_after - idle_before) / (all_after - all_before)
    return f"; {busy:.0%} busy with other work" if busy > 0.05 else ""


def write_results(folder: Path, name: str, markdown: str, data: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(markdown, encoding="utf-8")
    text = json.dumps(data, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
