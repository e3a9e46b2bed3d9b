"""Whether two versions of this package say the same: random priors and releases, all mechanisms, audits.

`python -m benchmarks.same_numbers OLD NEW`, where both are checkouts (folders with `src`). Each version works in a
process of its own, through the front door only; what differs by more than 1e-12 is listed with both values.
`python -m benchmarks.same_numbers --quick` compares this version with itself, in a few cases.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import passerby as pb

#: Numbers that are closer than this, relative to the larger one, are called the same.
SAME = 1e-12
CASES, FEW = 300, 20
MECHANISMS: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Raw(),
    pb.Raw(),
    pb.Gaussian(0.5),
    pb.Gaussian(1.0),
    pb.Gaussian(1.0, clamped=True),
    pb.Gaussian(1.0, rounded=True),
    pb.Laplace(1.0),
    pb.Geometric(1.0),
    pb.Geometric(0.7, clamped=True),
    pb.DiscreteGaussian(1.0),
    pb.Rounding(3),
    pb.Suppression(3),
    pb.RandomRounding(3),
    pb.Sampling(0.5),
    pb.Bands((1, 3)),
    pb.AtLeast(2),
    pb.Miscount(0.1, 0.05),
    pb.Then(pb.Sampling(0.5), pb.Gaussian(1.0)),
    pb.Then(pb.Gaussian(1.0), pb.Rounding(3)),
)


def numbers(loss: pb.Loss) -> dict[str, float]:
    """All that a measurement says, by name."""
    return {
        "lower": loss.lower,
        "upper": loss.upper,
        "baseline.lower": loss.baseline.lower,
        "baseline.upper": loss.baseline.upper,
        **{f"attack {name}": attack.value for name, attack in loss.attacks.items()},
        **{f"bound {name}": value for name, value in loss.bounds.items()},
    }


def measured(cases: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Small random chains with sensors, misses and mechanisms drawn at random."""
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        places, steps = int(rng.integers(2, 7)), int(rng.integers(1, 7))
        shape = (places, places) if seed % 3 else (steps - 1, places, places)
        prior = pb.MarkovPrior(rng.dirichlet(np.ones(places)), rng.dirichlet(np.full(places, 0.7), shape[:-1]))
        sensors = [
            rng.choice(places, int(rng.integers(0, min(3, places + 1))), replace=False).tolist() for _ in range(steps)
        ]
        mechanism = MECHANISMS[seed % len(MECHANISMS)]
        others = [rng.integers(0, 5, len(step)).tolist() for step in sensors]
        release = pb.Release(sensors, mechanism, others)
        misses = int(rng.integers(0, steps))
        yield (
            f"{seed}: {mechanism!r}, {places} places, {sensors}, {misses} misses",
            numbers(pb.measure(prior, release, misses, budget=3e8, runs=200, seed=seed)),
        )
    for steps, misses in ((10, 2), (10, 7), (20, 18)):
        release = pb.Release(((7, 93, 41, 15, 60, 22, 88, 5, 50, 71) * 2)[:steps])
        yield (
            f"the line, {steps} steps, {misses} misses",
            numbers(pb.measure(pb.line_prior(), release, misses, budget=1e9)),
        )


def audited() -> Iterator[tuple[str, dict[str, float]]]:
    """Every column of every person of a simulated city, raw and through three mechanisms.

    Defaults that changed are given, so that both versions measure the same people: where steps begin and end, and
    whether "elsewhere" is a guess.
    """
    city = pb.simulate_city(people=60, places=40, days=8)
    fixed: dict[str, Any] = {"origin": "2024-01-01", "end": "2024-01-09", "min_active": 3}
    if "name_elsewhere" in signature(pb.fit_people).parameters:
        fixed["name_elsewhere"] = True
    for window, steps in (("6h", 4), ("1h", 24)):
        people = pb.fit_people(city, window=window, places=40, holdout=steps, **fixed)
        top = [int(place) for place in np.argsort(-people.background) if place != people.elsewhere][:4]
        for mechanism in (pb.Raw(), pb.Gaussian(1.0), pb.Rounding(5), pb.Geometric(1.0)):
            table = pb.audit(people, pb.Release([top] * steps, mechanism), 1, workers=1, budget=1e8, runs=40)
            for row in table.drop("person").iter_rows(named=True):
                yield f"{window}, {mechanism!r}, row", {k: v for k, v in row.items() if isinstance(v, float)}


def compare(old: list[Any], new: list[Any]) -> dict[str, list[float]]:
    """Relative differences beyond `SAME`, by the name of the number; the largest ones are printed."""
    out: dict[str, list[float]] = {}
    for (what, before), (_, after) in zip(old, new, strict=True):
        for name in before.keys() & after.keys():
            a, b = before[name], after[name]
            if abs(a - b) > SAME * max(abs(a), abs(b)):
                if len(out.setdefault(name, [])) < 5:
                    print(f"{what}: {name} was {a!r}, is {b!r}")
                out[name].append(abs(a - b) / max(abs(a), abs(b)))
        for name in before.keys() ^ after.keys():
            out.setdefault(f"{name} (in one only)", []).append(1.0)
    return out


def main(old: str | Path, new: str | Path, *words: str) -> int:
    """Run both versions, print what differs, and tell how many numbers do."""
    with tempfile.TemporaryDirectory() as scratch:
        found: list[Any] = []
        for folder in (old, new):
            file = Path(scratch) / f"{len(found)}.json"
            env = os.environ | {"PYTHONPATH": str(Path(folder).resolve() / "src")}
            subprocess.run([sys.executable, __file__, "--write", str(file), *words], check=True, env=env)
            found.append(json.loads(file.read_text()))
    differ = compare(*found)
    print(f"{len(found[0])} cases, {sum(len(values) for _, values in found[0])} numbers")
    for name, shares in sorted(differ.items()):
        print(f"{name}: {len(shares)} differ, by {max(shares):.2g} at most")
    if not differ:
        print("no number differs")
    return sum(map(len, differ.values()))


if __name__ == "__main__":
    here = Path(__file__).parents[1]
    match sys.argv[1:]:
        case ["--write", file]:
            Path(file).write_text(json.dumps([*measured(CASES), *audited()]))
        case ["--write", file, "--quick"]:
            Path(file).write_text(json.dumps([*measured(FEW)]))
        case ["--quick"]:
            sys.exit(main(here, here, "--quick"))
        case [old, new]:
            main(old, new)
