"""Options of the command line from the settings of an audit: names, groups, defaults and help."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from inspect import Parameter as Argument
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from cyclopts import Group, Parameter

from passerby.audits.settings import GROUPS, SETTINGS, TYPES, default_of, group_of
from passerby.audits.wording import Options

#: The group of what is not about one of the other groups.
RUN = Group("Audit", sort_key=0)
_GROUPS = {name: Group(name, sort_key=number) for number, name in enumerate(GROUPS, start=1)}
#: What the help calls values that are not plain texts.
_KINDS = {int: "INT", float: "FLOAT", Path: "PATH"}

#: Older versions of cyclopts show nothing there.
_PLACE = "metavar" in signature(Parameter).parameters


def with_settings(command: Callable[..., None] | None = None, *, leave: Collection[str] = ()) -> Callable[..., Any]:
    """A command that takes `**settings`, with an option for each setting of an audit that it has not got already.

    Options are texts, which are checked with everything else, so that all that is wrong can be said at once. With
    `leave`, some settings are none of its options.
    """
    if command is None:
        return partial(with_settings, leave=leave)
    shape = signature(command, eval_str=True)
    own = [each for each in shape.parameters.values() if each.kind != Argument.VAR_KEYWORD]
    names = {each.name for each in own}
    options = [_option(name) for name in SETTINGS if name not in {*names, *leave}]
    command.__signature__ = shape.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return command


def _option(name: str) -> Argument:
    several = get_origin(TYPES[name]) is tuple
    group, default = group_of(name), default_of(name)
    flag = TYPES[name] is bool
    shown = Parameter(
        name=Options().name(name),
        group=_GROUPS[group] if group else RUN,
        help=SETTINGS[name].metadata["text"] + (f" [default: {default}]" if default else ""),
        negative="",
        **({} if flag else {"consume_multiple": True, **_word(TYPES[name], several)}),
    )
    kind: Any = list[str] if several else bool if flag else str
    return Argument(name, Argument.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, shown])


def _word(hint: Any, several: bool) -> dict[str, Any]:
    """What stands in the help for a value, where there is a place for it."""
    if not _PLACE:
        return {}
    word = next((_KINDS[kind] for kind in (hint, *get_args(hint)) if kind in _KINDS), "TEXT")
    return {"metavar": f"{word}..." if several else word}
