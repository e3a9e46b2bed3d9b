"""What a question costs for a day of hours, beside the trace: `python -m benchmarks.questions`.

Processor milliseconds of one person, the least of several runs, with all ends of the answer. 24 steps, and 12 or 4
of 20 places counted at each, raw and with noise.
"""

import argparse
from itertools import product
from time import process_time
from typing import Any

import passerby as pb
from benchmarks.erasure import person

STEPS, PLACES, MISSES, BUDGET = 24, 20, 2, 1e9


def milliseconds(prior: pb.MarkovPrior, release: pb.Release, question: Any, runs: int) -> float:
    """The least time of an answer, after one that is not timed."""
    found = []
    for _ in range(runs + 1):
        started = process_time()
        answers = pb.measure(prior, release, question, budget=BUDGET)
        for answer in answers if isinstance(answers, list) else [answers]:
            if isinstance(answer, pb.EventAnswer):
                _ = answer.advantage, answer.power(0.01), answer.certain(0.9), answer.absent(0.9)
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
        "at another place": pb.Event(pb.Visitors([PLACES - 1], range(steps))),
        "at both": pb.Event(pb.Visitors([2, PLACES - 1], range(steps))),
        "never at another": pb.Event(pb.Visitors([PLACES - 1], range(steps)), never=True),
        "counted at all": pb.InData(),
        "each step": pb.EachStep(),
    }
    print(f"| counts | {' | '.join(every)} | all at once |\n|{'---|' * (len(every) + 2)}")
    for counts, (name, mechanism) in product((12, 4), (("raw", pb.Raw()), ("noise", pb.Gaussian(2.0)))):
        prior, release = person(PLACES, 0.6), pb.Release([list(range(counts))] * steps, mechanism)
        asked = [*every.values(), list(every.values())]
        times = [f"{milliseconds(prior, release, question, runs):.1f}" for question in asked]
        print(f"| {counts} {name} | {' | '.join(times)} |", flush=True)


if __name__ == "__main__":
    main()
