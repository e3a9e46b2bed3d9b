"""Visits sorted by person on disk, in blocks of people loaded one at a time.

First, rows of files are written to runs, each sorted by person. A task reads some files and holds about a million rows
at a time. Then runs are merged into blocks. A run is a Parquet file in small groups of rows: finding some people takes
reading little of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import PasserbyError
from passerby.support.blocks import Blocks, Team
from passerby.support.files import make_folder, whole_or_nothing
from passerby.support.processes import raise_about_memory
from passerby.support.statistics import at_ranks, first_bits, sort_keys
from passerby.support.workers import Progress

from .all_visits import AllVisits
from .clean_rows import NUMBER, RowCleaner
from .files import DAMAGED
from .names import about_alike, keys
from .readers import Reading
from .span import EXAMPLES, FEWEST, far_away, named, trimmed
from .table import CUT, Repeats, Skipped, Visits, drop_duplicates, repeats_of

#: Rows of a run, and bytes of files read by one task, about; files are never cut.
RUN, TASK = 1_000_000, 64 << 20
#: The least rows read together, and the number of rows for each row drawn to show the spread of people.
GROUP, DRAWN = 16_384, 4_096
_HOUR = 3_600_000_000


@dataclass(frozen=True)
class Run:
    """The path of a run, its number of rows, whether all people are numbers, and the people of some rows, drawn."""

    path: Path
    rows: int
    numbers: bool
    drawn: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """The results of a task: runs, rows left out, and the number of visits in each hour since 1970."""

    cleaner: RowCleaner
    runs: list[Run] = field(default_factory=list)
    hours: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Writing:
    reading: Reading
    folder: Path


def write_runs(
    reading: Reading, folder: Path, team: Team, progress: Progress | None = None
) -> tuple[RowCleaner, list[Run]]:
    """All rows of all files as runs of one kind of names; their faults are told."""
    assert reading.files is not None
    groups = list(_groups([file.stat().st_size for file in reading.files]))
    sizes = [sum(reading.files[at].stat().st_size for at in group) for group in groups]
    found = Blocks.of(groups, team).map(_read, _Writing(reading, folder), progress=progress, sizes=sizes)
    cleaner = RowCleaner(*reading.how)
    for each in found:
        cleaner.add_counts(each.cleaner)
    cleaner.check()
    runs = [run for each in found for run in each.runs]
    if not runs:
        raise cleaner.nothing()
    hours = sum((each.hours for each in found), Counter[int]())
    _check_span(reading, cleaner, hours, Blocks([run.path for run in runs], load_table, team))
    if not all(run.numbers for run in runs):
        Blocks.of([run for run in runs if run.numbers], team).map(_as_text, None)
    return cleaner, runs


def _groups(sizes: Sequence[int]) -> Iterator[range]:
    """Numbers of files for one task: enough of them to be worth it."""
    first, size = 0, 0
    for at, each in enumerate(sizes):
        if at > first and size + each > TASK:
            yield range(first, at)
            first, size = at, 0
        size += each
    yield range(first, len(sizes))


def _read(work: _Writing, group: range) -> Read:
    """Clean the rows of some files and write their rows."""
    out, held, rows = Read(RowCleaner(*work.reading.how)), list[pl.DataFrame](), 0
    for at in group:
        for batch in work.reading.batches(at, out.cleaner):
            held.append(out.cleaner.cleaned(batch).drop("row"))
            rows += held[-1].height
            if rows >= RUN:
                _flush(out, held, work.folder / f"{group.start:06d}-{len(out.runs):04d}.parquet")
                rows = 0
    if rows:
        _flush(out, held, work.folder / f"{group.start:06d}-{len(out.runs):04d}.parquet")
    return out


def _flush(out: Read, held: list[pl.DataFrame], path: Path) -> None:
    """Write a run of the held rows."""
    frame = pl.concat(held)
    held.clear()
    hours, counts = np.unique(frame["time"].to_physical().to_numpy() // _HOUR, return_counts=True)
    out.hours.update(dict(zip(hours.tolist(), counts.tolist(), strict=True)))
    numbers = bool(frame["person"].str.contains(NUMBER).all())
    frame = frame.with_columns(pl.col("person").cast(pl.Int64)) if numbers else frame
    # Each run begins to draw at another row, else runs of the same people would draw the same rows.
    begin = int(np.random.default_rng([len(out.runs), *path.stem.encode()]).integers(DRAWN))
    write_sorted(frame, path)
    drawn = frame.sort("person")["person"].cast(pl.String)[begin::DRAWN].to_list()
    out.runs.append(Run(path, frame.height, numbers, tuple(drawn)))


def write_sorted(frame: pl.DataFrame, path: Path) -> None:
    """Write rows sorted by person, in small groups with a note of their people."""
    with whole_or_nothing(path, private=True, lasting=False) as draft:
        frame.sort("person").write_parquet(draft, row_group_size=GROUP, statistics=True)


def load_table(path: Path) -> pl.DataFrame:
    """A table written by this package."""
    with damage_named(path):
        return pl.read_parquet(path, glob=False)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Damage of files written here, named with the remedy."""
    try:
        yield
    except DAMAGED as error:
        raise_about_memory(error)
        raise PasserbyError(
            f"{path} is damaged or gone ({type(error).__name__}); start again, which makes it anew"
        ) from None


def _as_text(_: None, run: Run) -> None:
    """Write a run anew with names in the place of numbers, as these sort otherwise."""
    write_sorted(load_table(run.path).with_columns(pl.col("person").cast(pl.String)), run.path)


def _check_span(reading: Reading, cleaner: RowCleaner, hours: Counter[int], runs: Blocks[pl.DataFrame]) -> None:
    """Refuse visits far from nearly all others, as in memory.

    Hours nearly always show that there are none; otherwise the times are looked at again.
    """
    visits, span = sum(hours.values()), cleaner.span
    if visits < FEWEST:
        return
    ordered, rank = sorted(hours), trimmed(visits)
    upto = np.cumsum([hours[hour] for hour in ordered])
    low, high = (ordered[int(np.searchsorted(upto, at, side="right"))] for at in (rank, visits - 1 - rank))
    # The narrowest possible limits around nearly all times, if low and high lie anywhere in their hours.
    nearest = span.limits((low + 1) * _HOUR, max(high, low + 1) * _HOUR)
    if ordered[0] * _HOUR >= nearest[0] and (ordered[-1] + 1) * _HOUR <= nearest[1]:
        return
    wanted = {"time": [rank, visits - 1 - rank]}
    times = at_ranks(wanted, lambda begin, level: runs.map(_counted, (begin["time"], level)))["time"]
    first, last = (int(times[at]) for at in wanted["time"])
    limits = span.limits(first, last)
    stray = sum(runs.map(_stray, limits))
    if stray:
        raise far_away(cleaner.source, stray, visits, first, last, _examples(reading, limits))


def _counted(wanted: tuple[Sequence[int], int], run: pl.DataFrame) -> dict[str, dict[int, dict[int, int]]]:
    times = run["time"].to_physical().to_numpy().astype(np.float64)
    return {"time": first_bits(sort_keys(times), *wanted)}


def _stray(limits: tuple[float, float], run: pl.DataFrame) -> int:
    at = run["time"].to_physical()
    return int(((at < limits[0]) | (at > limits[1])).sum())


def _examples(reading: Reading, limits: tuple[float, float]) -> list[str]:
    """The positions of the first visits outside: files are read again up to there."""
    out: list[str] = []
    assert reading.files is not None
    for at in range(len(reading.files)):
        cleaner = RowCleaner(*reading.how)
        for batch in reading.batches(at, cleaner):
            out += named(cleaner.cleaned(batch), batch, *limits, EXAMPLES - len(out))
            if len(out) >= EXAMPLES:
                return out
    return out


#: Rows of a block, about: with one of them a worker holds some hundred megabytes.
ROWS = 500_000


@dataclass(frozen=True)
class StoredVisits:
    """Visits on disk: the facts on all of them, and their blocks in the order of people."""

    everybody: AllVisits
    skipped: Skipped
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Range:
    """People from `first` on (None: from the beginning) and before `stop` (None: to the end)."""

    path: Path
    first: Any
    stop: Any


def store_visits(reading: Reading, folder: Path, team: Team, progress: Progress | None = None) -> StoredVisits:
    """Read files of visits, and sort them by person into blocks in a folder.

    Nobody holds more than a run or a block, except if one person has more rows than it. Runs are removed once their
    rows are in blocks.
    """
    runs_in, blocks_in = (make_folder(folder / name, "folder", private=True) for name in ("runs", "visits"))
    cleaner, runs = write_runs(reading, runs_in, team, progress)
    ranges = _ranges(runs, blocks_in)
    found = Blocks.of(ranges, team).map(_sorted, _Sorting([run.path for run in runs], cleaner.even))
    for run in runs:
        run.path.unlink()
    runs_in.rmdir()
    cut = sum((each.repeats for each in found), Repeats()).visits
    if cleaner.even and not cut:
        repeated = [each.path for each, block in zip(ranges, found, strict=True) if block.repeats.rows]
        Blocks.of(repeated, team).map(_without_repeats, None)
    there = [each.path for each, block in zip(ranges, found, strict=True) if block.rows]
    load = partial(load_visits, timezone=cleaner.timezone, cut=cut)
    everybody = AllVisits(Blocks(there, load, team), cleaner.timezone, cleaner.span.until)
    duplicates = 0 if cut else sum(each.repeats.rows for each in found)
    places = pl.concat([each.places for each in found]).unique()
    alike = about_alike(np.concatenate([each.people for each in found]), places)
    return StoredVisits(everybody, cleaner.skipped(duplicates), (*cleaner.notes, *alike, *(CUT,) * cut))


def _ranges(runs: list[Run], folder: Path) -> list[_Range]:
    """Ranges of people with about equally many rows, by the people of the drawn rows.

    Somebody with very many rows is in a range with few others.
    """
    drawn = pl.Series([person for run in runs for person in run.drawn], dtype=pl.String)
    if all(run.numbers for run in runs):
        drawn = drawn.cast(pl.Int64)
    each = max(1, ROWS // DRAWN)
    ends = drawn.sort()[each::each].unique(maintain_order=True).to_list()
    return [
        _Range(folder / f"{at:06d}.parquet", first, stop)
        for at, (first, stop) in enumerate(zip([None, *ends], [*ends, None], strict=True))
    ]


@dataclass(frozen=True)
class _Found:
    """For a range of people: the rows read, the number of repeats, and the names of people and places."""

    rows: int = 0
    repeats: Repeats = field(default_factory=Repeats)
    people: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    places: pl.Series = field(default_factory=lambda: pl.Series("place", [], dtype=pl.String))


@dataclass(frozen=True)
class _Sorting:
    """The runs, and whether times may be cut: then equal rows stay until all of them are known."""

    runs: list[Path]
    even: bool


def _sorted(work: _Sorting, each: _Range) -> _Found:
    """Write the block of a range of people."""
    with damage_named(work.runs[0].parent):
        rows = pl.scan_parquet(work.runs, glob=False)
        if each.first is not None:
            rows = rows.filter(pl.col("person") >= each.first)
        if each.stop is not None:
            rows = rows.filter(pl.col("person") < each.stop)
        table = rows.collect().sort("person")
    if not table.height:
        return _Found()
    codes, people, places = _coded(table)
    unique = drop_duplicates(codes, len(people))
    if work.even:
        write_sorted(table, each.path)
        repeats = repeats_of(codes, unique.height, len(people))
    else:
        _write(unique, people, places, each.path)
        repeats = Repeats(table.height - unique.height)
    return _Found(table.height, repeats, keys(people), places)


def _without_repeats(_: None, path: Path) -> None:
    """Write a block anew, with one of equal rows."""
    codes, people, places = _coded(load_table(path))
    _write(drop_duplicates(codes, len(people)), people, places, path)


def _write(codes: pl.DataFrame, people: pl.Series, places: pl.Series, path: Path) -> None:
    names = {"person": people.gather(codes["person"]), "place": places.gather(codes["place"])}
    write_sorted(codes.with_columns(**names), path)


def _coded(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
    """Rows sorted by person, as codes, and the names of people and places."""
    person = table["person"]
    new = (person != person.shift()).fill_null(True)
    code = new.cast(pl.UInt32).cum_sum() - 1
    places = table["place"].unique().sort()
    place = table["place"].cast(pl.Enum(places)).to_physical().cast(pl.UInt32)
    codes = pl.DataFrame({"person": code, "time": table["time"], "place": place})
    return codes, person.filter(new), places


def load_visits(path: Path, timezone: str, cut: bool) -> Visits:
    """One block of visits."""
    return Visits(*_coded(load_table(path)), timezone=timezone, cut=cut)
