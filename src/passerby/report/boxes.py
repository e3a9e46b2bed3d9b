"""People as boxes: a picture of two of their values that shows where they are close together, and no one of them.

The plane is cut into fine classes. Strips along the first value are merged until each holds enough people, then classes
of the second value within each strip, so that everybody is in a box and no box holds fewer than `FEW` people.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.support.groups import FEW, merged, middle

Floats = NDArray[np.float64]

#: Classes along each axis, before those with few people are merged.
CLASSES = 20
#: Boxes, at most: more people make larger groups, not more of them.
BOXES = 150
#: Boxes that a strip has room for, at least.
STRIP = 3


def sizes(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """How many people are in each class; who is beyond the last edge is in the last class."""
    return np.histogram(values.clip(edges[0], edges[-1]), edges)[0]


def boxes(x: Floats, y: Floats, top: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Boxes of x, from 0 to `top`, by a chance y, and the median of y in each strip of boxes.

    Boxes have the columns `x`, `x2`, `y`, `y2`, `people` and `density` (people for each of the fine classes); strips
    `x`, `x2`, `median` and `people`.

    >>> x = np.repeat([0.1, 0.9], 30)
    >>> rows, strips = boxes(x, np.tile([0.2, 0.8], 30), 1.0)
    >>> rows["people"].to_list(), strips["median"].to_list()
    ([15, 15, 15, 15], [0.44, 0.44])
    """
    across, up = np.linspace(0, top, CLASSES + 1), np.linspace(0, 1, CLASSES + 1)
    place, least = x.clip(0, top), max(FEW, math.ceil(len(x) / BOXES))
    found, medians = [], []
    for first, last in merged(sizes(x, across), min(STRIP * least, len(x))):
        ends = float(across[first]), float(across[last])
        inside = (place >= ends[0]) & ((place < ends[1]) | (last == CLASSES))
        centre = middle(y[inside])
        if centre is None:
            continue
        medians.append((*ends, centre, int(inside.sum())))
        counts = sizes(y[inside], up)
        for low, high in merged(counts, least):
            people = int(counts[low:high].sum())
            if people:
                density = people / ((last - first) * (high - low))
                found.append((*ends, float(up[low]), float(up[high]), people, density))
    rows = pl.DataFrame(found, schema=["x", "x2", "y", "y2", "people", "density"], orient="row")
    strips = pl.DataFrame(medians, schema=["x", "x2", "median", "people"], orient="row")
    return rows.with_columns(pl.col("x", "x2", "y", "y2").round(3)), strips.with_columns(
        pl.col("x", "x2", "median").round(3)
    )
