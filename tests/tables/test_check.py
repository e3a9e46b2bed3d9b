"""A table is checked: against `measure` by hand, certain ends, and whatever is wrong with what is handed in."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.errors import InputError
from passerby.report.check_page import render_check, sentences
from passerby.support.numbers import span
from passerby.tables.check import COUNTED, PRESENCE, TableCheck, check_table
from passerby.tables.ways import HABITS, INSIDER, poisson

CLINIC = [2, 3, 1, 4, 2]
#: Monday morning, when the dialysis is.
TABLE = pl.DataFrame(
    {"time": [f"2024-01-15 {h:02}:00" for h in range(7, 12)], "hospital": CLINIC, "station": [90, 80, 95, 99, 70]}
)
QUICK: dict[str, Any] = {"runs": 50}


@pytest.fixture(scope="module")
def found() -> TableCheck:
    return check_table(TABLE, "dialysis", ways=[pb.Raw(), pb.Rounding(10), pb.DiscreteGaussian(2.0)], **QUICK)


def test_an_insider_reads_presence_for_certain_from_raw_counts(found: TableCheck) -> None:
    raw = next(x for x in found.of("dialysis", PRESENCE) if (x.way, x.against) == ("Raw()", INSIDER))
    assert raw.lower == pytest.approx(1)
    assert raw.upper == pytest.approx(1)
    assert raw.single == 1


def test_it_is_what_measure_says(found: TableCheck) -> None:
    (persona,) = pb.read_personas("dialysis")
    prior = persona.bound({"clinic": "hospital"}).prior("2024-01-15 07:00", "1h", 5)
    counts = [pb.Present([0], t, mechanism=pb.DiscreteGaussian(2.0), others=n) for t, n in enumerate(CLINIC)]
    asked = pb.Event(pb.Visitors([0], steps=range(5)))
    want = pb.measure(prior, pb.Release(counts=counts, steps=5), asked, runs=50).advantage
    noisy = next(x for x in found.of("dialysis", PRESENCE) if (x.way[:8], x.against) == ("Discrete", INSIDER))
    assert (noisy.lower, noisy.upper) == (want.lower, want.upper)


def test_less_is_told_to_whoever_knows_less(found: TableCheck) -> None:
    for question in (PRESENCE, COUNTED):
        rows = found.of("dialysis", question)
        for way in found.ways:
            insider, habits = (next(x for x in rows if (x.way, x.against) == (way.name, w)) for w in (INSIDER, HABITS))
            assert habits.lower <= insider.upper + 1e-9


def test_an_insider_is_told_the_worse_of_being_counted_and_coming_in_addition() -> None:
    """With two others and the persona three are counted, which is rounded to 5; three others and one are 5 as well."""
    table = pl.DataFrame({"time": ["2024-01-15 08:00"], "hospital": [3]})
    found = check_table(table, "dialysis", ways=[pb.Rounding(5)], **QUICK)
    assert found.of("dialysis", PRESENCE)[0].upper == pytest.approx(1)


def test_roles_are_guessed_and_said(found: TableCheck) -> None:
    assert found.days[0].places == ("hospital",)
    assert "Guessed by name: clinic is hospital." in found.remarks


def test_places_are_bound_by_what_is_given() -> None:
    found = check_table(TABLE, "dialysis", roles={"clinic": "station"}, ways=[pb.Raw()], **QUICK)
    assert found.days[0].places == ("station",)


def test_without_a_likely_name_the_quietest_place_is_an_example() -> None:
    table = TABLE.rename({"hospital": "A", "station": "B"})
    found = check_table(table, ways=[pb.Raw()], **QUICK)
    assert [(day.persona.name, day.places) for day in found.days] == [("dialysis", ("A",)), ("office-worker", ("B",))]
    assert any("Taken as an example: clinic is A" in each for each in found.remarks)


def test_nobody_can_have_been_there() -> None:
    table = TABLE.with_columns(hospital=pl.lit(0))
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert any("cannot have been counted at hospital" in each for each in found.remarks)


def test_more_people_than_were_counted() -> None:
    crowd = pb.Persona("crowd", [("Mon-Fri 06:00-18:00", "station", 0.9)], weight=500)
    found = check_table(TABLE, crowd, ways=[pb.Raw()], **QUICK)
    assert any("500 people like crowd cannot have been counted at station" in each for each in found.remarks)


def test_hidden_cells_are_left_out() -> None:
    table = TABLE.with_columns(hospital=pl.Series(["*", "3", "< 5", "4", "2"]))
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert len(list(found.days[0].release(pb.Raw(), INSIDER).listed)) == 3
    assert any("Hidden counts: 2" in each for each in found.remarks)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"personas": "pupil"}, "counts at none of its places"),
        (
            {"personas": "dialysis", "roles": {"clinic": "hospitl"}},
            "nobody counts at 'hospitl' .did you mean hospital",
        ),
        ({"personas": "dialysis", "roles": {"clinik": "hospital"}}, "nobody has a role 'clinik'"),
        ({"personas": []}, "the list is empty"),
        ({"personas": ["nurse", "nurse"]}, "'nurse' is there twice"),
        ({"personas": "nobody"}, "no persona that comes with passerby"),
        ({"ways": []}, "the list is empty"),
        ({"ways": ["x"]}, "expected mechanisms"),
        ({"runs": 1}, "runs is 1"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_table(TABLE, **{**QUICK, **more})


def test_a_place_of_which_everything_is_hidden_is_nobodys() -> None:
    table = TABLE.with_columns(hospital=pl.lit("*"))
    with pytest.raises(InputError, match="counts at none of its places"):
        check_table(table, "dialysis", **QUICK)


def test_weeks_and_weights_that_cannot_be() -> None:
    twice = [("Mon 08:00-10:00", "hospital", 0.8), ("Mon 09:00-11:00", "station", 0.8)]
    with pytest.raises(InputError, match="the week contradicts itself"):
        check_table(TABLE, pb.Persona("ann", twice))
    with pytest.raises(InputError, match="weight is 0"):
        check_table(TABLE, pb.Persona("ann", twice[:1], weight=0))


def test_a_day_of_25_hours() -> None:
    times = ["2024-10-27 00:00", "2024-10-27 01:00", "2024-10-27 02:00", "2024-10-27 02:00", "2024-10-27 03:00"]
    found = check_table(pl.DataFrame({"time": times, "hospital": CLINIC}), "nurse", ways=[pb.Raw()], **QUICK)
    assert found.days[0].table.steps == 5
    assert np.diff(found.table.calendar.begins).tolist() == [60] * 4


def test_a_folder_is_written_from_python(tmp_path: Path) -> None:
    found = pb.check_folder(TABLE, tmp_path / "out", "dialysis", **QUICK)
    assert {each.name for each in (tmp_path / "out").iterdir()} >= {"report.html", "check.json"}
    assert found.days[0].places == ("hospital",)
    with pytest.raises(pb.ConfigError, match="overwrite=True"):
        pb.check_folder(TABLE, tmp_path / "out", "dialysis", **QUICK)


def _week(hours: Sequence[int], **columns: Callable[[int, int], object]) -> pl.DataFrame:
    """A week from Monday 2024-01-15: each column by the day and the hour."""
    when = [(day, hour) for day in range(7) for hour in hours]
    times = [f"2024-01-{15 + day} {hour:02}:00" for day, hour in when]
    return pl.DataFrame({"time": times} | {name: [of(*at) for at in when] for name, of in columns.items()})


def test_each_place_is_looked_at_when_they_are_there() -> None:
    """The family is at the kindergarten on weekdays, and at the market on Saturdays alone."""
    table = _week(range(7, 19), kindergarten=lambda *_: 5000, market=lambda *_: 1)
    found = check_table(table, "family", ways=[pb.Raw()], **QUICK)
    market = {x.against: x for x in found.of("family", PRESENCE, "market")}
    assert market[INSIDER].lower == pytest.approx(1)
    assert market[HABITS].lower > 0.2
    assert {x.day for x in market.values()} == {"Saturday 2024-01-20"}


def test_of_several_days_the_one_is_looked_at_that_tells_most() -> None:
    """On Monday and Wednesday, the quiet days, all counts are hidden below 10; on Friday one person more is shown."""
    table = _week(range(7, 13), clinic=lambda day, _: 9 if day == 4 else 3)
    insider = check_table(table, "dialysis", ways=[pb.Suppression(10)], **QUICK).of("dialysis", PRESENCE)[0]
    assert insider.day == "Friday 2024-01-19"
    assert insider.lower == pytest.approx(1)


@pytest.mark.parametrize(
    "table",
    [
        _week(range(7, 14), clinic=lambda _, hour: "12" if hour == 13 else "< 10"),
        _week(range(7, 14), clinic=lambda *_: 12).filter(pl.col("time").str.starts_with("2024-01-21")),
    ],
    ids=["hidden", "Sunday alone"],
)
def test_hours_that_are_hidden_or_not_there_are_not_examined(table: pl.DataFrame) -> None:
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert not found.answers
    said = " ".join(sentences(found))
    assert "dialysis at clinic: not examined. The hours when they are there are hidden or not in the table." in said
    assert "tells least" not in said
    assert "costs readers least" not in said
    assert "readers" in render_check(found)


def test_what_is_hidden_in_part_is_said() -> None:
    table = _week(range(7, 13), clinic=lambda day, _: "< 10" if day in (0, 2) else "12")
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert found.answers
    assert any("dialysis at clinic: 33 % of their time there is in hours that are shown" in x for x in found.remarks)


def test_of_expected_sizes_an_insider_is_told_the_average() -> None:
    """Rounded to 5, the number with one person more is told where 2, 7, 12, ... others come, of 3.5 on average."""
    table = pl.DataFrame({"time": ["2024-01-15 08:00"], "clinic": [3.5]})
    found = check_table(table, "dialysis", ways=[pb.Rounding(5), pb.DiscreteGaussian(2.0)], **QUICK)
    numbers, chances = poisson(3.5)
    insider = next(x for x in found.of("dialysis", PRESENCE) if x.against == INSIDER)
    want = float(chances[numbers % 5 == 2].sum())
    assert want == pytest.approx(0.223, abs=1e-3)
    # In addition, or as part of the expected size: the worse of both.
    numbers, chances = poisson(3.5 - 0.96)
    assert insider.upper <= max(want, float(chances[numbers % 5 == 2].sum())) + 1e-6


def test_a_way_that_publishes_nothing_is_not_named() -> None:
    table = _week(range(7, 13), clinic=lambda *_: 2)
    found = check_table(table, "dialysis", **QUICK)
    assert found.readers["hidden below 10"].shown == 0
    said = " ".join(sentences(found))
    assert "None of the ways that were tried shows any count" in said
    assert "hidden below 10" not in said


def test_the_way_that_costs_readers_least_is_named_of_those_that_leave_little() -> None:
    table = _week(range(7, 13), clinic=lambda *_: 4000)
    said = " ".join(sentences(check_table(table, "dialysis", **QUICK)))
    assert "an advantage of 25 % at most, published as it is costs readers least" in said
    assert "hold if others come independently of each other" in said
    assert "All figures hold for the numbers of this table alone" in said


def test_the_recommended_way_is_told_with_its_year_and_its_worst_place() -> None:
    week = [("Mon 08:00-10:00", "clinic", 0.9), ("Mon 10:00-12:00", "shop", 0.9)]
    table = _week(range(8, 12), clinic=lambda *_: 900, shop=lambda *_: 400)
    found = check_table(table, pb.Persona("ann", week), ways=[pb.Raw()], **QUICK)
    said = next(each for each in sentences(found) if "costs readers least" in each)
    habits = next(x for x in found.of("ann", PRESENCE, "shop") if x.against == HABITS)
    assert habits.weeks is not None
    after = f"{span(*habits.weeks[52])} (ann at shop) after a year of such weeks"
    assert f"the advantage is {span(habits.lower, habits.upper)} (ann at shop) then, and {after}." in said
    assert "For whoever knows where everybody else was it is 100 % (ann at " in said
    assert "with this week's numbers, and 100 % (ann at " in said


def test_what_a_rounded_table_tells_an_insider_is_of_this_week_alone() -> None:
    """Rounded to 10 with 400 others, one more changes nothing this week; of other weeks nothing is known."""
    found = check_table(_week(range(8, 12), clinic=lambda *_: 402), "dialysis", ways=[pb.Rounding(10)], **QUICK)
    said = next(each for each in sentences(found) if "costs readers least" in each)
    assert "For whoever knows where everybody else was it is < 0.01 % with this week's numbers. Readers" in said


def test_a_rare_visitor_is_told_by_single_counts() -> None:
    """They are never at the place with a chance of 5 %, and each raw count still gives them away."""
    rare = pb.Persona("rare", [("Mon 08:00-12:00", "clinic", 0.02)])
    found = check_table(_week(range(8, 12), clinic=lambda *_: 4), rare, ways=[pb.Raw()], **QUICK)
    insider, habits = (next(x for x in found.answers if x.against == who) for who in (INSIDER, HABITS))
    assert insider.single == 1
    assert habits.single == pytest.approx(max(poisson(4.0)[1]))


def test_hidden_cells_bound_how_many_can_have_been_there() -> None:
    table = _week(range(7, 14), clinic=lambda _, hour: "12" if hour == 12 else "< 10")
    crowd = pb.Persona("crowd", [("Mon-Fri 07:00-13:00", "clinic", 0.9)], weight=1200)
    found = check_table(table, crowd, ways=[pb.Raw()], **QUICK)
    assert any("1,200 people like crowd cannot have been counted at clinic" in each for each in found.remarks)
    assert any("the table counts 9 at most there" in each for each in found.remarks)


def test_many_people_hide_one_for_certain_from_whoever_knows_habits() -> None:
    """One raw count of 5000: the largest probability of a number of others, which is 0.56 %; four of them 2.3 %."""
    table = _week(range(8, 12), clinic=lambda *_: 5000)
    found = check_table(table, "dialysis", ways=[pb.Raw()], runs=20)
    habits = next(x for x in found.of("dialysis", PRESENCE) if x.against == HABITS)
    assert habits.lower <= habits.upper <= 0.0231
    assert habits.found is not None
    assert habits.found[1] <= 0.0331
    assert habits.weeks is not None
    low, high = habits.weeks[52]
    assert habits.upper < high <= 1 - (1 - habits.upper) ** 52 + 1e-9
    assert low <= high


@pytest.mark.parametrize("seed", range(6))
def test_a_certain_end_is_above_what_enumeration_finds(seed: int) -> None:
    """Two places are counted, of which the other one tells of the asked one, too."""
    rng = np.random.default_rng(seed)
    when = [(hour, place) for hour in (7, 8, 9) for place in "ab"]
    week = [(f"Mon {h:02}:00-{h + 1:02}:00", place, float(rng.uniform(0.05, 0.45))) for h, place in when]
    walker = pb.Persona("walker", week, stays=float(rng.uniform(0, 0.9)))
    times = [f"2024-01-15 0{h}:00" for h in (7, 8, 9)]
    table = pl.DataFrame({"time": times, "a": rng.integers(1, 12, 3), "b": rng.integers(1, 12, 3)})
    (who,) = check_table(table, walker, ways=[pb.Raw()], **QUICK).people
    for way, against in product((pb.Raw(), pb.Rounding(5), pb.DiscreteGaussian(1.0)), (INSIDER, HABITS)):
        day = who.most_telling("a", way, against)
        apart = day.apart(way, against)
        event = pb.Event(pb.Visitors([day.number("a")], steps=range(3)))
        for release in day.releases(way, against):
            exact, member = pb.measure(day.prior, release, [event, pb.InData()])
            assert exact.advantage.lower <= day.at_most(apart, "a") + 1e-9
            assert member.advantage.lower <= day.at_most(apart) + 1e-9


def test_a_certain_end_is_exact_where_a_raw_count_is_sometimes_shown() -> None:
    """With one place, it is the chance that a count at which they are is one that tells."""
    table = pl.DataFrame({"time": ["2024-01-15 08:00", "2024-01-15 09:00"], "a": [4, 9]})
    ann = pb.Persona("ann", [("Mon 08:00-10:00", "a", 0.5)], stays=1.0)
    (who,) = check_table(table, ann, ways=[pb.Raw()], **QUICK).people
    day = who.likeliest("a")
    first, second = (max(poisson(mean)[1]) for mean in (4.0, 9.0))
    assert day.at_most(day.apart(pb.Raw(), HABITS), "a") == pytest.approx(1 - (1 - first) * (1 - second))
    assert day.at_most(day.apart(pb.Raw(), HABITS)) == pytest.approx(0.5 * (1 - (1 - first) * (1 - second)))


def test_weeks_add_up() -> None:
    table = _week(range(8, 12), clinic=lambda *_: 40)
    found = check_table(table, "dialysis", ways=[pb.Raw(), pb.Rounding(10)], **QUICK)
    for answer in found.answers:
        if (answer.against, answer.way) == (INSIDER, "Rounding(base=10)"):
            assert answer.weeks is None
        elif answer.question in (PRESENCE, COUNTED):
            assert answer.weeks is not None
            highs = [high for _, high in answer.weeks.values()]
            assert highs == sorted(highs)
            assert answer.weeks[1][0] == pytest.approx(answer.lower)
    assert "after a year of such weeks" in " ".join(sentences(found))


def test_totals_are_a_reason_to_read_the_insiders_figures() -> None:
    table = TABLE.with_columns(Total=pl.col("hospital") + pl.col("station"))
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert any("Totals are known of this table." in each for each in found.remarks)


def test_of_a_long_day_the_hours_that_are_looked_at_are_said() -> None:
    times = [f"2024-01-15 {m // 60:02}:{m % 60:02}" for m in range(0, 1440, 5)]
    found = check_table(pl.DataFrame({"time": times, "clinic": [5000] * len(times)}), "dialysis", **QUICK)
    assert found.days[0].day.startswith("Monday 2024-01-15, 0")
    said = " ".join(sentences(found))
    assert "No way is recommended: a day has more steps than are looked at." in said


@pytest.mark.parametrize("days", [1, 21], ids=["a day", "weeks"])
def test_steps_of_days(days: int) -> None:
    times = [f"2024-01-{day:02}" for day in range(15 - 14, 15 - 14 + days)]
    found = check_table(pl.DataFrame({"time": times, "clinic": [200] * days}), "dialysis", ways=[pb.Raw()], **QUICK)
    habits = next(x for x in found.of("dialysis", PRESENCE) if x.against == HABITS)
    assert 0 < habits.upper < 0.1


def test_a_quiet_day_is_looked_at_as_well_as_the_likeliest() -> None:
    """A nurse is in the clinic on weekdays mostly, where many are counted, and sometimes on Sundays, where few are."""
    table = _week(range(6, 22), clinic=lambda day, _: 2 if day == 6 else 3000)
    found = check_table(table, "nurse", ways=[pb.Raw()], **QUICK)
    habits = next(x for x in found.of("nurse", PRESENCE) if x.against == HABITS)
    assert habits.day == "Sunday 2024-01-21"
    assert habits.lower > 0.25
