from datetime import timedelta

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.people.cycles import check, phase, usable

from .test_habits import random_traces, traces


def walks(rng: np.random.Generator, moves: np.ndarray, people: int, steps: int) -> np.ndarray:
    prior = pb.MarkovPrior.stationary(moves)
    return np.vstack([prior.sample(1, steps, rng) for _ in range(people)])


def test_people_who_do_as_everybody_does_are_backed_off_to_everybody() -> None:
    rng = np.random.default_rng(0)
    alike = walks(
        rng, np.array([[0.1, 0.8, 0.1, 0.0], [0.1, 0.1, 0.8, 0.0], [0.8, 0.1, 0.1, 0.0], [0.4, 0.3, 0.3, 0.0]]), 150, 20
    )
    people = pb.fit_people(traces(alike, 4), holdout=3, habits="auto")
    assert people.habits is not None
    best = people.habits.chosen
    assert best.share == 0.9
    assert best.smoothing >= 10
    assert people.habits.gains["everybody's moves"] > 0.03


def test_people_who_change_their_habits_are_forgotten() -> None:
    rng = np.random.default_rng(1)
    own = np.repeat(rng.integers(0, 6, (150, 5)), 6, axis=1)
    people = pb.fit_people(traces(own, 7), holdout=3, habits="auto")
    assert people.habits is not None
    assert people.habits.chosen.half_life is not None
    steady = pb.fit_people(traces(own[:, :1] + np.zeros((1, 20), dtype=int), 7), holdout=3, habits="auto")
    assert steady.habits is not None
    assert steady.habits.chosen.half_life is None


def test_a_rhythm_is_found() -> None:
    rng = np.random.default_rng(2)
    home, work = rng.integers(0, 5, (2, 80, 1))
    hours = np.arange(6 * 15) % 6
    array = np.where((hours >= 2) & (hours < 4), work, home)
    people = pb.fit_people(traces(array, 6, timedelta(hours=4)), holdout=6, habits="auto")
    assert people.habits is not None
    assert people.habits.chosen.rhythm in ("hour", "workday")
    assert people.habits.gains["a rhythm"] > 0.3
    assert set(people.habits.scores["rhythm"]) == {"none", "hour", "workday", "weekday"}
    assert "a rhythm" in people.habits.words
    assert ", by part of the day" in people.gist
    assert people.gist.endswith("; chosen because they foretold later steps of these people best")
    fixed = pb.fit_people(traces(array, 6, timedelta(hours=4)), holdout=6, habits="auto", rhythm="workday")
    assert fixed.habits is not None
    assert set(fixed.habits.scores["rhythm"]) == {"workday"}


def test_the_choice_is_reproducible_and_can_be_fixed() -> None:
    one, other = (pb.fit_people(random_traces(7, 40, 14, 9), holdout=3, habits="auto") for _ in range(2))
    assert one.habits is not None
    assert other.habits is not None
    assert one.habits.chosen == other.habits.chosen
    assert one.habits.scores.equals(other.habits.scores)
    assert one.habits.scores["score"].is_sorted(descending=True)
    given = pb.fit_people(random_traces(7, 40, 14, 9), holdout=3, habits=one.habits.chosen)
    assert given.habits is not None
    assert given.habits.scores.height == 0
    np.testing.assert_array_equal(given.habits.weights, one.habits.weights)
    np.testing.assert_array_equal(given.prior(5)[0].transition, one.prior(5)[0].transition)
    assert "as given" in given.habits.words
    assert given.gist.endswith("; as given")


def test_too_few_steps_to_choose_by() -> None:
    people = pb.fit_people(traces([[0, 1, 0], [1, 1, 0]], 3), holdout=1, habits="auto")
    assert people.habits is not None
    assert people.habits.chosen == pb.Habits()
    assert "for want of earlier steps" in people.habits.words
    assert people.gist.endswith("; as given, or the usual ones")
    # Nothing says how many leave: everybody does as usual.
    assert people.prior(0)[0].single
    assert "2 fitted steps are too few" in people.remarks[0]


def test_one_origin_is_enough_and_said() -> None:
    people = pb.fit_people(traces([[0, 1, 0, 0, 1, 0], [1, 1, 0, 1, 1, 1]], 3), holdout=1, habits="auto")
    assert people.habits is not None
    assert people.habits.origins == 2
    short = pb.fit_people(traces([[0, 1, 0, 0], [1, 1, 0, 1]], 3), holdout=1, habits="auto")
    assert short.habits is not None
    assert short.habits.origins == 1
    assert "fewer than 5 people at one origin" in short.habits.words
    assert not short.remarks


def test_who_is_looked_at_does_not_depend_on_what_is_to_be_found() -> None:
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 12), eager=True)
    # One is there on ten days, but only on seven of the nine that habits are fitted to; the other on all of the nine.
    seen = {"late": [0, 1, 2, 3, 4, 5, 6, 9, 10, 11], "early": list(range(10))}
    rows = [(who, days[day], f"p{day % 2}") for who, on in seen.items() for day in on]
    visits = pb.read_visits(pl.DataFrame(rows, schema=["person", "time", "place"], orient="row"))
    options = {"window": "1d", "places": 2, "min_active": 8, "holdout": 3, "end": "2024-01-13"}
    for habits in ("auto", "paper", pb.Habits()):
        people = pb.fit_people(visits, **options, habits=habits)  # type: ignore[arg-type]
        assert people.ids.to_list() == ["early"]
        assert people.left_out.seldom == 1
        with pytest.raises(pb.InputError, match=r"no person is seen in at least 10 of (the )?9 fitted steps"):
            pb.fit_people(visits, **{**options, "min_active": 10}, habits=habits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"habits": "best"}, "habits: expected 'auto', 'paper' or Habits"),
        ({"smoothing": 2.0}, "smoothing: 2.0 is for habits='paper'"),
        ({"rhythm": "hour"}, "rhythm: steps of 20 days"),
        ({"habits": pb.Habits(rhythm="weekday")}, "do not fill"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.fit_people(traces([[0, 1, 0, 1, 1]], 3), holdout=1, **{"habits": "auto", **options})  # type: ignore[arg-type]


def test_parts_of_the_week() -> None:
    starts = np.array(["2024-01-06T00:00"], dtype="datetime64[us]")  # a Saturday
    found = phase("workday", starts, timedelta(days=1), 9)
    assert found is not None
    assert found.tolist() == [1, 1, 0, 0, 0, 0, 0, 1, 1]
    assert not usable("hour", timedelta(days=1), 100)
    assert usable("workday", timedelta(days=1), 14)
    assert not usable("workday", timedelta(days=1), 13)
    assert usable("workday", timedelta(hours=12), 14)
    assert not usable("weekday", timedelta(days=20), 100)
    # A part for each second would take more memory than there is.
    assert usable("hour", timedelta(minutes=1), 10**6)
    assert not usable("hour", timedelta(seconds=1), 10**6)
    with pytest.raises(pb.InputError, match=r"rhythm: steps of 0:00:01 make 86,400 parts, .* choose a longer window"):
        check("hour", timedelta(seconds=1), 10**6)
