"""Weekends that few days are known of: what habits promise for them, and what comes true.

`python -m benchmarks.weekends --seeds 30 31 32` prints a row for each way to cut simulated cities into steps: the share
of people who are found without counts, as promised and really, the mean log probability of a step that was really made,
and the mean of |promised - right| over all numbers of misses, with the counts of the most visited place and without
them. Numbers are means over the cities.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import polars as pl

import passerby as pb
from benchmarks.habits import released
from passerby.audits.backtest import BacktestJob, run_backtest
from passerby.people.fit import Fitting

#: The people of a city, those who are looked at, and the places.
PEOPLE, LOOKED_AT, PLACES = 600, 300, 150
FEW = 60


@dataclass(frozen=True)
class Case:
    """So many days from a start on, the last steps of which are to be found; `seen` is a share of the hours."""

    window: str
    days: int
    held: int
    seen: float = 1.0
    start: str = "2024-01-01"  # a Monday

    @property
    def misses(self) -> int:
        """One in eight, and at least one."""
        return max(1, self.held // 8)


CASES = (
    *(Case("12h", days, held) for days, held in ((14, 5), (13, 3), (21, 5), (28, 5))),
    *(Case("6h", days, held) for days, held in ((14, 8), (13, 4), (12, 4))),
    *(Case("1h", days, 24) for days in (12, 13, 14, 20)),
    Case("1h", 10, 24, start="2024-01-04"),
    Case("1d", 28, 2),
    *(Case("12h", days, 5, seen=0.2) for days in (12, 13, 14)),
    Case("6h", 14, 8, seen=0.3),
)


def found(case: Case, seed: int, people: int = PEOPLE) -> tuple[float, float, float, float]:
    """Promised and right without counts, the score of a step, and the gap."""
    city = pb.simulate_city(people, PLACES, case.days, seed=seed, seen=case.seen, start=case.start)
    traces = pb.window_visits(city, window=case.window, min_active=5)
    fitting = Fitting(case.held, 10, "auto", 1.0, "none", False)
    result = run_backtest(BacktestJob(traces, fitting, released(None), case.misses, LOOKED_AT, 0), 1)
    both = result.by_misses.filter(pl.col("attack").is_in(["map", "prior"]))
    apart = (both["right"] - both["promised"]).to_numpy()
    plain = both.filter(attack="prior", misses=case.misses).row(0, named=True)
    return plain["promised"], plain["right"], float(result.by_origin["score"][0]), float(np.abs(apart).mean())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weekends", description=__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[30, 31, 32])
    parser.add_argument("--quick", action="store_true", help="one way to cut and one small city, to see that it runs")
    given = parser.parse_args()
    seeds, cases, people = (given.seeds[:1], CASES[:1], FEW) if given.quick else (given.seeds, CASES, PEOPLE)
    columns = ("window", "days from", "to be found", "seen", "misses", "promised", "right", "score of a step", "gap")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    every = []
    for case in cases:
        every.append(np.mean([found(case, seed, people) for seed in seeds], axis=0))
        promised, right, score, gap = every[-1]
        start = f"{case.days} from {case.start}"
        told = (case.window, start, f"{case.held} steps", f"{case.seen:g}", str(case.misses))
        print(f"| {' | '.join(told)} | {promised:.1%} | {right:.1%} | {score:.4f} | {gap:.3f} |", flush=True)
    _, _, score, gap = np.mean(every, axis=0)
    print(f"| mean | | | | | | | {score:.4f} | {gap:.4f} |")


if __name__ == "__main__":
    main()
