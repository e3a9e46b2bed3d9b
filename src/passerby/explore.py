"""What if: the loss when a sensor or a step is left out, and under other mechanisms, for a sample of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .attacks import constant_attack, map_attack, prior_attack
from .auditing import Job, Settings, audit_person
from .mechanisms import Mechanism
from .others import Counted
from .pool import Progress, shared
from .release import Release
from .series import series_of
from .visits.people import People

#: Series that are looked at for each person and each thing that is left out.
SERIES = 64


def some_people(people: People, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The numbers of `count` people drawn at random without replacement, in order; all where there are fewer."""
    if count >= len(people):
        return np.arange(len(people))
    return np.sort(np.random.default_rng(seed).choice(len(people), count, replace=False))


def only(people: People, chosen: NDArray[np.int64]) -> People:
    """The chosen people alone, with the background of everybody.

    >>> from passerby.visits import simulate_city
    >>> from passerby.visits.people import fit_people
    >>> people = fit_people(simulate_city(people=30, places=20, days=3), window="2h", places=10, min_active=1)
    >>> len(only(people, some_people(people, 5)))
    5
    """
    return replace(
        people, fitted=people.fitted[chosen], actual=people.actual[chosen], ids=people.ids.gather(chosen.tolist())
    )


def without_place(release: Release, place: int) -> Release:
    """The release without the sensor at one place."""
    return _keeping(release, [[x != place for x in step] for step in release.sensors])


def without_step(release: Release, step: int) -> Release:
    """The release with nothing published at one step."""
    return _keeping(release, [[t != step] * len(sensors) for t, sensors in enumerate(release.sensors)])


def _keeping(release: Release, kept: Sequence[Sequence[bool]]) -> Release:
    sensors = [[x for x, keep in zip(*pair, strict=True) if keep] for pair in zip(release.sensors, kept, strict=True)]
    others = [[n for n, keep in zip(*pair, strict=True) if keep] for pair in zip(release.others, kept, strict=True)]
    return Release(sensors, release.rule, others)


@dataclass(frozen=True)
class Findings:
    """What was found by trying things out on some `people`.

    `left_out` has a row for each sensor and each step: `what` ("sensor" or "step"), `which` (a place number, or a step
    from 0), the mean success of the simple attacks `with_all` sensors and `without` this one, their difference `fall`,
    and its standard `error` over people. The simple attacks are those without a search: the likeliest trace given the
    counts, the likeliest without them, and one place throughout; they see the same series each time.

    `mechanisms` has a row for each mechanism: its name, and over the `people` that could be measured the means of both
    ends of the loss (`lower`, `upper`) and of the baseline's lower end (`baseline`).
    """

    people: int
    left_out: pl.DataFrame
    mechanisms: pl.DataFrame


def counted(people: People, release: Release, totals: NDArray[np.int64]) -> Counted:
    """Everyone else at the sensors, for each of these people, where `totals` (h, M) are of everybody."""
    cells = [(t, place) for t, step in enumerate(release.sensors) for place in step]
    there = (
        np.array([people.actual[:, t] == place for t, place in cells], dtype=bool).reshape(len(cells), len(people)).T
    )
    return Counted(there, np.array([totals[cell] for cell in cells], dtype=np.int64))


def try_out(
    people: People,
    release: Release,
    totals: NDArray[np.int64],
    mechanisms: Mapping[str, Mechanism],
    settings: Settings,
    *,
    few: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Leave out each sensor and each step, and send the counts of the same sensors through each mechanism.

    `totals` (h, M) are the counts of everybody. The mechanisms are tried on the first `few` people only.

    >>> from passerby import Gaussian
    >>> from passerby.realised import count_everybody
    >>> from passerby.visits import simulate_city
    >>> from passerby.visits.people import fit_people
    >>> city = simulate_city(people=9, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=10, min_active=1, holdout=3)
    >>> totals = count_everybody(city, people)
    >>> found = try_out(people, Release([0, 1, 0]), totals, {"noise": Gaussian(1.0)}, Settings(1), workers=1)
    >>> found.left_out["what"].to_list(), found.mechanisms["mechanism"].to_list()
    (['sensor', 'sensor', 'step', 'step', 'step'], ['noise'])
    """
    others = counted(people, release, totals)
    keys = [("sensor", place) for place in sorted({place for step in release.sensors for place in step})]
    keys += [("step", t) for t, step in enumerate(release.sensors) if step]
    jobs = {
        name: Job(people, Release(release.sensors, mechanism), settings, others)
        for name, mechanism in mechanisms.items()
    }
    work = _Work(Job(people, release, settings, others), tuple(keys), jobs)
    some = len(people) if few is None else min(few, len(people))
    items = [("", person) for person in range(len(people))]
    items += [(name, person) for name in jobs for person in range(some)]
    rows = shared(_one, work, items, workers=workers, progress=progress)
    return Findings(
        len(people),
        _left_out(keys, np.array(rows[: len(people)], dtype=np.float64)),
        _by_mechanism(list(jobs), rows[len(people) :], some),
    )


@dataclass(frozen=True)
class _Work:
    job: Job
    keys: tuple[tuple[str, int], ...]
    jobs: Mapping[str, Job]


def _one(work: _Work, item: tuple[str, int]) -> list[float | None]:
    name, person = item
    return _measured(work.jobs[name], person) if name else _simple(work, person)


def _simple(work: _Work, person: int) -> list[float | None]:
    """Success of the best simple attack with all sensors, and without each one."""
    job = work.job
    sensed = sorted({place for step in job.release.sensors for place in step})
    prior, states = job.people.prior(person, sensed)
    state_of = {int(place): state for state, place in enumerate(states)}
    full, misses = job.release_for(person), job.settings.misses
    unaided = max(attack(prior, full.steps, misses).value for attack in (prior_attack, constant_attack))
    out: list[float | None] = []
    for what, which in (("", 0), *work.keys):
        left = full if not what else without_place(full, which) if what == "sensor" else without_step(full, which)
        seen = left.relabelled(state_of)
        rng = np.random.default_rng([job.settings.seed, person])
        series = series_of(prior, seen, rng, runs=SERIES, max_series=4 * SERIES)
        out.append(max(unaided, map_attack(prior, seen, misses, series).value))
    return out


def _measured(job: Job, person: int) -> list[float | None]:
    """Both ends of the loss and the baseline of one person; nothing where a number is refused."""
    row = audit_person(job, person)
    values = [row.get(name) for name in ("lower", "upper", "baseline_lower")]
    return [value if isinstance(value, float) else None for value in values]


def _left_out(keys: list[tuple[str, int]], values: NDArray[np.float64]) -> pl.DataFrame:
    falls = values[:, :1] - values[:, 1:]
    spread = falls.std(axis=0, ddof=1) / np.sqrt(len(falls)) if len(falls) > 1 else np.zeros(falls.shape[1])
    return pl.DataFrame(
        {
            "what": [what for what, _ in keys],
            "which": [which for _, which in keys],
            "with_all": [float(values[:, 0].mean())] * len(keys),
            "without": values[:, 1:].mean(axis=0),
            "fall": falls.mean(axis=0),
            "error": spread,
        }
    )


def _by_mechanism(names: list[str], rows: list[list[float | None]], people: int) -> pl.DataFrame:
    table = pl.DataFrame(rows, schema=dict.fromkeys(("lower", "upper", "baseline"), pl.Float64), orient="row")
    table = table.with_columns(mechanism=pl.Series([name for name in names for _ in range(people)], dtype=pl.String))
    means = table.drop_nulls().group_by("mechanism", maintain_order=True)
    return means.agg(pl.col("lower", "upper", "baseline").mean(), people=pl.len())
