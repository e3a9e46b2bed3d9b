import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from tests.guesses import kappa, masked_cases
from tests.oracle import World
from tests.reference import prior_of, small_cases
from tests.strategies import FINITE, Case, Halved, Jumbled, cases, chain, chains

import passerby as pb
from passerby.kernels.chain.bounds import FAINT
from passerby.measurement import information
from passerby.questions.trace import kappa as ball
from passerby.questions.trace.kappa import (
    fast_joint_maxima,
    full_joint_maxima,
    log_ball,
    log_ball_paper,
    log_choose,
    log_joint_maxima,
    log_kappa_bound,
    log_likeliest,
    log_moment_bound,
    log_told_bound,
)
from passerby.questions.trace.methods.formula import dp_bound, fano_bound, leakage_bound, loose_bound, tight_bound

BOUNDS: dict[str, Callable[..., float]] = {
    "loose": loose_bound,
    "tight": tight_bound,
    "fano": fano_bound,
    "leakage": leakage_bound,
    "dp": dp_bound,
}
#: The bounds that take the logarithm of what is known without the release.
FROM_KAPPA = ("fano", "leakage", "dp")


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
        if name == "leakage":
            continue  # a sure sighting that may be lost counts as two series: little noise may raise the bound
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


def told(prior: pb.MarkovPrior, steps: int, needed: int, t: int = 0, before: int | None = None) -> float:
    """The best that somebody can do who names a place at each step and is then told the right one."""
    if needed <= 0 or t == steps:
        return float(needed <= 0)
    law = prior.initial if before is None else prior.matrices[0 if prior.homogeneous else t - 1][before]
    missed = [told(prior, steps, needed, t + 1, place) for place in range(prior.places)]
    right = [told(prior, steps, needed - 1, t + 1, place) for place in range(prior.places)]
    gain = max(law[place] * (right[place] - missed[place]) for place in np.flatnonzero(prior.guessable))
    return float(law @ missed + gain)


def moments(prior: pb.MarkovPrior, steps: int, needed: int) -> float:
    """`min_k Σ_t max_x A_k(t, x) / C(m, k)`, by loops over steps and places."""
    law, named = prior.marginals(steps), np.flatnonzero(prior.guessable)
    A = [{(t, x): law[t, x] for t in range(steps) for x in named}]
    for _ in range(1, needed):
        row = {}
        for t in range(steps):
            for x in named:
                between, total = np.eye(prior.places), 0.0
                for u in range(t - 1, -1, -1):
                    between = prior.matrices[0 if prior.homogeneous else u] @ between
                    total += max(A[-1][u, y] * between[y, x] for y in named)
                row[t, x] = total
        A.append(row)
    sums = [sum(max(row[t, x] for x in named) for t in range(steps)) for row in A]
    return min(float(total) / math.comb(needed, k) for k, total in enumerate(sums, 1))


class TestKappa:
    """Bounds on what any guess achieves without a release, with some places that may not be named."""

    @given(masked_cases())
    def test_told_the_past(self, case: Case) -> None:
        found = math.exp(log_told_bound(case.prior, case.steps, case.misses))
        assert found == pytest.approx(min(1.0, told(case.prior, case.steps, case.steps - case.misses)), abs=1e-12)
        assert found >= kappa(case, World(case.prior, case.steps)) - 1e-12

    @given(masked_cases())
    def test_moments(self, case: Case) -> None:
        found = math.exp(log_moment_bound(case.prior, case.steps, case.steps - case.misses))
        assert found == pytest.approx(moments(case.prior, case.steps, case.steps - case.misses), rel=1e-9)
        assert found >= kappa(case, World(case.prior, case.steps)) - 1e-12

    def test_moments_are_of_chains_whose_states_are_places(self) -> None:
        shared = pb.MarkovPrior([0.1, 0.9], np.eye(2), place_of=[1, 0], guessable=[True, False])
        with pytest.raises(pb.UnsupportedRelease, match="whose states are places"):
            log_moment_bound(shared, 1, 1)

    @given(masked_cases())
    def test_the_best_of_all(self, case: Case) -> None:
        prior, steps, misses = case.prior, case.steps, case.misses
        found = log_kappa_bound(prior, steps, misses)
        if misses == 0:
            expected = log_likeliest(prior, steps)
        else:
            by_moments = log_moment_bound(prior, steps, steps - misses)
            by_telling = log_told_bound(prior, steps, misses)
            expected = min(0.0, by_moments, by_telling, log_ball_paper(prior, steps, misses))
        assert found == pytest.approx(expected, abs=1e-9)
        assert math.exp(found) >= kappa(case, World(prior, steps)) - 1e-12

    @given(masked_cases())
    def test_the_likeliest_trace_and_the_joint_maxima(self, case: Case) -> None:
        prior, steps = case.prior, case.steps
        world, named = World(prior, steps), np.flatnonzero(prior.guessable)
        law = world.chance.reshape((prior.places,) * steps)
        f = []
        for k in range(1, steps + 1):
            best = 0.0
            for chosen in combinations(range(steps), k):
                joint = law.sum(axis=tuple(set(range(steps)) - set(chosen)))
                best = max(best, joint[np.ix_(*[named] * k)].max())
            f.append(best)
        assert math.exp(log_likeliest(prior, steps)) == pytest.approx(f[-1], abs=1e-12)
        table, exact = log_joint_maxima(prior, steps)
        assert exact
        assert np.exp(table) == pytest.approx(f, abs=1e-12)
        assert np.exp(full_joint_maxima(prior, steps)) == pytest.approx(f, abs=1e-12)
        if prior.starts_stationary:
            fast, certified = fast_joint_maxima(prior, steps)
            assert (np.exp(fast) >= np.array(f) - 1e-12).all()
            assert np.exp(fast)[certified] == pytest.approx(np.array(f)[certified], abs=1e-12)


class TestLeakage:
    @given(cases(), st.floats(-6, 0))
    def test_is_the_smallest_over_powers(self, case: Case, log_kappa: float) -> None:
        world = World(case.prior, case.steps)
        law = world.sightings(case.release) @ world.chance
        law = law[law > 0]
        powers = np.linspace(0, 1, 2001)
        scan = [(1 - power) * log_kappa + math.log((law**power).sum()) for power in powers]
        found = leakage_bound(case.prior, case.release, case.misses, log_kappa)
        assert found == pytest.approx(math.exp(min(0.0, *scan)), rel=1e-4, abs=1e-12)

    def test_uses_what_each_count_reveals(self) -> None:
        """Halves tell at odd counts of others and hide at even ones."""
        prior = chain(6, 4, 3, "started")
        for others, same in (([0, 0, 0], [[], [], []]), ([1, 1, 1], [[0], [1], [2]]), ([0, 1, 0], [[], [1], []])):
            halved = leakage_bound(prior, pb.Release([0, 1, 2], Halved(), others), 1, math.log(0.2))
            assert halved == pytest.approx(leakage_bound(prior, pb.Release(same), 1, math.log(0.2)), rel=1e-9)

    def test_without_sensors_or_hope(self) -> None:
        prior = pb.line_prior(4)
        assert leakage_bound(prior, pb.Release.silent(3), 1, math.log(0.2)) == pytest.approx(0.2)
        assert leakage_bound(prior, pb.Release.silent(3), 1, 0.5) == 1
        assert leakage_bound(prior, pb.Release([0, 1, 2]), 1, -math.inf) == 0
        assert leakage_bound(prior, pb.Release([0, 1, 2]), 1, 3.0) == pytest.approx(1)


@given(cases())
def test_bounds_work_out_what_is_not_handed_in(case: Case) -> None:
    log_kappa = log_kappa_bound(case.prior, case.steps, case.misses)
    noisy = pb.Release(case.release.sensors, pb.Gaussian(1.0))
    for bound, release in ((fano_bound, case.release), (leakage_bound, case.release), (dp_bound, noisy)):
        handed = bound(case.prior, release, case.misses, log_kappa)
        assert bound(case.prior, release, case.misses) == pytest.approx(handed, rel=1e-12)
    order1 = pb.mutual_information(case.prior, case.release, "order1")
    for paper in (loose_bound, tight_bound):
        handed = paper(case.prior, case.release, case.misses, order1)
        assert paper(case.prior, case.release, case.misses) == pytest.approx(handed, rel=1e-12)


def test_noise_can_give_no_more_than_certainty() -> None:
    prior, release = pb.MarkovPrior([0.5, 0.5], np.eye(2)), pb.Release([0, 0], pb.Gaussian(1.0))
    assert dp_bound(prior, release, 0, 0.7) == 1
    assert dp_bound(prior, release, 0, math.log(0.5)) == pytest.approx(ndtr(math.sqrt(2)), rel=1e-6)


def test_tables_that_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ball, "FULL_AT_ONCE", 0.0)
    monkeypatch.setattr(ball, "FULL_LIMIT", 0.0)
    prior = chain(3, 4, 4, "stationary")
    fast, certified = fast_joint_maxima(prior, 4)
    table, exact = log_joint_maxima(prior, 4)
    assert exact == certified.all()
    np.testing.assert_array_equal(table, fast)
    # A star, of which the fast table is above the truth: it is told as no more than a bound.
    star = np.zeros((5, 5))
    star[0, 1:], star[1:, 0] = 0.25, 1.0
    prior = pb.MarkovPrior.stationary(0.99 * star + 0.01 / 5)
    table, exact = log_joint_maxima(prior, 9)
    assert not exact
    assert (table >= full_joint_maxima(prior, 9) - 1e-12).all()
    with pytest.raises(pb.UnsupportedRelease, match="not at equilibrium would take too long with 4 places and 4 steps"):
        log_joint_maxima(chain(3, 4, 4, "started"), 4)


def test_leakage_is_refused_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    prior, release = pb.line_prior(4), pb.Release([0, 1, 2])
    assert 0 < leakage_bound(prior, release, 1) <= 1
    monkeypatch.setattr(information, "STRETCHES_LIMIT", 0.0)
    with pytest.raises(pb.UnsupportedRelease, match="too long with 3 steps, 1 sensors a step and 4 places"):
        leakage_bound(prior, release, 1)


@pytest.mark.parametrize("steps", [0, -1, True, 2.5])
def test_tables_need_a_number_of_steps(steps: Any) -> None:
    with pytest.raises(pb.InputError, match=r"^steps: expected a whole number from 1"):
        log_joint_maxima(pb.line_prior(4), steps)


@pytest.mark.parametrize("misses", [-1, 2, 30, 0.5, None])
def test_bounds_refuse_misses_that_are_none(misses: Any) -> None:
    """Kernels take them for the size of a table."""
    prior, release = pb.line_prior(4, 0.3), pb.Release([0, 1])
    for bound in (pb.loose_bound, pb.tight_bound):
        with pytest.raises(pb.InputError, match="misses: expected a whole number from 0 to 1"):
            bound(prior, release, misses)
        with pytest.raises(pb.InputError, match="prior: expected a MarkovPrior, got 5"):
            bound(5, release, 0)  # type: ignore[arg-type]


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


def log_tail(steps: int, right: Fraction, needed: int) -> float:
    """Log of the chance of at least `needed` successes in `steps` trials: exact until the last two logarithms."""
    wrong = 1 - right
    total = sum(math.comb(steps, k) * right**k * wrong ** (steps - k) for k in range(needed, steps + 1))
    return math.log(total.numerator) - math.log(total.denominator)


class TestLongChains:
    """Steps that do not depend on each other: the number right is binomial, with and without counts."""

    EVEN = pb.MarkovPrior([0.5, 0.5], np.full((2, 2), 0.5))

    @pytest.mark.parametrize("misses", [0, pytest.param(5, marks=pytest.mark.thorough), 40])
    @pytest.mark.parametrize("chance", [2.0**-10, 2.0**-40])
    def test_what_is_known_beforehand_does_not_underflow(self, chance: float, misses: int) -> None:
        """Only the rare place may be named, at each of 120 steps."""
        rare = pb.MarkovPrior([1 - chance, chance], [[1 - chance, chance]] * 2, guessable=[False, True])
        truth = log_tail(120, Fraction(chance), 120 - misses)
        for bound in (log_kappa_bound(rare, 120, misses), log_told_bound(rare, 120, misses)):
            assert truth - 1e-11 * abs(truth) <= bound <= 0.95 * truth

    @pytest.mark.parametrize("misses", [0, 5])
    @pytest.mark.parametrize(
        ("noise", "right"),
        [
            (pb.Gaussian(0.15), ndtr(1 / 0.3)),
            (pb.Gaussian(0.6), ndtr(1 / 1.2)),
            (pb.Gaussian(20.0), ndtr(1 / 40)),
        ],
        ids=repr,
    )
    def test_no_bound_is_decided_by_underflow(self, noise: pb.Mechanism, right: float, misses: int) -> None:
        steps = 1100
        release = pb.Release([0] * steps, noise)
        truth = log_tail(steps, Fraction(round(right * 2**40), 2**40), steps - misses)
        known = log_tail(steps, Fraction(1, 2), steps - misses)
        assert known < -700
        found = {name: bound(self.EVEN, release, misses, known) for name, bound in BOUNDS.items() if name in FROM_KAPPA}
        found["tight"] = tight_bound(self.EVEN, release, misses)
        found["loose"] = loose_bound(self.EVEN, release, misses)
        for name, value in found.items():
            assert value > 0, name
            assert truth <= math.log(value) + 1e-8, name

    @pytest.mark.parametrize(
        "noise",
        [pb.Laplace(1.0), pb.Geometric(0.8), pytest.param(pb.DiscreteGaussian(1.0), marks=pytest.mark.thorough)],
        ids=repr,
    )
    def test_other_noise_likewise(self, noise: pb.Mechanism) -> None:
        """Ten of 1100 steps are counted; the others are guessed as without counts."""
        release = pb.Release([[0]] * 10 + [[]] * 1090, noise)
        known = -1100 * math.log(2)
        truth = known + 10 * math.log1p(noise.total_variation())
        for name in FROM_KAPPA:
            assert BOUNDS[name](self.EVEN, release, 0, known) >= max(5e-324, math.exp(truth) * (1 - 1e-9)), name

    def test_a_tiny_chance_beforehand_does_not_make_noise_private(self) -> None:
        """κ is 1e-478, and yet hardly any step is guessed wrong."""
        release = pb.Release([0] * 1590, pb.Gaussian(0.12))
        truth = ndtr(1 / 0.24) ** 1590
        assert truth > 0.97
        assert dp_bound(self.EVEN, release, 0) >= truth
        assert pb.measure(self.EVEN, release, runs=20, budget=1e8).upper >= truth


def test_what_is_possible_does_not_underflow_and_what_is_not_stays_so() -> None:
    law, moves = np.array([1e-200, 0.0]), np.array([[1.0, 1e-200, 0.0], [0.2, 0.3, 0.5]])
    assert ball.ahead(law, moves).tolist() == [1e-200, FAINT, 0.0]
