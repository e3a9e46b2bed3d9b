"""What stands around the sections of a page: the answers in short before them, the facts of the audit after them."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

from passerby import __version__
from passerby.audits.summary import Summary
from passerby.support.groups import FEW, fives_above
from passerby.support.numerals import at_least, at_most, span

from .evidence import Evidence
from .terms import (
    few,
    group,
    has_half,
    length,
    level,
    mechanism,
    question,
    share_of_people,
    span_of_people,
    tail,
)

STATUSES = {
    "ok": "measured",
    "wide": "measured, with a wider range than asked for",
    "impossible": "measured, whose real trace is impossible under their habits",
    "refused": "could not be measured",
}


class Detailed(NamedTuple):
    """A fact in plain words, and in detail for those who open it."""

    words: str
    detail: str


def in_short(summary: Summary) -> list[str]:
    """The answers before the details."""
    loss, known, gain = summary.mean_loss, summary.baseline, summary.advantage
    if not (loss and known and gain):
        nobody = summary.people_measured == 0
        return ["Nobody could be measured." if nobody else f"Too few people to tell of: {few()} were measured."]
    asked = question(summary.misses, summary.steps)
    out = [
        f"An adversary who knows a person's habits, and where everybody else is, can name {asked}: with a chance of "
        f"{span(known.lower.mean, known.upper.mean)} on average without the release, and of "
        f"{span(loss.lower, loss.upper)} with it."
    ]
    half = next((above for above in summary.above if above.threshold == 0.5), None)
    if half and {half.loss_lower, half.loss_upper, half.baseline} != {None}:
        out.append(
            "The share of the people who are more likely than not to be found: "
            f"{span_of_people(half.loss_lower, half.loss_upper)} with the release, {share_of_people(half.baseline)} "
            "without it."
        )
    most = tail(gain.lower)
    halved = has_half(summary.people_measured)
    usual = at_most(gain.upper.median) if halved else span(gain.lower.mean, gain.upper.mean)
    out.append(
        f"{'For half of the people' if halved else 'On average'} the release takes away {usual} of what was uncertain"
        + (f"; for {most[0]}, {at_least(most[1])}." if most else ".")
    )
    if summary.backtest and summary.backtest.verdict == "came true":
        out.append(summary.backtest.sentence)
    privacy = summary.differential_privacy
    if privacy.epsilon is None:
        return [*out, "Differential privacy gives no guarantee for this release."]
    return [
        *out,
        f"Differential privacy: epsilon = {privacy.epsilon:.3g} at delta = {privacy.delta:g}, the same for everyone.",
    ]


def facts(evidence: Evidence, left_out: Sequence[tuple[str, str]]) -> list[tuple[str, str | Detailed]]:
    """The size of the audit, how sure its numbers are, and which sections (title, reason) are left out."""
    summary = evidence.summary
    drawn = "" if summary.people == summary.people_eligible else f", drawn at random from {summary.people_eligible:,}"
    states = "; ".join(f"{_size(count, summary)} {STATUSES[name]}" for name, count in summary.statuses.items())
    sure = sureness(int(evidence.known["sampled"].sum()), evidence.known.height, evidence.settings.confidence)
    return [
        ("People", f"{summary.people:,}{drawn}: {states}"),
        (
            "Steps",
            f"{summary.steps:,} of {length(summary.window)} to be found, after {summary.steps_fitted:,} that habits "
            "were fitted to",
        ),
        ("Habits", Detailed(evidence.people.gist, evidence.people.words.removeprefix("Habits: "))),
        ("Places", f"{summary.places:,}, with elsewhere"),
        ("Counts", f"{summary.sensors:,}, published as {mechanism(summary.mechanism)}"),
        ("Misses", f"{summary.misses:,}"),
        ("Sureness", sure),
        *((f"Data: {what}", said) for what, said in summary.coverage.lines()),
        ("Seed", str(summary.seed)),
        *(("Section left out", f"{title} Because {reason}.") for title, reason in left_out),
    ]


def _size(count: int, summary: Summary) -> str:
    """A group's size, in fives: all are exact, five may be fewer, and else it is about so many."""
    if count in (0, summary.people):
        return f"{count:,}"
    return group(count) if count == FEW else f"about {count:,}"


def sureness(sampled: int, people: int, confidence: float) -> str:
    """How sure the ranges of people are, of whom some were sampled."""
    if not sampled:
        return "every range holds for certain"
    if sampled == people:
        some = "all people"
    elif sampled < FEW:
        some = f"{few()} people"
    else:
        some = f"about {fives_above(sampled):,} people" if people - sampled >= FEW else "nearly all people"
    return (
        f"for {some} the published series are too many to list and were drawn at random: each of their "
        f"ranges holds with a confidence of {level(confidence)}"
    )


def versions() -> list[tuple[str, str]]:
    """Versions of what the numbers were made with."""
    packages = ("numpy", "polars", "numba", "altair")
    return [
        ("passerby", __version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in packages),
    ]
