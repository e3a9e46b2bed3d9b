"""The list of methods: what all of them have in common."""

import math
from contextlib import suppress

import pytest
from tests.strategies import Halved, Jumbled, chain

import passerby as pb
from passerby.measurement.finding import Finding, Known, limit
from passerby.questions.trace.goal import Goal, Method, pose
from passerby.questions.trace.measure import investigate
from passerby.questions.trace.methods import ATTACKS, BOUNDS, METHODS

EFFORT = {"tolerance": 0.01, "budget": 1e7, "confidence": 0.9, "runs": 20, "series": "auto", "way": "exact"}
MECHANISMS = (pb.Raw(), pb.Gaussian(1.0), pb.Geometric(1.0), pb.Rounding(2), Jumbled(0.3), Halved())


def questions() -> list[Goal]:
    prior, out = chain(5, 3, 3, "started"), []
    for mechanism in MECHANISMS:
        release = pb.Release([0, [1, 2], []], mechanism, [1, [0, 2], []])
        out += [pose(prior, release, misses, 3, None, **EFFORT) for misses in range(3)]
        out.append(pose(prior, release, 1, 3, None, **{**EFFORT, "way": "sampling"}))
        out.append(pose(prior, release, 1, 3, None, **{**EFFORT, "series": "sample"}))
    release = pb.Release([0, 1, 0])
    return [*out, pose(prior, release, 1, 3, [1, 0, 0], **EFFORT)]


def test_names_are_told_once_and_needs_come_first() -> None:
    assert len({method.name for method in METHODS}) == len(METHODS)
    found: set[str] = set()
    for method in METHODS:
        assert set(method.needs) <= found, method.name
        found |= {method.name, *method.yields}
    assert set(ATTACKS) == {"map", "prior", "constant", "marginal", "ascent"}
    by_formula = {"loose", "tight", "fano", "leakage", "dp"}
    assert set(BOUNDS) == by_formula | {"posterior", "raw", "modes", "known", "crowd", "among", "erasure"}
    assert not set(ATTACKS) & set(BOUNDS)


@pytest.mark.parametrize("question", questions())
def test_a_method_yields_what_it_says_or_refuses(question: Goal) -> None:
    """In the order of the list, each finding has one of the method's names, and numbers that can be true."""
    known = Known(unaided=question.published is None)
    for method in METHODS:
        assert method.says
        assert 0 <= method.cost(question) < math.inf
        reason = method.reason(question)
        if reason is None:
            with suppress(pb.UnsupportedRelease):
                for finding in method.run(question, known):
                    known.add(finding)
                    check(method, finding, question.steps)
        else:
            assert len(reason) > 10


def check(method: Method, finding: Finding, steps: int) -> None:
    assert finding.name in (method.yields if finding.about == "loss" else ("baseline",))
    assert finding.about == "baseline" or finding.attack == (finding.name in method.attacks)
    assert 0 <= finding.floor <= finding.ceiling <= 1
    assert finding.error >= 0
    assert finding.guess is None or len(finding.guess) == steps


def test_a_new_bound_is_one_method() -> None:
    certain = Method("one", "says nothing", lambda question, known: iter([limit("one", 1.0)]), bounds=("one",))
    known, _ = investigate(questions()[0], (*METHODS, certain))
    assert known.bound("one") == limit("one", 1.0)
