"""What was to be expected of the published window: intervals that hold, over windows that drift and that do not."""

import numpy as np
import pytest

from passerby.audits.windows import DRIFT, Windows, close, scale, variance


def drawn(rng: np.random.Generator, drift: float, windows: int, people: int, promised: float = 0.4) -> Windows:
    """Windows whose chances drift around a promise, with so many people."""
    chances = np.clip(promised + rng.normal(0, drift, windows), 0.01, 0.99)
    right = np.array([(rng.random(people) < chance).astype(float) for chance in chances])
    chance = np.array([variance(np.full(people, promised), row) for row in right])
    return Windows(np.full(windows, promised), right.mean(axis=1), chance, windows)


@pytest.mark.parametrize("drift", [0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("windows", [3, 5])
def test_the_published_window_lies_where_it_was_expected(drift: float, windows: int) -> None:
    rng = np.random.default_rng(3)
    inside, below = [], []
    for _ in range(300):
        found = drawn(rng, drift, windows, 300)
        ends, most = found.expected(), found.covered()
        assert ends is not None
        assert most is not None
        inside.append(ends[0] <= found.differences[0] <= ends[1])
        below.append(found.differences[0] <= most)
    # Drift that is larger than elsewhere is underrated as long as few windows show it.
    assert np.mean(inside) > 0.73
    assert np.mean(below) > 0.80
    if drift <= DRIFT * scale(0.4):
        assert np.mean(inside) > 0.88
        assert np.mean(below) > 0.88


def test_verdicts_are_right_about_the_published_window() -> None:
    """What is called true is close to the chance that people really had, and what is not is far from the promise."""
    rng = np.random.default_rng(4)
    wrong = true = missed = 0
    for _ in range(400):
        windows, people, promised = 4, 1000, 0.4
        chances = np.clip(promised + rng.normal(0, 0.05, windows), 0.01, 0.99)
        right = np.array([(rng.random(people) < chance).astype(float) for chance in chances])
        chance = np.array([variance(np.full(people, promised), row) for row in right])
        found = Windows(np.full(windows, promised), right.mean(axis=1), chance, windows)
        true += found.verdict == "came true"
        wrong += found.verdict == "came true" and abs(found.differences[0]) > close(promised)
        missed += found.verdict != "did not come true" and abs(found.differences[0]) > close(promised) + 0.001
    assert true > 100
    assert (wrong, missed) == (0, 0)


def test_windows_that_overlap_count_for_fewer() -> None:
    rng = np.random.default_rng(5)
    apart = drawn(rng, 0.0, 4, 300)
    near = Windows(apart.promised, apart.right, apart.chance, 2)
    wide, narrow = near.expected(), apart.expected()
    assert wide is not None
    assert narrow is not None
    assert wide[1] - wide[0] > narrow[1] - narrow[0]
    assert Windows(apart.promised, apart.right, apart.chance, 1).expected() is None


def test_variance_is_of_habits_or_of_what_is_seen() -> None:
    sure, half = np.array([0.0, 1.0] * 50), np.full(100, 0.5)
    assert variance(half, half) == pytest.approx(0.25 / 100)
    assert variance(sure, sure[::-1].copy()) == pytest.approx(1 / 99)  # promises that were all wrong
    assert variance(sure, sure) == pytest.approx(0.25 / 100**2)
    assert variance(np.full(100, 0.5), np.full(100, 0.4), single=False) == pytest.approx(0.25 / 100**2)
