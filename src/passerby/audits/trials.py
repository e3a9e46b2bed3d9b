"""What is tried out for a report: sensors, steps, counts and other ways to publish, on some people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from passerby.mechanisms import Gaussian, Mechanism, Raw, Rounding
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.workers import Progress

from .sample import only, some_people
from .settings import Measurement
from .what_if import Findings, try_out

#: Mechanisms are tried on a third of the people, but on no fewer than these.
LEAST = 5


def explore(
    people: People,
    release: Release,
    rules: Mapping[str, Mechanism],
    measurement: Measurement,
    count: int,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> Findings:
    """Try out sensors, steps and mechanisms on `count` of the people, with a tenth of the effort for each.

    Mechanisms, which take longer, are tried on a third of them.
    """
    chosen = only(people, some_people(people, count, measurement.seed + 1))
    return try_out(
        chosen,
        release,
        rules,
        replace(measurement, budget=measurement.budget / 10),
        few=_third(len(chosen)),
        workers=workers,
        executor=executor,
        progress=progress,
        file=file,
    )


def number_of_trials(people: int, count: int, rules: int) -> tuple[int, int]:
    """How many people sensors and steps are tried out on, and how many times somebody is measured with a mechanism.

    >>> number_of_trials(people=2000, count=60, rules=3)
    (60, 60)
    """
    tried = min(count, people)
    return tried, min(_third(tried), tried) * rules


def _third(people: int) -> int:
    return max(LEAST, people // 3)


def candidates(sigmas: Sequence[float], bases: Sequence[int]) -> dict[str, Mechanism]:
    """The mechanisms that a report compares, by the words that it uses for them.

    >>> list(candidates([0.5], [20]))
    ['raw', 'noise 0.5', 'rounded to 20']
    """
    noisy = {f"noise {sigma:g}": Gaussian(sigma) for sigma in sigmas}
    return {"raw": Raw(), **noisy, **{f"rounded to {base}": Rounding(base) for base in bases}}
