"""Several releases about the same people: the success of an adversary with all of them, beside each alone.

Tables with small numbers hidden, each for itself, may reveal them by their difference. The joint release has all counts
(`a + b`), so it tells at least as much as each. This is used if one interval is wider than the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial, reduce
from math import isclose
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from passerby.errors import InputError
from passerby.measurement.finding import exact, limit, refute
from passerby.measurement.setup import check_effort
from passerby.model.release import Release
from passerby.people.habits import People, check_people
from passerby.support import checks
from passerby.support.checks import function, path, shown
from passerby.support.numbers import TINY, chance, percent, span
from passerby.support.rule_of_five import FEW, NestedCounts, counting, sizes_in_fives
from passerby.support.workers import TOLD, Progress

from .audit import audit
from .engine import engine_of
from .job import doubted, enough_workers
from .settings import EngineSettings, Measurement, ReportSettings

#: The name of the joint release.
JOINT = "together"
#: Digits of shares for others: all digits would reveal the number of people.
DIGITS = 3
#: The kept columns of an audit.
KEPT = ("status", "lower", "upper", "baseline_lower", "baseline_upper")


@dataclass(frozen=True)
class Together:
    """Everyone's loss with each release and with all of them.

    `table` has a row for each person and release: `person`, `release` (its name, or "together"), `status`, and the ends
    of the loss and of the baseline.
    """

    table: pl.DataFrame
    names: tuple[str, ...]
    misses: int
    steps: int

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.table["person"].n_unique()

    def means(self, thresholds: Sequence[float] = ReportSettings.thresholds) -> pl.DataFrame:
        """A row for each release, and for all together: the mean ends of the loss, and the baseline before.

        Columns `above_...` hold the share of people surely found with so much chance or more, if it rests on enough
        people. Only people measured with all of them are counted.
        """
        if isinstance(thresholds, str | bytes) or not isinstance(thresholds, Sequence | np.ndarray):
            raise InputError(f"thresholds: expected a list of chances, got {shown(thresholds)}")
        thresholds = [checks.number(level, "thresholds: each", 0, 1) for level in thresholds]
        measured, rows = [self.measured.filter(release=name) for name in (*self.names, JOINT)], []
        # Whoever is found so often with one table is so with all of them, whose shares come first.
        last = len(self.names)
        told = NestedCounts([counting(one["lower"]) for one in measured], measured[-1].height, [(last,)] * last + [()])
        if told.everyone >= FEW:
            told.take_each(thresholds, (last, *range(last)))
        for number, (name, one) in enumerate(zip((*self.names, JOINT), measured, strict=True)):
            ends = {end: one[end].mean() for end in ("baseline_lower", "lower", "upper")}
            levels = {f"above_{level:g}": told.share(number, level) for level in thresholds}
            rows.append({"release": name, "people": one.height, **ends, **levels})
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(levels, pl.Float64))

    @property
    def sizes(self) -> dict[str, int]:
        """How many people were measured with all releases, and how many were not, as it may be told."""
        measured = self.measured["person"].n_unique()
        return sizes_in_fives({"measured": measured, "not": self.people - measured})

    def shared(self) -> list[dict[str, Any]]:
        """The means for others: left out if they are of fewer than five people."""
        means = self.means()
        if means["people"][0] < FEW:
            return []
        above = [name for name in means.columns if name.startswith("above_")]
        return means.with_columns(pl.col(above).round(DIGITS), people=pl.lit(self.sizes["measured"])).to_dicts()

    @property
    def measured(self) -> pl.DataFrame:
        """The rows of the people measured with each release and with all of them."""
        refused = self.table.filter(pl.col("lower").is_null())["person"]
        return self.table.filter(~pl.col("person").is_in(refused.implode()))

    def lines(self) -> list[str]:
        """The findings, in a few lines."""
        found = self.means()
        asked = f"all but {self.misses} of {self.steps} steps" if self.misses else f"all {self.steps} steps"
        if found["people"][0] < FEW:
            return [f"Fewer than {FEW} people were measured with all releases, and numbers are told of {FEW} or more."]
        joint = found.row(-1, named=True)
        width = max(len(name) for name in (*self.names, JOINT, WITHOUT))
        first = f"{self.sizes['measured']:,} people. The chance that an adversary names {asked}, on average:"
        rows = [f"  {WITHOUT:<{width}}  {chance(joint['baseline_lower'])}"]
        for row in found.iter_rows(named=True):
            half = row.get("above_0.5")
            more = "" if half is None else f"; surely one half or more for {percent(half)} of the people"
            rows.append(f"  {row['release']:<{width}}  {span(row['lower'], row['upper'], chance)}{more}")
        return [first, *rows, self._verdict(found)]

    def _verdict(self, found: pl.DataFrame) -> str:
        """Whether all together tell more than the most telling one."""
        alone, joint = found.head(len(self.names)), found.row(-1, named=True)
        second, most = alone.sort("upper").tail(2).iter_rows(named=True)
        least, highest = joint["lower"] - most["upper"], joint["upper"] - alone["lower"].max()
        if isclose(joint["upper"], most["lower"], rel_tol=1e-6, abs_tol=TINY):
            return f"Together they tell no more than {most['release']} alone."
        if least > 0:
            more = span(least, highest, points)
            # The highest one is sure only if no other may be above it.
            if second["upper"] <= most["lower"]:
                return f"Together they add {more} to the chance with {most['release']} alone, the highest of one."
            return f"Together they add {more} to the highest chance with one of them alone."
        return f"Together they add {points(highest)} at most to the highest chance with one of them alone."


#: The name of the row without any release.
WITHOUT = "without any"


def points(value: float) -> str:
    """A difference of chances, in percentage points.

    >>> points(0.2041), points(0.00012)
    ('20 points', '0.012 points')
    """
    return f"{100 * max(0.0, value):.2g} points"


def together(
    people: People,
    releases: Sequence[Release] | Mapping[str, Release],
    misses: int = Measurement.misses,
    *,
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    confidence: float = Measurement.confidence,
    budget: float = Measurement.budget,
    seed: int = Measurement.seed,
    workers: int | None = None,
    executor: Executor | None = None,
    engine: Any = EngineSettings.engine,
    scheduler: str | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Together:
    """Everyone's loss with each of several releases, and with all of them together.

    The releases are about the same steps and places of the same people, each with its own mechanisms; give them in a
    mapping to name them. All other arguments are the arguments of `audit`. If series are drawn, all ends of a person
    hold together at the confidence.

    >>> import passerby as pb
    >>> people = pb.fit_people(pb.simulate_city(30, 20, 4), window="3h", places=9, min_active=1, holdout=4)
    >>> whole = pb.Release(counts=[pb.Present([0, 1, 2, 3], step=t) for t in range(4)], steps=4)
    >>> nearly = pb.Release(counts=[pb.Present([0, 1, 2], step=t) for t in range(4)], steps=4)
    >>> found = together(people, {"whole": whole, "nearly": nearly}, misses=1, workers=1)
    >>> found.means()["release"].to_list(), found.means()["lower"].arg_max()
    (['whole', 'nearly', 'together'], 2)
    """
    named = _named(releases)
    check_people(people)
    function(progress, "progress", TOLD)
    check_effort(tolerance, budget, confidence, runs)
    joint = reduce(add, named.values())
    tables, every = {}, {**named, JOINT: joint}
    # Ends are passed from one release to another, so all must hold together.
    how = vars(doubted(Measurement(misses, tolerance, runs, confidence, budget, seed), 1 / len(every)))
    with engine_of(engine, scheduler, workers, executor) as pool:
        few = enough_workers(len(people), workers, pool)
        for number, (name, release) in enumerate(every.items()):
            part = None if folder is None else path(folder, "folder") / f"release-{number + 1}"
            tell = None if progress is None else partial(_told, progress, number, len(every))
            tables[name] = audit(people, release, **how, workers=few, executor=pool, folder=part, progress=tell)
    return Together(_joined(tables, crowd=joint.crowd is not None), tuple(named), misses, joint.steps)


def _named(releases: Any) -> dict[str, Release]:
    """Releases by name: as given, or by number."""
    if isinstance(releases, Mapping):
        named = dict(releases)
    elif isinstance(releases, list | tuple):
        named = {f"release {number}": release for number, release in enumerate(releases, start=1)}
    else:
        raise InputError(f"releases: expected a list or a mapping of them, got {releases!r}")
    for name, release in named.items():
        if not isinstance(name, str):
            raise InputError(f"releases: {name!r} is the name of one; expected a text")
        if not isinstance(release, Release):
            raise InputError(f"releases: {name} is a {type(release).__name__}; expected a Release")
    if len(named) < 2 or JOINT in named:
        raise InputError(f"releases: expected two or more, none of them called {JOINT!r}; got {len(named)}")
    return named


def _told(progress: Progress, number: int, audits: int, done: int, everything: int) -> None:
    progress(number * everything + done, audits * everything)


def _joined(tables: Mapping[str, pl.DataFrame], *, crowd: bool = False) -> pl.DataFrame:
    """All audits, one after another; with all releases nobody is found with less chance than with one of them.

    For a `crowd`, ends are conditional on the others' places at some steps. With other sensors these are other steps,
    so the upper end with all releases is no bound on one of them.
    """
    kept = {name: table.select("person", pl.lit(name).alias("release"), *KEPT) for name, table in tables.items()}
    alone, joint = list(tables)[:-1], JOINT
    if not crowd:
        _refute(tables)
    lowers = np.array([kept[name]["lower"].fill_null(0.0).to_numpy() for name in alone])
    # Null stays null: a refused value is withheld.
    kept[joint] = kept[joint].with_columns(lower=pl.max_horizontal("lower", pl.Series(lowers.max(axis=0))))
    kept[joint] = kept[joint].with_columns(
        lower=pl.when(pl.col("upper").is_null()).then(None).otherwise("lower"),
        upper=pl.max_horizontal("lower", "upper"),
    )
    top = kept[joint]["upper"].fill_null(1.0)
    for name in () if crowd else alone:
        below = pl.min_horizontal("upper", top)
        kept[name] = kept[name].with_columns(upper=pl.when(pl.col("upper").is_null()).then(None).otherwise(below))
    return pl.concat(kept.values())


def _refute(tables: Mapping[str, pl.DataFrame]) -> None:
    """Raise `Contradiction` if one release alone is certain to achieve more than all together can."""
    every = tables[JOINT]
    for name in list(tables)[:-1]:
        ends = pl.DataFrame({"lower": tables[name]["lower"], "upper": every["upper"]})
        certain = ends.filter(~(tables[name]["sampled"] | every["sampled"])).drop_nulls()
        for lower, upper in certain.iter_rows():
            refute(exact(f"{name} alone", lower), limit("all releases together", upper))
