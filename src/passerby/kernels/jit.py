"""How kernels are compiled: ahead of use, for one set of array types, and cached on disk.

Kernels see arrays only. Arguments are typed read-only, so frozen and fresh arrays share one compilation.

Letters used in all kernels: `T` steps, `M` states, `P` places, `S` counts at a step, `C` classes of states told apart
at a step, `x`, `y` states, `g` a named place, `t`, `u` steps, `k` a number of right steps (or steps still needed).

Kernels hand `np.int64(0)` and `np.bool_(True)` to helpers, not `0` and `True`: a helper is compiled anew for a literal.
Arrays are added, multiplied and compared in loops: for whole ones numba compiles how to complain about their shapes.

The disk cache of compiled kernels: a folder for each version of their sources.

To check a file on disk, numba looks only at the file of its kernel, not at the files of its helpers. The folder is
therefore named after a digest of all sources in this package.

Files loaded from it are run: numba keeps kernels as pickles. So the folder must be this user's, and closed to others.
"""

import atexit
import gc
import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

import numba
from numba import njit, types
from numba.core.options import DefaultOptions

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


Function = Callable[..., Any]

number = types.float64
whole = types.int64
flag = types.boolean
vector = types.Array(number, 1, "C", readonly=True)
matrix = types.Array(number, 2, "C", readonly=True)
cube = types.Array(number, 3, "C", readonly=True)
wholes = types.Array(whole, 1, "C", readonly=True)
whole_matrix = types.Array(whole, 2, "C", readonly=True)
whole_cube = types.Array(whole, 3, "C", readonly=True)
flags = types.Array(flag, 1, "C", readonly=True)
out_vector, out_matrix, out_cube, out_cubes = number[::1], number[:, ::1], number[:, :, ::1], number[:, :, :, ::1]
out_wholes, out_whole_matrix, out_whole_cube = whole[::1], whole[:, ::1], whole[:, :, ::1]

# Values are never NaN (minus infinity is fine), so maxima and minima can use vector instructions.
_FAST = {"nnan", "nsz", "contract"}
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FAST}
#: For kernels with each operation rounded by itself, to give NumPy's result to the last digit.
AS_NUMPY: dict[str, Any] = {"fastmath": False}
#: For helpers: no wrappers for calls from Python or C.
_UNWRAPPED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
#: For helpers without array results: no counts of the holders of an array, if numba can do so.
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}

#: Called with the name of each kernel not found on disk, once it is compiled.
listeners: list[Callable[[str], None]] = []
_announced = False


def kernel(signature: Any, **options: Any) -> Callable[[Function], Function]:
    """Compile a function for `signature`, release the interpreter lock in it, and keep the result on disk."""

    def compiled(function: Function) -> Function:
        with kept(), _without_collection():
            made = njit(signature, cache=True, **(_OPTIONS | options))(function)
        # NUMBA_DISABLE_JIT=1 leaves plain functions, to debug and to measure coverage.
        if made is not function and sum(made.stats.cache_misses.values()):
            _announce(f"{function.__module__}.{function.__name__}")
        return cast(Function, made)

    return compiled


@contextmanager
def _without_collection() -> Iterator[None]:
    """Within this, no garbage is looked for: numba makes many objects, and nearly all of them stay."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _announce(name: str) -> None:
    """Tell the listeners; else say the reason for waiting once, after the first small kernel was not found on disk."""
    global _announced
    for listener in listeners:
        listener(name)
    if not _announced and not listeners:
        _announced = True
        _log.warning("compiling passerby's kernels: about a minute, once; later runs load them from disk")


def inlined(function: Function) -> Function:
    """A helper of kernels, compiled into each of its callers, neither making nor returning arrays.

    The holders of an array are not counted in it: this would take longer than arithmetic on a dozen numbers. Tests
    check that it calls none of these either.
    """
    return _helper(function, **_UNCOUNTED)


def making(function: Function) -> Function:
    """A helper that makes arrays, and may return them to a kernel or to another helper making some."""
    return _helper(function)


def view(function: Function) -> Function:
    """A helper returning a part of an array: compiled as a part of each caller, whether the caller counts or not."""
    return _helper(function, inline="always")


def once(function: Function) -> Function:
    """A helper with one caller, compiled as a part of it; it takes no unpacked arguments."""
    return _helper(function, inline="always")


def adding(function: Function) -> Function:
    """An `inlined` helper with sums in any order, which lets them use vector instructions too."""
    return _helper(function, fastmath={*_FAST, "reassoc"}, **_UNCOUNTED)


def rounded(function: Function) -> Function:
    """A helper of kernels with the option `AS_NUMPY`."""
    return _helper(function, **AS_NUMPY)


def _helper(function: Function, **options: Any) -> Function:
    """A function called by kernels only: its wrapper for Python is not compiled."""
    return cast(Function, njit(function, **(_OPTIONS | _UNWRAPPED | options)))
