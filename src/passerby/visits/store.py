"""Visits sorted by person on disk, in blocks of people that are loaded one at a time."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.support.blocks import Blocks, Team
from passerby.support.files import make_folder
from passerby.support.workers import Progress

from .everybody import Everybody
from .names import about_alike, keys
from .readers import Reading
from .repeats import CUT, Repeats, drop_duplicates, repeats_of
from .runs import DRAWN, Run, damage_told, load_table, write_runs, write_sorted
from .table import Skipped, Visits

#: Rows of a block, about: with one of them a worker holds some hundred megabytes.
ROWS = 500_000


@dataclass(frozen=True)
class StoredVisits:
    """Visits on disk: what is known of all of them, and their blocks in the order of people."""

    everybody: Everybody
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

    Nobody holds more than a run or a block, except where one person has more rows than that. Runs are removed once
    their rows are in blocks.
    """
    runs_in, blocks_in = (make_folder(folder / name, "folder", private=True) for name in ("runs", "visits"))
    sieve, runs = write_runs(reading, runs_in, team, progress)
    ranges = _ranges(runs, blocks_in)
    found = Blocks.of(ranges, team).map(_sorted, _Sorting([run.path for run in runs], sieve.even))
    for run in runs:
        run.path.unlink()
    runs_in.rmdir()
    cut = sum((each.repeats for each in found), Repeats()).visits
    if sieve.even and not cut:
        repeated = [each.path for each, block in zip(ranges, found, strict=True) if block.repeats.rows]
        Blocks.of(repeated, team).map(_without_repeats, None)
    there = [each.path for each, block in zip(ranges, found, strict=True) if block.rows]
    load = partial(load_visits, timezone=sieve.timezone, cut=cut)
    everybody = Everybody(Blocks(there, load, team), sieve.timezone, sieve.span.until)
    duplicates = 0 if cut else sum(each.repeats.rows for each in found)
    places = pl.concat([each.places for each in found]).unique()
    alike = about_alike(np.concatenate([each.people for each in found]), places)
    return StoredVisits(everybody, sieve.skipped(duplicates), (*sieve.told, *alike, *(CUT,) * cut))


def _ranges(runs: list[Run], folder: Path) -> list[_Range]:
    """Ranges of people with about equally many rows, by the people of the rows that were drawn.

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
    """Of a range of people: the rows that were read, how many repeat others, and the names of people and places."""

    rows: int = 0
    repeats: Repeats = field(default_factory=Repeats)
    people: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    places: pl.Series = field(default_factory=lambda: pl.Series("place", [], dtype=pl.String))


@dataclass(frozen=True)
class _Sorting:
    """The runs, and whether times may be cut, so that equal rows stay until all of them are known."""

    runs: list[Path]
    even: bool


def _sorted(work: _Sorting, each: _Range) -> _Found:
    """Write the block of a range of people."""
    with damage_told(work.runs[0].parent):
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
    """Rows that are sorted by person, as codes, and the names of people and places."""
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
