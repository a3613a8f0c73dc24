"""The drawing calls of ink: each encodes a command and records it (drawing.py has the others)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from dala.colors import Color
from dala.gpu import ink_command, ink_many
from dala.gpu.ink_command import Blend, Cap, Filter, Join, Rule
from dala.gpu.paint import Paint
from dala.gpu.path import Path
from dala.gpu.text_pictures import text_commands


class Inking:
    """Anti-aliased shapes, turned pictures, transforms and layers. Coordinates are floats; (0, 0) is the
    left top corner of the left top pixel."""

    _record: Callable[[bytes], None]

    # -- shapes ------------------------------------------------------------------------------------

    def fill_path(self, path: Path | str, paint: Paint, rule: Rule = "nonzero") -> None:
        """A path (or SVG path text), filled with a colour, a gradient or a pattern.

        >>> from dala import gpu
        >>> with gpu.create_surface(4, 1) as surface:
        ...     surface.fill_path("M0.5 0 H3 V1 H0.5 Z", "red")
        ...     surface.read_pixels(0, 0, 4, 1)[0, :, 3].tolist()
        [128, 255, 255, 0]
        """
        self._record(ink_command.encode_fill_path(path, paint, rule))

    def stroke_path(
        self,
        path: Path | str,
        paint: Paint,
        width: float = 1.0,
        join: Join = "miter",
        cap: Cap = "butt",
        dash: Sequence[float] = (),
        *,
        dash_offset: float = 0.0,
        miter_limit: float = 4.0,
    ) -> None:
        """What a pen of some width leaves along a path; ``dash`` are lengths drawn and left out in turn.

        >>> from dala import gpu
        >>> with gpu.create_surface(6, 1) as surface:
        ...     surface.stroke_path("M0 0.5 H6", "red", 1, dash=[2, 1])
        ...     surface.read_pixels(0, 0, 6, 1)[0, :, 3].tolist()
        [255, 255, 0, 255, 255, 0]
        """
        self._record(
            ink_command.encode_stroke_path(
                path,
                paint,
                width,
                join,
                cap,
                dash,
                dash_offset=dash_offset,
                miter_limit=miter_limit,
            )
        )

    def fill_polygon(self, points: object, paint: Paint, rule: Rule = "nonzero") -> None:
        """A polygon with corners (N, 2).

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.fill_polygon([[0, 0], [2, 0], [0, 1]], "red")
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 3].tolist()
        [191, 64]
        """
        self._record(ink_command.encode_fill_polygon(points, paint, rule))

    def stroke_line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        paint: Paint,
        width: float = 1.0,
        cap: Cap = "butt",
    ) -> None:
        """A line of some width.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 2) as surface:
        ...     surface.stroke_line(0, 1, 2, 1, "red", 1)
        ...     surface.read_pixels(0, 0, 2, 2)[..., 3].tolist()
        [[128, 128], [128, 128]]
        """
        self._record(ink_command.encode_stroke_line(x1, y1, x2, y2, paint, width, cap))

    def fill_ellipse(
        self, cx: float, cy: float, rx: float, ry: float, paint: Paint, *, rotation: float = 0.0
    ) -> None:
        """An ellipse, turned clockwise by degrees.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 2) as surface:
        ...     surface.fill_ellipse(1, 1, 1, 1, "red")
        ...     surface.read_pixels(0, 0, 2, 2)[..., 3].tolist()
        [[200, 200], [200, 200]]
        """
        self._record(ink_command.encode_fill_ellipse(cx, cy, rx, ry, paint, rotation))

    def stroke_ellipse(
        self,
        cx: float,
        cy: float,
        rx: float,
        ry: float,
        paint: Paint,
        width: float = 1.0,
        *,
        rotation: float = 0.0,
    ) -> None:
        """The outline of an ellipse, of some width.

        >>> from dala import gpu
        >>> with gpu.create_surface(9, 9) as surface:
        ...     surface.stroke_ellipse(4.5, 4.5, 3, 3, "red", 2)
        ...     surface.read_pixels(4, 0, 1, 3)[..., 3].ravel().tolist()
        [125, 255, 133]
        """
        self._record(ink_command.encode_stroke_ellipse(cx, cy, rx, ry, paint, width, rotation))

    # -- pictures ----------------------------------------------------------------------------------

    def draw_sprite(
        self,
        sprite_id: int,
        x: float,
        y: float,
        *,
        scale: float | tuple[float, float] = 1.0,
        rotation: float = 0.0,
        anchor: tuple[float, float] = (0.5, 0.5),
        opacity: float = 1.0,
        tint: Color | None = None,
        flip: Literal["x", "y", "xy"] | None = None,
        filter: Filter = "bilinear",
    ) -> None:
        """A sprite with its anchor (a part of its size) at (x, y), turned clockwise by degrees.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.load_sprite(1, bytes([255, 0, 0, 255, 0, 0, 255, 255]), 2, 1)
        ...     surface.draw_sprite(1, 1, 0.5, flip="x")
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 0].tolist()
        [0, 255, 0]
        """
        self._record(
            ink_command.encode_draw_sprite(
                sprite_id, x, y, scale=scale, rotation=rotation, anchor=anchor, opacity=opacity,
                tint=tint, flip=flip, filter=filter,
            )
        )  # fmt: skip

    # -- text --------------------------------------------------------------------------------------

    def draw_text(
        self,
        /,
        x: float,
        y: float,
        text: Any,
        *,
        color: Any = "white",
        outline: Any = None,
        shadow: Any = None,
        background: Any = None,
        **layout: Any,
    ) -> None:
        """A text or a ``dala.text.Layout`` with its left top corner at (x, y); everything else as in
        ``dala.text.draw``. Needs the extra ``text``.

        >>> from dala import gpu
        >>> with gpu.create_surface(120, 40) as surface:
        ...     surface.draw_text(4, 2, "Hello", size=28, color="gold")
        ...     bool(surface.read_pixels(0, 0, 120, 40).any())
        True
        """
        for command in text_commands(
            x, y, text, layout,
            {"color": color, "outline": outline, "shadow": shadow, "background": background},
        ):  # fmt: skip
            self._record(command)

    # -- transforms and layers ---------------------------------------------------------------------

    def push_transform(
        self,
        matrix: Sequence[float] | None = None,
        *,
        translate: tuple[float, float] = (0.0, 0.0),
        rotate: float = 0.0,
        scale: float | tuple[float, float] = 1.0,
    ) -> None:
        """Ink goes through a matrix (a, b, c, d, e, f) until it is popped; or is scaled, then turned by
        degrees, then moved. What is pushed already comes after.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.push_transform(translate=(1, 0))
        ...     surface.fill_path("M0 0 h1 v1 h-1 Z", "red")
        ...     surface.pop_transform()
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 3].tolist()
        [0, 255, 0]
        """
        if matrix is None:
            wide, high = scale if isinstance(scale, tuple | list) else (scale, scale)
            turned = math.radians(rotate)
            cos, sin = math.cos(turned), math.sin(turned)
            matrix = (wide * cos, wide * sin, -high * sin, high * cos, *translate)
        a, b, c, d, e, f = matrix
        self._record(ink_command.encode_push_transform(a, b, c, d, e, f))

    def pop_transform(self) -> None:
        """Take back the last transform.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.push_transform(scale=2); surface.pop_transform()
        """
        self._record(ink_command.encode_pop_transform())

    @contextmanager
    def transformed(
        self,
        matrix: Sequence[float] | None = None,
        *,
        translate: tuple[float, float] = (0.0, 0.0),
        rotate: float = 0.0,
        scale: float | tuple[float, float] = 1.0,
    ) -> Iterator[None]:
        """A transform for what is within ``with``.

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface, surface.transformed(rotate=90):
        ...     surface.stroke_line(0, 0, 1, 0, "red")
        """
        self.push_transform(matrix, translate=translate, rotate=rotate, scale=scale)
        try:
            yield
        finally:
            self.pop_transform()

    def push_layer(
        self,
        opacity: float = 1.0,
        blend: Blend = "over",
        clip: Path | str | None = None,
        *,
        rule: Rule = "nonzero",
    ) -> None:
        """Draw onto a layer of its own until it is popped: then it is put onto what is below as one
        picture, with an opacity and a blend mode, within a path.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.push_layer(0.5)
        ...     surface.fill_rect(0, 0, 2, 1, "red"); surface.fill_rect(0, 0, 1, 1, "red")
        ...     surface.pop_layer()
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 3].tolist()
        [128, 128]
        """
        self._record(ink_command.encode_push_layer(opacity, blend, clip, rule))

    def pop_layer(self) -> None:
        """Put the last layer onto what is below it.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.push_layer(clip="M0 0 h1 v1 h-1 Z")
        ...     surface.clear("red"); surface.pop_layer()
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 3].tolist()
        [255, 0]
        """
        self._record(ink_command.encode_pop_layer())

    @contextmanager
    def layer(
        self,
        opacity: float = 1.0,
        blend: Blend = "over",
        clip: Path | str | None = None,
        *,
        rule: Rule = "nonzero",
    ) -> Iterator[None]:
        """A layer for what is drawn within ``with``.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface, surface.layer(0.5, "multiply"):
        ...     surface.fill_ellipse(1, 0.5, 1, 0.5, "gold")
        """
        self.push_layer(opacity, blend, clip, rule=rule)
        try:
            yield
        finally:
            self.pop_layer()

    # -- many at once ------------------------------------------------------------------------------

    def fill_discs(self, discs: object, colors: object) -> None:
        """Discs (N, 3) of cx, cy, radius, anti-aliased; one colour, or an array (N, 4) of them.

        >>> from dala import gpu
        >>> with gpu.create_surface(4, 2) as surface:
        ...     surface.fill_discs([[1, 1, 1], [3, 1, 1]], "red")
        ...     surface.read_pixels(0, 0, 4, 1)[0, :, 3].tolist()
        [200, 200, 200, 200]
        """
        self._record(ink_many.encode_fill_discs(discs, colors))

    def fill_ellipses(self, ellipses: object, colors: object, rotation: object = 0.0) -> None:
        """Ellipses (N, 4) of cx, cy, rx, ry, turned by degrees: one number or (N).

        >>> from dala import gpu
        >>> with gpu.create_surface(4, 2) as surface:
        ...     surface.fill_ellipses([[2, 1, 2, 1]], "red")
        ...     surface.read_pixels(0, 0, 4, 1)[0, :, 3].tolist()
        [157, 244, 244, 157]
        """
        self._record(ink_many.encode_fill_ellipses(ellipses, colors, rotation))

    def stroke_circles(self, circles: object, colors: object, width: object = 1.0) -> None:
        """Outlines of circles (N, 3) of cx, cy, radius, of one width or (N).

        >>> from dala import gpu
        >>> with gpu.create_surface(9, 9) as surface:
        ...     surface.stroke_circles([[4.5, 4.5, 3]], "red", 2)
        ...     surface.read_pixels(4, 0, 1, 3)[..., 3].ravel().tolist()
        [125, 255, 133]
        """
        self._record(ink_many.encode_stroke_circles(circles, colors, width))

    def stroke_lines(
        self, lines: object, colors: object, width: object = 1.0, cap: Cap = "butt"
    ) -> None:
        """Lines (N, 4) of x1, y1, x2, y2, of one width or (N).

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.stroke_lines([[0, 0.5, 2, 0.5]], "red", 1)
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 3].tolist()
        [255, 255, 0]
        """
        self._record(ink_many.encode_stroke_lines(lines, colors, width, cap))

    def fill_polygons(self, polygons: object, colors: object) -> None:
        """Polygons (N, K, 2), or a list of arrays (K, 2).

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.fill_polygons([[[0, 0], [2, 0], [0, 1]]], "red")
        ...     surface.read_pixels(0, 0, 2, 1)[0, :, 3].tolist()
        [191, 64]
        """
        self._record(ink_many.encode_fill_polygons(polygons, colors))

    def draw_sprites(
        self,
        ids: object,
        positions: object,
        *,
        scale: object = 1.0,
        rotation: object = 0.0,
        anchor: tuple[float, float] = (0.5, 0.5),
        opacity: object = 1.0,
        tints: object = "white",
        filter: Filter = "bilinear",
    ) -> None:
        """Sprites by their numbers (N) at positions (N, 2); everything else for all, or (N).

        >>> from dala import gpu
        >>> with gpu.create_surface(3, 1) as surface:
        ...     surface.load_sprite(1, bytes([255, 0, 0, 255]), 1, 1)
        ...     surface.draw_sprites(1, [[0.5, 0.5], [2.5, 0.5]], opacity=[1, 0.5])
        ...     surface.read_pixels(0, 0, 3, 1)[0, :, 3].tolist()
        [255, 0, 128]
        """
        self._record(
            ink_many.encode_draw_sprites(
                ids, positions, scale=scale, rotation=rotation, anchor=anchor, opacity=opacity,
                tints=tints, filter=filter,
            )
        )  # fmt: skip
