"""No number below five follows from a page: against all numbers of people that there could be."""

from itertools import combinations, product

import numpy as np
import pytest

import passerby as pb
from passerby.model.counts import Count
from passerby.report import complementary
from passerby.report.complementary import kept_back
from passerby.support.rule_of_five import FEW

RAW = pb.Raw()
#: Three places at a step, and zones of them.
ZONES = ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2])


def present(zones: tuple[list[int], ...]) -> list[Count]:
    return [pb.Present(zone, 0, mechanism=RAW) for zone in zones]


def told(true: list[int]) -> list[float | None]:
    return [float(n) if n >= FEW else None for n in true]


@pytest.mark.parametrize("seed", range(30))
def test_two_values_of_each_small_count_are_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    zones = tuple(zone for zone in ZONES if rng.random() < 0.7)
    people = rng.choice([0, 1, 2, 4, 5, 8, 11], 3)
    true = [int(people[zone].sum()) for zone in zones]
    back = kept_back(present(zones), told(true), 1)
    possible: list[set[int]] = [set() for _ in zones]
    for some in product(range(25), repeat=3):
        numbers = [sum(some[place] for place in zone) for zone in zones]
        # What is kept back is known not to be small.
        as_seen = all(
            (n >= FEW if i in back else n == t) if t >= FEW else n < FEW
            for i, (n, t) in enumerate(zip(numbers, true, strict=True))
        )
        for i, n in enumerate(numbers):
            if as_seen:
                possible[i].add(n)
    assert all(len(values) > 1 for values, t in zip(possible, true, strict=True) if t < FEW)
    assert all(true[i] >= FEW for i in back)


@pytest.mark.parametrize("seed", range(30))
def test_no_zone_less_its_parts_leaves_one_to_four_people(seed: int) -> None:
    """Also where the rest has no count of its own, or is two small ones together."""
    rng = np.random.default_rng(seed)
    zones = tuple(zone for zone in ZONES if rng.random() < 0.7)
    people = rng.choice([0, 1, 2, 4, 5, 8, 11], 3)
    true = [int(people[zone].sum()) for zone in zones]
    back = kept_back(present(zones), told(true), 1)
    seen = [({*zone}, n) for i, (zone, n) in enumerate(zip(zones, true, strict=True)) if n >= FEW and i not in back]
    for zone, n in seen:
        inside = [(part, m) for part, m in seen if part < zone]
        for size in (1, 2):
            for some in combinations(inside, size):
                if sum(len(part) for part, _ in some) == len(set().union(*(part for part, _ in some))):
                    assert not 0 < n - sum(m for _, m in some) < FEW


def test_nothing_is_kept_back_in_vain() -> None:
    counts = present(([0], [1], [2], [0, 1]))
    assert kept_back(counts, told([7, 6, 3, 13]), 1) == set()  # nothing that is told is about the third place
    assert kept_back(counts, told([3, 6, 8, 9]), 1) == {3}
    # Two small ones of which the sum is told may be any, but not where the sum leaves them no choice.
    assert kept_back(counts, told([3, 3, 8, 6]), 1) == set()
    assert kept_back(counts, told([9, 0, 8, 9]), 1) == {3}  # nobody is known to be there, else
    assert kept_back(counts, told([4, 4, 8, 8]), 1) == {3}


def test_flows_and_those_who_are_there() -> None:
    counts: list[Count] = [
        pb.Moved([0], [0], 0, mechanism=RAW),
        pb.Moved([0], [1], 0, mechanism=RAW),
        pb.Present([0], 0, mechanism=RAW),
        pb.Present([1], 1, mechanism=RAW),
    ]
    # All who were at the first place stayed there, so that nobody went to the other.
    assert kept_back(counts, [9.0, None, 9.0, 7.0], 2) == {2}
    assert kept_back(counts, [9.0, None, 11.0, 7.0], 2) == set()


def test_many_counts_are_kept_back_together(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = present(([0], [1], [0, 1], [0, 1, 2]))
    monkeypatch.setattr(complementary, "MOST", 3)
    assert kept_back(counts, told([3, 6, 9, 20]), 1) == {2, 3}


def test_rounded_numbers_leave_small_ones_open() -> None:
    counts: list[Count] = [pb.Present(zone, 0, mechanism=pb.Rounding(5)) for zone in ([0], [1], [0, 1])]
    assert kept_back(counts, [None, 10.0, 10.0], 1) == set()


@pytest.mark.parametrize("weight", [2.0, 1.5])
def test_scaled_numbers_tell_as_much_as_raw_ones(weight: float) -> None:
    counts: list[Count] = [pb.Present(zone, 0, mechanism=pb.Scaled(weight)) for zone in ([0], [1], [0, 1])]
    assert kept_back(counts, [None, 5 * weight, 9 * weight], 1) == {2}
