"""How long an audit would take, from timing a handful of people."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

from passerby.mechanisms import Mechanism
from passerby.support.workers import Progress

from .inputs import Inputs
from .person import audit_person
from .sample import only, some_people
from .settings import AuditSettings, Measurement
from .stages import TIMING, TIMING_TRIALS, Tell, begin
from .trials import candidates, explore, number_of_trials

#: People who are timed, at most, and seconds after which no more of them are.
HANDFUL, ENOUGH = 12, 6.0
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
    people = len(inputs.people)
    cores = min(workers or os.cpu_count() or 1, people)
    each = seconds_each(inputs, settings.measurement, begin(tell, TIMING))
    rules = candidates(settings.sigmas, settings.bases)
    trials = 0.0
    if settings.explore:
        progress = begin(tell, TIMING_TRIALS)
        trials = START + _seconds_of_trials(inputs, settings.measurement, rules, settings.explore, progress) / cores
    return Estimate(each, START + each * people / cores + trials + WRITE, cores)


def seconds_each(inputs: Inputs, measurement: Measurement, progress: Progress) -> float:
    """Seconds to audit a person, on average over a few; the first one also pays for what is done once."""
    job = inputs.job(measurement)
    chosen = some_people(inputs.people, HANDFUL, measurement.seed)
    audit_person(job, int(chosen[0]))
    stamps = [time.perf_counter()]
    for person in chosen:
        audit_person(job, int(person))
        stamps.append(time.perf_counter())
        progress(len(stamps) - 1, len(chosen))
        if stamps[-1] - stamps[0] > ENOUGH:
            break
    return (stamps[-1] - stamps[0]) / (len(stamps) - 1) * (2 if inputs.published else 1)


def _seconds_of_trials(
    inputs: Inputs, measurement: Measurement, rules: Mapping[str, Mechanism], count: int, progress: Progress
) -> float:
    """Seconds to try out sensors, steps and noise on one core, from trying them out on two people."""
    simple, measured = number_of_trials(len(inputs.people), count, len(rules))
    stamps: list[float] = []

    def noted(done: int, everything: int) -> None:
        stamps.append(time.perf_counter())
        progress(done, everything)

    two = only(inputs.people, some_people(inputs.people, 2, measurement.seed + 1))
    explore(two, inputs.release, rules, measurement, count, workers=1, progress=noted)
    few = min(len(two), simple)
    many = len(stamps) - 1 - few
    first, last = stamps[few] - stamps[0], stamps[-1] - stamps[few]
    return first / few * simple + (last / many * measured if many else 0.0)
