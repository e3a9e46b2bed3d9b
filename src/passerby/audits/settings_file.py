"""Settings as a file: TOML is read here, checked elsewhere, and written for another run of the audit.

Paths in a settings file are relative to its folder, so a folder with an audit can be moved together with its visits.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from passerby.errors import ConfigError
from passerby.support.files import whole_or_nothing

from .question_words import is_file
from .setting_rules import idle_settings
from .settings import GROUPS, SAYING, SETTINGS, AuditSettings, group_of
from .validation import PATHS

#: The first line of a file of settings.
HEAD = "# Settings of an audit. To run it again: passerby audit --settings audit.toml --overwrite"

#: The mark before a setting of a release nobody gave. The line is a comment, so a later run still counts the setting as
#: assumed.
ASSUMED = "# assumed: "


def read_settings(path: str | Path, also: Sequence[str] = ()) -> dict[str, Any]:
    """The values of a settings file, with its paths made relative to the working folder; not yet checked.

    Paths are the paths of an audit, and the settings named in `also`.
    """
    file = Path(path)
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{file}: there is no such settings file") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{file} is not a settings file (TOML): {error}") from None
    _placed(values, file.parent)
    for name in (*PATHS, *also):
        value = values.get(name)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            values[name] = [Path(os.path.relpath(file.parent / each)) if each else each for each in value]
        if isinstance(value, str) and value:
            values[name] = Path(os.path.relpath(file.parent / value))
    return values


def _placed(values: dict[str, Any], folder: Path) -> None:
    """Sensitive places in a file are in one beside the settings."""
    value = values.get("sensitive")
    several = [value] if isinstance(value, str) else value
    if isinstance(several, list) and all(isinstance(each, str) for each in several):
        values["sensitive"] = [os.path.relpath(folder / each) if is_file(each) else each for each in several]


def write_settings(settings: AuditSettings, path: str | Path) -> None:
    """Write settings as TOML; reading them gives the same settings."""
    file = Path(path)
    with whole_or_nothing(file) as temporary:
        temporary.write_text(as_toml(settings, file.parent), encoding="utf-8")


def as_toml(settings: AuditSettings, folder: Path = Path(), head: str = HEAD, leave: Collection[str] = ()) -> str:
    """Settings as the text of a TOML file in `folder`, below a line on its purpose.

    Open settings are left out, and so are settings without effect beside the others, and some by name.
    """

    def told(name: str, value: Any) -> Any:
        if name == "sensitive":
            value = tuple(Path(each) if is_file(each) else each for each in value)
        return None if name in leave else _relative(value, folder)

    return _written(settings, head, told)


def as_shown(settings: AuditSettings, *, internal: bool, what: str = "audit", leave: Collection[str] = ()) -> str:
    """Settings for a page: files by their names on an internal page, and left out on a shared one.

    The path of a file may hold the name of somebody. The division of the work changes nothing, and is nobody's
    business. With `leave`, some settings are left out by name, if they are not about an audit.
    """

    def told(name: str, value: Any) -> Any:
        if group_of(name) == "Engine" or name in leave:
            return None
        if name == "sensitive" and any(map(is_file, value)):
            return (Path(value[0]).name,) if internal else None
        if name not in PATHS:
            return value
        return _names(value) if internal and name != "out" else None

    rest = "Folders of files are" if internal else "Files and folders are"
    return _written(settings, f"# Settings of the {what}. {rest} in {what}.toml alone.", told)


def _written(settings: AuditSettings, head: str, told: Callable[[str, Any], Any]) -> str:
    """Settings as TOML, each rendered by `told` from name and value; None leaves one out."""
    idle = {each.name for each in idle_settings(settings)}
    assumed = {name for what in settings.assumed for name in SAYING[what]}
    lines = [head]
    above = None
    for name in SETTINGS:
        group = group_of(name)
        value = settings.files if name == "visits" else getattr(settings, name)
        value = None if value is None or name in idle else told(name, value)
        if value is None:
            continue
        if group not in (None, above):
            above = group
            lines += ["", f"# {GROUPS[group].__doc__}"]
        lines.append(f"{ASSUMED if name in assumed else ''}{name} = {in_toml(value)}")
    return "\n".join(lines) + "\n"


def _names(value: Any) -> Any:
    """A path or several by their last parts."""
    return tuple(each.name for each in value) if isinstance(value, tuple) else value.name


def _relative(value: Any, folder: Path) -> Any:
    """A value whose paths are relative to a folder."""
    if isinstance(value, tuple):
        return tuple(_relative(each, folder) for each in value)
    return Path(os.path.relpath(value, folder)).as_posix() if isinstance(value, Path) else value


def in_toml(value: object) -> str:
    """A value as TOML writes it.

    >>> print(in_toml([{"share": 0.05, "above": 0.5}, "gate", True]))
    [{share = 0.05, above = 0.5}, "gate", true]
    """
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name} = {in_toml(each)}' for name, each in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, str):
        # JSON's strings are TOML's, but for the character DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)
