"""Leaving out sensors, steps and counts, against enumeration of all traces."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import Halved, rows

import passerby as pb
from passerby.audits.settings import Measurement
from passerby.audits.subjects import subject_grid, subjects_of
from passerby.audits.what_if import TINY, Key, Seen, _told, keys_of, try_out
from passerby.support.rule_of_five import FEW, effective_people

SENSORS = [[0, 2], [], [1, 2], [0]]


@pytest.fixture(scope="module")
def town() -> pb.People:
    city = pb.simulate_city(12, 20, 4, seed=2)
    return pb.fit_people(city, window="3h", places=8, min_active=1, holdout=4, habits="paper")


def without(release: pb.Release, key: Key) -> pb.Release:
    """The release that is left, made from its parts."""
    about = subject_grid(release)
    kept = [
        [j for j in range(len(step)) if not (key.subject in (None, about[t, j]) and key.step in (None, t))]
        for t, step in enumerate(release.sensors)
    ]
    sensors, others = (
        [[step[j] for j in keep] for step, keep in zip(part, kept, strict=True)]
        for part in (release.sensors, release.numbers)
    )
    return pb.Release(sensors, release.mechanism, others)


@given(
    seed=st.integers(0, 1000),
    misses=st.integers(0, 2),
    mechanism=st.sampled_from([pb.Raw(), Halved(), pb.Rounding(3)]),
    others=st.lists(st.integers(0, 5), min_size=5, max_size=5),
)
def test_what_is_left_out_is_not_used(seed: int, misses: int, mechanism: pb.Mechanism, others: list[int]) -> None:
    """All series with their probabilities: these mechanisms publish one for each trace."""
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False))
    release = pb.Release(SENSORS, mechanism, [others[:2], [], others[2:4], others[4:]])
    world = World(prior, 4)
    seen = Seen(prior, release, misses, *release.likelihoods(release.publish(world.traces, rng)))
    # The same moves in another order are as likely, and rounding decides between them.
    least, most = world.map_range(world.likelihoods(release), misses)
    assert least - 1e-9 <= world.chance @ seen.hits <= most + 1e-9
    for key in keys_of(release):
        least, most = world.map_range(world.likelihoods(without(release, key)), misses)
        assert least - 1e-9 <= world.chance @ seen.hits_without(key.cells(release)) <= most + 1e-9, key


@given(seed=st.integers(0, 1000), misses=st.integers(0, 2))
def test_a_count_tells_no_more_than_the_chance_to_be_counted(seed: int, misses: int) -> None:
    """The fall of the loss itself; this is why counts of people who are hardly ever there may be passed over."""
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False))
    release = pb.Release(SENSORS)
    world = World(prior, 4)
    marginals = prior.marginals(4)
    loss = world.optimum(world.likelihoods(release), misses)
    for key in keys_of(release):
        if key.subject is not None and key.step is not None:
            chance = marginals[key.step, subjects_of(release)[key.subject].zones[0][0]]
            fall = loss - world.optimum(world.likelihoods(without(release, key)), misses)
            assert -1e-12 <= fall <= min(chance, 1 - chance) + 1e-12


def test_what_can_be_left_out() -> None:
    release = pb.Release(SENSORS)
    found = [(key.what, int(key.cells(release).sum())) for key in keys_of(release)]
    assert found == [
        ("sensor", 2),
        ("sensor", 1),
        ("sensor", 2),
        *[("step", n) for n in (2, 2, 1)],
        *[("count", 1)] * 5,
    ]


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0), pb.Rounding(5)], ids=repr)
def test_findings(town: pb.People, mechanism: pb.Mechanism) -> None:
    release = pb.Release([[0, 1], [0], [], [2]], mechanism)
    found = try_out(town, release, Measurement(1), workers=1)
    rows = found.left_out
    assert rows["what"].to_list() == ["sensor"] * 3 + ["step"] * 3 + ["count"] * 4
    assert (rows["with_all"] - rows["without"] - rows["fall"]).abs().max() == pytest.approx(0, abs=1e-12)
    assert rows["fall"].max() > 0  # type: ignore[operator]
    # A step or a sensor with one count is that count.
    single = rows.filter(pl.col("step") == 1)
    assert single["fall"].n_unique() == 1


def test_people_who_are_hardly_ever_there_are_passed_over(town: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    release = pb.Release([[0, 1], [0], [], [2]])
    tried = []
    plain = Seen.hits_without

    def noted(self: Seen, gone: np.ndarray) -> np.ndarray:
        tried.append(gone)
        return plain(self, gone)

    monkeypatch.setattr(Seen, "hits_without", noted)
    all_of = try_out(town, release, Measurement(1), workers=1).left_out
    everything = len(tried)
    monkeypatch.setattr("passerby.audits.what_if.TINY", 0.02)
    some_of = try_out(town, release, Measurement(1), workers=1).left_out
    assert everything == len(town) * all_of.height
    assert TINY < 0.02
    assert len(tried) - everything < everything
    assert (all_of["fall"] - some_of["fall"]).abs().max() <= 0.02 * 4  # type: ignore[operator]


@pytest.mark.parametrize("one", [0.05, 0.1, 0.5, 5.0])
def test_a_fall_of_few_people_does_not_follow_from_those_of_others(one: float) -> None:
    """Three counts at a step: the fall without the step, less those of two, is that of the third."""
    keys = keys_of(pb.Release([[0, 1, 2], [0, 1, 2]]))
    counts = [k for k, key in enumerate(keys) if key.what == "count"]
    falls = np.zeros((20, len(keys)))
    for k in counts:
        falls[:, k] = 0.01 * (1 + (keys[k].subject or 0))
    alone = keys.index(Key(1, 0))
    falls[:, alone] = np.r_[one, np.zeros(19)]
    lines = {
        line: [k for k in counts if key in (Key(keys[k].subject), Key(step=keys[k].step))]
        for line, key in enumerate(keys)
        if key.what != "count"
    }
    for line, within in lines.items():
        falls[:, line] = falls[:, within].sum(axis=1)
    told = _told(keys, falls)
    assert not told[alone]
    assert all(told[keys.index(Key(x, 1))] for x in (0, 2))
    for line, within in lines.items():
        left = np.abs(falls[:, line] - falls[:, [k for k in within if told[k]]].sum(axis=1))
        assert not told[line] or effective_people(left) >= FEW
    # What must not be told: all that rests on five people by itself.
    step, others = keys.index(Key(step=0)), [keys.index(Key(x, 0)) for x in (0, 2)]
    assert effective_people(falls[:, step] - falls[:, others].sum(axis=1)) == pytest.approx(1)
