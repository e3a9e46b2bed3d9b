"""The coverage of an audit: rows, times, people and steps, the numbers left out of each, and the rule for it.

How often people were to be elsewhere in the published steps, by their habits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import datetime
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from passerby.model.prior import MarkovPrior
from passerby.people.habits import People
from passerby.people.origins import spread
from passerby.support.numbers import lot_size, percent, rows_in_lots, rows_in_words
from passerby.support.rule_of_five import FEW, in_fives, merged_sizes
from passerby.visits.all_visits import AllVisits
from passerby.visits.steps import Times
from passerby.visits.table import Skipped, Visits

from .record import Record

#: At most so many people, evenly spread, are looked at.
MOST = 200


class More(NamedTuple):
    """The share of person-steps that are elsewhere beyond what habits expect, and its standard error by chance."""

    share: float
    error: float


def more_elsewhere(people: People, most: int = MOST) -> More | None:
    """The share of published person-steps that are elsewhere beyond what habits expect, of some of the people.

    Of people who were chosen because they were often seen, habits expect more absence than there was before: who is
    seen less often afterwards need not have changed. None without people or published steps. The error is what habits
    say, or what is seen among people, if that is more.

    >>> from passerby import fit_people, simulate_city
    >>> people = fit_people(simulate_city(people=40, places=30, days=8), window="6h", places=8, min_active=2, holdout=4)
    >>> abs(more_elsewhere(people).share) < 0.1
    True
    """
    steps = people.actual.shape[1]
    if not len(people) or not steps:
        return None
    some = spread(len(people), most)
    found = []
    for person in some.tolist():
        prior, states = people.prior(person, [people.elsewhere])
        found.append(times_there(prior, states[prior.place_of] == people.elsewhere, steps))
    expected, variances = (np.array(found) / [steps, steps**2]).T
    more = (people.actual[some] == people.elsewhere).mean(axis=1) - expected
    seen = float(more.var(ddof=1)) if len(more) > 1 else 0.0
    return More(float(more.mean()), sqrt(max(float(variances.mean()), seen) / len(more)))


def times_there(prior: MarkovPrior, there: NDArray[np.bool_], steps: int) -> tuple[float, float]:
    """Mean and variance of the number of steps in some states.

    >>> times_there(MarkovPrior([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]]), np.array([True, False]), 4)
    (2.0, 4.0)
    """
    law, once, twice = prior.initial, prior.initial * there, prior.initial * there
    for t in range(1, steps):
        law, once, twice = (each @ prior.matrix(t - 1) for each in (law, once, twice))
        twice = twice + (2 * once + law) * there
        once = once + law * there
    first = float(once.sum())
    return first, max(0.0, float(twice.sum()) - first**2)


class Rows(Record):
    """Rows read and rows left out; each row of the visits is counted once.

    For others to see, numbers are told in lots: two summaries, before somebody was erased and after, would else tell by
    their difference how many rows were theirs.
    """

    lot: int = Field(
        default=1,
        description="In lots of how many rows numbers are told, those of five people: to two digits, in whole lots; "
        "one lot stands for as many or fewer. 1 where they are exact.",
    )
    read: int
    kept: int
    unreadable_times: int
    missing: int = Field(description="Rows without a person or place.")
    bad_coordinates: int
    duplicates: int
    outside: int = Field(description="Rows outside of the time that was asked for.")
    outside_steps: int = Field(description="Kept rows before the first step or after the last; of no use.")
    other_places: int = Field(description="Kept rows at places that were not chosen; of no use.")

    def shared(self, people: int) -> Rows:
        """The same for others to see, of so many people."""
        if self.lot > 1:
            return self
        lot = lot_size(self.read, people, FEW)
        numbers = {name: rows_in_lots(getattr(self, name), lot) for name in Rows.model_fields if name != "lot"}
        return Rows(**{**numbers, "lot": lot})

    def some(self, rows: int) -> str:
        """A number of rows in words."""
        return rows_in_words(rows, self.lot)

    def sentence(self) -> str:
        """How many rows were kept, and why others were not."""
        reasons = {
            "without a time that can be read": self.unreadable_times,
            "without a person or place": self.missing,
            "with bad coordinates": self.bad_coordinates,
            "repeated": self.duplicates,
            "outside of the time that was asked for": self.outside,
        }
        idle = {"outside of the steps": self.outside_steps, "at places that were not chosen": self.other_places}
        left, useless = (
            head + ", ".join(f"{self.some(count)} {why}" for why, count in counts.items() if count)
            for head, counts in (("; left out: ", reasons), ("; of no use: ", idle))
        )
        said = (left if any(reasons.values()) else "") + (useless if any(idle.values()) else "")
        return f"{self.some(self.kept)} of {self.some(self.read)} rows{said}"


class Coverage(Record):
    """Rows, times, people and steps of an audit."""

    rows: Rows
    first_visit: str | None = Field(description="The day of the first kept row, by the clock of the time zone.")
    last_visit: str | None = Field(description="The day of the last one.")
    first_step: str | None = Field(description="When the first step begins, by the clock of the time zone.")
    published_from: str | None = Field(description="When the first published step begins.")
    steps_end: str | None = Field(description="When the last step ends.")
    partial_step: bool = Field(description="Whether a last step was left out that the visits cover only in part.")
    timezone: str = Field(description="The time zone by whose clock steps begin.")
    min_active: int | None = Field(description="In how many steps people must be seen to be audited.")
    people: int = Field(description="People in the visits.")
    kept: int = Field(description="People who can be audited.")
    seldom: int = Field(description="People left out: seen at the chosen places, but in too few steps.")
    unseen: int = Field(description="People left out: never seen at the chosen places.")
    absent_before: int = Field(description="Kept people who are at none of the chosen places in any fitted step.")
    absent_after: int = Field(description="Kept people who are at none of them in any published step.")
    elsewhere_fitted: float | None = Field(
        description="Share of the fitted person-steps that are elsewhere, in steps of five people's; null if fewer "
        "than five people are kept."
    )
    elsewhere_published: float | None = Field(description="Share of the published person-steps that are elsewhere.")
    elsewhere_expected: float | None = Field(
        default=None, description="The same share as habits expected it; null where that is not known."
    )
    elsewhere_error: float | None = Field(
        default=None, description="The standard error by chance of the difference of both."
    )
    tied: float | None = Field(
        default=None,
        description="Share of the person-steps at chosen places in which several places were visited equally often, "
        "and times do not tell which came first.",
    )

    @property
    def shared(self) -> Coverage:
        """The same for sharing: days instead of minutes, as a minute may reveal one visit, and no groups of few people.

        Groups of one to four people are told as five, and all people as so many more; rows in lots (`Rows`).
        """
        groups = {name: _told(getattr(self, name)) for name in ("seldom", "unseen")}
        groups |= {name: _among(getattr(self, name), self.kept) for name in ("absent_before", "absent_after")}
        days = {name: (getattr(self, name) or "")[:10] or None for name in ("first_visit", "last_visit")}
        # Numbers are in fives of people and to a hundredth, so no single step of somebody is revealed.
        shares = {
            name: self._share(name)
            for name in ("elsewhere_fitted", "elsewhere_published", "elsewhere_expected", "tied")
        }
        shares["elsewhere_error"] = self.elsewhere_error if self.kept >= FEW else None
        everyone = self.kept + groups["seldom"] + groups["unseen"]
        rows = self.rows.shared(self.people)
        return self.model_copy(update={**groups, **days, **shares, "people": everyone, "rows": rows})

    def expecting(self, people: People) -> Coverage:
        """With the expectation of habits for these people: all or some of the covered ones."""
        more = more_elsewhere(people)
        if more is None or self.elsewhere_published is None:
            return self
        expected = round(min(1.0, max(0.0, self.elsewhere_published - more.share)), 3)
        return self.model_copy(update={"elsewhere_expected": expected, "elsewhere_error": round(more.error, 3)})

    def _share(self, name: str) -> float | None:
        """A share of the person-steps as others may see it, of five people or more."""
        share: float | None = getattr(self, name)
        if share is None or self.kept < FEW:
            return None
        return round(in_fives(share, self.kept), 2)

    def lines(self, exact: bool = False) -> Iterator[tuple[str, str]]:
        """The coverage, in sentences by subject; `exact` without rounding small groups to five."""

        def some(count: int) -> str:
            return f"{count} or fewer" if count == FEW and not exact else f"{count:,}"

        yield "rows", self.rows.sentence()
        if self.first_visit is not None:
            yield "visits", f"from {self.first_visit} to {self.last_visit} ({self.timezone})"
        if self.first_step is not None:
            partial = "; a last step that the visits cover only in part is left out" if self.partial_step else ""
            yield (
                "dates",
                f"habits from {self.first_step}, published from {self.published_from} to {self.steps_end} "
                f"({self.timezone}){partial}",
            )
        about = "" if exact or FEW not in (self.seldom, self.unseen) else "about "
        gone = self.seldom + self.unseen
        rule = "too few" if self.min_active is None else f"fewer than {self.min_active}"
        why = f"; left out: {some(self.seldom)} seen in {rule} steps, {some(self.unseen)} in none" if gone else ""
        yield "people", f"{self.kept:,} of {about}{self.people:,} can be audited{why}"
        if self.elsewhere_fitted is not None:
            yield (
                "elsewhere",
                f"{percent(self.elsewhere_fitted)} of the fitted person-steps, "
                f"{percent(self.elsewhere_published)} of the published ones",
            )
        if self.tied:
            yield "ties", f"{percent(self.tied)} of the person-steps at chosen places; the place chosen first is taken"
        if self.absent_before or self.absent_after:
            yield (
                "absent",
                f"{some(self.absent_before)} people from all fitted steps, {some(self.absent_after)} from all "
                "published ones",
            )


@dataclass(frozen=True)
class Absence:
    """How often some people are elsewhere: how many of them at all steps, and at how many steps of all of them."""

    people: int = 0
    absent_before: int = 0
    absent_after: int = 0
    elsewhere_fitted: int = 0
    elsewhere_published: int = 0

    @classmethod
    def of(cls, people: People) -> Absence:
        """The coverage of people in memory."""
        away = [steps == people.elsewhere for steps in (people.fitted, people.actual)]
        absent = (int(each.all(axis=1).sum()) if each.shape[1] else 0 for each in away)
        return cls(len(people), *absent, *(int(each.sum()) for each in away))

    def __add__(self, other: Absence) -> Absence:
        """Both together."""
        return Absence(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def shares(self, people: People) -> tuple[float, float]:
        """The shares of person-steps elsewhere, of the fitted and of the published steps."""
        sizes = (self.people * steps.shape[1] for steps in (people.fitted, people.actual))
        fitted, published = (
            part / size if size else 0.0
            for part, size in zip((self.elsewhere_fitted, self.elsewhere_published), sizes, strict=True)
        )
        return fitted, published


def coverage_of(
    people: People,
    skipped: Skipped,
    visits: Visits | Times | None = None,
    min_active: int | None = None,
    absence: Absence | None = None,
) -> Coverage:
    """The coverage of an audit of these people, before any sample is drawn.

    If people are on disk, `people` are without anybody, `visits` are their times, and `absence` has everybody's shares.
    """
    left, absence = people.left_out, absence or Absence.of(people)
    first, last = _ends(visits)
    fitted, published = absence.shares(people)
    known = len(people.starts) > 0
    covered = Coverage(
        rows=Rows(
            read=skipped.rows,
            kept=skipped.kept,
            unreadable_times=skipped.times,
            missing=skipped.missing,
            bad_coordinates=skipped.coordinates,
            duplicates=skipped.duplicates,
            outside=skipped.outside,
            outside_steps=left.outside,
            other_places=left.other_places,
        ),
        first_visit=first,
        last_visit=last,
        first_step=_minute(people.starts[0]) if known else None,
        published_from=_minute(people.starts[people.fitted.shape[1]]) if people.actual.shape[1] and known else None,
        steps_end=_minute(people.starts[-1] + np.timedelta64(people.window)) if known else None,
        partial_step=left.partial_step,
        timezone=people.timezone,
        min_active=min_active,
        people=left.people or absence.people,
        kept=absence.people,
        seldom=left.seldom,
        unseen=left.unseen,
        absent_before=absence.absent_before,
        absent_after=absence.absent_after,
        elsewhere_fitted=round(fitted, 3),
        elsewhere_published=round(published, 3),
        tied=left.tied / left.seen if left.seen else 0.0,
    )
    return covered.expecting(people)


def _ends(visits: Visits | Times | None) -> tuple[str | None, str | None]:
    """The minutes of the first and the last visit, by the clock."""
    times = AllVisits.of(visits).all_times if isinstance(visits, Visits) else visits
    if times is None or not times.count:
        return None, None
    first, last = (f"{moment:%Y-%m-%d %H:%M}" for moment in times.ends)
    return first, last


def _minute(moment: Any) -> str:
    found: datetime = moment.astype("datetime64[us]").item()
    return f"{found:%Y-%m-%d %H:%M}"


def _told(count: int) -> int:
    return FEW if 0 < count < FEW else count


def _among(count: int, everyone: int) -> int:
    """A group of so many of everyone; one to four people, in the group or outside it, are stated as five.

    Of ten people or fewer, both cannot be.
    """
    return (
        merged_sizes({"inside": count, "outside": everyone - count})["inside"] if everyone > 2 * FEW else _told(count)
    )
