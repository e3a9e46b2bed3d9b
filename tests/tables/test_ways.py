"""What somebody sees of a count who knows how many others come: against sums over the numbers of others."""

import math

import numpy as np
import pytest

import passerby as pb
from passerby.mechanisms import DiscreteGaussian, Mechanism, Raw, Rounding, Suppression
from passerby.tables.ways import WAYS, Comers, poisson


@pytest.mark.parametrize("mean", [0.0, 0.3, 2.5, 40.0, 5000.0])
def test_numbers_of_others(mean: float) -> None:
    numbers, chances = poisson(mean)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert (numbers * chances).sum() == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("mean", [0.5, 4.0, 37.0])
def test_a_raw_count_tells_by_the_likeliest_number_of_others(mean: float) -> None:
    """Section 22: at the only place, the chance to be there times the largest probability of a number of others."""
    most = max(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(200))
    assert Comers(mean, Raw()).total_variation(0) == pytest.approx(most, rel=1e-9)
    prior = pb.MarkovPrior([0.7, 0.3], [[1.0, 0.0], [0.0, 1.0]])
    release = pb.Release(counts=[pb.Present([0], 0, mechanism=Comers(mean, Raw()), others=0)], steps=1)
    assert pb.measure(prior, release, pb.InData()).advantage.lower == pytest.approx(0.7 * most, rel=1e-9)


@pytest.mark.parametrize("rule", [way.mechanism for way in WAYS], ids=[way.name for way in WAYS])
@pytest.mark.parametrize("count", [0, 1])
def test_the_rule_is_applied_to_everybody(rule: Mechanism, count: int) -> None:
    values, chances = Comers(6.0, rule).law(count)
    table = dict(zip(values.tolist(), chances.tolist(), strict=True))
    want: dict[float, float] = {}
    for other in range(80):
        likely = math.exp(other * math.log(6.0) - 6.0 - math.lgamma(other + 1))
        for value, chance in zip(*(x.tolist() for x in rule.law(float(count + other))), strict=True):
            want[math.inf if math.isnan(value) else value] = want.get(math.inf if math.isnan(value) else value, 0.0) + (
                likely * chance
            )
    for value, chance in table.items():
        assert chance == pytest.approx(want[math.inf if math.isnan(value) else value], rel=1e-6, abs=1e-15)


def test_more_others_and_less_exact_counts_tell_less() -> None:
    told = [Comers(mean, Raw()).total_variation(0) for mean in (1.0, 5.0, 50.0, 900.0)]
    assert told == sorted(told, reverse=True)
    for rule in (Suppression(10), Rounding(5), DiscreteGaussian(2.0)):
        assert Comers(5.0, rule).total_variation(0) <= told[1] + 1e-12
    assert np.isclose(Comers(0.0, Raw()).total_variation(0), 1)
