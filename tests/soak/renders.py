"""Renders with nodes added and removed: ``python renders.py [--renders 100000]`` (``make soak``).

What is allocated must be flat from a tenth of them on, and the pool of textures balanced after each. The
small version is in tests/leak.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from changing import render_and_change
from growth import PAGES, allocated, resident, typical_growth

from dala import scene

PARTS = 20


def main(argv: list[str] | None = None) -> int:
    """From the command line; 1 where something grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renders", type=int, default=100_000)
    count = parser.parse_args(argv).renders
    sizes: list[int] = []
    with (
        scene.Scene(32, 18, background="navy", device="cpu") as stage,
        scene.TexturePool(32, 18) as pool,
    ):
        run = render_and_change(stage, pool)
        for number in range(count):
            run(number)
            if number >= count // 10 and number % (count // PARTS) == 0:
                gc.collect()
                sizes.append(allocated())
                print(
                    f"{number}: {sizes[-1] / 1e6:.2f} MB allocated, {resident() / 1e6:.0f} MB resident"
                )
        balanced = pool.stats == (6, 0, 6)
    step = typical_growth(sizes)
    print(
        f"{count} renders: {step:+.0f} bytes from part to part; "
        f"pool {'balanced' if balanced else pool.stats}"
    )
    return 0 if balanced and step <= PAGES else 1


if __name__ == "__main__":
    sys.exit(main())
