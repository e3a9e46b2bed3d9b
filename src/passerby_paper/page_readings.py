"""The part of the claims page about what the paper leaves open: which claims about real data depend on it.

Claims are judged under each reading by the same rules as the claims themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from .claims import Tables, correlated, rows_of, shown
from .claims_people import WAYS, frequent_parts
from .readings import GAPS, READINGS
from .rules import FEWEST, ROUNDING, Answer, close, falls, more, negative
from .settings import NAMES, Settings
from .simulated import averaged

Row = Mapping[str, Any]
#: Answers to each claim by (file, reading).
Answers = Mapping[tuple[str, str], Mapping[str, Answer]]

#: The heading of the page.
TITLE = "# What the paper leaves open\n"
#: The claims that are shown as yes or no under every reading; the first words are the head of a column.
COLUMNS = {
    "falls": "loss falls as more steps must be right (MAP, tight)",
    "more": "MAP succeeds more than on simulated data",
    "frequent": "frequent visitors have high loss",
    "sigma": "the tight bound falls with sigma",
    "steady": "MAP hardly changes with sigma",
    "above": "noisy bounds above raw ones for some sigma (tight)",
}
#: All that are checked; the others are correlations, which a table of their own shows.
CHECKS = COLUMNS | {
    f"{gap}_{way}": f"larger spectral gap ({words}), smaller loss ({WAYS[way]})"
    for way in WAYS
    for gap, words in GAPS.items()
}
MARKS: Mapping[Answer, str] = {True: "yes", False: "no", None: "open"}
LEGEND = (
    "First table: the number of people; MAP's success on the real traces; means of the tight bound, of the loss's "
    "upper end, and of what the habits alone give; the number of frequent visitors of the fixed sensor; the rank "
    "correlation of visits there with the loss. Second table: "
    + "; ".join(f"*{column}*: {words}" for column, words in COLUMNS.items())
    + ". Third table: rank correlations of a person's loss (tight bound, and this tool's upper end) with the spectral "
    "gap, which is one minus the second largest modulus of an eigenvalue; *all places*: of the matrix over all places; "
    "*places reached*: over the places that the person can get to from those visited; *signed*: by the second largest "
    "eigenvalue itself and not by its modulus; *places visited*: the rank correlation of the first gap with the number "
    "of places that the person visited. Bold: surely negative.\n"
)


def section(tables: Tables, settings: Settings) -> str:
    """Numbers and answers under every reading, and which claims depend on it; empty where none was run."""
    if "readings" not in tables:
        return ""
    table, found = tables["readings"], _answers(tables, settings)
    names = table["reading"].unique(maintain_order=True).to_list()
    words = {reading.name: reading.words for reading in READINGS}
    out = [TITLE, "Claims about real data were checked under each of these readings:\n"]
    out.append("\n".join(f"- *{name}*: {words[name]}" for name in names) + "\n")
    out += [_dependence(found), _about_gaps(table)]
    numbers = ("people", "MAP", "tight", "loss up to", "habits alone", "frequent", "visits and loss")
    gaps = [f"{words}: {way}" for way in WAYS.values() for words in GAPS.values()]
    for file, group in table.group_by("dataset", maintain_order=True):
        rows = list(group.iter_rows(named=True))
        answers = [(r["reading"], *(MARKS[found[r["dataset"], r["reading"]][c]] for c in COLUMNS)) for r in rows]
        out.append(f"## {NAMES[str(file[0])]} under each reading\n")
        out.append(rows_of(("reading", *numbers), [(r["reading"], *_numbers(r, settings)) for r in rows]))
        out.append(rows_of(("reading", *COLUMNS), answers))
        out.append(rows_of(("reading", *gaps, "places visited"), [(r["reading"], *_gaps(r)) for r in rows]))
    return "\n".join([*out, LEGEND])


def _answers(tables: Tables, settings: Settings) -> Answers:
    """Each claim under each reading of each file."""
    simulated = None
    if "right" in tables:
        here = (pl.col("steps") == settings.holdout) & (pl.col("misses") == settings.real_misses)
        means = averaged(tables["right"]).filter(here)
        simulated = float(means["map"][0]) if means.height else None
    rows = tables["readings"].iter_rows(named=True)
    return {(row["dataset"], row["reading"]): checked(row, simulated, settings) for row in rows}


def checked(row: Row, simulated_map: float | None, settings: Settings) -> dict[str, Answer]:
    """Each claim under one reading of one file; None where it cannot be told."""
    at = settings.real_misses
    by_right = [f"misses_{s}" for s in reversed(range(settings.holdout))]
    sigmas = [f"sigma_{s:g}" for s in settings.sigma_grid]
    tight = [row[f"tight_{name}"] for name in sigmas]
    raw, hits = row[f"tight_misses_{at}"], row[f"hit_map_misses_{at}"]
    trends = (falls([row[f"{column}_{n}"] for n in by_right]) for column in ("tight", "hit_map"))
    return {
        "falls": _all(*trends),
        "more": None if simulated_map is None else more([hits], [simulated_map], row["people"]),
        "frequent": None if row["frequent"] < FEWEST else _all(*frequent_parts(dict(row)).values()),
        "sigma": falls(tight),
        "steady": _all(*close([hits, *(row[f"hit_map_{n}"] for n in sigmas)]).values()),
        "above": any(value > raw + ROUNDING for value in tight),
        **{f"{gap}_{way}": negative(*_interval(row, f"{gap}_{way}")) for way in WAYS for gap in GAPS},
    }


def _all(*answers: Answer) -> Answer:
    """Whether all of several things are so."""
    return False if False in answers else None if None in answers else True


def _interval(row: Row, name: str) -> tuple[float, float, float]:
    """A correlation and the ends of its interval."""
    return row[name], row[f"{name}_low"], row[f"{name}_high"]


def depending(found: Answers) -> dict[str, dict[str, dict[Answer, list[str]]]]:
    """For each claim and file where readings disagree: the readings by their answer."""
    out: dict[str, dict[str, dict[Answer, list[str]]]] = {}
    for check in CHECKS:
        for name in sorted({key[0] for key in found}):
            answers: dict[Answer, list[str]] = {}
            for (of, reading), values in found.items():
                if of == name:
                    answers.setdefault(values[check], []).append(reading)
            if True in answers and False in answers:
                out.setdefault(check, {})[name] = answers
    return out


def _dependence(found: Answers) -> str:
    depends = depending(found)
    out = "**No claim depends on the reading.**\n"
    if depends:
        out = "**Claims that depend on the reading.**\n\n"
        for check, files in depends.items():
            listed = ". ".join(f"{NAMES[file]}: {_listed(answers)}" for file, answers in files.items())
            out += f"- *{CHECKS[check]}*. {listed}.\n"
    firm = [words for check, words in CHECKS.items() if check not in depends]
    return out + f"\n**No reading contradicts another** on: {'; '.join(firm)}.\n" if firm else out


def _listed(answers: Mapping[Answer, list[str]]) -> str:
    """Readings by their answer, the commonest answer last and without names."""
    rarest = sorted(answers, key=lambda answer: len(answers[answer]))
    words = [f"{MARKS[answer]} with *{'*, *'.join(answers[answer])}*" for answer in rarest[:-1]]
    return "; ".join([*words, f"{MARKS[rarest[-1]]} with the others"])


def _numbers(row: Row, settings: Settings) -> list[str]:
    at = settings.real_misses
    chances = (f"hit_map_misses_{at}", f"tight_misses_{at}", "upper_random", "baseline_lower_random")
    visits = correlated(*_interval(row, "frequency_upper"))
    return [f"{row['people']}", *(shown(row[name]) for name in chances), f"{row['frequent']:.0f}", visits]


def _gaps(row: Row) -> list[str]:
    """The correlations with the spectral gap; those that are surely negative are set off."""
    found = [_interval(row, f"{gap}_{way}") for way in WAYS for gap in GAPS]
    out = [f"**{correlated(*each)}**" if negative(*each) else correlated(*each) for each in found]
    return [*out, correlated(*_interval(row, "gap_whole_visited"))]


def _about_gaps(table: pl.DataFrame) -> str:
    """How far the correlation of gap and loss depends on the reading, and which single choice moves it most."""
    ranges = [_range_of(group) for _, group in table.group_by("dataset", maintain_order=True)]
    return "\n".join([
        "**The spectral gap and the choice for rows never seen.** How the tight bound goes with the gap:\n",
        *ranges,
        "\nA place that was never visited has a row in the matrix over all places, though the person never gets there. "
        "With k such places of M and equal chances in their rows, k/M is an eigenvalue: the gap is then at most the "
        "share of places that the person visited, and tells how many places they know rather than how fast they move. "
        "The last column of the third table shows how closely the gap follows that number. Where places never left "
        "are never left again, every place never visited adds an eigenvalue 1, and the gap over all places is 0 for "
        "everybody.\n",
    ])  # fmt: skip


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
        f"{correlated(*_interval(moved, 'gap_whole_tight'))} where they do, "
        f"{correlated(*_interval(moved, 'gap_reached_tight'))} where they do not."
    )


def _moved(row: Row) -> float:
    change = abs(row["gap_whole_tight"] - row["gap_reached_tight"])
    return 0.0 if math.isnan(change) else float(change)


def _told(row: Row, gap: str) -> str:
    return f"{correlated(*_interval(row, f'{gap}_tight'))} (*{row['reading']}*, {GAPS[gap]})"
