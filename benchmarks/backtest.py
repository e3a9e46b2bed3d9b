"""What the backtest adds to an audit of 10,000 people: five steps, one sensor at each, raw counts, on one core.

An audit of everybody takes a time in proportion to the people, so it is measured on some of them; fitting habits to all
and the whole backtest, which is bounded, are measured as they are. All is told beside an audit with the paper's habits
and without a backtest.
"""

from functools import partial

import numpy as np

import passerby as pb
from benchmarks.chains import HELD, MISSES, crowd
from benchmarks.record import Section, rounded, seconds
from passerby.audits.job import only, some_people
from passerby.audits.settings import BacktestSettings

PEOPLE, PLACES, SOME = 10_000, 101, 500
#: With the backtest, an audit takes at most so many times as long as one with the paper's habits and without it.
MOST = 6.0
QUICK = (200, 21, 10)


def run(quick: bool = False) -> Section:
    section = Section("backtest")
    count, places, sampled = QUICK if quick else (PEOPLE, PLACES, SOME)
    traces = crowd(count, places)
    base = 0.0
    for habits in ("paper", "auto"):
        fitted = pb.fit_people(traces, holdout=HELD, habits=habits)
        fit = seconds(partial(pb.fit_people, traces, holdout=HELD, habits=habits))
        release = pb.Release(pb.most_visited_sensors(fitted))
        some = only(fitted, some_people(fitted, sampled))
        audit = partial(pb.audit, some, release, MISSES, workers=1)
        assert audit()["lower"].null_count() == 0
        plain = fit + seconds(audit) * count / sampled
        went_back = partial(pb.backtest, traces, holdout=HELD, misses=MISSES, release=release, habits=habits)
        found = went_back()
        assert np.isfinite(found.gap)
        more = seconds(went_back)
        base = base or plain
        section.add(
            case=habits,
            size={"people": count, "places": places, "steps": HELD, "misses": MISSES},
            fit=rounded(fit / base),
            without=rounded(plain / base),
            ratio=rounded((plain + more) / base),
            origins=found.origins,
            attacked=int(found.by_origin["people"].sum()),
            asked=BacktestSettings.backtest,
            most=MOST,
        )
    return section
