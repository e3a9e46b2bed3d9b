"""Promised and found, at the published window and at earlier ones: the table of `docs/backtest.md`.

`python -m benchmarks.promises --foursquare FILE --gowalla FILE` prints a row for each population and promise: what was
promised and what was found at each origin, the published window first, what chance leaves there, and the verdict.
Counts are the raw ones of the two most visited places. The files are not part of this repository, and are left out
where they are not given. At the end it says in how many cases the interval and the departure to be careful held the
published window, over all populations and numbers of misses. With `--quick`, one small population is tried.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import passerby as pb
from benchmarks import populations
from passerby.audits.calibration import ADDED, Calibration, windows_of
from passerby.people.sensors import most_visited_sensors

PEOPLE, MISSES = 200, 1
SHOWN = {"map": "with the counts", "prior": "without", ADDED: "what counts add", "visited": "to be at a counted place"}
Made = Callable[[], pb.Visits | pb.Traces]


def cases(given: argparse.Namespace) -> Iterator[tuple[str, Made, dict[str, Any]]]:
    """Populations by name, with what makes them and how they are cut into steps."""
    if given.quick:
        yield "leavers", lambda: populations.leavers(people=60, places=20, seed=0), {}
        return
    for name in ("foursquare", "gowalla"):
        path: Path | None = getattr(given, name)
        for window in ("10d", "20d") if path else ():
            yield f"{name}, {window}", lambda path=path: pb.read_visits(path), {"window": window}  # type: ignore[misc]
    seed = given.seed
    for make in (
        populations.leavers,
        populations.joiners,
        populations.drifters,
        populations.keepers,
        populations.taxis,
    ):
        yield make.__name__, lambda make=make: make(seed=seed), {}  # type: ignore[misc]
    city = {"people": 300, "places": 100, "seed": seed}
    yield "city, 14 days, 6h", lambda: pb.simulate_city(days=14, **city), {"window": "6h"}
    yield "city, 28 days, 8 of 6h", lambda: pb.simulate_city(days=28, **city), {"window": "6h", "holdout": 8}
    yield "city, 10 days, 1h", lambda: pb.simulate_city(days=10, **city), {"window": "1h"}
    seldom = {**city, "people": 1000, "days": 120, "seen": 0.02}
    yield "city, seldom seen, 4d", lambda: pb.simulate_city(**seldom), {"window": "4d", "min_active": 5}


def sensors(people: pb.People) -> pb.Release:
    """Raw counts of the two most visited places."""
    return pb.Release(most_visited_sensors(people, 2))


def rows(name: str, found: Calibration) -> Iterator[str]:
    """A row of the table for each promise."""
    for what, words in SHOWN.items():
        windows = found.windows.filter(found.windows["what"] == what)
        if windows.height:
            said, was = (
                " / ".join(f"{100 * each:.1f}" for each in windows[column]) for column in ("promised", "right")
            )
            chance = f"± {100 * windows['chance'][0]:.1f}"
            yield f"| {name} | {words} | {said} | {was} | {chance} | {windows['verdict'][0]} |"


def held(found: Calibration) -> Iterator[tuple[bool, bool, float]]:
    """Whether the interval and the departure held the published window, and half the width of the interval."""
    for column in range(len(found.tried_misses)):
        for what in ("map", "prior", ADDED):
            sides = [each.of(what, column) for each in found.tried]
            windows = windows_of(sides, found.independent, single=what != ADDED)
            ends, most = windows.expected(), windows.covered()
            if ends is not None and most is not None:
                apart = float(windows.differences[0])
                yield ends[0] <= apart <= ends[1], apart <= most, (ends[1] - ends[0]) / 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promises", description=__doc__)
    parser.add_argument("--foursquare", type=Path)
    parser.add_argument("--gowalla", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    print("| population | promise | promised (%) | found (%) | chance leaves | verdict |")
    print("|---|---|---|---|---|---|")
    verdicts, tried = Counter[str](), list[tuple[bool, bool, float]]()
    for name, make, options in cases(given):
        found = pb.backtest(make(), people=PEOPLE, misses=MISSES, release=sensors, **options)
        print("\n".join(rows(name, found)), flush=True)
        verdicts[found.verdict] += 1
        tried += held(found)
    inside, covered, half = np.mean(tried, axis=0) if tried else (np.nan,) * 3
    print(
        f"\nverdicts: {dict(verdicts)}; of {len(tried)} cases the interval held {inside:.3f}, half as wide as", end=" "
    )
    print(f"{100 * half:.1f} points on average, and the departure to be careful {covered:.3f}")


if __name__ == "__main__":
    main()
