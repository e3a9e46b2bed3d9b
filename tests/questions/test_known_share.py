"""Others known with chance q: the truth by enumeration is within, and 0 and 1 are the crowd and the insider."""

from typing import Any

import pytest
from tests import reference

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
    with pytest.raises(pb.UnsupportedRelease, match="cannot be taken off"):
        pb.known_shares(prior, pb.Release([1, 2], pb.Rounding(5), pb.Crowd([prior])))
    with pytest.raises(pb.InputError, match="no single answer"):
        pb.known_shares(prior, pb.Release([1, 2], pb.Raw(), pb.Crowd([prior])), pb.EachStep())
    with pytest.raises(pb.InputError, match="shares"):
        pb.known_shares(prior, pb.Release([1, 2], pb.Raw(), pb.Crowd([prior])), shares=[1.5])
