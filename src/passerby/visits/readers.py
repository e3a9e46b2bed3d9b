"""From a file or a table in memory to `Visits`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import polars as pl

from passerby.errors import InputError
from passerby.support.workers import Progress

from .delimited import Batch, first_line, read_batches
from .files import DAMAGED, check_file
from .gather import Gatherer
from .grid import Cells
from .layouts import FIXED, FOURSQUARE, detect_layout, header_layout, match_columns
from .table import Visits
from .times import check_timezone

LayoutName = Literal["auto", "foursquare", "gowalla", "table"]

_SLICE = 2_000_000


def read_visits(
    source: str | Path | Any,
    layout: LayoutName = "auto",
    *,
    person: str | None = None,
    time: str | None = None,
    place: str | None = None,
    latitude: str | None = None,
    longitude: str | None = None,
    grid_metres: float | None = None,
    h3_resolution: int | None = None,
    timezone: str = "UTC",
    max_unparsable: float = 0.01,
    progress: Progress | None = None,
) -> Visits:
    """Read who was where and when from a file, or from a polars or pandas table.

    `layout` is "foursquare" (TIST2015 check-ins), "gowalla" (SNAP check-ins), "table" (CSV, TSV or Parquet with named
    columns) or "auto", which looks at the first line. Files may be compressed (gzip, bzip2, xz, zstd). Columns of a
    table are recognised by usual names, scikit-mobility's and trackintel's among them, or named by `person`, `time`,
    `place`, `latitude` and `longitude`. With `grid_metres` or `h3_resolution` the coordinates become places.

    Times without a zone are read in `timezone`; all become UTC. Rows whose time cannot be read are left out and
    counted in `Visits.skipped`, and refused where they are more than a share `max_unparsable` of all rows; the same
    holds for bad coordinates. Rows without a person or place and repeated rows are left out and counted.
    `progress(done, all)` is told how many bytes of a file have been read.

    >>> table = pl.DataFrame({"user": [7, 7, 3], "time": ["2024-05-01 08:00", "2024-05-01 09:00", "2024-05-02"],
    ...                       "place": ["café", "park", "park"]})
    >>> read_visits(table)
    Visits(rows=3, people=2, places=2)
    """
    given = {"person": person, "time": time, "place": place, "latitude": latitude, "longitude": longitude}
    coordinates = grid_metres is not None or h3_resolution is not None
    gatherer = Gatherer(
        source=str(source) if isinstance(source, str | Path) else "the table",
        timezone=timezone,
        cells=Cells(grid_metres, h3_resolution) if coordinates else None,
        max_unparsable=max_unparsable,
    )
    check_timezone(timezone)
    if not 0 <= max_unparsable <= 1:
        raise InputError(f"max_unparsable is {max_unparsable}; it is a share of the rows, from 0 to 1")
    if layout not in ("auto", "table", *FIXED):
        raise InputError(f"layout {layout!r} is not known; choose 'auto', 'table', {', '.join(map(repr, FIXED))}")
    if isinstance(source, str | Path):
        batches = _file_batches(Path(source), layout, given, coordinates, progress)
    else:
        batches = _frame_batches(_as_polars(source), given, coordinates)
    for batch in batches:
        gatherer.add(batch)
    return gatherer.finish()


def _file_batches(
    path: Path, layout: str, given: dict[str, str | None], coordinates: bool, progress: Progress | None
) -> Iterator[Batch]:
    named = [role for role, column in given.items() if column is not None]
    if layout in FIXED and named:
        raise InputError(f"layout {layout!r} has no column names, so {named[0]}= has no meaning; leave it out")
    if check_file(path)[:4] == b"PAR1":
        yield from _parquet_batches(path, given, coordinates, progress)
        return
    try:
        line = first_line(path)
        if layout in FIXED:
            chosen = FIXED[layout]
        else:
            chosen = header_layout(line) if layout == "table" or named else detect_layout(line)
        if coordinates and chosen is FOURSQUARE:
            raise InputError("the Foursquare layout holds no coordinates; leave out grid_metres and h3_resolution")
        roles = match_columns(chosen.columns, given, coordinates=coordinates)
    except InputError as error:
        raise _located(error, path) from None
    yield from read_batches(path, chosen, roles, progress)


def _parquet_batches(
    path: Path, given: dict[str, str | None], coordinates: bool, progress: Progress | None
) -> Iterator[Batch]:
    try:
        lazy = pl.scan_parquet(path)
        roles = match_columns(lazy.collect_schema().names(), given, coordinates=coordinates)
        rows = lazy.select(pl.len()).collect().item()
        for start in range(0, rows, _SLICE):
            frame = lazy.select(pl.col(column).alias(role) for role, column in roles.items())
            batch = Batch(frame.slice(start, _SLICE).collect(), start + 1)
            if progress:
                size = path.stat().st_size
                progress(size * (start + batch.frame.height) // rows, size)
            yield batch
    except DAMAGED:
        raise InputError(f"{path} is damaged or no Parquet file; copy or write it again") from None
    except InputError as error:
        raise _located(error, path) from None


def _frame_batches(frame: pl.DataFrame, given: dict[str, str | None], coordinates: bool) -> Iterator[Batch]:
    roles = match_columns(frame.columns, given, coordinates=coordinates)
    chosen = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    for start in range(0, frame.height, _SLICE):
        yield Batch(chosen.slice(start, _SLICE), start + 1)


def _as_polars(table: Any) -> pl.DataFrame:
    """The table itself, or a pandas table column by column (so that pyarrow is not needed)."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if type(table).__module__.partition(".")[0] in ("pandas", "geopandas", "skmob", "trackintel"):
        return pl.DataFrame([_pandas_column(str(name), table[name]) for name in table.columns])
    raise InputError(f"a {type(table).__name__} is not a table of visits; give a path, or a polars or pandas DataFrame")


def _pandas_column(name: str, column: Any) -> pl.Series:
    kind = column.dtype.kind
    if kind == "M":
        zone = getattr(column.dtype, "tz", None)
        naive = column if zone is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
        times = pl.Series(name, naive.to_numpy().astype("datetime64[us]"))
        return times if zone is None else times.dt.replace_time_zone("UTC")
    if kind in "iu" and not column.isna().any():
        return pl.Series(name, column.to_numpy())
    if kind == "f":
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    values = [None if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]
    return pl.Series(name, values, dtype=pl.String)


def _located(error: InputError, path: Path) -> InputError:
    message = str(error)
    return error if str(path) in message else InputError(f"{path}: {message}")
