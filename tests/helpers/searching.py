"""How far random searches go: the same cases at every run of the tests, and free ones in ``make fuzz``."""

from __future__ import annotations

import os
import random

FREE = os.environ.get("DALA_FUZZ") == "1"


def examples(usual: int) -> int:
    """How many cases to try. A free search takes DALA_FUZZ_EXAMPLES, or else ten times the usual number."""
    return int(os.environ.get("DALA_FUZZ_EXAMPLES", usual * 10)) if FREE else usual


def first_seed() -> int:
    """Where a test that counts its own seeds begins: at 0, or, in a free search, at DALA_FUZZ_SEED.

    Without one it is chosen, and kept in the environment: all processes of a run agree.
    """
    if not FREE:
        return 0
    return int(os.environ.setdefault("DALA_FUZZ_SEED", str(random.SystemRandom().randrange(2**32))))
