"""Did such predictions come true? Habits fitted at earlier origins, and people's real steps after them.

At each origin habits are fitted to the steps before, as in an audit. Attacks are made on the steps after, with the
counts (`map`, `marginal`) and without (`prior`, `constant`). The promises of the habits are compared with the number of
people really found.

Earlier origins: everybody's traces up to the steps after each, by places and people of the steps before it.

Later steps choose no place or person at an origin: places are ranked, and active steps counted, before it. So an origin
is like an audit made at its time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from passerby.errors import InputError
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.people.family import Cycle, Habits
from passerby.people.fit import Fitting, fit_traces, often_enough, traces_of, tracing_for, wants_common
from passerby.people.habits import People
from passerby.people.origins import Whereabouts
from passerby.people.sensors import most_visited_sensors
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.checks import flag, is_whole, whole
from passerby.support.workers import Progress, collect
from passerby.visits.all_visits import AllVisits
from passerby.visits.table import Traces, Visits
from passerby.visits.windows import Rule, Tracing, chosen_by, earlier, traces_in

from .attacks import likelihood, misses_tried, tried_on
from .calibration import Calibration, Tried, calibrate
from .event_promises import Events, events_of
from .job import Job, check_job, only, seen_by, some_numbers, some_people
from .person import stream_of
from .settings import BacktestSettings, Measurement

#: Habits at an origin are fitted to at most so many people: more would take longer and tell little more of everybody.
MOST_PEOPLE = 20_000
#: Origins with overlapping later steps are used only if fewer than these have steps of their own.
APART = 3


@dataclass(frozen=True)
class Earlier:
    """Traces up to the steps after an origin, of `MOST_PEOPLE` people at most, in as few bytes as they fit in.

    If these are not all people, `whereabouts` has everybody's places after the origin.
    """

    traces: Traces
    whereabouts: Whereabouts | None = None

    @classmethod
    def of(cls, traces: Traces, cut: int, seed: int) -> Earlier:
        """From everybody's traces in memory."""
        some = some_traces(traces, MOST_PEOPLE, seed)
        everybody = None if some is traces else Whereabouts.of(traces, cut, traces.array.shape[1])
        return cls(small(some), everybody)

    @property
    def whole(self) -> Traces:
        """The traces, in the numbers of the fitted habits."""
        return replace(self.traces, array=self.traces.array.astype(np.int32))


def small(traces: Traces) -> Traces:
    """The same traces in as few bytes as they fit in."""
    return replace(traces, array=traces.array.astype(np.min_scalar_type(len(traces.places))))


#: The knowledge at each earlier origin, by its fitted steps; or the reason for none.
Origins = Mapping[int, Earlier | str]


def earlier_tracings(
    everybody: AllVisits, how: Tracing, fitting: Fitting, count: int, places: int | Sequence[str], also: Sequence[str]
) -> dict[int, Tracing]:
    """The settings of traces at each of so many origins but the latest; the latest uses the traces of the audit."""
    holdout = whole(fitting.holdout, "holdout", 1)
    latest, *before = earlier_origins(how.steps.count, holdout, count)
    out = {}
    for cut in before:
        least = least_at(fitting, cut, latest)
        often = least if fitting.habits == "paper" else often_enough(least)
        out[cut] = chosen_by(everybody, earlier(how, cut, holdout, often), places, also)
    return out


def earlier_traces(
    visits: Visits,
    how: Tracing,
    fitting: Fitting,
    count: int,
    seed: int,
    places: int | Sequence[str],
    also: Sequence[str] = (),
) -> Origins:
    """Traces at each of so many origins but the latest, from visits in memory."""
    found: dict[int, Earlier | str] = {}
    for cut, tracing in earlier_tracings(AllVisits.of(visits), how, fitting, count, places, also).items():
        try:
            found[cut] = Earlier.of(traces_in(visits, tracing), cut, seed)
        except InputError as reason:
            found[cut] = str(reason)
    return found


def least_at(fitting: Fitting, cut: int, latest: int) -> int:
    """In how many of `cut` steps people must be known at an origin."""
    return known_by(max(1, fitting.least), cut, latest)


def earlier_origins(steps: int, holdout: int, count: int) -> list[int]:
    """Numbers of fitted steps at no more than `count` origins, from the latest, and none with less than half of them.

    They are one published length apart; if this leaves fewer than `APART`, they are nearer.

    >>> earlier_origins(30, 5, 3), earlier_origins(30, 5, 9), earlier_origins(16, 5, 3), earlier_origins(5, 2, 3)
    ([25, 20, 15], [25, 20, 15], [11, 8, 5], [3, 2])
    """
    if not is_whole(count) or count < 1:
        raise InputError(f"origins: expected a whole number of at least 1, got {count!r}")
    latest = steps - holdout
    earliest = max(2, latest // 2)
    if holdout < 1 or latest < earliest:
        raise InputError(
            f"origins: {steps} steps are too few to fit habits to some and find the {holdout} after them; lower holdout"
        )
    own = min(count, 1 + (latest - earliest) // holdout)
    if own >= min(count, APART):
        return [latest - k * holdout for k in range(own)]
    near = min(count, APART, 1 + latest - earliest)
    apart = (latest - earliest) // max(1, near - 1)
    return [latest - k * apart for k in range(near)]


def known_by(least: int, cut: int, latest: int) -> int:
    """In how many of `cut` steps people must be known: as large a share as of the `latest`, and half as many at least.

    >>> known_by(10, 25, 25), known_by(10, 15, 25), known_by(1, 15, 25)
    (10, 6, 1)
    """
    return max(often_enough(least), ceil(least * cut / latest))


def first_steps(traces: Traces, steps: int) -> Traces:
    """The first steps of all traces."""
    array = np.ascontiguousarray(traces.array[:, :steps])
    return replace(traces, array=array, starts=traces.starts[:steps], counts=traces.counts[:steps])


def some_traces(traces: Traces, count: int, seed: int) -> Traces:
    """So many traces, drawn at random; counts are still of everybody."""
    if len(traces.array) <= count:
        return traces
    chosen = some_numbers(len(traces.array), count, seed)
    people = traces.people.gather(chosen.tolist())
    return replace(traces, array=traces.array[chosen], people=people, active=traces.active[chosen])


#: The fewest people of an origin.
FEWEST = 10


def backtest(
    visits: Visits | Traces,
    *,
    origins: int = BacktestSettings.origins,
    people: int = BacktestSettings.backtest,
    misses: int = 1,
    release: Release | Callable[[People], Release] | None = None,
    seed: int = 0,
    window: str | timedelta = "20d",
    places: int | Sequence[str] = 100,
    min_active: int = 10,
    holdout: int = 5,
    habits: Habits | Literal["auto", "paper"] = "auto",
    smoothing: float | Literal["auto"] = 1.0,
    rhythm: Cycle = "none",
    origin: str | datetime | None = None,
    end: str | datetime | None = None,
    rule: Rule = "most-visited",
    name_elsewhere: bool = False,
    common: Literal["auto", "none"] = "auto",
    workers: int | None = 1,
    progress: Progress | None = None,
) -> Calibration:
    """Promised against really right, at several origins; the latest is followed by the last `holdout` steps.

    At each of at most `origins` origins, habits are fitted (and chosen) anew from the steps before. At most `people`
    people are attacked, drawn at random. Places and people of an origin, too, are chosen by the steps before it; traces
    are taken as they are. `release` is the publication after each origin, or makes it from the people of an origin. By
    default it is raw counts of the most visited place. Its places are the places of `fit_people`, by number. `misses`
    is the number of wrong steps for the verdict; `by_misses` has others too. A promise is the attack's success under
    the habits, over all possible published series. They are listed or, if they are too many, drawn. The other settings
    are the settings of `fit_people`.

    >>> from passerby.visits import simulate_city
    >>> found = backtest(
    ...     simulate_city(people=40, places=20, days=10), window="6h", places=15, min_active=3, holdout=4, people=30
    ... )
    >>> found.by_misses.columns[:7], found.origins
    (['attack', 'misses', 'promised', 'right', 'difference', 'lower', 'upper'], 5)
    """
    least = min_active if isinstance(visits, Visits) else 1
    name, same = flag(name_elsewhere, "name_elsewhere"), wants_common(common)
    fitting = Fitting(holdout, least, habits, smoothing, rhythm, name, same)
    steps: dict[str, Any] = {"window": window, "places": places, "rule": rule, "origin": origin, "end": end}
    traces = traces_of(visits, fitting, **steps) if isinstance(visits, Visits) else visits
    if not isinstance(traces, Traces):
        raise InputError(f"visits is a {type(visits).__name__}; expected what read_visits returns")
    before: Origins = {}
    if isinstance(visits, Visits):
        how = tracing_for(AllVisits.of(visits), fitting, **steps)
        named = traces.places[:-1] if isinstance(release, Release) else ()
        before = earlier_traces(visits, how, fitting, origins, seed, places, named)
    work = BacktestJob(traces, fitting, release, misses, people, seed, before)
    return run_backtest(work, origins, workers=workers, progress=progress)


@dataclass(frozen=True)
class BacktestJob:
    """All a worker needs: everybody's traces, the settings of the fit, the release, and how many to attack.

    `earlier` has the traces of all origins but the latest; traces of other origins are the first steps of all `traces`.
    A release uses the numbers of places of `traces`. At origins of `earlier` it is made `anew` from the people there,
    if given, since fitted steps choose sensors, too. If traces were drawn from more, `whereabouts` has everybody's
    places after an origin. `ids` are all people of any origin, in order.
    """

    traces: Traces
    fitting: Fitting
    release: Release | Callable[[People], Release] | None
    misses: int
    people: int
    seed: int
    earlier: Origins = field(default_factory=dict)
    anew: Callable[[People], Release] | None = None
    whereabouts: Mapping[int, Whereabouts] = field(default_factory=dict)
    ids: pl.Series = field(default_factory=lambda: pl.Series([], dtype=pl.Int64))

    @property
    def tried_misses(self) -> list[int]:
        """The numbers of misses under trial."""
        return misses_tried(self.fitting.holdout, self.misses)


def run_backtest(
    work: BacktestJob,
    origins: int,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> Calibration:
    """The backtest at so many origins; with a `file`, finished origins are kept there when it is interrupted."""
    holdout = whole(work.fitting.holdout, "holdout", 1)
    cuts = earlier_origins(work.traces.array.shape[1], holdout, origins)
    _check(work)
    some, whereabouts = some_traces(work.traces, MOST_PEOPLE, work.seed), _everywhere(work, cuts)
    known = [some.people, *(each.traces.people for each in work.earlier.values() if isinstance(each, Earlier))]
    work = replace(work, whereabouts=whereabouts, traces=some, ids=pl.concat(known).unique().sort())
    kept = None if file is None else Checkpoints(file, fingerprint(work, cuts))
    found = collect(_at, work, cuts, workers=workers, executor=executor, progress=progress, kept=kept)
    tried = [_tried(piece) for piece in found if len(piece) > 1]
    if not tried:
        raise InputError(f"backtest: habits can be tried at no origin; at the latest, {found[0][0]}")
    apart = cuts[0] - cuts[1] if len(cuts) > 1 else holdout
    independent = 1 + int((len(tried) - 1) * min(1.0, apart / holdout))
    return calibrate(tried, work.tried_misses, work.misses, holdout, independent)


def _check(work: BacktestJob) -> None:
    """Refuse anything but numbers, and anything but a release."""
    steps = work.fitting.holdout
    if not is_whole(work.misses) or not 0 <= work.misses < steps:
        raise InputError(f"misses: {work.misses!r} of {steps} steps; expected a whole number from 0 to {steps - 1}")
    if not is_whole(work.people) or work.people < 1:
        raise InputError(f"people: expected a whole number of at least 1, got {work.people!r}")
    whole(work.seed, "seed")
    if work.release is not None and not isinstance(work.release, Release) and not callable(work.release):
        raise InputError(f"release: expected a Release, or a function that makes one of people, got {work.release!r}")


def _everywhere(work: BacktestJob, cuts: Sequence[int]) -> dict[int, Whereabouts]:
    """Everybody's places after each origin, if only some are attacked and counts are of more than sensors."""
    if work.release is None or type(work.release) is Release:
        return {}
    out = dict(work.whereabouts)
    for cut in cuts:
        then = work.earlier.get(cut)
        if isinstance(then, Earlier):
            out |= {} if then.whereabouts is None else {cut: then.whereabouts}
        elif then is None and cut not in out and len(work.traces.array) > MOST_PEOPLE:
            out[cut] = Whereabouts.of(work.traces, cut, cut + work.fitting.holdout)
    return out


def _published(work: BacktestJob, people: People, cut: int) -> Release:
    """The publication after an origin, about these people, by the numbers of places there."""
    release = work.anew if work.anew is not None and cut in work.earlier else work.release
    if not isinstance(release, Release):
        return release(people) if release else Release(most_visited_sensors(people))
    if people.places == work.traces.places:
        return release
    number = {name: at for at, name in enumerate(people.places)}
    return release.relabelled(np.array([number.get(name, people.elsewhere) for name in work.traces.places]))


def _at(work: BacktestJob, cut: int) -> list[Any]:
    """One origin, as plain lists for storage; a reason alone if habits cannot be fitted."""
    holdout, latest = work.fitting.holdout, work.traces.array.shape[1] - work.fitting.holdout
    least, then = least_at(work.fitting, cut, latest), work.earlier.get(cut)
    if isinstance(then, str):
        return [then]
    traces = first_steps(work.traces, cut + holdout) if then is None else then.whole
    elsewhere = len(traces.places) - 1
    # The choice of people must not depend on the steps to find, whatever the habits.
    enough = np.flatnonzero((traces.array[:, :cut] != elsewhere).sum(axis=1) >= least)
    if len(enough) < FEWEST:
        before = str(traces.starts[cut].astype("datetime64[m]")).replace("T", " ")
        # Their number, beside the number of audited people, would give away the number of the others.
        some = f"fewer than {FEWEST}" if len(enough) else "no"
        return [f"{some} people are seen in {least} or more of the {cut} steps before {before}"]
    try:
        fitted = fit_traces(traces, replace(work.fitting, least=least))
    except InputError as reason:
        return [str(reason)]
    known = only(fitted, np.flatnonzero(fitted.ids.is_in(traces.people.gather(enough.tolist()).implode()).to_numpy()))
    chosen = only(known, some_people(known, work.people, work.seed))
    release = _published(work, chosen, cut)
    check_job(Job(chosen, release, Measurement(work.misses)))
    others = everyone_else(replace(chosen, whereabouts=work.whereabouts.get(cut, chosen.whereabouts)), release)
    job = Job(replace(chosen, common=seen_by(known, release).common), release, Measurement(work.misses), others)
    found = []
    for person in range(len(chosen)):
        rng = np.random.default_rng([*stream_of(work.seed, chosen.ids[person]), cut])
        promised, right = tried_on(job, person, work.tried_misses, rng)
        found.append([promised.tolist(), right.tolist(), likelihood(chosen, person)])
    row_of = {name: row for row, name in enumerate(work.ids.to_list())}
    who = [row_of[name] for name in chosen.ids.to_list()]
    words = "paper" if chosen.habits is None else repr(chosen.habits.chosen)
    events = events_of(job, np.random.default_rng([work.seed, cut]))
    parts = [list(each) for each in zip(*found, strict=True)]
    return [str(chosen.starts[cut]), words, who, len(known), *parts, events, latest - cut]


def _tried(piece: list[Any]) -> Tried:
    start, habits, who, eligible, *arrays, events, before = piece
    promised, right, logs = (np.array(each, dtype=np.float64) for each in arrays)
    return Tried(start, habits, np.array(who), eligible, promised, right, logs, Events.of(events), before)
