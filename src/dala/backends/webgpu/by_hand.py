"""Shaders that are files of WGSL: compiled once for each GPU, bound to arrays in their order, given words.

HandShader   the pipeline, and the layout of what is bound to it
BindGroups   groups of memories that were bound lately
room_for_words, send_words   numbers for a shader, in memory of the pool
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

from dala import forking
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray, Memory
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32
from dala.leaving import native
from dala.once import OnceByKey

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

KEPT_SHADERS = 16  # of a GPU
KEPT_GROUPS = 32
LEAST_WORDS = 1 << 12  # sizes are powers of two, so that memory is used again


class HandShader(NamedTuple):
    """A compute shader on one GPU."""

    pipeline: Any
    layout: Any


_by_device: weakref.WeakKeyDictionary[Any, OnceByKey[Hashable, HandShader]] = (
    weakref.WeakKeyDictionary()
)
_lock = forking.lock()


def hand_shader(
    device: WebGpuDevice,
    key: Hashable,
    what: str,
    make: Callable[[], tuple[str, int]],
    written: Collection[int],
) -> HandShader:
    """The shader of that key, compiled when it is first asked for; ``make`` gives its text and how many
    arrays it is bound to, of which it writes some. ``what`` is what errors say it is for."""  # fmt: skip
    with _lock:
        shaders = _by_device.setdefault(device, OnceByKey(KEPT_SHADERS))
    return shaders.get(key, lambda: compile_shader(device, what, *make(), written))


def compile_shader(
    device: WebGpuDevice, what: str, text: str, count: int, written: Collection[int]
) -> HandShader:
    """A shader of such a text, that nobody shares."""
    gpu = device.gpu
    entries = [
        {
            "binding": number,
            "visibility": "COMPUTE",
            "buffer": {"type": "storage" if number in written else "read-only-storage"},
        }
        for number in range(count)
    ]
    with mapped(what, text, device), native:
        bound = gpu.create_bind_group_layout(entries=entries)
        module = gpu.create_shader_module(code=text)
        made = gpu.create_compute_pipeline(
            layout=gpu.create_pipeline_layout(bind_group_layouts=[bound]),
            compute={"module": module, "entry_point": "main"},
        )
    return HandShader(made, bound)


class BindGroups:
    """What was bound lately. For one thread at a time."""

    def __init__(self, device: WebGpuDevice) -> None:
        self._device = device
        self._groups: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def get(self, shader: HandShader, memories: Sequence[Memory]) -> Any:
        """These memories, bound in their order."""
        key = (shader.layout, *(m.serial for m in memories))
        found = self._groups.get(key)
        if found is None:
            entries = [
                {"binding": i, "resource": {"buffer": m.buffer, "offset": 0, "size": m.bytes}}
                for i, m in enumerate(memories)
            ]
            found = self._device.gpu.create_bind_group(layout=shader.layout, entries=entries)
            self._groups[key] = found
            while len(self._groups) > KEPT_GROUPS:
                self._groups.popitem(last=False)
        else:
            self._groups.move_to_end(key)
        return found

    def clear(self) -> None:
        """Let go of all."""
        self._groups.clear()


def room_for_words(device: WebGpuDevice, count: int) -> GpuArray:
    """Memory for so many numbers of 32 bits."""
    room = 1 << (max(count, LEAST_WORDS) - 1).bit_length()
    return device.allocate(ArrayType((room,), U32))


def send_words(device: WebGpuDevice, words: npt.NDArray[Any]) -> GpuArray:
    """Numbers of 32 bits on their way to the GPU, in an array with room for them."""
    array = room_for_words(device, words.nbytes // 4)
    device.staging.upload(array.memory, words)
    return array
