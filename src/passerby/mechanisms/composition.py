"""One mechanism after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease

from .base import Mechanism
from .checks import Record
from .fixed import Fixed
from .laws import COUNTS, Domain, Floats, Law, Rule
from .mixture import Both, Chain, Mixture
from .noise import Noise
from .post_processing import PostProcessing
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
