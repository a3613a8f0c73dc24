"""What commands raise when they cannot go on; running.py makes a line and an exit code of it."""

from __future__ import annotations

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130  # exit codes


class UsageMistake(Exception):
    """The command line asks for something that cannot be meant."""


class Failed(Exception):
    """A command could not do its work."""


def explain_os_error(error: OSError) -> str:
    """``holiday.jpg: Permission denied``."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename is not None else reason
