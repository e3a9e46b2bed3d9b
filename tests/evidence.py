"""What is published, as kernels take it, and the plain twin of decoding."""

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from passerby.kernels.chain import posterior as kernels
from tests.oracle import World
from tests.strategies import Case

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def logs(values: Floats) -> Floats:
    """Logarithms, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def classes(sensors: Ints, place_of: Ints) -> Ints:
    """The class of each state at each step (T, M), from sensors (T, S), of which those below 0 are none."""
    out = np.zeros((len(sensors), len(place_of)), dtype=np.int64)
    for t, step in enumerate(sensors):
        for x, place in enumerate(place_of):
            for j, sensor in enumerate(step):
                if sensor == place:
                    out[t, x] = 1 + j
    return out


def of_case(case: Case) -> Ints:
    """The classes of a case."""
    return classes(case.release.grid, case.prior.place_of)


def silence(steps: int, states: int) -> Ints:
    """The classes where nothing is published."""
    return np.zeros((steps, states), dtype=np.int64)


def posterior(initial: Floats, matrices: Floats, told: Ints, weights: Floats) -> tuple[Floats, Floats, float]:
    """`kernels.chain.posterior`, with the ranges of the rows as they are."""
    moves = np.zeros((len(told) - 1, len(initial), len(initial)))
    start, log_mass = kernels.posterior(initial, matrices, *kernels.ranges(matrices), told, weights, moves)
    return start, moves, float(log_mass)


def dense(release: pb.Release, places: int, evidence: Floats) -> Floats:
    """Log-likelihood of every place at every step (T, P), from sparse evidence (T, S + 1)."""
    return np.take_along_axis(evidence, classes(release.grid, np.arange(places)), axis=1)


def viterbi(prior: pb.MarkovPrior, emission: Floats) -> tuple[Ints, float]:
    """The plain twin of `decode`: full recursion over states with stored pointers, first maximum wins."""
    steps = len(emission)
    value = logs(prior.initial) + emission[0]
    back = np.zeros((steps, prior.states), dtype=np.int64)
    for t in range(1, steps):
        reach = value[:, None] + logs(prior.matrices[0 if prior.homogeneous else t - 1])
        back[t] = reach.argmax(axis=0)
        value = reach.max(axis=0) + emission[t]
    trace = np.empty(steps, dtype=np.int64)
    trace[-1] = value.argmax()
    for t in range(steps - 1, 0, -1):
        trace[t - 1] = back[t, trace[t]]
    return trace, float(value.max())


def all_evidence(case: Case) -> tuple[World, Floats, Floats]:
    """The world of a case, the likelihoods of its possible series (n, traces), and their evidence (n, T, S + 1)."""
    world = World(case.prior, case.steps)
    tables = case.release.signals() or []
    width = case.release.grid.shape[1] + 1
    evidence = []
    for picks in np.ndindex(*(len(table) for table in tables)):
        rows = np.full((case.steps, width), -np.inf)
        for t, pick in enumerate(picks):
            rows[t, : tables[t].shape[1]] = logs(tables[t][pick])
        evidence.append(rows)
    channel = world.likelihoods(case.release)
    possible = channel @ world.chance > 0
    return world, channel[possible], np.array(evidence)[possible]
