"""An audit against a crowd: 200 people, 12 places that are all counted, 24 hours, raw, by `python -m benchmarks.crowd`.

Asked are the trace with two misses, whether somebody is counted, and presence at each place. Told are seconds by the
clock with two processes, processor seconds, and of how many upper ends are below those for somebody who knows
everybody else. `--quick` runs to its end in seconds.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import polars as pl

import passerby as pb
from passerby.audits.presence import presence

STEPS, MISSES, COUNTED = 24, 2, 12
#: A place with so many people for whom it is open whether they pass it has unknown others enough.
MANY = 20
#: An upper end is below another one if it is by more than rounding.
LESS, UPPER = 1e-6, "advantage_upper"


def city(people: int, places: int) -> pb.People:
    return pb.fit_people(pb.simulate_city(people, places, 14), window="1h", places=places, min_active=1, holdout=STEPS)


def used() -> float:
    """Processor seconds of this process and of those that it waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def timed(name: str, work: Callable[[], Any]) -> Any:
    """What some work gives; its seconds are printed."""
    began, before = time.perf_counter(), used()
    found = work()
    print(
        f"  {name}: {time.perf_counter() - began:.1f} s by the clock, {used() - before:.1f} of processors", flush=True
    )
    return found


def below(found: pl.DataFrame, insider: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Rows with both upper ends of the advantage, and whether that of the crowd is below."""
    both = found.join(insider, on=on, suffix="_insider").drop_nulls(UPPER)
    return both.with_columns(narrower=pl.col(UPPER) < pl.col(f"{UPPER}_insider") - LESS)


def said(what: str, rows: pl.DataFrame) -> None:
    """How many upper ends are narrower, and what they are on average."""
    if rows.height:
        mean, known = (float(rows[name].mean()) for name in (UPPER, f"{UPPER}_insider"))  # type: ignore[arg-type]
        share = float(rows["narrower"].mean())  # type: ignore[arg-type]
        print(f"  {what}: {share:.0%} of {rows.height:,} below, {mean:.3f} against {known:.3f} on average")


def run(people: pb.People, counted: int, sample: int) -> None:
    release = pb.Release([[*range(counted)]] * STEPS)
    crowd, asked = release.with_others(pb.Crowd()), [pb.Trace(MISSES), pb.InData()]
    found = timed("questions", lambda: pb.audit(people, crowd, MISSES, questions=asked, workers=2))
    present = timed("presence", lambda: presence(people, release, sample=sample, workers=2))
    known = pb.audit(people, release, MISSES, questions=asked, workers=2)
    seen = presence(people, release, adversary="insider", sample=sample, workers=2)
    for words in ("trace", "counted"):
        mine, theirs = (table.filter(pl.col("question") == words) for table in (found, known))
        said(words, below(mine, theirs, ["person"]))
    pairs = below(present, seen, ["person", "place"])
    said("presence", pairs)
    said(f"presence where over {MANY} may pass", pairs.filter(pl.len().over("place") > MANY))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few people, to see that it runs")
    parser.add_argument("--people", type=int, default=200)
    given = parser.parse_args()
    number = 20 if given.quick else given.people
    for places in (COUNTED, 5 * COUNTED):
        people = city(number, places)
        print(f"{len(people)} people, {places} places, {COUNTED} counted:", flush=True)
        run(people, COUNTED, number)


if __name__ == "__main__":
    main()
