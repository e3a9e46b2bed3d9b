"""All mechanisms, a line each: their notation, their settings, and their names in words.

A new mechanism is a file with its class, and a line here. Notation, settings and reports take theirs from it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields
from typing import Any

from passerby.errors import InputError

from .base import Mechanism
from .checks import MOST_NOISE, MOST_PEOPLE
from .composition import Then
from .gaussian import Gaussian
from .laplace import Laplace
from .rules import AtLeast, Bands, Raw, Rounding, RoundingBySize, Scaled, Suppression
from .sampling import Miscount, RandomRounding, Sampling
from .whole_noise import DiscreteGaussian, Geometric


@dataclass(frozen=True)
class Parameter:
    """A setting of mechanisms: its default, and its limits, at least (ge), above (gt) and so on."""

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
        """The mechanism of the given settings."""
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

#: Words for further properties of a mechanism.
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


def read_mechanism(text: str) -> Mechanism:
    """The mechanism written in a text as Python would; nothing in it is run but the names of mechanisms.

    >>> read_mechanism("Then(Laplace(2, rounded=True), Suppression(2))")
    Then(first=Laplace(scale=2, rounded=True), second=Suppression(below=2))

    A second mechanism may be written after a bar.

    >>> read_mechanism("Scaled(5) | Suppression(5)")
    Then(first=Scaled(weight=5), second=Suppression(below=5))
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{text!r} is not a mechanism; expected something like Rounding(5)") from None
    made = _value(tree, text)
    if not isinstance(made, Mechanism):
        raise InputError(f"{text!r} is not a mechanism; expected something like Rounding(5)")
    return made


def _value(node: ast.expr, text: str) -> Any:
    """A mechanism, a number, True or False, or a list of these."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in BY_NOTATION:
            given = [_value(part, text) for part in node.args]
            named = {part.arg: _value(part.value, text) for part in node.keywords if part.arg is not None}
            try:
                return BY_NOTATION[name].kind(*given, **named)
            except TypeError as error:
                raise InputError(f"{ast.unparse(node)}: {str(error).replace('.__init__()', '')}") from None
        case ast.Call():
            raise InputError(f"{ast.unparse(node.func)!r} is not a mechanism; expected one of {', '.join(BY_NOTATION)}")
        case ast.BinOp(left=first, op=ast.BitOr(), right=second):
            return Then(_value(first, text), _value(second, text))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, text) for part in parts]
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    raise InputError(f"{ast.unparse(node)!r} in {text!r}: expected a mechanism, a number, True or False, or a list")
