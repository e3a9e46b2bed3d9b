"""What habits promised at earlier origins is what an audit promises, and right is what it hits."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces, traces

import passerby as pb
from passerby.audits import backtest as module
from passerby.audits.backtest import BacktestJob, earlier_origins, first_steps, run_backtest, some_traces
from passerby.people.fit import Fitting

PAPER = Fitting(3, 1, "paper", 1.0, "none", False)


def small(people: int = 40, steps: int = 20) -> BacktestJob:
    return BacktestJob(random_traces(3, people, steps, 8), PAPER, None, 1, 15, 0)


@pytest.mark.parametrize("mechanism", [None, pb.Rounding(3)])
def test_promises_are_those_of_an_audit_and_right_is_what_it_hits(mechanism: pb.Mechanism | None) -> None:
    walked = random_traces(3, 40, 14, 8)
    people = pb.fit_people(walked, holdout=3, habits="paper")
    release = pb.Release(pb.most_visited_sensors(people, 2), mechanism)
    found = pb.backtest(walked, origins=1, holdout=3, people=1000, release=release, habits="paper")
    table = pb.audit(people, release, misses=1, workers=1)
    for name in ("map", "marginal", "prior", "constant"):
        assert found.row(name)["promised"] == pytest.approx(table[f"attack_{name}"].mean(), rel=1e-9)
        assert found.row(name)["right"] == pytest.approx(table[f"hit_{name}"].mean(), rel=1e-9)
    assert (found.people, found.origins, found.share) == (40, 1, 1.0)


@pytest.mark.parametrize("mechanism", [pb.Raw(), pytest.param(pb.Gaussian(1.0), marks=pytest.mark.thorough)])
def test_people_who_are_drawn_from_their_habits_are_found_as_often_as_promised(mechanism: pb.Mechanism) -> None:
    city = pb.window_visits(pb.simulate_city(people=150, places=30, days=6), window="6h", places=30, min_active=4)
    habits = pb.Habits(smoothing=3.0, share=0.6, rhythm="hour", flow="roles")
    people = pb.fit_people(city, holdout=4, habits=habits)
    drawn, rng = city.array.copy(), np.random.default_rng(1)
    for person in range(len(people)):
        drawn[person, -4:] = people.prior(person, reduced=False)[0].sample(1, 4, rng)[0]
    release = pb.Release(pb.most_visited_sensors(people, 5), mechanism)
    same = replace(city, array=drawn)
    found = pb.backtest(same, origins=1, holdout=4, people=150, release=release, habits=habits)
    assert found.people == len(people) == 150
    for row in found.by_misses.iter_rows(named=True):
        # Chances of single people vary, so this is more than the standard error of the share that is right.
        spread = np.sqrt(row["promised"] * (1 - row["promised"]) / 150)
        assert abs(row["difference"]) < 3.5 * spread + 1e-3, row


def test_an_earlier_origin_is_a_backtest_of_the_steps_before_what_came_after_it() -> None:
    walked = random_traces(5, 30, 20, 8)
    both = pb.backtest(walked, origins=2, holdout=3, people=100, habits="paper")
    late, early = (
        pb.backtest(first_steps(walked, steps), origins=1, holdout=3, people=100, habits="paper") for steps in (20, 17)
    )
    columns = ["what", "people", "promised", "right", "chance"]
    for window, alone in enumerate((late, early)):
        own = both.windows.filter(pl.col("before") == 3 * window).select(columns)
        assert own.filter(pl.col("what") != "visited").equals(
            alone.windows.select(columns).filter(pl.col("what") != "visited")
        )
    assert both.by_origin["score"].to_list() == [late.by_origin["score"][0], early.by_origin["score"][0]]


def test_numbers_are_the_same_for_any_number_of_workers() -> None:
    alone = run_backtest(small(), 3, workers=1)
    with ThreadPoolExecutor(2) as pool:
        together = run_backtest(small(), 3, executor=pool)
    assert alone.by_misses.equals(together.by_misses)
    assert alone.by_promise.equals(together.by_promise)


def test_finished_origins_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, file, done = run_backtest(small(), 3, workers=1), tmp_path / "backtest.jsonl", list[int]()
    real = module._at

    def at(work: BacktestJob, cut: int) -> list[object]:
        done.append(cut)
        if len(done) == 3:
            raise KeyboardInterrupt
        return real(work, cut)

    monkeypatch.setattr(module, "_at", at)
    with pytest.raises(KeyboardInterrupt):
        run_backtest(small(), 3, workers=1, file=file)
    again = run_backtest(small(), 3, workers=1, file=file)
    assert done == [17, 14, 11, 11]
    assert again.by_misses.equals(whole.by_misses)
    assert again.by_origin.equals(whole.by_origin)
    # Another question begins anew.
    run_backtest(small(people=41), 3, workers=1, file=file)
    assert done[4:] == [17, 14, 11]


def test_who_is_looked_at_depends_on_what_was_before_alone() -> None:
    array = np.full((24, 12), 3)
    array[:12, :4], array[12:, 9:] = 0, 0  # half are known before the last steps, half in them alone
    found = pb.backtest(traces(array, 4), origins=1, holdout=3, habits="paper")
    assert found.people == found.by_origin["of"][0] == 12
    assert found.row("prior")["right"] == 0


def test_origins_with_too_few_people_are_left_out() -> None:
    array = np.full((20, 20), 3)
    array[:, 12:17], array[:5, :12] = 0, 0
    found = pb.backtest(traces(array, 4), origins=3, holdout=3, habits="paper")
    assert found.by_origin["people"].to_list() == [20, 20]  # before the third one, five are known
    with pytest.raises(pb.InputError, match="habits can be tried at no origin; at the latest, no people are seen in 1"):
        pb.backtest(traces(np.full((20, 20), 3), 4), origins=3, holdout=3, habits="paper")


def test_habits_that_cannot_be_fitted_at_an_origin_leave_it_out() -> None:
    with pytest.raises(pb.InputError, match="habits can be tried at no origin; at the latest, rhythm"):
        pb.backtest(random_traces(3, 20, 14, 8), holdout=3, habits="paper", rhythm="hour")


def test_a_million_people_cost_no_more_than_some_of_them() -> None:
    walked = random_traces(3, 50, 14, 8)
    some = some_traces(walked, 20, 7)
    assert len(some) == len(some.people) == len(some.active) == 20
    np.testing.assert_array_equal(some.counts, walked.counts)
    rows = (
        pl.DataFrame({"person": walked.people}).with_row_index().filter(pl.col("person").is_in(some.people.implode()))
    )
    np.testing.assert_array_equal(walked.array[rows["index"].to_numpy()], some.array)
    assert some_traces(walked, 50, 7) is walked


def test_a_release_that_is_made_at_an_origin_counts_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PEOPLE", 20)
    counts = [pb.Visitors([place], steps=range(3)) for place in range(3)]
    release = pb.Release(counts=counts, steps=3, mechanism=pb.Rounding(7))
    walked = random_traces(3, 50, 14, 8)
    given, made = (pb.backtest(walked, release=each, holdout=3) for each in (release, lambda _: release))
    assert given.by_misses.equals(made.by_misses)


def test_what_are_no_visits_is_refused() -> None:
    with pytest.raises(pb.InputError, match="visits is a DataFrame; expected what read_visits returns"):
        pb.backtest(pb.simulate_city(10, 10, 4).table, window="6h")  # type: ignore[arg-type]


def test_origins() -> None:
    assert first_steps(random_traces(3, 4, 14, 8), 9).array.shape == (4, 9)
    assert earlier_origins(100, 5, 4) == [95, 90, 85, 80]
    assert earlier_origins(12, 5, 9) == [7, 5, 3]  # nearer than what is published, and no more than three
    assert earlier_origins(4, 2, 3) == [2]
    with pytest.raises(pb.InputError, match="origins: 6 steps are too few to fit habits"):
        earlier_origins(6, 5, 3)
    with pytest.raises(pb.InputError, match="origins: expected a whole number"):
        earlier_origins(12, 5, 0)
    with pytest.raises(pb.InputError, match="misses: 3 of 3 steps"):
        pb.backtest(random_traces(3, 4, 14, 8), holdout=3, misses=3)
    with pytest.raises(pb.InputError, match="people: expected a whole number of at least 1"):
        pb.backtest(random_traces(3, 4, 14, 8), holdout=3, people=0)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("misses", 1.5, "misses: 1.5 of 3 steps; expected a whole number from 0 to 2"),
        ("misses", "1", "misses: '1' of 3 steps"),
        ("holdout", 0, "holdout is 0; expected a whole number of at least 1"),
        ("holdout", 2.5, "holdout is 2.5; expected a whole number"),
        ("seed", -1, "seed is -1; expected a whole number of at least 0"),
        ("seed", None, "seed is None; expected a whole number"),
        ("workers", 0, "workers is 0; expected a whole number from 1"),
        ("workers", 1.5, "workers is 1.5; expected a whole number"),
        ("name_elsewhere", "no", "name_elsewhere is 'no'; expected True or False"),
        ("habits", 5, "habits: expected 'auto', 'paper' or Habits(...), got 5"),
        ("release", 5, "release: expected a Release, or a function that makes one of people, got 5"),
        ("release", pb.Release([0, 0]), "release: it has 2 steps, but 3 steps are held out"),
        ("release", pb.Release([0, 0, 99]), "sensors[2] = 99: there are 6 places, numbered 0 to 5"),
    ],
)
def test_what_is_odd_is_named(name: str, value: Any, words: str) -> None:
    with pytest.raises(pb.InputError, match=re.escape(words)):
        pb.backtest(random_traces(3, 30, 14, 6), **{"holdout": 3, "habits": "paper", name: value})


def test_what_a_function_makes_of_people_is_looked_at() -> None:
    for made, words in ((5, "release is a int; expected a Release"), (pb.Release([0, 9, 0]), "sensors[1] = 9")):
        with pytest.raises(pb.InputError, match=re.escape(words)):
            pb.backtest(random_traces(3, 30, 14, 6), holdout=3, release=lambda _, made=made: made)  # type: ignore[misc]


def test_origins_that_overlap_count_for_fewer() -> None:
    found = pb.backtest(random_traces(3, 30, 12, 8), origins=9, holdout=5, misses=1, habits="paper")
    assert (found.origins, found.independent) == (3, 1)
    assert found.verdict == "cannot be told"
    assert found.by_misses["lower"].null_count() == found.by_misses.height
