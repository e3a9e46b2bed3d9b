"""The material of a report's sections: an audit's results, some of them optional."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from passerby.audits.settings import AuditSettings
from passerby.audits.subjects import Zone, subjects_of
from passerby.audits.summary import Summary
from passerby.audits.what_if import Findings
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.rule_of_five import FEW, NestedCounts
from passerby.visits.steps import names_of_steps

from .cuts import cuts
from .labels import About, named, readable


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
    lambda evidence: any(each.kind == "event" for each in evidence.summary.questions), "nothing else was asked"
)
MECHANISMS = Need(
    lambda evidence: "raw" in evidence.ways["mechanism"],
    f"no other way to publish was tried out on {FEW} people or more",
)
