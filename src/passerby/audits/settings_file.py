"""Settings as a file: TOML that is read, checked elsewhere, and written such that an audit can be run again.

Paths in a settings file are relative to the folder that the file lies in, so that a folder with an audit can be moved
together with its visits.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from passerby.errors import ConfigError
from passerby.support.files import whole_or_nothing

from .settings import GROUPS, SETTINGS, AuditSettings, group_of
from .validation import PATHS


def read_settings(path: str | Path) -> dict[str, Any]:
    """The values of a settings file, with its paths made relative to the working folder; not yet checked."""
    file = Path(path)
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{file}: there is no such settings file") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{file} is not a settings file (TOML): {error}") from None
    for name in PATHS:
        if isinstance(values.get(name), str):
            values[name] = Path(os.path.relpath(file.parent / values[name]))
    return values


def write_settings(settings: AuditSettings, path: str | Path) -> None:
    """Write settings as TOML, such that reading them gives the same settings."""
    file = Path(path)
    with whole_or_nothing(file) as temporary:
        temporary.write_text(as_toml(settings, file.parent), encoding="utf-8")


def as_toml(settings: AuditSettings, folder: Path = Path()) -> str:
    """Settings as the text of a TOML file that lies in `folder`; settings that are not given are left out."""
    lines = ["# Settings of an audit. To run it again: passerby audit --settings audit.toml"]
    above = None
    for name in SETTINGS:
        group = group_of(name)
        if group not in (None, above):
            above = group
            lines += ["", f"# {GROUPS[group].__doc__}"]
        value = getattr(settings, name)
        if isinstance(value, Path):
            value = Path(os.path.relpath(value, folder)).as_posix()
        if value is not None:
            lines.append(f"{name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # JSON's strings are TOML's, but for the character DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
