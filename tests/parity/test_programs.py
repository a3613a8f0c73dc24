"""Programs at random, on every device: a right result or one of dala's errors, never anything else.

``FOUND`` are programs that once ended otherwise. The generator is helpers/programs.py; how near a right
result must be, helpers/noise.py.
"""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from programs import Array, Case, Stage, random_case
from running import check_case

from dala.backends.cpu.llvm import jit
from dala.errors import KernelError
from dala.language.budget import MAX_LENGTH
from dala.language.kernel import make_kernel

SEEDS = {"reference": range(40), "cpu": range(40), "webgpu": range(100, 115)}
SIZE, FEW_ROWS = (9, 35), (3, 35)


def of_images(
    *texts: str, size: tuple[int, int] = SIZE, channels: int = 4, dtype: str = "u8"
) -> Case:
    """Each kernel reads the one before; those of two inputs, the first source besides."""
    stages, shape = [], (*size, channels)
    for number, text in enumerate(texts):
        inputs = make_kernel(text).inputs
        newest = number + 1 if number else 0
        read = (newest, 0, 1)[:inputs] if number else (0, 1)[:inputs]
        last = number == len(texts) - 1
        stages.append(Stage(text, read, Array(shape, dtype), named=last))
    return Case("image", (Array(shape, dtype), Array(shape, dtype)), tuple(stages), 7)


def of_tensors(text: str, dtype: str) -> Case:
    array = Array((17,), dtype)
    return Case("tensor", (array, array), (Stage(text, (0,), array),), 7)


COLOUR, FLOATS = Array((*SIZE, 4), "u8"), Array((*SIZE, 4), "f32")
UNREAD_SCRATCH = Case(
    "image",
    (COLOUR, COLOUR),
    (
        Stage("def k(a): return a[1, -1] * 0.5", (0,), COLOUR, named=False),
        Stage("def k(a): return a.at(x + 3, y)", (0,), Array((5, 16, 4), "u8")),
        Stage("def k(a, b): return b.at(x + 3, y)", (2, 3), COLOUR),
    ),
)
ONLY_ALPHA = Case(
    "image",
    (COLOUR, COLOUR),
    (
        Stage("def k(a): return a[1, -1].g / (a[1, -1].g + 0.5)", (0,), FLOATS, named=False),
        Stage(
            "def k(a, b):\n    w = abs(b.sample(x * 1.246, y + 0.25).g)\n"
            "    p = average((a[0, -1], a[0, 0], a[0, 1]), (w + 0.9, w, w + 1.2))\n"
            "    return b[1, 0].rgb.with_alpha(p.a)",
            (2, 1), COLOUR,
        ),
    ),
)  # fmt: skip

FOUND = {
    # positions that are made of pixels
    "displaced": of_images("def k(s): return s.sample(x + luma(s[0, 0]) * 4, y)"),
    "displaced by another": of_images(
        "def k(s, o): return s.sample(x + o[0, 0].r * 4, y - o[1, 0].g * 3)"
    ),
    "displaced by what was gathered": of_images(
        "def k(s): return s.sample(x + luma(s.at(y, x)) * 4, y)"
    ),
    "displaced by an intermediate": of_images(
        "def k(s):\n    t = intermediate(s[1, 0] + s[0, 1])\n    return s.sample(x + t[0, 0].r * 4, y)"
    ),
    # images that nobody reads
    "unread": of_images("def k(s):\n    t = intermediate(s[1, 0])\n    return s[0, 0]"),
    "unread, of one channel": of_images(
        "def k(s):\n    t = intermediate(s[1, 0])\n    return s[0, 0]", channels=1
    ),
    "unread twice": of_images(
        "def k(s):\n    t = intermediate(luma(s[1, 0]), 2)\n    u = intermediate(t[0, 1])\n"
        "    return s[0, 0]"
    ),
    "unread average": of_images(
        "def k(s):\n    t = intermediate(average((s[1, 0], s[0, 0], s[-1, 0]), (1, 2, 1)))\n"
        "    return average((s[1, 0], s[0, 0], s[-1, 0]), (1, 2, 1))"
    ),
    "of which only the size is asked for": of_images(
        "def k(s):\n    t = intermediate(s[1, 0], 2)\n    return s[0, 0] * (x / t.width)"
    ),
    "with a margin, of which only the size is asked for": of_images(
        "def k(s):\n    t = intermediate(s[1, 0] * 0.5 + s[0, 1] * 0.5)\n"
        "    u = intermediate(luma(s[0, 0]), 2, 1)\n"
        "    return s[0, 0] * (x / u.width) * (y / t.height)"
    ),
    "unread behind a mask that is the same everywhere": of_images(
        "def k(s):\n    t = intermediate(0.7)\n    b = intermediate(s[1, 0] + s[0, 1])\n"
        "    return where(t[0, 0].r > 0.5, s[0, 0], b[1, 1])"
    ),
    "a scratch buffer that is given and not read": UNREAD_SCRATCH,
    "only alpha is read": ONLY_ALPHA,
    # the rest
    "a sum of few taps by columns": of_images(
        "def k(s):\n    v = s[0, 0]\n    for j in range(31):\n        v = v + s[j - 15, -15] * 0.001\n"
        "    return v"
    ),
    "what a margin reads beyond the border": of_images(
        "def k(s): return s[0, 0] * ((y + 3) / height)",
        "def k(s):\n    t = intermediate(s[0, 0] * 1.027 - 0.2, 1, 1)\n    return t[0, 1]",
        dtype="f32",
    ),
    "shifted by a constant": of_tensors("def k(a: Tensor): return (a << 3) + (a >> 2)", "s64"),
}  # fmt: skip

# Graphs deeper than a stack, and graphs that are larger as trees.
DEEP = {
    "a sum of 500 taps": of_images(
        "def k(s):\n    v = s[0, 0]\n    for i in range(500):\n"
        "        v = v + s[i % 23 - 11, i // 23 - 11]\n    return v * (1 / 501)",
        size=FEW_ROWS,
    ),
    "a long index": of_images(
        "def k(s):\n    i = x\n    for j in range(700):\n        i = i + 1\n        i = i - 2\n"
        "    return s.at(i + 700, y)",
        size=FEW_ROWS,
    ),
    "an index of sums of itself": of_images(
        "def k(s):\n    i = x\n    for j in range(60):\n        i = i + i - x\n    return s.at(i, y)",
        size=FEW_ROWS,
    ),
    "a share that is a long product": of_images(
        "def k(s):\n    f = clamp(x * 0.1, 0.0, 1.0)\n    for j in range(900):\n"
        "        f = f * clamp(x * 0.1 + j, 0.0, 1.0)\n    return s.sample(x * 0.5, y * 0.5) * f",
        size=FEW_ROWS,
    ),
    "a share that is a product of itself": of_images(
        "def k(s):\n    f = clamp(x * 0.1, 0.0, 1.0)\n    for j in range(60):\n        f = f * f\n"
        "    return s.sample(x * 0.5, y * 0.5) * f",
        size=FEW_ROWS,
    ),
    "weights that are sums of themselves": of_images(
        "def k(s, p: float = 0.5):\n    v = ()\n    u = ()\n    for j in range(30):\n"
        "        w = p * (1 + j % 3)\n        for i in range(40):\n            w = w + w * 0.01\n"
        "        v = v + (s[j - 15, 0],)\n        u = u + (w,)\n    return average(v, u)",
        dtype="f32", size=FEW_ROWS,
    ),
    "averages of the two before": of_images(
        "def k(s):\n    a = s[0, 0]\n    b = s[1, 0]\n    for j in range(40):\n"
        "        c = intermediate(average((a, b), (1, 2)))\n        a = b\n        b = c[0, 1]\n"
        "    return average((a, b), (1, 1))",
        size=FEW_ROWS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_found(device: str, name: str) -> None:
    assert check_case(FOUND[name], device) in ("ran", "unsupported")


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("device", ["cpu"])  # drivers take long over such shaders
def test_deep(device: str, name: str) -> None:
    assert check_case(DEEP[name], device) == "ran"


def test_programs_at_random(device: str) -> None:
    outcomes = [check_case(random_case(seed), device) for seed in SEEDS[device]]
    assert outcomes.count("ran") > len(outcomes) * 3 // 4  # most programs mean something


@pytest.mark.fuzz
@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_free_search(device: str) -> None:
    """New programs for as long as DALA_FUZZ_SECONDS says; what fails names its seed."""
    first = int(os.environ.get("DALA_FUZZ_SEED", time.time_ns() // 1000 % 10**9))
    end = time.monotonic() + float(os.environ.get("DALA_FUZZ_SECONDS", "60"))
    print(f"\nDALA_FUZZ_SEED={first} on {device}", flush=True)
    seed = first
    while time.monotonic() < end:
        check_case(random_case(seed), device)
        seed += 1
    print(f"{seed - first} programs", flush=True)


def refusal(text: str) -> str:
    with pytest.raises(KernelError) as caught:
        make_kernel(text)
    return str(caught.value)


def test_a_kernel_too_long_to_compile() -> None:
    text = "def k(s):\n    v = s[0, 0].r\n    for j in range(1000):\n        v = pow(abs(v), 1.1)\n"
    assert refusal(text + "    return v") == (
        "kernel 'k', line 5: the kernel is about 87002 instructions long, and at most "
        f"{MAX_LENGTH} are compiled; use fewer functions such as sin and pow, or split it into "
        "several kernels\n    return v\n           ^"
    )


@pytest.mark.parametrize(
    "result", ["t.at(x - 3, y)", "intermediate(s[1, 1]).at(x, y) + t[1, 1]", "u.at(x, y)"]
)
def test_margins_and_computed_positions(result: str) -> None:
    text = (
        "def k(s):\n    t = intermediate(s[1, 0], 1, 1)\n    u = intermediate(t[1, 1])\n"
        f"    return {result}"
    )
    assert refusal(text) == (
        "kernel 'k': an intermediate image is read at computed positions, and there is one with a "
        "margin; read it at offsets, drop the margin, or make two kernels of this"
    )


def test_a_long_pass_is_compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM's time to optimise grows with the square of the text, to make code at all only with the text."""
    kinds: list[bool] = []
    found = jit._machine

    def note(binding: Any, host: jit.Host, *, optimised: bool) -> object:
        kinds.append(optimised)
        return found(binding, host, optimised=optimised)

    check_case(
        of_images("def k(s): return s[0, 0]"), "cpu"
    )  # what else is made with the first pass
    monkeypatch.setattr(jit, "_machine", note)
    for steps in (10, 200):
        text = f"def k(s):\n    v = s[0, 0].r\n    for j in range({steps}):\n        v = sin(v) + tanh(v)\n"
        case = of_images(text + "    return v", size=(1, 3))
        assert check_case(case, "cpu") == "ran"
    assert kinds == [True, False]
