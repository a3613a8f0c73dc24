"""Kernel text: what it may say, how it is refused, and that it can do no harm."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator

import pytest
from effort import effort
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples

from dala.errors import KernelError, KernelSyntaxError
from dala.ir.dtypes import F32, S32
from dala.ir.graph import Node, Part
from dala.ir.printer import print_body
from dala.language.budget import Trace
from dala.language.interpret import MAX_STEPS, Argument
from dala.language.operators import DomainMismatch
from dala.language.parameter import REQUIRED
from dala.language.quote import quote_line
from dala.language.text import parse_kernel
from dala.language.values import Image, Scalar, Tensor, Vec, as_body
from dala.language.vocabulary import clamp, index, luma, mix, pi, rgba, s32, where, width, x, y
from dala.language.vocabulary import max as vmax
from dala.language.vocabulary import sum as vsum


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """What is done in here is little, whatever the text: a third of a second where nothing else runs."""
    with effort() as made:
        yield
    assert made.calls < 5_000_000  # the longest that is let run, MAX_STEPS steps, makes 3.2 million
    assert made.peak_bytes < 64 * 2**20  # 60,000 characters that are syntax trees: 35 MiB


def call(source: str, *args: object, **kwargs: object) -> object:
    function = parse_kernel(source)
    with Trace([Part(0)]):
        return function(*(args or (Image(0, 4),)), **kwargs)


def body(expression: str) -> str:
    return f"def f(src):\n    return {expression}"


def printed(value: object) -> list[str]:
    return print_body(as_body(value))


def same(source: str, expected: Callable[[Image], object], **params: object) -> None:
    with Trace([Part(0)]):
        wanted = printed(expected(Image(0, 4)))
    assert printed(call(source, Image(0, 4), **params)) == wanted


# --- programs that are allowed --------------------------------------------------------------------

EXPRESSIONS: dict[str, Callable[[Image], object]] = {
    "src[0, 0]": lambda s: s[0, 0],
    "src[-1, +2]": lambda s: s[-1, 2],
    "src[0, 0] * 2 + 1": lambda s: s[0, 0] * 2 + 1,
    "1 - src[0, 0] / 3": lambda s: 1 - s[0, 0] / 3,
    "src[0, 0].rgb.with_alpha(src[1, 0].a)": lambda s: s[0, 0].rgb.with_alpha(s[1, 0].a),
    "src[0, 0] ** 2": lambda s: s[0, 0] ** 2,
    "src[0, 0].r ** 0.5": lambda s: s[0, 0].r ** 0.5,
    "-src[0, 0]": lambda s: -s[0, 0],
    "+src[0, 0]": lambda s: s[0, 0],
    "src[0, 0] // 0.5 + src[0, 0] % 0.5": lambda s: s[0, 0] // 0.5 + s[0, 0] % 0.5,
    "s32(src[0, 0].r * 255) & 15 | 3 ^ 1": lambda s: (s32(s[0, 0].r * 255) & 15) | (3 ^ 1),
    "s32(src[0, 0].r) << 2 >> 1": lambda s: s32(s[0, 0].r) << 2 >> 1,
    "where(src[0, 0].r > 0.5, 1.0, 0.0)": lambda s: where(s[0, 0].r > 0.5, 1.0, 0.0),
    "where(~(src[0, 0].r == 0.5), 1.0, 0.0)": lambda s: where(~(s[0, 0].r == 0.5), 1.0, 0.0),
    "where((x < 3) & (y >= 2), 1, 0)": lambda s: where((x < 3) & (y >= 2), 1, 0),
    "x / width": lambda s: x / width,
    "x / src.width + y / src.height": lambda s: x / s.width + y / s.height,
    "src.at(x + 1, y)": lambda s: s.at(x + 1, y),
    "src.sample(x + 0.5, y * 0.5)": lambda s: s.sample(x + 0.5, y * 0.5),
    "luma(src[0, 0])": lambda s: luma(s[0, 0]),
    "max(src[0, 0], src[1, 0], src[2, 0])": lambda s: vmax(s[0, 0], s[1, 0], s[2, 0]),
    "sum(src[0, 0])": lambda s: vsum(s[0, 0]),
    "sum((src[0, 0], src[1, 0]))": lambda s: s[0, 0] + s[1, 0],
    "src[0, 0][1]": lambda s: s[0, 0][1],
    "src[0, 0][-1]": lambda s: s[0, 0][-1],
    "rgba(1, 2 * pi, 0.5, 1)": lambda s: rgba(1, 2 * pi, 0.5, 1),
    "src[0, 0] * (1, 2, 3)[1]": lambda s: s[0, 0] * 2,
    "src[0, 0] * ((1, 2), [3, 4])[1][-1]": lambda s: s[0, 0] * 4,
    "src[0, 0] * ((1, 2) + (3,))[2]": lambda s: s[0, 0] * 3,
    "src[0, 0] if 1 < 2 < 3 else src[1, 0]": lambda s: s[0, 0],
    "src[0, 0] if 1 < 2 > 3 else src[1, 0]": lambda s: s[1, 0],
    "src[0, 0] * (0 or 7) + (3 and 4)": lambda s: s[0, 0] * 7 + 4,
    "src[0, 0] if not (True and False or None) else 1": lambda s: s[0, 0],
    "src[0, 0] if src[0, 0].is_integer else src[1, 0]": lambda s: s[1, 0],
    "src[0, 0] if None is None is not None else src[1, 0]": lambda s: s[1, 0],
    "mix(src[0, 0], clamp(src[1, 0], 0, 1), 0.25)": lambda s: mix(
        s[0, 0], clamp(s[1, 0], 0, 1), 0.25
    ),
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_means_what_it_means_in_python(expression: str) -> None:
    same(body(expression), EXPRESSIONS[expression])


NUMBERS = [
    "1 + 2 * 3", "7 // 2", "-7 // 2", "7 % 3", "7 / 2", "2 ** 10", "2 ** -1", "2 ** 0.5", "0 ** 0",
    "(-2) ** 3", "1 << 10", "1024 >> 3", "1 >> 100", "6 & 3", "6 | 3", "6 ^ 3", "~6", "-6", "+6",
    "not 6", "True + 1", "1.5 == 3 / 2", "1 != 2", "3 >= 3", "2 ** 62", "(-1) ** 1000000000",
    "1 ** 1000000000", "0 ** 1000000000", "1e400", "1e308 * 10", "9223372036854775807", "5 and 0.5",
    "0 or 0.0", "1 if 0 else 2", "0x10 + 0b1 + 1_000",
]  # fmt: skip


@pytest.mark.parametrize("expression", NUMBERS)
def test_arithmetic_on_numbers_is_pythons(expression: str) -> None:
    wanted = eval(expression)  # our own list above, not a stranger's text
    result = call(body(expression))
    assert result == wanted
    assert type(result) is type(wanted)


def test_statements() -> None:
    source = '''
    # a comment
    def soften(src: Image, radius: Static[int] = 1, amount: float | None = None):
        """Soften.

        In rows.
        """
        total, count = 0.0, 0
        for dx, weight in ((-1, 0.25), (0, 0.5), (1, 0.25)):
            total += src[dx * radius, 0].rgb * weight  # the taps
        for i in range(10, 0, -1):
            if i > 7:
                continue
            elif i < 5:
                break
            else:
                pass
            count = count + i
        a = b = count
        r, g, blue = total
        if amount is None:
            return rgba(r, g, blue, a + b)
        return mix(src[0, 0], rgba(r, g, blue, 1), amount)

    # the end
    '''

    def expected(src: Image) -> object:
        total = 0.0 + src[-1, 0].rgb * 0.25 + src[0, 0].rgb * 0.5 + src[1, 0].rgb * 0.25
        assert isinstance(total, Vec)
        return rgba(total.r, total.g, total.b, 36)

    same(source, expected)
    function = parse_kernel(source)
    assert function.name == "soften"
    assert function.doc == "Soften.\n\nIn rows."
    assert function.arguments == (
        Argument("src", "Image", REQUIRED),
        Argument("radius", "Static[int]", 1),
        Argument("amount", "float", None),
    )
    assert "# the taps" in function.source


def test_run_time_parameters_are_symbols() -> None:
    amount = Scalar(Node("param", F32, (), 0))
    source = "def f(src, amount: float): return src[0, 0] * amount"
    same(source, lambda s: s[0, 0] * amount, amount=amount)


def test_return_leaves_loops() -> None:
    assert (
        call("def f(n):\n for i in range(9):\n  for j in range(9):\n   if i * j == n: return i", 12)
        == 2
    )


def test_break_leaves_one_loop_only() -> None:
    source = """
    def f(n):
        t = 0
        for i in range(3):
            for j in (1, 2, 3):
                if j == n: break
                t += 1
        return t
    """
    assert call(source, 2) == 3


def test_a_loop_over_the_components_of_a_pixel() -> None:
    source = "def f(src):\n t = 0\n for part in src[0, 0]: t = t + part\n return t"
    same(source, lambda s: 0 + s[0, 0].r + s[0, 0].g + s[0, 0].b + s[0, 0].a)


def test_functions_of_numbers_steer_loops() -> None:
    assert call("def f(n):\n t = 0\n for i in range(max(1, n)): t += 1\n return t", 3) == 3


def test_arguments_and_locals_may_shadow_positions() -> None:
    assert call("def f(x, width):\n y = x + width\n pi = 3\n return y * pi", 1, 2) == 9


def test_tensors() -> None:
    with Trace([Part(0), Part(1)]):
        a, b = Tensor(0, F32, 2), Tensor(1, F32, 2)
        source = "def f(a: Tensor, b: Tensor): return a * b.at(index(0), index(1)) + a.size(0)"
        result = parse_kernel(source)(a, b)
        assert isinstance(result, Scalar)
        expected = a * b.at(index(0), index(1)) + a.size(0)
        assert print_body((result.node,)) == print_body((expected.node,))


def test_long_sums_and_long_elif_chains_need_no_stack() -> None:
    assert call(body("+".join(["1"] * 900))) == 900
    chain = "".join(f" elif n == {i}: r = {i}\n" for i in range(1, 300))
    assert call(f"def f(n):\n if n == 0: r = 0\n{chain} else: r = -1\n return r", 299) == 299


def test_signatures() -> None:
    source = """
    def f(a, b: float, c: int = -3, d: bool = True, e: Static[float] = +.5, g: Static[bool] = None):
        return 1
    """
    assert [(p.name, p.annotation, p.default) for p in parse_kernel(source).arguments] == [
        ("a", None, REQUIRED), ("b", "float", REQUIRED), ("c", "int", -3), ("d", "bool", True),
        ("e", "Static[float]", 0.5), ("g", "Static[bool]", None),
    ]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends(newline: str) -> None:
    with pytest.raises(KernelSyntaxError, match="line 4"):
        parse_kernel(newline.join(["", "def f(src):", "    a = 1", "    b = c", "    return a"]))
    assert call(newline.join(["def f(n):", "    a = n", "    return a"]), 3) == 3


def test_calling() -> None:
    function = parse_kernel("def f(a, b, c=3): return a + b * c")
    with Trace([]):
        assert function(1, 2) == 7
        assert function(1, c=1, b=5) == 6
        for args, kwargs in [
            ((), {}),
            ((1,), {}),
            ((1, 2), {"a": 1}),
            ((1, 2, 3, 4), {}),
            ((1, 2), {"d": 1}),
        ]:
            with pytest.raises(KernelError, match=r"kernel 'f' takes \(a, b, c\), got"):
                function(*args, **kwargs)
        with pytest.raises(KernelError, match="b is too large a number"):
            function(1, 2**64)
    with pytest.raises(KernelError, match="cannot be called"):
        function(1, 2)


def test_text_is_read_without_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_kernel('def f(src):\n    "an odd \\d escape"\n    return 1')
        with pytest.raises(KernelSyntaxError):
            parse_kernel("def f(src): return 1 is 1 or 0x1for")


# --- diagnostics ----------------------------------------------------------------------------------


def refusal(source: str) -> str:
    with pytest.raises(KernelSyntaxError) as caught:
        parse_kernel(source)
    return str(caught.value)


def test_a_refused_construct_is_quoted() -> None:
    assert refusal("def my_filter(src):\n    p = src[0, 0]\n    return (lambda: 1)()\n") == (
        "kernel 'my_filter', line 3: lambda is not part of the kernel language\n"
        "    return (lambda: 1)()\n"
        "            ^"
    )


def test_advice_comes_with_the_refusal() -> None:
    assert refusal("\n  def f(src):\n    while True:\n      pass\n    return 1") == (
        "kernel 'f', line 3: while is not part of the kernel language; use for … in range(…)\n"
        "    while True:\n"
        "    ^"
    )


def test_similar_names_are_suggested() -> None:
    assert refusal("def f(src):\n    radius = 3\n    return src[raduis, 0]") == (
        "kernel 'f', line 3: 'raduis' is not defined; did you mean 'radius'?\n"
        "    return src[raduis, 0]\n"
        "               ^"
    )
    assert "did you mean 'floor'" in refusal(body("flor(1.5)"))
    assert "did you mean 'width'" in refusal(body("widht"))
    assert "did you mean 'with_alpha'" in refusal(body("src[0, 0].with_alfa(1)"))


def test_columns_count_characters_not_bytes() -> None:
    assert refusal("def f(src):\n    ä = 1; ö = ß\n    return ä").endswith(
        "    ä = 1; ö = ß\n               ^"
    )


def test_a_syntax_error_is_quoted() -> None:
    message = refusal("def f(src):\n    return src[0, 0] +\n")
    assert message == (
        "kernel text, line 2: invalid syntax\n    return src[0, 0] +\n                      ^"
    )


def test_value_errors_are_quoted() -> None:
    with pytest.raises(KernelError) as caught:
        call(
            "def f(src):\n    p = src[0, 0]\n    if p.r > 0.5:\n        return p\n    return 1 - p"
        )
    first, line, caret = str(caught.value).split("\n")
    assert first.startswith("kernel 'f', line 3: a condition that depends on pixels")
    assert (line, caret) == ("    if p.r > 0.5:", "       ^")
    assert isinstance(caught.value.__cause__, KernelError)


def test_the_line_of_an_error_is_the_line_of_its_part() -> None:
    source = "def f(src):\n    return (src[0, 0]\n + src[1, 0]\n + src[0, 0, 0]\n + 1)"
    with pytest.raises(KernelError, match="line 4: an image takes two offsets"):
        call(source)


def test_type_errors_become_kernel_errors() -> None:
    with pytest.raises(KernelError, match="line 2: 'and'") as caught:
        call(body("src[0, 0] & 1"))
    assert type(caught.value) is KernelError


def test_domain_mismatch_keeps_its_class() -> None:
    for expression in ["src + 1", "sqrt(src)", "src & 1", "~src", "src == 1", "src.size(0)",
                       "src.is_integer", "1 if src else 2", "-src", "5 % src"]:  # fmt: skip
        with pytest.raises(DomainMismatch, match="kernel 'f', line 2: an image"):
            call(body(expression))
    for expression in ["src[0, 0]", "src.width", "src.sample(0, 0)"]:
        with Trace([Part(0)]), pytest.raises(DomainMismatch, match="kernel 'f', line 2: "):
            parse_kernel(body(expression))(Tensor(0, F32, 2))


def test_quote_line() -> None:
    assert quote_line("k", 7, "  a = b\n", None, "no") == "kernel 'k', line 7: no\n    a = b"
    assert quote_line("k", 7, "", None, "no") == "kernel 'k', line 7: no"
    assert quote_line("", 1, "a", 0, "no") == "kernel text, line 1: no\n    a\n    ^"
    assert quote_line("k", 1, "\ta\tb", 3, "no") == "kernel 'k', line 1: no\n    a\tb\n     \t^"
    inner = quote_line("inner", 2, "x", 0, "no")
    assert quote_line("outer", 9, "inner(src)", 0, inner) == inner
    shown = quote_line("k", 1, "1+" * 1000 + "b", 2000, "no").split("\n")
    assert shown[1][shown[2].index("^")] == "b"
    assert len(shown[1]) <= 104
    assert "\x1b" not in quote_line("k", 1, "a = '\x1b[31m'", 0, "no")


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

    with Trace([Part(0)]), pytest.raises(KernelError, match="nested too deeply"):
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
            with Trace([Part(0)]), contextlib.suppress(KernelError):
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
