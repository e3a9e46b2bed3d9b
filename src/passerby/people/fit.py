"""From traces to people with habits: the last steps are kept to be found, habits are fitted to the steps before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.blocks import Blocks
from passerby.support.checks import flag, is_whole, is_word, whole
from passerby.visits.all_visits import AllVisits, chosen_window
from passerby.visits.table import LeftOut, Traces, Visits
from passerby.visits.windows import Rule, Tracing, check_rules, traces_in, tracing_of

from . import cycles
from .choice import Choice, choose, weigh
from .common import MOST_EARLIER, Common, learnt, told
from .evidence import Past, past
from .family import Cycle, Habits, Trim
from .habits import People
from .origins import Clock, Whereabouts, shared, spread
from .population import MOST_LOOKED, Population, Tally, checked_smoothing, chosen_smoothing

Fitted = NDArray[np.int32]

#: Days of a week.
DAYS = 7


@dataclass(frozen=True)
class Fitting:
    """The settings of the fit: the settings of `fit_people`, without the settings of traces.

    `least` is in how many fitted steps people must be known (`min_active`).
    """

    holdout: int
    least: int
    habits: Habits | str
    smoothing: float | Literal["auto"]
    rhythm: Cycle
    name_elsewhere: bool
    common: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.habits, Habits) and not is_word(self.habits, ("auto", "paper")):
            raise InputError(f"habits: expected 'auto', 'paper' or Habits(...), got {self.habits!r}")
        checked_smoothing(self.smoothing)
        cycles.check_word(self.rhythm)


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
    habits: Habits | Literal["auto", "paper"] = "auto",
    common: Literal["auto", "none"] = "auto",
) -> People:
    """People with their habits: traces as in `window_visits`, the last `holdout` steps kept as the trace to find.

    With the window "auto", steps are as long as they can be for habits to get enough of them (`People.window`).

    By default habits are chosen among a family (`Habits`). The chosen member gives the highest probability to stretches
    of later fitted steps over everybody; stretches are as long as the published one. `People.habits` has the choice,
    its reasons, and the scores of the others. A `rhythm` other than "none" is then taken as given. Otherwise parts of
    the day and week are tried if steps are short enough. Give `Habits(...)` to fix them. Fitted steps alone rank
    places, and `min_active` counts them alone: the steps to find may not choose places, people or habits. A person
    without any known fitted step is left out. Traces are taken as they are; `window_visits(holdout=...)` makes them so.

    An adversary with the others' places knows everybody's common part of that day. Chosen habits have a `common` part
    for the steps to find, if such a part predicted earlier steps better. The others' real places then are its evidence,
    and a person's own steps are never in it (`People.common`). With `common="none"` no habits have it.

    With `habits="paper"`, moves are smoothed with the population's frequencies and started at equilibrium. `smoothing`
    is then the weight of these frequencies, in steps. With "auto" it is the best weight for predicting the last fifth
    of the fitted steps over all people. `rhythm` lets habits differ by hour of the day or day of the week. With
    `name_elsewhere`, the guess "elsewhere" is right for a person at none of the chosen places, as in the paper;
    otherwise only named places count.

    >>> from passerby.visits import simulate_city
    >>> city = simulate_city(people=60, places=40, days=4)
    >>> people = fit_people(city, window="1h", places=20, min_active=1, holdout=12)
    >>> people, people.habits.scores["rhythm"].unique().sort().to_list()
    (People(people=60, places=21, fitted_steps=84, held_out_steps=12), ['hour', 'none'])
    """
    least = 1 if isinstance(visits, Traces) else min_active
    name, same = flag(name_elsewhere, "name_elsewhere"), wants_common(common)
    how = Fitting(holdout, least, habits, smoothing, rhythm, name, same)
    if isinstance(visits, Traces):
        return fit_traces(visits, how)
    return fit_traces(traces_of(visits, how, window, places, rule, origin, end), how)


def wants_common(common: object) -> bool:
    """Whether habits may have a common part for the steps to find."""
    if not is_word(common, ("auto", "none")):
        raise InputError(f"common: expected 'auto' or 'none', got {common!r}")
    return common == "auto"


def traces_of(
    visits: Visits,
    how: Fitting,
    window: str | timedelta,
    places: int | Sequence[str],
    rule: Rule,
    origin: str | datetime | None,
    end: str | datetime | None,
    also: Sequence[str] = (),
) -> Traces:
    """The traces for fitting habits: chosen habits also use people known half as often."""
    tracing = tracing_for(AllVisits.of(visits), how, window, places, rule, origin, end, also)
    try:
        return traces_in(visits, tracing)
    except InputError:
        # The message names the requested settings.
        return traces_in(visits, replace(tracing, min_active=how.least))


def tracing_for(
    everybody: AllVisits,
    how: Fitting,
    window: str | timedelta,
    places: int | Sequence[str],
    rule: Rule,
    origin: str | datetime | None,
    end: str | datetime | None,
    also: Sequence[str] = (),
) -> Tracing:
    """The settings of these traces; places of `also` with any visits are kept beside the chosen ones."""
    least = whole(how.least, "min_active")
    check_rules(places, least, rule)
    length = chosen_window(
        everybody, window, holdout=how.holdout, rhythm=how.rhythm, min_active=least, origin=origin, end=end
    )
    often = least if how.habits == "paper" else often_enough(least)
    return tracing_of(everybody, length, places, often, rule, origin, end, how.holdout, also)


def often_enough(min_active: int) -> int:
    """The least number of active steps in traces for the choice of habits.

    Earlier origins have at least half of the fitted steps before them. A person known half as often by then is as good
    for the choice. A higher number would choose by people who were there afterwards.
    """
    return (min_active + 1) // 2


def fit_traces(traces: Traces, how: Fitting) -> People:
    """Habits of people known in enough fitted steps (of everybody, for habits as in the paper)."""
    everybody = traces
    if how.habits == "paper" and how.least > 1:
        traces = _active(traces, how.least, how.holdout)
    common = fit_blocks(traces, Blocks.here(traces), how)
    cut, steps = common.fitted.shape[1], everybody.array.shape[1]
    people = replace(with_rows(common, traces, how.least), whereabouts=Whereabouts.of(everybody, cut, steps))
    return with_common(people, people)


def with_common(people: People, others: People) -> People:
    """People whose habits have the common part inferred from the others, if wanted."""
    deviation = 0.0 if people.habits is None else people.habits.chosen.common
    if not deviation or not len(others) or not others.actual.shape[1]:
        return people
    return replace(people, common=Common.of(others, deviation))


def fit_blocks(common: Traces, blocks: Blocks[Traces], how: Fitting) -> People:
    """Knowledge of everybody, from blocks of traces, without the people; `common` are traces of their common part.

    `with_rows` makes the people of a block of it.
    """
    steps, holdout, habits, smoothing = common.array.shape[1], how.holdout, how.habits, how.smoothing
    if not is_whole(holdout) or not 0 <= holdout <= steps - 2:
        raise InputError(
            f"holdout: {holdout!r} of {steps} steps; expected a whole number that leaves at least 2 to fit habits to"
        )
    cut, fitted = steps - holdout, blocks.then(_first_steps, steps - holdout)
    people = People(
        np.empty((0, cut), dtype=np.int32),
        np.empty((0, holdout), dtype=np.int32),
        common.places,
        np.full(len(common.places), 1 / len(common.places)),
        1.0,
        common.people.clear(),
        common.starts,
        common.window,
        common.counts[cut:],
        None,
        common.timezone,
        common.left_out,
        how.name_elsewhere,
    )
    if habits == "paper":
        return _fit_paper(people, fitted, smoothing, how.rhythm)
    if checked_smoothing(smoothing) not in (1.0, None):
        raise InputError(
            f"smoothing: {smoothing!r} is for habits='paper'; say so, or give habits=Habits(smoothing={smoothing!r})"
        )
    return _fit_family(people, fitted, how)


def with_rows(common: People, traces: Traces, least: int) -> People:
    """The people of some traces known in so many fitted steps, with the knowledge of everybody.

    Habits as in the paper keep all of them. Other habits keep people known at least once: a person never seen has no
    known habits.
    """
    cut, array, ids = common.fitted.shape[1], traces.array, traces.people
    if common.habits is not None:
        enough = np.flatnonzero(_known(common.elsewhere, array[:, :cut]) >= max(least, 1))
        array, ids = (array, ids) if len(enough) == len(array) else (array[enough], ids.gather(enough.tolist()))
    fitted, actual = np.ascontiguousarray(array[:, :cut]), np.ascontiguousarray(array[:, cut:])
    return replace(common, fitted=fitted, actual=actual, ids=ids)


def _first_steps(cut: int, traces: Traces) -> NDArray[np.int32]:
    return np.ascontiguousarray(traces.array[:, :cut])


def _known(elsewhere: int, fitted: NDArray[np.int32]) -> NDArray[np.int64]:
    """In how many steps each person (N,) is known."""
    return np.asarray((fitted != elsewhere).sum(axis=1))


def _active(traces: Traces, least: int, holdout: int) -> Traces:
    """The traces of people known in so many steps before the last ones."""
    fitted = traces.array.shape[1] - holdout
    known = _known(len(traces.places) - 1, traces.array[:, :fitted])
    kept = np.flatnonzero(known >= least)
    if len(kept) == len(traces):
        return traces
    if not len(kept):
        raise nobody(least, fitted, len(traces.places) - 1, int(known.max(initial=0)))
    array = traces.array[kept]
    return replace(
        traces,
        array=array,
        people=traces.people.gather(kept.tolist()),
        active=traces.active[kept],
        frequency=np.bincount(array.ravel(), minlength=len(traces.places)) / array.size,
        left_out=replace(traces.left_out, seldom=traces.left_out.seldom + len(traces) - len(kept)),
    )


def nobody(least: int, steps: int, places: int, most: int) -> InputError:
    """The error if nobody is known often enough."""
    return InputError(
        f"no person is seen in at least {least} of the {steps} fitted steps at the {places} chosen places; the most "
        f"active is seen in {most}; lower min_active, hold out fewer steps, or choose shorter steps or more places"
    )


def _check_paper_rhythm(rhythm: Cycle, people: People) -> None:
    if rhythm == "workday":
        raise InputError("rhythm: 'workday' is not a cycle of habits='paper'; choose 'hour' or 'weekday'")
    cycles.check(rhythm, people.window, len(people.starts))


def _fit_paper(people: People, fitted: Blocks[Fitted], smoothing: float | Literal["auto"], rhythm: Cycle) -> People:
    """Habits as in the paper."""
    cut, places = people.fitted.shape[1], len(people.places)
    _check_paper_rhythm(rhythm, people)
    visits = fitted.map(_visits, places)
    background = np.sum(visits, axis=0) / np.sum(visits)
    sizes = [int(each.sum()) // cut for each in visits]
    chosen = (
        fitted.zipped(shared(np.array(sizes), MOST_LOOKED)).map(_some, None) if smoothing == "auto" else [people.fitted]
    )
    alpha = chosen_smoothing(smoothing, np.concatenate(chosen), background)
    phase = cycles.phase(rhythm, people.starts, people.window, len(people.starts))
    return replace(people, background=background, smoothing=alpha, phase=phase)


def _visits(places: int, fitted: Fitted) -> NDArray[np.int64]:
    return np.bincount(fitted.ravel(), minlength=places)


def _some(_: None, block: tuple[Fitted, NDArray[np.int64]]) -> Fitted:
    fitted, rows = block
    return np.asarray(fitted[rows])


def _fit_family(people: People, fitted: Blocks[Fitted], how: Fitting) -> People:
    """A member of the family of habits, given or chosen, and the habits of everybody."""
    habits, rhythm, least = how.habits, how.rhythm, how.least
    cut, held, places = people.fitted.shape[1], people.actual.shape[1], len(people.places)
    cycle = habits.rhythm if isinstance(habits, Habits) else rhythm
    cycles.check(cycle, people.window, cut)
    tried: list[Cycle] = [cycle]
    if habits == "auto" and rhythm == "none":
        more: tuple[Cycle, ...] = ("hour", "workday", "weekday")
        tried += [each for each in more if cycles.usable(each, people.window, cut)]
    steps = max(len(people.starts), cut + 1)
    levels = {each: cycles.levels(each, people.starts, people.window, steps) for each in tried}
    day, week = (cycles.length(each, people.window) for each in ("hour", "weekday"))
    weekend = cycles.weekends(people.starts, people.window, steps)
    clock = Clock(day if day > 1 else int(week == DAYS), week if week > 1 else 0, weekend)
    known = past(fitted, cut, places, held, least, max(2, week), clock)
    if isinstance(habits, Habits):
        choice = weigh(known, habits, levels[cycle]) if known else Choice(habits)
    else:
        choice = choose(known, levels) if known else Choice(Habits(rhythm=cycle))
        if known and how.common and held:
            common = learnt(_earlier(people, known, choice, levels[choice.chosen.rhythm]))
            choice = replace(choice, chosen=replace(choice.chosen, common=common))
    if not how.common:
        choice = replace(choice, chosen=replace(choice.chosen, common=0.0))
    phase = levels[choice.chosen.rhythm][-1] if choice.chosen.rhythm != "none" else None
    population = Population.summed(fitted.map(_tally, (places, choice.chosen.trim, levels[choice.chosen.rhythm])))
    return replace(
        people,
        background=population.background,
        smoothing=choice.chosen.smoothing,
        phase=phase,
        habits=choice,
        population=population,
        left_out=_without_seldom(people, fitted, least),
    )


def _earlier(
    people: People, known: Past, choice: Choice, levels: tuple[NDArray[np.int64], ...]
) -> list[tuple[NDArray[np.int64], float]]:
    """The evidence of people's steps after earlier origins on the common part there, and its weights."""
    out = []
    for k, origin in enumerate(known.looked):
        cut, who = origin.cut, origin.who[spread(len(origin.who), MOST_EARLIER)]
        stop = cut + known.stretch
        population = Population.of(known.fitted[origin.everybody, :cut], known.places, choice.chosen.trim, levels)
        then = replace(
            people,
            fitted=np.ascontiguousarray(known.fitted[who, :cut]),
            actual=np.ascontiguousarray(known.fitted[who, cut:stop]),
            starts=people.starts[:stop],
            phase=levels[-1][:stop] if levels else None,
            habits=choice,
            population=population,
        )
        out.append((told(then, np.arange(len(who))), 0.5**k))
    return out


def _tally(how: tuple[int, Trim, Sequence[NDArray[np.int64]]], fitted: Fitted) -> Tally:
    """The moves of everybody ever known."""
    places, trim, levels = how
    return Tally.of(fitted[(fitted != places - 1).any(axis=1)], places, trim, levels)


def _without_seldom(people: People, fitted: Blocks[Fitted], least: int) -> LeftOut:
    """The left-out people, with people known in fewer fitted steps; refused if nobody is left."""
    found = np.array(fitted.map(_often, (people.elsewhere, max(least, 1))))
    if not found[:, 1].sum():
        raise nobody(max(least, 1), people.fitted.shape[1], people.elsewhere, int(found[:, 2].max()))
    seldom = people.left_out.seldom + int(found[:, 0].sum() - found[:, 1].sum())
    return replace(people.left_out, seldom=seldom)


def _often(asked: tuple[int, int], fitted: Fitted) -> tuple[int, int, int]:
    """How many people there are, how many are known often enough, and in how many steps the best known is."""
    known = _known(asked[0], fitted)
    return len(known), int((known >= asked[1]).sum()), int(known.max(initial=0))
