"""Limits of several questions at once: a panel for each, with one joint answer.

Ends of everybody's answer to a question under many releases: the basis of a limit on this question.

Ends of convex measures are passed from release to release, like ends of losses. `certain` is not convex: a less
informative release may make somebody sure more often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.audits.job import Job, doubted
from passerby.audits.presence import AS_GOOD_AS_SURE, MAY_WELL
from passerby.audits.question_rows import FALSE, HABITS, SURE, Asked, Row, rows_of
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.others.crowd import Crowd
from passerby.plans.limit import CONFIDENCE
from passerby.support.checkpoints import fingerprint
from passerby.support.workers import collect

from .lever import cells_of, tells_less
from .limit import About, Decided, Limit, Tally
from .survey import ANYTHING, AUDITED, LOOK, Ends, Floats, Panel, Stratum, Survey

Zone = tuple[int, ...]


class QuestionSurvey(Survey):
    """The measurements of the answer to one question. Workers, folder and progress are shared with another survey."""

    def __init__(self, survey: Survey, about: About, named: Mapping[str, Zone], share: float = 1.0) -> None:
        self.over, self.about, self.named = survey, about, named
        super().__init__(
            survey.people,
            doubted(survey.measurement, share),
            executor=survey.executor,
            workers=survey.workers,
            folder=survey.folder,
            beside=survey.beside,
        )
        self._mark = fingerprint(self._mark, about)
        # Others known by their habits have states of their own for each set of counted places.
        self.follows = about.measure != "certain" and about.against != HABITS
        self._whole: dict[Release, Ends] = {}
        self._chance = np.full(len(self.people), np.nan)

    def asked(self, release: Release) -> Asked:
        """The question about these people, of a release together with the published ones."""
        release = self.beside(release) if self.beside is not None else release
        if self.about.against == HABITS and release.crowd is None:
            release = release.with_others(Crowd())
        others = everyone_else(self.people, release)
        job = Job(replace(self.people, whereabouts=None), release, self.measurement, others)
        return Asked.of(job, [self.about.question], self.named)

    def ends(self, release: Release, who: Ints, decided: Decided | None = None) -> Ends:
        """The bounds on these people's answers under a release, after measuring the unmeasured ones."""
        values = self._values.setdefault(release, np.full((5, len(self.people)), np.nan))
        left = who[np.isnan(values[0, who])]
        if left.size:
            values[:, left] = self._found(release, left, LOOK)
        return Ends.of(values).of_some(who)

    def everyone(self, release: Release) -> Ends:
        """The ends of everybody; they are not passed on, unless they were found first."""
        if release not in self._whole:
            self._whole[release] = Ends.of(self._found(release, np.arange(len(self.people)), 1.0))
        return self._whole[release]

    def everyone_first(self, release: Release) -> Ends:
        """The same under the most informative release, with a share of the doubt: its bounds are reused."""
        values = self._found(release, np.arange(len(self.people)), AUDITED)
        if self.about.of_event:
            self.uncertain = len(self.people) - int(
                ((self._chance < MAY_WELL) | (self._chance > AS_GOOD_AS_SURE)).sum()
            )
        self._values[release], self._whole[release] = values, Ends.of(values)
        return self._whole[release]

    def inherited(self, release: Release, *, complete: bool = False) -> tuple[Floats, Floats]:
        """Ends (N,) from less and more informative releases; nothing follows for `certain`."""
        lower, upper = np.zeros(len(self.people)), np.ones(len(self.people))
        for other, values in self._values.items():
            if (complete and other not in self._whole) or self.about.measure == "certain":
                continue
            known = values[4] == 1
            if self._less(other, release):
                lower = np.fmax(lower, np.where(known, values[0], 0.0))
            if self._less(release, other):
                upper = np.fmin(upper, np.where(known, values[1], 1.0))
            lower = np.fmax(lower, values[2])
        return lower, np.fmax(lower, upper)

    def _less(self, coarse: Release, fine: Release) -> bool:
        """Whether one tells less than another to whoever asks."""
        same = self.about.against != HABITS or cells_of(coarse) == cells_of(fine)
        return same and tells_less(coarse, fine)

    def _found(self, release: Release, who: Ints, share: float) -> Floats:
        """Ends (5, n) of some people, like ends of losses, with a share of the doubt; the last row: reusable."""
        asked = self.asked(release)
        asked = replace(asked, job=replace(asked.job, measurement=doubted(self.measurement, share)))
        name = fingerprint(self._mark, asked.job.release, asked.job.measurement, who, "chance")
        rows = collect(
            _one,
            (asked, self.about),
            who.tolist(),
            progress=self.over.progress,
            **self._sharing(name),
        )
        self.over.measured += who.size
        # A single measurement of everybody may be reused, even if series were drawn.
        *found, self._chance[who] = np.array(rows, dtype=np.float64).reshape(-1, 6).T
        values = np.array(found)
        if share == AUDITED:
            values[4] = 1.0
        return values


def _one(task: tuple[Asked, About], person: int) -> list[float]:
    """Both ends of the limited number, of its baseline, a mark of certainty, and the chance of an event."""
    asked, about = task
    row = rows_of(asked, person)[0]
    chance = row.get("chance")
    return [*ends_of(row, about), np.nan if chance is None else chance]


def ends_of(row: Row, about: About) -> tuple[float, float, float, float, float]:
    """From a row of a table of questions; a refused person's ends are unknown."""
    certain = float(not row.get("sampled"))
    if row.get("lower_by_step") is not None:
        lower, upper, without = (np.array(row[f"{name}_by_step"]) for name in ("lower", "upper", "baseline"))
        if about.added:
            return float((lower - without).max()), float((upper - without).max()), 0.0, 0.0, certain
        most = float(without.max())
        return float(lower.max()), float(upper.max()), most, most, certain
    if row.get("lower") is not None:
        return row["lower"], row["upper"], row["baseline"], row["baseline"], certain
    if row.get("status") in ("certain", "impossible"):
        return 0.0, 0.0, 0.0, 0.0, 1.0  # it is known whatever is published
    if row.get(f"{about.measure}_lower") is None:
        return (*ANYTHING, 0.0)
    known = {"power": FALSE, "certain": float(row["chance"] >= SURE)}.get(about.measure, 0.0)
    return row[f"{about.measure}_lower"], row[f"{about.measure}_upper"], known, known, certain


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

    @property
    def uncertain(self) -> list[int | None]:
        """For how many people the answer is uncertain without any release, by limit."""
        return self._ordered([part.uncertain for part in self.parts])

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
