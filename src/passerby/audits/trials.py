"""Trials for a report on some people: sensors, steps and counts left out, and other ways to publish."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from passerby.mechanisms import Gaussian, Mechanism, Raw, Rounding
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.workers import Progress

from .sample import only, some_people
from .settings import Measurement
from .what_if import Findings, try_out


def explore(
    people: People,
    release: Release,
    measurement: Measurement,
    count: int,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> Findings:
    """Leave out sensors, steps and counts for `count` of the people."""
    chosen = only(people, some_people(people, count, measurement.seed + 1))
    return try_out(chosen, release, measurement, workers=workers, executor=executor, progress=progress, file=file)


def number_of_trials(people: int, count: int, rules: int) -> tuple[int, int]:
    """How many people sensors and steps are tried out on, and how many times somebody is measured in another way.

    >>> number_of_trials(people=2000, count=60, rules=3)
    (60, 180)
    """
    tried = min(count, people)
    return tried, tried * rules


def candidates(sigmas: Sequence[float], bases: Sequence[int]) -> dict[str, Mechanism]:
    """The mechanisms compared in a report, by its words for them.

    >>> list(candidates([0.5], [20]))
    ['raw', 'noise 0.5', 'rounded to 20']
    """
    noisy = {f"noise {sigma:g}": Gaussian(sigma) for sigma in sigmas}
    return {"raw": Raw(), **noisy, **{f"rounded to {base}": Rounding(base) for base in bases}}
