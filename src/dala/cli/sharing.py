"""Numbers of ``dala bench`` as a Markdown table: to paste into an issue or a chat."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Protocol

from dala.backends.cpu.run.cores import thread_count


class Timed(Protocol):
    """A measurement, in milliseconds (bench.py)."""

    @property
    def name(self) -> str: ...
    @property
    def ms(self) -> float: ...
    @property
    def first_ms(self) -> float: ...
    @property
    def opencv_ms(self) -> float | None: ...
    @property
    def same(self) -> bool: ...


def as_table(
    info: Mapping[str, object], size: tuple[int, int], rows: Sequence[Timed], opencv: str | None
) -> str:
    """The machine in one line, then a row for each measurement."""
    threads = f", {thread_count()} threads" if info["device"] == "cpu" else ""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = [
        f"dala {info['version']} on {info['name']}{threads}; {size[0]}×{size[1]} RGBA; {machine}",
        "",
    ]
    head = ["", "ms", "frames/s", "first run, ms"]
    if opencv:
        head += [f"OpenCV {opencv}, ms", "×"]
    lines += [_row(head), _row(["---"] * len(head))]
    for row in rows:
        cells = [row.name, f"{row.ms:.2f}", f"{1e3 / row.ms:,.0f}", f"{row.first_ms:.0f}"]
        if opencv:
            cells += _beside(row)
        lines.append(_row(cells))
    return "\n".join(lines)


def _beside(row: Timed) -> list[str]:
    if row.opencv_ms is None:
        return ["", ""]
    verdict = "" if row.same else " (another result)"
    return [f"{row.opencv_ms:.2f}", f"{row.opencv_ms / row.ms:.1f}{verdict}"]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
