"""Subtitles as layers: the cues of a moment, each in its place, none over another.

cues ─ those shown now ─ overlays in a box ─ laid out, drawn (kept) ─ kept apart ─ layers
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dala.errors import ParameterError
from dala.scene.evaluate.geometry import Matrix, magnification, moved, placed, scaled, times
from dala.scene.evaluate.lettering import bytes_of, dress_of, ink_of, step_for
from dala.scene.evaluate.playing import map_of
from dala.scene.evaluate.resources import Resources
from dala.scene.layers import Layer, Rgba
from dala.scene.subtitles import Cue, Cues, Overlay, cues_in_range, to_overlay
from dala.scene.subtitles.cue import Placement
from dala.scene.subtitles.overlay import Block

MICRO = 1_000_000
MOST_AT_ONCE = 1000  # cues shown at one time
LARGEST = 32_768  # pixels of a side that texts are laid out in
Box = tuple[float, float, float, float]
_EDGES = {"top": (0, 0.0), "bottom": (-1, 1.0)}  # the line and the anchor


@dataclass(frozen=True, eq=False)
class Written:
    """The text of an overlay as a picture, which lies at ``offset`` from its layout's corner."""

    picture: Rgba | None
    offset: tuple[int, int]
    block: Block


def captions(
    cues: Cues, time: Fraction, values: Mapping[str, Any], size: tuple[float, float],
    matrix: Matrix, resources: Resources,
) -> list[Layer]:  # fmt: skip
    """The layers of all cues that are shown at a time of theirs, in a box of a size.

    ``matrix`` leads from the box to the canvas; ``values`` are the node's: its look is for what cues leave
    open.
    """
    at = math.floor(time * MICRO)
    w, h = size
    if w <= 0 or h <= 0:
        return []
    step = min(step_for(magnification(matrix)), LARGEST / max(w, h))
    wide, high = max(1, round(w * step)), max(1, round(h * step))
    font_size = values["font_size"] and values["font_size"] * step
    dress = dress_of({**values, "shadow": values["letter_shadow"]}, step)
    look = {**dress, "color": values["color"], "font": values["font"]}
    to_canvas = times(matrix, scaled(w / wide, h / high))
    taken: dict[int, list[Box]] = {}
    found: list[tuple[int, Layer]] = []
    for cue in (_aligned(cue, values["vertical_align"]) for cue in _shown(cues, at)):
        overlay = to_overlay(cue, wide, high, time_us=at, size=font_size, **look)
        if not overlay.text.strip() or overlay.opacity <= 0:
            continue
        written = resources.drawn(_key_of(overlay), functools.partial(_write, overlay))
        if written.picture is None:
            continue
        x, y = overlay.corner(written.block)
        if cue.placement.y is None and not cue.placement.rotation:
            up = cue.placement.line < 0
            y = _apart(x, y, written.block, up, high, taken.setdefault(cue.layer, []))
        place = moved(x + written.offset[0], y + written.offset[1])
        if overlay.rotation:
            place = times(_turned(overlay), place)
        layer = Layer(written.picture, times(to_canvas, place), opacity=overlay.opacity)
        found.append((cue.layer, layer))
    return [layer for _, layer in sorted(found, key=lambda pair: pair[0])]


def cue_time(
    props: Mapping[str, Any], time: Fraction, cues: Cues
) -> tuple[Fraction | None, Fraction | None]:
    """The cues' time at a time of the scene, None: all are over; and until when the same is shown."""
    play = map_of(props, Fraction(cues.end_us, MICRO))
    start = props["start"] or Fraction(0)
    if play is None or play.is_over(time - start):
        return None, None
    place = play.at(time - start)
    until = steady_until(cues, place)
    if until == place or play.pauses or play.loop or play.speed != 1:
        return place, time  # looked at anew for every frame
    end = play.start + play.length if play.length is not None else None
    until = min((u for u in (until, end) if u is not None), default=None)
    return place, None if until is None else start + until - play.start


def steady_until(cues: Cues, time: Fraction) -> Fraction | None:
    """Until when the same is shown, in the cues' time; None: for good, ``time`` itself: something moves."""
    at = math.floor(time * MICRO)
    moments: list[int] = []
    for cue in _shown(cues, at):
        if _is_moving(cue, at - cue.start_us):
            return time
        moments.append(cue.end_us)
        moments.extend(cue.start_us + begin for begin in _changes(cue))
    following = cues.starting_after(at)
    if following is not None:
        moments.append(following)
    return min((Fraction(m, MICRO) for m in moments if m > at), default=None)


def _shown(cues: Cues, at: int) -> list[Cue]:
    """In the order of their starts."""
    found = cues_in_range(cues, at, at + 1)
    if len(found) > MOST_AT_ONCE:
        raise ParameterError(
            f"subtitles show at most {MOST_AT_ONCE} cues at a time, got {len(found)} at {at / MICRO:g} s"
        )
    return found


def _changes(cue: Cue) -> Iterable[int]:
    """When a cue begins to look otherwise, after its start."""
    for run in cue.runs:
        if run.begin_us is not None:
            yield run.begin_us
    if cue.fade_us[1]:
        yield cue.end_us - cue.start_us - cue.fade_us[1]
    if cue.placement.movement is not None:
        yield cue.placement.movement.begin_us


def _is_moving(cue: Cue, since: int) -> bool:
    movement = cue.placement.movement
    if movement is not None and movement.begin_us <= since < movement.end_us:
        return True
    fade_in, fade_out = cue.fade_us
    if since < fade_in or (fade_out and cue.end_us - cue.start_us - since <= fade_out):
        return True
    return any(
        run.karaoke == "sweep" and run.begin_us is not None and run.end_us is not None
        and run.begin_us <= since < run.end_us
        for run in cue.runs
    )  # fmt: skip


def _aligned(cue: Cue, wanted: str) -> Cue:
    """A cue at another edge than its file says."""
    if wanted == "auto":
        return cue
    placement = cue.placement
    across = placement.anchor[0]
    if wanted == "middle":
        made = replace(placement, y=0.5, anchor=(across, 0.5), movement=None)
    else:
        line, down = _EDGES[wanted]
        made = replace(placement, y=None, line=line, anchor=(across, down), movement=None)
    if placement.margin >= 0.5:  # of lines counted from the middle
        made = replace(made, margin=Placement().margin)
    return replace(cue, placement=made)


def _apart(x: float, y: float, block: Block, up: bool, high: int, taken: list[Box]) -> float:
    """Away from its edge until it lies over no cue that was there before; how far down it is then."""
    left, right = x + block.begins, x + block.begins + block.width
    for _ in range(len(taken)):
        hit = [
            box for box in taken
            if left < box[2] and box[0] < right and y < box[3] and box[1] < y + block.height
        ]  # fmt: skip
        if not hit or y < 0 or y + block.height > high:
            break
        y = min(box[1] for box in hit) - block.height if up else max(box[3] for box in hit)
    y = float(round(min(max(y, 0.0), max(high - block.height, 0.0))))
    taken.append((left, y, right, y + block.height))
    return y


def _turned(overlay: Overlay) -> Matrix:
    """About the point where it is anchored."""
    x, y = overlay.position
    turn = {
        "position": (0.0, 0.0), "scale": (1.0, 1.0), "anchor": (0.0, 0.0),
        "rotation": -overlay.rotation,
    }  # fmt: skip
    return times(times(moved(x, y), placed(turn, (0.0, 0.0))), moved(-x, -y))


def _key_of(overlay: Overlay) -> tuple[Any, ...]:
    """Equal for overlays whose text looks the same, wherever it is."""
    runs = tuple((words, tuple(sorted(style.items()))) for words, style in overlay.runs)
    dress = (overlay.outline, overlay.shadow, overlay.background)
    return ("caption", runs, overlay.size, overlay.align, overlay.max_width, *dress)


def _write(overlay: Overlay) -> tuple[Written, int]:
    made = overlay.layout()
    picture, offset = ink_of(made, overlay.paint)
    return Written(picture, offset, Block.of(made)), bytes_of(picture)
