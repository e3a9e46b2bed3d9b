"""The posterior of the trace given a series, against hmmlearn's forward and backward recursions.

passerby's backward pass leaves the posterior as a chain, start and matrices, because searches go on from there;
hmmlearn's two passes leave the probability of each place at each step. These are the same, and are compared.
hmmlearn has two versions: in logarithms, its default, and with scaling, its fast one.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from benchmarks.chains import chain, evidence, scattered
from benchmarks.record import Section
from passerby.kernels.chain.posterior import posterior, ranges
from passerby.outcomes.series import relative

Floats = NDArray[np.float64]

CASES = (("line", 100, 300, 20), ("habits", 13, 5, 2000), ("habits", 10, 300, 200))
QUICK = (("line", 8, 6, 4), ("habits", 5, 4, 3))
TARGET = 2.0


def conditioned(prior: pb.MarkovPrior, release: pb.Release) -> tuple[Callable[[Floats], Floats], Floats]:
    """What fills the posterior chain for weights (T, S + 1) and returns its start, and the matrices that it fills."""
    moves = np.zeros((release.steps - 1, prior.places, prior.places))
    given = prior.initial, prior.matrices, *ranges(prior.matrices), release.classes(prior)
    return lambda weights: posterior(*given, weights, moves)[0], moves


def ours(prior: pb.MarkovPrior, release: pb.Release, weights: Floats) -> Floats:
    """Probabilities of places (T, M), from the posterior chain."""
    work, moves = conditioned(prior, release)
    out = [work(weights)]
    for matrix in moves:
        out.append(out[-1] @ matrix)
    return np.array(out)


def scaling(hmmlearn: Any, prior: pb.MarkovPrior, likelihood: Floats) -> Floats:
    """The same by forward and backward passes that are scaled at each step."""
    _, forward, scale = hmmlearn.forward_scaling(prior.initial, prior.transition, likelihood)
    both = forward * hmmlearn.backward_scaling(prior.initial, prior.transition, likelihood, scale)
    return np.asarray(both / both.sum(axis=1, keepdims=True))


def logarithms(hmmlearn: Any, prior: pb.MarkovPrior, dense: Floats) -> Floats:
    """The same by forward and backward passes in logarithms."""
    _, forward = hmmlearn.forward_log(prior.initial, prior.transition, dense)
    both = forward + hmmlearn.backward_log(prior.initial, prior.transition, dense)
    both = np.exp(both - both.max(axis=1, keepdims=True))
    return np.asarray(both / both.sum(axis=1, keepdims=True))


def each(work: Callable[[Floats], object], given: Floats) -> None:
    """One call for each series; what it returns is let go, as those do who go on from it."""
    for one in given:
        work(one)


def run(quick: bool = False) -> Section:
    section = Section("forward-backward")
    hmmlearn = section.peer("hmmlearn", "hmmlearn._hmmc")
    for kind, places, steps, series in (QUICK if quick else CASES) if hmmlearn else ():
        prior = chain(kind, places)
        release = pb.Release(scattered(places, steps), pb.Gaussian(1.0))
        sparse, dense = evidence(prior, release, series)
        weights, likelihood = relative(sparse), np.exp(dense - dense.max(axis=2, keepdims=True))
        expected = ours(prior, release, weights[0])
        np.testing.assert_allclose(scaling(hmmlearn, prior, likelihood[0]), expected, atol=1e-10)
        np.testing.assert_allclose(logarithms(hmmlearn, prior, dense[0]), expected, atol=1e-10)

        size = {"series": series, "places": places, "steps": steps}
        chains = partial(each, conditioned(prior, release)[0], weights)
        for name, version, given in (("scaling", scaling, likelihood), ("logarithms", logarithms, dense)):
            theirs = partial(each, partial(version, hmmlearn, prior), given)
            more = {"target": TARGET} if name == "scaling" else {}
            repeats = 1 if quick else 5
            section.compare(f"{kind}, {name}", size, "hmmlearn", chains, theirs, repeats=repeats, **more)
    return section
