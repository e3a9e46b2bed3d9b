"""What is written down of a plan: as documented, in fives of people, and not more than that."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from tests.plans.towns import town, wanted

import passerby as pb
from passerby.audits.validation import check_settings
from passerby.plans.cost import Cost, Truth, cost_of
from passerby.plans.disclosable import told_cost, told_tally
from passerby.plans.lever import cells_of
from passerby.plans.limit import Tally
from passerby.plans.plan import Plans
from passerby.plans.record import PresenceRecord, Record, _tally, record_of
from passerby.plans.search import Plan
from passerby.plans.settings import PlanSettings
from passerby.report.plan_page import _unsure, in_short, render_plan, sections, sentence

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made() -> tuple[Plans, Record, PlanSettings]:
    people = town(2, people=30)
    limits = (pb.Limit(share=0.2, added=0.05), pb.Limit(share=0.9, above=0.8))
    found = pb.plan(people, wanted(people), limits, 0, levers=["rounding", "places"], budget=1e6, workers=1)
    settings = PlanSettings(check_settings({"visits": "v.csv", "misses": 0, "title": "A <b>town</b>"}), limits)
    return found, record_of(found, people, settings, "6h"), settings


def test_the_schema_is_the_one_that_is_documented(made: tuple[Plans, Record, PlanSettings]) -> None:
    schema = json.loads((DOCS / "plan.schema.json").read_text(encoding="utf-8"))
    assert schema == Record.model_json_schema()
    jsonschema.validate(made[1].model_dump(mode="json"), schema)


@pytest.mark.parametrize(("surely", "possibly"), [(0, 3), (4, 7), (11, 13), (20, 100)])
def test_people_are_told_in_fives_on_the_safe_side(surely: int, possibly: int) -> None:
    tally = Tally(pb.Limit(share=0.12, above=0.5), 100, surely, possibly, surely, possibly, True)
    told = _tally(0, tally)
    assert told.at_least <= surely / 100
    assert told.at_most >= possibly / 100
    for value in (told.at_least, told.at_most):
        people = round(100 * value)
        assert people % 5 == 0 or people in (12, 13)
    if tally.verdict == "sure":
        assert told.at_most <= 0.12
    if tally.verdict == "refused":
        assert told.at_least > 0.12


def test_errors_of_few_counts_are_not_told() -> None:
    few, many = Cost(2.0, 2.0, 0.1, 0.9, 4.0), Cost(2.0, 2.25, 0.1, 0.9, 5.0)
    rounded, noisy = pb.Release([0], pb.Rounding(5)), pb.Release([0], pb.Gaussian(2.0))
    assert told_cost(rounded, few).mean is None
    assert told_cost(rounded, many) == Cost(2.0, 3.0, 0.1, 0.9, 5.0)
    assert told_cost(noisy, few).mean == 2.0


def told_of(release: pb.Release, wanted: pb.Release, numbers: list[int]) -> Cost:
    """What is told of the cost of a release, where these are the true numbers of what is wanted."""
    known = dict(zip(cells_of(wanted), numbers, strict=True))
    return told_cost(release, cost_of(release, wanted, Truth(lambda some: [known[cell] for cell in cells_of(some)])))


def test_what_is_left_out_does_not_follow_from_the_error() -> None:
    """Whoever has all counts but one, and the error in all, must not know how many people the last one counts."""
    wanted, kept = pb.Release([[0, 1], [0, 1]]), pb.Release([[0, 1], [0]])
    for last, people in ((0, 0), (1, 5), (4, 5), (5, 5), (6, 10), (10, 10)):
        cost = told_of(kept, wanted, [300, 200, 100, last])
        assert round(cost.total * (600 + last)) == people
        assert cost.published == 0.75


def test_a_small_number_does_not_follow_from_the_errors_of_many_releases() -> None:
    """Each is told in fives; held against the other numbers, which are all known, a few of them told the last one."""
    wanted = pb.Release([list(range(8))])
    kept = [pb.Release([some]) for some in ([0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 6], [0, 1, 3, 5, 6], [5])]
    ways = [wanted.through(pb.Rounding(base)) for base in (3, 5, 10, 20, 50)] + [wanted.through(pb.Suppression(3))]

    def told(last: int) -> list[Cost]:
        known = dict(zip(cells_of(wanted), [33, 21, 17, 14, 12, 9, 6, last], strict=True))
        truth = Truth(lambda some: [known[cell] for cell in cells_of(some)]).as_told(wanted)
        return [told_cost(release, cost_of(release, wanted, truth)) for release in (*kept, *ways)]

    assert told(0) == told(1) == told(2) == told(3) == told(4)
    assert told(5) != told(4)


def test_measurements_do_not_tell_for_how_many_people_a_release_matters(
    made: tuple[Plans, Record, PlanSettings],
) -> None:
    found, record, _ = made
    assert record.measured % record.people == 0
    assert found.measured <= record.measured < found.measured + record.people


def test_a_plan_whose_limit_allows_few_people_is_internal(made: tuple[Plans, Record, PlanSettings]) -> None:
    found, record, settings = made
    assert not record.internal
    assert "Internal:" not in render_plan(record, settings)
    people = town(2, people=30)
    for share, internal in ((0.0, False), (0.03, False), (0.04, True), (0.1, True), (0.134, False)):
        limits = (pb.Limit(share=share, added=0.05), found.limits[1])
        told = record_of(replace(found, limits=limits), people, settings, "6h")
        assert told.internal == internal
        assert ("so keep this page where the visits are kept" in " ".join(told.alerts)) == internal
        assert ("Internal: a limit allows fewer than 5 people" in render_plan(told, settings)) == internal


def test_how_many_numbers_are_small_is_told_in_fives() -> None:
    """A rule that is not chosen must not tell what the one that is chosen hides."""
    wanted, hidden = (pb.Release([list(range(8))], rule) for rule in (pb.Raw(), pb.Suppression(5)))
    rounded = pb.Release([[0, 1, 2, 3]], pb.Rounding(5))
    assert told_of(rounded, wanted, [7] * 8).published == 0.5
    for small, published in ((0, 1.0), (1, 0.375), (4, 0.375), (5, 0.375), (6, 0.0)):
        cost = told_of(hidden, wanted, [3] * small + [100] * (8 - small))
        assert cost.published == published
        assert cost.total == pytest.approx(5 * np.ceil(3 * small / 5) / (800 - 97 * small), rel=1e-2)


def test_a_wanted_table_of_nobody_costs_nothing() -> None:
    release = pb.Release([0, 1])
    assert told_of(release, release, [0, 0]).total == 0.0
    noisy = release.through(pb.Gaussian(2.0))
    # More than nothing at all; how much more would tell how many people there are, of whom up to five are told as five.
    assert told_of(noisy, release, [0, 0]).total == 1.0
    errors = [told_of(noisy, release, [n, 0]).total for n in (1, 2, 3, 7)]
    assert errors == pytest.approx([1.0, 1.0, 1.0, 2 * 2.0 * np.sqrt(2 / np.pi) / 5], rel=1e-2)


def test_the_page_shows_every_plan_and_escapes_names(made: tuple[Plans, Record, PlanSettings]) -> None:
    found, record, settings = made
    page = render_plan(record, settings)
    assert "A &lt;b&gt;town&lt;/b&gt;" in page
    assert "<b>town" not in page
    for name in found.recommended:
        assert record.recommended[name].words in page
    built = sections(record)
    figures = [figure for section in built for figure in section.content.figures]
    assert [figure.key for figure in figures] == ["recommended", "frontier-1", "frontier-2", "asked", "tried"]
    assert len(figures[1].sheet.rows) == len(found.tried) + 2


def test_releases_that_leave_out_one_step_are_told_apart(made: tuple[Plans, Record, PlanSettings]) -> None:
    _, record, settings = made
    plan = record.tried[0].model_copy(update={"words": "counts at 3 of 4 steps", "places_left_out": []})
    tried = [plan.model_copy(update={"steps_left_out": gone}) for gone in ([2], [3], [1, 2])]
    page = render_plan(record.model_copy(update={"tried": tried}), settings)
    for words in ("counts at 3 of 4 steps (without step 2)", "counts at 3 of 4 steps (without step 3)"):
        assert f">{words}<" in page
    assert ">counts at 3 of 4 steps<" in page  # of several, the settings of the plan tell


def test_the_page_shows_the_shares_by_which_verdicts_are_given(made: tuple[Plans, Record, PlanSettings]) -> None:
    """Few of those who were drawn may be above a limit, while that is not sure of everyone."""
    record = made[1]
    shares = {"at_least": 0.1, "at_most": 0.15, "lowest": 0.05, "highest": 0.35}
    tallies = [tally.model_copy(update=shares) for tally in record.tried[0].tallies]
    drawn = record.tried[0].model_copy(update={"verdict": "open", "everyone": False, "tallies": tallies})
    built = sections(record.model_copy(update={"tried": [drawn]}))
    figures = {figure.key: figure.sheet for section in built for figure in section.content.figures}
    assert figures["tried"].rows[0][1:4] == ["open", "5.0 %", "35 %"]
    assert ["open", "5.0 %", "35 %"] in [row[1:4] for row in figures["frontier-1"].rows]


def test_how_many_numbers_a_rule_leaves_is_told_as_the_least(made: tuple[Plans, Record, PlanSettings]) -> None:
    """One to five that are empty are told as five, so that more may be left than the share says."""
    people = town(2, people=30)
    release, limits = wanted(people), made[2].limits
    found = pb.plan(people, release, limits, 0, levers=["suppression", "places"], budget=1e6, workers=1)
    record = record_of(found, people, made[2], "6h")
    for plan in record.tried:
        empty = plan.published < plan.counts / record.wanted.counts - 0.01
        assert plan.some_empty == empty
        said = sentence(plan, record)
        assert ("at least" in said or "is not told" in said) == empty
        assert "at least 0 %" not in said
    assert any(plan.some_empty for plan in record.tried)


def _told(plan: Plan) -> float:
    return told_tally(plan.tallies[0]).possibly


def test_the_frontier_leads_from_what_is_wanted_to_less_risk(made: tuple[Plans, Record, PlanSettings]) -> None:
    found = made[0]
    edge = found.frontier
    assert edge[0].cost.total == 0
    risks = [plan.tallies[0].possibly for plan in edge]
    assert risks == sorted(risks, reverse=True)
    assert len(set(risks)) == len(risks)
    everything = [found.wanted, *found.tried, found.nothing]
    for plan in everything:
        # They are compared as they are told, in fives.
        beats = [p for p in edge if p.cost.total <= plan.cost.total and _told(p) <= _told(plan)]
        assert beats
    assert np.isfinite([plan.cost.total for plan in everything]).all()


def test_too_few_people_are_not_told_of(made: tuple[Plans, Record, PlanSettings]) -> None:
    few = made[1].model_copy(update={"people": 4})
    assert [section.key for section in sections(few)] == ["plan"]


def test_what_a_release_is_not_sure_of_is_named(made: tuple[Plans, Record, PlanSettings]) -> None:
    """A share within the limit may be open for a place alone: the verdict comes with its reason."""
    record = made[1]
    place = PresenceRecord(place="park", people=20, lower=0.1, upper=0.9, verdict="open", closely=True)
    tallies = [tally.model_copy(update={"verdict": "sure"}) for tally in record.wanted.tallies]
    plan = record.wanted.model_copy(update={"verdict": "open", "tallies": tallies, "presence": [place]})
    assert _unsure(plan, record) == "who was at park"
    both = plan.model_copy(update={"presence": [place, place, place]})
    assert _unsure(both, record) == "who was at park and 2 more places"
    refused = plan.model_copy(update={"tallies": [tallies[0], tallies[1].model_copy(update={"verdict": "refused"})]})
    assert _unsure(refused, record) == "limit 2, who was at park"


def test_what_was_not_found_is_said(made: tuple[Plans, Record, PlanSettings]) -> None:
    record = made[1]
    only = {name: plan for name, plan in record.recommended.items() if name == "complete"}
    assert only
    said = in_short(record.model_copy(update={"recommended": only}))
    assert "Exact and Least: no other release that keeps the limit was found." in said
