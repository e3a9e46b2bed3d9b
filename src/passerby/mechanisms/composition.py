"""One mechanism after another.

A mechanism's evidence of a group moving as one: its laws without the group, and with all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease

from .base import Mechanism
from .checks import Record
from .fixed import Discrete, Fixed, PostProcessing
from .laws import COUNTS, Domain, Floats, Law, Rule
from .mixture import Both, Chain, Mixture
from .noise import Noise
from .rules import AtLeast, Raw, Scaled
from .sampling import Sampling


@dataclass(frozen=True, repr=False)
class Then(Record, Mechanism):
    """`first`, and then `second` applied to its values; a cell left empty by `first` stays empty.

    The second must take the values of the first (`Mechanism.takes`, `Mechanism.gives`). Listable values may be followed
    by anything, a continuum by fixed mechanisms. Post-processing cannot undo the noise: differential privacy is the
    privacy of the noise.

    >>> from passerby.mechanisms import Rounding, Suppression
    >>> ten_five = Then(Suppression(10), Rounding(5))
    >>> ten_five.sample([3, 9, 11, 14], np.random.default_rng()).tolist()
    [nan, nan, 10.0, 15.0]
    >>> [ten_five.total_variation(others) for others in (8, 9, 10, 11, 12)]
    [0.0, 1.0, 0.0, 0.0, 1.0]
    """

    first: Mechanism
    second: Mechanism

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            if not isinstance(getattr(self, name), Mechanism):
                raise InputError(f"Then: {name} = {getattr(self, name)!r}: expected a Mechanism such as Rounding(5)")
        _ = self._joined  # refused now if the two do not go together

    @cached_property
    def _joined(self) -> Mechanism:
        given = self.first.gives(COUNTS)
        if not given.within(self.second.takes):
            raise UnsupportedRelease(
                f"{self!r}: the first gives {given}, and the second takes {self.second.takes} only; {_instead(given)}"
            )
        return joined(self.first.unfolded(), self.second.unfolded())

    def unfolded(self) -> Mechanism:
        """The two together."""
        return self._joined

    @property
    def takes(self) -> Domain:
        """The largest domain of the first on which its values suit the second."""
        most = self.first.takes
        some = [Domain(whole, negative) for whole in (most.whole, True) for negative in (most.negative, False)]
        return next((taken for taken in some if self.first.gives(taken).within(self.second.takes)), COUNTS)

    def gives(self, taken: Domain) -> Domain:
        """The second's values for the values of the first."""
        return self.second.gives(self.first.gives(taken))

    @property
    def endless(self) -> bool:
        """Whether one of them is."""
        return self._joined.endless

    @property
    def shift_invariant(self) -> bool:
        """Whether both are."""
        return self.first.shift_invariant and self.second.shift_invariant

    def like(self, count: int) -> int:
        """Nobody, also if plain noise follows scaled counts: one person more shifts it by the weight everywhere."""
        scaled = isinstance(self.first, Scaled) and isinstance(self.second, Noise) and self.second.processed is None
        return 0 if scaled else super().like(count)

    @property
    def persistent(self) -> bool:
        """Whether one of them is."""
        return self.first.persistent or self.second.persistent

    @property
    def hides(self) -> bool:
        """Whether one of them does."""
        return self.first.hides or self.second.hides

    @property
    def adds(self) -> Floats | None:
        """What the first adds, where the second publishes it as it is."""
        return self.first.adds if self.second.raw else None

    def check_sensors(self, sensors: Sequence[Sequence[int]]) -> None:
        """Each refuses by its own check."""
        self.first.check_sensors(sensors)
        self.second.check_sensors(sensors)

    def check_cells(self, cells: Sequence[tuple[object, object]]) -> None:
        """Each refuses by its own check."""
        self.first.check_cells(cells)
        self.second.check_cells(cells)

    def noise(self) -> Mechanism | None:
        """The noise of the first: post-processing does not weaken it.

        Raw counts leave the noise of the second. Scaled counts divide it by the weight of a person. Sampled ones leave
        it too, since a person adds at most one to them, and a fresh sample for each count makes it stronger. Given the
        number of other people sampled, the laws are the laws at counts 0 and 1 but for a shift. So these two are the
        worst pair.
        """
        if isinstance(self.first, Scaled):
            noise = self.second.noise()
            return noise.times(1 / self.first.weight) if isinstance(noise, Noise) else None
        if not isinstance(self.first, (Raw, Sampling)):
            return self.first.noise()
        noise = self.second.noise()
        fresh = isinstance(self.first, Sampling) and not self.first.persistent
        return Then(self.first, noise) if fresh and noise is not None else noise

    @property
    def rules(self) -> tuple[Rule, ...] | None:
        """The rules of both."""
        first, second = self.first.rules, self.second.rules
        return None if first is None or second is None else (*first, *second)

    @property
    def sampled(self) -> tuple[float, Mechanism] | None:
        """The sample and the noise, if noise follows a fresh sample."""
        fresh = isinstance(self.first, Sampling) and not self.first.persistent and self.second.shift_invariant
        return (float(self.first.share[1]), self.second) if fresh else None  # type: ignore[attr-defined]

    def tells_less_than(self, fine: Mechanism) -> bool:
        """Whether the first does."""
        return fine.raw or self == fine or self.first.tells_less_than(fine)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw from the first, then from the second."""
        return self._joined.sample(count, rng)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Added up over the possible values of the first."""
        return self._joined.log_likelihood(output, count)

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """The probability under the two together."""
        return self._joined.log_between(low, high, count)

    def outputs(self, count: int) -> Floats | None:
        """None if the second publishes from a continuum."""
        return self._joined.outputs(count)

    def listing(self, count: float, log_tail: float) -> Law:
        """The list of the two together."""
        return self._joined.listing(count, log_tail)

    def complete(self, count: float, log_tail: float) -> bool:
        """Whether the list of the two together is."""
        return self._joined.complete(count, log_tail)

    def around(self, centres: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """The nodes of the two together."""
        return self._joined.around(centres, cuts)

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """The nodes of the two together."""
        return self._joined.quadrature(count)

    def pair(self, count: int) -> Floats:
        """The pair of the two together."""
        return self._joined.pair(count)

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The stand-ins of the two together."""
        return self._joined.stand_ins(count)


def joined(first: Mechanism, second: Mechanism) -> Mechanism:
    """Two mechanisms as one, if the second takes the values of the first."""
    if isinstance(second, Raw):
        return first
    if isinstance(second, Both):
        return joined(joined(first, second.first), second.second)
    continuum = first.outputs(0) is None
    if isinstance(second, Fixed):
        if isinstance(second, Scaled) and continuum and (swapped := _scaled_noise(first, second)) is not None:
            return joined(second, swapped)
        if (better := first.followed_by(second)) is not None:
            return better
        if continuum or first.endless:
            return PostProcessing(first, (second,))
    if continuum:
        raise UnsupportedRelease(
            f"Then({first!r}, {second!r}): after a continuum only fixed mechanisms are modelled (Rounding, "
            "Suppression, Bands, AtLeast); let noise that comes first be rounded (rounded=True)"
        )
    return Chain(first, second, joined) if second.outputs(0) is not None else Mixture(first, second, joined)


def _scaled_noise(first: Mechanism, scale: Scaled) -> Mechanism | None:
    """Noise after scaling the count, instead of before; None if it is not plain, but for clamping."""
    if isinstance(first, Noise):
        return first.times(scale.weight)
    plain = isinstance(first, PostProcessing) and set(first.steps) == {AtLeast(0)} and isinstance(first.first, Noise)
    return PostProcessing(first.first.times(scale.weight), first.steps) if plain else None  # type: ignore[attr-defined]


def _instead(given: Domain) -> str:
    """Advice about numbers outside the domain of a mechanism."""
    wanted = [word for word, wrong in (("rounded=True", not given.whole), ("clamped=True", given.negative)) if wrong]
    return (
        f"let noise that comes first be rounded or clamped ({', '.join(wanted)}), "
        "and a mechanism of your own say what it takes and gives"
    )


Mechanism._then = Then


@dataclass(frozen=True)
class Grown(Discrete):
    """From `others` people on, each one more stands for a group of `size`.

    >>> Grown(3, size=4).law(4)[0].tolist()
    [7.0]
    """

    others: int
    size: int

    def gives(self, taken: Domain) -> Domain:
        """Counts."""
        return COUNTS

    def at(self, count: ArrayLike) -> Floats:
        """How many people they are; fewer than the others are as many as they are."""
        more = np.asarray(count, np.float64) - self.others
        return np.asarray(self.others + np.where(more > 0, self.size, 1) * more)

    def law(self, count: float) -> Law:
        """One value."""
        return np.atleast_1d(self.at(count)), np.ones(1)


@dataclass(frozen=True)
class Group(Mechanism):
    """`mechanism`, at `others` people and at `others + size`: a count of `others + 1` stands for the latter.

    Normal noise tells as much of a group of g as noise of a g-th of its deviation tells of one person.

    >>> from passerby.mechanisms import Gaussian, Suppression
    >>> Group(Gaussian(4.0), 7, size=4).total_variation(7) == Gaussian(1.0).total_variation()
    True
    >>> [Group(Suppression(10), others, size=4).total_variation(others) for others in (5, 6, 9)]
    [0.0, 1.0, 1.0]
    """

    mechanism: Mechanism
    others: int
    size: int

    @cached_property
    def _alone(self) -> Mechanism | None:
        """A mechanism telling as much of one person, at any number of others, if there is one."""
        return self.mechanism.unfolded().divided(self.size)

    @cached_property
    def _after(self) -> Mechanism:
        """The mechanism after the count has grown."""
        return Then(Grown(self.others, self.size), self.mechanism)

    @property
    def _same(self) -> Mechanism:
        """A mechanism telling the same, at `others` and one more."""
        return self._alone or self._after

    def like(self, count: int) -> int:
        """The number itself: the number of others is part of the mechanism."""
        return count

    @property
    def persistent(self) -> bool:
        """Whether the mechanism is."""
        return self.mechanism.persistent

    @property
    def hides(self) -> bool:
        """Whether the mechanism does."""
        return self.mechanism.hides

    @property
    def endless(self) -> bool:
        """Whether the mechanism is."""
        return self.mechanism.endless

    def gives(self, taken: Domain) -> Domain:
        """The values of the mechanism."""
        return self.mechanism.gives(taken)

    def pure_epsilon(self, times: float) -> float:
        """The epsilon of more draws: so many for each person of the group."""
        return self.mechanism.pure_epsilon(times * self.size)

    def _at(self, count: ArrayLike) -> Floats:
        return Grown(self.others, self.size).at(count)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw at the number of people."""
        return self.mechanism.sample(self._at(count), rng)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log-likelihood at the number of people."""
        return self.mechanism.log_likelihood(output, self._at(count))

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability at the number of people."""
        return self.mechanism.log_between(low, high, self._at(count))

    def outputs(self, count: int) -> Floats | None:
        """The outputs at the number of people without the group, and with it."""
        low = int(self._at(count))
        ends = [self.mechanism.outputs(low), self.mechanism.outputs(low + self.size - 1)]
        return None if ends[0] is None or ends[1] is None else np.unique(np.concatenate(ends))  # type: ignore[arg-type]

    def pair(self, count: int) -> Floats:
        """For listable values, the pair of the mechanism itself."""
        if self._alone is None and self.outputs(count) is not None:
            return super().pair(count)
        return self._same.pair(count)

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """For listable values, these; otherwise the nodes of the mechanism after the count has grown."""
        values = self.outputs(count)
        return self._after.quadrature(count) if values is None else (values, np.ones(len(values)))

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The values if they can be listed, and otherwise the stand-ins of the equivalent mechanism."""
        if self._alone is None and self.outputs(count) is not None:
            return super().stand_ins(count)
        return self._same.stand_ins(count)

    def total_variation(self, count: int = 0) -> float:
        """Between the laws without the group and with it."""
        return super().total_variation(count) if self._alone is None else self._alone.total_variation()

    def information(self, presence: float, count: int = 0) -> float:
        """The information about a group present with this probability."""
        return super().information(presence, count) if self._alone is None else self._alone.information(presence)

    def informations(self, presence: Floats, count: int = 0) -> Floats:
        """The same for several probabilities (n,)."""
        return super().informations(presence, count) if self._alone is None else self._alone.informations(presence)


def grouped(mechanism: Mechanism, others: int, size: int) -> Mechanism:
    """The mechanism as it is for a group of `size` beside so many others; for one person it is itself."""
    return mechanism if size == 1 else _group(mechanism, others, size)


@lru_cache(maxsize=20_000)
def _group(mechanism: Mechanism, others: int, size: int) -> Group:
    """One object for all alike counts, looked at together."""
    return Group(mechanism, others, size)
