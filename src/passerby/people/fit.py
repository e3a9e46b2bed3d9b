"""From traces to people with habits: the last steps are kept to be found, habits are fitted to those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
import polars as pl

from passerby.errors import InputError
from passerby.support.checks import flag
from passerby.visits.table import Visits
from passerby.visits.traces import Traces
from passerby.visits.windows import Rule, chosen_window, window_visits

from . import cycles
from .choice import Choice, choose
from .family import Cycle, Habits
from .habits import People
from .population import Population
from .smoothing import chosen_smoothing


def fit_people(
    visits: Visits | Traces,
    *,
    window: str | timedelta = "auto",
    places: int | Sequence[str] = 100,
    min_active: int = 10,
    holdout: int = 5,
    smoothing: float | Literal["auto"] = 1.0,
    rhythm: Cycle = "none",
    origin: str | datetime | None = None,
    end: str | datetime | None = None,
    rule: Rule = "most-visited",
    name_elsewhere: bool = False,
    habits: Habits | Literal["auto", "paper"] = "paper",
) -> People:
    """People with their habits: traces as in `window_visits`, the last `holdout` steps kept as the trace to find.

    With the window "auto", steps are as long as they can be for habits to get enough of them (`People.window`).

    With `habits="auto"`, they are chosen among a family (`Habits`): the member that gave the highest probability to
    stretches of later fitted steps, as long as what is published, over everybody. `People.habits` tells which, and the
    scores of the others. A `rhythm` other than "none" is then taken as given; otherwise parts of the day and week are
    tried where steps are short enough to tell. Give `Habits(...)` to fix them. `min_active` counts fitted steps alone:
    who is looked at must not depend on what is to be found.

    By default, with `habits="paper"`, moves are smoothed with the population's frequencies and started at equilibrium,
    and `min_active` counts all steps. `smoothing` is then the weight of these frequencies, in steps; with "auto" it is
    the one that predicts the last fifth of the fitted steps best over all people. `rhythm` lets habits differ by hour
    of the day or day of the week. With `name_elsewhere`, a guess that says "elsewhere" is right where the person is at
    none of the chosen places, as in the paper; otherwise only places that are named count.

    >>> from passerby.visits import simulate_city
    >>> city = simulate_city(people=60, places=40, days=4)
    >>> fit_people(city, window="1h", places=20, min_active=1, holdout=12)
    People(people=60, places=21, fitted_steps=84, held_out_steps=12, smoothing=1)
    >>> people = fit_people(city, window="1h", places=20, min_active=1, holdout=12, habits="auto")
    >>> people.habits.scores["rhythm"].unique().sort().to_list()
    ['hour', 'none']
    """
    traces, named = visits, flag(name_elsewhere, "name_elsewhere")
    if not isinstance(traces, Traces):
        between = {"min_active": min_active, "origin": origin, "end": end}
        length = chosen_window(visits, window, holdout=holdout, rhythm=rhythm, **between)  # type: ignore[arg-type]
        traces = window_visits(visits, window=length, places=places, rule=rule, **between)  # type: ignore[arg-type]
    least = 1 if isinstance(visits, Traces) else min_active
    return fit_traces(traces, holdout, least, habits, smoothing, rhythm, named)


def fit_traces(
    traces: Traces,
    holdout: int,
    least: int,
    habits: Habits | str,
    smoothing: float | Literal["auto"],
    rhythm: Cycle,
    name_elsewhere: bool,
) -> People:
    """Habits of those who are known in at least `least` fitted steps (of everybody, for habits as in the paper)."""
    steps = traces.array.shape[1]
    if isinstance(holdout, bool) or not isinstance(holdout, (int, np.integer)) or not 0 <= holdout <= steps - 2:
        raise InputError(
            f"holdout: {holdout!r} of {steps} steps; expected a whole number that leaves at least 2 to fit habits to"
        )
    cut = steps - holdout
    fitted = np.ascontiguousarray(traces.array[:, :cut])
    if isinstance(habits, str) and habits not in ("auto", "paper"):
        raise InputError(f"habits: expected 'auto', 'paper' or Habits(...), got {habits!r}")
    people = People(
        fitted,
        np.ascontiguousarray(traces.array[:, cut:]),
        traces.places,
        np.bincount(fitted.ravel(), minlength=len(traces.places)) / fitted.size,
        1.0,
        traces.people,
        traces.starts,
        traces.window,
        traces.counts[cut:],
        None,
        traces.timezone,
        traces.left_out,
        name_elsewhere,
    )
    if habits == "paper":
        _check_paper_rhythm(rhythm, people)
        alpha = chosen_smoothing(smoothing, fitted, people.background)
        return replace(people, smoothing=alpha, phase=cycles.phase(rhythm, traces.starts, traces.window, steps))
    if smoothing not in (1.0, "auto"):
        raise InputError(
            f"smoothing: {smoothing!r} is for habits='paper'; say so, or give habits=Habits(smoothing={smoothing!r})"
        )
    return _fit_family(people, habits, rhythm, least)


def _check_paper_rhythm(rhythm: Cycle, people: People) -> None:
    if rhythm == "workday":
        raise InputError("rhythm: 'workday' is not a cycle of habits='paper'; choose 'hour' or 'weekday'")
    cycles.check(rhythm, people.window, len(people.starts))


def _fit_family(people: People, habits: Habits | str, rhythm: Cycle, least: int) -> People:
    """People with a member of the family of habits, given or chosen, without those who are known too seldom."""
    everybody, steps = people.fitted, len(people.starts)
    cut, held, places = everybody.shape[1], people.actual.shape[1], len(people.places)
    cycle = habits.rhythm if isinstance(habits, Habits) else rhythm
    cycles.check(cycle, people.window, cut)
    tried: list[Cycle] = [cycle]
    if habits == "auto" and rhythm == "none":
        more: tuple[Cycle, ...] = ("hour", "workday", "weekday")
        tried += [each for each in more if cycles.usable(each, people.window, cut)]
    phases = {each: cycles.phase(each, people.starts, people.window, max(steps, cut + 1)) for each in tried}
    week = max(2, cycles.length("weekday", people.window))
    choice = (
        Choice(habits, pl.DataFrame())
        if isinstance(habits, Habits)
        else choose(everybody, places, held, phases, least, week)
    )
    people = _often_enough(people, least)
    phase = phases[choice.chosen.rhythm]
    population = Population.of(people.fitted, places, choice.chosen.trim, phase)
    return replace(
        people,
        background=population.background,
        smoothing=choice.chosen.smoothing,
        phase=phase,
        habits=choice,
        population=population,
    )


def _often_enough(people: People, least: int) -> People:
    """Those who are known in so many fitted steps."""
    known = (people.fitted != people.elsewhere).sum(axis=1)
    enough = np.flatnonzero(known >= least)
    if len(enough) == len(people) or least <= 1:
        return people
    if not len(enough):
        raise InputError(
            f"no person is seen in at least {least} of the {people.fitted.shape[1]} fitted steps at the "
            f"{people.elsewhere} chosen places; the most active is seen in {known.max(initial=0)}; lower min_active or "
            "holdout, or choose shorter windows or more places"
        )
    seldom = people.left_out.seldom + len(people) - len(enough)
    return replace(
        people,
        fitted=people.fitted[enough],
        actual=people.actual[enough],
        ids=people.ids.gather(enough.tolist()),
        left_out=replace(people.left_out, seldom=seldom),
    )
