"""Ends that are passed on come from several samples, which share the doubt."""

from typing import Any

import numpy as np
import pytest
from tests.plans.towns import town, wanted

import passerby as pb
from passerby.audits.audit import audit_job
from passerby.audits.job import Job
from passerby.audits.person import person_ends
from passerby.audits.settings import Measurement
from passerby.plans import survey as module
from passerby.plans.survey import Survey, doubted

HOW = Measurement(misses=1, runs=20, confidence=0.98, budget=1e5)


@pytest.fixture(scope="module")
def people() -> pb.People:
    return town(5, people=8, steps=3)


def test_samples_that_bear_on_a_release_share_the_doubt(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def measured(job: Job, person: int, enough: Any = None) -> tuple[float, float, float, float]:
        asked.append(1 - job.measurement.confidence)
        return person_ends(job, person, enough)

    monkeypatch.setattr(module, "person_ends", measured)
    survey, base = Survey(people, HOW, workers=1), wanted(people)
    survey.everyone_first(base)
    for sigma in range(1, 40):
        survey.ends(base.through(pb.Gaussian(sigma)), np.array([0]))
    assert len(asked) == 39
    assert asked[:3] == pytest.approx([0.01 / 2, 0.01 / 6, 0.01 / 12])
    assert sum(asked) < 0.01  # the rest is that of the audit


def test_audits_have_their_own_doubt(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[float] = []

    def audited(job: Job, *how: Any, **more: Any) -> Any:
        levels.append(job.measurement.confidence)
        return audit_job(job, *how, **more)

    monkeypatch.setattr(module, "audit_job", audited)
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
