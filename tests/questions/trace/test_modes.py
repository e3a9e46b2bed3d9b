"""Mixtures of habits: told the mode, and guesses scored under every mode, beside enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import rows

import passerby as pb
from passerby.measurement.finding import Known
from passerby.model.mixture import average, parts
from passerby.questions.trace.goal import pose
from passerby.questions.trace.measure import loss_of
from passerby.questions.trace.methods.side_information import told_mode
from passerby.questions.trace.stretches import besides_standing, bracket_stretches, guided_success


@st.composite
def mixtures(draw: st.DrawFn) -> tuple[pb.MarkovPrior, pb.Release, int]:
    """Two or three chains, of which some never move, and raw counts at places that may be named."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6), label="seed"))
    places, steps = draw(st.sampled_from([(2, 3), (2, 4), (3, 2), (3, 3)]))
    named = np.append(True, rng.random(places - 1) < 0.8)
    zeros = draw(st.booleans(), label="zeros")
    chains = [
        pb.MarkovPrior(
            rows(rng, (places,), zeros),
            np.eye(places) if rng.random() < 0.3 else rows(rng, (places, places), zeros),
            guessable=named,
        )
        for _ in range(draw(st.integers(2, 3)))
    ]
    prior = pb.MarkovPrior.mixture(rng.dirichlet(np.ones(len(chains))), chains)
    sensors = [rng.permutation(np.flatnonzero(named))[: rng.integers(0, 3)].tolist() for _ in range(steps)]
    sensors[0] = [0]
    return prior, pb.Release(sensors), draw(st.integers(0, steps - 1), label="misses")


@st.composite
def with_standing(draw: st.DrawFn) -> tuple[pb.MarkovPrior, pb.Release, int]:
    """Somebody who moves or stands at a place, which may have no name, and sensors that are always at the same ones."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6), label="seed"))
    places, steps = draw(st.sampled_from([(2, 4), (3, 3), (4, 3)]))
    named = np.append(True, rng.random(places - 1) < 0.8)
    usual = pb.MarkovPrior(rows(rng, (places,), True), rows(rng, (places, places), True), guessable=named)
    where = rng.choice(places, draw(st.integers(1, 2)), replace=False)
    stand = [pb.MarkovPrior(np.eye(places)[x], np.eye(places), guessable=named) for x in where]
    weights = rng.dirichlet(np.full(1 + len(stand), draw(st.sampled_from([0.1, 1.0]))))
    sensors = rng.permutation(np.flatnonzero(named))[: rng.integers(1, 3)].tolist()
    prior = pb.MarkovPrior.mixture(np.maximum(weights, 1e-9) / np.maximum(weights, 1e-9).sum(), [usual, *stand])
    return prior, pb.Release([sensors] * steps), draw(st.integers(0, steps - 1), label="misses")


def best_of_all(prior: pb.MarkovPrior, release: pb.Release, misses: int) -> float:
    """The success of the best guess for each series, by enumeration."""
    world = World(prior, release.steps)
    right = world.distance <= misses
    named = np.flatnonzero(prior.guessable[world.traces].all(axis=1))
    return float((world.sightings(release) * world.chance @ right[:, named]).max(axis=1).sum())


@settings(max_examples=60)
@given(with_standing())
def test_who_moves_beside_those_who_stand(case: tuple[pb.MarkovPrior, pb.Release, int]) -> None:
    """Never above the best guess, never below that of somebody who takes all for those who move."""
    prior, release, misses = case
    each = [bracket_stretches(mode, release, misses, 0.0, 1e8) for _, mode in parts(prior)]
    assert all(found is not None for found in each)
    least = besides_standing(prior, release, misses, [found for found in each if found is not None])
    if least is None:
        # Who seems to move is known to stand, too.
        assert all((mode.marginals(release.steps).max(axis=1) == 1).all() for _, mode in parts(prior))
        return
    assert least <= best_of_all(prior, release, misses) * (1 + 1e-9)
    assert least >= max(weight * found.lower for (weight, _), found in zip(parts(prior), each, strict=True) if found)
    found = bracket_stretches(prior, release, misses, 0.0, 1e8)
    assert found is not None
    assert found.lower >= least * (1 - 1e-12)


def test_naming_where_those_who_stand_are_is_worth_what_it_gains() -> None:
    """Seven of ten stay at home all day; the others leave at once and are seen: both are found."""
    leaves = pb.MarkovPrior([1.0, 0.0, 0.0], [[0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    home = pb.MarkovPrior([1.0, 0.0, 0.0], np.eye(3))
    prior, release = pb.MarkovPrior.mixture([0.3, 0.7], [leaves, home]), pb.Release([[1]] * 4)
    each = [bracket_stretches(mode, release, 0, 0.0, 1e8) for _, mode in parts(prior)]
    # Of those who leave, one half is seen; the other half looks like those who stay.
    found = [one for one in each if one is not None]
    assert besides_standing(prior, release, 0, found) == pytest.approx(0.15 + 0.7)
    assert besides_standing(pb.MarkovPrior.mixture([0.9, 0.1], [leaves, home]), release, 0, found) == pytest.approx(0.9)


@settings(max_examples=40)
@given(mixtures())
def test_both_ends_are_around_the_best_of_all_guesses(case: tuple[pb.MarkovPrior, pb.Release, int]) -> None:
    prior, release, misses = case
    truth = best_of_all(prior, release, misses)
    achieved = guided_success(prior, release, misses)
    assert achieved <= truth * (1 + 1e-9)
    found = bracket_stretches(prior, release, misses, 0.0, 1e8)
    assert found is not None
    assert found.lower <= truth * (1 + 1e-9) <= found.upper * (1 + 1e-8)
    options = {"tolerance": 0.0, "budget": 1e8, "confidence": 0.99, "runs": 50, "series": "auto", "way": "exact"}
    bound = told_mode(pose(prior, release, misses, 0, None, **options), Known(answer=loss_of))
    assert bound.certain
    assert truth <= bound.ceiling * (1 + 1e-9)


def test_who_never_changes_and_is_told_is_known() -> None:
    """Two people who stay: told which one it is, nothing is unknown; untold, only a sighting tells."""
    home, away = (pb.MarkovPrior(np.eye(2)[x], np.eye(2)) for x in range(2))
    prior = pb.MarkovPrior.mixture([0.7, 0.3], [home, away])
    options = {"tolerance": 0.0, "budget": 1e8, "confidence": 0.99, "runs": 50, "series": "auto", "way": "exact"}
    silent = pb.Release([[], [], []])
    assert told_mode(pose(prior, silent, 0, 0, None, **options), Known(answer=loss_of)).ceiling == pytest.approx(1)
    assert pb.measure(prior, silent).upper == pytest.approx(0.7)
    assert pb.measure(prior, pb.Release([[], 0, []])).lower == pytest.approx(1)


def test_long_series_of_a_mixture_are_bounded_without_a_list() -> None:
    rng = np.random.default_rng(3)
    chains = [pb.MarkovPrior(rows(rng, (8,), False), 0.7 * np.eye(8) + 0.3 * rows(rng, (8, 8), False)) for _ in "ab"]
    prior = pb.MarkovPrior.mixture([0.8, 0.2], [*chains])
    loss = pb.measure(prior, pb.Release([[0, 1, 2]] * 20), misses=3, budget=1e9)
    assert loss.bounds["modes"] < 1
    assert 0 < loss.lower <= loss.upper < 1
    assert loss.upper <= 3 * loss.lower
    assert "of one kind" in pb.measure(chains[0], pb.Release([[0, 1, 2]] * 3)).refused["modes"]


def test_parts_are_what_was_mixed_and_the_average_moves_as_the_mixture_does() -> None:
    rng = np.random.default_rng(0)
    chains = [pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False)) for _ in range(2)]
    prior = pb.MarkovPrior.mixture([0.25, 0.75], chains)
    for (weight, part), want, chain in zip(parts(prior), (0.25, 0.75), chains, strict=True):
        assert weight == pytest.approx(want)
        np.testing.assert_allclose(part.transition, chain.transition)
        assert part.single
    mean = average(prior, 4)
    np.testing.assert_allclose(mean.marginals(4), prior.marginals(4))


def test_a_mode_that_is_ruled_out_is_left_out() -> None:
    """What is known of a person at some steps may leave one mode."""
    home, away = (pb.MarkovPrior(np.eye(2)[x], np.eye(2)) for x in range(2))
    known = pb.MarkovPrior.mixture([0.7, 0.3], [home, away]).given({1: 0}, 3)
    assert [weight for weight, _ in parts(known)] == pytest.approx([1.0])
    options = {"tolerance": 0.0, "budget": 1e8, "confidence": 0.99, "runs": 50, "series": "auto", "way": "exact"}
    assert told_mode(
        pose(known, pb.Release([[], 0, []]), 0, 0, None, **options), Known(answer=loss_of)
    ).ceiling == pytest.approx(1)


def test_a_mode_that_a_sighting_rules_out_has_no_part() -> None:
    """Who is known to have been away does not stay at home: what is left is one chain, whatever it was mixed from."""
    rng = np.random.default_rng(1)
    home = pb.MarkovPrior([1, 0, 0], np.eye(3))
    away = pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False))
    prior = pb.MarkovPrior.mixture([0.6, 0.4], [home, away]).given({1: 2}, steps=4)
    assert [weight for weight, _ in parts(prior)] == pytest.approx([1.0])
    found = bracket_stretches(prior, pb.Release([[0, 1]] * 4), 1, 0.0, 1e8)
    truth = pb.measure(away.given({1: 2}, steps=4), pb.Release([[0, 1]] * 4), 1, tolerance=0.0)
    assert found is not None
    assert found.lower * (1 - 1e-9) <= truth.upper
    assert truth.lower <= found.upper * (1 + 1e-9)
