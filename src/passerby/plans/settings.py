"""The settings of a plan: an audit's settings of data, release and question, and its own, each with a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from passerby.audits.settings import AuditSettings
from passerby.audits.settings_file import as_shown, as_toml, in_toml
from passerby.audits.validation import check_sources
from passerby.audits.wording import Options, Source
from passerby.errors import ConfigError, PasserbyError, SettingsError
from passerby.support.checks import nearest, number, whole

from .guard import Kept
from .limit import Limit, check_told
from .names import DRAWN, FOLDER, LEFT_OUT, OWN, PRESENCE, TITLE
from .survey import resolving
from .task import keeping

#: The parts of a limit in a file.
LIMIT = ("share", "above", "added", "ask", "against", "measure")
#: The default limit on presence at counted places.
USUAL = Kept(PRESENCE)
#: The first line of a file of settings.
HEAD = "# Settings of a plan. To plan again: passerby plan --settings plan.toml --overwrite"


@dataclass(frozen=True)
class PlanSettings:
    """Everything that a plan depends on."""

    audit: AuditSettings
    limits: tuple[Limit, ...]
    levers: tuple[str, ...] | None = None
    forbid: tuple[str, ...] = ()
    fix: tuple[tuple[str, float], ...] = ()
    stay: tuple[str, ...] = ()
    weights: Path | None = None
    drawn: int = DRAWN
    minutes: float | None = None
    kept: Kept | None = USUAL


def check_plan(*sources: Source, folder: str = FOLDER) -> PlanSettings:
    """Settings from several sources, and later ones prevail; all errors are reported at once.

    One of the sources may be an audit's settings: its data, release and question are planned. Results go to the
    `folder` if none is named.
    """
    values = {name: value for source in sources for name, value in source.values.items()}
    lines: list[str] = []
    rest = []
    for source in sources:
        # The settings of an audit name its own folder, and more without a use in a plan.
        other = (*OWN, *LEFT_OUT, "out", "title") if {*LEFT_OUT} & {*source.values} else OWN
        kept = {name: value for name, value in source.values.items() if name not in other}
        rest.append(Source(kept, source.where, source.wording))
    given = {"out": folder, "title": TITLE}
    audit: AuditSettings | None = None
    try:
        audit = check_sources(Source(given), *rest, also=OWN)
    except ConfigError as error:
        lines += [line.strip() for line in str(error).split("\n")[1:]]
    own, wrong = _own(values)
    lines += [_worded(line, sources) for line in wrong]
    if lines or audit is None:
        where = " and ".join(dict.fromkeys(source.where for source in sources))
        raise SettingsError("\n  ".join([f"{where}:", *lines]))
    runs = resolving(audit.measurement, own["limits"]).runs
    return PlanSettings(replace(audit, runs=runs), **own)


def _worded(message: str, sources: Sequence[Source]) -> str:
    """The errors in a setting, in the words of its source."""
    for name in OWN:
        given = [source.wording for source in sources if source.values.get(name) is not None]
        if given and message.startswith(name):
            return given[-1].name(name) + message.removeprefix(name)
    return message


def _own(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The settings of a plan alone, and the errors in them."""
    makers: dict[str, Callable[[Any], Any]] = {
        **{name: partial(_texts, name=name) for name in ("levers", "forbid", "stay")},
        "fix": _fixed,
        "weights": lambda value: Path(str(value)),
        "drawn": lambda value: whole(_as_number(value, "drawn"), "drawn", 1),
        "minutes": lambda value: number(_as_number(value, "minutes"), "minutes", 0.0, 1e6),
    }
    out: dict[str, Any] = {}
    wrong: list[str] = []
    if any(values.get(name) is not None for name in ("presence_at_most", "presence_against")):
        try:
            out["kept"] = _kept(values)
        except PasserbyError as error:
            wrong.append(str(error))
    todo = [(name, partial(make, values[name])) for name, make in makers.items() if values.get(name) is not None]
    for name, make in [("limits", partial(_limits, values)), *todo]:
        try:
            out[name] = make()
        except PasserbyError as error:
            wrong.append(str(error))
    return out, wrong


def _limits(values: Mapping[str, Any]) -> tuple[Limit, ...]:
    given = {name: values[name] for name in ("at_most", "above", "added") if values.get(name) is not None}
    asked = {name: str(values[name]) for name in ("ask", "against", "measure") if values.get(name) is not None}
    several = values.get("limits") or []
    if given or asked:
        return check_told([_single(given, asked)])
    if not isinstance(several, list | tuple) or not all(isinstance(each, Mapping) for each in several):
        raise ConfigError("limits: expected a list such as [{share = 0.05, above = 0.5}]")
    if not several:
        raise ConfigError(
            "no limit is given: --at-most 0.05 --above 0.5, or limits = [{share = 0.05, above = 0.5}] in a file of "
            "settings"
        )
    for each in several:
        other = next((name for name in each if name not in LIMIT), None)
        if other is not None or "share" not in each:
            near = None if other is None else nearest(str(other), LIMIT)
            raise ConfigError(
                f"limits: {dict(each)} needs a share, and above or added; it may have ask, against and measure, and "
                f"nothing else{f', such as {other!r} (did you mean {near}?)' if near else ''}"
            )
    return check_told([_limit_of(each) for each in several])


def _single(given: Mapping[str, Any], asked: Mapping[str, str]) -> Limit:
    """The limit of options."""
    if "at_most" not in given:
        first = Options().name(next(iter([*given, *asked])))
        raise ConfigError(f"{first} needs --at-most, the share of people who may be so")
    if len(given) > 2:
        raise ConfigError("--above and --added are both given; keep one of them, or give several limits in a file")
    if len(given) != 2:
        raise ConfigError(
            "at_most needs --above, the chance that few people may exceed, or --added, what the release may add to "
            "it; give one of them"
        )
    numbers = {name: float(_as_number(value, name)) for name, value in given.items()}
    for name, value in numbers.items():
        number(value, name, 0.0, 1.0)
    return _limit_of({"share": numbers.pop("at_most"), **numbers, **asked})


def _limit_of(values: Mapping[str, Any]) -> Limit:
    """A limit from a file; its question is the value of `ask`."""
    return Limit(**{"question" if name == "ask" else name: value for name, value in values.items()})


def _kept(values: Mapping[str, Any]) -> Kept | None:
    """The limit on presence at counted places; None without one."""
    at_most, against = values.get("presence_at_most"), values.get("presence_against")
    level = PRESENCE if at_most is None else _as_number(at_most, "presence_at_most")
    return keeping(level, Kept.against if against is None else against)


def _fixed(value: Any) -> tuple[tuple[str, float], ...]:
    if isinstance(value, Mapping):
        pairs = [(str(name), position) for name, position in value.items()]
    else:
        halves = [text.partition("=") for text in _texts(value, "fix")]
        pairs = [(name, position) for name, _, position in halves]
        bare = next((name for name, position in pairs if not position), None)
        if bare is not None:
            raise ConfigError(f"fix: {bare!r} comes without a position; give one, as in rounding=10")
    return tuple((name, float(_as_number(position, f"fix {name}"))) for name, position in pairs)


def _texts(value: Any, name: str) -> tuple[str, ...]:
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, list | tuple) or not all(isinstance(each, str) for each in several):
        raise ConfigError(f"{name}: expected one or more names, got {value!r}")
    return tuple(several)


def _as_number(value: Any, name: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ConfigError(f"{name} is {value!r}; expected a number")
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.strip().lstrip("-").isdigit() else float(value)
    except ValueError:
        raise ConfigError(f"{name} is {value!r}; expected a number") from None


def plan_toml(settings: PlanSettings, folder: Path) -> str:
    """Settings as the text of a file in `folder`; `passerby plan --settings` plans again from it."""
    weights = settings.weights
    placed = None if weights is None else Path(os.path.relpath(weights, folder)).as_posix()
    return _with_own(as_toml(settings.audit, folder, HEAD, LEFT_OUT), settings, placed)


def plan_shown(settings: PlanSettings) -> str:
    """Settings as the page shows them, without files and folders: a path may hold the name of somebody."""
    return _with_own(as_shown(settings.audit, internal=False, what="plan", leave=LEFT_OUT), settings)


def _with_own(audit: str, settings: PlanSettings, weights: str | None = None) -> str:
    """The text of the settings of an audit, with the settings of a plan alone below."""
    own = {
        "limits": [_limit(each) for each in settings.limits],
        **{name: getattr(settings, name) for name in ("levers", "forbid", "stay")},
        "fix": dict(settings.fix),
        "weights": weights,
        "drawn": settings.drawn,
        "minutes": settings.minutes,
        "presence_at_most": 1.0 if settings.kept is None else settings.kept.at_most,
        "presence_against": None if settings.kept is None else settings.kept.against,
    }
    lines = [f"{name} = {in_toml(value)}" for name, value in own.items() if value not in (None, (), {})]
    return "\n".join([audit, "# The plan.", *lines]) + "\n"


def _limit(limit: Limit) -> dict[str, float | str]:
    """A limit as a file holds it."""
    out: dict[str, float | str] = {"share": limit.share, "above" if limit.added is None else "added": limit.level}
    if limit.about is None:
        return out
    return {**out, "ask": limit.about.words, "against": limit.against, "measure": limit.measure}
