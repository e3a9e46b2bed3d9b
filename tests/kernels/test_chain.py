import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import FINITE, Case, cases
from tests.strategies import chain as random_chain
from tests.uncompiled import uncompiled

import passerby as pb
from passerby.kernels import chain, decode_lanes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NO_TABLE = np.empty((0, 0))


def logs(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(values)


def dense(release: pb.Release, places: int, evidence: Floats) -> Floats:
    """Log-likelihood of every place at every step (T, M), from sparse evidence (T, S + 1)."""
    out = np.repeat(evidence[:, :1], places, axis=1)
    for t, step in enumerate(release.sensors):
        for j, place in enumerate(step):
            out[t, place] = evidence[t, 1 + j]
    return out


def viterbi(prior: pb.MarkovPrior, emission: Floats) -> tuple[Ints, float]:
    """The plain twin of `decode`: full recursion with stored pointers, first maximum wins."""
    steps = len(emission)
    value = logs(prior.initial) + emission[0]
    back = np.zeros((steps, prior.places), dtype=np.int64)
    for t in range(1, steps):
        reach = value[:, None] + logs(prior.matrices[0 if prior.homogeneous else t - 1])
        back[t] = reach.argmax(axis=0)
        value = reach.max(axis=0) + emission[t]
    trace = np.empty(steps, dtype=np.int64)
    trace[-1] = value.argmax()
    for t in range(steps - 1, 0, -1):
        trace[t - 1] = back[t, trace[t]]
    return trace, float(value.max())


def decode(prior: pb.MarkovPrior, release: pb.Release, evidence: Floats, fast: bool) -> tuple[Ints, Floats]:
    log_matrices = logs(prior.matrices)
    table = chain.dominance(log_matrices[0]) if fast else NO_TABLE
    traces, value = chain.decode(logs(prior.initial), log_matrices, table, release.grid, evidence)
    return traces, value


def all_evidence(case: Case) -> tuple[World, Floats, Floats]:
    """The world of a case, the likelihoods of its possible series (n, traces), and their evidence (n, T, S + 1)."""
    world = World(case.prior, case.steps)
    tables = case.release.signals() or []
    width = case.release.grid.shape[1] + 1
    evidence = []
    for picks in np.ndindex(*(len(table) for table in tables)):
        rows = np.full((case.steps, width), -np.inf)
        for t, pick in enumerate(picks):
            rows[t, : tables[t].shape[1]] = logs(tables[t][pick])
        evidence.append(rows)
    channel = world.likelihoods(case.release)
    possible = channel @ world.chance > 0
    return world, channel[possible], np.array(evidence)[possible]


class TestDecode:
    @given(cases(mechanisms=FINITE))
    def test_finds_a_likeliest_trace(self, case: Case) -> None:
        world, channel, evidence = all_evidence(case)
        for fast in (False, True) if case.prior.homogeneous else (False,):
            traces, value = decode(case.prior, case.release, evidence, fast)
            best = (channel * world.chance).max(axis=1)
            np.testing.assert_allclose(np.exp(value), best, rtol=1e-9)
            index = np.ravel_multi_index(tuple(traces.T), (world.places,) * world.steps)
            found = (channel * world.chance)[np.arange(len(index)), index]
            np.testing.assert_allclose(found, best, rtol=1e-9)

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("kind", ["stationary", "started", "varying"])
    @pytest.mark.parametrize("places", [1, 2, 9, 40])
    def test_agrees_with_the_plain_recursion(self, places: int, kind: str, sparse: bool) -> None:
        steps, runs = 30, 20
        prior = random_chain(places, places, steps, kind, sparse)
        rng = np.random.default_rng(8)
        sensors = [rng.choice(places, size=rng.integers(0, min(3, places) + 1), replace=False) for _ in range(steps)]
        release = pb.Release(sensors, pb.Gaussian(0.5))
        evidence = release.evidence(release.publish(prior.sample(runs, steps, rng), rng))
        for fast in (False, True) if prior.homogeneous else (False,):
            traces, value = decode(prior, release, evidence, fast)
            for i in range(runs):
                trace, best = viterbi(prior, dense(release, places, evidence[i]))
                assert value[i] == pytest.approx(best, rel=1e-9)
                if places > 2:
                    np.testing.assert_array_equal(traces[i], trace)

    def test_dominated_places_are_left_out_without_a_difference(self) -> None:
        """Near-deterministic habits and the paper's line: the two kinds of chain that the table is made for."""
        rng = np.random.default_rng(3)
        habits = 0.95 * rng.dirichlet(np.full(30, 0.05), 30) + 0.05 / 30
        for prior in (pb.MarkovPrior.stationary(habits), pb.line_prior(30)):
            release = pb.Release(rng.integers(0, 30, 50), pb.Gaussian(1.0))
            evidence = release.evidence(release.publish(prior.sample(50, 50, rng), rng))
            plain, fast = (decode(prior, release, evidence, fast) for fast in (False, True))
            np.testing.assert_array_equal(plain[1], fast[1])
            np.testing.assert_array_equal(plain[0], fast[0])

    def test_ties_go_to_the_lowest_place(self) -> None:
        prior = pb.MarkovPrior(np.full(4, 0.25), np.full((4, 4), 0.25))
        release = pb.Release([[], 2, []])
        seen = np.array([[[0, -np.inf], [-np.inf, 0], [0, -np.inf]], [[0, -np.inf], [0, -np.inf], [0, -np.inf]]])
        for fast in (False, True):
            traces, _ = decode(prior, release, seen, fast)
            np.testing.assert_array_equal(traces, [[0, 2, 0], [0, 0, 0]])

    @pytest.mark.parametrize("places", [1, 3])
    @pytest.mark.parametrize("fast", [False, True])
    def test_an_impossible_series_has_a_trace_of_places_all_the_same(self, places: int, fast: bool) -> None:
        prior, release = random_chain(2, places, 4, "started"), pb.Release([0] * 4)
        for step in range(4):
            evidence = np.zeros((1, 4, 2))
            evidence[0, step] = -np.inf
            traces, value = decode(prior, release, evidence, fast)
            assert value[0] == -np.inf
            assert ((traces >= 0) & (traces < places)).all()

    def test_a_thousand_unlikely_steps_do_not_underflow(self) -> None:
        prior = pb.line_prior(5)
        release = pb.Release([4] * 1000, pb.Gaussian(0.01))
        evidence = release.evidence(np.full((1, 1000, 1), 30.0))
        _, value = decode(prior, release, evidence, fast=True)
        assert np.isfinite(value).all()
        assert value[0] == pytest.approx(viterbi(prior, dense(release, 5, evidence[0]))[1], rel=1e-12)


class TestPosterior:
    @given(cases(mechanisms=FINITE))
    def test_is_the_law_of_the_trace_given_the_series(self, case: Case) -> None:
        world, channel, evidence = all_evidence(case)
        for likelihood, logged in zip(channel[:20], evidence[:20], strict=True):
            start, moves, log_mass = chain.posterior(
                case.prior.initial, case.prior.matrices, case.release.grid, np.exp(logged)
            )
            assert np.exp(log_mass) == pytest.approx(likelihood @ world.chance, rel=1e-9)
            marginals = world.posterior_marginals(likelihood)
            np.testing.assert_allclose(start, marginals[0], atol=1e-9)
            for t, pair in enumerate(world.posterior_pairs(likelihood)):
                np.testing.assert_allclose(marginals[t][:, None] * moves[t], pair, atol=1e-9)

    def test_an_impossible_series_is_said_to_be(self) -> None:
        initial, moves = np.array([1.0, 0.0]), np.eye(2)[None]
        places = np.array([[1], [0]])
        *_, log_mass = chain.posterior(initial, moves, places, np.array([[0.0, 1.0], [1.0, 1.0]]))
        assert log_mass == -np.inf
        *_, log_mass = chain.posterior(initial, moves, places, np.array([[1.0, 1.0], [1.0, 0.0]]))
        assert log_mass == -np.inf


def exactly(initial: Floats, matrices: Floats, weights: Floats) -> tuple[list[Fraction], Fraction]:
    """The law of the first place given dense weights (T, M), and the probability of the series, in fractions."""
    b = [Fraction(1)] * len(initial)
    for t in range(len(weights) - 1, -1, -1):
        b = [Fraction(w) * value for w, value in zip(weights[t], b, strict=True)]
        if t:
            P = matrices[0 if len(matrices) == 1 else t - 1]
            b = [sum((Fraction(p) * value for p, value in zip(row, b, strict=True)), Fraction(0)) for row in P]
    joint = [Fraction(p) * value for p, value in zip(initial, b, strict=True)]
    total = sum(joint, Fraction(0))
    return [value / total if total else total for value in joint], total


@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([0, 5, 60, 150, 290]), st.booleans())
def test_faint_places_are_right_or_refused(seed: int, steps: int, orders: int, varying: bool) -> None:
    """Likelihoods and moves over hundreds of orders of magnitude, beside exact fractions."""
    rng, places = np.random.default_rng(seed), 3

    def faint(*shape: int, most: float = orders) -> Floats:
        return np.where(rng.random(shape) < 0.1, 0.0, 10.0 ** -(most * rng.random(shape) * (rng.random(shape) < 0.5)))

    matrices = faint(steps - 1 if varying and steps > 2 else 1, places, places, most=min(orders, 50))
    initial = faint(places)
    grid, weights = np.tile(np.arange(1, places), (steps, 1)), faint(steps, places)
    start, moves, log_mass = chain.posterior(initial, matrices, grid, weights)
    law, total = exactly(initial, matrices, weights)
    if total == 0:
        assert log_mass == -np.inf
        return
    exact = math.log(total.numerator) - math.log(total.denominator)
    if orders <= 5:
        assert log_mass > -np.inf
    if log_mass > -np.inf:
        assert log_mass == pytest.approx(exact, abs=1e-9)
        assert start == pytest.approx([float(value) for value in law], abs=1e-9)
        there = start
        for t in range(steps - 1):
            assert moves[t][there > 1e-9].sum(axis=1) == pytest.approx(1, abs=1e-9)
            there = there @ moves[t]
        # The last place given all: the first one of the chain that runs backwards.
        assert there.sum() == pytest.approx(1, abs=1e-9)
    else:
        assert log_mass == -np.inf


def test_what_is_too_faint_is_refused() -> None:
    """Nobody can be where the series is likely: what is left fades beside it, or is lost beside something else."""
    places = np.array([[1], [1]])
    plain = np.ones((2, 2))
    for start, scale, refused in (
        ([1.0, 0.0], 1e-20, False),
        ([1.0, 0.0], 1e-240, True),
        ([1.0, 0.0], 1e-291, True),
        ([0.5, 0.5], 1e-300, False),
    ):
        moves = np.array([[[scale, 0.0], [0.0, 1.0]]])
        *_, log_mass = chain.posterior(np.array(start), moves, places, plain)
        assert (log_mass == -np.inf) == refused
        if not refused:
            assert log_mass == pytest.approx(math.log(start[0] * scale + start[1]))
    # Too small at one step, whoever it is.
    *_, log_mass = chain.posterior(np.full(2, 0.5), np.full((1, 2, 2), 1e-295), places, plain)
    assert log_mass == -np.inf
    # Left out at the last step, beside somebody whose way back to the start is as faint.
    three, silent = np.array([[1], [1], [1]]), np.ones((3, 2))
    moves = np.array([[[1.0, 0.0], [0.0, 1e-280]], [[1e-292, 0.0], [0.0, 1.0]]])
    *_, log_mass = chain.posterior(np.array([1.0, 1e-100]), moves, three, silent)
    assert log_mass == -np.inf


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("others", [1.0, 1e-150], ids=["likely", "rare"])
def test_any_place_may_fade(place: int, others: float) -> None:
    """Nobody moves, and one place fades at the last two steps. It matters only if the others fade later, at the first.

    Beside others that do not fade it is lost without harm. Where they do, it is the only one left, so that the series
    must be refused: its law would be that of the others.
    """
    each = np.ones((6, 3))
    each[:4] = [others, others / 2, others / 4]
    each[:, place] = [1.0, 1.0, 1.0, 1.0, 1e-200, 1e-200]
    initial, matrices = np.array([0.2, 0.3, 0.5]), np.eye(3)[None]
    start, moves, log_mass = chain.posterior(initial, matrices, np.array([[1, 2]] * 6), each)
    law, total = exactly(initial, matrices, each)
    if others < 1:
        assert float(law[place]) == pytest.approx(1)
        assert log_mass == -np.inf
    else:
        assert log_mass == pytest.approx(math.log(total), abs=1e-9)
        assert start == pytest.approx([float(value) for value in law], abs=1e-12)
        for t in range(5):
            np.testing.assert_allclose((start @ moves[t])[start > 0], start[start > 0], atol=1e-12)


@pytest.mark.parametrize("place", range(3))
def test_a_place_fades_at_the_step_that_rules_it_out(place: int) -> None:
    """Nobody moves. One place is all but ruled out by the last two steps, and no step before tells against it.

    The others fade further at the first steps, little by little, so that nothing but the one place is left.
    """
    each = np.ones((8, 3))
    each[:4] = 1e-120
    each[:, place] = [1.0] * 6 + [1e-170, 1e-170]
    initial, matrices, grid = np.array([0.2, 0.3, 0.5]), np.eye(3)[None], np.array([[1, 2]] * 8)
    law, _ = exactly(initial, matrices, each)
    assert float(law[place]) == pytest.approx(1)
    *_, log_mass = chain.posterior(initial, matrices, grid, each)
    assert log_mass == -np.inf


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (2, 0)])
def test_what_faded_first_is_not_forgotten_when_something_else_fades(first: int, second: int) -> None:
    """Nobody moves. One place fades at the last steps, and another, after all has become less likely, by as much.

    Beside the third place the second one is nothing, but the first one is not: all but it are less likely by far.
    """
    each = np.ones((12, 3))
    each[:, first] = [1.0] * 10 + [1e-150, 1e-150]
    each[:, second] = [1e-10] * 6 + [1e-200, 1e-200, 1e-90, 1e-90, 1.0, 1.0]
    each[:, 3 - first - second] = [1e-10] * 6 + [1e-90, 1e-90, 1e-90, 1e-90, 1.0, 1.0]
    initial, matrices, grid = np.array([0.2, 0.3, 0.5]), np.eye(3)[None], np.array([[1, 2]] * 12)
    law, _ = exactly(initial, matrices, each)
    assert float(law[first]) == pytest.approx(1)
    *_, log_mass = chain.posterior(initial, matrices, grid, each)
    assert log_mass == -np.inf


@pytest.mark.parametrize("place", range(3))
def test_what_cannot_be_does_not_fade(place: int) -> None:
    """A place that is ruled out is no reason to refuse a series that is hardly likely anywhere else."""
    each = np.full((8, 3), 1e-100) * [1.0, 0.5, 0.25]
    each[:, place] = 0.0
    initial, matrices = np.array([0.2, 0.3, 0.5]), np.array([[[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]])
    start, _, log_mass = chain.posterior(initial, matrices, np.array([[1, 2]] * 8), each)
    law, total = exactly(initial, matrices, each)
    assert log_mass == pytest.approx(math.log(total.numerator) - math.log(total.denominator), rel=1e-12)
    assert start == pytest.approx([float(value) for value in law], abs=1e-12)
    # Nor is a place from which nothing leads on.
    matrices[0, place] = np.eye(3)[place]
    start, _, log_mass = chain.posterior(initial, matrices, np.array([[1, 2]] * 8), each)
    law, total = exactly(initial, matrices, each)
    assert log_mass == pytest.approx(math.log(total.numerator) - math.log(total.denominator), rel=1e-12)
    assert start == pytest.approx([float(value) for value in law], abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0]))
def test_evidence_of_a_step(seed: int, places: int, first: float) -> None:
    rng = np.random.default_rng(seed)
    sensors = np.append(rng.permutation(places)[: rng.integers(places + 1)], -1)
    row, weights = rng.random(places), np.append(first, rng.random(len(sensors)))
    each = np.full(places, first)
    each[sensors[:-1]] = weights[1:-1]
    with uncompiled():
        found = row.copy()
        chain.weigh(found, sensors, weights)
        assert found == pytest.approx(row * each, abs=1e-15)
        found = row.copy()
        chain.add_evidence(found, sensors, weights)
        assert found == pytest.approx(row + each, abs=1e-15)
        lanes_found = np.repeat(row[:, None], 3, axis=1)
        decode_lanes.add_evidence(lanes_found, sensors, np.tile(weights, (2, 1)), np.zeros((1 + len(sensors), 3)))
        assert lanes_found == pytest.approx(np.stack([row + each, row + each, row], axis=1), abs=1e-15)


@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_dominance_allows_ignoring_a_place(seed: int, places: int, sparse: bool) -> None:
    prior = random_chain(seed, places, 2, "started", sparse)
    log_moves = logs(prior.transition)
    table = chain.dominance(log_moves)
    value = np.random.default_rng(seed).normal(size=places)
    for x in range(places):
        for y in range(places):
            if value[y] + table[x, y] <= value[x]:
                assert (value[y] + log_moves[y] <= value[x] + log_moves[x] + 1e-12).all()
    assert (np.diag(table) == 0).all()


@pytest.mark.parametrize("places", [1, 2, 5, 30])
def test_stationary_against_a_linear_solve(places: int) -> None:
    moves = np.random.default_rng(places).dirichlet(np.ones(places), places)
    system = np.vstack([moves.T - np.eye(places), np.ones(places)])
    solved = np.linalg.lstsq(system, np.append(np.zeros(places), 1.0), rcond=None)[0]
    np.testing.assert_allclose(chain.stationary(moves), solved, atol=1e-10)


def test_stationary_of_a_round_trip() -> None:
    """Always on to the next place, but for one at which half of them stay."""
    moves = np.eye(4)[[1, 2, 3, 0]]
    moves[2] = [0, 0, 0.5, 0.5]
    np.testing.assert_allclose(chain.stationary(moves), [0.2, 0.2, 0.4, 0.2], atol=1e-12)
    np.testing.assert_allclose(chain.stationary(np.eye(3)[[2, 0, 1]]), np.full(3, 1 / 3), atol=1e-12)


def test_draw_inverts_the_distribution_function() -> None:
    initial, moves = np.array([0.25, 0.0, 0.75]), np.eye(3)[None]
    uniform = np.array([[0.0, 0.5], [0.2499, 0.0], [0.25, 0.99], [0.9999999, 0.5], [1.0, 1.0]])
    np.testing.assert_array_equal(chain.draw(initial, moves, uniform), [[0, 0], [0, 0], [2, 2], [2, 2], [2, 2]])
    # Where rounding leaves a remainder, it is the last place that can be.
    assert chain.draw(np.array([0.25, 0.75, 0.0]), moves, np.ones((1, 1))) == 1
    # One matrix for each step, and a number that is used up exactly.
    varying = np.stack([np.eye(3)[[1, 2, 0]], np.full((3, 3), 1 / 3)])
    drawn = chain.draw(np.full(3, 1 / 3), varying, np.array([[0.1, 0.9, 0.5], [0.5, 0.1, 0.9], [0.9, 0.5, 0.1]]))
    np.testing.assert_array_equal(drawn, [[0, 1, 1], [1, 2, 2], [2, 0, 0]])


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 12), st.booleans())
def test_moves_are_counted_and_smoothed(seed: int, places: int, moves: int, by_row: bool) -> None:
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, places, (2, moves))
    background = rng.dirichlet(np.ones(places), places if by_row else 1)
    found = chain.smoothed_moves(source, target, background, 0.7, places)
    for x in range(places):
        row = background[x if by_row else 0]
        for y in range(places):
            made, left = ((source == x) & (target == y)).sum(), (source == x).sum()
            assert found[x, y] == pytest.approx((made + 0.7 * row[y]) / (left + 0.7))


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_likeliest_place_that_may_be_named(seed: int, places: int) -> None:
    rng = np.random.default_rng(seed)
    row, named = rng.integers(0, 3, places) * 1.0, (rng.random(places) < 0.6) * 1.0
    named[rng.integers(places)] = 1.0
    allowed = [x for x in range(places) if named[x]]
    with uncompiled():
        assert chain.likeliest(row, named) == max(allowed, key=lambda x: (row[x], -x))


@pytest.mark.parametrize("faint", [1e-255, 1e-240])
@pytest.mark.parametrize("rare", [1e-249, 1e-200])
@pytest.mark.parametrize("by", ["likelihood", "two likelihoods", "move"])
def test_what_fades_is_right_or_refused(faint: float, rare: float, by: str) -> None:
    """Two places, of which one gets faint by a likelihood or by a move, and the other is hardly likely in the end.

    Next to each other both matter: the one that faded has a share of up to all.
    """
    moves = np.eye(3)
    weights = np.ones((3, 4))
    if by == "likelihood":
        weights[2] = [1.0, 1.0, faint, 0.0]
    elif by == "two likelihoods":
        weights[1:] = [1.0, 1.0, math.sqrt(faint), 0.0]
    else:
        # From the second place to itself, next to never; else to the third, which the last step rules out.
        moves[1] = [0.0, 1e-20, 1.0]
        weights[2] = [1.0, 1.0, faint / 1e-20, 0.0]
        weights[1] = [1.0, 1.0, 1.0, 0.0]
    weights[0] = [1.0, rare, 1.0, 0.0]
    places = np.array([[0, 1, 2]] * 3)
    initial = np.array([0.5, 0.5, 0.0])
    start, _, log_mass = chain.posterior(initial, moves[None], places, weights)
    expected, total = exactly(initial, moves[None], weights[:, 1:])
    if log_mass > -np.inf:
        assert start == pytest.approx([float(value) for value in expected], rel=1e-9)
        assert log_mass == pytest.approx(math.log(total.numerator) - math.log(total.denominator), abs=1e-9)
    else:
        assert min(faint, rare) < 1e-230


def test_products_that_vanish_are_not_taken_for_impossible() -> None:
    """The way to what was seen is 1e-200 from each of two places, twice: the series is refused, and not misjudged."""
    places, weights = np.full((3, 1), -1), np.ones((3, 2))
    moves = np.zeros((2, 3, 3))
    moves[0] = np.eye(3)
    moves[0, 0], moves[0, 1] = [1 - 1e-200, 0.0, 1e-200], [0.0, 1 - 1e-9, 1e-9]
    moves[1] = np.eye(3)
    weights[2] = [0.0, 1.0]
    places[2] = 2
    start, _, log_mass = chain.posterior(np.array([1.0, 0.0, 0.0]), moves, places, weights)
    assert log_mass == -np.inf or (log_mass == pytest.approx(math.log(1e-200)) and start[0] == 1)
    # Beside a likelier start, what vanishes is lost without harm.
    start, _, log_mass = chain.posterior(np.array([0.5, 0.5, 0.0]), moves, places, weights)
    assert log_mass == pytest.approx(math.log(0.5e-9))
    assert start == pytest.approx([0, 1, 0], abs=1e-12)
    # A habit of 1e-300 towards a place that is 1e-200 likely to lead on: the product is nothing, the way is not.
    moves[0, 0], moves[1, 2] = [1.0, 0.0, 1e-300], [1.0, 0.0, 1e-200]
    moves[0, 1] = [0.0, 1.0, 0.0]
    *_, log_mass = chain.posterior(np.array([1.0, 0.0, 0.0]), moves, places, weights)
    assert log_mass == -np.inf
