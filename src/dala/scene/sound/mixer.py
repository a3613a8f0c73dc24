"""The mixer: voices → samples, block by block; any cut gives the same samples."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dala import locks
from dala.errors import ParameterError
from dala.scene.sound.ducking import Levels, ducked
from dala.scene.sound.limiter import MARGIN, limit
from dala.scene.sound.sounds import Waves, silence
from dala.scene.sound.voice import BLOCK, Voice

KEPT = 24  # blocks


class Mixer:
    """The sum of voices, with ducking, never above full scale.

    >>> import numpy as np
    >>> from dala.scene.sound import ArraySound, Mixer, Voice
    >>> mixer = Mixer([Voice(ArraySound(np.full(100, 0.25, np.float32))) for _ in range(2)])
    >>> mixer.mix(98, 102)[:, 0].tolist()
    [0.5, 0.5, 0.0, 0.0]
    """

    def __init__(self, voices: Sequence[Voice], *, limiter: bool = True) -> None:
        self.voices = tuple(voices)
        self._limiter = limiter
        self._duckers = tuple(voice for voice in voices if voice.duck > 0)
        self._sums: OrderedDict[int, Waves | None] = OrderedDict()
        self._blocks: OrderedDict[int, Waves] = OrderedDict()
        self._lock = locks.rlock()

    @property
    def last(self) -> Fraction | None:
        """When the last voice is over; None: never, or there is none."""
        ends = [voice.last for voice in self.voices]
        return None if None in ends or not ends else max(e for e in ends if e is not None)

    def mix(self, begin: int, end: int) -> Waves:
        """Samples of the scene from one until before another: (end - begin, 2) f32 at 48 kHz."""
        if not 0 <= begin <= end:
            raise ParameterError(f"mix: expected samples from 0 up, in order; got {begin}..{end}")
        out = silence(end - begin)
        place = begin
        while place < end:
            number, within = divmod(place, BLOCK)
            stop = min(end, (number + 1) * BLOCK)
            out[place - begin : stop - begin] = self._block(number)[within : within + stop - place]
            place = stop
        return out

    def down(self, begin: int, end: int) -> Levels | None:
        """How much its ducking voices turn others down, sample by sample; None: not at all."""
        if not self._duckers:
            return None
        first, last = begin // BLOCK, -(-end // BLOCK)
        parts = [ducked(self._duckers, number) for number in range(first, last)]
        if all(part is None for part in parts):
            return None
        whole = np.concatenate([np.ones(BLOCK) if part is None else part for part in parts])
        return whole[begin - first * BLOCK : end - first * BLOCK]

    def _block(self, number: int) -> Waves:
        with self._lock:
            found = self._blocks.get(number)
            if found is None:
                found = self._blocks[number] = self._limited(number)
                if len(self._blocks) > KEPT:
                    self._blocks.popitem(last=False)
            self._blocks.move_to_end(number)
            return found

    def _limited(self, number: int) -> Waves:
        """With its neighbours, which the limiter looks at."""
        assert MARGIN <= BLOCK
        if not self._limiter:
            return _or_silence(self._sum(number))
        around = [self._sum(number + n) for n in (-1, 0, 1)]
        if all(sum_ is None for sum_ in around):
            return silence(BLOCK)
        return limit(np.concatenate([_or_silence(s) for s in around]), BLOCK, 2 * BLOCK)

    def _sum(self, number: int) -> Waves | None:
        """The voices of a block, added in their order."""
        if number < 0:
            return None
        if number not in self._sums:
            self._sums[number] = self._add(number)
            if len(self._sums) > KEPT:
                self._sums.popitem(last=False)
        return self._sums[number]

    def _add(self, number: int) -> Waves | None:
        total: Waves | None = None
        down = ducked(self._duckers, number) if self._duckers else None
        for voice in self.voices:
            waves = voice.block(number)
            if waves is None:
                continue
            if down is not None and voice.duck == 0:
                waves = (waves * down[:, None]).astype(np.float32)
            total = waves if total is None else total + waves
        return total


def _or_silence(waves: Waves | None) -> Waves:
    return silence(BLOCK) if waves is None else waves
