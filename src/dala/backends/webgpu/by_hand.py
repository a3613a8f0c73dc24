"""Shaders that are files of WGSL: compiled once for each GPU, bound to arrays in their order, given words.

HandShader   the pipeline, and the layout of what is bound to it
BindGroups   groups of memories that were bound lately
room_for_words, send_words   numbers for a shader, in memory of the pool
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from dala.backends.webgpu import pipelines
from dala.backends.webgpu.faults import mapped
from dala.backends.webgpu.memory import GpuArray
from dala.backends.webgpu.pipelines import CompiledShader as HandShader
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U32
from dala.leaving import native

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

__all__ = ["BindGroups", "HandShader", "hand_shader", "room_for_words", "send_words"]

KEPT_GROUPS = 32
LEAST_WORDS = 1 << 12  # sizes are powers of two, so that memory is used again


def hand_shader(
    device: WebGpuDevice,
    key: Hashable,
    what: str,
    make: Callable[[], tuple[str, int]],
    written: Collection[int],
) -> HandShader:
    """The shader of that key, compiled when it is first asked for; ``make`` gives its text and how many
    arrays it is bound to, of which it writes some. ``what`` is what errors say it is for."""  # fmt: skip
    with mapped(what, device=device), native:
        return device.pipelines.get_by_hand(key, what, make, written)


class BindGroups(pipelines.BindGroups):
    """Groups of memories that were bound lately. For one thread at a time."""

    def __init__(self, device: WebGpuDevice) -> None:
        super().__init__(device.gpu, KEPT_GROUPS)


def room_for_words(device: WebGpuDevice, count: int) -> GpuArray:
    """Memory for so many numbers of 32 bits."""
    room = 1 << (max(count, LEAST_WORDS) - 1).bit_length()
    return device.allocate(ArrayType((room,), U32))


def send_words(device: WebGpuDevice, words: npt.NDArray[Any]) -> GpuArray:
    """Numbers of 32 bits on their way to the GPU, in an array with room for them."""
    array = room_for_words(device, words.nbytes // 4)
    device.staging.upload(array.memory, words)
    return array
