"""Others who are known only by their habits."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import Whimsical, chain

import passerby as pb
from passerby.model.signals import by_channel
from passerby.others.by_habits import SensorsByHabits as Expected
from passerby.others.by_habits import everyone_else
from passerby.others.counted import Counted
from passerby.others.crowd import channel_of
from passerby.others.numbers import poisson_binomial, without
from passerby.questions.trace.methods.formula import leakage_bound


def by_enumeration(chances: list[float]) -> list[float]:
    law = [0.0] * (len(chances) + 1)
    for bits in product((0, 1), repeat=len(chances)):
        law[sum(bits)] += float(np.prod([p if bit else 1 - p for p, bit in zip(chances, bits, strict=True)]))
    return law


def spread(law: tuple[int, np.ndarray], size: int) -> np.ndarray:
    out = np.zeros(size)
    out[law[0] : law[0] + len(law[1])] = law[1]
    return out


@example(chances=[0.3, 1.0, 0.6], taken=1)  # somebody who is there for certain
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 7))
def test_numbers_are_poisson_binomial(chances: list[float], taken: int) -> None:
    size = len(chances) + 1
    np.testing.assert_allclose(spread(poisson_binomial(chances), size), by_enumeration(chances), atol=1e-12)
    taken %= len(chances)
    rest = chances[:taken] + chances[taken + 1 :]
    found = without(poisson_binomial(chances), chances[taken])
    np.testing.assert_allclose(spread(found, size)[:-1], by_enumeration(rest), atol=1e-12)


def test_raw_counts_beside_unknown_people_are_looked_up_at_once() -> None:
    """What all channels say together is, to the last digit, what the mechanism of each says by itself."""
    rng = np.random.default_rng(0)
    laws = [[poisson_binomial(rng.random(size) ** 3) for size in sizes] for sizes in ((0, 3), (12, 25), (7, 1))]
    channels = tuple(tuple(channel_of(pb.Raw(), (least + 2, law)) for least, law in step) for step in laws)
    values = rng.integers(0, 20, (40, 3, 2)).astype(np.float64)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[rng.random(values.shape) < 0.1] = 2.5
    found = by_channel(channels, values)
    for t, j in product(range(3), range(2)):
        mechanism, others = channels[t][j]
        for bit in (0, 1):
            np.testing.assert_array_equal(found[bit][:, t, j], mechanism.log_likelihood(values[:, t, j], others + bit))
        assert channels[t][j].apart == mechanism.total_variation(others)


def test_one_sensor_is_exact() -> None:
    """With one count there is nothing to be independent of: the optimum over all the others' traces is found."""
    prior, others = chain(1, 3, 1, "started"), [chain(seed, 3, 1, "started") for seed in (2, 3, 4)]
    loss = pb.measure(prior, pb.Release([1], pb.Rounding(2), others=pb.Crowd(others)), 0)
    number = by_enumeration([float(person.initial[1]) for person in others])
    channel = np.zeros((4, 3))
    for n, chance in enumerate(number):
        for x in range(3):
            channel[int(np.floor((n + (x == 1)) / 2 + 0.5)), x] += chance
    assert loss.lower <= World(prior, 1).optimum(channel, 0) + 1e-9
    assert World(prior, 1).optimum(channel, 0) <= loss.upper + 1e-9


@pytest.mark.parametrize(
    "mechanism",
    [pb.Raw(), pb.Gaussian(1.0), pytest.param(pb.Geometric(1.0), marks=pytest.mark.thorough), pb.Rounding(3)],
    ids=repr,
)
def test_bounds_are_in_order_of_what_is_known(mechanism: pb.Mechanism) -> None:
    prior = pb.line_prior(5)
    release = pb.Release([1, 3, 2], mechanism, others=pb.Crowd([prior] * 6))
    loss = pb.measure(prior, release, 1, runs=300)
    assert loss.lower <= loss.bounds["crowd"] <= loss.bounds["known"] * 1.05
    assert loss.bounds["known"] <= loss.bounds["raw"] + 1e-9
    if mechanism.shift_invariant:
        knowing = pb.measure(prior, release.with_others(None), 1, runs=300)
        assert loss.lower <= knowing.upper
        assert loss.bounds["known"] == pytest.approx(knowing.upper, rel=0.02)


@pytest.mark.parametrize("bound", [pb.mutual_information, leakage_bound], ids=lambda f: f.__name__)
def test_formulas_for_independent_counts_are_refused(bound: Callable[..., float]) -> None:
    prior, crowd = pb.line_prior(5), pb.Crowd([pb.line_prior(5)])
    with pytest.raises(pb.UnsupportedRelease, match=r"counts depend on each other with Crowd\(1 people\)"):
        bound(prior, pb.Release([1, 2], others=crowd), "per-step" if bound is pb.mutual_information else 1)
    # One count depends on nothing.
    assert bound(prior, pb.Release([1, []], others=crowd), "per-step" if bound is pb.mutual_information else 1) > 0


def test_information_is_never_above_that_of_raw_counts_without_a_crowd() -> None:
    prior, sensors = pb.line_prior(5), [1, 2]
    hidden = pb.mutual_information(prior, pb.Release(sensors, others=pb.Crowd([prior])), "best")
    assert hidden == pytest.approx(pb.mutual_information(prior, pb.Release(sensors), "exact"))


class TestKnown:
    def test_known_uses_that_small_counts_are_likely(self) -> None:
        """Suppressed counts tell nothing of a small crowd, where raw counts would tell everything."""
        prior = pb.line_prior(5)
        loss = pb.measure(prior, pb.Release([1, 3, 2], pb.Suppression(10), others=pb.Crowd([prior] * 8)), 1)
        assert loss.bounds["known"] < loss.baseline.upper * 1.01
        assert loss.bounds["raw"] > 2 * loss.baseline.upper

    @pytest.mark.parametrize(
        ("rule", "steps"),
        [
            (pb.Then(Whimsical(3), pb.Gaussian(1.0)), 3),  # bins cannot stand in where values tell in no order
            (pb.RandomRounding(3), 12),  # at the coarsest there are over a thousand series
        ],
        ids=repr,
    )
    def test_known_is_raw_where_likely_counts_cannot_be_told(self, rule: pb.Mechanism, steps: int) -> None:
        prior = pb.line_prior(3)
        release = pb.Release([t % 3 for t in range(steps)], rule, others=pb.Crowd([prior] * 2))
        loss = pb.measure(prior, release, 1, runs=20, budget=0)
        assert loss.bounds["known"] == loss.bounds["raw"] < 1


def test_more_people_hide_better() -> None:
    prior = pb.line_prior(5)
    losses = [pb.measure(prior, pb.Release([1, 3], others=pb.Crowd([prior] * n)), 0).upper for n in (0, 1, 5, 40)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(pb.measure(prior, pb.Release([1, 3]), 0).upper)


def test_bad_crowds() -> None:
    prior = pb.line_prior(5)
    with pytest.raises(pb.InputError, match=r"Crowd\(\) is everyone else in an audit"):
        pb.measure(prior, pb.Release([1, 2], others=pb.Crowd()))
    with pytest.raises(pb.InputError, match="the priors of the others or the laws of their numbers, not both"):
        pb.Crowd([prior], laws=[[0.5, 0.5]])
    with pytest.raises(pb.InputError, match="told goes with laws"):
        pb.Crowd(told=[[0.5, 0.5]])
    with pytest.raises(pb.InputError, match="laws must hold one law for each sensor"):
        pb.Release([1, 2], others=pb.Crowd(laws=[[0.5, 0.5]]))
    with pytest.raises(pb.InputError, match="told must hold one law for each sensor"):
        pb.Release([1, 2], others=pb.Crowd(laws=[[0.5, 0.5]] * 2, told=[[0.5, 0.5]]))
    with pytest.raises(pb.InputError, match="a sensor is at place 4"):
        pb.Release([4], others=pb.Crowd([pb.line_prior(3)]))
    with pytest.raises(pb.InputError, match="3 steps need 2 matrices"):
        pb.Release([0, 0, 0], others=pb.Crowd([pb.MarkovPrior([1.0], np.ones((3, 1, 1)))]))


@pytest.mark.parametrize("priors", [5, 1.5, [1, 2], [pb.Raw()], "ab", pb.MarkovPrior])
def test_priors_of_a_crowd_are_priors(priors: Any) -> None:
    with pytest.raises(pb.InputError, match=r"^Crowd: "):
        pb.Crowd(priors)


@pytest.mark.parametrize(
    "laws", [5, "ab", [5], ["ab"], [[["a"]]], [[[0.5, [0.5]]]], [[0.5, 0.4]], [[-0.5, 1.5]], [[np.nan, 1.0]], [[[]]]]
)
def test_laws_of_a_crowd_are_laws(laws: Any) -> None:
    with pytest.raises(pb.InputError, match=r"^Crowd: laws"):
        pb.Crowd(laws=laws)


def test_laws_are_normalised_within_rounding_alone() -> None:
    (((least, law),),) = pb.Crowd(laws=[[0.0, 0.5, 0.5 + 8e-10]]).laws([[0]])
    assert (least, law.sum()) == (1, pytest.approx(1.0, abs=1e-15))
    with pytest.raises(pb.InputError, match=r"^Crowd: laws\[0\] .* that sum to one"):
        pb.Crowd(laws=[[0.0, 0.5, 0.5 + 2e-9]])


def test_numbers_are_drawn_from_traces() -> None:
    """Somebody who stays is in both counts or in neither; by their laws alone, each count is drawn for itself."""
    crowd, rng = pb.Crowd([pb.MarkovPrior([0.5, 0.5], np.eye(2))] * 2), np.random.default_rng(0)
    drawn = crowd.draw([[0], [0]], 500, rng)
    assert (drawn[:, 0] == drawn[:, 1]).all()
    alone = crowd.as_if_independent([[0], [0]]).draw([[0], [0]], 4000, rng)
    assert np.bincount(alone[:, 0, 0]) / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.04)
    assert (alone[:, 0] == alone[:, 1]).mean() == pytest.approx(0.375, abs=0.04)


def covariance(people: pb.People, person: int) -> np.ndarray:
    """Of one person's presence at place 0 at steps 0, 1 and 3, and at place 1 at step 1."""
    prior, states = people.prior(person, [0, 1])
    world = World(prior, 4)
    there = np.stack([states[world.traces[:, t]] == place for t, place in ((0, 0), (1, 0), (1, 1), (3, 0))], axis=1)
    apart = there - world.chance @ there
    return np.asarray((apart * world.chance[:, None]).T @ apart)


class TestAudit:
    def test_others_come_from_the_traces(self) -> None:
        city = pb.simulate_city(people=25, places=12, days=3)
        people = pb.fit_people(city, window="2h", places=6, min_active=1, holdout=3)
        rule = pb.Rounding(3)
        table = pb.audit(people, pb.Release([0, 1, 2], rule), misses=1, workers=1)
        for person in (0, 7):
            others = [int((np.delete(people.actual[:, t], person) == t).sum()) for t in range(3)]
            prior, states = people.prior(person, [0, 1, 2])
            sensors = [int(np.flatnonzero(states == place)[0]) for place in (0, 1, 2)]
            loss = pb.measure(prior, pb.Release(sensors, rule, others), 1, runs=200, budget=5e9)
            assert table["lower"][person] == pytest.approx(loss.lower)
            assert table["upper"][person] == pytest.approx(loss.upper)

    def test_those_who_are_not_audited_are_counted_too(self) -> None:
        """People who are seen too seldom have no habits to speak of, but they are in the published counts."""
        city = pb.simulate_city(people=60, places=12, days=3)
        everybody = pb.fit_people(city, window="2h", places=6, min_active=1, holdout=3)
        regulars = pb.fit_people(city, window="2h", places=6, min_active=33, holdout=3, habits="paper")
        assert len(regulars) < len(everybody)
        np.testing.assert_array_equal(regulars.counts, everybody.counts)
        here = [[int((everybody.actual[:, t] == place).sum()) for place in range(7)] for t in range(3)]
        np.testing.assert_array_equal(everybody.counts, here)
        release = pb.Release([[0, 1], [2], []], pb.Rounding(3))
        found = everyone_else(regulars, release)
        assert isinstance(found, Counted)
        for person, name in enumerate(regulars.ids):
            trace = regulars.actual[person]
            others = everybody.actual[(everybody.ids != name).to_numpy()]
            counted = [[int((others[:, t] == place).sum()) for place in step] for t, step in enumerate(release.sensors)]
            assert found.besides(person, release) == counted
            assert len(others) == len(everybody) - 1
            assert (everybody.actual[(everybody.ids == name).to_numpy()] == trace).all()

    def test_a_crowd_is_everyone_else(self) -> None:
        city = pb.simulate_city(people=25, places=12, days=3)
        people = pb.fit_people(city, window="2h", places=6, min_active=1, holdout=3)
        table = pb.audit(people, pb.Release([0, 1, 2], others=pb.Crowd()), misses=1, workers=1)
        raw = pb.audit(people, pb.Release([0, 1, 2]), misses=1, workers=1)
        assert (table["lower"] <= raw["upper"] + 1e-9).all()
        assert (table["bound_known"] >= raw["lower"] - 1e-9).all()
        assert (table["bound_crowd"] <= table["bound_known"] + 1e-9).all()
        assert (table["lower"] >= table["baseline_lower"] - 1e-9).all()
        assert table["bound_crowd"].to_numpy().mean() < table["bound_known"].to_numpy().mean()

    def test_what_is_told_is_where_people_were_at_every_second_step(self) -> None:
        city = pb.simulate_city(people=12, places=8, days=4)
        people = pb.fit_people(city, window="3h", places=5, min_active=1, holdout=4)
        release = pb.Release([0, [0, 1], [], 0], others=pb.Crowd())
        found = everyone_else(people, release)
        assert isinstance(found, Expected)
        assert (found.told.known & (found.told.chance > 0)).sum() == 0
        cells = [(0, 0), (1, 0), (1, 1), (3, 0)]
        there = np.stack([people.actual[:, t] == place for t, place in cells], axis=1)
        assert (there >= found.told.known).all()
        # Each is told at the first and last of the steps with a sensor, or at the one between.
        outer, inner = found.told.chance[:, [0, 3]], found.told.chance[:, 1:3]
        assert not ((outer > 0).any(axis=1) & (inner > 0).any(axis=1)).any()
        assert (outer > 0).any()
        assert (inner > 0).any()
        for person in (0, 5):
            prior, states = people.usual.prior(person, [0, 1])
            world, trace = World(prior, 4), people.actual[person]
            state = {int(place): i for i, place in enumerate(states)}
            at = [state.get(int(place), state.get(-1, 0)) for place in trace]
            for cell, (t, place) in enumerate(cells):
                if found.told.chance[person, cell] > 0 and t != 1:
                    same = world.chance * (world.traces[:, 1] == at[1])
                    expected = same[world.traces[:, t] == state[place]].sum() / same.sum()
                    assert found.told.chance[person, cell] == pytest.approx(expected)
            crowd = found.besides(person, release)
            numbers = np.sum(
                [covariance(people.usual, other) for other in range(len(people)) if other != person], axis=0
            )
            assert crowd.covariance(release.sensors) == pytest.approx(numbers, abs=1e-12)
            laws = [law for step in crowd.told or () for law in step]
            for cell, (least, law) in enumerate(laws):
                known = np.delete(found.told.known[:, cell], person).sum()
                expected_law = by_enumeration(np.delete(found.told.chance[:, cell], person).tolist())
                np.testing.assert_allclose(spread((least, law), 13), np.roll([*expected_law, 0.0], known), atol=1e-12)

    def test_a_crowd_needs_held_out_steps(self) -> None:
        people = pb.fit_people(pb.simulate_city(people=25, places=12, days=3), window="2h", places=6, holdout=0)
        with pytest.raises(pb.InputError, match="no steps are held out"):
            pb.audit(people, pb.Release([0, 1], others=pb.Crowd()), misses=1, workers=1)

    def test_without_held_out_steps_there_is_nobody_to_count(self) -> None:
        city = pb.simulate_city(people=25, places=12, days=3)
        people = pb.fit_people(city, window="2h", places=6, min_active=1, holdout=0)
        with pytest.raises(pb.InputError, match=r"no steps are held out to count"):
            pb.audit(people, pb.Release([0, 1, 2], pb.Rounding(3)), misses=1, workers=1)


def test_others_with_modes_are_refused_or_do_as_usual() -> None:
    """A sighting of somebody tells of their mode, which bridges between two steps know nothing of."""
    ways = [pb.MarkovPrior([0.0, 1.0], np.eye(2)), pb.MarkovPrior([0.5, 0.5], np.eye(2)[::-1])]
    with pytest.raises(pb.InputError, match="a state must be a place; give one chain"):
        pb.Crowd([pb.MarkovPrior.mixture([0.5, 0.5], ways)])
    city = pb.simulate_city(20, 15, 8)
    steps: dict[str, Any] = {"window": "6h", "places": 8, "min_active": 2, "holdout": 3}
    people = pb.fit_people(city, **steps, habits=pb.Habits(modes="alike"))
    assert people.prior(0)[0].modes > 1
    table = pb.audit(people, pb.Release([0, 1, 0], others=pb.Crowd()), misses=1, workers=1, runs=20, budget=1e6)
    assert (table["lower"] <= table["upper"]).all()
