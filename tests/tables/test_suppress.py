"""Which further numbers are hidden, against all sets of numbers."""

import math
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.tables import suppress as concealment

NONE = math.nan
PARTS = [pb.Present([place], step=0) for place in range(3)]
TOTAL = pb.Present([0, 1, 2], step=0)
RULES = [pb.Suppression(4), pb.Suppression(4, keep_zeros=True), pb.Suppression(3) | pb.Rounding(3)]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pb.Release, list[list[float]]]:
    """A table with totals, and what the rule shows of it: parts, or flows with both margins."""
    rule = draw(st.sampled_from(RULES))
    if draw(st.booleans()):
        counts: list[Any] = [*PARTS, TOTAL, *([pb.Present([0, 1], step=0)] if draw(st.booleans()) else [])]
        release, kinds = pb.Release(counts=counts, steps=1, mechanism=rule), np.arange(3)[:, None]
    else:
        counts = [pb.Moved([a], [b], 0) for a in range(2) for b in range(2)]
        counts += [pb.Moved([a], [0, 1], 0) for a in range(2)] + [pb.Moved([0, 1], [b], 0) for b in range(2)]
        release, kinds = pb.Release(counts=counts, steps=2, mechanism=rule), np.array(list(product(range(2), repeat=2)))
    people = np.array([draw(st.integers(0, 9)) for _ in kinds])
    bits = np.stack([count.bits(kinds) for count in release.listed], axis=1).astype(int)
    values = iter(rule.sample(people @ bits, np.random.default_rng(0)).tolist())
    return release, [[next(values) for _ in step] for step in release.sensors]


def shown(release: pb.Release, published: list[list[float]]) -> list[Any]:
    return [c for c, v in zip(release.listed, chain(*published), strict=True) if not math.isnan(v)]


def gives_away(release: pb.Release, published: list[list[float]], also: Any) -> bool:
    return any(cell.recovered for cell in pb.recovered(release, published, also=also))


@settings(max_examples=10)
@example((pb.Release(counts=[*PARTS, TOTAL], steps=1, mechanism=pb.Suppression(4)), [[NONE, 8, 9, 20]]))
@given(tables())
def test_nothing_follows_and_no_fewer_would_do(table: tuple[pb.Release, list[list[float]]]) -> None:
    release, published = table
    every = shown(release, published)
    try:
        found = pb.conceal(release, published)
    except pb.UnsupportedRelease:
        assert gives_away(release, published, every)
        return
    assert not gives_away(release, published, found.also)
    assert not any(cell.recovered for cell in found.cells)
    assert found.least
    assert found.cost == len(found.also)
    for fewer in chain.from_iterable(combinations(every, n) for n in range(len(found.also))):
        assert gives_away(release, published, fewer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concealment, "MOST_TRIED", 0)
        one_by_one = pb.conceal(release, published)
    assert not any(cell.recovered for cell in one_by_one.cells)
    assert found.cost <= one_by_one.cost <= found.cost + 1
    assert one_by_one.least == (found.cost == 0)


class TestChoice:
    table = pb.Release(counts=[*PARTS, TOTAL], steps=1, mechanism=pb.Suppression(10))

    def test_totals_are_kept(self) -> None:
        found = pb.conceal(self.table, [[NONE, 40, 31, 76]], keep=[self.table.listed[3]])
        assert found.also == (self.table.listed[1],)
        assert [cell.together for cell in found.cells] == [(0, 9), (36, 45), (31, 31), (76, 76)]
        again = pb.recovered(self.table, [[NONE, 40, 31, 76]], also=found.also)
        assert [cell.together for cell in again] == [cell.together for cell in found.cells]

    def test_counts_to_keep_may_come_one_by_one(self) -> None:
        """From a generator, which can be gone through once."""
        kept = pb.conceal(self.table, [[NONE, 40, 31, 76]], keep=(self.table.listed[i] for i in (1, 3)))
        assert kept.also == (self.table.listed[2],)

    def test_zeros_that_are_kept_leave_no_small_numbers(self) -> None:
        """Beside a total of 11, a second number that is zero or ten at least leaves one for the first."""
        table = pb.Release(
            counts=[*PARTS[:2], pb.Present([0, 1], step=0)], steps=1, mechanism=pb.Suppression(10, keep_zeros=True)
        )
        with pytest.raises(pb.UnsupportedRelease, match="keep fewer of them"):
            pb.conceal(table, [[NONE, 10, 11]], keep=[table.listed[2]])

    def test_the_cheapest_goes_first(self) -> None:
        def worth(cell: Any) -> Any:
            return np.int64(cell.value)

        found = pb.conceal(self.table, [[NONE, 40, 31, 76]], cost=worth)
        assert found.also == (self.table.listed[2],)
        assert found.cost == 31

    def test_nothing_to_hide(self) -> None:
        found = pb.conceal(self.table, [[NONE, NONE, 31, 40]])
        assert (found.also, found.cost, found.least) == ((), 0, True)

    def test_ends_that_are_further_apart_take_more(self) -> None:
        """Two hidden numbers of which the total leaves 7 to 9 each."""
        published = [[NONE, NONE, 31, 47]]
        assert pb.conceal(self.table, published).also == ()
        found = pb.conceal(self.table, published, apart=5)
        assert len(found.also) == 1
        assert all(high - low >= 5 for low, high in (cell.together for cell in found.cells[:2]))

    def test_tables_of_flows_lose_no_more_than_a_square(self) -> None:
        flows = [pb.Moved([a], [b], 0) for a in range(3) for b in range(3)]
        margins = [pb.Moved([a], [0, 1, 2], 0) for a in range(3)] + [pb.Moved([0, 1, 2], [b], 0) for b in range(3)]
        table = pb.Release(counts=[*flows, *margins], steps=2, mechanism=pb.Suppression(5))
        values = np.array([[3, 20, 30], [15, 40, 12], [25, 18, 33]])
        published = [[], [NONE, *values.flatten()[1:], *values.sum(axis=1), *values.sum(axis=0)]]
        found = pb.conceal(table, published, keep=table.listed[9:])
        assert len(found.also) == 3
        assert found.least
        assert not any(cell.recovered for cell in found.cells)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"keep": [pb.Present([7], step=0)]}, "keep: .* is none of the counts of the release"),
        ({"cost": lambda cell: 0.0}, "cost: 0.0 for .* expected a number above 0"),
        ({"cost": lambda cell: "much"}, "cost: 'much' for"),
        ({"cost": 3}, "cost: expected a function of a cell"),
        ({"keep": TOTAL}, "keep: expected a list of counts"),
        ({"keep": None}, "keep: expected a list of counts"),
        ({"apart": 0}, "apart"),
    ],
)
def test_bad_choices(more: dict[str, Any], words: str) -> None:
    with pytest.raises(pb.InputError, match=words):
        pb.conceal(TestChoice.table, [[NONE, 40, 31, 76]], **more)


def test_what_cannot_be_hidden_is_said() -> None:
    with pytest.raises(pb.UnsupportedRelease, match="keep fewer of them"):
        pb.conceal(TestChoice.table, [[NONE, 40, 31, 76]], keep=TestChoice.table.listed)
