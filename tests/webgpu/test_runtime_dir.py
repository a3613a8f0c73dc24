"""Without XDG_RUNTIME_DIR, as in a container, nothing is said on stderr, and nothing is changed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.webgpu
FIRST_USES = {
    "device": "import dala; dala.use('webgpu').__enter__()",
    "surface": """
from dala import gpu
with gpu.create_surface(8, 8, device="webgpu") as surface:
    surface.clear("red")
    surface.present().wait()
""",
    "auto": "from dala.backends.auto import choose_auto; choose_auto()",
    "doctor": "from dala.cli import main; import sys; sys.argv[1:] = ['doctor']; main()",
}
INHERITED = """
import os, subprocess, sys
from dala.backends.webgpu.adapters import find_adapters
assert find_adapters()
show = "import os; print(os.environ.get('XDG_RUNTIME_DIR'))"
print(os.environ.get("XDG_RUNTIME_DIR"), flush=True)
subprocess.run([sys.executable, "-c", show], check=True)
"""


def run(code: str, runtime_dir: str | None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    if runtime_dir is not None:
        environment["XDG_RUNTIME_DIR"] = runtime_dir
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("use", FIRST_USES)
def test_the_first_use_is_silent(use: str) -> None:
    done = run(FIRST_USES[use], None)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("runtime_dir", [None, "", "relative", "/tmp"])
def test_the_environment_is_as_it_was(runtime_dir: str | None) -> None:
    done = run(INHERITED, runtime_dir)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [str(runtime_dir)] * 2
