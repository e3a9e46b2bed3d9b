"""Charges stretch by stretch, as plain functions; compiled, they are tried within `brackets`."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import Chain, small_chains

from passerby.kernels.search import penalty_stretches

pytestmark = pytest.mark.usefixtures("plainly")

Ints = NDArray[np.int64]


def bound(chain: Chain, guess: Ints, misses: int, rounds: int = 0) -> float:
    return float(
        penalty_stretches.penalised_stretches(chain.taken, guess, misses, 1e-9, rounds, chain.paper(misses))[0]
    )


@pytest.mark.parametrize(
    ("pinned", "stretches"),
    [
        ([-1, -1, -1], [(0, 3)]),
        ([4, 4, 4], []),
        ([-1, 0, -1, -1], [(0, 1), (2, 4)]),
        ([7, -1, -1, -1, 2, -1, 0, -1, -1], [(5, 6), (7, 9), (1, 4)]),
    ],
)
def test_stretches_are_between_certain_steps_the_shortest_first(
    pinned: list[int], stretches: list[tuple[int, int]]
) -> None:
    assert [tuple(pair) for pair in penalty_stretches.stretches_of(np.array(pinned))] == stretches


@given(small_chains().filter(lambda chain: chain.taken.single), st.integers(0, 10**6))
def test_no_guess_exceeds_it(chain: Chain, seed: int) -> None:
    """Whatever guess is known, and however many steps are certain."""
    for misses in range(chain.steps):
        guesses, success = chain.guesses(chain.a, 0, chain.steps - misses)
        for i in (success.argmax(), seed % len(guesses)):
            found = [bound(chain, guesses[i], misses, rounds) for rounds in (0, 3, 4)]
            assert success.max() <= min(found) * (1 + 1e-12) + 1e-290


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(3, 12))])
def test_no_guess_exceeds_it_with_many_steps(seed: int) -> None:
    chain = Chain(seed, 3, 7, pins=1 + seed % 3, stays=seed % 2 == 1, mask=seed % 5 == 4, faint=seed % 4 == 3)
    for misses in (1, 2, 3, 5):
        guesses, success = chain.guesses(chain.a, 0, 7 - misses)
        for i in (int(success.argmax()), len(guesses) // 3):
            found = [bound(chain, guesses[i], misses, rounds) for rounds in (0, 5, 12)]
            assert success.max() <= min(found) * (1 + 1e-12) + 1e-290


def test_rounds_are_for_all_stretches_and_most_for_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, rounds = Chain(5, 3, 8), dict[int, set[int]]()
    chain.pinned = np.array([-1, -1, 1, -1, -1, -1, -1, -1])

    def noted(part: Any, *case: Any) -> tuple[float, float]:
        rounds.setdefault(len(part.law), set()).add(case[-2])
        return 1.0, 0.0

    monkeypatch.setattr(penalty_stretches, "penalised", noted)
    bound(chain, np.zeros(8, dtype=np.int64), 2, 40)
    assert rounds == {2: {10}, 5: {40}}


def test_closes_the_gap_where_stretches_are_single_steps() -> None:
    """Every second step is certain: the likeliest place of each of the others is the best guess."""
    law = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    law[1::2] = np.eye(3)[[2, 0]]
    chain = Chain(0, 3, 5)
    chain.a, chain.Q, chain.law = law[0], np.repeat(law[1:, None], 3, axis=1), law
    chain.pinned = np.array([-1, 2, -1, 0, -1])
    for misses in range(3):
        best = chain.guesses(chain.a, 0, 5 - misses)[1].max()
        assert bound(chain, law.argmax(axis=1), misses) == pytest.approx(best, rel=1e-9)


def test_is_closer_than_telling_the_place() -> None:
    """Somebody who hardly moves, seen once."""
    chain = Chain(5, 3, 6, pins=1, stays=True)
    assert (chain.pinned >= 0).sum() == 1
    for misses in (1, 2):
        guesses, success = chain.guesses(chain.a, 0, 6 - misses)
        found, told = bound(chain, guesses[success.argmax()], misses), np.empty(misses + 1)
        penalty_stretches.known_worth(chain.taken, np.ones(misses + 1), told)
        assert success.max() * (1 - 1e-12) <= found
        assert found - success.max() < 0.5 * (told[misses] - success.max())
