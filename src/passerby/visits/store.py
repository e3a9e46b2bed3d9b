"""Visits sorted by person on disk, in blocks of people that are loaded one at a time."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from passerby.support.blocks import Blocks, Team
from passerby.support.files import make_folder
from passerby.support.workers import Progress

from .everybody import Everybody
from .gather import drop_duplicates
from .readers import Reading
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
    counts = Blocks.of(ranges, team).map(_sorted, [run.path for run in runs])
    for run in runs:
        run.path.unlink()
    runs_in.rmdir()
    there = [each.path for each, rows in zip(ranges, counts, strict=True) if rows[0]]
    load = partial(load_visits, timezone=sieve.timezone)
    everybody = Everybody(Blocks(there, load, team), sieve.timezone, sieve.span.until)
    duplicates = sum(read - kept for read, kept in counts)
    return StoredVisits(everybody, sieve.skipped(duplicates), sieve.told)


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


def _sorted(runs: list[Path], each: _Range) -> tuple[int, int]:
    """Write the block of a range of people, without repeated rows: how many rows were read, and how many are kept."""
    with damage_told(runs[0].parent):
        rows = pl.scan_parquet(runs, glob=False)
        if each.first is not None:
            rows = rows.filter(pl.col("person") >= each.first)
        if each.stop is not None:
            rows = rows.filter(pl.col("person") < each.stop)
        table = rows.collect().sort("person")
    if not table.height:
        return 0, 0
    codes, people, places = _coded(table)
    unique = drop_duplicates(codes, len(people))
    names = {"person": people.gather(unique["person"]), "place": places.gather(unique["place"])}
    write_sorted(unique.with_columns(**names), each.path)
    return table.height, unique.height


def _coded(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
    """Rows that are sorted by person, as codes, and the names of people and places."""
    person = table["person"]
    new = (person != person.shift()).fill_null(True)
    code = new.cast(pl.UInt32).cum_sum() - 1
    places = table["place"].unique().sort()
    place = table["place"].cast(pl.Enum(places)).to_physical().cast(pl.UInt32)
    codes = pl.DataFrame({"person": code, "time": table["time"], "place": place})
    return codes, person.filter(new), places


def load_visits(path: Path, timezone: str) -> Visits:
    """One block of visits."""
    return Visits(*_coded(load_table(path)), timezone=timezone)
