"""How late the frames of a broadcast begin, counted and not kept: a broadcast may go on for weeks."""

from __future__ import annotations

LATE_S = 0.002  # a frame that begins later than this after its time is counted
BINS_A_SECOND = 10_000
MOST_S = 0.1  # whatever is later than that is in the last bin


class Lateness:
    """Counts frames in bins of a tenth of a millisecond.

    >>> from dala.scene.out.lateness import Lateness
    >>> seen = Lateness()
    >>> for ms in (0.0, 0.31, 0.5, 40):
    ...     seen.note(ms / 1000)
    >>> seen.frames, seen.late, seen.within_ms(0.75), seen.worst_s
    (4, 1, 0.6, 0.04)
    """

    def __init__(self) -> None:
        self._bins = [0] * round(MOST_S * BINS_A_SECOND + 1)
        self.frames = self.late = 0
        self.worst_s = 0.0

    def note(self, behind_s: float) -> None:
        """A frame began so many seconds after its time."""
        behind_s = max(behind_s, 0.0)
        self._bins[int(min(behind_s, MOST_S) * BINS_A_SECOND)] += 1
        self.frames += 1
        self.late += behind_s > LATE_S
        self.worst_s = max(self.worst_s, behind_s)

    def within_ms(self, share: float) -> float:
        """Such a share of the frames began within so many milliseconds: where their last bin ends."""
        passed = 0
        for number, count in enumerate(self._bins[:-1], 1):
            passed += count
            if passed >= share * self.frames:
                return min(number / BINS_A_SECOND, self.worst_s) * 1000
        return self.worst_s * 1000
