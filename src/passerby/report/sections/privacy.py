"""Differential privacy of the release, and of the other ways to publish."""

from __future__ import annotations

from passerby.audits.summary import Summary
from passerby.report.evidence import MECHANISMS, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import WITH_IT
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW

from .noise import rows

EPSILON = (
    "The same ways to publish, with the epsilon of each: the smaller it is, the stronger the guarantee. Beside it, "
    "everyone's mean chance to be found, as the section on noise tells it."
)


def build(evidence: Evidence) -> Content:
    """Words, and the epsilon of each tried way to publish."""
    out = []
    if MECHANISMS.met(evidence):
        columns: Columns = {
            "mechanism": ("counts", str),
            "epsilon": ("epsilon", lambda e: "no guarantee" if e is None else f"{e:.3g}"),
            **WITH_IT,
            "people": ("tried on (people)", "{:,}".format),
        }
        table = sheet(rows(evidence), columns, "epsilon.csv")
        out = [Figure("epsilon", "Epsilon beside the chance to be found", EPSILON, table)]
    bound = evidence.known["bound_dp"].drop_nulls().to_numpy()
    return Content(words(evidence.summary, float(bound.mean()) if len(bound) >= FEW else None), out)


def words(summary: Summary, bound: float | None) -> list[str]:
    """Differential privacy beside the loss; `bound` is its own bound on the mean chance to be found."""
    found = summary.differential_privacy
    if found.epsilon is None:
        first = f"It gives no guarantee here: {found.remark}."
    else:
        first = (
            f"All steps together are differentially private with epsilon = {found.epsilon:.3g} at delta = "
            f"{found.delta:g}, for datasets that differ in one person's whole trace."
        )
    if bound is not None and summary.mean_loss:
        first += (
            f" From this guarantee alone, people could be found with a chance of up to {percent(bound)} on average; "
            f"the bounds of this audit exclude more than {percent(summary.mean_loss.upper)} if the habits are right."
        )
    return [
        first,
        "Epsilon is the same for everyone and holds whatever the adversary knows; it says nothing of how likely a "
        "particular person is found. Chances to be found differ from person to person, and hold for the adversary that "
        "is described below. A small epsilon limits how much the release can add for anybody; a small chance says that "
        "little is to be found.",
    ]


SECTION = Section("privacy", "What does differential privacy say?", build)
