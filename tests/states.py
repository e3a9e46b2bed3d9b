"""Chains whose states share places: at random, and as mixtures of chains."""

import numpy as np
from hypothesis import strategies as st

import passerby as pb
from tests.guesses import Chain, small_chains
from tests.strategies import FINITE, Case, released, rows


def habits(chain: Chain, varying: bool) -> pb.MarkovPrior:
    """The chain as a prior; with one matrix for all steps, the first."""
    moves = chain.Q if varying else chain.Q[0]
    return pb.MarkovPrior(chain.a, moves, place_of=chain.place_of, guessable=chain.named > 0)


def mixed(seed: int, places: int, steps: int, sparse: bool, varying: bool) -> pb.MarkovPrior:
    """A mixture of two or three chains over the same places, of which one may be all but ruled out."""
    rng = np.random.default_rng(seed)
    weights = rows(rng, (int(rng.integers(2, 4)),), False) * 10.0 ** -rng.choice([0, 0, 12, 300])
    weights[0] += 1 - weights.sum()
    named = np.append(True, rng.random(places - 1) < 0.7)
    shape = (steps - 1, places, places) if varying else (places, places)
    parts = [pb.MarkovPrior(rows(rng, (places,), sparse), rows(rng, shape, sparse), guessable=named) for _ in weights]
    return pb.MarkovPrior.mixture(weights, parts)


@st.composite
def state_chains(draw: st.DrawFn) -> tuple[pb.MarkovPrior, int]:
    """A chain whose states share places, or a mixture, and a number of steps, few enough to enumerate."""
    varying = draw(st.booleans(), label="varying")
    if draw(st.booleans(), label="mixture"):
        places, steps = draw(st.sampled_from([(1, 3), (2, 2), (2, 3), (3, 2)]))
        seed = draw(st.integers(0, 10**6), label="seed")
        return mixed(seed, places, steps, draw(st.booleans(), label="zeros"), varying), steps
    chain = draw(small_chains(pins=0))
    return habits(chain, varying), chain.steps if varying else draw(st.integers(1, chain.steps), label="fewer")


@st.composite
def state_cases(draw: st.DrawFn, mechanisms: tuple[pb.Mechanism, ...] = FINITE, most_series: int = 200) -> Case:
    """Such a chain, and a release for it."""
    prior, steps = draw(state_chains())
    return draw(released(prior, steps, mechanisms, most_series))
