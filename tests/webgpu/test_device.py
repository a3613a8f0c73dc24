"""What only this device does: limits, timing, failure, and a new device after a lost one."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from pipelines_apart import pixels

import dala
from dala import compute
from dala.backends.auto import open_device
from dala.backends.webgpu import pipelines, shader
from dala.backends.webgpu.adapters import find_adapters
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.execute import Dispatch
from dala.backends.webgpu.record import NativeRecorder, Recorder, make_recorder
from dala.backends.webgpu.shader import Shader
from dala.compute import Buffer
from dala.compute.engine import Engine, engine_for
from dala.errors import (
    CommandError,
    DalaError,
    DeviceLostError,
    ShaderError,
    UnsupportedError,
)
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, F64, U8

pytestmark = pytest.mark.webgpu


# -- passes that do not fit --------------------------------------------------------------------


def run_chain(device: WebGpuDevice, source: np.ndarray) -> tuple[np.ndarray, int]:
    engine = Engine(device)

    def buffer(data: np.ndarray) -> Buffer:
        storage = device.allocate(ArrayType(data.shape, U8))
        device.upload(storage, data)
        return Buffer(engine, storage.type, storage)

    a, out = buffer(source), buffer(np.zeros_like(source))
    p = compute.Pipeline(engine)
    stages = [("blur", {"radius": 3}), ("sharpen", {}), ("blur", {"radius": 2}), ("invert", {})]
    last = a
    for number, (kernel, params) in enumerate(stages):
        target = out if number == 3 else compute.scratch(source.shape, "u8")
        p.add({"kernel": kernel, "inputs": [last], "output": target, "params": params})
        last = target
    p.run()
    executable = p._prepared().executable
    return out.read(), sum(isinstance(s, Dispatch) for s in executable.steps)


@pytest.mark.parametrize("shape", [(70, 301, 4), (40, 256, 4), (3, 2, 4)], ids=str)
def test_less_workgroup_memory_means_more_passes_and_the_same_picture(
    own: WebGpuDevice, shape: tuple[int, ...]
) -> None:
    source = pixels(shape)
    whole, few = run_chain(own, source)
    counts = [few]
    for most in (16_384, 4_096, 1_024):
        own.limits["max-compute-workgroup-storage-size"] = most
        parts, count = run_chain(own, source)
        counts.append(count)
        np.testing.assert_allclose(parts.astype(int), whole.astype(int), atol=1)
        assert np.count_nonzero(parts != whole) <= max(2, whole.size // 1000)
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_more_arrays_than_a_shader_may_bind(own: WebGpuDevice) -> None:
    engine = Engine(own)
    own.limits["max-storage-buffers-per-shader-stage"] = 8  # four, in two forms each
    data = pixels((9, 12, 4))
    source = own.allocate(ArrayType(data.shape, U8))
    own.upload(source, data)
    a = Buffer(engine, source.type, source)
    outs = [Buffer(engine, source.type, own.allocate(source.type)) for _ in range(9)]
    p = compute.Pipeline(engine)
    for number, out in enumerate(outs):
        params = {"value": number / 20}
        p.add({"kernel": "brightness", "inputs": [a], "output": out, "params": params})
    p.run()
    for number, out in enumerate(outs):
        want = np.rint(np.clip(data[..., :3] / 255 + number / 20, 0, 1) * 255)
        assert np.abs(out.read()[..., :3] - want).max() <= 1


@pytest.mark.parametrize("shape", [(700, 1, 4), (1501, 2), (900, 132, 4)], ids=str)
@pytest.mark.parametrize("kernel", ["vignette", "blur"])
def test_images_of_more_rows_than_a_dispatch_has(
    own: WebGpuDevice, kernel: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of workgroups beyond the limit go on along the third axis; here the limit is 5."""
    monkeypatch.setattr(shader, "MOST_GROUPS", 5)
    data = pixels(shape)
    params: dict[str, object] = {"radius": 2} if kernel == "blur" else {}
    results, groups = [], []
    for engine in (Engine(own), engine_for(dala.device("reference"))):
        type_ = ArrayType(shape, U8)
        a, out = (Buffer(engine, type_, engine.device.allocate(type_)) for _ in range(2))
        a.write(data)
        p = compute.Pipeline(engine)
        p.add({"kernel": kernel, "inputs": [a], "output": out, "params": params}).run()
        steps = getattr(p._prepared().executable, "steps", [])
        groups += [s.shader.groups for s in steps if isinstance(s, Dispatch)]
        results.append(out.read().astype(int))
    assert max(z for _, _, z in groups) > 1  # it was cut
    assert np.abs(results[0] - results[1]).max() <= 1


def test_an_image_too_wide_is_refused_with_the_numbers(
    own: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shader, "MOST_GROUPS", 2)
    engine, type_ = Engine(own), ArrayType((2, 4000, 4), U8)
    a = Buffer(engine, type_, own.allocate(type_))
    p = compute.Pipeline(engine).add({"kernel": "vignette", "inputs": [a], "output": a})
    with pytest.raises(
        UnsupportedError, match=r"^vignette: an image 4000 pixels wide is more than 512 "
    ):
        p.run()


@pytest.mark.parametrize("number", [1, 2])
def test_another_adapter(number: int) -> None:
    """Another GPU, or another way to the same one (GL): what it has works, the rest is refused."""
    if number >= len(find_adapters()):
        pytest.skip("there is no other")
    data = pixels((37, 130, 4))
    with dala.use(f"webgpu:{number}") as device:
        out = compute.buffer_zeros(data.shape, "u8")
        compute.run_kernel("blur", [compute.from_array(data)], out, {"radius": 3})
        got = out.read()
        if F64 not in device.dtypes:
            with pytest.raises(UnsupportedError, match=rf"^webgpu:{number}: .* has no f64 "):
                compute.buffer_zeros((3,), "f64")
    with dala.use("webgpu"):
        out = compute.buffer_zeros(data.shape, "u8")
        compute.run_kernel("blur", [compute.from_array(data)], out, {"radius": 3})
        assert np.abs(out.read().astype(int) - got).max() <= 1


# -- runs --------------------------------------------------------------------------------------


def test_a_run_is_one_submit(gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    a = compute.from_array(pixels((40, 64, 4)))
    out = compute.buffer_zeros(a.shape, "u8")
    total = compute.buffer_zeros((1,))
    floats = compute.buffer(np.ones(50_000, np.float32))
    p = compute.pipeline()
    p.add({"kernel": "blur", "inputs": [a], "output": out, "params": {"radius": 2}})
    p.add({"kernel": "reduce_sum", "inputs": [floats], "output": total})
    p.run()
    submits = []
    recorder = gpu.queue.recorder
    original = recorder.submit_shared
    monkeypatch.setattr(recorder, "submit_shared", lambda: submits.append(1) or original())
    p.run()
    assert submits == [1]
    assert total.read().tolist() == [50_000]


def test_both_ways_to_record_are_one(own: WebGpuDevice) -> None:
    assert isinstance(
        own.queue.recorder, NativeRecorder
    )  # or wgpu-py has changed: then this is news
    source = pixels((33, 64, 4))
    quick, _ = run_chain(own, source)
    own.queue.recorder = Recorder(own.gpu)
    slow, _ = run_chain(own, source)
    np.testing.assert_array_equal(quick, slow)


def test_what_an_interrupted_call_left_behind_is_cleared(
    own: WebGpuDevice, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C between wgpu-py's two lines leaves an error slot open: ours must still be found."""
    from wgpu.backends.wgpu_native._api import error_handler

    recorder = NativeRecorder(own.gpu)
    depth = len(error_handler._get_proxy_stack())
    recorder._capture()
    error_handler.capture("a call that never came back")
    recorder._check()
    assert len(error_handler._get_proxy_stack()) == depth
    recorder._capture()  # nor did ours
    recorder._capture()
    recorder._check()
    assert len(error_handler._get_proxy_stack()) == depth
    recorder._check()  # and again, before anything was begun
    recorder.share([])
    recorder.submit_shared()
    assert len(error_handler._get_proxy_stack()) == depth
    assert "out of sync" not in caplog.text + capfd.readouterr().err


def test_without_the_private_parts_the_public_way_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    from wgpu.backends.wgpu_native import _api

    monkeypatch.delattr(_api, "error_handler")
    assert type(make_recorder(object())) is Recorder


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("way", [NativeRecorder, Recorder])
def test_an_error_while_recording_is_raised_before_the_submit(
    own: WebGpuDevice, gpu: WebGpuDevice, way: type, caplog: pytest.LogCaptureFixture
) -> None:
    """wgpu-native ends the process if it is handed a command buffer with an error in it."""
    own.queue.recorder = way(own.gpu)
    engine = Engine(own)
    type_ = ArrayType((4,), F32)
    a = Buffer(engine, type_, own.allocate(type_))
    p = compute.Pipeline(engine).add({"kernel": "relu", "inputs": [a], "output": a})
    p.run()
    own.gpu.destroy()
    for _ in range(3):
        with pytest.raises(DalaError):
            p.run()
    assert own.lost
    b = compute.buffer([-1.0, 2.0])  # another device is none the worse for it
    compute.relu(b, b)
    assert compute.read_list(b) == [0, 2]
    assert "out of sync" not in caplog.text


def test_new_values_never_recompile(gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    a = compute.from_array(pixels((40, 64, 4)))
    out = compute.buffer_zeros(a.shape, "u8")
    p = compute.pipeline().add({"kernel": "brightness", "inputs": [a], "output": out})
    p.run()

    def refuse(self: pipelines.PipelineCache, work: Shader) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(pipelines.PipelineCache, "get", refuse)
    for value in (0.1, -0.2, 0.3):
        p.set_params(0, value=value)
        p.run()
        want = np.rint(np.clip(a.read()[..., :3] / 255 + value, 0, 1) * 255)
        assert np.abs(out.read()[..., :3] - want).max() <= 1


def test_another_size_reuses_the_shader(gpu: WebGpuDevice) -> None:
    def blur(shape: tuple[int, ...]) -> None:
        a = compute.from_array(pixels(shape))
        compute.run_kernel("blur", [a], compute.buffer_zeros(shape, "u8"), {"radius": 6})

    blur((40, 64, 4))
    known = len(gpu.pipelines._pipelines)
    blur((52, 128, 4))
    assert len(gpu.pipelines._pipelines) == known


def test_gpu_time(gpu: WebGpuDevice) -> None:
    a = compute.from_array(pixels((200, 300, 4)))
    out = compute.buffer_zeros(a.shape, "u8")
    command = compute.run_kernel_async("blur", [a], out, {"radius": 3})
    command.wait()
    if gpu.timers is None:
        assert command.gpu_ms is None
        return
    assert command.gpu_ms is not None
    assert 0 < command.gpu_ms < 60_000
    assert command.gpu_ms == command.gpu_ms


def test_gpu_time_counts_ticks_of_any_length(
    gpu: WebGpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tick is 1 ns on some GPUs, 10 or 83 ns on others."""
    if gpu.timers is None:
        pytest.skip("no timestamps here")
    a = compute.from_array(pixels((200, 300, 4)))
    command = compute.run_kernel_async("invert", [a], a)
    command.wait()
    short = command.gpu_ms
    assert short is not None
    assert gpu.timers.tick_ns > 0
    monkeypatch.setattr(gpu.timers, "tick_ns", gpu.timers.tick_ns * 10)
    assert command.gpu_ms == pytest.approx(10 * short)


def test_gpu_time_is_forgotten_after_many_runs(gpu: WebGpuDevice) -> None:
    if gpu.timers is None:
        pytest.skip("no timestamps here")
    a = compute.buffer([1.0])
    command = compute.run_kernel_async("relu", [a], a)
    command.wait()
    gpu.timers.newest += 2000
    assert command.gpu_ms is None


def test_the_cpu_has_no_gpu_time() -> None:
    with dala.use("cpu"):
        a = compute.buffer([1.0])
        command = compute.run_kernel_async("relu", [a], a)
        command.wait()
        assert command.gpu_ms is None


# -- failure -----------------------------------------------------------------------------------


def test_a_bad_shader_names_kernel_wgsl_and_the_users_line(
    own: WebGpuDevice, registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dala.kernel
    def doubtful(src):  # type: ignore[no-untyped-def]
        return src[0, 0]

    original = pipelines.PipelineCache.get

    def spoil(self: pipelines.PipelineCache, work: Shader) -> object:
        return original(self, replace(work, text=work.text.replace("let x0 =", "let x0 = nope +")))

    monkeypatch.setattr(pipelines.PipelineCache, "get", spoil)
    engine = engine_for(own)
    b = Buffer(engine, ArrayType((4, 4, 4), U8), own.allocate(ArrayType((4, 4, 4), U8)))
    p = compute.Pipeline(engine).add({"kernel": doubtful, "inputs": [b], "output": b})
    with pytest.raises(ShaderError) as caught:
        p.run()
    text = str(caught.value)
    assert text.startswith("doubtful: the driver refuses the shader: ")
    assert "nope" in text
    assert "let x0 = nope +" in text  # the line of WGSL
    line = doubtful.function.__code__.co_firstlineno
    assert f"kernel 'doubtful': \"{__file__}\", line {line}" in text


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """wgpu logs a lost device by itself."""
    logging.getLogger("wgpu").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("wgpu").setLevel(logging.NOTSET)


@pytest.mark.usefixtures("quiet")
def test_a_lost_device_and_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from dala.backends import auto

    monkeypatch.setattr(auto, "_devices", {})
    with dala.use("webgpu") as first:
        assert isinstance(first, WebGpuDevice)
        a = compute.buffer([-1.0, 2.0])
        compute.relu(a, a)
        first.gpu.destroy()
        with pytest.raises(DeviceLostError, match=r"^relu: the GPU was lost; open it again with"):
            compute.relu(a, a)
        with pytest.raises(CommandError, match=r"its input was never written: .* the GPU was lost"):
            a.read()
        assert (
            compute.buffer_zeros((77, 3)).engine.device is not first
        )  # the default is opened again
    with dala.use("webgpu") as second:
        assert second is not first
        assert not second.lost
        b = compute.buffer([-1.0, 2.0])
        compute.relu(b, b)
        assert compute.read_list(b) == [0, 2]
    assert open_device("webgpu") is second


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_is_told_so() -> None:
    text = """
        import os, warnings
        warnings.simplefilter("ignore")
        import dala
        from dala import compute
        dala.use("webgpu")
        a = compute.buffer([4.0])
        compute.run_kernel("sqrt", [a], a)
        child = os.fork()
        if child == 0:
            try:
                compute.run_kernel("sqrt", [a], a)
            except dala.errors.DeviceError as error:
                os._exit(0 if "'spawn'" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print(compute.read_list(a))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[2.0]\n"), done.stderr


def test_the_default_is_opened_again_when_it_was_lost() -> None:
    with dala.use("webgpu") as device:
        a = compute.buffer([1.0, 2.0])
        device.lost = True
        b = compute.buffer([-1.0, 2.0])
        assert compute.read_list(compute.relu(b, b) or b) == [0.0, 2.0]
        assert b.engine.device is not device and b.engine.device.name == device.name
        with pytest.raises(DalaError, match="the GPU was lost"):
            a.read()
