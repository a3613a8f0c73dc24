"""What a reader takes for one character: grapheme clusters (UAX #29, extended)."""

from __future__ import annotations

import re

from dala.text.unicode.tables import Array, letters, tables

# One cluster, in letters of tables.GRAPHEME.
_CLUSTER = re.compile(
    "rf|[rfc]"  # GB3 to GB5
    "|p*(?:"  # GB9b
    "L*(?:V+|vV*|t)T*|L+|T+"  # GB6 to GB8: a syllable of Hangul
    "|RR"  # GB12, GB13: a flag
    "|x(?:e*zx)*"  # GB11: joined emoji
    "|[^rfc]"
    ")[ezs]*"  # GB9, GB9a
)


def grapheme_starts(records: Array) -> list[int]:
    """Where each cluster begins, of a text's records (``tables().records``)."""
    return cluster_starts(letters(tables().grapheme, records))


def cluster_starts(classes: str) -> list[int]:
    """The same of classes."""
    return [found.start() for found in _CLUSTER.finditer(classes)]
