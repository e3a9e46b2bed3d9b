"""Promised and found, at the published window and at earlier ones: the table of `docs/promises.md`.

`python -m benchmarks.promises --foursquare FILE --gowalla FILE --seeds 0 1 2 3` prints a row for each population of the
first seed and each promise: what was promised and what was found at each origin, the published window first, by habits
with what everybody did that day and by habits without it; what chance leaves there, and the verdict. Counts are the raw
ones of the two most visited places. The files are not part of this repository: they are left out where not given.

At the end it says of even seeds, of odd ones and of the files: the verdicts of all pages; how many single verdicts say
"came true" though the promise is not close for everybody at the published window; and in how many cases the interval
and the departure to be careful held the published window, and how wide it is: the mean end under it, and how often
that is vacuous. With `--quick`, one small population is tried.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import passerby as pb
from benchmarks import populations
from passerby.audits.attacks import BACKTESTED
from passerby.audits.calibration import ADDED, Calibration, windows_of
from passerby.audits.windows import close, highest_mean, least_departure
from passerby.people.sensors import most_visited_sensors

PEOPLE, MISSES = 200, 1
SHOWN = {"map": "with the counts", "prior": "without", ADDED: "what counts add", "visited": "to be at a counted place"}
HEAD = (
    "population",
    "promise",
    "promised (%)",
    "found (%)",
    'promised, `common="none"`',
    "found",
    "chance leaves",
    "verdict",
)
#: What verdicts are counted of.
PROMISES = ("map", "prior", ADDED)
#: An end from which on it says nothing, and promises that are not near it by themselves.
VACUOUS, HIGH = 0.95, 0.8
Made = Callable[[], pb.Visits | pb.Traces]


def cases(given: argparse.Namespace, seed: int) -> Iterator[tuple[str, Made, dict[str, Any]]]:
    """Populations by name, with what makes them and how they are cut into steps."""
    if given.quick:
        yield "leavers", lambda: populations.leavers(people=60, places=20, seed=0), {}
        return
    for name in ("foursquare", "gowalla") if seed == given.seeds[0] else ():
        path: Path | None = getattr(given, name)
        for window in ("10d", "20d") if path else ():
            yield f"{name}, {window}", lambda path=path: pb.read_visits(path), {"window": window}  # type: ignore[misc]
    for make in (
        populations.leavers,
        populations.joiners,
        populations.drifters,
        populations.keepers,
        populations.taxis,
    ):
        yield make.__name__, lambda make=make: make(seed=seed), {}  # type: ignore[misc]
    city: dict[str, Any] = {"people": 300, "places": 100, "seed": seed}
    yield "city, 14 days, 6h", lambda: pb.simulate_city(days=14, **city), {"window": "6h"}
    yield "city, 28 days, 8 of 6h", lambda: pb.simulate_city(days=28, **city), {"window": "6h", "holdout": 8}
    yield "city, 10 days, 1h", lambda: pb.simulate_city(days=10, **city), {"window": "1h"}
    seldom: dict[str, Any] = {**city, "people": 1000, "days": 120, "seen": 0.02}
    yield "city, seldom seen, 4d", lambda: pb.simulate_city(**seldom), {"window": "4d", "min_active": 5}


def sensors(people: pb.People) -> pb.Release:
    """Raw counts of the two most visited places."""
    return pb.Release(most_visited_sensors(people, 2))


def tried(data: pb.Visits | pb.Traces, options: dict[str, Any], common: Literal["auto", "none"]) -> Calibration:
    """Promised and found of habits with a common part, where it is chosen, and of those without it."""
    return pb.backtest(data, people=PEOPLE, misses=MISSES, release=sensors, common=common, **options)


def rows(name: str, found: Calibration, plain: Calibration) -> Iterator[str]:
    """A row of the table for each promise."""
    for what, words in SHOWN.items():
        both = [each.windows.filter(each.windows["what"] == what) for each in (found, plain)]
        windows = both[0]
        if windows.height:
            said, was, before, so = (
                " / ".join(f"{100 * share:.1f}" for share in each[column])
                for each in both
                for column in ("promised", "right")
            )
            without = f"{before} | {so}" if found is not plain else "same | same"
            chance = f"± {100 * windows['chance'][0]:.1f}"
            yield f"| {name} | {words} | {said} | {was} | {without} | {chance} | {windows['verdict'][0]} |"


def belied(data: pb.Traces | pb.Visits, options: dict[str, Any], found: Calibration) -> Iterator[bool]:
    """Of each verdict "came true", whether the promise is not close for everybody at the published window."""
    everyone = pb.backtest(data, origins=1, people=10**6, misses=MISSES, release=sensors, **options)
    for column in range(len(found.tried_misses)):
        for what in PROMISES:
            windows = windows_of(
                [each.of(what, column) for each in found.tried], found.independent, single=what != ADDED
            )
            promised, right = (float(side.mean()) for side in everyone.tried[0].of(what, column))
            if windows.verdict == "came true":
                yield abs(right - promised) > close(promised)


class Case(NamedTuple):
    """One promise: what the interval held, half its width, and the shares of the departure that is to be careful."""

    inside: bool
    half: float
    covered: bool
    promised: float
    right: float
    end: float


def held(found: Calibration) -> Iterator[Case]:
    """Whether the interval and the end to be careful held the published window, told by earlier windows alone."""
    for column in range(len(found.tried_misses)):
        for what in PROMISES:
            sides = [each.of(what, column) for each in found.tried]
            windows = windows_of(sides, found.independent, single=what != ADDED)
            ends, most = windows.expected(), windows.covered()
            if ends is not None and most is not None:
                apart, said, was = (float(each[0]) for each in (windows.differences, windows.promised, windows.right))
                inside, half = ends[0] <= apart <= ends[1], (ends[1] - ends[0]) / 2
                yield Case(inside, half, apart <= most, said, was, min(1.0, said + most))


def careful(found: Calibration) -> Iterator[Case]:
    """The same of the end that a page tells: of the likeliest trace, under the largest departure of all attacks."""
    for column in range(len(found.tried_misses)):
        nats = []
        for what in BACKTESTED:
            sides = [each.of(what, column) for each in found.tried]
            most, promised = windows_of(sides, found.independent).covered(), sides[0][0]
            if most is None:
                return
            nats.append(least_departure(promised, min(float((promised > 0).mean()), float(promised.mean()) + most)))
        promised, right = found.tried[0].of("map", column)
        end = highest_mean(promised, max(nats))
        yield Case(True, 0.0, float(right.mean()) <= end, float(promised.mean()), float(right.mean()), end)


@dataclass
class Part:
    """What is counted of some of the sets."""

    verdicts: Counter[str] = field(default_factory=Counter)
    belied: list[bool] = field(default_factory=list)
    held: list[Case] = field(default_factory=list)
    careful: list[Case] = field(default_factory=list)

    def words(self, name: str) -> str:
        """The same in a few lines."""
        pairs = [(float(each.inside), each.half) for each in self.held]
        inside, half = np.mean(pairs, axis=0) if pairs else (np.nan,) * 2
        return (
            f"{name}: {dict(self.verdicts)}; {sum(self.belied)} of {len(self.belied)} verdicts 'came true' are belied "
            f"by everybody; of {len(self.held)} cases the interval held {inside:.3f}, half as wide as "
            f"{100 * half:.1f} points on average\n"
            f"  ends to be careful, each promise: {wide(self.held)}\n  on a page: {wide(self.careful)}"
        )


def wide(cases: list[Case]) -> str:
    """How often an end held, and how wide it is."""
    if not cases:
        return "none"
    covered, promised, right, end = np.mean([each[2:] for each in cases], axis=0)
    vacuous = np.mean([each.end >= VACUOUS for each in cases])
    high = np.mean([float(each.end >= VACUOUS) for each in cases if each.promised < HIGH] or [np.nan])
    return (
        f"{covered:.3f} of {len(cases)} held; promised {promised:.3f}, found {right:.3f}, end {end:.3f} on average; "
        f"vacuous {vacuous:.3f} of all, and {high:.3f} of those promised less than {HIGH}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promises", description=__doc__)
    parser.add_argument("--foursquare", type=Path)
    parser.add_argument("--gowalla", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |")
    print("|---|---|---|---|---|---|---|---|")
    parts = {name: Part() for name in ("files", "even seeds", "odd seeds")}
    for seed in given.seeds:
        for name, make, options in cases(given, seed):
            data = make()
            found = tried(data, options, "auto")
            if seed == given.seeds[0]:
                shared = any("common=0.0" not in each.habits for each in found.tried)
                plain = tried(data, options, "none") if shared else found
                print("\n".join(rows(name, found, plain)), flush=True)
            read = name.startswith(("foursquare", "gowalla"))
            part = parts["files" if read else ("even seeds", "odd seeds")[seed % 2]]
            part.verdicts[found.verdict] += 1
            part.held += held(found)
            part.careful += careful(found)
            part.belied += [] if read else belied(data, options, found)
    print("", *(part.words(name) for name, part in parts.items()), sep="\n")


if __name__ == "__main__":
    main()
