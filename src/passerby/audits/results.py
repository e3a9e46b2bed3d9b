"""Everyone's rows, in memory or on disk, and their summary, added up over blocks of rows.

Sums are exact, and values at a rank are found by counting (`support.statistics`). A summary is the same to the last bit
wherever the rows are, and nothing of the size of all people is held.

From people to the population: limits of a mean over people, and whose interval decides something.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.measurement.finding import Interval
from passerby.support.blocks import Blocks, Slice, Team
from passerby.support.files import whole_or_nothing
from passerby.support.rule_of_five import FEW, is_below, middle_ranks, rank_ranks, reached_ranks
from passerby.support.statistics import at_ranks, exact_mean, exact_sum, first_bits, sort_keys

Floats = NDArray[np.float64]

#: Columns with statistics in a summary, by group: people measured, and people with a realised loss.
ENDS = ("lower", "upper", "baseline_lower", "baseline_upper", "advantage_lower", "advantage_upper")
REALISED = ("realised_lower", "realised_upper")
#: Columns with numbers of people above thresholds, and columns for the limits of the mean.
LEVELS = ("baseline_lower", "lower", "upper")
POOLED = ("pooled_lower", "pooled_upper", "pooled_reach")
#: People with at least this chance to be in a published count are the counted people; others hardly ever are.
COUNTED = 0.1
#: Rows read at a time, and so together in a file.
ROWS = 100_000


def load_rows(some: Slice) -> pl.DataFrame:
    """The rows themselves."""
    return pl.scan_parquet(some.path, glob=False).slice(some.first, some.count).collect()


def write_rows(rows: pl.DataFrame | pl.LazyFrame, path: Path) -> None:
    """Write everyone's rows: the same bytes, in whatever parts they come.

    If groups of rows are left to polars, groups of a larger table follow its parts.
    """
    rows.lazy().sink_parquet(path, row_group_size=ROWS)


@dataclass(frozen=True)
class Rows:
    """Everyone's rows in blocks: a table in memory, or a `file`."""

    blocks: Blocks[pl.DataFrame]
    sizes: Sequence[int]
    file: Path | None = None

    @classmethod
    def here(cls, table: pl.DataFrame) -> Rows:
        """The rows of a table in memory."""
        return cls(Blocks.here(table), (table.height,))

    @classmethod
    def of(cls, path: Path, team: Team = Team()) -> Rows:  # noqa: B008
        """The rows of a file."""
        count = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
        cuts = [*Slice(path, 0, max(count, 1)).cut(ROWS)]
        return cls(Blocks(cuts, load_rows, team), [cut.count for cut in cuts], path)

    @property
    def lazy(self) -> pl.LazyFrame:
        """The rows as a query."""
        return pl.concat(self.blocks).lazy() if self.file is None else pl.scan_parquet(self.file, glob=False)

    @property
    def table(self) -> pl.DataFrame:
        """The rows in memory."""
        return self.lazy.collect()

    def at(self, numbers: NDArray[np.int64]) -> pl.DataFrame:
        """The rows of these numbers, in increasing order."""
        return pl.concat(self.blocks.picked(self.sizes, numbers).map(_gathered, None))

    def and_more(self, more: pl.DataFrame) -> Rows:
        """With further rows at the end."""
        if self.file is None:
            return Rows.here(pl.concat([*self.blocks, more]))
        with whole_or_nothing(self.file, private=True, lasting=False) as draft:
            write_rows(pl.concat([self.lazy, more.lazy()]), draft)
        return Rows.of(self.file, self.blocks.team)

    def put(self, draft: Path, final: Path) -> Rows:
        """Write the rows as a draft of a file, or give their own file this name: the rows in the `final` file."""
        if self.file is None:
            write_rows(self.lazy, draft)
            return self
        self.file.replace(draft)
        cuts = [replace(cut, path=final) for cut in self.blocks.items]
        return Rows(Blocks(cuts, load_rows, self.blocks.team), self.sizes, final)


def _gathered(_: None, block: tuple[pl.DataFrame, NDArray[np.int64]]) -> pl.DataFrame:
    table, rows = block
    return table.select(pl.all().gather(rows))


@dataclass(frozen=True)
class Tally:
    """Sums over rows: the number of rows with each status, sums of columns, and the numbers below each level.

    `counts` are numbers of values, `squares` the sum of squares of `pooled_reach` and `reach` the largest of them. The
    `parts` are the counted people (True) and the hardly ever counted ones.
    """

    height: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    realised: Counter[str] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    sums: Mapping[str, Fraction] = field(default_factory=dict)
    below: Counter[tuple[str, float]] = field(default_factory=Counter)
    squares: Fraction | None = None
    reach: float = 0.0
    parts: Mapping[bool, Tally] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        names = {*self.sums, *other.sums}
        return Tally(
            self.height + other.height,
            self.statuses + other.statuses,
            None if other.realised is None else (self.realised or Counter()) + other.realised,
            self.counts + other.counts,
            {name: self.sums.get(name, Fraction(0)) + other.sums.get(name, Fraction(0)) for name in names},
            self.below + other.below,
            None if other.squares is None else (self.squares or Fraction(0)) + other.squares,
            max(self.reach, other.reach),
            {
                name: self.parts.get(name, Tally()) + other.parts.get(name, Tally())
                for name in (*other.parts, *self.parts)
            },
        )


@dataclass(frozen=True)
class ColumnStatistics:
    """Of one column: its mean, values at ranks, and how many there are."""

    count: int
    mean: float
    median: float
    percentile_95: float | None
    reached: float | None


class Results:
    """Everyone's rows in blocks."""

    def __init__(self, blocks: Blocks[pl.DataFrame], thresholds: Sequence[float] = ()) -> None:
        self.blocks = blocks
        self.tally = reduce(Tally.__add__, blocks.map(_tally, tuple(thresholds)), Tally())

    @classmethod
    def here(cls, table: pl.DataFrame, thresholds: Sequence[float] = ()) -> Results:
        """The tally of a table in memory."""
        return cls(Blocks.here(table), thresholds)

    def statistics(self) -> dict[str, ColumnStatistics]:
        """The statistics of all columns with enough values; other columns are left out."""
        counts = {name: count for name, count in self.tally.counts.items() if count >= FEW}
        wanted = {}
        for name, count in counts.items():
            ranks = (middle_ranks(count), rank_ranks(count, 0.95), reached_ranks(count))
            wanted[name] = sorted({rank for some in ranks for rank in some or ()})
        found = at_ranks(wanted, lambda begin, level: self.blocks.map(_first_bits, (begin, level))) if wanted else {}
        return {name: _statistics(count, self.tally.sums[name], found[name]) for name, count in counts.items()}


def _statistics(count: int, total: Fraction, at: Mapping[int, float]) -> ColumnStatistics:
    def around(ranks: range | None) -> float | None:
        return None if ranks is None else float(np.mean([at[rank] for rank in ranks]))

    median, high = around(middle_ranks(count)), around(rank_ranks(count, 0.95))
    assert median is not None
    return ColumnStatistics(count, exact_mean(total, count), median, high, around(reached_ranks(count)))


def _columns(table: pl.DataFrame) -> dict[str, Floats]:
    """The values of each column with statistics, of the people with a value."""
    out = {}
    measured = table.filter(pl.col("lower").is_not_null())
    for name in (*ENDS, *POOLED):
        if name in table.columns:
            out[name] = measured[name].to_numpy()
    if "realised_status" in table.columns:
        possible = table.filter(pl.col("realised_status") == "ok")
        out |= {name: possible[name].to_numpy() for name in REALISED}
    return out


def _tally(thresholds: tuple[float, ...], table: pl.DataFrame) -> Tally:
    """Of a block of rows, all together and in parts."""
    if "sighted" not in table.columns:
        return _tally_of(thresholds, table)
    counted = table["sighted"].fill_null(0.0) >= COUNTED
    parts = {name: _tally_of(thresholds, table.filter(counted if name else ~counted)) for name in (True, False)}
    return replace(_tally_of(thresholds, table), parts=parts)


def _tally_of(thresholds: tuple[float, ...], table: pl.DataFrame) -> Tally:
    columns = _columns(table)
    known = ("ok", "wide", "impossible")
    status = Counter(each if each in known else "refused" for each in table["status"].to_list())
    realised = None
    if "realised_status" in table.columns:
        said = table["realised_status"].to_list()
        realised = Counter({"ok": "possible", "impossible": "impossible"}.get(each, "refused") for each in said)
    below = {(name, level): int(is_below(columns[name], level).sum()) for name in LEVELS for level in thresholds}
    reach = columns.get("pooled_reach")
    return Tally(
        table.height,
        status,
        realised,
        Counter({name: len(values) for name, values in columns.items()}),
        {name: exact_sum(values) for name, values in columns.items()} | _gains(columns),
        Counter(below),
        None if reach is None else exact_sum(reach * reach),
        0.0 if reach is None else float(reach.max(initial=0.0)),
    )


def _gains(columns: Mapping[str, Floats]) -> dict[str, Fraction]:
    """The least gain in chance from the release, and its squares: the number of people it rests on."""
    gain = (columns["lower"] - columns["baseline_lower"]).clip(0)
    return {"gain": exact_sum(gain), "gain_squared": exact_sum(gain * gain)}


def _first_bits(
    asked: tuple[Mapping[str, Sequence[int]], int], table: pl.DataFrame
) -> dict[str, dict[int, dict[int, int]]]:
    begin, level = asked
    columns = _columns(table)
    return {name: first_bits(sort_keys(columns[name]), heads, level) for name, heads in begin.items()}


def mean_limits(lower: ArrayLike, upper: ArrayLike, reach: ArrayLike, confidence: float) -> Interval:
    """Limits of the mean over N people of values between `lower` and `upper` but for chance, all (N,).

    A person's ends may be averages over n independent draws of weight w. `reach` is then `w / sqrt(n)`, and 0 for
    certain ends. By Hoeffding's inequality (1963, theorem 2), the mean of everybody's averages is off by at most
    `sqrt(Σ reach² · log(2/δ) / 2) / N` to either side, with a chance of δ in all. The draws need not have the same law.
    Single limits would be averaged to something far wider: each of them covers the chance of one person.

    >>> people, draws = 2000, 60
    >>> mean_limits(np.full(people, 0.46), np.full(people, 0.46), np.full(people, draws**-0.5), 0.99)
    Interval(lower=0.455..., upper=0.464...)
    """
    low, high, far = (np.asarray(each, dtype=np.float64) for each in (lower, upper, reach))
    if not len(low):
        raise InputError("the mean over nobody has no limits; give at least one person")
    if not 0 <= confidence < 1:
        raise InputError(f"confidence is {confidence!r}; expected a number of at least 0 and below 1")
    return limits_around(float(low.mean()), float(high.mean()), float(far @ far), len(low), confidence)


def limits_around(lower: float, upper: float, squares: float, people: int, confidence: float) -> Interval:
    """The same from both means over so many people, and the sum of `reach²`."""
    off = math.sqrt(squares * math.log(2 / (1 - confidence)) / 2) / people
    return Interval(max(0.0, lower - off), min(1.0, upper + off))


def open_people(lower: ArrayLike, upper: ArrayLike, thresholds: Sequence[float], most: int) -> NDArray[np.int64]:
    """The numbers of at most so many people whose interval decides something, in order.

    Intervals around a threshold come first, then all others. In both groups the widest come first, as they carry most
    of the width of the mean. Nobody with a point as interval.

    >>> open_people([0.1, 0.2, 0.5, 0.3], [0.9, 0.3, 0.5, 0.6], [0.25], 2)
    array([0, 1])
    """
    low, high = (np.asarray(each, dtype=np.float64) for each in (lower, upper))
    width = high - low
    levels = np.asarray(thresholds, dtype=np.float64)[:, None]
    decides = ((low < levels) & (levels <= high)).any(axis=0)
    order = np.lexsort((np.arange(len(low)), -width, ~decides))
    return np.sort(order[width[order] > 0][:most])
