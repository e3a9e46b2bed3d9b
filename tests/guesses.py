"""Best guesses on small chains by trying all of them, for guesses that may name only some places."""

from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import passerby as pb
from passerby.kernels.chain import posterior
from passerby.kernels.search import ascent, best_first
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


def taken(
    start: Floats,
    moves: Floats,
    named: Floats,
    place_of: Ints | None = None,
    law: Floats | None = None,
    pinned: Ints | None = None,
) -> posterior.Chain:
    """A chain as kernels take it. Without `law` and `pinned` there is room for them, filled with nonsense."""
    states, steps = len(start), len(moves) + 1
    where = np.arange(states) if place_of is None else place_of
    used = (moves != 0).any(axis=0)
    low = np.where(used.any(axis=1), used.argmax(axis=1), 0)
    high = np.where(used.any(axis=1), states - used[:, ::-1].argmax(axis=1), 0)
    return posterior.Chain(
        start,
        moves,
        low,
        high,
        where,
        named,
        bool((where == np.arange(states)).all()),
        np.full((steps, states), np.nan) if law is None else law,
        np.full(steps, 99) if pinned is None else pinned,
        moves.transpose(0, 2, 1) if (where == np.arange(states)).all() else np.empty((0, states, states)),
    )


def surjection(rng: np.random.Generator, states: int, places: int) -> Ints:
    """A place for each state, none left out, in no order."""
    return rng.permutation(np.append(np.arange(places), rng.integers(0, places, states - places)))


class Chain:
    """A start `a` (M,), matrices `Q` (T-1, M, M), the places of its states (M,), and those that may be named (P,).

    With `pins`, the chain is given that it was at one place at each of these steps, as by a sighting; states that are
    ruled out lead nowhere. A chain that `stays` hardly moves after its second step: once told where the person is, one
    knows it for good. With `shared`, states share places; with `blocks`, some states are never left for the others;
    `faint` entries are 1e-12 and 1e-300.
    """

    def __init__(
        self,
        seed: int,
        states: int,
        steps: int,
        sparse: bool = False,
        mask: bool = False,
        pins: int = 0,
        stays: bool = False,
        shared: bool = False,
        blocks: bool = False,
        faint: bool = False,
    ):
        rng = np.random.default_rng(seed)
        self.states, self.steps = states, steps
        self.a = rows(rng, (states,), sparse)
        self.Q = rows(rng, (steps - 1, states, states), sparse)
        if stays:
            self.Q[1:] = 0.97 * np.eye(states) + 0.03 * self.Q[1:]
        if blocks:
            mode = np.arange(states) >= rng.integers(states)
            self.Q = _to_one(self.Q * (mode[:, None] == mode))
        if faint:
            self.a, self.Q = (
                _to_one(law * 10.0 ** -rng.choice([0, 0, 12, 300], law.shape)) for law in (self.a, self.Q)
            )
        self.places = int(rng.integers(1, states + 1)) if shared else states
        self.place_of = surjection(rng, states, self.places) if shared else np.arange(states)
        self.named = np.ones(self.places)
        if mask and self.places > 1:
            self.named[rng.integers(self.places)] = 0.0
        self.pinned = np.full(steps, -1)
        for t in rng.permutation(steps)[:pins]:
            self._pin(int(t), int(rng.choice(np.flatnonzero(self.named))))
        self.law = np.empty((steps, states))
        self.law[0] = self.a
        for t in range(1, steps):
            self.law[t] = self.law[t - 1] @ self.Q[t - 1]

    def _pin(self, step: int, place: int) -> None:
        """The chain given that it is at a place at a step, unless that can hardly be."""
        ahead, moves = (self.place_of == place) * 1.0, self.Q.copy()
        for t in range(step - 1, -1, -1):
            joint = moves[t] * ahead
            ahead = joint.sum(axis=1)
            moves[t] = joint / np.where(ahead > 0, ahead, 1.0)[:, None]
        if self.a @ ahead > 1e-200:
            self.a, self.Q = self.a * ahead / (self.a @ ahead), moves
            self.pinned[step] = place

    @property
    def taken(self) -> posterior.Chain:
        """The chain as kernels take it, as it is now."""
        return taken(self.a, self.Q, self.named, self.place_of, self.law, self.pinned)

    @property
    def unseen(self) -> posterior.Chain:
        """The same, before it was looked at."""
        return taken(self.a, self.Q, self.named, self.place_of)

    def paper(self, misses: int) -> Floats:
        """Paper for penalties."""
        return np.empty((2, self.steps * (misses + 2) * self.states**2))

    def room(self, needed: int, nodes: int) -> best_first.Room:
        """Scratch for a search."""
        paper = self.paper(self.steps - needed)
        found: best_first.Room = best_first.room_for(self.steps, self.states, self.places, needed, nodes, paper)
        return found

    def at(self, place: int) -> Floats:
        """1 for the states (M,) of a place, 0 for others."""
        return np.asarray(self.place_of == place, dtype=np.float64)

    def by_place(self, values: Floats) -> Floats:
        """Values of states (M,), added up over those of each place (P,)."""
        return np.array([values @ self.at(place) for place in range(self.places)])

    def traces(self, begin: int = 0) -> Ints:
        """All traces of states of the steps from `begin` on."""
        return np.array(list(product(range(self.states), repeat=self.steps - begin)), dtype=np.int64)

    def chances(self, start: Floats, begin: int = 0) -> Floats:
        """The probability of each of these traces, from a belief at step `begin`."""
        traces = self.traces(begin)
        chance = start[traces[:, 0]].copy()
        for i in range(1, traces.shape[1]):
            chance *= self.Q[begin + i - 1][traces[:, i - 1], traces[:, i]]
        return chance

    def success(self, guess: Ints, needed: int) -> float:
        """`Pr[at least needed steps of guess are right]`."""
        right = (self.place_of[self.traces()] == guess).sum(axis=1)
        return float(self.chances(self.a)[right >= needed].sum())

    def best(self, start: Floats, begin: int, k: int) -> float:
        """The best guess for the steps from `begin` on, from a belief there, when k of them must be right."""
        if begin == self.steps:
            return float(start.sum()) if k == 0 else 0.0
        return float(self.guesses(start, begin, k)[1].max())

    def guesses(self, start: Floats, begin: int, k: int) -> tuple[Ints, Floats]:
        """All guesses of places for the steps from `begin` on that may be made, and the success of each."""
        guesses = np.array(list(product(np.flatnonzero(self.named), repeat=self.steps - begin)), dtype=np.int64)
        right = (self.place_of[self.traces(begin)][:, None] == guesses[None]).sum(axis=2)
        return guesses, self.chances(start, begin) @ (right >= k)

    def likeliest(self, guess: Ints | None = None) -> float:
        """The probability of the likeliest trace of states that runs along a guess, or along any that may be made."""
        where = self.place_of[self.traces()]
        allowed = (self.named[where] > 0).all(axis=1) if guess is None else (where == guess).all(axis=1)
        return float(self.chances(self.a)[allowed].max())

    def exact(self, needed: int) -> Floats:
        """`V` (T, needed + 1, M) at its smallest: the best guess from each known state."""
        V = np.zeros((self.steps, needed + 1, self.states))
        V[:, 0] = 1.0
        for t in range(self.steps - 1):
            for k in range(1, needed + 1):
                for x in range(self.states):
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


def look(chain: Chain) -> posterior.Chain:
    """The chain with what `posterior.look` finds out about it."""
    seen = chain.unseen
    posterior.look(seen)
    return seen


def _to_one(law: Floats) -> Floats:
    """Divided by its sums along the last axis; where these are zero, nobody leaves."""
    empty = law.sum(axis=-1) == 0
    law = np.where(empty[..., None], np.eye(law.shape[-1]), law) if law.ndim > 1 else law
    return np.asarray(law / law.sum(axis=-1, keepdims=True))


@st.composite
def small_chains(draw: st.DrawFn, pins: int = 2) -> Chain:
    """Chains of up to 4 states and few enough steps to try all guesses."""
    states = draw(st.integers(1, 4), label="states")
    steps = draw(st.integers(2, {1: 5, 2: 6, 3: 4, 4: 4}[states]), label="steps")
    return Chain(
        draw(st.integers(0, 10**6), label="seed"),
        states,
        steps,
        draw(st.booleans(), label="zeros"),
        draw(st.booleans(), label="mask"),
        draw(st.integers(0, min(pins, steps - 1)), label="pins"),
        draw(st.sampled_from([False, False, True]), label="stays"),
        draw(st.booleans(), label="shared"),
        draw(st.sampled_from([False, False, True]), label="blocks"),
        draw(st.sampled_from([False, False, True]), label="faint"),
    )


def poorly(chain: posterior.Chain, guess: Ints, needed: int, after: Floats) -> float:
    """In place of `ascent.ascend`: the place that is named is one that is hardly ever right."""
    at = np.bincount(chain.place_of, weights=chain.start, minlength=len(chain.named))
    guess[:] = np.where(chain.named > 0, at, np.inf).argmin()
    return float(ascent.score(chain, guess, needed))
