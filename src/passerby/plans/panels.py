"""Limits of several questions at once: a panel for each, with one joint answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.model.release import Release

from .estimate import CONFIDENCE, Panel, Stratum
from .limit import About, Limit, Tally
from .question_survey import QuestionSurvey, Zone
from .survey import Survey

Ints = NDArray[np.int64]


class Panels:
    """Panels of different questions; limits, and all results on each, keep their given order."""

    def __init__(self, survey: Survey, limits: Sequence[Limit], parts: Sequence[Panel]) -> None:
        self.survey, self.limits, self.parts = survey, tuple(limits), tuple(parts)
        self.people = len(survey.people)
        self._ranks = [[self.limits.index(limit) for limit in part.limits] for part in self.parts]
        self.drawn: Ints = _once([part.drawn for part in self.parts])
        self.order: Ints = _once([self.drawn, *(part.order for part in self.parts)])

    def _ordered(self, found: Sequence[Sequence[Any]]) -> list[Any]:
        """The results of each part on its limits, in the order of all."""
        out: list[Any] = [None] * len(self.limits)
        for ranks, some in zip(self._ranks, found, strict=True):
            for rank, each in zip(ranks, some, strict=True):
                out[rank] = each
        return out

    @property
    def strata(self) -> list[Stratum]:
        """For each limit, the people above it under any plan, and the people possibly above."""
        return self._ordered([part.strata for part in self.parts])

    @property
    def monotone(self) -> bool:
        """Whether nobody gains by being told less."""
        return all(part.monotone for part in self.parts)

    def tallies(self, release: Release, confidence: float = CONFIDENCE, count: int | None = None) -> list[Tally]:
        """How many of everybody are above each limit, with confidence limits; each panel has people of its own."""
        return self._ordered([part.tallies(release, confidence, count) for part in self.parts])

    def whole(self, release: Release) -> list[Tally]:
        """The tallies of everybody. Everybody is audited, too: a recommended plan comes with an audit."""
        self.survey.everyone(release)
        return self._ordered([part.whole(release) for part in self.parts])

    def unaided(self) -> list[Tally]:
        """The tallies of everybody without any release."""
        return self._ordered([part.unaided() for part in self.parts])

    def excess(self, release: Release, among: Ints) -> float:
        """How far some drawn people are above the limits, all together."""
        return sum(part.excess(release, among) for part in self.parts)


#: One panel or several: both answer alike.
AnyPanel = Panel | Panels


def panel_of(
    survey: Survey, wanted: Release, limits: Sequence[Limit], count: int, seed: int, named: Mapping[str, Zone]
) -> AnyPanel:
    """The panel of some limits. Of several questions, each but the trace has a share of the doubt of a person."""
    groups: dict[About | None, list[Limit]] = {}
    for limit in limits:
        groups.setdefault(limit.about, []).append(limit)
    if [*groups] == [None]:
        return Panel(survey, wanted, limits, count, seed)
    parts = []
    for about, some in groups.items():
        own = survey if about is None else QuestionSurvey(survey, about, named, 1 / len(groups))
        if own is not survey:
            own.everyone_first(wanted)
        parts.append(Panel(own, wanted, some, count, seed))
    return Panels(survey, limits, parts)


def _once(several: Sequence[Ints]) -> Ints:
    """People of several draws, each once, in order."""
    joined = np.concatenate([np.empty(0, dtype=np.int64), *several])
    _, first = np.unique(joined, return_index=True)
    return joined[np.sort(first)]
