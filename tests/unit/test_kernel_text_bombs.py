"""Kernel text: it can do no harm, however it is made."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_texts import body, bounded, call, printed
from searching import examples

from dala.errors import KernelError
from dala.ir.dtypes import S32
from dala.ir.graph import ArrayView
from dala.language.budget import Trace
from dala.language.interpret import MAX_STEPS
from dala.language.text import parse_kernel
from dala.language.values import Image, Tensor, Vec

# --- bombs ----------------------------------------------------------------------------------------


def nest(head: str, levels: int, innermost: str) -> str:
    heads = [" " * (level + 1) + head + "\n" for level in range(levels)]
    return "".join(heads) + " " * (levels + 1) + innermost + "\n"


BOMBS = {
    "power tower": body("9**9**9"),
    "taller tower": body("10**10**10"),
    "negative tower": body("(-10)**10**10"),
    "shift": body("1 << 10**9"),
    "long shift": body("1 << 9223372036854775807"),
    "squaring": "def f(src):\n a = 3\n for i in range(10**6): a = a * a\n return a",
    "augmented": "def f(src):\n a = 3\n for i in range(10**6): a **= a\n return a",
    "nested loops": "def f(src):\n"
    " for i in range(10**6):\n  for j in range(10**6): pass\n return 1",
    "endless loop": "def f(src):\n for i in range(10**18): pass\n return 1",
    "loops in loops": "def f(src):\n" + nest("for i in range(99):", 18, "pass") + " return 1",
    "doubling a tuple": "def f(src):\n t = (1, 2)\n for i in range(10**6): t = t + t\n return 1",
    "growing tuples": "def f(src):\n t = (1, 2)\n for i in range(10**6): t += (1,)\n return 1",
    "copying tuples": "def f(src):\n t = ()\n for i in range(4000): t += (1,)\n"
    " for i in range(10**6): u = t + (1,)\n return 1",
    "adding tuples": "def f(src):\n t = ()\n for i in range(600): t += (x,)\n"
    " for i in range(10**6): u = sum(t)\n return 1",
    "nodes": "def f(src):\n p = src[0, 0]\n for i in range(10**5): p = p + p\n return p",
    "many pixels": "def f(src):\n for i in range(10**5): p = src.sample(x, i)\n return p",
    "deep tuple as an offset": "def f(src):\n t = 1\n"
    " for i in range(10**4): t = (t, t)\n return src[t, 0]",
    "deep tuple compared": "def f(src):\n t = u = 1\n for i in range(10**4):\n"
    "  t = (t, t)\n  u = (u, u)\n return t == u",
    "deep tuple added": "def f(src):\n t = 1\n for i in range(10**4): t = (t, t)\n return sum(t)",
    "deep tuple returned": "def f(src):\n t = 1\n for i in range(10**4): t = (t, t)\n return t",
    "minus": body("-" * 60000 + "1"),
    "nots": body("not " * 15000 + "1"),
    "inverts": body("~" * 500 + "1"),
    "powers": body("2**" * 20000 + "2"),
    "parentheses": body("(" * 5000),
    "closed parentheses": body("(" * 5000 + "1" + ")" * 5000),
    "brackets": body("[" * 150 + "]" * 150),
    "braces": body("{" * 5000),
    "subscripts": body("src" + "[0]" * 20000),
    "attributes": body("src" + ".rgb" * 15000),
    "calls": body("floor" + "()" * 20000),
    "nested calls": body("abs(" * 150 + "1" + ")" * 150),
    "lambdas": body("lambda: " * 8000 + "1"),
    "long sum": body("1+" * 30000 + "1"),
    "conditions": body("1 if 1 else " * 5000 + "1"),
    "elifs": "def f(src):\n if 0: pass\n" + " elif 0: pass\n" * 4000 + " return 1",
    "deep ifs": "def f(src):\n" + nest("if 1:", 98, "return 1"),
    "deep default": "def f(a=" + "-" * 1000 + "1): return 1",
    "deep annotation": "def f(a: " + "float | " * 8000 + "None): return 1",
    "digits": body("9" * 60000),
    "hex digits": body("0x" + "f" * 60000),
    "float digits": body("9" * 4000 + ".0 + None"),
    "a megabyte": body("1" + " " * 2**20),
    "names": body("n" * 60000),
    "near names": "def f(src):\n"
    + "".join(f" {'ab' * 25}{i} = 1\n" for i in range(900))
    + f" return {'ab' * 25}c",
    "big table": body("(" + "1," * 20000 + ")[0]"),
    "statements": "def f(src):\n " + "a=1;" * 15000 + "b\n return 1",
}  # fmt: skip


# Long, but neither deep nor costly: only some Pythons' own parsers refuse them.
HARMLESS = {"long sum": 30001, "elifs": 1}


@pytest.mark.parametrize("bomb", HARMLESS)
def test_long_chains_are_refused_or_harmless(bomb: str) -> None:
    with bounded():
        try:
            outcome = call(BOMBS[bomb])
        except KernelError as error:
            outcome = str(error)[:7]
    assert outcome in (HARMLESS[bomb], "kernel ")


@pytest.mark.parametrize("bomb", [b for b in BOMBS if b not in HARMLESS])
def test_bombs(bomb: str) -> None:
    with bounded(), pytest.raises(KernelError) as caught:
        call(BOMBS[bomb])
    assert str(caught.value).startswith("kernel ")
    assert len(str(caught.value)) < 600


def test_a_shared_graph_is_no_bomb() -> None:
    result = call("def f(src):\n p = src[0, 0]\n for i in range(1000): p = p + p\n return p")
    assert isinstance(result, Vec)
    assert len(printed(result)) == 4 * 1001 + 1


def test_steps_are_counted() -> None:
    with pytest.raises(KernelError, match=f"line 2: the kernel takes too many steps .{MAX_STEPS}"):
        call("def f(src):\n for i in range(10**9): pass\n return 1")


def test_big_tables_fit() -> None:
    assert call(body("(" + "1," * 4096 + ")[4095]")) == 1


def test_deep_nesting_within_the_limit_runs() -> None:
    assert call(body("-" * 90 + "1")) == 1
    assert call(body("(" * 90 + "1" + ")" * 90)) == 1


def test_a_deep_caller_gets_a_kernel_error() -> None:
    function = parse_kernel(body("-" * 90 + "1"))

    def dig() -> object:
        try:
            return dig()
        except RecursionError:
            return function(1)

    with Trace([ArrayView(0)]), pytest.raises(KernelError, match="nested too deeply"):
        dig()


# --- fuzz -----------------------------------------------------------------------------------------

VALID = """
def f(src: Image, radius: Static[int] = 2, amount: float | None = None):
    \"\"\"Doc.\"\"\"
    p, total = src[0, 0], 0.0
    for dx in range(-radius, radius + 1):
        total += src[dx, 0].rgb * (1, 2, 3)[dx % 3] / (2 * radius + 1)
    if amount is None and radius > 1:
        return clamp(total, 0, 1).with_alpha(p.a)
    return mix(p, src.sample(x * 0.5, y // 2), where(p.r > 0.5, 1.0, 0.0))
"""
TOKENS = re.findall(r"\w+|\s+|\"{3}|[^\w\s]", VALID)
ODD = [
    "lambda",
    "**",
    "<<",
    "__class__",
    "while",
    "[",
    "{",
    "~",
    "-",
    "1e400",
    "None",
    "yield",
    ":=",
]
WORDS = sorted(
    {*TOKENS, *ODD, "intermediate", "not", "é", "9" * 30, "\x00", "\ud800", "\n", "\n    "}
)


def survives(source: str) -> None:
    """Whatever the text is, it works or raises a KernelError; anything else fails the test."""
    with contextlib.suppress(KernelError):
        function = parse_kernel(source)
        for symbol in (Image(0, 4), Tensor(0, S32, 2), 3, 2.5, None):
            with Trace([ArrayView(0)]), contextlib.suppress(KernelError):
                function(symbol)


def test_the_fuzzed_kernel_is_right() -> None:
    assert isinstance(call(VALID), Vec)


@settings(max_examples=examples(200))
@given(st.text())
def test_fuzz_text(source: str) -> None:
    survives(source)
    survives(f"def f(src): return {source}")


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from(WORDS), st.booleans()),
        max_size=4,
    )
)
def test_fuzz_mutations(changes: list[tuple[int, str, bool]]) -> None:
    tokens = list(TOKENS)
    for at, word, insert in changes:
        tokens[at : at + (not insert)] = [word]
    survives("".join(tokens))


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.sampled_from([w for w in WORDS if "\n" not in w] + ["src", "(", ")", ",", "0"]),
        max_size=12,
    )
)
def test_fuzz_expressions(words: list[str]) -> None:
    survives(body(" ".join(words)))
    survives(body("".join(words)))
