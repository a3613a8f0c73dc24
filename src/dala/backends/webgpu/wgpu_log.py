"""What wgpu's logger says while GPUs are looked for and opened.

wgpu-native tells of every optional extension and every windowing system that is not there, at the level
WARNING (wgpu-py 0.31; later ones call it INFO). wgpu-py hands that to the logger ``wgpu``, and where nobody
has configured logging, Python writes it to stderr, on a machine where nothing is wrong. So these warnings
wait for the outcome: they are said when somebody wants a GPU and there is none, as they may tell why, and
dropped when there is one. Errors are said at once, and who has configured logging hears everything.
Rejected: a higher level for the logger, which hides the same words when they matter, and what is logged
after.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAME = "wgpu"


def import_wgpu() -> Any:
    """The package; also where somebody has configured its logger before.

    wgpu-py (0.31, 0.32) asserts that its logger is of its own class, which one that exists already is not.
    """
    known = logging.Logger.manager.loggerDict
    given = known.get(_NAME)
    if _NAME in sys.modules or not isinstance(given, logging.Logger):
        import wgpu

        return wgpu
    del known[_NAME]
    try:
        import wgpu
    except BaseException:
        known[_NAME] = given
        raise
    _take_over(logging.getLogger(_NAME), given)
    return wgpu


def _take_over(logger: logging.Logger, given: logging.Logger) -> None:
    """``logger`` says what ``given`` was configured to say; lists are shared with who holds the old one."""
    logger.handlers, logger.filters = given.handlers, given.filters
    logger.propagate, logger.disabled = given.propagate, given.disabled
    if given.level:
        logger.setLevel(given.level)


@contextmanager
def withheld_warnings() -> Iterator[list[logging.LogRecord]]:
    """Warnings of this thread that only stderr would hear are kept in the list instead."""
    logger, thread = logging.getLogger(_NAME), threading.get_ident()
    withheld: list[logging.LogRecord] = []

    def passes(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR or record.thread != thread or logger.hasHandlers():
            return True
        withheld.append(record)
        return False

    logger.addFilter(passes)
    done = False
    try:
        yield withheld
        done = True
    finally:
        logger.removeFilter(passes)
        if not done:  # the search itself failed
            say(withheld)


def say(withheld: list[logging.LogRecord]) -> None:
    """What was kept, as if it were logged now."""
    for record in withheld:
        logging.getLogger(_NAME).handle(record)
