"""The tables of docs/trust.md, written from `results.json` between marks: nothing there is typed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trust.results import FILE, ROOT, read, write

PAGE = ROOT / "docs/trust.md"


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def share(part: int, whole: int) -> str:
    """A share in percent, to a tenth."""
    return f"{100 * part / whole:.1f} %" if whole else ""


def judged(fates: dict[str, int]) -> tuple[int, int]:
    """How many mutants of some kind were tried, and how many of these a test noticed."""
    noticed = fates.get("killed", 0) + fates.get("endless", 0)
    return noticed + fates.get("survived", 0), noticed


def mutants(found: dict[str, Any]) -> str:
    """A row per file: how many mutants there are and what became of them."""
    counts = {f"`{file}`": judged(fates) for file, fates in found["files"].items()}
    counts["all"] = sum(tried for tried, _ in counts.values()), sum(noticed for _, noticed in counts.values())
    rows = ((file, tried, noticed, tried - noticed, share(noticed, tried)) for file, (tried, noticed) in counts.items())
    return table(("file", "mutants", "killed", "survived", "share killed"), rows)


def operators(found: dict[str, Any]) -> str:
    """A row per kind of change."""
    rows = []
    for name, fates in found["operators"].items():
        tried, noticed = judged(fates)
        rows.append((found["meanings"][name], tried, share(noticed, tried)))
    return table(("change", "mutants", "share killed"), rows)


def left_out(found: dict[str, Any]) -> str:
    """How many mutants were not made, by the reason."""
    return table(("mutants", "why they are left out"), ((count, why) for why, count in found["left_out"].items()))


def survivors(found: dict[str, Any]) -> str:
    """Every survivor, by the reason why it may."""
    rows = []
    for why, names in sorted(found["survivors"].items(), key=lambda item: -len(item[1])):
        shown = "<br>".join(f"`{name}`" for name in names)
        rows.append((len(names), why, shown))
    return table(("survivors", "why", "which"), rows)


def fuzz(found: dict[str, Any]) -> str:
    """A row per kind of input: how many files were read and how many refused."""
    outcomes: dict[str, dict[str, int]] = {}
    for name, count in found["outcomes"].items():
        what, fate = name.split(": ")
        outcomes.setdefault(what, {})["refused" if fate == "refused" else "read"] = count
    rows = [
        (what, sum(fates.values()), fates.get("read", 0), fates.get("refused", 0), 0)
        for what, fates in outcomes.items()
    ]
    return table(("input", "files", "read", "refused with a message", "crashes"), rows)


def coverage(found: dict[str, Any]) -> str:
    """A row per part of the package: lines, and the share that the tests run."""
    parts = {f"`{part}`": (lines, missing) for part, (lines, missing) in found["parts"].items()}
    parts["all"] = sum(lines for lines, _ in parts.values()), sum(missing for _, missing in parts.values())
    rows = ((part, lines, missing, share(lines - missing, lines)) for part, (lines, missing) in parts.items())
    return table(("part", "lines", "not run", "share run"), rows)


def uncovered(found: dict[str, Any]) -> str:
    """Every stretch of lines that no test runs, with the reason."""
    return table(("lines", "what they are", "why no test runs them"), map(tuple, found["missing"]))


#: The tables by name, each with the run whose results it shows.
TABLES: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "mutants": ("mutants", mutants),
    "operators": ("mutants", operators),
    "left out": ("mutants", left_out),
    "survivors": ("mutants", survivors),
    "fuzz": ("fuzz", fuzz),
    "coverage": ("coverage", coverage),
    "uncovered": ("coverage", uncovered),
}


def filled(text: str, results: dict[str, Any]) -> str:
    """The page with its tables replaced by those of the results."""
    for name, (run, shown) in TABLES.items():
        if run in results:
            begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
            before, mark, rest = text.partition(begin)
            if mark:
                text = f"{before}{mark}\n{shown(results[run])}\n\n{end}{rest.partition(end)[2]}"
    return text


def keep(run: str, found: Any) -> None:
    """Replace the part of one run in the results, and write the tables of the page anew."""
    write(FILE, {**read(), run: found})
    fill()


def fill() -> None:
    """Write the tables anew, where the page exists."""
    if PAGE.exists():
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")


if __name__ == "__main__":
    fill()
