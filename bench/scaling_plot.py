"""The six small pictures of scaling.py."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

Rows = Sequence[dict[str, Any]]
COLORS = ["#2a9d70", "#33508c", "#cc7a33"]


def plot(data: dict[str, dict[str, Rows]], path: Path) -> None:
    """Stages, radius, pixels; threads and memory."""
    figure, grid = pyplot.subplots(2, 3, figsize=(13, 7.5))
    draw_stages(grid[0, 0], data["stages"])
    draw_radius(grid[0, 1], data["radius"][""])
    draw_pixels(grid[0, 2], data["pixels"])
    draw_threads(grid[1, 0], data["threads"])
    for axes, (size, rows) in zip(grid[1, 1:], data["memory"].items(), strict=True):
        draw_memory(axes, size, rows)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(color="#e4e4e4", linewidth=0.6)
    figure.tight_layout(w_pad=2, h_pad=2.5)
    figure.savefig(path, dpi=100)


def draw_stages(axes: Axes, tables: dict[str, Rows]) -> None:
    in_cache = {name: rows for name, rows in tables.items() if "1920" in name}
    for (name, rows), color in zip(in_cache.items(), COLORS, strict=False):
        further = f"{name.split(',')[0]}: a further stage {rows[-1]['per_stage']:+.1%}"
        axes.plot(*columns(rows, "stages", "ms"), "o-", color=color, ms=4, label=further)
    axes.set(title="Point-wise stages in one pass", xlabel="stages", ylabel="ms, 1920×1080")
    axes.set_xticks([row["stages"] for row in rows])
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def draw_radius(axes: Axes, rows: Rows) -> None:
    axes.plot(*columns(rows, "radius", "ms"), "o-", color=COLORS[0], ms=4)
    axes.axvline(25, color="#999", linewidth=1, linestyle=":")
    axes.set(title="Blur", xlabel="radius, pixels", ylabel="ms, 1920×1080")
    axes.set_ylim(0)


def draw_pixels(axes: Axes, tables: dict[str, Rows]) -> None:
    for (name, rows), color in zip(tables.items(), COLORS, strict=True):
        axes.plot(*columns(rows, "pixels", "ns_per_pixel"), "o-", color=color, ms=4, label=name)
    axes.set(title="Pixels", xlabel="pixels", ylabel="ns per pixel", xscale="log", yscale="log")
    axes.yaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if low <= t <= high]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.legend(frameon=False, fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, -0.33))


def draw_threads(axes: Axes, tables: dict[str, Rows]) -> None:
    named = {
        name: rows for name, rows in tables.items() if "threads" in rows[0] and "×" not in name
    }
    counts = [row["threads"] for row in named["copy"]]
    for name, color in zip(named, itertools.cycle(COLORS)):
        speedups = [named[name][0]["ms"] / row["ms"] for row in named[name]]
        axes.plot(counts, speedups, "o-", color=color, ms=4, label=name)
    axes.plot(counts, counts, ":", color="#999", label="perfect")
    axes.set(title="Threads", xlabel="threads", ylabel="× one thread, 3840×2160", xticks=counts)
    axes.set_ylim(0)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def draw_memory(axes: Axes, size: str, rows: Rows) -> None:
    names = [str(row["run"]).replace(": ", ":\n").replace(" (", "\n(") for row in rows][::-1]
    rates = [row["gb_per_s"] for row in rows][::-1]
    kinds = ["#aaa" if "copy" in name else COLORS["stage by" in name] for name in names]
    bars = axes.barh(range(len(rows)), rates, color=kinds, height=0.7)
    axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=3)
    axes.set_xlim(0, 1.12 * max(rates))
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.set(title=f"Memory, {size}", xlabel="GB/s: one read and one write ÷ time")


def columns(rows: Rows, *keys: str) -> list[list[float]]:
    return [[row[key] for row in rows] for key in keys]
