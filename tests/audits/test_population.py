"""Limits of a mean over people hold as often as they say, and are far narrower than the mean of single limits."""

import math

import numpy as np
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.results import mean_limits, open_people


def test_limits_are_those_of_hoeffding() -> None:
    reach = np.array([0.5, 0.2, 0.0])
    found = mean_limits([0.4, 0.5, 0.6], [0.5, 0.5, 0.6], reach, 0.99)
    off = math.sqrt((0.25 + 0.04) * math.log(200) / 2) / 3
    assert found.lower == pytest.approx(0.5 - off)
    assert found.upper == pytest.approx(1.6 / 3 + off)


def test_certain_ends_need_no_chance() -> None:
    assert mean_limits([0.25, 0.5], [0.5, 0.5], [0, 0], 0.99) == pb.Interval(0.375, 0.5)


def test_limits_stay_chances() -> None:
    assert mean_limits([0.0], [1.0], [1.0], 0.99) == pb.Interval(0.0, 1.0)


@pytest.mark.parametrize(("lower", "confidence", "message"), [([], 0.9, "nobody"), ([0.1], 1.0, "below 1")])
def test_what_has_no_limits(lower: list[float], confidence: float, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        mean_limits(lower, lower, lower, confidence)


def test_limits_hold_as_often_as_they_say() -> None:
    """People who differ, few draws each, at a level that can be seen to fail."""
    rng, tries, people, draws = np.random.default_rng(1), 2000, 40, 5
    chance, known = rng.random(people), 0.5 * rng.random(people)
    truth = float((known + (1 - known) * chance).mean())
    outside = 0
    for _ in range(tries):
        found = known + (1 - known) * rng.binomial(draws, chance) / draws
        limits = mean_limits(found, found, (1 - known) / math.sqrt(draws), 0.8)
        outside += not limits.lower <= truth <= limits.upper
    assert outside / tries <= 0.2
    assert outside > 0  # else it would be careless to call it 80 %


@pytest.mark.thorough
def test_people_are_pooled_without_limits_of_their_own() -> None:
    """Noise that nothing but draws is close enough for: the mean is sure of more than everybody by themselves."""
    people = pb.fit_people(random_traces(5, 60, 30, 8), holdout=6)
    release = pb.Release([[0, 1, 2]] * 6, pb.Gaussian(1.5))
    table = pb.audit(people, release, 2, workers=1, runs=40, budget=1e6)
    drawn = table.filter(table["pooled_reach"] > 0)
    assert drawn.height > 0
    assert (drawn["pooled_lower"] <= drawn["pooled_upper"]).all()
    lower, upper, reach = (table[f"pooled_{end}"].to_numpy() for end in ("lower", "upper", "reach"))
    limits = mean_limits(lower, upper, reach, 0.99)
    single = float((table["upper"] - table["lower"]).mean())  # type: ignore[arg-type]
    assert limits.upper - limits.lower < 0.7 * single


def test_what_is_certain_is_pooled_as_it_is() -> None:
    loss = pb.measure(pb.line_prior(5), pb.Release([1, 3, 2]), 1)
    assert loss.effort.confidence is None
    assert (loss.pooled.lower, loss.pooled.upper, loss.pooled.reach) == (loss.lower, loss.upper, 0.0)


class TestOpen:
    def test_thresholds_come_before_width(self) -> None:
        lower, upper = [0.0, 0.45, 0.6, 0.2], [0.4, 0.55, 0.6, 0.3]
        assert open_people(lower, upper, [0.5], 1).tolist() == [1]
        assert open_people(lower, upper, [0.5], 2).tolist() == [0, 1]
        assert open_people(lower, upper, [0.5], 9).tolist() == [0, 1, 3]

    def test_an_end_at_the_threshold(self) -> None:
        """Above means at least: who is found that often for sure is above."""
        assert open_people([0.5, 0.4], [0.6, 0.5], [0.5], 1).tolist() == [1]

    def test_nobody(self) -> None:
        assert open_people([0.3], [0.3], [0.5], 5).size == 0
        assert open_people([], [], [0.5], 5).size == 0
