"""Networks on a GPU: right for every kind of layer, in few pieces of memory, in one submit."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from net_cases import CASES, Case
from onnx_files import Net, small_net
from told_steps import steps_planned, steps_told

import dala
from dala import compute, ml
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.execute import Dispatch, GpuExecutable
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.errors import DeviceError, DTypeError, ModelError, ParameterError, ShapeError
from dala.ml.images import take_image
from dala.ml.layers.lower import lower_model
from dala.ml.network import Network, open_network
from dala.ml.onnx.read import read_model
from dala.ml.run.webgpu import products, tiling
from dala.ml.run.webgpu.compile import Compiler
from dala.ml.run.webgpu.placing import place_values, real_layers
from dala.ml.tensors import sample_tensor

TIMES = 3  # each distinct shader is compiled
IMAGE = np.random.default_rng(3).integers(0, 256, (1, 16, 16, 3)).astype("u1")


def agree(case: Case, *, relative: float = 2e-5, precision: str = "f32") -> None:
    with (
        open_network(case.data, device="reference") as meaning,
        open_network(case.data, device="webgpu", precision=precision) as ours,
    ):
        for a, b in zip(meaning.run(*case.inputs), ours.run(*case.inputs), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if a.dtype.kind in "iu":
                assert np.abs(a.astype(int) - b.astype(int)).max(initial=0) <= (a.dtype == np.uint8)
            else:
                largest = max(1.0, float(np.abs(a).max(initial=0)))
                assert np.abs(a - b).max(initial=0) <= relative * largest, ours.explain()


@pytest.mark.webgpu
@pytest.mark.parametrize("kind", CASES)
def test_every_kind_of_layer_has_its_meaning(kind: str) -> None:
    for seed in range(100, 100 + TIMES):
        agree(CASES[kind](np.random.default_rng([seed, *kind.encode()])))


@pytest.mark.webgpu
def test_a_small_net_agrees_and_so_does_half_precision() -> None:
    agree(Case(small_net(), [IMAGE]))
    agree(Case(small_net(channels=8), [IMAGE]), relative=3e-3, precision="f16")


@pytest.mark.webgpu
@pytest.mark.parametrize("rows", [1, 3, 300])
def test_long_sums_are_shared_and_exact(rows: int) -> None:
    """Few results of long sums, by parts; many, four rows at a time; odd ends."""
    rng, net = np.random.default_rng(rows), Net()
    x = rng.standard_normal((rows, 203)).astype("f4")
    weight = net.constant(rng.standard_normal((203, 10)).astype("f4"))
    net.output(net.add("MatMul", net.input("x", x.shape), weight), 2)
    agree(Case(net.bytes(), [x]))


@pytest.mark.webgpu
def test_every_way_to_divide_a_product_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles beyond the edges, parts of sums, chunks: whatever is chosen, the results are the same."""
    rng = np.random.default_rng(5)

    def any_tiling(work: tiling.Work) -> tiling.Tiling:
        found = tiling.tilings(work)
        return found[rng.integers(len(found))]

    monkeypatch.setattr(products, "choose_tiling", any_tiling)
    for number in range(24):
        kind = ("separable", "pointwise", "conv", "gated")[number % 4]
        agree(CASES[kind](np.random.default_rng([number, *kind.encode()])))
    for rows, inner, made in ((1, 600, 70), (50, 1300, 9), (9, 4500, 6)):
        net = Net()
        x = rng.standard_normal((rows, inner)).astype("f4")
        weight = net.constant(rng.standard_normal((inner, made)).astype("f4") / 30)
        net.output(net.add("MatMul", net.input("x", x.shape), weight), 2)
        agree(Case(net.bytes(), [x]))


@pytest.mark.webgpu
def test_outputs_that_are_inputs_constants_or_given_twice() -> None:
    net = Net()
    x = net.input("x", (2, 3))
    y = net.add("Relu", x)
    net.output(net.add("Identity", x), 2)
    net.output(y, 2)
    net.output(net.add("Reshape", y, net.constant([3, 2])), 2)
    net.output(net.add("Transpose", net.constant([[1.0, 2.0]], "f4")), 2)
    agree(Case(net.bytes(), [np.array([[1, -2, 3], [-4, 5, -6]], "f4")]))


@pytest.mark.webgpu
def test_all_outputs_come_in_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    net, data = Net(), np.array([[1, -2, 3], [-4, 5, -6]], "f4")
    x = net.input("x", (2, 3))
    for op in ("Relu", "Neg", "Abs"):
        net.output(net.add(op, x), 2)
    with open_network(net.bytes(), device="webgpu") as network:
        device = network.device
        assert isinstance(device, WebGpuDevice)
        reads: list[object] = []
        begin = device.staging.begin_read_run
        monkeypatch.setattr(
            device.staging, "begin_read_run", lambda *a: (reads.append(a), begin(*a))[1]
        )
        found = network.run(data)
        assert len(reads) == 1
    for array, wanted in zip(found, (np.maximum(data, 0), -data, np.abs(data)), strict=True):
        assert np.array_equal(array, wanted)


def test_activations_share_memory() -> None:
    """A chain of layers needs two pieces, however long it is."""
    net = Net()
    x = net.input("x", (1, 4, 8, 8))
    for seed in range(12):
        weight = np.random.default_rng(seed).standard_normal((4, 4, 3, 3)).astype("f4")
        x = net.add("Conv", x, net.constant(weight), pads=[1, 1, 1, 1])
    net.output(x, 4)
    program = lower_model(read_model(net.bytes()), [(1, 4, 8, 8)], "chain")
    placing = place_values(program)
    assert len(real_layers(program)) >= 12 and len(placing.sizes) == 2


def test_no_value_is_overwritten_before_its_last_reader() -> None:
    """Whatever the net: values that live at the same time have registers of their own."""
    for seed in range(20):
        program = lower_model(
            read_model(small_net(16, 4 + seed % 3, seed)), [(1, 16, 16, 3)], "net"
        )
        placing, layers = place_values(program), real_layers(program)
        for number, layer in enumerate(layers):
            later = {placing.roots[v] for after in layers[number:] for v in after.inputs}
            made = {placing.roots[b.output] for b in layers[:number]}
            alive = [placing.registers[r] for r in later & made if r in placing.registers]
            assert len(alive) == len(set(alive))
            own = placing.registers.get(layer.output)
            read = {placing.roots[v] for v in layer.inputs} - {placing.roots[layer.output]}
            reads = [placing.registers.get(root) for root in read]
            assert own is None or own not in reads


@pytest.fixture
def small(device: str) -> Iterator[Network]:
    with open_network(small_net(), device=device) as network:
        network.register("small_net_of_tests")
        yield network


def chain(picture: compute.Buffer, out: compute.Buffer) -> compute.Pipeline:
    ready, scores = compute.scratch((1, 16, 16, 3), "f32"), compute.scratch((1, 7), "f32")
    levels = {"size": (16, 16), "layout": "nhwc", "normalize": False}
    pipeline = compute.pipeline()
    pipeline.add({"kernel": "preprocess", "inputs": [picture], "output": ready, "params": levels})
    pipeline.add({"kernel": "small_net_of_tests", "inputs": [ready], "output": scores})
    return pipeline.add({"kernel": "softmax", "inputs": [scores], "output": out})


def test_a_network_is_a_kernel_by_its_name(small: Network, device: str) -> None:
    photo = np.random.default_rng(1).integers(0, 256, (24, 32, 3)).astype("u1")
    out = compute.buffer_zeros((1, 7))
    pipeline = chain(compute.from_array(photo), out)
    pipeline.run()
    ready = compute.buffer_zeros((1, 16, 16, 3))
    levels = {"size": (16, 16), "layout": "nhwc", "normalize": False}
    compute.run_kernel("preprocess", [compute.from_array(photo)], ready, levels)
    (scores,) = small.run(np.round(ready.read() * 255).astype("u1"))
    wanted = np.exp(scores) / np.exp(scores).sum()
    assert np.allclose(out.read(), wanted, atol=1e-4)
    assert "small_net_of_tests" in pipeline.explain()


def test_the_plan_lists_what_a_network_dispatches(
    monkeypatch: pytest.MonkeyPatch, registry: None
) -> None:
    """Counted where a run binds its dispatches."""
    runs: list[int] = []
    bind = GpuExecutable._bind

    def count(self: GpuExecutable, *arguments: Any) -> Any:
        bound = bind(self, *arguments)
        runs.append(len(bound))
        return bound

    monkeypatch.setattr(GpuExecutable, "_bind", count)
    with open_network(small_net(), device="webgpu") as network, dala.use("webgpu"):
        network.register("small_net_of_tests")
        out = compute.buffer_zeros((1, 7))
        pipeline = chain(compute.from_array(IMAGE[0]), out)
        text, plan = pipeline.explain(), pipeline._prepared().executable.plan
        pipeline.run()
    assert runs == [steps_told(text)] == [steps_planned(plan)], text
    assert steps_planned(plan) > len(plan.passes)


@pytest.mark.usefixtures("registry")
def test_floats_of_0_to_1_stand_for_bytes(device: str) -> None:
    """On both ends, the same as on bytes."""
    case = CASES["quantized"](np.random.default_rng(0))
    with open_network(case.data, device=device) as network:
        network.register("bytes_of_tests")
        given = case.inputs[0]
        levels, floats = compute.buffer_zeros(given.shape, "u8"), compute.buffer_zeros(given.shape)
        compute.run_kernel("bytes_of_tests", [compute.from_array(given)], levels)
        ready = compute.from_array(given.astype("f4") / np.float32(255))
        compute.run_kernel("bytes_of_tests", [ready], floats)
        assert np.abs(levels.read().astype("f4") / 255 - floats.read()).max() <= 1.001 / 255


def test_a_closed_network_is_no_kernel_any_more(small: Network) -> None:
    assert "small_net_of_tests" in compute.kernels()
    small.close()
    small.close()
    assert small.closed and "small_net_of_tests" not in compute.kernels()
    with pytest.raises(ModelError, match="has been closed"):
        small.run(IMAGE)


@pytest.mark.webgpu
def test_a_pipeline_with_a_network_is_one_submit_without_a_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with dala.use("webgpu") as gpu, open_network(small_net(), device="webgpu") as network:
        assert isinstance(gpu, WebGpuDevice)
        network.register("small_net_of_tests")
        out = compute.buffer_zeros((1, 7))
        pipeline = chain(compute.from_array(np.zeros((24, 32, 3), "u1")), out)
        pipeline.run()  # compiled, weights and sizes are there
        counted = {"submit": 0, "read": 0}
        recorder, staging = gpu.queue.recorder, gpu.staging
        submit, begin_read = recorder.submit_shared, staging.begin_read

        def count_submit() -> None:
            counted["submit"] += 1
            submit()

        def count_read(*args: Any) -> Any:
            counted["read"] += 1
            return begin_read(*args)

        monkeypatch.setattr(recorder, "submit_shared", count_submit)
        monkeypatch.setattr(staging, "begin_read", count_read)
        pipeline.run()
        assert counted == {"submit": 1, "read": 0}
        assert out.read().sum() == pytest.approx(1, abs=1e-4)
        compute.synchronize()


def test_what_does_not_fit_a_network_is_refused(small: Network, device: str) -> None:
    image, out = compute.from_array(IMAGE), compute.buffer_zeros((1, 7))
    with pytest.raises(ShapeError, match="expected input 0 as image: uint8"):
        compute.run_kernel("small_net_of_tests", [compute.buffer_zeros((1, 8, 8, 3), "u8")], out)
    with pytest.raises(DTypeError, match="expected input 0 of u8, got s32"):
        compute.run_kernel("small_net_of_tests", [compute.buffer_zeros((1, 16, 16, 3), "s32")], out)
    with pytest.raises(ParameterError, match="there are 1 outputs, got 1"):
        compute.run_kernel("small_net_of_tests", [image], out, {"output": 1})
    with pytest.raises(ShapeError, match=r"expected an output of \(1, 7\)"):
        compute.run_kernel("small_net_of_tests", [image], compute.buffer_zeros((1, 9)))
    compute.run_kernel("small_net_of_tests", [image], out)
    assert np.allclose(out.read(), small.run(IMAGE)[0], atol=1e-6)


@pytest.mark.webgpu
def test_a_network_of_another_device_is_refused() -> None:
    with dala.use("webgpu"), open_network(small_net(), device="reference") as network:
        network.register("small_net_of_tests")
        with pytest.raises(DeviceError, match="was loaded for reference"):
            compute.run_kernel(
                "small_net_of_tests", [compute.from_array(IMAGE)], compute.buffer_zeros((1, 7))
            )
    with dala.use("reference"), open_network(small_net(), device="webgpu") as network:
        network.register("small_net_of_tests")
        with pytest.raises(DeviceError, match="was loaded for webgpu"):
            compute.run_kernel(
                "small_net_of_tests", [compute.from_array(IMAGE)], compute.buffer_zeros((1, 7))
            )


def alive(kind: type) -> int:
    gc.collect()
    # not isinstance, which asks strangers for their __class__: some warn of that
    return sum(type(thing) is kind for thing in gc.get_objects())


@pytest.mark.webgpu
def test_runs_leave_nothing_behind_and_closing_gives_the_weights_back() -> None:
    before = alive(GpuArray)
    with dala.use("webgpu"), open_network(small_net(), device="webgpu") as network:
        network.register("small_net_of_tests")
        image, out = compute.from_array(IMAGE), compute.buffer_zeros((1, 7))
        for _ in range(3):
            network.run(IMAGE)
            compute.run_kernel("small_net_of_tests", [image], out)
        arrays, memories = alive(GpuArray), alive(Memory)
        for _ in range(20):
            network.run(IMAGE)
            compute.run_kernel("small_net_of_tests", [image], out)
        assert alive(GpuArray) <= arrays and alive(Memory) <= memories
        assert arrays > before + 10  # the weights
        compute.synchronize()
        image.close()
        out.close()
    assert alive(GpuArray) <= before


# -- real weights ----------------------------------------------------------------------------------

MODELS = os.environ.get("DALA_MODELS", "")
FILES = sorted(Path(MODELS).glob("*.onnx")) if MODELS else []
SIZES = {"deeplab": (200, 300), "ssdlite": (120, 160), "posenet": (129, 161)}


@pytest.mark.skipif(not FILES, reason="8 real models: set DALA_MODELS to their folder")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("device", ["reference", "webgpu"], ids=["meaning", "gpu"])
def test_real_models_agree_with_onnx_runtime(file: Path, device: str) -> None:
    with open_network(file, device="cpu") as runtime, open_network(file, device=device) as ours:
        (spec,) = runtime.inputs
        size = next((s for name, s in SIZES.items() if name in file.stem), spec.shape[1:3])
        rng = np.random.default_rng(7)
        smooth = rng.random((1, 5, 5, 3)).repeat(size[0] // 5 + 1, 1).repeat(size[1] // 5 + 1, 2)
        picture = smooth[:, : size[0], : size[1]]
        given = (picture * 255).astype("u1") if spec.dtype == np.uint8 else picture.astype("f4")
        for a, b in zip(runtime.run(given), ours.run(given), strict=True):
            if a.dtype == np.int64:
                assert (a == b).mean() >= 0.999
            elif a.dtype == np.uint8:
                assert np.abs(a.astype(int) - b.astype(int)).max() <= 1
            else:
                assert np.abs(a - b).max() <= 1e-4 * np.abs(a).max()


@pytest.mark.skipif(not FILES, reason="8 real models: set DALA_MODELS to their folder")
def test_a_large_picture_needs_little_memory() -> None:
    """DeepLab at 513 × 513 keeps a gigabyte if every value has memory of its own."""
    (file,) = (f for f in FILES if "deeplab" in f.stem)
    program = lower_model(read_model(file.read_bytes()), [(1, 513, 513, 3)], "deeplab")
    held = sum(w.nbytes for layer in program.layers for w in layer.weights)
    outside = sum(4 * program.values[v].count for v in (*program.inputs, *program.outputs))
    assert sum(place_values(program).sizes) + held + outside <= 150e6


@pytest.mark.webgpu
def test_a_picture_on_the_gpu_is_not_brought_to_main_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "small.onnx"
    file.write_bytes(small_net())
    photo = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)
    with dala.use("webgpu") as gpu, ml.load_model(file, "webgpu", decode="classes") as model:
        assert isinstance(gpu, WebGpuDevice)
        wanted = model.predict_frame(photo, top=7)
        picture = compute.from_array(photo)
        model.predict_frame(picture)  # compiled
        moved: list[str] = []
        upload, begin_read = gpu.upload, gpu.staging.begin_read_run
        monkeypatch.setattr(gpu, "upload", lambda *a: (moved.append("up"), upload(*a)))
        monkeypatch.setattr(
            gpu.staging, "begin_read_run", lambda *a: (moved.append("down"), begin_read(*a))[1]
        )
        recorder = gpu.queue.recorder
        submit = recorder.submit_shared
        monkeypatch.setattr(recorder, "submit_shared", lambda: (moved.append("submit"), submit()))
        found = model.predict_frame(picture, top=7)
        # the seven scores; sampled, computed and copied in one command buffer
        assert moved == ["down", "submit"]
        assert [c.index for c in found] == [c.index for c in wanted]
        assert [c.score for c in found] == pytest.approx([c.score for c in wanted], abs=1e-5)


@pytest.mark.webgpu
@pytest.mark.parametrize("busy", [False, True])
def test_windows_of_a_picture_are_one_kept_run(monkeypatch: pytest.MonkeyPatch, busy: bool) -> None:
    """Other numbers, the same dispatches: of pictures that nobody is at work on nothing is bound anew."""
    form = ml.InputForm(16, 16, "letterbox", dtype="u8", fill=9.0)
    photo = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)
    windows = [None, (3.0, 5.0, 40.0, 30.0), (10.0, 0.0, 60.0, 40.0)]
    monkeypatch.setattr("dala.ml.tensors.is_busy", lambda _: busy)
    with dala.use("webgpu") as gpu, open_network(small_net(), device="webgpu") as network:
        assert isinstance(gpu, WebGpuDevice)
        picture = take_image(compute.from_array(photo), who="a test")

        def look(window: Any) -> np.ndarray:
            (found,) = network.run_on(sample_tensor(picture, form, window)[0], form.shape)
            return found

        tensors = [np.asarray(sample_tensor(picture, form, window)[0]) for window in windows]
        wanted = [network.run(tensor.reshape(form.shape))[0] for tensor in tensors]
        for _ in range(2):  # landings alternate
            look(None)
        bound: list[object] = []
        bind = gpu.gpu.create_bind_group
        monkeypatch.setattr(
            gpu.gpu, "create_bind_group", lambda **how: (bound.append(how), bind(**how))[1]
        )
        found = [look(window) for window in (*windows, *windows)]
        assert np.array_equal(found, [*wanted, *wanted])
        assert not np.array_equal(wanted[0], wanted[1]) and not np.array_equal(wanted[1], wanted[2])
        assert busy or not bound


@pytest.mark.webgpu
def test_a_picture_of_another_size_compiles_no_network_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "small.onnx"
    file.write_bytes(small_net())
    photos = [np.full((40 + k, 60, 3), 20 * k, np.uint8) for k in range(4)]
    with dala.use("webgpu"), ml.load_model(file, "webgpu", decode="classes") as model:
        wanted = [model.predict_frame(photo, top=7) for photo in photos]
        model.predict_frame(compute.from_array(photos[0]))
        emitted: list[object] = []
        shaders = Compiler.shaders
        monkeypatch.setattr(
            Compiler, "shaders", lambda self: (emitted.append(self), shaders(self))[1]
        )
        found = [model.predict_frame(compute.from_array(photo), top=7) for photo in photos]
    assert not emitted
    for ours, theirs in zip(found, wanted, strict=True):
        assert [c.score for c in ours] == pytest.approx([c.score for c in theirs], abs=1e-5)


@pytest.mark.webgpu
def test_pictures_that_come_round_are_bound_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the frames of a film do: whatever memory the results go to meanwhile."""
    file = tmp_path / "small.onnx"
    file.write_bytes(small_net())
    with dala.use("webgpu"), ml.load_model(file, "webgpu", decode="classes") as model:
        ring = [compute.from_array(np.full((40, 60, 3), 20 * k, np.uint8)) for k in range(11)]
        found = [[model.predict_frame(picture) for picture in ring] for _ in range(2)]
        bound: list[object] = []
        monkeypatch.setattr(Dispatch, "bind", lambda self, *_: bound.append(self))
        found.append([model.predict_frame(picture) for picture in ring])
    assert not bound
    assert found[0] == found[1] == found[2]
