"""What notebooks show: images as pictures, tensors as numbers, a pipeline's plan as a drawing.

Small pictures: a notebook is a file, and one cell of it should not be a photo of 24 megapixels.
"""

from __future__ import annotations

import base64
import html
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.plan.explain import explain_head
from dala.plan.planner import Plan
from dala.plan.whole import WholePass
from dala.png import encode_png

WIDEST = 640  # pixels of a preview
FEWEST = 8  # pixels along a side: anything smaller is a table of numbers
ROW, WIDE, CHAR = 34, 16, 7.4  # of the drawing, in pixels
SHOWN_VALUES = 36
SHOWN_ENDS = {1: 3, 2: 3, 3: 2}  # numbers at each end of an axis, by how many axes there are


def array_html(about: str, array: npt.NDArray[Any] | None) -> str:
    """A line about an array, with its picture or some of its numbers; without, where it is gone."""
    about = html.escape(about.strip("<>"))
    if array is None:
        return f"<code>{about}</code>"
    if is_image(array):
        data = base64.b64encode(encode_png(as_preview(array))).decode()
        return f'<code>{about}</code><br><img src="data:image/png;base64,{data}">'
    ends = SHOWN_ENDS.get(array.ndim, 1)
    with np.printoptions(threshold=SHOWN_VALUES, edgeitems=ends, precision=4):
        return f"<code>{about}</code><pre>{html.escape(str(array))}</pre>"


def is_image(array: npt.NDArray[Any]) -> bool:
    """Whether an array is more likely a picture than numbers."""
    flat = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 4))
    kind = array.dtype == np.uint8 or (array.ndim == 3 and array.dtype in (np.uint16, np.float32))
    return flat and kind and min(array.shape[:2]) >= FEWEST


def as_preview(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """RGBA bytes of at most WIDEST columns and rows: every so manieth pixel."""
    step = -(-max(array.shape[:2]) // WIDEST)
    some = array[::step, ::step]
    if some.dtype == np.uint16:
        some = (some >> 8).astype(np.uint8)
    if some.dtype != np.uint8:
        some = np.rint(np.clip(np.nan_to_num(some), 0, 1) * 255).astype(np.uint8)
    if some.ndim == 2 or some.shape[2] == 1:
        grey = some.reshape(*some.shape[:2], 1)
        some = np.concatenate([grey, grey, grey], axis=2)
    if some.shape[2] == 3:
        some = np.concatenate([some, np.full_like(some[..., :1], 255)], axis=2)
    return np.ascontiguousarray(some)


def plan_svg(plan: Plan, device: str) -> str:
    """Passes as boxes, one below the other, with their stages in a row and the reason for each cut."""
    lines: list[str] = []
    top, widest = 28.0, 240.0
    for number, work in enumerate(plan.passes):
        if number:
            lines.append(_text(24, top + 4, f"cut: {plan.reasons[number]}", "#888", 11))
            widest = max(widest, len(plan.reasons[number]) * CHAR + 80)
            top += 14
        left = 16.0
        begin = top
        for label in plan.labels_of(number):
            wide = len(label) * CHAR + WIDE
            lines.append(_box(left + 8, top + 8, wide, ROW - 10, "#dbeafe", "#3b82f6"))
            lines.append(_text(left + 8 + wide / 2, top + 25, label, "#111", 12, middle=True))
            left += wide + 12
        kind = "whole" if isinstance(work, WholePass) else "one pass"
        lines.append(_text(left + 10, top + 25, kind, "#888", 11))
        left += len(kind) * CHAR + 16
        lines.insert(0, _box(12, begin, left - 4, ROW + 6, "#f8fafc", "#cbd5e1"))
        widest, top = max(widest, left + 24), top + ROW + 14
    lines.insert(0, _text(12, 18, explain_head(plan, device), "#111", 13))
    lines.insert(0, _box(0, 0, widest, top + 4, "white", "none"))
    size = f'width="{widest:.0f}" height="{top + 4:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(lines)}</svg>'


def _box(x: float, y: float, wide: float, high: float, fill: str, line: str) -> str:
    size = f'x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high:.0f}" rx="5"'
    return f'<rect {size} fill="{fill}" stroke="{line}"/>'


def _text(x: float, y: float, text: str, color: str, size: int, *, middle: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    font = f'font-family="sans-serif" font-size="{size}" fill="{color}"{anchor}'
    return f'<text x="{x:.0f}" y="{y:.0f}" {font}>{html.escape(text)}</text>'
