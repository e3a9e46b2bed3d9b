"""Others by the million and more: what is told of one person more is what is told among a few hundred."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.mechanisms.checks import MOST_COUNTED
from passerby.outcomes.stand_ins import stand_ins

HALF = pb.MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
#: All mechanisms here treat counts alike that differ by so many, once they are far from zero.
PERIOD = 60

NOISES: tuple[Callable[..., pb.Mechanism], ...] = (pb.Gaussian, pb.Laplace, pb.Geometric, pb.DiscreteGaussian)
MADE: dict[str, Callable[[Callable[..., pb.Mechanism], float], pb.Mechanism]] = {
    "plain": lambda noise, scale: noise(scale),
    "clamped": lambda noise, scale: noise(scale, clamped=True),
    "rounded": lambda noise, scale: whole(noise, scale),
    "rounded and clamped": lambda noise, scale: whole(noise, scale, clamped=True),
    "to multiples of 2": lambda noise, scale: pb.Then(whole(noise, scale), pb.Rounding(2)),
    "to multiples of 5": lambda noise, scale: pb.Then(noise(scale), pb.Rounding(5)),
    "suppressed": lambda noise, scale: pb.Then(noise(scale), pb.Suppression(7)),
    "rounded at random before": lambda noise, scale: pb.Then(pb.RandomRounding(3), noise(scale)),
    "rounded before": lambda noise, scale: pb.Then(pb.Rounding(4), noise(scale, clamped=True)),
    "scaled before": lambda noise, scale: pb.Then(pb.Scaled(1.5), noise(scale)),
}


def whole(noise: Callable[..., pb.Mechanism], scale: float, **flags: bool) -> pb.Mechanism:
    """Noise in whole numbers."""
    return (
        noise(scale, **flags) if noise in (pb.Geometric, pb.DiscreteGaussian) else noise(scale, rounded=True, **flags)
    )


def fewer(others: int, scale: float) -> int:
    """The same number but for periods, as small as may be, and too far from zero for noise to reach it."""
    far = PERIOD * math.ceil((100 * scale + 100) / PERIOD)
    return others if others < far else far + others % PERIOD


@settings(max_examples=25)
@given(
    noise=st.sampled_from(NOISES),
    made=st.sampled_from(sorted(MADE)),
    digits=st.floats(-2.5, 1.5),
    size=st.floats(2.0, math.log10(3e15)),
    rest=st.integers(0, PERIOD - 1),
    here=st.sampled_from([0.5, 0.2, 1e-3]),
    steps=st.integers(1, 3),
)
def test_many_others_tell_what_few_do(
    noise: Callable[..., pb.Mechanism], made: str, digits: float, size: float, rest: int, here: float, steps: int
) -> None:
    scale = 10**digits
    mechanism, others = MADE[made](noise, scale), int(10**size) + rest
    prior = pb.MarkovPrior([here, 1 - here], [[here, 1 - here], [here, 1 - here]])
    if others > MOST_COUNTED:
        with pytest.raises(pb.InputError, match="expected at most 1,000,000,000,000 people"):
            pb.Release([0] * steps, mechanism, [others] * steps)
        return
    many, few = (
        pb.measure(prior, pb.Release([0] * steps, mechanism, [number] * steps), 0, budget=0)
        for number in (others, fewer(others, scale))
    )
    assert many.effort.confidence == few.effort.confidence
    # Values that are drawn have the digits of the number that is published, which are fewer after many others.
    if few.effort.confidence is None:
        assert many.lower == pytest.approx(few.lower, rel=1e-9)
        assert many.upper == pytest.approx(few.upper, rel=1e-9)
    for one, other in zip(
        *(stand_ins(mechanism, number) or () for number in (others, fewer(others, scale))), strict=True
    ):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-13)
    certain = set(few.bounds) - {"posterior"}
    assert {name: many.bounds[name] for name in certain} == pytest.approx({n: few.bounds[n] for n in certain}, rel=1e-9)
    if here == 0.5:
        truth = ((1 + mechanism.total_variation(fewer(others, scale))) / 2) ** steps
        assert many.lower * (1 - 1e-9) <= truth <= many.upper * (1 + 1e-9)


@pytest.mark.parametrize(
    ("mechanism", "others", "truth"),
    [
        (pb.Laplace(0.1), 10**12, 1 - math.exp(-5) / 2),
        (pb.Laplace(0.1, clamped=True), 10**12, 1 - math.exp(-5) / 2),
        (pb.Laplace(0.014244085953023629), 379_952_459, 1 - math.exp(-0.5 / 0.014244085953023629) / 2),
        (pb.Gaussian(0.4, clamped=True), 10**12, (1 + math.erf(1.25 / math.sqrt(2))) / 2),
        (pb.Gaussian(1.0, rounded=True), 10**12, (1 + math.erf(0.5 / math.sqrt(2))) / 2),
        (pb.Then(pb.Scaled(4.7), pb.Laplace(2.0)), 10**9, 1 - math.exp(-4.7 / 4) / 2),
        (pb.Then(pb.Laplace(1.0), pb.Suppression(10**9)), 10**9 - 1, 0.5 - math.expm1(-1) / 4),
    ],
    ids=repr,
)
def test_closed_forms(mechanism: pb.Mechanism, others: int, truth: float) -> None:
    release = pb.Release([0], mechanism, [others])
    loss = pb.measure(HALF, release, 0)
    assert loss.lower * (1 - 1e-9) <= truth <= loss.upper * (1 + 1e-9)
    assert loss.bounds["fano"] >= truth * (1 - 1e-9)
    zones = pb.Release(
        counts=[pb.Present([0], step=0, mechanism=mechanism, others=others), pb.Present([0, 1], step=0)], steps=1
    )
    loss = pb.measure(HALF, zones, 0)
    assert loss.lower * (1 - 1e-9) <= truth <= loss.upper * (1 + 1e-9)


def test_many_steps_of_clamped_noise_among_many() -> None:
    """Of 24 steps with Laplace noise of scale 1/20, each is told wrongly with a chance of `exp(-10) / 2`."""
    loss = pb.measure(HALF, pb.Release([0] * 24, pb.Laplace(0.05, clamped=True), [10**7] * 24), 0)
    truth = (1 - math.exp(-10) / 2) ** 24
    assert loss.lower * (1 - 1e-9) <= truth <= loss.upper * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1e-3, 0.05, 2.0])
@pytest.mark.parametrize("presence", [0.5, 1e-3])
def test_information_keeps_its_digits(scale: float, presence: float) -> None:
    """Clamped and suppressed noise tells what plain noise does, which is worked out without any count."""
    told = pb.Laplace(scale).information(presence)
    for others in (5_000, 10**7, 10**12):
        for mechanism in (pb.Laplace(scale, clamped=True), pb.Then(pb.Laplace(scale), pb.Suppression(3))):
            assert mechanism.information(presence, others) == pytest.approx(told, rel=1e-11)


def test_drawn_values_keep_their_digits() -> None:
    """What is drawn for many others is what is drawn for few, where only the noise matters."""
    few, many = (pb.Release([0, 0], pb.Laplace(0.001), [others] * 2) for others in (3, 10**12))
    traces = np.array([[0, 1], [1, 0], [1, 1]])
    assert np.array_equal(few.drawn(traces, [1]), many.drawn(traces, [1]))
    few, many = (
        pb.Release(counts=[pb.Moved([0], [1], step=0, others=n)], steps=2, mechanism=pb.Laplace(0.001)).over(HALF)[1]
        for n in (3, 10**12)
    )
    assert np.array_equal(few.drawn(traces, [1]), many.drawn(traces, [1]))
