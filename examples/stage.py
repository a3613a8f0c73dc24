"""What the drawing examples share: a file by default, a window if asked.

    python examples/clock.py                 writes clock.png
    python examples/clock.py --window        opens a window
    python examples/clock.py --at 12.5       writes the frame at that second

An example is a size, ``setup(surface)`` and ``draw(surface, seconds)``; the tests run each and compare
its picture.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dala import gpu


class Example(NamedTuple):
    """A drawing that depends on nothing but the time."""

    name: str
    size: tuple[int, int]
    setup: Callable[[gpu.Surface], None]
    draw: Callable[[gpu.Surface, float], None]
    at: float = 0.0  # the second that is pictured

    def surface(self, device: str | None = None) -> gpu.Surface:
        """A surface that is ready to draw on."""
        made = gpu.create_surface(*self.size, device=device)
        self.setup(made)
        return made

    def main(self) -> None:
        """What the command line asks for."""
        parser = argparse.ArgumentParser()
        parser.add_argument("--window", action="store_true", help="open a window")
        parser.add_argument("--at", type=float, default=self.at, help="second of the picture")
        parser.add_argument("--out", type=Path, default=Path(f"{self.name}.png"))
        options = parser.parse_args()
        with self.surface() as surface:
            if options.window:
                surface.show(self.name, frame=self.draw)
                return
            self.draw(surface, options.at)
            surface.save(options.out)
            print(f"{options.out}: {surface.width} × {surface.height}")


def nothing(surface: gpu.Surface) -> None:
    """For drawings that need no preparation."""
