"""What all additive noise has in common: its flags, and what they say of differential privacy."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, fields, replace

from passerby.errors import InputError

from .base import Mechanism, Record
from .checks import above_zero, flag
from .domain import REALS, Domain

#: The largest scale of noise in whole numbers.
MOST_WHOLE = 1000


@dataclass(frozen=True, repr=False)
class Additive(Record, Mechanism):
    """The count plus noise, of a size that the subclass names; with `clamped`, negative values are published as zero.

    With `persistent`, the noise of a place is drawn once and used again whenever the place is published, which is
    accepted only where that does not happen (`Mechanism.check_sensors`).
    """

    clamped: bool = field(default=False, kw_only=True)
    persistent: bool = field(default=False, kw_only=True)

    hides = False

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            check = flag if f.kw_only else above_zero
            check(self, f.name, value)
            if not f.kw_only and self.whole and value > MOST_WHOLE:
                raise InputError(
                    f"{self!r}: {f.name} must be at most {MOST_WHOLE:,} for noise in whole numbers, whose values are "
                    "listed; wider noise from a continuum (Gaussian, Laplace) cannot be told from it"
                )

    @property
    def takes(self) -> Domain:
        """Any numbers."""
        return REALS

    @property
    @abstractmethod
    def whole(self) -> bool:
        """Whether values are published in whole numbers."""

    @property
    def shift_invariant(self) -> bool:
        """Unless clamped."""
        return not self.clamped

    def noise(self) -> Mechanism:
        """The noise before clamping."""
        return replace(self, clamped=False) if self.clamped else self
