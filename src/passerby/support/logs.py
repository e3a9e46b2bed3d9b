"""Logarithms of probabilities, of which some are zero."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def logs(values: Floats) -> Floats:
    """Natural logarithms, minus infinity at zero, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)
