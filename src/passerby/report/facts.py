"""The frame around the sections of a page: the short answers before them, the facts of the audit after them."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

from passerby import __version__
from passerby.audits.record import Answers, Bracket
from passerby.audits.summary import Above, Group, Summary
from passerby.support.numbers import at_least, at_most, percent, span
from passerby.support.rule_of_five import FEW, fives_above

from . import words
from .evidence import Evidence
from .words import (
    few,
    group,
    has_half,
    length,
    level,
    mechanism,
    often_found,
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
    """A fact in plain words, and in detail for readers who open it."""

    words: str
    detail: str


def in_short(summary: Summary, called: Mapping[str, str] | None = None) -> list[str]:
    """The answers before the details: presence first, then being counted at all, then whole traces.

    `called` are names of places as the page shows them.
    """
    loss, known = summary.mean_loss, summary.baseline
    groups = asked_of_groups(summary.together)
    if not (loss and known):
        nobody = summary.people_measured == 0
        said = [*groups, *(words.lead(summary, called) if summary.presence else [])]
        return [*said, "Nobody could be measured." if nobody else f"Too few people to tell of: {few()} were measured."]
    out = [*groups, *words.lead(summary, called), *membership(summary)]
    if len(summary.groups) > 1:
        out += [*_of_groups(summary), *_of_a_stranger(summary)]
    else:
        out += [*_of_everybody(summary), *_of_a_stranger(summary)]
    if summary.backtest and summary.backtest.verdict == "came true":
        out.append(summary.backtest.sentence)
    privacy = summary.differential_privacy
    if privacy.epsilon is None:
        return [*out, "Differential privacy gives no guarantee for this release."]
    return [
        *out,
        f"Differential privacy: epsilon = {privacy.epsilon:.3g} at delta = {privacy.delta:g}, the same for everyone.",
    ]


def asked_of_groups(size: int) -> list[str]:
    """The first sentence wherever people move as one; none if each moves by themselves.

    >>> asked_of_groups(1), asked_of_groups(4)[0].partition(":")[0]
    ([], 'Each person is taken to be one of a group of 4 who move as one')
    """
    if size == 1:
        return []
    return [
        f"Each person is taken to be one of a group of {size:,} who move as one: a count changes by {size:,} with "
        "them, and all numbers are about them."
    ]


def membership(summary: Summary) -> list[str]:
    """Whether somebody is counted at all, for each adversary: people who are counted first, where these are told."""
    asked = [each for each in summary.questions if each.question == "counted" and each.power is not None]
    if not asked:
        return []
    split = [each for each in asked if each.groups]
    if not split:
        said = [f"{words.WHO[each.adversary]} finds {_power_of(each)}" for each in asked]
        return [
            f"Whether somebody is counted at all: of 100 people who are in the data, {' and '.join(said)}, wrongly "
            "saying so of 1 of 100 who are not."
        ]
    everyone = max(each.people for each in asked)
    said = [_split(each) if each.groups else _whole(each, everyone) for each in asked]
    return [f"Whether somebody is counted at all: {'; '.join(said)}. Each wrongly says so of 1 of 100 who are not."]


def _power_of(each: Answers) -> str:
    assert each.power
    return words.of_hundred(Bracket(lower=each.power.lower.mean, upper=each.power.upper.mean))


def _split(each: Answers) -> str:
    """One adversary, of people who are counted first."""
    counted, rarely = sorted(each.groups, key=lambda group: not group.counted)
    return (
        f"of 100 people who may well be in a published count ({counted.people:,} people), "
        f"{words.WHO[each.adversary]} finds {words.of_hundred(counted.power)}; of 100 who hardly "
        f"ever are ({rarely.people:,}), {words.of_hundred(rarely.power)}"
    )


def _whole(each: Answers, everyone: int) -> str:
    drawn = "" if each.people >= everyone else f" (of {each.people:,} drawn)"
    return f"of 100 people in the data{drawn}, {words.WHO[each.adversary]} finds {_power_of(each)}"


def _of_groups(summary: Summary) -> list[str]:
    """Whole traces of the counted people, and then of the hardly ever counted ones, for a strong adversary."""
    asked = question(summary.misses, summary.steps)
    first = f"Whole traces: an insider, who knows a person's habits and where everybody else is, names {asked}. "
    said = [_of_group(group) for group in summary.groups]
    out = [f"{first}{said[0]}", *said[1:]]
    loss, known = summary.mean_loss, summary.baseline
    if loss and known:
        without, found = span(known.lower.mean, known.upper.mean), span(loss.lower, loss.upper)
        out[-1] += f" Over all people, the mean chance is {without} without the release and {found} with it."
    return out


def _of_group(group: Group) -> str:
    """The mean chance of one group, and how many of it are found often."""
    told = [each for each in group.above if each.baseline is not None and each.loss_lower is not None]
    often = max(told, key=lambda each: each.threshold, default=None)
    known, found = (span(each.lower, each.upper) for each in (group.baseline, group.loss))
    chances = f"the mean chance is {known} without the release and {found} with it"
    more = _often(often) if group.counted else ""
    return f"Of the {group.people:,} {group.sentence}, {chances}.{more}"


def _often(above: Above | None) -> str:
    """How many of a group are found at a high threshold."""
    if above is None:
        return ""
    found = span_of_people(above.loss_lower, above.loss_upper)
    return (
        f" The share of them who are found with a chance of {level(above.threshold)} or more is "
        f"{share_of_people(above.baseline)} without it and {found} with it."
    )


def _of_everybody(summary: Summary) -> list[str]:
    """Whole traces of everybody, if groups are too small to be shown."""
    loss, known, gain = summary.mean_loss, summary.baseline, summary.advantage
    assert loss
    assert known
    asked = question(summary.misses, summary.steps)
    out = [
        f"An insider, who knows a person's habits and where everybody else is, can name {asked}: with a chance of "
        f"{span(known.lower.mean, known.upper.mean)} on average without the release, and of "
        f"{span(loss.lower, loss.upper)} with it."
    ]
    half = next((above for above in summary.above if above.threshold == 0.5), None)
    if half and {half.loss_lower, half.loss_upper, half.baseline} != {None}:
        out.append(f"More likely than not to be found: {often_found(half)}")
    if gain is None:
        return out
    most, halved = tail(gain.lower), has_half(summary.people_measured)
    usual = at_most(gain.upper.median) if halved else span(gain.lower.mean, gain.upper.mean)
    more = f"; for {most[0]}, {at_least(most[1])}." if most else "."
    return [
        *out,
        f"{'For half of the people' if halved else 'On average'} the release takes away {usual} of what was uncertain"
        + more,
    ]


def _of_a_stranger(summary: Summary) -> list[str]:
    """The evidence of the counts alone for an adversary without any knowledge of the person."""
    if len(summary.adversaries) < 2:
        return []
    stranger = summary.adversaries[0]
    return [
        f"From the counts alone: {stranger.adversary} but nothing of the person, names as much with a chance of "
        f"{span(stranger.lower, stranger.upper)}, and of {percent(stranger.baseline)} without them (mean of "
        f"{stranger.people:,} people)."
    ]


def facts(evidence: Evidence, left_out: Sequence[tuple[str, str]]) -> list[tuple[str, str | Detailed]]:
    """The size of the audit, the certainty of its numbers, and the left-out sections (title, reason)."""
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
    """Versions of the software behind the numbers."""
    packages = ("numpy", "polars", "numba", "altair")
    return [
        ("passerby", __version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in packages),
    ]
