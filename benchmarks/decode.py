"""MAP for many published series, against the Viterbi recursions of hmmlearn, deeptime and dynamax.

hmmlearn's compiled kernel is called directly, without the model around it; deeptime's likewise, with probabilities,
as it wants them; dynamax is compiled for the whole batch and uses double precision. Traces may differ where several
are equally likely, so that it is their probabilities which must be the same.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from benchmarks.chains import chain, evidence, scattered
from benchmarks.record import Section, Work
from passerby.questions.trace.guess import decode_series
from passerby.support.numbers import logs

#: Kind of chain, places, steps, series: the size that the target is for, a person's, small ones and large ones.
CASES = (
    ("line", 100, 300, 200),
    ("habits", 100, 300, 100),
    ("dense", 100, 300, 100),
    ("habits", 13, 5, 5000),
    ("habits", 10, 300, 500),
    ("line", 1000, 30, 20),
)
QUICK = (("line", 8, 6, 4), ("dense", 5, 4, 3))
TARGET = 10.0


def peers(section: Section, prior: pb.MarkovPrior, dense: NDArray[np.float64]) -> Iterator[tuple[str, Work]]:
    """Each peer that is there, as work that returns traces."""
    initial, moves = prior.initial, np.ascontiguousarray(prior.transition)
    if (hmmlearn := section.peer("hmmlearn", "hmmlearn._hmmc")) is not None:
        yield "hmmlearn", lambda: [hmmlearn.viterbi(initial, moves, one)[1] for one in dense]
    if (deeptime := section.peer("deeptime", "deeptime.markov.hmm")) is not None:
        likelihood = np.exp(dense - dense.max(axis=2, keepdims=True))
        yield "deeptime", lambda: [deeptime.viterbi(moves, one, initial) for one in likelihood]
    if (dynamax := section.peer("dynamax", "dynamax.hidden_markov_model")) is not None:
        jax = section.peer("jax", "jax")
        batch = jax.jit(jax.vmap(dynamax.hmm_posterior_mode, (None, None, 0)))
        given = [jax.numpy.array(array) for array in (initial, moves, dense)]
        yield "dynamax", lambda: np.asarray(batch(*given))


def log_joint(prior: pb.MarkovPrior, dense: NDArray[np.float64], traces: NDArray[np.int64]) -> NDArray[np.float64]:
    """The log of the probability of each trace (n, T) together with its series."""
    told = np.take_along_axis(dense, traces[:, :, None], axis=2).sum(axis=(1, 2))
    moves = logs(prior.transition)[traces[:, :-1], traces[:, 1:]].sum(axis=1)
    return np.asarray(logs(prior.initial)[traces[:, 0]] + moves + told)


def run(quick: bool = False) -> Section:
    section = Section("MAP")
    for kind, places, steps, series in QUICK if quick else CASES:
        prior = chain(kind, places)
        release = pb.Release(scattered(places, steps), pb.Gaussian(1.0))
        sparse, dense = evidence(prior, release, series)
        ours = partial(decode_series, prior, release, sparse)
        _, value = ours()
        size = {"series": series, "places": places, "steps": steps}
        for name, theirs in peers(section, prior, dense):
            found = np.asarray(theirs(), dtype=np.int64)
            np.testing.assert_allclose(log_joint(prior, dense, found), value, rtol=1e-9)
            more = {"target": TARGET} if (name, kind, places) == ("hmmlearn", "line", 100) else {}
            section.compare(kind, size, name, ours, theirs, repeats=1 if quick else 3, **more)
    return section
