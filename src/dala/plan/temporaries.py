"""Temporaries that are not needed at the same time share memory.

Passes run one after the other, so a temporary lives from the pass that writes it to the last one that reads
it. Those of one type whose lives do not meet are one array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from dala.ir.arrays import ArrayType
from dala.plan.fuse import FusedPass, Location, PassArray
from dala.plan.whole import WholePass

Pass: TypeAlias = FusedPass | WholePass


def share_temporaries(
    passes: Sequence[Pass], temps: Sequence[ArrayType]
) -> tuple[list[Pass], list[ArrayType]]:
    """The passes with as few temporaries as their lives allow, and the types of these."""
    kept: list[ArrayType] = []
    ends: list[int] = []  # the last pass that uses each of those kept
    homes: dict[int, int] = {}
    for number, (first, last) in sorted(
        _lives(passes).items(), key=lambda item: (item[1], item[0])
    ):
        free = (k for k, t in enumerate(kept) if t == temps[number] and ends[k] < first)
        home = next(free, len(kept))
        if home == len(kept):
            kept.append(temps[number])
            ends.append(last)
        ends[home], homes[number] = last, home
    moves = {Location("temp", n): Location("temp", home) for n, home in homes.items()}
    return [moved(work, moves) for work in passes], kept


def _lives(passes: Sequence[Pass]) -> dict[int, tuple[int, int]]:
    """The first and the last pass that uses each temporary."""
    lives: dict[int, tuple[int, int]] = {}
    for number, work in enumerate(passes):
        for array in (*work.reads, *work.writes):
            if array.location.kind == "temp":
                first, _ = lives.get(array.location.number, (number, number))
                lives[array.location.number] = (first, number)
    return lives


def moved(work: Pass, homes: Mapping[Location, Location]) -> Pass:
    """The pass with some of its arrays in other places."""

    def move(array: PassArray) -> PassArray:
        return replace(array, location=homes.get(array.location, array.location))

    return replace(work, reads=tuple(map(move, work.reads)), writes=tuple(map(move, work.writes)))
