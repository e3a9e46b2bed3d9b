"""Discrete stand-ins for a mechanism with a continuum of outputs: one that tells less, and one that tells more.

All that a published value tells of the target's presence is its likelihood ratio. Cut the ratios at a few thresholds.
Publishing only the bin is a function of the value, so it tells *less*. Moving each ratio of a bin to one of the bin's
ends, at random so that both laws are kept, can be undone by a random function of the result, so it tells *more*. The
loss lies between those of the two, and both have few outputs: their series can be listed, and nothing need be sampled.

The same device brackets channels in the construction of polar codes: Tal and Vardy (2013), "How to construct polar
codes", IEEE Transactions on Information Theory 59.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .mechanisms import Mechanism

Floats = NDArray[np.float64]

#: Cuts, in units of the spread of the log ratio; more where presence is rare, since only large ratios matter there.
CUTS = ((0.0,), (0.0, 1.5), (-0.3, 0.7, 1.8), (-0.7, 0.2, 1.1, 2.1))
#: Log ratios beyond this are certainty: they are not cut further, and their exponentials would overflow.
CERTAIN = 700.0


def stand_ins(mechanism: Mechanism, count: int, cuts: int) -> tuple[Floats, Floats] | None:
    """Likelihoods (outcomes, 2) without and with the target: of a stand-in that tells less, and of one that tells more.

    None where the mechanism does not know the law of its likelihood ratio.

    >>> from passerby import Gaussian
    >>> less, more = stand_ins(Gaussian(1.0), 0, 1)
    >>> less.round(4)
    array([[0.6915, 0.3085],
           [0.3085, 0.6915]])
    >>> more.round(4)
    array([[0.3829, 0.    ],
           [0.6171, 0.6171],
           [0.    , 0.3829]])
    """
    spread = mechanism.ratio_spread(count)
    if spread is None:
        return None
    low, scale, high = spread
    low, high = (low if low > -CERTAIN else -np.inf), (high if high < CERTAIN else np.inf)
    ends = np.unique(np.clip(np.array(CUTS[cuts - 1]) * scale, -CERTAIN, CERTAIN))
    ends = ends[(low < ends) & (ends < high)]
    absent, present = mechanism.ratio_tails(ends, count)
    a, b = (-np.diff(np.concatenate([[1.0], tail, [0.0]])) for tail in (absent, present))
    return np.stack([a, b], axis=1), _at_the_ends(a, b, np.exp(np.concatenate([[low], ends, [high]])))


def _at_the_ends(a: Floats, b: Floats, ratio: Floats) -> Floats:
    """Split the mass (a_i, b_i) of each bin between its ends: `a_i = u + v` and `b_i = u r_i + v r_{i+1}`."""
    out = np.zeros((len(ratio), 2))
    for i in range(len(a)):
        left, right = ratio[i], ratio[i + 1]
        if np.isinf(right):
            v, certain = 0.0, max(0.0, b[i] - a[i] * left)  # the end at infinity: only with the target
        else:
            v, certain = min(a[i], max(0.0, (b[i] - a[i] * left) / (right - left))), 0.0
        u = a[i] - v
        out[i] += u, u * left
        out[i + 1] += v, v * right if v else 0.0
        out[i + 1, 1] += certain
    return out
