"""Files are written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from passerby.errors import InputError


def make_folder(folder: Path, option: str) -> Path:
    """`folder`, made if need be; an `InputError` that names the option where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{option}: cannot make the folder {str(folder)!r} ({error.strerror})") from None
    return folder


def write_json(path: Path, value: Any) -> None:
    """Write `value` under a temporary name beside `path`, then give it its name."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    draft = None
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            draft = Path(file.name)
            file.write(text)
        # Temporary files are private to their owner; a result is an ordinary file.
        draft.chmod(0o666 & ~_umask())
        os.replace(draft, path)  # noqa: PTH105
        draft = None
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r} ({error.strerror})") from None
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
