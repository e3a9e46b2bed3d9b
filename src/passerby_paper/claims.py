"""Claims of the paper: how a verdict follows from answers about the parts of a claim, and how numbers are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from .rules import Answer
from .settings import BOUNDS, NAMES, Settings


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


def fine(lower: float, upper: float) -> str:
    """Two probabilities, to a tenth of a percentage point, between which another one lies.

    >>> fine(0.5138, 0.5142), fine(0.5138, 0.52), fine(1e-5, 2e-5)
    ('51.4 %', '51.4 % to 52.0 %', '1.0e-5 to 2.0e-5')
    """
    low, high = (f"{100 * p:.1f} %" if p >= 0.001 else shown(p) for p in (lower, upper))
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


def rows_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def by_file(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The part of a table about each file, by what the file is called."""
    return {NAMES[name]: table.filter(pl.col("dataset") == name) for name in sorted(set(table["dataset"].to_list()))}


def values(table: pl.DataFrame, column: str) -> list[float]:
    """A column as numbers."""
    return [float(v) for v in table[column].to_list()]


def ends(table: pl.DataFrame, column: str) -> str:
    """The first and the last value of a column."""
    return f"{shown(table[column][0])} to {shown(table[column][-1])}"


def course(table: pl.DataFrame, *, to: str = "down to", between: str = ", ", attack: str | None = "map") -> str:
    """How MAP (in a column), the loss and both bounds go along a sweep."""
    words = [f"MAP {ends(table, attack)}"] if attack else []
    words += [f"loss {loss_at(table, 0)} {to} {loss_at(table, -1)}"]
    return between.join([*words, *(f"{bound} {ends(table, bound)}" for bound in BOUNDS)])


def loss_at(table: pl.DataFrame, row: int) -> str:
    """The interval of the loss in a row."""
    return between(table["lower"][row], table["upper"][row])


Verdict = Literal["holds", "holds in part", "does not hold", "not checkable here"]
HOLDS: Verdict = "holds"
PART: Verdict = "holds in part"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "not checkable here"

Parts = dict[str, Answer]
Tables = Mapping[str, pl.DataFrame]
Check = Callable[[Tables, Settings], "Finding"]


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
    check: Check

    def judged(self, tables: Tables, settings: Settings) -> Finding:
        """The finding, from those tables that there are."""
        missing = [name for name in self.needs if name not in tables]
        if missing:
            listed = ", ".join(f"`{name}`" for name in missing)
            return Finding(OPEN, "not measured", f"needs the experiment {listed}, which was not run")
        return self.check(tables, settings)


@dataclass(frozen=True)
class Group:
    """Claims of one kind; where they are about real data, each file is checked by itself."""

    title: str
    by_file: bool = False
    claims: list[Claim] = field(default_factory=list)

    def claim(self, name: str, section: str, *needs: str) -> Callable[[Check], Check]:
        """Add the claim that the decorated function checks; the sentence of the paper is the function's docstring."""

        def added(check: Check) -> Check:
            quote = " ".join((check.__doc__ or "").split())
            self.claims.append(Claim(name, section, quote, needs, _each_file(check, needs) if self.by_file else check))
            return check

        return added


def _each_file(check: Check, needs: tuple[str, ...]) -> Check:
    def checked(tables: Tables, settings: Settings) -> Finding:
        findings = {}
        for file in sorted(set(tables[needs[0]]["dataset"].to_list())):
            own = {n: t.filter(pl.col("dataset") == file) if "dataset" in t.columns else t for n, t in tables.items()}
            findings[NAMES[file]] = check(own, settings)
        return together(findings)

    return checked


def together(findings: Mapping[str, Finding]) -> Finding:
    """One finding for several files: the common verdict; "in part" where one bears the claim out and another not."""
    verdicts = {finding.verdict for finding in findings.values()}
    verdict = verdicts.pop() if len(verdicts) == 1 else FAILS if verdicts == {FAILS, OPEN} else PART
    measured = "; ".join(f"{name}: {finding.measured}" for name, finding in findings.items())
    whys = {name: finding.why for name, finding in findings.items() if finding.why}
    same = len(set(whys.values())) == 1 and len(whys) == len(findings)
    why = next(iter(whys.values())) if same else "; ".join(f"{name}: {why}" for name, why in whys.items())
    return Finding(verdict, measured, why)


def grade(parts: Mapping[str, Answer]) -> tuple[Verdict, str]:
    """The verdict on a claim that has several parts, and which of them hold, do not, and cannot be told.

    >>> grade({"the bound falls": True, "the loss falls": False})
    ('holds in part', 'holds: the bound falls; does not: the loss falls')
    >>> grade({"the bound falls": True, "the loss falls": None})
    ('holds in part', 'holds: the bound falls; cannot be told: the loss falls')
    """
    words = {True: "holds", False: "does not", None: "cannot be told"}
    groups = {answer: [what for what, found in parts.items() if found is answer] for answer in words}
    said = "; ".join(f"{words[answer]}: {', '.join(members)}" for answer, members in groups.items() if members)
    if groups[True]:
        return (PART, said) if groups[False] or groups[None] else (HOLDS, "")
    return (FAILS if groups[False] else OPEN), said


def judge(parts: Mapping[str, Answer], measured: str) -> Finding:
    """The finding on a claim with these parts."""
    verdict, why = grade(parts)
    return Finding(verdict, measured, why)
