"""Coordinates turned into places: cells of a grid in metres, or of H3."""

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl

from passerby.errors import InputError
from passerby.support.checks import number, whole

METRES_PER_DEGREE = 6_371_008.8 * math.pi / 180
"""Length of a degree along a meridian of a sphere with the Earth's mean radius."""


@dataclass(frozen=True)
class Cells:
    """How coordinates become places: exactly one of the two is given.

    >>> Cells(grid_metres=500).names(pl.Series([48.8566, 48.8567]), pl.Series([2.3522, 2.3522])).to_list()
    ['r30880c26681', 'r30880c26681']
    """

    grid_metres: float | None = None
    h3_resolution: int | None = None

    def __post_init__(self) -> None:
        if (self.grid_metres is None) == (self.h3_resolution is None):
            raise InputError("give either grid_metres or h3_resolution to turn coordinates into places, not both")
        if self.grid_metres is not None:
            number(self.grid_metres, "grid_metres", 1, 10_000_000)
        if self.h3_resolution is not None:
            whole(self.h3_resolution, "h3_resolution", 0, 15)
            _h3()

    def names(self, latitude: pl.Series, longitude: pl.Series) -> pl.Series:
        """Names (n,) of the cells at valid coordinates (n,) in degrees."""
        if self.grid_metres is not None:
            return grid_names(latitude, longitude, self.grid_metres)
        return _h3_names(latitude, longitude, int(self.h3_resolution or 0))


def grid_names(latitude: pl.Series, longitude: pl.Series, metres: float) -> pl.Series:
    """Names `r<row>c<column>` (n,) of cells of about `metres` by `metres`.

    Rows are bands of latitude counted from the South Pole. Each row is cut into a whole number of columns, as many as
    fit at its middle latitude, counted eastward from 180° W. So cells have nearly the same size everywhere.
    """
    height = metres / METRES_PER_DEGREE
    rows = max(1, math.ceil(180 / height))
    north = latitude.to_numpy()
    # All meridians meet at the poles.
    east = np.where(np.abs(north) == 90, 0.0, longitude.to_numpy())
    row = np.clip(np.floor((north + 90) / height), 0, rows - 1)
    middle = np.clip((row + 0.5) * height - 90, -90, 90)
    columns = np.maximum(1, np.rint(360 / height * np.cos(np.radians(middle))))
    column = np.floor((east + 180) / 360 * columns) % columns  # 180° E is 180° W
    cells = pl.DataFrame({"row": row.astype(np.int64), "column": column.astype(np.int64)})
    return cells.select(place=pl.format("r{}c{}", "row", "column")).to_series()


def valid_coordinates(latitude: pl.Series, longitude: pl.Series) -> pl.Series:
    """Marks of coordinates (n,) on Earth: numbers within 90 degrees of the equator and 180 of Greenwich."""
    valid = latitude.is_between(-90, 90) & longitude.is_between(-180, 180)
    return valid.fill_null(False)


def _h3() -> Any:
    try:
        return import_module("h3")
    except ImportError:
        raise InputError(
            "h3_resolution needs the package h3, which is not installed: `pip install h3`, or use grid_metres"
        ) from None


def _h3_names(latitude: pl.Series, longitude: pl.Series, resolution: int) -> pl.Series:
    h3 = _h3()
    cell_of = getattr(h3, "latlng_to_cell", None) or h3.geo_to_h3  # the name changed with version 4
    points = pl.DataFrame({"latitude": latitude, "longitude": longitude})
    # Check-ins repeat coordinates: each is looked up once.
    once = points.unique()
    names = [cell_of(*point, resolution) for point in once.iter_rows()]
    cells = once.with_columns(place=pl.Series(names, dtype=pl.String))
    return points.join(cells, on=["latitude", "longitude"], how="left", maintain_order="left")["place"]
