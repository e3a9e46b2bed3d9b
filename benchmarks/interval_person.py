"""People of realistic size: 13 places, mostly at one to three of them, 5 steps with a sensor each, raw counts.

For each number of misses: the largest and median ratio of the two ends, and the median milliseconds of one core that
`measure` and its search alone take per person.
"""

from functools import partial

import numpy as np

import passerby as pb
from benchmarks.chains import person
from benchmarks.record import Section, rounded, seconds
from passerby.outcomes.series import enumerate_series
from passerby.questions.trace.guess import bracket_series

PEOPLE, STEPS = 200, 5


def run(quick: bool = False) -> Section:
    section = Section("people of realistic size")
    people = [person(seed) for seed in range(3 if quick else PEOPLE)]
    for misses in range(STEPS):
        ratio, whole, search = [], [], []
        for prior, release in people:
            loss = pb.measure(prior, release, misses)
            ratio.append(loss.upper / loss.lower)
            whole.append(seconds(partial(pb.measure, prior, release, misses), 0.0))
            series = enumerate_series(prior, release)
            assert series is not None
            search.append(seconds(partial(bracket_series, prior, release, series, misses, 0.01, 2e10), 0.0))
        section.add(
            misses=misses,
            largest=rounded(max(ratio), 6),
            median=rounded(float(np.median(ratio)), 6),
            milliseconds=rounded(1000 * float(np.median(whole)), 3),
            search=rounded(1000 * float(np.median(search)), 3),
        )
    return section
