"""Examples and formulas."""

import pytest
from tests.passerby_paper.small import TINY

from passerby_paper.cases import examples, formulas


def test_examples_by_hand() -> None:
    rows = {(row["person"], row["sigma"]): row for row in examples(0)}
    here, there = rows["in New York", None], rows["in Paris", None]
    assert here["lower"] == pytest.approx(0.24 + 0.24)  # seen at the sensor, or the best of the other places
    assert there["lower"] == pytest.approx(0.01 + 0.24)
    stays, moves = rows["stays", None], rows["moves", None]
    assert stays["lower"] == pytest.approx(2 * 0.2 * 0.96)
    assert moves["lower"] == pytest.approx(2 * 0.2 * 0.2)
    assert stays["seen_then_not"] == pytest.approx(0.96)
    assert moves["seen_then_not"] == pytest.approx(0.2)


def test_exact_information_is_what_a_list_of_all_series_gives() -> None:
    rows = {(row["quantity"], row["steps"]): row["value"] for row in formulas(TINY)}
    assert rows["information, exact", 4] == pytest.approx(rows["information, by listing all series", 4], abs=1e-12)
    assert rows["information, order 1", 4] >= rows["information, exact", 4]
