"""The drawing calls: each encodes a command and records it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dala.colors import Color
from dala.gpu import command
from dala.gpu.ink_command import Filter
from dala.gpu.inking import Inking
from dala.gpu.pixels import Pixels


class Drawing(Inking):
    """What can be drawn. A Surface draws it; a Recorder keeps it for a batch."""

    def __init__(self, record: Callable[[bytes], None]) -> None:
        self._record = record

    # -- one primitive -----------------------------------------------------------------------------

    def clear(self, color: Color = "black") -> None:
        """Fill the whole surface, whatever the clip; colours replace what was there.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.clear("#102030")
        ...     surface.read_pixels(0, 0, 1, 1).tolist()
        [[[16, 32, 48, 255]]]
        """
        self._record(command.encode_clear(color))

    def fill_rect(self, x: int, y: int, w: int, h: int, color: Color) -> None:
        """A rectangle of w × h pixels with its left top pixel at (x, y).

        >>> from dala import gpu
        >>> with gpu.create_surface(4, 1) as surface:
        ...     surface.fill_rect(-1, 0, 3, 1, "red")
        ...     surface.read_pixels(0, 0, 4, 1)[0, :, 0].tolist()
        [255, 255, 0, 0]
        """
        self._record(command.encode_fill_rect(x, y, w, h, color))

    def draw_line(self, x1: int, y1: int, x2: int, y2: int, color: Color) -> None:
        """A line of single pixels, both ends included (Bresenham).

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 3) as surface:
        ...     surface.draw_line(0, 0, 2, 2, "red")
        ...     surface.read_pixels(0, 0, 3, 3)[..., 0].tolist()
        [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
        """
        self._record(command.encode_draw_line(x1, y1, x2, y2, color))

    def draw_circle(self, cx: int, cy: int, radius: int, color: Color) -> None:
        """The outline of a circle about a pixel; a radius of 0 is that pixel.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 3) as surface:
        ...     surface.draw_circle(1, 1, 1, "red")
        ...     surface.read_pixels(0, 0, 3, 3)[..., 0].tolist()
        [[0, 255, 0], [255, 0, 255], [0, 255, 0]]
        """
        self._record(command.encode_draw_circle(cx, cy, radius, color))

    def fill_circle(self, cx: int, cy: int, radius: int, color: Color) -> None:
        """A disc about a pixel: the circle and what is in it.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 3) as surface:
        ...     surface.fill_circle(1, 1, 1, "red")
        ...     surface.read_pixels(0, 0, 3, 3)[..., 0].tolist()
        [[0, 255, 0], [255, 255, 255], [0, 255, 0]]
        """
        self._record(command.encode_fill_circle(cx, cy, radius, color))

    def draw_triangle(
        self, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, color: Color
    ) -> None:
        """The outline of a triangle: three lines, corners painted once.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 3) as surface:
        ...     surface.draw_triangle(0, 0, 2, 0, 0, 2, "red")
        ...     surface.read_pixels(0, 0, 3, 3)[..., 0].tolist()
        [[255, 255, 255], [255, 255, 0], [255, 0, 0]]
        """
        self._record(command.encode_draw_triangle(x1, y1, x2, y2, x3, y3, color))

    def fill_triangle(
        self, x1: int, y1: int, x2: int, y2: int, x3: int, y3: int, color: Color
    ) -> None:
        """A triangle: the pixels whose centre is inside, or on a left or a top edge. Triangles that
        share an edge share no pixel.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 3) as surface:
        ...     surface.fill_triangle(0, 0, 3, 0, 0, 3, "red")
        ...     surface.read_pixels(0, 0, 3, 3)[..., 0].tolist()
        [[255, 255, 255], [255, 255, 0], [255, 0, 0]]
        """
        self._record(command.encode_fill_triangle(x1, y1, x2, y2, x3, y3, color))

    def draw_round_rect(self, x: int, y: int, w: int, h: int, radius: int, color: Color) -> None:
        """The outline of a rectangle with round corners.

        >>> from dala import gpu
        >>> with gpu.create_surface(4, 4) as surface:
        ...     surface.draw_round_rect(0, 0, 4, 4, 1, "red")
        ...     surface.read_pixels(0, 0, 4, 2)[..., 0].tolist()
        [[0, 255, 255, 0], [255, 0, 0, 255]]
        """
        self._record(command.encode_draw_round_rect(x, y, w, h, radius, color))

    def fill_round_rect(self, x: int, y: int, w: int, h: int, radius: int, color: Color) -> None:
        """A rectangle with round corners; the radius is as large as the sides allow.

        >>> from dala import gpu
        >>> with gpu.create_surface(4, 4) as surface:
        ...     surface.fill_round_rect(0, 0, 4, 4, 1, "red")
        ...     surface.read_pixels(0, 0, 4, 2)[..., 0].tolist()
        [[0, 255, 255, 0], [255, 255, 255, 255]]
        """
        self._record(command.encode_fill_round_rect(x, y, w, h, radius, color))

    # -- the clip ----------------------------------------------------------------------------------

    def set_clip(self, x: int, y: int, w: int, h: int, enabled: bool = True) -> None:
        """Paint only inside a rectangle from now on, in later frames too.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.set_clip(1, 0, 1, 1)
        ...     surface.fill_rect(0, 0, 3, 1, "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [0, 255, 0]
        """
        self._record(command.encode_set_clip(x, y, w, h, enabled))

    def reset_clip(self) -> None:
        """Paint everywhere again.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.set_clip(1, 0, 1, 1); surface.reset_clip(); surface.clear("black")
        ...     surface.fill_rect(0, 0, 3, 1, "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 255, 255]
        """
        self._record(command.encode_reset_clip())

    # -- pictures ----------------------------------------------------------------------------------

    def load_image(
        self, image_id: int, pixels: Pixels, width: int | None = None, height: int | None = None
    ) -> None:
        """Keep an image under a number: RGBA bytes with their size, an array, or a PIL image.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 2) as surface:
        ...     surface.load_image(1, bytes([255, 0, 0, 255]), 1, 1)
        ...     surface.draw_image(1, 0, 0, 2, 2)
        ...     surface.read_pixels(0, 0, 2, 2)[..., 0].tolist()
        [[255, 255], [255, 255]]
        """
        self._record(command.encode_load_image(image_id, pixels, width, height))

    def draw_image(
        self,
        image_id: int,
        x: float,
        y: float,
        w: float,
        h: float,
        *,
        rotation: float = 0.0,
        opacity: float = 1.0,
        crop: Sequence[int] | None = None,
        tint: Color | None = None,
        filter: Filter | None = None,
    ) -> None:
        """An image, or the part ``crop`` (x, y, w, h) of it, scaled to w × h pixels (bilinear) and blended;
        turned clockwise about its middle by degrees. At whole pixels and without anything else it is scaled
        exactly; otherwise its edges are anti-aliased.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.load_image(1, bytes([0, 0, 0, 255, 255, 0, 0, 255]), 2, 1)
        ...     surface.draw_image(1, 0, 0, 4, 1)
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 0].tolist()
        [0, 64]
        """
        plain = not rotation and opacity == 1 and crop is None and tint is None and filter is None
        if plain and not any(isinstance(v, float) for v in (x, y, w, h)):
            self._record(command.encode_draw_image(image_id, x, y, w, h))  # type: ignore[arg-type]
        else:
            self._record(
                command.encode_draw_picture(
                    image_id, x, y, w, h, rotation=rotation, opacity=opacity, crop=crop, tint=tint,
                    filter=filter or "bilinear",
                )
            )  # fmt: skip

    def remove_image(self, image_id: int) -> None:
        """Forget an image.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.load_image(1, bytes(4), 1, 1)
        ...     surface.remove_image(1)
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 0].tolist()
        [0, 0]
        """
        self._record(command.encode_remove_image(image_id))

    def load_sprite(
        self, sprite_id: int, pixels: Pixels, width: int | None = None, height: int | None = None
    ) -> None:
        """Put a sprite into the atlas, under a number.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.load_sprite(7, bytes([255, 0, 0, 255]), 1, 1)
        ...     surface.blit(7, 1, 0)
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [0, 255, 0]
        """
        self._record(command.encode_load_sprite(sprite_id, pixels, width, height))

    def blit(self, sprite_id: int, x: int, y: int) -> None:
        """A sprite, pixel for pixel, blended.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.load_sprite(1, bytes([255, 0, 0, 255]), 1, 1)
        ...     surface.blit(1, 2, 0)
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [0, 0, 255]
        """
        self._record(command.encode_blit(sprite_id, x, y))

    def remove_sprite(self, sprite_id: int) -> None:
        """Take a sprite out of the atlas; its place is used again.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.load_sprite(1, bytes(4), 1, 1)
        ...     surface.remove_sprite(1)
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 0].tolist()
        [0, 0]
        """
        self._record(command.encode_remove_sprite(sprite_id))

    # -- many at once ------------------------------------------------------------------------------

    def fill_rects(self, rects: object, colors: object) -> None:
        """Rectangles (N, 4) of x, y, w, h; one colour, or an array (N, 4) of them.

        >>> import numpy as np
        >>> from dala import gpu
        >>> with gpu.create_surface(4, 1) as surface:
        ...     surface.fill_rects(np.array([[0, 0, 1, 1], [2, 0, 2, 1]]), "red")
        ...     surface.read_pixels(0, 0, 4, 1)[0, :, 0].tolist()
        [255, 0, 255, 255]
        """
        self._record(command.encode_fill_rects(rects, colors))

    def draw_lines(self, lines: object, colors: object) -> None:
        """Lines (N, 4) of x1, y1, x2, y2.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.draw_lines([[0, 0, 1, 0]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 255, 0]
        """
        self._record(command.encode_draw_lines(lines, colors))

    def draw_circles(self, circles: object, colors: object) -> None:
        """Outlines of circles (N, 3) of cx, cy, radius.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.draw_circles([[1, 0, 1]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 0, 255]
        """
        self._record(command.encode_draw_circles(circles, colors))

    def fill_circles(self, circles: object, colors: object) -> None:
        """Discs (N, 3) of cx, cy, radius.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.fill_circles([[1, 0, 1]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 255, 255]
        """
        self._record(command.encode_fill_circles(circles, colors))

    def draw_triangles(self, triangles: object, colors: object) -> None:
        """Outlines of triangles (N, 6) of x1, y1, x2, y2, x3, y3.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.draw_triangles([[0, 0, 1, 0, 0, 1]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 255, 0]
        """
        self._record(command.encode_draw_triangles(triangles, colors))

    def fill_triangles(self, triangles: object, colors: object) -> None:
        """Triangles (N, 6) of x1, y1, x2, y2, x3, y3.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.fill_triangles([[0, 0, 2, 0, 0, 2]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 255, 0]
        """
        self._record(command.encode_fill_triangles(triangles, colors))

    def draw_round_rects(self, rects: object, colors: object) -> None:
        """Outlines of rounded rectangles (N, 5) of x, y, w, h, radius.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.draw_round_rects([[0, 0, 3, 3, 1]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [0, 255, 0]
        """
        self._record(command.encode_draw_round_rects(rects, colors))

    def fill_round_rects(self, rects: object, colors: object) -> None:
        """Rounded rectangles (N, 5) of x, y, w, h, radius.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.fill_round_rects([[0, 0, 3, 3, 1]], "red")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [0, 255, 0]
        """
        self._record(command.encode_fill_round_rects(rects, colors))

    def blits(self, ids: object, positions: object) -> None:
        """Sprites by their numbers (N) at positions (N, 2).

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.load_sprite(1, bytes([255, 0, 0, 255]), 1, 1)
        ...     surface.blits([1, 1], [[0, 0], [2, 0]])
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [255, 0, 255]
        """
        self._record(command.encode_blits(ids, positions))


class Recorder(Drawing):
    """Drawing calls kept as commands, for a batch or another process.

    >>> from dala import gpu
    >>> recorder = gpu.Recorder()
    >>> recorder.clear("red"); recorder.fill_circle(5, 5, 3, "white")
    >>> len(recorder), len(bytes(recorder))
    (2, 22)
    """

    def __init__(self) -> None:
        self.commands: list[bytes] = []
        super().__init__(self.commands.append)

    def __len__(self) -> int:
        return len(self.commands)

    def __bytes__(self) -> bytes:
        return b"".join(self.commands)
