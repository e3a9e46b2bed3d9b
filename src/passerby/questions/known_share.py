"""An adversary who knows a share of the others: between one who knows habits alone, and one who knows everybody.

Each of the others is known with chance q, independently of where they are. Whoever is known is taken off the counts, so
that the rest is a smaller crowd, and the answer is the mean over who is known (section 27). It grows with q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from passerby.errors import InputError, UnsupportedRelease
from passerby.measurement.setup import How
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.crowd import Crowd
from passerby.support import checks
from passerby.support.statistics import lower_limit, upper_limit

from .event_answer import EventAnswer
from .measure import measure
from .question import Question
from .trace.loss import Loss

#: The shares that are looked at where nothing else is said.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Crowds that are listed rather than drawn, at most.
LISTED = 32
#: Crowds that are drawn, at most.
MOST_DRAWS = 10_000

#: How many are unknown of each group of people with the same habits.
Unknown = tuple[int, ...]


@dataclass(frozen=True)
class KnownShare:
    """What an adversary finds who knows such a `share` of the others: between both ends, `certain` or at confidence."""

    share: float
    lower: float
    upper: float
    certain: bool


def known_shares(
    prior: MarkovPrior,
    release: Release,
    question: Question | int = 0,
    shares: Sequence[float] = SHARES,
    *,
    draws: int = 20,
    seed: int = 0,
    confidence: float = 0.99,
    tolerance: float = 0.01,
    series: How = "auto",
    runs: int = 1000,
    budget: float = 2e10,
) -> list[KnownShare]:
    """How the answer to a question grows with the share of the others who are known, from a `Crowd` to an insider.

    Of guesses it is the loss, and of an event its advantage. With share 0 it is what `measure` finds of the release,
    and with 1 what it finds where all others are known. Between them who is known is listed where few crowds differ,
    and otherwise drawn, `draws` times for all shares together. The other arguments are those of `measure`.

    >>> import passerby as pb
    >>> still = pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> release = pb.Release([0, 0], pb.Raw(), pb.Crowd([still] * 3))
    >>> curve = known_shares(still, release, pb.InData(), shares=[0, 0.5, 1], runs=200)
    >>> curve[0].upper <= curve[2].upper, round(curve[2].lower, 2)
    (True, 0.55)
    """
    groups = _groups(prior, release)
    if isinstance(shares, str | bytes) or not isinstance(shares, Sequence | np.ndarray):
        raise InputError(f"shares: expected a list of numbers from 0 to 1, got {checks.shown(shares)}")
    wanted = [checks.number(share, "shares", 0, 1) for share in shares]
    draws = checks.whole(draws, "draws", 2, MOST_DRAWS)
    checks.number(confidence, "confidence", 0.5, 1)
    effort = {"tolerance": tolerance, "series": series, "runs": runs, "budget": budget}
    effort |= {"seed": checks.whole(seed, "seed")}
    case = _Case(prior, release, question, groups, effort)
    size = math.prod(len(group) + 1 for group in groups)
    rows = {0.0: tuple(map(len, groups)), 1.0: (0,) * len(groups)}
    ends = {share: case.ends(rows[share], confidence) for share in {*wanted} & {0.0, 1.0}}
    between = [share for share in wanted if 0 < share < 1]
    if between and size <= LISTED:
        ends |= _listed(case, between, confidence, size)
    elif between:
        ends |= _drawn(case, between, confidence, draws, seed)
    return [_within(KnownShare(share, *ends[share]), ends) for share in wanted]


@dataclass(frozen=True)
class _Case:
    """What is asked, with the groups of others of the same habits."""

    prior: MarkovPrior
    release: Release
    question: Question | int
    groups: list[list[MarkovPrior]]
    effort: dict[str, Any]

    def ends(self, unknown: Unknown, confidence: float) -> tuple[float, float, bool]:
        """Both ends where so many of each group are unknown, and whether these are certain."""
        rest = [each for group, count in zip(self.groups, unknown, strict=True) for each in group[:count]]
        if unknown == tuple(map(len, self.groups)):
            release = self.release
        else:
            release = self.release.with_others(Crowd(rest) if rest else None)
        (found,) = measure(self.prior, release, [self.question], confidence=confidence, **self.effort)
        if isinstance(found, EventAnswer):
            return found.advantage.lower, found.advantage.upper, not found.sampled
        if isinstance(found, Loss):
            return found.lower, found.upper, found.effort.confidence is None
        raise InputError(f"question: {self.question!r} has no single answer; ask for a trace, an event or InData()")


def _groups(prior: object, release: object) -> list[list[MarkovPrior]]:
    """The others by their habits; an error where it cannot be said what it means to know some of them."""
    if not isinstance(prior, MarkovPrior) or not isinstance(release, Release):
        raise InputError(f"expected a MarkovPrior and a Release, got {checks.shown(prior)} and {checks.shown(release)}")
    crowd = release.crowd
    if crowd is None or not crowd.priors:
        raise InputError("release: known_shares is about others who are a crowd; give others=Crowd([...]) with priors")
    if not all(rule.raw or rule.shift_invariant for rule in release.ways):
        raise UnsupportedRelease(
            f"{release.words}: small and large counts are treated differently, so that those who are known cannot be "
            "taken off the counts; give others=Crowd(...) for none, or others=[...] for all who are known"
        )
    found: dict[int, list[MarkovPrior]] = {}
    for each in crowd.priors:
        found.setdefault(id(each), []).append(each)
    return [*found.values()]


def _listed(
    case: _Case, shares: Sequence[float], confidence: float, size: int
) -> dict[float, tuple[float, float, bool]]:
    """The mean over all who may be known."""
    every = [*product(*(range(len(group) + 1) for group in case.groups))]
    found = [case.ends(unknown, 1 - (1 - confidence) / size) for unknown in every]
    out = {}
    for share in shares:
        weights = [
            math.prod(
                math.comb(len(group), n) * (1 - share) ** n * share ** (len(group) - n)
                for group, n in zip(case.groups, unknown, strict=True)
            )
            for unknown in every
        ]
        lower, upper = (sum(w * ends[side] for w, ends in zip(weights, found, strict=True)) for side in (0, 1))
        out[share] = lower, min(1.0, upper), all(ends[2] for ends in found)
    return out


def _drawn(
    case: _Case, shares: Sequence[float], confidence: float, draws: int, seed: int
) -> dict[float, tuple[float, float, bool]]:
    """Confidence limits of the mean over draws of who is known: the same draws for all shares, so that it grows."""
    coins = np.random.default_rng([seed, 27]).random((draws, sum(map(len, case.groups))))
    cuts = np.cumsum([len(group) for group in case.groups])[:-1]
    doubt = (1 - confidence) / 2
    found: dict[Unknown, tuple[float, float, bool]] = {}
    out = {}
    for share in shares:
        sides = np.empty((2, draws))
        for row, coin in enumerate(coins):
            unknown = tuple(int(part.sum()) for part in np.split(coin > share, cuts))
            if unknown not in found:
                found[unknown] = case.ends(unknown, 1 - doubt / (draws * len(shares)))
            sides[:, row] = found[unknown][:2]
        out[share] = lower_limit(sides[0], 1 - doubt / 2), upper_limit(sides[1], 1 - doubt / 2), False
    return out


def _within(found: KnownShare, ends: dict[float, tuple[float, float, bool]]) -> KnownShare:
    """No less than somebody certainly finds who knows fewer of the others, and no more than who knows more of them."""
    lower, upper = found.lower, found.upper
    for share, (low, high, certain) in ends.items():
        if certain and share < found.share:
            lower = max(lower, low)
        elif certain and share > found.share:
            upper = min(upper, high)
    return KnownShare(found.share, lower, max(lower, upper), found.certain)
