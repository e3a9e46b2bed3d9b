"""The tables of docs/trust.md and docs/mutants.md, written from `results.json` between marks, never by hand."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from trust.results import FILE, ROOT, read, write

PAGES = (ROOT / "docs/trust.md", ROOT / "docs/mutants.md")


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def share(part: int, whole: int) -> str:
    """A share in percent, to a tenth."""
    return f"{100 * part / whole:.1f} %" if whole else ""


def interval(part: int, whole: int) -> str:
    """The share in percent, and the exact interval (Clopper and Pearson 1934) in which it is at a level of 95 %."""
    from scipy.stats import beta

    low = beta.ppf(0.025, part, whole - part + 1) if part else 0.0
    high = beta.ppf(0.975, part + 1, whole - part) if part < whole else 1.0
    return f"{share(part, whole)} ({100 * low:.1f} to {100 * high:.1f} %)" if whole else ""


def mutants(found: dict[str, Any]) -> str:
    """A row per file: how many mutants were drawn, and how many of these a test noticed."""
    files = {f"`{file}`": tuple(counts) for file, counts in found["files"].items()}
    files["all"] = tuple(sum(column) for column in zip(*files.values(), strict=True))
    rows = [
        (file, killed + survived, killed, survived, interval(killed, killed + survived))
        for file, (killed, survived) in files.items()
    ]
    return table(("file", "drawn", "killed", "survived", "share killed (95 % interval)"), rows)


def sample(found: dict[str, Any]) -> str:
    """How the mutants were drawn, and how many were killed."""
    killed, survived = (sum(column) for column in zip(*found["files"].values(), strict=True))
    drawn = f"{killed + survived:,} were drawn, with seed {found['seed']}, of {found['all']:,} in all."
    return f"{drawn} {killed:,} were killed: {interval(killed, killed + survived)}."


def survivors(found: dict[str, Any]) -> str:
    """Every mutant that no test noticed."""
    rows = ((f"`{where}`", *(f"`{text}`" for text in change.split(" -> ", 1))) for where, change in found["survivors"])
    return table(("line", "the source", "the mutant"), rows)


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
    "sample": ("mutants", sample),
    "mutants": ("mutants", mutants),
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
            made = f"{shown(results[run])}\n\n{when(results[run])}" if run in results else "Not measured yet."
            text = f"{before}{mark}\n{made}\n\n{end}{rest.partition(end)[2]}"
    return text


def when(found: dict[str, Any]) -> str:
    """Of which source the results are."""
    return (
        f"*Measured {found['measured']}.*" if "measured" in found else "*Measured for an earlier layout of the source.*"
    )


def now() -> str:
    """The day, and the commit where there is one."""
    day = datetime.now(UTC).date().isoformat()
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=, with changes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{day}, at commit {done.stdout.strip()}" if done.returncode == 0 else day


def keep(run: str, found: dict[str, Any]) -> None:
    """Replace the part of one run in the results, and write the tables of the pages anew."""
    write(FILE, {**read(), run: {**found, "measured": now()}})
    fill()


def fill() -> None:
    """Write the tables anew, on the pages that exist."""
    for page in PAGES:
        if page.exists():
            page.write_text(filled(page.read_text(encoding="utf-8"), read()), encoding="utf-8")


if __name__ == "__main__":
    fill()
