"""The machine that the threads' tests pretend to have."""

from __future__ import annotations

from pretended import run_pretended


def test_it_seems_to_have_many_cores_before_dala_is_imported() -> None:
    done = run_pretended(
        """
        import os, sys
        assert "dala" not in sys.modules
        from dala.backends.cpu.run.cores import thread_count
        print(os.cpu_count(), thread_count(), sys.getswitchinterval())
        """,
        cores=12,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("12 12 1e-06\n", "", 0)


def test_what_it_raises_is_told() -> None:
    done = run_pretended("x = 1\nraise SystemExit(3)")
    assert done.returncode == 3
    done = run_pretended("x = 1\n1 / 0")
    assert done.returncode == 1 and "line 2" in done.stderr and "ZeroDivisionError" in done.stderr


def test_what_crashes_says_where() -> None:
    done = run_pretended("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert done.returncode < 0 and 'File "<pretended>", line 2' in done.stderr


def test_what_hangs_says_where() -> None:
    done = run_pretended("import threading; threading.Event().wait()", timeout=5)
    assert done.returncode == 1
    assert "Timeout" in done.stderr and 'File "<pretended>", line 1' in done.stderr
