"""An example for every word of the kernel language: a number, a graph, a picture, or one of a photo."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """What is shown beside a word."""

    number: str = ""  # an expression; at the pixel (2, 1) of an image of 4 × 3
    picture: str = ""  # an expression in u and v; with reads_photo also in src and p, its pixel
    tensor: str = ""
    graph: bool = True  # the picture is the graph of a function of u
    reads_photo: bool = False


def photo(expression: str) -> Example:
    return Example(picture=expression, reads_photo=True)


def colours(expression: str, number: str = "") -> Example:
    return Example(number, expression, graph=False)


PLACES = {
    "x": "The column being written, from 0: a whole number.",
    "y": "The row being written, from 0 at the top.",
    "width": "Columns of the output.",
    "height": "Rows of the output.",
    "pi": "3.14159…",
}
GROUPS = {
    "Where you are": ["x", "y", "width", "height", "index", "size", "pi"],
    "Colours": ["rgb", "rgba", "luma"],
    "Between and beyond": ["mix", "clamp", "min", "max", "step", "smoothstep", "where"],
    "Rounding": ["floor", "ceil", "round", "trunc", "fract", "abs", "sign"],
    "Curves": ["sqrt", "pow", "exp", "log", "sin", "cos", "tanh", "atan2"],
    "Several at once": ["sum", "dot", "average"],
    "Types": ["f32", "f64", "s32", "s64", "u32", "u16", "u8", "half_precision"],
    "Images within a kernel": ["intermediate"],
}
WORDS = {
    "x": colours("rgb(f32(x) / f32(width), 0.2, 0.4)", "x"),
    "y": colours("rgb(0.2, f32(y) / f32(height), 0.4)", "y"),
    "width": Example("width"),
    "height": Example("height"),
    "pi": Example("pi"),
    "index": Example(tensor="index(0) * 10 + index(1)"),
    "size": Example(tensor="size(1)"),
    "rgb": colours("rgb(u, v, 0.5)", "rgb(1.0, 0.5, 0.25)"),
    "rgba": Example("rgba(1.0, 0.5, 0.25, 0.8)"),
    "luma": photo("mix(p.rgb, rgb(luma(p), luma(p), luma(p)), step(0.5, u))"),
    "mix": colours("mix(rgb(0.1, 0.2, 0.6), rgb(1.0, 0.7, 0.3), u)", "mix(2.0, 6.0, 0.25)"),
    "clamp": Example("clamp(1.7, 0.0, 1.0)", "clamp(u * 1.6 - 0.3, 0.1, 0.9)"),
    "min": Example("min(3.0, 1.0, 2.0)", "min(u, 1.0 - u) + 0.2"),
    "max": Example("max(3.0, 1.0, 2.0)", "max(u, 1.0 - u) - 0.2"),
    "step": Example("step(0.5, 0.7)", "0.1 + 0.8 * step(0.5, u)"),
    "smoothstep": Example("smoothstep(0.0, 1.0, 0.25)", "0.1 + 0.8 * smoothstep(0.2, 0.8, u)"),
    "where": colours(
        "where((u - 0.5) ** 2 + (v - 0.5) ** 2 < 0.1, rgb(1.0, 0.6, 0.2), rgb(0.1, 0.15, 0.3))"
    ),
    "floor": Example("floor(-1.5)", "floor(u * 5.0) / 5.0 + 0.05"),
    "ceil": Example("ceil(-1.5)", "ceil(u * 5.0) / 5.0 - 0.05"),
    "round": Example("round(2.5)", "round(u * 5.0) / 5.0 * 0.9 + 0.05"),
    "trunc": Example("trunc(-1.5)", "0.5 + trunc(u * 8.0 - 4.0) / 10.0"),
    "fract": Example("fract(-1.25)", "0.1 + 0.8 * fract(u * 4.0)"),
    "abs": Example("abs(-3.0)", "0.1 + abs(u * 2.0 - 1.0) * 0.8"),
    "sign": Example("sign(-3.0)", "0.5 + 0.4 * sign(u - 0.5)"),
    "sqrt": Example("sqrt(2.0)", "sqrt(u) * 0.95"),
    "pow": Example("pow(2.0, 0.5)", "pow(u, 2.2) * 0.95"),
    "exp": Example("exp(1.0)", "exp(u * 2.0 - 2.0) * 0.95"),
    "log": Example("log(10.0)", "0.95 + log(u + 0.001) / 5.0"),
    "sin": Example("sin(pi / 2)", "0.5 + 0.4 * sin(u * 4.0 * pi)"),
    "cos": Example("cos(pi)", "0.5 + 0.4 * cos(u * 4.0 * pi)"),
    "tanh": Example("tanh(1.0)", "0.5 + 0.4 * tanh(u * 6.0 - 3.0)"),
    "atan2": colours(
        "mix(rgb(0.1, 0.1, 0.3), rgb(1.0, 0.8, 0.4), fract(atan2(v - 0.5, u - 0.5) / (2.0 * pi) * 6.0))",
        "atan2(1.0, 1.0)",
    ),
    "sum": Example("sum((1.0, 2.0, 4.0))"),
    "dot": Example("dot(rgb(1.0, 2.0, 3.0), rgb(0.5, 0.5, 1.0))"),
    "average": photo(
        "mix(p.rgb, average((src[-6, 0], src[-3, 0], src[0, 0], src[3, 0], src[6, 0]), "
        "(1, 2, 3, 2, 1)).rgb, step(0.5, u))"
    ),
    "f32": Example("f32(7) / 2.0"),
    "f64": Example("f64(1) / f64(3)"),
    "s32": Example("s32(-1.9)"),
    "s64": Example("s64(1.9)"),
    "u32": Example("u32(-1.9)"),
    "u16": Example("u16(70000.0)"),
    "u8": Example("u8(300.7)"),
    "half_precision": Example("half_precision(0.25)"),
    "intermediate": photo("abs(intermediate(p)[3, 3].rgb - intermediate(p)[-3, -3].rgb) * 2.0"),
}
CONSTRUCTS = {
    "Assign": ("a = b", "also `a, b = …` of tuples"),
    "AugAssign": ("a += b", "and the like"),
    "For": ("for k in range(…)", "over a compile-time range or tuple; it is unrolled"),
    "If": ("if radius > 3:", "on compile-time values; pixels choose by `where`"),
    "Return": ("return pixel", "a pixel, a number (grey) or, of tensors, a value"),
    "Pass": ("pass", ""),
    "Break": ("break", "of an unrolled loop"),
    "Continue": ("continue", ""),
    "Constant": ("1.0, 3, True, 'over'", "numbers; strings are compared with parameters"),
    "Name": ("amount", "arguments, your variables, the words above"),
    "Tuple": ("(a, b)", ""),
    "List": ("[a, b]", "the same as a tuple"),
    "BinOp": ("a + b", "the operators above"),
    "UnaryOp": ("-a, not a", ""),
    "BoolOp": ("a and b, a or b", "of compile-time values; of pixels `&` and `|`"),
    "Compare": ("0 < radius < 9", "chains of compile-time values; of pixels one at a time"),
    "IfExp": ("a if radius else b", "on compile-time values"),
    "Call": ("mix(a, b, t)", "the words above, and methods of values"),
    "Attribute": ("p.rgb", "the members below"),
    "Subscript": ("src[dx, dy], p[0]", "a neighbour; a component; an item of a tuple"),
}
REFUSED = (
    "def f(src):\n    import os\n    return src[0, 0]",
    "def f(src):\n    while True:\n        pass\n    return src[0, 0]",
    "def f(src):\n    return src[0, 0].__class__",
    "def f(src):\n    return blurr(src[0, 0])",
)
