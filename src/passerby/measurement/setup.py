"""The subject of a question: a person's habits, a release, and the precision of the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.model.kinds import check_prior, check_release
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import DrawnNoise, Series, given_series, weights_of
from passerby.support.checks import MOST_DRAWS, is_number, is_whole, word
from passerby.support.checks import seed as checked_seed

#: How published series are looked at: as it fits, all of them listed, or a sample.
How = Literal["auto", "enumerate", "sample"]

#: No confidence closer to one than this: its limits would need more digits than numbers have.
MOST_CONFIDENT = 1 - 1e-12


@dataclass(frozen=True)
class Setup:
    """One person and one release, over the same states: the states of a chain with the memory of counts.

    `tolerance` and `budget` limit the width of the answer and its elementary operations. `runs` series are drawn if
    necessary, and limits then hold at level `confidence`. With `published`, the one series of an actual release,
    questions are about this one alone.
    """

    prior: MarkovPrior
    release: Release
    tolerance: float = 0.01
    budget: float = 2e10
    confidence: float = 0.99
    seed: int | tuple[int, ...] = 0
    runs: int = 1000
    series: How = "auto"
    published: Series | None = None
    #: The habits and the release as they were given, without memory.
    given: tuple[MarkovPrior, Release] | None = None
    #: Noise shared by questions: none yet.
    noises: list[DrawnNoise] = field(default_factory=list, compare=False, repr=False)

    @property
    def steps(self) -> int:
        """The number of steps, `T`."""
        return self.release.steps

    @cached_property
    def equivalent(self) -> Release:
        """The release, as raw counts from some of its sensors if it tells the same as these."""
        return self.release.revealed or self.release

    def rng(self) -> np.random.Generator:
        """Fresh random numbers; each is asked for once at most."""
        return np.random.default_rng(self.seed)

    def weights_of(self, traces: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Likelihoods (n, T, C) of the published values for traces (n, T), up to a factor for each step.

        Noise equal at every count is drawn once for all questions: each answer holds by itself.
        """
        if not self.noises:
            self.noises.append(DrawnNoise(self.other_rngs(3)[2]))
        return weights_of(self.release, traces, self.noises[0], rng)

    def other_rngs(self, count: int) -> list[np.random.Generator]:
        """So many sources of random numbers, independent of the others and of each other."""
        return [np.random.default_rng(part) for part in np.random.SeedSequence(self.seed).spawn(count)]


def set_up(
    prior: MarkovPrior,
    release: Release,
    seed: int | Sequence[int],
    published: Iterable[float | Iterable[float]] | None,
    **options: Any,
) -> Setup:
    """The subject of questions, with every part checked: a wrong one is an `InputError` naming it."""
    check_prior(prior)
    check_release(release)
    release = release if published is None else release.after(published)
    release.check(prior)
    given = prior, release
    prior, release = release.over(prior)
    check_effort(options["tolerance"], options["budget"], options["confidence"], options["runs"])
    word(options["series"], "series", ("auto", "enumerate", "sample"))
    if options["series"] == "enumerate" and release.fixed and release.stacked_signals() is None:
        raise UnsupportedRelease(
            f"{release.words} publishes too many values, or a continuum of them: its series cannot be listed; "
            "sample them (series='sample') or leave the choice (series='auto')"
        )
    if published is not None and not release.independent:
        raise UnsupportedRelease(
            f"published: what these very values tell of a person in {release.crowd!r} is not known, since several "
            "counts are of the same people; give the numbers of others, or leave the values out"
        )
    series = None if published is None else given_series(release, published)
    return Setup(prior, release, seed=checked_seed(seed), published=series, given=given, **options)


def check_effort(tolerance: Any, budget: Any, confidence: Any, runs: Any) -> None:
    """Refuse, with an `InputError`, a wrong precision or effort."""
    _check_number("tolerance", tolerance, 0.0)
    _check_number("budget", budget, 0.0)
    _check_confidence(confidence)
    _check_runs(runs)


def _check_number(name: str, value: Any, least: float) -> None:
    """A finite number of at least `least`; a truth value is none."""
    if not is_number(value) or not least <= value or (name != "tolerance" and math.isinf(value)):
        finite = "" if name == "tolerance" else "finite "
        raise InputError(f"{name}: expected a {finite}number of at least {least:g}, got {value!r}")


def _check_confidence(value: Any) -> None:
    if not isinstance(value, (float, np.floating)) or not 0.5 <= value <= MOST_CONFIDENT:
        raise InputError(f"confidence: expected a level from 0.5 to {MOST_CONFIDENT!r}, got {value!r}")


def _check_runs(value: Any) -> None:
    if not is_whole(value) or value < 2:
        raise InputError(f"runs: expected a whole number of at least 2, got {value!r}")
    if value > MOST_DRAWS:
        raise InputError(f"runs: expected at most {MOST_DRAWS:,} draws, got {value!r}; errors shrink no more by then")
