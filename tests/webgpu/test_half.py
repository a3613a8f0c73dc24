"""Half precision on u8 images: within a level of the reference, and the same picture in every pipeline.

Forced here: on software adapters it is off, because it is slower there.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engines import Stages, run_stages

import dala
from dala import compute
from dala.backends.auto import open_device
from dala.backends.webgpu import device as device_module
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.half import PAIRS, PIXEL
from dala.backends.webgpu.prepare import prepare_program
from dala.backends.webgpu.shader import Shader
from dala.compute import Buffer, Pipeline
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Program, walk
from dala.media.apply import upload_to
from dala.media.chain import Chain, filter_names, find_filter, further_inputs
from dala.media.pictures import take_picture
from dala.media.program import Program as MediaProgram
from dala.media.program import new_buffer, output_type, read_result

KERNELS: dict[str, Stages] = {
    "blur 1": [("blur", {"radius": 1})],
    "blur 3": [("blur", {"radius": 3})],
    "blur 3, narrow": [("blur", {"radius": 3, "sigma": 0.4})],
    "blur 25, flat": [("blur", {"radius": 25, "sigma": 40.0})],
    "median 1": [("median", {"radius": 1})],
    "median 2": [("median", {"radius": 2})],
    "sharpen": [("sharpen", {})],
    "sharpen, strong": [("sharpen", {"amount": 9.7})],
    "denoise": [("denoise", {})],
    "denoise, weak": [("denoise", {"strength": 0.02})],
    "denoise, strong": [("denoise", {"strength": 1.0})],
}
CHAINS: dict[str, Stages] = {
    "blur, contrast": [("blur", {"radius": 3}), ("contrast", {"value": 0.3})],
    "sharpen, blur": [("sharpen", {}), ("blur", {"radius": 2})],
    "blur, sharpen, …": [
        ("blur", {"radius": 3}),
        ("sharpen", {}),
        ("contrast", {"value": 0.2}),
        ("brightness", {"value": 0.05}),
        ("grayscale", {}),
    ],
    "contrast, median, blur": [("contrast", {"value": 0.3}), ("median", {}), ("blur", {})],
    "denoise, sharpen, contrast": [("denoise", {}), ("sharpen", {}), ("contrast", {"value": 0.3})],
    "invert, denoise, median": [("invert", {}), ("denoise", {}), ("median", {})],
    "denoise, denoise": [("denoise", {}), ("denoise", {"strength": 0.2})],
}
SHAPES = [(3, 5, 4), (37, 130, 4), (37, 264, 4)]


@pytest.fixture
def halves() -> Iterator[Engine]:
    """An engine on a device that computes u8 images in half precision."""
    device = open_device("webgpu")
    assert isinstance(device, WebGpuDevice)
    if "shader-f16" not in device.adapter.handle.features:
        pytest.skip(f"{device.adapter} has no shader-f16")
    kept = device.tuning
    device.tuning = replace(kept, half=True)
    yield Engine(device)
    device.tuning = kept


def picture(shape: tuple[int, ...], kind: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    if kind == "noise":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    rows, columns = np.indices(shape[:2])
    waves = [np.sin(columns / 7 + c) * np.cos(rows / (5 + c)) for c in range(4)]
    smooth = 128 + 120 * np.stack(waves, -1) + rng.normal(0, 9, shape)
    return np.clip(smooth, 0, 255).astype(np.uint8)


@pytest.mark.webgpu
@pytest.mark.parametrize("kernel", KERNELS)
def test_within_a_level_of_the_reference(halves: Engine, kernel: str) -> None:
    if kernel == "median 2" and halves.device.adapter.is_software:  # type: ignore[attr-defined]
        pytest.skip(
            "its two shaders take lavapipe two minutes; those of median 1 are made likewise"
        )
    reference = Engine(dala.device("reference"))
    for shape, kind in itertools.product(SHAPES, ("noise", "smooth")):
        data = picture(shape, kind)
        got, want = (run_stages(e, KERNELS[kernel], data).astype(int) for e in (halves, reference))
        off = np.abs(got - want)
        assert off.max() <= (0 if "median" in kernel else 1), shape
        # a sharpened level ends on one half as often as not: there both neighbours are right
        assert "sharpen" in kernel or np.count_nonzero(off) <= 0.06 * off.size + 5, shape


@pytest.mark.webgpu
@pytest.mark.parametrize("chain", CHAINS)
def test_a_chain_is_its_stages(halves: Engine, chain: str) -> None:
    for shape in SHAPES:
        data = picture(shape, "smooth")
        together, apart = run_stages(halves, CHAINS[chain], data), data
        for stage in CHAINS[chain]:
            apart = run_stages(halves, [stage], apart)
        assert np.array_equal(together, apart), shape


@pytest.mark.webgpu
@pytest.mark.parametrize("radius", [1, 2, 5, 12, 25])
def test_what_is_flat_stays_flat(halves: Engine, radius: int) -> None:
    levels = np.arange(256, dtype=np.uint8)
    bars = np.repeat(levels, 4 * radius + 4)[None, :, None]
    data = np.ascontiguousarray(np.broadcast_to(bars, (8, bars.shape[1], 4)))
    got = run_stages(halves, [("blur", {"radius": radius})], data)
    middles = slice(2 * radius + 2, None, 4 * radius + 4)
    assert np.array_equal(got[:, middles], data[:, middles])


@pytest.mark.webgpu
def test_images_of_f32_are_computed_in_f32(halves: Engine) -> None:
    data = picture((20, 36, 4), "noise") / np.float32(255)
    with dala.use("webgpu"):
        plain = compute.from_array(data).engine
        for stages in (KERNELS["blur 3"], KERNELS["denoise"], KERNELS["sharpen"]):
            assert np.array_equal(run_stages(halves, stages, data), run_stages(plain, stages, data))


@pytest.mark.webgpu
def test_software_does_without() -> None:
    device = open_device("webgpu")
    assert isinstance(device, WebGpuDevice)
    has = "shader-f16" in device.adapter.handle.features
    assert device.tuning.half == (has and not device.adapter.is_software)


# -- which kernels, decided without a device ---------------------------------------------------


def prepared(name: str, channels: int = 4, dtype: Any = U8, **params: object) -> Program:
    type_ = ArrayType((16, 16, channels) if channels > 1 else (16, 16), dtype)
    kernel = compute.find_kernel(name)
    work = kernel.specialize([type_], type_, kernel.bind(params)).work
    assert isinstance(work, Program)
    return prepare_program(work, [type_], type_, half=True)


def halves_of(program: Program) -> list[object]:
    return [n.attr for s in program.stages for n in walk(s.body) if n.op == "half"]


@pytest.mark.parametrize("name", ["blur", "median", "sharpen"])
def test_functions_of_one_channel_are_computed_for_whole_pixels(name: str) -> None:
    found = halves_of(prepared(name))
    assert found and set(found) == {PIXEL}


def test_a_kernel_may_ask_for_it() -> None:
    program = prepared("denoise")
    assert halves_of(program) == [None] * 3
    assert program.stages[-1].arithmetic == PAIRS


@pytest.mark.parametrize(
    ("name", "channels", "dtype"),
    [
        ("blur", 4, F32),
        ("blur", 1, U8),
        ("denoise", 4, F32),
        ("contrast", 4, U8),
        ("beauty", 4, U8),
    ],
)
def test_elsewhere_it_is_f32(name: str, channels: int, dtype: Any) -> None:
    program = prepared(name, channels, dtype)
    assert halves_of(program) == []
    assert all(s.arithmetic != PAIRS for s in program.stages)


ASKS_FOR_TOO_MUCH = {
    "an op that it lacks": "half_precision(sqrt(src[1, 0])) + src[0, 1] * 0",
    "a number beyond it": "half_precision(src[1, 0] * 70000.0) + src[0, 1] * 0",
    "one pixel alone": "half_precision(src[0, 0] * 0.5)",
}


@pytest.mark.parametrize("why", ASKS_FOR_TOO_MUCH)
def test_what_half_precision_lacks_stays_in_f32(why: str) -> None:
    text = f"def odd(src):\n    return {ASKS_FOR_TOO_MUCH[why]}\n"
    compute.register("odd", text)
    try:
        assert halves_of(prepared("odd")) == []
    finally:
        compute.unregister("odd")


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
def test_half_is_the_value_itself(device: str) -> None:
    text = "def kept(src):\n    return half_precision(src[-1, 0] * 0.25 + src[1, 0] * 0.75)\n"
    plain = text.replace("half_precision", "").replace("kept", "plain")
    compute.register("kept", text)
    compute.register("plain", plain)
    data = picture((9, 12, 4), "noise")
    try:
        with dala.use(device):
            engine = compute.from_array(data).engine
            kept, same = (run_stages(engine, [(k, {})], data) for k in ("kept", "plain"))
            off = np.abs(kept.astype(int) - same)
            assert off.max() <= (1 if engine.device.is_gpu else 0)  # a real GPU does as it is asked
    finally:
        compute.unregister("kept")
        compute.unregister("plain")


# -- channels that trade places behind it ------------------------------------------------------


def apply_on(engine: Engine, image: np.ndarray, chain: Any, channels: str) -> np.ndarray:
    """``media.apply_filters`` on an engine of the test's own."""
    filters = Chain.of(chain)
    picture = take_picture(image, channels=channels, who="test")
    output = new_buffer(engine, output_type(filters, picture.layout))
    source = upload_to(picture, engine)
    MediaProgram(engine, filters, picture.layout, source, output).pipeline.run()
    result = picture.give_back(read_result(output))
    assert isinstance(result, np.ndarray)
    return result


@pytest.mark.webgpu
@pytest.mark.parametrize("size", [(1, 1), (5, 7), (12, 40)], ids=str)
@pytest.mark.parametrize("kernel", ["blur 1", "median 1", "sharpen", "denoise"])
def test_bgr_is_rgb_swapped(halves: Engine, kernel: str, size: tuple[int, int]) -> None:
    data = picture((*size, 4), "noise")
    for channels in ("bgra", "bgr"):
        image = np.ascontiguousarray(data[..., : len(channels)])
        swapped = image[..., [2, 1, 0, 3][: len(channels)]]
        got = apply_on(halves, image, KERNELS[kernel], channels)
        want = apply_on(halves, swapped, KERNELS[kernel], channels.replace("bgr", "rgb"))
        assert np.array_equal(got[..., [2, 1, 0, 3][: len(channels)]], want), channels


BEHIND = {
    "one channel of it": "src[0, 0].b",
    "channels in another order": "rgba(src[0, 0].a, src[0, 0].b, src[0, 0].r, src[0, 0].g)",
    "one channel twice": "rgba(src[0, 0].g, src[0, 0].g, src[0, 0].r, 1.0)",
    "channels mixed": "rgba(src[0, 0].r * 0.4 + src[0, 0].b * 0.6, src[0, 0].g, 0.0, src[0, 0].a)",
}


@pytest.mark.webgpu
@pytest.mark.parametrize("width", [9, 40])
@pytest.mark.parametrize("before", ["blur", "sharpen", "median", "denoise"])
@pytest.mark.parametrize("what", BEHIND)
def test_behind_it_channels_may_go_anywhere(
    halves: Engine, registry: None, what: str, before: str, width: int
) -> None:
    """Fused with a kernel that moves channels, as in two steps: rounded in half precision once."""
    compute.register("mover", f"def mover(src):\n    return {BEHIND[what]}\n")
    data = picture((11, width, 4), "noise")
    grey = what == "one channel of it"
    types = [ArrayType(s, U8) for s in (data.shape, data.shape, data.shape[: 2 if grey else 3])]
    source, between, out = (Buffer(halves, t, halves.device.allocate(t)) for t in types)
    source.write(data)
    results = []
    for middle in (compute.scratch(data.shape, "u8"), between):
        steps = Pipeline(halves)
        steps.add({"kernel": before, "inputs": [source], "output": middle})
        if middle is between:
            steps.run()
            steps = Pipeline(halves)
        steps.add({"kernel": "mover", "inputs": [middle], "output": out})
        steps.run()
        results.append(out.read().copy())
    assert np.array_equal(*results)


FURTHER = {"mask": np.eye(9, dtype=bool), "lut": np.linspace([1.0] * 3, [0.0] * 3, 4)}
VALUES: dict[str, dict[str, Any]] = {
    "crop": {"width": 1, "height": 1},
    "resize": {"width": 11, "height": 5},
    "rotate": {"degrees": 30},
    "lut": {"lut": FURTHER["lut"]},
    "warp_affine": {"matrix": (1, 0, 2, 0, 1, 0.5)},
    "warp_perspective": {"matrix": (1, 0, 2, 0, 1, 0.5, 0, 0.01, 1)},
}


def random_chain(rng: random.Random, channels: str) -> list[Any]:
    looking = (
        "auto_levels",
        "auto_white_balance",
    )  # at a picture first; what comes of it is a curve
    names = [n for n in filter_names() if n not in looking and (n != "lut" or channels != "grey")]
    chain = []
    for _ in range(rng.randint(1, 5)):
        halved = rng.random() < 0.5
        name = rng.choice(["blur", "median", "sharpen", "denoise"] if halved else names)
        images = {i: FURTHER.get(i, np.zeros((5, 4, 3), np.uint8)) for i in inputs_of(name)}
        chain.append((name, {**VALUES.get(name, {}), **images}))
    return chain


def inputs_of(name: str) -> tuple[str, ...]:
    return further_inputs(find_filter(name))


@pytest.mark.webgpu
@pytest.mark.parametrize("channels", ["rgb", "bgr", "rgba", "bgra", "grey"])
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_any_chain_compiles(
    halves: Engine, monkeypatch: pytest.MonkeyPatch, dtype: str, channels: str
) -> None:
    """Shaders are written and checked, not run: a software adapter takes minutes to build some."""
    device = halves.device
    assert isinstance(device, WebGpuDevice)
    checked: set[str] = set()

    def check(_: WebGpuDevice, shader: Shader) -> None:
        if shader.text not in checked:
            checked.add(shader.text)
            device.gpu.create_shader_module(code=shader.text)

    monkeypatch.setattr(device_module, "Dispatch", check)
    monkeypatch.setattr(device_module, "GpuExecutable", lambda *_: None)
    rng = random.Random(f"{dtype} {channels}")
    for _ in range(6):
        size = rng.choice([(1, 1), (1, 9), (9, 1), (5, 7), (12, 40), (33, 70)])
        shape = size if channels == "grey" else (*size, len(channels))
        image = np.zeros(shape, np.uint8 if dtype == "u8" else np.float32)
        filters = Chain.of(random_chain(rng, channels))
        taken = take_picture(image, channels=channels, who="test")
        output = new_buffer(halves, output_type(filters, taken.layout))
        source = upload_to(taken, halves)
        MediaProgram(halves, filters, taken.layout, source, output).pipeline._prepared({})
    assert checked
