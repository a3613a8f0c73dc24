"""What a device says of itself to the planner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dala.ir.arrays import ArrayType
from dala.plan.fuse import FusedPass, Location
from dala.plan.whole import Launch, WholePass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one pass may be. As it stands, anything: bodies buffer rows in rings."""

    tiled: bool = (
        False  # what bodies buffer for each other are tiles of memory: of one size, and few
    )
    most_arrays: int = 1 << 31  # that one pass reads and writes

    def has_room_for(self, work: FusedPass) -> bool:
        """Whether what the bodies of a pass buffer for each other has room."""
        return True

    def launches(
        self, work: WholePass, new_temp: Callable[[ArrayType], Location]
    ) -> tuple[Launch, ...] | None:
        """What the device runs for a pass over whole arrays; None: the pass as it stands."""
        return None


ANYTHING = Capabilities()
