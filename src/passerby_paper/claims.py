"""What a claim of the paper is, and how a verdict on it is reached from answers about its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from .rules import Answer
from .settings import NAMES, Settings

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
