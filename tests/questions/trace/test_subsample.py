from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import masked_cases
from tests.oracle import World
from tests.strategies import FINITE, Case, Jumbled, chain

import passerby as pb
from passerby.measurement.finding import Known
from passerby.outcomes.series import Anchor, Series, enumerate_series, sample_series, score
from passerby.questions.trace import subsample as forecast
from passerby.questions.trace import subsample as thinning
from passerby.questions.trace import ways as average
from passerby.questions.trace.goal import Goal, pose
from passerby.questions.trace.guess import Brackets, alone, average_upper, bracket_series
from passerby.questions.trace.methods.baseline import prior_attack
from passerby.questions.trace.subsample import Thinned, chances, quick_ceiling, thin

Floats = NDArray[np.float64]
PRIOR = chain(seed=4, places=3, steps=4, kind="varying")
RELEASE = pb.Release([0, 1, 0, 1], Jumbled(0.3), [0, 0, 0, 0])


def asked(misses: int = 1, **options: float) -> Goal:
    how = {"tolerance": 0.01, "budget": 2e10, "confidence": 0.99, "runs": 1000} | options
    return pose(PRIOR, RELEASE, misses, 0, None, series="auto", way="exact", **how)


def anchor(misses: int = 1) -> Anchor:
    found = prior_attack(PRIOR, 4, misses)
    return Anchor(np.array(found.guess), misses, found.value)


def baseline(misses: int = 1) -> Known:
    known, best = Known(), prior_attack(PRIOR, 4, misses)
    known.add(replace(best, name="baseline", ceiling=1.0, about="baseline"))
    return known


def truth(misses: int = 1) -> float:
    world = World(PRIOR, 4)
    return world.optimum(world.likelihoods(RELEASE), misses)


def looked_at(lots: Thinned, misses: int, budget: float = 1e8) -> Brackets:
    return lots.whole(bracket_series(PRIOR, RELEASE, lots.few, misses, 0.0, budget))


@given(masked_cases(mechanisms=FINITE), st.sampled_from([1e-9, 0.05, 1.0]))
def test_over_both_sides_of_the_coin_a_value_is_what_was_found(case: Case, least: float) -> None:
    """Whatever is looked at, and however rarely: values stay between the floor and 1, and average to both ends."""
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    guess = prior_attack(case.prior, case.steps, case.misses).guess
    known = np.repeat(np.array(guess)[None], len(series), axis=0)
    floor = np.clip(score(case.prior, case.release, series.evidence, known, case.misses), 0.0, 1.0)
    ceiling = quick_ceiling(case.prior, case.release, series, case.misses)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thinning, "LEAST_CHANCE", least)
        chance = chances(floor, ceiling)
    assert (chance * (1 - floor) >= (ceiling - floor) * (1 - 1e-12)).all()
    heads = Thinned(series, floor, chance, np.arange(len(series)))
    tails = Thinned(series, floor, chance, np.arange(0))
    found = bracket_series(case.prior, case.release, series, case.misses, 0.0, 0.0)
    none = bracket_series(case.prior, case.release, tails.few, case.misses, 0.0, 0.0)
    for name in ("lower", "upper"):
        up, down = getattr(heads.whole(found), name), getattr(tails.whole(none), name)
        assert (up >= floor).all()
        assert (up <= 1).all()
        assert (down == floor).all()
        mean, value = chance * up + (1 - chance) * down, np.maximum(getattr(found, name), floor)
        # Told the past, no search is above the quick look; rounding may be.
        np.testing.assert_allclose(mean, value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("misses", [0, 1, 2])
def test_averages_are_those_of_all_series(misses: int) -> None:
    series = sample_series(PRIOR, RELEASE, np.random.default_rng(2), 4000, anchor(misses))
    lots = thin(asked(misses), series, np.random.default_rng(3))
    assert len(lots.kept) == pytest.approx(lots.chance.sum(), abs=4 * np.sqrt(4000) / 2)
    found = looked_at(lots, misses)
    for values in (found.lower, found.upper):
        mean, error = series.mean(values)
        assert 0 < error < 0.02
        assert abs(mean - truth(misses)) < 4.5 * error


def test_limits_are_rarely_on_the_wrong_side() -> None:
    optimum, wrong = truth(), np.zeros(2)
    for seed in range(40):
        series = sample_series(PRIOR, RELEASE, np.random.default_rng(seed), 60, anchor())
        lots = thin(asked(), series, np.random.default_rng([seed, 1]))
        found = looked_at(lots, 1)
        upper = average_upper(series, found, 0.9)
        lower = series.lower(np.maximum(found.lower, series.anchored), alone(found), 0.9)
        assert anchor().success <= lower <= upper <= 1
        wrong += lower > optimum, upper < optimum
    assert (wrong <= 10).all()


@pytest.mark.parametrize("misses", [0, 1, 2])
def test_ends_hold_where_looks_are_dear(misses: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(average, "DEAR", 0.0)
    monkeypatch.setattr(forecast, "MOST_LOOKED_AT", 1.0)
    for seed in range(5):
        loss = pb.measure(PRIOR, RELEASE, misses, series="sample", runs=80, seed=seed)
        assert loss.lower <= truth(misses) <= loss.upper
        assert loss.effort.confidence == 0.99
        assert loss.effort.bound == "posterior"
        marginal = loss.attacks["marginal"]
        assert marginal.value - 4 * marginal.error <= loss.upper


class TestPilot:
    """How many series are to be drawn, if few are looked at."""

    @pytest.fixture(autouse=True)
    def dear(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(average, "DEAR", 0.0)

    def test_none_where_looks_are_cheap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(average, "DEAR", np.inf)
        assert forecast.pilot(asked(0), baseline(0)) is None

    def test_none_where_most_are_to_be_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(forecast, "MOST_LOOKED_AT", 0.01)
        assert forecast.pilot(asked(0), baseline(0)) is None

    def test_the_fewer_are_looked_at_the_more_are_drawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(forecast, "MOST_LOOKED_AT", 1.0)
        found = [forecast.pilot(asked(misses), baseline(misses)) for misses in (0, 2)]
        few, many = (pilot for pilot in found if pilot is not None)
        assert few.told < many.told < 1
        assert few.runs > many.runs > 1000
        poor = forecast.pilot(asked(0, budget=0.0, runs=10**8), baseline(0))
        assert poor is not None
        assert poor.runs < 10**8

    def test_its_series_are_not_those_of_the_sample(self) -> None:
        question = asked()
        first, second = (rng.random(8) for rng in question.other_rngs(2))
        assert not np.isin(first, second).any()
        assert not np.isin(question.rng().random(8), np.append(first, second)).any()


def test_the_first_of_a_sample_stand_for_all() -> None:
    series = sample_series(PRIOR, RELEASE, np.random.default_rng(2), 50, anchor())
    first = series.first(20)
    assert len(first) == 20
    assert first.mean(np.ones(20))[0] == pytest.approx(1.0)
    assert (series.first(80).mass == series.mass).all()
    plain = Series(series.evidence, series.mass, sampled=True, left_over=0.0)
    assert (plain.first(20).anchored == np.zeros(20)).all()


def test_a_sample_and_stretches_are_compared_by_what_they_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    question, known = asked(), baseline()
    leaves = [forecast.raw_leaves(question, known, ceiling) for ceiling in (0.0, 0.5, 1.0)]
    assert leaves[0] == 0 < leaves[1] < leaves[2] < 1
    assert forecast.raw_leaves(asked(budget=1.0), known, 1.0) > leaves[2]
    leaves = [forecast.stretches_leave(asked(budget=budget)) for budget in (0.0, 2e10, 8e10)]
    assert 1 > leaves[0] > leaves[1] == pytest.approx(2 * leaves[2])
    assert forecast.stretches_leave(asked(2)) > forecast.stretches_leave(asked(0)) > 0
    coarse, fine = (forecast.sample_leaves(asked(runs=runs), known) for runs in (50, 1000))
    assert fine < coarse
    monkeypatch.setattr(average, "DEAR", 0.0)
    monkeypatch.setattr(forecast, "MOST_LOOKED_AT", 1.0)
    assert forecast.sample_leaves(question, known) > fine  # closer looks will leave something
