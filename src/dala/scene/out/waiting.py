"""What waits for an output: pictures and sound, each only so much of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from dala.locks import Condition
from dala.scene.sound.sounds import RATE, Waves

MOST_PICTURES = 30
MOST_SAMPLES = 10 * RATE
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Piece:
    """A frame of a broadcast, and what is heard until its end."""

    number: int  # of the frame
    picture: Array | None
    first: int  # the number of the first sample
    waves: Waves | None


class Waiting:
    """Pieces on their way to an output that may be slow.

    Sound is small and a gap in it is heard, so it stays when a picture is dropped; where there is too much
    of it, too, what comes is left out. The pieces say where their sound belongs.

    >>> waiting = Waiting()
    >>> waiting.put(Piece(0, None, 0, None)), waiting.end()
    (True, None)
    >>> waiting.get() is None
    True
    """

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._pictures = self._samples = 0
        self._last = -1
        self._ended = False
        self._changed = Condition()

    def put(self, piece: Piece) -> bool:
        """The next piece; whether its picture found room."""
        with self._changed:
            self._last = piece.number
            fits = piece.picture is None or self._pictures < MOST_PICTURES
            if not fits:
                piece = replace(piece, picture=None)
            count = _samples_of(piece)
            if self._samples and self._samples + count > MOST_SAMPLES:
                piece, count = replace(piece, waves=None), 0
            if piece.picture is not None or count:
                self._pieces.append(piece)
                self._pictures += piece.picture is not None
                self._samples += count
                self._changed.notify()
            return fits

    def get(self) -> Piece | None:
        """The piece that waited longest, as soon as there is one; None after the last."""
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self._ended)
            if not self._pieces:
                return None
            piece = self._pieces.popleft()
            self._pictures -= piece.picture is not None
            self._samples -= _samples_of(piece)
            return piece

    def clear(self) -> tuple[int, int]:
        """Forget what waits: the number of the last frame that came, and how many pictures are lost."""
        with self._changed:
            lost = self._pictures
            self._pieces.clear()
            self._pictures = self._samples = 0
            return self._last, lost

    def end(self) -> None:
        """Nothing comes any more."""
        with self._changed:
            self._ended = True
            self._changed.notify()


def _samples_of(piece: Piece) -> int:
    return 0 if piece.waves is None else len(piece.waves)
