"""What the adversary knows of the target's habits: a Markov chain over places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.support.checks import whole

Floats = NDArray[np.float64]

#: Rows whose sum is further from one than this are refused; closer ones are divided by their sum.
ROW_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class MarkovPrior:
    """A Markov chain over `M` places: where the target starts, and where they go next.

    Shapes: `initial` (M,); `transition` (M, M) for habits that do not change with time, or (T-1, M, M) with one
    matrix per step. Both are checked, copied and made read-only. Rows that miss one by rounding (1e-6) are
    divided by their sum.

    `guessable` (M,) says which places an adversary may name; in an audit it is False for states that stand for many
    places at once, and for elsewhere. `universe` is the number of places before any such merging, and `merged_entropy`
    (M,) the entropy, in nats, of the place within each state; they matter to reduced chains only. `elsewhere` is the
    place that stands for everywhere else, if there is one: the constant attack does not name it.

    Source: Koga, Meehan and Chaudhuri (2024), section 3.1.

    >>> prior = MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])
    >>> prior.places, round(prior.spectral_gap, 3)
    (2, 0.3)
    """

    initial: Floats
    transition: Floats
    guessable: NDArray[np.bool_] = field(kw_only=True)
    universe: int = field(kw_only=True)
    merged_entropy: Floats = field(kw_only=True)
    elsewhere: int | None = field(kw_only=True)

    def __init__(
        self,
        initial: ArrayLike,
        transition: ArrayLike,
        *,
        guessable: ArrayLike | None = None,
        universe: int | None = None,
        merged_entropy: ArrayLike | None = None,
        elsewhere: int | None = None,
    ) -> None:
        start = _numbers(initial, "initial")
        moves = _numbers(transition, "transition")
        if start.ndim != 1 or start.size == 0:
            raise InputError(f"initial: expected one probability per place, a shape (M,), got {start.shape}")
        m = start.size
        if moves.ndim not in (2, 3) or moves.shape[-2:] != (m, m):
            raise InputError(
                f"transition: expected a shape ({m}, {m}), or (T-1, {m}, {m}) for a matrix per step, "
                f"to go with the {m} places of initial; got {moves.shape}"
            )
        named = np.ones(m, bool) if guessable is None else np.asarray(_numbers(guessable, "guessable"), dtype=bool)
        hidden = np.zeros(m) if merged_entropy is None else _numbers(merged_entropy, "merged_entropy")
        if named.shape != (m,) or hidden.shape != (m,) or not named.any():
            raise InputError(f"guessable and merged_entropy: expected a shape ({m},), with a place to guess")
        if not ((hidden >= 0) & np.isfinite(hidden)).all():
            raise InputError("merged_entropy: an entropy is a finite number of at least 0, in nats")
        if universe is not None:
            whole(universe, "universe", m)
        if elsewhere is not None:
            whole(elsewhere, "elsewhere", 0, m - 1)
        object.__setattr__(self, "initial", _frozen(_normalised(start, "initial")))
        object.__setattr__(self, "transition", _frozen(_normalised(moves, "transition")))
        object.__setattr__(self, "guessable", _frozen(named))
        object.__setattr__(self, "universe", m if universe is None else int(universe))
        object.__setattr__(self, "merged_entropy", _frozen(hidden))
        object.__setattr__(self, "elsewhere", None if elsewhere is None else int(elsewhere))

    @classmethod
    def stationary(cls, transition: ArrayLike) -> MarkovPrior:
        """The chain started in its stationary distribution, as the paper takes it.

        Periodic chains and chains with transient places are fine. Where there is more than one stationary
        distribution, an `InputError` says which places form separate classes.

        >>> MarkovPrior.stationary([[0, 1], [1, 0]]).initial
        array([0.5, 0.5])
        """
        moves = _numbers(transition, "transition")
        if moves.ndim != 2 or moves.shape[0] != moves.shape[1] or moves.size == 0:
            raise InputError(f"transition: a stationary start needs one matrix (M, M), got {moves.shape}")
        moves = _normalised(moves, "transition")
        return cls(stationary_distribution(moves), moves)

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
    ) -> MarkovPrior:
        """A chain of fresh arrays that are known to be valid: in an audit, checking them takes its time."""
        out = object.__new__(cls)
        for name, array in (
            ("initial", initial),
            ("transition", transition),
            ("guessable", guessable),
            ("merged_entropy", merged_entropy),
        ):
            object.__setattr__(out, name, _frozen(array))
        object.__setattr__(out, "universe", universe)
        object.__setattr__(out, "elsewhere", elsewhere)
        return out

    @property
    def places(self) -> int:
        """The number of places (states) of the chain, `M`."""
        return int(self.initial.size)

    @property
    def homogeneous(self) -> bool:
        """Whether one matrix serves every step."""
        return self.transition.ndim == 2

    @property
    def matrices(self) -> Floats:
        """The matrices as (K, M, M): K = 1 for a homogeneous chain, else one per step."""
        return self.transition[None] if self.homogeneous else self.transition

    @cached_property
    def starts_stationary(self) -> bool:
        """Whether every step has the same distribution (a homogeneous chain started at equilibrium).

        Place by place and but for rounding: one that is reached by a slow leak only is not at equilibrium.
        """
        rounding = 4 * (8 + self.places) * np.finfo(np.float64).eps
        return self.homogeneous and bool(
            (np.abs(self.initial @ self.transition - self.initial) <= rounding * self.initial).all()
        )

    @cached_property
    def named_logs(self) -> tuple[Floats, Floats]:
        """Logarithms of `initial` and of `matrices`, minus infinity towards places that are never guessed."""
        named = np.where(self.guessable, 0.0, -np.inf)
        with np.errstate(divide="ignore"):
            return np.log(self.initial) + named, np.log(self.matrices) + named

    @cached_property
    def spectral_gap(self) -> float:
        """One minus the second largest modulus of an eigenvalue: 0 never mixes, 1 forgets at once where it was."""
        if not self.homogeneous:
            raise InputError("spectral_gap: defined for one transition matrix, but this prior has one per step")
        moduli = np.sort(np.abs(np.linalg.eigvals(self.transition)))[::-1]
        return float(1 - min(moduli[1], 1.0)) if self.places > 1 else 1.0

    def check_steps(self, steps: int) -> int:
        """`steps`, if the chain can be run for that many; an `InputError` otherwise."""
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"steps: expected a whole number of at least 1, got {steps!r}")
        if not self.homogeneous and self.transition.shape[0] != steps - 1:
            raise InputError(
                f"transition: {steps} steps need {steps - 1} matrices (one from each step to the next), "
                f"but this prior has {self.transition.shape[0]}"
            )
        return int(steps)

    def marginals(self, steps: int) -> Floats:
        """`Pr[X_t = x]` for each step and place, shape (T, M)."""
        known: Floats | None = self.__dict__.get("_marginals")
        if known is None or len(known) != steps:
            known = np.empty((self.check_steps(steps), self.places))
            known[0] = self.initial
            for t in range(1, steps):
                known[t] = known[t - 1] @ self.matrices[0 if self.homogeneous else t - 1]
            self.__dict__["_marginals"] = _frozen(known)
        return known

    def sample(self, size: int, steps: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `size` traces, shape (size, T)."""
        from passerby.kernels import chain

        uniform = rng.random((size, self.check_steps(steps)))
        return np.asarray(chain.draw(self.initial, self.matrices, uniform))

    def __repr__(self) -> str:
        habit = "one matrix" if self.homogeneous else f"{self.transition.shape[0]} matrices, one per step"
        return f"MarkovPrior(places={self.places}, {habit})"


def line_prior(places: int = 100, tau: float = 0.1) -> MarkovPrior:
    """The paper's simulated chain: places on a line, near moves likelier than far ones.

    `P(x, y) ∝ exp(-|x - y| / (tau M))`, started at equilibrium; the larger `tau`, the more independent the
    steps. Koga, Meehan and Chaudhuri (2024), section 4.1.

    >>> line_prior(places=3, tau=1.0).transition.round(3)
    array([[0.448, 0.321, 0.23 ],
           [0.294, 0.411, 0.294],
           [0.23 , 0.321, 0.448]])
    """
    if isinstance(places, bool) or not isinstance(places, (int, np.integer)) or places < 1:
        raise InputError(f"places: expected a whole number of at least 1, got {places!r}")
    if not 0 < tau < np.inf:
        raise InputError(f"tau: expected a finite number above 0, got {tau!r}")
    where = np.arange(places)
    weight = np.exp(-np.abs(where[:, None] - where) / (tau * places))
    # The weights are symmetric, so the row sums are proportional to the stationary distribution.
    total = weight.sum(axis=1)
    return MarkovPrior(total / total.sum(), weight / total[:, None])


def stationary_distribution(transition: Floats) -> Floats:
    """The one distribution that `transition` leaves unchanged, shape (M,)."""
    from scipy.sparse.csgraph import connected_components

    from passerby.kernels import chain

    count, label = connected_components(transition > 0, directed=True, connection="strong")
    leaks = np.zeros(count, dtype=bool)
    source, target = np.nonzero(transition > 0)
    leaks[label[source[label[source] != label[target]]]] = True
    closed = sorted((np.flatnonzero(label == c) for c in np.flatnonzero(~leaks)), key=lambda group: int(group[0]))
    if len(closed) > 1:
        raise InputError(
            f"transition: the stationary distribution is not unique, because {len(closed)} groups of places are never "
            f"left once entered: {', '.join(_listed(group) for group in closed[:4])}"
            f"{' and more' if len(closed) > 4 else ''}; give the initial distribution yourself"
        )
    out = np.zeros(transition.shape[0])
    out[closed[0]] = chain.stationary(np.ascontiguousarray(transition[np.ix_(closed[0], closed[0])]))
    return out


def _listed(places: Sequence[int] | NDArray[np.int64]) -> str:
    shown = ", ".join(str(int(p)) for p in places[:6])
    return "{" + shown + (", ..." if len(places) > 6 else "") + "}"


def _numbers(values: ArrayLike, name: str) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected numbers in a regular array ({error})") from None


def _normalised(values: Floats, name: str) -> Floats:
    for fault, mask in (
        ("is not a number", np.isnan(values)),
        ("is negative", values < 0),
        ("is infinite", values == np.inf),
    ):
        if mask.any():
            where = tuple(int(i) for i in np.argwhere(mask)[0])
            raise InputError(
                f"{name}[{', '.join(map(str, where))}] = {values[where]!r} {fault}; probabilities are needed"
            )
    total = values.sum(axis=-1, keepdims=True)
    off = np.abs(total[..., 0] - 1) > ROW_SUM_TOLERANCE
    if off.any():
        where = tuple(int(i) for i in np.argwhere(off)[0]) if off.ndim else ()
        row = f"[{', '.join(map(str, where))}]" if where else ""
        raise InputError(
            f"{name}{row} sums to {total[..., 0][where]:.9g}, not 1"
            + (f" ({off.sum()} such rows in all)" if off.sum() > 1 else "")
            + "; divide each row by its sum, or check for a missing place"
        )
    return np.asarray(values / total)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
