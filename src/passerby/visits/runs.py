"""Rows of files written to runs, each sorted by person: the first half of sorting visits by person on disk.

A task reads some files and holds about a million rows at a time. A run is a Parquet file in small groups of rows, so
that whoever looks for some people reads little else of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from passerby.errors import PasserbyError
from passerby.support.blocks import Blocks, Team
from passerby.support.files import whole_or_nothing
from passerby.support.memory import raise_about_memory
from passerby.support.ranks import at_ranks, first_bits, keys
from passerby.support.workers import Progress

from .files import DAMAGED
from .gather import NUMBER
from .readers import Reading
from .sieve import Sieve
from .span import EXAMPLES, FEWEST, far_away, named, trimmed

#: Rows of a run, and bytes of files that are read by one task, about; files are never cut.
RUN, TASK = 1_000_000, 64 << 20
#: Rows that are read together, at least, and of which one is drawn to tell where people lie.
GROUP, DRAWN = 16_384, 4_096
_HOUR = 3_600_000_000


@dataclass(frozen=True)
class Run:
    """Where a run lies, how many rows it has, whether all people are numbers, and the people of some rows, drawn."""

    path: Path
    rows: int
    numbers: bool
    drawn: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """What was read by a task: runs, what was left out, and how many visits lie in each hour since 1970."""

    sieve: Sieve
    runs: list[Run] = field(default_factory=list)
    hours: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Writing:
    reading: Reading
    folder: Path


def write_runs(reading: Reading, folder: Path, team: Team, progress: Progress | None = None) -> tuple[Sieve, list[Run]]:
    """All rows of all files as runs of one kind of names; what is wrong with them is told."""
    assert reading.files is not None
    groups = list(_groups([file.stat().st_size for file in reading.files]))
    sizes = [sum(reading.files[at].stat().st_size for at in group) for group in groups]
    found = Blocks.of(groups, team).map(_read, _Writing(reading, folder), progress=progress, sizes=sizes)
    sieve = Sieve(*reading.how)
    for each in found:
        sieve.add_counts(each.sieve)
    sieve.check()
    runs = [run for each in found for run in each.runs]
    if not runs:
        raise sieve.nothing()
    hours = sum((each.hours for each in found), Counter[int]())
    _check_span(reading, sieve, hours, Blocks([run.path for run in runs], load_table, team))
    if not all(run.numbers for run in runs):
        Blocks.of([run for run in runs if run.numbers], team).map(_as_text, None)
    return sieve, runs


def _groups(sizes: Sequence[int]) -> Iterator[range]:
    """Numbers of files that are read by one task: enough of them to be worth it."""
    first, size = 0, 0
    for at, each in enumerate(sizes):
        if at > first and size + each > TASK:
            yield range(first, at)
            first, size = at, 0
        size += each
    yield range(first, len(sizes))


def _read(work: _Writing, group: range) -> Read:
    """Sieve some files and write their rows."""
    out, held, rows = Read(Sieve(*work.reading.how)), list[pl.DataFrame](), 0
    for at in group:
        for batch in work.reading.batches(at, out.sieve):
            held.append(out.sieve.sieved(batch).drop("row"))
            rows += held[-1].height
            if rows >= RUN:
                _flush(out, held, work.folder / f"{group.start:06d}-{len(out.runs):04d}.parquet")
                rows = 0
    if rows:
        _flush(out, held, work.folder / f"{group.start:06d}-{len(out.runs):04d}.parquet")
    return out


def _flush(out: Read, held: list[pl.DataFrame], path: Path) -> None:
    """Write a run of the rows that are held."""
    frame = pl.concat(held)
    held.clear()
    hours, counts = np.unique(frame["time"].to_physical().to_numpy() // _HOUR, return_counts=True)
    out.hours.update(dict(zip(hours.tolist(), counts.tolist(), strict=True)))
    numbers = bool(frame["person"].str.contains(NUMBER).all())
    frame = frame.with_columns(pl.col("person").cast(pl.Int64)) if numbers else frame
    # Each run begins to draw at another row, else those of runs that hold the same people would be the same ones.
    begin = int(np.random.default_rng([len(out.runs), *path.stem.encode()]).integers(DRAWN))
    write_sorted(frame, path)
    drawn = frame.sort("person")["person"].cast(pl.String)[begin::DRAWN].to_list()
    out.runs.append(Run(path, frame.height, numbers, tuple(drawn)))


def write_sorted(frame: pl.DataFrame, path: Path) -> None:
    """Write rows sorted by person, in small groups that tell which people they hold."""
    with whole_or_nothing(path, private=True, lasting=False) as draft:
        frame.sort("person").write_parquet(draft, row_group_size=GROUP, statistics=True)


def load_table(path: Path) -> pl.DataFrame:
    """A table that was written here."""
    with damage_told(path):
        return pl.read_parquet(path, glob=False)


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Damage of what was written here is told, with what to do about it."""
    try:
        yield
    except DAMAGED as error:
        raise_about_memory(error)
        raise PasserbyError(
            f"{path} is damaged or gone ({type(error).__name__}); start again, which makes it anew"
        ) from None


def _as_text(_: None, run: Run) -> None:
    """Write a run anew with names in the place of numbers, which sort otherwise."""
    write_sorted(load_table(run.path).with_columns(pl.col("person").cast(pl.String)), run.path)


def _check_span(reading: Reading, sieve: Sieve, hours: Counter[int], runs: Blocks[pl.DataFrame]) -> None:
    """Refuse visits that lie far from nearly all others, as in memory.

    Hours tell that there are none, nearly always; otherwise the times are looked at again.
    """
    visits, span = sum(hours.values()), sieve.span
    if visits < FEWEST:
        return
    ordered, rank = sorted(hours), trimmed(visits)
    upto = np.cumsum([hours[hour] for hour in ordered])
    low, high = (ordered[int(np.searchsorted(upto, at, side="right"))] for at in (rank, visits - 1 - rank))
    # The narrowest that the times of nearly all can be, if low and high lie anywhere in their hours.
    nearest = span.limits((low + 1) * _HOUR, max(high, low + 1) * _HOUR)
    if ordered[0] * _HOUR >= nearest[0] and (ordered[-1] + 1) * _HOUR <= nearest[1]:
        return
    wanted = {"time": [rank, visits - 1 - rank]}
    times = at_ranks(wanted, lambda begin, level: runs.map(_counted, (begin["time"], level)))["time"]
    first, last = (int(times[at]) for at in wanted["time"])
    limits = span.limits(first, last)
    stray = sum(runs.map(_stray, limits))
    if stray:
        raise far_away(sieve.source, stray, visits, first, last, _examples(reading, limits))


def _counted(wanted: tuple[Sequence[int], int], run: pl.DataFrame) -> dict[str, dict[int, dict[int, int]]]:
    times = run["time"].to_physical().to_numpy().astype(np.float64)
    return {"time": first_bits(keys(times), *wanted)}


def _stray(limits: tuple[float, float], run: pl.DataFrame) -> int:
    at = run["time"].to_physical()
    return int(((at < limits[0]) | (at > limits[1])).sum())


def _examples(reading: Reading, limits: tuple[float, float]) -> list[str]:
    """Where the first of the visits stand that lie outside: files are read again up to there."""
    out: list[str] = []
    assert reading.files is not None
    for at in range(len(reading.files)):
        sieve = Sieve(*reading.how)
        for batch in reading.batches(at, sieve):
            out += named(sieve.sieved(batch), batch, *limits, EXAMPLES - len(out))
            if len(out) >= EXAMPLES:
                return out
    return out
