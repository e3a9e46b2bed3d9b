"""The disk cache of compiled kernels: a folder for each version of their sources.

To check a file on disk, numba looks only at the file of its kernel, not at the files of its helpers. The folder is
therefore named after a digest of all sources in this package.

Files loaded from it are run: numba keeps kernels as pickles. So the folder must be this user's, and closed to others.
"""

import atexit
import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba

_log = logging.getLogger("passerby")
SOURCES = Path(__file__).parent
config: Any = numba.config
#: A file present once all kernels are.
ALL = "all"


@cache
def digest() -> str:
    """A short name for the content of all kernel sources."""
    found = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        found.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def _made(folder: Path) -> bool:
    """Whether a folder is there, this user's alone, and can be written to, once it was tried to make it so."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if anybody_may_replace(folder.parent):
            return False
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _owned(folder):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _owned(folder: Path) -> bool:
    """Whether a folder is this user's; files others could have written are removed, and it is closed to them."""
    if not hasattr(os, "geteuid"):
        return True  # a system whose folders have no such owners
    found = folder.lstat()  # a link would be the owner's, wherever it leads
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return False
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        shutil.rmtree(folder)
        folder.mkdir(mode=0o700)
    elif found.st_mode & 0o077:
        folder.chmod(0o700)
    return True


def anybody_may_replace(folder: Path) -> bool:
    """Whether any user may replace a folder in here, or a link on the way here."""
    if not hasattr(os, "geteuid"):
        return False
    modes = [path.stat().st_mode for path in (folder.resolve(), *folder.resolve().parents)]
    return any(mode & stat.S_IWOTH and not mode & stat.S_ISVTX for mode in modes)


@cache
def folder() -> Path:
    """In `NUMBA_CACHE_DIR` if set, else the first usable of: beside the sources, the user's cache, a temporary folder.

    A folder of somebody else is not taken, nor one anybody may replace.
    """
    name, beside = f"kernels-{digest()}", SOURCES / "__pycache__"
    for base in [Path(config.CACHE_DIR)] if config.CACHE_DIR else [beside, *_of_user()]:
        if _made(base / name):
            for old in base.glob("kernels-*") if base == beside else ():
                if old.name != name:
                    shutil.rmtree(old, ignore_errors=True)
            return base / name
    base = Path(tempfile.mkdtemp(prefix="passerby-"))
    _log.warning("no folder for compiled kernels is this user's alone: they are kept in %s until this ends", base)
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(base)  # for processes started by this one
    (base / name).mkdir(mode=0o700)
    return base / name


def complete() -> bool:
    """Whether all kernels were compiled, and are in the folder."""
    return (folder() / ALL).exists()


def completed() -> None:
    """Keep in mind that all kernels were compiled."""
    (folder() / ALL).touch()


def _of_user() -> list[Path]:
    try:
        return [Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "passerby"]
    except RuntimeError:  # nobody's home
        return []


@contextmanager
def kept() -> Iterator[None]:
    """Within this, numba keeps its compiled code in the folder."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder())
    try:
        yield
    finally:
        config.CACHE_DIR = before
