"""From visits to traces: windows of time, and the one place of each person in each of them.

Facts on everybody are added up over blocks of people (`support.blocks`): the span of time, the most visited places, and
the number of people at each place. Visits in memory are one block, visits on disk are many (`visits.store`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_whole, is_word, whole

from .all_visits import AllVisits, chosen_window, clock
from .names import name_of
from .steps import AUTO, Steps, on_the_clock, parse_instant, written
from .table import ELSEWHERE, LeftOut, RarelySeen, Traces, Visits

Rule = Literal["most-visited", "first", "last"]

_MOST_CELLS = 2**31
"""Person-steps beyond which a mistake is likelier than a wish (8 GB)."""
MANY_STEPS = 50_000
"""Steps beyond which it is, too, if there are fewer visits than steps."""


@dataclass(frozen=True)
class Tracing:
    """The rules of making traces: the steps, the chosen places, and the rules of choice.

    Places and people are chosen by the first `fitted` steps alone.
    """

    steps: Steps
    stop: datetime
    places: tuple[str, ...]
    min_active: int
    rule: Rule
    fitted: int

    @property
    def asked(self) -> str:
        """The steps for choosing people, for messages."""
        kind = "fitted " if self.fitted < self.steps.count else ""
        return f"{self.fitted} {kind}steps"


@dataclass(frozen=True)
class PartTotals:
    """The totals of a block's traces, to be added up: see `Traces` and `LeftOut`.

    `most` is the number of active steps of the most active person, among the steps for choosing people.
    """

    kept: int
    frequency: NDArray[np.int64]
    counts: NDArray[np.int64]
    left_out: LeftOut
    most: int


def window_visits(
    visits: Visits,
    *,
    window: str | timedelta = AUTO,
    origin: str | datetime | None = None,
    places: int | Sequence[str] = 100,
    min_active: int = 10,
    rule: Rule = "most-visited",
    end: str | datetime | None = None,
    holdout: int = 0,
) -> Traces:
    """One place per person and step. The paper's: `window="20d", origin="first-visit"`, 100 places, 10 active steps.

    Steps are windows of equal length side by side. Step t holds the visits from `origin + t·window` (included) to
    `origin + (t+1)·window` (not included), by the clock of the visits' time zone. Without an `origin` they begin when
    the clock strikes (at midnight, at full hours, on Mondays), so they fit publications. With "first-visit", they begin
    at the very instant of the first visit, as in the paper. There are as many steps as reach the last visit, or `end`
    (not included) if it is given. A last step covered only in part by the visits is left out, unless `end` is given, or
    "first-visit". Visits before `origin` or from `end` on do not count. With the window "auto", a step lasts as long as
    it can for the visits to hold enough steps (`steps.step_length`).

    `places` are the K most visited, or a list of names. Of equally visited ones, the first by name are taken; if there
    are fewer, all are. Visits to other places do not count. People seen at the chosen places in fewer than `min_active`
    steps, or in none, are left out. Of a person's visits in a step the `rule` takes the most visited place, on a tie
    the one visited first; or the place of the "first" or "last" visit. If times do not tell which came first, it is the
    place with most visits at that time, and then the one chosen first: `left_out.tied` counts these cases. Steps
    without a visit to a chosen place are `elsewhere`, the last place. Nothing depends on the order of the rows.

    The last `holdout` steps choose neither places nor people: places are ranked, and active steps counted, before them.

    >>> from passerby.visits import simulate_city
    >>> window_visits(simulate_city(people=50, places=40, days=3), window="1h", places=20, min_active=1)
    Traces(people=49, steps=72, places=21)
    """
    everybody = AllVisits.of(visits)
    check_rules(places, min_active, rule)
    length = chosen_window(everybody, window, holdout=holdout, min_active=min_active, origin=origin, end=end)
    how = tracing_of(everybody, length, places, min_active, rule, origin, end, holdout)
    return traces_in(visits, how)


def traces_in(visits: Visits, how: Tracing) -> Traces:
    """The traces of visits in memory."""
    array, active, people, seldom, part = traced(how, visits)
    return replace(together(how, [part]), array=array, active=active, people=people, seldom=seldom)


def tracing_of(
    everybody: AllVisits,
    length: str | timedelta,
    places: int | Sequence[str],
    min_active: int,
    rule: Rule,
    origin: str | datetime | None,
    end: str | datetime | None,
    holdout: int = 0,
    also: Sequence[str] = (),
) -> Tracing:
    """The steps, and the chosen places: the facts that need all visits.

    Places are ranked, and active steps counted, before the last `holdout` steps. Any of `also` with a visit are kept
    beside them.
    """
    zone, times = everybody.timezone, everybody.all_times
    steps = Steps.covering(times, length, origin, end, zone, everybody.until)
    stop = steps.origin + steps.count * steps.length
    if end is not None:
        stop = min(stop, on_the_clock(parse_instant(end, "end", zone), zone))
    counts = visited(everybody, steps.origin, stop)
    inside = int(counts["n"].sum())
    if not inside:
        raise InputError(
            f"no visit lies from origin='{steps.origin}' to end='{stop}' ({zone}); the visits "
            f"reach from {times.first!s} to {times.last!s}"
        )
    if steps.count > max(MANY_STEPS, inside):
        raise InputError(
            f"window='{written(steps.length)}' makes {steps.count:,} steps, more than there are visits ({inside:,}): "
            "in nearly all of them nobody is anywhere; choose a longer window, or an origin and an end that leave out "
            "stray times"
        )
    if not is_whole(holdout) or not 0 <= holdout < steps.count:
        raise InputError(
            f"holdout: {holdout!r} of {steps.count} steps; expected a whole number that leaves at least 2 to fit "
            "habits to"
        )
    how = Tracing(steps, stop, (), min_active, rule, steps.count - holdout)
    return chosen_by(everybody, how, places, also, counts)


def earlier(how: Tracing, cut: int, held: int, least: int) -> Tracing:
    """The same up to `held` steps after an earlier one; places are still to be chosen (`chosen_by`)."""
    steps = replace(how.steps, count=cut + held, partial=False)
    stop = min(how.stop, steps.origin + steps.count * steps.length)
    return replace(how, steps=steps, stop=stop, fitted=cut, min_active=least)


def chosen_by(
    everybody: AllVisits,
    how: Tracing,
    places: int | Sequence[str],
    also: Sequence[str] = (),
    counts: pl.DataFrame | None = None,
) -> Tracing:
    """With the places chosen by its fitted steps; `counts` are the visits to each place in all steps."""
    if counts is None or (how.fitted < how.steps.count and isinstance(places, int | np.integer)):
        counts = visited(everybody, how.steps.origin, how.steps.origin + how.fitted * how.steps.length)
    known = set(counts["place"].to_list()) - {ELSEWHERE} if also else set()
    chosen = _choose(counts, places)
    return replace(how, places=tuple(dict.fromkeys([*chosen, *(name for name in also if name in known)])))


def traced(
    how: Tracing, visits: Visits
) -> tuple[NDArray[np.int32], NDArray[np.int32], pl.Series, RarelySeen, PartTotals]:
    """Of a block of people: traces (N, T), active steps of each (N,), their codes, people without a trace, sums."""
    local = visits.table.with_columns(at=pl.col("time"), time=clock(visits))
    table = _within(local, how.steps.origin, how.stop)
    number = {name: at for at, name in enumerate(how.places)}
    index = np.array([number.get(name, -1) for name in visits.places.to_list()], dtype=np.int32)
    seen, tied = _one_place(table, pl.Series(index), how.steps, how.rule)
    elsewhere, people, known = len(how.places), len(visits.people), seen["person"].n_unique()
    codes, array, active, most = _fill(seen, elsewhere, people, how)
    part = PartTotals(
        len(codes),
        np.bincount(array.ravel(), minlength=elsewhere + 1),
        _count(seen, elsewhere, how.steps.count),
        LeftOut(
            visits=len(visits),
            outside=len(visits) - table.height,
            other_places=int((index[table["place"].to_numpy()] < 0).sum()),
            people=people,
            unseen=people - known,
            seldom=known - len(codes),
            seen=seen.height,
            tied=tied,
            cut=visits.cut,
        ),
        most,
    )
    for result in (array, active):
        result.flags.writeable = False
    return array, active, visits.people.gather(codes), RarelySeen.among(seen, pl.Series(codes)), part


def together(how: Tracing, parts: Sequence[PartTotals]) -> Traces:
    """The totals of all blocks, as traces of nobody."""
    steps, elsewhere, kept = how.steps, len(how.places), sum(part.kept for part in parts)
    if not kept:
        raise InputError(
            f"no person is seen in at least {how.min_active} of {how.asked} at the {elsewhere} chosen places; "
            f"the most active is seen in {max(part.most for part in parts)}; lower min_active, or choose a shorter "
            "window or more places"
        )
    frequency = np.sum([part.frequency for part in parts], axis=0) / (kept * steps.count)
    counts = np.sum([part.counts for part in parts], axis=0)
    for result in (frequency, counts):
        result.flags.writeable = False
    left = [vars(part.left_out) for part in parts]
    sums = {name: sum(each[name] for each in left) for name in left[0] if name not in ("partial_step", "cut")}
    return Traces(
        np.empty((0, steps.count), dtype=np.int32),
        (*how.places, ELSEWHERE),
        pl.Series([], dtype=pl.Int64),
        steps.starts,
        steps.length,
        np.empty(0, dtype=np.int32),
        frequency,
        counts,
        steps.timezone,
        LeftOut(**sums, partial_step=steps.partial, cut=any(part.left_out.cut for part in parts)),
    )


def check_rules(places: int | Sequence[str], min_active: int, rule: Rule) -> None:
    """Refuse arguments of a wrong kind."""
    if isinstance(places, str | Sequence | pl.Series | np.ndarray):
        if isinstance(places, str) or not all(isinstance(place, str) for place in places):
            raise InputError(f"places is {places!r}; expected a whole number, or a list of names")
    else:
        whole(places, "places", 1)
    whole(min_active, "min_active")
    if not is_word(rule, get_args(Rule)):
        raise InputError(f"rule is {rule!r}; choose one of {', '.join(map(repr, get_args(Rule)))}")


def _within(table: pl.DataFrame, first: datetime, stop: datetime) -> pl.DataFrame:
    """The visits within the steps."""
    return table.filter((pl.col("time") >= first) & (pl.col("time") < stop))


def visited(everybody: AllVisits, first: datetime | None = None, stop: datetime | None = None) -> pl.DataFrame:
    """How many visits (n) each place has between two times by the clock, sorted by place.

    Places without visits in this time are there too: they may be named.
    """
    found = everybody.blocks.map(_visited, (first, stop))
    return pl.concat(found).group_by("place").agg(pl.col("n").sum()).sort("place")


def _visited(between: tuple[datetime | None, datetime | None], visits: Visits) -> pl.DataFrame:
    first, stop = between
    table = visits.table
    if first is not None and stop is not None:
        table = _within(table.with_columns(time=clock(visits)), first, stop)
    counts = np.bincount(table["place"].to_numpy(), minlength=len(visits.places))
    return pl.DataFrame({"place": visits.places, "n": counts}, schema_overrides={"n": pl.Int64})


def _choose(counts: pl.DataFrame, places: int | Sequence[str]) -> tuple[str, ...]:
    """The chosen places: the most visited first, or as listed; `counts` (place, n) are sorted by name."""
    if isinstance(places, int | np.integer):
        # `elsewhere` is the last place in any case; ties go by name.
        there = counts.filter((pl.col("place") != ELSEWHERE) & (pl.col("n") > 0))
        most = min(int(places), there.height)
        return tuple(there.sort("n", descending=True, maintain_order=True)["place"].head(most).to_list())
    names = pl.Series([name_of(place) for place in places], dtype=pl.String)
    if not len(names) or names.is_duplicated().any() or ELSEWHERE in names:
        raise InputError(
            f"places is a list that is empty, names a place twice or names {ELSEWHERE!r}, which is always there; "
            "name each chosen place once"
        )
    unknown = names.filter(~names.is_in(counts["place"].implode())).to_list()
    if unknown:
        raise InputError(
            f"{len(unknown)} of the {len(names)} chosen places are in no visit: {', '.join(map(repr, unknown[:5]))}"
            f"{' ...' if len(unknown) > 5 else ''}; check their spelling, or leave them out"
        )
    return tuple(names.to_list())


def _one_place(table: pl.DataFrame, index: pl.Series, steps: Steps, rule: Rule) -> tuple[pl.DataFrame, int]:
    """Rows (person, step, place), one per person and step with a visit to a chosen place, and the number of ties.

    Steps are by the clock (`time`), and the first visit is by the instant (`at`): clocks are set back. Of places at the
    same instant the one with most rows is taken; the last tie goes to the one chosen first.
    """
    places = index.gather(table["place"])
    chosen = table.select("person", "time", "at", place=places).filter(places >= 0)
    chosen = chosen.select("person", "at", "place", step=steps.of("time"))
    rows = pl.len().cast(pl.Int64).neg()
    if rule == "most-visited":
        chosen = chosen.group_by("person", "step", "place").agg(rows=rows, at=pl.col("at").min().to_physical())
        best = ["rows", "at"]
    else:
        at = pl.col("at").to_physical()
        chosen = chosen.with_columns(at=at if rule == "first" else at.neg())
        chosen = chosen.group_by("person", "step", "place", "at").agg(rows=rows)
        best = ["at", "rows"]
    ranked = chosen.sort("person", "step", *best, "place")
    same = _as_before(ranked, ["person", "step"])
    # The second of a step ties with the first if everything ranking them is the same.
    tied = same & ~same.shift(fill_value=False) & _as_before(ranked, best)
    return ranked.filter(~same).select("person", "step", "place"), int(tied.sum())


def _as_before(table: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Whether each row has the same in these columns as the one before it."""
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in columns)
    return table.select(same.fill_null(False)).to_series()


def _count(seen: pl.DataFrame, elsewhere: int, steps: int) -> NDArray[np.int64]:
    """How many people are at each place at each step; whoever is seen at another step is `elsewhere` at this one."""
    cells = seen["step"].to_numpy().astype(np.int64) * (elsewhere + 1) + seen["place"].to_numpy()
    counts = np.bincount(cells, minlength=steps * (elsewhere + 1)).reshape(steps, elsewhere + 1)
    counts[:, elsewhere] = seen["person"].n_unique() - counts.sum(axis=1)
    return counts


def _fill(
    seen: pl.DataFrame, elsewhere: int, people: int, how: Tracing
) -> tuple[pl.Series, NDArray[np.int32], NDArray[np.int32], int]:
    """Codes (N,) of active enough people, their places (N, T), their number of active steps (N,), and the most of all.

    Enough activity, and the most, are by the steps for choosing people. Refused if they are too many for one block,
    before anything is held.
    """
    person, step, steps = seen["person"].to_numpy(), seen["step"].to_numpy(), how.steps.count
    counts = np.bincount(person[step < how.fitted], minlength=people)
    kept = np.flatnonzero(counts >= max(how.min_active, 1))
    if len(kept) * steps > _MOST_CELLS:
        raise InputError(
            f"{len(kept):,} people times {steps:,} steps are too many to hold; choose a longer window, an origin and "
            "an end that leave out stray times, or audit them from disk (store='disk')"
        )
    row = np.full(people, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    array = np.full((len(kept), steps), elsewhere, dtype=np.int32)
    inside = row[person] >= 0
    array[row[person[inside]], step[inside]] = seen["place"].to_numpy()[inside]
    active = np.bincount(person, minlength=people)[kept].astype(np.int32)
    return pl.Series(kept, dtype=pl.UInt32), array, active, int(counts.max(initial=0))
