"""A day of hours: 24 steps, 12 places, 3 random sensors at each step, raw counts; chains that stay with 0.3 and 0.7.

Prints a Markdown table: for each chain, number of misses and budget, how far apart the two ends are over 60 series that
were drawn, and the milliseconds of one core that a series took.
Run with `.venv/bin/python benchmarks/interval_day.py`; `--series 5` is quick.
"""

import argparse
import time

import numpy as np

import passerby as pb
from passerby.posterior import bracket_series
from passerby.series import sample_series

STEPS, PLACES, SENSORS = 24, 12, 3


def person(stay: float, seed: int) -> tuple[pb.MarkovPrior, pb.Release]:
    rng = np.random.default_rng(seed)
    moves = stay * np.eye(PLACES) + (1 - stay) * rng.dirichlet(np.ones(PLACES), PLACES)
    sensors = [rng.permutation(PLACES)[:SENSORS].tolist() for _ in range(STEPS)]
    return pb.MarkovPrior.stationary(moves), pb.Release(sensors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=60, help="published series, spread over three chains")
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.0, 1e7, 1e8, 4e8], help="operations per series")
    options = parser.parse_args()
    people = 3 if options.series >= 3 else 1
    each = options.series // people
    pb.measure(pb.line_prior(4), pb.Release([1, 2, 3]), 1)  # compile
    ends = "sum of upper / sum of lower | mean of upper / lower | largest"
    print(f"| stays with | misses | budget per series | {ends} | ms per series |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for stay in (0.3, 0.7):
        for misses in (6, 12, 18):
            for budget in options.budgets:
                lower, upper, spent = [], [], 0.0
                for seed in range(people):
                    prior, release = person(stay, seed)
                    series = sample_series(prior, release, np.random.default_rng(seed + 100), each)
                    # As a list of its own, so that every series is narrowed down to the tolerance.
                    series = type(series)(series.evidence, series.mass, sampled=False, left_over=0.0)
                    start = time.process_time()
                    found = bracket_series(prior, release, series, misses, 0.01, budget * each)
                    spent += time.process_time() - start
                    lower.append(found.lower)
                    upper.append(found.upper)
                low, high = np.concatenate(lower), np.concatenate(upper)
                ratio = high / low
                print(
                    f"| {stay} | {misses} | {budget:.0e} | {high.sum() / low.sum():.3f} | {ratio.mean():.3f} | "
                    f"{ratio.max():.2f} | {1000 * spent / len(low):.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
