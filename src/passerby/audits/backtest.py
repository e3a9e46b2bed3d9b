"""Did such predictions come true? Habits fitted at earlier origins, and what people really did after them.

At each origin habits are fitted to the steps before, as an audit fits them, and attacks are made on those after, with
the counts (`map`, `marginal`) and without (`prior`, `constant`). What the habits promise is set against how many people
are really found.
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
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.count_release import CountRelease, mechanism_of
from passerby.model.counts import Count
from passerby.model.release import Release
from passerby.people.family import Cycle, Habits
from passerby.people.fit import Fitting, fit_traces, often_enough, traces_of
from passerby.people.habits import People
from passerby.people.others import Counted, everyone_else
from passerby.people.sensors import most_visited_sensors
from passerby.people.whereabouts import Whereabouts
from passerby.support.blocks import Blocks
from passerby.support.checks import flag, is_whole, whole
from passerby.support.fingerprint import fingerprint
from passerby.support.pieces import Pieces
from passerby.support.workers import Progress, collect
from passerby.visits.table import Visits
from passerby.visits.traces import Traces
from passerby.visits.windows import Rule

from .attacks import likelihood, misses_tried, tried_on
from .calibration import Calibration, Tried, calibrate
from .job import Job, check_job
from .person import stream_of
from .sample import only, some_numbers, some_people
from .settings import BacktestSettings, Measurement

Ints = NDArray[np.int64]

#: Habits at an origin are fitted to at most so many people: more would take longer and tell little more of everybody.
MOST_PEOPLE = 20_000
#: Origins whose later steps overlap are taken only where fewer than these have steps of their own.
APART = 3
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
    workers: int | None = 1,
    progress: Progress | None = None,
) -> Calibration:
    """Promised against really right, at several origins; the latest is followed by the last `holdout` steps.

    At each of at most `origins` origins, habits are fitted (and chosen) anew from what was before, and at most `people`
    people are attacked, drawn at random. `release` is what is published after each origin, or makes it from the people
    of an origin: raw counts of the most visited place where it is left out. `misses` is the number of wrong steps that
    the verdict is about; `by_misses` has others too. A promise is the attack's success under the habits, over all
    series that can be published, listed or, where they are too many, drawn. The other settings are those of
    `fit_people`.

    >>> from passerby.visits import simulate_city
    >>> found = backtest(
    ...     simulate_city(people=40, places=20, days=10), window="6h", places=15, min_active=3, holdout=4, people=30
    ... )
    >>> found.by_misses.columns[:7], found.origins
    (['attack', 'misses', 'promised', 'right', 'difference', 'lower', 'upper'], 5)
    """
    least = min_active if isinstance(visits, Visits) else 1
    fitting = Fitting(holdout, least, habits, smoothing, rhythm, flag(name_elsewhere, "name_elsewhere"))
    traces = traces_of(visits, fitting, window, places, rule, origin, end) if isinstance(visits, Visits) else visits
    if not isinstance(traces, Traces):
        raise InputError(f"visits is a {type(visits).__name__}; expected what read_visits returns")
    work = BacktestJob(traces, fitting, release, misses, people, seed)
    return run_backtest(work, origins, workers=workers, progress=progress)


@dataclass(frozen=True)
class BacktestJob:
    """All that a worker needs: everybody's traces, how habits are fitted, what is published, and how many to attack.

    Where traces were drawn from more, `numbers` has how many of everybody each count counts after each origin, or, for
    a release that is made there, `whereabouts` where everybody was.
    """

    traces: Traces
    fitting: Fitting
    release: Release | Callable[[People], Release] | None
    misses: int
    people: int
    seed: int
    numbers: Mapping[int, Ints] = field(default_factory=dict)
    whereabouts: Mapping[int, Whereabouts] = field(default_factory=dict)

    @property
    def tried_misses(self) -> list[int]:
        """The numbers of misses that are looked at."""
        return misses_tried(self.fitting.holdout, self.misses)


def run_backtest(
    work: BacktestJob,
    origins: int,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
    everybody: Blocks[Traces] | None = None,
) -> Calibration:
    """The backtest at so many origins; with a `file`, finished origins are kept there when it is interrupted.

    Traces that are not all of `everybody` come with these, who are counted.
    """
    holdout = whole(work.fitting.holdout, "holdout", 1)
    cuts = earlier_origins(work.traces.array.shape[1], holdout, origins)
    _check(work)
    numbers, whereabouts = _everybodys(work, cuts, everybody), _everywhere(work, cuts)
    some = some_traces(work.traces, MOST_PEOPLE, work.seed)
    work = replace(work, numbers=numbers, whereabouts=whereabouts, traces=some)
    kept = None if file is None else Pieces(file, fingerprint(work, cuts))
    found = collect(_at, work, cuts, workers=workers, executor=executor, progress=progress, kept=kept)
    tried = [_tried(piece) for piece in found if len(piece) > 1]
    if not tried:
        raise InputError(f"backtest: habits can be tried at no origin; at the latest, {found[0][0]}")
    apart = cuts[0] - cuts[1] if len(cuts) > 1 else holdout
    independent = 1 + int((len(tried) - 1) * min(1.0, apart / holdout))
    return calibrate(tried, work.tried_misses, work.misses, holdout, independent)


def _check(work: BacktestJob) -> None:
    """Refuse what is no number, or no release."""
    steps = work.fitting.holdout
    if not is_whole(work.misses) or not 0 <= work.misses < steps:
        raise InputError(f"misses: {work.misses!r} of {steps} steps; expected a whole number from 0 to {steps - 1}")
    if not is_whole(work.people) or work.people < 1:
        raise InputError(f"people: expected a whole number of at least 1, got {work.people!r}")
    whole(work.seed, "seed")
    if work.release is not None and not isinstance(work.release, Release) and not callable(work.release):
        raise InputError(f"release: expected a Release, or a function that makes one of people, got {work.release!r}")


def _everybodys(work: BacktestJob, cuts: Sequence[int], everybody: Blocks[Traces] | None) -> dict[int, Ints]:
    """How many people each count of zones, flows and visitors counts after each origin, where not all are looked at."""
    release, few = work.release, len(work.traces.array) <= MOST_PEOPLE
    if (few and everybody is None) or not isinstance(release, CountRelease):
        return {}
    if all(count.others is not None or mechanism_of(count).shift_invariant for count in release.listed):
        return {}
    blocks = Blocks.here(work.traces) if everybody is None else everybody
    found = np.sum(blocks.map(_numbers, (cuts, work.fitting.holdout, release.listed)), axis=0)
    return dict(zip(cuts, found, strict=True))


def _numbers(asked: tuple[Sequence[int], int, Sequence[Count]], traces: Traces) -> Ints:
    """The same (cuts, counts) of some of them."""
    cuts, held, counts = asked
    return np.array([Whereabouts.of(traces, cut, cut + held).numbers(counts) for cut in cuts])


def _everywhere(work: BacktestJob, cuts: Sequence[int]) -> dict[int, Whereabouts]:
    """Where everybody is after each origin, where not all are looked at and what is published is made there."""
    if len(work.traces.array) <= MOST_PEOPLE or work.release is None or isinstance(work.release, Release):
        return {}
    return {cut: Whereabouts.of(work.traces, cut, cut + work.fitting.holdout) for cut in cuts}


def earlier_origins(steps: int, holdout: int, count: int) -> list[int]:
    """Numbers of fitted steps at no more than `count` origins, from the latest, and none with less than half of them.

    They are as far apart as what is published; where that leaves fewer than `APART`, they are nearer.

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

    Traces are of all who are known so often (`often_enough`), so who is looked at depends on what was before alone. For
    habits as in the paper, they are of those who are known often enough in all steps, and no less is asked for.

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


def _at(work: BacktestJob, cut: int) -> list[Any]:
    """One origin, in lists that can be kept; a reason alone where habits cannot be fitted."""
    holdout, latest = work.fitting.holdout, work.traces.array.shape[1] - work.fitting.holdout
    least = max(1, work.fitting.least)
    if work.fitting.habits != "paper":
        least = known_by(least, cut, latest)
    traces = first_steps(work.traces, cut + holdout)
    elsewhere = len(traces.places) - 1
    # Who is looked at must not depend on what is to be found, whatever the habits.
    enough = np.flatnonzero((traces.array[:, :cut] != elsewhere).sum(axis=1) >= least)
    if len(enough) < FEWEST:
        before = str(traces.starts[cut].astype("datetime64[m]")).replace("T", " ")
        # How many there are would tell, beside all who are audited, how many are not.
        some = f"fewer than {FEWEST}" if len(enough) else "no"
        return [f"{some} people are seen in {least} or more of the {cut} steps before {before}"]
    try:
        fitted = fit_traces(traces, replace(work.fitting, least=least))
    except InputError as reason:
        return [str(reason)]
    known = only(fitted, np.flatnonzero(fitted.ids.is_in(traces.people.gather(enough.tolist()).implode()).to_numpy()))
    chosen = only(known, some_people(known, work.people, work.seed))
    release = work.release
    if not isinstance(release, Release):
        release = release(chosen) if release else Release(most_visited_sensors(chosen))
    check_job(Job(chosen, release, Measurement(work.misses)))
    others = everyone_else(replace(chosen, whereabouts=work.whereabouts.get(cut, chosen.whereabouts)), release)
    if isinstance(others, Counted) and cut in work.numbers:
        others = replace(others, total=np.where(others.given, others.total, work.numbers[cut]))
    job = Job(chosen, release, Measurement(work.misses), others)
    found = []
    for person in range(len(chosen)):
        rng = np.random.default_rng([*stream_of(work.seed, chosen.ids[person]), cut])
        promised, right = tried_on(job, person, work.tried_misses, rng)
        found.append([promised.tolist(), right.tolist(), likelihood(chosen, person)])
    row_of = {name: row for row, name in enumerate(work.traces.people.to_list())}
    who = [row_of[name] for name in chosen.ids.to_list()]
    words = "paper" if chosen.habits is None else repr(chosen.habits.chosen)
    return [str(chosen.starts[cut]), words, who, len(known), *map(list, zip(*found, strict=True))]


def _tried(piece: list[Any]) -> Tried:
    start, habits, who, eligible, *arrays = piece
    return Tried(start, habits, np.array(who), eligible, *(np.array(each, dtype=np.float64) for each in arrays))
