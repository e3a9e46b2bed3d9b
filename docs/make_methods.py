"""Write the tables of methods.md from the list of methods.

Run with `.venv/bin/python docs/make_methods.py`. Each table goes between two marks in `docs/methods.md`. A test
compares the page with the list.
"""

from collections.abc import Iterable
from pathlib import Path

from passerby.questions.trace.methods import ATTACKS, BOUNDS, METHODS

PAGE = Path(__file__).parent / "methods.md"
END = "<!-- end of table -->"


def names() -> list[str]:
    """A row for each attack and bound: which of the two it is, and the methods that may find it."""
    kinds = [("attack", name) for name in ATTACKS] + [("bound", name) for name in BOUNDS]
    found = {name: [method.name for method in METHODS if name in method.yields] for _, name in kinds}
    return rows(("name", "is", "found by"), ((code([name]), kind, code(found[name])) for kind, name in kinds))


def methods() -> list[str]:
    """A row for each method, in the order in which they are tried."""
    head = ("method", "attacks", "bounds", "needs", "in short")
    return rows(head, ((code([m.name]), code(m.attacks), code(m.bounds), code(m.needs), m.says) for m in METHODS))


def rows(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> list[str]:
    """The lines of a table."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *body)]


def code(words: Iterable[str]) -> str:
    """Names, as they are written in code."""
    return ", ".join(f"`{word}`" for word in words)


def written(page: str) -> str:
    """The page with the tables of today."""
    for name, table in (("names", names()), ("methods", methods())):
        begin = f"<!-- table: {name} -->"
        before, rest = page.split(begin)
        after = rest.split(END, 1)[1]
        page = "\n".join([before + begin, "", *table, "", END + after])
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
