"""The posterior chain of one series: realised losses, underflow, memory."""

import subprocess
import sys
import textwrap
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import classes, of_case, posterior
from tests.guesses import masked_cases, successes
from tests.oracle import World
from tests.strategies import FINITE, Case, cases, chain

import passerby as pb
from passerby.kernels.search import best_guess as brackets
from passerby.kernels.search import penalties
from passerby.outcomes.series import Series, distinct, enumerate_series, given_series, sample_series
from passerby.questions.trace import stretches
from passerby.questions.trace.guess import Brackets, alone, average_upper, bracket_series, log_posterior, plain_series
from passerby.questions.trace.methods.formula import fano_bound, leakage_bound
from passerby.questions.trace.stretches import bracket_stretches
from passerby.support.statistics import upper_limit

Floats = NDArray[np.float64]


class TestLogPosterior:
    @settings(max_examples=30)
    @given(cases(mechanisms=FINITE))
    def test_agrees_with_the_kernel(self, case: Case) -> None:
        series = enumerate_series(case.prior, case.release)
        assert series is not None
        for evidence, mass in zip(series.evidence[:8], series.mass[:8], strict=True):
            start, moves = log_posterior(case.prior, case.release, evidence)
            a, Q, log_mass = posterior(case.prior.initial, case.prior.matrices, of_case(case), np.exp(evidence))
            assert log_mass == pytest.approx(np.log(mass), abs=1e-9)
            np.testing.assert_allclose(start, a, atol=1e-12)
            law = start
            for t in range(case.steps - 1):
                there = law > 0
                np.testing.assert_allclose(moves[t][there], Q[t][there], atol=1e-9)
                law = law @ moves[t]

    @settings(max_examples=30)
    @given(cases(mechanisms=FINITE))
    def test_is_that_of_all_traces(self, case: Case) -> None:
        world = World(case.prior, case.steps)
        series = enumerate_series(case.prior, case.release)
        assert series is not None
        for evidence in series.evidence[:8]:
            start, moves = log_posterior(case.prior, case.release, evidence)
            law = start
            expected = world.posterior_marginals(likelihood_of(case.release, world, evidence))
            for t in range(case.steps):
                np.testing.assert_allclose(law, expected[t], atol=1e-9)
                law = law @ moves[t] if t + 1 < case.steps else law


def likelihood_of(release: pb.Release, world: World, evidence: Floats) -> Floats:
    """`Pr[series | trace]`, up to a factor, for evidence (T, S + 1)."""
    out = np.ones(len(world.traces))
    for t, step in enumerate(release.sensors):
        weight = np.full(world.places, np.exp(evidence[t, 0]))
        weight[list(step)] = np.exp(evidence[t, 1 : len(step) + 1])
        out *= weight[world.traces[:, t]]
    return out


def fading(steps: int, leave: float, extra: bool) -> pb.MarkovPrior:
    """Two places between which somebody moves, and from which they leave for a watched place for good.

    With `extra`, there is a further place that nobody enters, at which one would surely stay unseen: next to it, the
    others fade to nothing over many unseen steps.
    """
    moves = np.array([[0.7, 0.3, 0.0, 0.0], [0.4, 0.6, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    moves[:2] *= 1 - leave
    moves[0, 2] = moves[1, 2] = leave
    start = np.array([0.5, 0.5, 0.0, 0.0])
    return pb.MarkovPrior(start, moves) if extra else pb.MarkovPrior(start[:3], moves[:3, :3])


@settings(max_examples=30)
@given(masked_cases(mechanisms=FINITE))
def test_plain_guesses_are_those_of_the_search(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    found = bracket_series(case.prior, case.release, series, case.misses, 0.0, 1e8)
    decoded, stepwise = plain_series(case.prior, case.release, series, case.misses)
    np.testing.assert_allclose(decoded, found.map, atol=1e-12)
    np.testing.assert_allclose(stepwise, found.marginal, atol=1e-12)
    world = World(case.prior, case.steps)
    best = successes(world, world.likelihoods(case.release), case.misses, case.prior.guessable)
    assert series.mass @ found.lower == pytest.approx(best.sum(), abs=1e-9)
    for i, evidence in enumerate(series.evidence[:8]):
        likelihood = likelihood_of(case.release, world, evidence)
        for guess, value in zip(found.guesses[i], (found.map[i], found.marginal[i], found.lower[i]), strict=True):
            assert world.success(guess, case.misses, likelihood) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("sampled", [False, True])
def test_without_a_search_the_better_of_the_plain_guesses_is_the_lower_end(sampled: bool) -> None:
    prior, release = chain(5, 3, 4, "varying"), pb.Release([0, [], 1, []])
    listed = enumerate_series(prior, release)
    assert listed is not None
    series = replace(listed, sampled=sampled)
    found = bracket_series(prior, release, series, 1, np.inf, 1e9)
    world = World(prior, 4)
    for i, evidence in enumerate(series.evidence):
        likelihood = likelihood_of(release, world, evidence)
        decoded, stepwise, better = (world.success(guess, 1, likelihood) for guess in found.guesses[i])
        assert (found.map[i], found.marginal[i], found.lower[i]) == pytest.approx((decoded, stepwise, better), abs=1e-9)
        assert better == max(decoded, stepwise)
    assert found.nodes == 0
    assert (found.upper == 1).all()
    assert (found.lower < 1).any()


def test_plain_guesses_where_numbers_underflow() -> None:
    steps = 400
    release, prior = pb.Release([2] * steps), fading(steps, 0.9, extra=True)
    series = given_series(release, [0] * steps)
    whole = bracket_series(prior, release, series, 1, 1.0, 0.0)
    decoded, stepwise = plain_series(prior, release, series, 1)
    assert (decoded[0], stepwise[0]) == (whole.map[0], whole.marginal[0])
    assert decoded[0] > 0


def test_each_series_in_logs_has_its_own_guess() -> None:
    """Two places that never change, and two series that contradict themselves, each in favour of another place."""
    prior, release = pb.MarkovPrior([0.5, 0.5], np.eye(2)), pb.Release([0, 0], pb.Gaussian(0.01))
    evidence = np.concatenate([given_series(release, values).evidence for values in ([1.0, 0.001], [-0.001, 1.0])])
    series = Series(evidence, np.full(2, 0.5), sampled=False, left_over=0.0)
    found = bracket_series(prior, release, series, 0, 0.0, 1e6)
    assert found.guesses[:, 2].tolist() == [[0, 0], [1, 1]]
    assert found.lower == pytest.approx(1 / (1 + np.exp(-10)), rel=1e-9)


def test_each_series_in_logs_has_its_own_success() -> None:
    """Log odds of 10 and of 2 in favour of one place, and a series that needs no logs before and after them."""
    prior, release = pb.MarkovPrior([0.5, 0.5], np.eye(2)), pb.Release([0, 0], pb.Gaussian(0.01))
    published = ([0.5, 0.5], [1.0, 0.001], [1.0, 0.0002], [0.5, 0.5])
    evidence = np.concatenate([given_series(release, values).evidence for values in published])
    series = Series(evidence, np.full(4, 0.25), sampled=False, left_over=0.0)
    found = bracket_series(prior, release, series, 0, 0.0, 1e6)
    expected = 1 / (1 + np.exp(-np.array([0.0, 10.0, 2.0, 0.0])))
    for ends in (found.lower, found.upper, found.map, found.marginal):
        assert ends == pytest.approx(expected, rel=1e-6)


def test_averages_of_brackets() -> None:
    """Upper ends that rounding put above one count as one; stakes follow the better of the plain guesses."""
    series = Series(np.zeros((3, 1, 1)), np.array([0.5, 0.2, 0.2]), sampled=False, left_over=0.1)
    lower, upper = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 1.5])
    plain, marginal = np.array([0.1, 0.0, 0.2]), np.array([0.0, 0.2, 0.1])
    guesses = np.zeros((3, 3, 1), dtype=np.int64)
    found = Brackets(plain, marginal, lower, upper, guesses, 0, 0.0)
    assert average_upper(series, found, 0.9) == pytest.approx(0.2 + 0.1 + 0.2 + 0.1)
    assert alone(found).tolist() == [0.1, 0.2, 0.2]
    plain, marginal, lower, upper = (np.tile(part, 40) for part in (plain, marginal, lower, upper))
    many = Brackets(plain, marginal, lower, upper, guesses, 0, 0.0)
    drawn = Series(np.zeros((120, 1, 1)), np.full(120, 1 / 120), sampled=True, left_over=0.0)
    assert average_upper(drawn, many, 0.9) == upper_limit(np.minimum(many.upper, 1), 0.9, np.tile(alone(found), 40))


class TestBracketStretches:
    """Where stretches are looked at, and what comes of it in the end."""

    def test_none_where_tables_are_too_big(self, monkeypatch: pytest.MonkeyPatch) -> None:
        prior, release = pb.line_prior(4), pb.Release([1, 2])
        assert bracket_stretches(prior, release, 1, 0.0, 1e6) is not None
        monkeypatch.setattr(stretches, "PAIRS_LIMIT", 0.0)
        assert bracket_stretches(prior, release, 1, 0.0, 1e6) is None

    @pytest.mark.parametrize("place", range(3))
    def test_none_where_a_sensor_is_at_a_place_that_may_not_be_named(self, place: int) -> None:
        line = pb.line_prior(3)
        prior = pb.MarkovPrior(line.initial, line.transition, guessable=np.arange(3) != place)
        assert bracket_stretches(prior, pb.Release([place, (place + 1) % 3]), 0, 0.0, 1e6) is None
        assert bracket_stretches(prior, pb.Release([(place + 1) % 3] * 2), 0, 0.0, 1e6) is not None
        assert bracket_stretches(prior, pb.Release.silent(2), 0, 0.0, 1e6) is None

    def test_certainty_is_no_more_than_one(self) -> None:
        """With a sensor at every place nobody can fail; chances that are added up may come to a bit more than one."""
        for seed in range(30):
            prior = chain(seed, 4, 3, "started")
            found = bracket_stretches(prior, pb.Release([[0, 1, 2, 3]] * 3), 1, 0.0, 1e6)
            assert found is not None
            assert (found.lower, found.upper) == pytest.approx((1, 1), abs=1e-12)
            assert max(found.lower, found.upper) <= 1

    @pytest.mark.parametrize("kind", ["stationary", "started", "varying"])
    def test_plain_guesses_are_those_of_each_series(self, kind: str) -> None:
        """The likeliest trace and the likeliest places, of all series at once and one by one."""
        for seed in range(5):
            prior, release = chain(seed, 5, 6, kind), pb.Release([[0, 1], [2], [], [3, 1], [0], [1, 4]])
            series = enumerate_series(prior, release)
            assert series is not None
            for misses in range(6):
                found = bracket_stretches(prior, release, misses, 0.0, 1e6)
                assert found is not None
                each = [series.mean(values)[0] for values in plain_series(prior, release, series, misses)]
                assert found.places == pytest.approx(each[1], rel=1e-9)
                # With one matrix for all steps, several traces of the same moves may be the likeliest.
                assert found.ways == pytest.approx(each[0], rel=1e-9 if kind == "varying" else 0.05)


def best_of_three(joint: Floats, misses: int) -> float:
    """The best guess's success for the law (M, M, M) of three steps, from the chances that two or three are right."""
    first, middle, last = joint.sum((1, 2)), joint.sum((0, 2)), joint.sum((0, 1))
    a, b, c = joint.sum(2)[:, :, None], joint.sum(1)[:, None, :], joint.sum(0)[None, :, :]
    two = a + b + c - 2 * joint
    one = first[:, None, None] + middle[None, :, None] + last[None, None, :] - (a + b + c) + joint
    return float((joint, two, one)[misses].max())


@pytest.mark.parametrize("seed", range(12))
def test_penalties_among_many_places(seed: int) -> None:
    """Those who are told are penalised where there are many places, with each of nine budgets: no guess does better."""
    rng = np.random.default_rng(seed)
    places = penalties.FEW + seed % 5
    even = 10.0 ** -rng.integers(0, 3)
    start, moves = rng.dirichlet(np.full(places, even)), rng.dirichlet(np.full(places, even), (2, places))
    moves = 0.5 * moves + 0.5 * np.eye(places) if seed % 2 else moves
    joint = start[:, None, None] * moves[0][:, :, None] * moves[1][None]
    told, reached = np.zeros((3, places), dtype=np.int64), set()
    for misses in range(3):
        best = best_of_three(joint, misses)
        for budget in 10.0 ** np.arange(9):
            table, *_ = brackets.brackets(
                start, moves, np.arange(places), told, np.ones((1, 3, 1)), np.ones(1), np.ones(1), np.ones(places),
                misses, 1e-12, budget, False, np.zeros(1),
            )  # fmt: skip
            lower, upper = table[0, brackets.LOWER], table[0, brackets.UPPER]
            assert lower * (1 - 1e-9) <= best <= upper * (1 + 1e-9)
            reached.add(int(table[0, brackets.LEVEL]))
    # Whoever gets further than stage 3 was penalised in rounds before.
    assert 1 in reached


def test_series_that_are_drawn_again_are_looked_at_once() -> None:
    """Each draw gets the ends of its series, and draws of the same one cost no more than one of it."""
    prior = pb.MarkovPrior.stationary([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
    release = pb.Release([0, 1, 0])
    drawn = sample_series(prior, release, np.random.default_rng(0), 60)
    first, which = distinct(drawn.evidence)
    assert len(first) <= 8
    found = bracket_series(prior, release, drawn, 1, 0.0, 1e8)
    alone = bracket_series(prior, release, drawn.some(first, drawn.mass[first]), 1, 0.0, 1e8)
    for all_of_them, each in zip(found[:5], alone[:5], strict=True):
        np.testing.assert_array_equal(all_of_them, each[which])
    assert found.operations <= alone.operations


def test_an_impossible_series_is_refused_in_logs() -> None:
    prior, release = pb.MarkovPrior([1.0, 0.0], np.eye(2)), pb.Release([1, 1])
    with pytest.raises(pb.InputError, match="probability zero"):
        log_posterior(prior, release, np.array([[-np.inf, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize("steps", [1, 2])
def test_few_steps_in_logs(steps: int) -> None:
    prior, release = pb.MarkovPrior([0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]]), pb.Release([0] * steps)
    evidence = np.log(np.tile([0.25, 0.5], (steps, 1)))
    start, moves = log_posterior(prior, release, evidence)
    world = World(prior, steps)
    expected = world.posterior_marginals(likelihood_of(release, world, evidence))
    np.testing.assert_allclose(start, expected[0], atol=1e-12)
    if steps > 1:
        np.testing.assert_allclose(start @ moves[0], expected[1], atol=1e-12)


class TestUnderflow:
    @pytest.mark.parametrize("steps", [3, 100, 290, 300, 308, 312, 318, 324, 400])
    @pytest.mark.parametrize("misses", [0, 1])
    def test_a_place_next_to_which_all_others_fade(self, steps: int, misses: int) -> None:
        """With and without the further place the posterior is the same, though it fades by 0.1 at each step."""
        release = pb.Release([2] * steps)
        values = []
        for extra in (False, True):
            prior = fading(steps, 0.9, extra)
            series = given_series(release, [0] * steps)
            found = bracket_series(prior, release, series, misses, 0.01, 1e7)
            values.append((found.map[0], found.marginal[0], found.lower[0], found.upper[0]))
        assert values[1] == pytest.approx(values[0], rel=1e-9)
        assert values[0][2] > 0

    def test_the_kernel_says_so_and_logs_take_over(self) -> None:
        steps = 400
        release, prior = pb.Release([2] * steps), fading(400, 0.9, extra=True)
        evidence = given_series(release, [0] * steps).evidence
        told = classes(release.grid, prior.place_of)
        _, _, log_mass = posterior(prior.initial, prior.matrices, told, np.exp(evidence[0]))
        assert log_mass == -np.inf
        start, moves = log_posterior(prior, release, evidence[0])
        small = fading(400, 0.9, extra=False)
        told = classes(release.grid, small.place_of)
        a, Q, log_mass = posterior(small.initial, small.matrices, told, np.exp(evidence[0]))
        # Each unseen step costs a factor of 0.1, but for the first.
        assert log_mass == pytest.approx((steps - 1) * np.log(0.1), rel=1e-9)
        np.testing.assert_allclose(start[:2], a[:2], rtol=1e-9)
        np.testing.assert_allclose(moves[:, :2, :2], Q[:, :2, :2], rtol=1e-9)

    @pytest.mark.parametrize("steps", [305, 309, 313, 320, 330])
    def test_a_start_that_fades_beside_one_that_does_not(self, steps: int) -> None:
        prior = pb.MarkovPrior([0.5, 0.5, 0.0], [[0.1, 0.0, 0.9], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        loss = pb.measure(prior, pb.Release([2] * steps), published=[0] * steps, budget=1e7)
        assert {name: attack.value for name, attack in loss.attacks.items()} == pytest.approx(
            {"map": 1.0, "marginal": 1.0, "ascent": 1.0}
        )

    def test_noise_so_small_that_likelihoods_underflow(self) -> None:
        """Two steps contradict each other by hundreds of standard deviations: still one of the traces is likelier."""
        prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
        release = pb.Release([0, 0], pb.Gaussian(0.01))
        loss = pb.measure(prior, release, published=[1.0, 0.001])
        # Log odds of (1 - 0.5) / 0.01² from the first step, and of (0.001 - 0.5) / 0.01² from the second.
        assert (loss.lower, loss.upper) == pytest.approx((1 / (1 + np.exp(-10)),) * 2, rel=1e-9)
        tied = pb.measure(prior, release, published=[1.0, 0.0])
        assert (tied.lower, tied.upper) == pytest.approx((0.5, 0.5))

    def test_a_baseline_that_underflows_does_not_make_bounds_vanish(self) -> None:
        steps = 1080
        prior, release = pb.MarkovPrior([0.5, 0.5], np.full((2, 2), 0.5)), pb.Release([0] * steps)
        assert leakage_bound(prior, release, 0) == pytest.approx(1)
        assert fano_bound(prior, release, 0) == pytest.approx(1)

    def test_chains_of_a_thousand_steps(self) -> None:
        rng = np.random.default_rng(2)
        prior, release = pb.line_prior(6), pb.Release(rng.integers(0, 6, 1000))
        trace = prior.sample(1, 1000, rng)
        seen = (trace[0] == release.grid[:, 0]).astype(float)
        found = bracket_series(prior, release, given_series(release, seen), 600, 0.01, 1e7)
        assert 0 <= found.map[0] <= found.lower[0] <= found.upper[0] <= 1
        assert found.lower[0] > 0


class TestPublished:
    @settings(max_examples=30)
    @given(masked_cases(mechanisms=FINITE), st.integers(0, 10**6))
    def test_is_the_best_guess_given_the_series(self, case: Case, seed: int) -> None:
        world, rng = World(case.prior, case.steps), np.random.default_rng(seed)
        trace = case.prior.sample(1, case.steps, rng)
        values = case.release.publish(trace, rng)
        published = [row[: len(step)].tolist() for row, step in zip(values[0], case.release.sensors, strict=True)]
        loss = pb.measure(case.prior, case.release, case.misses, published=published, tolerance=0)
        likelihood = likelihood_of(case.release, world, case.release.evidence(values)[0])
        expected = successes(world, likelihood[None], case.misses, case.prior.guessable)[0]
        expected /= (likelihood * world.chance).sum()
        assert (loss.lower, loss.upper) == pytest.approx((expected, expected), abs=1e-9)
        assert loss.effort.series == 1
        assert not loss.effort.sampled
        assert set(loss.attacks) == {"map", "marginal", "ascent"}
        assert set(loss.bounds) == {"posterior"}

    def test_with_noise(self) -> None:
        prior, release = chain(3, 3, 4, "varying"), pb.Release([0, [1, 2], [], 2], pb.Gaussian(0.7))
        published: list[Any] = [0.4, [1.2, -0.3], [], 0.9]
        loss = pb.measure(prior, release, 1, published=published, tolerance=0)
        world = World(prior, 4)
        likelihood = np.ones(len(world.traces))
        for t, step in enumerate(release.sensors):
            for place, value in zip(step, np.atleast_1d(published[t]), strict=True):
                likelihood *= np.exp(-((value - (world.traces[:, t] == place)) ** 2) / (2 * 0.7**2))
        expected = successes(world, likelihood[None], 1, prior.guessable)[0] / (likelihood * world.chance).sum()
        assert (loss.lower, loss.upper) == pytest.approx((expected, expected), abs=1e-9)

    def test_an_impossible_series_is_refused(self) -> None:
        prior = pb.MarkovPrior([1.0, 0.0], np.eye(2))
        with pytest.raises(pb.InputError, match=r"^published: this series has probability zero"):
            pb.measure(prior, pb.Release([0, 0]), published=[1, 0])
        with pytest.raises(pb.InputError, match=r"^published: this series has probability zero"):
            pb.measure(prior, pb.Release([0, 0]), published=[1, 2])

    @pytest.mark.parametrize("published", [[1], [1, 0, 0], [1, [0, 0]], [[], 1], [[1, 0], []]])
    def test_the_form_of_the_sensors_is_needed(self, published: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^published: expected one value for each sensor of each step"):
            pb.measure(pb.line_prior(3), pb.Release([0, 1]), published=published)

    @pytest.mark.parametrize("value", [float("inf"), None])
    def test_numbers_are_needed(self, value: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^published\[1\] = (inf|None): expected a number"):
            pb.measure(pb.line_prior(3), pb.Release([0, 1], pb.Gaussian(1.0)), published=[0, value])

    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0)], ids=repr)
    def test_an_empty_cell_is_impossible_where_none_is_left_empty(self, mechanism: pb.Mechanism) -> None:
        with pytest.raises(pb.InputError, match=r"^published: this series has probability zero"):
            pb.measure(pb.line_prior(3), pb.Release([0, 1], mechanism), published=[0, float("nan")])


def search_buffers(places: int, needed: int) -> int:
    """Bytes for the nodes of the largest search: a table (number right, place) each, and five entries per child."""
    nodes = min(penalties.ROOT_NODES[-1], int(5e7 / (needed * places + places)))
    return int((nodes + 1) * places * (needed + 5) * 8)


class TestMemory:
    @pytest.mark.thorough
    def test_no_table_over_traces(self) -> None:
        """60 places and 10 steps: 6e17 traces. Arrays of the package stay within a few times T M²."""
        places, steps = 60, 10
        prior = pb.line_prior(places)
        release = pb.Release(np.random.default_rng(0).integers(0, places, steps))
        pb.measure(prior, release, 4, budget=1e8)
        tracemalloc.start()
        pb.measure(prior, release, 4, budget=1e8)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        series = 2**steps * (2 * places + 2 * steps + 8 * steps)  # what is listed: beliefs, evidence, guesses
        assert peak < 8 * (10 * steps * places**2 + 3 * series) + search_buffers(places, steps - 4)

    @pytest.mark.thorough
    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
    def test_the_process_stays_small(self) -> None:
        """The same as the system sees it, kernels and their search buffers included."""
        script = textwrap.dedent(
            """
            import resource
            import numpy as np
            import passerby as pb
            pb.measure(pb.line_prior(4), pb.Release([1, 2, 3]), 1, budget=1e6)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            release = pb.Release(np.random.default_rng(0).integers(0, 60, 10))
            pb.measure(pb.line_prior(60), release, 4, budget=1e9)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
            """
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240)
        places, steps = 60, 10
        assert int(done.stdout) * 1024 < 20e6 + 40 * steps * places**2 * 8 + search_buffers(places, steps - 4)

    def test_chains_that_do_not_fit_are_refused(self) -> None:
        one = Series(np.zeros((1, 100, 1)), np.ones(1), sampled=False, left_over=0.0)
        with pytest.raises(pb.UnsupportedRelease, match="does not fit into memory"):
            bracket_series(pb.line_prior(1500), pb.Release.silent(100), one, 3, 0.01, 1e9)


class TestWhatFollows:
    """The whole series is seen before anything is guessed: a guess for one stretch may depend on what follows it."""

    def test_the_best_guess_for_a_stretch_depends_on_the_next_one(self) -> None:
        """The first stretch is (a, a) with 0.4, or ends at c after b or d, with 0.3 each; one step may be wrong.

        Then comes a sure sighting, and then a place that is seen with a half, or one of eight that are not. If it is
        seen, one miss is left for the first stretch, and (b, c) or (d, c) is right with 0.6; if not, that miss is lost
        in the last step, and (a, a) is best.
        """
        a, b, c, d, sighted, seen = range(6)
        places = 14
        first, second, third = np.eye(places), np.zeros((places, places)), np.eye(places)
        first[[b, d]] = 0
        first[[b, d], c] = 1
        second[:, sighted] = 1
        third[sighted] = 0
        third[sighted, seen], third[sighted, 6:] = 0.5, 0.5 / 8
        start = np.zeros(places)
        start[[a, b, d]] = 0.4, 0.3, 0.3
        prior = pb.MarkovPrior(start, np.stack([first, second, third]))
        release = pb.Release([[], [], [sighted], [seen]])
        best = pb.measure(prior, release, 1, tolerance=0)
        found = bracket_stretches(prior, release, 1, 0.0, 1e8)
        assert found is not None
        assert best.lower == pytest.approx(best.upper, rel=1e-9)
        assert found.lower <= best.lower * (1 + 1e-9)
        assert found.upper >= best.upper * (1 - 1e-9)

    @pytest.mark.thorough
    def test_no_chain_does_better_than_the_ceiling(self) -> None:
        rng, tried = np.random.default_rng(1), 0
        for _ in range(300):
            places = int(rng.integers(3, 5))
            steps = int(rng.integers(4, 7 if places == 3 else 6))
            misses = int(rng.integers(1, steps - 1))
            moves = rng.dirichlet(np.full(places, rng.choice([0.2, 0.5, 1.0])), size=(steps - 1, places))
            prior = pb.MarkovPrior(rng.dirichlet(np.ones(places)), moves)
            sensors = [[int(rng.integers(places))] if rng.random() < 0.6 else [] for _ in range(steps)]
            found = bracket_stretches(prior, pb.Release(sensors), misses, 1e-6, 1e7)
            if found is None:
                continue
            tried += 1
            world = World(prior, steps)
            best = world.optimum(world.sightings(pb.Release(sensors)), misses)
            assert found.lower <= best * (1 + 1e-9)
            assert best <= found.upper * (1 + 1e-9)
        assert tried > 250
