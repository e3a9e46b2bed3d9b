from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import surjection
from tests.oracle import World
from tests.strategies import rows

import passerby as pb

Floats = NDArray[np.float64]
LINE = pb.line_prior(3)


def parts(seed: int, places: int, steps: int, sparse: bool, faint: bool) -> tuple[Floats, list[pb.MarkovPrior]]:
    """Weights, one of which may be zero or faint, and chains of different numbers of states over the same places."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(int(rng.integers(1, 4))):
        states = places + int(rng.integers(2))
        shape = (steps - 1, states, states) if rng.random() < 0.5 else (states, states)
        place_of = surjection(rng, states, places)
        out.append(pb.MarkovPrior(rows(rng, (states,), sparse), rows(rng, shape, sparse), place_of=place_of))
    weights = rows(rng, (len(out),), sparse)
    if faint and len(out) > 1:
        weights[int(weights.argmin())] = 1e-300
    return weights / weights.sum(), out


mixtures = st.builds(
    parts, st.integers(0, 10**6), st.integers(1, 3), st.just(3), st.booleans(), st.sampled_from([False, True])
)


@given(mixtures)
def test_is_the_chains_by_their_weights(mixture: tuple[Floats, list[pb.MarkovPrior]]) -> None:
    weights, chains = mixture
    prior = pb.MarkovPrior.mixture(weights, chains)
    expected = sum(w * World(chain, 3).chance for w, chain in zip(weights, chains, strict=True))
    np.testing.assert_allclose(World(prior, 3).chance, expected, rtol=1e-12)
    laws = sum(w * chain.marginals(3) for w, chain in zip(weights, chains, strict=True))
    np.testing.assert_allclose(prior.marginals(3), laws, rtol=1e-9)


@given(mixtures)
def test_a_mode_holds_for_all_steps(mixture: tuple[Floats, list[pb.MarkovPrior]]) -> None:
    weights, chains = mixture
    prior = pb.MarkovPrior.mixture(weights, chains)
    assert prior.modes == (weights > 0).sum()
    assert (np.diff(prior.mode_of) >= 0).all()
    assert not (prior.matrices > 0)[:, prior.mode_of[:, None] != prior.mode_of].any()
    shares = np.bincount(prior.mode_of, weights=prior.initial)
    np.testing.assert_allclose(shares, weights[weights > 0], rtol=1e-12)
    np.testing.assert_allclose(prior.matrices.sum(axis=2), 1, rtol=1e-12)
    # The same, checked.
    again = pb.MarkovPrior(prior.initial, prior.transition, place_of=prior.place_of, mode_of=prior.mode_of)
    assert (again.places, again.modes) == (prior.places, prior.modes)


def test_states_that_are_never_reached_are_left_out() -> None:
    """But a place keeps its states where it would be lost."""
    stays = [pb.MarkovPrior(np.eye(3)[x], np.eye(3)) for x in range(3)]
    assert pb.MarkovPrior.mixture([0.2, 0.3, 0.5], stays).states == 3
    lost = pb.MarkovPrior.mixture([0.2, 0.8], stays[:2])
    assert (lost.states, lost.places) == (6, 3)
    faint = np.array([[1.0, 1e-300, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert pb.MarkovPrior.mixture([1.0], [pb.MarkovPrior([1, 0, 0], faint)]).states == 3


def test_what_is_known_of_places_is_kept() -> None:
    known = {"guessable": [True, False, True], "universe": 7, "merged_entropy": [0.0, 1.5, 0.0], "elsewhere": 1}
    chain = pb.MarkovPrior(LINE.initial, LINE.transition, **known)  # type: ignore[arg-type]
    prior = pb.MarkovPrior.mixture([0.5, 0.5], [chain, chain])
    assert prior.guessable.tolist() == [True, False, True]
    assert (prior.universe, prior.elsewhere) == (7, 1)
    assert prior.merged_entropy.tolist() == [0.0, 1.5, 0.0]
    assert repr(prior) == "MarkovPrior(places=3, states=6 in 2 modes, one matrix)"


def test_drawn_traces_are_of_places_and_keep_to_a_mode() -> None:
    stays = [pb.MarkovPrior(np.eye(2)[x], np.eye(2)) for x in range(2)]
    drawn = pb.MarkovPrior.mixture([0.25, 0.75], stays).sample(400, 5, np.random.default_rng(0))
    assert (drawn == drawn[:, :1]).all()
    assert drawn[:, 0].mean() == pytest.approx(0.75, abs=0.07)


VARYING = pb.MarkovPrior([0.5, 0.5, 0.0], np.tile(np.eye(3), (2, 1, 1)))


@pytest.mark.parametrize(
    ("weights", "priors", "message"),
    [
        ([0.5, 0.5], [LINE], "weights: expected one for each of the 1 priors"),
        ([], [], "weights"),
        ([[1.0]], [LINE], "weights"),
        (["a"], [LINE], "weights: expected numbers"),
        ([0.5, 0.4], [LINE, LINE], "weights sums to 0.9, not 1"),
        ([1.5, -0.5], [LINE, LINE], "is negative"),
        ([float("nan"), 1.0], [LINE, LINE], "is not a number"),
        ([0.5, 0.5], [LINE, pb.line_prior(4)], "priors: the chains of a mixture are over the same places"),
        ([0.5, 0.5], [LINE, "line"], "priors: expected MarkovPriors"),
        ([0.5, 0.5], [LINE, pb.MarkovPrior.mixture([0.5, 0.5], [LINE, LINE])], "one of them is a mixture itself"),
        (
            [0.5, 0.5],
            [VARYING, pb.MarkovPrior([1, 0, 0], np.tile(np.eye(3), (3, 1, 1)))],
            r"priors: chains for different numbers of steps: \[3, 4\]",
        ),
        (
            [0.5, 0.5],
            [LINE, pb.MarkovPrior(LINE.initial, LINE.transition, guessable=[True, True, False])],
            "of which the same are named",
        ),
    ],
)
def test_what_cannot_be_mixed_is_refused(weights: Any, priors: Any, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.MarkovPrior.mixture(weights, priors)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"place_of": [0, 1]}, "place_of: expected a whole number for each of the 3 states"),
        ({"place_of": [0, 1, 3]}, "place_of: expected the numbers from 0 on"),
        ({"place_of": [0, -1, 1]}, "place_of: expected the numbers from 0 on"),
        ({"place_of": [0.0, 1.0, 0.0]}, "place_of: expected a whole number"),
        ({"place_of": "abc"}, "place_of: expected a whole number"),
        ({"place_of": [0, 0, 1], "guessable": [True, True, True]}, r"guessable and merged_entropy: expected a shape"),
        ({"place_of": [0, 0, 1], "elsewhere": 2}, "elsewhere"),
        ({"place_of": [0, 0, 1], "universe": 1}, "universe"),
        ({"mode_of": [0, 1, 1]}, "mode_of: a move changes the mode"),
        ({"mode_of": [0, 0, 2]}, "mode_of: expected the numbers from 0 on"),
    ],
)
def test_states_that_do_not_fit_are_refused(given: Any, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.MarkovPrior(LINE.initial, LINE.transition, **given)


def test_chains_of_a_mixture_agree_on_elsewhere() -> None:
    chains = [pb.MarkovPrior([0.5, 0.5], np.eye(2), elsewhere=place) for place in (0, 1)]
    with pytest.raises(pb.InputError, match="the same place for elsewhere"):
        pb.MarkovPrior.mixture([0.5, 0.5], chains)
