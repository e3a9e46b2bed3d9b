"""Figures about a population are means by weight; of a place, over those who may be there."""

import polars as pl
import pytest

import passerby as pb
from passerby.audits.flows import FlowAudit, audit_flows, figures_of


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


def test_no_more_people_are_told_than_the_table_has() -> None:
    row = {"question": "trace", "lower": 0.9, "upper": 1.0, "baseline": 0.9, "above_lower": 463.0, "above_upper": 464.0}
    place = {"question": "visited:mill", "people": 0.0, "lower": None, "upper": None}
    found = FlowAudit(pl.DataFrame({"status": []}, {"status": pl.String}), pl.DataFrame(row), 464.0, 1, 4)
    assert next(found.lines()) == "Of the 464 people of the table:"
    assert "; about 460 to 464 are more likely than not to be found." in [*found.lines()][1]
    found = FlowAudit(found.table, pl.DataFrame(place), 464.0, 1, 4)
    assert [*found.lines()][1] == "- At mill, nobody of the table is expected during the 4 published steps."
