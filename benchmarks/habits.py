"""Habits as in the paper and as chosen: how likely they make later steps, and whether what they promise comes true.

`python -m benchmarks.habits --foursquare FILE --gowalla FILE` prints the table of `docs/habits.md`: for each population
the people at each of three origins, the mean log probability of a step that was really made at each, the mean of
|promised - right| over all numbers of misses, with the counts of the most visited place and without them, for all
origins together and at each, and the largest of these differences with its interval. The files are not part of this
repository, and are left out where they are not given. With `--speed`, it prints how long an audit of 10,000 people
takes with either.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import passerby as pb
from benchmarks import populations
from benchmarks.chains import HELD, MISSES, crowd
from passerby.audits.backtest import earlier_origins, first_steps
from passerby.people.sensors import random_sensors

ORIGINS, PEOPLE = 3, 400
Options = dict[str, Any]


def cases(given: argparse.Namespace) -> Iterator[tuple[str, Callable[[], pb.Visits | pb.Traces], Options]]:
    """Populations by name, with what makes them and how they are cut into steps."""
    for name in ("foursquare", "gowalla"):
        path: Path | None = getattr(given, name)
        if path:
            yield name, lambda path=path: pb.read_visits(path), {"window": "20d"}  # type: ignore[misc]
    for window, days in (("6h", 14), ("6h", 28), ("1h", 14), ("1h", 28)):
        yield (
            f"city, {days} days, {window}",
            lambda days=days: pb.simulate_city(people=400, places=200, days=days),  # type: ignore[misc]
            {"window": window},
        )
    seldom = {"people": 1000, "places": 100, "days": 120, "seen": 0.02}
    yield "city, seldom seen, 4d", lambda: pb.simulate_city(**seldom), {"window": "4d", "min_active": 5}  # type: ignore[arg-type]
    for make in (
        populations.leavers,
        populations.joiners,
        populations.drifters,
        populations.keepers,
        populations.taxis,
    ):
        yield make.__name__, make, {}


def endings(visits: pb.Visits | pb.Traces, options: Options) -> Iterator[tuple[pb.Visits | pb.Traces, Options]]:
    """What was there up to the end of what follows each origin, from the latest."""
    whole = (
        visits if isinstance(visits, pb.Traces) else pb.window_visits(visits, window=options["window"], min_active=1)
    )
    for cut in earlier_origins(len(whole.starts), HELD, ORIGINS):
        if isinstance(visits, pb.Traces):
            yield first_steps(visits, cut + HELD), options
        else:
            yield visits, {**options, "end": str(whole.starts[cut + HELD - 1] + np.timedelta64(whole.window))}


def figures(visits: pb.Visits | pb.Traces, options: Options, habits: str) -> list[str]:
    """People and scores by origin, the gap, and the largest difference between what was right and promised."""
    given: Options = {"holdout": HELD, "people": PEOPLE, "habits": habits}
    found = pb.backtest(visits, **options, **given, origins=ORIGINS)
    parts = islice(endings(visits, options), found.origins)
    each = [pb.backtest(part, **cut, **given, origins=1).gap for part, cut in parts]
    people, score = found.by_origin["people"].to_list(), found.by_origin["score"].to_list()
    table = found.by_misses.filter(pl.col("attack").is_in(["map", "prior"]))
    worst = table.row(int(np.abs(table["difference"].to_numpy()).argmax()), named=True)
    return [
        " / ".join(f"{n:,}" for n in people),
        " / ".join(f"{step:.2f}" for step in score),
        f"{found.gap:.3f}",
        " / ".join(f"{gap:.2f}" for gap in each),
        f"{worst['difference']:+.2f} ({worst['lower']:+.2f} to {worst['upper']:+.2f})",
    ]


def speed() -> None:
    """How long an audit of 10,000 people takes, in one process, habits and all."""
    traces = crowd(10_000, 100)
    for habits in ("paper", "auto"):
        start = time.process_time()
        people = pb.fit_people(traces, holdout=HELD, habits=habits)
        fitted = time.process_time() - start
        pb.audit(people, pb.Release(random_sensors(people)), misses=MISSES, workers=1)
        print(f"{habits}: {time.process_time() - start:.1f} s, of which {fitted:.1f} s for fitting", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.habits", description=__doc__)
    parser.add_argument("--foursquare", type=Path)
    parser.add_argument("--gowalla", type=Path)
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    if given.speed:
        speed()
        return
    columns = (
        "population",
        "habits",
        "people at each origin",
        "score of a step",
        "gap",
        "at each origin",
        "largest difference",
    )
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, make, options in cases(given):
        visits = make()
        for habits in ("paper", "auto"):
            print(f"| {' | '.join([name, habits, *figures(visits, options, habits)])} |", flush=True)


if __name__ == "__main__":
    main()
