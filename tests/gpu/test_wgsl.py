"""Shaders of strangers: what would end a compiler's stack is refused, and what is not refused compiles."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from dala.errors import ShaderError
from dala.gpu import Surface, create_surface, wgsl
from dala.gpu.wgsl import DECLARATIONS, DEPTH, NESTING, SIZE, check_wgsl, without_comments

PIXELS = "@group(0) @binding(0) var<storage, read_write> pixels: array<i32>;\n"


def shader(body: str, before: str = "") -> str:
    return f"{PIXELS}{before}\n@compute @workgroup_size(1) fn main() {{\nlet x = pixels[0];\n{body}\n}}\n"


def value(expression: str, before: str = "") -> str:
    return shader(f"pixels[1] = {expression};", before)


def chain(first: str, form: str, count: int, *, backwards: bool = False) -> str:
    """Declarations that need one another: form has the names of two."""
    made = [form.format(b, a) for a, b in pairwise(f"n{i}" for i in range(count + 1))]
    listed = [first.format("n0"), *made]
    return "\n".join(listed[::-1] if backwards else listed)


FUNCTIONS = ("fn {}(x: i32) -> i32 {{ return x; }}", "fn {}(x: i32) -> i32 {{ return {}(x) + 1; }}")
# a shader with n of something, and how many of it are taken
CONSTRUCTS: dict[str, tuple[Callable[[int], str], int]] = {
    "parentheses": (lambda n: value("(" * n + "x" + ")" * n), 120),
    "indices": (lambda n: value("pixels[" * n + "0" + "]" * n), 120),
    "calls": (lambda n: value("abs(" * n + "x" + ")" * n), 120),
    "array types": (lambda n: shader(f"var v: {'array<' * n}i32{',1>' * n};"), 120),
    "attributes": (lambda n: shader("", f"struct S {{ @align({'(' * n}16{')' * n}) a: i32 }}"), 120),
    "blocks": (lambda n: shader("{" * n + "}" * n), 100),
    "loops": (lambda n: shader("loop {" * n + "break;" + "}" * n), 60),
    "switches": (lambda n: shader("switch x { default {" * n + "}}" * n), 60),
    "sum": (lambda n: value("+".join(["x"] * n)), 900),
    "and": (lambda n: shader(f"if {'&&'.join(['x > 0'] * n)} {{ pixels[1] = 1; }}"), 450),
    "minus": (lambda n: value("- " * n + "x"), 900),
    "not": (lambda n: shader(f"if {'!' * n}(x > 0) {{ pixels[1] = 1; }}"), 900),
    "complement": (lambda n: value("~" * n + "x"), 900),
    "pointers": (lambda n: shader(f"var v = x; pixels[1] = {'*&' * n}v;"), 450),
    "members": (lambda n: shader(f"var v = vec2(x, x); pixels[1] = v{'.xy' * n}.x;"), 900),
    "else if": (
        lambda n: shader(
            "if x == 0 { pixels[1] = 1; }"
            + "".join(f" else if x == {i} {{ pixels[1] = {i}; }}" for i in range(n))
        ),
        200,
    ),
    "cases": (
        lambda n: shader(
            f"switch x {{ {''.join(f'case {i} {{ pixels[1] = {i}; }} ' for i in range(n))} default {{}} }}"
        ),
        200,
    ),
    "returns": (lambda n: shader("if pixels[0] > 0 { return; }\n" * n), 300),
    "breaks": (lambda n: shader("loop {" + "if pixels[0] > 0 { break; }\n" * n + "break; }"), 300),
    "structs": (
        lambda n: shader(
            f"var v: n{n}; pixels[1] = v{'.a' * (n + 1)};",
            chain("struct {} {{ a: i32 }}", "struct {} {{ a: {} }}", n),
        ),
        900,
    ),
    "aliases": (
        lambda n: shader(
            f"var v: n{n};", chain("alias {} = i32;", "alias {} = {};", n, backwards=True)
        ),
        900,
    ),
    "arrays": (
        lambda n: shader(f"var v: n{n};", chain("alias {} = i32;", "alias {} = array<{}, 1>;", n)),
        900,
    ),
    "constants": (
        lambda n: value(f"n{n}", chain("const {} = 1;", "const {} = {} + 1;", n, backwards=True)),
        900,
    ),
    "functions": (lambda n: value(f"n{n}(x)", chain(*FUNCTIONS, n)), 120),
    "functions, backwards": (lambda n: value(f"n{n}(x)", chain(*FUNCTIONS, n, backwards=True)), 120),
    "doubled calls": (
        lambda n: value(
            f"n{n}(x)", chain(FUNCTIONS[0], "fn {0}(x: i32) -> i32 {{ return {1}(x) + {1}(-x); }}", n)
        ),
        8,
    ),
    "blocks around calls": (
        lambda n: value(
            f"n{n}(x)",
            chain(
                FUNCTIONS[0],
                f"fn {{}}(x: i32) -> i32 {{{{ {'if x > 0 {{' * 9} return {{}}(x); {'}}' * 9} "
                "return x; }}",
                n,
            ),
        ),
        30,
    ),
}  # fmt: skip
LIVES = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_wgsl import CONSTRUCTS
from dala import gpu
from dala.errors import ShaderError
with gpu.create_surface(8, 8, device="webgpu") as surface:
    for name in CONSTRUCTS:
        make, taken = CONSTRUCTS[name]
        for count in COUNTS:
            surface.clear("red")
            try:
                surface.load_shader(name, make(count))  # compiles it
                surface.present().wait()
                print(name, count, "compiled", flush=True)
            except ShaderError as error:
                print(name, count, "refused:", error, flush=True)
            assert surface.read_pixels(4, 4, 1, 1)[0, 0].tolist() == [255, 0, 0, 255]
"""


def run(counts: str) -> list[str]:
    """Hand every construct to a surface in a process of its own, which is to be alive in the end."""
    code = LIVES.replace("COUNTS", counts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.webgpu
def test_a_surface_lives_on_after_shaders_that_nest_too_deep() -> None:
    lines = run("(7000,)")
    assert len(lines) == len(CONSTRUCTS)
    for line in lines:
        assert "refused: shader: line " in line or f"expected at most {SIZE}" in line, line


@pytest.mark.webgpu
def test_what_is_not_refused_compiles() -> None:
    lines = run("(taken,)")
    refused = [line for line in lines if " compiled" not in line]
    assert refused == []


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_the_bounds_leave_room(name: str) -> None:
    make, taken = CONSTRUCTS[name]
    check_wgsl(make(taken))
    with pytest.raises(ShaderError, match=r"; expected at most \d+: "):
        check_wgsl(make(20 * taken))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n// (\n" + "(" * 129,
         "shader: line 3: 129 brackets inside one another; expected at most 128: "),
        ("/*\n/* ( */\n*/\nfn f() {" + "-" * 1002,
         "shader: line 4: 1001 operators, members, calls or else-ifs in one chain; expected"),
        ("const a = 1;\n" * 1001, "shader: line 1001: 1001 declarations in one shader; expected"),
        ("fn f() {\n" + "return;" * 1001 + "}", "shader: line 1: function f has, with all that it calls "),
        (" " * (SIZE + 1), f"shader: {SIZE + 1} characters; expected at most {SIZE}: keep tables in"),
    ],
)  # fmt: skip
def test_the_error_says_what_where_and_the_cure(text: str, message: str) -> None:
    with pytest.raises(ShaderError) as caught:
        check_wgsl(text)
    assert str(caught.value).startswith(message)


def test_what_is_wide_is_not_deep() -> None:
    """Tables, many statements, many comparisons, comments full of brackets."""
    numbers = ", ".join(f"-{i}.5 * 2.0" for i in range(3000))
    check_wgsl(shader(f"var table = array<f32, 3000>({numbers});"))
    check_wgsl(shader("if x < 3 { pixels[1] = x + 1; } else { pixels[1] = x; }\n" * 2000))
    check_wgsl(shader("let y = x < 3; for (var i = 0; i < 9; i++) { pixels[i] += 1; }\n" * 2000))
    check_wgsl(shader("/*" + "(" * 5000 + "*/ //" + "[" * 5000))
    check_wgsl(shader("pixels[1] = max(x, 2) >> 1u; let v = vec2<i32>(x << 2u, x);\n" * 2000))


def test_bounds_hold_where_constructs_add_up() -> None:
    """The sum on the way down counts, whichever side of a bracket the operators are on."""
    each = DEPTH // 100
    for before, after in (("x+" * each, ""), ("", "+x" * each)):
        with pytest.raises(ShaderError, match="in one chain"):
            check_wgsl(value((before + "(") * 100 + "x" + (")" + after) * 100))
    below = each // 2
    check_wgsl(value(("x+" * below + "(") * 100 + "x" + ")" * 100))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a//b\nc", "a \nc"),
        ("a//b\rc", "a \rc"),  # a line ends there in WGSL
        ("a//b\u2028c", "a \u2028c"),
        ("a/*b/*c*/d*/e", "a e"),
        ("a/*\n\n*/b", "a \n\nb"),
        ("a/*/b*/c", "a c"),
        ("a/*b", "a "),
        ("a/**/b//*c\nd", "a b \nd"),
        ("a//*\n(*/", "a \n(*/"),
    ],
)
def test_comments(text: str, plain: str) -> None:
    assert without_comments(text) == plain


@pytest.mark.parametrize(
    "text", ["/*" * (SIZE // 2), "@compute " * (SIZE // 9), "@group(" * (SIZE // 7), "f(" * 100 + "<" * 9]
)  # fmt: skip
def test_texts_that_are_slow_to_search_are_not(text: str) -> None:
    """Each took minutes with an expression that begins anew at every word."""
    from dala.gpu.shaders import find_entry, find_variables

    assert find_variables(text) == {}
    with pytest.raises(ShaderError, match="no @compute function"):
        find_entry(text)


def test_recursion_is_left_to_the_compiler() -> None:
    check_wgsl("fn a() { b(); } fn b() { a(); } fn c() { c(); }")


@pytest.fixture
def surface() -> Surface:
    return create_surface(8, 8, device="webgpu")


@pytest.mark.webgpu
def test_a_shader_that_is_refused_when_it_is_loaded(surface: Surface) -> None:
    with surface:
        with pytest.raises(ShaderError, match="129 brackets inside one another"):
            surface.load_shader("mine", value("(" * 500 + "x" + ")" * 500))
        surface.load_shader("mine", value("x + 1"))
        surface.dispatch_compute("mine")
        surface.present().wait()


def test_the_bounds_are_those_of_the_documents() -> None:
    text = (Path(__file__).parents[2] / "docs" / "surfaces.md").read_text(encoding="utf-8")
    for bound in (NESTING, DEPTH, DECLARATIONS, f"{SIZE >> 10} KiB"):
        assert str(bound) in text
    assert wgsl.STACK >= 8 << 20
