"""Names of cases."""

from __future__ import annotations


def named(value: object) -> str:
    """A part of a case's name; a function has none (its text is an address, another in every process)."""
    return "" if callable(value) else str(value)[:40]
