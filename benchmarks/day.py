"""Promised and found with what everybody did that day and without: by origin, and what chance alone leaves.

`python -m benchmarks.day --foursquare FILE --gowalla FILE` writes the table of days in docs/promises.md. With
`--cost`, it prints how long whole audits take, without the common part and with it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

import passerby as pb
from benchmarks import populations
from benchmarks.habits import origins, released
from passerby.audits.backtest import BacktestJob, run_backtest
from passerby.audits.calibration import Calibration
from passerby.people.fit import Fitting

PEOPLE, ORIGINS = 300, 3
#: The attacks that are compared: with the counts, and without.
PLAIN = ("map", "prior")
#: The share of the visits of its last day that a city with a holiday keeps.
KEPT = 40


def cases(given: argparse.Namespace) -> Iterator[tuple[str, pb.Visits, dict[str, Any]]]:
    """Visits by name, and how they are cut into steps."""
    for name in ("foursquare", "gowalla"):
        path: Path | None = getattr(given, name)
        if path:
            yield name, pb.read_visits(path), {"window": "20d", "min_active": 10, "holdout": 5}
    if given.quick:
        yield "city", pb.simulate_city(people=40, places=20, days=6), {"window": "6h", "min_active": 3, "holdout": 4}
        return
    city: dict[str, Any] = {"window": "3h", "min_active": 5, "holdout": 8, "misses": 2}
    for seed in (0, 1):
        visits = pb.simulate_city(people=300, places=200, days=12, seed=seed, seen=0.5)
        yield f"city {seed}", visits, city
        yield f"city {seed}, a holiday at last", holiday(visits, seed), city


def holiday(visits: pb.Visits, seed: int) -> pb.Visits:
    """The same visits with a last day on which most of them are missing."""
    table = visits.table
    last: Any = table["time"].max()
    day = last.replace(hour=0, minute=0, second=0, microsecond=0)
    kept = np.random.default_rng(seed).integers(0, 100, table.height) < KEPT
    return replace(visits, table=table.filter((pl.col("time") < day) | pl.Series(kept)))


def tried(visits: pb.Visits, how: dict[str, Any], common: bool) -> list[Calibration]:
    """A backtest of each origin, from the latest."""
    misses, held, found = how.get("misses", 1), how["holdout"], []
    for traces, least in list(origins(visits, how))[:ORIGINS]:
        work = BacktestJob(
            traces, Fitting(held, least, "auto", 1.0, "none", False, common), released(None), misses, PEOPLE, 0
        )
        try:
            found.append(run_backtest(work, 1))
        except pb.InputError:
            continue
    return found


def gap(found: Calibration) -> tuple[float, float]:
    """Mean |promised - right| over both attacks and all misses, and what chance alone leaves of it at most."""
    rows = found.by_misses.filter(pl.col("attack").is_in(PLAIN))
    chances, people = rows["promised"].to_numpy(), found.by_origin["people"][0]
    alone = np.sqrt(2 / np.pi * chances * (1 - chances) / people)
    return float((rows["right"] - rows["promised"]).abs().mean()), float(alone.mean())  # type: ignore[arg-type]


def cost(quick: bool) -> None:
    """How long habits, an audit and a backtest of the same people take in one process, without it and with it."""
    people = 60 if quick else 600
    made = [populations.leavers, populations.joiners, populations.drifters, populations.keepers]
    for make in made[: 1 if quick else None]:
        traces, took = make(people=people), []
        common: Literal["auto", "none"]
        for common in ("none", "auto", "none", "auto"):
            start = time.process_time()
            known = pb.fit_people(traces, holdout=5, common=common)
            pb.audit(known, pb.Release(pb.most_visited_sensors(known, 2)), misses=1, workers=1)
            pb.backtest(traces, holdout=5, common=common)
            took.append(time.process_time() - start)
        without, with_it = took[2:]  # the first round is for all that is made once
        print(f"| {make.__name__} | {without:.1f} s | {with_it:.1f} s | {with_it / without:.2f} |", flush=True)


def main() -> None:
    """The table, a row for each origin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--foursquare", type=Path)
    parser.add_argument("--gowalla", type=Path)
    parser.add_argument("--quick", action="store_true", help="one small city, to see that it runs")
    parser.add_argument("--cost", action="store_true", help="how long whole audits take, without and with it")
    given = parser.parse_args()
    if given.cost:
        cost(given.quick)
        return
    print("| visits | origin | people | promised, found (without) | promised, found (with) | gap | chance | score |")
    print("|---|---|---|---|---|---|---|---|")
    for name, visits, how in cases(given):
        for without, with_it in zip(*(tried(visits, how, common) for common in (False, True)), strict=True):
            rows = [found.row("prior") for found in (without, with_it)]
            pairs = [f"{100 * row['promised']:.0f} %, {100 * row['right']:.0f} %" for row in rows]
            gaps, alone = [gap(found)[0] for found in (without, with_it)], gap(with_it)[1]
            start, people = without.by_origin["start"][0][:10], without.by_origin["people"][0]
            scores = " -> ".join(f"{found.by_origin['score'][0]:.2f}" for found in (without, with_it))
            print(
                f"| {name} | {start} | {people} | {pairs[0]} | {pairs[1]} | {gaps[0]:.3f} -> {gaps[1]:.3f} | "
                f"{alone:.3f} | {scores} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
