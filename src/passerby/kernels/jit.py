"""How kernels are compiled: ahead of use, for one set of array types, and cached on disk.

Kernels see arrays only. Arguments are typed read-only, so frozen and fresh arrays share one compilation.

Letters used in all kernels: `T` steps, `M` states, `P` places, `S` counts at a step, `C` classes of states told apart
at a step, `x`, `y` states, `g` a named place, `t`, `u` steps, `k` a number of right steps (or steps still needed).

Kernels hand `np.int64(0)` and `np.bool_(True)` to helpers, not `0` and `True`: a helper is compiled anew for a literal.
Arrays are added, multiplied and compared in loops: for whole ones numba compiles how to complain about their shapes.
"""

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from numba import njit, types
from numba.core.options import DefaultOptions

from . import disk

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

_log = logging.getLogger("passerby")
#: Called with the name of each kernel not found on disk, once it is compiled.
listeners: list[Callable[[str], None]] = []
_announced = False


def kernel(signature: Any, **options: Any) -> Callable[[Function], Function]:
    """Compile a function for `signature`, release the interpreter lock in it, and keep the result on disk."""

    def compiled(function: Function) -> Function:
        with disk.kept(), _without_collection():
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
