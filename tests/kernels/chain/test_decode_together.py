import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import all_evidence, classes, dense, logs, viterbi
from tests.states import state_cases
from tests.strategies import FINITE, Case, cases
from tests.strategies import chain as random_chain

import passerby as pb
from passerby.kernels.chain import decode
from passerby.questions.trace.guess import decode_series

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def lanes(prior: pb.MarkovPrior, release: pb.Release, evidence: Floats) -> tuple[Ints, Floats]:
    told = classes(release.grid, prior.place_of)
    traces, value = decode.decode_together(logs(prior.initial), logs(prior.transition), told, evidence)
    return traces, value


@given(st.one_of(cases(mechanisms=FINITE), state_cases()).filter(lambda case: case.prior.homogeneous))
def test_finds_a_likeliest_trace(case: Case) -> None:
    world, channel, evidence = all_evidence(case)
    traces, value = lanes(case.prior, case.release, evidence)
    joint = channel[:, world.along] * world.state_chance
    best = joint.max(axis=1)
    np.testing.assert_allclose(np.exp(value), best, rtol=1e-9, atol=1e-290)
    index = np.ravel_multi_index(tuple(traces.T), (case.prior.states,) * world.steps)
    np.testing.assert_allclose(joint[np.arange(len(index)), index], best, rtol=1e-9, atol=1e-290)


@pytest.mark.parametrize("series", [1, 31, 32, 33, 70])
@pytest.mark.parametrize("places", [1, 3, 4, 9, 30])
def test_agrees_with_the_plain_recursion(places: int, series: int) -> None:
    prior = random_chain(places, places, 20, "started", False)
    rng = np.random.default_rng(series)
    sensors = [rng.choice(places, size=rng.integers(0, min(3, places) + 1), replace=False) for _ in range(20)]
    release = pb.Release(sensors, pb.Gaussian(0.5))
    evidence = release.evidence(release.publish(prior.sample(series, 20, rng), rng))
    traces, value = lanes(prior, release, evidence)
    for i in range(series):
        trace, best = viterbi(prior, dense(release, places, evidence[i]))
        assert value[i] == pytest.approx(best, rel=1e-9)
        np.testing.assert_array_equal(traces[i], trace)


def test_ties_go_to_the_lowest_place_and_impossible_series_to_the_first() -> None:
    prior = pb.MarkovPrior(np.full(4, 0.25), np.full((4, 4), 0.25))
    seen = np.array([[[0, -np.inf], [-np.inf, 0], [0, -np.inf]], [[0, -np.inf]] * 3, [[-np.inf, -np.inf]] * 3])
    release = pb.Release([1, 2, 1])
    traces, value = lanes(prior, release, seen)
    np.testing.assert_array_equal(traces, [[0, 2, 0], [0, 0, 0], [0, 0, 0]])
    assert value[2] == -np.inf


@pytest.mark.parametrize("series", [1, 50])
def test_many_series_are_decoded_as_one_is(series: int) -> None:
    """Whichever way is taken, the values are the same."""
    prior, rng = pb.line_prior(12), np.random.default_rng(0)
    release = pb.Release(rng.integers(0, 12, 40), pb.Gaussian(1.0))
    evidence = release.evidence(release.publish(prior.sample(series, 40, rng), rng))
    _, value = decode_series(prior, release, evidence)
    nothing = np.empty((0, 0))
    told = classes(release.grid, prior.place_of)
    _, plain = decode.decode(logs(prior.initial), logs(prior.matrices), nothing, told, evidence)
    np.testing.assert_allclose(value, plain, rtol=1e-12)


def test_what_is_said_of_all_other_places_counts_where_the_sensor_says_nothing() -> None:
    prior, release = pb.MarkovPrior([0.5, 0.5], np.full((2, 2), 0.5)), pb.Release([1, 1])
    evidence = np.tile(np.array([-1.0, 0.0]), (3, 2, 1))
    traces, value = lanes(prior, release, evidence)
    assert traces.tolist() == [[1, 1]] * 3
    assert value == pytest.approx(np.log(0.25))
    evidence[:, :, 0] = 2.0
    traces, value = lanes(prior, release, evidence)
    assert traces.tolist() == [[0, 0]] * 3
    assert value == pytest.approx(4 + np.log(0.25))
