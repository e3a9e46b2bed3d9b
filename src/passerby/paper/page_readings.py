"""The part of the claims page about what the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from .claims import Tables
from .claims_persons import WAYS
from .claims_readings import CHECKS, COLUMNS, depending, gap_numbers, key_numbers, verdicts
from .readings import GAPS, READINGS
from .rules import Answer
from .settings import Settings
from .style import NAMES
from .wording import correlated

MARKS: Mapping[Answer, str] = {True: "yes", False: "no", None: "?"}
#: Heads of the columns of correlations with the spectral gap.
SHORT = {"gap_whole": "all places", "gap_reached": "reached", "gap_signed": "reached, signed"}


def rows_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def section(tables: Tables, settings: Settings) -> str:
    """Numbers and answers under every reading, and which claims depend on it."""
    table = tables["readings"]
    found = verdicts(tables, settings)
    names = table["reading"].unique(maintain_order=True).to_list()
    words = {reading.name: reading.words for reading in READINGS}
    out = ["## What the paper leaves open\n", "Claims about real data were checked under each of these readings:\n"]
    out.append("\n".join(f"- *{name}*: {words[name]}" for name in names) + "\n")
    out.append(_dependence(found))
    for file in sorted(set(table["dataset"].to_list())):
        rows = [row for row in table.iter_rows(named=True) if row["dataset"] == file]
        out.append(f"### {NAMES[file]} under each reading\n")
        header = ("reading", "people", "MAP", "tight", "loss up to", "habits alone", "frequent", "visits and loss")
        out.append(rows_of(header, [(row["reading"], *key_numbers(row, settings)) for row in rows]))
        answers = [(row["reading"], *(MARKS[found[file, row["reading"]][c]] for c in COLUMNS)) for row in rows]
        out.append(rows_of(("reading", *COLUMNS), answers))
        heads = [f"{SHORT[gap]}, {word}" for word in WAYS.values() for gap in GAPS]
        out.append(rows_of(("reading", *heads, "places visited"), [(r["reading"], *gap_numbers(r)) for r in rows]))
    out.append(
        "First table: the number of people; MAP's success on the real traces; means of the tight bound, of the loss's "
        "upper end, and of what the habits alone give; the number of frequent visitors of the fixed sensor; the rank "
        "correlation of visits there with the loss. Second table: "
        + "; ".join(f"*{column}*: {CHECKS[column]}" for column in COLUMNS)
        + ". Third table: rank correlations of a person's loss (tight bound, and this tool's upper end) with the "
        "spectral gap; *all places*: "
        + "; ".join(f"{'*' + SHORT[gap] + '*: ' if gap != 'gap_whole' else ''}{words}" for gap, words in GAPS.items())
        + "; *places visited*: the rank correlation of the first gap with the number of places that the person "
        "visited. Bold: surely negative.\n"
    )
    out.append(_about_gaps(table))
    return "\n".join(out)


def _dependence(found: Mapping[tuple[str, str], Mapping[str, Answer]]) -> str:
    depends = depending(found)
    lines = []
    for check, files in depends.items():
        parts = [
            f"{NAMES[file]}: yes with {', '.join(answers[True])}; no with {', '.join(answers[False])}"
            + (f"; open with {', '.join(answers[None])}" if None in answers else "")
            for file, answers in files.items()
        ]
        lines.append(f"- *{CHECKS[check]}*. " + ". ".join(parts) + ".")
    out = "**Claims that depend on the reading.**\n\n" + "\n".join(lines) + "\n"
    if not lines:
        out = "**No claim depends on the reading.**\n"
    firm = [words for check, words in CHECKS.items() if check not in depends]
    if firm:
        out += f"\n**No reading contradicts another** on: {'; '.join(firm)}.\n"
    return out


def _about_gaps(table: pl.DataFrame) -> str:
    """Why the gap of the whole matrix can follow the loss: where it counts the places that a person visited."""
    strongest = table.filter(pl.col("gap_whole_visited").is_not_nan()).sort("gap_whole_visited", descending=True)
    if not strongest.height:
        return ""
    row = strongest.row(0, named=True)
    visited = correlated(*(row[f"gap_whole_visited{end}"] for end in ("", "_low", "_high")))
    return (
        "A place that was never visited has a row in the matrix over all places, though the person never gets there. "
        "With k such places of M and equal chances in their rows, k/M is an eigenvalue: the gap is then at most the "
        "share of places that the person visited, and says how many places they know rather than how fast they move. "
        f"The correlation of the two is largest for {NAMES[row['dataset']]}, *{row['reading']}*: {visited}.\n"
    )
