"""Folders and files of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passerby.errors import InputError
from passerby.support.files import whole_or_nothing


def make_folder(folder: Path, option: str) -> Path:
    """`folder`, made if need be; an `InputError` that names the option where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{option}: cannot make the folder {str(folder)!r} ({error.strerror})") from None
    return folder


def finished(folder: Path) -> bool:
    """Whether a folder holds a finished audit, whose summary is written last."""
    return (folder / "summary.json").exists()


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path`, whole or not at all."""
    with whole_or_nothing(path) as draft:
        draft.write_text(as_json(value), encoding="utf-8")


def as_json(value: Any) -> str:
    """`value` as the text of a file."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
