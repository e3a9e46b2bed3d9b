"""MAP for 1,000 published series against hmmlearn's compiled Viterbi, in one run, on one core.

Run with `.venv/bin/python benchmarks/decode.py` after `make bench` has installed hmmlearn.
"""

import time
from importlib.metadata import version

import numpy as np
from hmmlearn import _hmmc

import passerby as pb
from passerby.attacks import decode_series

SERIES, PLACES, STEPS = 1000, 100, 300


def compare(name: str, prior: pb.MarkovPrior, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    release = pb.Release(rng.integers(0, PLACES, STEPS), pb.Gaussian(1.0))
    evidence = release.evidence(release.publish(prior.sample(SERIES, STEPS, rng), rng))
    dense = np.repeat(evidence[:, :, :1], PLACES, axis=2)
    dense[:, np.arange(STEPS), release.grid[:, 0]] = evidence[:, :, 1]

    decode_series(prior, release, evidence[:1])
    start = time.perf_counter()
    ours, value = decode_series(prior, release, evidence)
    middle = time.perf_counter()
    theirs = [_hmmc.viterbi(prior.initial, prior.transition, dense[i]) for i in range(SERIES)]
    end = time.perf_counter()

    np.testing.assert_allclose(value, [score for score, _ in theirs], rtol=1e-9)
    same = np.mean([np.array_equal(a, b) for a, (_, b) in zip(ours, theirs, strict=True)])
    print(
        f"{name:>8}: passerby {middle - start:6.3f} s, hmmlearn {end - middle:6.3f} s, "
        f"ratio {(end - middle) / (middle - start):5.1f}; same value for all series, same trace for {same:.1%}"
    )


def main() -> None:
    print(f"MAP, {SERIES} series, {PLACES} places, {STEPS} steps, one core; hmmlearn {version('hmmlearn')}")
    rng = np.random.default_rng(1)
    compare("line", pb.line_prior(PLACES, 0.1))
    habits = 0.9 * rng.dirichlet(np.full(PLACES, 0.02), PLACES) + 0.1 * rng.dirichlet(np.full(PLACES, 0.2))
    compare("habits", pb.MarkovPrior.stationary(habits))
    compare("random", pb.MarkovPrior.stationary(rng.dirichlet(np.ones(PLACES), PLACES)))


if __name__ == "__main__":
    main()
