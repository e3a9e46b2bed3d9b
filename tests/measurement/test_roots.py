import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby.measurement.roots import divergence_root, loose_root, rounded_up, tight_root


def h(p: float) -> float:
    return 0.0 if p in (0, 1) else -p * math.log(p) - (1 - p) * math.log1p(-p)


def exact_cost(p: Decimal, kappa: Decimal, full: bool) -> Decimal:
    """`kl(p ‖ κ)`, or the same without the term in `log(1-κ)`, to a hundred digits."""
    rest = (1 - p) * (1 - p).ln() if p < 1 else Decimal(0)
    return p * (p / kappa).ln() + rest - ((1 - p) * (1 - kappa).ln() if full else 0)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("log_kappa", [-5000.0, -745.2, -300.0, -46.0, -7.0, -0.1, -1e-8])
@pytest.mark.parametrize("gain", [1e-100, 1e-20, 1e-9, 1e-3, 0.03, 0.04, 0.5, 0.999])
def test_no_digits_are_lost_of_tiny_numbers(full: bool, log_kappa: float, gain: float) -> None:
    """The root is at least what the information pays for, and hardly more, for successes near κ and far beyond."""
    with localcontext() as digits:
        digits.prec = 220
        digits.Emin = -10000
        kappa = Decimal(log_kappa).exp()
        for p in (kappa * (1 + Decimal(gain)), kappa ** Decimal(1 - gain)):
            told = exact_cost(p, kappa, full)
            if p >= 1 or not 1e-300 < told < 1e300:
                continue
            root = (divergence_root if full else tight_root)(float(told) * (1 + 2e-16), log_kappa)
            error = Decimal(4e-16 * abs(log_kappa) + 1e-12)
            assert Decimal(root) >= p * (1 - error)
            # The costlier of two successes at the same cost is the root that was looked for.
            if full or p > kappa * 3:
                assert Decimal(root) <= max(p * (1 + error), Decimal("5e-324"))


informations = st.floats(0, 20)
log_kappas = st.floats(-2000, 0)


@given(informations, log_kappas)
def test_tight_is_the_largest_that_satisfies_the_inequality(information: float, log_kappa: float) -> None:
    p = tight_root(information, log_kappa)
    assert 0 <= p <= 1
    slack = 1e-9 * (information + 1)
    if p < 1:
        assert h(p) + p * log_kappa == pytest.approx(-information, abs=1e-9 + slack)
        for higher in (min(1.0, p * (1 + 1e-6) + 1e-12), 1.0):
            assert h(higher) + higher * log_kappa <= -information + slack
    else:
        assert log_kappa >= -information - slack


@given(informations, log_kappas)
def test_divergence_is_the_largest_that_satisfies_the_inequality(information: float, log_kappa: float) -> None:
    p = divergence_root(information, log_kappa)
    kappa = math.exp(log_kappa)
    assert kappa * (1 - 1e-12) <= p <= 1
    if kappa > 0 and p < 1 - 1e-12:
        kl = p * (math.log(p) - log_kappa) + (1 - p) * (math.log1p(-p) - math.log1p(-kappa))
        assert kl == pytest.approx(information, abs=1e-9 * (information + 1), rel=1e-6)


@given(informations, log_kappas)
def test_keeping_the_dropped_term_never_hurts(information: float, log_kappa: float) -> None:
    assert divergence_root(information, log_kappa) <= tight_root(information, log_kappa) * (1 + 1e-12)


@given(informations, log_kappas, st.floats(1, 2), st.floats(0, 1))
def test_roots_grow_with_what_is_told(information: float, log_kappa: float, more: float, share: float) -> None:
    for root in (tight_root, divergence_root):
        p = root(information, log_kappa)
        assert root(information * more, log_kappa) >= p * (1 - 1e-12)
        assert root(information, log_kappa * share) >= p * (1 - 1e-12)


def test_nothing_told_and_nothing_known() -> None:
    for kappa in (0.3, 0.5, 0.999):
        assert divergence_root(0.0, math.log(kappa)) == pytest.approx(kappa, rel=1e-14)
    assert tight_root(0.0, 0.0) == divergence_root(0.0, 0.0) == 1
    assert tight_root(5.0, -math.inf) == pytest.approx(0, abs=1e-300)
    assert divergence_root(5.0, -math.inf) == pytest.approx(0, abs=1e-300)


def test_a_tiny_loss_keeps_its_relative_precision() -> None:
    p = tight_root(1e-12, -40.0)
    assert h(p) - 40 * p == pytest.approx(-1e-12, rel=1e-9)


@given(st.integers(2, 2000), st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1))
def test_loose_is_one_minus_the_smallest_error_allowed(places: int, steps: int, part: float, ball: float) -> None:
    log_all = steps * math.log(places)
    log_ball = ball * log_all
    unknown = part * log_all
    p = loose_root(unknown, log_ball, log_all)
    assert 0 <= p <= 1
    if p < 1:
        log_rest = log_all + math.log(-math.expm1(log_ball - log_all)) - log_ball
        reached = h(p) + (1 - p) * log_rest + log_ball
        # Where the rest is large, the last digit of p moves it by more.
        assert reached == pytest.approx(unknown, rel=1e-9, abs=max(1e-9, 1e-11 * log_all))
        lower_error = (1 - p) * (1 - 1e-3)
        assert h(lower_error) + lower_error * log_rest + log_ball <= unknown + 1e-9 * log_all
    else:
        assert unknown <= log_ball + 1e-12 * (1 + log_ball) or log_ball >= log_all


def test_loose_with_an_even_prior_and_nothing_told() -> None:
    """Four equally likely traces, no information: the bound is one in four."""
    assert loose_root(math.log(4), 0.0, math.log(4)) == pytest.approx(0.25)


def test_loose_with_one_trace() -> None:
    assert loose_root(0.0, 0.0, 0.0) == 1
    # By rounding, more may seem to be unknown than there is to know.
    assert loose_root(1e-15, 0.0, 0.0) == 1
    assert loose_root(2.0 + 1e-15, 2.0, 2.0) == 1


def test_only_what_is_impossible_becomes_nothing() -> None:
    assert rounded_up(-math.inf) == 0
    assert rounded_up(-1e6) == 5e-324
    assert rounded_up(math.log(1e-310)) >= 1e-310
    assert rounded_up(0.5) == 1
    for log_kappa in (-800.0, -1e5):
        assert divergence_root(0.0, log_kappa) == 5e-324
        assert tight_root(0.0, log_kappa) == 5e-324
