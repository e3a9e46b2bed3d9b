"""What more questions cost: presence at a dozen places for two adversaries, and five questions beside the trace alone.

A day of hours of a simulated city, 12 places counted at 24 steps, on one core. `--quick` runs to its end in seconds.
"""

import argparse
import time

import numpy as np

import passerby as pb
from passerby.audits.job import only, some_people
from passerby.audits.presence import presence

STEPS, MISSES = 24, 2
FIVE = ("trace", "counted", "each-step", "visited:{}", "never:{}")


def city(people: int, places: int) -> pb.People:
    return pb.fit_people(pb.simulate_city(people, places, 9, seed=1), window="1h", places=places, holdout=STEPS)


def seconds_of_presence(people: pb.People, release: pb.Release, adversary: str, sample: int) -> tuple[float, int]:
    """Processor seconds for all places, and how many pairs of a person and a place were measured."""
    began = time.process_time()
    table = presence(people, release, adversary=adversary, sample=sample)  # type: ignore[arg-type]
    return time.process_time() - began, table.height


def seconds_of_questions(people: pb.People, release: pb.Release, asked: list[str]) -> float:
    """Processor seconds to ask some people."""
    began = time.process_time()
    pb.audit(people, release, MISSES, questions=asked, workers=1)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--people", type=int, default=2000)
    given = parser.parse_args()
    count, some, sample = (60, 2, 2) if given.quick else (given.people, 40, given.people)
    people = city(count, 60)
    sensors = [list(range(12))] * STEPS
    few = only(people, some_people(people, some, 1))
    for mechanism in (pb.Raw(), pb.Gaussian(2.0)):
        release = pb.Release(sensors, mechanism)
        asked = [words.format(people.places[0]) for words in FIVE]
        seconds_of_questions(few, release, asked)
        one, five = seconds_of_questions(few, release, asked[:1]), seconds_of_questions(few, release, asked)
        print(f"{mechanism!r}: five questions take {five / one:.2f} times the trace alone ({1000 * one / some:.0f} ms)")
    release = pb.Release(sensors)
    for adversary in ("insider", "habits"):
        seconds_of_presence(only(people, np.arange(min(count, 30))), release, adversary, 2)
        spent, pairs = seconds_of_presence(people, release, adversary, sample)
        print(f"raw, 12 places, {count:,} people, {adversary}: {spent:.1f} processor seconds for {pairs:,} pairs")


if __name__ == "__main__":
    main()
