"""The binary protocol of surfaces: pure functions on bytes.

A command is one byte, its opcode, and its fields: little-endian integers of 32 or 64 bits, colours as
four bytes RGBA, pixels as w·h·4 bytes, texts and data as a length of 32 bits and so many bytes
(opcodes.py has the table).

    encode_*       one command each; what lies left of the surface or above it is clipped where the wire
                   is unsigned. encode_*s (many.py) takes arrays of primitives.
    encode(c)      any decoded command
    decode(data)   bytes → commands, or a ProtocolError that names the opcode and the offset

>>> from dala.gpu import command
>>> command.encode_clear("red").hex()
'01ff0000ff'
>>> command.decode(command.encode_draw_circle(5, -6, 7, "white"))
[Command(op=<Op.DRAW_CIRCLE: 13>, fields=(5, -6, 7, b'\\xff\\xff\\xff\\xff'))]
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy.typing as npt

from dala.colors import Color, rgba
from dala.errors import ArgumentError, ParameterError
from dala.gpu.clipped import clip_rect, clip_round_rect
from dala.gpu.decode import Command, count_commands, decode
from dala.gpu.ink_command import (
    encode_draw_picture,
    encode_draw_sprite,
    encode_fill_ellipse,
    encode_fill_path,
    encode_fill_polygon,
    encode_ink_version,
    encode_pop_layer,
    encode_pop_transform,
    encode_push_layer,
    encode_push_transform,
    encode_stroke_ellipse,
    encode_stroke_line,
    encode_stroke_path,
)
from dala.gpu.ink_fields import body_bytes
from dala.gpu.ink_many import (
    encode_draw_sprites,
    encode_fill_discs,
    encode_fill_ellipses,
    encode_fill_polygons,
    encode_stroke_circles,
    encode_stroke_lines,
)
from dala.gpu.limits import check_size, refusal
from dala.gpu.many import (
    encode_blits,
    encode_draw_circles,
    encode_draw_lines,
    encode_draw_round_rects,
    encode_draw_triangles,
    encode_fill_circles,
    encode_fill_rects,
    encode_fill_round_rects,
    encode_fill_triangles,
)
from dala.gpu.opcodes import FIXED, HEADS, SIZED, Op
from dala.gpu.pixels import Pixels, as_pixel_bytes

__all__ = [
    "Command",
    "Op",
    "color_to_rgba",
    "decode",
    "encode",
    "encode_batch",
    "encode_blit",
    "encode_blits",
    "encode_clear",
    "encode_dispatch_compute",
    "encode_draw_circle",
    "encode_draw_circles",
    "encode_draw_image",
    "encode_draw_line",
    "encode_draw_lines",
    "encode_draw_picture",
    "encode_draw_round_rect",
    "encode_draw_round_rects",
    "encode_draw_sprite",
    "encode_draw_sprites",
    "encode_draw_triangle",
    "encode_draw_triangles",
    "encode_fill_circle",
    "encode_fill_circles",
    "encode_fill_discs",
    "encode_fill_ellipse",
    "encode_fill_ellipses",
    "encode_fill_path",
    "encode_fill_polygon",
    "encode_fill_polygons",
    "encode_fill_rect",
    "encode_fill_rects",
    "encode_fill_round_rect",
    "encode_fill_round_rects",
    "encode_fill_triangle",
    "encode_fill_triangles",
    "encode_image_blit",
    "encode_ink_version",
    "encode_load_image",
    "encode_load_shader",
    "encode_load_sprite",
    "encode_pop_layer",
    "encode_pop_transform",
    "encode_present",
    "encode_push_layer",
    "encode_push_transform",
    "encode_read_pixels",
    "encode_remove_image",
    "encode_remove_sprite",
    "encode_reset_clip",
    "encode_resize",
    "encode_set_clip",
    "encode_set_uniform",
    "encode_stroke_circles",
    "encode_stroke_ellipse",
    "encode_stroke_line",
    "encode_stroke_lines",
    "encode_stroke_path",
]  # fmt: skip

Data: TypeAlias = "bytes | bytearray | memoryview | npt.NDArray[Any]"  # whatever has bytes in it
_clear, _rect, _line = FIXED[Op.CLEAR].pack, FIXED[Op.FILL_RECT].pack, FIXED[Op.DRAW_LINE].pack
_circle, _triangle = FIXED[Op.FILL_CIRCLE].pack, FIXED[Op.FILL_TRIANGLE].pack
_round_rect, _image = FIXED[Op.FILL_ROUND_RECT].pack, FIXED[Op.IMAGE_BLIT].pack
_identity, _blit, _clip = FIXED[Op.REMOVE_SPRITE].pack, FIXED[Op.BLIT].pack, FIXED[Op.SET_CLIP].pack
_DRAW_CIRCLE, _FILL_CIRCLE, _DRAW_LINE = int(Op.DRAW_CIRCLE), int(Op.FILL_CIRCLE), int(Op.DRAW_LINE)
_FILL_RECT = int(Op.FILL_RECT)  # a plain number is packed faster than a member of an enumeration


def encode_clear(color: Color) -> bytes:
    """Fill the whole surface, whatever the clip.

    >>> from dala.gpu import command
    >>> command.encode_clear("red").hex()
    '01ff0000ff'
    """
    return _clear(Op.CLEAR, rgba(color))


def encode_fill_rect(x: int, y: int, w: int, h: int, color: Color) -> bytes:
    """A rectangle of w × h pixels.

    >>> from dala.gpu import command
    >>> command.encode_fill_rect(1, 2, 3, 4, "red").hex()
    '0201000000020000000300000004000000ff0000ff'
    """
    try:
        if x < 0 or y < 0:
            return _rect(_FILL_RECT, *clip_rect(x, y, w, h), rgba(color))
        return _rect(_FILL_RECT, x, y, w, h, rgba(color))
    except (struct.error, TypeError) as error:
        raise refusal("fill_rect", error, x, y, w, h) from error


def encode_draw_line(x1: int, y1: int, x2: int, y2: int, color: Color) -> bytes:
    """A line, both ends included.

    >>> from dala.gpu import command
    >>> command.encode_draw_line(0, 0, 5, -1, "red").hex()
    '03000000000000000005000000ffffffffff0000ff'
    """
    try:
        return _line(_DRAW_LINE, x1, y1, x2, y2, rgba(color))
    except struct.error as error:
        raise refusal("draw_line", error, x1, y1, x2, y2) from error


def encode_draw_circle(cx: int, cy: int, radius: int, color: Color) -> bytes:
    """The outline of a circle about a pixel; a radius of 0 is that pixel.

    >>> from dala.gpu import command
    >>> command.encode_draw_circle(5, 6, 2, "red").hex()
    '0d050000000600000002000000ff0000ff'
    """
    try:
        return _circle(_DRAW_CIRCLE, cx, cy, radius, rgba(color))
    except struct.error as error:
        raise refusal("draw_circle", error, cx, cy, radius) from error


def encode_fill_circle(cx: int, cy: int, radius: int, color: Color) -> bytes:
    """A disc about a pixel; a radius of 0 is that pixel.

    >>> from dala.gpu import command
    >>> command.encode_fill_circle(5, 6, 2, (1, 2, 3)).hex()
    '0e050000000600000002000000010203ff'
    """
    try:
        return _circle(_FILL_CIRCLE, cx, cy, radius, rgba(color))
    except struct.error as error:
        raise refusal("fill_circle", error, cx, cy, radius) from error


def encode_draw_triangle(
    x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, color: Color
) -> bytes:
    """The outline of a triangle: three lines, each without its last pixel.

    >>> from dala.gpu import command
    >>> command.encode_draw_triangle(0, 0, 4, 0, 0, 4, "red").hex()
    '0f000000000000000004000000000000000000000004000000ff0000ff'
    """
    try:
        return _triangle(Op.DRAW_TRIANGLE, x1, y1, x2, y2, x3, y3, rgba(color))
    except struct.error as error:
        raise refusal("draw_triangle", error, x1, y1, x2, y2, x3, y3) from error


def encode_fill_triangle(
    x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, color: Color
) -> bytes:
    """A triangle: the pixels whose centre is inside, or on a left or a top edge.

    >>> from dala.gpu import command
    >>> command.encode_fill_triangle(0, 0, 4, 0, 0, 4, "red").hex()
    '10000000000000000004000000000000000000000004000000ff0000ff'
    """
    try:
        return _triangle(Op.FILL_TRIANGLE, x1, y1, x2, y2, x3, y3, rgba(color))
    except struct.error as error:
        raise refusal("fill_triangle", error, x1, y1, x2, y2, x3, y3) from error


def encode_draw_round_rect(x: int, y: int, w: int, h: int, radius: int, color: Color) -> bytes:
    """The outline of a rounded rectangle.

    >>> from dala.gpu import command
    >>> command.encode_draw_round_rect(1, 2, 9, 8, 3, "red").hex()
    '110100000002000000090000000800000003000000ff0000ff'
    """
    return _encode_round_rect(Op.DRAW_ROUND_RECT, x, y, w, h, radius, color)


def encode_fill_round_rect(x: int, y: int, w: int, h: int, radius: int, color: Color) -> bytes:
    """A rounded rectangle.

    >>> from dala.gpu import command
    >>> command.encode_fill_round_rect(1, 2, 9, 8, 3, "red").hex()
    '120100000002000000090000000800000003000000ff0000ff'
    """
    return _encode_round_rect(Op.FILL_ROUND_RECT, x, y, w, h, radius, color)


def _encode_round_rect(op: Op, x: int, y: int, w: int, h: int, radius: int, color: Color) -> bytes:
    try:
        if x >= 0 and y >= 0:
            return _round_rect(op, x, y, w, h, radius, rgba(color))
        # the wire has no such rectangle: what is left of it is sent as its rows
        _round_rect(op, 0, 0, w, h, radius, b"")
    except (struct.error, TypeError) as error:
        raise refusal(op.name.lower(), error, x, y, w, h, radius) from error
    rows = clip_round_rect(x, y, w, h, radius, filled=op is Op.FILL_ROUND_RECT)
    return encode_batch([encode_fill_rects(rows, color)])


def encode_set_clip(x: int, y: int, w: int, h: int, enabled: bool = True) -> bytes:
    """Paint only inside a rectangle from now on; ``enabled=False`` paints everywhere.

    >>> from dala.gpu import command
    >>> command.encode_set_clip(0, 0, 8, 8).hex()
    '130000000000000000080000000800000001'
    """
    try:
        return _clip(Op.SET_CLIP, *clip_rect(x, y, w, h), bool(enabled))
    except (struct.error, TypeError) as error:
        raise refusal("set_clip", error, x, y, w, h) from error


def encode_reset_clip() -> bytes:
    """Paint everywhere again.

    >>> from dala.gpu import command
    >>> command.encode_reset_clip().hex()
    '14'
    """
    return bytes([Op.RESET_CLIP])


def encode_blit(sprite_id: int, x: int, y: int) -> bytes:
    """A sprite, pixel for pixel, with its left top corner at (x, y).

    >>> from dala.gpu import command
    >>> command.encode_blit(7, -1, 2).hex()
    '040700000000000000ffffffff02000000'
    """
    try:
        return _blit(Op.BLIT, sprite_id, x, y)
    except struct.error as error:
        raise refusal("blit", error, sprite_id, x, y) from error


def encode_draw_image(image_id: int, x: int, y: int, w: int, h: int) -> bytes:
    """An image, scaled to w × h pixels.

    >>> from dala.gpu import command
    >>> command.encode_draw_image(7, 0, 0, 64, 32).hex()
    '16070000000000000000000000000000004000000020000000'
    """
    try:
        return _image(Op.IMAGE_BLIT, image_id, x, y, w, h)
    except struct.error as error:
        raise refusal("draw_image", error, image_id, x, y, w, h) from error


encode_image_blit = encode_draw_image  # the original's name for 0x16


def color_to_rgba(color: Color) -> tuple[int, int, int, int]:
    """A colour's four levels, 0..255.

    >>> from dala.gpu import command
    >>> command.color_to_rgba("gold")
    (255, 215, 0, 255)
    """
    red, green, blue, alpha = rgba(color)
    return red, green, blue, alpha


def encode_load_sprite(
    sprite_id: int, pixels: Pixels, width: int | None = None, height: int | None = None
) -> bytes:
    """Put a sprite into the atlas.

    >>> from dala.gpu import command
    >>> command.encode_load_sprite(7, bytes(4), 1, 1).hex()
    '070700000000000000010000000100000000000000'
    """
    return _encode_load(Op.LOAD_SPRITE, sprite_id, pixels, width, height)


def encode_load_image(
    image_id: int, pixels: Pixels, width: int | None = None, height: int | None = None
) -> bytes:
    """Keep an image under a number.

    >>> from dala.gpu import command
    >>> command.encode_load_image(7, bytes(4), 1, 1).hex()
    '170700000000000000010000000100000000000000'
    """
    return _encode_load(Op.LOAD_IMAGE, image_id, pixels, width, height)


def _encode_load(
    op: Op, identity: int, pixels: Pixels, width: int | None, height: int | None
) -> bytes:
    data, w, h = as_pixel_bytes(pixels, width, height, op.name.lower())
    try:
        return HEADS[op].pack(op, identity, w, h) + data
    except struct.error as error:
        raise refusal(op.name.lower(), error, identity) from error


def encode_remove_sprite(sprite_id: int) -> bytes:
    """Take a sprite out of the atlas.

    >>> from dala.gpu import command
    >>> command.encode_remove_sprite(7).hex()
    '080700000000000000'
    """
    try:
        return _identity(Op.REMOVE_SPRITE, sprite_id)
    except struct.error as error:
        raise refusal("remove_sprite", error, sprite_id) from error


def encode_remove_image(image_id: int) -> bytes:
    """Forget an image.

    >>> from dala.gpu import command
    >>> command.encode_remove_image(7).hex()
    '180700000000000000'
    """
    try:
        return _identity(Op.REMOVE_IMAGE, image_id)
    except struct.error as error:
        raise refusal("remove_image", error, image_id) from error


def encode_present() -> bytes:
    """Show what was drawn.

    >>> from dala.gpu import command
    >>> command.encode_present().hex()
    '05'
    """
    return bytes([Op.PRESENT])


def encode_resize(width: int, height: int) -> bytes:
    """Change the surface's size; what is inside both stays.

    >>> from dala.gpu import command
    >>> command.encode_resize(640, 480).hex()
    '0680020000e0010000'
    """
    check_size(width, height, "resize")
    return FIXED[Op.RESIZE].pack(Op.RESIZE, width, height)


def encode_read_pixels(x: int, y: int, w: int, h: int) -> bytes:
    """Ask for the pixels of a region, as they are after all commands before.

    >>> from dala.gpu import command
    >>> command.encode_read_pixels(0, 0, 2, 2).hex()
    '0a00000000000000000200000002000000'
    """
    check_size(w, h, "read_pixels")
    try:
        return FIXED[Op.READ_PIXELS].pack(Op.READ_PIXELS, x, y, w, h)
    except struct.error as error:
        raise refusal("read_pixels", error, x, y, w, h) from error


def encode_dispatch_compute(
    shader: str, params: Data = b"", workgroups: Sequence[int] = (1, 1, 1)
) -> bytes:
    """Run a compute shader (WGSL text, or the name of a loaded one) on the surface's pixels.

    >>> from dala.gpu import command
    >>> command.encode_dispatch_compute("plasma", b"", (4, 4, 1)).hex()
    '0906000000706c61736d6100000000040000000400000001000000'
    """
    if len(workgroups) != 3:
        raise ParameterError(
            f"dispatch_compute: expected three workgroup counts, got {workgroups!r}"
        )
    try:
        counts = struct.pack("<3I", *workgroups)
    except struct.error as error:
        raise refusal("dispatch_compute", error, *workgroups) from error
    who = "dispatch_compute"
    return bytes([Op.DISPATCH_COMPUTE]) + _text(shader, who) + _data(params, who) + counts


def encode_load_shader(name: str, source: str) -> bytes:
    """Keep a compute shader under a name; loading it again replaces it.

    >>> from dala.gpu import command
    >>> command.encode_load_shader("a", "b").hex()
    '0b01000000610100000062'
    """
    return bytes([Op.LOAD_SHADER]) + _text(name, "load_shader") + _text(source, "load_shader")


def encode_set_uniform(name: str, data: Data) -> bytes:
    """Bytes that shaders read under a name.

    >>> from dala.gpu import command
    >>> command.encode_set_uniform("a", b"1234").hex()
    '0c01000000610400000031323334'
    """
    return bytes([Op.SET_UNIFORM]) + _text(name, "set_uniform") + _data(data, "set_uniform")


def encode_batch(commands: Iterable[bytes]) -> bytes:
    """Several commands as one that is applied whole or not at all.

    >>> from dala.gpu import command
    >>> command.encode_batch([b"\\x05", b"\\x14"]).hex()
    '15020000000514'
    """
    parts = [bytes(c) for c in commands]
    return HEADS[Op.BATCH].pack(Op.BATCH, sum(map(count_commands, parts))) + b"".join(parts)


def encode(command: Command) -> bytes:
    """The bytes of a decoded command.

    >>> from dala.gpu import command
    >>> data = command.encode_fill_rect(1, 2, 3, 4, "red")
    >>> command.encode(command.decode(data)[0]) == data
    True
    """
    op, fields = command
    if op in FIXED:
        return FIXED[op].pack(op, *fields)
    if op in SIZED:
        return bytes([op]) + _block(body_bytes(op, fields))
    if op is Op.BATCH:
        return encode_batch([encode(c) for c in fields])
    if op in HEADS:
        *head, pixels = fields
        return HEADS[op].pack(op, *head) + bytes(pixels)
    data = bytes([op])
    for part in fields[:2]:
        data += _block(part.encode() if isinstance(part, str) else part)
    return data + struct.pack("<3I", *fields[2]) if op is Op.DISPATCH_COMPUTE else data


def _text(text: str, who: str) -> bytes:
    if not isinstance(text, str):
        raise ArgumentError(f"{who}: expected a text, got {type(text).__name__}")
    return _block(text.encode())


def _data(data: Data, who: str) -> bytes:
    try:
        return _block(bytes(memoryview(data)))  # type: ignore[arg-type,unused-ignore]
    except TypeError:
        raise ArgumentError(
            f"{who}: expected bytes or an array, got {type(data).__name__}; struct.pack makes bytes"
        ) from None


def _block(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data
