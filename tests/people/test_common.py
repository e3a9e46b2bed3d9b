"""What everybody did that day: Bayes' rule over what the others did, without a bit of what the person did."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp

import passerby as pb
from passerby.audits.backtest import backtest
from passerby.audits.inputs import said_of_the_day, worth_of_the_day
from passerby.people import common as module
from passerby.people.common import LATTICE, NARROW, Common, gains, learnt, likelihoods, moments, tilted, told
from passerby.visits.table import Traces

from .test_habits import traces

HELD, PLACES = 4, 5


def days(seed: int, people: int = 60, gone: float = 0.3, steps: int = 28) -> Traces:
    """People who move among a few places of their own, and are elsewhere on the last steps more often than before."""
    rng = np.random.default_rng(seed)
    array = rng.integers(0, 3, (people, steps)) * rng.integers(0, 2, (people, 1))
    away = rng.random((people, steps)) < np.where(np.arange(steps) < steps - HELD, 0.2, gone)
    return traces(np.where(away, PLACES - 1, array), PLACES)


def fitted(walked: Traces, **more: Any) -> pb.People:
    people = pb.fit_people(walked, holdout=HELD, **more)
    if people.common is None and more.get("common") != "none":
        people = replace(people, common=Common.of(people, 0.5))
    return people


def bits(people: pb.People, person: int) -> list[bytes]:
    prior, states = people.prior(person, [1])
    return [each.tobytes() for each in (prior.initial, prior.transition, prior.place_of, prior.mode_of, states)]


@pytest.mark.parametrize("count", [9, 60])
def test_what_a_person_did_changes_no_bit_of_their_own_prior(count: int) -> None:
    walked, rng = days(0, count), np.random.default_rng(1)
    real = fitted(walked)
    for person in (0, count // 2, count - 1):
        for _ in range(3):
            array = walked.array.copy()
            array[person, -HELD:] = rng.integers(0, PLACES, HELD)
            other = fitted(replace(walked, array=array))
            assert bits(other, person) == bits(real, person)
    # All others know of it.
    array[person, -HELD:] = np.where(walked.array[person, -HELD:] == PLACES - 1, 0, PLACES - 1)
    other = fitted(replace(walked, array=array))
    assert bits(other, person) == bits(real, person)
    assert bits(other, 1) != bits(real, 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_is_that_of_the_tilted_chain(seed: int) -> None:
    people = replace(fitted(days(seed)), common=None)
    for person in (0, 7):
        actual = people.actual[person].tolist()
        found = likelihoods(people, person)
        for at in (10, 48, 70):
            fixed = replace(people, common=Fixed(float(LATTICE[at])))
            prior, states = fixed.prior(person, sorted(set(actual)))
            number = {int(place): k for k, place in enumerate(states)}
            law = np.where(prior.place_of == number[actual[0]], prior.initial, 0.0)
            for t, place in enumerate(actual[1:]):
                law = np.where(prior.place_of == number[place], law @ prior.matrix(t), 0.0)
            base = chance(people, person)
            assert found[at] == pytest.approx(np.log(law.sum()) - np.log(base), abs=1e-9)


def chance(people: pb.People, person: int) -> float:
    """The chance of what a person did, without a common part."""
    actual = people.actual[person].tolist()
    prior, states = people.prior(person, [*sorted(set(actual)), PLACES - 1])
    number = {int(place): k for k, place in enumerate(states)}
    law = np.where(prior.place_of == number[actual[0]], prior.initial, 0.0)
    for t, place in enumerate(actual[1:]):
        law = np.where(prior.place_of == number[place], law @ prior.matrix(t), 0.0)
    return float(law.sum())


class Fixed(Common):
    """A common part that is known."""

    def __init__(self, theta: float) -> None:
        object.__setattr__(self, "theta", theta)

    def nodes(self, name: object) -> tuple[tuple[float, float], ...]:
        return ((1.0, self.theta),)  # type: ignore[attr-defined]


def test_the_posterior_is_that_of_bayes_rule() -> None:
    people = fitted(days(4, 12))
    assert people.common is not None
    deviation = people.common.deviation
    logs = np.array([likelihoods(people, person) for person in range(len(people))])
    for person in (0, 5):
        others = np.delete(logs, person, axis=0).sum(axis=0) - (LATTICE / deviation) ** 2 / 2
        weights = np.exp(others - logsumexp(others))
        mean = weights @ LATTICE
        spread = np.sqrt(weights @ (LATTICE - mean) ** 2)
        found = moments(people.common.without(people.ids[person]), deviation)
        assert found == pytest.approx((mean, spread), abs=2e-3)
        nodes = np.array(people.common.nodes(people.ids[person]))
        assert nodes[:, 0].sum() == pytest.approx(1.0)
        assert nodes.T[0] @ nodes.T[1] == pytest.approx(found[0])
        assert len(nodes) == (1 if found[1] <= NARROW else 3)


def test_a_mixture_is_the_mean_of_its_cases() -> None:
    people = fitted(days(5, 5))
    assert people.common is not None
    nodes = people.common.nodes(people.ids[2])
    assert len(nodes) == 3
    prior, _ = people.prior(2, reduced=False)
    law, expected = prior.initial, np.zeros(PLACES)
    for weight, theta in nodes:
        one, _ = replace(people, common=Fixed(theta)).prior(2, reduced=False)
        expected += weight * one.by_place(one.initial)
    np.testing.assert_allclose(prior.by_place(law), expected, atol=1e-12)


def test_tilting_multiplies_the_odds() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(4), 4)
    start, moves = tilted((rows[0], rows), 2, 0.7)
    np.testing.assert_allclose(moves[:, 2] / (1 - moves[:, 2]), np.exp(0.7) * rows[:, 2] / (1 - rows[:, 2]))
    np.testing.assert_allclose(moves[:, 0] / moves[:, 1], rows[:, 0] / rows[:, 1])
    np.testing.assert_array_equal(start, moves[0])


def test_without_it_habits_are_what_they_were() -> None:
    walked = days(6, 150)
    off, on = fitted(walked, common="none"), pb.fit_people(walked, holdout=HELD)
    assert off.common is None
    assert on.common is not None
    assert off.habits is not None
    assert on.habits is not None
    assert off.habits.chosen.common == 0 < on.habits.chosen.common
    for person in range(0, 60, 9):
        assert bits(off, person) == bits(replace(on, common=None), person)
    assert bits(off, 0) != bits(on, 0)
    assert on.usual.common is on.plain.common is None


def test_a_day_off_is_foretold_by_what_others_did() -> None:
    walked = days(7, 200, gone=0.6)
    gaps = [backtest(walked, origins=1, holdout=HELD, people=200, common=each) for each in ("none", "auto")]
    assert gaps[0].gap > 0.1
    assert gaps[1].gap < 0.05
    assert gaps[1].by_origin["score"][0] > gaps[0].by_origin["score"][0] + 0.1
    people = fitted(walked)
    assert people.common is not None
    assert people.common.everybody[0] == pytest.approx(np.log(0.6 / 0.4 * 0.8 / 0.2), abs=0.2)
    worth = worth_of_the_day(people, 1, 50)
    assert worth is not None
    assert worth[0] <= worth[1]
    (said,) = said_of_the_day(people, 1, 50)
    assert "times higher than habits expect" in said
    assert "all but 1 of 4 steps" in said
    assert worth_of_the_day(replace(people, common=None), 1, 50) is None


def test_earlier_origins_say_how_much_it_varies() -> None:
    quiet = np.zeros((40, len(LATTICE)), dtype=np.int64)
    assert learnt([]) == learnt([(quiet, 1.0)]) == 0.0  # nobody tells anything
    people = replace(fitted(days(9, 150)), common=None)
    ordinary, odd = (
        told(replace(people, actual=each), np.arange(150)) for each in (people.fitted[:, -HELD:], people.actual)
    )
    assert 0 < learnt([(ordinary, 1.0)]) <= learnt([(odd, 1.0), (odd, 0.5)])
    # Everybody for themselves: others tell the wrong thing of each.
    torn = np.vstack([np.rint(module.UNIT * 40 * LATTICE), *[np.rint(-module.UNIT * LATTICE)] * 40]).astype(np.int64)
    assert learnt([(torn, 1.0)]) == 0.0


def test_what_is_gained_is_the_mean_over_what_others_leave_open() -> None:
    people = fitted(days(14, 12))
    rows = told(people, np.arange(12))
    theta = np.linspace(LATTICE[0], LATTICE[-1], 16 * (len(LATTICE) - 1) + 1)
    for person in (0, 5):
        others, own = (
            CubicSpline(LATTICE, each / module.UNIT)(theta) for each in (rows.sum(axis=0) - rows[person], rows[person])
        )
        chances = np.exp(others - theta**2 / (2 * 0.5**2))
        expected = np.log(chances @ np.exp(own) / chances.sum())
        assert gains(rows, 0.5)[person] == pytest.approx(expected, abs=1e-9)


def test_one_person_everybody_gone_and_a_day_without_anybody() -> None:
    alone = days(10, 1)
    people = pb.fit_people(alone, holdout=HELD)
    assert pb.audit(people, pb.Release([0] * HELD), 1)["status"].to_list() == ["ok"]
    if people.common is not None:
        assert moments(people.common.without(people.ids[0]), people.common.deviation)[0] == pytest.approx(0, abs=1e-9)
        assert any("fewer than 5 people" in each for each in people.remarks)
    walked = days(11)
    array = walked.array.copy()
    array[:, -HELD:] = PLACES - 1
    counts = walked.counts.copy()
    counts[-HELD:, :-1], counts[-HELD:, -1] = 0, 60
    gone = fitted(replace(walked, array=array, counts=counts))
    assert gone.common is not None
    assert gone.common.everybody[0] > 2
    assert any("Nobody at all is at any of the chosen places" in each for each in gone.remarks)
    assert any("nearly everybody was elsewhere" in each for each in gone.remarks)
    table = pb.audit(gone, pb.Release([0] * HELD, pb.Rounding(5)), 1)
    assert (table["status"] == "ok").all()
    assert (table["lower"] <= table["upper"]).all()


def test_what_is_no_choice_is_refused() -> None:
    with pytest.raises(pb.InputError, match="common: expected 'auto' or 'none', got True"):
        pb.fit_people(days(13), holdout=HELD, common=True)  # type: ignore[arg-type]


def test_half_of_the_data_is_left_out_of_what_is_known_of_them() -> None:
    walked = days(12, 2)
    people = pb.fit_people(walked, holdout=HELD)
    if people.common is None:
        people = replace(people, common=Common.of(people, 0.5))
    assert people.common is not None
    rows = [people.common.without(people.ids[person]) for person in (0, 1)]
    np.testing.assert_array_equal(rows[0], people.common.told[1])
    np.testing.assert_array_equal(rows[1], people.common.told[0])
    np.testing.assert_array_equal(people.common.without("a stranger"), people.common.total)
