"""The part of the claims page about what the paper leaves open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from .claims import Tables
from .claims_persons import WAYS
from .claims_readings import CHECKS, COLUMNS, depending, gap_numbers, interval, key_numbers, verdicts
from .readings import GAPS, READINGS
from .rules import Answer
from .settings import Settings
from .style import NAMES
from .wording import correlated, rows_of

MARKS: Mapping[Answer, str] = {True: "yes", False: "no", None: "open"}
LEGEND = (
    "First table: the number of people; MAP's success on the real traces; means of the tight bound, of the loss's "
    "upper end, and of what the habits alone give; the number of frequent visitors of the fixed sensor; the rank "
    "correlation of visits there with the loss. Second table: "
    + "; ".join(f"*{column}*: {CHECKS[column]}" for column in COLUMNS)
    + ". Third table: rank correlations of a person's loss (tight bound, and this tool's upper end) with the spectral "
    "gap, which is one minus the second largest modulus of an eigenvalue; *all places*: of the matrix over all places; "
    "*places reached*: over the places that the person can get to from those visited; *signed*: by the second largest "
    "eigenvalue itself and not by its modulus; *places visited*: the rank correlation of the first gap with the number "
    "of places that the person visited. Bold: surely negative.\n"
)


def section(tables: Tables, settings: Settings) -> str:
    """Numbers and answers under every reading, and which claims depend on it."""
    table = tables["readings"]
    found = verdicts(tables, settings)
    names = table["reading"].unique(maintain_order=True).to_list()
    words = {reading.name: reading.words for reading in READINGS}
    out = ["## What the paper leaves open\n", "Claims about real data were checked under each of these readings:\n"]
    out.append("\n".join(f"- *{name}*: {words[name]}" for name in names) + "\n")
    out += [_dependence(found), _about_gaps(table)]
    for file in _files(table):
        rows = [row for row in table.iter_rows(named=True) if row["dataset"] == file]
        out.append(f"### {NAMES[file]} under each reading\n")
        header = ("reading", "people", "MAP", "tight", "loss up to", "habits alone", "frequent", "visits and loss")
        out.append(rows_of(header, [(row["reading"], *key_numbers(row, settings)) for row in rows]))
        answers = [(row["reading"], *(MARKS[found[file, row["reading"]][c]] for c in COLUMNS)) for row in rows]
        out.append(rows_of(("reading", *COLUMNS), answers))
        heads = [f"{words}: {way}" for way in WAYS.values() for words in GAPS.values()]
        out.append(rows_of(("reading", *heads, "places visited"), [(r["reading"], *gap_numbers(r)) for r in rows]))
    return "\n".join([*out, LEGEND])


def _files(table: pl.DataFrame) -> list[str]:
    return sorted(set(table["dataset"].to_list()))


def _dependence(found: Mapping[tuple[str, str], Mapping[str, Answer]]) -> str:
    depends = depending(found)
    lines = [
        f"- *{CHECKS[check]}*. "
        + ". ".join(f"{NAMES[file]}: {_listed(answers)}" for file, answers in files.items())
        + "."
        for check, files in depends.items()
    ]
    out = "**Claims that depend on the reading.**\n\n" + "\n".join(lines) + "\n"
    if not lines:
        out = "**No claim depends on the reading.**\n"
    firm = [words for check, words in CHECKS.items() if check not in depends]
    if firm:
        out += f"\n**No reading contradicts another** on: {'; '.join(firm)}.\n"
    return out


def _listed(answers: Mapping[Answer, list[str]]) -> str:
    """Readings by their answer, the commonest answer last and without names."""
    rarest = sorted(answers, key=lambda answer: len(answers[answer]))
    words = [f"{MARKS[answer]} with *{'*, *'.join(answers[answer])}*" for answer in rarest[:-1]]
    return "; ".join([*words, f"{MARKS[rarest[-1]]} with the others"])


def _about_gaps(table: pl.DataFrame) -> str:
    """How far the correlation of gap and loss depends on the reading, and which single choice moves it most."""
    out = ["**The spectral gap and the choice for rows never seen.** How the tight bound goes with the gap:\n"]
    out += [_range_of(table.filter(pl.col("dataset") == file)) for file in _files(table)]
    out.append(
        "\nA place that was never visited has a row in the matrix over all places, though the person never gets there. "
        "With k such places of M and equal chances in their rows, k/M is an eigenvalue: the gap is then at most the "
        "share of places that the person visited, and tells how many places they know rather than how fast they move. "
        "The last column of the third table shows how closely the gap follows that number. Where places never left "
        "are never left again, every place never visited adds an eigenvalue 1, and the gap over all places is 0 for "
        "everybody.\n"
    )
    return "\n".join(out)


def _range_of(table: pl.DataFrame) -> str:
    """The lowest and the highest correlation of one file, and what rows of places never visited do to it."""
    rows = list(table.iter_rows(named=True))
    file = NAMES[rows[0]["dataset"]]
    known = [(row, gap) for row in rows for gap in GAPS if not math.isnan(row[f"{gap}_tight"])]
    if not known:
        return f"- {file}: undefined."
    lowest, highest = (pick(known, key=lambda pair: float(pair[0][f"{pair[1]}_tight"])) for pick in (min, max))
    moved = max((row for row, gap in known if gap == "gap_whole"), key=_moved, default=None)
    out = f"- {file}: from {_told(*lowest)} to {_told(*highest)}."
    if moved is None:
        return out
    return (
        f"{out} Whether rows of places never visited count moves it most with *{moved['reading']}*: "
        f"{correlated(*interval(moved, 'gap_whole_tight'))} where they do, "
        f"{correlated(*interval(moved, 'gap_reached_tight'))} where they do not."
    )


def _moved(row: Mapping[str, Any]) -> float:
    change = abs(row["gap_whole_tight"] - row["gap_reached_tight"])
    return 0.0 if math.isnan(change) else float(change)


def _told(row: Mapping[str, Any], gap: str) -> str:
    return f"{correlated(*interval(row, f'{gap}_tight'))} (*{row['reading']}*, {GAPS[gap]})"
