"""Best guesses on small chains by trying all of them, for guesses that may name only some places."""

from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import passerby as pb
from passerby.kernels import ascent
from tests.oracle import World
from tests.strategies import Case, cases, rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def successes(world: World, channel: Floats, misses: int, guessable: NDArray[np.bool_]) -> Floats:
    """For each series (n,), the largest probability of "this series, and at most `misses` steps wrong"."""
    allowed = guessable[world.traces].all(axis=1)
    won = (channel * world.chance) @ (world.distance <= misses)
    return np.asarray(won[:, allowed].max(axis=1))


def optimum(case: Case, channel: Floats, world: World) -> float:
    """The loss of a case, with its `guessable` places."""
    return float(successes(world, channel, case.misses, case.prior.guessable).sum())


def kappa(case: Case, world: World) -> float:
    """The baseline of a case, with its `guessable` places."""
    return optimum(case, np.ones((1, len(world.traces))), world)


@st.composite
def masked_cases(draw: st.DrawFn, mechanisms: tuple[pb.Mechanism, ...] = (pb.Raw(),)) -> Case:
    """A case in which some places, at times, may not be guessed."""
    case = draw(cases(mechanisms=mechanisms))
    named = draw(st.lists(st.booleans(), min_size=case.prior.places, max_size=case.prior.places), label="guessable")
    if draw(st.booleans(), label="all guessable") or not any(named):
        named = [True] * case.prior.places
    prior = pb.MarkovPrior(case.prior.initial, case.prior.transition, guessable=named)
    return Case(prior, case.release, case.misses)


class Chain:
    """A start `a` (M,), matrices `Q` (T-1, M, M), places that may be named (M,), and steps that are known for certain.

    With `pins`, the chain is forced through one place at each of these steps, as by a sighting. A chain that `stays`
    hardly moves after its second step: once told where the person is, one knows it for good.
    """

    def __init__(
        self,
        seed: int,
        places: int,
        steps: int,
        sparse: bool = False,
        mask: bool = False,
        pins: int = 0,
        stays: bool = False,
    ):
        rng = np.random.default_rng(seed)
        self.places, self.steps = places, steps
        self.a = rows(rng, (places,), sparse)
        self.Q = rows(rng, (steps - 1, places, places), sparse)
        if stays:
            self.Q[1:] = 0.97 * np.eye(places) + 0.03 * self.Q[1:]
        self.named = np.ones(places)
        if mask and places > 1:
            self.named[rng.integers(places)] = 0.0
        self.pinned = np.full(steps, -1)
        for t in rng.permutation(steps)[:pins]:
            place = int(rng.choice(np.flatnonzero(self.named)))
            self.pinned[t] = place
            if t:
                self.Q[t - 1] = np.eye(places)[place]
            else:
                self.a = np.eye(places)[place]
        self.law = np.empty((steps, places))
        self.law[0] = self.a
        for t in range(1, steps):
            self.law[t] = self.law[t - 1] @ self.Q[t - 1]

    def traces(self, begin: int = 0) -> Ints:
        """All traces of the steps from `begin` on."""
        return np.array(list(product(range(self.places), repeat=self.steps - begin)), dtype=np.int64)

    def chances(self, start: Floats, begin: int = 0) -> Floats:
        """The probability of each of these traces, from a belief at step `begin`."""
        traces = self.traces(begin)
        chance = start[traces[:, 0]].copy()
        for i in range(1, traces.shape[1]):
            chance *= self.Q[begin + i - 1][traces[:, i - 1], traces[:, i]]
        return chance

    def success(self, guess: Ints, needed: int) -> float:
        """`Pr[at least needed steps of guess are right]`."""
        return float(self.chances(self.a)[(self.traces() == guess).sum(axis=1) >= needed].sum())

    def best(self, start: Floats, begin: int, k: int) -> float:
        """The best guess for the steps from `begin` on, from a belief there, when k of them must be right."""
        if begin == self.steps:
            return float(start.sum()) if k == 0 else 0.0
        return float(self.guesses(start, begin, k)[1].max())

    def guesses(self, start: Floats, begin: int, k: int) -> tuple[Ints, Floats]:
        """All guesses for the steps from `begin` on that may be made, and the success of each."""
        traces = self.traces(begin)
        right = (traces[:, None] == traces[None]).sum(axis=2)
        allowed = (self.named[traces] > 0).all(axis=1)
        return traces[allowed], (self.chances(start, begin) @ (right >= k))[allowed]

    def exact(self, needed: int) -> Floats:
        """`V` (T, needed + 1, M) at its smallest: the best guess from each known state."""
        V = np.zeros((self.steps, needed + 1, self.places))
        V[:, 0] = 1.0
        for t in range(self.steps - 1):
            for k in range(1, needed + 1):
                for x in range(self.places):
                    V[t, k, x] = self.best(self.Q[t, x], t + 1, k)
        return V

    def loosened(self, needed: int, seed: int) -> Floats:
        """The same, raised at random where it can be reached: any such table is a valid ceiling."""
        V = self.exact(needed)
        slack = np.random.default_rng(seed).random(V.shape) * 0.2
        slack[:, 0] = 0.0
        for t in range(self.steps):
            slack[t, self.steps - t :] = 0.0  # more right steps than there are left
        return np.asarray(np.minimum(V + slack, 1.0))


@st.composite
def small_chains(draw: st.DrawFn, pins: int = 2) -> Chain:
    """Chains of up to 4 places and few enough steps to try all guesses."""
    places = draw(st.integers(1, 4), label="places")
    steps = draw(st.integers(2, {1: 5, 2: 6, 3: 4, 4: 4}[places]), label="steps")
    return Chain(
        draw(st.integers(0, 10**6), label="seed"),
        places,
        steps,
        draw(st.booleans(), label="zeros"),
        draw(st.booleans(), label="mask"),
        draw(st.integers(0, min(pins, steps - 1)), label="pins"),
        draw(st.sampled_from([False, False, True]), label="stays"),
    )


def poorly(a: Floats, Q: Floats, named: Floats, guess: Ints, needed: int, after: Floats) -> float:
    """In place of `ascent.ascend`: the place that is named is one that is hardly ever right."""
    guess[:] = np.where(named > 0, a, np.inf).argmin()
    return float(ascent.score(a, Q, guess, needed))
