"""The number of people above each limit under a release, from the people measured under it."""

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

#: The confidence of statements about everyone from a sample of people.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Stratum:
    """For one limit: the number of people above it under any plan, and the people possibly above.

    Everybody was measured under the wanted release. People above without any release stay above. People below with the
    wanted release stay below under any less informative one. The others are `open`. If nothing follows from the wanted
    release, everybody is open.
    """

    limit: Limit
    above: int
    open: Ints


class Panel:
    """The people for trying plans: a sample of the people affected by them.

    `order` holds all of these people, at random, and the first so many are `drawn`. `wanted` is more informative than
    any plan, and everybody was measured under it. Other panels may ask about other limits. People are then measured
    closely enough for all limits in `asked`, and not again for each.
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
        """The ends of some people, measured only while their side of some limit is unknown.

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

        They are the drawn people by default; `order` has everybody affected.
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
        """Whether less information helps nobody: the limited chance then falls with the information of a release."""
        return all(limit.measure != "certain" for limit in self.limits)

    def whole(self, release: Release) -> list[Tally]:
        """The tallies of everybody, by an audit."""
        return whole(self.survey, release, self.limits)

    def unaided(self) -> list[Tally]:
        """The tallies of everybody without any release."""
        return [counted(limit, *self._baseline, self._baseline) for limit in self.limits]

    def excess(self, release: Release, among: Ints) -> float:
        """The distance of some drawn people above the limits, without the allowed number: zero within the limits."""
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
    """People above a limit by the lower (0) or upper (1) end."""
    return limit.exceeded(limit.ends(ends.lower, ends.upper, ends.known)[end])
