"""A group that moves as one: the laws of a mechanism without it and with all of it."""

import numpy as np
import pytest
from numpy.typing import NDArray

import passerby as pb
from passerby.mechanisms.composition import Group, grouped

from .test_conformance import EVERY


def laws(mechanism: pb.Mechanism, others: int, size: int) -> NDArray[np.float64]:
    """Both laws (values, 2), of a mechanism of which all values can be listed."""
    listed = [np.asarray(mechanism.outputs(n)) for n in (others, others + size - 1)]
    values = np.unique(np.concatenate(listed))
    return np.exp([mechanism.log_likelihood(values, n) for n in (others, others + size)]).T


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
@pytest.mark.parametrize("size", [2, 5])
def test_a_group_keeps_every_promise_of_a_mechanism(mechanism: pb.Mechanism, size: int) -> None:
    for others in (0, 3, 11):
        pb.check_mechanism(Group(mechanism, others, size), [others], runs=1500)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_a_group_has_the_laws_of_others_alone_and_of_all(mechanism: pb.Mechanism) -> None:
    size = 4
    for others in (0, 3, 11):
        group = Group(mechanism, others, size)
        values = mechanism.sample(np.full(50, others + size), np.random.default_rng(0))
        for bit in (0, 1):
            expected = mechanism.log_likelihood(values, others + bit * size)
            assert np.array_equal(group.log_likelihood(values, others + bit), expected, equal_nan=True)


@pytest.mark.parametrize("mechanism", [m for m in EVERY if m.outputs(0) is not None], ids=repr)
def test_listed_values_of_a_group_are_as_far_apart_as_the_laws(mechanism: pb.Mechanism) -> None:
    for others in (0, 3, 11):
        for size in (2, 7):
            pair = laws(mechanism, others, size)
            apart = float(np.abs(pair[:, 0] - pair[:, 1]).sum() / 2)
            assert Group(mechanism, others, size).total_variation(others) == pytest.approx(apart, abs=1e-12)


@pytest.mark.parametrize("kind", [pb.Gaussian, pb.Laplace])
@pytest.mark.parametrize("size", [2, 3, 50])
def test_noise_for_a_group_is_that_of_a_part_of_its_scale(kind: type, size: int) -> None:
    group, alone = Group(kind(6.0), 9, size), kind(6.0 / size)
    assert group.total_variation(9) == alone.total_variation()
    assert group.information(0.3, 9) == alone.information(0.3)
    for mine, theirs in zip(group.stand_ins(9) or (), alone.stand_ins(0) or (), strict=True):
        assert np.array_equal(mine, theirs)


def test_hardly_any_noise_for_a_large_group_is_not_refused() -> None:
    assert Group(pb.Gaussian(1e-6), 0, 1000).total_variation(0) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [pb.Gaussian(3.0), pb.Geometric(2.0), pb.Gaussian(2.0, clamped=True), pb.Suppression(10), pb.AtLeast(8)],
    ids=repr,
)
def test_larger_groups_are_told_apart_better(mechanism: pb.Mechanism) -> None:
    apart = [grouped(mechanism, 5, size).total_variation(5) for size in range(1, 9)]
    assert (np.diff(apart) >= -1e-12).all()
    assert apart[-1] > apart[0]


def test_one_person_is_no_group() -> None:
    mechanism = pb.Rounding(5)
    assert grouped(mechanism, 7, 1) is mechanism
