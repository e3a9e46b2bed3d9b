"""How long an audit would take, from timing a handful of people."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace

import numpy as np

from passerby.audits.findings import candidates
from passerby.errors import InputError
from passerby.people.habits import People, places_visited
from passerby.support.processes import all_cores
from passerby.support.workers import Progress

from .adversaries import adversaries
from .backtest import earlier_origins, run_backtest
from .engine import TIMING, TIMING_ADVERSARIES, TIMING_BACKTEST, TIMING_TRIALS, Tell, begin
from .inputs import Inputs
from .job import Job, enough_workers, only, some_people
from .person import audit_person
from .presence import MOST_PAIRS, presence
from .question_rows import rows_of
from .settings import AuditSettings, Measurement
from .subjects import subjects_of
from .what_if import explore, number_of_trials

#: The most and the fewest timed people, and the seconds after which timing stops.
HANDFUL, LEAST, ENOUGH = 40, 4, 6.0
#: The sample for timing questions about presence.
PRESENT = 30
#: Questions that are asked once more for each share of the others who may be known, at most: two of 20 people, and
#: each adversary answers some of them.
SHARED = 20
#: Whoever takes so many times as long as most may have paid for something that is done once.
OUTLIER = 3.0
#: Seconds to start the workers of a stage, and to write the report.
START, WRITE = 2.0, 3.0


@dataclass(frozen=True)
class Estimate:
    """Seconds to measure `each` person, and for `everything`, from now on, with so many `workers`."""

    each: float
    everything: float
    workers: int


def estimate(settings: AuditSettings, inputs: Inputs, workers: int | None = None, tell: Tell | None = None) -> Estimate:
    """How long the audit of these inputs would take."""
    people = inputs.count
    cores = min(enough_workers(people, workers) or all_cores(), people)
    each = seconds_each(inputs, settings.measurement, begin(tell, TIMING))
    rules = candidates(settings.sigmas, settings.bases)
    trials = 0.0
    if settings.explore:
        progress = begin(tell, TIMING_TRIALS)
        simple, measured = number_of_trials(people, settings.explore, len(rules))
        seconds = simple * _seconds_of_a_trial(inputs, settings.measurement, settings.explore, progress)
        trials = START + (seconds + measured * each) / cores
    if settings.backtest:
        trials += START + _seconds_of_backtest(settings, inputs, each, tell) / cores
    if settings.adversaries:
        trials += START + _seconds_of_adversaries(settings, inputs, tell) / cores
    trials += START + _seconds_of_questions(settings, inputs) * people / cores
    if settings.presence:
        trials += START + _seconds_of_presence(settings, inputs) / cores
    return Estimate(each, START + each * people / cores + trials + WRITE, cores)


def seconds_each(inputs: Inputs, measurement: Measurement, progress: Progress) -> float:
    """Seconds to audit a person, on average over a sample like all: evenly spread over the number of moves.

    The first one also pays for one-time work, and so may a person measured in another way. Anyone much slower than most
    is timed again.
    """
    job = inputs.job(measurement)
    chosen = evenly(inputs.people, HANDFUL)
    audit_person(job, chosen[0])
    spent, began = list[float](), time.perf_counter()
    for person in chosen:
        seconds = _timed(job, person)
        if spent and seconds > OUTLIER * statistics.median(spent):
            seconds = min(seconds, _timed(job, person))
        spent.append(seconds)
        progress(len(spent), len(chosen))
        if len(spent) >= LEAST and time.perf_counter() - began > ENOUGH:
            break
    return statistics.fmean(spent) * (2 if inputs.published else 1)


def evenly(people: People, count: int) -> list[int]:
    """Some people evenly spread over how many places they visit, in an order whose beginning is spread as well."""
    ranked = np.argsort(places_visited(people.fitted), kind="stable")
    some = ranked[((np.arange(min(count, len(people))) + 0.5) * len(people) / min(count, len(people))).astype(int)]
    # The middle one, the quarters, and so on: each is far from the ones before.
    order = sorted(range(len(some)), key=lambda rank: int(f"{rank + 1:032b}"[::-1], 2))
    return [int(some[rank]) for rank in order]


def _timed(job: Job, person: int) -> float:
    began = time.perf_counter()
    audit_person(job, person)
    return time.perf_counter() - began


def _seconds_of_backtest(settings: AuditSettings, inputs: Inputs, each: float, tell: Tell | None) -> float:
    """Seconds to try habits on earlier steps on one core, from trying them on a few people at one origin.

    An attack on a person takes about as long as an audit of them.
    """
    progress, began = begin(tell, TIMING_BACKTEST), time.perf_counter()
    try:
        run_backtest(replace(inputs.backtest(settings), people=LEAST), 1, workers=1, progress=progress)
    except InputError:
        return 0.0
    spent = time.perf_counter() - began
    origins = len(earlier_origins(inputs.traces.array.shape[1], settings.holdout, settings.origins))
    people = min(settings.backtest, inputs.eligible)
    return origins * (spent + max(0, people - LEAST) * each)


def _seconds_of_adversaries(settings: AuditSettings, inputs: Inputs, tell: Tell | None) -> float:
    """Seconds to try other adversaries on one core, from trying them on a few people."""
    progress, some = begin(tell, TIMING_ADVERSARIES), min(LEAST, len(inputs.people))
    how = {**vars(settings.measurement), "budget": settings.budget / 10, "known_steps": settings.known_steps}
    began = time.perf_counter()
    adversaries(inputs.people, inputs.release, sample=some, **how, progress=progress)
    return (time.perf_counter() - began) / some * min(settings.adversaries, len(inputs.people))


def _seconds_of_questions(settings: AuditSettings, inputs: Inputs) -> float:
    """Seconds to answer the further questions about a person, from asking a few."""
    asked = inputs.asked(settings, inputs.job(settings.measurement))
    some = evenly(inputs.people, LEAST)
    rows_of(asked, some[0])
    began = time.perf_counter()
    for person in some:
        rows_of(asked, person)
    return (time.perf_counter() - began) / len(some)


def _seconds_of_presence(settings: AuditSettings, inputs: Inputs) -> float:
    """Seconds to answer presence questions on one core, from asking a few people about a few places.

    Few people may well be at a given place: about a tenth of them.
    """
    some, how = only(inputs.people, some_people(inputs.people, PRESENT, settings.seed)), vars(settings.measurement)
    places = len({zone for subject in subjects_of(inputs.release) for zone in subject.zones})
    pairs = min(MOST_PAIRS, places * min(settings.presence, 1 + inputs.count // 10))
    total, again = 0.0, SHARED * len(settings.known_shares) if settings.adversaries else 0
    for adversary in ("insider", "habits"):
        began = time.perf_counter()
        case = {name: value for name, value in how.items() if name != "misses"}
        found = presence(some, inputs.release, adversary=adversary, sample=1, **case)
        total += (time.perf_counter() - began) / max(1, found.height) * (pairs + again)
    return total


def _seconds_of_a_trial(inputs: Inputs, measurement: Measurement, count: int, progress: Progress) -> float:
    """Seconds to leave out sensors, steps and counts for one person, from trying it on two."""
    stamps: list[float] = []

    def noted(done: int, everything: int) -> None:
        stamps.append(time.perf_counter())
        progress(done, everything)

    two = only(inputs.people, some_people(inputs.people, 2, measurement.seed + 1))
    explore(two, inputs.release, measurement, count, workers=1, progress=noted)
    return (stamps[-1] - stamps[0]) / (len(stamps) - 1)
