import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import FINITE, Case, Jumbled, cases, chain

import passerby as pb


def assert_same(first: pb.Loss, second: pb.Loss) -> None:
    """What does not depend on how ties are broken or when a search stops is the same; what does, is compatible."""
    assert second.attacks["constant"].value == pytest.approx(first.attacks["constant"].value, abs=1e-9)
    # Roots magnify rounding: where next to nothing is told, an error of 1e-16 in it moves them by 1e-8.
    fixed = set(first.bounds) - {"posterior"}
    assert {name: second.bounds[name] for name in fixed} == pytest.approx(
        {name: first.bounds[name] for name in fixed}, abs=1e-6
    )
    for one, other in ((first, second), (second, first)):
        assert one.lower <= other.upper + 1e-9
        assert one.baseline.lower <= other.baseline.upper + 1e-9


class TestInterval:
    @given(cases(mechanisms=FINITE))
    def test_contains_the_optimum(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        optimum = world.optimum(world.likelihoods(case.release), case.misses)
        loss = pb.measure(case.prior, case.release, case.misses)
        assert loss.lower <= optimum + 1e-9
        assert optimum <= loss.upper + 1e-9
        for name, attack in loss.attacks.items():
            assert attack.error == 0, name
            assert 0 <= attack.value <= min([optimum + 1e-9, 1.0]), name
        for name, value in loss.bounds.items():
            assert optimum - 1e-9 <= value <= 1, name
        assert 0 <= loss.lower <= loss.upper <= 1

    @given(cases(mechanisms=FINITE))
    def test_baseline_contains_the_best_unaided_guess(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        loss = pb.measure(case.prior, case.release, case.misses)
        kappa = world.kappa(case.misses)
        assert loss.baseline.lower - 1e-9 <= kappa <= loss.baseline.upper + 1e-9
        optimum = world.optimum(world.likelihoods(case.release), case.misses)
        assert 0 <= loss.advantage.lower <= loss.advantage.upper <= 1
        if kappa < 1 - 1e-6:
            share = (optimum - kappa) / (1 - kappa)
            assert loss.advantage.lower - 1e-6 <= share <= loss.advantage.upper + 1e-6

    @settings(max_examples=20)
    @given(cases(), st.sampled_from([0.4, 1.0, 3.0]))
    def test_noise_stays_below_bounds_and_raw_counts(self, case: Case, sigma: float) -> None:
        world = World(case.prior, case.steps)
        raw = world.optimum(world.sightings(case.release), case.misses)
        loss = pb.measure(case.prior, pb.Release(case.release.sensors, pb.Gaussian(sigma)), case.misses, runs=200)
        for name, attack in loss.attacks.items():
            # A sample of series that all look alike has no spread: allow for one that was not drawn.
            slack = 4 * attack.error + (0.03 if attack.error else 1e-9)
            assert attack.value <= raw + slack, name
            assert attack.value <= loss.upper + slack, name

    @given(cases(mechanisms=FINITE))
    def test_grows_with_misses(self, case: Case) -> None:
        losses = [pb.measure(case.prior, case.release, misses) for misses in range(case.steps)]
        for name in ("lower", "upper"):
            assert (np.diff([getattr(loss, name) for loss in losses]) >= -1e-9).all(), name
        for name in ("map", "prior", "constant"):
            assert (np.diff([loss.attacks[name].value for loss in losses]) >= -1e-9).all(), name


class TestInvariance:
    @given(cases(mechanisms=(pb.Raw(), Jumbled(0.3))), st.randoms(use_true_random=False))
    def test_relabelling_places_changes_nothing(self, case: Case, random: Any) -> None:
        new = list(range(case.prior.places))
        random.shuffle(new)
        old = np.argsort(new)
        prior = pb.MarkovPrior(case.prior.initial[old], case.prior.transition[..., old, :][..., old])
        release = pb.Release(
            [[new[x] for x in step] for step in case.release.sensors], case.release.mechanism, case.release.others
        )
        first, second = pb.measure(case.prior, case.release, case.misses), pb.measure(prior, release, case.misses)
        assert_same(first, second)

    @pytest.mark.parametrize("misses", range(5))
    def test_relabelling_places_does_not_change_map_on_a_chain_without_ties(self, misses: int) -> None:
        case = chain(77, 4, 5, "started")
        new = [2, 0, 3, 1]
        old = np.argsort(new)
        prior = pb.MarkovPrior(case.initial[old], case.transition[np.ix_(old, old)])
        first = pb.measure(case, pb.Release([0, 1, 2, 3, 0]), misses)
        second = pb.measure(prior, pb.Release([new[x] for x in (0, 1, 2, 3, 0)]), misses)
        assert {name: a.value for name, a in second.attacks.items()} == pytest.approx(
            {name: a.value for name, a in first.attacks.items()}, abs=1e-9
        )

    @given(cases(mechanisms=(pb.Raw(), Jumbled(0.3)), most_series=300), st.data())
    def test_a_sensor_where_the_person_never_is_changes_nothing(self, case: Case, data: st.DataObject) -> None:
        """Two releases for a chain with one more place, that has no way in: one has sensors there as well."""
        places = case.prior.places
        moves = np.zeros((*case.prior.transition.shape[:-2], places + 1, places + 1))
        moves[..., :places, :places] = case.prior.transition
        moves[..., places, 0] = 1
        prior = pb.MarkovPrior(np.append(case.prior.initial, 0), moves)
        # At two steps at most: an outcome that tells nothing still doubles or triples the series to be listed.
        extra = data.draw(st.sets(st.integers(0, case.steps - 1), max_size=2), label="extra")
        sensors = [[*step, *([places] if t in extra else [])] for t, step in enumerate(case.release.sensors)]
        others = [[*step, *([0] if t in extra else [])] for t, step in enumerate(case.release.numbers)]
        without = pb.measure(
            prior, pb.Release(case.release.sensors, case.release.mechanism, case.release.others), case.misses
        )
        with_sensor = pb.measure(prior, pb.Release(sensors, case.release.mechanism, others), case.misses)
        assert_same(without, with_sensor)
        # More sensors may make too many series to list: then the least likely are left over, or some are drawn.
        one, other = without.attacks["map"], with_sensor.attacks["map"]
        assert other.value == pytest.approx(one.value, abs=1e-3 + 5 * np.hypot(one.error, other.error))

    def test_silence_is_the_baseline(self) -> None:
        prior = chain(5, 4, 4, "started")
        for misses in range(4):
            loss = pb.measure(prior, pb.Release.silent(4), misses)
            kappa = World(prior, 4).kappa(misses)
            assert loss.lower - 1e-9 <= kappa <= loss.upper + 1e-9
            assert loss.attacks["map"].value == pytest.approx(loss.attacks["prior"].value, abs=1e-12)

    def test_the_seed_alone_decides(self) -> None:
        prior, release = pb.line_prior(8), pb.Release([1, 2, 3], pb.Gaussian(1.0))
        first, second, third = (pb.measure(prior, release, 1, runs=50, seed=seed) for seed in (3, 3, 4))
        assert first == second
        assert first.attacks["map"] != third.attacks["map"]


class TestExtremes:
    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0)], ids=repr)
    @pytest.mark.parametrize("steps", [1, 2, 100])
    def test_one_place(self, steps: int, mechanism: pb.Mechanism) -> None:
        for misses in {0, steps - 1}:
            loss = pb.measure(pb.line_prior(1), pb.Release([0] * steps, mechanism), misses, runs=5)
            assert (loss.lower, loss.upper) == pytest.approx((1, 1))
            assert (loss.baseline.lower, loss.baseline.upper) == pytest.approx((1, 1))
            assert loss.advantage == pb.Interval(0, 0)

    def test_one_place_for_hundreds_of_steps(self) -> None:
        loss = pb.measure(pb.line_prior(1), pb.Release([0] * 300), 3)
        assert (loss.lower, loss.upper) == pytest.approx((1, 1))

    def test_one_step(self) -> None:
        prior = pb.MarkovPrior([0.5, 0.3, 0.2], np.eye(3))
        loss = pb.measure(prior, pb.Release([1]))
        assert loss.lower == pytest.approx(0.8)
        assert loss.baseline.lower == loss.baseline.upper == pytest.approx(0.5)
        assert 0.8 - 1e-9 <= loss.upper <= 1

    def test_one_step_of_a_chain_with_a_matrix_per_step(self) -> None:
        prior = pb.MarkovPrior([0.5, 0.5], np.empty((0, 2, 2)))
        assert pb.measure(prior, pb.Release([1])).lower == pytest.approx(1)

    @pytest.mark.parametrize("misses", [0, 3, 99])
    def test_deterministic(self, misses: int) -> None:
        """A cycle from a known start: every trace is known before anything is published."""
        prior = pb.MarkovPrior([1, 0, 0], np.roll(np.eye(3), 1, axis=1))
        for mechanism in (pb.Raw(), pb.Gaussian(1.0)):
            loss = pb.measure(prior, pb.Release([0] * 100, mechanism), misses, runs=5, budget=1e8)
            assert (loss.lower, loss.upper) == pytest.approx((1, 1))

    def test_periodic_from_an_unknown_start(self) -> None:
        prior = pb.MarkovPrior.stationary(np.roll(np.eye(4), 1, axis=1))
        loss = pb.measure(prior, pb.Release([0, 0, 0]))
        assert loss.lower == pytest.approx(1)
        assert loss.attacks["prior"].value == pytest.approx(0.25)
        assert pb.measure(prior, pb.Release([0])).lower == pytest.approx(0.5)

    @pytest.mark.parametrize("steps", [2, 300])
    def test_absorbing(self, steps: int) -> None:
        moves = [[0.5, 0.5], [0.0, 1.0]]
        at_rest = pb.measure(pb.MarkovPrior.stationary(moves), pb.Release([0] * steps))
        assert (at_rest.lower, at_rest.upper) == pytest.approx((1, 1))
        leaving = pb.measure(pb.MarkovPrior([1.0, 0.0], moves), pb.Release([1] * steps), runs=20, budget=1e8)
        assert leaving.lower == pytest.approx(1)
        assert math.isfinite(leaving.upper)

    @pytest.mark.parametrize("steps", [6, 100])
    def test_nearly_periodic(self, steps: int) -> None:
        prior = pb.MarkovPrior.stationary([[1e-9, 1 - 1e-9], [1 - 1e-9, 1e-9]])
        loss = pb.measure(prior, pb.Release([0] * steps), 1, runs=50, budget=1e8)
        assert loss.lower == pytest.approx(1, abs=1e-6)
        assert loss.attacks["prior"].value == pytest.approx(0.5, abs=1e-6)
        assert loss.lower <= loss.upper <= 1

    def test_places_never_reached(self) -> None:
        moves = np.zeros((5, 5))
        moves[:2, :2] = [[0.9, 0.1], [0.4, 0.6]]
        moves[2:, 0] = 1
        prior = pb.MarkovPrior.stationary(moves)
        small = pb.MarkovPrior.stationary([[0.9, 0.1], [0.4, 0.6]])
        for mechanism in (pb.Raw(), pb.Gaussian(1.0)):
            big, little = (pb.measure(p, pb.Release([0, 1, 0], mechanism), 1, runs=50) for p in (prior, small))
            assert big.attacks["map"].value == pytest.approx(little.attacks["map"].value, abs=1e-9)
            assert big.bounds["tight"] == pytest.approx(little.bounds["tight"], abs=1e-9)
            assert math.isfinite(big.upper)

    @pytest.mark.parametrize("places", [2, pytest.param(12, marks=pytest.mark.thorough)])
    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0)], ids=repr)
    def test_a_thousand_steps(self, places: int, mechanism: pb.Mechanism) -> None:
        rng = np.random.default_rng(places)
        prior = pb.line_prior(places)
        loss = pb.measure(prior, pb.Release(rng.integers(0, places, 1000), mechanism), 40, runs=3, budget=1e8)
        assert 0 <= loss.lower <= loss.upper <= 1
        assert all(math.isfinite(attack.value) for attack in loss.attacks.values())

    def test_independent_steps_have_a_closed_form(self) -> None:
        from scipy.stats import binom

        law, steps, misses = np.array([0.6, 0.3, 0.1]), 1000, 300
        prior = pb.MarkovPrior(law, np.tile(law, (3, 1)))
        loss = pb.measure(prior, pb.Release([2] * steps), misses, runs=40, budget=1e8)
        known = binom.sf(steps - misses - 1, steps, 0.6)
        assert loss.attacks["prior"].value == pytest.approx(known, rel=1e-9)
        assert loss.attacks["constant"].value == pytest.approx(known, rel=1e-9)
        # With a sensor at the third place, a step is guessed right with probability 0.1 + 0.6.
        aided = binom.sf(steps - misses - 1, steps, 0.7)
        assert loss.attacks["map"].value == pytest.approx(aided, abs=4 * loss.attacks["map"].error + 1e-6)


class TestSampling:
    def test_reproduces_the_papers_attacks(self) -> None:
        prior, release = chain(9, 4, 5, "started"), pb.Release([0, 1, 2, 3, 0])
        plain = pb.measure(prior, release, 1, method="sampling", runs=3000)
        exact = pb.measure(prior, release, 1)
        for name in ("map", "prior"):
            attack = plain.attacks[name]
            assert attack.error == pytest.approx(math.sqrt(attack.value * (1 - attack.value) / 3000), rel=1e-3)
            assert abs(attack.value - exact.attacks[name].value) <= 4 * attack.error
        for name in ("loose", "tight"):
            assert plain.bounds[name] == exact.bounds[name]


class TestInput:
    PRIOR = pb.line_prior(4)

    @pytest.mark.parametrize("misses", [-1, 2, 0.5])
    def test_misses(self, misses: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^misses: .* from 0 to 1 .*got " + str(misses)):
            pb.measure(self.PRIOR, pb.Release([1, 2]), misses)

    @pytest.mark.parametrize("runs", [0, 1, -5, 10.0, True])
    def test_runs(self, runs: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^runs: .* got " + str(runs)):
            pb.measure(self.PRIOR, pb.Release([1, 2]), runs=runs)

    @pytest.mark.parametrize("seed", [-1, "zero"])
    def test_seed(self, seed: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^seed: .*" + str(seed)):
            pb.measure(self.PRIOR, pb.Release([1, 2]), seed=seed)

    def test_method(self) -> None:
        with pytest.raises(pb.InputError, match=r"^method: .* got 'guess'"):
            pb.measure(self.PRIOR, pb.Release([1, 2]), method="guess")  # type: ignore[call-overload]

    def test_places(self) -> None:
        with pytest.raises(pb.InputError, match=r"^sensors\[1\] = 4: the prior has 4 places"):
            pb.measure(self.PRIOR, pb.Release([1, 4]))

    def test_steps(self) -> None:
        prior = pb.MarkovPrior([0.5, 0.5], np.full((2, 2, 2), 0.5))
        with pytest.raises(pb.InputError, match=r"2 steps need 1 matrices"):
            pb.measure(prior, pb.Release([1, 1]))


def test_bounds_that_do_not_hold_are_refused_with_the_reason() -> None:
    loss = pb.measure(pb.line_prior(4), pb.Release([1, 2], Jumbled(0.5), others=[0, 0]))
    assert {"loose", "tight"} <= loss.refused.keys()
    assert not loss.refused.keys() & loss.bounds.keys()
    assert "Jumbled" in loss.refused["tight"]
