"""Presence at counted places in the words of a plan's page: the limit, and the evidence of each release."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from passerby.plans.record import PlanRecord, PresenceRecord, Record
from passerby.support.numbers import at_least, at_most

from .section import Columns, Content, Figure, sheet

ORDER = ("refused", "open", "sure")
#: The text for a plan without a limit on presence.
NOT_KEPT = (
    "Who was at a counted place is not kept from anybody (presence_at_most is 1): exact counts of a small place may "
    "tell it."
)
INSIDERS = {
    "habits": " Whoever knows where everybody else was still reads from any exact count who was there "
    "(--presence-against insider keeps it from them, too).",
    "insider": " No exact count of any place keeps it from them.",
}
ASKED = (
    "Small counts hidden, counts rounded, or both: always tried where raw counts are wanted, whatever else is. The "
    "advantage at the place that tells most is the mean over people who may well be there, at most; places of fewer "
    "than five such people have a verdict and no number."
)


def kept(record: Record) -> str:
    """The limit, and the adversary it is kept against."""
    if record.presence is None:
        return NOT_KEPT
    words = record.presence.words
    return f"Who was ever at a counted place, on average: {words}.{INSIDERS[record.presence.against]}"


def at_places(plan: PlanRecord, record: Record) -> str:
    """A release's evidence on presence at counted places: at the most telling place."""
    if record.presence is None or not plan.presence:
        return ""
    worst = _worst(plan.presence)
    several = sum(each.verdict == worst.verdict for each in plan.presence) - 1
    more = f" and {several} more place{'s' * (several != 1)}" if several and worst.verdict != "sure" else ""
    if worst.verdict == "refused":
        least = "" if worst.lower is None else f" (advantage {at_least(worst.lower)})"
        return f"it tells who was at {worst.place}{least}{more}"
    if worst.verdict == "open":
        most = "" if worst.upper is None or not worst.closely else f" (advantage {at_most(worst.upper)})"
        return f"whether it tells who was at {worst.place} is open{most}{more}"
    most_of = [each.upper for each in plan.presence if each.upper is not None]
    return f"who was at a place: advantage {at_most(max(most_of))}" if most_of else ""


def _worst(places: Sequence[PresenceRecord]) -> PresenceRecord:
    return min(places, key=lambda each: (ORDER.index(each.verdict), -(each.upper or 0.0), -(each.lower or 0.0)))


def asked_for(record: Record, columns: Columns, table: pl.DataFrame) -> Content:
    """The ways most wanted by readers, with a verdict for each limit and for presence."""
    limits = [[_verdict(plan, number) for plan in record.always] for number in range(len(record.limits))]
    own: Columns = {f"limit {number + 1}": (limit.words, str) for number, limit in enumerate(record.limits)}
    there = [at_places(plan, record) or "not looked at" for plan in record.always]
    rows = table.with_columns(
        *(pl.Series(name, some, dtype=pl.String) for name, some in zip(own, limits, strict=True)),
        presence=pl.Series("presence", there, dtype=pl.String),
    )
    shown: Columns = {"words": ("publish", str), **own, "presence": ("who was at counted places", str), **columns}
    lead = [kept(record)]
    return Content(lead, [Figure("asked", "What readers ask for most", ASKED, sheet(rows, shown, "asked.csv"))])


def _verdict(plan: PlanRecord, number: int) -> str:
    return next(tally.verdict for tally in plan.tallies if tally.limit == number)
