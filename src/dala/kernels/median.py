"""The median of a square window, through networks of minima and maxima.

1. Sort every column of the window.
2. Sort every row of the result; the columns stay sorted.
3. Now (row, column) is at least as large as everything above and to the left of it. Whatever is
   thereby known to be larger, or smaller, than half of the window is dropped.
4. What survives goes through a network made for this order; the median comes out in one place.

Exchanges whose results nobody reads cost nothing: the graph does not contain them. A window of 3 x 3
is left with 30 minima and maxima per channel (19 exchanges, as Smith and Paeth have it), 5 x 5 with
196 and 7 x 7 with 552. Sorted columns are shared by neighbouring pixels; a device that sees it needs
only 18, 124 and 360. The networks of step 4 were found by a search that always made the exchange
which settles most comparisons; the tests prove them (0-1 principle).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from dala.kernels.declare import builtin
from dala.language.parameter import static
from dala.language.values import Image, Vec
from dala.language.vocabulary import max, min

Network = tuple[tuple[int, int], ...]  # exchanges: the smaller value to the first place

SORT: dict[int, Network] = {
    3: ((0, 1), (1, 2), (0, 1)),
    5: ((0, 1), (3, 4), (2, 4), (2, 3), (1, 4), (0, 3), (0, 2), (1, 3), (1, 2)),
    7: (
        (1, 2), (3, 4), (5, 6), (0, 2), (3, 5), (4, 6), (0, 1), (4, 5),
        (2, 6), (0, 4), (1, 5), (0, 3), (2, 5), (1, 3), (2, 4), (2, 3),
    ),
}  # fmt: skip
SELECT: dict[int, Network] = {
    3: ((0, 1), (1, 2), (0, 1)),
    5: (
        (1, 11), (0, 12), (6, 11), (4, 5), (0, 10), (5, 6), (1, 10), (7, 8), (5, 9), (3, 9),
        (1, 8), (2, 12), (3, 11), (3, 12), (1, 9), (5, 7), (4, 7), (1, 7), (3, 7), (6, 7), (2, 6),
        (0, 6),
    ),
    7: (
        (2, 17), (5, 18), (6, 12), (0, 24), (4, 26), (5, 26), (9, 23), (13, 18), (9, 18),
        (15, 22), (4, 17), (11, 15), (14, 17), (13, 26), (1, 27), (5, 22), (13, 23), (11, 12),
        (14, 27), (14, 26), (13, 15), (14, 18), (13, 27), (14, 23), (14, 28), (9, 12), (1, 23),
        (4, 24), (14, 24), (1, 24), (9, 17), (3, 27), (1, 21), (12, 14), (4, 25), (1, 25),
        (1, 26), (11, 17), (4, 20), (0, 20), (2, 16), (7, 14), (1, 22), (9, 20), (9, 26), (3, 28),
        (8, 27), (1, 20), (8, 28), (8, 18), (11, 18), (14, 19), (11, 20), (14, 27), (14, 16),
        (14, 17), (14, 23), (14, 18), (10, 14), (10, 22), (8, 24), (11, 14), (13, 14), (8, 26),
        (10, 26), (14, 19), (14, 28), (14, 27), (14, 20), (14, 22), (8, 14), (14, 18), (12, 14),
        (15, 17), (15, 24), (15, 23), (14, 15), (14, 26), (12, 14),
    ),
}  # fmt: skip
MEDIAN_AT = {3: 1, 5: 6, 7: 14}  # the place where SELECT leaves the median


@builtin("image")
def median(
    src: Image, radius: int = static(1, min=1, max=3, help="Reach of the window in pixels.")
) -> Vec:
    """Without specks and dust, edges stay: the middle value of each colour in a window of ±radius.

    >>> photo = np.full((5, 5), 100, np.uint8)
    >>> photo[2, 2] = 255
    >>> int(media.median(photo).max())
    100
    """
    reach = range(-radius, radius + 1)
    middle = median_of_columns([[src[dx, dy].rgb for dy in reach] for dx in reach])
    return middle.with_alpha(src[0, 0].a)


def median_of_columns(columns: Sequence[Sequence[Vec]]) -> Vec:
    """The middle one of n · n values that stand in n columns."""
    size = len(columns)
    columns = [exchange(column, SORT[size]) for column in columns]
    kept: list[Vec] = []
    for i in range(size):
        places = [j for row, j in survivors(size) if row == i]
        kept += ranked([column[i] for column in columns], places)
    return exchange(kept, SELECT[size])[MEDIAN_AT[size]]


def survivors(size: int) -> list[tuple[int, int]]:
    """Where, in a square with sorted rows and columns, the median can still be."""
    half = (size * size + 1) // 2
    return [
        (i, j)
        for i in range(size)
        for j in range(size)
        if (i + 1) * (j + 1) <= half and (size - i) * (size - j) <= half
    ]


def ranked(values: Sequence[Vec], places: Sequence[int]) -> list[Vec]:
    """The values that would stand in some places, were they sorted; an end alone needs no network."""
    if list(places) == [0]:
        return [functools.reduce(lower, values)]
    if list(places) == [len(values) - 1]:
        return [functools.reduce(upper, values)]
    ordered = exchange(values, SORT[len(values)])
    return [ordered[place] for place in places]


def exchange(values: Sequence[Vec], network: Network) -> list[Vec]:
    """The values after the exchanges of a network."""
    result = list(values)
    for i, j in network:
        result[i], result[j] = lower(result[i], result[j]), upper(result[i], result[j])
    return result


def lower(a: Vec, b: Vec) -> Vec:
    """The smaller value of each channel."""
    result = min(a, b)
    assert isinstance(result, Vec)
    return result


def upper(a: Vec, b: Vec) -> Vec:
    """The larger value of each channel."""
    result = max(a, b)
    assert isinstance(result, Vec)
    return result
