"""The MAP attack, against all traces and all series."""

from itertools import pairwise, product

import numpy as np
import pytest

import passerby as pb
from passerby.outcomes.series import enumerate_series
from passerby.questions.trace.guess import map_attack
from passerby_paper.map_attack import likeliest, map_success


@pytest.mark.parametrize("seed", range(6))
def test_map_on_raw_counts_is_what_a_list_of_all_series_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places, steps = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    moves = rng.dirichlet(np.full(places, 0.5), size=places)
    if seed % 2:
        moves[rng.random((places, places)) < 0.3] = 0.0
        moves += 0.1 * np.eye(places)[rng.permutation(places)]
        moves /= moves.sum(axis=1, keepdims=True)
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(places)), moves)
    sensors = rng.integers(places, size=steps).tolist()
    release = pb.Release(sensors)
    listed = enumerate_series(prior, release)
    assert listed is not None
    assert listed.left_over == pytest.approx(0.0, abs=1e-12)
    for misses in range(steps):
        expected = map_attack(prior, release, misses, listed).value
        assert map_success(prior, sensors, misses) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_long_traces_need_no_list() -> None:
    prior = pb.line_prior(30)
    sensors = np.random.default_rng(0).integers(30, size=40).tolist()
    few, many = (map_success(prior, sensors, misses) for misses in (20, 30))
    assert 0 < few < many < 1
    assert map_success(prior, sensors, 0) == pytest.approx(pb.measure(prior, pb.Release(sensors)).upper, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_likeliest_trace_is_that_of_all_traces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=3))
    weights = rng.normal(size=(4, 3))

    def chance(trace: tuple[int, ...]) -> float:
        moves = sum(np.log(prior.transition[x, y]) for x, y in pairwise(trace))
        return float(np.log(prior.initial[trace[0]]) + moves + weights[range(4), trace].sum())

    found, value = likeliest(prior, weights)
    assert tuple(found) == max(product(range(3), repeat=4), key=chance)
    assert value == pytest.approx(chance(tuple(found)))


def test_ties_go_to_the_lowest_place_whatever_rounding_says() -> None:
    moves = np.full((3, 3), 1 / 3)
    prior = pb.MarkovPrior(np.full(3, 1 / 3), moves)
    weights = np.array([[0.0, 1e-13, 0.0], [0.0, 0.0, 1e-13]])
    assert likeliest(prior, weights)[0].tolist() == [0, 0]
    merged = pb.MarkovPrior(np.full(3, 1 / 3), moves, guessable=[False, True, True])
    assert likeliest(merged, weights)[0].tolist() == [1, 1]
