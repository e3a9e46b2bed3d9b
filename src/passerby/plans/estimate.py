"""How many people a release puts above each limit, from those who were measured under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.model.release import Release
from passerby.support.statistics import least_people, most_people

from .limit import Decided, Limit, Tally, counted
from .survey import Ends, Survey

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: The confidence of what is said of everyone from a sample of people.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Stratum:
    """For one limit: how many people are above it under whatever is planned, and those who may be.

    Everybody was measured under what is wanted. Who is above without any release stays so, and who is below with all
    that is wanted stays so under all that tells less; the others are `open`. Where nothing follows from what is wanted,
    everybody is.
    """

    limit: Limit
    above: int
    open: Ints


class Panel:
    """The people that plans are tried on: a sample of those for whom a plan decides anything.

    `order` holds all of those, at random, and the first so many are `drawn`.
    `wanted` tells more than all that is planned, and everybody was measured under it. Where other panels ask about
    other limits, people are measured closely enough for all that are `asked` about, and not again for each.
    """

    def __init__(
        self,
        survey: Survey,
        wanted: Release,
        limits: Sequence[Limit],
        count: int,
        seed: int,
        asked: Sequence[Limit] | None = None,
    ) -> None:
        self.survey, self.limits, self.people = survey, tuple(limits), len(survey.people)
        self.asked = self.limits if asked is None else tuple(asked)
        ends = survey.everyone(wanted)
        self._baseline = ends.known
        silent = Ends(ends.known[0], ends.known[1], ends.known)
        found = [(_above(limit, silent, 0), _above(limit, ends, 1)) for limit in limits]
        if not survey.follows:
            found = [(np.zeros(self.people, dtype=bool), np.ones(self.people, dtype=bool)) for _ in limits]
        matter = np.flatnonzero(np.any([~known & wide for known, wide in found], axis=0))
        rng = np.random.default_rng([seed, 1])
        self.order: Ints = rng.permutation(matter)
        self.drawn = self.order[:count]
        self.strata = [
            Stratum(limit, int(known.sum()), np.flatnonzero(~known & wide))
            for limit, (known, wide) in zip(limits, found, strict=True)
        ]

    def ends(self, release: Release, who: Ints, *, how_far: bool = False) -> Ends:
        """The ends of some people, measured only where it is not yet known on which side of each limit they are.

        No closer than is asked for either, unless it matters `how_far` above they are.
        """
        some = Ends(*self.survey.inherited(release), self._baseline).of_some(who)
        unclear = np.zeros(len(who), dtype=bool)
        for stratum in self.strata:
            unclear |= _above(stratum.limit, some, 1) & ~_above(stratum.limit, some, 0)
        if not unclear.any():
            return some
        decided = Decided(self.asked, self.survey.measurement.tolerance, how_far)
        fresh = self.survey.ends(release, who[unclear], decided)
        out = [some.lower.copy(), some.upper.copy(), some.known[0].copy(), some.known[1].copy()]
        values = (np.fmax(fresh.lower, out[0][unclear]), np.fmin(fresh.upper, out[1][unclear]), *fresh.known)
        for column, value in zip(out, values, strict=True):
            column[unclear] = value
        return Ends(out[0], np.fmax(out[0], out[1]), (out[2], out[3]))

    def tallies(self, release: Release, confidence: float = CONFIDENCE, count: int | None = None) -> list[Tally]:
        """How many of everybody are above each limit, with confidence limits from the first `count` people.

        They are those who are drawn by default; who matters is as many as `order` has.
        """
        some = self.order[: len(self.drawn) if count is None else count]
        ends = self.ends(release, some)
        out = []
        for stratum in self.strata:
            here = np.isin(some, stratum.open)
            n, everybody = int(here.sum()), len(stratum.open)
            surely, possibly = (int((_above(stratum.limit, ends, end) & here).sum()) for end in (0, 1))
            scale = everybody / n if n else 0.0
            level = 1 - (1 - confidence) / 2
            out.append(
                Tally(
                    stratum.limit,
                    self.people,
                    stratum.above + surely * scale,
                    stratum.above + possibly * scale,
                    stratum.above + least_people(surely, n, everybody, level),
                    stratum.above + most_people(possibly, n, everybody, level),
                    n == everybody,
                )
            )
        return out

    @property
    def monotone(self) -> bool:
        """Whether nobody gains by being told less: what is limited is then less, the less a release tells."""
        return all(limit.measure != "certain" for limit in self.limits)

    def whole(self, release: Release) -> list[Tally]:
        """The tallies of everybody, by an audit."""
        return whole(self.survey, release, self.limits)

    def unaided(self) -> list[Tally]:
        """The tallies of everybody without any release."""
        return [counted(limit, *self._baseline, self._baseline) for limit in self.limits]

    def excess(self, release: Release, among: Ints) -> float:
        """How far some drawn people are above the limits, without those who may be: zero where the limits are kept."""
        ends, total = self.ends(release, among, how_far=True), 0.0
        for stratum in self.strata:
            here = np.isin(among, stratum.open)
            low, high = stratum.limit.ends(ends.lower, ends.upper, ends.known)
            over = np.sort(np.maximum(0.0, (low + high)[here] / 2 - stratum.limit.level))
            allowed = stratum.limit.edges(self.people)[0] - stratum.above
            spare = int(max(0.0, allowed * len(over) / max(1, len(stratum.open))))
            total += float(over[: max(0, len(over) - spare)].sum())
        return total


def whole(survey: Survey, release: Release, limits: Sequence[Limit]) -> list[Tally]:
    """The tallies of everybody, by an audit."""
    ends = survey.everyone(release)
    return [counted(limit, ends.lower, ends.upper, ends.known) for limit in limits]


def _above(limit: Limit, ends: Ends, end: int) -> Flags:
    """Who is above a limit by the lower (0) or upper (1) end."""
    return limit.exceeded(limit.ends(ends.lower, ends.upper, ends.known)[end])
