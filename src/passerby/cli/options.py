"""Options of the command line from the settings of an audit: names, groups, defaults and help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter as Argument
from inspect import signature
from typing import Annotated, Any, get_args, get_origin

from cyclopts import Group, Parameter, Token

from passerby.audits.settings import GROUPS, SETTINGS, TYPES, default_of, group_of

#: The group of what is not about one of the other groups.
RUN = Group("Audit", sort_key=0)
_GROUPS = {name: Group(name, sort_key=number) for number, name in enumerate(GROUPS, start=1)}


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes `**settings`, with an option for each setting of an audit that it has not got already.

    Options are handed on as texts and checked with everything else, so that all that is wrong can be said at once.
    """
    shape = signature(command, eval_str=True)
    own = [each for each in shape.parameters.values() if each.kind != Argument.VAR_KEYWORD]
    names = {each.name for each in own}
    options = [_option(name) for name in SETTINGS if name not in names]
    command.__signature__ = shape.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return command


def _option(name: str) -> Argument:
    hint: Any = TYPES[name]
    kind = list[get_args(hint)[0]] if get_origin(hint) is tuple else hint  # type: ignore[misc]
    group, default = group_of(name), default_of(name)
    shown = Parameter(
        group=_GROUPS[group] if group else RUN,
        help=SETTINGS[name].metadata["text"] + (f" [default: {default}]" if default else ""),
        converter=_text,
        negative="",
        show_choices=False,
        consume_multiple=True,
    )
    return Argument(name, Argument.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, shown])


def _text(kind: Any, tokens: Sequence[Token]) -> str | list[str]:
    """What was typed, as it is."""
    typed = [token.value for token in tokens]
    return typed if get_origin(kind) is list else typed[0]
