"""Boxes and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dala.colors import Color
from dala.errors import ShapeError
from dala.gpu import Path
from dala.media.annotate.canvas import Canvas, drawing_on
from dala.media.annotate.palette import RGB, RIM, chosen
from dala.media.annotate.reading import Box, as_list, check_numbers, read_boxes, score_of
from dala.media.pictures import Channels


def boxes(
    image: Any,
    detections: Any,
    *,
    names: Any = None,
    labels: bool = True,
    color: Color | None = None,
    line: float | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Rectangles: objects with a ``box`` (and ``name``, ``score``, ``class_id``, ``track_id``), or rows of
    x0, y0, x1, y1 and, if there, a score and a class. Colours go by track, class or name.

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> photo = np.zeros((120, 160, 3), np.uint8)
    >>> shown = annotate.boxes(photo, np.array([[20, 30, 90, 100]]), color="gold", labels=False)
    >>> shown[30, 55].tolist(), bool(photo.any())
    ([255, 215, 0], False)
    """
    found = read_boxes(detections, names, "boxes")
    with drawing_on(image, width, height, channels, "boxes") as canvas:
        thick = canvas.line * 1.5 if line is None else line
        for box in found:
            _draw_box(canvas, box, chosen(color, box.key), thick, labels)
    return canvas.result


def _draw_box(canvas: Canvas, box: Box, shade: RGB, thick: float, labels: bool) -> None:
    x0, y0, x1, y1 = box.corners
    path = Path().rect(x0, y0, x1 - x0, y1 - y0)
    canvas.surface.stroke_path(path, RIM, thick + max(1.0, thick / 2))
    canvas.surface.stroke_path(path, shade, thick)
    if labels and box.label:
        above = y0 - canvas.text_size * 1.45 - thick / 2
        inside = y0 + thick / 2
        canvas.write(box.label, x0 - thick / 2, above if above >= 0 else inside, shade)


def labels(
    image: Any,
    texts: Any,
    points: Any = None,
    *,
    color: Color | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Texts on boxes of their own: at points (N, 2), or one below the other in the left top corner. Objects
    with a ``name`` and a ``score`` (classes) are texts, too.

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> shown = annotate.labels(np.zeros((60, 160, 3), np.uint8), ["cat 93%"], [(10, 10)])
    >>> bool(shown.any())
    True
    """
    items = [texts] if isinstance(texts, str) else as_list(texts, "name")
    written = [_text_of(item) for item in items]
    places = (
        None if points is None else [check_numbers(p, 2, "labels") for p in np.atleast_2d(points)]
    )
    if places is not None and len(places) != len(written):
        raise ShapeError(f"labels: {len(written)} texts and {len(places)} points")
    with drawing_on(image, width, height, channels, "labels") as canvas:
        for number, text in enumerate(written):
            x, y = places[number] if places is not None else _in_corner(canvas, number)
            canvas.write(text, x, y, chosen(color, text.split(" ")[0]))
    return canvas.result


def _text_of(item: Any) -> str:
    if isinstance(item, str):
        return item
    return f"{getattr(item, 'name', item)} {score_of(item)}".strip()


def _in_corner(canvas: Canvas, number: int) -> tuple[float, float]:
    size = canvas.text_size
    return size / 2, size / 2 + number * size * 1.6
