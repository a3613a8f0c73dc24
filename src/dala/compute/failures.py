"""Errors that outlive the call in which they came up.

A command's error is remembered, and raised again for everybody who asks. An exception holds its
frames, and frames hold arrays, so what is remembered has no frames, and what is raised is a copy.
"""

from __future__ import annotations

import copy
import traceback
from collections import OrderedDict


class _Where(Exception):
    """Where a command failed, as text. Frames would keep alive what everybody in them held."""


def detached(error: BaseException, handled: BaseException | None) -> BaseException:
    """An error to remember: its traceback as text, and without what the caller was handling."""
    chain = [error]
    while True:
        before = chain[-1].__cause__ or chain[-1].__context__
        if before is None or before is handled or any(before is link for link in chain):
            break
        chain.append(before)
    first = chain[-1]
    if first.__context__ is handled:
        first.__context__ = None
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    for link in chain:
        link.__traceback__ = None
    if first.__cause__ is None and not isinstance(first, _Where):
        first.__cause__ = _Where("\n" + text)
    return error


def renewed(error: BaseException) -> BaseException:
    """The error to raise: a copy, because raising adds the frames of whoever waits to it, and the
    original is remembered for others who ask."""
    try:
        fresh = copy.copy(error)
    except Exception:  # an exception with a constructor of its own kind
        return error.with_traceback(None)
    fresh.__cause__ = error.__cause__
    return fresh


class RememberedFailures:
    """Those of the last commands that failed, by their numbers. Used under the commands' lock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.forgotten = 0  # the newest number whose failure is no longer remembered
        self._kept: OrderedDict[int, BaseException] = OrderedDict()

    def remember(self, number: int, failure: BaseException) -> None:
        self._kept[number] = failure
        while len(self._kept) > self.most:
            self.forgotten = max(self.forgotten, self._kept.popitem(last=False)[0])

    def get(self, number: int) -> BaseException | None:
        return self._kept.get(number)
