"""Claims about noise, on simulated and on real data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from .claims import FAILS, HOLDS, Finding, Group, Parts, Tables, judge
from .rules import ROUNDING, SURE, close, falls
from .settings import BOUNDS, Settings
from .simulated import averaged
from .wording import between, ends, fine, shown, values

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
