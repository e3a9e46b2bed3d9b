"""What if: the success of simple attacks without a sensor, a step or a count, for some people.

Trials for a report on some people: sensors, steps and counts left out, and other ways to publish.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.findings import Findings
from passerby.measurement.information import sighting_probabilities
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import combined
from passerby.others.counted import counted
from passerby.outcomes.series import score
from passerby.people.habits import People
from passerby.questions.trace.guess import decode_series
from passerby.questions.trace.methods.baseline import constant_attack, prior_attack
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.rule_of_five import rests_on_few
from passerby.support.workers import Progress, collect

from .job import Job, kept_part, only, over_states, some_people
from .settings import Measurement
from .subjects import subject_grid, subjects_of

#: The number of series for each person and each left-out thing.
SERIES = 64
#: A count is taken to tell nothing of people whose presence it leaves open by less than this. Knowing whether somebody
#: is at a sensor raises the chance of the best guess by no more than the chance of being there, or of not being there.
TINY = 1e-4
#: The most trials in a worker's task.
CHUNK = 16


@dataclass(frozen=True)
class Key:
    """A left-out thing: one count, if both are given, or all counts of a `subject` or of a `step` (from 0).

    A subject is the subject of counts: a place, a zone, a flow (`subjects_of`).
    """

    subject: int | None = None
    step: int | None = None

    @property
    def what(self) -> str:
        """The word for it: "count", "sensor" or "step"."""
        return "step" if self.subject is None else "sensor" if self.step is None else "count"

    def cells(self, release: Release) -> NDArray[np.bool_]:
        """The removed counts of the release: an array (T, S) in the form of its grid."""
        steps, grid = np.arange(release.steps)[:, None], subject_grid(release)
        gone = grid >= 0
        if self.subject is not None:
            gone = gone & (grid == self.subject)
        return gone if self.step is None else gone & (steps == self.step)


def keys_of(release: Release) -> list[Key]:
    """All removable things: each sensor, each step with a sensor, and each single count.

    >>> [key.what for key in keys_of(Release([[0, 1], []]))]
    ['sensor', 'sensor', 'step', 'count', 'count']
    """
    grid = subject_grid(release)
    cells = dict.fromkeys((int(grid[cell]), int(cell[0])) for cell in zip(*np.nonzero(grid >= 0), strict=True))
    return [
        *(Key(subject) for subject in range(len(subjects_of(release)))),
        *(Key(step=t) for t, step in enumerate(release.sensors) if step),
        *(Key(subject, t) for subject, t in cells),
    ]


def try_out(
    people: People,
    release: Release,
    measurement: Measurement,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> Findings:
    """Leave out each sensor, each step and each count; a `file` keeps finished parts through an interruption.

    >>> from passerby.visits import simulate_city
    >>> from passerby.people.fit import fit_people
    >>> city = simulate_city(people=9, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=10, min_active=1, holdout=3)
    >>> found = try_out(people, Release([0, 1, 0]), Measurement(1), workers=1)
    >>> found.left_out["what"].to_list()
    ['sensor', 'sensor', 'step', 'step', 'step', 'count', 'count', 'count']
    """
    keys = keys_of(release)
    others = counted(people, release)
    work = _Work(Job(replace(people, whereabouts=None), release, measurement, others), tuple(keys))
    kept = None if file is None else Checkpoints(file, fingerprint(work, SERIES, TINY))
    everyone = range(len(people))
    rows = collect(
        _simple, work, everyone, workers=workers, executor=executor, chunk=CHUNK, progress=progress, kept=kept
    )
    return Findings(len(people), _left_out(keys, np.array(rows, dtype=np.float64)))


@dataclass(frozen=True)
class _Work:
    job: Job
    keys: tuple[Key, ...]


def _simple(work: _Work, person: int) -> list[float]:
    """Success of the best simple attack with all counts, and without each key's."""
    job, misses = work.job, work.job.measurement.misses
    prior, release, *_ = over_states(job, person)
    release, _ = kept_part(prior, release)
    unaided = max(attack(prior, release.steps, misses).value for attack in (prior_attack, constant_attack))
    rng = np.random.default_rng([job.measurement.seed, person])
    values = release.publish(prior.sample(SERIES, release.steps, rng), rng)
    prior, release = release.over(prior)
    seen = Seen(prior, release, misses, *release.likelihoods(values))
    chance = _sighting(prior, release)
    out = [max(unaided, float(seen.hits.mean()))]
    for key in work.keys:
        gone = key.cells(job.release)
        telling = np.minimum(chance, 1 - chance)[gone].sum() > TINY
        out.append(max(unaided, float(seen.hits_without(gone).mean())) if telling else out[0])
    return out


def _sighting(prior: MarkovPrior, release: Release) -> NDArray[np.float64]:
    """The chance of being at each sensor of each step, or in each count, (T, S)."""
    if not release.reveals:
        chances = np.array(sighting_probabilities(prior, release))
        return np.asarray((chances[:, :, None] * release.sees).sum(axis=1))
    chance = np.take_along_axis(prior.marginals(release.steps), np.maximum(release.grid, 0), axis=1)
    return np.where(release.grid >= 0, chance, 0.0)


class Seen:
    """Published series about a person, and the success of the likeliest trace given some of their counts.

    `absent` and `present` (n, T, S) are the log-likelihoods of the published values. `hits` (n,) is the chance of the
    likeliest trace given all counts of a series to be right. A guess with fewer counts is still scored given all of
    them: on average over series this makes no difference. If the guess is the same, the difference is zero for each
    series.
    """

    def __init__(
        self,
        prior: MarkovPrior,
        release: Release,
        misses: int,
        absent: NDArray[np.float64],
        present: NDArray[np.float64],
    ) -> None:
        self.prior, self.release, self.misses = prior, release, misses
        self.absent, self.present = absent, present
        self.evidence = release.by_class(absent, present)
        self.guesses, _ = decode_series(prior, release, self.evidence)
        self.hits = score(prior, release, self.evidence, self.guesses, misses)

    def hits_without(self, gone: NDArray[np.bool_]) -> NDArray[np.float64]:
        """For each series, the chance of the guess without some of the counts (T, S) to be right."""
        evidence = self.evidence.copy()
        for t in np.flatnonzero(gone.any(axis=1)).tolist():
            # A missing count is equally likely at all places of the person.
            evidence[:, t] = self._at(t, *(np.where(gone[t], 0.0, part[:, t]) for part in (self.absent, self.present)))
        guesses, _ = decode_series(self.prior, self.release, evidence)
        other = np.flatnonzero((guesses != self.guesses).any(axis=1))
        hits = self.hits.copy()
        hits[other] = score(self.prior, self.release, self.evidence[other], guesses[other], self.misses)
        return hits

    def _at(self, t: int, absent: NDArray[np.float64], present: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-likelihoods of one step by class (n, C), from the values of its counts (n, S)."""
        if self.release.reveals:
            return combined(absent, present)
        counts = len(self.release.sensors[t])
        seen = self.release.sees[t, :, :counts] > 0
        return np.asarray(np.where(seen, present[:, None, :counts], absent[:, None, :counts]).sum(axis=2))


def _left_out(keys: list[Key], values: NDArray[np.float64]) -> pl.DataFrame:
    falls = values[:, :1] - values[:, 1:]
    spread = falls.std(axis=0, ddof=1) / np.sqrt(len(falls)) if len(falls) > 1 else np.zeros(falls.shape[1])
    return pl.DataFrame(
        {
            "what": [key.what for key in keys],
            "subject": [key.subject for key in keys],
            "step": [key.step for key in keys],
            "with_all": [float(values[:, 0].mean())] * len(keys),
            "without": values[:, 1:].mean(axis=0),
            "fall": falls.mean(axis=0),
            "error": spread,
            "told": _told(keys, falls),
        },
        # An empty release leaves nothing to remove, and columns without a type of their own.
        schema_overrides={
            "what": pl.String,
            "subject": pl.Int64,
            "step": pl.Int64,
            "with_all": pl.Float64,
            "told": pl.Boolean,
        },
    )


def _told(keys: Sequence[Key], falls: NDArray[np.float64]) -> list[bool]:
    """The publishable falls (N, keys): based on `FEW` people, without any that would reveal an unpublishable one.

    The fall without a sensor or a step, less the published falls of its counts, may equal an unpublished one. Then the
    smallest of these counts is withheld too, and so on, until the rest is based on enough people.
    """
    told = [not rests_on_few(fall) for fall in falls.T]
    counts = [k for k, key in enumerate(keys) if key.what == "count"]
    lines = [
        (line, [k for k in counts if key in (Key(keys[k].subject), Key(step=keys[k].step))])
        for line, key in enumerate(keys)
        if told[line] and key.what != "count"
    ]
    before = -1
    while before != sum(told):
        before = sum(told)
        for line, within in lines:
            shown = [k for k in within if told[k]]
            left = np.abs(falls[:, line] - falls[:, shown].sum(axis=1))
            if 0 < len(shown) < len(within) and rests_on_few(left):
                told[min(shown, key=lambda k: float(falls[:, k].sum()))] = False
    return told


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
