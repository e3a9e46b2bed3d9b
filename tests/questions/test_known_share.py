"""Others known with chance q: the truth by enumeration is within, and 0 and 1 are the crowd and the insider."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from tests import joint, reference
from tests.oracle import World

import passerby as pb

CROWDS = [case for case in reference.asked_cases("membership.json") if "others" in case.values[0]]


def crowd_of(case: Any) -> pb.Release:
    return pb.Release(case["sensors"], pb.Raw(), pb.Crowd([pb.MarkovPrior(*other) for other in case["others"]]))


@pytest.mark.parametrize("case", CROWDS[:12])
def test_the_truth_lies_between_both_ends(case: Any) -> None:
    curve = pb.known_shares(reference.chain_of(case), crowd_of(case), pb.InData(), [0, 0.5, 1], runs=200)
    for found in curve:
        truth = case["answer"]["partial"]["0.5" if found.share == 0.5 else str(int(found.share))]
        assert found.lower - 1e-9 <= truth <= found.upper + 1e-9
    assert curve[0].upper - 1e-9 <= curve[2].upper


@pytest.mark.parametrize("question", [pb.InData(), pb.Trace(0)])
def test_none_and_all_are_the_crowd_and_the_insider_to_the_bit(question: Any) -> None:
    case = CROWDS[0].values[0]
    prior, release = reference.chain_of(case), crowd_of(case)
    none, every = pb.known_shares(prior, release, question, [0, 1], runs=100)
    for found, known in ((none, release), (every, pb.Release(case["sensors"]))):
        answer = pb.measure(prior, known, question, runs=100)
        ends = answer if isinstance(answer, pb.Loss) else answer.advantage
        assert (found.lower, found.upper) == (ends.lower, ends.upper)


def test_who_is_known_is_drawn_where_crowds_are_many() -> None:
    case = CROWDS[0].values[0]
    prior = reference.chain_of(case)
    release = pb.Release(case["sensors"], pb.Raw(), pb.Crowd([prior] * 40))
    found = pb.known_shares(prior, release, pb.InData(), [0.0, 0.9, 1.0], draws=3, runs=50)
    assert [each.certain for each in found] == [False, False, True]
    assert all(each.lower <= each.upper for each in found)
    assert found[1].upper <= found[2].upper


def test_what_cannot_be_known_in_part_is_refused() -> None:
    prior = pb.line_prior(5)
    with pytest.raises(pb.InputError, match="a crowd"):
        pb.known_shares(prior, pb.Release([1, 2]))
    with pytest.raises(pb.InputError, match="with priors"):
        pb.known_shares(prior, pb.Release([1], pb.Rounding(5), pb.Crowd(laws=[[0.5, 0.5]])))
    with pytest.raises(pb.InputError, match="no single answer"):
        pb.known_shares(prior, pb.Release([1, 2], pb.Raw(), pb.Crowd([prior])), pb.EachStep())
    with pytest.raises(pb.InputError, match="shares"):
        pb.known_shares(prior, pb.Release([1, 2], pb.Raw(), pb.Crowd([prior])), shares=[1.5])


def absent_or(prior: pb.MarkovPrior) -> pb.MarkovPrior:
    """The habits, or with one half nobody: a place more."""
    size = prior.places
    moves = np.zeros((len(prior.transition), size + 1, size + 1))
    moves[:, :size, :size], moves[:, size, size] = prior.transition, 1.0
    return pb.MarkovPrior(np.append(prior.initial / 2, 0.5), moves)


def success(prior: pb.MarkovPrior, release: pb.Release, law: joint.Law, most: int, question: Any) -> float:
    """What the best guess, or the best test of who is counted, achieves with numbers of others of this law."""
    if isinstance(question, pb.Trace):
        world = World(prior, release.steps)
        return world.optimum(joint.channel(world, release, law, most), question.misses)
    world = World(absent_or(prior), release.steps)
    series, inside = joint.channel(world, release, law, most), world.traces[:, 0] < prior.places
    with_, without = (2 * series[:, side] @ world.chance[side] for side in (inside, ~inside))
    return float(np.maximum(with_ - without, 0).sum())


def enumerated(
    prior: pb.MarkovPrior, release: pb.Release, others: list[pb.MarkovPrior], question: Any, share: float
) -> float:
    """The mean over who of the others is known, and over where they are."""
    total = 0.0
    for known in product([False, True], repeat=len(others)):
        chance = float(np.prod([share if one else 1 - share for one in known]))
        hidden = joint.numbers_of_others(release, [each for each, one in zip(others, known, strict=True) if not one])
        shown = joint.numbers_of_others(release, [each for each, one in zip(others, known, strict=True) if one])
        for number, p in shown.items() if chance else ():
            law = {tuple(a + b for a, b in zip(number, more, strict=True)): q for more, q in hidden.items()}
            total += chance * p * success(prior, release, law, len(others), question)
    return total


def little(rng: np.random.Generator, steps: int = 2) -> pb.MarkovPrior:
    return pb.MarkovPrior(rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2), size=(steps - 1, 2)))


WAYS = [
    pb.Rounding(2),
    pb.Suppression(2),
    pb.RandomRounding(2),
    pb.Sampling(0.5),
    pb.Bands([0.5, 1.5]),
    pb.Then(pb.Suppression(2), pb.Rounding(3)),
    pb.Then(pb.Sampling(0.6), pb.Rounding(2)),
]


@pytest.mark.parametrize("question", [pb.InData(), pb.Trace(0)])
@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_rules_are_the_mean_over_who_is_known_and_where(way: pb.Mechanism, question: Any) -> None:
    rng = np.random.default_rng([len(repr(way)), 3])
    prior, others = little(rng), [little(rng) for _ in range(2)]
    release = pb.Release([0, 1], way, pb.Crowd(others))
    shares = [0, 0.4, 1]
    curve = pb.known_shares(prior, release, question, shares, runs=40)
    truth = [enumerated(prior, release, others, question, share) for share in shares]
    assert truth == sorted(truth)
    for found, true in zip(curve, truth, strict=True):
        assert found.lower - 1e-9 <= true <= found.upper + 1e-9
    assert curve[2].lower == pytest.approx(truth[2], rel=0.02, abs=1e-6)


@pytest.mark.parametrize(
    "counts", [[pb.Moved([0], [1], step=0)], [pb.Visitors([0], steps=range(2)), pb.Present([1], 1)]]
)
def test_counts_of_any_kind_by_rules(counts: list[Any]) -> None:
    rng = np.random.default_rng(5)
    prior, others = little(rng), [little(rng) for _ in range(2)]
    release = pb.Release(counts=counts, steps=2, mechanism=pb.Rounding(2), others=pb.Crowd(others))
    for found in pb.known_shares(prior, release, pb.InData(), [0, 0.5, 1], runs=40):
        true = enumerated(prior, release, others, pb.InData(), found.share)
        assert found.lower - 1e-9 <= true <= found.upper + 1e-9


@pytest.mark.parametrize("way", [pb.Rounding(3), pb.Suppression(2)], ids=repr)
@pytest.mark.parametrize("question", [pb.InData(), pb.Trace(0)])
def test_with_rules_none_and_all_are_the_crowd_and_the_insider_to_the_bit(way: Any, question: Any) -> None:
    prior = pb.line_prior(3)
    still = [pb.MarkovPrior(np.eye(3)[place], np.eye(3)) for place in (0, 0, 1)]
    release = pb.Release([0, 1], way, pb.Crowd(still))
    none, every = (pb.known_shares(prior, release, question, [share], runs=100)[0] for share in (0, 1))
    for found, known in ((none, release), (every, pb.Release([0, 1], way, [2, 1]))):
        answer = pb.measure(prior, known, question, runs=100)
        ends = answer if isinstance(answer, pb.Loss) else answer.advantage
        assert (found.lower, found.upper) == (ends.lower, ends.upper)


def test_where_the_known_are_is_drawn_where_ways_are_many() -> None:
    prior = pb.line_prior(4)
    release = pb.Release([0, 1, 2], pb.Rounding(5), pb.Crowd([prior] * 30))
    found = pb.known_shares(prior, release, pb.InData(), [0.0, 0.5, 1.0], draws=4, runs=50)
    assert not any(each.certain for each in found)
    assert all(0 <= each.lower <= each.upper <= 1 for each in found)
