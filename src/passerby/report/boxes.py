"""People as boxes: a picture of two of their values that shows dense regions and no single person.

The plane is cut into fine classes. Strips along the first value are merged until each holds enough people. Classes of
the second value are merged in the same way within each strip. So everybody is in a box, and no box holds fewer than
`FEW` people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.support.rule_of_five import FEW, counting, merged, middle

Floats = NDArray[np.float64]

#: Classes along each axis, before classes with few people are merged.
CLASSES = 20
#: Boxes, at most: more people make larger groups, not more of them.
BOXES = 150
#: A strip has room for at least so many boxes.
STRIP = 3


def sizes(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """The number of people in each class; people beyond the last edge are in the last class."""
    return np.histogram(values.clip(edges[0], edges[-1]), edges)[0]


def strips(x: Floats, top: float, cut: float | None = None) -> list[tuple[float, float, NDArray[np.bool_]]]:
    """Classes of x from 0 to `top`, each with enough people for a few boxes: its ends, and a mark of its people (n,).

    None of them lies on both sides of a `cut`, a border between people in other tables.

    People beyond the top are in the last one. All figures by x use these classes: two different divisions could be
    compared, and their difference could reveal a few people.

    >>> [int(who.sum()) for _, _, who in strips(np.repeat([0.1, 0.9], 30), 1.0) if who.any()]
    [30, 30]
    """
    across, place = np.linspace(0, top, CLASSES + 1), x.clip(0, top)
    counts, wanted, out = sizes(x, across), STRIP * _least(len(x)), []
    between = 0 if cut is None else int(np.argmin(abs(across - cut)))
    halves = [(first, last) for first, last in ((0, between), (between, CLASSES)) if first < last]
    if any(0 < counts[first:last].sum() < FEW for first, last in halves):
        halves = [(0, CLASSES)]
    parts = [
        (begin + first, begin + last)
        for begin, end in halves
        for first, last in merged(counts[begin:end], min(wanted, int(counts[begin:end].sum())))
    ]
    for first, last in parts:
        low, high = float(across[first]), float(across[last])
        out.append((low, high, (place >= low) & ((place < high) | (last == CLASSES))))
    return out


def _least(people: int) -> int:
    """The fewest people in a box."""
    return max(FEW, math.ceil(people / BOXES))


def boxes(
    x: Floats, y: Floats, top: float, edges: Sequence[float], cut: float | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Boxes of x, from 0 to `top`, by a chance y, and the median of y in each strip of boxes.

    Chances are cut at some of the `edges` between 0 and 1, and at no others. Boxes have the columns `x`, `x2`, `y`,
    `y2`, `people` (in fives) and `density` (of them, in each of the fine classes); strips have `x`, `x2`, `median` and
    `people`. The number of all people below a chance is shown elsewhere. If a box lay on both sides of this chance,
    subtracting the other boxes would reveal the few of its people below it.

    >>> x = np.repeat([0.1, 0.9], 30)
    >>> rows, strips = boxes(x, np.tile([0.2, 0.8], 30), 1.0, [0.5])
    >>> rows["people"].to_list(), strips["median"].to_list()
    ([15, 15, 15, 15], [0.44, 0.44])
    """
    inner = [edge for edge in edges if 0 < edge < 1]
    up = [0.0, *inner, 1.0]
    found, medians = [], []
    for left, right, inside in strips(x, top, cut):
        centre = middle(y[inside])
        if centre is None:
            continue
        medians.append((left, right, centre, int(inside.sum())))
        below = counting(y[inside])
        counts = np.diff([0, *map(below, inner), int(inside.sum())])
        width = round(CLASSES * (right - left) / top)
        for low, high in merged(counts, min(_least(len(x)), int(inside.sum()))):
            people, tall = int(counts[low:high].sum()), CLASSES * (up[high] - up[low])
            if people:
                told = FEW * round(people / FEW)
                found.append((left, right, up[low], up[high], told, told / (width * tall)))
    rows = pl.DataFrame(found, schema=["x", "x2", "y", "y2", "people", "density"], orient="row")
    lines = pl.DataFrame(medians, schema=["x", "x2", "median", "people"], orient="row")
    return rows.with_columns(pl.col("x", "x2", "y", "y2").round(3)), lines.with_columns(
        pl.col("x", "x2", "median").round(3)
    )
