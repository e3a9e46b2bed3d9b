"""Settings are checked as a whole: all errors are reported at once, in the words of their source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, replace
from functools import cache, reduce
from inspect import Parameter, signature
from operator import or_
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
)

from passerby.errors import PasserbyError, SettingsError
from passerby.mechanisms.registry import BY_SETTING, read_mechanism
from passerby.support.checks import nearest
from passerby.visits.layouts import check_separator
from passerby.visits.steps import AUTO, FIRST_VISIT, parse_instant, parse_length
from passerby.visits.times import check_time_format, check_timezone

from .question_words import check_names, check_words
from .setting_rules import misfits
from .settings import SETTINGS, TYPES, AuditSettings, unsaid
from .wording import Keys, Source, Wording

#: The path settings.
PATHS = tuple(name for name, hint in TYPES.items() if Path in (hint, *get_args(hint)))
#: Further demands on a text; it complains if they fail.
TEXTS: dict[str, Callable[[str], object]] = {
    "window": lambda text: text == AUTO or parse_length(text, "window", AUTO),
    "origin": lambda text: text == FIRST_VISIT or parse_instant(text, "it"),
    **dict.fromkeys(("end", "since", "until"), lambda text: parse_instant(text, "it")),
    "timezone": check_timezone,
    "separator": check_separator,
    "time_format": check_time_format,
    "every": lambda text: parse_length(text, "every"),
}

Fault = Mapping[str, Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def naming(names: Collection[str]) -> Callable[[Function], Function]:
    """Name these settings one by one, with defaults, in the signature of a function that takes `**settings`."""

    def named(function: Function) -> Function:
        own = signature(function)
        kept = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=SETTINGS[name].default, annotation=TYPES[name])
            for name in names
            if name not in own.parameters
        ]
        vars(function)["__signature__"] = own.replace(parameters=[*kept, *more])
        return function

    return named


def check_settings(values: Mapping[str, Any], where: str = "settings", wording: Wording | None = None) -> AuditSettings:
    """Settings from plain values; a `SettingsError` lists all errors in them.

    >>> check_settings({"visits": "v.csv", "missses": 1, "runs": 1})
    Traceback (most recent call last):
    passerby.errors.SettingsError: settings:
      runs = 1: it should be greater than or equal to 2
      missses: there is no such setting; did you mean misses?
    """
    return check_sources(Source(values, where, wording or Keys()))


def check_sources(*sources: Source, also: Collection[str] = ()) -> AuditSettings:
    """Settings from several sources, and later ones prevail; a misspelled one may mean a name in `also`."""
    values = {name: value for source in sources for name, value in source.values.items()}
    speech = _Speech(sources, also)
    checked, faults = _validated(values)
    lines = [line for fault in faults for line in speech.of(fault)]
    wrong = {str(fault["loc"][0]) for fault in faults}
    if faults:
        # The others may still not fit together. An unreadable setting gets no remark on its fit with others.
        rest = {name: value for name, value in values.items() if name not in wrong}
        checked, _ = _validated({"visits": Path(), **rest})
    if checked is not None:
        lines += [line for names, line in misfits(checked, speech) if wrong.isdisjoint(names)]
    if lines:
        where = " and ".join(dict.fromkeys(source.where for source in sources))
        raise SettingsError("\n  ".join([f"{where}:", *dict.fromkeys(lines)]))
    assert checked is not None
    return replace(checked, assumed=unsaid([name for name, value in values.items() if value not in (None, (), [])]))


def _validated(values: Mapping[str, Any]) -> tuple[AuditSettings | None, list[Fault]]:
    """Settings, or the errors in single ones of them."""
    try:
        checked = _model().model_validate(dict(values))
    except ValidationError as error:
        return None, [*error.errors()]
    return AuditSettings(**{name: getattr(checked, name) for name in SETTINGS}), []


class _Checks(BaseModel):
    """Checks by pydantic beside types and ranges."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator(*TEXTS, check_fields=False)
    @classmethod
    def _text(cls, value: str | None, info: ValidationInfo) -> str | None:
        return value if value is None else _told(lambda: TEXTS[str(info.field_name)](value), value)

    @field_validator("visits", mode="before", check_fields=False)
    @classmethod
    def _several(cls, value: Any) -> Any:
        if isinstance(value, str | Path):
            return (value,)
        if isinstance(value, list | tuple) and not value:
            raise ValueError("name at least one file or folder")
        return value

    @field_validator("count", mode="before", check_fields=False)
    @classmethod
    def _one_kind(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("count", check_fields=False)
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        twice = next((kind for kind in value if value.count(kind) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is named twice; name each kind once")
        return value

    @field_validator("question", mode="before", check_fields=False)
    @classmethod
    def _one_text(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("question", check_fields=False)
    @classmethod
    def _asked(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            _told(lambda text=text: check_words(text), text)  # type: ignore[misc]
        return value

    @field_validator("sensitive", mode="before", check_fields=False)
    @classmethod
    def _as_texts(cls, value: Any) -> Any:
        value = (value,) if isinstance(value, str | Path) else value
        listed = isinstance(value, list | tuple)
        return [str(each) if isinstance(each, Path) else each for each in value] if listed else value

    @field_validator("sensitive", check_fields=False)
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _told(lambda: check_names(value), "")
        return value

    @field_validator(*PATHS, mode="before", check_fields=False)
    @classmethod
    def _some_path(cls, value: Any) -> Any:
        if "" in (value if isinstance(value, list | tuple) else (value,)):
            raise ValueError("should be a path, and no empty text")
        return value

    @field_validator(*PATHS, check_fields=False)
    @classmethod
    def _path(cls, value: Path | tuple[Path, ...] | None) -> Path | tuple[Path, ...] | None:
        for path in value if isinstance(value, tuple) else (value,):
            names = [name.encode(errors="replace") for name in Path(path or ".").parts]
            if b"\0" in b"".join(names) or any(len(name) > 255 for name in names) or sum(map(len, names)) > 3000:
                raise ValueError("it is no path: it holds the character NUL, or is too long")
        return value

    @field_validator("mechanism", check_fields=False)
    @classmethod
    def _known(cls, value: str) -> str:
        if "(" in value:
            return _told(lambda: read_mechanism(value), value)
        if value not in BY_SETTING:
            near = nearest(value, BY_SETTING)
            hint = f"; did you mean {near}?" if near else ", nor as 'Then(Suppression(10), Rounding(5))'"
            raise ValueError(f"{value!r} is not one of {', '.join(BY_SETTING)}{hint}")
        return value


@cache
def _model() -> type[_Checks]:
    """A model with a field for each setting, of its type and within its limits."""
    kinds: dict[str, Any] = {}
    for name, each in SETTINGS.items():
        default = ... if each.default is MISSING else each.default
        kinds[name] = (_limited(TYPES[name], each.metadata["limits"]), default)
    return create_model("AuditSettings", __base__=_Checks, **kinds)


def _limited(hint: Any, limits: Mapping[str, Any]) -> Any:
    """A type whose numbers lie within limits."""
    if hint is float:
        return Annotated[float, Field(allow_inf_nan=False, **limits), BeforeValidator(_no_flag)]
    if hint is int:
        return Annotated[int, Field(**limits), BeforeValidator(_no_flag)]
    if hint is bool:
        return Annotated[bool, Field(strict=True)]
    if get_origin(hint) in (Union, UnionType):
        return reduce(or_, (_limited(part, limits) for part in get_args(hint)))
    if get_origin(hint) is tuple:
        return tuple[_limited(get_args(hint)[0], limits), ...]  # type: ignore[misc]
    return hint


def _no_flag(value: object) -> object:
    """`value`, unless it is True or False: pydantic would take these for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("should be a number")
    return value


class _Speech:
    """Words the errors in settings, each in the words of its source."""

    def __init__(self, sources: tuple[Source, ...], also: Collection[str] = ()) -> None:
        self.sources, self.also = sources, also

    def _wording(self, name: str) -> Wording:
        return next((source for source in self.sources[::-1] if name in source.values), self.sources[-1]).wording

    def rank(self, name: str) -> int:
        """The number of the last source of a setting; -1 without one."""
        return max((number for number, source in enumerate(self.sources) if name in source.values), default=-1)

    def name(self, name: str) -> str:
        """The name of a setting."""
        return self._wording(name).name(name)

    def given(self, name: str, value: object) -> str:
        """A setting with its value."""
        return self._wording(name).given(name, value)

    def of(self, fault: Fault) -> Iterator[str]:
        """Pydantic's findings, in plain words."""
        name, *deeper = (part for part in fault["loc"] if not str(part).startswith(("constrained", "literal")))
        message = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input ")
        if fault["type"] == "path_type":
            message = "should be a path"
        if fault["type"] == "tuple_type":
            message = "should be a list"
        one = "".join(f"number {part + 1} of " for part in deeper if isinstance(part, int))
        if fault["type"] == "extra_forbidden":
            near = nearest(name, (*SETTINGS, *self.also))
            hint = f"; did you mean {self._wording(name).name(near)}?" if near else ""
            yield f"{self.name(name)}: there is no such setting{hint}"
        elif fault["type"] == "missing":
            yield f"{self.name(name)}: this setting is needed"
        elif message.startswith("should"):
            value = f"{one}{self.name(name)} is {fault['input']!r}" if one else self.given(name, fault["input"])
            yield f"{value}: it {message}"
        elif message.startswith(f"{name} is "):
            yield self.name(name) + message.removeprefix(name)
        else:
            yield f"{one}{self.name(name)}: {message}"


def _told(check: Callable[[], object], value: str) -> str:
    """`value`, or the complaint of a check in the form for pydantic."""
    try:
        check()
    except PasserbyError as error:
        raise ValueError(str(error)) from None
    return value
