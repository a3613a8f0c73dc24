"""Processes that are forked from one that has opened a GPU: they end as any other."""

from __future__ import annotations

import os

import pytest
from processes import run_to_the_end

from dala.backends.webgpu.device import WebGpuDevice

pytestmark = [
    pytest.mark.webgpu,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]

ENDING = """
    import atexit, ctypes, os, sys, warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
    import dala
    from dala import compute

    def relu(device):
        with dala.use(device):
            a = compute.buffer([-1.0, 2.0])
            compute.run_kernel("relu", [a], a)
            return a

    held = relu("webgpu")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        if sys.argv[1] == "drops":
            del held
        elif sys.argv[1] == "computes":
            relu("cpu").read()
        elif sys.argv[1] == "forks":
            child = os.fork()
            if child:
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        atexit.register(print, "Python's")
        ctypes.CDLL(None).printf(b"C's\\n")  # into a pipe it is written when C ends
        sys.exit(3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code, held.read().tolist())
"""


@pytest.mark.parametrize("how", ["at once", "drops", "computes", "forks"])
def test_a_child_ends_with_its_own_status(gpu: WebGpuDevice, how: str) -> None:
    """A driver's handlers at C's exit join threads that are the parent's. What is printed is printed."""
    code, out, errors = run_to_the_end(ENDING, how)
    told = ["C's", "Python's"]
    forked = ["3", *told] if how == "forks" else []
    assert (code, sorted(out.splitlines())) == (0, sorted([*forked, *told, "3 [0.0, 2.0]"])), errors
