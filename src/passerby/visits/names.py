"""Names of people and places: one rule for numbers written in several ways, and similar names.

`7`, `7.0` and `7.00` are one number, and so one name: a column with missing values is written with points by many
programs. If such a column cannot hold numbers to the last digit, they are refused: they may belong to several people.

Coordinates turned into places: cells of a grid in metres, or of H3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import number, whole
from passerby.support.rule_of_five import FEW

NO_NAMES = ("", "null", "nan", "none", "n/a", "#n/a", "<na>")
"""Words for a missing name, in small letters."""
NA = "NA"
"""R's word for it. In other letters it may be a name."""

#: Whole numbers from which on floating-point numbers of each size leave some out.
EXACT: dict[type[pl.DataType], float] = {pl.Float64: 2.0**53, pl.Float32: 2.0**24}
_POINT = r"^(-?(?:0|[1-9]\d*))\.0+$"
_POWER = r"^-?\d(?:\.(?<decimals>\d+))?[eE]\+(?<power>\d+)$"

#: A message for names that are numbers with zeros after the point.
ZEROS = (
    "Some people or places are named by whole numbers with zeros after the point, such as 7.0: they are taken for the "
    "same as 7."
)


@dataclass(frozen=True)
class Names:
    """Names as read (n,), null if there are none, and marks of numbers with lost digits."""

    names: pl.Series
    lost: pl.Series
    zeros: bool = False
    """Whether zeros after a point were taken off a text."""

    @classmethod
    def of(cls, values: pl.Series) -> Names:
        """Names without blanks around them; whole numbers lose their point and the zeros after it.

        >>> Names.of(pl.Series([" ann", "7.00", "1e+05", "NA", "7.5"])).names.to_list()
        ['ann', '7', '100000', None, '7.5']
        """
        if values.dtype.is_float():
            return cls._of_floats(values)
        text = _given(values.cast(pl.String).str.strip_chars())
        nothing = pl.repeat(False, len(text), dtype=pl.Boolean, eager=True)
        # Few names hold either: the rest is left alone.
        odd = text.str.contains(r"\.0+$|[eE]\+").fill_null(False).arg_true()
        if not len(odd):
            return cls(text, nothing)
        some = text.gather(odd)
        number = some.cast(pl.Float64, strict=False)
        whole, power = some.str.contains(_POINT), some.str.extract_groups(_POWER).struct.unnest()
        plain = some.str.replace(_POINT, "$1").replace("-0", "0")
        digits = number.cast(pl.Int64, strict=False).cast(pl.String)
        exponent, decimals = power["power"].cast(pl.Int64, strict=False), power["decimals"].str.len_bytes()
        cut = exponent.is_not_null() & decimals.is_not_null() & (exponent > decimals)
        lost = cut.fill_null(True) | ((whole | exponent.is_not_null()) & (number.abs() >= EXACT[pl.Float64]))
        exact = exponent.is_not_null() & (digits.cast(pl.Float64, strict=False) == number).fill_null(False)
        read = digits.zip_with(exact & ~lost, plain)
        if values.dtype.is_decimal():  # it holds all digits
            lost = lost & False
        return cls(text.scatter(odd, read), nothing.scatter(odd, lost), bool(whole.any()) and values.dtype == pl.String)

    @classmethod
    def _of_floats(cls, values: pl.Series) -> Names:
        whole = values.cast(pl.Int64, strict=False)
        text = whole.cast(pl.String).zip_with(whole == values, values.fill_nan(None).cast(pl.String))
        lost = (values.abs() >= EXACT.get(values.dtype.base_type(), 2.0**11)) & values.is_finite()
        return cls(_given(text), lost.fill_null(False))


def _given(names: pl.Series) -> pl.Series:
    """Names, null for words for a missing name."""
    # Only short texts can stand for nothing: lower case is worked out for these alone.
    short = (names.str.len_bytes() <= 4).fill_null(False).arg_true()
    given = names.gather(short)
    nothing = given.str.to_lowercase().is_in(NO_NAMES) | (given == NA)
    return names.scatter(short.filter(nothing), None) if nothing.any() else names


def name_of(value: object) -> str:
    """The name in a cell of a small table, read as in visits; "" if there is none.

    >>> name_of(7.0), name_of(" 7.00 "), name_of("gate 7.0"), name_of(None)
    ('7', '7', 'gate 7.0', '')
    """
    text = "" if value is None else str(value).strip()
    return re.sub(r"^-0$", "0", re.sub(_POINT, r"\1", text))


def keys(names: pl.Series) -> NDArray[np.uint64]:
    """Words (n,), equal for names differing by capitals or by the form of their letters alone.

    Numbers do not: of them there are none.
    """
    if names.dtype != pl.String:
        return np.empty(0, dtype=np.uint64)
    return _folded(names).hash().to_numpy()


def _folded(names: pl.Series) -> pl.Series:
    return names.str.normalize("NFKC").str.to_lowercase()


def about_alike(people: NDArray[np.uint64], places: pl.Series) -> tuple[str, ...]:
    """Remarks on similar names: of people by their `keys`, and of `places`, each once."""
    _, counts = np.unique(people, return_counts=True)
    found = int(counts[counts > 1].sum())
    out = []
    if found:
        some = f"Fewer than {FEW}" if found < FEW else f"{found:,}"
        out.append(f"{some} names of people {_ALIKE}: they are taken for different people. Write each in one way.")
    table = pl.DataFrame({"name": places.sort(), "key": _folded(places.sort())})
    same = table.filter(table["key"].is_duplicated())
    if same.height:
        first = same.filter(pl.col("key") == same["key"][0])["name"].head(2).to_list()
        out.append(
            f"{same.height:,} names of places {_ALIKE}, such as {_listed(first)}: they are taken for different "
            "places. Write each in one way."
        )
    return tuple(out)


_ALIKE = "differ from others by capitals, or by how letters are composed, alone"


def _listed(names: Sequence[str]) -> str:
    """Names as Python writes them, so similar names do not look the same."""
    shown = [repr(name) for name in names]
    return " and ".join(shown if len({*map(str.casefold, names)}) == 1 else [ascii(name) for name in names])


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
