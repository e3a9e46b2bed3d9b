"""What may be said of a backtest and of other adversaries: records in fives of people."""

from __future__ import annotations

from math import ceil, isfinite
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from passerby.audits.calibration import ADDED, PLAIN, Calibration, verdict_sentence
from passerby.audits.event_promises import COUNTED, TESTS, VISITED, Events, said_of_tests
from passerby.audits.record import (
    Added,
    Adversary,
    Backtest,
    EventPromise,
    Mean,
    Promise,
    Promises,
    Robust,
    Tested,
    Window,
)
from passerby.audits.windows import highest_mean
from passerby.errors import InputError
from passerby.model.release import Release
from passerby.support.rule_of_five import FEW, fives_below, in_fives


def told_backtest(
    found: Calibration,
    upper: pl.Series,
    mean: Mean | None,
    table: pl.DataFrame | None = None,
    who: str = "an insider",
) -> Backtest:
    """The shareable part of a backtest.

    `upper` are the upper ends of the people of an audit, and `mean` the limits of their mean loss. With the `table` of
    an audit, the published window is of everybody in it. `who` is the adversary of the tests.
    Fewer than five tried people are refused.
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
        tested=_tested(windows, found.origins, who),
        events=[each for tried in found.tried if tried.events for each in _events(tried.events, tried.before)],
        robust=_robust(nats, upper, mean),
        robust_upper=_robust(nats_upper, upper, mean),
    )


def who_tests(release: Release) -> str:
    """The adversary of the tests of a backtest, in words."""
    return "an insider" if release.crowd is None else "an acquaintance"


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


def _tested(windows: list[Window], origins: int, who: str) -> list[Tested]:
    """The verdicts of tests, in sentences."""
    out = []
    for each in windows:
        if each.what in TESTS and not each.steps_before:
            event, verdict, shares = TESTS[each.what], str(each.verdict), (each.promised, each.right)
            said = said_of_tests(event, verdict, origins, *shares, who)
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
        published_promised=_rounded(row["published_promised"], 4),
        published_right=_rounded(row["published_right"], 4),
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
