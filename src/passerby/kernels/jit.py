"""How kernels are compiled: ahead of use, for one set of array types, and cached on disk.

Kernels see arrays only. Arguments are typed read-only, so that frozen and fresh arrays share one compilation.

Letters used in all kernels: `T` steps, `M` places, `S` sensors at a step, `x`, `y` places, `t`, `u` steps,
`k` a number of steps that are right (or still needed).
"""

from collections.abc import Callable
from typing import Any, cast

from numba import njit, types

Function = Callable[..., Any]

number = types.float64
whole = types.int64
flag = types.boolean
vector = types.Array(number, 1, "C", readonly=True)
matrix = types.Array(number, 2, "C", readonly=True)
cube = types.Array(number, 3, "C", readonly=True)
wholes = types.Array(whole, 1, "C", readonly=True)
whole_matrix = types.Array(whole, 2, "C", readonly=True)
flags = types.Array(flag, 1, "C", readonly=True)
out_vector, out_matrix, out_cube = number[::1], number[:, ::1], number[:, :, ::1]
out_wholes, out_whole_matrix = whole[::1], whole[:, ::1]

# Values are never NaN (minus infinity is fine), which lets maxima and minima use vector instructions.
_FAST = {"nnan", "nsz", "contract"}


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for `signature`, release the interpreter lock in it, and keep the result on disk."""
    return cast(
        Callable[[Function], Function], njit(signature, cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
    )


def inlined(function: Function) -> Function:
    """A helper of kernels, compiled into each of its callers."""
    return cast(Function, njit(function, nogil=True, error_model="numpy", fastmath=_FAST, inline="never"))
