"""The least departure that explains what came true, against a search, and what it does to upper ends."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import passerby as pb
from passerby.audits.windows import highest_mean, least_departure


def divergence(q: np.ndarray, p: np.ndarray) -> float:
    return float(np.mean(q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))))


def test_it_is_the_least() -> None:
    p = np.array([0.05, 0.2, 0.4, 0.7])
    for right in (0.4, 0.6, 0.9):
        start = np.clip(p + right - p.mean(), 0.01, 0.99)
        limits = [(1e-6, 1 - 1e-6)] * 4
        equal: Any = {"type": "eq", "fun": lambda q, right=right: q.mean() - right}
        best: Any = minimize(divergence, start, (p,), bounds=limits, constraints=[equal], tol=1e-12)
        assert best.success
        assert least_departure(p, right) == pytest.approx(best.fun, rel=1e-4)


def test_one_person_is_the_robust_end_of_their_loss() -> None:
    loss = pb.measure(pb.line_prior(6), pb.Release([1, 2, 3]), misses=1)
    for nats in (0.0, 0.01, 0.3, 2.0):
        assert highest_mean(np.array([loss.upper]), nats) == pytest.approx(loss.robust(nats), rel=1e-6)


def test_the_two_are_inverse_to_each_other() -> None:
    p = np.random.default_rng(0).random(50) ** 2
    for right in (0.5, 0.8, 0.99):
        assert highest_mean(p, least_departure(p, right)) == pytest.approx(right, rel=1e-6)
    grown = [highest_mean(p, nats) for nats in (0, 0.1, 0.5, 2, 50)]
    assert grown == sorted(grown)
    assert grown[-1] == pytest.approx(1.0, abs=1e-9)


def test_what_was_promised_to_nobody_cannot_be_explained() -> None:
    p = np.array([0.0, 0.0, 0.5, 1.0])
    assert least_departure(p, 0.2) == 0.0
    assert least_departure(p, 0.6) == np.inf
    assert least_departure(p, 0.5) == pytest.approx(np.log(2) / 4, rel=1e-6)
    assert highest_mean(p, 9.0) == pytest.approx(0.5)
