"""Others who are known only by their habits."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import Whimsical, chain

import passerby as pb
from passerby.model.crowd import poisson_binomial, without
from passerby.people.others import Counted, everyone_else

Floats = NDArray[np.float64]


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


def test_one_sensor_is_exact() -> None:
    """With one count there is nothing to be independent of: the optimum over all the others' traces is found."""
    prior, others = chain(1, 3, 1, "started"), [chain(seed, 3, 1, "started") for seed in (2, 3, 4)]
    loss = pb.measure(prior, pb.Release([1], pb.Rounding(2), others=pb.Crowd(others)), 0)
    number = by_enumeration([float(person.initial[1]) for person in others])
    channel = np.zeros((4, 3))
    for n, chance in enumerate(number):
        for x in range(3):
            channel[int(np.floor((n + (x == 1)) / 2 + 0.5)), x] += chance
    assert loss.estimates == ()
    assert loss.lower <= World(prior, 1).optimum(channel, 0) + 1e-9
    assert World(prior, 1).optimum(channel, 0) <= loss.upper + 1e-9


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0), pb.Geometric(1.0), pb.Rounding(3)], ids=repr)
def test_what_holds_is_told_apart_from_estimates(mechanism: pb.Mechanism) -> None:
    prior = pb.line_prior(5)
    release = pb.Release([1, 3, 2], mechanism, others=pb.Crowd([prior] * 6))
    loss = pb.measure(prior, release, 1, runs=300)
    assert {"map", "marginal", "ascent", "posterior", "leakage", "fano"} <= set(loss.estimates)
    assert not {"prior", "constant", "raw", "known", "dp"} & set(loss.estimates)
    assert loss.lower <= loss.bounds["known"] <= loss.bounds["raw"] + 1e-9
    if mechanism.shift_invariant:
        knowing = pb.measure(prior, release.with_others(None), 1, runs=300)
        assert loss.lower <= knowing.upper
        assert loss.bounds["known"] == pytest.approx(knowing.upper, rel=0.02)


def true_channel(world: World, release: pb.Release, others: list[pb.MarkovPrior]) -> Floats:
    """`Pr[series | trace]` from the traces of everyone else, which the adversary does not know: by enumeration."""
    cells = [(t, place) for t, step in enumerate(release.sensors) for place in step]
    numbers: dict[tuple[int, ...], float] = {(0,) * len(cells): 1.0}
    for person in others:
        mine = World(person, release.steps)
        there = np.stack([mine.traces[:, t] == place for t, place in cells], axis=1).astype(int)
        after: dict[tuple[int, ...], float] = {}
        for (number, chance), (row, p) in product(numbers.items(), zip(there.tolist(), mine.chance, strict=True)):
            key = tuple(n + bit for n, bit in zip(number, row, strict=True))
            after[key] = after.get(key, 0.0) + chance * p
        numbers = after
    seen = np.stack([world.traces[:, t] == place for t, place in cells], axis=1).astype(int)
    published = [np.unique(np.concatenate([release.rule.law(n)[0] for n in range(len(others) + 2)])) for _ in cells]
    channel = np.zeros((np.prod([len(values) for values in published]), len(world.traces)))
    for number, chance in numbers.items():
        table = np.full((1, len(world.traces)), chance)
        for cell, values in enumerate(published):
            counts = number[cell] + seen[:, cell]
            single = np.exp(release.rule.log_likelihood(values[:, None], counts))
            table = (table[:, None] * single).reshape(-1, len(world.traces))
        channel += table
    return channel


def staying(chance: float) -> pb.MarkovPrior:
    """Somebody who stays at the first of two places, with this probability, or at the other."""
    return pb.MarkovPrior([chance, 1 - chance], np.eye(2))


RULES: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Rounding(2),
    pb.Suppression(2),
    pb.RandomRounding(3),
    pb.Sampling(0.4),
    pb.Geometric(0.7, clamped=True),
    pb.DiscreteGaussian(0.8),
    pb.Then(pb.Suppression(2), pb.Miscount(0.1, 0.2)),
)


class TestTruth:
    """Against the true law of all counts together, in which the numbers of others at different counts depend."""

    @given(st.sampled_from(RULES), st.integers(0, 10**6), st.integers(0, 3), st.integers(0, 1), st.booleans())
    def test_what_is_called_a_bound_is_one(
        self, rule: pb.Mechanism, seed: int, others: int, misses: int, stay: bool
    ) -> None:
        places, steps, sensors = [(2, 3, [[0], [0], [0]]), (3, 2, [[0, 1], [seed % 3]])][seed % 2]
        prior = chain(seed, places, steps, "started")
        crowd = [chain(seed + 1 + i, places, steps, "varying") for i in range(others)]
        if stay:
            crowd = [pb.MarkovPrior(person.initial, np.eye(places)) for person in crowd]
        loss = pb.measure(prior, pb.Release(sensors, rule, others=pb.Crowd(crowd)), misses)
        world = World(prior, steps)
        best = world.optimum(true_channel(world, pb.Release(sensors, rule), crowd), misses)
        assert not {"prior", "constant", "raw", "known", "dp"} & set(loss.estimates)
        for name, bound in loss.bounds.items():
            assert name in loss.estimates or best <= bound + 1e-9, name
        for name, attack in loss.attacks.items():
            assert name in loss.estimates or attack.value <= best + 1e-9, name
        assert loss.baseline.lower <= best + 1e-9
        if others == 0:
            # Nobody is unknown, and nothing is an estimate in effect.
            assert loss.lower - 1e-9 <= best <= loss.upper + 1e-9

    def test_an_estimate_can_be_too_low(self) -> None:
        """Another person stays where they are, so that two counts together tell that the target moved."""
        prior, crowd = pb.MarkovPrior([0.5, 0.5], np.full((2, 2), 0.5)), [staying(0.5)]
        release = pb.Release([0, 0], others=pb.Crowd(crowd))
        loss, world = pb.measure(prior, release, 0), World(prior, 2)
        best = world.optimum(true_channel(world, release, crowd), 0)
        assert "posterior" in loss.estimates
        assert loss.upper < best - 0.05
        assert best <= loss.bounds["known"] + 1e-9

    def test_an_estimate_can_be_too_high(self) -> None:
        """The target stays too: the second count repeats the first, where fresh others would tell something new."""
        prior, crowd = staying(0.5), [staying(0.5)]
        release = pb.Release([0, 0], others=pb.Crowd(crowd))
        loss, world = pb.measure(prior, release, 0), World(prior, 2)
        best = world.optimum(true_channel(world, release, crowd), 0)
        assert "ascent" in loss.estimates
        assert best < loss.lower - 0.05

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
    losses = [pb.measure(prior, pb.Release([1, 3], others=pb.Crowd([prior] * n)), 0).lower for n in (0, 1, 5, 40)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(pb.measure(prior, pb.Release([1, 3]), 0).lower)


def test_bad_crowds() -> None:
    prior = pb.line_prior(5)
    with pytest.raises(pb.InputError, match=r"Crowd\(\) is everyone else in an audit"):
        pb.measure(prior, pb.Release([1, 2], others=pb.Crowd()))
    with pytest.raises(pb.InputError, match=r"priors\[0\] = 3: expected a MarkovPrior"):
        pb.Crowd([3])  # type: ignore[list-item]
    with pytest.raises(pb.InputError, match="the priors of the others or the laws of their numbers, not both"):
        pb.Crowd([prior], laws=[[0.5, 0.5]])
    with pytest.raises(pb.InputError, match="that sum to one"):
        pb.Crowd(laws=[[0.5, 0.4]])
    with pytest.raises(pb.InputError, match="one law for each sensor"):
        pb.Release([1, 2], others=pb.Crowd(laws=[[0.5, 0.5]]))
    with pytest.raises(pb.InputError, match="a sensor is at place 4"):
        pb.Release([4], others=pb.Crowd([pb.line_prior(3)]))


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
        regulars = pb.fit_people(city, window="2h", places=6, min_active=36, holdout=3)
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

    def test_without_held_out_steps_there_is_nobody_to_count(self) -> None:
        city = pb.simulate_city(people=25, places=12, days=3)
        people = pb.fit_people(city, window="2h", places=6, min_active=1, holdout=0)
        with pytest.raises(pb.InputError, match=r"no steps are held out to count"):
            pb.audit(people, pb.Release([0, 1, 2], pb.Rounding(3)), misses=1, workers=1)
