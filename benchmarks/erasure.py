"""The upper end of noisy counts with and without the bound `erasure`: `python -m benchmarks.erasure`.

People whose days are counted at several places with noise, at 12 and at 24 steps. With `--quick`, the first alone. With
`events`, what the same sets of raw counts would say of events, whose ends are drawn without them.
"""

import sys
from collections.abc import Iterator
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

import passerby as pb
from passerby.measurement.erasure import Erasure
from passerby.questions.trace.goal import pose
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.measure import conclude, investigate
from passerby.questions.trace.methods import METHODS

MISSES = 2
#: Steps, places, counts at each step, and the standard deviation of the noise.
CASES = ((12, 20, 4, 2.0), (12, 20, 4, 1.0), (12, 20, 12, 2.0), (24, 20, 4, 2.0), (24, 30, 12, 2.0), (24, 30, 12, 4.0))


def person(places: int, stays: float, seed: int = 0) -> pb.MarkovPrior:
    """Somebody who stays with a chance, and else goes where few go often."""
    rng = np.random.default_rng(seed)
    moves = rng.random((places, places)) ** 4
    moves /= moves.sum(axis=1, keepdims=True)
    return pb.MarkovPrior.stationary(stays * np.eye(places) + (1 - stays) * moves)


def asked(case: tuple[int, int, int, float], stays: float, budget: float, without: bool) -> tuple[Loss, float]:
    """The loss with all methods, or without the bound, and the seconds it took."""
    steps, places, sensors, sigma = case
    release = pb.Release([list(range(sensors))] * steps, pb.Gaussian(sigma))
    effort: dict[str, Any] = {"tolerance": 0.01, "budget": budget, "confidence": 0.99, "runs": 1000, "series": "auto"}
    question = pose(person(places, stays), release, MISSES, 0, None, **effort)
    started = perf_counter()
    used = [method for method in METHODS if not (without and method.name == "erasure")]
    loss = conclude(question, *investigate(question, used), started)
    return loss, perf_counter() - started


def table(budget: float, quick: bool = False) -> Iterator[list[object]]:
    """A row for each case and person: both ends, before and after, and seconds."""
    for case in CASES[:1] if quick else CASES:
        for stays in (0.2, 0.8):
            (before, first), (after, second) = (asked(case, stays, budget, without) for without in (True, False))
            ratio = before.upper / max(before.lower, 1e-300)
            now = after.upper / max(after.lower, 1e-300)
            ends = f"{before.lower:.2e}", f"{before.upper:.2e}", f"{ratio:.1f}", f"{after.upper:.2e}", f"{now:.1f}"
            yield [*case, stays, *ends, f"{first:.1f}", f"{second:.1f}"]


def events(quick: bool = False) -> Iterator[list[object]]:
    """A row for each event: the advantage from draws, and the mean of upper ends of raw counts that are shown."""
    steps, places = (3, 4) if quick else (12, 20)
    for sigma, sensors in product((2.0,) if quick else (2.0, 5.0, 20.0), (2,) if quick else (4, 12)):
        prior, release = person(places, 0.6), pb.Release([list(range(sensors))] * steps, pb.Gaussian(sigma))
        for place, window in product((1, places - 1), (range(steps), [steps // 2])):
            event = pb.Event(pb.Visitors([place], window))
            drawn = pb.measure(prior, release, event, budget=1e9).advantage
            sets = Erasure(release).drawn(0, 4 if quick else 60)
            shown = [pb.measure(prior, raw, event, tolerance=0.1).advantage.upper for raw in sets]
            mean, deviation = np.mean(shown), np.std(shown)
            yield [
                sigma,
                sensors,
                place,
                len(window),
                f"{drawn.lower:.4f} {drawn.upper:.4f} {mean:.4f} {deviation:.4f}",
            ]


if __name__ == "__main__":
    if sys.argv[1:] == ["events"]:
        print("sigma counts place steps lower upper shown deviation")
        for line in events():
            print(*line, flush=True)
        sys.exit()
    print("steps places counts sigma stays lower upper times after times seconds after")
    words = sys.argv[1:] or ["2e10"]
    quick = words == ["--quick"]
    for row in table(1e6, quick=True) if quick else table(float(words[0])):
        print(*row, flush=True)
    for row in events(quick=True) if quick else ():
        print(*row, flush=True)
