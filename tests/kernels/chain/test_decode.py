import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import all_evidence, classes, dense, logs, viterbi
from tests.states import state_cases
from tests.strategies import FINITE, Case, cases
from tests.strategies import chain as random_chain
from tests.uncompiled import uncompiled

import passerby as pb
from passerby.kernels.chain import decode as kernels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NO_TABLE = np.empty((0, 0))


def decode(prior: pb.MarkovPrior, release: pb.Release, evidence: Floats, fast: bool) -> tuple[Ints, Floats]:
    log_matrices = logs(prior.matrices)
    table = kernels.dominance(log_matrices[0]) if fast else NO_TABLE
    told = classes(release.grid, prior.place_of)
    traces, value = kernels.decode(logs(prior.initial), log_matrices, table, told, evidence)
    return traces, value


class TestDecode:
    @given(st.one_of(cases(mechanisms=FINITE), state_cases()))
    def test_finds_a_likeliest_trace(self, case: Case) -> None:
        world, channel, evidence = all_evidence(case)
        joint = channel[:, world.along] * world.state_chance
        for fast in (False, True) if case.prior.homogeneous else (False,):
            traces, value = decode(case.prior, case.release, evidence, fast)
            best = joint.max(axis=1)
            np.testing.assert_allclose(np.exp(value), best, rtol=1e-9, atol=1e-290)
            index = np.ravel_multi_index(tuple(traces.T), (case.prior.states,) * world.steps)
            np.testing.assert_allclose(joint[np.arange(len(index)), index], best, rtol=1e-9, atol=1e-290)

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


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.5, -np.inf, -1.0]))
def test_evidence_of_a_step(seed: int, states: int, first: float) -> None:
    """By class of states, which several may share; in lanes, those beyond the last series stay as they are."""
    rng = np.random.default_rng(seed)
    of, weights = rng.integers(0, 3, states), np.append(first, rng.random(2))
    row = rng.random(states)
    expected = row + weights[of]
    with uncompiled():
        found = row.copy()
        kernels.add_evidence(found, of, weights)
        assert found.tolist() == expected.tolist()
        lanes_found = np.repeat(row[:, None], 3, axis=1)
        kernels.add_evidence_together(lanes_found, of, np.tile(weights, (2, 1)))
        assert lanes_found.tolist() == np.stack([expected, expected, row], axis=1).tolist()


@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_dominance_allows_ignoring_a_place(seed: int, places: int, sparse: bool) -> None:
    prior = random_chain(seed, places, 2, "started", sparse)
    log_moves = logs(prior.transition)
    table = kernels.dominance(log_moves)
    value = np.random.default_rng(seed).normal(size=places)
    for x in range(places):
        for y in range(places):
            if value[y] + table[x, y] <= value[x]:
                assert (value[y] + log_moves[y] <= value[x] + log_moves[x] + 1e-12).all()
    assert (np.diag(table) == 0).all()
