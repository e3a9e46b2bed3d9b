"""What a claim of the paper is, and how a verdict on it is reached from measured numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import polars as pl

from .settings import Settings

Verdict = Literal["holds", "holds in part", "does not hold", "not checkable here"]
HOLDS: Verdict = "holds"
PART: Verdict = "holds in part"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "not checkable here"

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Finding:
    """What was measured for a claim, the verdict, and what it rests on."""

    verdict: Verdict
    measured: str
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and how it is checked.

    `check` gets the tables named in `needs`; where one is missing, the claim is not checkable.
    """

    name: str
    section: str
    quote: str
    needs: tuple[str, ...]
    check: Callable[[Tables, Settings], Finding]

    def judged(self, tables: Tables, settings: Settings) -> Finding:
        """The finding, from those tables that there are."""
        missing = [name for name in self.needs if name not in tables]
        if missing:
            listed = ", ".join(f"`{name}`" for name in missing)
            return Finding(OPEN, "not measured", f"needs the experiment {listed}, which was not run")
        return self.check(tables, settings)


def grade(conditions: Mapping[str, bool]) -> tuple[Verdict, str]:
    """The verdict on a claim that has several parts, and which of them do and do not hold.

    >>> grade({"the bound falls": True, "the loss falls": False})
    ('holds in part', 'holds: the bound falls; does not: the loss falls')
    """
    good = [what for what, holds in conditions.items() if holds]
    bad = [what for what, holds in conditions.items() if not holds]
    if not bad:
        return HOLDS, ""
    if not good:
        return FAILS, f"does not: {'; '.join(bad)}"
    return PART, f"holds: {'; '.join(good)}; does not: {'; '.join(bad)}"


def together(findings: Mapping[str, Finding]) -> Finding:
    """One finding for several files: the common verdict, or "in part" where they differ."""
    verdicts = {finding.verdict for finding in findings.values()}
    known = verdicts - {OPEN}
    verdict = verdicts.pop() if len(verdicts) == 1 else known.pop() if len(known) == 1 else PART
    measured = "; ".join(f"{name}: {finding.measured}" for name, finding in findings.items())
    whys = {name: finding.why for name, finding in findings.items() if finding.why}
    same = len(set(whys.values())) == 1 and len(whys) == len(findings)
    why = next(iter(whys.values())) if same else "; ".join(f"{name}: {why}" for name, why in whys.items())
    return Finding(verdict, measured, why)


def falls(values: Sequence[float], slack: float = 0.0) -> bool:
    """Whether values never rise, by more than a share `slack` of themselves, and end below where they began.

    >>> falls([0.5, 0.3, 0.301], slack=0.01), falls([1.0, 1.0])
    (True, False)
    """
    steady = all(after <= before * (1 + slack) + 1e-12 for before, after in pairwise(values))
    return steady and values[-1] < values[0]


def rises(values: Sequence[float], slack: float = 0.0) -> bool:
    """Whether values never fall, by more than a share `slack` of themselves, and end above where they began."""
    steady = all(after >= before * (1 - slack) - 1e-12 for before, after in pairwise(values))
    return steady and values[-1] > values[0]


def shown(p: float | None) -> str:
    """A probability with two digits: as a percentage down to 0.1 %, below that as a power of ten.

    >>> [shown(p) for p in (0, 5.43e-10, 0.0264, 0.257, 0.9987, 1, None)]
    ['0', '5.4e-10', '2.6 %', '26 %', '99.9 %', '100 %', '?']
    """
    if p is None or math.isnan(p):
        return "?"
    if p <= 0:
        return "0"
    if p < 0.001:
        digits, power = f"{p:.1e}".split("e")
        return f"{digits}e{int(power)}"
    digits = f"{100 * p:.{1 if p < 0.0995 or 0.99 <= p < 0.9995 else 0}f}"
    return f"{digits} %"


def between(lower: float, upper: float) -> str:
    """Two probabilities between which another one lies.

    >>> between(0.1, 0.25), between(0.1, 0.1001)
    ('10 % to 25 %', '10 %')
    """
    low, high = shown(lower), shown(upper)
    return low if low == high else f"{low} to {high}"


def correlated(value: float, low: float, high: float) -> str:
    """A correlation with its interval.

    >>> correlated(-0.304, -0.39, -0.22), correlated(math.nan, math.nan, math.nan)
    ('-0.30 [-0.39, -0.22]', 'undefined')
    """
    return "undefined" if math.isnan(value) else f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def times(ratio: float) -> str:
    """A ratio in words: two digits, or a power of ten where it is large.

    >>> times(2.84), times(231.0), times(2.1e9)
    ('2.8 times', '231 times', '10^9 times')
    """
    if ratio < 1000:
        return f"{ratio:.{1 if ratio < 10 else 0}f} times"
    return f"10^{math.log10(ratio):.0f} times"
