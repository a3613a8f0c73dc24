"""The same time gives the same picture: in any order of asking, from any scene of one description."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from random_scenes import random_scene

RATES = (Fraction(24000, 1001), Fraction(25), Fraction(30000, 1001), Fraction(43), Fraction(60))


@pytest.mark.parametrize("block", range(10))
def test_frames_in_any_order_are_those_in_sequence(block: int) -> None:
    for seed in range(block * 10, block * 10 + 10):
        chance = random.Random(seed)
        stage = random_scene(random.Random(seed))
        rate = RATES[seed % 5]
        numbers = sorted(chance.sample(range(int(2 * rate)), 6))
        times = [n / rate for n in numbers]
        with stage, random_scene(random.Random(seed)) as other:
            in_sequence = [stage.render(time) for time in times]
            assert [frame.time for frame in in_sequence] == times
            stage.set_target_fps(rate)
            order = list(range(len(times))) * 2
            chance.shuffle(order)
            for n in order:
                frame = other.render(times[n])
                assert np.array_equal(frame.to_array(), in_sequence[n].to_array()), (seed, times[n])
            assert [stage.render(time).number for time in times] == numbers


def test_until_when_a_picture_stays_is_never_too_late() -> None:
    """Frames that are skipped because nothing moves are what would have been painted."""
    for seed in range(100, 130):
        with random_scene(random.Random(seed)) as stage, random_scene(random.Random(seed)) as fresh:
            for n in range(0, 50, 3):
                shown = stage.render(Fraction(n, 25)).to_array()
                fresh._last = None
                assert np.array_equal(fresh.render(Fraction(n, 25)).to_array(), shown), (seed, n)
