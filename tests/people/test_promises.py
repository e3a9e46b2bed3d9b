"""What habits promise comes true, for people of several kinds; and exactly where people are drawn from their habits."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import populations

import passerby as pb

KINDS: list[Callable[..., pb.Traces]] = [
    populations.leavers,
    populations.joiners,
    populations.drifters,
    populations.keepers,
]
LONG = [pytest.param(make, marks=pytest.mark.thorough) for make in KINDS[1:]]


@pytest.mark.parametrize("make", [KINDS[0], *LONG], ids=lambda make: make.__name__)
def test_promises_come_true_and_steps_are_likelier_than_with_the_habits_of_the_paper(
    make: Callable[..., pb.Traces],
) -> None:
    traces = make(people=300, seed=7)
    ours, paper = (pb.backtest(traces, holdout=4, origins=2, people=300, habits=habits) for habits in ("auto", "paper"))
    assert ours.gap < 0.07
    assert ours.gap < paper.gap
    assert (ours.by_origin["score"] > paper.by_origin["score"] + 0.05).all()


def test_people_who_are_drawn_from_their_habits_are_found_as_often_as_promised() -> None:
    traces = populations.leavers(people=400, seed=3)
    people = pb.fit_people(traces, holdout=4)
    assert people.habits is not None
    assert people.habits.chosen.modes != "none"
    rng, drawn = np.random.default_rng(0), people.actual.copy()
    for person in range(len(people)):
        prior, _ = people.prior(person, reduced=False)
        drawn[person] = prior.sample(1, 4, rng)[0]
    people = replace(people, actual=drawn)
    table = pb.audit(people, pb.Release(pb.most_visited_sensors(people)), misses=1, workers=1)
    for name in ("map", "prior"):
        promised, right = table[f"attack_{name}"].to_numpy(), table[f"hit_{name}"].to_numpy().astype(float)
        spread = np.sqrt((promised * (1 - promised)).sum()) / len(promised)
        assert abs(promised.mean() - right.mean()) < 3.5 * spread


def test_what_two_weeks_promise_for_a_saturday_comes_true() -> None:
    # Two days of a weekend are known, one at the origin that habits are chosen by.
    people = pb.fit_people(pb.simulate_city(people=300, places=100, days=13, seed=12), window="1h", holdout=24)
    table = pb.audit(people, pb.Release([[]] * 24), 3, workers=1, runs=2, budget=1e6)
    promised, right = table["attack_prior"].mean(), table["hit_prior"].mean()
    assert right == pytest.approx(promised, abs=0.06)
