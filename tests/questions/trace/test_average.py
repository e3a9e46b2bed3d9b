from typing import Any

import numpy as np
import pytest
from tests.oracle import World

import passerby as pb
from passerby.kernels.renewal.best_guess import Stretchwise
from passerby.measurement.finding import Finding, Known
from passerby.questions.trace import stretches, subsample, ways
from passerby.questions.trace import ways as average
from passerby.questions.trace.goal import Goal, pose
from passerby.questions.trace.methods import raw, renewal, sampling


def asked(release: pb.Release, misses: int = 2, seed: int = 5, **options: float) -> Goal:
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4), (4, 4)))
    how = {"tolerance": 0.01, "budget": 2e10, "confidence": 0.99, "runs": 1000} | options
    return pose(prior, release, misses, 0, None, series="auto", way="exact", **how)


def without(floor: float) -> Known:
    """What is known once the baseline is."""
    known = Known()
    known.add(Finding("baseline", floor, floor, value=floor, about="baseline"))
    return known


@pytest.fixture
def raw_counts() -> pb.Release:
    return pb.Release([[0, 1], [2], [], [0, 3], [1]])


@pytest.mark.parametrize("leave", [0.0, 2.0])
def test_stretches_that_are_dear_get_all_or_little(
    raw_counts: pb.Release, monkeypatch: pytest.MonkeyPatch, leave: float
) -> None:
    """By what they will leave of what is open, beside looks at series that are drawn; others get half."""
    question = asked(raw_counts, tolerance=0.0)
    found = stretches.bracket_stretches(question.prior, question.told, question.misses, 0.0, 0.0)
    assert found is not None
    given: list[tuple[float, float | None]] = []

    def bracket(*case: Any, **how: Any) -> Stretchwise:
        given.append((case[-1], how["more"](found) if how["more"] else 0.0))
        return found

    monkeypatch.setattr(renewal, "bracket_stretches", bracket)
    monkeypatch.setattr(renewal, "stretches_leave", lambda question: leave)
    half = [finding.name for finding in renewal.run(question, without(0.0))]
    monkeypatch.setattr(stretches, "DENSE", 0.0)
    known = without(0.0)
    names = []
    for finding in renewal.run(question, known):
        known.add(finding)
        names.append(finding.name)
    assert half[:4] == names[:4] == ["ascent", "map", "marginal", "posterior"]
    half_of_it, little = renewal.SHARE * question.budget, renewal.LITTLE * question.budget
    assert given == [(half_of_it, 0.0), (little, None if leave else question.budget - little)]
    assert names[4:] == (["ascent", "posterior"] if leave else [])


@pytest.mark.parametrize(
    ("leave", "misses"),
    [(0.0, 3), (2.0, 1), *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((0.0, 1), (2.0, 3)))],
)
def test_ends_hold_where_stretches_are_dear(
    raw_counts: pb.Release, monkeypatch: pytest.MonkeyPatch, leave: float, misses: int
) -> None:
    """As if there were too many series to list, with a budget too small to close the gap."""
    monkeypatch.setattr(stretches, "DENSE", 0.0)
    monkeypatch.setattr(renewal, "stretches_leave", lambda question: leave)
    monkeypatch.setattr(ways, "affordable", lambda question, budget: 0)
    for seed in range(4):
        prior = asked(raw_counts, seed=seed).prior
        world = World(prior, 5)
        truth = ((world.sightings(raw_counts) * world.chance) @ (world.distance <= misses)).max(axis=1).sum()
        loss = pb.measure(prior, raw_counts, misses, budget=10.0, tolerance=0.0, runs=40)
        assert loss.lower <= truth * (1 + 1e-9)
        assert truth <= loss.upper * (1 + 1e-9)


def test_raw_counts_that_cannot_decide_are_not_looked_at(
    raw_counts: pb.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their ceiling is still a bound. Where a sample resolves less than they may, nearly all effort is theirs."""
    question, known = asked(pb.Release(raw_counts.sensors, pb.Gaussian(1.0))), without(0.1)
    monkeypatch.setattr(stretches, "DENSE", 0.0)
    monkeypatch.setattr(raw, "affordable", lambda question, budget: 2)
    ceiling = stretches.stretch_ceiling(question.prior, raw_counts, question.misses)
    looked: list[float] = []
    monkeypatch.setattr(raw, "bracket_stretches", lambda *given, **_: looked.append(given[-1]))
    assert raw.raw_loss(question, known, 1e9) == (0.0, ceiling)
    assert not looked
    raw.raw_loss(asked(question.release, runs=20), known, 1e9)
    assert looked == [(1 - subsample.GUESSING) * question.budget]


def test_raw_counts_that_were_to_decide_are_looked_at_once(
    raw_counts: pb.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then noisy series are not bounded, and the raw ones not again; where only their ceiling is known, they are."""
    question, known = asked(pb.Release(raw_counts.sensors, pb.Gaussian(1.0)), runs=50), without(0.1)
    for module, name in ((stretches, "DENSE"), (average, "DEAR")):
        monkeypatch.setattr(module, name, 0.0)
    known.add(Finding("raw", ceiling=0.9, error=0.3))
    assert subsample.looked_closely(question, known)
    assert not list(raw.run_again(question, known))
    assert not sampling.resolved(question, known, 50)
    known = without(0.1)
    known.add(Finding("raw", ceiling=0.9, error=0.9))
    assert not subsample.looked_closely(question, known)
    assert sampling.resolved(question, known, 50)
    assert len(list(raw.run_again(question, known))) == 1
    assert not subsample.looked_closely(question, without(0.1))


def test_where_looks_are_dear_a_sample_is_as_fine_as_a_search(
    raw_counts: pb.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search leaves a share of what is achieved, a sample one of certainty: the less is achieved, the more draws."""
    question = asked(raw_counts, budget=1.0)
    assert average.balanced(question, without(0.5)) == 1000
    monkeypatch.setattr(average, "DEAR", 0.0)
    monkeypatch.setattr(average, "looks", lambda question, budget: 30)
    runs = [average.balanced(question, without(floor)) for floor in (0.9, 0.3, 0.1, 0.0)]
    assert runs == sorted(runs)
    assert runs[0] == 30
    assert runs[-1] == 1000
    for floor, most in zip((0.3, 0.1), runs[1:3], strict=True):
        assert average.resolution(question, floor, most) == pytest.approx(average.SMALL * floor, rel=0.02)


def test_what_a_sample_cannot_resolve_is_not_bounded(raw_counts: pb.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who is hardly ever guessed: the sample may raise the lower end, and the certain ceiling stays."""
    question = asked(pb.Release(raw_counts.sensors, pb.Gaussian(1.0)), runs=50)
    known = without(1e-6)
    known.add(Finding("raw", ceiling=1e-4))
    assert "posterior" in {finding.name for finding in sampling.run(question, known)}
    monkeypatch.setattr(average, "DEAR", 0.0)
    found = list(sampling.run(question, known))
    assert {finding.name for finding in found} == {"map", "marginal", "ascent"}
    assert all(finding.ceiling == 1 and finding.pooled is None for finding in found)
    known = without(1e-6)
    known.add(Finding("raw", ceiling=0.9))
    assert "posterior" in {finding.name for finding in sampling.run(question, known)}


def test_tables_that_are_too_big_are_not_filled() -> None:
    law = np.array([0.6, 0.3, 0.1])
    prior, release = pb.MarkovPrior(law, np.tile(law, (3, 1))), pb.Release([2] * 1000)
    assert not stretches.tables_fit(prior, release, 300)
    assert stretches.stretch_ceiling(prior, release, 300) == 1.0
    assert stretches.tables_fit(prior, release, 3)


@pytest.mark.parametrize(("places", "misses", "entries"), [(50, 0, 50 * 5 * 2 * 4), (2, 3, 5**2 * 4 * 4)])
def test_the_larger_of_two_tables_must_fit(
    monkeypatch: pytest.MonkeyPatch, places: int, misses: int, entries: int
) -> None:
    prior, release = pb.line_prior(places), pb.Release([0] * 4)
    monkeypatch.setattr(stretches, "PAIRS_LIMIT", entries)
    assert stretches.tables_fit(prior, release, misses)
    monkeypatch.setattr(stretches, "PAIRS_LIMIT", entries - 1)
    assert not stretches.tables_fit(prior, release, misses)
