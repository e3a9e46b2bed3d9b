"""Profiles of adversaries: whoever knows more finds no less, and each is what it is measured as alone."""

import numpy as np
import pytest
from tests import joint

import passerby as pb
from passerby.questions.profiles import PROFILES

STILL = pb.MarkovPrior([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]])
OTHERS = [pb.MarkovPrior([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]])] * 3
RELEASE = pb.Release([0, 0], pb.Raw(), pb.Crowd(OTHERS))


def found(question: pb.Trace | pb.InData, release: pb.Release = RELEASE, **more: object) -> dict[str, pb.ProfileAnswer]:
    answers = pb.profiles(STILL, release, question, runs=200, **more)  # type: ignore[arg-type]
    return {f"{each.profile} {each.share:g}": each for each in answers}


def test_the_names_are_told_apart() -> None:
    assert len({profile.name for profile in PROFILES}) == len(PROFILES) == 6
    assert PROFILES[0].name == "stranger"


def test_each_profile_is_what_it_is_measured_as_alone() -> None:
    answers = found(pb.Trace(0), seen={1: 0}, together=2, shares=[0.25], everybody=OTHERS[0])
    assert [*answers] == [
        "stranger 0",
        "acquaintance 0",
        "colleague 0",
        "knows a share of the others 0.25",
        "insider 1",
        "family 1",
    ]
    insider = pb.measure(STILL, pb.Release([0, 0]), runs=200)
    family = pb.measure(STILL, pb.Release([0, 0], size=2), runs=200)
    assert (answers["insider 1"].lower, answers["insider 1"].upper) == (insider.lower, insider.upper)
    assert (answers["family 1"].lower, answers["family 1"].upper) == (family.lower, family.upper)
    colleague = pb.measure(STILL.given({1: 0}, 2), RELEASE, runs=200)
    assert answers["colleague 0"].lower == colleague.lower


@pytest.mark.parametrize("way", [pb.Raw(), pb.Rounding(2), pb.Geometric(1.0)], ids=repr)
def test_whoever_knows_more_finds_no_less(way: pb.Mechanism) -> None:
    answers = found(pb.Trace(0), RELEASE.through(way), everybody=OTHERS[0], shares=[0.5])
    line = [*answers.values()]
    assert all(less.lower <= more.upper + 1e-9 for k, less in enumerate(line) for more in line[k + 1 :])
    if not isinstance(way, pb.Geometric):
        truth = joint.truth(STILL, RELEASE.through(way), OTHERS, 0)
        assert answers["stranger 0"].lower <= truth <= answers["acquaintance 0"].upper + 1e-9


def test_of_an_event_a_stranger_has_an_upper_end_alone() -> None:
    answers = found(pb.InData(), everybody=OTHERS[0])
    assert answers["stranger 0"].lower == 0
    assert answers["stranger 0"].upper == answers["acquaintance 0"].upper


def test_a_colleague_finds_no_less_on_average() -> None:
    release, chance = RELEASE, STILL.marginals(2)[1]
    more = [pb.profiles(STILL, release, 0, seen={1: place}, shares=[], runs=200)[1] for place in (0, 1)]
    mean = float(np.dot(chance, [each.upper for each in more]))
    assert mean >= joint.truth(STILL, release, OTHERS, 0) - 1e-9


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(pb.InputError, match="everybody has 3 places"):
        found(pb.Trace(0), everybody=pb.line_prior(3))
    with pytest.raises(pb.InputError, match="what a family finds"):
        found(pb.Trace(0), RELEASE.through(pb.Rounding(2)), together=3)
    with pytest.raises(pb.InputError, match="a crowd"):
        found(pb.Trace(0), pb.Release([0, 0]))
