"""Code run in a process of its own, on a machine that seems larger than it is and changes threads often.

Many cores mean many threads of dala's own, and the shortest switch interval lets Python change threads
between any two instructions: what a race needs. Both are set before dala is imported.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping

from processes import environment

PRELUDE = """\
import faulthandler, os, sys
faulthandler.enable()
faulthandler.dump_traceback_later({timeout!r}, exit=True)  # says where every thread hangs
os.cpu_count = lambda: {cores!r}
os.sched_getaffinity = lambda process: set(range({cores!r}))
os.process_cpu_count = os.cpu_count  # asked from Python 3.13 on
sys.setswitchinterval({switch_interval!r})
exec(compile({code!r}, "<pretended>", "exec"))
"""


def run_pretended(
    code: str,
    cores: int = 16,
    switch_interval: float = 1e-6,
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """What became of ``code`` in a fresh interpreter that believes in so many cores.

    ``env`` is set on top of this process's environment. dala and tests/helpers can be imported. After
    ``timeout`` seconds it counts as hanging: it ends with status 1, and ``stderr`` says where it hung.
    """
    prelude = PRELUDE.format(
        cores=cores,
        switch_interval=switch_interval,
        code=textwrap.dedent(code),
        timeout=timeout,
    )
    return subprocess.run(
        [sys.executable, "-c", prelude],
        env=environment(**(env or {})),
        capture_output=True,
        text=True,
        timeout=timeout + 60,  # it ends itself; this is for one that cannot even do that
        check=False,
    )
