"""What a table gives away of its hidden numbers, against trying all numbers of people; and the loss of such tables."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import passerby as pb

NONE = math.nan
RULES = [pb.Suppression(3), pb.Suppression(3, keep_zeros=True), pb.Rounding(3), pb.Bands([2, 4]), pb.Raw()]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pb.Release, Any]:
    """Zones of three places at one step, or flows between two, and how many people there are of each kind."""
    rule = draw(st.sampled_from(RULES))
    zone = st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)
    if draw(st.booleans()):
        counts: list[Any] = [pb.Present(draw(zone), 0) for _ in range(draw(st.integers(1, 4)))]
        return pb.Release(counts=counts, steps=1, mechanism=rule), np.arange(3)[:, None]
    side = st.lists(st.integers(0, 1), min_size=1, max_size=2, unique=True)
    counts = [pb.Moved(draw(side), draw(side), 0) for _ in range(draw(st.integers(1, 3)))]
    counts.append(pb.Present(draw(side), draw(st.integers(0, 1))))
    return pb.Release(counts=counts, steps=2, mechanism=rule), np.array(list(product(range(2), repeat=2)))


def shown(rule: pb.Mechanism, numbers: Any) -> Any:
    return rule.sample(numbers, np.random.default_rng(0))


@settings(max_examples=15)
@given(tables(), st.data())
def test_against_all_numbers_of_people(table: tuple[pb.Release, Any], data: st.DataObject) -> None:
    """Ranges are those of all numbers of people up to 8 of a kind that would be published alike."""
    release, kinds = table
    bits = np.stack([count.bits(kinds) for count in release.listed], axis=1).astype(int)
    truth = np.array([data.draw(st.integers(0, 4)) for _ in kinds])
    most = 8 if len(kinds) < 4 else 6
    people = np.array(list(product(range(most), repeat=len(kinds))))
    rules: list[Any] = [count.mechanism for count in release.listed]
    true, others = truth @ bits, people @ bits
    told = [float(shown(rule, np.array([n]))[0]) for rule, n in zip(rules, true, strict=True)]
    alike = np.all(
        [
            np.isnan(shown(rule, column)) if math.isnan(value) else shown(rule, column) == value
            for rule, column, value in zip(rules, others.T, told, strict=True)
        ],
        axis=0,
    )
    cells = iter(told)
    cells_found = pb.recovered(release, [[next(cells) for _ in step] for step in release.sensors])
    for cell, column, n in zip(cells_found, others[alike].T, true, strict=True):
        low, high = cell.together
        assert cell.alone[0] <= low <= n <= high <= cell.alone[1]
        assert low == column.min()
        # Numbers without an end go beyond what was tried.
        assert high == column.max() or (high > column.max() and column.max() >= most - 1)


@settings(max_examples=15)
@example(pb.Suppression(4, keep_zeros=True), (1, 4, 0), {1})
@given(
    st.sampled_from([*RULES, pb.Rounding(2) | pb.Suppression(4, keep_zeros=True)]),
    st.tuples(*[st.integers(0, 5)] * 3),
    st.sets(st.integers(0, 3)),
)
def test_numbers_that_are_hidden_also(rule: pb.Mechanism, truth: tuple[int, ...], also: set[int]) -> None:
    """Where zeros are kept, one that is hidden also is zero or not small, and nothing between."""
    zones = ([0], [1], [2], [0, 1, 2])
    table = pb.Release(counts=[pb.Present(zone, 0) for zone in zones], steps=1, mechanism=rule)
    people = np.array(list(product(range(17), repeat=3)))
    numbers = np.stack([people[:, zone].sum(axis=1) for zone in zones], axis=1)
    told, others = shown(rule, np.array([sum(truth[x] for x in zone) for zone in zones])), shown(rule, numbers)
    also = {j for j in also if not np.isnan(told[j])}
    alike = [
        ~np.isnan(column) if j in also else (column == told[j]) | (np.isnan(column) & np.isnan(told[j]))
        for j, column in enumerate(others.T)
    ]
    possible = numbers[np.all(alike, axis=0)]
    for cell, column in zip(
        pb.recovered(table, [told.tolist()], also=[table.listed[j] for j in also]), possible.T, strict=True
    ):
        low, high = cell.together
        assert low == column.min()
        # Numbers without an end go beyond what was tried.
        assert high == column.max() or (high == np.inf and possible.max() >= 16)


class TestTables:
    def test_a_hidden_number_beside_its_total(self) -> None:
        parts = [pb.Present([n], 0) for n in range(3)]
        table = pb.Release(counts=[*parts, pb.Present(range(3), 0)], steps=1, mechanism=pb.Suppression(10))
        first = pb.recovered(table, [[NONE, 40, 31, 76]])[0]
        assert (first.alone, first.together, first.recovered) == ((0, 9), (5, 5), True)
        two = pb.recovered(table, [[NONE, NONE, 31, 47]])
        assert [(cell.together, cell.recovered) for cell in two[:2]] == [((7, 9), False)] * 2

    def test_rows_and_columns_need_a_second_hidden_number_in_each(self) -> None:
        """A table of 2 x 2 flows with its margins: one hidden number is recovered, four that hold together are not."""
        flows = [pb.Moved([a], [b], 0) for a in range(2) for b in range(2)]
        margins = [pb.Moved([a], [0, 1], 0) for a in range(2)] + [pb.Moved([0, 1], [b], 0) for b in range(2)]
        table = pb.Release(counts=[*flows, *margins], steps=2, mechanism=pb.Suppression(5))
        one = pb.recovered(table, [[], [NONE, 20, 30, 40, 23, 70, 33, 60]])
        assert (one[0].together, one[0].recovered) == ((3, 3), True)
        four = pb.recovered(table, [[], [NONE, NONE, NONE, NONE, 6, 6, 6, 6]])
        assert [cell.together for cell in four[:4]] == [(2, 4)] * 4
        assert not any(cell.recovered for cell in four)

    def test_rounded_totals_bound_rounded_parts(self) -> None:
        table = pb.Release(
            counts=[pb.Present([0], 0), pb.Present([1], 0), pb.Present([0, 1], 0)], steps=1, mechanism=pb.Rounding(10)
        )
        cells = pb.recovered(table, [[10, 10, 10]])
        assert [cell.alone for cell in cells] == [(5, 14)] * 3
        assert [cell.together for cell in cells] == [(5, 9), (5, 9), (10, 14)]

    def test_numbers_without_an_end(self) -> None:
        table = pb.Release(counts=[pb.Present([0, 1], 0)], steps=1, mechanism=pb.Bands([10]))
        assert pb.recovered(table, [[1]])[0].together == (10, math.inf)

    def test_scaling_and_thresholds(self) -> None:
        rule = pb.Scaled(5) | pb.Suppression(50)
        table = pb.Release(counts=[pb.Present([0], 0), pb.Present([0, 1], 0)], steps=1, mechanism=rule)
        hidden, seen = pb.recovered(table, [[NONE, 60]])
        assert (hidden.alone, hidden.together) == ((0, 9), (0, 9))
        assert seen.together == (12, 12)


class TestLoss:
    """A total beside parts is measured with what it gives away."""

    prior = pb.line_prior(4, 0.3)

    def loss(self, *counts: Any) -> float:
        return pb.measure(self.prior, pb.Release(counts=counts, steps=2), 0, tolerance=0).upper

    def test_a_hidden_part_is_as_good_as_published(self) -> None:
        rule = pb.Suppression(10)
        hidden = pb.Present([0], 1, mechanism=rule, others=3)
        rest = pb.Present([1, 2], 1, mechanism=rule, others=50)
        total = pb.Present([0, 1, 2], 1, mechanism=rule, others=53)
        alone = self.loss(rest)
        assert self.loss(hidden, rest) == pytest.approx(alone, rel=1e-12)
        open_ = self.loss(pb.Present([0], 1), pb.Present([1, 2], 1))
        assert self.loss(hidden, rest, total) == pytest.approx(open_, rel=1e-12)
        assert open_ > 1.01 * alone

    def test_a_second_hidden_part_protects_the_first(self) -> None:
        rule = pb.Suppression(10)
        parts = [pb.Present([n], 1, mechanism=rule, others=3) for n in (0, 1)]
        total = pb.Present([0, 1], 1, others=60)
        assert self.loss(*parts, total) == pytest.approx(self.loss(pb.Present([0, 1], 1)), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: pb.recovered(5, [[1]]), pb.InputError, "expected a Release"),  # type: ignore[arg-type]
        (
            lambda: pb.recovered(pb.Release([0], pb.Gaussian(1.0)), [1]),
            pb.UnsupportedRelease,
            "for rules without chance only",
        ),
        (lambda: pb.recovered(pb.Release([0], pb.Rounding(5)), [7]), pb.InputError, "7 is not what Rounding"),
        (lambda: pb.recovered(pb.Release([0]), [[1, 2]]), pb.InputError, "in the form of sensors"),
        (
            lambda: pb.recovered(
                pb.Release(counts=[pb.Present([0], 0), pb.Present([0, 1], 0, mechanism=pb.Rounding(5))], steps=1),
                [[9, 5]],
            ),
            pb.InputError,
            "no numbers of people for which all of these",
        ),
        (
            # Nothing is hidden: a total that its parts do not add up to.
            lambda: pb.recovered(
                pb.Release(counts=[pb.Present(p, 0) for p in ([0], [1], [0, 1])], steps=1), [[5, 6, 20]]
            ),
            pb.InputError,
            "no numbers of people for which all of these",
        ),
        (
            lambda: pb.recovered(
                pb.Release(
                    counts=[pb.Moved([n], [n + 1], t) for t in range(9) for n in range(8)],
                    steps=10,
                    mechanism=pb.Suppression(5),
                ),
                [[], *[[NONE] * 8] * 9],
            ),
            pb.UnsupportedRelease,
            "kinds of people or more apart, of which at most 5,000",
        ),
    ],
)
def test_bad_input(make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_known_numbers_of_too_many_kinds_are_believed() -> None:
    counts = [pb.Moved([n], [n + 1], t) for t in range(9) for n in range(8)]
    cells = pb.recovered(pb.Release(counts=counts, steps=10), [[], *[[3] * 8] * 9])
    assert {cell.together for cell in cells} == {(3, 3)}


def test_large_counts_are_bounded_to_the_person() -> None:
    """Zones that overlap, of a million people each: each number may be all that is rounded to it."""
    counts = [pb.Present([0, 2, 3], 0), pb.Present([1, 2], 0), pb.Present([0, 1], 0)]
    table = pb.Release(counts=counts, steps=1, mechanism=pb.Rounding(10))
    cells = pb.recovered(table, [[1_568_000, 1_246_000, 1_013_000]])
    assert all(cell.together == cell.alone and not cell.recovered for cell in cells)
    kept = [cell.count for cell in cells]
    assert pb.conceal(table, [[cell.value for cell in cells]], keep=kept).also == ()
