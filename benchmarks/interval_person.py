"""People of realistic size: 13 places, mostly at one to three of them, 5 steps with a sensor each, raw counts.

Prints a Markdown table: for each number of misses, the largest and median ratio of the two ends, and the median time
(of one core) per person of `measure` and of its search alone.
Run with `.venv/bin/python benchmarks/interval_person.py`; `--people 20` is quick.
"""

import argparse
import time

import numpy as np

import passerby as pb
from passerby.posterior import bracket_series
from passerby.series import enumerate_series

PLACES, STEPS = 13, 5


def person(seed: int) -> tuple[pb.MarkovPrior, pb.Release]:
    """Habits fitted to about 50 moves between a few places, smoothed with how often everybody goes anywhere."""
    rng = np.random.default_rng(seed)
    everybody = rng.dirichlet(np.full(PLACES, 0.5))
    own = np.zeros(PLACES)
    own[rng.permutation(PLACES)[: rng.integers(1, 4)]] = 1.0
    own = 0.9 * rng.dirichlet(own + 1e-9) + 0.1 * everybody
    counts = np.zeros((PLACES, PLACES))
    here = rng.choice(PLACES, p=own)
    for _ in range(50):
        there = here if rng.random() < 0.5 else rng.choice(PLACES, p=own)
        counts[here, there] += 1
        here = there
    moves = (counts + everybody) / (counts.sum(axis=1, keepdims=True) + 1)
    likely = 0.5 * counts.sum(axis=0) / counts.sum() + 0.5 * everybody
    return pb.MarkovPrior.stationary(moves), pb.Release(rng.choice(PLACES, STEPS, p=likely))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=300)
    options = parser.parse_args()
    people = [person(seed) for seed in range(options.people)]
    pb.measure(*people[0], 1)  # compile
    print("| misses | largest upper / lower | median upper / lower | median ms, `measure` | median ms, search |")
    print("|---:|---:|---:|---:|---:|")
    for misses in range(STEPS):
        ratio, whole, search = [], [], []
        for prior, release in people:
            start = time.process_time()
            loss = pb.measure(prior, release, misses)
            whole.append(time.process_time() - start)
            ratio.append(loss.upper / loss.lower)
            series = enumerate_series(prior, release)
            assert series is not None
            start = time.process_time()
            bracket_series(prior, release, series, misses, 0.01, 2e10)
            search.append(time.process_time() - start)
        print(
            f"| {misses} | {max(ratio):.4f} | {np.median(ratio):.4f} | {1000 * np.median(whole):.2f} | "
            f"{1000 * np.median(search):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
