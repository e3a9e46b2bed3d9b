"""The paper's simulated default (100 places, 10 steps, tau 0.1, raw counts): the interval for every number of misses.

Prints two Markdown tables, for the default budget and for a larger one: the paper's bounds, the bounds by formula, the
best attack, the interval, and the seconds of one core.
Run with `.venv/bin/python benchmarks/interval_line.py`; `--small` does a line of 30 places and 6 steps.
"""

import argparse
import time

import passerby as pb

SENSORS = (7, 93, 41, 15, 60, 22, 88, 5, 50, 71)


def rows(prior: pb.MarkovPrior, release: pb.Release, budget: float) -> None:
    print(f"\nBudget {budget:.1e} elementary operations\n")
    print("| misses | loose | tight | fano | leakage | map | lower | upper | upper / lower | seconds |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for misses in range(release.steps):
        start = time.process_time()
        loss = pb.measure(prior, release, misses, budget=budget)
        spent = time.process_time() - start
        paper = " | ".join(f"{loss.bounds[name]:.3g}" for name in ("loose", "tight", "fano", "leakage"))
        print(
            f"| {misses} | {paper} | {loss.attacks['map'].value:.3g} | {loss.lower:.4g} | {loss.upper:.4g} | "
            f"{loss.upper / loss.lower:.3f} | {spent:.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a line of 30 places and 6 steps")
    parser.add_argument("--budgets", type=float, nargs="+", default=[2e10, 1.5e11])
    options = parser.parse_args()
    places, sensors = (30, [place * 3 // 10 for place in SENSORS[:6]]) if options.small else (100, list(SENSORS))
    prior, release = pb.line_prior(places, 0.1), pb.Release(sensors)
    pb.measure(pb.line_prior(4), pb.Release([1, 2, 3]), 1)  # compile
    print(f"{places} places, {release.steps} steps, sensors {sensors}")
    for budget in options.budgets:
        rows(prior, release, budget)


if __name__ == "__main__":
    main()
