"""Limits of questions: verdicts as a direct measurement of everybody gives them, and several questions at once."""

from typing import Any

import numpy as np
import pytest
from tests.plans.towns import EXACT, PLAIN, town, wanted

import passerby as pb
from passerby.audits.validation import check_settings
from passerby.plans.limit import Limit, Tally, counted
from passerby.plans.panels import ends_of, panel_of
from passerby.plans.plan import Plans
from passerby.plans.record import record_of
from passerby.plans.settings import PlanSettings
from passerby.plans.survey import Panel, surveying
from passerby.report.plan_page import in_short

LEVERS = ["rounding", "suppression", "places"]


@pytest.fixture(scope="module")
def people() -> pb.People:
    return town(5, people=30)


def place(people: pb.People) -> str:
    """One of the places that are counted."""
    return people.places[wanted(people).sensors[0][1]]


def directly(people: pb.People, release: pb.Release, limit: Limit) -> Tally:
    """The tally of everybody from the table that an audit gives."""
    about = limit.about
    assert about is not None
    if about.against == "habits":
        release = release.with_others(pb.Crowd())
    rows = pb.audit(people, release, 0, questions=[about.question], **EXACT).to_dicts()  # type: ignore[arg-type]
    ends = np.array([ends_of(row, about) for row in rows])
    return counted(limit, ends[:, 0], ends[:, 1], (ends[:, 2], ends[:, 3]))


def made(people: pb.People, limits: list[Limit], levers: list[str] = LEVERS, **other: Any) -> Plans:
    return pb.plan(people, wanted(people), limits, 0, levers=levers, **{**PLAIN, **other})


@pytest.mark.parametrize("measure", ["advantage", "power", "certain"])
@pytest.mark.parametrize("ask", ["visited", "counted"])
def test_verdicts_are_those_of_a_direct_measurement(people: pb.People, measure: Any, ask: str) -> None:
    ask = f"visited:{place(people)}" if ask == "visited" else ask
    limit = pb.Limit(share=0.1, above=0.3, question=ask, measure=measure)
    found = made(people, [limit])
    looked = [
        plan for plan in (found.wanted, *found.tried, found.nothing) if plan.everyone and any(plan.release.sensors)
    ]
    assert found.wanted.verdict == directly(people, found.wanted.release, limit).verdict
    assert {plan.verdict for plan in found.recommended.values()} <= {"sure"}
    for plan in looked:
        expected = directly(people, plan.release, limit)
        assert (plan.tallies[0].surely, plan.tallies[0].possibly) == (expected.surely, expected.possibly), plan.words
    # Those that were tried on some people only.
    for plan in found.tried[:6]:
        if plan.verdict != "open":
            assert plan.verdict == directly(people, plan.release, limit).verdict, plan.words


def test_the_few_who_may_be_there_are_told_beside_the_share_of_everybody(people: pb.People) -> None:
    ask = f"visited:{place(people)}"
    limit = pb.Limit(share=0.2, above=0.5, question=ask)
    found = made(people, [limit, pb.Limit(share=0.5, above=0.99)], ["places"])
    rows = pb.audit(people, found.wanted.release, 0, questions=[ask], **EXACT)  # type: ignore[arg-type]
    able = int(rows["chance"].is_between(0.01, 0.99).sum())
    assert found.uncertain == (able, None)
    settings = PlanSettings(check_settings({"visits": "v.csv", "misses": 0}), found.limits)
    record = record_of(found, people, settings, "6h")
    said = min(len(people), 5 * -(-able // 5))
    assert [each.uncertain for each in record.limits] == [said, None]
    tally = record.wanted.tallies[0]
    ends = dict.fromkeys(str(round(end * len(people))) for end in (tally.at_least, tally.at_most))
    words = f", which is {' to '.join(ends)} of {len(people)}, and for about {said} of these {len(people)} people the "
    assert words in in_short(record)[2]


def test_an_insider_keeps_raw_counts_from_going_out(people: pb.People) -> None:
    limit = pb.Limit(share=0, above=0.1, question=f"visited:{place(people)}")
    found = made(people, [limit])
    assert found.wanted.verdict == "refused"
    assert found.wanted.tallies[0].surely > 0
    number = people.places.index(place(people))
    for plan in found.recommended.values():
        raw = plan.release.mechanism == pb.Raw()
        assert not (raw and any(number in step for step in plan.release.sensors)), plan.words


def test_who_knows_habits_alone_is_not_an_insider(people: pb.People) -> None:
    ask = f"visited:{place(people)}"
    tallies = {}
    for against in ("insider", "habits"):
        limit = pb.Limit(share=0.5, above=0.5, question=ask, against=against)
        with surveying(people, pb.audits.settings.Measurement(0, runs=100), 1) as survey:
            panel = panel_of(
                survey, wanted(people), [limit], 20, 0, {place(people): (people.places.index(place(people)),)}
            )
            tallies[against] = panel.whole(wanted(people))[0]
            if against == "habits":
                expected = directly(people, wanted(people), limit)
                assert tallies[against].surely <= expected.possibly
                assert expected.surely <= tallies[against].possibly
                assert len(panel.order) == len(people)  # nothing follows from what is wanted
    assert tallies["habits"].surely < tallies["insider"].surely


def test_certain_is_looked_for_on_a_grid(people: pb.People) -> None:
    asked: dict[str, Any] = {"share": 0.1, "above": 0.3, "question": f"visited:{place(people)}"}
    sure = made(people, [pb.Limit(**asked, measure="certain")], ["suppression"], drawn=10)
    power = made(people, [pb.Limit(**asked, measure="power")], ["suppression"], drawn=10)
    assert not sure.bisections
    assert [lever for lever, _, _ in power.bisections] == ["suppression"]


def test_the_whole_trace_may_be_asked_for_in_words(people: pb.People) -> None:
    plain, asked = (made(people, [pb.Limit(share=0.2, added=0.02, question=ask)]) for ask in (None, "trace"))
    assert [plan.words for plan in plain.recommended.values()] == [plan.words for plan in asked.recommended.values()]
    assert plain.wanted.tallies[0].surely == asked.wanted.tallies[0].surely


def test_several_questions_at_once(people: pb.People) -> None:
    limits = [
        pb.Limit(share=0.2, above=0.4, question=f"visited:{place(people)}"),
        pb.Limit(share=0.2, added=0.05),
        pb.Limit(share=0.3, added=0.3, question="each-step"),
        pb.Limit(share=0.1, above=0.5, question="counted", measure="power"),
    ]
    found = made(people, limits, ["rounding", "gaussian"], tolerance=0.05, budget=1e6, drawn=10)
    assert [tally.limit for tally in found.wanted.tallies] == limits
    for plan in found.recommended.values():
        assert plan.verdict == "sure"
        assert [tally.limit for tally in plan.tallies] == limits
        assert all(tally.most <= tally.limit.edges(len(people))[0] for tally in plan.tallies)
    for number in (0, 2, 3):
        assert found.wanted.tallies[number].verdict == directly(people, found.wanted.release, limits[number]).verdict
    # The trace is measured as if nothing else was asked.
    alone = made(people, [limits[1]], ["rounding"], tolerance=0.05, budget=1e6, drawn=10)
    assert alone.wanted.tallies[0] == found.wanted.tallies[1]


def test_limits_of_the_trace_alone_need_no_other_panel(people: pb.People) -> None:
    with surveying(people, pb.audits.settings.Measurement(0), 1) as survey:
        survey.everyone_first(wanted(people))
        assert type(panel_of(survey, wanted(people), [pb.Limit(share=0, added=0.1)], 5, 0, {})) is Panel


def test_a_place_that_is_not_there(people: pb.People) -> None:
    name = place(people)
    with pytest.raises(pb.InputError, match=f"did you mean '{name}'"):
        made(people, [pb.Limit(share=0, above=0.1, question=f"visited:{name}x")])


@pytest.mark.parametrize(
    ("row", "about", "ends"),
    [
        ({"status": "certain", "chance": 1.0}, ("visited:a", "insider", "advantage"), (0, 0, 0, 0, 1)),
        ({"status": "no such thing"}, ("visited:a", "insider", "power"), (0, 1, 0, 1, 0)),
        (
            {"status": "ok", "chance": 0.95, "certain_lower": 0.4, "certain_upper": 0.5, "sampled": True},
            ("visited:a", "insider", "certain"),
            (0.4, 0.5, 1, 1, 0),
        ),
        (
            {"status": "ok", "chance": 0.5, "power_lower": 0.4, "power_upper": 0.5, "sampled": False},
            ("visited:a", "insider", "power"),
            (0.4, 0.5, 0.01, 0.01, 1),
        ),
    ],
)
def test_ends_of_rows(row: dict[str, Any], about: tuple[str, Any, Any], ends: tuple[float, ...]) -> None:
    assert ends_of(row, pb.plans.limit.About(*about)) == ends
