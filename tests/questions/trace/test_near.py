"""The trace question where a place that is near enough counts as right: against enumeration, and against zones."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.hostile import VANISHING, Hostile, exact_loss, hostile_cases
from tests.oracle import World
from tests.questions.trace.test_hostile import holds
from tests.questions.trace.test_question import CLOSE, FINITE, best_named, case, check, releases, truth, zones_of
from tests.strategies import Halved, Jumbled, Whimsical, chain, rows

import passerby as pb
from passerby.model.naming import of_near
from passerby.outcomes.series import enumerate_series, score, silent_series, wrong_laws
from passerby.questions.trace.guess import bracket_series

Flags = NDArray[np.bool_]

#: Mechanisms of all sorts with finitely many values.
SORTS = (*FINITE, Jumbled(0.3), Halved(), Whimsical(3))


def table(rng: np.random.Generator, places: int, share: float = 0.35) -> Flags:
    """A table of what is near what: each place is near itself, and need not be near whatever is near it."""
    return np.asarray((rng.random((places, places)) < share) | np.eye(places, dtype=bool))


@pytest.mark.parametrize("seed", range(40))
def test_a_place_nearby_is_named_as_well_as_enumeration_finds(seed: int) -> None:
    prior, release, misses, rng = case(seed, SORTS)
    near = table(rng, prior.places)
    loss = pb.measure(prior, release, pb.Trace(misses, within=near), tolerance=0.0)
    check(loss, *truth(prior, release, near, misses))


@pytest.mark.parametrize("misses", range(4))
@pytest.mark.parametrize("sets", [False, True])
def test_places_of_a_line_are_near_their_neighbours(misses: int, sets: bool) -> None:
    prior, release = pb.line_prior(4), pb.Release([0, [1, 3], [], 2])
    near = np.abs(np.arange(4)[:, None] - np.arange(4)) <= 1
    within = [set(np.flatnonzero(row).tolist()) for row in near] if sets else near.tolist()
    loss = pb.measure(prior, release, pb.Trace(misses, within=within), tolerance=0.0)
    check(loss, *truth(prior, release, near, misses))


@given(
    st.one_of(hostile_cases(), hostile_cases(shared=True)),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    st.sampled_from([0.0, 1e6, 1e9]),
)
def test_hostile_habits_lie_in_the_interval(hostile: Hostile, seed: int, share: float, budget: float) -> None:
    prior, release = hostile.prior, hostile.release
    near = table(np.random.default_rng(seed), prior.places, share)
    loss = pb.measure(prior, release, pb.Trace(hostile.misses, within=near), budget=budget, runs=50)
    assume(loss.effort.confidence is None)
    exact = exact_loss(hostile, near=near)
    holds(loss.lower, exact, loss.upper, hostile.error)
    known = exact_loss(hostile, pb.Release.silent(release.steps), near)
    if known > VANISHING:
        holds(loss.baseline.lower, known, loss.baseline.upper, hostile.error)
    for name, value in loss.bounds.items():
        assert exact <= Fraction(value) * Fraction(1 + hostile.error), name
    for name, attack in loss.attacks.items():
        if attack.level is None and attack.error == 0:
            assert attack.value <= float(exact) * (1 + hostile.error) + VANISHING, name


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Geometric(1.0), pb.Gaussian(1.0)], ids=repr)
def test_no_distance_is_the_old_question_to_the_last_bit(mechanism: pb.Mechanism) -> None:
    prior, release = pb.line_prior(5), pb.Release([[0, 2], [], [3], [1, 4]], mechanism)
    plain, near = (pb.measure(prior, release, q) for q in (pb.Trace(1), pb.Trace(1, within=np.eye(5))))
    assert (near.lower, near.upper, near.baseline, near.bounds) == (
        plain.lower,
        plain.upper,
        plain.baseline,
        plain.bounds,
    )
    assert near.attacks == plain.attacks


@pytest.mark.parametrize("name", ["raw", "noise", "counts", "adaptive"])
def test_a_table_of_zones_is_the_question_of_zones(name: str) -> None:
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    zones, release = np.array([0, 1, 1]), releases()[name]
    zoned = pb.measure(prior, release, pb.Trace(1, zones=zones), tolerance=1e-4)
    near = pb.measure(prior, release, pb.Trace(1, within=zones[:, None] == zones), tolerance=1e-4)
    assert near.lower == pytest.approx(zoned.lower, rel=1e-3)
    assert near.upper == pytest.approx(zoned.upper, rel=1e-3)
    assert near.baseline.lower == pytest.approx(zoned.baseline.lower, rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_zones_of_random_places_agree(seed: int) -> None:
    prior, release, misses, rng = case(seed, FINITE)
    zones = zones_of(rng, prior.places)
    within, loss = zones[:, None] == zones, truth(prior, release, np.arange(zones.max() + 1)[:, None] == zones, misses)
    check(pb.measure(prior, release, pb.Trace(misses, within=within), tolerance=0.0), *loss)


@pytest.mark.parametrize("name", releases())
def test_more_that_is_near_never_lowers_a_loss(name: str) -> None:
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    tables = [[{0}, {1}, {2}], [{0, 1}, {1}, {2}], [{0, 1}, {1}, {1, 2}], [{0, 1, 2}, {1}, {1, 2}]]
    found = [pb.measure(prior, releases()[name], pb.Trace(1, within=each), runs=200, budget=1e8) for each in tables]
    for less, more in pairwise(found):
        assert less.lower <= more.upper + CLOSE
        assert less.baseline.lower <= more.baseline.upper + CLOSE
    assert found[-1].lower == pytest.approx(1.0)


def test_many_raw_counts_are_drawn_and_brackets_hold_the_truth() -> None:
    prior, release = pb.line_prior(3), pb.Release([[0, 2]] * 6)
    near = table(np.random.default_rng(4), 3)
    best, _ = truth(prior, release, near, 2)
    loss = pb.measure(prior, release, pb.Trace(2, within=near), series="sample", runs=400)
    assert loss.effort.sampled
    assert loss.lower - CLOSE <= best <= loss.upper + CLOSE


def test_what_was_published_is_looked_at_alone() -> None:
    prior, release = pb.line_prior(4), pb.Release([1, 2, 1])
    near = np.abs(np.arange(4)[:, None] - np.arange(4)) <= 1
    loss = pb.measure(prior, release, pb.Trace(0, within=near), published=[1, 0, 1])
    world = World(prior, 3)
    seen = ((world.traces[:, 0] == 1) & (world.traces[:, 1] != 2) & (world.traces[:, 2] == 1)).astype(float)[None]
    exact = best_named(world, seen, near, 0)[0] / (seen @ world.chance)[0]
    assert loss.lower == pytest.approx(exact, rel=1e-9)
    assert loss.upper >= exact - CLOSE


def test_habits_of_several_kinds() -> None:
    rng = np.random.default_rng(5)
    parts = [pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False)) for _ in range(2)]
    prior, release = pb.MarkovPrior.mixture([0.4, 0.6], parts), pb.Release([0, [], 1])
    near = np.array([[True, True, False], [False, True, False], [False, True, True]])
    check(
        pb.measure(prior, release, pb.Trace(1, within=near), tolerance=0.0, budget=1e11),
        *truth(prior, release, near, 1),
    )


def test_a_name_that_is_not_allowed_is_not_used() -> None:
    moves = [[0.2, 0.3, 0.5]] * 3
    prior = pb.MarkovPrior(moves[0], moves, guessable=[True, True, False], elsewhere=2)
    near = [{0, 2}, {1}, {0, 1, 2}]
    loss = pb.measure(prior, pb.Release([[]]), pb.Trace(within=near))
    assert loss.lower == pytest.approx(0.7)
    assert loss.attacks["constant"].guess == (0,)


def test_a_place_that_is_always_near_enough_is_named_for_certain() -> None:
    loss = pb.measure(
        pb.line_prior(6), pb.Release([2, 3]), pb.Trace(within=[set(range(6))] + [{x} for x in range(1, 6)])
    )
    assert (loss.lower, loss.baseline.lower, loss.advantage.upper) == (1.0, 1.0, 0.0)


def test_formulas_of_places_are_refused_with_the_reason() -> None:
    near = np.abs(np.arange(6)[:, None] - np.arange(6)) <= 1
    loss = pb.measure(pb.line_prior(6), pb.Release([2, 3, 1]), pb.Trace(1, within=near))
    assert {"loose", "tight"}.isdisjoint(loss.bounds)
    assert {"fano", "leakage"} <= set(loss.bounds)
    assert "holds for guesses of the place itself" in loss.refused["tight"]


@pytest.mark.parametrize("seed", range(6))
def test_a_guess_is_scored_by_what_is_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior, release = chain(seed, 3, 4, "varying" if seed % 2 else "stationary", False), pb.Release([0, [1, 2], [], 1])
    near = table(rng, 3)
    named, world = prior.guessed_as(of_near(prior, near)), World(prior, 4)
    if not named.overlapping:
        pytest.skip("the table is that of places")
    series, channel = enumerate_series(prior, release), world.sightings(release)
    assert series is not None
    guesses = rng.integers(0, 3, (len(series), 4))
    laws, total = wrong_laws(named, release, series.evidence, guesses, 3), 0.0
    for i in range(len(series)):
        seen = np.array([row @ world.chance for row in channel])
        row = channel[int(np.argmin(np.abs(seen - series.mass[i])))]
        wrong = (~near[guesses[i], world.traces]).sum(axis=1)
        law = np.bincount(wrong, weights=row * world.chance, minlength=5)[:4] / (row @ world.chance)
        assert laws[i] == pytest.approx(law, abs=1e-12)
        total += 1
    assert total == len(channel)
    for misses in range(4):
        assert score(named, release, series.evidence, guesses, misses) == pytest.approx(
            laws[:, : misses + 1].sum(axis=1)
        )


def test_evidence_that_is_impossible_is_told_apart() -> None:
    prior, release = pb.MarkovPrior([1.0, 0.0], np.eye(2)), pb.Release([1])
    named = prior.guessed_as(of_near(prior, [{0, 1}, {1}]))
    evidence = np.array([[[-np.inf, 0.0]]])
    assert score(named, release, evidence, np.zeros((1, 1), np.int64), 0).tolist() == [-1.0]


@pytest.mark.parametrize("budget", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("misses", range(6))
def test_any_budget_gives_ends_that_hold(budget: float, misses: int) -> None:
    rng = np.random.default_rng(misses)
    prior, near = chain(misses, 3, 6, "varying", False), table(rng, 3)
    near[0, 1] = True
    named = prior.guessed_as(of_near(prior, near))
    found = bracket_series(named, pb.Release.silent(6), silent_series(6), misses, 0.0, budget)
    _, exact = truth(prior, pb.Release([[]] * 6), near, misses)
    assert found.lower[0] <= exact + CLOSE
    assert exact - CLOSE <= found.upper[0] <= 1.0 + CLOSE
    world = World(prior, 6)
    for guess, value in zip(found.guesses[0], (found.map[0], found.marginal[0], found.lower[0]), strict=True):
        wrong = (~near[guess, world.traces]).sum(axis=1)
        assert value == pytest.approx(world.chance[wrong <= misses].sum(), abs=1e-12)


def test_names_that_another_one_covers_do_no_harm() -> None:
    prior, release = pb.line_prior(4), pb.Release([1, [], 2])
    near = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool)
    for misses in range(3):
        check(
            pb.measure(prior, release, pb.Trace(misses, within=near), tolerance=0.0),
            *truth(prior, release, near, misses),
        )


def test_faint_series_are_worked_out_in_logarithms() -> None:
    steps, tiny = 4, 1e-200
    moves = np.array([[1 - tiny, tiny], [tiny, 1 - tiny]])
    prior, near = pb.MarkovPrior([1.0, 0.0], moves), [{0, 1}, {1}]
    published = [1 - t % 2 for t in range(1, steps + 1)]
    loss = pb.measure(prior, pb.Release([1] * steps), pb.Trace(within=near), published=published)
    assert loss.lower == pytest.approx(1.0)
    strict = pb.measure(prior, pb.Release([1] * steps), pb.Trace(within=[{0}, {1}]), published=published)
    assert strict.lower == pytest.approx(1.0)


def test_every_table_of_two_places() -> None:
    prior, release = pb.MarkovPrior([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]), pb.Release([[], 0, []])
    for first, second, misses in product((False, True), (False, True), range(3)):
        near = np.array([[True, first], [second, True]])
        check(
            pb.measure(prior, release, pb.Trace(misses, within=near), tolerance=0.0),
            *truth(prior, release, near, misses),
        )
