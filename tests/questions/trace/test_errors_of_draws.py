"""An error of 0 is for what is exact: what was drawn has one above it, also where all draws were alike."""

import numpy as np
import pytest

import passerby as pb
from passerby.questions.trace.methods.monte_carlo import sampled_attacks

#: Nobody moves, and everybody is at one of two places.
STILL = pb.MarkovPrior([0.5, 0.5], np.eye(2))


@pytest.mark.parametrize("noise", [pb.Gaussian(0.01), pb.Laplace(0.005), pb.Gaussian(1e5)], ids=repr)
def test_a_sample_of_draws_that_are_all_alike(noise: pb.Mechanism) -> None:
    """Noise that tells everything, or next to nothing: each draw is guessed right as surely as the next."""
    loss = pb.measure(STILL, pb.Release([0, 0], noise), 0, series="sample", runs=40)
    for name in ("map", "marginal"):
        assert loss.attacks[name].level is not None
        assert 0 < loss.attacks[name].error <= 1 / 40, name


def test_the_papers_way_where_every_guess_is_right_or_wrong() -> None:
    found = sampled_attacks(STILL, pb.Release([0, 0]), 0, np.random.default_rng(1), 50)
    assert (found["map"].value, found["map"].error) == (1.0, 1 / 50)
    never = sampled_attacks(pb.line_prior(40), pb.Release([[]] * 30), 0, np.random.default_rng(1), 50)
    assert (never["constant"].value, never["constant"].error) == (0.0, 1 / 50)


def test_a_crowd_of_whom_every_draw_is_alike() -> None:
    loss = pb.measure(STILL, pb.Release([0, 0], pb.Gaussian(1e5), pb.Crowd([STILL] * 3)), 0, series="sample", runs=40)
    for name, attack in loss.attacks.items():
        assert attack.level is None or attack.error > 0, name


def test_what_is_exact_has_none() -> None:
    loss = pb.measure(STILL, pb.Release([0, 0]), 0)
    assert loss.effort.confidence is None
    assert {attack.error for attack in loss.attacks.values()} == {0.0}
