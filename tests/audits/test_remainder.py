"""Windows of visitors that are left out: what all of them tell lies between what is left, and a little above it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import rows

import passerby as pb
from passerby.audits import job
from passerby.audits.job import by_steps, doubt, kept_part, measured, only

STEPS, PLACES = 3, 4


@st.composite
def cases(draw: st.DrawFn) -> tuple[pb.MarkovPrior, pb.Release]:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    prior = pb.MarkovPrior(rows(rng, (PLACES,), False), rows(rng, (PLACES, PLACES), True))
    mechanism = draw(st.sampled_from([pb.Raw(), pb.Rounding(2), pb.RandomRounding(3)]))
    counts: list[pb.Visitors | pb.Moved | pb.Present] = [
        pb.Visitors(
            draw(st.lists(st.integers(0, PLACES - 1), min_size=1, max_size=2, unique=True)),
            draw(st.sampled_from([(0, 1), (0, 1, 2), (1, 2)])),
            draw(st.integers(1, 2)),
            others=draw(st.integers(0, 4)),
        )
        for _ in range(draw(st.integers(2, 4)))
    ]
    counts += [pb.Moved([0], [1, 2], 1, others=3), pb.Present([0, 3], 2, others=1)]
    return prior, pb.Release(counts=counts, steps=STEPS, mechanism=mechanism)


@given(cases(), st.sampled_from([8, 12, 24, 40]), st.integers(0, 1))
def test_all_counts_tell_more_than_the_kept_ones_and_little_more(
    case: tuple[pb.MarkovPrior, pb.Release], most: int, misses: int
) -> None:
    prior, release = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "MOST_STATES", most)
        part, rest = kept_part(prior, release)
    whole = pb.measure(prior, release, misses, tolerance=0)
    kept = pb.measure(prior, part, misses, tolerance=0)
    assert [len(step) for step in part.sensors] == [len(step) for step in release.sensors]
    assert kept.lower <= whole.upper * (1 + 1e-9)
    assert whole.lower <= (kept.upper + rest) * (1 + 1e-9)
    finer = pb.measure(prior, by_steps(release), misses, tolerance=0)
    assert whole.lower <= finer.upper * (1 + 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "MOST_STATES", most)
        loss, _, upper, *_ = measured(prior, release, misses=misses, tolerance=0, confidence=0.99)
    assert loss.lower <= whole.upper * (1 + 1e-9)
    assert whole.lower <= upper * (1 + 1e-9)
    assert upper <= max(finer.upper, loss.lower) * (1 + 1e-9) or not rest


def test_a_number_that_is_published_again_with_fresh_chance_tells_more_also_beside_windows() -> None:
    """Nine windows tell the first three steps, and three samples of half of the people tell of the last one."""
    prior = pb.MarkovPrior(np.full(3, 1 / 3), np.full((3, 3), 1 / 3))
    windows = [pb.Visitors([place], pair) for place in range(3) for pair in ((0, 1), (1, 2), (0, 2))]
    samples = [pb.Present([0], 3, mechanism=pb.Sampling(0.5), others=0)] * 3
    loss, part, upper, certain, _ = measured(
        prior, pb.Release(counts=[*windows, *samples], steps=4), misses=0, tolerance=0, confidence=0.99
    )
    assert certain
    assert len(part.listed) == 12
    # At the last step one of three samples holds them, or one of the other two places is named.
    assert loss.lower <= 7 / 24 + 1 / 3 <= upper * (1 + 1e-9)


@given(cases())
def test_doubt_is_the_chance_of_the_less_likely(case: tuple[pb.MarkovPrior, pb.Release]) -> None:
    prior, release = case
    world = World(prior, STEPS)
    for count in release.listed:
        if isinstance(count, pb.Visitors):
            chance = float(world.chance @ count.bits(world.traces))
            assert doubt(prior, count, STEPS) == pytest.approx(min(chance, 1 - chance), abs=1e-12)


def test_a_city_of_many_zones_has_daily_visitors() -> None:
    """Twelve windows are more than a chain can remember."""
    city = pb.simulate_city(people=40, places=24, days=5, seed=2)
    people = pb.fit_people(city, window="6h", places=24, min_active=4, holdout=4)
    zones = [[place, place + 12] for place in range(12)]
    release = pb.Release(counts=[pb.Visitors(zone, range(4)) for zone in zones], steps=4)
    table = pb.audit(only(people, np.arange(6)), release, 1, workers=1, budget=1e7)
    assert set(table["status"]) <= {"ok", "wide"}
    assert (table["lower"] <= table["upper"]).all()
    assert (table["upper"] < 1).any()
    assert (table["baseline_lower"] <= table["lower"] + 1e-12).all()
    assert table["bound_tight"].null_count() == 6
    assert table["sighted"].is_between(0, 1).all()


def two_windows() -> tuple[pb.MarkovPrior, pb.Release]:
    """Somebody who goes anywhere at random, and two windows of which one can be remembered."""
    prior = pb.MarkovPrior([0.25] * 4, np.full((4, 4), 0.25))
    counts = [pb.Visitors([place], steps=range(STEPS)) for place in (0, 1)]
    return prior, pb.Release(counts=[*counts, pb.Present([2], step=0)], steps=STEPS)


def test_ends_that_contradict_each_other_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "MOST_STATES", 8)
    monkeypatch.setattr(job, "by_steps", lambda release: pb.Release.silent(STEPS))
    prior, release = two_windows()
    with pytest.raises(pb.Contradiction, match="a part of the windows achieves"):
        measured(prior, release, misses=0, tolerance=0, confidence=0.99)


def test_an_end_that_rests_on_what_was_drawn_is_not_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "MOST_STATES", 8)
    prior, release = two_windows()
    assert measured(prior, release, misses=0, tolerance=0, confidence=0.99).certain
    noisy = pb.Release([[0, 1, 2, 3]] * STEPS, pb.Gaussian(0.01))
    monkeypatch.setattr(job, "by_steps", lambda release: noisy)
    assert not measured(prior, release, misses=0, tolerance=0, confidence=0.99, series="sample").certain


def test_what_is_pooled_over_people_is_not_chosen_by_what_was_drawn() -> None:
    """An end that is certain, or the mean over the draws of the part and what is paid for the rest."""
    prior, release = pb.MarkovPrior([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]]), pb.Release([0, 1])
    sure = pb.measure(prior, release, 0)
    drawn = pb.measure(prior, pb.Release([0, 1], pb.Gaussian(0.5)), 0, series="sample", runs=30)
    assert sure.effort.confidence is None
    assert drawn.effort.confidence is not None
    for loss, more, expected in (
        (sure, drawn, sure.upper + 0.1),
        (drawn, sure, sure.upper),
        (sure, sure, sure.upper),
        (drawn, drawn, drawn.pooled.upper + 0.1),
    ):
        found = job._of_both(loss, release, 0.1, more)
        assert found.pooled_upper == pytest.approx(max(loss.pooled.lower, min(1.0, expected)))
        assert found.certain == (loss is sure and more is sure)
