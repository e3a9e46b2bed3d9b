"""Two thousand random measurements of the paper's question, and what each says: a fence around the old numbers.

A case depends on its number alone, and uses the front door only, so that an earlier state of the package can be asked
the same (`tests/make_fence.py`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import passerby as pb

Floats = NDArray[np.float64]

#: How many cases there are.
CASES = 2000
#: What each says: a list of `numbers`, by case.
FILE = Path(__file__).parent / "reference_values" / "fence.json"
#: Digits of each number.
DIGITS = 12

MECHANISMS: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Raw(),
    pb.Gaussian(0.7),
    pb.Gaussian(3.0),
    pb.Laplace(1.5),
    pb.Geometric(1.0),
    pb.Rounding(2),
    pb.Rounding(5),
    pb.Suppression(3),
    pb.RandomRounding(3),
    pb.Sampling(0.6),
    pb.Then(pb.Geometric(0.8), pb.AtLeast(2)),
    pb.Then(pb.Gaussian(1.0), pb.Bands([0.5, 2.5])),
)


def rows(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Random probabilities along the last axis, of which some may be 0."""
    kind = rng.integers(0, 3)
    values = rng.random(shape) ** (1 if kind == 0 else 4) + 1e-3
    if kind == 2:
        values = values * (rng.random(shape) < 0.6)
        values[..., 0] += 1e-2
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def prior_of(rng: np.random.Generator, places: int, steps: int) -> pb.MarkovPrior:
    """Habits of one of several kinds."""
    kind = int(rng.integers(0, 7))
    start, moves = rows(rng, (places,)), rows(rng, (places, places))
    if kind == 0:
        return pb.line_prior(places, 0.3)
    if kind == 1:
        return pb.MarkovPrior.stationary(0.9 * moves + 0.1 / places)
    if kind == 2 and steps > 1:
        return pb.MarkovPrior(start, rows(rng, (steps - 1, places, places)))
    if kind == 3 and places > 2:
        may = np.ones(places, dtype=bool)
        may[-1] = False
        return pb.MarkovPrior(start, moves, guessable=may, elsewhere=places - 1)
    if kind == 4:
        other = pb.MarkovPrior(rows(rng, (places,)), rows(rng, (places, places)))
        return pb.MarkovPrior.mixture([0.3, 0.7], [pb.MarkovPrior(start, moves), other])
    if kind == 5:
        names = np.append(np.arange(places), rng.integers(0, places))
        return pb.MarkovPrior(rows(rng, (places + 1,)), rows(rng, (places + 1, places + 1)), place_of=names)
    return pb.MarkovPrior(start, moves)


def count_of(rng: np.random.Generator, places: int, steps: int) -> Any:
    """A count of one of several kinds."""
    zone = sorted(rng.choice(places, int(rng.integers(1, places)), replace=False).tolist())
    kind, others = int(rng.integers(0, 3)), int(rng.integers(0, 5))
    if kind == 1 and steps > 1:
        rest = [place for place in range(places) if place not in zone]
        return pb.Moved(zone, rest, step=int(rng.integers(0, steps - 1)), others=others)
    if kind == 2:
        return pb.Visitors(zone, range(steps), int(rng.integers(1, min(steps, 2) + 1)), others=others)
    return pb.Present(zone, step=int(rng.integers(0, steps)), others=others)


def release_of(rng: np.random.Generator, places: int, steps: int) -> tuple[Any, bool]:
    """A release of one of several kinds, and whether its others are known."""
    kind, mechanism = int(rng.integers(0, 10)), MECHANISMS[int(rng.integers(0, len(MECHANISMS)))]
    most = min(places, 3)
    grid = [rng.choice(places, int(rng.integers(0, most)), replace=False).tolist() for _ in range(steps)]
    if kind == 0:
        counts = [count_of(rng, places, steps) for _ in range(int(rng.integers(1, 4)))]
        return pb.Release(counts=list(dict.fromkeys(counts)), steps=steps, mechanism=mechanism), False
    if kind == 1:
        crowd = [pb.MarkovPrior(rows(rng, (places,)), rows(rng, (places, places))) for _ in range(3)]
        rule = mechanism if isinstance(mechanism, (pb.Raw, pb.Gaussian, pb.Geometric)) else pb.Raw()
        return pb.Release(grid, rule, others=pb.Crowd(crowd)), False
    if kind == 2:
        cut = [0] if rng.random() < 0.5 else []
        return pb.Release.adaptive(lambda history: cut if history and sum(history[-1]) else [1], min(steps, 4)), False
    others: Any = [rng.integers(0, 5, len(step)).tolist() for step in grid]
    if kind == 3:
        both = pb.Release(grid, mechanism, others), pb.Release([[0]] * steps, pb.Geometric(1.5))
        return both[0] + both[1], False
    return pb.Release(grid, mechanism, others), True


def case(number: int) -> tuple[pb.MarkovPrior, Any, dict[str, Any]]:
    """Habits, a release, and the other arguments of `measure`."""
    rng = np.random.default_rng([20261119, number])
    places = int(rng.integers(2, 7))
    steps = int(rng.integers(1, 7)) if rng.random() < 0.9 else int(rng.integers(8, 25))
    release, plain = release_of(rng, places, steps)
    steps = release.steps
    prior = prior_of(rng, places, steps)
    how: dict[str, Any] = {
        "misses": int(rng.integers(0, min(steps, 4))),
        "seed": int(rng.integers(0, 1000)),
        "runs": 40,
        "budget": float(rng.choice([1e5, 3e6, 3e7])),
        "tolerance": float(rng.choice([0.0, 0.01, 0.1])),
        "confidence": float(rng.choice([0.9, 0.99])),
    }
    look = rng.random()
    if look < 0.1:
        how["series"] = "sample"
    elif look < 0.2 and release.fixed:
        how["method"] = "sampling"
    elif look < 0.3 and plain:
        trace = prior.sample(1, steps, rng)
        values = release.publish(trace, rng)[0]
        how["published"] = [row[: len(step)].tolist() for row, step in zip(values, release.sensors, strict=True)]
    return prior, release, how


def numbers(loss: pb.Loss) -> dict[str, float]:
    """All that a loss says, by name."""
    found = {"lower": loss.lower, "upper": loss.upper}
    found |= {"baseline": loss.baseline.lower, "baseline upper": loss.baseline.upper}
    found |= {f"attack {name}": attack.value for name, attack in loss.attacks.items()}
    found |= {f"floor {name}": attack.floor for name, attack in loss.attacks.items()}
    return found | {f"bound {name}": bound for name, bound in loss.bounds.items()}


def said(number: int) -> dict[str, float] | str:
    """What a case says: its numbers, or why it was refused."""
    prior, release, how = case(number)
    try:
        return numbers(pb.measure(prior, release, **how))
    except pb.PasserbyError as error:
        return type(error).__name__


def short(value: float) -> float:
    """A number of so many digits."""
    return float(f"{value:.{DIGITS - 1}e}")


def load() -> list[dict[str, float] | str]:
    """What each case said, by its number."""
    stored = json.loads(FILE.read_text())
    names = stored["names"]
    return [
        row if isinstance(row, str) else {names[i]: value for i, value in zip(row[0], row[1], strict=True)}
        for row in stored["cases"]
    ]


def store(cases: list[dict[str, float] | str], path: Path = FILE) -> None:
    """Write what each case said, a line for each."""
    names: list[str] = list(dict.fromkeys(name for row in cases if not isinstance(row, str) for name in row))
    place = {name: i for i, name in enumerate(names)}
    lines = []
    for row in cases:
        packed: Any = row
        if not isinstance(row, str):
            packed = [[place[name] for name in row], [short(value) for value in row.values()]]
        lines.append(json.dumps(packed, separators=(",", ":")))
    path.write_text('{"names":' + json.dumps(names) + ',\n"cases":[\n' + ",\n".join(lines) + "\n]}\n")
