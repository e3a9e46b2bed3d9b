"""Noise that is drawn once tells of a trace what noise that is drawn for it tells."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passerby as pb
from passerby.outcomes.series import DrawnNoise, relative, weights_of

NOISE = (pb.Gaussian(2.0), pb.Gaussian(0.05), pb.Laplace(1.0), pb.Geometric(1.5), pb.Gaussian(1.0, rounded=True))
COUNTS = [pb.Present([0, 1], 0), pb.Present([2], 1), pb.Visitors([1], range(3)), pb.Moved([0], [1], 0)]


@given(st.sampled_from(NOISE), st.booleans(), st.integers(1, 3), st.integers(0, 100))
def test_likelihoods_are_those_of_what_is_published(noise: pb.Mechanism, zones: bool, size: int, seed: int) -> None:
    prior = pb.line_prior(4)
    release = pb.Release([[0, 1], [], [2]], noise, size=size)
    if zones:
        release = pb.Release(counts=COUNTS, steps=3, mechanism=noise, size=size)
    prior, release = release.over(prior)
    traces = prior.place_of[prior.sample(5, 3, np.random.default_rng(seed))]
    drawn = DrawnNoise(np.random.default_rng(1))
    found = weights_of(release, traces, drawn, np.random.default_rng(2))
    nobody = release.of_nobody
    published = drawn.of(nobody, 5) + size * release.there(traces)
    want = relative(nobody.evidence(published))
    for t in range(3):
        used = np.unique(release.classes(prior)[t])
        mine, theirs = found[:, t, used], want[:, t, used]
        assert mine / mine.max(axis=1, keepdims=True) == pytest.approx(
            theirs / theirs.max(axis=1, keepdims=True), rel=1e-9, abs=1e-200
        )


def test_other_questions_are_given_the_same_noise() -> None:
    release = pb.Release([0, 1], pb.Gaussian(1.0))
    drawn = DrawnNoise(np.random.default_rng(1))
    assert drawn.of(release.of_nobody, 7) is drawn.of(release.of_nobody, 7)


@pytest.mark.parametrize("question", [pb.Event(pb.Visitors([1], range(12))), pb.InData(), pb.EachStep()])
def test_an_answer_does_not_depend_on_what_else_is_asked(question: Any) -> None:
    prior, release = pb.line_prior(5), pb.Release([[0, 1, 2]] * 12, pb.Gaussian(2.0))
    alone = pb.measure(prior, release, question, runs=50)
    beside = pb.measure(prior, release, [pb.EachStep(), pb.InData(), question], runs=50)[2]
    if isinstance(question, pb.EachStep):
        assert np.array_equal(alone.lower, beside.lower)
    else:
        assert (alone.advantage, alone.power(0.01)) == (beside.advantage, beside.power(0.01))
