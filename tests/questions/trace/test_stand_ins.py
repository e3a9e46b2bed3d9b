"""When stand-ins are searched, and with what effort; `test_measure.py` checks what they say."""

import numpy as np
import pytest

import passerby as pb
from passerby.measurement.finding import Finding, Known
from passerby.outcomes.series import Series
from passerby.outcomes.stand_ins import bracketing_series
from passerby.questions.trace.goal import Goal, pose
from passerby.questions.trace.guess import Brackets
from passerby.questions.trace.methods import quantisation

RNG = np.random.default_rng(4)
PRIOR = pb.MarkovPrior(RNG.dirichlet(np.ones(4)), 0.5 * np.eye(4) + 0.5 * RNG.dirichlet(np.ones(4), 4))
RELEASE = pb.Release([0, 1, 0], pb.Gaussian(1.0))


def asked(runs: int = 1000) -> Goal:
    how = {"tolerance": 0.0, "budget": 1e9, "confidence": 0.99}
    return pose(PRIOR, RELEASE, 1, 0, None, series="auto", way="exact", runs=runs, **how)


def without(floor: float) -> Known:
    """What is known once the baseline is."""
    known = Known()
    known.add(Finding("baseline", floor, floor, value=floor, about="baseline"))
    return known


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The budgets of all searches that are made."""
    budgets: list[float] = []
    search = quantisation._search

    def noted(question: Goal, pair: tuple[Series, Series], budget: float) -> tuple[Brackets, Brackets]:
        budgets.append(budget)
        return search(question, pair, budget)

    monkeypatch.setattr(quantisation, "_search", noted)
    return budgets


def test_finer_ones_are_less_apart() -> None:
    pairs = [bracketing_series(PRIOR, RELEASE, most, 1e-12) for most in (64, 1024)]
    coarse, fine = (quantisation._apart(asked(), pair) for pair in pairs if pair is not None)
    assert 0 < fine < 0.5 * coarse


def test_those_that_leave_more_than_a_sample_are_not_searched(
    searched: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample has the say, and the ends that finer ones give hold for it."""
    assert list(quantisation.run(asked(), without(0.5)))
    fine = len(searched)
    assert 0 < fine <= len(quantisation.SERIES)
    monkeypatch.setattr(quantisation, "_apart", lambda question, pair: 1.0)
    assert not list(quantisation.run(asked(), without(0.5)))
    assert len(searched) == fine
    drawn = pb.measure(PRIOR, RELEASE, 1)
    monkeypatch.undo()
    certain = pb.measure(PRIOR, RELEASE, 1)
    assert drawn.effort.confidence == 0.99
    assert certain.effort.confidence is None
    assert drawn.lower <= certain.upper
    assert certain.lower <= drawn.upper


@pytest.mark.parametrize(("runs", "share"), [(1000, quantisation.SHARE), (10, 1.0)])
def test_a_sample_that_helps_is_left_half_of_the_budget(searched: list[float], runs: int, share: float) -> None:
    """Ten draws tell next to nothing of somebody who is found one time in ten."""
    assert list(quantisation.run(asked(runs), without(0.1)))
    assert searched[0] == pytest.approx(share * 1e9 / 2)
