"""Questions about everybody: rows that say what `measure` says, wherever people are and whoever shares the work."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import passerby as pb
from passerby.audits.everyone import Everybody
from passerby.audits.question_rows import SCHEMA
from passerby.audits.question_summary import told_answers
from passerby.audits.question_words import places_by_name
from passerby.audits.questions import counted_by_habits
from passerby.audits.settings import Measurement
from passerby.errors import ConfigError, InputError
from passerby.support.blocks import Team

T = 4
ASKED: list[Any] = [1, pb.InData(), pb.EachStep(), "visited:home-area 01", "never:office 01", "visited 2 times:park 01"]


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(pb.simulate_city(70, 20, 4, seed=5), window="3h", places=19, min_active=2, holdout=T)


def number(people: pb.People, name: str) -> int:
    return people.places.index(name)


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Geometric(1.0), pb.Rounding(3)])
def test_rows_say_what_measure_says(people: pb.People, mechanism: pb.Mechanism) -> None:
    release = pb.Release([[0, 2]] * T, mechanism)
    table = pb.audit(people, release, 1, questions=ASKED, workers=1)
    assert table.schema == pl.Schema({"person": people.ids.dtype, **SCHEMA})
    assert table["person"].to_list() == [each for each in people.ids for _ in ASKED]
    words = ["trace", "counted", "each-step", *ASKED[3:]]
    assert table["question"].to_list() == words * len(people)
    losses = pb.audit(people, release, 1, workers=1)
    trace = table.filter(pl.col("question") == "trace")
    for column in ("lower", "upper", "advantage_lower"):
        assert np.allclose(trace[column], losses[column], rtol=1e-9)
    assert (table["lower"].drop_nulls() <= table.filter(pl.col("lower").is_not_null())["upper"]).all()
    real = (people.actual == number(people, "home-area 01")).any(axis=1)
    assert table.filter(pl.col("question") == "visited:home-area 01")["actual"].to_list() == real.tolist()
    assert table.filter(pl.col("question") == "counted")["actual"].all()
    assert table.filter(pl.col("question") == "each-step")["actual"].null_count() == len(people)


def test_events_of_a_person_are_those_of_their_habits(people: pb.People) -> None:
    release = pb.Release([[0, 2]] * T)
    place = number(people, "home-area 01")
    table = pb.audit(people, release, 1, questions=["visited:home-area 01", "counted"], workers=1)
    for person in (0, 7, 33):
        prior, _ = people.prior(person, reduced=False)
        event = pb.measure(prior, release, pb.Event(pb.Visitors([place], range(T))))
        row = table.row(2 * person, named=True)
        if row["status"] in ("certain", "impossible"):
            assert event.status == row["status"]
            continue
        assert row["chance"] == pytest.approx(event.event.lower, abs=1e-9)
        assert row["advantage_lower"] == pytest.approx(event.advantage.lower, abs=0.02)
        assert row["power_upper"] == pytest.approx(event.power(0.01).upper, abs=0.02)
        counted = pb.measure(prior, release, pb.InData())
        assert table.row(2 * person + 1, named=True)["advantage_lower"] == pytest.approx(
            counted.advantage.lower, abs=0.02
        )


def test_rows_are_the_same_whoever_shares_the_work(people: pb.People, tmp_path: Path) -> None:
    release = pb.Release([[0, 2]] * T, pb.Geometric(1.0))
    alone = pb.audit(people, release, 1, questions=ASKED[:3], workers=1)
    with ThreadPoolExecutor(2) as threads:
        shared = pb.audit(people, release, 1, questions=ASKED[:3], executor=threads, folder=tmp_path)
    assert_frame_equal(alone, shared)
    again = pb.audit(people, release, 1, questions=ASKED[:3], folder=tmp_path, workers=1)
    assert_frame_equal(alone, again)
    with pytest.raises(ConfigError, match="unfinished audit"):
        pb.audit(people, release, 1, questions=["counted"], folder=tmp_path, workers=1)


def test_an_interrupted_table_goes_on(people: pb.People, tmp_path: Path) -> None:
    release = pb.Release([[0, 2]] * T)
    asked = ["counted", "each-step"]
    whole = pb.audit(people, release, 1, questions=asked, workers=1)
    seen: list[int] = []

    def stop(done: int, _: int) -> None:
        seen.append(done)
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pb.audit(people, release, 1, questions=asked, workers=1, folder=tmp_path, progress=stop)
    seen.clear()
    again = pb.audit(
        people, release, 1, questions=asked, workers=1, folder=tmp_path, progress=lambda done, _: seen.append(done)
    )
    assert seen[0] > 0
    assert_frame_equal(whole, again)


def test_visitors_of_many_windows_are_measured_in_part(people: pb.People) -> None:
    """What cannot all be remembered is told of by a part from below, and by each step from above."""
    zones = [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9], [10, 11], [12], [13], [14]]
    counts = [pb.Visitors(zone, range(T), times) for zone in zones for times in (1, 2)]
    release = pb.Release(counts=counts, steps=T)
    few = pb.fit_people(pb.simulate_city(12, 20, 4, seed=5), window="3h", places=19, min_active=2, holdout=T)
    table = pb.audit(few, release, 1, questions=["counted", "each-step", "visited:park 01"], workers=1)
    measured = table.filter(pl.col("status").is_in(["ok", "wide"]))
    assert measured.height > 0
    assert (measured["advantage_lower"] <= measured["advantage_upper"]).all()


def test_a_crowd_is_another_adversary(people: pb.People) -> None:
    release = pb.Release([[0, 2]] * T)
    known = pb.audit(people, release, 1, questions=["counted"], workers=1, runs=50)
    crowd = pb.audit(people, release.with_others(pb.Crowd()), 1, questions=["counted"], workers=1, runs=50)
    assert set(known["adversary"]) == {"insider"}
    assert set(crowd["adversary"]) == {"habits"}
    assert (crowd["advantage_lower"] <= known["advantage_upper"] + 1e-9).all()


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "expected a list"),
        ("counted", "expected a list"),
        (["visited:nowhere land"], "is not one of the"),
        ([pb.Event(pb.Visitors([99], range(T)))], "there are 20 places"),
        ([pb.Event(pb.Present([0], T))], f"step {T}"),
        ([pb.InData(instead=pb.line_prior(3))], "over one person's places"),
        ([pb.Trace(1, zones=[0] * 20)], "measure(people.prior(person, reduced=False)[0], release, Trace(...))"),
        ([T], "misses"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused_at_once(people: pb.People, questions: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        pb.audit(people, pb.Release([[0, 2]] * T), 1, questions=questions, workers=1)
    assert said in str(error.value)


def test_membership_by_habits_is_what_a_crowd_is_told(people: pb.People) -> None:
    """Both ends are consistent with those of others=Crowd(), and means are of who is counted first."""
    release, how, named = pb.Release([[0, 2]] * T), Measurement(), places_by_name(people.places)
    found = counted_by_habits(Everybody.here(people, Team(1)), release, how, named, 12, Team(1))
    assert not isinstance(found, str)
    asked, rows = found
    assert rows.height == 12
    assert set(rows["adversary"]) == {"habits"}
    whole = pb.audit(people, release.with_others(pb.Crowd()), 1, questions=["counted"], workers=1)
    both = rows.join(whole, on=["person", "question"], suffix="_asked")
    assert both.height == 12
    for name in ("advantage", "power"):
        assert (both[f"{name}_lower"] <= both[f"{name}_upper_asked"] + 0.05).all()
        assert (both[f"{name}_lower_asked"] <= both[f"{name}_upper"] + 0.05).all()
    assert both["chance"].to_list() == pytest.approx([0.5] * 12)
    sighted = rows.select("person").with_columns(sighted=pl.Series([0.9] * 6 + [0.01] * 6)).lazy()
    rows = rows.with_columns(advantage_lower=pl.lit(0.3), advantage_upper=pl.lit(0.6), status=pl.lit("ok"))
    (told,) = told_answers(rows, asked, named, sighted)
    power, (counted, other) = rows["power_lower"].to_numpy(), told.groups
    assert (counted.people, other.people) == (5, 7)
    assert counted.power.lower == pytest.approx(power[:6].mean())
    assert other.power.lower == pytest.approx((power[6:].sum() + power[:6].mean()) / 7)
    assert 5 * counted.power.lower + 7 * other.power.lower == pytest.approx(power.sum())
    few = sighted.with_columns(sighted=pl.Series([0.9] * 2 + [0.01] * 10))
    assert told_answers(rows, asked, named, few)[0].groups == []


@pytest.mark.parametrize("questions", [None, [pb.InData()]])
def test_counts_that_are_chosen_as_one_goes_are_refused_at_once(questions: Any) -> None:
    people = pb.fit_people(pb.simulate_city(12, 20, 3), window="2h", places=6, min_active=1, holdout=3)
    with pytest.raises(
        pb.UnsupportedRelease, match="a policy chooses these counts as one goes, and audits and plans are for"
    ):
        pb.audit(people, pb.Release.adaptive(lambda history: [0], steps=3), questions=questions, workers=1)


def test_what_an_audit_says_to_do_of_zones_can_be_done(people: pb.People) -> None:
    release, zones = pb.Release([[0, 2]] * T), [place % 3 for place in range(len(people.places))]
    found = pb.measure(people.prior(0, reduced=False)[0], release, pb.Trace(1, zones=zones))
    assert 0 <= found.lower <= found.upper <= 1
