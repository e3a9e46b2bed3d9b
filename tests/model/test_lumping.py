from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import classes
from tests.oracle import World

import passerby as pb
from passerby.kernels.search import best_guess
from passerby.model import lumping as module
from passerby.model.lumping import FEWEST, alike, merged, with_one_sensor
from passerby.outcomes.series import enumerate_series, relative, sample_series, score
from passerby.questions.trace.guess import bracket_series, plain_series
from passerby.questions.trace.stretches import bracket_stretches, log_all_right


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_too_small() -> Iterator[None]:
    """Merge in small cases too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL", 0.0)
        yield


def habits(seed: int, varying: bool, steps: int, own: int = 2, strangers: int = 4) -> pb.MarkovPrior:
    """A person with `own` places, smoothed with frequencies over them and over `strangers` that they never visited."""
    rng = np.random.default_rng(seed)
    places = own + strangers
    common = rng.dirichlet(np.ones(places))
    order = rng.permutation(places)

    def matrix() -> NDArray[np.float64]:
        moves = np.repeat(common[None], places, axis=0)
        moves[:own] = 0.4 * common + 0.6 * np.pad(rng.dirichlet(np.ones(own), own), ((0, 0), (0, strangers)))
        return moves[np.ix_(order, order)]

    moves = np.array([matrix() for _ in range(steps - 1)]) if varying else matrix()
    start = (0.5 * common + 0.5 * np.pad(rng.dirichlet(np.ones(own)), (0, strangers)))[order]
    guessable = np.ones(places, dtype=bool)
    guessable[rng.integers(places)] = rng.random() < 0.5
    return pb.MarkovPrior(start, moves, guessable=guessable)


people = st.builds(habits, st.integers(0, 10**6), st.booleans(), st.just(3))


@given(people)
def test_places_never_visited_are_alike(prior: pb.MarkovPrior) -> None:
    group = alike(prior)
    assert len(group) == 4
    rest = np.setdiff1d(np.arange(6), group)
    moves = prior.matrices
    for x in group[1:]:
        np.testing.assert_array_equal(moves[:, x], moves[:, group[0]])
    for x in rest:
        assert not (moves[:, x] == moves[:, group[0]]).all()


@given(
    people, st.lists(st.lists(st.integers(0, 5), unique=True, max_size=4), min_size=3, max_size=3), st.integers(0, 2)
)
def test_merging_changes_no_success(prior: pb.MarkovPrior, sensors: list[list[int]], misses: int) -> None:
    release = pb.Release(sensors, pb.Gaussian(0.7))
    series = replace(sample_series(prior, release, np.random.default_rng(1), 6), sampled=False)
    found = bracket_series(prior, release, series, misses, 0.0, 1e8)
    table, _, _ = best_guess.brackets(
        prior.initial,
        prior.matrices,
        prior.place_of,
        classes(release.grid, prior.place_of),
        relative(series.evidence),
        series.mass,
        np.ones(6),
        prior.guessable.astype(float),
        misses,
        0.0,
        1e8,
        False,
        np.zeros(6),
    )
    np.testing.assert_allclose(found.lower, table[:, 2], rtol=1e-9)
    np.testing.assert_allclose(found.upper, table[:, 3], rtol=1e-9)
    np.testing.assert_allclose(found.map, plain_series(prior, release, series, misses)[0], rtol=1e-9)
    world = World(prior, 3)
    column = np.zeros((len(world.traces), 3), dtype=int)
    for t, step in enumerate(sensors):
        for j, place in enumerate(step):
            column[world.traces[:, t] == place, t] = 1 + j
    for i in range(6):
        joint = world.chance * np.exp(series.evidence[i][np.arange(3), column].sum(axis=1))
        for guess, value in zip(found.guesses[i], (found.map[i], found.marginal[i], found.lower[i]), strict=True):
            assert prior.guessable[guess].all()
            right = (world.traces != guess).sum(axis=1) <= misses
            assert joint[right].sum() / joint.sum() == pytest.approx(value, rel=1e-9)


@given(people, st.integers(0, 2), st.lists(st.integers(0, 5), unique=True, min_size=1, max_size=5))
def test_sensors_that_see_places_that_are_alike_are_one(prior: pb.MarkovPrior, misses: int, step: list[int]) -> None:
    release = pb.Release([step] * 3)
    fewer, _ = with_one_sensor(prior, release)
    seen = np.intersect1d(alike(prior)[prior.guessable[alike(prior)]], step)
    assert fewer.places == prior.places - max(0, len(seen) - 1)
    world = World(prior, 3)
    allowed = prior.guessable[world.traces].all(axis=1)
    joint = world.sightings(release) * world.chance
    best = (joint @ (world.distance <= misses))[:, allowed].max(axis=1).sum()
    if misses == 0:
        assert log_all_right(prior, release, 0) == pytest.approx(np.log(best))
    found = bracket_stretches(prior, release, misses, 0.0, 1e8)
    if found is not None:
        assert found.lower - 1e-12 <= best <= found.upper + 1e-12


@given(people, st.integers(0, 10**6), st.sampled_from([1.0, 1e-25, 1e-200]))
def test_the_likeliest_of_those_alike_is_named_however_unlikely_they_are(
    prior: pb.MarkovPrior, seed: int, scale: float
) -> None:
    group, rng = alike(prior), np.random.default_rng(seed)
    release = pb.Release([group.tolist()] * 3)
    weights = np.ones((2, 3, 5))
    weights[:, :, 1:] = scale * rng.random((2, 3, 4))
    case = merged(prior, release, weights)
    share = (prior.initial + prior.matrices.sum(axis=(0, 1)))[group]
    chance = np.where(prior.guessable[group], weights[:, :, 1:] * share, -1.0)
    np.testing.assert_array_equal(case.best, group[chance.argmax(axis=2)])


@pytest.mark.parametrize("seed", range(4))
def test_places_that_are_alike_and_may_not_be_named_are_not(seed: int) -> None:
    """All of those that are alike, or all but one of them."""
    plain = habits(seed, False, 3)
    group = alike(plain)
    for named in (group[:0], group[seed % 4 :][:1]):
        guessable = ~np.isin(np.arange(6), group) | np.isin(np.arange(6), named)
        prior = pb.MarkovPrior(plain.initial, plain.transition, guessable=guessable)
        release = pb.Release([group[:2].tolist()] * 3)
        series = enumerate_series(prior, release)
        assert series is not None
        found = bracket_series(prior, release, series, 1, 0.0, 1e8)
        assert guessable[found.guesses].all()
        world = World(prior, 3)
        allowed = guessable[world.traces].all(axis=1)
        best = ((world.likelihoods(release) * world.chance) @ (world.distance <= 1))[:, allowed].max(axis=1).sum()
        assert (series.mass @ found.lower, series.mass @ found.upper) == pytest.approx((best, best), abs=1e-9)


def test_shares_of_places_that_are_reached_as_often_as_started_at() -> None:
    """From one place to four that are alike, where everybody starts, and from these back to it."""
    share = np.array([0.1, 0.2, 0.3, 0.4])
    start, moves = np.append(0.0, share), np.zeros((5, 5))
    moves[0, 1:] = share
    moves[1:, 0] = 1.0
    prior = pb.MarkovPrior(start, moves)
    assert alike(prior).tolist() == [1, 2, 3, 4]
    case = merged(prior, pb.Release([[1], []]), np.ones((1, 2, 2)))
    assert case.best.tolist() == [[4, 4]]
    assert case.weights[0, :, -2:] == pytest.approx(np.array([[0.4, 0.6], [0.4, 0.6]]))


def test_few_places_are_left_as_they_are() -> None:
    prior = habits(1, False, 3, strangers=FEWEST - 1)
    release = pb.Release([0, 1, 2])
    weights = np.ones((1, 3, 2))
    case = merged(prior, release, weights)
    assert case.initial is prior.initial
    guesses = np.array([[[0, 1, 2]]])
    assert case.original(guesses) is guesses


def test_no_place_is_alike_to_itself_alone() -> None:
    assert alike(pb.MarkovPrior([0.2, 0.3, 0.5], [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.6, 0.2]])).size == 0


def test_a_single_step_makes_all_places_alike() -> None:
    prior = pb.MarkovPrior([0.1, 0.2, 0.3, 0.4], np.empty((0, 4, 4)))
    assert alike(prior).tolist() == [0, 1, 2, 3]
    loss = pb.measure(prior, pb.Release([1]), 0, tolerance=0.0)
    assert loss.lower == loss.upper == pytest.approx(0.2 + 0.4)


@pytest.mark.parametrize("faint", [1e-10, 1e-12, 1e-300])
def test_a_small_entry_is_told_from_none(faint: float) -> None:
    """Places that mix, one of which also has a faint way in: it is not like the others, nor like one never reached."""
    moves = np.full((7, 7), 0.2)
    moves[:, 5:] = 0.0
    moves[5] = 0.0
    moves[5, 6] = 1.0
    moves[6] = moves[5]
    moves[0, 5], moves[1, 5] = faint, 2 * faint
    prior = pb.MarkovPrior([0.2] * 5 + [0.0, 0.0], moves / moves.sum(axis=1, keepdims=True))
    assert alike(prior).tolist() == [2, 3, 4]
    start = np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.0, 0.0])
    start[3] += faint
    assert 3 not in alike(pb.MarkovPrior(start, moves / moves.sum(axis=1, keepdims=True))) or faint < 1e-15


@pytest.mark.parametrize("faint", [1e-10, 1e-12, 1e-14])
def test_a_faint_way_into_a_corridor_is_not_merged_away(faint: float) -> None:
    """A hundred places that mix, and two that are entered seldom and never left: staying there is the best guess."""
    mixing, steps = 100, 12
    moves = np.zeros((mixing + 2, mixing + 2))
    moves[:mixing, :mixing] = (1 - faint) / mixing
    moves[:mixing, mixing] = faint
    moves[mixing:, mixing + 1] = 1.0
    start = np.zeros(mixing + 2)
    start[:mixing] = 1 / mixing
    prior = pb.MarkovPrior(start, moves)
    stay = np.full(steps, mixing + 1)
    stay[1] = mixing
    truth = score(prior, pb.Release.silent(steps), np.zeros((1, steps, 1)), stay[None], 2)[0]
    loss = pb.measure(prior, pb.Release.silent(steps), 2)
    assert truth > 0.5 * faint
    assert loss.upper >= truth * (1 - 1e-12)


def of_two_kinds(seed: int, steps: int) -> pb.MarkovPrior:
    """Somebody who does as usual, as another of the same strangers does, or stays where a place of their own is."""
    rng = np.random.default_rng(seed)
    plain = habits(seed, bool(seed % 2), steps)
    group, own = alike(plain), int(np.setdiff1d(np.arange(6), alike(plain))[0])
    other = plain.transition.copy()
    other[..., own, :] = 0.5 * other[..., own, :] + 0.5 * other[..., group[0], :]
    still = pb.MarkovPrior(np.eye(6)[own], np.eye(6), guessable=plain.guessable)
    busy = pb.MarkovPrior(plain.initial, other, guessable=plain.guessable)
    mixed = pb.MarkovPrior.mixture(rng.dirichlet(np.ones(3)), [plain, still, busy])
    order = rng.permutation(mixed.states)
    return pb.MarkovPrior(
        mixed.initial[order],
        mixed.transition[..., order[:, None], order],
        place_of=mixed.place_of[order],
        mode_of=mixed.mode_of[order],
        guessable=mixed.guessable,
    )


@given(
    st.integers(0, 10**6),
    st.lists(st.lists(st.integers(0, 5), unique=True, max_size=4), min_size=3, max_size=3),
    st.integers(0, 2),
)
def test_merging_changes_no_success_of_a_mixture(seed: int, sensors: list[list[int]], misses: int) -> None:
    prior = of_two_kinds(seed, 3)
    release = pb.Release(sensors, pb.Gaussian(0.7))
    assert len(alike(prior)) == 4
    series = replace(sample_series(prior, release, np.random.default_rng(1), 4), sampled=False)
    found = bracket_series(prior, release, series, misses, 0.0, 1e8)
    assert (merged(prior, release, relative(series.evidence)).best >= 0).any()
    guessable = np.array([guess for guess in np.ndindex(6, 6, 6) if prior.guessable[list(guess)].all()])
    for i in range(4):
        evidence = np.repeat(series.evidence[i : i + 1], len(guessable), axis=0)
        best = score(prior, release, evidence, guessable, misses).max()
        assert (found.lower[i], found.upper[i]) == pytest.approx((best, best), rel=1e-9)
        at = score(prior, release, evidence[:3], found.guesses[i], misses)
        np.testing.assert_allclose(at, (found.map[i], found.marginal[i], found.lower[i]), rtol=1e-9)


def both_ends(prior: pb.MarkovPrior, release: pb.Release, misses: int) -> tuple[float, float]:
    """Of the best guess over all series, each looked at by itself."""
    series = enumerate_series(prior, release)
    assert series is not None
    found = bracket_series(prior, release, series, misses, 0.0, 1e8)
    return float(series.mass @ found.lower), float(series.mass @ found.upper)


@given(st.integers(0, 10**6), st.integers(0, 2), st.lists(st.integers(0, 5), unique=True, min_size=1, max_size=5))
def test_one_sensor_tells_of_a_mixture_what_several_do(seed: int, misses: int, step: list[int]) -> None:
    prior = of_two_kinds(seed, 3)
    release = pb.Release([step] * 3)
    fewer, told = with_one_sensor(prior, release)
    seen = np.intersect1d(alike(prior)[prior.guessable[alike(prior)]], step)
    assert fewer.places == prior.places - max(0, len(seen) - 1)
    ends = [both_ends(prior, release, misses), both_ends(fewer, told, misses)]
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)


@given(
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2),
    st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), min_size=3, max_size=3),
)
def test_sensors_at_some_of_the_steps_are_three_places(
    seed: int, varying: bool, mixed: bool, misses: int, sensors: list[list[int]]
) -> None:
    """Against all traces and all guesses of the chain as it was."""
    prior = of_two_kinds(seed, 3) if mixed else habits(seed, varying, 3)
    release = pb.Release(sensors)
    fewer, told = with_one_sensor(prior, release)
    group = alike(prior)
    seen = np.array([[x in step for x in group] for step in sensors]) & prior.guessable[group]
    if seen.any(axis=0).sum() == 4 and not seen.all():
        assert fewer.places == 5
    ends = [both_ends(prior, release, misses), both_ends(fewer, told, misses)]
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)
    assert ends[0][0] == pytest.approx(ends[0][1], rel=1e-9)
    if misses == 0 and not mixed:
        assert log_all_right(prior, release, 0) == pytest.approx(np.log(ends[0][0]), rel=1e-9)
    all_of = bracket_stretches(prior, release, misses, 0.0, 1e8)
    if all_of is not None:
        assert all_of.lower <= ends[0][1] * (1 + 1e-9)
        assert all_of.upper >= ends[0][0] * (1 - 1e-9)
