"""What a page says of answers to questions: presence at places, being counted, and each step by itself."""

import re
from dataclasses import replace
from math import tanh
from typing import Any

import polars as pl
import pytest
from numpy import array, exp
from tests.report.answers import at_place, bracket, ends, presence, questions, statistics
from tests.report.small_report import data, small_evidence

import passerby as pb
from passerby.audits.record import Answers, Bracket, HourAnswer, Mean, PartAnswer, StepAnswer
from passerby.audits.summary import Above, Group
from passerby.report import chart, words
from passerby.report.evidence import Evidence
from passerby.report.facts import in_short
from passerby.report.page import fill
from passerby.report.sections import asked, each_step, in_data, known_shares, law, limits
from passerby.report.sections import presence as section
from passerby.report.sections.asked import on_screen


@pytest.fixture(scope="module")
def made() -> Evidence:
    return small_evidence()


def saying(made: Evidence, **more: Any) -> Evidence:
    """The same with another summary."""
    return replace(made, summary=made.summary.model_copy(update=more))


def said_of(power: Any, **more: Any) -> str:
    """The first sentences about one place."""
    (spot,) = words.spots([at_place("gate", "habits", power, **more)])
    return " ".join([words._of_spot(spot), *words._of_hours([spot], [])])


@pytest.mark.parametrize(
    ("power", "more", "words"),
    [
        (bracket(0.62, 0.8), {}, "give away who was at gate, where at least 12 people were"),
        (bracket(0.1, 0.9), {"certain": bracket(0.5, 0.9)}, "give away who was at gate"),
        (bracket(0.25, 0.9), {"certain": None}, "give away many of those who were at gate"),
        (bracket(0.01, 0.9), {}, "may give away who was at gate"),
        (bracket(0.01, 0.3), {}, "tell something of who was at gate"),
        (bracket(0.01, 0.04), {"by_step": []}, "tell hardly anything of who was at gate"),
        (bracket(0.01, 0.04), {}, "tell hardly anything on average of who was at gate"),
        (bracket(0.01, 0.04), {}, "that count alone gives away about 63 at gate at 14:00."),
        (bracket(0.01, 0.04), {"visitors": None}, "at gate, where fewer than 5 people were"),
        (bracket(0.01, 0.04), {"visitors": 0}, "at gate, where nobody was"),
    ],
)
def test_each_verdict_has_its_words(power: Any, more: dict[str, Any], words: str) -> None:
    assert words in said_of(power, **more)


def test_a_wide_interval_is_never_called_harmless() -> None:
    """What nobody exceeds decides what is called hardly anything, and what was found what is given away."""
    for upper in (0.06, 0.5, 1.0):
        assert "hardly" not in said_of(bracket(0.0, upper), certain=None)


def test_sensitive_places_come_first_and_then_those_that_tell_most() -> None:
    every = [
        at_place("a", "habits", bracket(0.1, 0.2)),
        at_place("b", "habits", bracket(0.9)),
        at_place("c", "habits", bracket(0.01), sensitive=True),
        at_place("d", "habits", None),
        at_place("e", "habits", bracket(0.1, 0.4)),
    ]
    assert [spot.name for spot in words.spots(every)] == ["c", "b", "e", "a", "d"]


def test_the_lead_says_presence_first_and_the_insider_once(made: Evidence) -> None:
    said = in_short(made.summary)
    assert said[0].startswith("The counts give away who was at ")
    assert "finds 62 to 80, wrongly accusing 1 of 100 who were not" in said[0]
    insider = [line for line in said if line.startswith("An insider, who knows where everybody else was,")]
    assert insider == [
        "An insider, who knows where everybody else was, reads for certain from these counts who was there, at every "
        "counted place of which it can be told."
    ]


def test_places_with_telling_hours_are_named_beside_the_one_that_tells_most(made: Evidence) -> None:
    said = in_short(made.summary)
    second = made.called[made.people.places[1]]
    assert said[1].startswith("Hour by hour it differs.")
    assert said[1].endswith(f"that count alone gives away about 63 at {second} at 14:00.")
    warned = ["Single counts give away who is in them, even to others."]
    for alerts, times in (([], 1), (warned, 0)):
        top = fill(saying(made, alerts=alerts), []).partition("<nav")[0]
        assert top.count("Hour by hour it differs") == times
    flat = [each.model_copy(update={"by_step": []}) for each in made.summary.presence]
    assert "Hour by hour" not in " ".join(words.lead(made.summary.model_copy(update={"presence": flat})))


def test_what_an_alert_says_of_the_insider_is_not_said_again(made: Evidence) -> None:
    said = "An insider, who knows where everybody else was, reads from any exact count who was there."
    for alerts, times in (([said], 1), ([], 1)):
        one = saying(made, alerts=alerts)
        top = fill(one, []).partition("<nav")[0]
        assert top.count("An insider, who knows where everybody else was,") == times
    noisy = saying(made, alerts=[said], presence=presence(made.people.places[:2], exact=False))
    assert "finds 30 to 60 of 100" in fill(noisy, []).partition("<nav")[0]


def test_a_page_about_groups_says_what_is_assumed_of_others(made: Evidence) -> None:
    assert "move as one" not in " ".join(section.build(made).lead)
    release = pb.Release(made.release.sensors, size=4)
    said = " ".join(section.build(replace(made, release=release)).lead)
    assert "a group of 4 who move as one" in said
    assert "All other people are taken to move each by themselves." in said


def test_what_an_insider_finds_of_noisy_counts_is_an_interval(made: Evidence) -> None:
    some = presence(made.people.places[:2], exact=False)
    said = words.of_insider(words.spots(some))
    assert said == [
        "An insider, who knows where everybody else was, finds 30 to 60 of 100 people who were there, depending on "
        "the place, wrongly accusing 1 of 100 who were not."
    ]
    one = [at_place("gate", "insider", bracket(1.0)), *some]
    assert words.of_insider(words.spots(one))[0].endswith("For 1 of 3 places they tell it for certain.")


def test_where_presence_was_not_measured_the_lead_says_so(made: Evidence) -> None:
    nothing = saying(made, presence=[], questions=[])
    assert in_short(nothing.summary)[0].startswith(
        "Whether it can be told that somebody was at a place was not measured"
    )
    assert str(section.SECTION.missing(nothing)).startswith("presence was not measured")
    assert in_data.SECTION.missing(nothing)
    assert each_step.SECTION.missing(nothing)
    assert asked.SECTION.missing(nothing) == "nothing else was asked"
    assert law.rows(nothing)["found"].to_list()[0] == law.MISSING
    unknown = [at_place("gate", who, None, sensitive=True) for who in ("habits", "insider")]
    few = saying(made, presence=unknown, questions=[])
    assert section.SECTION.missing(few)
    assert in_short(few.summary)[0] == (
        "What the counts tell of gate is not said: whether they were there is open for fewer than 5 people of the "
        "sample. That does not make it harmless."
    )


def test_it_is_said_where_nothing_below_known_others_could_be_certified(made: Evidence) -> None:
    open_ = at_place("gate", "habits", bracket(0.1, 1.0)), at_place("gate", "insider", bracket(1.0, 1.0))
    assert section.ALL_OPEN in section.build(saying(made, presence=open_)).lead
    less = at_place("yard", "habits", bracket(0.1, 0.9)), at_place("yard", "insider", bracket(1.0, 1.0))
    assert section.ALL_OPEN not in section.build(saying(made, presence=[*open_, *less])).lead


def test_presence_is_drawn_by_place_by_way_and_by_hour(made: Evidence) -> None:
    content = section.build(made)
    assert [figure.key for figure in content.figures] == ["presence", "presence-ways", "presence-hours"]
    places, ways, hours = (list(data(figure.spec)) for figure in content.figures)
    first, second, third = (made.called[name] for name in made.people.places[:3])
    assert [row["place"] for row in places] == [first, first, second, second]
    assert {row["adversary"] for row in places} == {chart.HABITS, chart.INSIDER}
    assert {row["place"] for row in ways} == {row["place"] for row in hours} == {first, second}
    assert {row["start"] for row in hours} == {*made.steps}
    assert [row["of_hundred"] for row in ways if row["way"] == "noise 2"] == ["3", "3"]
    rows = content.figures[0].sheet.rows
    assert [row[0] for row in rows] == [first, first, second, second, third, third]
    assert {*rows[-1][3:]} == {"not told"}
    for figure in content.figures:
        assert figure._repr_html_().startswith("<img")


def test_the_best_ways_to_publish_are_named(made: Evidence) -> None:
    every = words.spots(made.summary.presence, made.called)
    (said,) = section.of_ways(every)
    assert "71 to 100 are found if counts are exact; about 5 or fewer are with noise 2." in said
    assert said.startswith("By all counts of the day")
    few = [each.model_copy(update={"ways": each.ways[:4]}) for each in made.summary.presence]
    (said,) = section.of_ways(words.spots(few))
    assert "of the other ways that were tried, rounded to 10 leaves least: 8 to 12." in said


def test_no_way_is_praised_for_what_a_single_count_tells(made: Evidence) -> None:
    untried = [
        each.model_copy(update={"ways": [way.model_copy(update={"power": 0.02, "day": None}) for way in each.ways]})
        for each in made.summary.presence
    ]
    (said,) = section.of_ways(words.spots(untried))
    assert "2 of 100 people who were there are found if it is exact. What all counts of a day tell" in said
    assert "at most" not in said


def test_ways_whose_power_is_not_known_are_told_by_their_advantage(made: Evidence) -> None:
    some = [
        each.model_copy(update={"ways": [way.model_copy(update={"power": None}) for way in each.ways]})
        for each in made.summary.presence
    ]
    figure = section.build(saying(made, presence=some)).figures[1]
    assert figure.says == section.WAYS_ADVANTAGE
    assert all(row["share"] == row["advantage"] for row in data(figure.spec))


def test_names_that_no_picture_can_show_are_as_on_the_rest_of_the_page(made: Evidence) -> None:
    nasty = ("x" * 500, "new\nline", *made.people.places[2:])
    people = replace(made.people, places=nasty)
    labelled = presence(nasty[:2])
    labelled[0] = labelled[0].model_copy(update={"label": "a\u202eb"})
    table = section.rows(words.spots(labelled, replace(made, people=people).called))
    assert {*table["place"]} == {*replace(made, people=people).places[:2]}
    assert not {"\n", "\u202e"} & {*"".join([*table["place"], *table["what"]])}


def test_being_counted_stands_beside_what_differential_privacy_allows(made: Evidence) -> None:
    noisy = replace(made, release=pb.Release([[0, 1]] * 4, pb.Laplace(2.0)))
    found = pb.differential_privacy(noisy.release, made.settings.delta)
    assert found.added is not None
    epsilon = in_data.allowed_epsilon(noisy)
    assert epsilon == found.added
    table = in_data.rows(in_data.told(noisy), epsilon, 0.0)
    by = {row["measure"]: row["allowed"] for row in table.to_dicts()}
    assert by[in_data.MEASURES["advantage"]] == pytest.approx(tanh(epsilon / 2))
    assert by[in_data.MEASURES["certain"]] is None
    assert "Differential privacy (epsilon = " in in_data.build(noisy).lead[-1]
    assert "gives no guarantee" in in_data.build(made).lead[-1]
    assert {row["allowed"] for row in data(in_data.build(made).figures[0].spec)} == {None}
    assert in_data.build(noisy).figures[0]._repr_html_().startswith("<img")


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 50.0, 1e4])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.01])
def test_what_is_allowed_is_attained_by_the_mechanism_that_has_no_more(epsilon: float, delta: float) -> None:
    """That of Kairouz et al.: 0 or 3 with delta, else 1 or 2 by randomised response."""
    yes = (1 - delta) / (1 + exp(-epsilon))
    no = (1 - delta) - yes
    one, other = array([delta, yes, no, 0.0]), array([0.0, no, yes, delta])
    advantage = float(abs(one - other).sum() / 2)
    assert in_data.allowed("advantage", epsilon, delta) == pytest.approx(advantage, abs=1e-12)
    power, left = 0.0, in_data.FALSE_ALARMS
    for p, q in zip(one, other, strict=True):  # by falling likelihood ratio
        share = 1.0 if q <= left else left / q
        power, left = power + share * p, max(0.0, left - q)
    assert in_data.allowed("power", epsilon, delta) == pytest.approx(min(1.0, power), abs=1e-9)


def test_the_easiest_step_is_named(made: Evidence) -> None:
    content = each_step.build(made)
    last = made.steps[-1]
    assert content.lead[0].startswith(f"At {last} people are easiest to find: ")
    assert content.lead[1].startswith(f"The release adds most at {last}, at least 20 points: ")
    rows = list(data(content.figures[0].spec))
    assert {row["which"] for row in rows} == {chart.WITHOUT, chart.FOUND, chart.BOUND}


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [(0.5, 0.5, "makes no step easier"), (0.5, 0.7, "at 12:00, up to 20 points cannot be excluded")],
)
def test_a_release_that_adds_nothing_says_so_only_where_that_is_sure(
    made: Evidence, lower: float, upper: float, words: str
) -> None:
    steps = [StepAnswer(step=t, lower=lower, upper=upper, baseline=0.5) for t in range(4)]
    one = questions()[2].model_copy(update={"by_step": steps})
    assert words in each_step.build(saying(made, questions=[one])).lead[1]


def test_events_of_few_people_are_not_told(made: Evidence) -> None:
    content = asked.build(made)
    assert content.lead[1] == "Whether the person was never at park: open for 5 or fewer people, so no number is told."
    assert content.figures[0].sheet.rows[1][2:] == ["not told"] * 8


def test_the_three_risks_name_their_sections(made: Evidence) -> None:
    table = law.rows(made)
    assert table["risk"].to_list() == ["singling out", "linkability", "inference"]
    assert table["where"][0].startswith("Is somebody counted at all?")
    assert "62 to 80 of 100" in table["found"][2]
    assert "an insider finds 42 to 43 of 100 people" in table["found"][0]


def group(counted: bool, people: int, *, lower: float, upper: float) -> Group:
    above = [Above(threshold=0.9, baseline=0.0086, loss_lower=0.42, loss_upper=0.54)]
    mean = Mean(lower=lower, upper=upper, confidence=None)
    who = "people who are counted" if counted else "people who hardly ever are counted"
    return Group(
        counted=counted,
        sentence=who,
        people=people,
        baseline=Mean(lower=0.68, upper=0.68, confidence=None),
        loss=mean,
        above=above if counted else [],
    )


def test_counted_people_come_first_and_the_stranger_after_them(made: Evidence) -> None:
    both = [group(True, 930, lower=0.88, upper=0.89), group(False, 1070, lower=0.7, upper=0.7)]
    said = in_short(made.summary.model_copy(update={"groups": both}))
    number = next(i for i, line in enumerate(said) if line.startswith("Whole traces"))
    assert (
        "Of the 930 people who are counted, the mean chance is 68 % without the release and 88 % to 89 %"
        in said[number]
    )
    assert said[number].endswith(
        "The share of them who are found with a chance of 90 % or more is 0.86 % without it and 42 % to 54 % with it."
    )
    assert said[number + 1].startswith("Of the 1,070 people who hardly ever are counted")
    assert "Over all people, the mean chance is" in said[number + 1]
    assert said[number + 2].startswith("From the counts alone: a stranger")


def test_answers_are_what_the_summary_holds() -> None:
    one = Answers(
        question="replaced",
        sentence="whether it is they",
        kind="in_data",
        adversary="insider",
        people=9,
        open=9,
        chance=statistics(0.5),
        advantage=ends(0.2, 0.3),
    )
    table = in_data.rows([one], None, 0.0)
    assert table["measure"].to_list() == [in_data.MEASURES["advantage"]]
    assert "against somebody else in their place" in in_data.words([one], None, 0.0)[0]
    assert isinstance(table, pl.DataFrame)


def test_membership_is_told_of_people_who_are_counted_first(made: Evidence) -> None:
    """A mean over people of whom most are hardly ever counted hides what is found of the others."""
    parts = [
        PartAnswer(
            counted=True, people=70, advantage=Bracket(lower=0.9, upper=0.9), power=Bracket(lower=0.91, upper=0.91)
        ),
        PartAnswer(
            counted=False, people=130, advantage=Bracket(lower=0, upper=0), power=Bracket(lower=0.02, upper=0.02)
        ),
    ]
    asked_of = [
        each.model_copy(update={"groups": parts})
        if each.question == "counted" and each.adversary == "insider"
        else each
        for each in made.summary.questions
    ]
    split = saying(made, questions=asked_of)
    said = next(line for line in in_short(split.summary) if line.startswith("Whether somebody is counted at all"))
    assert "of 100 people who may well be in a published count (70 people), an insider who knows where" in said
    assert "finds 91; of 100 who hardly ever are (130), 2;" in said
    assert re.search(r"of 100 people in the data( \(of \d+ drawn\))?, an acquaintance who .* finds 5 to 20", said)
    short = law.rows(split)["found"][0]
    assert "an insider finds 91 of 100 who may well be in a count (42 to 43 of 100 people in all)" in short
    (first, *_) = in_data.build(split).lead
    assert first.startswith("Of 100 people who may well be in a published count (70 people)")
    assert not any("diluted" in line for line in in_data.build(made).lead)


def test_the_worst_hour_is_named_beside_the_one_that_tells_of_most_people() -> None:
    """At 9 half of the people are in the count; at 20 few are, and it gives these away nearly all."""
    hours = [
        HourAnswer(step=9, people=None, advantage=0.6, share=0.5, begins="09:00"),
        HourAnswer(step=20, people=None, advantage=0.97, share=0.01, begins="20:00"),
    ]
    calm = bracket(0.1, 0.2)
    spots = words.spots([at_place("office", "habits", calm, by_step=hours)])
    (said,) = words._of_hours(spots, [])
    assert "about 60 at office at 09:00 (up to 97 at 20:00, for whoever is there then)." in said
    (said,) = words._of_hours(words.spots([at_place("office", "habits", calm, by_step=hours[:1])]), [])
    assert "up to" not in said


def test_few_points_are_told_with_a_digit_more(made: Evidence) -> None:
    """Not "1 points" beside chances that look the same."""
    answer = next(each for each in made.summary.questions if each.kind == "each_step")
    step = StepAnswer(step=0, lower=0.963, upper=0.9634, baseline=0.957)
    table = each_step.rows(answer.model_copy(update={"by_step": [step]}), ["12:00"])
    (_, said) = each_step.words(answer, table, each_step.by_clock(table))
    assert "at least 0.6 points: the chance is 95.7 % without it and 96.3 % with it." in said


def test_answers_fall_from_an_insider_to_an_acquaintance(made: Evidence) -> None:
    content = known_shares.build(made)
    first = made.summary.known_shares[-1].place
    assert content.lead[0] == (
        f"Of 100 people who were at {first}, an insider finds 100; whoever knows 50 % of the others finds 30 to 60; an "
        "acquaintance finds 10 to 20."
    )
    assert content.lead[1].startswith("Of 100 people who are in the data, an insider finds 40; whoever")
    (figure,) = content.figures
    assert len(figure.sheet.rows) == 6
    assert figure.sheet.rows[0][:3] == ["being counted at all", "acquaintance", "0 %"]
    assert figure.spec is not None
    assert {row["people"] for row in data(figure.spec)} == {40}
    none = replace(made, summary=made.summary.model_copy(update={"known_shares": []}))
    assert "flows" in str(known_shares.SECTION.missing(none))


def test_weeks_are_drawn_of_membership_and_of_the_most_telling_place(made: Evidence) -> None:
    content = in_data.build(made)
    assert [figure.key for figure in content.figures] == ["in-data", "weeks"]
    rows = in_data.by_week(made, in_data.told(made))
    assert rows["weeks"].unique().sort().to_list() == [1, 4, 12, 26, 52]
    assert rows["about"].n_unique() == 4
    first = made.places[0]
    assert content.lead[-2] == (
        f"At {first} (a clinic), of somebody who is there every week or never, the advantage after a year is 100 % to "
        "an acquaintance who knows everybody's habits alone, if all weeks are like this one."
    )
    bare = [each.model_copy(update={"weeks": []}) for each in made.summary.presence]
    quiet = replace(made, summary=made.summary.model_copy(update={"presence": bare}))
    assert in_data.after_a_year(quiet) == []


def test_sentences_name_the_profile_that_they_hold_for(made: Evidence) -> None:
    said = " ".join(in_short(made.summary))
    for name in ("an acquaintance who", "an insider who", "An insider, who", "a stranger, who"):
        assert name in said
    assert "motivated intruder" in law.build(made).lead[0]


def test_answers_on_drawn_people_say_so(made: Evidence) -> None:
    """Two adversaries beside each other: one of everybody, and one of twenty."""
    asked_of = [
        each.model_copy(update={"people": 20 if each.adversary == "habits" else 60})
        for each in made.summary.questions
        if each.question == "counted"
    ]
    lines = in_data.build(saying(made, questions=asked_of)).lead
    assert any(line.startswith("Of 100 people") and "(of 20 drawn), an acquaintance" in line for line in lines)
    assert any(line.startswith("Of 100 people") and "drawn" not in line and "an insider" in line for line in lines)


def test_the_assumptions_of_a_page_about_groups_say_so(made: Evidence) -> None:
    alone, four = (
        limits.build(replace(made, release=pb.Release(made.release.sensors, size=size))).points for size in (1, 4)
    )
    assert "People are taken to move independently of each other." in alone
    assert any("or family who move with them" in point for point in alone)
    moves = "A person and 3 others are taken to move as one. All other people are taken to move independently of each"
    assert f"{moves} other." in four
    assert not any("family who move with them" in point for point in four)
    assert "People are taken to move independently of each other." not in four


def test_a_page_about_groups_says_first_how_many_move_as_one(made: Evidence) -> None:
    """Also where too few are measured for more."""
    groups = made.summary.model_copy(update={"together": 4})
    for summary in (groups, groups.model_copy(update={"mean_loss": None})):
        assert in_short(summary)[0].startswith("Each person is taken to be one of a group of 4 who move as one:")
    assert "move as one" not in " ".join(in_short(made.summary))


def trace(**more: Any) -> Answers:
    about: dict[str, Any] = {"adversary": "insider", "people": 60, "open": 60, "loss": ends(0.31, 0.33)}
    sentence = "all but 6 of the places of the person"
    answers = {**about, "kind": "trace", "question": "trace with 6 misses", "sentence": sentence, **more}
    return Answers(**{"baseline": ends(0.2), **answers})


def test_a_question_about_traces_is_answered_on_the_page_and_on_the_screen(made: Evidence) -> None:
    said = (
        "An insider who knows where everybody else was names all but 6 of the places of the person with a chance of "
        "31 % to 33 % on average with the release, and of 20 % without it."
    )
    alone = saying(made, questions=[each for each in made.summary.questions if each.kind != "event"] + [trace()])
    assert asked.SECTION.missing(alone) is None
    content = asked.build(alone)
    assert content.lead == [said]
    (figure,) = content.figures
    assert figure.sheet.rows == [["trace with 6 misses", chart.INSIDER, "20 %", "31 %", "33 %", "60"]]
    every = saying(made, questions=[*made.summary.questions, trace()])
    assert [each.key for each in asked.build(every).figures] == ["asked", "asked-traces"]
    shown = list(on_screen(every.summary))
    assert said in shown
    assert any(line.startswith("Whether the person was at gate at 2 or more of 4 steps: of 100") for line in shown)


def test_a_question_about_traces_of_few_people_is_not_told(made: Evidence) -> None:
    few = saying(made, questions=[trace(open=5, loss=None, baseline=None)])
    content = asked.build(few)
    assert content.lead[0].endswith("measured for 5 or fewer people, so no number is told.")
    assert content.figures[0].sheet.rows[0][2:] == ["not told"] * 4
