"""Arithmetic with all numbers of a summary and its page: no value of one person, and no sum of few, follows from them.

What is told is written as constraints on everybody's values in increasing order, and a linear program asks between
which ends a person's value lies. Who reads it knows the rules, so that a number that is not told tells, too.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, linprog, milp
from tests.report.small_report import data, saved, small_evidence, specs, summed

from passerby.audits.summary import Summary
from passerby.report import chart
from passerby.report.evidence import TENTHS
from passerby.report.page import built, fill
from passerby.report.sections.traits import boxes
from passerby.support.rule_of_five import FEW, middle_ranks, rank_ranks, reached_ranks

Floats = NDArray[np.float64]
#: A row of coefficients, and between which ends its product with the values lies.
Told = tuple[Floats, float, float]
#: What is known of somebody so closely is their value.
CLOSELY = 0.011


def mean_of(ranks: range, people: int, least: float, most: float) -> Told:
    return np.isin(np.arange(people), ranks) / len(ranks), least, most


def of_summary(summary: Summary) -> list[Told]:
    """What the statistics of the lower end say."""
    n, loss = summary.people_measured, summary.loss
    assert loss is not None
    of, out = loss.lower, []
    for ranks, value, digits in (
        (range(n), of.mean, 0.0),
        (middle_ranks(n), of.median, 0.0),
        (rank_ranks(n, 0.95), of.percentile_95, 0.0),
        (reached_ranks(n), of.reached_by_five, 0.01),
    ):
        if ranks is not None and value is not None:
            out.append(mean_of(ranks, n, value, value + digits))
    return out


def at(level: float, count: int, people: int) -> list[Told]:
    """So many people are at a level or above, or up to four more: all but nobody and everyone are told in fives."""
    most = count if count in (0, people) else min(people, count + FEW - 1)
    below, above = people - most - 1, people - count
    out = [mean_of(range(below, below + 1), people, 0.0, level)] if below >= 0 else []
    return out + ([mean_of(range(above, above + 1), people, level, 1.0)] if count else [])


def of_page(page: str, summary: Summary) -> list[Told]:
    """What thresholds, curves and ranks say, also by a level that is not told beside one of nobody or everybody."""
    n = summary.people_measured
    told = {row.threshold: row.loss_lower for row in summary.above if row.loss_lower is not None}
    for point in data(specs(page)["exposure"]):
        if point["which"] == chart.FOUND and 0 < point["chance"] < 1:
            told[point["chance"]] = point["share"]
    out = [each for level, share in told.items() for each in at(level, round(share * n), n)]
    fixed = sorted({*TENTHS, *(row.threshold for row in summary.above)})
    for low, high in itertools.pairwise([0.0, *fixed]):
        if told.get(high) == 0 and low not in told:
            out.append(mean_of(range(n - 1, n), n, low, 1.0))
        if told.get(low) == 1 and high not in told:
            out.append(mean_of(range(1), n, 0.0, high))
    for row in saved(page)["exposure.csv"]:
        ranks, value = rank_ranks(n, float(row["share_below"])), float(row["lower"])
        assert ranks is not None
        out.append(mean_of(ranks, n, value - 5e-4, value + 5e-4))
    return out


def ends(told: list[Told], wanted: Floats) -> tuple[float, float]:
    """The least and the most that a sum of the values can be."""
    n = len(wanted)
    rows = [sign * row for row, _, _ in told for sign in (1, -1)]
    most = [end + 1e-9 for _, low, high in told for end in (high, -low)]
    rows += list(np.eye(n)[:-1] - np.eye(n)[1:])
    found = [linprog(sign * wanted, rows, most + [0.0] * (n - 1), bounds=(0, 1)) for sign in (1, -1)]
    assert all(each.status == 0 for each in found)
    low, high = (float(each.fun or 0.0) for each in found)
    return low, -high


def given_away(told: list[Told], people: int) -> list[str]:
    """Whose values are known closely, but for 1 and those that five people have alike; and sums of the extreme ones."""
    found = [ends(told, row) for row in np.eye(people)]
    close = [k for k, (low, high) in enumerate(found) if high - low < CLOSELY and low < 1 - CLOSELY]
    alike = {k: sum(abs(found[k][0] - found[j][0]) < CLOSELY for j in close) for k in close}
    out = [f"rank {k}" for k in close if alike[k] < FEW]
    for few, some in itertools.product(range(1, FEW), (np.arange(people), np.arange(people)[::-1])):
        low, high = ends(told, (some < few).astype(float))
        if high - low < CLOSELY and low < few - CLOSELY and not all(k in alike for k in np.flatnonzero(some < few)):
            out.append(f"the sum of {few}")
    return out


def shared(values: Floats) -> tuple[str, Summary]:
    """The page and the summary of people with these chances, to which a release adds nothing."""
    evidence = small_evidence()
    names = ("lower", "upper", "baseline_lower", "baseline_upper", "pooled_lower", "pooled_upper")
    columns: dict[str, Any] = {name: pl.Series(values) for name in names}
    columns |= dict.fromkeys(("advantage_lower", "advantage_upper"), pl.lit(0.0))
    table = evidence.table.head(len(values)).with_columns(**columns)
    summary = summed(table, evidence.people, evidence.release, evidence.settings)
    small = replace(evidence, table=table, summary=summary, findings=None)
    return fill(small, built(small)), summary


def cells_of(x: Floats, y: Floats, edges: list[float], exact: bool) -> list[tuple[int, int, int]]:
    """People of each strip between two edges: how many there are, and between which ends a reader knows them to be.

    A reader has the boxes, how many people are in each strip, and how many of all are between each two edges.
    """
    rows, lines = boxes(x, y, 1.0, edges)
    up = [0.0, *edges, 1.0]
    across = [(x >= low) & (x < high) for low, high in zip(lines["x"], lines["x2"], strict=True)]
    inside = [(y >= low) & (y < high) for low, high in itertools.pairwise(up)]
    true = np.array([[int((s & c).sum()) for c in inside] for s in across])
    each = np.arange(true.size).reshape(true.shape)
    told = [(each[:, c], true[:, c].sum(), 0) for c in range(true.shape[1])]
    told += [(each[s], true[s].sum(), 0) for s in range(true.shape[0])]
    for left, low, high, people in rows.select("x", "y", "y2", "people").iter_rows():
        s, first, last = lines["x"].to_list().index(left), up.index(low), up.index(high)
        some = each[s, first:last]
        number = true.ravel()[some].sum()
        told.append((some, number if exact else people, 0 if exact else FEW // 2))
    covered = np.unique(np.concatenate([some for some, _, _ in told[sum(true.shape) :]]))
    told.append((np.setdiff1d(each, covered), 0, 0))
    row = np.array([np.isin(each.ravel(), some) for some, _, _ in told], dtype=float)
    limits = LinearConstraint(row, [n - off for _, n, off in told], [n + off for _, n, off in told])
    out = []
    for k, number in enumerate(true.ravel()):
        aim = (each.ravel() == k).astype(float)
        found = [milp(sign * aim, constraints=limits, integrality=[1] * true.size) for sign in (1, -1)]
        low, high = (round(float(each.fun or 0.0)) for each in found)
        out.append((int(number), low, -high))
    return out


@pytest.mark.parametrize("seed", [0, 2, 5, 6, 8])
def test_few_people_of_a_box_do_not_follow_from_the_other_boxes(seed: int) -> None:
    """Boxes merge classes of few people; all people between the same two chances are told by the curve."""
    rng = np.random.default_rng(seed)
    x = rng.choice([0.1, 0.5, 0.9], 60)
    y = np.where(rng.random(60) < 0.2 + 0.6 * x, 0.8, 0.2) + 0.01
    for exact in (True, False):
        known = [number for number, low, high in cells_of(x, y, [0.5], exact) if 0 < number < FEW and low == high]
        assert bool(known) == exact  # what must not be told: how many people are in each box


@pytest.mark.parametrize("people", [7, 10, 11, 19, 20, 40])
@pytest.mark.parametrize("kind", ["one low", "one high", "one far", "all apart"])
def test_nobodys_chance_follows_from_what_is_told(kind: str, people: int) -> None:
    rng = np.random.default_rng(people)
    values = {
        "one low": np.r_[np.ones(people - 1), 0.3],
        "one high": np.r_[np.full(people - 1, 0.23), 0.873],
        "one far": np.r_[0.2 + 0.3 * rng.random(people - 1), 0.937],
        "all apart": rng.random(people),
    }[kind]
    page, summary = shared(values)
    told = [*of_summary(summary), *of_page(page, summary)]
    assert given_away(told, people) == []
    # What must not be told: where the one who is far from the others is, to a hundredth.
    if kind != "all apart":
        rank, far = 0 if kind == "one low" else people - 1, float(values[-1])
        assert given_away([*told, mean_of(range(rank, rank + 1), people, far - 0.005, far + 0.005)], people) != []
