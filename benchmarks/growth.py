"""Time and memory against every size: exponents that are fitted, beside those of the formulas, and where the walls are.

Along each axis a size is doubled until a call takes `LONGEST` seconds. The exponent is that of a power law through the
upper end of what was measured; the formula's is fitted in the same way to its number of operations at the same sizes,
so that terms which are not yet negligible count in both. A wall is where the power law reaches a minute, or 8 GB.
"""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import passerby as pb
from benchmarks import read_visits
from benchmarks.chains import HELD, MISSES, chain, crowd, evidence, scattered, stays
from benchmarks.posterior import conditioned
from benchmarks.record import Row, Section, Work, pace, peak_bytes, rounded, seconds
from passerby.kernels.chain import decode
from passerby.outcomes.series import relative
from passerby.people.sensors import random_sensors
from passerby.questions.trace.guess import decode_series
from passerby.questions.trace.kappa import log_joint_maxima
from passerby.questions.trace.stretches import log_all_right

LONGEST, MINUTE, MEMORY = 1.0, 60.0, 8e9
#: The effort of an audit for each person: with noise, the default one of a single measurement takes longer than that.
AUDIT = 1e9
#: Less memory than this cannot be told from noise.
NOTICED = 8e6
#: A power law is fitted to what takes at least this share of the longest call.
UPPER_END = 1 / 64
FEWEST = 3
#: Of a quick run.
ROWS = 10_000

Formula = Callable[..., float]


class Point(NamedTuple):
    """What one size takes, and how wide the interval is where there is one."""

    seconds: float
    bytes: int | None
    ratio: float | None = None


@dataclass(frozen=True)
class Task:
    """Work along some of its sizes, each doubled from the one given here up to the largest that makes sense."""

    name: str
    formula: str
    point: Callable[..., Point]
    sizes: dict[str, int]
    along: dict[str, float]
    operations: Formula | None = None
    bytes: Formula | None = None
    longest: float = LONGEST


def called(build: Callable[..., Work], **sizes: int) -> Point:
    """Time, memory and result of the work that is built for these sizes."""
    work = build(**sizes)
    results: list[object] = []
    held = peak_bytes(lambda: results.append(work()))
    loss = results.pop()
    ratio = loss.upper / loss.lower if isinstance(loss, pb.Loss) else None
    return Point(seconds(work), held, ratio)


def decoding(places: int, steps: int) -> Work:
    prior, release = chain("dense", places), pb.Release(scattered(places, steps), pb.Gaussian(1.0))
    return partial(decode_series, prior, release, evidence(prior, release, 20)[0])


def conditioning(places: int, steps: int) -> Work:
    prior, release = chain("dense", places), pb.Release(scattered(places, steps), pb.Gaussian(1.0))
    weights = relative(evidence(prior, release, 1)[0])[0]
    return lambda: conditioned(prior, release)[0](weights)


def scoring(places: int, steps: int, misses: int) -> Work:
    prior = chain("dense", places)
    even, guess = (pb.Release.silent(steps).classes(prior), np.ones((steps, 1))), np.zeros(steps, dtype=np.int64)
    return partial(decode.success, prior.initial, prior.matrices, prior.place_of, *even, guess, misses)


def getting_all_right(places: int, steps: int, sensors: int) -> Work:
    return partial(log_all_right, chain("line", places), pb.Release(scattered(places, steps, sensors)), 0)


def informing(places: int, steps: int, sensors: int) -> Work:
    release = pb.Release(scattered(places, steps, sensors))
    return partial(pb.mutual_information, chain("line", places), release, "exact")


def bounding(places: int, steps: int) -> Work:
    return partial(log_joint_maxima, chain("line", places), steps)


def measuring(places: int, steps: int, misses: int, sensors: int) -> Work:
    release = pb.Release(scattered(places, steps, sensors))
    return partial(pb.measure, stays(places, 0.5, seed=0), release, misses)


def measuring_noise(places: int, steps: int, misses: int) -> Work:
    release = pb.Release(scattered(places, steps), pb.Gaussian(1.0))
    return partial(pb.measure, stays(places, 0.5, seed=0), release, misses, budget=AUDIT)


def narrowing(one_in: int) -> Work:
    """A person whose ten steps are hard to guess, to a tolerance of one in so many."""
    return partial(pb.measure, stays(10, 0.5, seed=0), pb.Release(scattered(10, 10)), 5, tolerance=1 / one_in)


def auditing(people: int, places: int) -> Work:
    fitted = pb.fit_people(crowd(people, places), holdout=HELD)
    return partial(pb.audit, fitted, pb.Release(random_sensors(fitted)), MISSES, workers=1)


def reading(rows: int) -> Point:
    """A file of so many rows, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkins.txt")
        read_visits.generate(path, rows)
        found = read_visits.timed("ours", path)
    return Point(found["cpu"], found["bytes"])


def stretches(places: int, steps: int, sensors: int) -> float:
    return (1 + steps * sensors) * steps * places**2


ANY = math.inf
TASKS = (
    Task(
        "MAP", "T M²", partial(called, decoding), {"places": 100, "steps": 50}, {"steps": ANY, "places": ANY},
        lambda places, steps: steps * places**2,
    ),
    Task(
        "posterior chain", "T M²", partial(called, conditioning), {"places": 50, "steps": 50},
        {"steps": ANY, "places": ANY},
        lambda places, steps: steps * places**2, lambda places, steps: 8 * steps * places**2,
    ),
    Task(
        "score of a guess", "T min(m, s+1) M²", partial(called, scoring), {"places": 30, "steps": 512, "misses": 8},
        {"steps": ANY, "places": ANY, "misses": 256},
        lambda places, steps, misses: steps * min(steps - misses, misses + 1) * places**2,
    ),
    Task(
        "loss without misses", "T² M² per sensor", partial(called, getting_all_right),
        {"places": 50, "steps": 20, "sensors": 1}, {"steps": ANY, "places": ANY, "sensors": 50}, stretches,
    ),
    Task(
        "information", "T² M² per sensor", partial(called, informing),
        {"places": 50, "steps": 20, "sensors": 1}, {"steps": ANY, "places": ANY, "sensors": 50}, stretches,
    ),
    Task(
        "Theorem 1's table", "T M², and a few powers: M³", partial(called, bounding), {"places": 100, "steps": 50},
        {"steps": ANY, "places": ANY}, lambda places, steps: steps * places**2 + 2 * places**3,
    ),
    Task(
        "one person, raw counts", "", partial(called, measuring),
        {"places": 10, "steps": 5, "misses": 1, "sensors": 1}, {"steps": 640, "places": ANY, "sensors": 8},
    ),
    Task(
        "one person, noise", "", partial(called, measuring_noise), {"places": 10, "steps": 5, "misses": 1},
        {"steps": 640, "places": ANY},
    ),
    Task("one person, half right", "", partial(called, narrowing), {"one_in": 6}, {"one_in": 1000}),
    Task(
        "audit", "N, and nothing in M", partial(called, auditing), {"people": 50, "places": 101},
        {"people": ANY, "places": 15_000}, lambda people, places: people,
    ),
    # What is held while a block is read is large beside a short file, so that memory shows its slope in long ones only.
    Task(
        "reading", "rows", reading, {"rows": 500_000}, {"rows": ANY}, lambda rows: rows, lambda rows: rows,
        longest=4 * LONGEST,
    ),
)  # fmt: skip


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The exponent of a power law through values, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def reached(sizes: Sequence[int], values: Sequence[float], power: float, limit: float) -> float:
    """The size at which the power law through the last value reaches a limit."""
    return rounded(sizes[-1] * (limit / values[-1]) ** (1 / power), 2)


def upper_end(points: Sequence[tuple[int, float]], least: float) -> tuple[list[int], list[float]]:
    """Sizes and values in the end that matters, three at least; none where too few are of at least so much."""
    noticed = [(size, value) for size, value in points if value >= least]
    most = max((value for _, value in noticed), default=0.0)
    large = sum(value >= UPPER_END * most for _, value in noticed)
    kept = noticed[-max(large, FEWEST) :] if len(noticed) >= FEWEST else []
    return [size for size, _ in kept], [value for _, value in kept]


def fitted(task: Task, axis: str, points: dict[int, Point]) -> Row:
    """What a row says of an axis: the points, both exponents of time and of memory, and the walls."""
    row: Row = {
        "task": task.name,
        "along": axis,
        "fixed": {name: size for name, size in task.sizes.items() if name != axis},
        "formula": task.formula,
        "sizes": list(points),
        "seconds": [rounded(point.seconds) for point in points.values()],
        "bytes": [point.bytes for point in points.values()],
        "ratios": [point.ratio and rounded(point.ratio, 6) for point in points.values()],
    }
    times = [(size, point.seconds) for size, point in points.items()]
    space = [(size, float(point.bytes)) for size, point in points.items() if point.bytes is not None]
    for name, pairs, least, formula, limit in (
        ("time", times, 0.0, task.operations, MINUTE),
        ("memory", space, NOTICED, task.bytes, MEMORY),
    ):
        sizes, values = upper_end(pairs, least)
        if not sizes:
            continue
        power = steepest = exponent(sizes, values)
        row[name] = {"exponent": round(power, 2)}
        if formula is not None:
            by_formula = exponent(sizes, [formula(**task.sizes | {axis: size}) for size in sizes])
            row[name]["expected"] = round(by_formula, 2) + 0.0
            steepest = max(power, by_formula)  # what was measured may not have come to its full slope yet
        if steepest > 0.2:
            row[name]["wall"] = reached(sizes, values, steepest, limit)
    return row


def along(task: Task, axis: str, most: float = ANY) -> Row:
    """Double one size until it takes long, or is refused, or so many sizes were measured."""
    points: dict[int, Point] = {}
    size = task.sizes[axis]
    while size <= task.along[axis] and len(points) < most:
        try:
            points[size] = task.point(**task.sizes | {axis: size})
        except pb.PasserbyError:
            break
        if points[size].seconds > task.longest:
            break
        size *= 2
    return fitted(task, axis, points)


def run(quick: bool = False) -> Section:
    section = Section("growth")
    section.add(task="pace", seconds=pace())
    for task in TASKS:
        some = replace(task, sizes=task.sizes | {"rows": ROWS}) if quick and "rows" in task.sizes else task
        for axis in task.along:
            section.add(**along(some, axis, FEWEST if quick else ANY))
    return section
