"""The house in figures, from its source: modules, imports, and the files to touch for one more of a kind.

`python -m tests.house` writes the table of `CONTRIBUTING.md`.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import passerby as pb

SOURCE = Path(pb.__file__).parents[1]
PACKAGES = ("passerby", "passerby_paper")
PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
BEGIN, END = "<!-- table: house -->", "<!-- end of table -->"
Graph = dict[str, set[str]]


def module(path: Path, source: Path = SOURCE) -> str:
    """The name of a module, by its file."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees(source: Path = SOURCE) -> dict[str, tuple[Path, ast.Module]]:
    """The file and the syntax tree of each module."""
    paths = [path for name in PACKAGES for path in sorted((source / name).rglob("*.py"))]
    return {module(path, source): (path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths}


def targets(here: str, package: bool, node: ast.AST) -> Iterator[str]:
    """The names that an import asks for, in full: `module.name`, or a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = here.split(".") if package else here.split(".")[:-1]
        base = parts[: len(parts) - node.level + 1] if node.level else []
        yield from (".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names)


def graph(deep: bool, source: Path = SOURCE) -> Graph:
    """The modules that each module imports: at its top, or (deep) also within functions.

    The front door loads what is asked for, so it is a node without edges.
    """
    names = trees(source)
    out: Graph = {}
    for here, (path, tree) in names.items():
        nodes = ast.walk(tree) if deep else tree.body
        asked = {name for node in nodes for name in targets(here, path.name == "__init__.py", node)}
        asked = {name if name in names else name.rpartition(".")[0] for name in asked}
        out[here] = set() if here == "passerby" else (asked & names.keys()) - {here}
    return out


def longest_path(imports: Graph) -> list[str]:
    """The longest way down from a module by what each imports, the top first."""
    known: dict[str, list[str]] = {}

    def down(name: str, above: tuple[str, ...]) -> list[str]:
        if name not in known:
            ways = [down(each, (*above, name)) for each in sorted(imports[name]) if each not in above]
            known[name] = [name, *max(ways, key=len, default=[])]
        return known[name]

    return max((down(name, ()) for name in imports), key=len)


def lonely(imports: Graph, lines: int, source: Path = SOURCE) -> set[str]:
    """Modules of few lines with a single importer."""
    users: dict[str, set[str]] = {name: set() for name in imports}
    for name, needs in imports.items():
        for need in needs:
            users[need].add(name)
    short = {name for name, (path, _) in trees(source).items() if path.name != "__init__.py" and _length(path) <= lines}
    return {name for name in short if len(users[name]) == 1}


def _length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def namesakes(source: Path = SOURCE) -> set[str]:
    """Names of public classes that several modules define."""
    found = [
        node.name
        for _, tree in trees(source).values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    return {name for name in found if found.count(name) > 1}


def cycles(imports: Graph) -> set[str]:
    """The modules that import themselves by way of others."""
    reach = {name: set(needs) for name, needs in imports.items()}
    grown = True
    while grown:
        grown = False
        for needs in reach.values():
            more = needs.union(*(reach[need] for need in needs))
            if len(more) > len(needs):
                needs |= more
                grown = True
    return {name for name, needs in reach.items() if name in needs}


def files_that_name(word: str) -> int:
    """The files in which a name is defined or asked for, without the front door."""
    return sum(word in _words(tree) for name, (_, tree) in trees().items() if name != "passerby")


@cache
def _words(tree: ast.Module) -> set[str]:
    """The names that a file defines, imports or takes from a module, and its strings."""
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            words.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            words |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    return words


def files_of_entry(name: str) -> int:
    """The file of an entry of a registry, and the files that import it."""
    return 1 + sum(name in needs for needs in graph(deep=True).values())


def files_to_touch() -> dict[str, list[int]]:
    """For each kind of thing that is often added, the files that each of those that are there is named in."""
    from passerby.mechanisms.registry import REGISTRY
    from passerby.questions.trace.methods import METHODS

    methods = {each.run.__module__ for each in METHODS if each.bounds}
    sections = [name for name in trees() if name.startswith("passerby.report.sections.")]
    return {
        "a question": [files_that_name(kind.__name__) for kind in (pb.Trace, pb.EachStep, pb.Event, pb.InData)],
        "a count": [files_that_name(kind.__name__) for kind in (pb.Present, pb.Moved, pb.Visitors)],
        "a mechanism": [files_that_name(entry.kind.__name__) for entry in REGISTRY],
        "a bound": [files_of_entry(name) for name in methods],
        "a section": [files_of_entry(name) for name in sections],
        "an engine": [files_that_name(word) for word in ("processes", "dask")],
    }


def table() -> list[str]:
    """The rows of the table."""
    modules = [name for name in trees() if name.split(".")[0] == "passerby"]
    rows = [
        ("modules of `passerby`", str(len(modules)), "about 200"),
        ("longest import path", str(len(longest_path(graph(deep=False)))), "20"),
    ]
    for kind, files in files_to_touch().items():
        rows.append((f"files that name {kind}", f"{median(files):g} ({min(files)} to {max(files)})", "1 or 2"))
    return [f"| {' | '.join(cells)} |" for cells in (("figure", "today", "goal"), ("---",) * 3, *rows)]


def written(page: str) -> str:
    """The page with the table of today."""
    before, rest = page.split(BEGIN)
    return "\n".join([before + BEGIN, "", *table(), "", END + rest.split(END, 1)[1]])


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
