"""How much does each kind of knowledge matter? Adversaries from the weakest to the strongest, on the same people.

A person is taken to live by their own habits. A stranger guesses by everybody's moves, and is scored by the person's
habits. Somebody with those habits has a best guess at least as good. An adversary with some known steps of the person
does at least as well, on average over the person's possible places at them. Neither need hold for single people, or if
people do not live by their habits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError, PasserbyError
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.outcomes.series import one_series, score
from passerby.people.habits import People
from passerby.questions.trace.guess import guess_series, unaided_success
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.checks import is_whole, path, whole
from passerby.support.statistics import lower_limit, upper_limit
from passerby.support.workers import Progress, collect

from .attacks import Knowing, Look, Stranger, Target, blind_guess, found_by, seen_alike
from .job import Job, check_job, only, some_people
from .person import stream_of
from .settings import BacktestSettings, Measurement

Ints = NDArray[np.int64]

STRANGER, HABITS = "a stranger, who knows what everybody does", "knows the person's habits"
#: Traces drawn for each person, as known steps.
DRAWS = 2
#: A chance may be this short of 1 by rounding.
CERTAIN = 1e-9
#: The most people in a worker's task, and the confidence of each end of an interval of 95 %.
CHUNK, SURE = 4, 0.975


def adversaries(
    people: People,
    release: Release,
    misses: int = Measurement.misses,
    *,
    sample: int = BacktestSettings.adversaries,
    known_steps: Sequence[int] = BacktestSettings.known_steps,
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    confidence: float = Measurement.confidence,
    budget: float = Measurement.budget / 10,
    seed: int = Measurement.seed,
    workers: int | None = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> pl.DataFrame:
    """The mean chance to be found by each kind of adversary, from the weakest to the strongest, on `sample` people.

    A stranger knows everybody's moves, and the next adversary the person's habits. The later ones also know the
    person's places at so many steps, drawn at random: one for each number of `known_steps`. A row has the means over
    `people` of the chance without the release (`baseline`) and with it. The latter are `lower` and `upper`, the ends of
    the interval; a stranger's own guess is one number. `least` and `most` are an interval of 95 % for the mean over
    everybody, and the last column is the share really found by each. Known steps are drawn from the habits for the
    chances, and are the truth for the share really found. With others as a `Crowd`, a stranger's chance and the gain
    from known steps are estimates, as if the numbers of others were independent.

    >>> import passerby as pb
    >>> people = pb.fit_people(pb.simulate_city(30, 20, 4), window="3h", places=9, min_active=1, holdout=4)
    >>> found = adversaries(people, Release([0, 1, 0, 1]), sample=10)
    >>> found["adversary"].to_list()[1:], found["upper"][0] <= found["upper"][1]
    (["knows the person's habits", 'and where they were at 1 step', 'and where they were at 2 steps'], True)
    """
    job = Job(people, release, Measurement(misses, tolerance, runs, confidence, budget, seed))
    check_job(job)
    if not people.actual.shape[1]:
        raise InputError("people: no steps are held out in which adversaries could find them; fit them with a holdout")
    counts = _checked(known_steps, release.steps)
    chosen = only(people, some_people(people, whole(sample, "sample"), seed + 2))
    job = replace(job, people=replace(chosen, whereabouts=None), others=everyone_else(chosen, release))
    work = _Work(job, Stranger.of(people, job.sensed, job.zones), counts)
    if file is not None and path(file, "file").suffix != ".jsonl":
        raise InputError(f"file is {file!r}; expected the path of a file that ends with .jsonl")
    kept = None if file is None else Checkpoints(Path(file), fingerprint(work))
    everyone = range(len(chosen))
    found = collect(_one, work, everyone, workers=workers, executor=executor, chunk=CHUNK, progress=progress, kept=kept)
    names = [STRANGER, HABITS, *(f"and where they were at {n} step{'s' * (n != 1)}" for n in counts)]
    shuffled = np.random.default_rng([seed, 2]).permutation(len(found))  # limits ask for no order
    return _table(names, [rows for person in shuffled if (rows := found[person]) is not None])


def _checked(known_steps: Sequence[int], steps: int) -> tuple[int, ...]:
    """Numbers of known steps in increasing order; numbers beyond the last step are left out, as all would be known."""
    if isinstance(known_steps, str | bytes) or not isinstance(known_steps, Iterable):
        raise InputError(f"known_steps: expected a list of whole numbers, such as [1, 2], got {known_steps!r}")
    for count in known_steps:
        if not is_whole(count) or count < 1:
            raise InputError(f"known_steps: expected whole numbers of at least 1, got {count!r}")
    return tuple(sorted({int(count) for count in known_steps if count <= steps}))


@dataclass(frozen=True)
class _Work:
    job: Job
    stranger: Stranger
    counts: tuple[int, ...]


def _one(work: _Work, person: int) -> list[list[float]] | None:
    """A row for each adversary; None if the loss of the person cannot be measured.

    It has the baseline and both ends of the loss, whether the person was really found, and both ends once more as they
    came out: from 0 to 1, and not compared with whoever knows less.
    """
    job, misses = work.job, work.job.measurement.misses
    seed = stream_of(job.measurement.seed, job.people.ids[person])
    rng = np.random.default_rng([*seed, 2])
    real = job.people.actual[person].astype(np.int64)
    own = Target.of(job, person, real.tolist())
    settings = {**vars(job.measurement), "seed": seed}
    order = rng.permutation(own.release.steps)
    values = own.release.publish(own.number[real][None], rng)
    try:
        known = Knowing.of(own, {}, settings, rng)
        without, with_it, right = _stranger(work, person, own, values, rng)
        # Results from drawn series may be luck: no guess is better than the best one by the person's habits.
        with_it = min(with_it, float(known.loss[2]))
        rows = [
            [without, with_it, with_it, right, with_it, with_it],
            [*known.loss, found_by(own, {}, values, real, misses), *known.loss[1:]],
        ]
        gains = [_gains(job, person, own, known, order, work.counts, settings, rng) for _ in range(DRAWS)]
        for count, (gain, loss) in zip(work.counts, np.mean(gains, axis=0).reshape(-1, 2, 3), strict=True):
            found = found_by(own, _at(real, order[:count]), values, real, misses)
            rows.append([*(known.loss + gain).tolist(), found, *loss[1:].tolist()])
    except PasserbyError:
        return None
    return rows


def _at(trace: Ints, steps: Ints) -> dict[int, int]:
    return {int(t): int(trace[t]) for t in sorted(steps)}


def _drawn(job: Job, person: int, own: Target, rng: np.random.Generator) -> tuple[Target, Ints]:
    """A trace drawn from the habits, by places, and a chain over them: a state for many places becomes one of them."""
    trace = own.places[own.prior.sample(1, own.release.steps, rng)[0]]
    if (trace >= 0).all():
        return own, trace
    label = np.zeros(len(job.people.places), dtype=np.int64) if job.zones is None else job.zones
    for zone in np.unique(-1 - trace[trace < 0]):
        hidden = np.setdiff1d(np.flatnonzero(label == zone), own.places)
        shares, here = job.people.familiarity[hidden], trace == -1 - zone
        trace[here] = rng.choice(hidden, int(here.sum()), p=shares / shares.sum())
    return Target.of(job, person, sorted({*own.places[own.places >= 0].tolist(), *trace.tolist()})), trace


def _gains(
    job: Job,
    person: int,
    own: Target,
    fewer: Knowing,
    order: Ints,
    counts: Sequence[int],
    settings: Mapping[str, Any],
    rng: np.random.Generator,
) -> list[list[NDArray[np.float64]]]:
    """The gain from knowing more and more steps of a drawn trace, for the baseline and for both ends of the loss.

    Beside each stand the three themselves, as they came out. Whoever knows more is compared with whoever knows less, in
    the same case. The less-informed guesses keep their mean quality over all possible knowledge, so the mean gain is
    not inflated. The difference varies far less from one case to the next than the loss itself.
    """
    target, trace = _drawn(job, person, own, rng)
    total, out = np.zeros(3), []
    for count in counts:
        more = Knowing.of(target, _at(trace, order[:count]), settings, rng)
        still = fewer.success(more.prior, target.release, settings["misses"], rng)
        # The upper and the lower end are compared with the same guesses.
        total = total + (more.loss - still[[0, 1, 1]]) - (fewer.loss - fewer.aided[[0, 1, 1]])
        out.append([total, more.loss])
        fewer = more
    return out


def _stranger(
    work: _Work, person: int, own: Target, values: NDArray[np.float64], rng: np.random.Generator
) -> tuple[float, float, float]:
    """How likely the stranger's guesses, made by everybody's habits, are right without the release and with it.

    They are scored by the person's own habits, and at last by the person's real steps.
    """
    stranger, misses, steps = work.stranger, work.job.measurement.misses, own.release.steps
    release, real = stranger.release(work.job.release_for(person)), work.job.people.actual[person]
    if not release.reveals:
        # The evidence of a count depends on the chain: this chain is over all possible places of a guess.
        own = Target.of(work.job, person, sorted({*stranger.places[stranger.places >= 0].tolist(), *real.tolist()}))
    told, seen = seen_alike((own.prior, own.release), (stranger.prior, release), rng)
    aided = guess_series(*seen, misses)
    named = guess_series(*seen[:2], one_series(seen.release.evidence(values)), misses)[0]
    blind = blind_guess(stranger.prior, steps, misses)
    places = np.unique(stranger.places[np.concatenate([aided.ravel(), named, blind])])
    wide = own
    if release.reveals:
        wide = Target.of(work.job, person, sorted({*places.tolist(), *real.tolist()}))
        told = Look(wide.prior, wide.release, told.series)
    number = np.where(stranger.places >= 0, wide.number[stranger.places], -1)
    guesses = np.ascontiguousarray(number[aided])
    success = told.series.mean(score(told.prior, told.release, told.series.evidence, guesses, misses))[0]
    right = (stranger.places[named] != real).sum() <= misses
    return unaided_success(wide.prior, number[blind], misses), success, float(right)


def _table(names: list[str], found: list[list[list[float]]]) -> pl.DataFrame:
    kinds = dict.fromkeys(("baseline", "lower", "upper", "least", "most", "right"), pl.Float64)
    rows = []
    for name, values in zip(names, np.array(found).reshape(len(found), len(names), 6).swapaxes(0, 1), strict=True):
        if len(found):
            # Gains of drawn traces may take a person above 1; their mean is the result.
            baseline, lower, upper, right = values[:, :4].mean(axis=0).clip(0.0, 1.0).tolist()
            low, high = values[:, 4:].clip(0.0, 1.0).T
            if low.min() > 1 - CERTAIN:
                lower = upper = 1.0  # whom everybody finds in all cases needs no comparison
            least, most = min(lower, lower_limit(low, SURE)), max(upper, upper_limit(high, SURE))
            rows.append((name, len(found), baseline, lower, upper, least, most, right))
    return pl.DataFrame(rows, schema={"adversary": pl.String, "people": pl.Int64, **kinds}, orient="row")
