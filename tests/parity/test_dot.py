"""Weights on bytes: within the bound that was proved, the same bytes on every machine, fused or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from machines import machine_with

import dala
from dala import compute
from dala.backends.cpu.arithmetic.choice import CHOICE
from dala.backends.cpu.arithmetic.dot import DOT
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.compute import default
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8
from dala.ir.graph import PLAIN, Arithmetic, Program
from dala.language.kernel import Kernel, make_kernel

pytestmark = pytest.mark.usefixtures("on_cpu")

HOSTS = [(64, True), (64, False), (32, True), (32, False), (16, True)]
GAIN = dala.Param("gain", "float", 0.5, min=-2, max=2)
MIXES = {
    "two channels": "rgba(p.r * gain + p.g, p.b - p.r * (1.0 - gain), p.b, p.a)",
    "alpha too": "rgba(p.r + p.a * gain, p.g * 0.25 + p.a * 0.5, p.b * gain, p.a - p.b * 0.5)",
    "a bias": "rgba(p.r * gain + p.b + 0.25, p.g - p.r * gain - gain * 0.125, 0.5, p.a)",
    "turned around": "rgba(p.b, p.r * 0.5 + p.g * gain, p.a, p.g)",
    "the same three times": "rgb((p.r + p.g * gain) * 0.5, (p.r + p.g * gain) * 0.5, 0.0).with_alpha(1.0)",
    "only constants": "rgba(p.r - p.g, 0.2 * p.r + 0.3 * p.b, 1.2 * p.b - 0.1, p.a)",
    "neighbours crossed": "src[0, 0] + src[1, 0].r * gain",
    "neighbours, alpha known": "(src[0, 0] * 0.3 + src[1, 2] * gain).with_alpha(1.0)",
    "products of values": "(src[0, 0] - src[1, 2]) * gain * (gain * 0.4) + p * 0.3",
    "another image": "rgba(p.r * gain + q.r, q.g * (1.0 - gain) + p.b, p.b, q.a)",
}
CHOICES = {
    "at least": "where(0.299 * p.r + 0.587 * p.g + 0.114 * p.b >= value, 1.0, 0.0)",
    "more": "where(0.2126 * p.r + 0.7152 * p.g + 0.0722 * p.b > value, 0.25, 0.75)",
    "less": "where(p.r - p.g < value - 0.5, 0.0, 1.0)",
    "at most": "where(0.5 * p.r + 0.25 * p.b + 0.25 * p.a <= value * 0.5, 0.3, 0.1)",
}


def mix(text: str) -> Kernel:
    inputs = "src, other" if "q." in text else "src"
    second = "    q = other[0, 0]\n" if "q." in text else ""
    source = (
        f"def probe({inputs}, gain: float = 0.5):\n    p = src[0, 0]\n{second}    return {text}"
    )
    return make_kernel(source, params=[GAIN])


def choice(text: str) -> Kernel:
    source = (
        "def probe(src, value: float = 0.5):\n    p = src[0, 0]\n"
        f"    c = {text}\n    return rgba(c, c, c, p.a)"
    )
    return make_kernel(source, params=[dala.Param("value", "float", 0.5, min=0, max=1)])


def run(kernel: str | Kernel, image: np.ndarray, params: dict[str, object]) -> np.ndarray:
    count = kernel.inputs if isinstance(kernel, Kernel) else 1
    images = [image, np.ascontiguousarray(image[::-1, ::-1])][:count]
    out = compute.buffer_zeros(image.shape, "u8")
    compute.run_kernel(kernel, [compute.from_array(i) for i in images], out, params)
    return out.read()


def run_on(device: str, kernel: str | Kernel, image: np.ndarray, **params: object) -> np.ndarray:
    with dala.use(device):
        return run(kernel, image, params)


def pictures() -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    shapes = [(1, 1), (3, 17), (5, 64), (9, 131)]
    return [rng.integers(0, 256, (*shape, 4), dtype=np.uint8) for shape in shapes]


def on_host(vector_bytes: int, x86: bool, work: Callable[[], list[np.ndarray]]) -> list[np.ndarray]:
    """What a machine with other vectors computes."""
    host = machine_with(vector_bytes, x86)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        return work()


def arithmetic_of(kernel: Kernel) -> Arithmetic:
    type_ = ArrayType((8, 8, 4), U8)
    special = kernel.specialize([type_] * kernel.inputs, type_, kernel.bind({}))
    assert isinstance(special.work, Program)
    return (
        prepare_program(special.work, [type_] * kernel.inputs, type_, fma=True)
        .stages[-1]
        .arithmetic
    )


@pytest.mark.parametrize("gain", [-2, -1, -0.37, 0, 1e-6, 0.5, 1.999, 2])
@pytest.mark.parametrize("name", MIXES)
def test_mixes_are_within_one_level(name: str, gain: float) -> None:
    kernel = mix(MIXES[name])
    assert arithmetic_of(kernel) == DOT
    for image in pictures():
        cpu, reference = (run_on(d, kernel, image, gain=gain) for d in ("cpu", "reference"))
        assert np.abs(cpu.astype(int) - reference).max() <= 1


@pytest.mark.parametrize(("vector_bytes", "x86"), HOSTS)
def test_other_machines_give_the_same_bytes(vector_bytes: int, x86: bool) -> None:
    def work() -> list[np.ndarray]:
        kernels = [*map(mix, MIXES.values()), *map(choice, CHOICES.values())]
        found = [run(k, image, {}) for k in kernels for image in pictures()]
        for image in pictures():
            found.append(run("saturation", image, {"value": 0.7}))
            found.append(run("hue", image, {"degrees": 77.0}))
        return found

    for wanted, got in zip(work(), on_host(vector_bytes, x86, work), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("value", [-1, -0.2, 0, 0.3, 1, 3])
def test_the_error_of_run_time_weights_is_what_was_proved(value: float) -> None:
    image = np.random.default_rng(3).integers(0, 256, (64, 1024, 4), dtype=np.uint8)
    colors = image[..., :3].astype(np.float64)
    y = colors @ [[0.299], [0.587], [0.114]]
    exact = np.clip(y + (colors - y) * (1 + np.float64(np.float32(value))), 0, 255)
    got = run_on("cpu", "saturation", image, value=value)[..., :3]
    assert np.abs(got - exact).max() <= 0.5 + 3 * 255 / 2**13


def test_greys_stay_grey() -> None:
    image = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 4, 2)
    for kernel, params in (("saturation", {"value": 2.9}), ("hue", {"degrees": 123.4})):
        np.testing.assert_array_equal(run_on("cpu", kernel, image, **params), image)


@pytest.mark.parametrize("value", [0, 0.2, 0.25, 0.5, 0.75, 0.299, 0.413, 1])
@pytest.mark.parametrize("name", CHOICES)
def test_choices_are_those_of_the_reference(name: str, value: float) -> None:
    kernel = choice(CHOICES[name])
    assert arithmetic_of(kernel) == CHOICE
    for image in pictures():
        # a sum that is the bound, but for its rounding in f32, may fall to either side
        got, wanted = (run_on(d, kernel, image, value=value) for d in ("cpu", "reference"))
        assert (got != wanted).mean() < 0.01
        np.testing.assert_array_equal(got[..., 3], image[..., 3])


def test_a_threshold_is_exact_at_every_luma() -> None:
    """Colours whose luma is 127.5 levels, the next above and the next below: N = 299r + 587g + 114b."""
    r, g, b = (a.reshape(-1) for a in np.mgrid[0:256, 0:256, 0:256:5])
    total = 299 * r + 587 * g + 114 * b
    near = np.abs(total - 127_500) <= 30
    image = np.stack([r, g, b, r], -1)[near].astype(np.uint8)[None]
    white = run_on("cpu", "threshold", image, value=0.5)[0, :, 0] == 255
    np.testing.assert_array_equal(white, total[near] >= 127_500)


@pytest.mark.parametrize(
    "text",
    [
        "p * gain",  # a curve: tables
        "rgba(p.r * p.g, p.b, p.b, p.a)",
        "rgba(p.r * gain * 100.0 + p.g, p.g, p.b, p.a)",  # a weight that does not fit
    ],
)
def test_what_is_no_mix_is_left_alone(text: str) -> None:
    assert arithmetic_of(mix(text)) == PLAIN


def test_a_bound_without_bounds_is_left_alone() -> None:
    text = "rgba(where(p.r + p.g >= value, 1.0, 0.0), p.g, p.b, p.a)"
    source = f"def probe(src, value: float = 0.5):\n    p = src[0, 0]\n    return {text}"
    assert arithmetic_of(make_kernel(source)) == PLAIN


def test_fused_chains_are_those_of_single_stages() -> None:
    stages = [
        ("saturation", {"value": 0.4}),
        ("vignette", {"intensity": 0.5}),
        ("hue", {"degrees": 40.0}),
        ("sepia", {"intensity": 0.3}),
        ("contrast", {"value": 0.2}),
        ("threshold", {"value": 0.4}),
        ("saturation", {"value": -0.5}),
    ]
    for image in pictures():
        wanted = image
        for kernel, params in stages:
            wanted = run_on("cpu", kernel, wanted, **params)
        with dala.use("cpu"):
            out, pipeline = compute.buffer_zeros(image.shape, "u8"), compute.pipeline()
            current: compute.Buffer | compute.Scratch = compute.from_array(image)
            for number, (kernel, params) in enumerate(stages, 1):
                target = out if number == len(stages) else compute.scratch(image.shape, "u8")
                call = {"kernel": kernel, "inputs": [current], "output": target, "params": params}
                pipeline.add(call)
                current = target
            pipeline.run()
        np.testing.assert_array_equal(out.read(), wanted)


def test_a_chain_in_place_is_one_pass() -> None:
    mixes = [("saturation", {"value": 0.4}), ("hue", {"degrees": 40.0}), ("sepia", {})]
    for image in pictures():
        wanted = image
        for kernel, params in mixes:
            wanted = run_on("cpu", kernel, wanted, **params)
        with dala.use("cpu"):
            buffer, pipeline = compute.from_array(image), compute.pipeline()
            for kernel, params in mixes:
                call = {"kernel": kernel, "inputs": [buffer], "output": buffer, "params": params}
                pipeline.add(call)
            pipeline.run()
            assert len(pipeline.engine.prepare(pipeline._stages).executable.plan.passes) == 1
        np.testing.assert_array_equal(buffer.read(), wanted)


def test_in_place_beside_another_reader() -> None:
    """What reads the old picture has read it before a mix overwrites it."""
    image = pictures()[-1]
    kept = run_on("cpu", "vignette", image)
    mixed = run_on("cpu", "saturation", image, value=0.4)
    with dala.use("cpu"):
        buffer, other = compute.from_array(image), compute.buffer_zeros(image.shape, "u8")
        pipeline = compute.pipeline()
        pipeline.add({"kernel": "vignette", "inputs": [buffer], "output": other})
        mix = {"kernel": "saturation", "inputs": [buffer], "output": buffer}
        pipeline.add({**mix, "params": {"value": 0.4}})
        pipeline.run()
    np.testing.assert_array_equal(other.read(), kept)
    np.testing.assert_array_equal(buffer.read(), mixed)
