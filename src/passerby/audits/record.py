"""The summary's part on habits: the outcomes of such predictions, and the success of other adversaries.

Every number rests on at least five people, and shares of people really found are in steps of five.
"""

from __future__ import annotations

from math import ceil, isfinite
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from passerby.errors import InputError
from passerby.support.rule_of_five import FEW, fives_below, in_fives

from .calibration import ADDED, PLAIN, Calibration, verdict_sentence
from .departure import highest_mean
from .event_promises import COUNTED, TESTS, VISITED, Events, said_of_tests
from .windows import CLOSE


class Record(BaseModel):
    """A part of `summary.json`, or of another file of results."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Statistics(Record):
    """Four numbers over all measured people, none of them the value of one person."""

    mean: float
    median: float = Field(description="Mean of the five people around the middle.")
    percentile_95: float | None = Field(
        description="The value that 5 % of the people exceed: mean of the five people around this rank; null where "
        "fewer than five are above them."
    )
    reached_by_five: float | None = Field(
        description="At least five people have this value or more: mean of the five people up to the fifth from above, "
        "rounded down to 0.01; null where fewer than five are below them."
    )


class Ends(Record):
    """Both ends of everybody's interval: the best attack found, and a bound on all if the habits are right."""

    lower: Statistics
    upper: Statistics


class Promise(Record):
    """What one attack promised with so many misses, and how many people it really found."""

    attack: str
    misses: int
    promised: float = Field(description="Mean chance to be found that the habits promised.")
    right: float = Field(description="Share of the people who were really found, in steps of five people.")
    lower: float | None = Field(
        description="Right minus promised that was to be expected at the published window, at least (90 %), by the "
        "earlier ones; null for one origin alone."
    )
    upper: float | None = Field(description="The same at most.")
    verdict: str = Field(description="Of the published window, as in `windows`.")
    nats: float | None = Field(
        description="The least departure of people from their habits, on average and in nats, that explains so many "
        "being found at the published window; null where none does."
    )
    nats_upper: float | None = Field(description="A departure that covers a window in 90 of 100 cases.")


class Window(Record):
    """What was promised for one window, and what was right: the published one, or one at an earlier origin."""

    what: str = Field(
        description="An attack; added: how many more the likeliest trace finds with the counts than without; visited: "
        "to be ever at a counted place, on average; visited test, counted test: to be found by a test of either."
    )
    steps_before: int = Field(description="How many steps it lies before the published ones; 0 for these.")
    people: int = Field(description="On how many people it rests, in fives, rounded down.")
    promised: float
    right: float = Field(description="What was right, in steps of five people.")
    chance: float = Field(description="How far both differ by chance alone, if habits are right (95 %).")
    counts: float = Field(description="What the window counts where windows are pooled.")
    lower: float | None = Field(
        description="Of the published window: right minus promised that was to be expected, at least (90 %), by the "
        "earlier ones; null for one origin alone, and for earlier windows."
    )
    upper: float | None = Field(description="The same at most.")
    verdict: str | None = Field(
        description="Of the published window. did not come true: promised and right differ by more than is close "
        f"({CLOSE:g} near one half, and less near 0 and 1), and by more than chance; came true: they are close, as was "
        "to be expected, and little else was; cannot be told: neither."
    )


class EventPromise(Record):
    """What was promised of an event at one origin, and what was really so."""

    event: str = Field(description="visited: to be ever at a counted place; counted: to be counted at all.")
    steps_before: int = Field(description="How many steps the origin lies before the published ones; 0 for these.")
    people: int = Field(description="On how many people it rests, in fives, rounded down.")
    places: int = Field(description="Counted places that are looked at.")
    promised: float | None = Field(description="Mean chance, over people and places, that habits promised.")
    right: float | None = Field(description="In what share of these it was really so, in steps of five people.")
    visitors: int | None = Field(description="People who were really at one of the places, in fives, rounded down.")
    tested: int = Field(description="People for whom it is so and who were looked for, in fives, rounded down.")
    power: float | None = Field(description="Mean share of them that a test at 1 % false alarms should find.")
    found: float | None = Field(description="The share of them that it found, in steps of five people.")


class Added(Record):
    """What counts add: how many more people are found with them than without, at the published window."""

    verdict: str
    sentence: str
    promised: float
    right: float = Field(description="In steps of five people.")


class Tested(Added):
    """What tests with 1 % of false alarms find, at the published window."""

    event: str = Field(description="visited: of those who were at a counted place; counted: of all who are counted.")


class Promises(Record):
    """People by what one attack promised for them, at the misses of the audit."""

    attack: str
    promised: float
    right: float = Field(description="Share of them who were really found, in steps of five people.")
    lower: float | None = Field(description="That share, at least (95 %); null for one origin alone.")
    upper: float | None = Field(description="That share, at most (95 %).")
    people: int


class Mean(Record):
    """Limits of the mean loss over all measured people together: chance cancels out over people.

    Much narrower than the means of everybody's own limits, wherever series were drawn.
    """

    lower: float
    upper: float
    confidence: float | None = Field(description="How sure both are together; null where nothing was drawn.")


class Robust(Record):
    """The mean upper end where people depart from their habits, on average over people."""

    nats: float = Field(description="The departure, in nats.")
    upper: float = Field(description="No attack has a mean chance above this.")


class Backtest(Record):
    """What habits promised at earlier origins, and what came true."""

    verdict: str = Field(
        description="Of the published window at the misses of the audit. did not come true: an attack, or what counts "
        "add, did not; came true: the likeliest traces did, with the counts and without; cannot be told: neither."
    )
    sentence: str
    too_low: bool = Field(description="Whether more people were found than promised, by more than is close.")
    origins: int = Field(description="Earlier steps from which on habits were tried.")
    independent: int = Field(description="Origins that the intervals count for: fewer where the steps after overlap.")
    people: int = Field(description="Different people on whom habits were tried, in fives, rounded down.")
    share: float = Field(description="Share of the people who were known well enough at an origin, to a hundredth.")
    gap: float = Field(description="Mean of |promised - right| over the attacks map and prior and all misses tried.")
    by_misses: list[Promise]
    by_promise: list[Promises]
    windows: list[Window] = Field(default=[], description="Each promise at each origin, the published window first.")
    about: str = Field(description="What the sentence is about: an attack, or added.")
    added: Added | None = Field(default=None, description="What counts add, at the published window.")
    events: list[EventPromise] = Field(
        default=[], description="Presence at counted places and being counted, at each origin."
    )
    tested: list[Tested] = Field(default=[], description="Tests of both, at the published window.")
    robust: Robust | None = Field(
        description="Under the least departure that explains the published window; null where no departure does."
    )
    robust_upper: Robust | None = Field(
        description="Under a departure that covers a window in 90 of 100 cases, and the published one."
    )


class Adversary(Record):
    """One kind of adversary, on some people."""

    adversary: str
    people: int
    baseline: float = Field(description="Mean chance to be found without the release.")
    lower: float = Field(description="Mean chance with the release, of the best attack found.")
    upper: float = Field(description="Mean chance with the release that no attack of this adversary exceeds.")
    least: float = Field(description="What the mean over all people is, at least (95 %).")
    most: float = Field(description="What the mean over all people is, at most (95 %).")
    right: float = Field(description="Share of the people who were really found, in steps of five people.")


def told_backtest(
    found: Calibration, upper: pl.Series, mean: Mean | None, table: pl.DataFrame | None = None
) -> Backtest:
    """The shareable part of a backtest.

    `upper` are the upper ends of the people of an audit, and `mean` the limits of their mean loss. With the `table` of
    an audit, the published window is of everybody in it. Fewer than five tried people are refused.
    """
    check_told(found)
    found = found if table is None else found.with_everyone(table)
    tries = fives_below(float(found.by_origin["people"].sum()))
    row = found.telling
    right = _in_fives(row["right"], row["people"])
    promises = [_promise(each, tries) for each in found.by_misses.iter_rows(named=True)]
    nats, nats_upper = found.told_nats
    windows = _windows(found)
    added = next((each for each in windows if (each.what, each.steps_before) == (ADDED, 0)), None)
    if row["what"] == ADDED and added is not None:
        right = added.right
    said = verdict_sentence(found.verdict, found.origins, row["what"], row["promised"], right)
    return Backtest(
        verdict=found.verdict,
        sentence=said,
        too_low=found.too_low,
        origins=found.origins,
        independent=found.independent,
        people=fives_below(found.people),
        share=round(found.share, 2),
        gap=round(fmean(abs(each.right - each.promised) for each in promises if each.attack in PLAIN), 3),
        by_misses=promises,
        by_promise=[_promises(each) for each in found.by_promise.iter_rows(named=True) if each["people"] >= FEW],
        windows=windows,
        about=row["what"],
        added=None if added is None else _added(added, found.origins),
        tested=_tested(windows, found.origins),
        events=[each for tried in found.tried if tried.events for each in _events(tried.events, tried.before)],
        robust=_robust(nats, upper, mean),
        robust_upper=_robust(nats_upper, upper, mean),
    )


def check_told(found: Calibration) -> None:
    """Refuse a backtest of too few people for publication."""
    if min(len(each.who) for each in found.tried) < FEW:
        raise InputError(
            f"backtest: fewer than {FEW} people were tried at an origin, of whom nothing may be told; try more people"
        )


def _in_fives(share: float, people: int) -> float:
    """A share of so many people in steps of five of them, told to be so many in fives."""
    return in_fives(share, fives_below(people))


def _windows(found: Calibration) -> list[Window]:
    """All windows of enough people."""
    events = {each.before: each.events for each in found.tried if each.events}
    told: dict[tuple[str, int], float] = {}
    out = []
    for row in found.windows.filter(pl.col("people") >= FEW).iter_rows(named=True):
        what, before = row["what"], row["before"]
        if what == ADDED:
            right: float | None = told["map", before] - told["prior", before]
        else:
            right = _in_fives(row["right"], row["people"])
        if before in events and what in (VISITED, *TESTS):
            right = events[before].share_there if what == VISITED else events[before].found(TESTS[what])
        if right is None:
            continue
        told[what, before] = right
        ends = {name: _rounded(row[name], 2) for name in ("lower", "upper")}
        out.append(
            Window(
                what=what,
                steps_before=before,
                people=fives_below(row["people"]),
                promised=round(row["promised"], 4),
                right=round(right, 4),
                chance=round(row["chance"], 3),
                counts=round(row["counts"], 2),
                verdict=row["verdict"],
                **ends,
            )
        )
    return out


def _added(window: Window, origins: int) -> Added:
    """The verdict on the gain from counts, in a sentence."""
    said = verdict_sentence(str(window.verdict), origins, ADDED, window.promised, window.right)
    return Added(verdict=str(window.verdict), sentence=said, promised=window.promised, right=window.right)


def _tested(windows: list[Window], origins: int) -> list[Tested]:
    """The verdicts of tests, in sentences."""
    out = []
    for each in windows:
        if each.what in TESTS and not each.steps_before:
            event, verdict, shares = TESTS[each.what], str(each.verdict), (each.promised, each.right)
            said = said_of_tests(event, verdict, origins, *shares)
            out.append(Tested(event=event, verdict=verdict, sentence=said, promised=shares[0], right=shares[1]))
    return out


def _events(events: Events, before: int) -> list[EventPromise]:
    """The shareable part of the events of one origin."""
    people, places = events.chance.shape
    if people < FEW:
        return []
    chances: tuple[float | None, float | None] = (None, None)
    if places:
        chances = float(events.chance.mean()), events.share_there
    visitors = int(events.there.any(axis=1).sum())
    out = []
    for name in (VISITED, COUNTED):
        tests = events.tests[name]
        some = len(np.unique(tests.who))
        promised, right = chances if name == VISITED else (1.0, 1.0)
        out.append(
            EventPromise(
                event=name,
                steps_before=before,
                people=fives_below(people),
                places=places,
                promised=_rounded(promised, 4),
                right=_rounded(right, 4),
                visitors=fives_below(visitors) if name == VISITED else fives_below(people),
                tested=fives_below(some),
                power=_rounded(float(tests.promised.mean()), 4) if some >= FEW else None,
                found=_rounded(events.found(name), 4),
            )
        )
    return out


def _promise(row: dict[str, float], tries: int) -> Promise:
    return Promise(
        attack=str(row["attack"]),
        misses=int(row["misses"]),
        promised=round(row["promised"], 4),
        **_found(row, tries),
        verdict=str(row["verdict"]),
        nats=_rounded(row["told_nats"], 2),
        nats_upper=_rounded(row["told_nats_upper"], 2),
    )


def _promises(row: dict[str, float]) -> Promises:
    return Promises(
        attack=str(row["attack"]),
        promised=round(row["promised"], 4),
        **_found(row, fives_below(row["tries"])),
        people=fives_below(row["people"]),
    )


def _found(row: dict[str, float], tries: int) -> dict[str, Any]:
    """The share of people really found, in fives of people, and the interval around it, moved with it.

    An end stays on its side of 0, in agreement with the verdict.
    """
    right = in_fives(row["right"], tries)

    def moved(end: float | None) -> float | None:
        if end is None:
            return None
        there = end + right - row["right"]
        return _rounded(0.0 if there * end < 0 else there, 2)

    return {"right": round(right, 4), "lower": moved(row["lower"]), "upper": moved(row["upper"])}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or not isfinite(value) else round(value, digits)


def _robust(nats: float | None, upper: pl.Series, mean: Mean | None) -> Robust | None:
    """From everybody's upper ends, or from the limit of their mean, if this gives less.

    A divergence of means is at most the mean divergence (it is convex in both laws together). People with a mean up to
    the limit are thus bounded by one person with this loss and the same departure. The departure is rounded up, so a
    departure stated as 0 is none.
    """
    if nats is None or not isfinite(nats) or len(upper) < FEW:
        return None
    nats = ceil(1000 * nats - 1e-9) / 1000
    highest = highest_mean(upper.to_numpy(), nats)
    if mean is not None:
        highest = min(highest, highest_mean(np.array([mean.upper]), nats))
    return Robust(nats=nats, upper=round(highest, 4))


def told_adversaries(table: pl.DataFrame) -> list[Adversary]:
    """The shareable part of other adversaries, of the ones tried on enough people."""
    out = []
    for row in table.filter(pl.col("people") >= FEW).iter_rows(named=True):
        numbers = {name: round(row[name], 4) for name in ("baseline", "lower", "upper", "least", "most")}
        right = round(in_fives(row["right"], row["people"]), 4)
        out.append(Adversary(adversary=row["adversary"], people=row["people"], right=right, **numbers))
    return out
