"""Minima and maxima: the reference's bits exactly, whatever the size, the chain, the machine.

On bytes they are computed on bytes; on f32, large networks are a loop over the channels.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from llvm_kernels import STEPS
from machines import machine_with
from several_threads import use_threads

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.emit.function import emit_pass
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.run import launch
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.compute import default
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Program
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.plan.fuse import FusedPass
from dala.plan.planner import plan_calls
from dala.plan.steps import Call, Slot

TEXTS = {
    "dilate": """
def dilate(src):
    p = src[0, 0]
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            p = max(p, src[dx, dy])
    return p
""",
    "erode columns": """
def erode(src):
    p = src[0, 0]
    for dx in range(-2, 3):
        column = src[dx, 0]
        for dy in range(-2, 3):
            column = min(column, src[dx, dy])
        p = min(p, column)
    return p
""",
    "each channel its own": """
def own(src):
    p, q, r = src[-1, 0], src[0, 1], src[2, -1]
    return rgba(max(p.r, q.r), min(p.g, min(q.g, r.g)), r.b, 0.6)
""",
    "between constants": """
def between(src):
    return max(min(max(src[1, 1], src[-1, -1]), 0.8031), 0.1234)
""",
    "crossed channels": """
def crossed(src):
    p, q = src[-1, 0], src[1, 0]
    return rgba(max(p.r, q.g), max(p.g, q.b), max(p.b, q.r), p.a)
""",
    "dilate in two steps": STEPS["dilated in two steps"],
    **{
        name: STEPS[name]
        for name in ("gradient", "columns with conditions", "average after", "average before")
    },
}
KERNELS: dict[str, Kernel] = {name: make_kernel(text) for name, text in TEXTS.items()}
INEXACT = {"average after", "average before"}  # averages are within one level
COLOURFUL = {"each channel its own", "crossed channels"}
ON_BYTES = {"dilate", "erode columns", "dilate in two steps", "each channel its own"}
SIZES = [(1, 1), (1, 2), (1, 67), (45, 1), (2, 3), (7, 17), (9, 64), (45, 67)]
HOSTS = [(64, 1), (32, 3), (16, 8)]


SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-42, -1e-42], np.float32)


def picture(size: tuple[int, int], channels: int, dtype: str, seed: int = 5) -> np.ndarray:
    shape = (*size, 4) if channels == 4 else size
    rng = np.random.default_rng(seed)
    if dtype == "u8":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    values = rng.normal(0.5, 0.5, shape).astype(np.float32)
    if dtype == "special":  # every third one
        return np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), values)
    return values


def run(
    kernel: str | Kernel, image: np.ndarray, device: str, params: dict | None = None
) -> np.ndarray:
    with dala.use(device):
        out = compute.buffer_zeros(image.shape, "u8" if image.dtype == np.uint8 else "f32")
        compute.run_kernel(kernel, [compute.from_array(image)], out, params)
        return out.read()


@pytest.mark.parametrize("dtype", ["u8", "f32", "special"])
@pytest.mark.parametrize("channels", [4, 1])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_medians_are_the_reference_to_the_bit(
    size: tuple[int, int], channels: int, dtype: str
) -> None:
    image = picture(size, channels, dtype)
    for radius in (1, 2, 3):
        want = run("median", image, "reference", {"radius": radius})
        assert run("median", image, "cpu", {"radius": radius}).tobytes() == want.tobytes(), radius


@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("channels", [4, 1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_of_users_are_the_reference(kernel: str, channels: int, dtype: str) -> None:
    if channels == 1 and kernel in COLOURFUL:
        pytest.skip("of grey pixels it computes a luma")
    for size in SIZES:
        image = picture(size, channels, dtype)
        want = run(KERNELS[kernel], image, "reference")
        got = run(KERNELS[kernel], image, "cpu")
        if kernel not in INEXACT:
            assert got.tobytes() == want.tobytes(), size
        elif dtype == "u8":
            assert np.abs(got.astype(int) - want).max() <= 1, size
        else:
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("radius", [1, 2, 3])
@pytest.mark.parametrize("shape", [(33, 50, 4), (40, 131), (1, 80, 4), (64, 1)])
def test_medians_as_opencv_has_them_up_to_the_border(shape: tuple[int, ...], radius: int) -> None:
    cv2 = pytest.importorskip("cv2")
    image = picture(shape[:2], 4 if len(shape) == 3 else 1, "u8")
    got = run("median", image, "cpu", {"radius": radius})
    if len(shape) == 3:
        np.testing.assert_array_equal(got[..., 3], image[..., 3])
        image, got = np.ascontiguousarray(image[..., :3]), got[..., :3]
    np.testing.assert_array_equal(got, cv2.medianBlur(image, 2 * radius + 1).reshape(got.shape))


def test_dilation_as_opencv_has_it() -> None:
    cv2 = pytest.importorskip("cv2")
    image = picture((45, 67), 4, "u8")
    want = cv2.dilate(image, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_REPLICATE)
    np.testing.assert_array_equal(run(KERNELS["dilate"], image, "cpu"), want)
    want = cv2.erode(image, np.ones((5, 5), np.uint8), borderType=cv2.BORDER_REPLICATE)
    np.testing.assert_array_equal(run(KERNELS["erode columns"], image, "cpu"), want)


# --- in chains, in place, in small bands, on other machines ---------------------------------------

Stages = list[tuple[str | Kernel, dict[str, object]]]
CHAINS: dict[str, Stages] = {
    "blur, median, sharpen": [("blur", {}), ("median", {"radius": 2}), ("sharpen", {})],
    "median, invert": [("median", {}), ("invert", {})],
    "invert, median": [("invert", {}), ("median", {"radius": 3})],
    "median, grayscale": [("median", {}), ("grayscale", {})],
    "median, median": [("median", {"radius": 1}), ("median", {"radius": 2})],
    "opening": [(KERNELS["erode columns"], {}), (KERNELS["dilate"], {})],
    "two steps, blur": [(KERNELS["dilate in two steps"], {}), ("blur", {"radius": 2})],
}


def run_chain(
    stages: Stages,
    image: np.ndarray,
    *,
    fused: bool,
    in_place: bool = False,
    dtypes: tuple[str, ...] = (),
) -> np.ndarray:
    """All stages, in one pipeline or one by one; in place the last one writes what the first one reads.

    What the stages write, in turn, may be of other types than the image.
    """
    own = "u8" if image.dtype == np.uint8 else "f32"
    first = current = compute.from_array(image)
    pipeline = compute.pipeline()
    for number, (kernel, params) in enumerate(stages):
        last = number == len(stages) - 1
        dtype = dtypes[number % len(dtypes)] if dtypes else own
        output = compute.buffer_zeros(image.shape, dtype) if last or not fused else None
        output = first if last and in_place else output or compute.scratch(image.shape, dtype)
        stage = {"kernel": kernel, "inputs": [current], "output": output, "params": params}
        if fused:
            pipeline.add(stage)
        else:
            compute.run_kernel(kernel, [current], output, params)
        current = output
    if fused:
        pipeline.run()
    return current.read()


@pytest.mark.parametrize(("vector_bytes", "rows"), [(0, 0), *HOSTS])
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("chain", CHAINS)
def test_chains_are_their_stages(chain: str, dtype: str, vector_bytes: int, rows: int) -> None:
    """Fused, in place, on narrow vectors and in bands of a few rows: the same bytes."""
    stages = CHAINS[chain]
    for size, channels in [((45, 67), 4), ((7, 17), 4), ((33, 130), 1), ((1, 1), 4)]:
        image = picture(size, channels, dtype)
        with dala.use("cpu"):
            want = run_chain(stages, image, fused=False)
        with pytest.MonkeyPatch.context() as patch:
            if vector_bytes:
                patch.setattr(launch, "_band_rows", lambda *_: rows)
                use_threads(patch, 4)
            host = machine_with(vector_bytes) if vector_bytes else None
            patch.setattr(default, "_default", Engine(CpuDevice(host)))
            assert same(run_chain(stages, image, fused=True), want)
            assert same(run_chain(stages, image, fused=True, in_place=True), want)


@pytest.mark.parametrize("dtypes", [("f32",), ("u8", "f32"), ("f32", "u8")], ids=str)
@pytest.mark.parametrize("own", ["u8", "f32"])
def test_chains_of_several_types_are_their_stages(own: str, dtypes: tuple[str, ...]) -> None:
    image = picture((45, 67), 4, own)
    with dala.use("cpu"):
        for stages in CHAINS.values():
            want = run_chain(stages, image, fused=False, dtypes=dtypes)
            assert same(run_chain(stages, image, fused=True, dtypes=dtypes), want)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


def test_clamping_in_place_on_bytes() -> None:
    clamp = make_kernel("def clamp(a, b):\n    return min(max(a[0, 0], 0.2), b[0, 0])")
    image, other = picture((9, 33), 4, "u8"), picture((9, 33), 4, "u8", seed=6)
    with dala.use("cpu"):
        a = compute.from_array(image)
        compute.run_kernel(clamp, [a, compute.from_array(other)], a)
        np.testing.assert_array_equal(a.read(), np.minimum(np.maximum(image, 51), other))


# --- what is written ------------------------------------------------------------------------------


def text_of(kernel: Kernel, type_: ArrayType, host: Host, params: dict | None = None) -> str:
    special = kernel.specialize([type_], type_, kernel.bind(params or {}))
    assert isinstance(special.work, Program)
    program = prepare_program(special.work, [type_], type_, fma=host.fma)
    (work,) = plan_calls([Call(program, (0,), 1)], [Slot(type_)] * 2).passes
    assert isinstance(work, FusedPass)
    return emit_pass(work, host).text


@pytest.mark.parametrize("vector_bytes", [64, 32, 16])
@pytest.mark.parametrize("channels", [4, 1])
def test_bodies_of_extrema_know_no_floats(channels: int, vector_bytes: int) -> None:
    shape = (64, 64, 4) if channels == 4 else (64, 64)
    host = Host("", "", vector_bytes, fma=True)
    names = ON_BYTES - (COLOURFUL if channels == 1 else set())
    for kernel in [find_kernel("median"), *(KERNELS[name] for name in names)]:
        text = text_of(kernel, ArrayType(shape, U8), host)
        assert re.search(rf"@llvm\.u(min|max)\.v{vector_bytes}i8", text)
        assert "x float>" not in text
    for name in ("gradient", "crossed channels", "columns with conditions"):
        text = text_of(KERNELS[name], ArrayType((64, 64, 4), U8), host)
        assert "x float>" in text


def test_columns_of_any_arithmetic_are_shared() -> None:
    """Of five columns one is computed; conditions are not held, only numbers."""
    type_ = ArrayType((64, 64, 4), F32)
    text = text_of(KERNELS["columns with conditions"], type_, Host("", "", 64, fma=False))
    assert (
        len(re.findall(r"= fsub <16 x float>", text)) == 1 + 5
    )  # p of any channel; the conditions


@pytest.mark.parametrize(
    ("radius", "operations", "in_floats"), [(1, 30, 3 * 30), (2, 124, 124), (3, 360, 360)]
)
def test_networks_are_written_once_for_all_colours(
    radius: int, operations: int, in_floats: int
) -> None:
    """Sorted columns are shared between neighbours from radius 2 on; small networks of f32 are written
    for each colour."""
    host = Host("", "", 64, fma=True)
    median = find_kernel("median")
    text = text_of(median, ArrayType((64, 64, 4), U8), host, {"radius": radius})
    assert len(re.findall(r"= call .*@llvm\.u(?:min|max)\.v64i8", text)) == operations
    floats = text_of(median, ArrayType((64, 64, 4), F32), host, {"radius": radius})
    assert len(re.findall(r"= fcmp o[lg]t <16 x float>", floats)) == in_floats


# --- loops over channels --------------------------------------------------------------------------


def sorting(use: str) -> Kernel:
    """A kernel that sorts much of a window, and makes something of two of its values."""
    window = [f"src[{dx}, {dy}]" for dy in (-1, 0, 1) for dx in (-2, -1, 0, 1, 2)]
    lines = [f"v{k} = {value}" for k, value in enumerate(window)]
    for last in (14, 13, 12, 11, 10):
        for k in range(last):
            lines += [f"low, high = min(v{k}, v{k + 1}), max(v{k}, v{k + 1})"]
            lines += [f"v{k}, v{k + 1} = low, high"]
    body = "\n    ".join([*lines, "p, q = v11, v13", f"return {use}"])
    return make_kernel(f"def sorting(src, amount = 0.75):\n    {body}\n")


P, Q = 86, 40  # operations for one channel of p, of q; but for its last, all of q's are in p
USES = {  # what is made of them → operations written
    "p": P,
    "(p * amount + 0.125).with_alpha(src[0, 0].a)": P,
    "p.with_alpha(1.0)": P,
    "rgba(p.r, p.g, p.g, 1.0)": P,
    "rgba(p.b, p.g, p.r, 1.0)": P,
    "p * (p.r * 0.5 + p.g * 0.25 + p.b * 0.125)": P,  # what channels share is not repeated
    "p * (x * 0.01)": P,
    "rgba(p.r, p.g * -0.0, p.b * 0.0, p.r)": P,
    "where(src[0, 0].a > 0.5, p, src[0, 0])": P + 1,
    "rgba(p.r, p.r, p.r, 1.0)": P,
    "rgba(p.a, p.r, p.g, 1.0)": P,  # blue has no plane
    "rgba(p.a, p.r, p.g, src[0, 0].b)": 3 * P,  # it has one: their distances are not equal
    "rgba(q.r - p.r, q.g - p.g, q.b - p.b, q.a)": P + 1 + Q,
    "rgba(p.r, q.r - p.b, p.g, 1.0)": 3 * P + 1,  # q is needed from inside
}


@pytest.mark.parametrize("use", USES)
def test_uses_of_networks_are_the_reference(use: str) -> None:
    kernel = sorting(use)
    for size in [(1, 1), (7, 17), (45, 67)]:
        for dtype in ("f32", "special", "u8"):
            image = picture(size, 4, dtype)
            want, got = run(kernel, image, "reference"), run(kernel, image, "cpu")
            if " + " in use and dtype != "u8":  # multiplied and added in one step
                np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
            else:
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("use", USES)
def test_networks_are_written_once_for_channels_that_are_alike(use: str) -> None:
    text = text_of(sorting(use), ArrayType((64, 64, 4), F32), Host("", "", 64, fma=True))
    assert len(re.findall(r"= fcmp o[lg]t <16 x float>", text)) == USES[use]
