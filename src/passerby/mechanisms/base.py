"""The interface of a mechanism: the law of the published value given the true count.

Everything downstream (attacks, posterior chains, bounds, enumeration) uses only the methods of `Mechanism`. So a new
mechanism needs nothing else. `Discrete` works all of them out from a table of values and probabilities.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease
from passerby.support.checks import numbers, shown

from .checks import MOST_NOISE, guard
from .laws import COUNTS, HIDDEN, MOST_VALUES, REALS, SUMS, Domain, Floats, Law, Rule, mixture_information, trimmed

#: Bins across the reach of noise, and a quarter as many again between the outermost centres.
BINS = 256


class Mechanism(ABC):
    """The law of the published value given the true count.

    Counts and outputs are arrays of any (broadcastable) shape; outputs are floats, NaN for a cell left empty.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Methods check their arguments, also in classes written by others."""
        super().__init_subclass__(**more)
        guard(cls)

    #: Makes one mechanism of two; `composition` says how.
    _then: ClassVar[Callable[[Mechanism, Mechanism], Mechanism]]

    @property
    def takes(self) -> Domain:
        """The domain of the mechanism: counts, unless it says otherwise."""
        return COUNTS

    def gives(self, taken: Domain) -> Domain:
        """The numbers it can publish if it is applied to a domain."""
        return REALS

    @property
    def shift_invariant(self) -> bool:
        """Whether the law of "published minus count" is the same at every count.

        The number of other people then does not matter to an adversary knowing them.
        """
        return False

    def like(self, count: int) -> int:
        """The number of others at which the two laws tell just as much: none, if all numbers are alike."""
        return 0 if self.shift_invariant else count

    @property
    def persistent(self) -> bool:
        """Whether the random part of a cell is drawn once and used again each time the cell is published."""
        return False

    @property
    def hides(self) -> bool:
        """Whether it may leave a cell empty. Without a statement, it may."""
        return not self.shift_invariant

    def __or__(self, second: Mechanism) -> Mechanism:
        """The second mechanism after this one: `Scaled(5) | Suppression(5)` is `Then(Scaled(5), Suppression(5))`."""
        return Mechanism._then(self, second) if isinstance(second, Mechanism) else NotImplemented

    @abstractmethod
    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw the published value for each count."""

    @abstractmethod
    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Log probability (or log density) of publishing `output` when the true count is `count`."""

    def log_ratio(self, output: ArrayLike, count: int) -> Floats:
        """How much likelier `output` is with one more than `count`, as a logarithm."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.log_likelihood(output, count + 1) - self.log_likelihood(output, count))

    def outputs(self, count: int) -> Floats | None:
        """All possible values at `count` or `count + 1`; None if there is a continuum."""
        return None

    @property
    def endless(self) -> bool:
        """Whether laws have no end, so lists of possible values are cut."""
        return False

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """Log probability of publishing a value from `low` to below `high`.

        A fixed mechanism after a continuum needs it.
        """
        raise UnsupportedRelease(
            f"{self!r} does not say how likely a value lies between two numbers, which is what must be known of a "
            "continuum that something is done to; write its log_between(low, high, count)"
        )

    def extent(self, count: float, log_tail: float) -> tuple[float, float]:
        """Limits with at most `exp(log_tail)` of a continuum beyond each of them."""
        ends = []
        for sign in (-1, 1):
            away = 1.0
            while away < MOST_NOISE**2 and self._log_beyond(count + sign * away, sign, count) > log_tail:
                away *= 2
            ends.append(count + sign * away)
        return ends[0], ends[1]

    def _log_beyond(self, end: float, sign: int, count: float) -> float:
        low, high = (-math.inf, end) if sign < 0 else (end, math.inf)
        return float(self.log_between(low, high, count))

    def unfolded(self) -> Mechanism:
        """The same as a mechanism to put others after: plain noise and the rules after it, for example."""
        return self

    def followed_by(self, second: Mechanism) -> Mechanism | None:
        """The two together, if this one knows a better way than the general one."""
        return None

    def preimage(self, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
        """Intervals holding all numbers that may become a value from `low` to below `high`."""
        return [(np.full(np.shape(low), -np.inf), np.full(np.shape(low), np.inf))]

    def listing(self, count: float, log_tail: float) -> Law:
        """The law at `count` in logarithms, with at most `exp(log_tail)` left out on either side."""
        values, chances = table(self, count)
        return values, np.log(chances)

    def complete(self, count: float, log_tail: float) -> bool:
        """Whether such a list leaves nothing out."""
        return not self.endless

    def around(self, centres: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Nodes and weights of a numerical integration over the densities at all of the counts `centres`.

        No node stands for both sides of one of the `cuts`. Values with a probability of their own are nodes of weight
        one.
        """
        raise UnsupportedRelease(
            f"{self!r}: a mechanism with a continuum of outputs must say its own total variation and information, "
            "or the nodes to work them out with: write its around(centres, cuts)"
        )

    def crossing(self, centres: Floats, weights: Floats) -> Floats:
        """The crossings of the densities of two mixtures of counts, if known; weights are (2, centres)."""
        return np.empty(0)

    def mixed(self, origin: float, centres: Floats, weights: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Nodes (n,) of an integration, and weighted densities there (n, mixtures) of mixtures of counts.

        The counts are `origin + centres`, their weights (mixtures, centres). Nodes and cuts are relative to the origin,
        so they keep their digits for large counts.
        """
        nodes, lengths = self.around(origin + centres, origin + cuts)
        logs = self.log_likelihood(nodes[:, None], origin + centres)
        return nodes - origin, lengths[:, None] * (np.exp(logs) @ weights.T)

    def bins(
        self, centres: Floats, weights: Floats, steps: Sequence[Rule] = (), bins: int = BINS
    ) -> tuple[Floats, Floats] | None:
        """Stand-ins for two mixtures of counts, followed by rules, of so many bins; None if the line cannot be cut."""
        return None

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """Values and weights: sums of `weight * likelihood` replace sums over all possible values.

        For a continuum, the nodes and weights of a numerical integration over the densities at `count` and `count + 1`.
        """
        outputs = self.outputs(count)
        if outputs is None:
            return self.around(np.array([count, count + 1.0]), np.array([count + 0.5]))
        return outputs, np.ones(len(outputs))

    def pair(self, count: int) -> Floats:
        """Probabilities (or weighted densities) of the outputs without and with the target: an array (outputs, 2)."""
        values = self.outputs(count)
        if values is None:
            return self.mixed(float(count), np.array([0.0, 1.0]), np.eye(2), np.array([0.5]))[1]
        return np.exp(np.stack([self.log_likelihood(values, count + bit) for bit in (0, 1)], axis=1))

    def total_variation(self, count: int = 0) -> float:
        """Total variation between the laws at `count` (others alone) and `count + 1` (others and the target)."""
        return apart(self, count)

    def information(self, presence: float, count: int = 0) -> float:
        """Mutual information, in nats, between the target's presence (of this probability) and the published value."""
        pair = paired(self, count)
        return mixture_information(presence, pair[:, 0], pair[:, 1])

    def informations(self, presence: Floats, count: int = 0) -> Floats:
        """The same for several probabilities (n,)."""
        return np.array([self.information(float(p), count) for p in presence])

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """Likelihoods (outcomes, 2) without and with the target, of a less telling stand-in and of a more telling one.

        The first keeps the total variation. Finitely many outputs are their own stand-ins, from both sides; None if a
        continuum cannot be cut.
        """
        if self.outputs(count) is None:
            return None
        pair = paired(self, count)
        return pair, pair

    def law(self, count: float) -> Law:
        """The possible values at `count`, in increasing order (empty cells last), and probabilities."""
        outputs = self.outputs(int(count))
        if outputs is None:
            raise UnsupportedRelease(f"{self!r} publishes from a continuum: its values have densities")
        values = np.unique(outputs)
        return trimmed(values, np.exp(self.log_likelihood(values, count)))

    def noise(self) -> Mechanism | None:
        """The fresh additive noise behind the published value, for differential privacy; None if there is none.

        It may follow a sample of the people. Its two laws at counts 0 and 1 are the worst pair of all.
        """
        return self if self.shift_invariant else None

    # More facts may be known of a mechanism. The defaults hold for all; `check_mechanism` tests other statements.

    #: The way of accounting for differential privacy; None if nothing is known but the laws.
    accounted: ClassVar[str | None] = None

    @property
    def raw(self) -> bool:
        """Whether the count itself is published."""
        return False

    @property
    def adds(self) -> Floats | None:
        """How likely 0, 1, 2, ... unknown people are added to a count that is published as it is; None for others."""
        return None

    @property
    def discrete(self) -> bool:
        """Whether `law` lists all values, at every count."""
        return False

    @property
    def rules(self) -> tuple[Rule, ...] | None:
        """The rules of the mechanism, in order; None if chance has a part in it."""
        return None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of normal noise, before anything else is done; None for all but normal noise."""
        return None

    @property
    def sampled(self) -> tuple[float, Mechanism] | None:
        """The rate of a fresh sample of the people, and the noise added to it; None if there is none."""
        return None

    @property
    def symmetric(self) -> bool:
        """Whether the two laws tell as much with presence and absence exchanged, however often they are drawn."""
        return False

    def divided(self, size: int) -> Mechanism | None:
        """A mechanism telling as much of one person as this tells of a group of a size; None if it is not known."""
        return None

    def pure_epsilon(self, times: float) -> float:
        """The epsilon of so many draws, valid at any delta; infinite if there is none."""
        return math.inf

    def losses(self, step: Callable[[float, float], float]) -> Any:
        """The privacy loss distribution of dp-accounting; None if it is made from the two laws.

        `step` gives the width of its steps, from the largest loss and the standard deviation of losses.
        """
        return None

    def reader_error(self, off: float) -> float | None:
        """The expected difference to a number `off` the count; None if it is summed or integrated."""
        return None

    def tells_less_than(self, fine: Mechanism) -> bool:
        """Whether this one's values can be made from another one's values; False if this is not known."""
        return fine.raw or self == fine

    def check_sensors(self, sensors: Sequence[Sequence[int]]) -> None:
        """Refuse, with `UnsupportedRelease`, sensors without a fresh draw of this mechanism."""
        if not self.persistent:
            return
        seen: dict[int, int] = {}
        for t, step in enumerate(sensors):
            for place in step:
                if place in seen:
                    raise UnsupportedRelease(
                        f"{self!r}: place {place} is published at steps {seen[place]} and {t} with the same draw. "
                        "Differences between its publications do not hide anybody, so this must not be treated as "
                        "fresh at each step, and it is not modelled otherwise. Use Raw() for a bound that holds, or "
                        "persistent=False if each publication is drawn afresh"
                    )
                seen[place] = t

    def check_cells(self, cells: Sequence[tuple[object, object]]) -> None:
        """The same for counts of any kind, each with its cell: a cell is drawn once, whatever step it is about."""
        seen: dict[object, object] = {}
        for cell, count in cells:
            if self.persistent and cell in seen:
                raise UnsupportedRelease(
                    f"{self!r}: {seen[cell]!r} and {count!r} are of the same cell, which is published with the same "
                    "draw. Differences between its publications do not hide anybody, so this must not be treated as "
                    "fresh, and it is not modelled otherwise. Use Raw() for a bound that holds, or persistent=False if "
                    "each publication is drawn afresh"
                )
            seen[cell] = count


guard(Mechanism)


@lru_cache(maxsize=20_000)
def table(mechanism: Mechanism, count: float) -> Law:
    """The law of a mechanism at a count, remembered; an empty cell stays empty."""
    if math.isnan(count):
        return np.array([HIDDEN]), np.ones(1)
    values, chances = _two_lists(mechanism.law(count), f"{mechanism!r} at a count of {count:g}: its law")
    wrong = _wrong_with(values, chances, mechanism.gives(mechanism.takes))
    if wrong:
        raise InputError(f"{mechanism!r} at a count of {count:g}: {wrong}")
    # Rounding goes; a law without an end keeps the gap of its list.
    return trimmed(values, chances if mechanism.endless else chances / chances.sum())


def _two_lists(law: object, name: str) -> Law:
    """The two lists of a law, as arrays; an `InputError` for anything else."""
    if not isinstance(law, tuple | list) or len(law) != 2:
        raise InputError(f"{name} is {shown(law)}, instead of two lists: values and their probabilities")
    return numbers(law[0], f"{name}: values"), numbers(law[1], f"{name}: probabilities")


def _wrong_with(values: Floats, chances: Floats, domain: Domain) -> str:
    """The reason against taking values and probabilities for a law over a domain; nothing if they are one."""
    if values.size > MOST_VALUES:
        return (
            f"its law has {values.size:,} values, of which at most {MOST_VALUES:,} are listed; publish coarser values, "
            "or say how likely they are without a list (a Mechanism with log_likelihood, and outputs of None)"
        )
    if values.ndim != 1 or values.shape != chances.shape:
        return f"its law has {values.shape} values and {chances.shape} probabilities, instead of two lists as long"
    if not (chances >= 0).all():
        return f"its law has a probability of {chances[~(chances >= 0)][0]:g}"
    if not abs(chances.sum() - 1) < SUMS:
        return f"the probabilities of its law sum to {chances.sum():.12g}, not to one"
    # An empty cell (not a number) comes last.
    if not (np.diff(values[~np.isnan(values)]) > 0).all() or np.isnan(values[:-1]).any():
        return "the values of its law are not in increasing order"
    if not domain.holds(values).all():
        return f"its law has a value of {values[~domain.holds(values)][0]:g}, but it says that it gives {domain}"
    return ""


def paired(mechanism: Mechanism, count: int) -> Floats:
    """`Mechanism.pair`, remembered: in an audit, the same counts come up again and again."""
    return _paired(mechanism, mechanism.like(count))


@lru_cache(maxsize=4_000)
def _paired(mechanism: Mechanism, count: int) -> Floats:
    return mechanism.pair(count)


def stood_in(mechanism: Mechanism, count: int) -> tuple[Floats, Floats] | None:
    """`Mechanism.stand_ins`, remembered for as long as one person is looked at."""
    return _stood_in(mechanism, mechanism.like(count))


@lru_cache(maxsize=500)
def _stood_in(mechanism: Mechanism, count: int) -> tuple[Floats, Floats] | None:
    return mechanism.stand_ins(count)


@lru_cache(maxsize=20_000)
def apart(mechanism: Mechanism, count: int) -> float:
    """The total variation of stand-ins keeping it, remembered."""
    stand_ins = stood_in(mechanism, count)
    pair = paired(mechanism, count) if stand_ins is None else stand_ins[0]
    return min(1.0, float(np.abs(pair[:, 0] - pair[:, 1]).sum() / 2))
