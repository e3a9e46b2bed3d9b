"""People per second of an audit, against a plain NumPy implementation of the paper's method, in one run.

Prints: 10,000 people at 101 places; time against the number of people; 101 against 10,000 places; and the ratio to the
yardstick below, which does what the paper describes for one person (loose and tight bound, MAP by sampling 1,000
traces) with NumPy alone.
"""

import argparse
import math
import resource
import time
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

import passerby as pb
from passerby.visits.sensors import random_sensors

STEPS, HELD, MISSES = 27, 5, 1


def crowd(people: int, places: int, seed: int = 0) -> pb.Traces:
    """Traces like those of check-ins: a few own places each, drawn by popularity, and long stays."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, places) ** 0.8
    popularity /= popularity.sum()
    own = rng.choice(places - 1, size=(people, 10), p=popularity)
    own[:, 0] = places - 1  # elsewhere
    weight = rng.dirichlet(np.array([3.0, *[0.5] * 9]), people)
    array = np.empty((people, STEPS), dtype=np.int32)
    for t in range(STEPS):
        pick = (rng.random((people, 1)) > weight.cumsum(axis=1)).sum(axis=1).clip(0, 9)
        fresh = own[np.arange(people), pick]
        array[:, t] = fresh if t == 0 else np.where(rng.random(people) < 0.4, array[:, t - 1], fresh)
    names = (*(f"place {i}" for i in range(places - 1)), "elsewhere")
    frequency = np.bincount(array.ravel(), minlength=places) / array.size
    starts = np.datetime64("2024-01-01", "us") + np.arange(STEPS) * np.timedelta64(20, "D")
    active = (array != places - 1).sum(axis=1).astype(np.int32)
    counts = np.stack([np.bincount(step, minlength=places) for step in array.T])
    return pb.Traces(array, names, pl.Series(range(people)), starts, timedelta(days=20), active, frequency, counts)


def timed(people: int, places: int, workers: int) -> float:
    fitted = pb.fit_people(crowd(people, places), holdout=HELD)
    release = pb.Release(random_sensors(fitted))
    start = time.perf_counter()
    table = pb.audit(fitted, release, MISSES, workers=workers)
    seconds = time.perf_counter() - start
    assert table["status"].is_in(["ok", "impossible"]).all()
    assert (table["upper"] <= table["lower"] * 1.0101).all()
    return seconds


def yardstick(prior: pb.MarkovPrior, sensors: list[int], rng: np.random.Generator) -> tuple[float, float, float]:
    """Loose bound, tight bound, success of MAP by sampling, written down plainly."""
    p, P, T, M = prior.initial, prior.transition, len(sensors), prior.places

    def h(law: ArrayLike) -> float:
        q = np.clip(np.asarray(law, dtype=float), 1e-300, 1)
        return float(-(q * np.log(q)).sum())

    marginal = [p]
    for _ in range(T - 1):
        marginal.append(marginal[-1] @ P)
    unknown = h(p) + sum(float(m @ [h(row) for row in P]) for m in marginal[:-1])
    seen = [m[c] for m, c in zip(marginal, sensors, strict=True)]
    told = h([seen[0], 1 - seen[0]])
    for t in range(1, T):
        both = marginal[t - 1][sensors[t - 1]] * P[sensors[t - 1], sensors[t]]
        joint = np.array([both, seen[t - 1] - both, seen[t] - both, 1 - seen[t - 1] - seen[t] + both])
        told += h(joint) - h([seen[t - 1], 1 - seen[t - 1]])
    ball = sum(math.comb(T, k) * (M - 1) ** k for k in range(MISSES + 1))
    errors = np.linspace(0, 1, 10_001)[1:-1]
    right = -errors * np.log(errors) - (1 - errors) * np.log(1 - errors) + errors * math.log((M**T - ball) / ball)
    loose = 1 - float(errors[np.argmax(right + math.log(ball) >= unknown - told)])
    powers = [np.linalg.matrix_power(P, k) for k in range(T)]
    g = {(1, 0): p}
    for k in range(2, T + 1):
        for j in range(k - 1, T):
            g[k, j] = np.max(
                [(g[k - 1, j - d][:, None] * powers[d]).max(axis=0) for d in range(1, j + 1) if (k - 1, j - d) in g],
                axis=0,
            )
    f = {k: max(float(v.max()) for (kk, _), v in g.items() if kk == k) for k in range(1, T + 1)}
    kappa = sum(math.comb(T, k) * f[T - k] for k in range(MISSES + 1))
    wins = np.linspace(0, 1, 10_001)[1:-1]
    allowed = -wins * np.log(wins) - (1 - wins) * np.log(1 - wins) + wins * math.log(kappa) >= -told
    tight = float(wins[allowed].max()) if allowed.any() else 1.0
    hits = 0
    with np.errstate(divide="ignore"):
        log_p, log_P = np.log(p), np.log(P)
    for _ in range(1000):
        trace = [rng.choice(M, p=p)]
        for _ in range(T - 1):
            trace.append(rng.choice(M, p=P[trace[-1]]))
        best, back = log_p.copy(), []
        for t in range(T):
            if t:
                ways = best[:, None] + log_P
                back.append(ways.argmax(axis=0))
                best = ways.max(axis=0)
            outside = np.arange(M) != sensors[t]
            best[outside if trace[t] == sensors[t] else ~outside] = -np.inf
        guess = [int(best.argmax())]
        for pointers in reversed(back):
            guess.append(int(pointers[guess[-1]]))
        hits += sum(a != b for a, b in zip(trace, reversed(guess), strict=True)) <= MISSES
    return loose, tight, hits / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    n, workers = options.people, options.workers
    timed(400, 101, workers)  # compile, load
    seconds = {size: timed(size, 101, workers) for size in (n // 4, n // 2, n)}
    print(f"{n} people, 101 places, {HELD} steps, {MISSES} miss, raw counts, {workers} workers: {seconds[n]:.1f} s")
    for size, value in seconds.items():
        print(f"  {size:>7} people: {value:6.1f} s, {size / value:6.0f} people/s")
    many = timed(n, 10_000, workers)
    print(f"  10,000 places: {many:.1f} s, {many / seconds[n] - 1:+.0%} against 101 places")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"  memory: {peak:.2f} GB here, {child:.2f} GB in the largest worker")

    fitted = pb.fit_people(crowd(20, 101), holdout=HELD)
    sensors = [step[0] for step in random_sensors(fitted)]
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for person in range(5):
        prior, _ = fitted.prior(person, reduced=False)
        loose, tight, _ = yardstick(prior, sensors, rng)
        ours = pb.measure(prior, pb.Release(sensors), MISSES, method="sampling", runs=10)
        assert abs(loose - ours.bounds["loose"]) < 2e-4
        assert abs(tight - ours.bounds["tight"]) < 2e-4
    each = (time.perf_counter() - start) / 5
    print(f"  yardstick: {1 / each:.2f} people/s; ratio {n / seconds[n] * each:.0f}")


if __name__ == "__main__":
    main()
