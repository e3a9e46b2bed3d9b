"""The promises of attacks for one person, and their success on the person's real steps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import (
    Series,
    distinct,
    enumerate_series,
    one_series,
    sample_series,
    sampled_series,
    wrong_laws,
)
from passerby.people.habits import People
from passerby.questions.trace.guess import bracket_series, unaided_success
from passerby.questions.trace.methods.baseline import constant_attack, prior_trace

from .job import Job, over_states
from .remainder import kept_part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The attacks: two with the counts, and two without them.
BACKTESTED = ("map", "marginal", "prior", "constant")
#: Series listed for a promise, the probability of the unlisted rest, and the number of draws instead.
LISTED, LEFT, DRAWN = 128, 1e-3, 100
#: The most numbers of misses under trial.
MOST_MISSES = 6


def misses_tried(steps: int, asked: int) -> list[int]:
    """Numbers of misses, evenly spread if steps are many, with the requested number.

    >>> misses_tried(5, 1), misses_tried(24, 2)
    ([0, 1, 2, 3, 4], [0, 2, 6, 12, 17, 23])
    """
    if steps <= MOST_MISSES:
        return list(range(steps))
    some = np.linspace(0, steps - 1, MOST_MISSES - 1).round().astype(int).tolist()
    return sorted({*some, asked})


def tried_on(job: Job, person: int, misses: list[int], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Promised and right (attacks, misses) for one person.

    A promise is the attack's success under the habits, over all possible published series. They are listed or, if they
    are too many, drawn.
    """
    prior, release, _, state_of = over_states(job, person)
    trace = state_of[job.people.actual[person]]
    base = prior
    prior, release = kept_part(prior, release)[0].over(prior)
    series = listed_series(prior, release, rng)
    guesses = aided_guesses(prior, release, series)
    real = one_series(release.drawn(trace[None], rng))
    blind = prior_trace(base, release.steps)
    try:
        named = aided_guesses(prior, release, real)
    except InputError:
        # Habits do not explain the published counts for this trace: the adversary falls back on habits alone.
        named = np.repeat(blind[None, None], 2, axis=0)
    promised, right = np.empty((2, len(BACKTESTED), len(misses)))
    aided = [wrong_laws(prior, release, series.evidence, guess, max(misses)).cumsum(axis=1) for guess in guesses]
    for column, allowed in enumerate(misses):
        same = constant_attack(base, release.steps, allowed)
        assert same.guess is not None
        promised[:2, column] = [series.mean(success[:, allowed])[0] for success in aided]
        promised[2, column] = unaided_success(base, blind, allowed)
        promised[3, column] = same.value
        all_named = np.array([*named[:, 0], blind, same.guess])
        right[:, column] = (all_named != trace).sum(axis=1) <= allowed
    return np.clip(promised, 0.0, 1.0), right


def listed_series(prior: MarkovPrior, release: Release, rng: np.random.Generator) -> Series:
    """All possible published series but for a small rest, or a sample if they are too many."""
    series = enumerate_series(prior, release, LISTED, LEFT)
    if series is not None:
        return series
    drawn = sample_series(prior, release, rng, DRAWN)
    first, which = distinct(drawn.evidence)
    return replace(drawn, evidence=drawn.evidence[first], mass=np.bincount(which, drawn.mass).astype(np.float64))


class Look(NamedTuple):
    """A chain with the memory for its counts, the release over it, and series in this view."""

    prior: MarkovPrior
    release: Release
    series: Series


def seen_alike(
    truth: tuple[MarkovPrior, Release], other: tuple[MarkovPrior, Release], rng: np.random.Generator
) -> tuple[Look, Look]:
    """Possible published series about a person, in the view of the truth and of somebody with another chain.

    The values of sensors are the same to both. Classes of zones, flows and visitors depend on the chain: there, series
    are drawn, and each looks at the values.
    """
    (prior, release), mine = truth[1].over(truth[0]), other[1].over(other[0])
    if release.reveals:
        series = listed_series(prior, release, rng)
        return Look(prior, release, series), Look(*mine, series)
    values = release.publish(truth[0].sample(DRAWN, release.steps, rng), rng)
    looks = (Look(*each, sampled_series(*each, each[1].evidence(values))) for each in ((prior, release), mine))
    told, seen = looks
    return told, seen


def aided_guesses(prior: MarkovPrior, release: Release, series: Series) -> Ints:
    """The guesses of `map` and `marginal` (2, n, T); neither depends on the misses."""
    guesses = bracket_series(prior, release, series, 0, np.inf, 0.0).guesses
    return np.ascontiguousarray(guesses[:, :2].swapaxes(0, 1))


def likelihood(people: People, person: int) -> float:
    """Mean log probability of a person's real steps; minus infinity for impossible ones."""
    actual = people.actual[person]
    prior, places = people.prior(person, sorted(set(actual.tolist())))
    number = {int(place): k for k, place in enumerate(places)}
    law, total = prior.initial, 0.0
    for t, place in enumerate(actual.tolist()):
        if t:
            law = law @ prior.matrix(t - 1)
        law = np.where(prior.place_of == number[place], law, 0.0)
        chance = float(law.sum())
        if chance <= 0:
            return -np.inf
        total += np.log(chance)
        law = law / chance
    return total / len(actual)
