"""Which findings decide: certain ones, or a sample that says enough more; and what is said of unlucky ones."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.strategies import chain

import passerby as pb
from passerby.measurement.finding import Finding, Known, exact, limit
from passerby.questions.trace import measure as module
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.measure import decide
from passerby.questions.trace.methods import METHODS


def ends(*findings: Finding) -> tuple[float, float, bool]:
    known = Known()
    for finding in findings:
        known.add(finding)
    found = decide(known)
    return found.lower, found.upper, found.sampled


def drawn(floor: float, ceiling: float) -> tuple[Finding, Finding]:
    return Finding("ascent", floor=floor, value=floor, level=0.99), limit("posterior", ceiling, level=0.99)


def test_without_a_certain_look_at_all_series_a_sample_decides() -> None:
    assert ends(exact("prior", 0.3), limit("fano", 0.9), *drawn(0.31, 0.89)) == (0.31, 0.89, True)


def test_a_sample_that_narrows_little_is_not_worth_the_doubt() -> None:
    certain = exact("ascent", 0.3), limit("posterior", 0.4)
    assert ends(*certain, *drawn(0.305, 0.395)) == (0.3, 0.4, False)
    assert ends(*certain, *drawn(0.32, 0.37)) == (0.32, 0.37, True)


def test_a_sample_that_raises_the_lower_end_by_a_factor_counts() -> None:
    """Where the upper end is far off, the gap hardly changes, and what is achieved doubles."""
    certain = exact("ascent", 1e-5), limit("posterior", 1e-2)
    assert ends(*certain, *drawn(2e-5, 0.5)) == (2e-5, 1e-2, True)
    assert ends(*certain, *drawn(1.1e-5, 0.5)) == (1.1e-5, 1e-2, True)
    assert ends(*certain, *drawn(1.04e-5, 0.5)) == (1e-5, 1e-2, False)


def test_an_unlucky_sample_is_said_and_not_used() -> None:
    known = Known()
    for finding in (exact("prior", 0.5), limit("fano", 0.9), *drawn(0.4, 0.45)):
        known.add(finding)
    found = decide(known)
    assert (found.lower, found.upper, found.sampled) == (0.5, 0.9, False)
    assert "a sample was unlucky: prior achieves 0.5 and posterior allows 0.45" in found.remarks[0]


def test_a_false_bound_is_not_turned_into_an_exact_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound of a half, where 0.764 is achieved, once gave [0.764, 0.764], certain."""

    def run(question: Goal, known: Known) -> Iterator[Finding]:
        yield limit("false", 0.5)

    false = Method("false", "is wrong", run, bounds=("false",))
    prior, release = chain(6, 3, 3, "started"), pb.Release([0, 1, 2])
    assert pb.measure(prior, release, 1).lower > 0.5
    monkeypatch.setattr(module.investigate, "__defaults__", ((*METHODS, false),))
    with pytest.raises(pb.Contradiction, match=r"achieves 0\..* for certain, but false says .* more than 0\.5"):
        pb.measure(prior, release, 1)


def test_a_sampled_ceiling_below_the_baseline_does_not_lower_what_is_known() -> None:
    """The baseline is exactly known: a sample that misses the rare traces must not pull the lower end below it."""
    rest = np.full((3, 3), 1 / 3)
    prior = pb.MarkovPrior([0.985, 0.0075, 0.0075], [[1, 0, 0], *rest[1:]])
    release = pb.Release([0, 0], pb.Gaussian(0.2))
    for seed in range(20):
        loss = pb.measure(prior, release, 0, series="sample", runs=20, seed=seed)
        assert loss.baseline.lower <= loss.lower <= loss.upper
        assert loss.baseline.upper <= loss.upper


def test_the_baseline_is_never_above_the_loss() -> None:
    for seed in range(30):
        prior = chain(seed, 5, 6, "started")
        loss = pb.measure(prior, pb.Release([0] * 6), 2, tolerance=0.3, budget=0)
        assert loss.baseline.upper <= loss.upper


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-13])
def test_reached_is_relative(scale: float) -> None:
    """A gap below 1e-15 is no small gap where the loss is smaller still."""
    moves = np.full((2, 2), 0.5)
    prior = pb.MarkovPrior([0.5, 0.5], moves)
    steps = 1 - round(np.log2(scale))
    loss = pb.measure(prior, pb.Release([[]] * steps), 0, tolerance=0)
    assert loss.effort.reached == (loss.upper <= loss.lower * (1 + 1e-12))
    assert loss.lower == pytest.approx(0.5**steps, rel=1e-9)


def test_estimates_do_not_exceed_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(8):
        prior = chain(seed, 4, 4, "started")
        loss = pb.measure(prior, pb.Release([0, 1, 2, 3], pb.Gaussian(0.7)), 1, runs=30, seed=seed, budget=1e6)
        for attack in loss.attacks.values():
            assert attack.value <= loss.upper
            assert (attack.level is None) == (attack.error == 0) or attack.level is not None
