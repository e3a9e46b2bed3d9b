"""Everybody's traces together, by enumeration: what is true of a person in a crowd, and of adversaries who know more.

Nothing here takes numbers of others at different counts for independent, or uses that chains are Markov: all traces of
all people are listed, and what is told about them sorts the list.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import passerby as pb
from passerby.model.counts import Count
from passerby.others.bridges import assigned, coins, passages, turns, walks
from passerby.others.side_information import assigned as assigned_two
from passerby.others.side_information import directions_of, often_of, pairs_of
from tests.oracle import World

Floats = NDArray[np.float64]
Numbers = tuple[int, ...]
Law = dict[Numbers, float]


def counted(count: Count, trace: Sequence[int]) -> bool:
    """Whether a count counts somebody with this trace, by what it is."""
    if isinstance(count, pb.Present):
        return trace[count.step] in count.places
    if isinstance(count, pb.Moved):
        return trace[count.step] in count.origin and trace[count.step + 1] in count.destination
    assert isinstance(count, pb.Visitors)
    return len([t for t in count.steps if trace[t] in count.places]) >= count.times


def seen(release: pb.Release, traces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whether each trace is in each count (n, counts)."""
    return np.array([[int(counted(count, trace)) for count in release.listed] for trace in traces.tolist()])


def numbers_of_others(release: pb.Release, others: Sequence[pb.MarkovPrior]) -> Law:
    """The law of how many others are at each sensor of each step, all together."""
    law: Law = {(0,) * len(release.listed): 1.0}
    for person in others:
        mine = World(person, release.steps)
        there = seen(release, mine.traces)
        after: Law = {}
        for (number, chance), (row, p) in product(law.items(), zip(there.tolist(), mine.chance, strict=True)):
            key = tuple(n + bit for n, bit in zip(number, row, strict=True))
            after[key] = after.get(key, 0.0) + chance * p
        law = after
    return law


def channel(world: World, release: pb.Release, law: Law, most: int) -> Floats:
    """`Pr[series | trace]` (series, traces), for numbers of others of this law; nobody counts more than `most`."""
    bits, rules = seen(release, world.traces), [count.mechanism for count in release.listed]
    values = [np.unique(np.concatenate([rule.law(n)[0] for n in range(most + 2)])) for rule in rules]  # type: ignore[union-attr]
    out = np.zeros((math.prod(map(len, values)), len(world.traces)))
    for number, chance in law.items():
        table = np.full((1, len(world.traces)), chance)
        for cell, rule in enumerate(rules):
            assert rule is not None
            single = np.exp(rule.log_likelihood(values[cell][:, None], number[cell] + bits[:, cell]))
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
    tell = facts if release.reveals else count_facts
    sorts = [list(tell(release, others, i)) for i in range(len(others))]
    laws: dict[tuple[object, ...], Law] = {}
    for people in product(*sorts):
        number = tuple(sum(counted(count, trace) for _, _, trace in people) for count in release.listed)
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


def remembered(release: pb.Release, trace: Sequence[int], t: int) -> tuple[object, ...]:
    """Where somebody is at a step, and what counts that are open there need to know of before."""
    flows = [c for c in release.listed if isinstance(c, pb.Moved) and c.read == t]
    windows = [c for c in release.listed if isinstance(c, pb.Visitors) and len(c.steps) > 1 and c.first <= t <= c.read]
    so_far = [min(c.times, sum(trace[u] in c.places for u in c.steps if u <= t)) for c in windows]
    return trace[t], tuple(trace[c.step] in c.origin for c in flows), tuple(so_far)


def count_facts(
    release: pb.Release, others: Sequence[pb.MarkovPrior], i: int
) -> Iterator[tuple[tuple[object, ...], float, tuple[int, ...]]]:
    """The same for counts of any kind: told are states with what is remembered, and two classes are assigned."""
    by_step = [[c for c in release.listed if c.read == t] for t in range(release.steps)]
    active = [t for t, step in enumerate(by_step) if step]
    people = passages(tuple(others), tuple(map(tuple, by_step)))
    turn, coin = turns(people, len(others))[i], coins(len(others), len(active))[i]
    mine = World(others[i], release.steps)
    every = [tuple(trace) for trace in mine.traces.tolist()]
    state = {t: [remembered(release, trace, t) for trace in every] for t in active}
    classes = {t: [tuple(int(counted(c, trace)) for c in by_step[t]) for trace in every] for t in active}
    for number, (trace, p) in enumerate(zip(every, mine.chance, strict=True)):
        if p == 0:
            continue
        fact: list[object] = [state[t][number] for k, t in enumerate(active) if k % 2 == turn]
        for k, t in enumerate(active):
            if k % 2 == turn:
                continue
            near = [active[j] for j in (k - 1, k + 1) if 0 <= j < len(active)]
            same = [n for n in range(len(every)) if all(state[u][n] == state[u][number] for u in near)]
            rows = [tuple(row) for row in people[i].bits[k].tolist()]
            law = np.array([sum(mine.chance[n] for n in same if classes[t][n] == row) for row in rows])
            pairs = pairs_of(people[i].bits[k], directions_of(often_of(people, k)))
            told: object = classes[t][number]
            if len(pairs.upper):
                chosen, open_ = (each[0] for each in assigned_two(law[None] / law.sum(), pairs, float(coin[k])))
                two = {rows[pairs.upper[chosen]], rows[pairs.lower[chosen]]}
                told = None if open_ and told in two else told
            fact.append(told)
        yield tuple(fact), float(p), trace


def check_ends(
    loss: pb.Loss, prior: pb.MarkovPrior, release: pb.Release, others: list[pb.MarkovPrior], misses: int
) -> None:
    """The truth is between both ends and below every bound; where all was listed, `crowd` is the enumerated one."""
    best, all_known = (of(prior, release, others, misses) for of in (truth, known))
    assert loss.lower <= best * (1 + 1e-9)
    assert best <= loss.upper * (1 + 1e-9)
    for name, bound in loss.bounds.items():
        assert best <= bound * (1 + 1e-9), name
    for name, attack in loss.attacks.items():
        assert attack.floor <= best * (1 + 1e-9), name
    assert all_known <= loss.bounds["known"] * (1 + 1e-9)
    if loss.effort.confidence is None:
        assert loss.bounds["crowd"] == pytest.approx(told(prior, release, others, misses), rel=1e-9)
        assert loss.bounds["crowd"] <= all_known * (1 + 1e-9)
