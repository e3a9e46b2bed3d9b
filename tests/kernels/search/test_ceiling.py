from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import Chain, small_chains

from passerby.kernels.search import best_first, ceiling

Floats = NDArray[np.float64]
pytestmark = pytest.mark.usefixtures("plainly")


def told(chain: Chain, V: Floats, t: int, x: int, k: int) -> float:
    """The plain twin of `told_step`: try every place to name."""
    line = chain.Q[t, x]
    options = [float(line @ V[t + 1, k])]
    for g in np.flatnonzero(chain.named):
        later = np.where(chain.place_of == g, V[t + 1, k - 1], V[t + 1, k])
        options.append(float(line @ later))
    return max(options)


def first_right(
    chain: Chain, V: Floats, start: Floats, begin: int, k: int, avoid: bool = True, nothing: bool = False
) -> float:
    """The plain twin: the sum over the first right step for every guess that could be made, and the largest of them.

    Unless they are to `avoid` it, steps are counted as first ones also after a right one. With `nothing`, a guess may
    also name nothing at a step: there it is never right.
    """
    beliefs = [start]
    pins = np.flatnonzero(chain.pinned[begin:] >= 0)
    end = begin + int(pins[0]) if len(pins) else chain.steps - 1
    for t in range(begin, end):
        beliefs.append(beliefs[-1] @ chain.Q[t])
    best = 0.0
    options = [*np.flatnonzero(chain.named), *([-1] if nothing else [])]
    for guess in product(options, repeat=end - begin + 1):
        total = 0.0
        for i, g in enumerate(guess):
            if g < 0:
                continue
            mass = beliefs[i].copy()
            if avoid and i and guess[i - 1] >= 0:
                mass -= (beliefs[i - 1] * chain.at(guess[i - 1])) @ chain.Q[begin + i - 1]
            total += float((mass * chain.at(g)) @ V[begin + i, k - 1])
        best = max(best, total)
    return best


def call_first_right(chain: Chain, V: Floats, start: Floats, begin: int, k: int) -> float:
    return float(ceiling.first_right(V, chain.taken, start, begin, k, chain.room(k, 1)))


def told_step(chain: Chain, V: Floats, t: int, x: int, k: int, gain: Floats) -> float:
    """Whether rows are known to be apart or not, it is the same."""
    values = [
        float(ceiling.known_step(V, chain.taken, t, x, k, gain, apart, np.empty(chain.places)))
        for apart in {False, bool(best_first.rows_apart(chain.taken))}
    ]
    assert values[0] == values[-1]
    return values[0]


@given(small_chains(), st.integers(0, 10**6))
def test_told_the_past(chain: Chain, seed: int) -> None:
    needed = chain.steps
    V, exact = chain.loosened(needed, seed), chain.exact(needed)
    for t in range(chain.steps - 1):
        for k in range(1, needed + 1):
            for x in range(chain.states):
                gain = (V[t + 1, k - 1] - V[t + 1, k]) * chain.named[chain.place_of]
                found = told_step(chain, V, t, x, k, gain)
                assert found >= exact[t, k, x] - 1e-12
                assert found >= told(chain, V, t, x, k) - 1e-12
                # Where more right steps are never easier, the best option is the twin's.
                if (V[t + 1, k - 1] >= V[t + 1, k]).all():
                    assert found == pytest.approx(told(chain, V, t, x, k), abs=1e-12)


@given(small_chains(), st.integers(0, 10**6))
def test_union_sums(chain: Chain, seed: int) -> None:
    needed = chain.steps
    V, exact = chain.loosened(needed, seed), chain.exact(needed)
    for t in range(chain.steps - 1):
        sums, apart = np.empty((needed + 1, chain.states)), bool(best_first.ways_apart(chain.taken))
        ceiling.union_sums(V, chain.taken, t, 1, needed, apart, sums, np.empty(chain.places))
        for x in np.flatnonzero(chain.law[t]):
            for k in range(1, needed + 1):
                belief, total = chain.Q[t, x], 0.0
                for u in range(t + 1, chain.steps):
                    total += (chain.by_place(belief * V[u, k - 1]) * chain.named).max()
                    if chain.pinned[u] >= 0 or u == chain.steps - 1:
                        break
                    belief = belief @ chain.Q[u]
                # What is not below what is known may be given up.
                if sums[k, x] < V[t, k, x] or total < V[t, k, x]:
                    assert sums[k, x] == pytest.approx(total, abs=1e-12)
                assert sums[k, x] <= total + 1e-12
                assert min(sums[k, x], V[t, k, x]) >= exact[t, k, x] - 1e-12


@settings(max_examples=60)
@given(small_chains(), st.integers(0, 10**6))
def test_first_right(chain: Chain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    begin = int(rng.integers(chain.steps))
    V = chain.loosened(chain.steps, seed)
    # A belief that the chain can have at this step, not normalised.
    start = chain.law[begin] * rng.random(chain.states)
    for k in range(1, chain.steps - begin + 1):
        found = call_first_right(chain, V, start, begin, k)
        assert found <= first_right(chain, V, start, begin, k, avoid=False) + 1e-12
        assert found >= chain.best(start, begin, k) - 1e-12
        # Places that may not be named stand in for naming nothing.
        masked = not chain.named.all()
        least, most = (first_right(chain, V, start, begin, k, nothing=nothing) for nothing in (False, masked))
        assert least - 1e-12 <= found <= most + 1e-12


def test_avoidance_is_exact_for_one_right_step_of_two() -> None:
    """Two steps, one to be right: right at the first, or at the second and not the first. Nothing is counted twice."""
    chain = Chain(seed=3, states=3, steps=2)
    V = chain.exact(1)
    best = chain.best(chain.a, 0, 1)
    assert call_first_right(chain, V, chain.a, 0, 1) == pytest.approx(best, abs=1e-12)
    assert first_right(chain, V, chain.a, 0, 1, avoid=False) > best + 0.05


@pytest.mark.parametrize("seed", range(12))
def test_avoidance_counts_each_step_with_what_is_to_come_from_there(seed: int) -> None:
    """Two steps to be right of five or six, on a chain that hardly moves: being right twice in a row is what counts."""
    rng = np.random.default_rng(seed)
    chain = Chain(seed, states=2, steps=5 + seed % 2, stays=True)
    V = rng.random((chain.steps, 3, chain.places))
    V[:, 0] = 1.0
    V[-1, 1:] = 0.0
    found = call_first_right(chain, V, chain.a, 0, 2)
    assert found == pytest.approx(first_right(chain, V, chain.a, 0, 2), abs=1e-12)


def test_a_pinned_step_ends_the_sum() -> None:
    """What comes after a step at which every guess is right is not looked at, whatever it would add."""
    chain = Chain(seed=8, states=3, steps=5)
    chain.Q[1] = np.eye(3)[1]
    chain.pinned[2] = 1
    V = chain.exact(1)
    V[3:, 0] = 9.0
    found = call_first_right(chain, V, chain.a, 0, 1)
    assert found == pytest.approx(first_right(chain, V, chain.a, 0, 1), abs=1e-12)
    assert 1 <= found < 3
