"""From visits to traces: windows of time, and the place that each person is taken to be at in each of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import whole

from .seldom import Seldom
from .steps import AUTO, FIRST_VISIT, USUAL, Steps, clock_times, on_the_clock, parse_instant, step_length
from .table import Visits
from .traces import ELSEWHERE, LeftOut, Traces

Rule = Literal["most-visited", "first", "last"]

_MOST_CELLS = 2**31
"""Person-steps beyond which a mistake is likelier than a wish (8 GB)."""


def window_visits(
    visits: Visits,
    *,
    window: str | timedelta = AUTO,
    origin: str | datetime | None = None,
    places: int | Sequence[str] = 100,
    min_active: int = 10,
    rule: Rule = "most-visited",
    end: str | datetime | None = None,
) -> Traces:
    """One place per person and step. The paper's: `window="20d", origin="first-visit"`, 100 places, 10 active steps.

    Steps are windows of equal length that lie side by side: step t holds the visits from `origin + t·window`
    (included) to `origin + (t+1)·window` (not included), by the clock of the visits' time zone. Without an `origin`
    they begin where the clock strikes (at midnight, at full hours, on Mondays), so that they fit what is published;
    with "first-visit", at the very instant of the first visit, as in the paper. There are as many steps as reach the
    last visit, or `end` (not included) where that is given; a last step that the visits cover only in part is left out,
    unless `end` is given, or "first-visit". Visits before `origin` or from `end` on do not count. With the window
    "auto", a step lasts as long as it can for the visits to hold enough steps (`steps.step_length`).

    `places` are the K most visited (of equally visited ones those that sort first by name; all where there are
    fewer), or a list of names. Visits to other places do not count. People seen at the chosen places in fewer than
    `min_active` steps, or in none, are left out. Of a person's visits in a step the `rule` takes the most visited
    place, on a tie the one visited first; or the place of the "first" or "last" visit. Steps without a visit to a
    chosen place are `elsewhere`, which is the last place. Nothing depends on the order of the rows.

    >>> from passerby.visits import simulate_city
    >>> window_visits(simulate_city(people=50, places=40, days=3), window="1h", places=20, min_active=1)
    Traces(people=49, steps=72, places=21)
    """
    _check(visits, places, min_active, rule)
    local = visits.table.with_columns(time=clock_times(visits.table["time"], visits.timezone))
    length = chosen_window(visits, window, min_active=min_active, origin=origin, end=end)
    steps = Steps.covering(local["time"], length, origin, end, visits.timezone, visits.until)
    table = _within(local, steps, end)
    chosen = _choose(visits, table, places)
    index = np.full(len(visits.places), -1, dtype=np.int32)
    index[chosen] = np.arange(len(chosen), dtype=np.int32)
    seen = _one_place(table, pl.Series(index), steps, rule)
    people, array, active = _fill(seen, len(chosen), len(visits.people), steps.count, min_active)
    frequency = np.bincount(array.ravel(), minlength=len(chosen) + 1) / array.size
    counts = _count(seen, len(chosen), steps.count)
    for result in (array, active, frequency, counts):
        result.flags.writeable = False
    known = seen["person"].n_unique()
    left_out = LeftOut(
        visits=len(visits),
        outside=len(visits) - table.height,
        other_places=int((index[table["place"].to_numpy()] < 0).sum()),
        people=len(visits.people),
        unseen=len(visits.people) - known,
        seldom=known - len(people),
        partial_step=steps.partial,
    )
    names, ids = (*visits.places.gather(chosen).to_list(), ELSEWHERE), visits.people.gather(people)
    when = (steps.starts, steps.length)
    seldom = Seldom.among(seen, people)
    return Traces(array, names, ids, *when, active, frequency, counts, visits.timezone, left_out, seldom)


def chosen_window(
    visits: Visits,
    window: str | timedelta,
    *,
    holdout: int = 0,
    min_active: int = 0,
    rhythm: str = "none",
    origin: str | datetime | None = None,
    end: str | datetime | None = None,
) -> str | timedelta:
    """The length of a step: as given, or for "auto" the one that fits the visits between origin and end."""
    if window != AUTO:
        return window
    if not isinstance(visits, Visits):
        raise InputError(f"visits is a {type(visits).__name__}; expected what read_visits returns")
    zone, times = visits.timezone, clock_times(visits.table["time"], visits.timezone)
    if origin is not None and origin != FIRST_VISIT:
        times = times.filter(times >= on_the_clock(parse_instant(origin, "origin", zone), zone))
    if end is not None:
        times = times.filter(times < on_the_clock(parse_instant(end, "end", zone), zone))
    least = whole(min_active, "min_active")
    # Without visits between them, the message about origin and end comes with any length.
    return step_length(times, whole(holdout, "holdout"), least, rhythm) if len(times) else USUAL[0]


def _check(visits: Visits, places: int | Sequence[str], min_active: int, rule: Rule) -> None:
    """Refuse what is not of the right kind."""
    if not isinstance(visits, Visits):
        raise InputError(f"visits is a {type(visits).__name__}; expected what read_visits returns")
    if isinstance(places, str | Sequence | pl.Series | np.ndarray):
        if isinstance(places, str) or not all(isinstance(place, str) for place in places):
            raise InputError(f"places is {places!r}; expected a whole number, or a list of names")
    else:
        whole(places, "places", 1)
    whole(min_active, "min_active")
    if rule not in get_args(Rule):
        raise InputError(f"rule is {rule!r}; choose one of {', '.join(map(repr, get_args(Rule)))}")


def _within(table: pl.DataFrame, steps: Steps, end: str | datetime | None) -> pl.DataFrame:
    """The visits that lie in the steps."""
    stop = steps.origin + steps.count * steps.length
    if end is not None:
        stop = min(stop, on_the_clock(parse_instant(end, "end", steps.timezone), steps.timezone))
    times = pl.col("time")
    kept = table.filter((times >= steps.origin) & (times < stop))
    if not kept.height:
        raise InputError(
            f"no visit lies from origin='{steps.origin}' to end='{stop}' ({steps.timezone}); the visits "
            f"reach from {table['time'].min()!s} to {table['time'].max()!s}"
        )
    return kept


def _choose(visits: Visits, table: pl.DataFrame, places: int | Sequence[str]) -> NDArray[np.uint32]:
    """Codes of the chosen places (K,): the most visited first, or as listed."""
    if isinstance(places, int | np.integer):
        counts = np.bincount(table["place"].to_numpy(), minlength=len(visits.places))
        counts[(visits.places == ELSEWHERE).arg_true().to_numpy()] = 0  # it is the last place in any case
        most = np.argsort(-counts, kind="stable")[:places]  # codes follow names, and so ties go by name
        return most[counts[most] > 0].astype(np.uint32)
    names = pl.Series(list(places), dtype=pl.String)
    if not len(names) or names.is_duplicated().any() or ELSEWHERE in names:
        raise InputError(
            f"places is a list that is empty, names a place twice or names {ELSEWHERE!r}, which is always there; "
            "name each chosen place once"
        )
    codes = pl.DataFrame({"place": visits.places}).with_row_index("code")
    found = pl.DataFrame({"place": names}).join(codes, on="place", how="left", maintain_order="left")["code"]
    unknown = names.filter(found.is_null()).to_list()
    if unknown:
        raise InputError(
            f"{len(unknown)} of the {len(names)} chosen places are in no visit: {', '.join(map(repr, unknown[:5]))}"
            f"{' ...' if len(unknown) > 5 else ''}; check their spelling, or leave them out"
        )
    return found.cast(pl.UInt32).to_numpy()


def _one_place(table: pl.DataFrame, index: pl.Series, steps: Steps, rule: Rule) -> pl.DataFrame:
    """Rows (person, step, place), one per person and step with a visit to a chosen place.

    The last tie, two places at the same instant, goes to the one chosen first.
    """
    places = index.gather(table["place"])
    chosen = table.select("person", "time", place=places).filter(places >= 0)
    chosen = chosen.select("person", "time", "place", step=steps.of("time"))
    if rule == "most-visited":
        chosen = chosen.group_by("person", "step", "place").agg(n=pl.len(), time=pl.col("time").min())
        best = [pl.col("n").cast(pl.Int64).neg(), pl.col("time")]
    else:
        best = [pl.col("time") if rule == "first" else pl.col("time").to_physical().neg()]
    ranked = chosen.sort("person", "step", *best, "place")
    same = (pl.col("person") == pl.col("person").shift()) & (pl.col("step") == pl.col("step").shift())
    return ranked.filter(~same.fill_null(False)).select("person", "step", "place")


def _count(seen: pl.DataFrame, elsewhere: int, steps: int) -> NDArray[np.int64]:
    """How many people are at each place at each step; whoever is seen at another step is `elsewhere` at this one."""
    cells = seen["step"].to_numpy().astype(np.int64) * (elsewhere + 1) + seen["place"].to_numpy()
    counts = np.bincount(cells, minlength=steps * (elsewhere + 1)).reshape(steps, elsewhere + 1)
    counts[:, elsewhere] = seen["person"].n_unique() - counts.sum(axis=1)
    return counts


def _fill(
    seen: pl.DataFrame, elsewhere: int, people: int, steps: int, min_active: int
) -> tuple[pl.Series, NDArray[np.int32], NDArray[np.int32]]:
    """People's codes (N,), their places (N, T) and number of active steps (N,), for those active enough."""
    person = seen["person"].to_numpy()
    counts = np.bincount(person, minlength=people)
    kept = np.flatnonzero(counts >= max(min_active, 1))
    if not len(kept):
        raise InputError(
            f"no person is seen in at least {min_active} of {steps} steps at the {elsewhere} chosen places; the most "
            f"active is seen in {counts.max(initial=0)}; lower min_active, or choose a shorter window or more places"
        )
    if len(kept) * steps > _MOST_CELLS:
        raise InputError(
            f"{len(kept):,} people times {steps:,} steps are too many to hold; choose a longer window, or an origin "
            "and an end that leave out stray times"
        )
    row = np.full(people, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    array = np.full((len(kept), steps), elsewhere, dtype=np.int32)
    inside = row[person] >= 0
    array[row[person[inside]], seen["step"].to_numpy()[inside]] = seen["place"].to_numpy()[inside]
    return pl.Series(kept, dtype=pl.UInt32), array, counts[kept].astype(np.int32)
