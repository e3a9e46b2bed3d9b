from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import classes, of_case
from tests.oracle import World
from tests.states import state_cases, state_chains
from tests.strategies import Case, cases

import passerby as pb
from passerby.kernels.chain import series
from passerby.support.statistics import by_ratio

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
pytestmark = pytest.mark.usefixtures("plainly")


def law(seed: int, size: int) -> Floats:
    """Outcomes without and with the person, by increasing ratio; some certain."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(size), 2).T
    if rng.random() < 0.3 and size > 1:
        table[0, 0] = 0.0
    if rng.random() < 0.3 and size > 1:
        table[1, 1] = 0.0
    return by_ratio(table / table.sum(axis=0))


def variance(p: float, table: Floats) -> float:
    """How much the outcomes of a table, taken together, tell apart: their mass times the variance of the posterior."""
    mass = table @ [1 - p, p]
    posterior = p * table[:, 1] / mass
    return float(mass @ posterior**2 - (mass @ posterior) ** 2 / mass.sum())


anybody = st.one_of(cases(), state_cases(mechanisms=(pb.Raw(),)))
laws = st.builds(law, st.integers(0, 10**6), st.integers(1, 9))
chances = st.floats(0.01, 0.99)


@given(laws, chances, st.sampled_from([0.0, 1e-4, 1e-3, 1e-2, 10.0]))
def test_telling_outcomes_as_one(table: Floats, p: float, limit: float) -> None:
    out = np.full((len(table) + 1, 2), np.nan)
    size = series.merged_as_one(table, len(table), p, 1 - p, limit, out)
    ends = [0]
    for group in out[:size]:
        begin = ends[-1]
        sizes = [n for n in range(begin + 1, len(table) + 1) if np.allclose(table[begin:n].sum(axis=0), group)]
        assert sizes
        ends.append(sizes[0])
        assert variance(p, table[begin : ends[-1]]) <= limit + 1e-12
        if ends[-1] < len(table):
            assert variance(p, table[begin : ends[-1] + 1]) > limit - 1e-12
    assert ends[-1] == len(table)


@given(laws, chances, st.sampled_from([0.0, 1e-4, 1e-3, 1e-2, 10.0]))
def test_telling_outcomes_as_one_of_two(table: Floats, p: float, limit: float) -> None:
    out, kept = np.full((len(table) + 1, 2), np.nan), np.full(len(table) + 1, -1)
    size = series.merged_as_two(table, len(table), p, 1 - p, limit, kept, out)
    chosen = kept[:size]
    assert chosen[0] == 0
    assert chosen[-1] == len(table) - 1
    assert (np.diff(chosen) > 0).all()
    np.testing.assert_allclose(out[:size].sum(axis=0), table.sum(axis=0), atol=1e-12)
    # Each kept outcome keeps its ratio, and in between no variance is gained beyond the limit.
    share = table[:, 1] / table.sum(axis=1)
    assert out[:size, 1] / out[:size].sum(axis=1) == pytest.approx(share[chosen], abs=1e-9)
    for low, high in pairwise(chosen.tolist()):
        inner = table[low + 1 : high]
        mass = inner @ [1 - p, p]
        ends = p * table[[low, high], 1] / (table[[low, high]] @ [1 - p, p])
        posterior = p * inner[:, 1] / mass
        assert float(mass @ ((posterior - ends[0]) * (ends[1] - posterior))) <= limit + 1e-12
    if limit == 0:
        assert size == len(table)
    if limit == 10:
        assert size == min(2, len(table))


def each_alone(steps: int, sensors: int) -> Ints:
    """Whether a count counts those of a class (T, S + 1, S): the first class is that of nobody, then one for each."""
    return np.repeat(np.eye(sensors + 1, sensors, -1, dtype=np.int64)[None], steps, axis=0)


def grow(
    case: Case, seed: int, limit: float, more: bool, faint: float, most: int
) -> tuple[list[Floats], Floats, Floats, float]:
    """The laws of all cells, in order, and what grows from them: likelihoods, probabilities, what was dropped."""
    grid = case.release.grid
    tables = [law(seed + cell, 3) for cell in range(grid.size)]
    cells, sizes = np.zeros((grid.size, 3, 2)), np.zeros(grid.size, dtype=np.int64)
    for cell, table in enumerate(tables):
        if grid.flat[cell] >= 0:
            cells[cell, : len(table)] = table
            sizes[cell] = len(table)
    limits = np.full(grid.size, limit)
    chain = case.prior.initial, case.prior.matrices, of_case(case), each_alone(*grid.shape)
    told, mass, dropped = series.grow(*chain, cells, sizes, limits, more, faint, most)
    return tables, told, mass, dropped


def channel(case: Case, world: World, told: Floats) -> Floats:
    """`Pr[series | trace]` (n, traces)."""
    out = np.ones((len(told), len(world.traces)))
    for t in range(case.steps):
        out *= told[:, t][:, world.column(case.release, t)]
    return out


def everything(case: Case, world: World, tables: list[Floats]) -> Floats:
    """The same for all outcomes of all cells."""
    cells = [(t, j) for t, step in enumerate(case.release.sensors) for j in range(len(step))]
    width, rows = case.release.grid.shape[1], []
    for outcomes in product(*(range(len(tables[t * width + j])) for t, j in cells)):
        row = np.ones(len(world.traces))
        for (t, j), outcome in zip(cells, outcomes, strict=True):
            there = world.traces[:, t] == case.release.sensors[t][j]
            row *= tables[t * width + j][outcome][there.astype(int)]
        rows.append(row)
    return np.array(rows)


@given(anybody, st.integers(0, 10**6), st.booleans())
def test_without_limits_everything_is_told(case: Case, seed: int, more: bool) -> None:
    if sum(map(len, case.release.sensors)) > 5:
        return
    world = World(case.prior, case.steps)
    tables, told, mass, dropped = grow(case, seed, 0.0, more, 0.0, 3000)
    found = channel(case, world, told)
    possible = world.chance > 0
    assert dropped == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found @ world.chance, mass, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0)[possible], 1, atol=1e-9)
    every = everything(case, world, tables)
    for misses in range(case.steps):
        assert world.optimum(found, misses) == pytest.approx(world.optimum(every, misses), abs=1e-9)


@given(anybody, st.integers(0, 10**6), st.sampled_from([1e-3, 0.1, 10.0]))
def test_limits_tell_less_or_more(case: Case, seed: int, limit: float) -> None:
    if sum(map(len, case.release.sensors)) > 5:
        return
    world, ends = World(case.prior, case.steps), []
    for more in (False, True):
        tables, told, mass, _ = grow(case, seed, limit, more, 0.0, 3000)
        found = channel(case, world, told)
        np.testing.assert_allclose(found @ world.chance, mass, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=0)[world.chance > 0], 1, atol=1e-9)
        ends.append(world.optimum(found, case.misses))
    best = world.optimum(everything(case, world, tables), case.misses)
    assert ends[0] - 1e-9 <= best <= ends[1] + 1e-9


@given(anybody, st.integers(0, 10**6))
def test_what_is_faint_is_dropped_and_counted(case: Case, seed: int) -> None:
    _, told, mass, dropped = grow(case, seed, 0.0, False, 0.05, 3000)
    assert (mass > 0.05).all()
    assert mass.sum() + dropped == pytest.approx(1, abs=1e-9)
    assert len(told) == len(mass)


@given(state_chains(), st.integers(0, 10**6), st.booleans())
def test_counts_may_count_several_classes(chain: tuple[pb.MarkovPrior, int], seed: int, more: bool) -> None:
    """Any class of states at each step, each counted by any of two counts: without limits, everything is told."""
    prior, steps = chain
    world, rng = World(prior, steps), np.random.default_rng(seed)
    told_apart, sees = rng.integers(0, 3, (steps, prior.states)), rng.integers(0, 2, (steps, 3, 2))
    tables = [law(seed + cell, 2) for cell in range(2 * steps)]
    sizes = np.where(rng.random(2 * steps) < 0.7, [len(table) for table in tables], 0)
    cells = np.array([np.pad(table, ((0, 2 - len(table)), (0, 0))) for table in tables])
    habits = prior.initial, prior.matrices, told_apart, sees
    told, mass, dropped = series.grow(*habits, cells, sizes, np.zeros(2 * steps), more, 0.0, 3000)
    of = np.stack([told_apart[t, world.state_traces[:, t]] for t in range(steps)], axis=1)
    found = np.prod([told[:, t][:, of[:, t]] for t in range(steps)], axis=0)
    counted = [
        tables[2 * t + j][:, sees[t, of[:, t], j]] for t in range(steps) for j in range(2) if sizes[2 * t + j] > 0
    ]
    every = np.array([np.prod(rows, axis=0) * np.ones(len(of)) for rows in product(*counted)])
    assert dropped == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found @ world.state_chance, mass, rtol=1e-9, atol=1e-290)
    np.testing.assert_allclose(found.sum(axis=0)[world.state_chance > 0], 1, rtol=1e-9)
    # Whatever is guessed: as good a guess of the whole trace of states is as good a release.
    best = [float((rows * world.state_chance).max(axis=1).sum()) for rows in (found, every)]
    assert best[0] == pytest.approx(best[1], rel=1e-9)


def test_nothing_where_there_would_be_too_many() -> None:
    told_apart, cells = classes(np.array([[0], [1]]), np.arange(2)), np.tile(law(3, 3), (2, 1, 1))
    chain = np.full(2, 0.5), np.full((1, 2, 2), 0.5), told_apart, each_alone(2, 1)
    sizes = np.full(2, 3)
    for most, expected in ((8, 0), (9, 9), (10, 9)):
        told, mass, dropped = series.grow(*chain, cells, sizes, np.zeros(2), False, 0.0, most)
        assert told.shape == (expected, 2, 2)
        assert len(mass) == expected
        assert dropped == (0.0 if expected else 1.0)
