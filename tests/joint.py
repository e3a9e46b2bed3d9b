"""Everybody's traces together, by enumeration: what is true of a person in a crowd, and of adversaries who know more.

Nothing here takes numbers of others at different counts for independent, or uses that chains are Markov: all traces of
all people are listed, and what is told about them sorts the list.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from passerby.model.bridges import assigned, coins, turns, walks
from tests.oracle import World

Floats = NDArray[np.float64]
Numbers = tuple[int, ...]
Law = dict[Numbers, float]


def cells_of(release: pb.Release) -> list[tuple[int, int]]:
    return [(t, place) for t, step in enumerate(release.sensors) for place in step]


def numbers_of_others(release: pb.Release, others: Sequence[pb.MarkovPrior]) -> Law:
    """The law of how many others are at each sensor of each step, all together."""
    cells = cells_of(release)
    law: Law = {(0,) * len(cells): 1.0}
    for person in others:
        mine = World(person, release.steps)
        there = np.stack([mine.traces[:, t] == place for t, place in cells], axis=1).astype(int)
        after: Law = {}
        for (number, chance), (row, p) in product(law.items(), zip(there.tolist(), mine.chance, strict=True)):
            key = tuple(n + bit for n, bit in zip(number, row, strict=True))
            after[key] = after.get(key, 0.0) + chance * p
        law = after
    return law


def channel(world: World, release: pb.Release, law: Law, most: int) -> Floats:
    """`Pr[series | trace]` (series, traces), for numbers of others of this law; nobody counts more than `most`."""
    cells = cells_of(release)
    seen = np.stack([world.traces[:, t] == place for t, place in cells], axis=1).astype(int)
    values = np.unique(np.concatenate([release.mechanism.law(n)[0] for n in range(most + 2)]))
    out = np.zeros((len(values) ** len(cells), len(world.traces)))
    for number, chance in law.items():
        table = np.full((1, len(world.traces)), chance)
        for cell in range(len(cells)):
            single = np.exp(release.mechanism.log_likelihood(values[:, None], number[cell] + seen[:, cell]))
            table = (table[:, None] * single).reshape(-1, len(world.traces))
        out += table
    return out


def truth(prior: pb.MarkovPrior, release: pb.Release, others: Sequence[pb.MarkovPrior], misses: int) -> float:
    """The success of the best guess of an adversary who knows habits alone."""
    world = World(prior, release.steps)
    return world.optimum(channel(world, release, numbers_of_others(release, others), len(others)), misses)


def known(prior: pb.MarkovPrior, release: pb.Release, others: Sequence[pb.MarkovPrior], misses: int) -> float:
    """The same for one who knows where everyone else was."""
    world = World(prior, release.steps)
    return sum(
        p * world.optimum(channel(world, release, {number: 1.0}, len(others)), misses)
        for number, p in numbers_of_others(release, others).items()
    )


def told(prior: pb.MarkovPrior, release: pb.Release, others: Sequence[pb.MarkovPrior], misses: int) -> float:
    """The same for one who is told where each of the others was at every second step."""
    world = World(prior, release.steps)
    cells, sorts = cells_of(release), [list(facts(release, others, i)) for i in range(len(others))]
    laws: dict[tuple[object, ...], Law] = {}
    for people in product(*sorts):
        number = tuple(sum(trace[t] == place for _, _, trace in people) for t, place in cells)
        law = laws.setdefault(tuple(fact for fact, _, _ in people), {})
        law[number] = law.get(number, 0.0) + float(np.prod([p for _, p, _ in people]))
    return sum(world.optimum(channel(world, release, law, len(others)), misses) for law in laws.values())


def facts(
    release: pb.Release, others: Sequence[pb.MarkovPrior], i: int
) -> Iterator[tuple[tuple[object, ...], float, tuple[int, ...]]]:
    """For each trace of one person: what is told of it, its probability, and the trace."""
    active = [t for t, step in enumerate(release.sensors) if step]
    turn = turns(walks(others, release.sensors), len(others))[i]
    coin = coins(len(others), len(active))[i]
    mine = World(others[i], release.steps)
    for trace, p in zip(mine.traces, mine.chance, strict=True):
        if p == 0:
            continue
        around = [t for k, t in enumerate(active) if k % 2 == turn]
        fact: list[object] = [int(trace[t]) for t in around]
        for k, t in enumerate(active):
            if t not in around:
                near = [active[j] for j in (k - 1, k + 1) if 0 <= j < len(active)]
                same = mine.chance * (mine.traces[:, near] == trace[near]).all(axis=1)
                places = list(release.sensors[t])
                bridge = np.array([[same[mine.traces[:, t] == place].sum() / same.sum() for place in places]])
                mine_is = places[int(assigned(bridge, float(coin[k]))[0])]
                fact.append(int(trace[t]) if trace[t] in places and trace[t] != mine_is else None)
        yield tuple(fact), float(p), tuple(int(x) for x in trace)
