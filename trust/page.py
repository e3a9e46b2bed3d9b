"""The tables of docs/trust.md, written from `results.json` between marks: nothing there is typed by hand."""

from __future__ import annotations

import re
from collections import Counter
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


def judged(fates: dict[str, int]) -> tuple[int, int, int]:
    """How many mutants of some kind were tried, how many of these a test noticed, and how many are equal."""
    noticed, equal = fates.get("killed", 0) + fates.get("endless", 0), fates.get("equal", 0)
    return noticed + equal + fates.get("survived", 0), noticed, equal


def added(many: Iterable[dict[str, int]]) -> dict[str, int]:
    """The fates of several files or kinds together."""
    total: Counter[str] = Counter()
    for fates in many:
        total.update(fates)
    return dict(total)


def interval(part: int, whole: int) -> str:
    """The share in percent, and the exact interval (Clopper and Pearson 1934) in which it is at a level of 95 %."""
    from scipy.stats import beta

    low = beta.ppf(0.025, part, whole - part + 1) if part else 0.0
    high = beta.ppf(0.975, part + 1, whole - part) if part < whole else 1.0
    return f"{share(part, whole)} ({100 * low:.1f} to {100 * high:.1f} %)" if whole else ""


def mutants(found: dict[str, Any]) -> str:
    """A row per file: how many mutants there are and what became of them."""
    files = {f"`{file}`": fates for file, fates in found["files"].items()}
    named = [fates for file, fates in found["files"].items() if first(file)]
    files["kernels, bounds and attacks"] = added(named)
    files["all"] = added(found["files"].values())
    rows = []
    for file, fates in files.items():
        tried, noticed, equal = judged(fates)
        all_of_them, left = sum(fates.values()), fates.get("left out", 0)
        shares = share(noticed, tried), share(noticed, tried - equal)
        rows.append((file, all_of_them, left, tried, noticed, equal, tried - noticed - equal, *shares))
    head = ("file", "mutants", "left out", "tried", "killed", "equal", "other survivors", "share killed")
    return table((*head, "of those that are not equal"), rows)


def first(file: str) -> bool:
    """Whether a file holds kernels, bounds or attacks: these come first."""
    return file.startswith("kernels/") or file in ("bounds.py", "attacks.py")


def sample(found: dict[str, Any]) -> str:
    """What a sample says of all mutants: for each round of trying, the share killed with its interval."""
    rows = []
    for name, fates in found["rounds"].items():
        tried, noticed, equal = judged(fates)
        told = share if name.startswith("all") else interval
        rows.append((name, tried, noticed, equal, told(noticed, tried), told(noticed, tried - equal)))
    return table(("drawn", "tried", "killed", "equal", "share killed", "of those that are not equal"), rows)


def operators(found: dict[str, Any]) -> str:
    """A row per kind of change."""
    rows = []
    for name, fates in found["operators"].items():
        tried, noticed, equal = judged(fates)
        rows.append((found["meanings"][name], tried, share(noticed, tried), share(noticed, tried - equal)))
    return table(("change", "tried", "share killed", "of those that are not equal"), rows)


def left_out(found: dict[str, Any]) -> str:
    """How many mutants were not tried, by the reason."""
    return table(("mutants", "why they are left out"), ((count, why) for why, count in found["left_out"].items()))


def in_words(name: str) -> str:
    """A mutant by its name, "file function | line of the source | before -> after", as it is told in a table."""
    where, _, rest = name.partition(" | ")
    text, _, change = rest.rpartition(" | ")
    file, _, function = where.partition(" ")
    before, _, after = re.sub(r" #\d+$", "", change).partition(" -> ")
    became = "is left out" if after == "pass" else f"has `{after}` for `{before}`"
    return f"`{function}` in `{file}`: `{text}` {became}"


def examples(names: Iterable[str], most: int = 3) -> str:
    """A few of several mutants, the shortest first, each of another function."""
    shown: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (len(name), name)):
        where, *parts = name.split(" | ")
        if len(parts) == 2:  # an `or` of arrays in the line itself looks like the end of the line
            shown.setdefault(where, in_words(name))
    return "<br>".join([*shown.values()][:most])


def by_reason(found: dict[str, list[str]]) -> Iterable[tuple[int, str, str]]:
    """A row per reason, the most frequent first: how many mutants, the reason, and a few of them."""
    for why, names in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        yield len(names), why, examples(names)


def equal(found: dict[str, Any]) -> str:
    """How many survivors are equal to the original, by the reason, with examples."""
    return table(("survivors", "why they are equal", "for example"), by_reason(found["equal"]))


def survivors(found: dict[str, Any]) -> str:
    """How many other survivors there are, by the reason why they may, with examples."""
    return table(("survivors", "what they do", "for example"), by_reason(found["survived"]))


def deep(found: dict[str, Any]) -> str:
    """The run of all properties with many more examples, in a line."""
    keys = ("properties", "examples", "factor", "seed")
    numbers = (f"{found[key]:,}" for key in keys)
    failed = "<br>".join(f"`{name}`" for name in found["failures"]) or "none"
    return table((*keys, "failed"), [(*numbers, failed)])


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
    "sample": ("mutants", sample),
    "operators": ("mutants", operators),
    "left out": ("mutants", left_out),
    "equal": ("mutants", equal),
    "survivors": ("mutants", survivors),
    "deep": ("deep", deep),
    "fuzz": ("fuzz", fuzz),
    "coverage": ("coverage", coverage),
    "uncovered": ("coverage", uncovered),
}


def filled(text: str, results: dict[str, Any]) -> str:
    """The page with its tables replaced by those of the results; what was not run is said to be so."""
    for name, (run, shown) in TABLES.items():
        begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
        before, mark, rest = text.partition(begin)
        if mark:
            made = shown(results[run]) if run in results else "Not measured yet."
            text = f"{before}{mark}\n{made}\n\n{end}{rest.partition(end)[2]}"
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
