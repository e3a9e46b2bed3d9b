"""Files appear whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from passerby.errors import InputError, PasserbyError


@contextmanager
def whole_or_nothing(target: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary path beside the target that becomes the target on success and vanishes on failure.

    A `private` file is readable by its owner alone, from its first byte on. Whatever the disk refuses (no space, no
    permission) is a `PasserbyError` that names the target.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if private:
            os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())  # else a crash of the system could leave the name without the content
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PasserbyError(f"{target} could not be written: {reason}; nothing was left behind") from error
    except Exception as error:
        # polars reports a full disk as an error of its own.
        if type(error).__module__.startswith("polars"):
            raise PasserbyError(f"{target} could not be written: {error}; nothing was left behind") from error
        raise
    finally:
        with suppress(OSError):  # there may be no such folder
            temporary.unlink(missing_ok=True)


def make_folder(folder: Path, name: str) -> Path:
    """`folder`, made if need be; an `InputError` that names what was to be a folder where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{name}: cannot make the folder {str(folder)!r} ({error.strerror})") from None
    return folder


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path`, whole or not at all."""
    with whole_or_nothing(path) as draft:
        draft.write_text(as_json(value), encoding="utf-8")


def as_json(value: Any) -> str:
    """`value` as the text of a file."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
