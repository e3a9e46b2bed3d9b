"""What a question costs for a day of hours, beside the trace: `python -m benchmarks.questions`.

Processor milliseconds of one person, the least of several runs. 24 steps, 12 counts at each, raw and with noise.
"""

import argparse
from time import process_time
from typing import Any

import passerby as pb
from benchmarks.erasure import person

STEPS, COUNTS, MISSES, BUDGET = 24, 12, 2, 1e9


def milliseconds(prior: pb.MarkovPrior, release: pb.Release, question: Any, runs: int) -> float:
    """The least time of an answer, after one that is not timed."""
    found = []
    for _ in range(runs + 1):
        started = process_time()
        pb.measure(prior, release, question, budget=BUDGET)
        found.append(1000 * (process_time() - started))
    return min(found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few steps, once, to see that it runs")
    given = parser.parse_args()
    steps, runs = (3, 1) if given.quick else (STEPS, 5)
    every: dict[str, Any] = {
        "trace": pb.Trace(MISSES),
        "at a counted place": pb.Event(pb.Visitors([2], range(steps))),
        "at another place": pb.Event(pb.Visitors([COUNTS], range(steps))),
        "counted at all": pb.InData(),
        "each step": pb.EachStep(),
    }
    print(f"| counts | {' | '.join(every)} | all five |\n|{'---|' * (len(every) + 2)}")
    for name, mechanism in (("raw", pb.Raw()), ("noise", pb.Gaussian(2.0))):
        prior, release = person(COUNTS + 1, 0.6), pb.Release([list(range(COUNTS))] * steps, mechanism)
        asked = [*every.values(), list(every.values())]
        times = [f"{milliseconds(prior, release, question, runs):.1f}" for question in asked]
        print(f"| {name} | {' | '.join(times)} |", flush=True)


if __name__ == "__main__":
    main()
