"""Profiles of adversaries, from the weakest to the strongest: what each knows, and what that takes in practice.

Regulators ask what a *motivated intruder* could do, with the means that a recipient is reasonably likely to have. The
names here are those of reports, documents and errors. A stranger finds no more than an acquaintance, who finds no more
than whoever also knows some of the others, and an insider finds most of these: on average over where the known others
are, and in each case of raw counts and noise. A colleague finds no less than an
acquaintance on average over where the person was. Whoever is of the person's family finds no less than an insider, of
raw counts, of noise, and of rules that keep the order of counts (section 25).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.measurement.setup import How
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support import checks
from passerby.support.statistics import lower_limit

from .event_answer import EventAnswer
from .known_share import KnownShare, known_shares
from .measure import measure
from .question import Question
from .trace.loss import Loss
from .trace.measure import Trace
from .trace.methods.crowd import blind_guesses

#: Traces that are drawn to see how often a stranger is right.
DRAWS = 1000


@dataclass(frozen=True)
class Profile:
    """An adversary: a `name`, what they know, and the means that this takes."""

    name: str
    knows: str
    means: str


STRANGER = Profile(
    "stranger",
    "the published counts, and what everybody does",
    "anybody who gets the counts: the least that a motivated intruder has",
)
ACQUAINTANCE = Profile(
    "acquaintance",
    "the person's habits, and of the others habits alone",
    "a motivated intruder who has watched the person for a while, or has older data about them",
)
COLLEAGUE = Profile(
    "colleague",
    "the same, and where the person was at some steps",
    "a recipient who meets the person, or has other records of them",
)
PARTLY = Profile(
    "knows a share of the others",
    "habits, and where each of the others was with chance q",
    "a recipient with data of its own about so many of the people, such as an operator of phones",
)
INSIDER = Profile(
    "insider",
    "the person's habits, and where everybody else was",
    "more than recipients are likely to have; whoever makes the counts has it",
)
FAMILY = Profile(
    "family",
    "the same, and that some move together with the person",
    "somebody who lives with the person, and knows everybody else besides",
)
#: From the weakest to the strongest. A colleague stands beside the line of those who know more of the others.
PROFILES = (STRANGER, ACQUAINTANCE, COLLEAGUE, PARTLY, INSIDER, FAMILY)


@dataclass(frozen=True)
class ProfileAnswer:
    """What a profile finds: between both ends, `certain` or at confidence. `share` of the others is known for sure."""

    profile: str
    share: float
    lower: float
    upper: float
    certain: bool


def profiles(
    prior: MarkovPrior,
    release: Release,
    question: Question | int = 0,
    *,
    everybody: MarkovPrior | None = None,
    seen: Mapping[int, int] | None = None,
    together: int = 1,
    shares: Sequence[float] = (0.5,),
    seed: int = 0,
    confidence: float = 0.99,
    tolerance: float = 0.01,
    series: How = "auto",
    runs: int = 1000,
    budget: float = 2e10,
) -> list[ProfileAnswer]:
    """The answer to a question for each profile, from a stranger to an insider, and for a family beyond.

    The release has a `Crowd` of the others. `everybody` are the habits that a stranger takes for the person's (without
    them, no stranger is asked), `seen` the steps and places `{step: place}` that a colleague knows, and `together` how
    many of a family move as one. `shares` of the others are known between an acquaintance and an insider. Of guesses
    answers are the loss, and of an event its advantage. A stranger's guesses of a trace are drawn; of events only an
    upper end is known, that of an acquaintance. The other arguments are those of `measure`.

    >>> import passerby as pb
    >>> still = pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> release = pb.Release([0, 0], pb.Raw(), pb.Crowd([still] * 3))
    >>> [(found.profile, found.share) for found in profiles(still, release, pb.InData(), runs=100)]
    [('acquaintance', 0.0), ('knows a share of the others', 0.5), ('insider', 1.0)]
    """
    if isinstance(shares, str | bytes) or not isinstance(shares, Sequence | np.ndarray):
        raise InputError(f"shares: expected a list of numbers from 0 to 1, got {checks.shown(shares)}")
    if seen is not None and not isinstance(seen, Mapping):
        raise InputError(f"seen: expected steps with places, such as {{8: 2}}, got {checks.shown(seen)}")
    effort: dict[str, Any] = {"tolerance": tolerance, "series": series, "runs": runs, "budget": budget}
    how = {**effort, "confidence": confidence}
    wanted = sorted({0.0, 1.0, *(checks.number(share, "shares", 0, 1) for share in shares)})
    curve = known_shares(prior, release, question, wanted, seed=seed, **how)
    names = {0.0: ACQUAINTANCE, 1.0: INSIDER}
    found = [_of(names.get(each.share, PARTLY), each) for each in curve]
    out = [] if everybody is None else [_stranger(prior, release, question, everybody, found[0], seed, confidence)]
    out.append(found[0])
    if seen:
        habits = prior.given(seen, release.steps)
        out.append(_measured(COLLEAGUE, 0.0, habits, release, question, {**how, "seed": seed}))
    out += found[1:]
    if checks.whole(together, "together", 1) > 1:
        group = _known(release).of_groups(together)
        out.append(_measured(FAMILY, 1.0, prior, group, question, {**how, "seed": seed}))
    return out


def _of(profile: Profile, found: KnownShare) -> ProfileAnswer:
    return ProfileAnswer(profile.name, found.share, found.lower, found.upper, found.certain)


def _measured(
    profile: Profile, share: float, prior: MarkovPrior, release: Release, question: Question | int, how: dict[str, Any]
) -> ProfileAnswer:
    (found,) = measure(prior, release, [question], **how)
    if isinstance(found, EventAnswer):
        return ProfileAnswer(
            profile.name, share, found.advantage.lower, found.advantage.upper, certain=not found.sampled
        )
    assert isinstance(found, Loss)
    return ProfileAnswer(profile.name, share, found.lower, found.upper, found.effort.confidence is None)


def _known(release: Release) -> Release:
    """The release beside others who are all known, where it does not matter how many they are."""
    if all(rule.raw or rule.shift_invariant for rule in release.ways):
        return release.with_others(None)
    raise InputError(
        f"together: {release.words}: what a family finds depends on how many others there are; measure "
        "Release(..., others=[...], size=...) with their numbers"
    )


def _stranger(
    prior: MarkovPrior,
    release: Release,
    question: Question | int,
    everybody: MarkovPrior,
    acquaintance: ProfileAnswer,
    seed: int,
    confidence: float,
) -> ProfileAnswer:
    """How often guesses by everybody's habits are right, at least; and no more than an acquaintance."""
    if not isinstance(everybody, MarkovPrior):
        raise InputError(f"everybody: expected a MarkovPrior, got {checks.shown(everybody)}")
    if everybody.places != prior.places:
        raise InputError(
            f"everybody has {everybody.places} places, and the person's prior {prior.places}; give both over the same"
        )
    lower = 0.0
    if not isinstance(question, Question) or isinstance(question, Trace):
        misses = release.check_misses(question.misses if isinstance(question, Trace) else question)
        rng = np.random.default_rng([seed, 28])
        traces = prior.sample(DRAWS, release.steps, rng)
        guesses = blind_guesses(everybody, release, release.publish(traces, rng), misses)["map"]
        right = (everybody.place_of[guesses] != prior.place_of[traces]).sum(axis=1) <= misses
        lower = lower_limit(right.astype(np.float64), confidence)
    upper = acquaintance.upper
    return ProfileAnswer(STRANGER.name, 0.0, min(lower, upper), upper, certain=False)
