"""Surfaces: drawing commands as bytes, a render thread, pixels, windows.

    surface.py    what a user holds         drawing.py    the drawing calls, each a command
    command.py    the protocol: encode      decode.py     and decode; opcodes.py its table, many.py arrays
    renderer.py   queue and render thread   receipt.py    what a caller gets for work done later
    canvas.py     frames, clip, batches     atlas.py      sprites and images
    raster/       spans, compiled           display.py    windows, notebooks, files
    frame.py      one picture               picture_file.py   PNG, JPEG, WebP
    window.py     a window                  quad.py       a frame onto it
    shaders.py    compute shaders           computing.py  their calls; wgsl.py measures a stranger's text
    check.py      foreign bytes             limits.py     why a number is refused
    pixels.py     pixels as users have them
    clipped.py    what begins outside       report.py     errors sixty times a second
    path.py       paths; svg_path.py SVG    paint.py      gradients and patterns
    inking.py     anti-aliased calls        ink_command.py   as bytes; ink_many.py arrays, ink_fields.py
    ink.py        what ink needs of Python

    call → encode → record ─ queue → render thread → raster → back frame ─ present → front frame → window

The functions are the API of the seeds: ``gpu.clear(surface, color)`` is ``surface.clear(color)``.
"""

from __future__ import annotations

from typing import Literal

from dala.gpu import command
from dala.gpu.drawing import Recorder
from dala.gpu.paint import ConicGradient, LinearGradient, Pattern, RadialGradient
from dala.gpu.path import Path
from dala.gpu.receipt import Receipt
from dala.gpu.surface import Surface

batch = Surface.batch
blit = Surface.blit
blits = Surface.blits
clear = Surface.clear
destroy_surface = Surface.close
dispatch_compute = Surface.dispatch_compute
draw_circle = Surface.draw_circle
draw_circles = Surface.draw_circles
draw_image = Surface.draw_image
draw_line = Surface.draw_line
draw_lines = Surface.draw_lines
draw_round_rect = Surface.draw_round_rect
draw_round_rects = Surface.draw_round_rects
draw_sprite = Surface.draw_sprite
draw_sprites = Surface.draw_sprites
draw_triangle = Surface.draw_triangle
draw_triangles = Surface.draw_triangles
fill_circle = Surface.fill_circle
fill_circles = Surface.fill_circles
fill_discs = Surface.fill_discs
fill_ellipse = Surface.fill_ellipse
fill_ellipses = Surface.fill_ellipses
fill_path = Surface.fill_path
fill_polygon = Surface.fill_polygon
fill_polygons = Surface.fill_polygons
fill_rect = Surface.fill_rect
fill_rects = Surface.fill_rects
fill_round_rect = Surface.fill_round_rect
fill_round_rects = Surface.fill_round_rects
fill_triangle = Surface.fill_triangle
fill_triangles = Surface.fill_triangles
get_pixels = Surface.get_pixels
layer = Surface.layer
load_image = Surface.load_image
load_shader = Surface.load_shader
load_sprite = Surface.load_sprite
pop_layer = Surface.pop_layer
pop_transform = Surface.pop_transform
present = Surface.present
push_layer = Surface.push_layer
push_transform = Surface.push_transform
read_pixels = Surface.read_pixels
remove_image = Surface.remove_image
remove_sprite = Surface.remove_sprite
reset_clip = Surface.reset_clip
resize_surface = Surface.resize
save = Surface.save
set_clip = Surface.set_clip
set_pixels = Surface.set_pixels
set_uniform = Surface.set_uniform
show = Surface.show
stroke_circles = Surface.stroke_circles
stroke_ellipse = Surface.stroke_ellipse
stroke_line = Surface.stroke_line
stroke_lines = Surface.stroke_lines
stroke_path = Surface.stroke_path
submit = Surface.submit
transformed = Surface.transformed
with_pixels = Surface.with_pixels

__all__ = [
    "ConicGradient", "LinearGradient", "Path", "Pattern", "RadialGradient", "Receipt", "Recorder",
    "Surface", "batch", "blit", "blits", "clear", "command", "create_surface", "destroy_surface",
    "dispatch_compute", "draw_circle", "draw_circles", "draw_image", "draw_line", "draw_lines",
    "draw_round_rect", "draw_round_rects", "draw_sprite", "draw_sprites", "draw_triangle",
    "draw_triangles", "fill_circle", "fill_circles", "fill_discs", "fill_ellipse",
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
    return surface.width


def height(surface: Surface) -> int:
    """Rows of pixels.

    >>> from dala import gpu
    >>> gpu.height(gpu.create_surface(320, 200))
    200
    """
    return surface.height


def supports_compute(surface: Surface) -> bool:
    """Whether WGSL compute shaders can run on this surface's pixels.

    >>> from dala import gpu
    >>> gpu.supports_compute(gpu.create_surface(8, 8, device="cpu"))
    False
    """
    return surface.supports_compute
