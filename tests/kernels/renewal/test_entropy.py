import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import Case, cases, chains

import passerby as pb
from passerby.kernels.renewal import sightings


def shannon(law: np.ndarray) -> float:
    law = law[law > 0]
    return float(-(law * np.log(law)).sum())


def told(world: World, release: pb.Release, steps: list[int]) -> float:
    """The entropy of which sensors see the person at these steps, by adding up traces."""
    columns = np.stack([world.column(release, t) for t in steps], axis=1)
    _, which = np.unique(columns, axis=0, return_inverse=True)
    return shannon(np.bincount(which.reshape(-1), weights=world.chance))


@given(chains(), st.integers(0, 10**6))
def test_entropy_of_a_trace(chain: tuple[pb.MarkovPrior, int], seed: int) -> None:
    prior, steps = chain
    world = World(prior, steps)
    inside = np.random.default_rng(seed).random(prior.places)
    found = sightings.of_trace(prior.initial, prior.matrices, inside, steps)
    expected = shannon(world.chance) + float(world.chance @ inside[world.traces].sum(axis=1))
    assert found == pytest.approx(expected, abs=1e-10)


@given(cases())
def test_entropies_of_raw_counts(case: Case) -> None:
    world, grid = World(case.prior, case.steps), case.release.grid
    data = (case.prior.initial, case.prior.matrices, grid)
    assert sightings.of_series(*data) == pytest.approx(told(world, case.release, [*range(case.steps)]), abs=1e-10)
    neighbours = told(world, case.release, [0])
    for t in range(1, case.steps):
        neighbours += told(world, case.release, [t - 1, t]) - told(world, case.release, [t - 1])
    assert sightings.of_neighbours(*data) == pytest.approx(neighbours, abs=1e-10)
    seen = np.zeros(len(world.traces), dtype=bool)
    for t in range(case.steps):
        seen |= world.column(case.release, t) > 0
    there = case.release.classes(case.prior)
    assert sightings.sighted(*data[:2], there) == pytest.approx(world.chance[seen].sum(), rel=1e-9, abs=1e-300)


@pytest.mark.usefixtures("plain_class")
class TestPieces:
    @given(st.floats(0, 1))
    def test_surprise(self, p: float) -> None:
        assert sightings.surprise(p) == (-p * np.log(p) if p else 0)

    @given(cases(), st.floats(0, 1))
    def test_what_a_step_tells_grows_with_the_mass(self, case: Case, mass: float) -> None:
        row = case.prior.initial * mass
        places = case.release.grid[0]
        hidden = sightings.unseen(case.release.grid, case.prior.places)[0]
        seen = row[places[places >= 0]]
        law = np.append(seen, row.sum() - seen.sum())
        expected = mass * shannon(np.maximum(law, 0) / mass) if mass > 1e-9 else 0
        assert sightings.revealed(row, hidden, places) == pytest.approx(expected, abs=1e-8)
