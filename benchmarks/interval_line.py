"""The paper's simulated default (100 places, 10 steps, tau 0.1, raw counts): the interval for every number of misses.

For several budgets: the paper's bounds, the bounds by formula, the best attack, the interval, and the seconds of one
core. The largest budget is spent on a few numbers of misses only.
"""

import time

import passerby as pb
from benchmarks.record import Section, pace, rounded

SENSORS = (7, 93, 41, 15, 60, 22, 88, 5, 50, 71)
#: Elementary operations, and the numbers of misses they are spent on.
BUDGETS = {2e9: range(10), 2e10: range(10), 1e11: (3, 5, 7)}
QUICK = {1e6: (2, 7)}
BOUNDS = ("loose", "tight", "fano", "leakage")


def run(quick: bool = False) -> Section:
    section = Section("the paper's line, by misses and budget")
    prior, release = pb.line_prior(100, 0.1), pb.Release(SENSORS)
    section.add(case="pace", seconds=pace())
    for budget, numbers in (QUICK if quick else BUDGETS).items():
        for misses in numbers:
            start = time.process_time()
            loss = pb.measure(prior, release, misses, budget=budget)
            spent = time.process_time() - start
            section.add(
                budget=budget,
                misses=misses,
                **{name: rounded(loss.bounds[name]) for name in BOUNDS},
                map=rounded(loss.attacks["map"].value),
                lower=rounded(loss.lower, 6),
                upper=rounded(loss.upper, 6),
                ratio=rounded(loss.upper / loss.lower, 6),
                seconds=rounded(spent),
            )
    return section
