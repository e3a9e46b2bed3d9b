"""Possible outputs under adaptive counts: histories, grown step by step or drawn.

Each history has its own counts. All counts of all histories together are one release. The evidence of a history in it
is the evidence of its own counts alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.adaptive import History, as_values, union_of
from passerby.model.count_release import Counts, told_by
from passerby.model.counts import Count
from passerby.model.memory import remember
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import Channel, single_table
from passerby.support.numbers import exceeds, log_product, logs, size_in_words

from .series import Anchor, Series, sample_traces, sampled_series

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: So many times as many beginnings of histories as are kept are looked at, at most.
WORTH_SORTING = 16


@dataclass(frozen=True, eq=False)
class Beginning:
    """The published values so far, and their evidence.

    `told` has, for each step, the log-likelihoods (counts, 2) of the values without the target and with; `belief` (M,)
    is how likely this beginning is together with each state of the last step.
    """

    history: History
    counts: Counts
    told: tuple[Floats, ...]
    belief: Floats

    @property
    def mass(self) -> float:
        """How likely it is."""
        return float(self.belief.sum())


def listed_histories(
    prior: MarkovPrior, release: Release, most: int, most_left: float, *, strict: bool = False
) -> tuple[MarkovPrior, Release, Series] | None:
    """The likeliest `most` histories, as series of all counts together over a chain with the memory they need.

    None if values come from a continuum, or a probability of more than `most_left` is left over. With `strict`, an
    error says so, also for more than `most` histories.
    """
    every, dropped = [Beginning((), (), (), prior.initial)], 0.0
    for t in range(release.steps):
        after, number = _grown(prior, release, every, t, WORTH_SORTING * most)
        if strict and exceeds(number, most):
            raise InputError(
                f"series='enumerate': with this policy, {size_in_words(number)} histories are possible up to step {t}, "
                f"and at most {most:,} are listed; sample them (series='sample'), leave the choice (series='auto'), or "
                "publish fewer different values"
            )
        if after is None:
            return None
        after.sort(key=lambda beginning: -beginning.mass)
        dropped += sum(beginning.mass for beginning in after[most:])
        if dropped > most_left:
            return None
        every = after[:most]
    _ask_again(release, every[0].counts[0])
    mass = np.array([beginning.mass for beginning in every])
    chain, union = union_of((b.counts for b in every), release.steps, release.size).over(prior)
    evidence = _evidence(union, [(b.counts, b.told) for b in every])
    return chain, union, Series(evidence, mass, sampled=False, left_over=dropped)


def _grown(
    prior: MarkovPrior, release: Release, every: Sequence[Beginning], t: int, most: int
) -> tuple[list[Beginning] | None, float]:
    """All possible continuations at step t, and the log of their number at most; None if they are too many."""
    last = t == release.steps - 1
    named = [checked(prior, release.named(beginning.history)) for beginning in every]
    laws = [[_law(told_by(count, release.size), last) for count in counts] for counts in named]
    ways = [log_product(math.inf if law is None else len(law[1]) for law in each) for each in laws]
    number = float(np.logaddexp.reduce(ways))
    if exceeds(number, most):
        return None, number
    out = []
    for beginning, counts, law in zip(every, named, laws, strict=True):
        belief, bits = _seen(prior, beginning, counts, t)
        out += list(_following(beginning, counts, [one for one in law if one is not None], belief, bits))
    return out, math.log(len(out))


def checked(prior: MarkovPrior, counts: tuple[Count, ...]) -> tuple[Count, ...]:
    """The counts named by a policy; places unknown to the prior are an error."""
    for count in counts:
        for zone in count.zones:
            if zone[-1] >= prior.places:
                raise InputError(
                    f"policy: it names {count!r}, but the prior has {prior.places} places, numbered 0 to "
                    f"{prior.places - 1}"
                )
    return counts


def _law(channel: Channel, last: bool) -> tuple[Floats, Floats] | None:
    """Values and their log-likelihoods (values, 2) without and with the target; None for a continuum.

    Nothing follows the last step, so values of the same evidence are lumped there.
    """
    mechanism, others = channel
    values = mechanism.outputs(others)
    if values is None:
        return None
    if last:
        table = logs(single_table(channel))
        return np.full(len(table), np.nan), table
    return values, np.stack([mechanism.log_likelihood(values, n) for n in (others, others + 1)], axis=1)


def _seen(prior: MarkovPrior, beginning: Beginning, counts: tuple[Count, ...], t: int) -> tuple[Floats, Ints]:
    """The joint probability of the beginning and each state of step t, and each count's states (M', counts).

    If a count is about earlier steps, states are the states of a chain with the memory it needs.
    """
    if all(count.first == t for count in counts):
        belief = beginning.belief @ prior.matrix(t - 1) if t else prior.initial
        bits = np.zeros((prior.states, len(counts)), dtype=np.int64)
        for j, count in enumerate(counts):
            bits[:, j] = np.isin(prior.place_of, count.zones[0])
        return belief, bits
    so_far = (*beginning.counts, counts)
    chain, watch = remember(prior, so_far)
    belief = chain.initial
    for s, told in enumerate(beginning.told):
        likelihood = np.where(watch.sees[s][:, : len(told)], told[:, 1], told[:, 0]).sum(axis=1)
        belief = (belief * np.exp(likelihood)[watch.classes[s]]) @ chain.matrix(s)
    return belief, watch.sees[t][watch.classes[t]][:, : len(counts)]


def _following(
    beginning: Beginning,
    counts: tuple[Count, ...],
    laws: Sequence[tuple[Floats, Floats]],
    belief: Floats,
    bits: Ints,
) -> Iterator[Beginning]:
    """The possible values of the next step, one by one."""
    states = len(beginning.belief)
    open_: list[tuple[tuple[float, ...], list[Floats], Floats]] = [((), [], belief)]
    for j, (values, table) in enumerate(laws):
        likelihood = np.exp(table)[:, bits[:, j]]
        open_ = [
            ((*before, float(value)), [*told, row], weighed)
            for before, told, mass in open_
            for value, row, chance in zip(values, table, likelihood, strict=True)
            if (weighed := mass * chance).any()
        ]
    for found, told, mass in open_:
        yield Beginning(
            (*beginning.history, as_values(found)),
            (*beginning.counts, counts),
            (*beginning.told, np.array(told).reshape(-1, 2)),
            mass.reshape(-1, states).sum(axis=0),
        )


def _ask_again(release: Release, first: Sequence[Count]) -> None:
    """Refuse a policy that does not name any more what it named at first: it goes by more than what was published."""
    again = release.named(())
    if again != tuple(first):
        raise InputError(
            f"policy: it named {list(first)} for the first step, and {list(again)} when asked later; what is chosen "
            "must follow from what was published"
        )


def drawn_histories(
    prior: MarkovPrior,
    release: Release,
    rng: np.random.Generator,
    runs: int,
    anchor: Anchor | None = None,
    *,
    traces: Ints | None = None,
) -> tuple[MarkovPrior, Release, Series]:
    """Histories of given traces, or of drawn traces guessed wrong by the anchor, as series of all counts together."""
    if traces is None:
        traces = sample_traces(prior, release.steps, rng, runs, anchor)
    history: list[History] = [()] * runs
    paths: list[list[tuple[Count, ...]]] = [[] for _ in range(runs)]
    told: list[list[Floats]] = [[] for _ in range(runs)]
    for _ in range(release.steps):
        answers = {each: checked(prior, release.named(each)) for each in dict.fromkeys(history)}
        groups: dict[tuple[Count, ...], list[int]] = {}
        for i, each in enumerate(history):
            groups.setdefault(answers[each], []).append(i)
        for counts, members in groups.items():
            values, found = _published(counts, release.size, traces[members], rng)
            for i, value, likelihood in zip(members, values, found, strict=True):
                history[i] = (*history[i], as_values(value))
                paths[i].append(counts)
                told[i].append(likelihood)
    _ask_again(release, paths[0][0])
    chain, union = union_of(map(tuple, paths), release.steps, release.size).over(prior)
    evidence = _evidence(union, list(zip(paths, told, strict=True)))
    return chain, union, sampled_series(chain, union, evidence, anchor)


def _published(counts: tuple[Count, ...], size: int, traces: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Values (n, counts) drawn for traces (n, T) of groups of a size, and their log-likelihoods (n, counts, 2)."""
    values, found = np.empty((len(traces), len(counts))), np.empty((len(traces), len(counts), 2))
    for j, count in enumerate(counts):
        mechanism, others = told_by(count, size)
        values[:, j] = mechanism.sample(others + count.bits(traces), rng)
        for there in (0, 1):
            found[:, j, there] = mechanism.log_likelihood(values[:, j], others + there)
    return values, found


def _evidence(union: Release, paths: Sequence[tuple[Sequence[Sequence[Count]], Sequence[Floats]]]) -> Floats:
    """Log-likelihoods (n, T, C) of histories by the classes of the release of all counts."""
    column = [{count: j for j, count in enumerate(step)} for step in union.counts]
    both = np.zeros((2, len(paths), *union.grid.shape))
    for i, (counts, told) in enumerate(paths):
        for t, step in enumerate(counts):
            for count, row in zip(step, told[t], strict=True):
                # The same number may be named twice at a step.
                both[:, i, t, column[t][count]] += row
    return union.by_class(*both)
