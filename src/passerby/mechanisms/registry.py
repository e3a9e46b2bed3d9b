"""All mechanisms, a line each: how they are written, which settings they are made from, and what they are in words.

A new mechanism is a file with its class, and a line here. Notation, settings and reports take theirs from it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from .base import Mechanism
from .by_size import RoundingBySize
from .chance import RandomRounding
from .checks import MOST_NOISE, MOST_PEOPLE
from .composition import Then
from .fixed import AtLeast, Bands, Raw, Rounding, Suppression
from .gaussian import Gaussian
from .laplace import Laplace
from .sampling import Miscount, Sampling
from .scaled import Scaled
from .whole_noise import DiscreteGaussian, Geometric


@dataclass(frozen=True)
class Parameter:
    """A setting that mechanisms are made from: its default, and its limits, at least (ge), above (gt) and so on."""

    default: float
    limits: dict[str, float]


@dataclass(frozen=True)
class Entry:
    """A mechanism: its class, words with its parameters in them, and its name in settings (none: it is written out)."""

    kind: type[Mechanism]
    words: str
    setting: str | None = None
    parameters: tuple[str, ...] = ()

    @property
    def notation(self) -> str:
        """The name it is written with."""
        return self.kind.__name__

    def build(self, settings: Any) -> Mechanism:
        """The mechanism that settings ask for."""
        return self.kind(*(getattr(settings, name) for name in self.parameters))

    def describe(self, mechanism: Mechanism) -> str:
        """One of this kind in words."""
        values = {f.name: getattr(mechanism, f.name) for f in fields(mechanism)}  # type: ignore[arg-type]
        flags = [words for name, words in FLAGS.items() if values.get(name) is True]
        return ", ".join([self.words.format(**{name: _shown(value) for name, value in values.items()}), *flags])


PARAMETERS = {
    "sigma": Parameter(1.0, {"ge": 1 / MOST_NOISE, "le": MOST_NOISE}),
    "scale": Parameter(1.0, {"ge": 1 / MOST_NOISE, "le": MOST_NOISE}),
    "base": Parameter(5, {"ge": 2, "le": MOST_PEOPLE}),
    "below": Parameter(10, {"ge": 1, "le": MOST_PEOPLE}),
    "rate": Parameter(0.5, {"gt": 0, "lt": 1}),
}

#: Words for what may be true of a mechanism besides.
FLAGS = {
    "rounded": "rounded to whole numbers",
    "clamped": "negative ones shown as 0",
    "keep_zeros": "zeros shown",
    "persistent": "drawn once for each cell",
}

REGISTRY = (
    Entry(Raw, "raw counts", "raw"),
    Entry(Gaussian, "counts with normal noise of standard deviation {sigma}", "gaussian", ("sigma",)),
    Entry(
        DiscreteGaussian,
        "counts with whole-numbered normal noise of standard deviation {sigma}",
        "discrete-gaussian",
        ("sigma",),
    ),
    Entry(Laplace, "counts with Laplace noise of scale {scale}", "laplace", ("scale",)),
    Entry(Geometric, "counts with whole-numbered Laplace noise of scale {scale}", "geometric", ("scale",)),
    Entry(Rounding, "counts rounded to multiples of {base}", "rounding", ("base",)),
    Entry(RandomRounding, "counts rounded to multiples of {base}, up or down at random", "random-rounding", ("base",)),
    Entry(Suppression, "counts, but those below {below} left empty", "suppression", ("below",)),
    Entry(Sampling, "counts of a random share of {rate} of the people", "sampling", ("rate",)),
    Entry(Miscount, "counts by sensors that miss a share of {miss} of the people and count {double} twice"),
    Entry(Bands, "the numbers of bands of counts, with edges at {edges}"),
    Entry(Scaled, "counts multiplied by {weight}"),
    Entry(RoundingBySize, "counts rounded to multiples of {sizes}, smaller ones left empty"),
    Entry(AtLeast, "counts, but those below {least} shown as {least}"),
    Entry(Then, "{first}, then {second}"),
)

#: The same by the name in the notation, and by the name in settings.
BY_NOTATION = {entry.notation: entry for entry in REGISTRY}
BY_SETTING = {entry.setting: entry for entry in REGISTRY if entry.setting is not None}


def described(mechanism: Mechanism) -> str:
    """A mechanism in words; one of somebody's own by its name in code.

    >>> described(Then(Laplace(2.0, clamped=True), Rounding(5)))
    'counts with Laplace noise of scale 2, negative ones shown as 0, then counts rounded to multiples of 5'
    """
    entry = BY_NOTATION.get(type(mechanism).__name__)
    return repr(mechanism) if entry is None or type(mechanism) is not entry.kind else entry.describe(mechanism)


def _shown(value: Any) -> str:
    if isinstance(value, Mechanism):
        return described(value)
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return ", ".join(f"{base:g} from {size:g} on" for size, base in value)
    return ", ".join(map(_shown, value)) if isinstance(value, tuple) else f"{value:g}"
