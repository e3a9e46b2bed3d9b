import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import passerby as pb
from passerby.bounds import (
    BOUNDS,
    log_ball,
    log_ball_paper,
    log_choose,
    log_joint_maxima,
    log_likeliest,
    loose_bound,
    tight_bound,
)
from tests.oracle import World
from tests.reference import prior_of, small_cases
from tests.strategies import FINITE, Case, Jumbled, cases, chain, chains


@pytest.mark.parametrize("case", small_cases())
def test_reference_values(case: Any) -> None:
    prior, release, misses = prior_of(case), pb.Release(case["sensors"]), case["misses"]
    table, exact = log_joint_maxima(prior, release.steps)
    assert exact
    assert np.exp(table) == pytest.approx(case["f"], abs=1e-9)
    assert math.exp(log_ball_paper(prior, release.steps, misses)) == pytest.approx(case["ball_paper"], abs=1e-9)
    noisy = pb.Release(case["sensors"], pb.Gaussian(1.0))
    found = {
        "loose": loose_bound(prior, release, misses),
        "tight": tight_bound(prior, release, misses),
        "tight_gaussian_sigma1": tight_bound(prior, noisy, misses),
    }
    assert found == pytest.approx({name: case[name] for name in found}, abs=1e-6)


def test_reference_values_of_the_line(line_reference: Any) -> None:
    prior = pb.line_prior(line_reference["places"], line_reference["tau"])
    release = pb.Release(line_reference["sensors"])
    table, exact = log_joint_maxima(prior, release.steps)
    assert exact
    np.testing.assert_allclose(np.exp(table), line_reference["f"], rtol=1e-9)
    for misses, values in line_reference["by_misses"].items():
        ball = math.exp(log_ball_paper(prior, release.steps, int(misses)))
        assert ball == pytest.approx(values["ball_paper"], rel=1e-9)
        assert loose_bound(prior, release, int(misses)) == pytest.approx(values["loose"], abs=1e-6)
        assert tight_bound(prior, release, int(misses)) == pytest.approx(values["tight"], abs=1e-6)


@given(cases(mechanisms=FINITE))
def test_no_guess_beats_a_bound(case: Case) -> None:
    world = World(case.prior, case.steps)
    optimum = world.optimum(world.likelihoods(case.release), case.misses)
    checked = 0
    for name, bound in BOUNDS.items():
        try:
            value = bound(case.prior, case.release, case.misses)
        except pb.UnsupportedRelease:
            continue
        checked += 1
        assert 0 <= value <= 1, name
        assert optimum <= value + 1e-9, name
    assert checked >= 2 or not isinstance(case.release.mechanism, pb.Raw)


@given(cases())
def test_bounds_grow_with_misses(case: Case) -> None:
    for mechanism in (pb.Raw(), pb.Gaussian(1.0)):
        release = pb.Release(case.release.sensors, mechanism)
        for name, bound in BOUNDS.items():
            if name == "dp" and isinstance(mechanism, pb.Raw):
                continue  # raw counts are not differentially private
            values = [bound(case.prior, release, misses) for misses in range(case.steps)]
            assert (np.diff(values) >= -1e-9).all(), name


@given(cases())
def test_bounds_fall_with_noise(case: Case) -> None:
    for name, bound in BOUNDS.items():
        values = [
            bound(case.prior, pb.Release(case.release.sensors, pb.Gaussian(sigma)), case.misses)
            for sigma in (0.3, 1.0, 4.0)
        ]
        assert (np.diff(values) <= 1e-9).all(), name


@given(chains())
def test_the_papers_ball_is_a_bound_on_the_best_unaided_guess(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    world = World(prior, steps)
    assert log_ball_paper(prior, steps, 0) == pytest.approx(math.log(world.chance.max()), abs=1e-9)
    assert log_likeliest(prior, steps) == pytest.approx(math.log(world.chance.max()), abs=1e-9)
    for misses in range(steps):
        assert world.kappa(misses) <= math.exp(log_ball_paper(prior, steps, misses)) * (1 + 1e-9)


@given(chains())
def test_the_papers_ball_is_its_formula(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    f = World(prior, steps).joint_maxima()
    for misses in range(1, steps):
        expected = sum(math.comb(steps, k) * f[steps - k - 1] for k in range(misses + 1))
        assert math.exp(log_ball_paper(prior, steps, misses)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("places", "steps", "misses"), [(1, 4, 2), (2, 5, 3), (7, 10, 0), (100, 10, 9), (3, 40, 20)])
def test_the_number_of_traces_in_a_ball(places: int, steps: int, misses: int) -> None:
    exact = sum(math.comb(steps, k) * (places - 1) ** k for k in range(misses + 1))
    assert log_ball(places, steps, misses) == pytest.approx(math.log(exact), rel=1e-12)
    assert log_choose(steps, misses) == pytest.approx(math.log(math.comb(steps, misses)), abs=1e-9)


def test_the_number_of_traces_in_a_ball_does_not_overflow() -> None:
    # All traces but those that differ at every step.
    expected = 1000 * math.log(2000) + math.log(1 - (1999 / 2000) ** 1000)
    assert log_ball(2000, 1000, 999) == pytest.approx(expected, rel=1e-12)


def test_bounds_refuse_what_they_do_not_hold_for() -> None:
    release = pb.Release([0, 1], Jumbled(0.5), others=[0, 0])
    for bound in (loose_bound, tight_bound):
        with pytest.raises(pb.UnsupportedRelease, match="raw counts and Gaussian noise, not for Jumbled"):
            bound(pb.line_prior(4), release, 0)


class TestLong:
    """A thousand steps: closed forms for independent steps, and finite numbers elsewhere."""

    @pytest.mark.parametrize("misses", [0, 10, 500, 990])
    def test_independent_steps(self, misses: int) -> None:
        law, steps = np.array([0.5, 0.3, 0.2]), 1000
        prior, release = pb.MarkovPrior(law, np.tile(law, (3, 1))), pb.Release([2] * steps)
        table, exact = log_joint_maxima(prior, steps)
        assert exact
        np.testing.assert_allclose(table, np.arange(1, steps + 1) * math.log(0.5), rtol=1e-9)
        assert pb.entropy(prior, steps) == pytest.approx(-steps * float(law @ np.log(law)), rel=1e-12)
        told = -0.2 * math.log(0.2) - 0.8 * math.log(0.8)
        assert pb.mutual_information(prior, release, "order1") == pytest.approx(steps * told, rel=1e-9)
        for bound in (loose_bound, tight_bound):
            assert 0 <= bound(prior, release, misses) <= 1

    @pytest.mark.parametrize("places", [2, 10, 50])
    def test_the_line(self, places: int) -> None:
        prior, rng = pb.line_prior(places), np.random.default_rng(1)
        release = pb.Release(rng.integers(0, places, 1000))
        for mechanism in (pb.Raw(), pb.Gaussian(1.0)):
            release = pb.Release(release.sensors, mechanism)
            values = [tight_bound(prior, release, misses) for misses in (0, 100, 700)]
            assert all(0 < value <= 1 for value in values)
            assert values == sorted(values)
            assert 0 < loose_bound(prior, release, 100) <= 1

    def test_many_places(self) -> None:
        prior, release = pb.line_prior(200), pb.Release(np.arange(1000) % 200)
        assert 0 < tight_bound(prior, release, 100) <= 1

    def test_the_smallest_probabilities_keep_their_logarithm(self) -> None:
        prior = chain(2, 30, 1000, "stationary")
        assert -3000 < log_likeliest(prior, 1000) < -100
        assert math.isfinite(log_ball_paper(prior, 1000, 0))
