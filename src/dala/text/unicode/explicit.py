"""Embeddings, overrides and isolates of the bidirectional algorithm: P2, P3 and X1 to X10."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

DEEPEST = 125  # max_depth
_EXPLICIT = re.compile("[1-9B]")
_STRONG_OR_ISOLATE = re.compile("[LRAB6789]")
_ISOLATE = re.compile("[6789]")
_NOT_REMOVED = re.compile("[^b1-5]")


class Run(NamedTuple):
    """An isolating run sequence (BD13): characters that are resolved together."""

    indices: list[int]
    letters: str
    level: int
    sos: str
    eos: str


def paragraph_level(classes: str, otherwise: int = 0) -> int:
    """P2 and P3: 1 if the first letter runs from right to left; ``otherwise`` if there is none."""
    depth = 0
    for found in _STRONG_OR_ISOLATE.finditer(classes):
        letter = found[0]
        if letter in "678":
            depth += 1
        elif letter == "9":
            depth = max(depth - 1, 0)
        elif letter == "B":
            break
        elif not depth:
            return 0 if letter == "L" else 1
    return otherwise


def isolating_runs(classes: str, base: int) -> tuple[list[int], list[Run]]:
    """The explicit level of each character, and the sequences."""
    if not _EXPLICIT.search(classes):
        side = "LR"[base & 1]
        if "b" in classes:
            indices = [found.start() for found in _NOT_REMOVED.finditer(classes)]
        else:
            indices = list(range(len(classes)))
        letters = classes.replace("b", "")
        return [base] * len(classes), [Run(indices, letters, base, side, side)]
    levels, letters = _Explicit(classes, base).walk()
    return levels, _sequences(classes, levels, letters, base)


class _Explicit:
    """X1 to X8: walks over a paragraph with a stack of (level, override, isolate)."""

    def __init__(self, classes: str, base: int) -> None:
        self._classes, self._base = classes, base
        self._stack: list[tuple[int, str, bool]] = [(base, "", False)]
        self._isolates_over = self._embeddings_over = self._isolates = 0
        self._matches = _matches(classes) if "8" in classes else {}

    def walk(self) -> tuple[list[int], str]:
        """Levels, and classes after overrides."""
        levels: list[int] = []
        letters: list[str] = []
        for index, letter in enumerate(self._classes):
            if letter == "9":  # its level is that outside of the isolate
                self._end_isolate()
            level, override, _ = self._stack[-1]
            levels.append(self._base if letter == "B" else level)
            letters.append(letter if letter in "12345bB" else override or letter)
            if letter in "1234":
                self._embed(level, letter)
            elif letter in "678":
                self._isolate(index, level, letter)
            elif letter == "5":
                self._end_embedding()
        return levels, "".join(letters)

    def _embed(self, level: int, letter: str) -> None:
        """X2 to X5."""
        deeper = _next_level(level, odd=letter in "34")
        if deeper <= DEEPEST and not self._isolates_over and not self._embeddings_over:
            self._stack.append((deeper, {"2": "L", "4": "R"}.get(letter, ""), False))
        elif not self._isolates_over:
            self._embeddings_over += 1

    def _isolate(self, index: int, level: int, letter: str) -> None:
        """X5a to X5c."""
        over = self._isolates_over or self._embeddings_over
        if letter == "8" and not over:  # else its direction decides nothing
            letter = "67"[self._first_direction(index)]
        deeper = _next_level(level, odd=letter == "7")
        if deeper <= DEEPEST and not over:
            self._isolates += 1
            self._stack.append((deeper, "", True))
        else:
            self._isolates_over += 1

    def _first_direction(self, index: int) -> int:
        """X5c: P2 and P3 within an isolate; those inside of it are jumped over."""
        end = self._matches[index]
        found = _STRONG_OR_ISOLATE.search(self._classes, index + 1, end)
        while found and found[0] not in "LRA":
            after = self._matches.get(found.start(), found.start()) + 1
            found = _STRONG_OR_ISOLATE.search(self._classes, min(after, end), end)
        return int(found is not None and found[0] != "L")

    def _end_isolate(self) -> None:
        """X6a."""
        if self._isolates_over:
            self._isolates_over -= 1
        elif self._isolates:
            self._embeddings_over = 0
            while not self._stack[-1][2]:
                self._stack.pop()
            self._stack.pop()
            self._isolates -= 1

    def _end_embedding(self) -> None:
        """X7."""
        if self._isolates_over:
            return
        if self._embeddings_over:
            self._embeddings_over -= 1
        elif not self._stack[-1][2] and len(self._stack) > 1:
            self._stack.pop()


def _next_level(level: int, *, odd: bool) -> int:
    return level + 1 + ((level & 1) == odd)


def _matches(classes: str) -> dict[int, int]:
    """BD9: where each isolate ends; one that does not ends with the paragraph."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for place in _ISOLATE.finditer(classes):
        if place[0] != "9":
            waiting.append(place.start())
        elif waiting:
            found[waiting.pop()] = place.start()
    return found | dict.fromkeys(waiting, len(classes))


def _sequences(classes: str, levels: list[int], letters: str, base: int) -> list[Run]:
    """X10: level runs, joined across isolates, with what stands before and behind them."""
    kept = [found.start() for found in _NOT_REMOVED.finditer(classes)]
    level_runs: list[list[int]] = []
    for index in kept:
        if level_runs and levels[level_runs[-1][-1]] == levels[index]:
            level_runs[-1].append(index)
        else:
            level_runs.append([index])
    sequences: list[list[int]] = []
    open_isolates: list[list[int]] = []  # sequences that wait for a PDI
    for run in level_runs:
        if classes[run[0]] == "9" and open_isolates:
            sequence = open_isolates.pop()
            sequence += run
        else:
            sequence = run
            sequences.append(sequence)
        if classes[run[-1]] in "678":
            open_isolates.append(sequence)
    after = dict(itertools.pairwise(kept))
    before = {second: first for first, second in after.items()}
    return [_finish(s, classes, levels, letters, base, before, after) for s in sequences]


def _finish(
    sequence: list[int],
    classes: str,
    levels: list[int],
    letters: str,
    base: int,
    before: dict[int, int],
    after: dict[int, int],
) -> Run:
    level = levels[sequence[0]]
    previous = before.get(sequence[0])
    following = None if classes[sequence[-1]] in "678" else after.get(sequence[-1])
    left = base if previous is None else levels[previous]
    right = base if following is None else levels[following]
    return Run(
        sequence,
        "".join([letters[index] for index in sequence]),
        level,
        "LR"[max(level, left) & 1],
        "LR"[max(level, right) & 1],
    )
