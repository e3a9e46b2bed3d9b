"""Sums and ranks are those of sorted, exact numbers, however the numbers are cut."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from passerby.support.ranks import at_ranks, exact_sum, first_bits, keys, value

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40)


@given(NUMBERS)
def test_sums_are_exact(numbers: list[float]) -> None:
    assert exact_sum(np.array(numbers)) == sum(map(Fraction, numbers))


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_sums_do_not_depend_on_cuts(parts: list[list[float]]) -> None:
    whole = exact_sum(np.concatenate([np.array(part) for part in parts]))
    assert whole == sum(exact_sum(np.array(part)) for part in parts)


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.data())
def test_values_at_ranks(parts: list[list[float]], data: st.DataObject) -> None:
    ordered = sorted(number for part in parts for number in part)
    ranks = data.draw(st.lists(st.integers(0, len(ordered) - 1), min_size=1, max_size=5))

    def count(begin: Mapping[str, Sequence[int]], level: int) -> Iterator[Any]:
        for part in parts:
            yield {name: first_bits(keys(np.array(part)), heads, level) for name, heads in begin.items()}

    found = at_ranks({"a": ranks}, count)["a"]
    assert {rank: found[rank] for rank in ranks} == {rank: ordered[rank] for rank in ranks}


@given(st.floats(allow_nan=False))
def test_words_are_those_of_numbers(number: float) -> None:
    assert value(int(keys(np.array([number]))[0])) == number
