"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import glob
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from passerby.errors import ConfigError, InputError, PasserbyError

#: Below this number of free bytes a disk is taken to be full, if the reason of a failed write is not known.
FULL = 1_000_000
#: Letters telling one draft of a file from another.
TOKEN = 12


@contextmanager
def whole_or_nothing(target: Path, *, private: bool = False, lasting: bool = True) -> Iterator[Path]:
    """A temporary path beside the target: on success it becomes the target, on failure it vanishes.

    A `private` file is readable by its owner alone, from its first byte on. A file that is not `lasting` is of no use
    after a crash of the system, and need not outlive it. Any refusal of the disk (no space, no permission) is a
    `PasserbyError` naming the target.
    """
    temporary = _draft(target)
    try:
        with _refused(target):
            if private:
                os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
            yield temporary
            if lasting:
                with temporary.open("rb") as written:
                    os.fsync(written.fileno())  # else a crash of the system could leave the name without the content
            temporary.replace(target)
    finally:
        with suppress(OSError):  # there may be no such folder
            temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside the target: on success it becomes the target, on failure it vanishes."""
    draft = _draft(target)
    try:
        with _refused(target):
            draft.mkdir()
            yield draft
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _draft(target: Path) -> Path:
    """A name of its own beside the target: machines on one disk may have equal process numbers."""
    return target.with_name(f".{target.name}.{uuid4().hex[:TOKEN]}.part")


class _Opened:
    """A folder, open as long as this object lives: interruptions come at any line, also of a clean-up."""

    def __init__(self, folder: Path) -> None:
        self.number = os.open(folder, os.O_RDONLY)

    def __del__(self) -> None:
        if hasattr(self, "number"):  # an unopened file need not be closed
            os.close(self.number)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Within this, any other process is refused in a folder.

    The system lets go of the folder with the process, whatever ends it. Systems without locks have none here.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        yield
        return
    opened = _Opened(folder)
    try:
        with suppress(OSError):  # a disk of another machine may not know locks
            try:
                flock(opened.number, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise ConfigError(
                    f"another process is at work in {str(folder)!r}; wait until it has ended, or choose another folder"
                ) from None
        yield
    finally:
        del opened


def remove_drafts(target: Path) -> None:
    """Remove leftovers of killed processes beside a target; nobody else may be writing it now."""
    token = "[0-9a-f]" * TOKEN
    for draft in target.parent.glob(f".{glob.escape(target.name)}.{token}.part*"):
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


@contextmanager
def _refused(target: Path) -> Iterator[None]:
    """A refusal of the disk becomes a `PasserbyError` with the target's name."""
    try:
        yield
    except Exception as error:
        # polars reports a full disk as an error of its own.
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise
        raise PasserbyError(f"{target} could not be written: {why(error, target)}; nothing of it is left") from error


def why(error: Exception, path: Path) -> str:
    """Why a file could not be written; for a full disk, its path and the space left."""
    try:
        free = shutil.disk_usage(path.parent).free
        left = f"{free / 1e6:,.0f} MB are left"
    except OSError:
        free, left = FULL, "nothing is left"
    # Polars gives the number of the system's error in words alone, and not even this at the end of a table.
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
    if not full and (isinstance(error, OSError) or free >= FULL):
        return getattr(error, "strerror", None) or str(error)
    return f"the disk is full ({left} where {str(path.parent)!r} lies); make room, or choose another folder"


def make_folder(folder: Path, name: str, *, private: bool = False) -> Path:
    """`folder`, made if need be; otherwise an `InputError` naming the intended folder.

    A `private` one is open to its owner alone.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
        if private:
            folder.chmod(0o700)
    except OSError as error:
        taken = next((each for each in (folder, *folder.parents) if each.is_file()), None)
        reason = f"{str(taken)!r} is a file" if taken else why(error, folder)
        raise InputError(f"{name}: cannot make the folder {str(folder)!r} ({reason}); name another") from None
    return folder


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path`, whole or not at all."""
    with whole_or_nothing(path) as draft:
        draft.write_text(as_json(value), encoding="utf-8")


def as_json(value: Any) -> str:
    """`value` as the text of a file."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
