"""First uses again and again, in fresh processes: ``python many.py [PROCESSES] [DEVICE …]``.

Pictures are 3840×2160 and 62×36. On a machine with fewer than 16 cores, 16 are pretended. Prints a line
for what went wrong, and a summary; ends with status 1 if anything did.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import first_uses
from pretended import run_pretended

CORES = max(16, os.cpu_count() or 1)
AT_ONCE = max(2, (os.cpu_count() or 1) // 4)  # each keeps several cores busy


def try_one(job: tuple[str, str]) -> str:
    """Nothing, or what went wrong."""
    code = f"import first_uses; first_uses.try_first({job[0]!r}, {job[1]!r}, (3840, 2160))"
    done = run_pretended(code, cores=CORES, timeout=400)
    wrong = done.returncode != 0 or bool(first_uses.unexpected(done.stderr))
    return f"{job}: status {done.returncode}\n{done.stderr[-2000:]}" if wrong else ""


def main() -> int:
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    devices = sys.argv[2:] or ["cpu"]
    names = [*first_uses.filter_names(), *first_uses.OTHERS]
    jobs = list(itertools.islice(itertools.cycle(itertools.product(names, devices)), processes))
    begun = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [line for line in pool.map(try_one, jobs) if line]
    print(*wrong, sep="\n")
    seconds = time.monotonic() - begun
    print(
        f"{len(jobs)} fresh processes, {len(wrong)} went wrong; devices {', '.join(devices)}; "
        f"{os.cpu_count()} cores, {CORES} believed in; {seconds:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
