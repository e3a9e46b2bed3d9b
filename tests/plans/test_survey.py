"""Ends that are passed on, and the doubt that samples share."""

from typing import Any

import numpy as np
import pytest
from tests.plans.towns import town, wanted

import passerby as pb
from passerby.audits.audit import audit_everyone
from passerby.audits.everyone import Everyone
from passerby.audits.job import Job, doubted
from passerby.audits.settings import Measurement
from passerby.plans import survey as module
from passerby.plans.limit import Decided
from passerby.plans.survey import Survey

HOW = Measurement(misses=1, runs=20, confidence=0.98, budget=1e5)


@pytest.fixture(scope="module")
def people() -> pb.People:
    return town(5, people=8, steps=3)


def test_who_is_measured_besides_has_a_share_of_the_doubt(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most twice for each release, whose ends are passed on where they are certain."""
    asked: list[float] = []
    certain = False

    def measured(job: Job, person: int, enough: object = None) -> object:
        asked.append(1 - job.measurement.confidence)
        return (0.5, 0.6, 0.1, 0.2), certain

    monkeypatch.setattr(module, "person_ends", measured)
    survey, base, some = Survey(people, HOW, workers=1), wanted(people), np.array([0])
    less, least = (base.through(pb.Gaussian(sigma)) for sigma in (1.0, 2.0))
    survey.ends(less, some, Decided((pb.Limit(share=0.1, above=0.9),), 0.0))
    survey.ends(less, some, Decided((pb.Limit(share=0.1, above=0.9),), 0.0, how_far=True))
    survey.ends(less, some)
    assert asked == pytest.approx([0.02 / 4] * 2)
    assert [end[0] for end in survey.inherited(least)] == [0.1, 1.0]
    assert [end[0] for end in survey.inherited(base)] == [0.1, 1.0]
    certain = True
    survey.ends(less, np.array([1]))
    assert [end[1] for end in survey.inherited(least)] == [0.1, 0.6]
    assert [end[1] for end in survey.inherited(base)] == [0.5, 1.0]


def test_audits_have_their_own_doubt(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[float] = []

    def audited(everyone: Everyone, *how: Any, **more: Any) -> Any:
        levels.append(everyone.job.measurement.confidence)
        return audit_everyone(everyone, *how, **more)

    monkeypatch.setattr(module, "audit_everyone", audited)
    survey, base = Survey(people, HOW, workers=1), wanted(people)
    less = base.through(pb.Gaussian(2.0))
    survey.everyone_first(base)
    before = survey.inherited(base)
    found = survey.everyone(less)
    assert levels == pytest.approx([0.99, 0.98])
    # The ends of the second audit are its own; what tells more has none of them.
    assert (found.lower > 0).all()
    assert np.array_equal(survey.inherited(base), before)
    survey.ends(less, np.arange(len(people)))
    assert survey.tables.keys() == {base, less}


def test_there_is_always_some_doubt() -> None:
    assert doubted(Measurement(confidence=0.99), 1e-15).confidence < 1
