"""Noise as raw counts that are sometimes shown: the bound `erasure`, for losses and for events."""

from typing import Any

import numpy as np
import pytest
from tests import events, reference
from tests.strategies import rows

import passerby as pb
from passerby.measurement.erasure import Erasure
from passerby.measurement.finding import Known
from passerby.questions.event_looks import by_erasure
from passerby.questions.hypotheses import Hypotheses
from passerby.questions.trace.goal import Goal, pose
from passerby.questions.trace.measure import investigate
from passerby.questions.trace.methods import raw as erasure

EFFORT: dict[str, Any] = {"tolerance": 0.0, "budget": 1e10, "confidence": 0.99, "runs": 200, "series": "auto"}


def known_of(question: Goal) -> Known:
    return investigate(question)[0]


@pytest.mark.parametrize("case", reference.asked_cases("erasure.json"))
def test_reference_values(case: Any) -> None:
    prior, release, answer = reference.chain_of(case), reference.channel_release(case), case["answer"]
    bound = Erasure(release)
    assert [value for step in bound.apart for value in step] == pytest.approx(answer["tau"], abs=1e-9)
    question = pose(prior, release, case["misses"], 0, None, **EFFORT)
    known = known_of(question)
    found = sum(chance * erasure.closely(question, known, shown) for chance, shown in bound.listed())
    assert found == pytest.approx(answer["erasure"], abs=1e-9)
    assert answer["loss"] <= found + 1e-9
    loss = pb.measure(prior, release, case["misses"], tolerance=0.0)
    assert loss.lower - 1e-9 <= answer["loss"] <= loss.upper + 1e-9
    assert loss.bounds.get("erasure", 1.0) >= answer["loss"] - 1e-9


@pytest.mark.parametrize(
    "case", [c for c in reference.asked_cases("presence.json") if "told_apart_erasure" in c.values[0]["answer"]]
)
def test_reference_values_of_events(case: Any) -> None:
    prior, release, answer = reference.chain_of(case), reference.channel_release(case), case["answer"]
    event = pb.Event(pb.Visitors(case["places"], case["steps"], case["times"]))
    question = pose(prior, release, 0, 0, None, **EFFORT)
    asked = Hypotheses(question, lambda chain: event.count.progress(chain.place_of, release.steps))
    parts = list(by_erasure(asked))
    if not parts:
        assert 2 ** Erasure(release).open > 64
        return
    assert parts[0].advantage()[1] == pytest.approx(answer["told_apart_erasure"], abs=1e-8)
    if case["channel"]["kind"] == "gaussian":
        return
    truth = events.truth(prior, release, event)
    for false in (0.0, 0.01, 0.3, 1.0):
        assert parts[0].power(false)[1] >= truth.power(false) - 1e-9
        assert parts[0].mirrored().power(false)[1] >= truth.swapped.power(false) - 1e-9


def person(places: int = 12) -> pb.MarkovPrior:
    """Somebody who is hard to find."""
    moves = rows(np.random.default_rng(3), (places, places), False)
    return pb.MarkovPrior.stationary(0.2 * np.eye(places) + 0.8 * moves)


def test_somebody_counted_with_much_noise_is_bounded_better_than_by_raw_counts() -> None:
    release = pb.Release([[0, 1, 2]] * 10, pb.Gaussian(3.0))
    question = pose(person(), release, 1, 0, None, **(EFFORT | {"tolerance": 0.01}))
    known = known_of(question)
    bound, raw = known.bound("erasure", sampled=True), known.bound("raw")
    assert bound is not None
    assert raw is not None
    assert known.floor.floor < bound.ceiling < 0.5 * raw.ceiling
    loss = pb.measure(person(), release, 1, budget=1e10, runs=200)
    assert loss.upper <= bound.ceiling
    # Its draws are one more thing that may go wrong.
    assert loss.effort.confidence == pytest.approx(1 - 0.01 * 1.01)


def test_everybody_of_an_audit_is_shown_the_same_sets() -> None:
    bound = Erasure(pb.Release([[0, 1, 2]] * 6, pb.Gaussian(1.0)))
    one, other, third = ([shown.sensors for shown in bound.drawn(seed, 20)] for seed in ((7, 1), (7, 2), (8, 1)))
    assert one == other != third
    sizes = np.array([sum(map(len, sensors)) for sensors in one])
    assert abs(sizes.mean() - bound.shown) < 4 * np.sqrt(bound.shown / len(sizes))


def test_zones_flows_and_visitors_are_shown_and_hidden_too() -> None:
    release = pb.Release(
        counts=[pb.Present([0, 1], 0), pb.Moved([0], [2], 1), pb.Visitors([1], range(3))],
        steps=3,
        mechanism=pb.Gaussian(0.8),
    )
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    loss = pb.measure(prior, release, 1, tolerance=0.0)
    assert loss.bounds.get("erasure", 1.0) >= loss.lower
    assert len(list(Erasure(release.over(prior)[1]).listed())) == 8


def test_raw_counts_are_always_shown() -> None:
    loss = pb.measure(pb.line_prior(5), pb.Release([1, 2]))
    assert loss.refused["erasure"] == "the counts are raw"
