"""What became of all mutants, counted from what `trust.mutants` keeps: by file, by kind of change, and by reason."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

from trust.changed import mutants
from trust.operators import OPERATORS
from trust.page import keep
from trust.results import FILES, KEPT, SOURCE, load
from trust.rules import EQUAL, LEFT_OUT, OPEN, reason

#: The reason of a survivor that no rule explains.
UNEXPLAINED = "drawn last, and not looked into"
#: The rounds of trying.
ROUNDS = {
    1: "first, while tests were written for it",
    2: "second, before any test was written for it",
    3: "all others of the files that were changed since, while tests were written for them",
}
#: The fates of mutants, in the order in which they are told.
FATES = ("killed", "endless", "equal", "survived", "left out", "not tried")


def fates() -> list[dict[str, Any]]:
    """All mutants of the files as they are now, each with its fate and the reason, by the rules as they are now."""
    known = load(KEPT / "mutants.json")
    out = []
    for file in FILES:
        for mutant in mutants(SOURCE, file):
            where = (file, mutant.function, mutant.text, mutant.change)
            about = {"file": file, "name": mutant.name, "operator": mutant.operator, "line": mutant.line}
            found = known.get(mutant.name, {"fate": "not tried", "by": ""})
            about["round"] = ROUNDS[found.get("round", 1)]
            fate, by = found["fate"], found["by"]
            if reason(LEFT_OUT, *where):
                fate, by = "left out", reason(LEFT_OUT, *where)
            elif fate == "left out":
                fate, by = "not tried", ""
            elif fate == "survived" and reason(EQUAL, *where):
                fate, by = "equal", reason(EQUAL, *where)
            elif fate == "survived":
                by = reason(OPEN, *where) or UNEXPLAINED
            about["doubt"] = fate in ("killed", "endless") and bool(reason(EQUAL, *where))
            out.append({**about, "fate": fate, "by": by})
    return out


def counted(rows: Iterable[dict[str, Any]], key: str) -> dict[str, dict[str, int]]:
    """How many mutants met each fate, for each value of a key."""
    out: dict[str, Counter[str]] = {}
    for row in rows:
        out.setdefault(row[key], Counter())[row["fate"]] += 1
    return {value: {fate: count[fate] for fate in FATES if count[fate]} for value, count in out.items()}


def tally(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What is kept of a run: numbers, and the name of every mutant that was tried and not noticed."""
    left = Counter(row["by"] for row in rows if row["fate"] == "left out")
    survivors: dict[str, dict[str, list[str]]] = {"equal": {}, "survived": {}}
    for row in rows:
        if row["fate"] in survivors:
            survivors[row["fate"]].setdefault(row["by"], []).append(row["name"])
    meanings = {each.__name__: (each.__doc__ or "").split("\n")[0].rstrip(".") for each in OPERATORS}
    return {
        "files": counted(rows, "file"),
        "operators": counted(rows, "operator"),
        "rounds": counted((row for row in rows if row["fate"] not in ("left out", "not tried")), "round"),
        "meanings": meanings,
        "left_out": dict(left.most_common()),
        "equal": survivors["equal"],
        "survived": survivors["survived"],
    }


def main() -> int:
    """Count, keep the counts, and list the survivors that no rule explains."""
    rows = fates()
    keep("mutants", tally(rows))
    for row in rows:
        if row["doubt"]:
            print(f"a rule calls it equal, but it was noticed: {row['name']}")
    open_rows = [row for row in rows if row["fate"] == "survived" and row["by"] == UNEXPLAINED]
    for row in open_rows:
        print(f"{row['line']:4}  {row['name']}")
    print(*(f"{count:,} {fate}" for fate, count in Counter(row["fate"] for row in rows).items()), sep=", ")
    print(f"{len(open_rows)} survivors are not explained")
    return 1 if open_rows else 0


if __name__ == "__main__":
    sys.exit(main())
