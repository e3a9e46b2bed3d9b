"""The oracle itself, against reference values and against qif, an independent library."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import passerby as pb
from tests.oracle import World
from tests.reference import prior_of, small_cases
from tests.strategies import FINITE, Case, cases, chain


@pytest.mark.parametrize("case", small_cases())
def test_enumeration_gives_the_reference_values(case: Any) -> None:
    release, misses = pb.Release(case["sensors"]), case["misses"]
    world = World(prior_of(case), release.steps)
    told = world.sightings(release)
    found = {
        "entropy": world.entropy(),
        "mutual_information": world.information(told),
        "kappa": world.kappa(misses),
        "optimum": world.optimum(told, misses),
        "map": world.map_success(told, misses),
        "prior": world.prior_success(misses),
        "constant": world.constant_success(misses),
    }
    assert found == pytest.approx({name: case[name] for name in found}, abs=1e-9)
    assert world.joint_maxima() == pytest.approx(case["f"], abs=1e-9)


@given(cases())
def test_signals_of_raw_counts_are_the_sightings(case: Case) -> None:
    world = World(case.prior, case.steps)
    told, listed = world.sightings(case.release), world.likelihoods(case.release)
    assert world.information(listed) == pytest.approx(world.information(told), abs=1e-12)
    assert world.optimum(listed, case.misses) == pytest.approx(world.optimum(told, case.misses), abs=1e-12)


@given(cases(mechanisms=FINITE))
def test_series_have_total_probability_one(case: Case) -> None:
    channel = World(case.prior, case.steps).likelihoods(case.release)
    np.testing.assert_allclose(channel.sum(axis=0), 1, atol=1e-12)


@settings(max_examples=25)
@given(cases(mechanisms=FINITE))
def test_the_optimum_is_a_posterior_g_vulnerability(case: Case) -> None:
    qif = pytest.importorskip("qif")
    world = World(case.prior, case.steps)
    channel = np.ascontiguousarray(world.likelihoods(case.release).T)
    for misses in range(case.steps):
        gain = np.ascontiguousarray(world.distance <= misses, dtype=np.float64)
        vulnerability = qif.measure.g_vuln
        assert world.kappa(misses) == pytest.approx(vulnerability.prior(gain, world.chance), abs=1e-9)
        optimum = vulnerability.posterior(gain, world.chance, channel)
        assert world.optimum(channel.T, misses) == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("misses", [0, 1, 2])
@pytest.mark.parametrize("sensors", [[0, 1, 2, 0], [[0, 1], [], 2, [1, 2]], [[], [], [], []]])
def test_the_loss_contains_the_optimum_of_qif(misses: int, sensors: list[Any]) -> None:
    qif = pytest.importorskip("qif")
    prior, release = chain(5, places=3, steps=4, kind="started"), pb.Release(sensors)
    world = World(prior, release.steps)
    gain = np.ascontiguousarray(world.distance <= misses, dtype=np.float64)
    channel = np.ascontiguousarray(world.sightings(release).T)
    optimum = qif.measure.g_vuln.posterior(gain, world.chance, channel)
    loss = pb.measure(prior, release, misses)
    assert loss.lower <= optimum + 1e-9
    assert optimum <= loss.upper + 1e-9
