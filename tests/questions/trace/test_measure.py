"""The interval: exact on small chains, valid under noise and small budgets, honest about how it was found."""

import math
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import kappa, masked_cases, optimum, successes
from tests.oracle import World
from tests.reference import prior_of, small_cases
from tests.strategies import FINITE, Case, chain

import passerby as pb
from passerby.measurement import information
from passerby.questions.trace import guess as best_guess
from passerby.questions.trace.kappa import log_kappa_bound, log_moment_bound, log_told_bound
from passerby.questions.trace.methods.formula import fano_bound, leakage_bound
from passerby.questions.trace.stretches import bracket_stretches, log_all_right

Floats = NDArray[np.float64]

THOROUGH = pytest.mark.thorough
#: Any two choices of a chain, a way to measure and misses come together in one of these.
FEW = (
    ("started", "auto", 0, 0.3),
    ("started", "sample", 1, 3.0),
    ("varying", "auto", 1, 3.0),
    ("varying", "sample", 0, 0.3),
)


class TestExact:
    @pytest.mark.parametrize("case", small_cases())
    def test_reference_values(self, case: Any) -> None:
        loss = pb.measure(prior_of(case), pb.Release(case["sensors"]), case["misses"], tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((case["optimum"],) * 2, abs=1e-9)
        assert (loss.baseline.lower, loss.baseline.upper) == pytest.approx((case["kappa"],) * 2, abs=1e-9)
        assert loss.effort.reached

    @settings(max_examples=120)
    @given(masked_cases())
    def test_raw_counts(self, case: Case) -> None:
        """Any number of sensors per step, matrices that change, zeros, and places that may not be guessed."""
        world = World(case.prior, case.steps)
        best, unaided = optimum(case, world.sightings(case.release), world), kappa(case, world)
        loss = pb.measure(case.prior, case.release, case.misses, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((best, best), abs=1e-9)
        assert (loss.baseline.lower, loss.baseline.upper) == pytest.approx((unaided, unaided), abs=1e-9)
        quick = pb.measure(case.prior, case.release, case.misses, tolerance=0.1)
        assert quick.lower - 1e-9 <= best <= quick.upper + 1e-9
        assert quick.baseline.lower - 1e-9 <= unaided <= quick.baseline.upper + 1e-9
        for name, bound in quick.bounds.items():
            assert bound >= best - 1e-9, name
        for name, attack in quick.attacks.items():
            assert attack.value <= best + 1e-9, name

    @settings(max_examples=80)
    @given(masked_cases(mechanisms=FINITE[1:]))
    def test_other_mechanisms(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        best, unaided = optimum(case, world.likelihoods(case.release), world), kappa(case, world)
        loss = pb.measure(case.prior, case.release, case.misses, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((best, best), abs=1e-9)
        assert (loss.baseline.lower, loss.baseline.upper) == pytest.approx((unaided, unaided), abs=1e-9)
        for name, bound in loss.bounds.items():
            assert bound >= best - 1e-9, name

    @settings(max_examples=60)
    @given(masked_cases(mechanisms=FINITE))
    def test_formulas_are_never_below(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        best, unaided = optimum(case, world.likelihoods(case.release), world), kappa(case, world)
        steps, misses = case.steps, case.misses
        assert fano_bound(case.prior, case.release, misses) >= best - 1e-9
        assert leakage_bound(case.prior, case.release, misses) >= best - 1e-9
        assert math.exp(log_told_bound(case.prior, steps, misses)) >= unaided - 1e-9
        assert math.exp(log_moment_bound(case.prior, steps, steps - misses)) >= unaided - 1e-9
        assert math.exp(log_kappa_bound(case.prior, steps, misses)) >= unaided - 1e-9
        if unaided > 0:  # with the baseline itself they are tighter, and still hold
            assert fano_bound(case.prior, case.release, misses, math.log(unaided)) >= best - 1e-9
            assert leakage_bound(case.prior, case.release, misses, math.log(unaided)) >= best - 1e-9

    @settings(max_examples=40)
    @given(masked_cases())
    def test_information(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        expected = world.information(world.sightings(case.release))
        assert pb.mutual_information(case.prior, case.release, "exact") == pytest.approx(expected, abs=1e-9)


class TestTheLine:
    """The paper's simulated default: what must be reached, at a tenth of the effort that it takes to do well."""

    @pytest.mark.parametrize(
        ("misses", "low", "high"),
        [(0, 0.0, 1.0), pytest.param(5, 5.5e-5, 9e-5, marks=THOROUGH), pytest.param(8, 0.0338, 0.045, marks=THOROUGH)],
    )
    def test_stays_within_what_is_known(self, line_reference: Any, misses: int, low: float, high: float) -> None:
        prior = pb.line_prior(line_reference["places"], line_reference["tau"])
        loss = pb.measure(prior, pb.Release(line_reference["sensors"]), misses, budget=2e9)
        assert low <= loss.lower <= loss.upper <= high
        assert loss.upper <= 1.6 * loss.lower
        if misses == 0:
            assert loss.upper == pytest.approx(loss.lower, rel=1e-12)
            assert loss.effort.reached


def noisy_optimum(prior: pb.MarkovPrior, sensors: list[int], misses: int, sigma: float, width: float) -> float:
    """The best guess averaged over a fine grid of published values (one sensor per step)."""
    world = World(prior, len(sensors))
    values = np.arange(-6 * sigma, 1 + 6 * sigma, width * sigma)
    density = [np.exp(-((values - there) ** 2) / (2 * sigma**2)) for there in (0, 1)]
    density = [d / d.sum() for d in density]
    there = [(world.traces[:, t] == place).astype(int) for t, place in enumerate(sensors)]
    channel = np.ones((1, len(world.traces)))
    for seen in there:
        step = np.where(seen, density[1][:, None], density[0][:, None])
        channel = (channel[:, None] * step[None]).reshape(-1, len(world.traces))
    return float(successes(world, channel, misses, prior.guessable).sum())


def sampled_optimum(
    prior: pb.MarkovPrior, release: pb.Release, misses: int, runs: int, seed: int
) -> tuple[float, float]:
    """The best guess averaged over published series that were drawn, and its standard error."""
    world, rng = World(prior, release.steps), np.random.default_rng(seed)
    published = release.publish(prior.sample(runs, release.steps, rng), rng)
    likelihood = np.ones((runs, len(world.traces)))
    sigma = release.mechanism.sigma  # type: ignore[attr-defined]
    for t, step in enumerate(release.sensors):
        for j, place in enumerate(step):
            off = published[:, t, j, None] - (world.traces[:, t] == place)
            likelihood *= np.exp(-(off**2) / (2 * sigma**2))
    best = successes(world, likelihood, misses, prior.guessable) / (likelihood @ world.chance)
    return float(best.mean()), float(best.std(ddof=1) / math.sqrt(runs))


class TestNoise:
    @pytest.mark.parametrize(
        ("kind", "how", "misses", "sigma"),
        [
            pytest.param(*case, marks=[] if case in FEW else THOROUGH)
            for case in product(("started", "varying"), ("auto", "sample"), (0, 1), (0.3, 1.0, 3.0))
        ],
    )
    def test_contains_the_optimum_of_a_fine_grid(
        self, kind: str, how: Literal["auto", "sample"], misses: int, sigma: float
    ) -> None:
        """By stand-ins with certainty, by a sample at the confidence that is said."""
        prior, sensors = chain(11, 3, 3, kind), [0, 1, 2]
        best = noisy_optimum(prior, sensors, misses, sigma, 0.2)
        loss = pb.measure(prior, pb.Release(sensors, pb.Gaussian(sigma)), misses, runs=600, series=how)
        assert loss.effort.sampled == (how == "sample")
        assert loss.upper <= 1.3 * loss.lower
        error = loss.attacks["ascent"].error
        assert loss.lower - 4 * error <= best <= loss.upper
        for name, bound in loss.bounds.items():
            assert best <= bound + 1e-9, name

    @pytest.mark.parametrize("seed", [*(pytest.param(each, marks=THOROUGH) for each in (0, 1, 2)), 3])
    def test_contains_the_optimum_of_a_sample_with_several_sensors(self, seed: int) -> None:
        prior = chain(seed, 4, 4, "varying", sparse=seed % 2 == 1)
        release = pb.Release([[0, 1], [], 2, [3, 0, 1]], pb.Gaussian(0.8))
        for misses in (1, 2):
            best, spread = sampled_optimum(prior, release, misses, 3000, seed)
            loss = pb.measure(prior, release, misses, runs=600, seed=seed + 50)
            error = loss.attacks["ascent"].error
            assert loss.lower - 4 * math.hypot(error, spread) <= best <= loss.upper + 4 * spread

    def test_from_raw_counts_to_the_baseline(self) -> None:
        """Noise lowers the upper end from that of raw counts to the baseline, and never raises it beyond its error."""
        prior, sensors = chain(21, 4, 4, "started"), [0, 1, 2, 3]
        for misses in (0, 1, 2):
            raw = pb.measure(prior, pb.Release(sensors), misses)
            losses = [
                pb.measure(prior, pb.Release(sensors, pb.Gaussian(sigma)), misses, runs=800)
                for sigma in (1e-3, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0, 30.0, 1e3, 1e6)
            ]
            uppers = np.array([loss.upper for loss in losses])
            assert (uppers <= raw.upper + 1e-12).all()
            assert (np.diff(uppers) <= 1e-3 * uppers[1:]).all()
            assert uppers[0] == pytest.approx(raw.upper, rel=0.011)
            assert losses[0].lower == pytest.approx(raw.lower, rel=0.011)
            assert uppers[-1] <= losses[-1].baseline.upper * 1.001
            assert losses[-1].lower == pytest.approx(losses[-1].baseline.lower, rel=0.011)

    def test_samples_fall_with_noise_up_to_their_error(self) -> None:
        prior, sensors = chain(21, 4, 4, "started"), [0, 1, 2, 3]
        losses = [
            pb.measure(prior, pb.Release(sensors, pb.Gaussian(sigma)), 1, runs=1000, series="sample")
            for sigma in (1e-3, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0, 30.0, 1e3)
        ]
        uppers = np.array([loss.upper for loss in losses])
        errors = np.array([loss.attacks["ascent"].error for loss in losses])
        assert (np.diff(uppers) <= 4 * np.hypot(errors[1:], errors[:-1])).all()
        assert uppers[-1] <= losses[-1].baseline.upper * 1.01

    @settings(max_examples=15)
    @given(masked_cases(), st.sampled_from([0.05, 0.5, 2.0]))
    def test_never_ends_above_raw_counts(self, case: Case, sigma: float) -> None:
        raw = pb.measure(case.prior, case.release, case.misses)
        noisy = pb.measure(case.prior, pb.Release(case.release.sensors, pb.Gaussian(sigma)), case.misses, runs=100)
        assert noisy.upper <= raw.upper + 1e-12
        assert noisy.bounds["raw"] <= raw.bounds["posterior"] + 1e-12

    def test_the_papers_bound_grows_with_noise_where_this_one_does_not(self) -> None:
        """The anomaly: for small noise the paper's information for Gaussian noise is above that of raw counts."""
        prior, sensors = pb.line_prior(20), [3, 3, 4, 10, 11, 3]
        raw = pb.measure(prior, pb.Release(sensors), 1)
        noisy = pb.measure(prior, pb.Release(sensors, pb.Gaussian(0.1)), 1, runs=100)
        assert noisy.bounds["tight"] > raw.bounds["tight"]
        assert noisy.upper <= raw.upper


class TestEffort:
    PRIOR = chain(6, 5, 7, "started")
    RELEASE = pb.Release([0, [1, 2], 3, 4, [0, 1], 2, 3])

    def best(self, misses: int) -> float:
        world = World(self.PRIOR, 4)
        release = pb.Release(self.RELEASE.sensors[:4])
        return float(successes(world, world.sightings(release), misses, self.PRIOR.guessable).sum())

    def test_series_can_be_listed_or_sampled(self) -> None:
        release = pb.Release(self.RELEASE.sensors[:4])
        listed = pb.measure(self.PRIOR, release, 1, series="enumerate")
        drawn = pb.measure(self.PRIOR, release, 1, series="sample", runs=300)
        best = self.best(1)
        assert not listed.effort.sampled
        assert listed.effort.confidence is None
        assert listed.effort.covered == pytest.approx(1)
        assert listed.effort.series == 2 * 3 * 2 * 2
        assert listed.lower - 1e-9 <= best <= listed.upper + 1e-9
        assert drawn.effort.sampled
        assert drawn.effort.series == 300
        assert drawn.effort.covered == 1
        assert drawn.effort.bound == "posterior"
        assert drawn.effort.confidence == 0.99
        assert drawn.attacks["ascent"].error > 0
        assert best == pytest.approx(drawn.attacks["ascent"].value, abs=4 * drawn.attacks["ascent"].error)
        assert drawn.lower <= best <= drawn.upper
        assert drawn.lower == drawn.attacks["ascent"].floor < drawn.attacks["ascent"].value

    def test_confidence_is_said_and_used(self) -> None:
        release = pb.Release(self.RELEASE.sensors, pb.Gaussian(1.0))
        some, most = (
            pb.measure(self.PRIOR, release, 2, series="sample", runs=200, confidence=level) for level in (0.8, 0.999)
        )
        assert (some.effort.confidence, most.effort.confidence) == (0.8, 0.999)
        assert most.lower < some.lower < some.upper < most.upper

    def test_sampled_intervals_hold_as_often_as_they_say(self) -> None:
        release, repeats, held = pb.Release(self.RELEASE.sensors[:4]), 100, 0
        best = self.best(1)
        for seed in range(repeats):
            drawn = pb.measure(self.PRIOR, release, 1, series="sample", runs=80, confidence=0.7, seed=seed)
            held += drawn.lower <= best <= drawn.upper
        assert held >= 0.7 * repeats - 3 * np.sqrt(repeats * 0.21)
        assert drawn.upper - drawn.lower < 0.3

    def test_three_ends_share_the_doubt_against_a_crowd(self) -> None:
        """The bound `known` is for the adversary who knows everyone, at a third of the doubt, as are both ends."""
        sensors, crowd = [0, 1, 2, 3, 4, 0, 1, 2], pb.Crowd([self.PRIOR])
        release = pb.Release(sensors, pb.Gaussian(1.0), others=crowd)
        loss = pb.measure(self.PRIOR, release, 4, series="sample", runs=100, confidence=0.7)
        alone = pb.Release(sensors, pb.Gaussian(1.0))
        known = pb.measure(self.PRIOR, alone, 4, series="sample", runs=100, confidence=0.8)
        assert loss.bounds["known"] == pytest.approx(known.upper)
        assert loss.effort.confidence == 0.7

    def test_raw_counts_get_more_effort_where_they_decide(self) -> None:
        """Hardly any noise hides nothing: the bound is then that of raw counts, as if these were measured."""
        prior, sensors = pb.line_prior(30), [3, 27, 12, 5, 18, 7, 26, 1]
        noisy = pb.measure(prior, pb.Release(sensors, pb.Gaussian(0.2)), 4, budget=1e8, runs=50)
        plain = pb.measure(prior, pb.Release(sensors), 4, budget=1e8)
        assert noisy.effort.bound == "raw"
        assert plain.upper > 1.02 * plain.lower
        assert noisy.upper <= plain.upper * 1.001

    def test_a_baseline_is_known_well_however_small_the_budget(self) -> None:
        prior, steps = chain(3, 8, 20, "started"), 16
        loss = pb.measure(prior, pb.Release([0] * steps), 2, budget=0)
        assert loss.baseline.lower <= loss.baseline.upper <= 1.01 * loss.baseline.lower
        assert loss.upper > 1.01 * loss.lower

    def test_the_paper_s_way_gives_what_is_sure(self) -> None:
        release = pb.Release(self.RELEASE.sensors[:4])
        loss = pb.measure(self.PRIOR, release, 1, method="sampling", runs=300)
        exact = pb.measure(self.PRIOR, release, 1)
        assert loss.effort.confidence == 0.99
        assert loss.lower == loss.attacks["map"].floor < loss.attacks["map"].value
        assert loss.lower <= exact.upper
        assert loss.baseline.lower == max(loss.attacks["prior"].floor, loss.attacks["constant"].floor)
        assert loss.baseline.lower <= exact.baseline.upper

    def test_a_sample_that_does_not_vary_is_still_a_sample(self) -> None:
        """Nothing can be told about somebody who is never near a sensor: no luck, and no certainty either."""
        prior = pb.MarkovPrior([0.6, 0.4, 0.0], [[0.6, 0.4, 0.0]] * 3)
        release = pb.Release([2, 2])
        drawn = pb.measure(prior, release, 1, series="sample", runs=50)
        assert 0 < drawn.attacks["ascent"].error == pytest.approx((1 - drawn.baseline.lower) / 50)
        assert drawn.attacks["ascent"].level is not None
        assert drawn.lower == pytest.approx(0.84)

    def test_a_sample_counts_where_it_narrows_what_is_known(self) -> None:
        release = pb.Release(self.RELEASE.sensors, pb.Gaussian(1.0))
        certain = pb.measure(self.PRIOR, release, 2, runs=20, budget=1e9)
        drawn = pb.measure(self.PRIOR, release, 2, runs=4000, budget=3e7)
        assert drawn.effort.sampled
        assert not certain.effort.sampled
        assert certain.effort.confidence is None
        assert drawn.lower <= certain.upper
        assert certain.lower <= drawn.upper

    def test_a_sample_narrows_what_stretches_leave_open(self) -> None:
        prior, release = pb.line_prior(5, 0.3), pb.Release([2, 3, 3, 4, 0, 0, 4, 4, 1, 1, 4, 2, 1, 4, 1, 2])
        certain = bracket_stretches(prior, release, 6, 0.01, 0)
        drawn = pb.measure(prior, release, 6, runs=1000, budget=0)
        assert certain is not None
        assert drawn.effort.sampled
        assert (drawn.effort.series, drawn.effort.confidence) == (1000, 0.99)
        assert certain.lower <= drawn.lower <= drawn.upper <= certain.upper
        assert drawn.upper - drawn.lower <= 0.8 * (certain.upper - certain.lower)
        best = pb.measure(prior, release, 6, runs=20, budget=1e8)
        assert drawn.lower <= best.upper
        assert best.lower <= drawn.upper

    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Rounding(3), pb.RandomRounding(3)], ids=repr)
    def test_a_chain_that_does_not_fit_still_has_attacks_and_formulas(
        self, mechanism: pb.Mechanism, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prior, release = self.PRIOR, pb.Release([1, 3, 2], mechanism, others=[2, 3, 4])
        known = pb.measure(prior, release, 1)
        monkeypatch.setattr(best_guess, "MEMORY_LIMIT", 10)
        loss = pb.measure(prior, release, 1)
        assert "does not fit into memory; merge places" in loss.refused["posterior"]
        assert "posterior" not in loss.bounds
        assert loss.bounds.get("raw", 1.0) == 1.0
        assert loss.lower == loss.attacks["map"].value == pytest.approx(known.attacks["map"].value)
        assert loss.lower <= known.upper
        assert known.lower <= loss.upper
        assert loss.baseline.lower <= known.baseline.lower
        assert loss.baseline.upper == pytest.approx(math.exp(log_kappa_bound(prior, 3, 1)))

    @pytest.mark.parametrize(
        ("sensors", "mechanism", "tolerance"),
        [
            ([1, 3, 2], pb.Gaussian(1.0), 0.01),
            ([1, 3, 2], pb.Laplace(2.0), 0.01),
            ([[0, 1, 2]] * 8, pb.Raw(), 0.01),
            ([[0, 1, 2]] * 8, pb.Raw(), 0.9),
        ],
    )
    def test_nor_is_it_refused_for_noise_or_for_many_series(
        self,
        sensors: list[int] | list[list[int]],
        mechanism: pb.Mechanism,
        tolerance: float,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        release = pb.Release(sensors, mechanism)
        known = pb.measure(self.PRIOR, release, 1, tolerance=tolerance, budget=0)
        monkeypatch.setattr(best_guess, "MEMORY_LIMIT", 10)
        loss = pb.measure(self.PRIOR, release, 1, tolerance=tolerance, budget=0)
        # Raw counts are looked at stretch by stretch, without a sample.
        assert (loss.attacks["map"].level is None) == (mechanism == pb.Raw())
        assert abs(loss.attacks["map"].value - known.attacks["map"].value) <= 4 * loss.attacks["map"].error + 1e-9
        assert loss.lower <= known.upper
        assert known.lower <= loss.upper

    def test_a_crowd_that_is_known_does_not_help_where_chains_do_not_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        crowd = pb.Crowd([self.PRIOR] * 3)
        release = pb.Release([1, 3], pb.Rounding(3), others=crowd)
        assert pb.measure(self.PRIOR, release, 1).bounds["known"] < 1
        monkeypatch.setattr(best_guess, "MEMORY_LIMIT", 10)
        assert pb.measure(self.PRIOR, release, 1).bounds["known"] == 1

    @settings(max_examples=25)
    @example(21766, 0.5, 0.0)  # the limit is the average, but for rounding
    @given(st.integers(0, 10**6), st.sampled_from([0.5, 0.9]), st.sampled_from([0.0, 1e7]))
    def test_what_a_sample_says_is_told_or_not_used(self, seed: int, confidence: float, budget: float) -> None:
        """The limit of a sampled guess may be above what is certain; then it must be said, or not be used."""
        rng = np.random.default_rng(seed)
        release = pb.Release([rng.choice(10, 3, replace=False).tolist() for _ in range(8)])
        loss = pb.measure(pb.line_prior(10, 0.3), release, 4, budget=budget, runs=200, confidence=confidence)
        if loss.effort.confidence is None:
            assert loss.lower in [attack.value for attack in loss.attacks.values() if attack.level is None]
        for attack in loss.attacks.values():
            assert attack.floor <= attack.value

    def test_where_the_recursion_takes_too_long_series_are_listed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        release = pb.Release(self.RELEASE.sensors[:4])
        log_expected = log_all_right(self.PRIOR, release, 0)
        assert log_expected is not None
        expected = math.exp(log_expected)
        monkeypatch.setattr(information, "STRETCHES_LIMIT", 0.0)
        assert log_all_right(self.PRIOR, release, 0) is None
        loss = pb.measure(self.PRIOR, release, 0, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((expected, expected), abs=1e-9)

    def test_a_continuum_cannot_be_listed(self) -> None:
        with pytest.raises(pb.UnsupportedRelease, match="continuum"):
            pb.measure(self.PRIOR, pb.Release([0] * 7, pb.Gaussian(1.0)), 1, series="enumerate")

    @pytest.mark.parametrize("misses", [1, 3])
    def test_a_small_budget_gives_a_wider_interval_around_the_same_loss(self, misses: int) -> None:
        prior, release = pb.line_prior(12), pb.Release([3, 8, 5, 1, 10, 6])
        exact = pb.measure(prior, release, misses, tolerance=0)
        assert exact.effort.reached
        assert exact.upper == pytest.approx(exact.lower, rel=1e-9)
        widths = []
        for budget in (0, 1e6, 1e7, 1e9):
            loss = pb.measure(prior, release, misses, tolerance=0, budget=budget)
            assert loss.lower <= exact.upper + 1e-9
            assert loss.upper >= exact.lower - 1e-9
            assert loss.effort.reached == (loss.upper <= loss.lower * (1 + 1e-12))
            widths.append(loss.upper - loss.lower)
        assert widths[0] > 1e-2 * exact.upper
        assert (np.diff(widths) <= 1e-12).all()

    def test_a_list_cut_short_counts_what_is_left_over(self) -> None:
        """Eleven steps with three sensors each cannot all be listed; what is missing is added to the upper end."""
        rng = np.random.default_rng(0)
        prior = pb.MarkovPrior.stationary(0.5 * np.eye(6) + 0.5 * rng.dirichlet(np.ones(6), 6))
        release = pb.Release([rng.permutation(6)[:3] for _ in range(11)])
        loss = pb.measure(prior, release, 5, series="enumerate", budget=0)
        assert loss.effort.series <= 4096
        assert 0 < loss.effort.covered < 1
        left = 1 - loss.effort.covered
        assert loss.bounds["posterior"] >= min(1.0, loss.attacks["ascent"].value + left) - 1e-9
        drawn = pb.measure(prior, release, 5, series="sample", runs=300)
        assert loss.lower <= drawn.upper + 1e-9
        assert drawn.lower - 4 * drawn.attacks["ascent"].error <= loss.upper

    def test_names_what_decided(self) -> None:
        loss = pb.measure(self.PRIOR, self.RELEASE, 2)
        effort = loss.effort
        assert loss.attacks[effort.attack].value == loss.lower
        assert loss.bounds[effort.bound] == loss.upper
        assert effort.nodes > 0
        assert effort.operations > 0
        assert effort.seconds > 0
        assert effort.reached

    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0)], ids=repr)
    def test_the_same_seed_gives_the_same_result(self, mechanism: pb.Mechanism) -> None:
        release = pb.Release(self.RELEASE.sensors, mechanism)
        first, second = (pb.measure(self.PRIOR, release, 2, runs=60, budget=1e8, seed=5) for _ in range(2))
        assert first == second
        other = pb.measure(self.PRIOR, release, 2, runs=60, budget=1e8, seed=6)
        assert (first == other) == isinstance(mechanism, pb.Raw)

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("tolerance", -0.1),
            ("tolerance", math.nan),
            ("tolerance", "0.1"),
            ("tolerance", True),
            ("series", "all"),
            ("series", ["sample"]),
            ("confidence", 1.0),
            ("confidence", 1 - 1e-16),
            ("confidence", 1 - 1e-14),
            ("confidence", "0.99"),
            ("budget", -1),
            ("budget", math.inf),
            ("budget", None),
            ("runs", 1),
            ("runs", 2.5),
            ("method", "fast"),
            ("seed", -1),
            ("seed", [1, "a"]),
        ],
    )
    def test_options_are_checked(self, option: str, value: Any) -> None:
        with pytest.raises(pb.InputError, match=f"^{option}: .*got "):
            pb.measure(self.PRIOR, self.RELEASE, 1, **{option: value})

    @pytest.mark.parametrize("prior", [None, [0.5, 0.5], "line"])
    def test_a_prior_is_a_prior(self, prior: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^prior: expected a MarkovPrior"):
            pb.measure(prior, self.RELEASE, 1)

    @pytest.mark.parametrize("release", [None, [0, 1], "raw"])
    def test_a_release_is_a_release(self, release: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^release: expected a Release"):
            pb.measure(self.PRIOR, release, 1)

    @pytest.mark.parametrize("published", [5, "0000000", [0, None, 0, 0, 0, 0, 0], [0, "a", 0, 0, [0, 0], 0, 0], [[0]]])
    def test_what_was_published_is_numbers_in_the_form_of_sensors(self, published: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^published"):
            pb.measure(self.PRIOR, self.RELEASE, 1, published=published)


class TestAdvantage:
    @settings(max_examples=30)
    @given(masked_cases())
    def test_is_what_the_release_adds(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        best, unaided = optimum(case, world.sightings(case.release), world), kappa(case, world)
        loss = pb.measure(case.prior, case.release, case.misses, tolerance=0)
        expected = (best - unaided) / (1 - unaided) if unaided < 1 - 1e-9 else 0.0
        if unaided < 1 - 1e-6 or unaided == 1:
            assert loss.advantage.lower == pytest.approx(expected, abs=1e-3)
            assert loss.advantage.upper == pytest.approx(expected, abs=1e-3)

    def test_silence_adds_nothing(self) -> None:
        prior = chain(2, 4, 5, "varying")
        for misses in range(5):
            loss = pb.measure(prior, pb.Release.silent(5), misses, tolerance=0)
            assert loss.lower == pytest.approx(loss.baseline.lower, abs=1e-12)
            assert loss.upper == pytest.approx(loss.baseline.upper, abs=1e-12)
            assert loss.advantage.upper == pytest.approx(0, abs=1e-9)
