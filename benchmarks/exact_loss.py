"""The exact loss, against qif's posterior g-vulnerability, up to the largest size that qif can hold.

qif takes the gain of every guess for every trace (`M^T` by `M^T`, twice in memory) and the channel (`M^T` by `2^T`):
only its own call is timed, not the tables that are made for it. passerby does the whole of `measure`, baseline, attacks
and bounds by formula included, with a tolerance of 0, so that both ends are the loss.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from benchmarks.chains import scattered, stays
from benchmarks.record import Section

Floats = NDArray[np.float64]

STEPS = 5
PLACES = (3, 5, 7)
QUICK = (3,)
MISSES = (0, 1, 2)
#: Memory that is counted on; the largest table is the largest that fits.
MEMORY = 8e9
TARGET = 100.0


def tables(prior: pb.MarkovPrior, release: pb.Release) -> tuple[NDArray[np.int8], Floats, Floats]:
    """All traces (n, T), their probabilities (n,), and which series each one leads to (n, 2^T)."""
    steps = release.steps
    traces = np.stack(np.unravel_index(np.arange(prior.places**steps), (prior.places,) * steps), axis=1)
    chance = prior.initial[traces[:, 0]] * prior.transition[traces[:, :-1], traces[:, 1:]].prod(axis=1)
    series = sum((traces[:, t] == step[0]) * 2**t for t, step in enumerate(release.sensors))
    return traces.astype(np.int8), chance, np.eye(2**steps)[series]


def gains(traces: NDArray[np.int8], misses: int) -> Floats:
    """1 where a guess has at most so many steps of a trace wrong (n, n)."""
    out = np.empty((len(traces), len(traces)))
    for start in range(0, len(traces), 512):
        rows = traces[start : start + 512]
        wrong = np.zeros((len(rows), len(traces)), dtype=np.int8)
        for t in range(traces.shape[1]):
            wrong += rows[:, t, None] != traces[:, t]
        out[start : start + 512] = wrong <= misses
    return out


def run(quick: bool = False) -> Section:
    section = Section("exact loss")
    qif = section.peer("qif", "qif")
    for places in (QUICK if quick else PLACES) if qif else ():
        assert 16 * places ** (2 * STEPS) <= MEMORY
        prior, release = stays(places, 0.5, seed=0), pb.Release(scattered(places, STEPS))
        traces, chance, channel = tables(prior, release)
        for misses in MISSES:
            gain = gains(traces, misses)
            largest = places == max(PLACES)
            ours = partial(pb.measure, prior, release, misses, tolerance=0.0)
            theirs = partial(qif.measure.g_vuln.posterior, gain, chance, channel)
            found, exact = ours(), theirs()
            np.testing.assert_allclose([found.lower, found.upper], exact, rtol=1e-9)
            size = {"traces": len(traces), "places": places, "steps": STEPS}
            more = {"repeats": 2, "target": TARGET} if largest else {"repeats": 1 if quick else 5}
            section.compare("loss", size | {"misses": misses}, "qif", ours, theirs, **more)
            del gain, theirs  # before the next table is made
    return section
