"""Figures about a population are means by weight; of a place, over those who may be there."""

import polars as pl
import pytest

import passerby as pb
from passerby.audits.flows import audit_flows, figures_of


def test_figures_are_means_by_weight() -> None:
    rows = {
        "person": ["a", "b", "a", "b"],
        "weight": [30.0, 10.0, 30.0, 10.0],
        "question": ["trace", "trace", "visited:x", "visited:x"],
        "status": ["ok"] * 4,
        "chance": [None, None, 0.0, 0.5],
        "lower": [0.6, 0.2, None, None],
        "upper": [0.8, 0.2, None, None],
        "baseline": [0.1, 0.1, None, None],
        "power_lower": [None, None, 0.01, 0.7],
        "power_upper": [None, None, 0.01, 0.9],
        "advantage_lower": [0.5, 0.1, 0.0, 0.6],
        "advantage_upper": [0.7, 0.1, 0.0, 0.8],
    }
    trace, place = figures_of(pl.DataFrame(rows)).iter_rows(named=True)
    assert (trace["people"], trace["lower"], trace["upper"]) == (40, pytest.approx(0.5), pytest.approx(0.65))
    assert (trace["above_lower"], place["people"]) == (30, 5)
    assert (place["lower"], place["upper"]) == (pytest.approx(0.7), pytest.approx(0.9))


def test_sentences_speak_of_all_for_whom_people_stand() -> None:
    people = pb.people_from_flows(
        [("north", "mill", 3000), ("south", "mill", 1200)], start="2024-01-15T06:00", step="3h", steps=4, people=8
    )
    release = pb.Release(pb.fixed_sensors(people, ["mill"]))
    found = audit_flows(people, release, 1, ["mill"], workers=1)
    lines = list(found.lines())
    assert lines[0] == "Of the 4,200 people of the table:"
    assert any(line.startswith("- At mill, where") and "100 %" in line for line in lines)
    assert "assumed" in lines[-1]
    assert found.table["person"].n_unique() == len(people)
