import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.oracle import World
from tests.reference import prior_of, small_cases
from tests.strategies import Case, Halved, Jumbled, cases, chains

import passerby as pb
from passerby.measurement import information
from passerby.measurement.information import shannon, sighted, sighting_probabilities


@pytest.mark.parametrize("case", small_cases())
def test_reference_values(case: Any) -> None:
    prior, release = prior_of(case), pb.Release(case["sensors"])
    assert pb.entropy(prior, release.steps) == pytest.approx(case["entropy"], abs=1e-9)
    order1 = pb.mutual_information(prior, release, "order1")
    assert order1 == pytest.approx(case["mutual_information_order1"], abs=1e-9)
    exact = pb.mutual_information(prior, release, "exact")
    assert exact == pytest.approx(case["mutual_information"], abs=1e-9)


def test_reference_values_of_the_line(line_reference: Any) -> None:
    prior = pb.line_prior(line_reference["places"], line_reference["tau"])
    sensors = line_reference["sensors"]
    assert pb.entropy(prior, line_reference["steps"]) == pytest.approx(line_reference["entropy"], abs=1e-9)
    order1 = pb.mutual_information(prior, pb.Release(sensors), "order1")
    assert order1 == pytest.approx(line_reference["mi_order1"], abs=1e-9)
    exact = pb.mutual_information(prior, pb.Release(sensors), "exact")
    assert exact == pytest.approx(line_reference["mi_exact"], abs=1e-9)
    for sigma, value in line_reference["mi_gaussian_paper"].items():
        release = pb.Release(sensors, pb.Gaussian(float(sigma)))
        assert pb.mutual_information(prior, release, "paper-gaussian") == pytest.approx(value, abs=1e-9)


@given(chains())
def test_entropy_is_that_of_all_traces(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    assert pb.entropy(prior, steps) == pytest.approx(World(prior, steps).entropy(), abs=1e-9)


@given(cases())
def test_exact_is_that_of_all_traces(case: Case) -> None:
    world = World(case.prior, case.steps)
    exact = pb.mutual_information(case.prior, case.release, "exact")
    assert exact == pytest.approx(world.information(world.sightings(case.release)), abs=1e-9)


@given(cases())
def test_order_one_is_a_bound_and_exact_up_to_two_steps(case: Case) -> None:
    world = World(case.prior, case.steps)
    exact = world.information(world.sightings(case.release))
    order1 = pb.mutual_information(case.prior, case.release, "order1")
    assert exact <= order1 + 1e-9
    if case.steps <= 2:
        assert order1 == pytest.approx(exact, abs=1e-9)


@given(cases())
def test_order_one_is_the_sum_of_conditional_entropies(case: Case) -> None:
    world = World(case.prior, case.steps)
    told = np.stack([world.column(case.release, t) for t in range(case.steps)], axis=1)
    total = 0.0
    for t in range(case.steps):
        pair = np.zeros((5, 5))
        np.add.at(pair, (told[:, t - 1] if t else np.zeros(len(told), int), told[:, t]), world.chance)
        total += float(shannon(pair, axis=None) - shannon(pair.sum(axis=1)))
    assert pb.mutual_information(case.prior, case.release, "order1") == pytest.approx(total, abs=1e-9)


@given(cases())
def test_sighting_probabilities(case: Case) -> None:
    world = World(case.prior, case.steps)
    for t, law in enumerate(sighting_probabilities(case.prior, case.release)):
        seen = np.bincount(world.column(case.release, t), weights=world.chance, minlength=len(law))
        np.testing.assert_allclose(law, seen, atol=1e-12)


def test_the_gaussian_bound_lies_between_the_information_and_raw_counts() -> None:
    """One step and one sensor: the exact information is a one-dimensional integral."""
    from scipy.integrate import quad

    p, sigma = 0.3, 0.8
    prior, release = pb.MarkovPrior([p, 1 - p], [[1, 0], [0, 1]]), pb.Release([0], pb.Gaussian(sigma))

    def density(value: float, mean: float) -> float:
        return float(np.exp(release.mechanism.log_likelihood(value, mean)))

    def gain(value: float) -> float:
        mixed = p * density(value, 1) + (1 - p) * density(value, 0)
        return float(sum(w * density(value, m) * np.log(density(value, m) / mixed) for w, m in ((p, 1), (1 - p, 0))))

    exact = quad(gain, -8, 9)[0]
    paper = pb.mutual_information(prior, release, "paper-gaussian")
    raw = pb.mutual_information(prior, pb.Release([0]), "order1")
    assert exact < paper < raw


@given(cases(mechanisms=(pb.Gaussian(0.05),)))
def test_the_gaussian_bound_approaches_the_entropy_of_each_step_without_noise(case: Case) -> None:
    laws = sighting_probabilities(case.prior, case.release)
    paper = pb.mutual_information(case.prior, case.release, "paper-gaussian")
    assert paper == pytest.approx(sum(float(shannon(law)) for law in laws), abs=1e-9)


def test_hardly_any_noise_at_a_place_that_is_never_visited() -> None:
    """Between a sensor that never sees the person and the others nothing is left of the overlap."""
    prior, release = pb.MarkovPrior([0.3, 0.7, 0.0], np.eye(3)), pb.Release([[0, 2], [2]], pb.Gaussian(0.005))
    paper = pb.mutual_information(prior, release, "paper-gaussian")
    assert paper == pytest.approx(-0.3 * math.log(0.3) - 0.7 * math.log(0.7), abs=1e-12)


@given(cases(mechanisms=(pb.Gaussian(0.7),)))
def test_the_gaussian_bound_is_its_formula(case: Case) -> None:
    """Equation 4, for each step over what its sensors tell apart: none, or one of them, at squared distance 1 or 2."""
    total = 0.0
    for law in sighting_probabilities(case.prior, case.release):
        for a, p in enumerate(law):
            if p > 0:
                apart = [0 if a == b else 1 if 0 in (a, b) else 2 for b in range(len(law))]
                total -= p * math.log(sum(q * math.exp(-d / (2 * 0.7**2)) for q, d in zip(law, apart, strict=True)))
    paper = pb.mutual_information(case.prior, case.release, "paper-gaussian")
    assert paper == pytest.approx(total, abs=1e-12)


@given(cases(mechanisms=(Jumbled(0.3), Halved())))
def test_the_sum_over_steps_is_its_definition(case: Case) -> None:
    """The information of each count by itself, or where the person is at that step, whichever is less."""
    total = 0.0
    for law, crowd in zip(sighting_probabilities(case.prior, case.release), case.release.numbers, strict=True):
        each = 0.0
        for p, count in zip(law[1 : 1 + len(crowd)], crowd, strict=True):
            outputs = case.release.mechanism.outputs(count)
            assert outputs is not None
            absent, present = (np.exp(case.release.mechanism.log_likelihood(outputs, count + k)) for k in (0, 1))
            mixed = (1 - p) * absent + p * present
            each += float(shannon(mixed) - (1 - p) * shannon(absent) - p * shannon(present))
        total += min(each, float(shannon(law)))
    assert pb.mutual_information(case.prior, case.release, "per-step") == pytest.approx(total, abs=1e-9)
    raw = pb.mutual_information(case.prior, pb.Release(case.release.sensors), "exact")
    assert pb.mutual_information(case.prior, case.release, "best") == pytest.approx(min(total, raw), abs=1e-9)


@given(cases())
def test_the_chance_of_being_sighted(case: Case) -> None:
    world = World(case.prior, case.steps)
    seen = np.any([world.column(case.release, t) > 0 for t in range(case.steps)], axis=0)
    assert sighted(case.prior, case.release) == pytest.approx(world.chance[seen].sum(), abs=1e-12)


def test_what_takes_too_long_is_bounded_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    prior, release = pb.line_prior(4), pb.Release([0, 1, 2])
    order1 = pb.mutual_information(prior, release, "order1")
    assert pb.mutual_information(prior, release, "best") < order1
    monkeypatch.setattr(information, "STRETCHES_LIMIT", 0.0)
    assert pb.mutual_information(prior, release, "best") == order1
    with pytest.raises(pb.UnsupportedRelease, match="too long with 3 steps, 1 sensors a step and 4 places"):
        pb.mutual_information(prior, release, "exact")


@given(cases())
def test_the_gaussian_bound_falls_with_noise(case: Case) -> None:
    values = [
        pb.mutual_information(case.prior, pb.Release(case.release.sensors, pb.Gaussian(s)), "paper-gaussian")
        for s in (0.2, 1, 5, 1e4)
    ]
    assert all(a >= b - 1e-12 for a, b in pairwise(values))
    assert values[-1] == pytest.approx(0, abs=1e-6)


class TestRefusals:
    def test_methods_refuse_mechanisms_they_do_not_hold_for(self) -> None:
        prior = pb.line_prior(4)
        with pytest.raises(pb.UnsupportedRelease, match="order1: holds for raw counts, not for Gaussian"):
            pb.mutual_information(prior, pb.Release([1], pb.Gaussian(1.0)), "order1")
        with pytest.raises(pb.UnsupportedRelease, match="exact: holds for raw counts, not for Gaussian"):
            pb.mutual_information(prior, pb.Release([1], pb.Gaussian(1.0)), "exact")
        with pytest.raises(pb.UnsupportedRelease, match="paper-gaussian: holds for Gaussian noise, not for Raw"):
            pb.mutual_information(prior, pb.Release([1]), "paper-gaussian")
        with pytest.raises(pb.UnsupportedRelease, match="Jumbled"):
            pb.mutual_information(prior, pb.Release([1], Jumbled(0.1), others=[0]), "order1")

    def test_unknown_methods_are_named(self) -> None:
        with pytest.raises(pb.InputError, match=r"^method: expected one of .*order1.*, got 'guess'"):
            pb.mutual_information(pb.line_prior(4), pb.Release([1]), "guess")  # type: ignore[arg-type]

    def test_prior_and_release_are_checked(self) -> None:
        with pytest.raises(pb.InputError, match=r"sensors\[0\] = 9"):
            pb.mutual_information(pb.line_prior(4), pb.Release([9]), "order1")
        with pytest.raises(pb.InputError, match=r"^steps: .* got 0"):
            pb.entropy(pb.line_prior(4), 0)

    def test_the_exact_value_is_for_raw_counts(self) -> None:
        with pytest.raises(pb.UnsupportedRelease, match=r"exact: holds for raw counts, not for Gaussian\(sigma=1\.0\)"):
            pb.mutual_information(pb.line_prior(4), pb.Release([1], pb.Gaussian(1.0)), "exact")
