"""Processes that share work end when they should, and say what is wrong with the script that starts them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby.support.rule_of_five import (
    FEW,
    NestedCounts,
    at_rank,
    count_in_fives,
    counting,
    merged,
    merged_sizes,
    middle,
    nested_shares,
    reached,
    sizes_in_fives,
)

CHANCES = st.lists(st.floats(0, 1).map(lambda x: round(x, 2)), min_size=0, max_size=60)
LEVELS = st.lists(st.sampled_from([0.05, 0.1, 0.25, 0.4, 0.5, 0.75, 0.9, 1.0]), unique=True, max_size=6)


def shares(values: list[float], levels: list[float]) -> list[float | None]:
    return nested_shares([counting(values)], len(values), levels)[0]


@given(CHANCES, LEVELS)
def test_no_share_and_no_difference_of_shares_is_about_few_people(values: list[float], levels: list[float]) -> None:
    told_ = [share for share in shares(values, levels) if share is not None]
    counts = sorted({0, len(values), *(round(share * len(values)) for share in told_)}) if values else [0]
    assert all(gap >= FEW for gap in np.diff(counts)) or len(values) < FEW


def test_of_nobody_no_share_is_told() -> None:
    assert shares([], [0.1, 0.5]) == [None, None]


@given(CHANCES.filter(lambda values: len(values) >= FEW), LEVELS)
def test_shares_that_are_told_are_right_and_those_near_a_half_come_first(
    values: list[float], levels: list[float]
) -> None:
    array = np.array(values)
    for level, share in zip(levels, shares(values, levels), strict=True):
        count = int((array >= level).sum())
        assert share is None or share == pytest.approx(count_in_fives(count, len(values)) / len(values))
    alone = int((array >= 0.5).sum())
    if 0.5 in levels:
        hidden = shares(values, levels)[levels.index(0.5)] is None
        assert hidden == (0 < alone < FEW or 0 < len(values) - alone < FEW)


@given(st.integers(0, 10**6), st.integers(FEW, 80), LEVELS, st.permutations([0, 1, 2]))
def test_two_values_of_the_same_people_do_not_tell_of_few_by_their_difference(
    seed: int, people: int, levels: list[float], first: list[int]
) -> None:
    """Whoever is above a level by one value is so by a later one, and at a lower level: so two counts are a group."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.beta(1, 1, people) + np.abs(rng.normal(0, 0.05, (3, people))).cumsum(axis=0), axis=0).round(2)
    found = nested_shares([counting(each) for each in values], people, levels, first)
    cells = [
        (i, level, values[i] >= level, share)
        for i in range(3)
        for level, share in zip(levels, found[i], strict=True)
        if share is not None
    ]
    for i, level, inside, share in cells:
        assert share == count_in_fives(int(inside.sum()), people) / people
        for j, lower, outside, _ in cells:
            if i <= j and level >= lower:
                apart = int((outside & ~inside).sum())
                assert apart == 0 or apart >= FEW


@given(CHANCES.filter(len), LEVELS)
def test_what_is_told_stays(values: list[float], levels: list[float]) -> None:
    told_ = NestedCounts([counting(values)], len(values))
    taken = [level for level in levels if told_.take(level)]
    assert told_.levels([0]) == sorted(taken)
    for edge in np.linspace(0.1, 1, 10).tolist():
        told_.take(edge)
    assert set(taken) <= set(told_.levels([0]))


def test_all_values_at_a_level_are_told_or_none() -> None:
    low, high = [0.1] * 9 + [0.6] * 10, [0.1] * 8 + [0.6] * 11
    told_ = NestedCounts([counting(low), counting(high)], 19)
    assert not told_.take(0.5)
    assert told_.share(0, 0.5) is None
    assert told_.take(0.5, [1])
    assert told_.share(1, 0.5) == 10 / 19
    assert told_.levels([0, 1]) == []
    assert told_.take(0.7)
    assert told_.levels([0, 1]) == [0.7]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=20), st.integers(1, 9))
def test_merged_classes_cover_everybody(sizes: list[int], least: int) -> None:
    groups = merged(sizes, least)
    if 0 < sum(sizes) < least:
        assert groups == []
        return
    assert [end for _, end in groups][-1] == len(sizes)
    assert [start for start, _ in groups] == [0, *(end for _, end in groups[:-1])]
    assert all(part == 0 or part >= least for part in (sum(sizes[a:b]) for a, b in groups))


@given(st.lists(st.integers(0, 100), min_size=1, max_size=4))
def test_sizes_that_are_told_add_up(sizes: list[int]) -> None:
    counts = {str(i): size for i, size in enumerate(sizes)}
    found = merged_sizes(counts)
    assert sum(found.values()) == sum(sizes)
    if sum(sizes) >= FEW * len(sizes) and sum(size > 0 for size in sizes) > 1:
        small = [name for name, size in counts.items() if 0 < size < FEW]
        assert all(found[name] == FEW for name in small if name != max(counts, key=lambda n: counts[n]))
    assert all(found[name] == 0 for name, size in counts.items() if size == 0)


def test_who_are_one_or_two_more_makes_no_difference() -> None:
    assert merged_sizes({"ok": 58, "refused": 1, "wide": 0}) == {"ok": 54, "refused": 5, "wide": 0}
    assert [merged_sizes({"ok": 60 - n, "refused": n})["refused"] for n in (1, 2, 3, 4, 5, 6)] == [5, 5, 5, 5, 5, 6]


@given(st.lists(st.floats(0, 1), min_size=FEW, max_size=200))
def test_ranks_are_means_of_five(values: list[float]) -> None:
    array = np.sort(values)
    windows = np.array([array[i : i + FEW].mean() for i in range(len(array) - FEW + 1)])
    for share in (0.05, 0.5, 0.95):
        found = at_rank(values, share)
        first = round(share * (len(values) - 1)) - FEW // 2
        assert (found is None) == (min(first, len(values) - first - FEW) < FEW)
        assert found is None or np.isclose(windows, found, rtol=1e-12, atol=0).any()
    centre = middle(values)
    assert centre is not None
    assert array[max(0, len(array) // 2 - 3)] <= centre * (1 + 1e-12)
    assert centre <= array[min(len(array) - 1, len(array) // 2 + 3)] * (1 + 1e-12)


@given(st.lists(st.floats(0, 1), min_size=0, max_size=50))
def test_five_reach_what_is_said(values: list[float]) -> None:
    found = reached(values)
    assert (found is None) == (len(values) < 3 * FEW - 1)
    if found is not None:
        assert len(values) - counting(values)(found) >= FEW
        assert found == pytest.approx(round(found, 2), abs=1e-12)


@given(st.integers(0, 300), st.integers(1, 300), st.booleans())
def test_numbers_in_fives_err_to_the_safe_side_by_less_than_five(count: int, everyone: int, up: bool) -> None:
    count = min(count, everyone)
    found = count_in_fives(count, everyone, up=up)
    assert found >= count if up else found <= count
    assert abs(found - count) < FEW or (up and found == everyone)
    assert found % FEW == 0 or found == everyone
    assert found == everyone or everyone - found >= min(FEW, everyone - count)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=4))
def test_all_groups_but_the_largest_are_told_in_fives(sizes: list[int]) -> None:
    counts = {str(i): size for i, size in enumerate(sizes)}
    found = sizes_in_fives(counts)
    largest = max(counts, key=lambda name: counts[name])
    assert sum(found.values()) == sum(sizes)
    assert all(found[name] == 0 for name, size in counts.items() if size == 0)
    if sum(sizes) >= 2 * FEW * len(sizes):
        assert all(found[name] % FEW == 0 for name in counts if name != largest)
        assert found[largest] >= FEW
