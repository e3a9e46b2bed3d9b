"""What an adversary knows of a person, and how well they guess: by habits, and where the person was at some steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import one_series, score, silent_series
from passerby.questions.trace.guess import guess_series, unaided_success
from passerby.questions.trace.measure import trace_loss
from passerby.questions.trace.methods.baseline import prior_attack

from .attacks import seen_alike
from .job import Job, over_states

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Target:
    """A person's chain over their own places and some others, and what is published, over it."""

    prior: MarkovPrior
    release: Release
    places: Ints
    number: Ints

    @classmethod
    def of(cls, job: Job, person: int, also: Sequence[int] = ()) -> Target:
        """With these places told apart from others, beside those with a sensor."""
        return cls(*over_states(job, person, also))

    def given(self, seen: Mapping[int, int]) -> MarkovPrior:
        """The chain of somebody who is known to have been at some places at some steps."""
        known = {t: int(self.number[place]) for t, place in seen.items()}
        return self.prior.given(known, self.release.steps) if known else self.prior


@dataclass(frozen=True)
class Knowing:
    """Somebody who knows habits and some steps: their `loss` (baseline, lower, upper), and the guesses they make.

    `blind` is their guess without the release; `aided` (2,) is how likely that and their guesses with it are right.
    """

    prior: MarkovPrior
    loss: NDArray[np.float64]
    blind: Ints
    aided: NDArray[np.float64]

    @classmethod
    def of(
        cls, target: Target, seen: Mapping[int, int], settings: Mapping[str, Any], rng: np.random.Generator
    ) -> Knowing:
        """Who knows that the person was at some places at some steps."""
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
    """The best guess (T,) that is found without any release."""
    return np.asarray(guess_series(prior, Release.silent(steps), silent_series(steps), misses)[0])


def found_by(target: Target, seen: Mapping[int, int], values: NDArray[np.float64], real: Ints, misses: int) -> float:
    """Whether the best guess found, given what would have been published about the real trace, is right."""
    trace = target.number[real]
    try:
        prior, release = target.release.over(target.given(seen))
        series = one_series(release.evidence(values))
        guess = guess_series(prior, release, series, misses)[0]
    except InputError:
        # The habits do not explain what was seen: the adversary falls back on them alone, and on what they know.
        guess = np.array(prior_attack(target.prior, target.release.steps, misses).guess)
    for t, place in seen.items():
        if target.prior.guessable[target.number[place]]:
            guess[t] = target.number[place]
    return float((guess != trace).sum() <= misses)
