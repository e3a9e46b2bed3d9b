"""Claims about noise, on real data."""

from __future__ import annotations

import polars as pl

from .claims import FAILS, HOLDS, Finding, Tables, judge, real_claim
from .rules import ROUNDING, Answer, close, falls
from .settings import Settings
from .style import PAPER_BOUNDS
from .wording import ends, fine, shown, values

#: The sweeps over sigma, by where the sensor is; the first is the paper's.
WHERE = {"real-sigma": "random sensors", "real-noise": "the most visited sensor"}


def raw_first(table: pl.DataFrame) -> pl.DataFrame:
    """Rows by sigma, the one without noise first."""
    return table.sort("sigma", nulls_last=False)


def bounds_fall(tables: Tables, settings: Settings) -> Finding:
    """The paper's mean bounds against sigma."""
    noisy = raw_first(tables["real-sigma"]).drop_nulls("sigma")
    return judge(
        {f"the {bound} bound": falls(values(noisy, bound)) for bound in PAPER_BOUNDS},
        f"tight {ends(noisy, 'tight')}, loose {ends(noisy, 'loose')}",
    )


def map_stays(tables: Tables, settings: Settings) -> Finding:
    """MAP on real traces against sigma, with random sensors and with the most visited one."""
    parts: dict[str, Answer] = {}
    words = []
    for name, where in WHERE.items():
        table = raw_first(tables[name])
        hits = values(table, "hit_map")
        parts |= {f"with {where} {sense}": answer for sense, answer in close(hits).items()}
        words.append(
            f"{where}: {shown(hits[0])} raw, {shown(min(hits[1:]))} to {shown(max(hits[1:]))} with noise "
            f"(sighted with probability {shown(table['sighted'][0])})"
        )
    return judge(parts, "; ".join(words))


def noisy_above_raw(tables: Tables, settings: Settings) -> Finding:
    """Sigmas at which a bound for noisy counts is above that for raw ones."""
    parts = []
    for name, where in WHERE.items():
        if name not in tables:
            continue
        for bound in PAPER_BOUNDS:
            raw, above = above_raw(tables[name], bound)
            if above.height:
                most = max(values(above, bound)) - raw
                sigmas = ", ".join(f"{s:g}" for s in above["sigma"])
                parts.append(f"{where}: {bound} at sigma = {sigmas}, by at most {shown(most)}")
    return Finding(HOLDS if parts else FAILS, "; ".join(parts) or "at no sigma")


def above_raw(table: pl.DataFrame, bound: str) -> tuple[float, pl.DataFrame]:
    """A bound for raw counts, and the rows with noise where it is higher."""
    table = raw_first(table)
    raw = float(table[bound][0])
    return raw, table.drop_nulls("sigma").filter(pl.col(bound) > raw + ROUNDING)


def loss_is_lower(tables: Tables, settings: Settings) -> Finding:
    """The loss with noise beside that without, at the sigmas at which a bound of the paper is higher with noise."""
    parts: dict[str, Answer] = {}
    words = []
    for name, where in WHERE.items():
        table = raw_first(tables[name])
        raw = table.row(0, named=True)
        suspect = {s for bound in PAPER_BOUNDS for s in above_raw(table, bound)[1]["sigma"].to_list()}
        for row in table.filter(pl.col("sigma").is_in(sorted(suspect))).iter_rows(named=True):
            sure = True if row["upper"] < raw["lower"] else False if row["lower"] > raw["upper"] else None
            parts[f"{where} at sigma = {row['sigma']:g}"] = sure
        noisy = table.drop_nulls("sigma")
        words.append(
            f"{where}: mean loss {_between(raw)} raw, {_between(noisy.row(0, named=True))} at sigma = "
            f"{noisy['sigma'][0]:g}, {_between(noisy.row(-1, named=True))} at sigma = {noisy['sigma'][-1]:g}"
        )
    found = judge(parts or {"at no sigma is a bound of the paper higher with noise": None}, "; ".join(words))
    never = "it is never higher, since noisy counts follow from raw ones"
    return Finding(found.verdict, found.measured, f"{found.why}; {never}" if found.why else never)


def _between(row: dict[str, float]) -> str:
    return fine(row["lower"], row["upper"])


def loss_stays(tables: Tables, settings: Settings) -> Finding:
    """Whether the mean loss with noise is almost that without."""
    parts: dict[str, Answer] = {}
    words = []
    for name, where in WHERE.items():
        table = raw_first(tables[name])
        raw, noisy = table.row(0, named=True), table.drop_nulls("sigma")
        senses = close(values(table, "lower"), values(table, "upper"))
        parts |= {f"with {where} {sense}": answer for sense, answer in senses.items()}
        below = noisy.filter(pl.col("upper") < raw["lower"])
        least = f"surely lower from sigma = {below['sigma'][0]:g} on" if below.height else "not surely lower"
        words.append(
            f"{where}: mean loss {_between(raw)} raw, {_between(noisy.row(-1, named=True))} at sigma = "
            f"{noisy['sigma'][-1]:g}, {fine(raw['baseline_lower'], raw['baseline_upper'])} without counts; {least}"
        )
    return judge(parts, "; ".join(words))


CLAIMS = (
    real_claim(
        "Bounds and noise, real",
        "4.2.3",
        "The mean privacy loss upper bounds decrease as the noise standard deviation becomes larger.",
        ("real-sigma",),
        bounds_fall,
    ),
    real_claim(
        "MAP and noise, real",
        "4.2.3",
        "The mean privacy loss for the adversarial estimators remains constant.",
        ("real-sigma", "real-noise"),
        map_stays,
    ),
    real_claim(
        "Noisy bounds above raw ones",
        "4.2.3",
        "The bounds are higher than the ones without any additive noise for some σ's on real datasets.",
        ("real-sigma",),
        noisy_above_raw,
    ),
    real_claim(
        "Actual bounds with noise",
        "4.2.3",
        "However, we expect the actual privacy loss bounds to be lower than the ones without any additive noise even "
        "for such σ's.",
        ("real-sigma", "real-noise"),
        loss_is_lower,
    ),
    real_claim(
        "Noise and the loss, real",
        "4.2.3",
        "Adding noise does not necessarily help reduce the privacy loss.",
        ("real-sigma", "real-noise"),
        loss_stays,
    ),
)
