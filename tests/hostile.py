"""Chains and releases that are made to break arithmetic, and what is true of them, in exact fractions.

Entries of 1e-12 and 1e-300, places that are entered by a slow leak or hardly ever left, states that may not be guessed,
ties that are broken by a few units in the last place, noise of tiny and huge scales. All of it is small next to one,
and none of it is zero.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import passerby as pb

Floats = NDArray[np.float64]

#: Double precision, and what a product of probabilities may lose where it has no digits left.
UNIT = 2.0**-52
VANISHING = 1e-300

#: Weights of a row before it is divided by its sum.
WEIGHTS = (0.0, 1.0, 1.0, 1.0 + 4 * UNIT, 0.3, 1e-12, 1e-10, 3e-14, 1e-300, 1e12)
MECHANISMS = (
    pb.Raw(),
    pb.Geometric(0.02),
    pb.Geometric(0.0012),
    pb.Geometric(0.7),
    pb.Geometric(40.0),
)


@dataclass(frozen=True)
class Hostile:
    """A prior, a release, and how many steps may be wrong."""

    prior: pb.MarkovPrior
    release: pb.Release
    misses: int

    @property
    def error(self) -> float:
        """The relative error that is stated for both ends."""
        return stated_error(self.release.steps, self.prior.states, self.release.grid.shape[1])


def stated_error(steps: int, states: int, sensors: int) -> float:
    """The relative error of either end of an interval (docs/interval/arithmetic.md)."""
    return 64 * steps * (states + sensors) * UNIT


@st.composite
def laws(draw: st.DrawFn, places: int) -> list[float]:
    """One row of probabilities, some of them tiny."""
    weights = draw(st.lists(st.sampled_from(WEIGHTS), min_size=places, max_size=places))
    total = sum(weights)
    return [w / total for w in weights] if total > 0 else [1.0 / places] * places


@st.composite
def hostile_priors(draw: st.DrawFn, states: int, steps: int, shared: bool = False) -> pb.MarkovPrior:
    """A chain of such rows, homogeneous or not; with `shared`, its states may share places."""
    varying = draw(st.booleans())
    moves = [[draw(laws(states)) for _ in range(states)] for _ in range(steps - 1 if varying and steps > 1 else 1)]
    places = draw(st.integers(1, states)) if shared else states
    place_of = draw(st.permutations([x % places for x in range(states)])) if shared else None
    guessable = draw(st.lists(st.booleans(), min_size=places, max_size=places).filter(any))
    return pb.MarkovPrior(
        draw(laws(states)),
        moves if varying and steps > 1 else moves[0],
        place_of=place_of,
        guessable=guessable if draw(st.booleans()) else None,
    )


@st.composite
def hostile_mixtures(draw: st.DrawFn, states: int, steps: int) -> pb.MarkovPrior:
    """One of two such chains over the same places, each with a probability that may be tiny."""
    modes = [draw(hostile_priors(part, steps)) for part in [states // 2] * 2]
    named = modes[0].guessable
    chains = [pb.MarkovPrior(mode.initial, mode.transition, guessable=named) for mode in modes]
    return pb.MarkovPrior.mixture(draw(laws(2)), chains)


@st.composite
def hostile_cases(draw: st.DrawFn, shared: bool = False) -> Hostile:
    """Up to 81 traces (of states that may be `shared` by places), counted raw, through noise, or not at all."""
    states, steps = draw(st.sampled_from([(1, 2), (2, 1), (2, 2), (2, 4), (3, 2), (3, 3), (4, 3), (3, 4)]))
    if shared and states % 2 == 0 and draw(st.booleans(), label="mixture"):
        prior = draw(hostile_mixtures(states, steps))
    else:
        prior = draw(hostile_priors(states, steps, shared))
    places = prior.places
    mechanism = draw(st.sampled_from(MECHANISMS))
    most = 2 if isinstance(mechanism, pb.Raw) else 1
    where = st.lists(st.integers(0, places - 1), unique=True, max_size=min(places, most))
    sensors = draw(st.lists(where, min_size=steps, max_size=steps))
    return Hostile(prior, pb.Release(sensors, mechanism), draw(st.integers(0, steps - 1)))


def matrix_at(prior: pb.MarkovPrior, t: int) -> Floats:
    """The matrix from step t to the next."""
    return prior.transition if prior.homogeneous else prior.transition[t]


def exact_loss(case: Hostile, release: pb.Release | None = None, near: NDArray[np.bool_] | None = None) -> Fraction:
    """`Σ_y max_g Pr[at most s steps of g wrong, Y = y]`, by enumeration of traces, guesses and series, in fractions.

    Naming g is right at place x where `near[g, x]`, if that is given.
    """
    enough = (np.eye(case.prior.places, dtype=bool) if near is None else near).tolist()
    prior, release = case.prior, release or case.release
    steps, named = release.steps, np.flatnonzero(prior.guessable).tolist()
    chance: dict[tuple[int, ...], Fraction] = {}
    for states in product(range(prior.states), repeat=steps):
        p = Fraction(prior.initial[states[0]])
        for t in range(1, steps):
            p *= Fraction(matrix_at(prior, t - 1)[states[t - 1], states[t]])
        if p:
            trace = tuple(prior.place_of[list(states)].tolist())
            chance[trace] = chance.get(trace, Fraction(0)) + p
    tables = release.signals()
    assert tables is not None
    guesses = list(product(named, repeat=steps))

    def right_with(trace: tuple[int, ...]) -> list[int]:
        wrong = [sum(not enough[b][a] for a, b in zip(trace, g, strict=True)) for g in guesses]
        return [i for i, number in enumerate(wrong) if number <= case.misses]

    right = {trace: right_with(trace) for trace in chance}
    total = Fraction(0)
    for outcomes in product(*(range(len(table)) for table in tables)):
        won = [Fraction(0)] * len(guesses)
        for trace, p in chance.items():
            for t, o in enumerate(outcomes):
                step = release.sensors[t]
                p = p * Fraction(tables[t][o, 1 + step.index(trace[t]) if trace[t] in step else 0])
            if p:
                for i in right[trace]:
                    won[i] += p
        total += max(won)
    return total


def exact_success(prior: pb.MarkovPrior, guess: list[int], misses: int) -> Fraction:
    """The success of one guess without a release, by a recursion over place and number wrong, in fractions."""
    table = [[Fraction(0)] * prior.places for _ in range(misses + 1)]
    for x in range(prior.places):
        wrong = int(x != guess[0])
        if wrong <= misses:
            table[wrong][x] = Fraction(prior.initial[x])
    for t in range(1, len(guess)):
        moves = [[Fraction(p) for p in row] for row in matrix_at(prior, t - 1).tolist()]
        new = [[Fraction(0)] * prior.places for _ in range(misses + 1)]
        for r, row in enumerate(table):
            for x, p in enumerate(row):
                if p:
                    for y, move in enumerate(moves[x]):
                        wrong = r + (y != guess[t])
                        if move and wrong <= misses:
                            new[wrong][y] += p * move
        table = new
    return sum((p for row in table for p in row), Fraction(0))
