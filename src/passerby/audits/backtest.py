"""Did such predictions come true? Habits fitted at earlier origins, and what people really did after them.

At each origin habits are fitted to the steps before, as an audit fits them, and two attacks are made on those after:
`map`, with the counts, and `prior`, without. What the habits promise is set against how many people are really found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.measurement.decode import decode_series
from passerby.measurement.methods.prior import prior_trace
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series, enumerate_series, one_series, sample_series, score
from passerby.people.family import Cycle, Habits
from passerby.people.fit import fit_traces
from passerby.people.habits import People
from passerby.people.others import everyone_else
from passerby.people.sensors import most_visited_sensors
from passerby.visits.table import Visits
from passerby.visits.traces import Traces
from passerby.visits.windows import Rule, window_visits

from .calibration import Calibration, Tried, calibrate
from .job import Job, over_states
from .sample import only, some_people
from .settings import Measurement

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Series that are listed for a promise, the probability that may be left over, and how many are drawn instead.
LISTED, LEFT, DRAWN = 2000, 1e-3, 100


def backtest(
    visits: Visits | Traces,
    *,
    origins: int = 3,
    people: int = 300,
    misses: int = 1,
    release: Callable[[People], Release] | None = None,
    seed: int = 0,
    window: str | timedelta = "20d",
    places: int | Sequence[str] = 100,
    min_active: int = 10,
    holdout: int = 5,
    habits: Habits | Literal["auto", "paper"] = "paper",
    smoothing: float | Literal["auto"] = 1.0,
    rhythm: Cycle = "none",
    origin: str | datetime | None = None,
    end: str | datetime | None = None,
    rule: Rule = "most-visited",
    name_elsewhere: bool = False,
) -> Calibration:
    """Promised against really right, at several origins; the latest is followed by the last `holdout` steps.

    At each origin habits are fitted (and chosen) anew from what was before, and at most `people` people are attacked,
    drawn at random. `release` makes what is published about the people of an origin: raw counts of the most visited
    place where it is left out. `misses` is the number of wrong steps that the verdict is about; `by_misses` has all. A
    promise is the attack's success under the habits, over all series that can be published, listed or, where they are
    too many, drawn. The other settings are those of `fit_people`.

    >>> from passerby.visits import simulate_city
    >>> found = backtest(
    ...     simulate_city(people=40, places=20, days=10), window="6h", places=15, min_active=3, holdout=4, people=30
    ... )
    >>> found.by_misses.columns
    ['attack', 'misses', 'promised', 'right', 'difference', 'lower', 'upper']
    """
    traces = visits
    if isinstance(traces, Visits):
        traces = window_visits(
            traces, window=window, origin=origin, places=places, min_active=min_active, rule=rule, end=end
        )
    least = min_active if isinstance(visits, Visits) else 1
    cuts = earlier_origins(traces.array.shape[1], holdout, origins)
    if not 0 <= misses < holdout:
        raise InputError(f"misses: {misses!r} of {holdout} steps; expected 0 to {holdout - 1}")
    tried = []
    for cut in cuts:
        known = fit_traces(
            first_steps(traces, cut + holdout), holdout, least, habits, smoothing, rhythm, name_elsewhere
        )
        if habits == "paper":
            # Who is looked at must not depend on what is to be found, whatever the habits.
            enough = (known.fitted != known.elsewhere).sum(axis=1) >= least
            known = only(known, np.flatnonzero(enough))
        tried.append(_try(only(known, some_people(known, people, seed)), release, seed))
    return calibrate(tried, misses, seed)


def earlier_origins(steps: int, holdout: int, count: int) -> list[int]:
    """Numbers of fitted steps, from the latest: as far apart as what is published, or less where steps are few.

    >>> earlier_origins(30, 5, 3), earlier_origins(16, 5, 3)
    ([25, 20, 15], [11, 8, 5])
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise InputError(f"origins: expected a whole number of at least 1, got {count!r}")
    latest, earliest = steps - holdout, max(2, (steps - holdout) // 2)
    if holdout < 1 or latest - (count - 1) < earliest:
        raise InputError(
            f"origins: {steps} steps are too few for {count} origins with {holdout} steps after each; lower either"
        )
    apart = holdout if count == 1 else max(1, min(holdout, (latest - earliest) // (count - 1)))
    return [latest - k * apart for k in range(count)]


def first_steps(traces: Traces, steps: int) -> Traces:
    """The first steps of all traces."""
    array = np.ascontiguousarray(traces.array[:, :steps])
    return replace(traces, array=array, starts=traces.starts[:steps], counts=traces.counts[:steps])


def _try(people: People, release: Callable[[People], Release] | None, seed: int) -> Tried:
    """The two attacks on everybody at one origin."""
    published = release(people) if release else Release(most_visited_sensors(people))
    job = Job(people, published, Measurement(), everyone_else(people, published))
    rng = np.random.default_rng(seed)
    found = [_attack(job, person, rng) for person in range(len(people))]
    promised, right, logs = (np.array([each[k] for each in found]) for k in range(3))
    chosen = "paper" if people.habits is None else repr(people.habits.chosen)
    return Tried(str(people.starts[people.fitted.shape[1]]), chosen, promised, right, logs)


def _attack(job: Job, person: int, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Promised and right for each attack and number of misses (2, T), and the log probability of a real step."""
    prior, release, state_of = over_states(job.people, person, job.release_for(person))
    steps, rest = release.steps, state_of.get(-1, 0)
    trace = np.array([state_of.get(int(place), rest) for place in job.people.actual[person]])
    series = enumerate_series(prior, release, LISTED, LEFT)
    if series is None:
        series = sample_series(prior, release, rng, DRAWN)
    guesses, _ = decode_series(prior, release, series.evidence)
    blind = prior_trace(prior, steps)
    silent = Release.silent(steps)
    promised = np.empty((2, steps))
    for misses in range(steps):
        promised[0, misses] = series.mean(score(prior, release, series.evidence, guesses, misses))[0]
        promised[1, misses] = score(prior, silent, np.zeros((1, steps, 1)), blind[None], misses)[0]
    real = _published(release, trace, rng)
    named = decode_series(prior, release, real.evidence)[0][0]
    wrong = [int((guess != trace).sum()) for guess in (named, blind)]
    right = np.array([[count <= misses for misses in range(steps)] for count in wrong], dtype=np.float64)
    return np.clip(promised, 0.0, 1.0), right, likelihood(job.people, person)


def _published(release: Release, trace: Ints, rng: np.random.Generator) -> Series:
    return one_series(release.evidence(release.publish(trace[None], rng)))


def likelihood(people: People, person: int) -> float:
    """Mean log probability of the steps that a person really made; minus infinity for what cannot happen."""
    actual = people.actual[person]
    prior, states = people.prior(person, sorted(set(actual.tolist())))
    where = {int(place): state for state, place in enumerate(states)}
    return _log(prior, [where[int(place)] for place in actual]) / len(actual)


def _log(prior: MarkovPrior, path: list[int]) -> float:
    moves = np.broadcast_to(prior.matrices, (len(path) - 1, prior.places, prior.places))
    chances = [prior.initial[path[0]], *moves[np.arange(len(path) - 1), path[:-1], path[1:]]]
    with np.errstate(divide="ignore"):
        return float(np.log(chances).sum())
