"""Surfaces: drawing commands as bytes, a render thread, pixels, windows.

    surface.py    what a user holds         drawing.py    the drawing calls, each a command
    command.py    the protocol: encode      decode.py     and decode; opcodes.py its table, many.py arrays
    renderer.py   queue and render thread   receipt.py    what a caller gets for work done later
    canvas.py     frames, clip, batches     atlas.py      sprites and images
    raster/       spans, compiled           tiles/        the same on a GPU
    display.py    windows or notebooks      shown.py      what both know of a surface
    frame.py      one picture               picture_file.py   PNG, JPEG, WebP
    window.py     a window                  quad.py       a frame onto it
    glfw_window.py    GLFW's own            undisturbed.py    where no signal and no closing comes
    shaders.py    compute shaders           computing.py  their calls; wgsl.py measures a stranger's text
    check.py      foreign bytes             limits.py     why a number is refused
    pixels.py     pixels as users have them
    clipped.py    what begins outside       report.py     errors sixty times a second
    functions.py  methods as functions
    path.py       paths; svg_path.py SVG    paint.py      gradients and patterns
    inking.py     anti-aliased calls        ink_command.py   as bytes; ink_many.py arrays, ink_fields.py
    ink.py        what ink needs of Python  text_pictures.py   texts as pictures
    steps.py      a game's steps in time      gamepads.py   what its players hold

    call → encode → record ─ queue → render thread → raster → back frame ─ present → front frame → window

The functions are the API of the seeds: ``gpu.clear(surface, color)`` is ``surface.clear(color)``.
"""

from __future__ import annotations

from typing import Literal

from dala.gpu import command
from dala.gpu.drawing import Recorder
from dala.gpu.functions import as_function, surface_of
from dala.gpu.gamepads import Gamepad
from dala.gpu.paint import ConicGradient, LinearGradient, Pattern, RadialGradient
from dala.gpu.path import Path
from dala.gpu.receipt import Receipt
from dala.gpu.steps import FixedStep
from dala.gpu.surface import Surface

batch = as_function(Surface.batch)
blit = as_function(Surface.blit)
blits = as_function(Surface.blits)
clear = as_function(Surface.clear)
destroy_surface = as_function(Surface.close)
dispatch_compute = as_function(Surface.dispatch_compute)
draw_circle = as_function(Surface.draw_circle)
draw_circles = as_function(Surface.draw_circles)
draw_image = as_function(Surface.draw_image)
draw_line = as_function(Surface.draw_line)
draw_lines = as_function(Surface.draw_lines)
draw_round_rect = as_function(Surface.draw_round_rect)
draw_round_rects = as_function(Surface.draw_round_rects)
draw_sprite = as_function(Surface.draw_sprite)
draw_sprites = as_function(Surface.draw_sprites)
draw_text = as_function(Surface.draw_text)
draw_triangle = as_function(Surface.draw_triangle)
draw_triangles = as_function(Surface.draw_triangles)
fill_circle = as_function(Surface.fill_circle)
fill_circles = as_function(Surface.fill_circles)
fill_discs = as_function(Surface.fill_discs)
fill_ellipse = as_function(Surface.fill_ellipse)
fill_ellipses = as_function(Surface.fill_ellipses)
fill_path = as_function(Surface.fill_path)
fill_polygon = as_function(Surface.fill_polygon)
fill_polygons = as_function(Surface.fill_polygons)
fill_rect = as_function(Surface.fill_rect)
fill_rects = as_function(Surface.fill_rects)
fill_round_rect = as_function(Surface.fill_round_rect)
fill_round_rects = as_function(Surface.fill_round_rects)
fill_triangle = as_function(Surface.fill_triangle)
fill_triangles = as_function(Surface.fill_triangles)
get_pixels = as_function(Surface.get_pixels)
layer = as_function(Surface.layer)
load_image = as_function(Surface.load_image)
load_shader = as_function(Surface.load_shader)
load_sprite = as_function(Surface.load_sprite)
pop_layer = as_function(Surface.pop_layer)
pop_transform = as_function(Surface.pop_transform)
present = as_function(Surface.present)
push_layer = as_function(Surface.push_layer)
push_transform = as_function(Surface.push_transform)
read_pixels = as_function(Surface.read_pixels)
remove_image = as_function(Surface.remove_image)
remove_sprite = as_function(Surface.remove_sprite)
reset_clip = as_function(Surface.reset_clip)
resize_surface = as_function(Surface.resize)
save = as_function(Surface.save)
set_clip = as_function(Surface.set_clip)
set_pixels = as_function(Surface.set_pixels)
set_uniform = as_function(Surface.set_uniform)
show = as_function(Surface.show)
stroke_circles = as_function(Surface.stroke_circles)
stroke_ellipse = as_function(Surface.stroke_ellipse)
stroke_line = as_function(Surface.stroke_line)
stroke_lines = as_function(Surface.stroke_lines)
stroke_path = as_function(Surface.stroke_path)
submit = as_function(Surface.submit)
transformed = as_function(Surface.transformed)
with_pixels = as_function(Surface.with_pixels)

__all__ = [
    "ConicGradient", "FixedStep", "Gamepad", "LinearGradient", "Path", "Pattern", "RadialGradient",
    "Receipt", "Recorder", "Surface", "batch", "blit", "blits", "clear", "command", "create_surface",
    "destroy_surface", "dispatch_compute", "draw_circle", "draw_circles", "draw_image", "draw_line",
    "draw_lines", "draw_round_rect", "draw_round_rects", "draw_sprite", "draw_sprites", "draw_text",
    "draw_triangle", "draw_triangles", "fill_circle", "fill_circles", "fill_discs", "fill_ellipse",
    "fill_ellipses", "fill_path", "fill_polygon", "fill_polygons", "fill_rect", "fill_rects",
    "fill_round_rect", "fill_round_rects", "fill_triangle", "fill_triangles", "get_pixels",
    "height", "layer", "load_image", "load_shader", "load_sprite", "pop_layer", "pop_transform",
    "present", "push_layer", "push_transform", "read_pixels", "remove_image", "remove_sprite",
    "reset_clip", "resize_surface", "save", "set_clip", "set_pixels", "set_uniform", "show",
    "stroke_circles", "stroke_ellipse", "stroke_line", "stroke_lines", "stroke_path", "submit",
    "supports_compute", "transformed", "width", "with_pixels",
]  # fmt: skip


def create_surface(
    width: int,
    height: int,
    *,
    blend: Literal["over", "replace"] = "over",
    device: str | None = None,
) -> Surface:
    """A new surface, transparent at first. ``blend="replace"`` paints without blending.

    ``device="webgpu"`` draws on the GPU, and everything stays there until somebody asks for pixels; without
    a name the CPU draws, and compute shaders run on the default device if that is a GPU.

    >>> from dala import gpu
    >>> surface = gpu.create_surface(320, 200)
    >>> gpu.clear(surface, "navy")
    >>> gpu.present(surface).wait()
    >>> gpu.destroy_surface(surface)
    """
    return Surface(width, height, blend=blend, device=device)


def width(surface: Surface) -> int:
    """Pixels in a row.

    >>> from dala import gpu
    >>> gpu.width(gpu.create_surface(320, 200))
    320
    """
    return surface_of(surface, "width").width


def height(surface: Surface) -> int:
    """Rows of pixels.

    >>> from dala import gpu
    >>> gpu.height(gpu.create_surface(320, 200))
    200
    """
    return surface_of(surface, "height").height


def supports_compute(surface: Surface) -> bool:
    """Whether WGSL compute shaders can run on this surface's pixels.

    >>> from dala import gpu
    >>> gpu.supports_compute(gpu.create_surface(8, 8, device="cpu"))
    False
    """
    return surface_of(surface, "supports_compute").supports_compute


def __dir__() -> list[str]:
    return sorted(__all__)
