"""Theorem 1's table at M = 500, T = 60: the certified fast path against the full recursion in plain NumPy.

Run with `.venv/bin/python benchmarks/joint_maxima.py`. The fast path is timed over several calls, the
yardstick, which takes longer than all of them, over one.
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from passerby.bounds import log_joint_maxima

PLACES, STEPS, CALLS = 500, 60, 5
RATIO = 20.0  # how many times faster the fast path must be


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


def main() -> None:
    prior = pb.line_prior(PLACES, 0.1)
    log_joint_maxima(pb.line_prior(5), 5)  # loads the kernels
    start = time.perf_counter()
    for _ in range(CALLS):
        fast, exact = log_joint_maxima(prior, STEPS)
    middle = time.perf_counter()
    quick = (middle - start) / CALLS
    full = yardstick(prior, STEPS)
    end = time.perf_counter()
    assert exact, "the fast path did not certify its values"
    np.testing.assert_allclose(fast, full, atol=1e-9, rtol=1e-9)
    ratio = (end - middle) / quick
    print(
        f"Theorem 1's table, {PLACES} places, {STEPS} steps: fast {quick:.3f} s, "
        f"full in NumPy {end - middle:.1f} s, ratio {ratio:.0f}; same values to 1e-9"
    )
    if ratio < RATIO:
        sys.exit(f"slower than {RATIO:.0f} times the full recursion")


if __name__ == "__main__":
    main()
