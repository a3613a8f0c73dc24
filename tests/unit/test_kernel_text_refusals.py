"""Kernel text: what is refused, when it is registered and when it is traced."""

from __future__ import annotations

import re

import pytest
from kernel_texts import body, call, refusal

from dala.errors import KernelError

# --- what is refused when it is registered --------------------------------------------------------

STATEMENTS = [
    "while 1: pass", "lambda: 1", "def g(): return 1", "async def g(): pass", "class A: pass",
    "import os", "from os import path", "try: pass\n    except: pass", "with src: pass", "raise 1",
    "assert 1", "del src", "global a", "nonlocal a", "yield 1", "a = yield", "await src",
    "a = (b := 1)", "match src:\n        case 1: pass", "a: int = 1", "a: int", "src[0, 0] = 1",
    "src.width = 1", "src.a += 1", "src[0] += 1", "[a, b] = 1, 2", "(a, (b, c)) = 1, (2, 3)",
    "a, *b = 1, 2", "a, src.b = 1, 2", "for src[0] in range(3): pass", "for [a] in (1,): pass",
    "for i in range(3): pass\n    else: pass", "for i in range(): pass",
    "for i in range(1,2,3,4): pass", "for i in range(stop=3): pass", "for i in range(*src): pass",
    "async for i in src: pass", "break", "continue", "if 1: break", "return", "1", "src[0, 0]",
    "1; 'a late docstring'", "a = 1; 'a late docstring'", "floor(1)", "floor = 1", "range = 3",
    "for min in range(3): pass", "a, dot = 1, 2", "_a = 1", "a = _a", "for _ in range(3): pass",
    "a = b", "a = undefined(1)", "a @= src", "exec('1')", "eval('1')", "print(1)", "a = open",
    "type A = int", "pass; import os", "if 0: import os", "a = b = c",
    "try: pass\n    except* ValueError: pass", "for i in range: pass", "a = range",
]  # fmt: skip
REFUSED_EXPRESSIONS = [
    "(lambda: 1)()", "lambda q: q", "[i for i in (1, 2)]", "{i for i in (1, 2)}",
    "sum(i for i in (1, 2))", "{i: i for i in (1, 2)}", "{}", "{1: 2}", "{1, 2}", "'text'",
    "b'bytes'", "f'{src}'", "...", "1j", "(*src,)", "max(*src)", "max(**src)",
    "clamp(1, low=0, high=1)", "src[0:1]", "src[::, 0]", "src[0, :]", "src @ src", "1 in (1, 2)",
    "1 not in (1, 2)", "1 is 1", "src is src", "src is not 0", "await src", "(yield)", "(a := 1)",
    "len(src)", "range(3)", "sum(range(3))", "f(src)", "floor", "floor(floor)", "src.at",
    "src[0, 0].with_alpha", "src.width()", "src[0, 0].r()", "src[0, 0].foo", "src.foo()",
    "floor(1)(2)", "(1, 2)()", "src[0, 0]()", "3()", "None()", "src.at(1, 2).at",
    "__import__('os')", "__builtins__", "getattr(src, 1)", "vars()", "globals()", "src.__class__",
    "src.source", "p.node", "src[0, 0].node", "src[0, 0].parts", "src[0, 0].r.node",
    "floor.__globals__", "().__class__.__bases__", "(1).__class__", "(1).real",
    "(1.5).is_integer()", "src._pixel(floor)", "src._lerp", "x.node.attr",
    "src.__getitem__((0, 0))", "src.at.__func__", "pi.hex()", "src.channels", "sum.__self__",
    "\uff3fa", "src.\uff3f\uff3fclass\uff3f\uff3f", "9223372036854775808", "0x" + "f" * 1000,
    "9" * 5000, "src[0, 0].rgb.r.__bool__()",
]  # fmt: skip
TEXTS = [
    "", "   \n\n", "# nothing", "1", "src", "x = 1", "'doc'", "import os\ndef f(src): return 1",
    "def f(src): return 1\nf(1)", "def f(src): return 1\ndef g(src): return 2", "class A: pass",
    "async def f(src): return 1", "lambda src: 1", "f = lambda src: 1",
    "'doc'\ndef f(src): return 1", "@kernel\ndef f(src): return 1", "def f(src) -> Image: return 1",
    "def f(*src): return 1", "def f(**src): return 1", "def f(*, src): return 1",
    "def f(src, /): return 1", "def f(src): pass", "def f(src): 'only a docstring'",
    "def f(src, src): return 1", "def _f(src): return 1", "def f(_src): return 1",
    "def f(__class__): return 1", "def f(floor): return 1", "def f(range): return 1",
    "def f(src: str): return 1", "def f(src: 'Image'): return 1",
    "def f(src: Image | None): return 1", "def f(src: list[int]): return 1",
    "def f(src: Static[str]): return 1", "def f(src: Static): return 1",
    "def f(src: Static[int, int]): return 1", "def f(src: print(1)): return 1",
    "def f(src: a.b): return 1", "def f(src: None): return 1", "def f(src: float | int): return 1",
    "def f(src: None | float): return 1", "def f(a=print(1)): return 1", "def f(a='x'): return 1",
    "def f(a=(1, 2)): return 1", "def f(a=b): return 1", "def f(a=-True): return 1",
    "def f(a=--1): return 1", "def f(a=1 + 1): return 1", "def f(a=~1): return 1",
    "def f(a=1j): return 1", "def f(a=[]): return 1", "def f(a=9223372036854775808): return 1",
    "def f(a=1, b): return 1", "def f[T](src): return 1", "def f(src): return 1 +",
    "def f(src):\nreturn 1", "def f(src):\n  a = 1\n    b = 2\n  return a",
    "def f(src):\n\tif 1:\n        return 1", "def f(src", "\x00", "def f(src): return 1\x00",
    "def f(src): return '\ud800'", "def \ud800(src): return 1", "\ufeff\ufeff", "\x0c\\",
    "def f(src): return \u2028 1", "def f(src): return 1 \\", "def f(src): return '''", "é",
    "\u200b", "💥", "def " + "n" * 65 + "(src): return 1", "def f(src): return " + "n" * 30000,
    "def f(" + "n" * 30000 + "): return 1", "return 1", "def f(src): return 08",
    "def f(None): return 1", "def f(src): None = 1; return 1",
]  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS)
def test_refused_statements(statement: str) -> None:
    source = f"def f(src):\n    {statement}\n    return 1"
    message = refusal(source)
    assert re.match(r"kernel ('f'|text), line \d+: .+\n    .+\n +\^$", message), message


@pytest.mark.parametrize("expression", REFUSED_EXPRESSIONS)
def test_refused_expressions(expression: str) -> None:
    assert re.match(r"kernel ('f'|text)(, line \d+)?: .+|kernel text ", refusal(body(expression)))


@pytest.mark.parametrize("source", TEXTS)
def test_refused_texts(source: str) -> None:
    message = refusal(source)
    assert message.startswith(("kernel 'f'", "kernel text"))
    assert len(message) < 500


# --- what is refused when it is traced ------------------------------------------------------------

VALUES = {
    "1 / 0": "division by zero",
    "1 // 0": "division by zero",
    "1.0 % 0": "division by zero",
    "0 ** -1": "division by zero",
    "2.0 ** 10000": "too large",
    "9223372036854775807 + 1": "too large",
    "~9223372036854775807 - 1": "too large",
    "-9223372036854775807 * 2": "too large",
    "3000000000 * 3000000000 * 3000000000": "too large",
    "(-1) ** 0.5": "not a real number",
    "1 << -1": "negative shift",
    "1 << 64": "too large",
    "1.5 & 2": "unsupported operand",
    "~1.5": "bad operand",
    "~True": "use `not`",
    "None + 1": "expected a number, got None",
    "-None": "expected a number, got None",
    "(1, 2) * 2": "expected a number, got a tuple",
    "(1, 2) + 1": "expected a number, got a tuple",
    "-(1, 2)": "expected a number, got a tuple",
    "(1, 2) == (1, 2)": "expected a number, got a tuple",
    "1 if (1, 2) else 2": "expected a number, got a tuple",
    "None < 1": "expected a number, got None",
    "src[0, 0] == None": "expected a number, got None",
    "floor(1e300)": "too large",
    "mix(9223372036854775807, 0, 9223372036854775807)": "too large",
    "floor()": "missing 1 required",
    "floor(1, 2)": "takes 1 positional",
    "floor(None)": "expected a number, got None",
    "floor((1, 2))": "expected a number, got a tuple",
    "sum((1, (2, 3)))": "expected a number, got a tuple",
    "sum(())": "of nothing",
    "sum(3)": "sum() adds the components",
    "src.at((1, 2), 3)": "expected a number, got a tuple",
    "src.at(1e400, 0)": "too large",
    "src[0]": "two offsets",
    "src[0, 1, 2]": "two offsets",
    "src[0.5, 0]": "whole numbers",
    "src[None, 0]": "expected a number, got None",
    "src[(1, 2), 0]": "expected a number, got a tuple",
    "src[x, 0]": "offsets must be known",
    "src[1000, 0]": "at most 512",
    "src[0, 0][4]": "expected an index in 0..3, got 4",
    "src[0, 0][x]": "expected an index in 0..3, got a number",
    "src[0, 0][0.0]": "expected an index in 0..3, got 0.0",
    "(1, 2)[2]": "expected an index in 0..1, got 2",
    "(1, 2)[-3]": "expected an index in 0..1, got -3",
    "(1, 2)[True]": "expected an index in 0..1, got True",
    "(1, 2)[0, 1]": "expected an index in 0..1, got a tuple",
    "x[0]": "a number has no components",
    "3[0]": "a whole number has no components",
    "src.r": "an image has no .r",
    "src[0, 0].rgb.a": "no .a",
    "src[0, 0].width": "a pixel has no .width",
    "src[0, 0].at(1, 2)": "a pixel has no .at",
    "x.r": "a number has no .r",
    "pi.is_integer": "a number has no .is_integer",
    "(1, 2).r": "a tuple has no .r",
    "None.r": "None has no .r",
    "not src[0, 0]": "cannot steer `if`",
    "src[0, 0] and 1": "cannot steer `if`",
    "0 < src[0, 0].r < 1": "cannot steer `if`",
    "1 if src[0, 0] else 2": "cannot steer `if`",
    "src[0, 0].rgb + src[0, 0]": "do not fit together",
    "(src[0, 0], 1)": "not a tuple",
    "index(1.5)": "an axis is a whole number",
}


@pytest.mark.parametrize("expression", VALUES)
def test_wrong_values(expression: str) -> None:
    with pytest.raises(KernelError, match=re.escape(VALUES[expression])) as caught:
        call(body(expression))
    first, line, caret = str(caught.value).split("\n")
    assert first.startswith("kernel 'f', line 2: ")
    assert line == f"    return {expression}"
    assert caret.strip() == "^"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("a, b = 1, 2, 3", "expected 2 values, got 3"),
        ("a, b = 1", "expected several values, got a whole number"),
        ("a, b, c = src[0, 0]", "expected 3 values, got 4"),
        ("for i in 3: pass", "expected several values, got a whole number"),
        ("for i in src: pass", "expected several values, got an image"),
        ("for i in range(x): pass", "a number known while tracing"),
        ("for i in range(1.0): pass", "range takes whole numbers, got a number"),
        ("for i in range(1, 9, 0): pass", "must not be zero"),
        ("for i in range(None): pass", "range takes whole numbers, got None"),
        ("if 0: a = 1\n    b = a", "'a' is read before it has a value"),
        ("late += 1", "'late' is read before it has a value"),
        ("a = 1\n    a /= 0", "division by zero"),
    ],
)
def test_wrong_statements(statement: str, message: str) -> None:
    with pytest.raises(KernelError, match=rf"kernel 'f', line \d: .*{re.escape(message)}"):
        call(f"def f(src):\n    {statement}\n    return 1")


def test_every_case_needs_a_return() -> None:
    with pytest.raises(KernelError, match="ends without a return"):
        call("def f(n):\n    if n > 1: return 1", 0)


def test_strange_arguments_stay_out_of_reach() -> None:
    class Trap:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(name)

    for expression in [
        "a + 1",
        "a.r",
        "a[0]",
        "floor(a)",
        "-a",
        "1 if a else 2",
        "a == 1",
        "a.at(1, 2)",
    ]:
        for value in [Trap(), "text", open, [1]]:
            with pytest.raises(KernelError, match="kernel 'f', line 1: "):
                call(f"def f(a): return {expression}", value)
