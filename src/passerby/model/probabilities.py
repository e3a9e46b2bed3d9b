"""Arrays of probabilities: checked, divided by their sums, and frozen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError

Floats = NDArray[np.float64]

#: Rows whose sum is further from one than this are refused; closer ones are divided by their sum.
ROW_SUM_TOLERANCE = 1e-6


def normalised(values: Floats, name: str) -> Floats:
    """Probabilities whose rows sum to one, or an `InputError` that says where they are none."""
    for fault, mask in (
        ("is not a number", np.isnan(values)),
        ("is negative", values < 0),
        ("is infinite", values == np.inf),
    ):
        if mask.any():
            where = tuple(int(i) for i in np.argwhere(mask)[0])
            raise InputError(
                f"{name}[{', '.join(map(str, where))}] = {float(values[where])!r} {fault}; probabilities are needed"
            )
    total = values.sum(axis=-1, keepdims=True)
    off = np.abs(total[..., 0] - 1) > ROW_SUM_TOLERANCE
    if off.any():
        where = tuple(int(i) for i in np.argwhere(off)[0]) if off.ndim else ()
        row = f"[{', '.join(map(str, where))}]" if where else ""
        raise InputError(
            f"{name}{row} sums to {total[..., 0][where]:.9g}, not 1"
            + (f" ({off.sum()} such rows in all)" if off.sum() > 1 else "")
            + "; divide each row by its sum, or check for a missing place"
        )
    return np.asarray(values / total)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
