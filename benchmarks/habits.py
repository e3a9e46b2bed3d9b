"""Habits as in the paper and as chosen: how likely they make later steps, and whether what they promise comes true.

`python -m benchmarks.habits --foursquare FILE --gowalla FILE` prints the table of `docs/habits.md`: for each population
the people at each of three origins, the mean log probability of a step that was really made at each, the mean of
|promised - right| over all numbers of misses, with the counts of the most visited place and without them, for all
origins together and at each, and the largest of these differences, together and at each. The files are not part of this
repository, and are left out where they are not given. With `--noise 2`, counts have normal noise of that standard
deviation; with `--seed`, towns and people are others. With `--quick`,
one small population is tried, to see that it runs. With `--speed`, it prints how long an audit of 10,000 people
takes with either.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import passerby as pb
from benchmarks import populations
from benchmarks.chains import HELD, MISSES, crowd
from passerby.audits.backtest import BacktestJob, earlier_origins, earlier_traces, first_steps, known_by, run_backtest
from passerby.people.fit import Fitting, tracing_for
from passerby.people.sensors import most_visited_sensors, random_sensors
from passerby.visits.all_visits import AllVisits
from passerby.visits.windows import traces_in

ORIGINS, PEOPLE, PLACES = 3, 400, 100
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
            lambda days=days: pb.simulate_city(people=400, places=200, days=days, seed=given.seed),  # type: ignore[misc]
            {"window": window},
        )
    yield (
        "city, 14 days, 24 of 1h",
        lambda: pb.simulate_city(people=400, places=200, days=14, seed=given.seed),
        {"window": "1h", "min_active": 24, "holdout": 24},
    )
    seldom = {"people": 1000, "places": 100, "days": 120, "seen": 0.02, "seed": given.seed}
    yield "city, seldom seen, 4d", lambda: pb.simulate_city(**seldom), {"window": "4d", "min_active": 5}
    for make in (
        populations.leavers,
        populations.joiners,
        populations.drifters,
        populations.keepers,
        populations.taxis,
    ):
        yield make.__name__, lambda make=make: make(seed=given.seed), {}  # type: ignore[misc]


def few(given: argparse.Namespace) -> Iterator[tuple[str, Callable[[], pb.Visits | pb.Traces], Options]]:
    """A population that takes a few seconds."""
    yield "leavers", lambda: populations.leavers(people=60, places=20, seed=given.seed), {}


def origins(visits: pb.Visits | pb.Traces, options: Options) -> Iterator[tuple[pb.Traces, int]]:
    """Traces up to the end of what follows each origin, from the latest, and in how many steps people must be known."""
    least = 1 if isinstance(visits, pb.Traces) else options.get("min_active", 10)
    held = options.get("holdout", HELD)
    if isinstance(visits, pb.Traces):
        cuts = earlier_origins(len(visits.starts), held, ORIGINS)
        yield from ((first_steps(visits, cut + held), known_by(least, cut, cuts[0])) for cut in cuts)
        return
    fitting = Fitting(held, least, "auto", 1.0, "none", False)
    how = tracing_for(AllVisits.of(visits), fitting, options["window"], PLACES, "most-visited", None, None)
    yield traces_in(visits, how), least
    for cut, each in earlier_traces(visits, how, fitting, ORIGINS, 0, PLACES).items():
        if not isinstance(each, str):
            yield each.whole, known_by(least, cut, how.fitted)


def released(noise: float | None) -> Callable[[pb.People], pb.Release]:
    """What is published of the people of an origin: the counts of the most visited place, raw or with noise."""
    mechanism = pb.Raw() if noise is None else pb.Gaussian(noise)
    return lambda people: pb.Release(most_visited_sensors(people), mechanism)


def figures(visits: pb.Visits | pb.Traces, options: Options, habits: str, noise: float | None) -> list[str]:
    """People and scores by origin, the gap and that of each, and the largest difference of right and promised."""
    found, held = [], options.get("holdout", HELD)
    for traces, least in origins(visits, options):
        fitting = Fitting(held, least, habits, 1.0, "none", False)
        work = BacktestJob(traces, fitting, released(noise), MISSES, PEOPLE, 0)
        with suppress(pb.InputError):  # too few people
            found.append(run_backtest(work, 1))
    people = [int(each.by_origin["people"][0]) for each in found]
    plain = [each.by_misses.filter(pl.col("attack").is_in(["map", "prior"])) for each in found]
    apart = np.array([(table["right"] - table["promised"]).to_numpy() for table in plain])
    mean = np.average(apart, axis=0, weights=people)
    worst = int(np.abs(mean).argmax())
    return [
        " / ".join(f"{n:,}" for n in people),
        " / ".join(f"{float(each.by_origin['score'][0]):.2f}" for each in found),
        f"{np.abs(mean).mean():.3f}",
        " / ".join(f"{gap:.2f}" for gap in np.abs(apart).mean(axis=1)),
        f"{mean[worst]:+.2f} ({' / '.join(f'{each:+.2f}' for each in apart[:, worst])})",
    ]


def speed(count: int) -> None:
    """How long an audit of so many people takes, in one process, habits and all."""
    traces = crowd(count, 100)
    for habits in ("paper", "auto"):
        start = time.process_time()
        people = pb.fit_people(traces, holdout=HELD, habits=habits)
        fitted = time.process_time() - start
        pb.audit(people, pb.Release(random_sensors(people)), misses=MISSES, workers=1)
        print(f"{habits}: {time.process_time() - start:.1f} s, of which {fitted:.1f} s for fitting", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.habits", description=__doc__)
    parser.add_argument("names", nargs="*", help="of populations; all by default")
    parser.add_argument("--foursquare", type=Path)
    parser.add_argument("--gowalla", type=Path)
    parser.add_argument("--noise", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    if given.speed:
        speed(100 if given.quick else 10_000)
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
    for name, make, options in few(given) if given.quick else cases(given):
        if given.names and name not in given.names:
            continue
        visits = make()
        for habits in ("paper", "auto"):
            print(f"| {' | '.join([name, habits, *figures(visits, options, habits, given.noise)])} |", flush=True)


if __name__ == "__main__":
    main()
