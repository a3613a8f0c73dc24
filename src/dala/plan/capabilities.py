"""What a device says of itself to the planner."""

from __future__ import annotations

from dataclasses import dataclass

from dala.plan.fuse import FusedPass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one pass may be. As it is, anything: rows are ring-buffered."""

    tiled: bool = (
        False  # what bodies buffer for each other are tiles of memory: of one size, and few
    )
    most_arrays: int = 1 << 31  # that one pass reads and writes

    def has_room_for(self, work: FusedPass) -> bool:
        """Whether what the bodies of a pass buffer for each other has room."""
        return True


ANYTHING = Capabilities()
