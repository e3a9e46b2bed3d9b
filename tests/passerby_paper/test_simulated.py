"""Points of simulated sweeps."""

import numpy as np
import pytest
from tests.passerby_paper.small import TINY

import passerby as pb
from passerby_paper.simulated import Point, averaged, examples, formulas, measured, sensors_of, table_of


def test_a_point_holds_what_measure_says() -> None:
    row = measured(TINY, Point(8, 4, 2), 0)[0]
    prior, release = pb.line_prior(8, 0.1), pb.Release(sensors_of(TINY, 0, 8, 4))
    loss = pb.measure(prior, release, 2, budget=4e6)
    for name in ("map", "prior", "constant"):
        assert row[name] == pytest.approx(loss.attacks[name].value, rel=1e-9)
    for name in ("tight", "loose"):
        assert row[name] == pytest.approx(loss.bounds[name], rel=1e-9)
    assert row["lower"] <= row["upper"]
    assert abs(row["map_mc"] - row["map"]) <= 5 * max(row["map_mc_error"], 0.02)


def test_sensors_keep_their_relative_positions() -> None:
    few, many = sensors_of(TINY, 1, 10, 5), sensors_of(TINY, 1, 1000, 5)
    assert [place // 100 for place in many] == few
    assert sensors_of(TINY, 1, 10, 3) == few[:3]
    assert sensors_of(TINY, 0, 1000, 5) != many


def test_noisy_upper_ends_are_not_above_raw_ones() -> None:
    rows = [measured(TINY, Point(8, 4, 2, sigma), 0)[0] for sigma in (None, 0.25)]
    rows[1]["upper"] = 1.0
    table = table_of(rows, TINY)
    assert table["upper"][1] == table["upper"][0]
    assert table["upper_by"][1] == "raw"


def test_averages_over_draws() -> None:
    rows = [measured(TINY, Point(8, 4, 2), draw)[0] for draw in (0, 1)]
    means = averaged(table_of(rows, TINY))
    assert means.height == 1
    assert means["lower"][0] == pytest.approx((rows[0]["lower"] + rows[1]["lower"]) / 2)
    errors = [row["map_mc_error"] for row in rows]
    assert means["map_mc_error"][0] == pytest.approx(np.hypot(*errors) / 2)


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
