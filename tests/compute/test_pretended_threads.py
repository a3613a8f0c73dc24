"""What many threads share, on a pretended machine of sixteen cores that changes threads at every chance."""

from __future__ import annotations

from pathlib import Path

import pytest
from pretended import run_pretended

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("tests/compute/test_commands.py", "(threads or await or several) and not webgpu"),
        ("tests/compute/test_on_demand.py", "on_demand"),
        ("tests/compute/test_quick.py", "waits or thread"),
        ("tests/gpu/test_surface_ends.py", "thread and not main_thread and not ctrl_c"),
    ],
)
def test_threads_of_a_large_machine(file: str, chosen: str) -> None:
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        f"--rootdir={ROOT}",
        "-c",
        str(ROOT / "pyproject.toml"),
    ]
    done = run_pretended(
        f"""
        import os, sys, pytest
        os.chdir({str(ROOT)!r})
        from dala.backends.cpu.run.cores import thread_count
        assert thread_count() == 16 and sys.getswitchinterval() < 1e-5
        sys.exit(pytest.main([*{options!r}, {file!r}, "-k", {chosen!r}]))
        """,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
