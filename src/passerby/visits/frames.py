"""Tables of visits that are in memory: polars' own, and pandas' without pyarrow."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError


def as_polars(table: Any) -> pl.DataFrame:
    """The table itself, or a pandas table column by column (so that pyarrow is not needed)."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if type(table).__module__.partition(".")[0] in ("pandas", "geopandas", "skmob", "trackintel"):
        names = [str(name) for name in table.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"the table has the column {twice!r} more than once; rename the columns")
        return pl.DataFrame([_pandas_column(str(name), table[name]) for name in table.columns])
    raise InputError(f"a {type(table).__name__} is not a table of visits; give a path, or a polars or pandas DataFrame")


def _in_micros(times: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
    """Times of any unit in microseconds; those that do not fit become the first or the last that Python knows."""
    if np.datetime_data(times.dtype)[0] in ("s", "ms"):
        first, last = (np.datetime64(day, "s") for day in ("0001-01-01", "9999-12-31"))
        times = np.where(times < first, first, np.where(times > last, last, times))
    return times.astype("datetime64[us]")


def _pandas_column(name: str, column: Any) -> pl.Series:
    kind = column.dtype.kind
    if kind == "M":
        zone = getattr(column.dtype, "tz", None)
        naive = column if zone is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
        times = pl.Series(name, _in_micros(naive.to_numpy()))
        return times if zone is None else times.dt.replace_time_zone("UTC")
    if kind in "iu" and not column.isna().any():
        return pl.Series(name, column.to_numpy())
    if kind == "f":
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    values = [None if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]
    return pl.Series(name, values, dtype=pl.String)
