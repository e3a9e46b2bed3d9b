"""The promises of attacks for one person, and their success on the person's real steps.

An adversary's knowledge of a person, and the success of their guesses: everybody's moves, habits, and some steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.counted import states_by_place
from passerby.outcomes.series import (
    Series,
    distinct,
    enumerate_series,
    one_series,
    sample_series,
    sampled_series,
    score,
    silent_series,
    wrong_laws,
)
from passerby.people.habits import People
from passerby.questions.trace.guess import bracket_series, guess_series, unaided_success
from passerby.questions.trace.measure import trace_loss
from passerby.questions.trace.methods.baseline import constant_attack, prior_attack, prior_trace

from .job import Job, kept_part, over_states

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


#: Places distinguished by a stranger, beside the ones with a sensor: the most frequent ones.
TOLD_APART = 30
#: Moves' worth of everybody's frequencies, mixed into the moves from each place.
LITTLE = 10.0


@dataclass(frozen=True)
class Target:
    """A person's chain over their own places and some others, and the release over it."""

    prior: MarkovPrior
    release: Release
    places: Ints
    number: Ints

    @classmethod
    def of(cls, job: Job, person: int, also: Sequence[int] = ()) -> Target:
        """With these places distinguished from others, beside the ones with a sensor."""
        return cls(*over_states(job, person, also))

    def given(self, seen: Mapping[int, int]) -> MarkovPrior:
        """The chain of somebody known to have been at some places at some steps."""
        known = {t: int(self.number[place]) for t, place in seen.items()}
        return self.prior.given(known, self.release.steps) if known else self.prior


@dataclass(frozen=True)
class Knowing:
    """Somebody with habits and some known steps: their `loss` (baseline, lower, upper), and their guesses.

    `blind` is their guess without the release; `aided` (2,) is the chance of this guess and of their guess with it.
    """

    prior: MarkovPrior
    loss: NDArray[np.float64]
    blind: Ints
    aided: NDArray[np.float64]

    @classmethod
    def of(
        cls, target: Target, seen: Mapping[int, int], settings: Mapping[str, Any], rng: np.random.Generator
    ) -> Knowing:
        """An adversary with the person's places at some steps."""
        release, misses = target.release, settings["misses"]
        prior = target.given(seen)
        loss = trace_loss(prior, release, **settings)
        ends = np.array([loss.baseline.lower, loss.lower, loss.upper])
        made = cls(prior, ends, blind_guess(prior, release.steps, misses), np.empty(2))
        return replace(made, aided=made.success(prior, release, misses, rng))

    def success(
        self, truth: MarkovPrior, release: Release, misses: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """How likely their guesses are right, without the release and with it (2,), for a person with this law."""
        told, mine = seen_alike((truth, release), (self.prior, release), rng)
        guesses = guess_series(*mine, misses)
        aided = told.series.mean(score(told.prior, told.release, told.series.evidence, guesses, misses))[0]
        return np.array([unaided_success(truth, self.blind, misses), aided])


def blind_guess(prior: MarkovPrior, steps: int, misses: int) -> Ints:
    """The best guess (T,) found without any release."""
    return np.asarray(guess_series(prior, Release.silent(steps), silent_series(steps), misses)[0])


def found_by(target: Target, seen: Mapping[int, int], values: NDArray[np.float64], real: Ints, misses: int) -> float:
    """Whether the best guess, given the published values for the real trace, is right."""
    trace = target.number[real]
    try:
        prior, release = target.release.over(target.given(seen))
        series = one_series(release.evidence(values))
        guess = guess_series(prior, release, series, misses)[0]
    except InputError:
        # The habits do not explain the values: the adversary falls back on them alone, and on the known steps.
        guess = np.array(prior_attack(target.prior, target.release.steps, misses).guess)
    for t, place in seen.items():
        if target.prior.guessable[target.number[place]]:
            guess[t] = target.number[place]
    return float((guess != trace).sum() <= misses)


@dataclass(frozen=True)
class Stranger:
    """Everybody's moves as a chain over a few `places`; numbers below 0 stand for many others.

    `number` (M,) is the state of each place.
    """

    prior: MarkovPrior
    places: Ints
    number: Ints

    @classmethod
    def of(cls, people: People, sensed: Sequence[int], zones: Ints | None = None) -> Stranger:
        """From the fitted steps of all people, each from the first known place on.

        If counts are of zones, a label for each place (M,), all others of each zone are one place, -1 - label.

        `P(x, y) = (N(x, y) + c b(y)) / (N(x) + c)`, with N everybody's moves, b their frequencies and c = `LITTLE`. If
        habits follow a part of the day or week, N are the moves into the same part. The start is b.
        """
        every = len(people.places)
        common = np.argsort(-people.background, kind="stable")[:TOLD_APART].tolist()
        own = np.array(sorted({*common, *sensed}), dtype=np.int64)
        label = np.zeros(every, dtype=np.int64) if zones is None else zones
        rest = np.unique(np.append(np.delete(label, own), 0))
        places = np.concatenate([own, -1 - rest])
        number = states_by_place(places, every, label)
        fitted = number[people.fitted]
        known = np.maximum.accumulate(people.fitted != people.elsewhere, axis=1)
        steps, held, size = fitted.shape[1], people.actual.shape[1], len(places)
        part = np.zeros(steps + held, dtype=np.int64) if people.phase is None else people.phase

        def moves(towards: int) -> Floats:
            inside = part[1:steps] == part[towards]
            pairs = (fitted[:, :-1] * size + fitted[:, 1:])[:, inside][known[:, :-1][:, inside]]
            counts = np.bincount(pairs, minlength=size**2).reshape(size, size)
            b = frequencies(towards)
            return np.asarray((counts + LITTLE * b) / (counts.sum(axis=1, keepdims=True) + LITTLE))

        def frequencies(at: int) -> Floats:
            inside = part[:steps] == part[at]
            visits = np.bincount(fitted[:, inside][known[:, inside]], minlength=size)
            return np.asarray((visits + 1 / size) / (visits.sum() + 1))

        matrices = (
            moves(steps) if people.phase is None else np.array([moves(t) for t in range(steps + 1, steps + held)])
        )
        named = (places >= 0) & (people.name_elsewhere | (places != people.elsewhere))
        elsewhere = np.flatnonzero(places == people.elsewhere)
        prior = MarkovPrior(
            frequencies(steps),
            matrices if matrices.size else moves(steps),
            guessable=named,
            universe=max(every, size),
            elsewhere=int(elsewhere[0]) if elsewhere.size else None,
        )
        return cls(prior, places, number)

    def release(self, release: Release) -> Release:
        """The release, over the stranger's places."""
        return release.relabelled(self.number)
