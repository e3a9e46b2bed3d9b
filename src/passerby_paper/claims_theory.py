"""Claims about examples, about computability, about differential privacy, and about noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import polars as pl

from .claims import FAILS, HOLDS, OPEN, PART, Finding, Group, Parts, Tables, between, ends, fine, judge, shown, values
from .rules import KNOWN, ROUNDING, SURE, close, falls, rises
from .settings import BOUNDS, Settings
from .simulated import averaged

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


SIMULATED = Group("Noise, simulated")
REAL = Group("Noise, real", by_file=True)
#: The sweeps over sigma on real data, by where the sensor is; the first is the paper's.
WHERE = {"real-sigma": "random sensors", "real-noise": "the most visited sensor"}


def simulated_sweeps(tables: Tables) -> dict[str, pl.DataFrame]:
    """The simulated sweeps, raw counts first, by how many steps must be right: the paper's, and two more."""
    both = pl.concat([averaged(tables[name]) for name in ("sigma", "noise") if name in tables])
    out = {}
    for right in sorted(set(both["right"].to_list())):
        group = both.filter(pl.col("right") == right)
        out[f"{right} of {group['steps'][0]} right"] = group
    return out


def real_sweeps(tables: Tables) -> dict[str, pl.DataFrame]:
    """The real sweeps, raw counts first, by where the sensor is."""
    return {where: tables[name] for name, where in WHERE.items() if name in tables}


@SIMULATED.claim("Bounds and noise, simulated", "4.2.3", "sigma")
def _simulated_bounds_fall(tables: Tables, settings: Settings) -> Finding:
    """We see in general that our privacy loss upper bounds get smaller as we add noise with a larger standard deviation
    σ.
    """
    noisy = averaged(tables["sigma"]).drop_nulls("sigma")
    return _bounds_fall(noisy, f"sigma = {noisy['sigma'][0]:g} to {noisy['sigma'][-1]:g}: ")


@REAL.claim("Bounds and noise, real", "4.2.3", "real-sigma")
def _real_bounds_fall(tables: Tables, settings: Settings) -> Finding:
    """The mean privacy loss upper bounds decrease as the noise standard deviation becomes larger."""
    return _bounds_fall(tables["real-sigma"].drop_nulls("sigma"), "")


def _bounds_fall(noisy: pl.DataFrame, where: str) -> Finding:
    return judge(
        {f"the {bound} bound": falls(values(noisy, bound)) for bound in BOUNDS},
        f"{where}tight {ends(noisy, 'tight')}, loose {ends(noisy, 'loose')}",
    )


@SIMULATED.claim("MAP and noise, simulated", "4.2.3", "sigma", "noise")
def _simulated_map_stays(tables: Tables, settings: Settings) -> Finding:
    """Adding noise does not change the privacy loss for the MAP estimator much."""
    # At the paper's setting and where the loss is large; what was sampled is known within three standard errors.
    parts: Parts = {}
    words = []
    for name, group in simulated_sweeps(tables).items():
        low, high = (values(group.select(pl.col("map") + k * SURE * pl.col("map_error")), "map") for k in (-1, 1))
        parts |= close([max(0.0, v) for v in low], high, name)
        raw, most = group.row(0, named=True), group.row(-1, named=True)
        words.append(
            f"{name}: MAP {shown(raw['map'])} raw, {shown(most['map'])} at sigma = {most['sigma']:g}, the prior alone "
            f"{shown(most['prior'])}"
        )
    seen = max(values(averaged(tables["sigma"]), "map_mc"))
    words.append(f"at the paper's setting {settings.traces:,} traces give MAP at most {shown(seen)}")
    return judge(parts, "; ".join(words))


@REAL.claim("MAP and noise, real", "4.2.3", "real-sigma", "real-noise")
def _real_map_stays(tables: Tables, settings: Settings) -> Finding:
    """The mean privacy loss for the adversarial estimators remains constant."""
    parts: Parts = {}
    words = []
    for where, table in real_sweeps(tables).items():
        hits = values(table, "hit_map")
        parts |= close(hits, what=f"with {where}")
        words.append(
            f"{where}: {shown(hits[0])} raw, {shown(min(hits[1:]))} to {shown(max(hits[1:]))} with noise "
            f"(sighted with probability {shown(table['sighted'][0])})"
        )
    return judge(parts, "; ".join(words))


@REAL.claim("Noisy bounds above raw ones", "4.2.3", "real-sigma")
def _noisy_above_raw(tables: Tables, settings: Settings) -> Finding:
    """The bounds are higher than the ones without any additive noise for some σ's on real datasets."""
    parts = []
    for where, table in real_sweeps(tables).items():
        for bound in BOUNDS:
            if (above := _above_raw(table, bound)).height:
                most = max(values(above, bound)) - table[bound][0]
                sigmas = ", ".join(f"{s:g}" for s in above["sigma"])
                parts.append(f"{where}: {bound} at sigma = {sigmas}, by at most {shown(most)}")
    return Finding(HOLDS if parts else FAILS, "; ".join(parts) or "at no sigma")


def _above_raw(table: pl.DataFrame, bound: str) -> pl.DataFrame:
    """The rows with noise where a bound is higher than for raw counts."""
    return table.drop_nulls("sigma").filter(pl.col(bound) > table[bound][0] + ROUNDING)


@REAL.claim("Actual bounds with noise", "4.2.3", "real-sigma", "real-noise")
def _loss_is_lower(tables: Tables, settings: Settings) -> Finding:
    """However, we expect the actual privacy loss bounds to be lower than the ones without any additive noise even for
    such σ's.
    """
    # At the sigmas at which a bound of the paper is higher with noise.
    parts: Parts = {}
    words = []
    for where, table in real_sweeps(tables).items():
        raw, noisy = table.row(0, named=True), table.drop_nulls("sigma")
        suspect = {s for bound in BOUNDS for s in _above_raw(table, bound)["sigma"].to_list()}
        for row in table.filter(pl.col("sigma").is_in(sorted(suspect))).iter_rows(named=True):
            sure = True if row["upper"] < raw["lower"] else False if row["lower"] > raw["upper"] else None
            parts[f"{where} at sigma = {row['sigma']:g}"] = sure
        least, most = (f"{_loss(noisy, i, fine)} at sigma = {noisy['sigma'][i]:g}" for i in (0, -1))
        words.append(f"{where}: mean loss {_loss(table, 0, fine)} raw, {least}, {most}")
    found = judge(parts or {"at no sigma is a bound of the paper higher with noise": None}, "; ".join(words))
    never = "it is never higher, since noisy counts follow from raw ones"
    return Finding(found.verdict, found.measured, f"{found.why}; {never}" if found.why else never)


@SIMULATED.claim("Noise and the loss, simulated", "4.2.3", "sigma", "noise")
def _simulated_loss_stays(tables: Tables, settings: Settings) -> Finding:
    """Adding noise does not necessarily help reduce the privacy loss."""
    return _loss_stays(simulated_sweeps(tables), between, "{}: loss {} raw, {} at {}, without any counts {}; {}")


@REAL.claim("Noise and the loss, real", "4.2.3", "real-sigma", "real-noise")
def _real_loss_stays(tables: Tables, settings: Settings) -> Finding:
    """Adding noise does not necessarily help reduce the privacy loss."""
    sweeps = {f"with {where}": table for where, table in real_sweeps(tables).items()}
    return _loss_stays(sweeps, fine, "{}: mean loss {} raw, {} at {}, {} without counts; {}")


def _loss_stays(sweeps: Mapping[str, pl.DataFrame], span: Callable[[float, float], str], said: str) -> Finding:
    """Whether the loss with noise is almost that without."""
    parts: Parts = {}
    words = []
    for name, table in sweeps.items():
        parts |= close(values(table, "lower"), values(table, "upper"), name)
        noisy = table.drop_nulls("sigma")
        below = noisy.filter(pl.col("upper") < table["lower"][0])
        least = f"surely lower from sigma = {below['sigma'][0]:g} on" if below.height else "not surely lower"
        at, base = f"sigma = {noisy['sigma'][-1]:g}", _loss(table, 0, span, "baseline_")
        where = name.removeprefix("with ")
        words.append(said.format(where, _loss(table, 0, span), _loss(noisy, -1, span), at, base, least))
    return judge(parts, "; ".join(words))


def _loss(table: pl.DataFrame, row: int, span: Callable[[float, float], str], what: str = "") -> str:
    return span(table[f"{what}lower"][row], table[f"{what}upper"][row])
