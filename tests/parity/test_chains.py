"""Fusion never changes a byte; the CPU agrees with the reference.

Pipelines are generated: any kernels, any wiring, any mix of named and scratch buffers, of u8, u16 and
f32, of colour and grey, on awkward sizes. Each is run fused, and again stage by stage.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from searching import examples
from several_threads import use_threads

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm.jit import Host, detect_host
from dala.backends.cpu.run import launch
from dala.compute import default
from dala.compute.engine import Engine

SIZES = [
    (1, 1),
    (1, 2),
    (2, 1),
    (1, 67),
    (45, 1),
    (2, 3),
    (5, 16),
    (7, 17),
    (16, 31),
    (33, 64),
    (45, 67),
]
TWO_INPUTS = """
def probe_two(a, b, amount: float = 0.5):
    p = a[0, 0]
    q = b[1, -1] + b[-2, 0] - b[0, 1]
    return (p.rgb * amount + q.rgb * (1 - amount)).with_alpha(max(p.a, q.a))
"""
POSITION = """
def probe_position(src):
    p = src[0, 2]
    return (p.rgb * (x / width) + y / height * 0.25).with_alpha(p.a)
"""
WARP = """
def probe_warp(src, shift: float = 1.5):
    return src.sample(x + shift, y - shift * 0.5)
"""
PIECES = """
def probe_pieces(src, left: int = 3, up: int = 1):
    p = src.at(x + left, y - up)
    q = src.at(width - 1 - x - left, up - y)
    return rgba(p.r, q.g, p.b * 0.5 + q.b * 0.25, p.a)
"""
SCATTERED = """
def probe_scattered(src, left: int = 3):
    column = y * 2 + left - (x & 7)
    p = src.at(column, x - y)
    q = src.at(column + 1, x - y)
    return rgba(p.r, q.g, src.at(column - 1, y).b, p.a)
"""
COLUMN = """
def probe_column(src):
    return (src[0, -3] + src[0, -1] + src[0, 0] + src[0, 2]) * 0.25
"""
PYRAMID = """
def probe_pyramid(src):
    half = intermediate((src[0, 0] + src[1, 0] + src[0, 1] + src[1, 1]) * 0.25, 2, 1)
    quarter = intermediate((half[-1, 0] + half[2, 1]) * 0.5, 4, 1)
    back = intermediate(quarter[0, 0] * 0.75 + quarter[-1, 1] * 0.25, 2)
    return back[0, 0] * 0.5 + back[1, -1] * 0.25 + half[0, 1] * 0.125 + src[0, -2] * 0.125
"""
SIZES_INSIDE = """
def probe_sizes(src):
    around = intermediate(src[2, -3] * ((y + 3) / height), 1, 1)
    small = intermediate(around[-1, 2] * ((x + 1) / width), 2)
    return small[0, 0] * (height - small.height + y) / height
"""
MATRIX = """
def probe_matrix(a, b):
    p = a[0, 0]
    q = b[1, -1]
    return rgba(p.r * 0.25 + q.g * 0.5 - q.b * 0.75 + 0.3, p.b * 1.5, q.r + q.a, p.a)
"""
INPUTS = {"generate_gradient": 0, "probe_two": 2, "probe_matrix": 2}  # otherwise 1


@pytest.fixture(scope="module", autouse=True)
def _probe_kernels() -> Iterator[None]:
    probes = {
        "probe_two": TWO_INPUTS,
        "probe_position": POSITION,
        "probe_warp": WARP,
        "probe_pieces": PIECES,
        "probe_scattered": SCATTERED,
        "probe_column": COLUMN,
        "probe_pyramid": PYRAMID,
        "probe_sizes": SIZES_INSIDE,
        "probe_matrix": MATRIX,
    }
    for name, text in probes.items():
        compute.register(name, text)
    yield
    for name in probes:
        compute.unregister(name)


COLORED = {"lut"}  # makes colours of greys
number = st.floats(-1, 1, width=32)
CURVES = [np.array([[1.0, 0, 0.5], [0.25, 1, 0.5]]), np.linspace(0, 1, 27)[:, None] ** [0.5, 1, 2]]
IMAGE_STAGES = st.one_of(
    st.tuples(st.just("blur"), st.fixed_dictionaries({"radius": st.integers(0, 5)})),
    st.tuples(
        st.just("blur"),
        st.fixed_dictionaries({"radius": st.integers(1, 4), "sigma": st.floats(0.25, 8)}),
    ),
    st.tuples(st.just("sharpen"), st.fixed_dictionaries({"amount": st.floats(0, 10)})),
    st.tuples(st.just("brightness"), st.fixed_dictionaries({"value": number})),
    st.tuples(st.just("contrast"), st.fixed_dictionaries({"value": st.floats(-1, 3)})),
    st.tuples(st.just("grayscale"), st.just({})),
    st.tuples(st.just("invert"), st.just({})),
    st.tuples(st.just("median"), st.fixed_dictionaries({"radius": st.integers(1, 2)})),
    st.tuples(st.just("probe_two"), st.fixed_dictionaries({"amount": number})),
    st.tuples(st.just("probe_position"), st.just({})),
    st.tuples(st.just("probe_column"), st.just({})),
    st.tuples(st.just("probe_pyramid"), st.just({})),
    st.tuples(st.just("probe_sizes"), st.just({})),
    st.tuples(st.just("probe_matrix"), st.just({})),
    st.tuples(st.just("probe_warp"), st.fixed_dictionaries({"shift": st.floats(-4, 4)})),
    st.tuples(
        st.just("probe_pieces"),
        st.fixed_dictionaries({"left": st.integers(-70, 70), "up": st.integers(-3, 40)}),
    ),
    st.tuples(st.just("probe_scattered"), st.fixed_dictionaries({"left": st.integers(-5, 70)})),
    st.tuples(st.just("flip"), st.fixed_dictionaries({"vertical": st.booleans()})),
    st.tuples(st.just("pixelate"), st.fixed_dictionaries({"size": st.integers(1, 20)})),
    st.tuples(st.just("lut"), st.fixed_dictionaries({"lut": st.sampled_from(CURVES)})),
    st.tuples(st.just("resize"), st.sampled_from([{}, {"interpolation": "bicubic"}])),
    st.tuples(st.just("generate_gradient"), st.just({})),
)


@st.composite
def image_pipelines(draw: st.DrawFn) -> dict[str, object]:
    count = draw(st.integers(1, 6))
    channels = draw(st.sampled_from([4, 4, 4, 1]))
    any_stage = (
        IMAGE_STAGES if channels == 4 else IMAGE_STAGES.filter(lambda s: s[0] not in COLORED)
    )
    stages = []
    for index in range(count):
        kernel, params = draw(any_stage)
        inputs = INPUTS.get(kernel, 1)
        stages.append(
            {
                "kernel": kernel,
                "params": params,
                # mostly the stage before, so that chains are long
                "inputs": [
                    draw(st.one_of(st.just(index), st.integers(0, index))) for _ in range(inputs)
                ],
                "dtype": draw(st.sampled_from(["u8", "u8", "u16", "f32"])),
                "named": draw(st.booleans()) or index == count - 1,
            }
        )
    return {
        "size": draw(st.sampled_from(SIZES)),
        "channels": channels,
        "dtype": draw(st.sampled_from(["u8", "u8", "u16", "f32"])),
        "stages": stages,
        "seed": draw(st.integers(0, 2**16)),
    }


def source_image(case: dict) -> np.ndarray:
    rng = np.random.default_rng(case["seed"])
    shape = (*case["size"], 4) if case["channels"] == 4 else case["size"]
    if case["dtype"] == "u8":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    if case["dtype"] == "u16":
        return rng.integers(0, 65536, shape, dtype=np.uint16)
    return rng.normal(0.5, 0.5, shape).astype(np.float32)


def run_fused(case: dict, source: np.ndarray) -> tuple[dict[int, np.ndarray], str]:
    """All stages as one pipeline: the named results by stage."""
    buffers: list = [compute.from_array(source)]
    p = compute.pipeline()
    for stage in case["stages"]:
        make = compute.buffer_zeros if stage["named"] else compute.scratch
        buffers.append(make(source.shape, stage["dtype"]))
        p.add(
            {
                "kernel": stage["kernel"],
                "inputs": [buffers[i] for i in stage["inputs"]],
                "output": buffers[-1],
                "params": stage["params"],
            }
        )
    p.run()
    named = [i for i, s in enumerate(case["stages"]) if s["named"]]
    return {i: buffers[i + 1].read() for i in named}, p.explain()


def run_apart(case: dict, source: np.ndarray) -> list[np.ndarray]:
    """Every stage on its own."""
    buffers = [compute.from_array(source)]
    for stage in case["stages"]:
        out = compute.buffer_zeros(source.shape, stage["dtype"])
        inputs = [buffers[i] for i in stage["inputs"]]
        compute.run_kernel(stage["kernel"], inputs, out, stage["params"])
        buffers.append(out)
    return [b.read() for b in buffers[1:]]


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit; only that any NaN is as good as another (design/numerics.md)."""
    if a.dtype.kind == b.dtype.kind == "f":
        a, b = (np.where(np.isnan(v), v.dtype.type(np.nan), v) for v in (a, b))
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_only_nans_are_alike(dtype: str) -> None:
    nan, zero, one = np.array([np.nan, 0.0, 1.0], dtype)[:, None]
    assert same_bytes(nan, -nan)
    for a, b in [(nan, one), (one, nan), (zero, -zero), (one, np.nextafter(one, zero))]:
        assert not same_bytes(a, b)


@settings(max_examples=examples(150))
@given(case=image_pipelines())
def test_fused_is_unfused_byte_for_byte_on_the_cpu(case: dict) -> None:
    source = source_image(case)
    with dala.use("cpu"):
        apart = run_apart(case, source)
        fused, plan = run_fused(case, source)
    for index, result in fused.items():
        assert same_bytes(result, apart[index]), f"stage {index} differs\n{plan}"


@pytest.mark.parametrize(("rows", "vector_bytes"), [(1, 64), (3, 32), (8, 16)])
@settings(max_examples=examples(60))
@given(case=image_pipelines())
def test_bands_and_vector_widths_change_nothing(rows: int, vector_bytes: int, case: dict) -> None:
    """Many small bands on several threads, on narrower vectors: the same bytes."""
    source = source_image(case)
    with dala.use("cpu"):
        apart = run_apart(case, source)
    real = detect_host()
    narrow = Host(real.name, real.features, vector_bytes, real.fma)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "_band_rows", lambda *given: -(-rows // given[-1]) * given[-1])
        use_threads(patch, 4)
        engine = Engine(
            CpuDevice(narrow)
        )  # its own plans: these bands must not leak into other tests
        patch.setattr(default, "_default", engine)
        fused, plan = run_fused(case, source)
    for index, result in fused.items():
        assert same_bytes(result, apart[index]), f"stage {index} differs\n{plan}"


@settings(max_examples=examples(100))
@given(case=image_pipelines())
def test_fused_is_unfused_byte_for_byte_on_the_reference(case: dict) -> None:
    source = source_image(case)
    with dala.use("reference"):
        apart = run_apart(case, source)
        fused, plan = run_fused(case, source)
    for index, result in fused.items():
        assert same_bytes(result, apart[index]), f"stage {index} differs\n{plan}"


@settings(max_examples=examples(150))
@given(case=image_pipelines())
def test_cpu_agrees_with_the_reference(case: dict) -> None:
    check_against_reference(case, "cpu")


def check_against_reference(case: dict, device: str) -> None:
    """Stage by stage, on the reference's own intermediates: a level (of u16 on a GPU two), 1e-5 for f32."""
    source = source_image(case)
    with dala.use("reference"):
        wanted = run_apart(case, source)
    images = [source, *wanted]
    with dala.use(device):
        for index, stage in enumerate(case["stages"]):
            inputs = [compute.from_array(images[i]) for i in stage["inputs"]]
            out = compute.buffer_zeros(source.shape, stage["dtype"])
            compute.run_kernel(stage["kernel"], inputs, out, stage["params"])
            got, want = out.read(), wanted[index]
            if stage["dtype"] == "u8":
                worst = np.abs(got.astype(int) - want.astype(int)).max()
                assert worst <= 1, f"{stage['kernel']}: {worst} levels"
            elif stage["dtype"] == "u16":
                worst = np.abs(got.astype(int) - want.astype(int)).max()
                most = 1 if device == "cpu" else 2
                assert worst <= most, f"{stage['kernel']}: {worst} levels of 16 bits"
            else:
                scale = max(1.0, float(np.abs(want).max()))
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * scale)


TENSOR_STAGES = st.sampled_from(
    [
        ("elementwise_add", {}), ("elementwise_sub", {}), ("elementwise_mul", {}),
        ("elementwise_div", {}), ("scalar_mul", {"scalar": 3}), ("scalar_add", {"scalar": 2}),
        ("relu", {"slope": 0}), ("abs", {}), ("clip", {"min": 1, "max": 50}), ("reshape", {}),
    ]
)  # fmt: skip
FLOAT_STAGES = st.sampled_from(
    [("sigmoid", {}), ("tanh", {}), ("exp", {}), ("log", {}), ("sqrt", {}), ("softmax", {})]
)


@st.composite
def tensor_pipelines(draw: st.DrawFn) -> dict[str, object]:
    dtype = draw(st.sampled_from(["f32", "f64", "s32", "s64", "u32", "u16", "u8"]))
    choice = st.one_of(TENSOR_STAGES, FLOAT_STAGES) if dtype in ("f32", "f64") else TENSOR_STAGES
    count = draw(st.integers(1, 6))
    stages = []
    for index in range(count):
        kernel, params = draw(choice)
        inputs = 2 if kernel.startswith("elementwise") else 1
        stages.append(
            {
                "kernel": kernel,
                "params": params,
                "inputs": [
                    draw(st.one_of(st.just(index), st.integers(0, index))) for _ in range(inputs)
                ],
                "dtype": dtype,
                "named": draw(st.booleans()) or index == count - 1,
            }
        )
    shape = draw(
        st.sampled_from([(1,), (3,), (17,), (5, 7), (2, 3, 4), (1000,), (300, 61), (20000,)])
    )
    return {"shape": shape, "dtype": dtype, "stages": stages, "seed": draw(st.integers(0, 99))}


NANS_OF_BOTH_SIGNS = {
    "shape": (1,),
    "dtype": "f64",
    "stages": [
        {"kernel": kernel, "params": params, "inputs": inputs, "dtype": "f64", "named": named}
        for kernel, params, inputs, named in [
            ("scalar_mul", {"scalar": 3}, [0], False),
            ("log", {}, [1], False),
            ("elementwise_add", {}, [2, 0], False),
            ("sigmoid", {}, [3], False),
            ("elementwise_add", {}, [4, 2], True),
            ("elementwise_add", {}, [2, 4], True),
        ]
    ],
    "seed": 1,
}


@settings(max_examples=examples(150))
@example(case=NANS_OF_BOTH_SIGNS)
@given(case=tensor_pipelines())
def test_fused_tensors_are_unfused_byte_for_byte(case: dict) -> None:
    rng = np.random.default_rng(case["seed"])
    numpy_type = {"f32": "f4", "f64": "f8", "s32": "i4", "s64": "i8", "u32": "u4"}
    numpy_type |= {"u16": "u2", "u8": "u1"}
    source = rng.integers(0, 200, case["shape"]).astype(numpy_type[case["dtype"]])
    if case["dtype"] in ("f32", "f64"):
        source = (source - 100) / 7
        source = source.astype(numpy_type[case["dtype"]])
    with dala.use("cpu"):
        apart = run_apart(case, source)
        fused, plan = run_fused(case, source)
    for index, result in fused.items():
        assert same_bytes(result, apart[index]), f"stage {index} differs\n{plan}"


@st.composite
def tangled_pipelines(draw: st.DrawFn) -> dict[str, object]:
    """Few buffers, many writes: in place, over each other, through scratch, with copies and barriers."""
    stages = []
    written = {"a", "b", "c"}
    for _ in range(draw(st.integers(2, 7))):
        kernel, params = draw(IMAGE_STAGES)
        op = draw(st.sampled_from(["run_kernel"] * 8 + ["copy_buffer", "barrier"]))
        if op == "copy_buffer":
            kernel, params = "copy", {}
        count = INPUTS.get(kernel, 1)
        stages.append(
            {
                "op": op,
                "kernel": kernel,
                "params": params,
                "inputs": [draw(st.sampled_from(sorted(written))) for _ in range(count)],
                "output": draw(st.sampled_from(["a", "b", "c", "s", "t"])),
            }
        )
        if op != "barrier":
            written.add(stages[-1]["output"])
    return {
        "size": draw(st.sampled_from(SIZES)),
        "stages": stages,
        "seed": draw(st.integers(0, 99)),
    }


@settings(max_examples=examples(200))
@given(case=tangled_pipelines())
def test_any_wiring_over_few_buffers(case: dict) -> None:
    """The pipeline leaves in every buffer what running its stages one by one leaves there."""
    for fused, apart, _, plan in run_tangled(case, "cpu"):
        assert same_bytes(fused, apart), plan


def run_tangled(case: dict, device: str) -> Iterator[tuple[np.ndarray, np.ndarray, int, str]]:
    """Buffer by buffer: fused, stage by stage, the ties of all stages (on a GPU), and the plan."""
    ties = 0
    rng = np.random.default_rng(case["seed"])
    shape = (*case["size"], 4)
    start = {name: rng.integers(0, 256, shape, dtype=np.uint8) for name in "abc"}
    with dala.use(device):
        apart = {n: compute.from_array(v) for n, v in start.items()}
        apart |= {n: compute.buffer_zeros(shape, "u8") for n in "st"}
        fused: dict = {n: compute.from_array(v) for n, v in start.items()}
        fused |= {n: compute.scratch(shape, "u8") for n in "st"}
        p = compute.pipeline()
        for stage in case["stages"]:
            if stage["op"] == "barrier":
                p.add({"op": "barrier"})
                continue
            inputs, output = stage["inputs"], stage["output"]
            spec = {
                "op": stage["op"],
                "inputs": [fused[n] for n in inputs],
                "output": fused[output],
            }
            if stage["op"] == "run_kernel":
                spec |= {"kernel": stage["kernel"], "params": stage["params"]}
                # one by one, through a fresh buffer: plainly right even in place
                fresh = compute.buffer_zeros(shape, "u8")
                sources = [apart[n] for n in inputs]
                compute.run_kernel(stage["kernel"], sources, fresh, stage["params"])
                if device == "webgpu":
                    read = [source.read() for source in sources]
                    ties += count_ties(stage["kernel"], read, stage["params"], shape)
                apart[output] = fresh
            else:
                apart[output] = compute.from_array(apart[inputs[0]].read())
            p.add(spec)
        p.run()
        for name in "abc":
            yield fused[name].read(), apart[name].read(), ties, f"{name}\n{p.explain()}"


# -- on a GPU ----------------------------------------------------------------------------------


def assert_near(
    fused: np.ndarray, apart: np.ndarray, ties: int, plan: str, *, through_bytes: bool = False
) -> None:
    """A GPU's compiler may round the last place of an expression otherwise where it stands in another
    shader: 1e-5 in f32, and one level in u8, on one value in a thousand and where either level is right.
    The levels of u16 lie about as near as what f32 tells apart: any may be the next one. What was bytes on
    its way may differ by one of theirs, where either was right.
    """
    few = ties + max(2, fused.size // 1000)
    if fused.dtype == np.uint8:
        off = np.abs(fused.astype(int) - apart.astype(int))
        assert off.max() <= 1, plan
        assert np.count_nonzero(off) <= few, plan
        return
    scale = max(1.0, float(np.abs(apart).max()))
    near = 1e-5 * scale + (fused.dtype == np.uint16)
    both = fused.astype(float), apart.astype(float)
    if through_bytes:
        assert np.count_nonzero(~np.isclose(*both, rtol=1e-5, atol=near)) <= few, plan
        near += 257 if fused.dtype == np.uint16 else 1 / 255
    np.testing.assert_allclose(*both, rtol=1e-5, atol=near, err_msg=plan)


def count_ties(
    kernel: str, inputs: list[np.ndarray], params: dict, shape: tuple[int, ...], dtype: str = "u8"
) -> int:
    """How many values of a result lie in the middle between two levels, as far as f32 can tell.

    The mean of four levels does so once in four times. Drivers contract the products of a sum into it where
    they see both: the levels of an image in memory, times 1/255, but not those that another part of the
    shader has left in the memory of a workgroup. Either way of rounding is right, so the results differ
    for a part of these values, however large the image is.
    """
    if dtype != "u8":
        return 0
    with dala.use("reference"):
        out = compute.buffer_zeros(shape, "f32")
        compute.run_kernel(kernel, [compute.from_array(i) for i in inputs], out, params)
        levels = out.read().astype(float) * 255
    return int(np.count_nonzero(np.abs(levels - np.floor(levels) - 0.5) < 1e-6 * 255))


def means_of_four_levels(shape: tuple[int, int]) -> dict:
    """Found by a search: three of 80 values differ by a level."""
    kernels = ("grayscale", False), ("probe_column", True)
    stages = [
        {"kernel": kernel, "params": {}, "inputs": [number], "dtype": "u8", "named": named}
        for number, (kernel, named) in enumerate(kernels)
    ]
    return {"size": shape, "channels": 1, "dtype": "u8", "stages": stages, "seed": 0}


def a_mean_of_levels_that_become_16_bits() -> dict:
    """Found by a search: two of eight values differ by a level of the bytes between."""
    bytes_again = [("blur", "u8")] * 3
    kinds = [("blur", "u16"), ("probe_column", "u8"), *bytes_again, ("blur", "u16")]
    stages = [
        {"kernel": kernel, "params": {"radius": 0} if kernel == "blur" else {}, "inputs": [number],
         "dtype": dtype, "named": number == len(kinds) - 1}
        for number, (kernel, dtype) in enumerate(kinds)
    ]  # fmt: skip
    return {"size": (2, 1), "channels": 4, "dtype": "u8", "stages": stages, "seed": 0}


@pytest.mark.webgpu
@settings(max_examples=examples(60))
@example(case=means_of_four_levels((5, 16)))
@example(case=means_of_four_levels((400, 600)))
@example(case=a_mean_of_levels_that_become_16_bits())
@given(case=image_pipelines())
def test_fused_is_unfused_within_a_level_on_the_gpu(case: dict) -> None:
    source = source_image(case)
    with dala.use("webgpu"):
        apart = run_apart(case, source)
        fused, plan = run_fused(case, source)
    images, ties = [source, *apart], []
    for stage in case["stages"]:
        inputs = [images[i] for i in stage["inputs"]]
        found = count_ties(stage["kernel"], inputs, stage["params"], source.shape, stage["dtype"])
        ties.append(found)
    for index, result in fused.items():
        through_bytes = any(stage["dtype"] == "u8" for stage in case["stages"][:index])
        near = sum(ties[: index + 1]), f"stage {index}\n{plan}"
        assert_near(result, apart[index], *near, through_bytes=through_bytes)


@pytest.mark.webgpu
@settings(max_examples=examples(60))
@given(case=image_pipelines())
def test_the_gpu_agrees_with_the_reference(case: dict) -> None:
    check_against_reference(case, "webgpu")


@pytest.mark.webgpu
@settings(max_examples=examples(60))
@given(case=tangled_pipelines())
def test_any_wiring_over_few_buffers_on_the_gpu(case: dict) -> None:
    for fused, apart, ties, plan in run_tangled(case, "webgpu"):
        assert_near(fused, apart, ties, plan)
