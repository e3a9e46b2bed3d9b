"""An adversary knowing a share of the others: between knowing habits alone, and knowing everybody.

Each of the others is known with chance q, independently of where they are. The number of others in a count is then a
known number and a smaller crowd, and the answer is the mean over who is known (section 27). Raw counts and added noise
do not depend on the known number: whoever is known is taken off the counts. Rules and thinning treat small and large
counts differently, so that the mean is also over where the known ones are. It grows with q.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
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

#: The shares to look at by default.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Crowds that are listed rather than drawn, at most; and with them where known people are, where that matters.
LISTED, PLACED = 32, 256
#: Traces of one of the others that are listed, at most.
MOST_TRACES = 4096
#: Crowds that are drawn, at most.
MOST_DRAWS = 10_000

Ints = NDArray[np.int64]
#: Both ends, and whether these are certain.
Ends = tuple[float, float, bool]


@dataclass(frozen=True)
class KnownShare:
    """The answer for an adversary knowing a `share` of the others: between both ends, `certain` or at confidence."""

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
    """The answer to a question for growing shares of known others, from a `Crowd` to an insider.

    Of guesses it is the loss, and of an event its advantage. With share 0 it is what `measure` finds of the release,
    and with 1 what it finds where all others are known. Between them, who is known is listed where few crowds differ,
    and otherwise drawn, `draws` times for all shares together. Of rounding, suppression and others that treat small and
    large counts differently, so is where the known ones are. The other arguments are those of `measure`.

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
    case = _Case(prior, release, question, groups, {**effort, "seed": checks.whole(seed, "seed")})
    sure = {0.0: case.nobody} | ({1.0: case.everybody} if case.shifts else {})
    ends = {share: case.ends(sure[share], confidence) for share in {*wanted} & {*sure}}
    between = [share for share in wanted if share not in sure]
    every = case.listed() if between else None
    if between and every is not None:
        ends |= _listed(case, every, between, confidence)
    elif between:
        ends |= _drawn(case, between, confidence, draws, seed)
    return [_within(KnownShare(share, *ends[share]), ends) for share in wanted]


@dataclass(frozen=True)
class _Split:
    """How many are unknown of each group, and where those are who are known: a trace each, of whoever is counted."""

    unknown: tuple[int, ...]
    traces: tuple[tuple[int, ...], ...] = ()


#: Splits by how many are unknown and by the numbers of the known ones: how likely those numbers are, and one split.
_Listing = dict[tuple[tuple[int, ...], bytes], tuple[float, _Split]]


@dataclass(frozen=True)
class _Case:
    """The question, with the groups of others of the same habits."""

    prior: MarkovPrior
    release: Release
    question: Question | int
    groups: list[list[MarkovPrior]]
    effort: dict[str, Any]

    @cached_property
    def shifts(self) -> bool:
        """Whether it does not matter how many are known to be in a count."""
        return all(rule.raw or rule.shift_invariant for rule in self.release.ways)

    @property
    def nobody(self) -> _Split:
        """All are unknown."""
        return _Split(tuple(map(len, self.groups)))

    @property
    def everybody(self) -> _Split:
        """All are known, and it does not matter where they are."""
        return _Split((0,) * len(self.groups))

    def ends(self, split: _Split, confidence: float) -> Ends:
        """Both ends where so many of each group are unknown, and whether these are certain."""
        (found,) = measure(self.prior, self._beside(split), [self.question], confidence=confidence, **self.effort)
        if isinstance(found, EventAnswer):
            return found.advantage.lower, found.advantage.upper, not found.sampled
        if isinstance(found, Loss):
            return found.lower, found.upper, found.effort.confidence is None
        raise InputError(f"question: {self.question!r} has no single answer; ask for a trace, an event or InData()")

    def _beside(self, split: _Split) -> Release:
        """The release beside who is unknown, and who is known by a chain that says where they are."""
        if split == self.nobody:
            return self.release
        rest = [each for group, count in zip(self.groups, split.unknown, strict=True) for each in group[:count]]
        if rest:
            at = {trace: _there(trace, rest[0].places) for trace in split.traces}
            return self.release.with_others(Crowd([*rest, *(at[trace] for trace in split.traces)]))
        if self.shifts:
            return self.release.with_others(None)
        seen = self.release.there(np.array(split.traces, dtype=np.int64).reshape(-1, self.release.steps)).sum(axis=0)
        sizes = map(len, self.release.sensors)
        return self.release.with_others([row[:size].tolist() for row, size in zip(seen, sizes, strict=True)])

    def where(self, traces: Ints) -> list[tuple[bytes, tuple[tuple[int, ...], ...]]]:
        """In which counts somebody with each of these traces is, and the trace unless it is in none."""
        if self.shifts:
            return [(b"", ())] * len(traces)
        seen = self.release.there(traces).reshape(len(traces), -1).astype(np.int64)
        rows = traces.tolist()
        return [(row.tobytes(), (tuple(trace),) if row.any() else ()) for row, trace in zip(seen, rows, strict=True)]

    def listed(self) -> _Listing | None:
        """All ways to know some of the others, and where these are; None where they are too many."""
        nothing = b"" if self.shifts else np.zeros(self.release.grid.size, dtype=np.int64).tobytes()
        found: _Listing = {((0,) * len(self.groups), nothing): (1.0, self.everybody)}
        most = LISTED if self.shifts else PLACED
        if math.prod(len(group) + 1 for group in self.groups) > most:
            return None
        for number, group in enumerate(self.groups):
            mine = self._placed(group[0])
            if mine is None:
                return None
            for _ in group:
                found = _one_more(found, number, mine)
                if len(found) > most:
                    return None
        return found

    def _placed(self, person: MarkovPrior) -> dict[bytes, tuple[float, tuple[tuple[int, ...], ...]]] | None:
        """In which counts one person may be, how likely that is, and a trace; None where traces are too many."""
        if self.shifts:
            return {b"": (1.0, ())}
        steps = self.release.steps
        if person.places**steps > MOST_TRACES:
            return None
        traces = np.array([*product(range(person.places), repeat=steps)], dtype=np.int64)
        chance = person.initial[traces[:, 0]].copy()
        for t in range(1, steps):
            chance *= person.matrix(t - 1)[traces[:, t - 1], traces[:, t]]
        out: dict[bytes, tuple[float, tuple[tuple[int, ...], ...]]] = {}
        possible = chance > 0
        for p, (key, trace) in zip(chance[possible].tolist(), self.where(traces[possible]), strict=True):
            out[key] = out.get(key, (0.0, ()))[0] + p, trace
        return out


def _one_more(found: _Listing, group: int, mine: dict[bytes, tuple[float, tuple[tuple[int, ...], ...]]]) -> _Listing:
    """All ways with one more person of a group, who is unknown, or known to be in some counts."""
    out: _Listing = {}

    def add(split: _Split, numbers: bytes, chance: float) -> None:
        key = split.unknown, numbers
        out[key] = out.get(key, (0.0, split))[0] + chance, split

    for (unknown, numbers), (chance, split) in found.items():
        more = tuple(n + (k == group) for k, n in enumerate(unknown))
        add(_Split(more, split.traces), numbers, chance)
        for there, (p, trace) in mine.items():
            total = (np.frombuffer(numbers, np.int64) + np.frombuffer(there, np.int64)).tobytes()
            add(_Split(unknown, (*split.traces, *trace)), total, chance * p)
    return out


def _there(trace: tuple[int, ...], places: int) -> MarkovPrior:
    """Habits of somebody who goes along a trace for certain."""
    stay = np.eye(places)
    moves = np.array([np.tile(stay[place], (places, 1)) for place in trace[1:]]).reshape(-1, places, places)
    return MarkovPrior(stay[trace[0]], moves if len(moves) else stay)


def _groups(prior: object, release: object) -> list[list[MarkovPrior]]:
    """The others by their habits; an error if knowing some of them has no clear meaning."""
    if not isinstance(prior, MarkovPrior) or not isinstance(release, Release):
        raise InputError(f"expected a MarkovPrior and a Release, got {checks.shown(prior)} and {checks.shown(release)}")
    crowd = release.crowd
    if crowd is None or not crowd.priors:
        raise InputError("release: known_shares is about others who are a crowd; give others=Crowd([...]) with priors")
    found: dict[int, list[MarkovPrior]] = {}
    for each in crowd.priors:
        found.setdefault(id(each), []).append(each)
    return [*found.values()]


def _listed(case: _Case, every: _Listing, shares: Sequence[float], confidence: float) -> dict[float, Ends]:
    """The mean over all who may be known, and where they may be."""
    people = sum(map(len, case.groups))
    found = [(*each, case.ends(each[1], 1 - (1 - confidence) / len(every))) for each in every.values()]
    out = {}
    for share in shares:
        weights = [
            chance * (1 - share) ** sum(split.unknown) * share ** (people - sum(split.unknown))
            for chance, split, _ in found
        ]
        lower, upper = (sum(w * ends[side] for w, (*_, ends) in zip(weights, found, strict=True)) for side in (0, 1))
        used = [ends[2] for w, (*_, ends) in zip(weights, found, strict=True) if w > 0]
        out[share] = lower, min(1.0, upper), all(used)
    return out


def _drawn(case: _Case, shares: Sequence[float], confidence: float, draws: int, seed: int) -> dict[float, Ends]:
    """Confidence limits of the mean over draws of who is known: the same draws for all shares, so that it grows."""
    rng = np.random.default_rng([seed, 27])
    coins = rng.random((draws, sum(map(len, case.groups))))
    people = [each for group in case.groups for each in group]
    traces = None if case.shifts else np.array([each.sample(draws, case.release.steps, rng) for each in people])
    doubt = (1 - confidence) / 2
    found: dict[tuple[tuple[int, ...], bytes], Ends] = {}
    out = {}
    for share in shares:
        sides = np.empty((2, draws))
        for row, (key, split) in enumerate(_splits(case, coins > share, traces)):
            if key not in found:
                found[key] = case.ends(split, 1 - doubt / (draws * len(shares)))
            sides[:, row] = found[key][:2]
        out[share] = lower_limit(sides[0], 1 - doubt / 2), upper_limit(sides[1], 1 - doubt / 2), False
    return out


def _splits(
    case: _Case, unknown: NDArray[np.bool_], traces: Ints | None
) -> Iterator[tuple[tuple[tuple[int, ...], bytes], _Split]]:
    """For each draw (n, people) who is unknown, and where the known ones are; what has the same answer is one."""
    cuts = np.cumsum([len(group) for group in case.groups])[:-1]
    for row, hidden in enumerate(unknown):
        left = tuple(int(part.sum()) for part in np.split(hidden, cuts))
        if traces is None:
            yield (left, b""), _Split(left)
            continue
        seen = case.where(traces[~hidden, row])
        numbers = sum((np.frombuffer(there, np.int64) for there, _ in seen), np.zeros(case.release.grid.size, np.int64))
        yield (left, numbers.tobytes()), _Split(left, tuple(trace for _, found in seen for trace in found))


def _within(found: KnownShare, ends: dict[float, Ends]) -> KnownShare:
    """No less than somebody certainly finds who knows fewer of the others, and no more than who knows more of them."""
    lower, upper = found.lower, found.upper
    for share, (low, high, certain) in ends.items():
        if certain and share < found.share:
            lower = max(lower, low)
        elif certain and share > found.share:
            upper = min(upper, high)
    return KnownShare(found.share, lower, max(lower, upper), found.certain)
