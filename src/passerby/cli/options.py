"""Options of the command line from the settings of an audit: names, groups, defaults and help.

The sources of a command's settings: a settings file, and options beside it; options prevail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from inspect import Parameter as Argument
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from passerby.audits.settings import GROUPS, SETTINGS, TYPES, default_of, group_of
from passerby.audits.wording import Options
from passerby.plans.names import OWN

if TYPE_CHECKING:
    from passerby.audits.wording import Source


#: The group of options outside the other groups.
RUN = Group("Audit", sort_key=0)
_GROUPS = {name: Group(name, sort_key=number) for number, name in enumerate(GROUPS, start=1)}
#: The help's names of values other than plain texts.
_KINDS = {int: "INT", float: "FLOAT", Path: "PATH"}
#: No defaults but an audit's.
NONE: Mapping[str, str] = {}

#: The shared options of commands about visits.
Visited = Annotated[str, Parameter(help=SETTINGS["visits"].metadata["text"])]
SettingsFile = Annotated[Path | None, Parameter(group=RUN)]
Flag = Annotated[bool, Parameter(show_default=False, negative="", group=RUN)]
Workers = Annotated[int | None, Parameter(group=RUN, validator=Number(gte=1))]

#: Older versions of cyclopts show nothing there.
_PLACE = "metavar" in signature(Parameter).parameters


def with_settings(
    command: Callable[..., None] | None = None, *, leave: Collection[str] = (), defaults: Mapping[str, str] = NONE
) -> Callable[..., Any]:
    """A command with `**settings`, and an option for each setting of an audit it has not got already.

    Options are texts, checked with everything else, so all errors can be reported at once. With `leave`, some settings
    are none of its options, and with `defaults`, some are others than the audit's.
    """
    if command is None:
        return partial(with_settings, leave=leave, defaults=defaults)
    shape = signature(command, eval_str=True)
    own = [each for each in shape.parameters.values() if each.kind != Argument.VAR_KEYWORD]
    names = {each.name for each in own}
    options = [
        _option(name, defaults.get(name) or default_of(name)) for name in SETTINGS if name not in {*names, *leave}
    ]
    command.__signature__ = shape.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return command


def _option(name: str, default: str) -> Argument:
    several, group = get_origin(TYPES[name]) is tuple, group_of(name)
    flag = TYPES[name] is bool
    shown = Parameter(
        name=Options().name(name),
        group=_GROUPS[group] if group else RUN,
        help=SETTINGS[name].metadata["text"] + (f" [default: {default}]" if default else ""),
        negative="",
        **({} if flag else {"consume_multiple": True, **word(TYPES[name], several=several)}),
    )
    kind: Any = list[str] if several else bool if flag else str
    return Argument(name, Argument.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, shown])


def word(hint: Any, *, several: bool = False) -> dict[str, Any]:
    """The text in the help for a value, if there is a place for it."""
    if not _PLACE:
        return {}
    shown = next((_KINDS[kind] for kind in (hint, *get_args(hint)) if kind in _KINDS), "TEXT")
    return {"metavar": f"{shown}..." if several else shown}


def sources_of(
    command: str,
    visits: Sequence[str],
    settings: Path | None,
    options: Mapping[str, Any],
    paths: Sequence[str] = (),
) -> list[Source]:
    """The sources of a command's settings; at least one must name the visits; `paths` are settings of its own."""
    from passerby.audits.settings_file import read_settings
    from passerby.audits.wording import Options, Source
    from passerby.errors import ConfigError

    typed = {name: value for name, value in {"visits": visits or None, **options}.items() if value is not None}
    sources = [Source(read_settings(settings, paths), str(settings))] if settings else []
    if settings and command == "audit" and (of_plan := [name for name in OWN if name in sources[0].values]):
        raise ConfigError(
            f"{settings} holds settings of a plan ({', '.join(of_plan)}): give it to passerby plan, or audit what that "
            "recommends, by the audit.toml in its folder"
        )
    sources += [Source(typed, "options", Options())] if typed else []
    if not any("visits" in source.values for source in sources):
        raise ConfigError(f"no visits are given: passerby {command} VISITS, or --settings with a file that names them")
    return sources
