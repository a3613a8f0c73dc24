"""Kernel text: what it may say, and where its errors point."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from kernel_texts import body, call, refusal, same

from dala.errors import KernelError, KernelSyntaxError
from dala.ir.dtypes import F32
from dala.ir.graph import ArrayView, Node
from dala.ir.printer import print_body
from dala.language.budget import Trace
from dala.language.interpret import Argument
from dala.language.operators import DomainMismatch
from dala.language.parameter import REQUIRED
from dala.language.quote import quote_line
from dala.language.text import parse_kernel
from dala.language.values import Image, Scalar, Tensor, Vec
from dala.language.vocabulary import clamp, index, luma, mix, pi, rgba, s32, where, width, x, y
from dala.language.vocabulary import max as vmax
from dala.language.vocabulary import sum as vsum

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
    with Trace([ArrayView(0), ArrayView(1)]):
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
        with Trace([ArrayView(0)]), pytest.raises(DomainMismatch, match="kernel 'f', line 2: "):
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
