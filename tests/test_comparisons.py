import math

import pytest
from hypothesis import given

import passerby as pb
from tests.oracle import World
from tests.strategies import Case, Jumbled, cases


def curve(epsilon: float, mu: float) -> float:
    """Privacy curve of the Gaussian mechanism (Balle and Wang 2018), written out."""

    def phi(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


class TestDifferentialPrivacy:
    def test_the_papers_example(self) -> None:
        value = pb.differential_privacy(pb.Release([0] * 10, pb.Gaussian(1.0)), delta=1e-5)
        assert value.formula == pytest.approx(15.32, abs=0.005)
        assert value.exact == pytest.approx(17.86, abs=0.005)
        assert "only up to 1" in value.remark

    @pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0, 60.0])
    @pytest.mark.parametrize("steps", [1, 10])
    def test_exact_is_on_the_privacy_curve(self, sigma: float, steps: int) -> None:
        value = pb.differential_privacy(pb.Release([0] * steps, pb.Gaussian(sigma)), delta=1e-5)
        assert value.exact is not None
        assert curve(value.exact, math.sqrt(steps) / sigma) == pytest.approx(1e-5, rel=1e-3)

    def test_inside_its_range_the_formula_is_on_the_safe_side(self) -> None:
        value = pb.differential_privacy(pb.Release([0], pb.Gaussian(10.0)))
        assert value.formula is not None
        assert value.exact is not None
        assert value.exact <= value.formula <= 1
        assert "only" not in value.remark

    def test_several_sensors_at_a_step_change_two_counts(self) -> None:
        once, twice = (pb.Release(s, pb.Gaussian(1.0)) for s in ([0, 0], [[0, 1, 2]]))
        assert pb.differential_privacy(once) == pb.differential_privacy(twice)

    def test_raw_counts_have_none(self) -> None:
        value = pb.differential_privacy(pb.Release([0, 1]))
        assert value.formula is None
        assert value.exact is None
        assert "not differentially private" in value.remark

    def test_silence_is_private(self) -> None:
        assert pb.differential_privacy(pb.Release.silent(3)).exact == 0

    def test_unknown_mechanisms_get_no_number(self) -> None:
        value = pb.differential_privacy(pb.Release([0], Jumbled(0.5), others=[0]))
        assert value.formula is value.exact is None
        assert "Jumbled" in value.remark

    @pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan])
    def test_delta_is_refused(self, delta: float) -> None:
        with pytest.raises(pb.InputError, match=r"^delta: .* got " + str(delta)):
            pb.differential_privacy(pb.Release([0], pb.Gaussian(1.0)), delta)


class TestReconstructionAdvantage:
    @given(cases(mechanisms=(pb.Raw(),)))
    def test_the_optimum_is_below_the_bound(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        optimum = min(1.0, world.optimum(world.sightings(case.release), 0))
        known = world.kappa(0)
        reached = pb.reconstruction_advantage(case.prior, case.release, success=optimum)
        if known < 1 - 1e-9:
            assert reached == pytest.approx((optimum - known) / (1 - known), abs=1e-9)
        assert reached <= pb.reconstruction_advantage(case.prior, case.release) + 1e-9
        assert -1e-9 <= reached <= 1 + 1e-9

    def test_the_bound_is_the_loose_one_at_no_misses(self) -> None:
        prior, release = pb.line_prior(20), pb.Release([3, 11, 7], pb.Gaussian(1.0))
        bound = pb.measure(prior, release, 0, budget=1e7).bounds["loose"]
        known = World(prior, 3).kappa(0)
        assert pb.reconstruction_advantage(prior, release) == pytest.approx((bound - known) / (1 - known))

    def test_a_person_with_one_possible_trace(self) -> None:
        assert pb.reconstruction_advantage(pb.MarkovPrior([1, 0], [[1, 0], [0, 1]]), pb.Release([0, 1])) == 0

    @pytest.mark.parametrize("success", [-0.1, 1.1, math.nan])
    def test_success_is_a_probability(self, success: float) -> None:
        with pytest.raises(pb.InputError, match=r"^success: .* got " + str(success)):
            pb.reconstruction_advantage(pb.line_prior(4), pb.Release([1]), success)
