"""A day of hours: 24 steps, 12 places, 3 random sensors at each step, raw counts; chains that stay with 0.3 and 0.7.

For each chain, number of misses and budget: how far apart the two ends are over 60 series that were drawn, and the
milliseconds of one core that a series took.
"""

import time

import numpy as np

import passerby as pb
from benchmarks.chains import scattered, stays
from benchmarks.record import Section, rounded
from passerby.outcomes.series import Series, sample_series
from passerby.questions.trace.guess import bracket_series

STEPS, PLACES, SENSORS = 24, 12, 3
PEOPLE, SERIES = 3, 20
#: Elementary operations per series.
BUDGETS = (0.0, 1e7, 1e8, 4e8)
QUICK = (0.0, 1e5)


def run(quick: bool = False) -> Section:
    section = Section("a day of hours")
    people, count = (1, 2) if quick else (PEOPLE, SERIES)
    for stay in (0.3, 0.7):
        for misses in (6, 12, 18):
            for budget in QUICK if quick else BUDGETS:
                ends, spent = [], 0.0
                for seed in range(people):
                    prior, release = stays(PLACES, stay, seed), pb.Release(scattered(PLACES, STEPS, SENSORS, seed))
                    drawn = sample_series(prior, release, np.random.default_rng(seed + 100), count)
                    # As a list of its own, so that every series is narrowed down to the tolerance.
                    drawn = Series(drawn.evidence, drawn.mass, sampled=False, left_over=0.0)
                    start = time.process_time()
                    found = bracket_series(prior, release, drawn, misses, 0.01, budget * count)
                    spent += time.process_time() - start
                    ends.append((found.lower, found.upper))
                low, high = np.concatenate(ends, axis=1)
                section.add(
                    stay=stay,
                    misses=misses,
                    budget=budget,
                    ratio=rounded(high.sum() / low.sum()),
                    mean=rounded((high / low).mean()),
                    largest=rounded((high / low).max()),
                    milliseconds=rounded(1000 * spent / len(low), 3),
                )
    return section
