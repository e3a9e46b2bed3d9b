"""The adversary's knowledge of the target's habits: a Markov chain over states with a place each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.support import checks
from passerby.support.checks import is_regular, numbers, whole
from passerby.support.numbers import logs

from .chains import frozen, given, joined, normalised, stationary_distribution
from .naming import Naming

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class MarkovPrior:
    """A Markov chain over `M` states: the target's start, and their moves.

    Shapes: `initial` (M,). `transition` is (M, M) for habits constant in time, or (T-1, M, M) with one matrix per step.
    Both are checked, copied and made read-only. Rows off by rounding (1e-6) are divided by their sum.

    A state is a place unless `place_of` (M,) gives one of `P` places for each. Then several states may share a place,
    and sensors and guesses see the place alone. `mode_of` (M,) is the constant part of each state along a trace (see
    `mixture`).

    `guessable` (P,) marks the places an adversary may name. In an audit it is False for a place standing for many at
    once, and for elsewhere. `universe` is the number of places before any such merging, and `merged_entropy` (P,) the
    entropy, in nats, of the place within each; they matter to reduced chains only. `elsewhere` is the place standing
    for everywhere else, if there is one: the constant attack does not name it.

    Source: Koga, Meehan and Chaudhuri (2024), section 3.1.

    >>> prior = MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])
    >>> prior.places, round(prior.spectral_gap, 3)
    (2, 0.3)
    """

    initial: Floats
    transition: Floats
    place_of: Ints = field(kw_only=True)
    mode_of: Ints = field(kw_only=True)
    guessable: NDArray[np.bool_] = field(kw_only=True)
    universe: int = field(kw_only=True)
    merged_entropy: Floats = field(kw_only=True)
    elsewhere: int | None = field(kw_only=True)
    #: The names of a guess, if they are not places: they come from a question, never from the habits.
    naming: Naming | None = field(init=False)

    def __init__(
        self,
        initial: ArrayLike,
        transition: ArrayLike,
        *,
        place_of: ArrayLike | None = None,
        mode_of: ArrayLike | None = None,
        guessable: ArrayLike | None = None,
        universe: int | None = None,
        merged_entropy: ArrayLike | None = None,
        elsewhere: int | None = None,
    ) -> None:
        start = numbers(initial, "initial")
        moves = numbers(transition, "transition")
        if start.ndim != 1 or start.size == 0:
            raise InputError(f"initial: expected one probability per place, a shape (M,), got {start.shape}")
        m = start.size
        if moves.ndim not in (2, 3) or moves.shape[-2:] != (m, m):
            raise InputError(
                f"transition: expected a shape ({m}, {m}), or (T-1, {m}, {m}) for a matrix per step, "
                f"to go with the {m} places of initial; got {moves.shape}"
            )
        where = np.arange(m) if place_of is None else _labels(place_of, "place_of", m)
        mode = np.zeros(m, np.int64) if mode_of is None else _labels(mode_of, "mode_of", m)
        if mode_of is not None and ((mode[:, None] != mode) & (moves > 0)).any():
            raise InputError("mode_of: a move changes the mode, but a mode holds for all steps")
        p = int(where.max()) + 1
        named = np.ones(p, bool) if guessable is None else np.asarray(numbers(guessable, "guessable"), dtype=bool)
        hidden = np.zeros(p) if merged_entropy is None else numbers(merged_entropy, "merged_entropy")
        if named.shape != (p,) or hidden.shape != (p,) or not named.any():
            raise InputError(f"guessable and merged_entropy: expected a shape ({p},), with a place to guess")
        if not ((hidden >= 0) & np.isfinite(hidden)).all():
            raise InputError("merged_entropy: an entropy is a finite number of at least 0, in nats")
        if universe is not None:
            whole(universe, "universe", p)
        if elsewhere is not None:
            whole(elsewhere, "elsewhere", 0, p - 1)
        self._hold(
            initial=normalised(start, "initial"),
            transition=normalised(moves, "transition"),
            place_of=where,
            mode_of=mode,
            guessable=named,
            universe=p if universe is None else int(universe),
            merged_entropy=hidden,
            elsewhere=None if elsewhere is None else int(elsewhere),
            naming=None,
        )

    def _hold(self, **values: Any) -> None:
        """Set the fields, once."""
        for name, value in values.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)

    @classmethod
    def stationary(cls, transition: ArrayLike) -> MarkovPrior:
        """The chain started in its stationary distribution, as the paper takes it.

        Periodic chains and chains with transient places are fine. If there is more than one stationary distribution, an
        `InputError` names the places of separate classes.

        >>> MarkovPrior.stationary([[0, 1], [1, 0]]).initial
        array([0.5, 0.5])
        """
        moves = numbers(transition, "transition")
        if moves.ndim != 2 or moves.shape[0] != moves.shape[1] or moves.size == 0:
            raise InputError(f"transition: a stationary start needs one matrix (M, M), got {moves.shape}")
        moves = normalised(moves, "transition")
        return cls(stationary_distribution(moves), moves)

    @classmethod
    def mixture(cls, weights: ArrayLike, priors: Sequence[MarkovPrior]) -> MarkovPrior:
        """The habits of somebody keeping to one of several chains, each with a probability: states are (mode, place).

        The chains are over the same places, with the same nameable ones. Unreachable states are left out.

        >>> home, away = MarkovPrior([1, 0], np.eye(2)), MarkovPrior([0, 1], np.eye(2))
        >>> MarkovPrior.mixture([0.7, 0.3], [home, away])
        MarkovPrior(places=2, states=2 in 2 modes, one matrix)
        """
        found = joined(cls, weights, priors)
        return priors[0].with_states(*found)

    @classmethod
    def known(
        cls,
        initial: Floats,
        transition: Floats,
        *,
        guessable: NDArray[np.bool_],
        universe: int,
        merged_entropy: Floats,
        elsewhere: int | None,
        place_of: Ints | None = None,
        mode_of: Ints | None = None,
        naming: Naming | None = None,
    ) -> MarkovPrior:
        """A chain of fresh arrays known to be valid: in an audit, checking them takes its time."""
        out = object.__new__(cls)
        out._hold(
            initial=initial,
            transition=transition,
            place_of=np.arange(initial.size) if place_of is None else place_of,
            mode_of=np.zeros(initial.size, np.int64) if mode_of is None else mode_of,
            guessable=guessable,
            universe=universe,
            merged_entropy=merged_entropy,
            elsewhere=elsewhere,
            naming=naming,
        )
        return out

    def with_states(
        self, initial: Floats, transition: Floats, place_of: Ints | None = None, mode_of: Ints | None = None
    ) -> MarkovPrior:
        """Another chain over the same places, of fresh arrays known to be valid."""
        return self.known(
            initial,
            transition,
            place_of=place_of,
            mode_of=mode_of,
            guessable=self.guessable.copy(),
            universe=self.universe,
            merged_entropy=self.merged_entropy.copy(),
            elsewhere=self.elsewhere,
            naming=self.naming,
        )

    def guessed_as(self, naming: Naming | None) -> MarkovPrior:
        """The same habits, with other names than places for guesses."""
        if naming is None:
            return self
        out = self.with_states(self.initial, self.transition, self.place_of, self.mode_of)
        object.__setattr__(out, "naming", naming)
        return out

    @property
    def states(self) -> int:
        """The number of states of the chain, `M`."""
        return int(self.initial.size)

    @property
    def places(self) -> int:
        """The number of places, `P`: as many as states, unless several states share a place."""
        return int(self.guessable.size)

    @cached_property
    def single(self) -> bool:
        """Whether a state is a place: to see the place is then to know everything relevant to later steps."""
        return self.places == self.states and bool((self.place_of == np.arange(self.states)).all())

    @cached_property
    def modes(self) -> int:
        """The number of modes."""
        return int(self.mode_of.max()) + 1

    @cached_property
    def homogeneous(self) -> bool:
        """Whether one matrix serves every step."""
        return self.transition.ndim == 2

    @cached_property
    def matrices(self) -> Floats:
        """The matrices as (K, M, M): K = 1 for a homogeneous chain, else one per step."""
        return self.transition[None] if self.homogeneous else self.transition

    def matrix(self, t: int) -> Floats:
        """The matrix (M, M) from step t to the next, from 0 on."""
        return self.transition if self.homogeneous else self.transition[t]

    @cached_property
    def starts_stationary(self) -> bool:
        """Whether every step has the same distribution (a homogeneous chain started at equilibrium).

        Place by place and but for rounding: a place reached by a slow leak only is not at equilibrium.
        """
        rounding = 4 * (8 + self.states) * np.finfo(np.float64).eps
        return self.homogeneous and bool(
            (np.abs(self.initial @ self.transition - self.initial) <= rounding * self.initial).all()
        )

    @cached_property
    def named(self) -> Floats:
        """1 for each guessable place (P,), and 0 for the others, in the form of kernels."""
        return frozen(self.guessable.astype(np.float64))

    @cached_property
    def nameable(self) -> Floats:
        """1 for each name (G,) usable in a guess, and 0 for others: places, unless a question says else."""
        return self.named if self.naming is None else self.naming.usable_as_numbers

    @cached_property
    def name_of(self) -> Ints:
        """The name (M,) for a guess of each state: its place, unless a question says else."""
        return self.place_of if self.naming is None else self.naming.name_of[self.place_of]

    @cached_property
    def balls(self) -> Ints:
        """The states in the ball of each name g, `balls[balls[g]:balls[g + 1]]`: they follow the list of beginnings.

        Kernels take them if names overlap (`kernels.search.near`).
        """
        assert self.naming is not None, "a guess names places"
        names, states = np.nonzero(self.naming.right[:, self.place_of])
        count = len(self.naming.right) + 1
        begin = count + np.searchsorted(names, np.arange(count))
        return frozen(np.concatenate([begin, states]).astype(np.int64))

    @property
    def overlapping(self) -> bool:
        """Whether several names may be right at one place, so kernels need `balls`."""
        return self.naming is not None and not self.naming.apart

    def as_names(self, places: Ints) -> Ints:
        """Guesses of places, as their names."""
        return places if self.naming is None else np.asarray(self.naming.name_of[places])

    def wrong(self, guesses: Ints, traces: Ints) -> Ints:
        """How many steps of guesses (..., T) are wrong for traces (n, T) of places."""
        each = traces != guesses if self.naming is None else self.naming.wrong(guesses, traces)
        return np.asarray(each.sum(axis=-1))

    @cached_property
    def named_logs(self) -> tuple[Floats, Floats]:
        """Logarithms of `initial` and of `matrices`, minus infinity towards places never guessed."""
        named = np.where(self.guessable, 0.0, -np.inf)[self.place_of]
        with np.errstate(divide="ignore"):
            return np.log(self.initial) + named, np.log(self.matrices) + named

    def log_moves(self, steps: int) -> list[Floats]:
        """Logarithms of the matrix from each of so many steps to the next."""
        every, steps = logs(self.matrices), checks.steps(steps)
        return [every[0 if self.homogeneous else t] for t in range(steps - 1)]

    @cached_property
    def spectral_gap(self) -> float:
        """One minus the second largest modulus of an eigenvalue: 0 never mixes, 1 forgets its past at once."""
        if not self.homogeneous:
            raise InputError("spectral_gap: defined for one transition matrix, but this prior has one per step")
        moduli = np.sort(np.abs(np.linalg.eigvals(self.transition)))[::-1]
        return float(1 - min(moduli[1], 1.0)) if self.states > 1 else 1.0

    def check_steps(self, steps: int) -> int:
        """`steps`, if the chain can be run for so many; an `InputError` otherwise."""
        steps = checks.steps(steps)
        if not self.homogeneous and self.transition.shape[0] != steps - 1:
            raise InputError(
                f"transition: {steps} steps need {steps - 1} matrices (one from each step to the next), "
                f"but this prior has {self.transition.shape[0]}"
            )
        return steps

    def marginals(self, steps: int) -> Floats:
        """`Pr[X_t = x]` for each step and place, shape (T, P)."""
        self.check_steps(steps)
        return state_laws(self, steps) if self.single else place_laws(self, steps)

    def by_place(self, values: Floats) -> Floats:
        """Values of states (..., M), added up over the states of each place (..., P)."""
        return np.asarray(values @ self._at_place)

    @cached_property
    def _at_place(self) -> Floats:
        """1 for the place of a state, and 0 elsewhere (M, P)."""
        return frozen((self.place_of[:, None] == np.arange(self.places)).astype(np.float64))

    def sample(self, size: int, steps: int, rng: np.random.Generator) -> Ints:
        """Draw `size` traces, shape (size, T)."""
        from passerby.kernels.chain import recursions

        shape = whole(size, "size", 0, checks.MOST_DRAWS), self.check_steps(steps)
        uniform = checks.generator(rng).random(shape)
        return np.asarray(self.place_of[recursions.draw(self.initial, self.matrices, uniform)])

    def given(self, sightings: Mapping[int, int], steps: int) -> MarkovPrior:
        """The habits of somebody known to have been at a place at some of `steps` steps, `{step: place}`.

        >>> MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]).given({1: 1}, steps=2).initial.round(3)
        array([0.111, 0.889])
        """
        moves = self.log_moves(self.check_steps(steps))
        found = given(self.initial, moves, self.place_of, self.places, sightings)
        return self.with_states(*found, self.place_of.copy(), self.mode_of.copy())

    def __repr__(self) -> str:
        habit = "one matrix" if self.homogeneous else f"{self.transition.shape[0]} matrices, one per step"
        modes = f" in {self.modes} modes" if self.modes > 1 else ""
        states = "" if self.single and not modes else f", states={self.states}{modes}"
        return f"MarkovPrior(places={self.places}{states}, {habit})"


def check_prior(prior: object) -> None:
    """Refuse anything but a prior."""
    if not isinstance(prior, MarkovPrior):
        raise InputError(f"prior: expected a MarkovPrior, got {checks.shown(prior)}")


@lru_cache(maxsize=8)
def state_laws(prior: MarkovPrior, steps: int) -> Floats:
    """`Pr[Z_t = z]` for each step and state, shape (T, M). Remembered for the chains of the moment."""
    out = np.empty((steps, prior.states))
    out[0] = prior.initial
    for t in range(1, steps):
        np.matmul(out[t - 1], prior.matrix(t - 1), out=out[t])
    return np.asarray(frozen(out))


@lru_cache(maxsize=8)
def place_laws(prior: MarkovPrior, steps: int) -> Floats:
    """`Pr[X_t = x]` for each step and place, shape (T, P), if several states share a place. Remembered likewise."""
    return np.asarray(frozen(prior.by_place(state_laws(prior, steps))))


def _labels(values: ArrayLike, name: str, m: int) -> Ints:
    """A whole number from 0 on for each state, none left out."""
    array = np.asarray(values) if is_regular(values) else np.empty(0)
    if array.shape != (m,) or not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name}: expected a whole number for each of the {m} states, a shape ({m},)")
    if array.min() < 0 or len(np.unique(array)) != array.max() + 1:
        raise InputError(f"{name}: expected the numbers from 0 on, each used at least once, got {array.tolist()[:8]}")
    return array.astype(np.int64)
