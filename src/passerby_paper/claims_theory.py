"""Claims about examples, about what can be computed, and about differential privacy."""

from __future__ import annotations

import math

import polars as pl

from .claims import FAILS, HOLDS, OPEN, PART, Finding, Group, Tables, judge
from .rules import KNOWN, ROUNDING, rises
from .settings import Settings
from .wording import between, shown

THEORY = Group("Examples and what can be computed")


def _value(table: pl.DataFrame, quantity: str, steps: int, misses: int | None = None) -> float:
    rows = table.filter((pl.col("quantity") == quantity) & (pl.col("steps") == steps))
    return float((rows if misses is None else rows.filter(pl.col("misses") == misses))["value"][0])


@THEORY.claim("Example 1: New York and Paris", "2.2.1", "examples")
def _new_york_and_paris(tables: Tables, settings: Settings) -> Finding:
    """It is reasonable to conclude that the person in NY has high privacy loss [...] the person in Paris should have
    low privacy loss. [When] those two people have almost the same entropy of the prior, Adv is smaller [...] for the
    person in Paris.
    """
    table = tables["examples"].filter(pl.col("example") == 1)
    raw, noisy = table.filter(pl.col("sigma").is_null()), table.filter(pl.col("sigma").is_not_null())
    here, there = raw.iter_rows(named=True)
    p = here["at_sensor"]
    information = -p * math.log(p) - (1 - p) * math.log1p(-p)
    parts = {
        "the habits of the two are equally uncertain": abs(here["entropy"] - there["entropy"]) < ROUNDING,
        "the information is the entropy of being at the sensor": abs(here["information"] - information) < ROUNDING,
        "the loss of the one in New York is larger": here["lower"] > there["upper"],
        "so is the advantage": here["advantage_lower"] > there["advantage_upper"],
    }
    return judge(
        parts,
        f"at the sensor with probability {shown(p)} and {shown(there['at_sensor'])}: information "
        f"{here['information']:.3f} and {there['information']:.3f} nats; loss {shown(here['lower'])} and "
        f"{shown(there['lower'])}, without the count {shown(here['baseline'])} for both; advantage "
        f"{shown(here['advantage_lower'])} and {shown(there['advantage_upper'])}; with sigma = 1 the loss is "
        f"{between(noisy['lower'][0], noisy['upper'][0])} and {between(noisy['lower'][1], noisy['upper'][1])}, epsilon "
        f"{noisy['epsilon'][0]:.2f} for both",
    )


@THEORY.claim("Example 2: stays and moves", "2.2.2", "examples")
def _stays_and_moves(tables: Tables, settings: Settings) -> Finding:
    """We expect that person 1 [who stays] should have higher privacy loss than person 2 [who moves] due to the heavy
    correlation across time.
    """
    raw = tables["examples"].filter((pl.col("example") == 2) & pl.col("sigma").is_null())
    stays, moves = raw.iter_rows(named=True)
    parts = {
        "the loss of the one who stays is larger": stays["lower"] > moves["upper"],
        "so it is after a sighting": stays["seen_then_not"] > moves["seen_then_not"],
    }
    return judge(
        parts,
        f"both steps right: loss {shown(stays['lower'])} for the one who stays, {shown(moves['lower'])} for the one "
        f"who moves (without counts {shown(stays['baseline'])} and {shown(moves['baseline'])}); once seen at the first "
        f"sensor {shown(stays['seen_then_not'])} and {shown(moves['seen_then_not'])}; paper's tight bound "
        f"{shown(stays['tight'])} and {shown(moves['tight'])}",
    )


@THEORY.claim("Mutual information", "3.3.1", "formulas")
def _information_is_tractable(tables: Tables, settings: Settings) -> Finding:
    """Obtaining the exact value of [the mutual information] is intractable even when the raw counts are published."""
    table, steps = tables["formulas"], settings.steps
    exact, rough, listed = (
        _value(table, f"information, {how}", steps) for how in ("exact", "order 1", "by listing all series")
    )
    measured = (
        f"T = {steps}: {exact:.4f} nats exactly (all {2**steps:,} series listed: {listed:.4f}), {rough:.4f} by the "
        f"paper's bound; T = {10 * steps}, where there are 2^{10 * steps} series: "
        f"{_value(table, 'information, exact', 10 * steps):.3f} and "
        f"{_value(table, 'information, order 1', 10 * steps):.3f}"
    )
    if abs(exact - listed) > ROUNDING:
        return Finding(HOLDS, measured)
    why = "a sighting restarts the chain, so the entropy is a sum over stretches between sightings, of order T²M²"
    return Finding(FAILS, measured, why)


@THEORY.claim("Success from the prior alone", "3.1", "formulas")
def _baseline_is_tractable(tables: Tables, settings: Settings) -> Finding:
    """It is intractable to obtain the exact value of p* [the success rate only with the prior information]."""
    table, steps = tables["formulas"], settings.steps
    misses = sorted({int(m) for m in table["misses"].drop_nulls().to_list()})
    ends = {s: (_value(table, "baseline, lower", steps, s), _value(table, "baseline, upper", steps, s)) for s in misses}
    close = [s for s, (low, high) in ends.items() if s > 0 and high <= (1 + KNOWN) * low * (1 + ROUNDING)]
    measured = "; ".join(f"s = {s}: {between(low, high)}" for s, (low, high) in ends.items())
    verdict = FAILS if len(close) == len(ends) - 1 else PART if close else HOLDS
    listed = ", ".join(map(str, close)) or "none"
    why = f"found to within {100 * KNOWN:.0f} % at s = {listed}; elsewhere known to lie in an interval"
    return Finding(verdict, measured, why)


def _epsilons(tables: Tables, settings: Settings) -> dict[int, tuple[float, float]]:
    """The paper's formula for epsilon and exact accounting, by the number of steps."""
    table, lengths = tables["formulas"], (1, settings.steps, 10 * settings.steps)
    return {t: (_value(table, "epsilon, formula", t), _value(table, "epsilon, exact", t)) for t in lengths}


@THEORY.claim("Epsilon of the Gaussian mechanism", "2.2.1", "formulas")
def _privacy_formula(tables: Tables, settings: Settings) -> Finding:
    """Standard analysis shows that this leads to a privacy loss of ε = sqrt(2 ln(1.25/δ)·T)/σ for a fixed δ."""
    pairs = _epsilons(tables, settings)
    low = [t for t, (formula, exact) in pairs.items() if formula < exact]
    measured = "; ".join(f"T = {t}: {formula:.2f}, exactly {exact:.2f}" for t, (formula, exact) in pairs.items())
    verdict = FAILS if len(low) == len(pairs) else PART if low else HOLDS
    why = "with sigma = 1, delta = 1e-5; the formula is proved for epsilon of at most 1, and promises too much beyond"
    return Finding(verdict, measured, why if low else "")


@THEORY.claim("Epsilon and the number of steps", "4.2.2", "formulas")
def _epsilon_grows(tables: Tables, settings: Settings) -> Finding:
    """In DP, increasing the number of time steps gives larger ε if we fix the additive noise standard deviation to be
    constant.
    """
    exact = {t: value for t, (_, value) in _epsilons(tables, settings).items()}
    measured = "; ".join(f"T = {t}: {value:.2f}" for t, value in exact.items())
    verdict = HOLDS if rises(list(exact.values())) else FAILS
    return Finding(verdict, f"sigma = 1, delta = 1e-5, exactly: {measured}")


@THEORY.claim("Cost of the tight bound", "3.3.2")
def _cost(tables: Tables, settings: Settings) -> Finding:
    """There exists an algorithm that computes [the bound on the ball] in O(T³M² + T log T M³) time and O(TM²) space."""
    return Finding(OPEN, "not measured", "numbers here must not depend on the machine; costs are for benchmarks")
