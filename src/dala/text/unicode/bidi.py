"""Which way text runs: the bidirectional algorithm (UAX #9).

    paragraph_level  P2, P3    resolve_levels  X1 to I2, of one paragraph
    reset_levels     L1        visual_order    L2, of one line

Classes are strings, one letter a character (``tables.BIDI``): most rules are one look at the string that
says they do not apply, and a regular expression where they do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dala.text.unicode.explicit import isolating_runs, paragraph_level
from dala.text.unicode.tables import tables

__all__ = ["paragraph_level", "reset_levels", "resolve_levels", "visual_order"]

_RIGHT = re.compile("[RAa1-9]")  # without any of them a paragraph from left to right is level 0
_NEUTRAL = "BSWO6789"
_BETWEEN_NUMBERS = re.compile("(?<=e)[sc](?=e)|(?<=a)c(?=a)")
_TERMINATORS = re.compile("t+(?=e)|(?<=e)t+")
_SEPARATORS = str.maketrans("sct", "OOO")
_AFTER_LEFT = re.compile("L[^LR]*e[^LR]*")
_AFTER_ARABIC = re.compile("A[^LRA]*e[^LRA]*")
_BETWEEN_LEFT = re.compile(f"(?<=L)[{_NEUTRAL}]+(?=L)")
_BETWEEN_RIGHT = re.compile(f"(?<=[Rea])[{_NEUTRAL}]+(?=[Rea])")
_ANY_NEUTRAL = re.compile(f"[{_NEUTRAL}]")
_TO_EMBEDDING = [str.maketrans(_NEUTRAL, letter * len(_NEUTRAL)) for letter in "LR"]
_ABOVE = [{"L": 0, "R": 1, "a": 2, "e": 2}, {"L": 1, "R": 0, "a": 1, "e": 1}]  # I1, I2
_TRAILING = re.compile("[W6789b1-5]*(?:[SB]|$)")
MOST_BRACKETS = 63  # BD16


def resolve_levels(classes: str, base: int, codes: Sequence[int] | None = None) -> list[int]:
    """The embedding level of each character of a paragraph; ``codes`` are for brackets.

    What rule X9 removes has the level of its surroundings.
    """
    if not base and not _RIGHT.search(classes):
        return [0] * len(classes)
    levels, runs = isolating_runs(classes, base)
    for run in runs:
        indices, letters = run.indices, run.letters
        resolved = _resolve_run(letters, run.sos, run.eos, run.level, codes, indices, classes)
        above = _ABOVE[run.level & 1]
        for index, letter in zip(indices, resolved, strict=True):
            levels[index] += above[letter]
    return levels


def reset_levels(levels: list[int], classes: str, base: int) -> None:
    """L1, of a line: separators, and white space before them or at the end, have the paragraph's level."""
    for found in _TRAILING.finditer(classes):
        start, stop = found.span()
        if start < stop:
            levels[start:stop] = [base] * (stop - start)


def visual_order(levels: Sequence[int]) -> list[int]:
    """L2: the indices of things with these levels, from left to right."""
    order = list(range(len(levels)))
    if not order:
        return order
    lowest_odd = min((level for level in levels if level & 1), default=0)
    if not lowest_odd:
        return order
    for level in range(max(levels), lowest_odd - 1, -1):
        start = None
        for place, other in enumerate([*levels, -1]):
            if other >= level and start is None:
                start = place
            elif other < level and start is not None:
                order[start:place] = order[start:place][::-1]
                start = None
    return order


# -- one isolating run sequence -------------------------------------------------------------------------


def _resolve_run(
    letters: str,
    sos: str,
    eos: str,
    level: int,
    codes: Sequence[int] | None,
    indices: Sequence[int],
    classes: str,
) -> str:
    letters = _resolve_weak(letters, sos)
    if codes is not None and "O" in letters:
        letters = _resolve_brackets(letters, sos, level, codes, indices, classes)
    if not _ANY_NEUTRAL.search(letters):
        return letters
    whole = sos + letters + eos  # N1
    whole = _BETWEEN_LEFT.sub(lambda found: "L" * len(found[0]), whole)
    whole = _BETWEEN_RIGHT.sub(lambda found: "R" * len(found[0]), whole)
    return whole[1:-1].translate(_TO_EMBEDDING[level & 1])  # N2


def _resolve_weak(letters: str, sos: str) -> str:
    """W1 to W7."""
    if "n" in letters:
        letters = _place_marks(letters, sos)
    if "A" in letters:
        if "e" in letters:
            letters = _AFTER_ARABIC.sub(lambda found: found[0].replace("e", "a"), letters)
        letters = letters.replace("A", "R")
    if "e" in letters or "a" in letters:
        letters = _BETWEEN_NUMBERS.sub(lambda found: letters[found.start() - 1], letters)
        if "t" in letters:
            letters = _TERMINATORS.sub(lambda found: "e" * len(found[0]), letters)
    letters = letters.translate(_SEPARATORS)
    if "e" in letters:
        whole = sos + letters
        letters = _AFTER_LEFT.sub(lambda found: found[0].replace("e", "L"), whole)[1:]
    return letters


def _place_marks(letters: str, before: str) -> str:
    """W1."""
    placed = []
    for letter in letters:
        if letter == "n":
            letter = "O" if before in "6789" else before
        placed.append(letter)
        before = letter
    return "".join(placed)


# -- brackets (N0) -----------------------------------------------------------------------------------------


def _resolve_brackets(
    letters: str, sos: str, level: int, codes: Sequence[int], indices: Sequence[int], classes: str
) -> str:
    pairs = _bracket_pairs(letters, codes, indices)
    if not pairs:
        return letters
    embedding = "LR"[level & 1]
    resolved = list(letters)
    for opener, closer in pairs:
        direction = _direction_of(resolved, opener, closer, sos, embedding)
        if direction is None:
            continue
        for place in (opener, closer):
            resolved[place] = direction
            place += 1
            while place < len(resolved) and classes[indices[place]] == "n":  # marks on a bracket
                resolved[place] = direction
                place += 1
    return "".join(resolved)


def _bracket_pairs(
    letters: str, codes: Sequence[int], indices: Sequence[int]
) -> list[tuple[int, int]]:
    """BD16."""
    known = tables()
    openers, closers = known.openers, known.closers
    stack: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    for place, letter in enumerate(letters):
        if letter != "O":
            continue
        code = codes[indices[place]]
        if code in openers:
            if len(stack) == MOST_BRACKETS:
                return []
            stack.append((openers[code], place))
        elif code in closers:
            wanted = closers[code]
            for depth in range(len(stack) - 1, -1, -1):
                if stack[depth][0] == wanted:
                    pairs.append((stack[depth][1], place))
                    del stack[depth:]
                    break
    return sorted(pairs)


_STRONG = {"L": "L", "R": "R", "e": "R", "a": "R"}


def _direction_of(
    letters: list[str], opener: int, closer: int, sos: str, embedding: str
) -> str | None:
    """What a pair becomes, by what it holds and by what stands before it; or nothing."""
    inside = {_STRONG.get(letter) for letter in letters[opener + 1 : closer]} - {None}
    if embedding in inside:
        return embedding
    if not inside:
        return None
    for place in range(opener - 1, -1, -1):
        if letters[place] in _STRONG:
            return _STRONG[letters[place]]
    return sos
