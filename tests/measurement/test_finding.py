"""What is known from findings, and that a contradiction among them is an error."""

import math

import pytest

import passerby as pb
from passerby.measurement.finding import Finding, Known, exact, limit


def known(*findings: Finding, unaided: bool = True) -> Known:
    out = Known(unaided)
    for finding in findings:
        out.add(finding)
    return out


def test_the_highest_certain_floor_and_the_lowest_certain_ceiling_count() -> None:
    found = known(exact("map", 0.3), exact("ascent", 0.4), limit("fano", 0.9), limit("posterior", 0.5))
    assert (found.floor.name, found.ceiling.name) == ("ascent", "posterior")
    found.add(Finding("ascent", floor=0.45, value=0.47, error=0.01, level=0.99))
    found.add(limit("posterior", 0.46, level=0.99))
    found.add(Finding("leakage", ceiling=0.1, assumes=frozenset({"something"})))
    assert (found.floor.floor, found.ceiling.ceiling) == (0.4, 0.5)


def test_the_baseline_is_a_floor_of_averages_only() -> None:
    baseline = Finding("baseline", 0.4, 0.5, value=0.4, about="baseline")
    assert known(baseline).floor is baseline
    assert known(baseline).ceiling.ceiling == 1
    assert known(baseline, unaided=False).floor.floor == 0


@pytest.mark.parametrize("gap", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e-300])
def test_a_certain_floor_above_a_certain_ceiling_is_a_contradiction(gap: float, scale: float) -> None:
    low, high = 0.4 * scale, 0.4 * scale * (1 + gap)
    with pytest.raises(pb.Contradiction, match=r"^map achieves .* but fano says .* no interval is given"):
        known(limit("fano", low), exact("map", high))
    with pytest.raises(pb.Contradiction, match=r"^map achieves .* but fano says"):
        known(exact("map", high), limit("fano", low))


def test_rounding_is_none() -> None:
    assert known(limit("fano", 0.3), exact("map", 0.3 * (1 + 1e-12))).floor.floor > 0.3


def test_a_ceiling_of_zero_is_no_rounding() -> None:
    with pytest.raises(pb.Contradiction):
        known(limit("dp", 0.0), exact("prior", 5e-324))


def test_a_baseline_contradicts_itself_too() -> None:
    with pytest.raises(pb.Contradiction, match=r"^baseline achieves 0\.5"):
        known(Finding("baseline", 0.5, 0.4, about="baseline"))


def test_exact_attacks_are_shown_before_sampled_ones() -> None:
    drawn = Finding("map", floor=0.35, value=0.36, error=0.01, level=0.99)
    found = known(drawn, exact("map", 0.3))
    assert found.attack("map") == exact("map", 0.3)
    assert found.attack("map", sampled=True) is drawn
    assert found.attack("marginal") is None
    assert found.bound("map") is None
    assert math.isnan(limit("fano", 0.5).value)


def test_certain_bounds_are_shown_before_sampled_ones() -> None:
    drawn = limit("posterior", 0.4, level=0.99)
    found = known(limit("posterior", 0.5), drawn)
    assert found.bound("posterior") == limit("posterior", 0.5)
    assert found.bound("posterior", sampled=True) is drawn
