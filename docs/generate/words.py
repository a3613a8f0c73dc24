"""The page on the kernel language: every word, operator and type, with a number or picture that was
computed.

What there is comes from the language itself (``VOCABULARY``, ``OPERATORS``, ``STATEMENTS``, …);
examples.py has an example for each word, and a test holds it to that. Examples are kernels in text
form, run by the device ``reference``.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import examples
import numpy as np
from reference import prose, signature

import dala
from dala import compute
from dala.language import budget, interpret, text, vocabulary
from dala.png import encode_png

HERE = Path(__file__).parent
SIZE = (200, 112)  # of pictures
INK, PAPER = "rgb(0.24, 0.31, 0.71)", "rgb(0.93, 0.94, 0.97)"
PLACE = """    u = (f32(x) + 0.5) / f32(width)
    v = 1.0 - (f32(y) + 0.5) / f32(height)
"""
SYMBOLS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>", "Eq": "==",
    "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "UAdd": "+", "USub": "-", "Invert": "~",
}  # fmt: skip
WHOLE = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift")  # operators of whole numbers
COMPARING = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
TYPES = {
    "f32": "what pixels are computed in", "f64": "tensors; not on every GPU", "s32": "positions are s32",
    "s64": "tensors", "u32": "tensors", "u16": "a level of a 16-bit image",
    "u8": "a level of an image of bytes",
}  # fmt: skip


def pages() -> dict[str, str | bytes]:
    """The page and its pictures."""
    with dala.use("reference"):
        drawn = {
            f"language/{word}.png": picture(example)
            for word, example in examples.WORDS.items()
            if example.picture
        }
        return {"language.md": page(), **drawn}


def page() -> str:
    head = (HERE / "language.md").read_text(encoding="utf-8")
    for mark, made in {
        "WORDS": words(), "OPERATORS": operators(), "TYPES": types(), "STATEMENTS": statements(),
        "MEMBERS": members(), "LIMITS": limits(),
    }.items():  # fmt: skip
        head = head.replace(f"<!-- {mark} -->", made)
    return head


# -- parts ---------------------------------------------------------------------------------------------


def words() -> str:
    lines = []
    for title, names in examples.GROUPS.items():
        lines += [f"### {title}", "", "| word | | example |", "|---|---|---|"]
        for name in names:
            lines.append(f"| {spelled(name)} | {meaning(name)} | {shown(name)} |")
        lines.append("")
    return "\n".join(lines)


def spelled(name: str) -> str:
    """``mix(a, b, t)``, with a place that links can name."""
    thing = vocabulary.VOCABULARY[name]
    call = ""
    if callable(thing):
        parameters = inspect.signature(thing).parameters.values()
        call = f"({', '.join(('*' if p.kind is p.VAR_POSITIONAL else '') + p.name for p in parameters)})"
    return f'<span id="{name}"></span>`{name}{call}`'


def meaning(name: str) -> str:
    thing = vocabulary.VOCABULARY[name]
    doc = inspect.getdoc(thing) if callable(thing) else examples.PLACES[name]
    return prose(" ".join((doc or "").split("\n\n")[0].split())).replace("|", "\\|")


def shown(name: str) -> str:
    example = examples.WORDS[name]
    parts = []
    if example.number:
        parts.append(f"`{example.number}` = {number(example.number)}")
    if example.tensor:
        parts.append(f"`{example.tensor}` on (2, 3) = {tensor(example.tensor)}")
    if example.picture:
        parts.append(f"![{name}](language/{name}.png){{ .word }} `{example.picture}`")
    return "<br>".join(parts)


def operators() -> str:
    lines = ["| operator | floats | whole numbers |", "|---|---|---|"]
    for kind in interpret.OPERATORS:
        sign = SYMBOLS[kind.__name__].replace("|", "\\|")
        cells = []
        for a, b, cast in (("7.5", "2.0", "f32"), ("(-7)", "2", "s32")):
            if cast == "f32" and kind.__name__ in WHOLE:
                cells.append("")
                continue
            result = number(
                f"{cast}({a}) {SYMBOLS[kind.__name__]} {cast}({b})", kind.__name__ in COMPARING
            )
            cells.append(f"`{a} {SYMBOLS[kind.__name__]} {b}` = {result}".replace("|", "\\|"))
        lines.append(f"| `{sign}` | {cells[0]} | {cells[1]} |")
    for kind in interpret.SIGNS:
        sign = SYMBOLS[kind.__name__]
        if kind is ast.Invert:
            shown = f"of conditions: `{sign}(7.5 > 2.0)` = {number('~(f32(7.5) > 2.0)', True)}"
            lines.append(f"| `{sign}a` | {shown} | |")
            continue
        floats, whole = number(f"{sign}f32(7.5)"), number(f"{sign}s32(7)")
        lines.append(f"| `{sign}a` | `{sign}7.5` = {floats} | `{sign}7` = {whole} |")
    return "\n".join(lines)


def types() -> str:
    lines = ["| type | values | is | from 300.7 | from -1.9 |", "|---|---|---|---|---|"]
    for name, use in TYPES.items():
        kind = np.dtype({"f": "float", "s": "int", "u": "uint"}[name[0]] + name[1:])
        if kind.kind == "f":
            span = f"± {np.finfo(kind).max:.2g}, {np.finfo(kind).precision} digits"
        else:
            span = f"{np.iinfo(kind).min:,} to {np.iinfo(kind).max:,}"
        made = [f"{number(f'{name}({v})')}" for v in ("300.7", "-1.9")]
        lines.append(f"| `{name}` | {span} | {use} | {made[0]} | {made[1]} |")
    return "\n".join(lines)


def statements() -> str:
    """Which constructs of Python there are, and which are not, with what to write instead."""
    allowed = [k.__name__ for k in (*interpret.STATEMENTS, *interpret.EXPRESSIONS)]
    lines = ["| construct | |", "|---|---|"]
    lines += [
        f"| `{examples.CONSTRUCTS[name][0]}` | {examples.CONSTRUCTS[name][1]} |" for name in allowed
    ]
    lines += [
        "",
        "Everything else is refused with the line it stands in, and mostly with what to write instead:",
        "",
    ]
    for code in examples.REFUSED:
        lines += ["```text", refusal(code), "```", ""]
    return "\n".join(lines)


def refusal(code: str) -> str:
    try:
        text.parse_kernel(code)
    except dala.DalaError as error:
        return str(error)
    raise AssertionError(f"the language takes {code!r}")


def members() -> str:
    lines = ["| of | member | |", "|---|---|---|"]
    kinds = {**dict.fromkeys(vocabulary.ATTRIBUTES), **dict.fromkeys(vocabulary.METHODS)}
    for kind in kinds:
        for name in sorted(vocabulary.ATTRIBUTES[kind]):
            about = inspect.getdoc(getattr(kind, name)) or ""
            lines.append(f"| `{kind.__name__}` | `.{name}` | {prose(' '.join(about.split()))} |")
        for name in sorted(vocabulary.METHODS[kind]):
            about = (inspect.getdoc(getattr(kind, name)) or "").split("\n\n")[0]
            call = signature(getattr(kind, name)).replace("(self, ", "(").split(" ->")[0]
            lines.append(
                f"| `{kind.__name__}` | `.{name}{call}` | {prose(' '.join(about.split()))} |"
            )
    return "\n".join(lines)


def limits() -> str:
    rows = {
        f"{text.MAX_TEXT // 1024} KiB": "of kernel text",
        str(text.MAX_DEPTH): "constructs inside one another, in text",
        f"{interpret.MAX_STEPS:,}": "steps while text is read into a program",
        f"2**{interpret.INT_BITS}": "for compile-time whole numbers, in text",
        f"{interpret.MAX_TUPLE:,}": "values in a tuple, in text",
        f"{budget.MAX_NODES:,}": "operations of one kernel, all loops unrolled",
        f"{budget.MAX_LENGTH:,}": "instructions of one kernel",
        str(budget.MAX_STAGES): "intermediate images of one kernel",
    }
    return "\n".join(["| at most | |", "|---|---|", *(f"| {n} | {of} |" for n, of in rows.items())])


# -- running -------------------------------------------------------------------------------------------


def number(expression: str, comparing: bool = False) -> str:
    """What an expression gives; a colour as its components."""
    value = f"where({expression}, 1.0, 0.0)" if comparing else expression
    made = values(value)
    if comparing:
        return "true" if made[0] else "false"
    return ", ".join(plain(v) for v in made)


def plain(value: float) -> str:
    return f"{value:.6g}".replace("-0", "0") if value == 0 else f"{value:.6g}"


def values(expression: str) -> list[float]:
    """The components of a value, at the pixel (2, 1) of an image of 4 × 3."""
    count = components(expression)
    tail = {
        1: f"rgba(f32({expression}), 0.0, 0.0, 1.0)",
        3: f"({expression}).with_alpha(1.0)",
        4: expression,
    }[count]
    out = run(f"def show():\n    return {tail}\n", (3, 4), "f32")
    found: list[float] = out[1, 2].tolist()
    return found[:count]


def components(expression: str) -> int:
    """One of a number, three of a colour, four of a pixel."""
    call = ast.parse(expression, mode="eval").body
    name = getattr(getattr(call, "func", None), "id", "")
    if name == "rgba":
        return 4
    return 3 if name == "rgb" or (name == "mix" and "rgb(" in expression) else 1


def tensor(expression: str) -> str:
    kernel = compute.register(
        "words_show", f"def words_show(a):\n    return a * 0.0 + f32({expression})\n"
    )
    try:
        out = compute.buffer_zeros((2, 3))
        compute.run_kernel(kernel, [compute.buffer_zeros((2, 3))], out)
        return str([[int(v) for v in row] for row in out.read()])
    finally:
        compute.unregister("words_show")


def picture(example: examples.Example) -> bytes:
    """A graph of a function of u (0 to 1, from left to right), or a colour at every (u, v)."""
    expression = example.picture
    if example.reads_photo:
        body = (
            f"def show(src):\n{PLACE}    p = src[0, 0]\n    return ({expression}).with_alpha(1.0)\n"
        )
    elif example.graph:
        body = f"def show():\n{PLACE}    t = smoothstep(-0.012, 0.012, ({expression}) - v)\n"
        body += f"    return mix({PAPER}, {INK}, t).with_alpha(1.0)\n"
    else:
        body = f"def show():\n{PLACE}    return ({expression}).with_alpha(1.0)\n"
    out = run(body, (SIZE[1], SIZE[0]), "u8", photo() if example.reads_photo else None)
    return encode_png(out)


def run(
    body: str, size: tuple[int, int], dtype: str, source: np.ndarray | None = None
) -> np.ndarray:
    kernel = compute.register(
        "words_show", body.replace("def show", "def words_show"), domain="image"
    )
    try:
        out = compute.buffer_zeros((*size, 4), dtype)
        inputs = [] if source is None else [compute.from_array(source)]
        compute.run_kernel(kernel, inputs, out)
        return out.read()
    finally:
        compute.unregister("words_show")


def photo() -> np.ndarray:
    """A part of the photo of the examples, as large as the pictures."""
    from PIL import Image

    with Image.open(HERE.parents[1] / "examples" / "assets" / "astronaut.jpg") as opened:
        part = opened.convert("RGBA").crop((40, 0, 440, 224)).resize(SIZE)
    return np.asarray(part)
