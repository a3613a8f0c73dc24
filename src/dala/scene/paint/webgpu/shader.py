"""The shaders of scenes, from the .wgsl files beside this one.

tiles     records, covering, sampling, blending: a run's layers onto a canvas
prepare   pictures multiplied by their alpha and reduced, within the textures
planes    a canvas as Y, U and V
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Literal

from dala.backends.webgpu.by_hand import HandShader, hand_shader
from dala.scene.paint.webgpu import layout

if TYPE_CHECKING:
    from dala.backends.webgpu.device import WebGpuDevice

Name = Literal["tiles", "prepare", "planes"]
_CONSTANTS = (
    "TILE", "ROWS", "THREADS", "SOLID", "STRAIGHT", "SAMPLED", "PLANAR", "OVER", "ADD", "SUBTRACT",
    "MULTIPLY", "SCREEN", "OVERLAY", "DARKEN", "LIGHTEN", "DIFFERENCE", "SOFT_LIGHT", "HARD_LIGHT",
    "MIX", "OPAQUE", "CLIPPED", "HIDES", "KEEP", "FILL",
)  # fmt: skip
_FILES: dict[Name, tuple[str, ...]] = {
    "tiles": ("records", "covering", "sampling", "blending", "tiles"),
    "prepare": ("prepare",),
    "planes": ("records", "planes"),
}
# how many arrays each is bound to, and which of them it writes
_BOUND: dict[Name, tuple[int, int]] = {"tiles": (3, 0), "prepare": (2, 0), "planes": (4, 3)}


def shader_text(name: Name) -> str:
    """One of the three."""
    numbers = [f"const {n} = {getattr(layout, n)}u;" for n in _CONSTANTS]
    home = resources.files("dala.scene.paint.webgpu")
    files = [(home / f"{file}.wgsl").read_text(encoding="utf-8") for file in _FILES[name]]
    return "\n".join(["\n".join(numbers), *files])


def shader(device: WebGpuDevice, name: Name) -> HandShader:
    """One of the three on a GPU, compiled when it is first needed."""
    count, written = _BOUND[name]

    def make() -> tuple[str, int]:
        return shader_text(name), count

    return hand_shader(device, ("scene", name), "painting a scene", make, (written,))
