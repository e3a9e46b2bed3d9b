"""People per second of an audit, against a plain NumPy implementation of the paper's method, on one core each.

The yardstick does what the paper describes for one person, on the chain over all places: loose and tight bound, MAP
by sampling 1,000 traces. The audit gives the loss interval, baseline, all attacks and all bounds, and its tolerance is
the default one.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

import passerby as pb
from benchmarks.chains import HELD, MISSES, crowd
from benchmarks.record import Section, seconds
from passerby.people.sensors import random_sensors

PEOPLE, FEW = 2000, 20
#: Places, people whom the yardstick measures, repeats.
CASES = ((101, 5, 3), (1001, 1, 1))
QUICK = ((21, 1, 1),)
TARGET = 100.0


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


def plainly(priors: list[pb.MarkovPrior], sensors: list[int], rng: np.random.Generator) -> None:
    for prior in priors:
        yardstick(prior, sensors, rng)


def run(quick: bool = False) -> Section:
    section = Section("audit")
    # The yardstick's time grows with the square of the places: a person takes it long where there are many.
    for places, measured, repeats in QUICK if quick else CASES:
        count = FEW if quick else PEOPLE
        traces = crowd(count, places)
        as_in_paper = pb.fit_people(traces, holdout=HELD, habits="paper", name_elsewhere=True)
        sensors = [step[0] for step in random_sensors(as_in_paper)]
        release = pb.Release(sensors)
        priors = [as_in_paper.prior(person, reduced=False)[0] for person in range(measured)]
        rng = np.random.default_rng(0)
        loose, tight, _ = yardstick(priors[0], sensors, rng)
        found = pb.measure(priors[0], release, MISSES, method="sampling", runs=10)
        np.testing.assert_allclose([found.bounds["loose"], found.bounds["tight"]], [loose, tight], atol=2e-4)
        plain = partial(plainly, priors, sensors, rng)
        for case, people in (("a person", pb.fit_people(traces, holdout=HELD)), ("the paper's habits", as_in_paper)):
            audit = partial(pb.audit, people, release, MISSES, workers=1)
            table = audit()
            assert table["status"].is_in(["ok", "impossible"]).all()
            assert (table["upper"] <= table["lower"] * 1.0101).all()
            pairs = [(seconds(audit) / count, seconds(plain) / measured) for _ in range(repeats)]
            size = {"people": count, "places": places, "steps": HELD, "misses": MISSES}
            more = {"target": TARGET} if case == "a person" and places == CASES[0][0] else {}
            section.ratio(case, size, "plain NumPy", pairs, **more)
    return section
