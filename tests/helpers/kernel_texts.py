"""Kernel texts, called as the registry does, and compared with the same in Python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from effort import effort

from dala.errors import KernelSyntaxError
from dala.ir.graph import ArrayView
from dala.ir.printer import print_body
from dala.language.budget import Trace
from dala.language.text import parse_kernel
from dala.language.values import Image, as_body


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """What is done in here is little, whatever the text: a third of a second where nothing else runs."""
    with effort() as made:
        yield
    assert made.calls < 5_000_000  # the longest that is let run, MAX_STEPS steps, makes 3.2 million
    assert made.peak_bytes < 64 * 2**20  # 60,000 characters that are syntax trees: 35 MiB


def call(source: str, *args: object, **kwargs: object) -> object:
    function = parse_kernel(source)
    with Trace([ArrayView(0)]):
        return function(*(args or (Image(0, 4),)), **kwargs)


def body(expression: str) -> str:
    return f"def f(src):\n    return {expression}"


def printed(value: object) -> list[str]:
    return print_body(as_body(value))


def same(source: str, expected: Callable[[Image], object], **params: object) -> None:
    with Trace([ArrayView(0)]):
        wanted = printed(expected(Image(0, 4)))
    assert printed(call(source, Image(0, 4), **params)) == wanted


def refusal(source: str) -> str:
    with pytest.raises(KernelSyntaxError) as caught:
        parse_kernel(source)
    return str(caught.value)
