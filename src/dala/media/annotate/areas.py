"""Masks and heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from dala.colors import Color
from dala.errors import ParameterError, ShapeError
from dala.media.annotate.canvas import Canvas, drawing_on
from dala.media.annotate.palette import RGB, chosen
from dala.media.annotate.reading import Array
from dala.media.pictures import Channels

_IMAGE = 2**63 + 16  # the number under which a surface holds a layer of ours, for the moment
# from cold to hot: dark blue, blue, cyan, green, yellow, red; and how much of each is seen
_MOST = 1e150  # of a heat map's numbers: their differences are numbers, too
_HEAT = np.array(
    [[13, 8, 135], [33, 102, 255], [0, 210, 230], [60, 220, 90], [250, 220, 40], [225, 30, 20]],
    float,
)


def masks(
    image: Any,
    masks: Any,
    *,
    opacity: float = 0.5,
    outline: bool = True,
    color: Color | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Areas: a mask (H, W), several (N, H, W), or a segmentation with ``classes`` (0 is the background).
    Masks of another size are scaled.

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> mask = np.zeros((60, 80), np.uint8); mask[20:40, 20:60] = 255
    >>> shown = annotate.masks(np.zeros((60, 80, 3), np.uint8), mask, color="red", outline=False)
    >>> shown[30, 40].tolist(), shown[5, 5].tolist()
    ([128, 0, 0], [0, 0, 0])
    """
    _check_opacity(opacity, "masks")
    found = _read_masks(masks)
    with drawing_on(image, width, height, channels, "masks") as canvas:
        for key, mask in found:
            _lay_mask(canvas, mask, chosen(color, key), opacity, outline)
    return canvas.result


def _check_opacity(opacity: float, who: str) -> None:
    if not 0 <= opacity <= 1:
        raise ParameterError(f"{who}: an opacity is 0..1, got {opacity}")


def _read_masks(masks: Any) -> list[tuple[int, Array]]:
    """Masks of 0..1, each with what its colour goes by."""
    classes = getattr(masks, "classes", None)
    if classes is not None:
        ids = np.asarray(classes)
        return [(int(i), (ids == i).astype(np.float32)) for i in np.unique(ids) if i != 0]
    table = np.asarray(masks)
    if table.ndim not in (2, 3) or not table.size or table.dtype.kind not in "buif":
        raise ShapeError(f"masks: expected (H, W) or (N, H, W) of numbers, got {table.shape}")
    groups = table[None] if table.ndim == 2 else table
    most = 1.0 if table.dtype.kind in "bf" else 255.0
    if most == 255.0 and table.size and int(table.max()) <= 1:
        most = 1.0
    return [(i, np.clip(g.astype(np.float32) / most, 0, 1)) for i, g in enumerate(groups)]


def _scaled(values: Array, width: int, height: int) -> Array:
    """Bilinear about pixel centres."""
    if values.shape == (height, width):
        return values
    rows, columns = (
        np.clip((np.arange(n) + 0.5) * m / n - 0.5, 0, m - 1)
        for n, m in ((height, values.shape[0]), (width, values.shape[1]))
    )
    y, x = rows.astype(int), columns.astype(int)
    fy, fx = (rows - y)[:, None].astype(np.float32), (columns - x)[None].astype(np.float32)
    y1, x1 = np.minimum(y + 1, values.shape[0] - 1), np.minimum(x + 1, values.shape[1] - 1)
    upper, lower = values[y], values[y1]
    rows_mixed = upper * (1 - fy) + lower * fy
    return np.asarray(rows_mixed[:, x] * (1 - fx) + rows_mixed[:, x1] * fx)


def _border(cover: Array, thick: int) -> Array:
    """Where a mask ends: what is inside, but not ``thick`` pixels further in."""
    inside = np.pad(cover >= 0.5, thick)
    core = inside.copy()
    for axis in (0, 1):
        kept = core.copy()
        for step in range(1, thick + 1):
            kept &= np.roll(core, step, axis) & np.roll(core, -step, axis)
        core = kept
    crop = slice(thick, -thick)
    return np.asarray((inside & ~core)[crop, crop], np.float32)


def _tinted(alpha: Array, color: RGB) -> Array:
    layer = np.empty((*alpha.shape, 4), np.uint8)
    layer[..., :3] = color
    layer[..., 3] = np.rint(alpha * 255)
    return layer


def _lay_mask(canvas: Canvas, mask: Array, shade: RGB, opacity: float, outline: bool) -> None:
    cover = _scaled(mask, canvas.width, canvas.height)
    _lay(canvas, _tinted(cover * opacity, shade))
    if outline:
        _lay(canvas, _tinted(_border(cover, round(max(1.0, canvas.line))), shade))


def _lay(canvas: Canvas, layer: Array) -> None:
    canvas.surface.load_image(_IMAGE, layer)
    canvas.surface.draw_image(_IMAGE, 0, 0, canvas.width, canvas.height)
    canvas.surface.remove_image(_IMAGE)


def heatmap(
    image: Any,
    values: Any,
    *,
    opacity: float = 0.6,
    low: float | None = None,
    high: float | None = None,
    width: int | None = None,
    height: int | None = None,
    channels: Channels | None = None,
) -> Any:
    """Numbers (h, w) as colours from blue to red over the picture; from ``low`` (the smallest), which is
    clear, to ``high`` (the largest).

    >>> import numpy as np
    >>> from dala.media import annotate
    >>> values = np.linspace(0, 1, 8)[None].repeat(6, 0)
    >>> shown = annotate.heatmap(np.full((60, 80, 3), 90, np.uint8), values)
    >>> int(shown[30, 79, 0]) > 150, shown[30, 0].tolist()
    (True, [90, 90, 90])
    """
    _check_opacity(opacity, "heatmap")
    table = np.asarray(values)
    if table.ndim != 2 or not table.size or table.dtype.kind not in "buif":
        raise ShapeError(f"heatmap: expected numbers (h, w), got {table.shape}")
    table = np.clip(np.nan_to_num(table.astype(np.float64)), -_MOST, _MOST)
    least = float(table.min()) if low is None else low
    most = float(table.max()) if high is None else high
    share = np.clip((table - least) / max(most - least, 1e-12), 0, 1).astype(np.float32)
    with drawing_on(image, width, height, channels, "heatmap") as canvas:
        heat = _scaled(share, canvas.width, canvas.height)
        layer = np.empty((*heat.shape, 4), np.uint8)
        stops = np.linspace(0, 1, len(_HEAT))
        for c in range(3):
            layer[..., c] = np.rint(np.interp(heat, stops, _HEAT[:, c]))
        layer[..., 3] = np.rint(np.minimum(heat * 3, 1) * opacity * 255)
        _lay(canvas, layer)
    return canvas.result
