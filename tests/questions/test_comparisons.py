import math
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import Case, Jumbled, cases

import passerby as pb
from passerby.measurement.accounting import _losses, success_bound
from passerby.questions.trace.methods.formula import dp_bound


@dataclass(frozen=True)
class Skewed(pb.Discrete):
    """Adds nothing, one or two, with falling probabilities: noise that is not symmetric, and never gives away."""

    shift_invariant = True

    def law(self, count: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        chances = 0.3 ** np.arange(40.0)
        return count + np.arange(-1.0, 79.0), np.append(chances[::-1] * 0.1, chances) / (1.1 * chances.sum())


def curve(epsilon: float, mu: float) -> float:
    """Privacy curve of the Gaussian mechanism (Balle and Wang 2018), written out."""

    def phi(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


class Dice(pb.Discrete):
    """The count, or one more or less, each as often."""

    shift_invariant = True

    def law(self, count: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return count + np.array([-1.0, 0.0, 1.0]), np.full(3, 1 / 3)


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
        assert pb.differential_privacy(once).exact == pb.differential_privacy(twice).exact
        # Who is added is at two of the first, and at one of the second.
        assert [pb.differential_privacy(each).added_counts for each in (once, twice)] == [2, 1]

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

    @pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan, True, None])
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

    def test_the_best_guess_without_the_release_names_only_what_may_be_named(self) -> None:
        initial, moves = np.array([0.1, 0.3, 0.6]), np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.1, 0.1, 0.8]])
        prior = pb.MarkovPrior(initial, moves, guessable=[True, True, False])
        known = max(initial[a] * moves[a, b] for a, b in product(range(2), repeat=2))
        for success in (0.0, known, 0.5, 1.0):
            reached = pb.reconstruction_advantage(prior, pb.Release([0, 1]), success)
            assert reached == pytest.approx((success - known) / (1 - known))

    @pytest.mark.thorough
    def test_the_bound_is_the_loose_one_at_no_misses(self) -> None:
        prior, release = pb.line_prior(20), pb.Release([3, 11, 7], pb.Gaussian(1.0))
        bound = pb.measure(prior, release, 0, budget=1e7).bounds["loose"]
        known = World(prior, 3).kappa(0)
        assert pb.reconstruction_advantage(prior, release) == pytest.approx((bound - known) / (1 - known))

    def test_a_person_with_one_possible_trace(self) -> None:
        assert pb.reconstruction_advantage(pb.MarkovPrior([1, 0], [[1, 0], [0, 1]]), pb.Release([0, 1])) == 0

    @pytest.mark.parametrize("success", [-0.1, 1.1, math.nan, True])
    def test_success_is_a_probability(self, success: float) -> None:
        with pytest.raises(pb.InputError, match=r"^success: .* got " + str(success)):
            pb.reconstruction_advantage(pb.line_prior(4), pb.Release([1]), success)


@pytest.mark.parametrize("release", [None, [0, 1], pb.Gaussian(1.0)])
def test_what_is_no_release_is_refused(release: Any) -> None:
    with pytest.raises(pb.InputError, match=r"^release: expected a Release, got "):
        pb.differential_privacy(release)
    with pytest.raises(pb.InputError, match=r"^release: expected a Release, got "):
        pb.reconstruction_advantage(pb.line_prior(4), release)
    with pytest.raises(pb.InputError, match=r"^prior: expected a MarkovPrior, got "):
        pb.reconstruction_advantage(release, pb.Release([1]))
    if release is not None:
        with pytest.raises(pb.InputError, match=r"^prior: expected a MarkovPrior, got "):
            pb.differential_privacy(pb.Release([1]), prior=release)


class TestEveryNoise:
    @pytest.mark.parametrize("steps", [1, 4])
    def test_geometric_is_binomial(self, steps: int) -> None:
        """Each draw's privacy loss is plus or minus 1 / scale: delta at an epsilon is a sum over how many are plus."""
        value = pb.differential_privacy(pb.Release([0] * steps, pb.Geometric(2.0)), delta=1e-3).exact
        assert value is not None
        up = 1 / (1 + math.exp(-0.5))
        delta = sum(
            math.comb(steps, k)
            * up**k
            * (1 - up) ** (steps - k)
            * max(0.0, 1 - math.exp(value - 0.5 * (2 * k - steps)))
            for k in range(steps + 1)
        )
        assert delta == pytest.approx(1e-3, rel=2e-2)

    @pytest.mark.parametrize("sampled", [False, True])
    @pytest.mark.parametrize(
        ("noise", "expected"),
        [
            (pb.Laplace(1e-3), 2e3),
            (pb.Laplace(1e-6), 2e6),
            (pb.Geometric(1e-6), 2e6),
            (pb.DiscreteGaussian(1e-3), 1e6),
            (pb.Gaussian(1e-3), 1e6),
        ],
        ids=repr,
    )
    def test_hardly_any_noise(self, noise: pb.Mechanism, expected: float, sampled: bool) -> None:
        mechanism = pb.Then(pb.Sampling(0.5), noise) if sampled else noise
        value = pb.differential_privacy(pb.Release([0, 1], mechanism)).exact
        assert value == pytest.approx(expected, rel=1e-2)

    def test_laplace_once(self) -> None:
        value = pb.differential_privacy(pb.Release([0], pb.Laplace(2.0)), delta=1e-9)
        assert value.exact == pytest.approx(0.5, abs=1e-3)
        assert value.formula is None

    @pytest.mark.parametrize("sigma", [pytest.param(1.0, marks=pytest.mark.thorough), 4.0])
    def test_discrete_gaussian_is_close_to_the_gaussian(self, sigma: float) -> None:
        whole, real = (
            pb.differential_privacy(pb.Release([0] * 5, noise)).exact
            for noise in (pb.DiscreteGaussian(sigma), pb.Gaussian(sigma))
        )
        assert whole == pytest.approx(real, rel=0.02)

    @pytest.mark.parametrize(
        "shaped",
        [
            pb.Laplace(2.0, clamped=True, rounded=True),
            pb.Then(pb.Laplace(2.0), pb.Rounding(5)),
            pb.Then(pb.Then(pb.Laplace(2.0, rounded=True), pb.Suppression(2)), pb.AtLeast(4)),
            pb.Then(pb.Raw(), pb.Laplace(2.0)),
        ],
        ids=repr,
    )
    def test_what_follows_noise_changes_nothing(self, shaped: pb.Mechanism) -> None:
        plain = pb.differential_privacy(pb.Release([0, 1], pb.Laplace(2.0)))
        assert pb.differential_privacy(pb.Release([0, 1], shaped)).exact == plain.exact

    @pytest.mark.parametrize(
        ("mechanism", "why"),
        [
            (pb.Rounding(5), "at some counts, one person changes the published value for certain"),
            (pb.Suppression(10), "at some counts"),
            (pb.RandomRounding(3), "with 0 others, some values are published only if"),
            (pb.Sampling(0.1), "with 0 others"),
            (pb.Miscount(0.1, 0.1), "with 0 others"),
            (pb.Then(pb.Suppression(3), pb.Gaussian(1.0)), "no accounting is known"),
        ],
        ids=repr,
    )
    def test_none_with_the_reason(self, mechanism: pb.Mechanism, why: str) -> None:
        value = pb.differential_privacy(pb.Release([0, 1], mechanism))
        assert value.exact is value.formula is value.person is None
        assert why in value.remark

    def test_none_for_noise_of_ones_own_that_has_an_end(self) -> None:
        """One more than the largest value without the target is published only if they are there."""
        value = pb.differential_privacy(pb.Release([0, 1], Dice()))
        assert value.exact is value.formula is value.person is None
        assert "with 0 others, some values are published only if" in value.remark

    @pytest.mark.parametrize("rate", [pytest.param(0.1, marks=pytest.mark.thorough), 0.5])
    @pytest.mark.parametrize(
        ("noise", "maker", "size"),
        [
            (pb.Gaussian(1.0), "from_gaussian_mechanism", 1.0),
            (pb.Laplace(2.0), "from_laplace_mechanism", 2.0),
            (pb.Geometric(2.0, clamped=True), "from_discrete_laplace_mechanism", 0.5),
        ],
        ids=repr,
    )
    def test_a_sample_makes_noise_stronger(self, noise: pb.Mechanism, maker: str, size: float, rate: float) -> None:
        """For one count, as dp-accounting has it for a sampled mechanism; for several at least that."""
        from dp_accounting.pld import privacy_loss_distribution as pld

        sampled = getattr(pld, maker)(size, sampling_prob=rate)
        for steps in (1, 4):
            value = pb.differential_privacy(pb.Release([0] * steps, pb.Then(pb.Sampling(rate), noise)))
            expected = sampled.self_compose(steps).get_epsilon_for_delta(1e-5)
            plain = pb.differential_privacy(pb.Release([0] * steps, noise)).exact
            assert value.exact is not None
            assert plain is not None
            assert expected - 2e-3 <= value.exact <= expected * (1.001 if steps == 1 else 1.05) + 2e-3
            assert value.exact < plain
            assert "the sample is accounted for" in value.remark

    @pytest.mark.parametrize("mechanism", [pb.Then(pb.Sampling(0.3), pb.Geometric(1.0)), Skewed()], ids=repr)
    def test_one_trace_instead_of_another_adds_and_takes_away(self, mechanism: pb.Mechanism) -> None:
        """Any mix of the two directions over three counts is within the delta, by enumeration."""
        value = pb.differential_privacy(pb.Release([0, 1, 2], mechanism), delta=0.01).exact
        assert value is not None
        pair = mechanism.pair(0)
        for added in range(4):
            laws = [pair if i < added else pair[:, ::-1] for i in range(3)]
            first, second = (reduce(np.multiply.outer, [law[:, i] for law in laws]) for i in (0, 1))
            assert np.maximum(first - math.exp(value) * second, 0).sum() <= 0.01 + 1e-9

    def test_a_panel_makes_noise_no_stronger(self) -> None:
        panel = pb.Then(pb.Sampling(0.1, persistent=True), pb.Laplace(2.0))
        plain = pb.differential_privacy(pb.Release([[0, 1]], pb.Laplace(2.0)))
        assert pb.differential_privacy(pb.Release([[0, 1]], panel)).exact == plain.exact

    def test_a_person_who_cannot_be_sighted_everywhere(self) -> None:
        prior = pb.MarkovPrior([1.0, 0.0, 0.0], [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
        release = pb.Release([0, 1, 2, 1], pb.Gaussian(1.0))
        value = pb.differential_privacy(release, prior=prior)
        # At step 0 they are at the sensor for certain, at step 2 never: two counts are left that can tell.
        assert value.person == pb.differential_privacy(pb.Release([0, 0], pb.Gaussian(1.0))).exact
        assert value.exact == pb.differential_privacy(pb.Release([0] * 4, pb.Gaussian(1.0))).exact

    @pytest.mark.parametrize("noise", [pb.Gaussian(1.0), pb.Laplace(2.0)], ids=repr)
    def test_nothing_is_charged_to_a_person_who_changes_no_count(self, noise: pb.Mechanism) -> None:
        still = pb.MarkovPrior([1.0, 0.0], np.eye(2))
        value = pb.differential_privacy(pb.Release([0, 1], noise), prior=still)
        assert value.person == 0
        assert value.exact is not None
        assert value.exact > 0


class TestBoundFromDifferentialPrivacy:
    @pytest.mark.parametrize("known", [1e-4, 0.05, 0.5, 0.9])
    @pytest.mark.parametrize("times", [1, 6])
    def test_gaussian_against_riskcal(self, known: float, times: int) -> None:
        risk = pytest.importorskip("riskcal.analysis")
        expected = 1 - risk.get_beta_from_gdp(mu=math.sqrt(times) / 1.5, alpha=known)
        assert success_bound(pb.Gaussian(1.5), times, math.log(known)) == pytest.approx(float(expected), rel=1e-9)

    @pytest.mark.parametrize(
        ("noise", "times"),
        [
            *product((pb.Laplace(1.0), pb.Geometric(1.0)), (1, 4)),
            (pb.DiscreteGaussian(1.0), 1),
            pytest.param(pb.DiscreteGaussian(1.0), 4, marks=pytest.mark.thorough),
        ],
        ids=repr,
    )
    def test_others_against_riskcal(self, noise: pb.Mechanism, times: int) -> None:
        risk = pytest.importorskip("riskcal.analysis")
        for known in (1e-3, 0.05, 0.5, 0.9):
            expected = 1 - float(risk.get_beta_from_pld(_losses(noise, times), alpha=known))
            found = success_bound(noise, times, math.log(known))
            assert expected - 1e-6 <= found <= expected * 1.01 + 1e-6

    def test_hardly_any_noise_bounds_nothing(self) -> None:
        for noise in (pb.Laplace, pb.Geometric, pb.DiscreteGaussian):
            assert success_bound(noise(1e-3), 1, math.log(0.01)) == 1
        assert success_bound(pb.Geometric(0.3), 1, math.log(0.01)) == pytest.approx(0.01 * math.exp(1 / 0.3), rel=1e-3)

    @given(cases(mechanisms=(pb.Geometric(1.0), pb.Geometric(0.3, clamped=True))))
    def test_the_optimum_is_below(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        best = world.optimum(world.likelihoods(case.release), case.misses)
        assert best <= dp_bound(case.prior, case.release, case.misses) + 1e-9
