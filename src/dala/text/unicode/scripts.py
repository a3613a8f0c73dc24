"""Runs of one script (UAX #24). What is common to all scripts belongs to the one before it."""

from __future__ import annotations

from dala.text.unicode.tables import Array, tables

COMMON = ("Zyyy", "Zinh", "Zzzz")


def scripts_of(records: Array) -> list[str]:
    """The script of each character, as ISO 15924 names it."""
    names = tables().script
    found = [names[record] for record in records.tolist()]
    current = next((name for name in found if name not in COMMON), "Latn")
    for index, name in enumerate(found):
        if name in COMMON:
            found[index] = current
        else:
            current = name
    return found
