"""A publisher's policy: the counts of the next step go out only if nobody can be found too well by them.

Whether a step is held back must not depend on its own numbers, or holding back would tell of them. It is decided from
earlier publications, for all possible values. So it follows from public knowledge, and tells nobody anything more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.model.adaptive import History, as_history
from passerby.model.count import mechanism_of
from passerby.model.count_release import told_by
from passerby.model.counts import Count
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series
from passerby.outcomes.stand_ins import stand_ins
from passerby.support.numbers import exceeds, log_product, logs, size_in_words

from .guess import bracket_series

Floats = NDArray[np.float64]

#: A limit to the ways of values telling of a person: more are not looked at.
MOST_WAYS = 4096
#: How closely, and with how many elementary operations, the best guess is searched for.
CLOSE, EFFORT = 1e-3, 1e9


class Fitted(Protocol):
    """People, each with a prior over all places."""

    def __len__(self) -> int:
        """How many they are."""
        ...

    def prior(self, person: int, *, reduced: bool) -> tuple[MarkovPrior, Any]:
        """The prior of one of them, and the places of its states."""
        ...


class HoldBack:
    """Names the counts of `wanted` for the next step, or none; see `hold_back`."""

    def __init__(self, priors: Sequence[MarkovPrior], wanted: Release, limit: float, misses: int) -> None:
        self.wanted, self.limit, self.misses = wanted, limit, misses
        self._watched = [wanted.over(prior) for prior in priors]
        self._counts = [[count for count in wanted.listed if count.read == t] for t in range(wanted.steps)]
        self._known: dict[History, bool] = {}

    @property
    def among(self) -> Release:
        """All counts it may ever publish."""
        return self.wanted

    def __call__(self, history: History) -> list[Count]:
        """The counts of the step after the history, if everybody stays within the limit whatever their values."""
        history = as_history(history, "history")
        if len(history) >= self.wanted.steps:
            raise InputError(f"hold_back: {len(history)} steps were published, and there are {self.wanted.steps}")
        wanted = self._counts[len(history)]
        if history not in self._known:
            ahead = [_to_come(count, self.wanted.size) for count in wanted]
            self._known[history] = not wanted or self.keeps(self._told(history, ahead))
        return list(wanted) if self._known[history] else []

    def _told(self, history: History, ahead: list[Floats]) -> list[list[Floats]]:
        """For each published or coming count, its possible evidence: log-likelihoods (ways, 2)."""
        out = []
        for t, (values, counts) in enumerate(zip(history, self._counts, strict=False)):
            if values and len(values) != len(counts):
                raise InputError(
                    f"hold_back: {len(values)} values at step {t}, where {len(counts)} are published, or none"
                )
            out.append([_came(count, value, self.wanted.size) for count, value in zip(counts, values, strict=False)])
        return [*out, ahead] + [[] for _ in self._counts[len(history) + 1 :]]

    def keeps(self, told: list[list[Floats]]) -> bool:
        """Whether nobody's best guess is more likely right than the limit, whatever of these they are told."""
        number = log_product(len(way) for step in told for way in step)
        if exceeds(number, MOST_WAYS):
            raise UnsupportedRelease(
                f"hold_back: values may tell of a person in {size_in_words(number)} ways, of which at most "
                f"{MOST_WAYS:,} are looked at; say how many others each count counts (others=...), or want fewer counts"
            )
        return all(self._kept(*watched, told) for watched in self._watched)

    def _kept(self, prior: MarkovPrior, release: Release, told: list[list[Floats]]) -> bool:
        evidence = possible_evidence(prior, release, told)
        for effort in (0.0, EFFORT):
            if not len(evidence):
                return True  # nothing is open, or it cannot be about them
            found = bracket_series(prior, release, _evenly(evidence), self.misses, CLOSE, effort)
            if found.lower.max() > self.limit:
                return False
            evidence = evidence[np.minimum(found.upper, 1.0) > self.limit]
        # The search goes to all of them together: open ones still get a search of their own.
        return all(self._alone(prior, release, one) for one in evidence)

    def _alone(self, prior: MarkovPrior, release: Release, evidence: Floats) -> bool:
        found = bracket_series(prior, release, _evenly(evidence[None]), self.misses, 0.0, EFFORT)
        return min(float(found.upper[0]), 1.0) <= self.limit


def hold_back(
    priors: MarkovPrior | Iterable[MarkovPrior] | Fitted, wanted: Release, limit: float = 0.5, misses: int = 0
) -> HoldBack:
    """A policy for `Release.adaptive`: a step of `wanted` goes out only if nobody's realised chance can exceed `limit`.

    `priors` are the priors of one person, of several, or of everybody given by `fit_people`. The chance is the success
    of the best guess with at most `misses` wrong steps, given everything published. It is taken for each of them as the
    person unknown to the adversary. Every possible value is looked at (but for values of a probability of 1e-16 in
    all). The decision uses published values alone. If `wanted` gives the number of others of a count, the evidence of
    its value is known. Otherwise anybody may have been in it or not, unless nobody was (a raw count of 0). If `wanted`
    is of groups, so is the release: `Release.adaptive(policy, steps, size=wanted.size)`.

    >>> from passerby import line_prior
    >>> prior, wanted = line_prior(6, 0.3), Release([2, 3, 2])
    >>> policy = hold_back(prior, wanted, limit=0.2)
    >>> [len(policy(history)) for history in ((), ((0.0,),), ((1.0,),))]
    [1, 1, 0]
    """
    every = [priors] if isinstance(priors, MarkovPrior) else list(_listed(priors))
    if not every:
        raise InputError("priors: there are none, so that nothing would be held back; give one for each person")
    for i, prior in enumerate(every):
        if not isinstance(prior, MarkovPrior):
            raise InputError(f"priors[{i}]: expected a MarkovPrior, got {prior!r}")
    if not isinstance(wanted, Release) or not wanted.fixed:
        raise InputError(f"wanted: expected a Release that is fixed in advance, got {wanted!r}")
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit <= 1:
        raise InputError(f"limit: expected a probability above 0, got {limit!r}")
    for prior in every:
        wanted.check(prior)
    policy = HoldBack(every, wanted, float(limit), wanted.check_misses(misses))
    nothing: list[list[Floats]] = [[] for _ in range(wanted.steps)]
    above = [i for i, watched in enumerate(policy._watched) if not policy._kept(*watched, nothing)]
    if above:
        raise InputError(
            f"limit: {limit:g} is below what is achieved without any counts for {len(above)} of {len(every)} priors "
            f"(the first is priors[{above[0]}]), so that holding back does not keep it; leave them out, or raise it"
        )
    return policy


def _listed(priors: Any) -> Iterable[MarkovPrior]:
    """Priors one by one; priors of fitted people are over all places, as the counts are."""
    if callable(getattr(priors, "prior", None)):
        return (priors.prior(i, reduced=False)[0] for i in range(len(priors)))
    if not isinstance(priors, Iterable):
        raise InputError(f"priors: expected MarkovPriors, got {priors!r}")
    return priors


def _to_come(count: Count, size: int) -> Floats:
    """The most evidence of a value, either way: for each guess, success rises or falls with the likelihood ratio."""
    pair = stand_ins(*told_by(count, size))
    if pair is None:
        raise UnsupportedRelease(f"hold_back: what {count.mechanism!r} tells at most is not known")
    return logs(pair[1][[0, -1] if len(pair[1]) > 1 else [0]])


def _came(count: Count, value: float, size: int) -> Floats:
    """The possible evidence of a published value about a person."""
    if count.others is None:
        nobody = mechanism_of(count).raw and value < size
        return np.array([[0.0, -np.inf]]) if nobody else _to_come(count, size)
    mechanism, others = told_by(count, size)
    out = np.array([[float(mechanism.log_likelihood(value, others + there)) for there in (0, 1)]])
    if np.isneginf(out).all():
        raise InputError(f"hold_back: {value:g} cannot be published for {count!r}")
    return out


def possible_evidence(prior: MarkovPrior, release: Release, told: list[list[Floats]]) -> Floats:
    """Evidence (n, T, C) of all possible values together, under these habits."""
    classes, sees = release.classes(prior), release.sees
    # Only possible states are asked for: chances would underflow.
    states, evidence = prior.initial[None] > 0, np.zeros((1, 0, sees.shape[1]))
    for t, step in enumerate(told):
        if t:
            states = states @ (prior.matrix(t - 1) > 0)
        ways = np.array(
            [
                np.where(sees[t, :, : len(step)] == 1, [row[1] for row in rows], [row[0] for row in rows]).sum(axis=1)
                for rows in product(*step)
            ]
        )
        after = states[:, None] & (ways > -np.inf)[:, classes[t]]
        which, way = np.nonzero(after.any(axis=2))
        states, evidence = after[which, way], np.concatenate([evidence[which], ways[way][:, None]], axis=1)
    return evidence


def _evenly(evidence: Floats) -> Series:
    return Series(evidence, np.full(len(evidence), 1 / len(evidence)), sampled=False, left_over=0.0)
