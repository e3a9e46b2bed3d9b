"""People who are counted beside people who hardly ever are: their means, and what may be told of both."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from passerby.audits.results import COUNTED, Results
from passerby.audits.summary import Group, groups_of, shares_above
from passerby.support.blocks import Blocks, Team
from passerby.support.rule_of_five import FEW

Floats = NDArray[np.float64]
LEVELS = (0.1, 0.25, 0.5, 0.9)
COLUMNS = ("baseline_lower", "lower", "upper")


def table_of(base: Floats, lower: Floats, upper: Floats, sighted: Floats) -> pl.DataFrame:
    room = np.maximum(1 - base, 1e-9)
    return pl.DataFrame(
        {
            "status": ["ok"] * len(base),
            "lower": lower,
            "upper": upper,
            "baseline_lower": base,
            "baseline_upper": base,
            "advantage_lower": (lower - base) / room,
            "advantage_upper": (upper - base) / room,
            "pooled_lower": lower,
            "pooled_upper": upper,
            "pooled_reach": np.zeros(len(base)),
            "sighted": sighted,
        }
    )


def drawn(seed: int, people: int) -> pl.DataFrame:
    """People of whom some are counted, and gain, and the others hardly do."""
    rng = np.random.default_rng(seed)
    base, sighted = rng.random(people), np.where(rng.random(people) < 0.4, rng.uniform(0.3, 1, people), 0.01)
    gain = np.where(sighted > COUNTED, rng.random(people), 0.0)
    lower = base + gain * (1 - base)
    return table_of(base, lower, lower + rng.random(people) * (1 - lower) * 0.3, sighted)


def groups(table: pl.DataFrame, measured: int | None = None) -> list[Group]:
    rows = Results.here(table, LEVELS)
    above = shares_above(rows.tally, LEVELS)
    return groups_of(rows.tally, above, table.height if measured is None else measured, 0.99)


@pytest.mark.parametrize("seed", range(4))
def test_means_are_those_of_each_group(seed: int) -> None:
    table = drawn(seed, 80)
    found = groups(table)
    assert [each.counted for each in found] == [True, False]
    parts = [table.filter((pl.col("sighted") >= COUNTED) == each.counted) for each in found]
    away = parts[0].height - found[0].people
    assert 0 <= away < FEW
    assert found[0].people % FEW == 0
    for each, own, some in zip(found, parts, (0, away), strict=True):
        for told, column in ((each.loss.lower, "lower"), (each.baseline.lower, "baseline_lower")):
            total = own[column].to_numpy().sum() + some * parts[0][column].to_numpy().mean()
            assert told == pytest.approx(total / (own.height + some))


@pytest.mark.parametrize(("seed", "measured"), [*product(range(6), (83, 80))])
def test_the_mean_of_all_does_not_give_the_true_sizes_back(seed: int, measured: int) -> None:
    """From the means of all and of both parts follow the sizes that are told: fives, and nothing finer."""
    table = drawn(seed, 83)
    counted, other = groups(table, measured)
    whole = table["lower"].to_numpy().mean()
    followed = measured * (whole - other.loss.lower) / (counted.loss.lower - other.loss.lower)
    assert followed == pytest.approx(counted.people)
    assert counted.people % FEW == 0


@pytest.mark.parametrize(("seed", "people"), [*product(range(12), (24, 60, 200))])
def test_no_cell_that_follows_from_the_shares_is_of_one_to_four_people(seed: int, people: int) -> None:
    """Of both groups and of all together: every number of people between two that are told."""
    table = drawn(seed, people)
    rows = Results.here(table, LEVELS)
    above = shares_above(rows.tally, LEVELS)
    found = groups_of(rows.tally, above, people, 0.99)
    names = ("baseline", "loss_lower", "loss_upper")
    for each in found:
        own = table.filter((pl.col("sighted") >= COUNTED) == each.counted)
        told = {(0, 0.0): own.height}
        for row, whole in zip(each.above, above, strict=True):
            for rank, name in enumerate(names):
                share = getattr(row, name)
                if share is not None:
                    assert getattr(whole, name) is not None
                    count = int((own[COLUMNS[rank]] >= row.threshold - 1e-12).sum())
                    assert (share - count / own.height) * (1 if rank == 2 else -1) >= -1e-12
                    assert abs(share - count / own.height) <= (1 + (rank == 2)) * FEW / each.people + 1e-12
                    assert share == 1 or round(share * each.people, 9) % FEW == 0
                    told[rank, row.threshold] = count
        for (i, level), few in told.items():
            assert few == 0 or few >= FEW
            for (j, lower), many in told.items():
                if i <= j and level >= lower and (j, lower) != (0, 0.0):
                    assert many == few or many - few >= FEW
            assert own.height == few or own.height - few >= FEW
    pairs = [{name: getattr(row, name) is None for name in names} for each in found for row in each.above]
    assert pairs[: len(LEVELS)] == pairs[len(LEVELS) :] or len(found) < 2


def test_shares_are_told_of_some_threshold() -> None:
    """Else the test above would hold of nothing."""
    told = [row.loss_lower for seed in range(4) for each in groups(drawn(seed, 200)) for row in each.above]
    assert sum(share is not None for share in told) > len(told) / 2


def test_a_group_of_few_is_not_told_nor_is_the_other() -> None:
    table = table_of(np.full(60, 0.3), np.full(60, 0.5), np.full(60, 0.6), np.ones(60))
    for few, none in ((FEW - 1, True), (FEW, False)):
        sighted = np.where(np.arange(60) < few, 0.9, 0.0)
        assert (groups(table.with_columns(sighted=pl.Series(sighted))) == []) == none
    (alone,) = groups(table.with_columns(sighted=pl.lit(1.0)))
    assert (alone.counted, alone.people) == (True, 60)


def test_a_group_in_which_few_gain_is_not_told() -> None:
    """Else its means said what these gain."""
    base, sighted = np.full(60, 0.4), np.where(np.arange(60) < 30, 0.9, 0.0)
    for few, none in ((FEW - 1, True), (FEW, False)):
        lower = base + np.where((np.arange(60) >= 30) & (np.arange(60) < 30 + few), 0.3, 0.0)
        lower[:30] += 0.2
        assert (groups(table_of(base, lower, lower, sighted)) == []) == none


def test_sizes_add_up_to_the_people_who_are_told_to_be_measured() -> None:
    """Two people are refused, who are told as five: the sizes do not say that they were two."""
    table = drawn(1, 60)
    found = groups(table, measured=57)
    assert sum(each.people for each in found) == 57
    assert found[0].people % FEW == 0


def test_blocks_of_rows_say_the_same() -> None:
    table = drawn(2, 90)
    parts = Results(Blocks.of([table[:30], table[30:75], table[75:]], Team()), LEVELS)
    assert groups_of(parts.tally, shares_above(parts.tally, LEVELS), 90, 0.99) == groups(table)
