"""Pictures of zones, flows and visitors: what is told of them, and what is not."""

from dataclasses import replace

import polars as pl
import pytest
from tests.report.small_report import data, summed

import passerby as pb
from passerby.audits.settings import Measurement
from passerby.audits.validation import check_settings
from passerby.audits.what_if import explore
from passerby.others.counted import numbers
from passerby.report.evidence import Evidence
from passerby.report.sections import counts, noise, ranking
from passerby.support.rule_of_five import FEW

STEPS = 3
ZONES = {"west": (0, 1, 2), "east": (3, 4, 5), "north": (6,)}
FLOWS = [pb.Moved(a, b, t) for t in range(STEPS - 1) for a in list(ZONES.values())[:2] for b in ZONES.values()]
ALL = [
    *(pb.Present(zone, t) for t in range(STEPS) for zone in ZONES.values()),
    *FLOWS,
    pb.Visitors(ZONES["west"], [1, 2], 2),
]


def evidence_of(release: pb.Release) -> Evidence:
    city = pb.simulate_city(people=50, places=16, days=4, seed=5)
    people = pb.fit_people(city, window="4h", places=10, min_active=2, holdout=STEPS, habits="paper")
    settings = check_settings({"visits": "v.csv", "window": "4h", "holdout": STEPS, "budget": 1e5, "sigmas": [1]})
    table = pb.audit(people, release, 1, budget=1e5, workers=1)
    found = explore(people, release, Measurement(1), 8, workers=1)
    names = {zone: name for name, zone in ZONES.items()}
    return Evidence(table, people, release, settings, summed(table, people, release, settings), found, zones=names)


@pytest.fixture(scope="module")
def made() -> Evidence:
    return evidence_of(pb.Release(counts=ALL, steps=STEPS))


@pytest.fixture(scope="module")
def flows() -> Evidence:
    return evidence_of(pb.Release(counts=FLOWS, steps=STEPS, mechanism=pb.Rounding(5)))


def test_counts_of_each_kind_are_shown(made: Evidence) -> None:
    content = counts.build(made)
    assert [figure.key for figure in content.figures] == ["published", "flows", "visitors"]
    assert content.lead[0].startswith(
        "22 counts of 3 zones and of 6 flows and of visitors of 1 zone over 3 steps of 4 h"
    )
    true = numbers(made.people, made.release).tolist()
    inside = counts.rows(replace(made, internal=True))
    assert inside["count"].to_list() == true
    shared = counts.rows(made)
    back = (shared["shown"] == counts.BESIDE).to_list()
    assert 0 < sum(back) < sum(n >= FEW for n in true)
    assert shared["count"].to_list() == [
        n if n >= FEW and not kept else None for n, kept in zip(true, back, strict=True)
    ]
    assert "from which the small ones would follow" in counts.says(made, shared)
    visitors = shared.row(by_predicate=pl.col("kind") == "visitors", named=True)
    assert (visitors["place"], visitors["step"]) == ("visitors of west, 2 times or more", 2)
    went = shared.filter(kind="moved").row(1, named=True)
    assert (went["place"], went["origin"], went["destination"], went["step"]) == ("west → east", "west", "east", 1)


def test_a_matrix_tells_sums_of_what_is_told(made: Evidence) -> None:
    shared = counts.rows(made).filter(kind="moved")
    drawn = {(row["origin"], row["destination"]): row for row in data(counts.matrix(shared))}
    assert len(drawn) == 6
    for (origin, destination), row in drawn.items():
        told = shared.filter(origin=origin, destination=destination)["count"].drop_nulls()
        assert row["count"] == (told.sum() if len(told) else None)
        assert row["people"] is None or row["people"] >= FEW
    # With noise nothing is told, and every cell is grey.
    noisy = counts.rows(replace(made, release=made.release.through(pb.Gaussian(1.0)))).filter(kind="moved")
    assert {row["count"] for row in data(counts.matrix(noisy))} == {None}


def test_what_is_left_out_is_named(made: Evidence, flows: Evidence) -> None:
    table = ranking.rows(replace(made, internal=True), "count")
    assert table.height == 22
    assert set(table["place"]) == {each.name for each in made.about}
    first = table.filter(place="visitors of west, 2 times or more").row(0, named=True)
    assert (first["step"], first["start"]) == (2, made.steps[1])
    content = ranking.build(made)
    assert [figure.title for figure in content.figures][1] == "Without each zone or flow"
    inside = replace(flows, internal=True)
    figure = ranking.build(inside).figures[1]
    assert figure.title == "Without each flow"
    assert figure.spec is not None
    assert {(row["origin"], row["destination"]) for row in data(figure.spec)} == {
        (a, b) for a in ("west", "east") for b in ZONES
    }
    assert "Each cell is a flow whose counts are left out at all steps." in figure.says


def test_questions_are_in_the_words_of_what_is_published(made: Evidence, flows: Evidence) -> None:
    days = evidence_of(pb.Release(counts=[pb.Visitors(zone, range(STEPS)) for zone in ZONES.values()], steps=STEPS))
    zones = evidence_of(pb.Release(counts=ALL[:3], steps=STEPS))
    asked = [ranking.SECTION.heading(each) for each in (made, flows, days, zones)]
    assert asked == [
        "Which zone or flow and which step reveal most?",
        "Which flow and which step reveal most?",
        "Which zone and which window reveal most?",
        "Which zone and which step reveal most?",
    ]
    last = ranking.build(replace(days, internal=True)).figures[2]
    assert last.title == "Without each window"
    assert last.says.startswith("Each bar is a window of which nothing is published, by the step at which it begins.")
    # A window is told by its beginning, and a flow by where it comes from.
    assert ranking.rows(days, "step")["step"].to_list() == [1]
    assert sorted(ranking.rows(flows, "step")["step"].to_list()) == [1, 2]
    said = ranking.says("sensor", ranking.rows(flows, "sensor"), "flow", "flow")
    assert "left blank" not in said


def test_zones_without_a_name_are_called_by_their_places(made: Evidence) -> None:
    plain = replace(made, zones={})
    first = plain.places
    assert plain.about[0].name == f"{first[0]}, {first[1]} and 1 more"
    assert plain.about[2].name == first[6]
    assert len({each.name for each in plain.about}) == len(plain.about)


def test_other_ways_to_publish_zones_are_given_no_guarantee_that_is_wrong(made: Evidence) -> None:
    way = pl.DataFrame({"mechanism": ["noise 1"], "people": [9], "lower": [0.1], "upper": [0.2]})
    more = way.with_columns(lowest=pl.lit(0.1), highest=pl.lit(0.2), baseline=pl.lit(0.1))
    assert made.findings is not None
    tried = replace(made, findings=replace(made.findings, mechanisms=more))
    private = pb.differential_privacy(made.release.through(pb.Gaussian(1.0)), made.settings.delta).exact
    assert noise.rows(tried)["epsilon"].to_list() == [private]
