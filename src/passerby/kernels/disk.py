"""Where compiled kernels are kept: a folder for each version of their sources.

numba looks only at the file of a kernel to tell whether what is on disk is still right, not at those of its helpers.
The folder is therefore named after a digest of all sources in this package.
"""

import atexit
import hashlib
import logging
import os
import shutil
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
#: A file that is there once all kernels are.
ALL = "all"


@cache
def digest() -> str:
    """A short name for what the sources of all kernels say."""
    found = hashlib.sha256()
    for path in sorted(SOURCES.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def _made(folder: Path) -> bool:
    """Whether a folder is there and can be written to, once it was tried to make it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def folder() -> Path:
    """In `NUMBA_CACHE_DIR` if set, else beside the sources, in the user's cache or a temporary folder: what works."""
    name, beside = f"kernels-{digest()}", SOURCES / "__pycache__"
    for base in [Path(config.CACHE_DIR)] if config.CACHE_DIR else [beside, *_of_user()]:
        if _made(base / name):
            for old in base.glob("kernels-*") if base == beside else ():
                if old.name != name:
                    shutil.rmtree(old, ignore_errors=True)
            return base / name
    base = Path(tempfile.mkdtemp(prefix="passerby-"))
    _log.warning("no folder for compiled kernels can be written to: they are kept in %s until this ends", base)
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(base)  # for processes that this one starts
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
    """Within this, numba keeps what it compiles in the folder."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder())
    try:
        yield
    finally:
        config.CACHE_DIR = before
