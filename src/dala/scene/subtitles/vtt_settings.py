"""Where a cue of WebVTT is: its settings, and the regions they may name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dala.scene.subtitles.cue import Placement

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%")
_LINE = re.compile(r"(-?\d{1,4}(?:\.\d{1,6})?)(%?)(?:,(start|center|end))?")
_POSITION = re.compile(
    r"(\d{1,3}(?:\.\d{1,6})?)%(?:,(line-left|center|line-right|start|middle|end))?"
)
_BEGINS = {"start": 0.0, "left": 0.0, "center": 0.5, "end": 1.0, "right": 1.0}
_ANCHORS = {"line-left": 0.0, "start": 0.0, "center": 0.5, "middle": 0.5, "line-right": 1.0,
            "end": 1.0}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the picture that cues may share: a width, and one point of it on one of the picture."""

    width: float = 1.0
    lines: int = 3
    anchor: tuple[float, float] = (0.0, 1.0)
    viewport: tuple[float, float] = (0.0, 1.0)


def read_region(text: str) -> tuple[str, Region]:
    """The settings of a REGION block."""
    region, name = Region(), ""
    for key, value in _pairs(text):
        if key == "id":
            name = value[:200]
        elif key == "width" and (share := percent(value)) is not None:
            region = replace(region, width=share)
        elif key == "lines" and re.fullmatch(r"\d{1,3}", value):
            region = replace(region, lines=int(value))
        elif key in ("regionanchor", "viewportanchor"):
            shares = [percent(part) for part in value.split(",")]
            if len(shares) == 2 and None not in shares:
                point = (shares[0] or 0.0, shares[1] or 0.0)
                field = "anchor" if key == "regionanchor" else "viewport"
                region = replace(region, **{field: point})  # type: ignore[arg-type]
    return name, region


def read_settings(text: str, regions: Mapping[str, Region]) -> Placement:
    """What stands behind a cue's times; what is not understood is passed over, as players do."""
    found = dict(_pairs(text))
    align = found.get("align", "center").replace("middle", "center")
    if align not in _BEGINS:
        align = "center"
    across, anchor = _across(found, align)
    width = percent(found.get("size", "")) or _room(across, anchor)
    vertical = found.get("vertical", "")
    placement = Placement(
        x=across,
        anchor=(anchor, 1.0),
        align=align,  # type: ignore[arg-type]  # it is one of _BEGINS
        width=max(min(width, _room(across, anchor)), 0.01),
        vertical=vertical if vertical in ("rl", "lr") else "",  # type: ignore[arg-type]
    )
    placement = _down(placement, found.get("line", "auto"))
    region = regions.get(found.get("region", ""))
    if region is not None and "line" not in found and not placement.vertical:
        return _within(placement, region)
    return placement


def percent(text: str) -> float | None:
    """``50%`` as 0.5; None beyond 0..100."""
    found = _PERCENT.fullmatch(text.strip())
    return float(found[1]) / 100 if found and float(found[1]) <= 100 else None


def _pairs(text: str) -> list[tuple[str, str]]:
    words = text.split()[:32]
    return [(key.lower(), value) for key, mark, value in (w.partition(":") for w in words) if mark]


def _across(found: Mapping[str, str], align: str) -> tuple[float, float]:
    """The share of the width at which the box is, and which share of the box is there."""
    begins = _BEGINS[align]
    said = _POSITION.fullmatch(found.get("position", ""))
    if said is None or float(said[1]) > 100:
        return begins, begins
    return float(said[1]) / 100, _ANCHORS[said[2]] if said[2] else begins


def _room(across: float, anchor: float) -> float:
    """How wide a box can be there within the picture."""
    return {0.0: 1 - across, 1.0: across}.get(anchor, 2 * min(across, 1 - across)) or 0.01


def _down(placement: Placement, line: str) -> Placement:
    said = _LINE.fullmatch(line)
    if said is None:
        return placement
    begins = _BEGINS[said[3] or "start"]
    if said[2]:
        share = min(max(float(said[1]) / 100, 0.0), 1.0)
        return replace(placement, y=share, anchor=(placement.anchor[0], begins))
    if "." in said[1]:
        return placement
    number = int(said[1])
    down = 0.0 if number >= 0 else 1.0
    return replace(placement, line=number, anchor=(placement.anchor[0], down), margin=0.0)


def _within(placement: Placement, region: Region) -> Placement:
    """The cue at the foot of its region."""
    height = region.lines * 0.0533 * 1.2  # lines of the usual size
    left = region.viewport[0] - region.anchor[0] * region.width
    bottom = region.viewport[1] + (1 - region.anchor[1]) * height
    return replace(
        placement,
        x=left + placement.x * region.width,
        y=min(max(bottom, 0.0), 1.0),
        anchor=(placement.anchor[0], 1.0),
        width=max(placement.width * region.width, 0.01),
    )
