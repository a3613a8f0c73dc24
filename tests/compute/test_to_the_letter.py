"""What the seeds say to the letter, and what is said to whoever gives something else."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from skimage import data

import dala
from dala import compute, gpu, media
from dala.backends import auto
from dala.compute import facts
from dala.compute.commands import submit_command
from dala.errors import (
    ArgumentError,
    CommandCancelledError,
    CommandError,
    CommandTimeoutError,
    DTypeError,
    KernelNotFoundError,
    ShaderError,
    ShapeWarning,
)

LONG = 300.0  # seconds


# -- arrays ------------------------------------------------------------------------------------


def test_the_bridge_has_the_types_of_nx() -> None:
    """Nx.tensor([1.0, 2.0]) is f32, Nx.tensor([1, 2]) is s64."""
    assert compute.from_array([1.0, 2.0, 3.0, 4.0, 5.0]).dtype == "f32"
    assert compute.from_array([[1, 2], [3, 4]]).dtype == "s64"
    assert compute.from_array(1.5).dtype == "f32"
    assert compute.from_array(np.array([1.0])).dtype == "f64"  # it says what it is
    x = compute.from_array(np.array([-1.0, 2.0]), dtype="f32")
    out = compute.buffer_zeros((2,), "f32")
    compute.relu(x, out)
    assert compute.to_array(out, (2,), "f32").tolist() == [0.0, 2.0]
    assert compute.from_array(x, "s32").dtype == "s32"
    with pytest.raises(DTypeError, match="does not fit into u8"):
        compute.from_array([1.5], "u8")


def test_width_and_height_in_the_wrong_order_are_noticed() -> None:
    photo = np.ascontiguousarray(data.coffee())  # 400 rows of 600
    raw = photo.tobytes()
    with pytest.warns(
        ShapeWarning, match=r"\(600, 400, 3\) do not fit .* as \(400, 600, 3\) they do"
    ):
        compute.buffer_from_binary(raw, (600, 400, 3))
    noise = np.random.default_rng(1).integers(0, 256, (60, 80, 4), np.uint8).tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute.buffer_from_binary(raw, (400, 600, 3))
        compute.buffer_from_binary(np.rot90(photo).tobytes(), (600, 400, 3))  # upright
        compute.buffer_from_binary(noise, (80, 60, 4))
        compute.buffer_from_binary(bytes(640 * 480 * 4), (640, 480, 4))  # nobody can tell
        compute.buffer_from_binary(bytes(24), (2, 3, 4))
        compute.buffer_from_binary(raw, (len(raw),))


# -- devices -----------------------------------------------------------------------------------


def test_whether_there_is_a_gpu_does_not_depend_on_what_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = auto.best_real_gpu()[0] is not None
    for device in ("cpu", "reference"):
        with dala.use(device):
            assert compute.has_gpu() is real
    monkeypatch.setattr(facts, "best_real_gpu", lambda: (object(), "there is one"))
    with dala.use("cpu"):
        assert compute.has_gpu()
        assert compute.device_info()["gpu"] is False


def test_every_device_has_limits(device: str) -> None:
    limits = compute.device_info()["limits"]
    assert isinstance(limits, dict)
    assert limits["max-buffer-size"] >= 2**27


# -- pipelines ---------------------------------------------------------------------------------


def test_a_pipeline_of_its_own() -> None:
    a, b = compute.buffer([-1.0, 2.0]), compute.buffer_zeros((2,))
    pipeline = compute.Pipeline()
    pipeline.add({"kernel": "relu", "inputs": [a], "output": b}).run()
    assert compute.read_list(b) == [0.0, 2.0]


def test_every_stage_has_every_key() -> None:
    a, b = compute.buffer([-1.0, 2.0]), compute.buffer_zeros((2,))
    pipeline = compute.pipeline().add({"op": "copy_buffer", "inputs": [a], "output": b})
    pipeline.add({"op": "barrier"}).add({"kernel": "relu", "inputs": [a], "output": b})
    keys = {"op", "kernel", "inputs", "output", "params"}
    assert all(set(stage) == keys for stage in pipeline.stages)
    barrier = pipeline.stages[1]
    assert barrier == {"op": "barrier", "kernel": None, "inputs": [], "output": None, "params": {}}
    again = compute.pipeline()
    for stage in pipeline.stages:  # what is told can be told again
        again.add(stage)
    assert again.stages == pipeline.stages


# -- commands ----------------------------------------------------------------------------------


class Held:
    """A command that has begun and waits, and one behind it that has not."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.done: list[str] = []
        self.data, self.other = compute.buffer([1.0]), compute.buffer([1.0])
        self.first = self.submit("first", self.hold, writes=self.data)
        assert self.begun.wait(LONG)

    def hold(self) -> None:
        self.begun.set()
        assert self.go.wait(LONG)
        self.done.append("first")

    def submit(self, name: str, run: object, writes: compute.Buffer) -> compute.Command:
        return submit_command(
            name, run, [self.data, writes], reads=(), writes=(0, 1), stream=None, inline=False
        )  # type: ignore[arg-type]


def test_what_has_not_begun_can_be_cancelled() -> None:
    held = Held()
    second = held.submit("second", lambda: held.done.append("second"), held.other)
    out = compute.buffer_zeros((1,))
    reader = compute.run_kernel_async("relu", [held.other], out)
    later = held.submit("later", lambda: held.done.append("later"), held.other)
    assert second.cancel() and second.cancel()
    assert not held.first.cancel()  # it has begun
    held.go.set()
    held.first.wait(LONG)
    with pytest.raises(CommandCancelledError, match="cancelled before it began"):
        second.wait(LONG)
    assert second.status == "failed" and compute.poll(second.id) == "failed"
    with pytest.raises(CommandError, match="its input was never written"):
        reader.wait(LONG)
    later.wait(LONG)  # order alone passes no failure on
    assert held.done == ["first", "later"]
    assert not later.cancel()


@pytest.mark.parametrize("wrong", ["soon", float("nan"), True, [1], 1j])
def test_a_timeout_is_a_number(wrong: object) -> None:
    held = Held()
    with pytest.raises(ArgumentError, match="a timeout is a number of seconds or None"):
        compute.wait(held.first, wrong)  # type: ignore[arg-type]
    with pytest.raises(CommandTimeoutError, match=r"not done after 0.01 s"):
        compute.wait(held.first, np.float32(0.01))
    held.go.set()
    compute.wait(held.first, np.int64(int(LONG)))


def test_numbers_out_of_arrays_name_commands() -> None:
    a = compute.buffer([1.0])
    command = compute.submit({"kernel": "relu", "inputs": [a], "output": a})
    compute.wait(np.int64(command.id))  # type: ignore[arg-type]
    assert compute.poll(np.uint32(command.id)) == "completed"  # type: ignore[arg-type]
    for wrong in (1.5, "x", True, None):
        with pytest.raises(CommandError, match="expected a command or its number"):
            compute.poll(wrong)  # type: ignore[arg-type]


# -- surfaces ----------------------------------------------------------------------------------


def test_filters_on_a_surface() -> None:
    with gpu.create_surface(6, 4, device="cpu") as surface:
        surface.fill_rect(0, 0, 3, 4, "white")  # not presented
        turned = media.invert(surface)
        assert isinstance(turned, gpu.Surface) and (turned.width, turned.height) == (6, 4)
        pixels = np.asarray(turned)
        assert pixels[0, 0].tolist() == [0, 0, 0, 255]
        assert pixels[0, 5].tolist() == [255, 255, 255, 0]
        assert surface.read_pixels(0, 0, 1, 1).tolist() == [[[255, 255, 255, 255]]]
        small = media.resize(surface, 3)
        assert (small.width, small.height) == (3, 2)
        for made in (turned, small):
            made.close()


def test_an_image_of_fractions_on_a_surface(device: str) -> None:
    out = compute.buffer_zeros((20, 30, 4), "f32")
    with gpu.create_surface(30, 20) as surface:
        compute.run_to_surface("generate_gradient", [], out, surface)
        got = surface.read_pixels(0, 0, 30, 20)
    assert np.abs(got - out.read() * 255).max() <= 0.51
    out.read()  # it is still the caller's


def test_bytes_with_their_size_and_a_value() -> None:
    raw = np.full((480, 640, 4), (180, 120, 60, 255), np.uint8).tobytes()
    stronger = media.saturation(raw, 640, 480, 0.3)
    assert stronger == media.saturation(raw, 640, 480, value=0.3)
    assert len(stronger) == len(raw) and stronger != raw


@pytest.mark.webgpu
def test_a_shader_that_is_wrong_is_refused_where_it_is_given() -> None:
    wrong = "@compute @workgroup_size(1) fn main() { let x: i32 = 1.5; }"
    with gpu.create_surface(4, 4, device="webgpu") as surface:
        with pytest.raises(ShaderError):
            gpu.dispatch_compute(surface, wrong)
        with pytest.raises(ShaderError):
            surface.load_shader("mine", wrong)
        surface.load_shader("mine", "@compute @workgroup_size(1) fn main() {}")
        surface.dispatch_compute("mine")
        surface.present().wait(LONG)  # and the surface lives on


@pytest.mark.parametrize(
    "call",
    [
        lambda: gpu.clear(5, "red"),  # type: ignore[arg-type]
        lambda: gpu.destroy_surface(None),  # type: ignore[arg-type]
        lambda: gpu.width("x"),  # type: ignore[arg-type]
        lambda: gpu.present(5),  # type: ignore[arg-type]
        lambda: gpu.supports_compute(5),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_surface(call: object) -> None:
    with pytest.raises(ArgumentError, match=r"expected a surface .*, got (int|NoneType|str)"):
        call()  # type: ignore[operator]


def test_other_things_in_wrong_places() -> None:
    with gpu.create_surface(4, 4) as surface:
        with pytest.raises(ArgumentError, match="batch: expected a list of commands"):
            gpu.batch(surface, 5)  # type: ignore[arg-type]
        gpu.load_sprite(surface, np.int64(3), bytes(16), np.int32(2), 2)  # type: ignore[arg-type]
        gpu.blit(surface, np.uint8(3), np.int16(1), 1)  # type: ignore[arg-type]
        recorder = gpu.Recorder()
        gpu.clear(recorder, "red")  # a recorder draws, too
        surface.batch(recorder).wait(LONG)
    with pytest.raises(KernelNotFoundError, match="named by a string, got int"):
        compute.unregister(5)  # type: ignore[arg-type]
