"""`make test-gpu`: a software adapter is refused, a real one is named with all that ran on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from processes import environment

from dala.backends.webgpu.adapters import find_adapters

ROOT = Path(__file__).parents[2]


@pytest.mark.webgpu
def test_the_suite_on_a_gpu() -> None:
    env = environment(DALA_DEVICE="webgpu", DALA_REQUIRE_GPU="1")
    command = [sys.executable, "-m", "pytest", "tests/golden/test_ir.py", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    best = find_adapters()[0]
    if best.is_software:
        assert ran.returncode == pytest.ExitCode.USAGE_ERROR
        assert f"DALA_REQUIRE_GPU=1, but the best adapter here is {best}: no GPU" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stdout
        assert f"adapter: {best}, driver " in ran.stdout
        assert " passed, 0 failed, 0 error, 0 skipped" in ran.stdout
