"""Traces: where things have been."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from dala.colors import Color
from dala.media.annotate.canvas import drawing_on
from dala.media.annotate.palette import RIM, chosen
from dala.media.annotate.reading import Array, points_of
from dala.media.pictures import Channels


def traces(
    image: Any,
    tracks: Any,
    *,
    line: float | None = None,
    color: Color | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Ways of points (N, 2), the oldest first: a mapping from track to points, or a list of them. What is
    older is thinner and fainter; a dot is where it is now.

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> shown = annotate.traces(np.zeros((60, 80, 3), np.uint8), {7: [(5, 30), (40, 30), (70, 30)]})
    >>> bool(shown[30, 60].any())
    True
    """
    found = _read_tracks(tracks)
    with drawing_on(image, width, height, channels, "traces") as canvas:
        thick = canvas.line * 1.5 if line is None else line
        for key, points in found:
            if not len(points):
                continue
            shade = chosen(color, key)
            lines = np.concatenate([points[:-1], points[1:]], 1)
            age = np.linspace(1.0, 0.25, len(lines))[::-1]
            colors = np.array([[*shade, 255]] * len(lines), np.uint8).reshape(-1, 4)
            colors[:, 3] = np.rint(age * 255)
            rims = np.array([[*RIM[:3], RIM[3]]] * len(lines), np.uint8).reshape(-1, 4)
            rims[:, 3] = np.rint(age * RIM[3] * 0.5)
            canvas.surface.stroke_lines(lines, rims, thick * age + max(1.0, thick / 2), "round")
            canvas.surface.stroke_lines(lines, colors, thick * age, "round")
            x, y = points[-1]
            canvas.surface.fill_ellipse(x, y, thick * 1.6, thick * 1.6, RIM)
            canvas.surface.fill_ellipse(x, y, thick * 1.2, thick * 1.2, shade)
    return canvas.result


def _read_tracks(tracks: Any) -> list[tuple[Hashable, Array]]:
    pairs = tracks.items() if isinstance(tracks, Mapping) else enumerate(tracks)
    return [(key, points_of(points, "traces")[:, :2]) for key, points in pairs]
