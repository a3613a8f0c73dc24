"""Kernels as users write them, of every arithmetic that the CPU compiler has."""

from __future__ import annotations

from collections.abc import Sequence

import dala
from dala.ir.dtypes import DType
from dala.language.kernel import Kernel, make_kernel

AROUND = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
REACH = range(-15, 16)


def taps(name: str, offsets: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{name}[{dx}, {dy}]" for dx, dy in offsets)


def looped(image: str, across: bool, weights: str) -> str:
    """An average of many taps along an axis; its weights are a function of d."""
    listed = [(d, 0) if across else (0, d) for d in REACH]
    return f"average(({taps(image, listed)}), ({', '.join(weights.format(d=d) for d in REACH)}))"


GAINS = {
    "relief": "src[-1, -1] * gain - src[1, 1] * gain",
    "upside down": "src[0, 0] - (src[1, 0] + src[0, 1] - 2.0 * src[2, 3]) * gain",
    "all the same": "src[1, 0] + gain * (1.0 - 2.0 * gain) * (src[0, 0] - src[0, 3])",
    "negative": "-(src[0, 1] * gain) - src[1, 0]",
    "unbounded": "src[0, 0] + src[1, 0] * k",
    "a fraction": "src[0, 0] * 0.3 + src[1, 0] * gain",
    "sixteenths": "src[0, 0] + (src[0, 0] * 4.0 - src[1, 1] * 3.0 - src[0, 1]) / 16.0 * gain",
    "on grey": "(src[1, 1] - src[-1, -1]) * gain + 0.5",
    "two gains": "src[0, 0] * (1.0 - gain) + src[1, 0] * gain",
}
MIXES = {
    "two channels": "rgba(p.r * gain + p.g, p.b - p.r * (1.0 - gain), p.b, p.a)",
    "alpha too": "rgba(p.r + p.a * gain, p.g * 0.25 + p.a * 0.5, p.b * gain, p.a - p.b * 0.5)",
    "a bias": "rgba(p.r * gain + p.b + 0.25, p.g - p.r * gain - gain * 0.125, 0.5, p.a)",
    "turned around": "rgba(p.b, p.r * 0.5 + p.g * gain, p.a, p.g)",
    "three alike": "rgb((p.r + p.g * gain) * 0.5, (p.r + p.g * gain) * 0.5, 0.0).with_alpha(1.0)",
    "constants": "rgba(p.r - p.g, 0.2 * p.r + 0.3 * p.b, 1.2 * p.b - 0.1, p.a)",
    "negative": "rgba(-(p.r * gain) + p.g / 2.0, -p.b * (-gain), p.b, p.a)",
    "too heavy": "rgba(p.r * gain * 100.0 + p.g, p.g, p.b, p.a)",
}
MIXES_OF_TWO = {
    "two images": "rgba(p.r * gain + q.r, q.g * (1.0 - gain) + p.b, p.b, q.a)",
    "a matrix": "rgba(p.r * 0.25 + q.g * 0.5 - q.b * 0.75 + 0.3, p.b * 1.5, q.r + q.a, p.a)",
    "a product": "p * q",
    "by alpha": "(p.rgb + (q.rgb - p.rgb) * p.a).with_alpha(p.a + q.a - p.a * q.a)",
    "a quotient": "(p.rgb * q.a / max(p.a, 0.01)).with_alpha(p.a / 3.0)",
    "extremes": "max(min(p.rgb, 0.6), q.rgb * 0.55).with_alpha(abs(p.a - q.a))",
    "a comparison": "where(p.r * q.r > 0.2, p, q)",
    "functions": "(sqrt(p.rgb) * 0.5 + exp(q.rgb) * 0.2).with_alpha(p.a)",
    "where it is": "(p.rgb * (x / width) + y / height * 0.25 - q.rgb * 0.1).with_alpha(1.0)",
    "half precision": "half_precision(p - q) * 0.5 + 0.5",
}
CHOICES = {
    "at least": "where(0.299 * p.r + 0.587 * p.g + 0.114 * p.b >= gain, 1.0, 0.0)",
    "more": "where(0.2126 * p.r + 0.7152 * p.g + 0.0722 * p.b > gain, 0.25, 0.75)",
    "less": "where(p.r - p.g < gain - 0.5, 0.0, 1.0)",
    "at most": "where(0.5 * p.r + 0.25 * p.b + 0.25 * p.a <= gain * 0.5, 0.3, 0.1)",
    "unbounded": "where(p.r + p.g >= k, 1.0, 0.0)",
}
AVERAGES = {
    "box": f"average(({taps('src', AROUND)}), ({'1.0, ' * 9}))",
    "slanted": "average((src[-3, -1], src[0, 0], src[2, 1], src[1, -2]), (k, 1.0, k * k, 0.1))",
    "across": looped("src", True, "{d} * {d} + 1.0"),
    "down": looped("src", False, "{d} * {d} + 1.0"),
    "by a function": looped("src", True, "exp(k * {d})"),
    "by a position": "average((src[-1, 0], src[0, 0], src[1, 0]), (x * 0.01, 1.0, y * 0.01))",
}
POSITIONS = {
    "a piece": "src.at(x + 3, y - 1)",
    "mirrored pieces": "src.at(x + 3, y - 1) * 0.5 + src.at(width - 1 - x, 1 - y) * 0.5",
    "scattered": "src.at(y * 2 + 3 - (x & 7), x - y) * 0.5 + src.at(y * 2 + 4 - (x & 7), x - y) * 0.5",
    "rows that repeat": "src.at(x, y // 4) * 0.5 + src.at(x * 2, y // 4) * 0.25 + "
    "src.at(x * 3, y // 4 + 1) * 0.25",
    "backwards": "src.at(-x, y * 2)",
    "one place": "src.sample(k, 0.25)",
    "sampled": "src.sample(x * k + 1.5, y - 0.5)",
    "sampled anywhere": "src.sample(1.0 / (x - 3.0), log(y - 4.0))",
    "sampled by content": "src.sample(x + src[0, 0].r * 5.0, y + src[0, 0].g * 5.0)",
    "sampled and faded": "(src.sample(x * 0.7, y * 1.1).rgb * clamp(x * 0.05 * k, 0.0, 1.0))"
    ".with_alpha(src.sample(x * 0.7, y * 1.1).a)",
    "sampled and doubled": "(src.sample(x * 0.5, y * 0.5).rgb * 2.0).with_alpha(1.0)",
    "sampled where it is right": "where(x > 5, src.sample(1.0 / (x - 8.0) * k, y * 0.5), 0.0)",
    "stripes": "where((x & 1) == 1, src[0, 0], 1 - src[0, 0])",
}
EXTREMA = {
    "dilated": f"max({taps('src', AROUND)})",
    "eroded": f"min({taps('src', [(dx, dy) for dx in range(-2, 3) for dy in range(-2, 3)])})",
    "each its own": "rgba(max(src[-1, 0].r, src[0, 1].r), min(src[-1, 0].g, src[0, 1].g), p.b, 0.6)",
    "between": "max(min(max(src[1, 1], src[-1, -1]), 0.8031), 0.1234)",
    "crossed": "rgba(max(src[-1, 0].r, src[1, 0].g), max(src[-1, 0].g, src[1, 0].b), 0.0, src[0, 0].a)",
}
STEPS = {
    "dilated in two steps": """
def probe(src):
    down = intermediate(max(max(src[0, -1], src[0, 1]), src[0, 0]))
    return max(max(down[-3, 0], down[2, 0]), down[0, 0])
""",
    "gradient": """
def probe(src):
    high = intermediate(max(max(src[-1, 0], src[1, 0]), src[0, 0]))
    low = intermediate(min(min(src[-1, 0], src[1, 0]), src[0, 0]))
    return (high[0, 0] - low[0, 0]).with_alpha(1.0)
""",
    "columns with conditions": """
def probe(src):
    p, rises = 0.0, src[0, 0].a > 0.1
    for dx in range(-2, 3):
        up, down = src[dx, -1] + src[dx, -2] * 0.5, src[dx, 1] + src[dx, 2] * 0.5
        rises = rises & (up.g > down.g - down.r)
        p = max(p, abs(up - down) * 0.5 + up * 0.25 + down * 0.125)
    return where(rises, src[0, 0], p)
""",
    "average after": """
def probe(src):
    high = intermediate(max(src[-1, 0], src[1, 0]))
    return average((high[-1, 0], high[1, 0]), (1.0, 1.0))
""",
    "average before": """
def probe(src):
    mean = intermediate(average((src[-1, 0], src[1, 0]), (1.0, 1.0)))
    return max(mean[-1, 0], mean[1, 0])
""",
    "four passes": """
def probe(src):
    a = intermediate(average((src[-1, 0], src[0, 0], src[1, 0]), (1.0, 2.0, 1.0)))
    b = intermediate(average((a[0, -1], a[0, 0], a[0, 1]), (1.0, 2.0, 1.0)))
    c = intermediate(average((b[-2, 0], b[0, 0], b[2, 0]), (1.0, 2.0, 1.0)))
    return average((c[0, -2], c[0, 0], c[0, 2]), (1.0, 2.0, 1.0))
""",
    "glow": """
def probe(src):
    v = intermediate(average((src[0, -1], src[0, 0], src[0, 1]), (1.0, 2.0, 1.0)))
    return average((v[0, 0], src[0, 0]), (1.0, 1.0))
""",
    "pyramid": """
def probe(src):
    half = intermediate((src[0, 0] + src[1, 0] + src[0, 1] + src[1, 1]) * 0.25, 2, 1)
    quarter = intermediate((half[-1, 0] + half[2, 1]) * 0.5, 4, 1)
    back = intermediate(quarter[0, 0] * 0.75 + quarter[-1, 1] * 0.25, 2)
    return back[0, 0] * 0.5 + back[1, -1] * 0.25 + half[0, 1] * 0.125 + src[0, -2] * 0.125
""",
    "sizes": """
def probe(src):
    around = intermediate(src[2, -3] * ((y + 3) / height), 1, 1)
    small = intermediate(around[-1, 2] * ((x + 1) / width), 2)
    return small[0, 0] * (height - small.height + y) / height
""",
    "one channel": """
def probe(src):
    level = (src[0, 0].b + src[1, 0].b) * 0.5
    return rgba(level, level, level, 1.0)
""",
    "every second pixel": """
def probe(src):
    small = intermediate(src[1, 0] * 0.5 + src[0, 1] * src[0, 0], 2)
    return small[0, 0]
""",
    "a long sum": """
def probe(src, k: float = 0.5):
    total = src.at(0, 0) * k + src.at(1, 1)
    for n in range(2, 40):
        total = total + src.at(n, 2 * n) * (k + n) * 0.01
    return total
""",
    "a long sum of taps": """
def probe(src):
    total = src[0, 0]
    for n in range(60):
        total = total + src[n % 7 - 3, n // 7 - 2] * (0.1 * n / 60)
    return total
""",
    "inlined averages": f"""
def probe(src, k: float = 0.02):
    wide = intermediate({looped("src", True, "exp(-k * {d} * {d})")})
    tall = intermediate({looped("src", False, "1.0")})
    return src[0, 0] + (wide[0, 0] - tall[0, 0]) * 0.5
""",
}
NETWORKS = {  # what is made of two values of it
    "scaled": "(p * k + 0.125).with_alpha(src[0, 0].a)",
    "turned": "rgba(p.a, p.r, p.g, src[0, 0].b)",
    "of both": "rgba(q.r - p.r, q.g - p.g, q.b - p.b, q.a)",
}


def kernel_of(result: str, head: str = "p = src[0, 0]", inputs: str = "src") -> Kernel:
    """A kernel from its last expression; its parameter ``gain`` is bounded, ``k`` is not."""
    listed = ", ".join([inputs, "gain: float = 0.5", "k: float = 0.3"])
    lines = "\n    ".join([*head.split("\n"), f"return {result}"])
    bounded = dala.Param("gain", "float", 0.5, min=-2, max=2)
    return make_kernel(f"def probe({listed}):\n    {lines}\n", params=[bounded])


def network(result: str) -> Kernel:
    """Much of a window, sorted: long, and alike for all channels."""
    window = [(dx, dy) for dy in (-1, 0, 1) for dx in (-2, -1, 0, 1, 2)]
    lines = [f"v{k} = src[{dx}, {dy}]" for k, (dx, dy) in enumerate(window)]
    for last in (14, 13, 12, 11, 10):
        for n in range(last):
            pair = f"v{n}, v{n + 1}"
            lines.append(f"{pair} = min({pair}), max({pair})")
    return kernel_of(result, "\n".join([*lines, "p, q = v11, v13"]))


def image_kernels() -> dict[str, Kernel]:
    """Kernels of images by name; its first word says what they are about."""
    kernels: dict[str, Kernel] = {}
    groups = {"gain": GAINS, "mix": MIXES, "average": AVERAGES, "position": POSITIONS}
    for group, texts in (groups | {"extrema": EXTREMA}).items():
        kernels |= {f"{group} {name}": kernel_of(text) for name, text in texts.items()}
    for name, text in MIXES_OF_TWO.items():
        kernels[f"mix {name}"] = kernel_of(text, "p, q = src[0, 0], other[0, 0]", "src, other")
    for name, text in CHOICES.items():
        head = f"p = src[0, 0]\nc = {text}"
        kernels[f"choice {name}"] = kernel_of("rgba(c, c, c, p.a)", head)
        kernels[f"choice {name}, one constant"] = kernel_of("rgba(c, 0.5, 1.0 - c, p.a)", head)
    kernels |= {f"steps {name}": make_kernel(text) for name, text in STEPS.items()}
    kernels |= {f"steps network, {name}": network(result) for name, result in NETWORKS.items()}
    return kernels


OPERATIONS = {
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide, whole": "a // b",
    "remainder": "a % b",
    "minimum": "min(a, b)",
    "maximum": "max(a, b)",
    "absolute": "abs(a)",
    "sign": "sign(a)",
    "negate": "-a",
    "choose": "where(a > b, a, b)",
    "logic": "where((a == b) | ~(a <= b) & (a != 3), a, b)",
    "clamp": "clamp(a, 1, 50)",
    "square": "a ** 2",
    "divide, whole, by a constant": "a // 3",
    "remainder by a constant": "a % 5",
    "a condition as a number": "{t}(a > b)",
    "its place": "{t}(index(0)) + a",
    "its size": "{t}(size(1)) - a",
    "read elsewhere": "a.at(index(0) * 2 - 1, index(1) + 3)",
    "read across": "a.at(index(1), index(0)) + b",
}
OF_FLOATS = {
    "divide": "a / b",
    "multiply and add": "a * 0.3 + b",
    "square root": "sqrt(a)",
    "exponential": "exp(a)",
    "logarithm": "log(a)",
    "sine": "sin(a)",
    "cosine": "cos(a)",
    "hyperbolic tangent": "tanh(a)",
    "angle": "atan2(a, b)",
    "power": "pow(a, b)",
    "floor": "floor(a)",
    "ceiling": "ceil(a)",
    "truncate": "trunc(a)",
    "round": "round(a)",
    "fraction": "fract(a)",
    "mix": "mix(a, b, 0.3)",
    "smooth step": "smoothstep(0.1, 0.8, a)",
}
OF_INTEGERS = {
    "and": "a & b",
    "or": "a | b",
    "exclusive or": "a ^ b",
    "shift left": "a << b",
    "shift right": "a >> b",
    "shift left by a constant": "a << 3",
    "shift right by a constant": "a >> 2",
}


def tensor_kernels(dtype: DType) -> dict[str, Kernel]:
    """Kernels of one operation on tensors of a type, by name."""
    texts = OPERATIONS | (OF_FLOATS if dtype.is_float else OF_INTEGERS)
    return {name: tensor_kernel(text.format(t=dtype)) for name, text in texts.items()}


def tensor_kernel(result: str) -> Kernel:
    """A kernel of one tensor, or of two, from its result."""
    inputs = "a: Tensor, b: Tensor" if "b" in result.replace("abs", "") else "a: Tensor"
    return make_kernel(f"def probe({inputs}):\n    return {result}\n", domain="tensor")
