"""Put the lines of `changes/` into the section of the next version: `make changes` calls it.

`make changes VERSION=0.2.0` closes that version: its section gets a date, and the files of `changes/` are removed.
"""

import argparse
import datetime
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("added", "changed", "removed", "fixed")
LONGEST = 200
OPEN = "## Unreleased: "
#: The section of the next version, up to the heading of an earlier one.
SECTION = re.compile(rf"^{OPEN}(\S+)\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def fragments(folder: Path = ROOT / "changes") -> Iterator[tuple[str, str]]:
    """The kind and the line of each file, in the order of the names."""
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        found = re.fullmatch(r"[\w-]+\.(\w+)\.md", path.name)
        if found is None or found[1] not in KINDS:
            raise SystemExit(f"changes/{path.name}: name it WORDS.KIND.md, with a kind of {', '.join(KINDS)}")
        line = path.read_text(encoding="utf-8").strip()
        if "\n" in line or line.startswith("-") or not 0 < len(line) <= LONGEST:
            raise SystemExit(f"changes/{path.name}: write one line of at most {LONGEST} characters, without a dash")
        yield found[1], line


def section(heading: str, lines: list[tuple[str, str]]) -> str:
    """A heading, and below it the lines by kind.

    >>> print(section("## 0.3.0", [("fixed", "A."), ("added", "B."), ("fixed", "C.")]))
    ## 0.3.0
    <BLANKLINE>
    ### Added
    <BLANKLINE>
    - B.
    <BLANKLINE>
    ### Fixed
    <BLANKLINE>
    - A.
    - C.
    <BLANKLINE>
    <BLANKLINE>
    """
    parts = [heading]
    for kind in KINDS:
        items = "\n".join(f"- {line}" for of, line in lines if of == kind)
        parts += [f"### {kind.capitalize()}", items] if items else []
    return "\n\n".join(parts) + "\n\n"


def assembled(log: str, lines: list[tuple[str, str]]) -> str:
    """The changelog with these lines in the section of the next version."""
    found = SECTION.search(log)
    if found is None:
        raise SystemExit(f"CHANGELOG.md: expected a section {OPEN!r} with the number of the next version")
    return log[: found.start()] + section(f"{OPEN}{found[1]}", lines) + log[found.end() :]


def closed(log: str, version: str, lines: list[tuple[str, str]], today: datetime.date) -> str:
    """The changelog with these lines in a section of a version, and an empty one above it for what comes next."""
    found = SECTION.search(log)
    if found is None or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"VERSION={version}: expected a number such as 0.2.0, and a section {OPEN!r} in CHANGELOG.md")
    major, minor, _ = version.split(".")
    following = section(f"{OPEN}{major}.{int(minor) + 1}.0", [])
    return log[: found.start()] + following + section(f"## {version} ({today})", lines) + log[found.end() :]


def main() -> None:
    """Write the section of the next version, or close it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="", help="close this version")
    version, path, lines = parser.parse_args().version, ROOT / "CHANGELOG.md", list(fragments())
    log = path.read_text(encoding="utf-8")
    if not version:
        path.write_text(assembled(log, lines), encoding="utf-8")
        return
    path.write_text(closed(log, version, lines, datetime.date.today()), encoding="utf-8")
    for each in (ROOT / "changes").glob("*.*.md"):
        each.unlink()
    print(f"now set the version in src/passerby/__init__.py to {version}")


if __name__ == "__main__":
    main()
