"""FFmpeg's threads do not come along with a fork; what waits for them is not freed in the child."""

from __future__ import annotations

import os

import pytest
from clips import real_clip
from processes import run_to_the_end

FORK = """
    import gc, os, signal, sys, threading, warnings
    import numpy as np
    from dala import video
    from dala.video import opening
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
    opening.thread_count = lambda: 4  # on a machine of one core, too
    clip, written = sys.argv[1:]

    def read():
        reader = video.Reader(clip)
        next(reader)
        return reader

    def write():
        writer = video.Writer(written, fps=25)
        for level in range(0, 200, 10):
            writer.write(np.full((240, 320, 3), level, np.uint8))
        return writer

    def fork(work):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            work()
            gc.collect()
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    "beside",
    [
        pytest.param("gc.disable(); read(); fork(int)", id="garbage before it"),
        pytest.param(
            """
    def fail():
        opened = read(), write()
        raise ValueError
    def handle():
        try:
            fail()
        except ValueError:
            handling.set()
            threading.Event().wait()
    handling = threading.Event()
    threading.Thread(target=handle, daemon=True).start()
    handling.wait()
    fork(int)
            """,
            id="an exception that another thread handles",
        ),
    ],
)
def test_a_child_frees_no_coder_of_its_parent(beside: str, tmp_path: object) -> None:
    clip, written = str(real_clip("bikes.mp4")), f"{tmp_path}/written.mp4"
    code, out, errors = run_to_the_end(
        FORK + "    " + beside.strip() + "\n    os._exit(0)\n", clip, written
    )
    assert (code, out) == (0, "0\n"), errors
