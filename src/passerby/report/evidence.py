"""The material of a report's sections: an audit's results, some of them optional.

The borders between groups of people by chance and by advantage, alike in all tables and pictures of a page.

Two pictures with different borders for the same people could be compared, and their difference could reveal a few
people.

Names of places in a form for pages: of one direction, without invisible marks, and not too long.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from passerby.audits.findings import Findings
from passerby.audits.settings import AuditSettings
from passerby.audits.subjects import Subject, Zone, subjects_of
from passerby.audits.summary import TOLD_FIRST, Summary
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.rule_of_five import FEW, NestedCounts, counting
from passerby.visits.steps import names_of_steps

#: Tenths of a chance or an advantage, for points of curves and for the statement that nobody lies in between.
TENTHS, GRID = np.linspace(0.1, 1, 10).round(1).tolist(), np.linspace(0.01, 1, 100).round(2).tolist()
#: With fewer people, curves have points at each fifth chance of the grid: else one of few people would be told closely.
MANY, EACH = 100, 5
#: The values by which people are divided. For each, the values that are never below it: an advantage never exceeds its
#: chance.
VALUES = ("baseline_lower", "lower", "upper", "advantage_lower", "advantage_upper")
OVER = ((1, 2), (2,), (), (1, 2, 4), (2,))
CURVES, BARS = (0, 1, 2), (3, 4)
#: Bounds, rounded up.
UP = (2, 4)


def cuts(table: pl.DataFrame, levels: Sequence[float]) -> NestedCounts:
    """The shareable borders for measured people: first the thresholds, as in their table, then bars, then curves."""
    told = NestedCounts([counting(table[name].to_numpy().clip(0, 1)) for name in VALUES], table.height, OVER, UP)
    told.take_each(levels, TOLD_FIRST)
    for edge in TENTHS[:-1]:
        told.take(edge, BARS)
    _draw(told, CURVES)
    return told


def alone(values: ArrayLike) -> NestedCounts:
    """The shareable borders for one value of some people, as a curve."""
    told = NestedCounts([counting(values)], np.size(values))
    _draw(told, (0,))
    return told


def _draw(told: NestedCounts, columns: Sequence[int]) -> None:
    """Take points of curves, the same for all of them: a finer one only if it divides people.

    Empty ranges are shown by tenths: the lowest unreached chance is next to the chance of the most exposed person.
    """
    for edge in TENTHS:
        told.take(edge, columns)
    for edge in reversed(GRID[EACH - 1 :: EACH] if told.everyone < MANY else GRID):
        told.take(edge, columns, divides=True)


#: The most letters of a shown name.
LONGEST = 54
#: The sign for an unshown character: line ends, controls, and marks for the direction of text.
HIDDEN = "\N{REPLACEMENT CHARACTER}"
#: Invisible marks in the middle of a visible sign, such as the joints of an emoji.
JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")


def readable(names: Sequence[str]) -> tuple[str, ...]:
    r"""Names in the same order, all different.

    Long ones lose their middle; if two are then the same, the later one gets a number.

    >>> readable(["park", "gate\t1", "gate\n1"])
    ('park', 'gate�1', 'gate�1 (2)')
    """
    out: list[str] = []
    taken = {name for name in names if _plain(name) == name}
    for name in names:
        shown = first = _plain(name)
        number = 1
        while shown != name and shown in taken:
            number += 1
            shown = f"{first} ({number})"
        taken.add(shown)
        out.append(shown)
    return tuple(out)


@dataclass(frozen=True)
class About:
    """The subject of a count, by names: the whole, its kind, and for a flow the zones of its start and its end."""

    name: str
    kind: str
    zones: tuple[str, ...]


def named(subjects: Sequence[Subject], places: Sequence[str], zones: Mapping[Zone, str]) -> list[About]:
    """Names of the counted subjects, all different: names of nameless zones come from their places.

    >>> [each.name for each in named([Subject("present", ((0, 1, 2),)), Subject("moved", ((0,), (1,)))], "abcd", {})]
    ['a, b and 1 more', 'a → b']
    """
    every = list(dict.fromkeys(zone for subject in subjects for zone in subject.zones))
    names_of = [zones.get(zone) or _zone_name(zone, places) for zone in every]
    # Zones with the same first places get a number.
    names_of = [name if k == names_of.index(name) else f"{name} ({k + 1})" for k, name in enumerate(names_of)]
    called = dict(zip(every, readable(names_of), strict=True))
    out = []
    for subject in subjects:
        names = tuple(called[zone] for zone in subject.zones)
        often = f", {subject.times} times or more" if subject.times > 1 else ""
        whole = {"present": names[0], "moved": " → ".join(names), "visitors": f"visitors of {names[0]}{often}"}
        other = f"{subject.kind} of {' and '.join(names)}"
        out.append(About(whole.get(subject.kind, other), subject.kind, names))
    return out


def _zone_name(zone: Zone, places: Sequence[str]) -> str:
    if len(zone) < 3:
        return " and ".join(places[place] for place in zone)
    return f"{places[zone[0]]}, {places[zone[1]]} and {len(zone) - 2:,} more"


def seen(text: str) -> str:
    r"""A text without invisible marks.

    >>> seen("to\u202eetag")
    'to�etag'
    """
    return "".join(HIDDEN if _unseen(letter) else letter for letter in text)


def _plain(name: str) -> str:
    shown = seen(name)
    half = LONGEST // 2
    return shown if len(shown) <= LONGEST else f"{shown[:half]}…{shown[-half + 1 :]}"


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in JOINERS


@dataclass(frozen=True)
class Evidence:
    """An audit. `internal` marks a page kept with the visits: it may hold true counts.

    `zones` has names of sets of places.
    """

    table: pl.DataFrame
    people: People
    release: Release
    settings: AuditSettings
    summary: Summary
    findings: Findings | None = None
    internal: bool = False
    zones: Mapping[Zone, str] = field(default_factory=dict)

    @cached_property
    def known(self) -> pl.DataFrame:
        """The people with a loss interval."""
        return self.table.filter(pl.col("lower").is_not_null())

    @cached_property
    def ways(self) -> pl.DataFrame:
        """The means under each mechanism tried on enough people."""
        if self.findings is None:
            return pl.DataFrame(schema={"mechanism": pl.String, "people": pl.Int64})
        return self.findings.mechanisms.filter(pl.col("people") >= FEW)

    @cached_property
    def steps(self) -> list[str]:
        """When each published step begins, as short as tells them apart."""
        return names_of_steps(self.people.starts[self.people.fitted.shape[1] :])

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The names of the places as a page shows them."""
        return readable(self.people.places)

    @cached_property
    def called(self) -> dict[str, str]:
        """The names of places and zones as a page shows them, by their own."""
        zones = [*self.zones.values()]
        return {
            **dict(zip(zones, readable(zones), strict=True)),
            **dict(zip(self.people.places, self.places, strict=True)),
        }

    @cached_property
    def cuts(self) -> NestedCounts:
        """The borders between people by chance and advantage in all sections."""
        return cuts(self.known, [above.threshold for above in self.summary.above])

    @cached_property
    def about(self) -> list[About]:
        """The subjects of counts, in the order of `subjects_of`, by names."""
        return named(subjects_of(self.release), self.places, self.zones)

    @property
    def least(self) -> int:
        """The smallest group of people in counts and trials on this page."""
        return 0 if self.internal else FEW


@dataclass(frozen=True)
class Need:
    """A demand of a section, and the message if it is missing."""

    met: Callable[[Evidence], bool]
    reason: str


MEASURED = Need(lambda evidence: evidence.known.height >= FEW, f"fewer than {FEW} people could be measured")
PUBLISHED = Need(
    lambda evidence: "realised_status" in evidence.table.columns, "no counts that were already published are given"
)
TRIED = Need(
    lambda evidence: evidence.findings is not None and evidence.findings.people >= FEW,
    f"sensors and steps were tried out on fewer than {FEW} people",
)
BACKTEST = Need(
    lambda evidence: evidence.summary.backtest is not None,
    "habits were not tried on earlier steps: that was turned off, or there are too few steps or people",
)
ADVERSARIES = Need(
    lambda evidence: len(evidence.summary.adversaries) > 1,
    f"other adversaries were not tried on {FEW} people or more",
)
PARTLY_KNOWN = Need(
    lambda evidence: bool(evidence.summary.known_shares),
    "it was not asked, or the counts are flows, different visitors or zones that overlap, or fewer than "
    f"{FEW} people were asked",
)
PRESENCE = Need(
    lambda evidence: any(each.power for each in evidence.summary.presence),
    f"presence was not measured, or whether they were there is open for fewer than {FEW} people at each counted place",
)
COUNTED = Need(
    lambda evidence: any(each.kind == "in_data" and each.advantage for each in evidence.summary.questions),
    f"whether somebody is counted was not asked, or has an answer for fewer than {FEW} people",
)
STEP_BY_STEP = Need(
    lambda evidence: any(each.by_step for each in evidence.summary.questions),
    f"each step by itself was not asked, or has an answer for fewer than {FEW} people",
)
ASKED = Need(
    lambda evidence: any(each.kind in ("event", "trace") for each in evidence.summary.questions),
    "nothing else was asked",
)
MECHANISMS = Need(
    lambda evidence: "raw" in evidence.ways["mechanism"],
    f"no other way to publish was tried out on {FEW} people or more",
)
