"""From a file or a table in memory to `Visits`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import function, number
from passerby.support.processes import raise_about_memory
from passerby.support.workers import TOLD, Progress

from .clean_rows import RowCleaner, RowGatherer
from .delimited import Batch, first_line, read_batches
from .files import DAMAGED, check_file, list_files, people_of_files
from .layouts import FILE_NAME, FIXED, FOURSQUARE, Form, detect_layout, header_layout, match_columns, named_layout
from .names import Cells
from .span import Span
from .steps import parse_instant
from .table import Visits
from .times import check_time_format, check_timezone


def as_polars(table: Any) -> pl.DataFrame:
    """The table itself, or a pandas table column by column (so pyarrow is not needed)."""
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
    """Times of any unit in microseconds; times out of range become the first or the last of Python's."""
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


LayoutName = Literal["auto", "foursquare", "gowalla", "table"]

_SLICE = 2_000_000


def read_visits(
    source: str | Path | Sequence[str | Path] | Any,
    layout: LayoutName = "auto",
    *,
    person: str | None = None,
    time: str | None = None,
    place: str | None = None,
    latitude: str | None = None,
    longitude: str | None = None,
    columns: str | Sequence[str] | None = None,
    separator: str | None = None,
    skip_lines: int = 0,
    time_format: str | None = None,
    grid_metres: float | None = None,
    h3_resolution: int | None = None,
    timezone: str = "UTC",
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    max_unparsable: float = 0.01,
    progress: Progress | None = None,
) -> Visits:
    """Read visits (people, times, places) from a file, several files, a folder, or a polars or pandas table.

    `layout` is "foursquare" (TIST2015 check-ins), "gowalla" (SNAP check-ins), "table" (CSV, TSV or Parquet with named
    columns) or "auto". The last one looks at the first line. Files may be compressed (gzip, bzip2, xz, zstd). Columns
    of a table are recognised by usual names, scikit-mobility's and trackintel's among them, or named by `person`,
    `time`, `place`, `latitude` and `longitude`. `person="{file}"` takes each file's own name for the person, if there
    is a file for each. If names are the same in several folders, its folder is added. If the first line is no header,
    `columns` names all columns in order. `skip_lines` passes over lines on top. `separator` is the character between
    columns, if it cannot be seen. With `grid_metres` or `h3_resolution` the coordinates become places.

    Times without a zone are read in `timezone`; all become UTC. `time_format` is "day-first", "month-first" or a
    pattern such as "%d.%m.%Y %H:%M". Rows with unreadable times are left out and counted in `Visits.skipped`. They are
    refused if they are more than a share `max_unparsable` of all rows. The same holds for bad coordinates, and for rows
    without a person or place. Repeated rows (of a person, a time and a place) are left out and counted, unless times
    are cut. Cut times put people at several places at one time: each row is then a visit. Visits count from `since` to
    `until`, if these are given. If not, a few visits far from all others in time are refused, since they would stretch
    the steps. `progress(done, all)` is told how many bytes have been read.

    >>> table = pl.DataFrame({"user": [7, 7, 3], "time": ["2024-05-01 08:00", "2024-05-01 09:00", "2024-05-02"],
    ...                       "place": ["café", "park", "park"]})
    >>> read_visits(table)
    Visits(rows=3, people=2, places=2)
    """
    options = {name: value for name, value in locals().items() if name not in ("source", "progress")}
    reading = Reading.of(source, options)
    function(progress, "progress", TOLD)
    gatherer = RowGatherer(*reading.how)
    if reading.files is None:
        _gather(_frame_batches(as_polars(source), reading.form, gatherer), gatherer)
    else:
        for at in range(len(reading.files)):
            _gather(reading.batches(at, gatherer, progress), gatherer)
    return gatherer.finish()


def read_part(table: Any, timezone: str, *, cut: bool) -> Visits:
    """Visits of some of the people of a table; whether times are cut is known from all of them."""
    gatherer = RowGatherer("the table", timezone, cut=cut)
    form = Form("auto", dict.fromkeys(("person", "time", "place", "latitude", "longitude")), coordinates=False)
    _gather(_frame_batches(as_polars(table), form, gatherer), gatherer)
    return gatherer.finish()


@dataclass(frozen=True)
class Reading:
    """The checked input: the files (None for a table in memory), their form, and the cleaning of rows."""

    files: list[Path] | None
    form: Form
    how: tuple[str, str, str | None, Cells | None, float, Span]
    """The arguments of a `RowCleaner`."""
    people: list[str] | None = None
    """The person of each file, if it is named after one."""
    remarks: tuple[str, ...] = ()
    """Remarks on the files for a reader."""
    labels: tuple[str, ...] = ()
    """The name of each file in messages: with its folder if another has the same; nothing if it is alone."""

    @classmethod
    def of(cls, source: Any, options: Mapping[str, Any]) -> "Reading":
        """From the arguments of `read_visits`."""
        roles = ("person", "time", "place", "latitude", "longitude")
        by_coordinates = options["grid_metres"] is not None or options["h3_resolution"] is not None
        cells = Cells(options["grid_metres"], options["h3_resolution"]) if by_coordinates else None
        shape = (options[name] for name in ("columns", "separator", "skip_lines"))
        form = Form.checked(options["layout"], {role: options[role] for role in roles}, by_coordinates, *shape)
        zone = options["timezone"]
        check_timezone(zone)
        check_time_format(options["time_format"])
        share = number(options["max_unparsable"], "max_unparsable", 0, 1)
        files = list_files(source)
        name = "the table" if files is None else str(source) if isinstance(source, str | Path) else "the files"
        span = _span(options["since"], options["until"], zone)
        how = (name, zone, options["time_format"], cells, share, span)
        if options["person"] != FILE_NAME:
            return cls(files, form, how, labels=_labels(files or []))
        if files is None:
            raise InputError(f"person={FILE_NAME!r} takes the name of a file, and a table has none; name a column")
        return cls(files, form, how, *people_of_files(files), _labels(files))

    def batches(self, at: int, cleaner: RowCleaner, progress: Progress | None = None) -> Iterator[Batch]:
        """The batches of the file of this number, in order; `progress` is told of all files."""
        assert self.files is not None
        told = None
        if progress:
            sizes = [file.stat().st_size for file in self.files]
            told = _part_of(progress, sum(sizes[:at]), sum(sizes))
        cleaner.remarks += [remark for remark in self.remarks if remark not in cleaner.remarks]
        person = None if self.people is None else self.people[at]
        return _file_batches(self.files[at], self.form, cleaner, told, person, self.labels[at])


def _labels(files: Sequence[Path]) -> tuple[str, ...]:
    if len(files) < 2:
        return ("",) * len(files)
    names = Counter(file.name for file in files)
    return tuple(file.name if names[file.name] == 1 else str(file) for file in files)


def _gather(batches: Iterator[Batch], gatherer: RowGatherer) -> None:
    for batch in batches:
        gatherer.add(batch)


def _part_of(progress: Progress, before: int, everything: int) -> Progress:
    """Progress of one file among several."""
    return lambda done, _: progress(before + done, everything)


def _span(since: str | datetime | None, until: str | datetime | None, timezone: str) -> Span:
    first = None if since is None else parse_instant(since, "since", timezone)
    last = None if until is None else parse_instant(until, "until", timezone)
    if first is not None and last is not None and last <= first:
        raise InputError(f"since='{since}' is not before until='{until}'; choose an earlier one, or a later end")
    return Span(first, last)


def _file_batches(
    path: Path, form: Form, cleaner: RowCleaner, progress: Progress | None, person: str | None, label: str
) -> Iterator[Batch]:
    named = [role for role, column in form.given.items() if column not in (None, FILE_NAME)]
    if form.layout in FIXED and (named or form.columns):
        raise InputError(f"layout={form.layout!r} has its own columns, so naming them has no meaning; leave it out")
    try:
        if check_file(path)[:4] == b"PAR1":
            batches = _parquet_batches(path, form, cleaner, progress)
        else:
            batches = _text_batches(path, form, cleaner, progress)
        for batch in batches:
            frame = batch.frame
            if person is not None:
                frame = frame.with_columns(person=pl.lit(person))
            yield replace(batch, frame=frame, file=label)
    except InputError as error:
        raise _located(error, path) from None


def _text_batches(path: Path, form: Form, cleaner: RowCleaner, progress: Progress | None) -> Iterator[Batch]:
    line, before = first_line(path, form.skip_lines)
    if form.layout in FIXED:
        chosen = FIXED[form.layout]
    elif form.columns is not None:
        chosen = named_layout(line, form.columns, form.separator)
    elif form.layout == "table" or any(form.given.values()):
        chosen = header_layout(line, form.separator)
    else:
        chosen = detect_layout(line, form.separator)
    if form.coordinates and chosen is FOURSQUARE:
        raise InputError("the Foursquare layout holds no coordinates; leave out grid_metres and h3_resolution")
    roles = _matched(chosen.columns, form, cleaner)
    return read_batches(path, replace(chosen, skipped=before), roles, progress)


def _matched(columns: Sequence[str], form: Form, cleaner: RowCleaner) -> dict[str, str]:
    """The column of each role; the cleaner takes down its columns."""
    by_file = form.given["person"] == FILE_NAME
    there = [*columns, FILE_NAME] if by_file else list(columns)
    match = match_columns(there, form.given, coordinates=form.coordinates)
    cleaner.columns.update(match.roles)
    cleaner.remarks += [remark for remark in match.remarks if remark not in cleaner.remarks]
    return {role: column for role, column in match.roles.items() if column != FILE_NAME}


def _parquet_batches(path: Path, form: Form, cleaner: RowCleaner, progress: Progress | None) -> Iterator[Batch]:
    for name, given in (("columns", form.columns), ("separator", form.separator), ("skip_lines", form.skip_lines)):
        if given:
            raise InputError(f"{name} has no effect on a Parquet file, whose columns have names; leave it out")
    try:
        lazy = pl.scan_parquet(path, glob=False)
        roles = _matched(lazy.collect_schema().names(), form, cleaner)
        rows = lazy.select(pl.len()).collect().item()
        for start in range(0, rows, _SLICE):
            frame = lazy.select(pl.col(column).alias(role) for role, column in roles.items())
            batch = Batch(frame.slice(start, _SLICE).collect(), start + 1)
            if progress:
                size = path.stat().st_size
                progress(size * (start + batch.frame.height) // rows, size)
            yield batch
    except DAMAGED as error:
        raise_about_memory(error)
        raise InputError(f"{path} is damaged or no Parquet file; copy or write it again") from None


def _frame_batches(frame: pl.DataFrame, form: Form, cleaner: RowCleaner) -> Iterator[Batch]:
    roles = _matched(frame.columns, form, cleaner)
    chosen = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    for start in range(0, frame.height, _SLICE):
        yield Batch(chosen.slice(start, _SLICE), start + 1)


def _located(error: InputError, path: Path) -> InputError:
    message = str(error)
    return error if str(path) in message else InputError(f"{path}: {message}")
