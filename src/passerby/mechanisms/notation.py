"""A mechanism from its text, so that settings can hold any of them: `Then(Suppression(10), Rounding(5))`."""

from __future__ import annotations

import ast
from typing import Any

from passerby.errors import InputError

from .base import Mechanism
from .composition import Then
from .registry import BY_NOTATION


def read_mechanism(text: str) -> Mechanism:
    """The mechanism that a text writes down as Python would; nothing in it is run but the names of mechanisms.

    >>> read_mechanism("Then(Laplace(2, rounded=True), Suppression(2))")
    Then(first=Laplace(scale=2, rounded=True), second=Suppression(below=2))

    What comes after another may be written after a bar.

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
    """A mechanism, a number, True or False, or a list of those."""
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
