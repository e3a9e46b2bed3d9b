"""The table of the paper's Theorem 1: the certified fast recursion against the full one, in NumPy.

The full one takes longer than all calls of the fast one together.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from benchmarks.record import Section
from passerby.questions.trace.kappa import log_joint_maxima

#: Places, steps, and how often the two are timed.
CASES = ((100, 10, 5), (500, 60, 1))
QUICK = ((20, 5, 1),)


def yardstick(prior: pb.MarkovPrior, steps: int) -> NDArray[np.float64]:
    """`log f(k)` by the recursion over gaps as the paper writes it (chains at equilibrium): O(T³ M² + T M³).

    `g(k, j, x) = max_Δ max_x' g(k-1, j-Δ, x') P^Δ(x', x)`, `f(k) = max_{j ≤ T-1} max_x g(k, j, x)`; in log space, one
    vectorised maximum for each gap and number of chosen steps.
    """
    powers = [prior.transition]
    while len(powers) < steps - 1:
        powers.append(powers[-1] @ prior.transition)
    with np.errstate(divide="ignore"):
        log_powers = np.log(powers)
        now = np.full((steps, prior.places), -np.inf)  # total gap, last place
        now[0] = np.log(prior.initial)
    out = [now.max()]
    for k in range(1, steps):
        after = np.full_like(now, -np.inf)
        for gap in range(1, steps - k + 1):
            for j in range(k - 1, steps - gap):
                reach = (now[j][:, None] + log_powers[gap - 1]).max(axis=0)
                np.maximum(after[j + gap], reach, out=after[j + gap])
        now = after
        out.append(now.max())
    return np.array(out)


def run(quick: bool = False) -> Section:
    section = Section("Theorem 1's table")
    for places, steps, repeats in QUICK if quick else CASES:
        prior = pb.line_prior(places, 0.1)
        fast, exact = log_joint_maxima(prior, steps)
        assert exact, "the fast recursion did not certify its values"
        full = partial(yardstick, prior, steps)
        np.testing.assert_allclose(fast, full(), atol=1e-9, rtol=1e-9)
        ours = partial(log_joint_maxima, prior, steps)
        section.compare("line", {"places": places, "steps": steps}, "plain NumPy", ours, full, repeats=repeats)
    return section
