"""Imports go down the walk of the data and never up; heavy packages are loaded only where they are used."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import passerby as pb
from passerby.audits.asking import EverMoved
from passerby.model.count import Count

ROOT = Path(pb.__file__).parent

#: From the bottom to the top: a module or folder may import those before it, and itself.
LADDER = (
    "errors",
    "support",
    "kernels",
    "mechanisms",
    "model",
    "others",
    "outcomes",
    "measurement",
    "questions",
    "visits",
    "personas",
    "tables",
    "people",
    "audits",
    "plans",
    "report",
    "runs",
    "cli",
    "__main__",
)

#: A release knows its others, and what is said of these knows releases: two packages on one rung.
RUNG = {part: number for number, part in enumerate(LADDER)} | {"others": LADDER.index("model")}

#: Packages that only the named parts may import.
RESERVED = {
    "rich": {"cli"},
    "cyclopts": {"cli"},
    "altair": {"report"},
    "jinja2": {"report"},
    "matplotlib": set(),
    "passerby_paper": {"cli"},
}

#: Packages that neither `import passerby` nor `passerby --help` may load.
HEAVY = ("numba", "scipy", "polars", "dp_accounting", "pydantic", "matplotlib", "altair")


def sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def part(path: Path) -> str:
    """The rung of a source file."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names of all that a file imports, at the top or inside functions, with the line."""
    package = ("passerby", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def test_every_package_has_its_place_once() -> None:
    assert sorted(LADDER) == sorted({part(path) for path in sources()})


def faults(here: str, name: str) -> Iterator[str]:
    """What is wrong with importing a name in a part."""
    head, *rest = name.split(".")
    if head in RESERVED and here not in RESERVED[head]:
        yield f"imports {head}, which is for {RESERVED[head]}"
    if head != "passerby" or not rest:
        return
    there = rest[0]
    if there in LADDER:
        if RUNG[there] > RUNG[here]:
            yield f"imports {there}, which is above it"
    # A name of the front door, which may come from anywhere: for the command line, and for all the version.
    elif here != "cli" and there != "__version__":
        yield f"imports {name} by the front door"
    if here == "kernels" and there != "kernels":
        yield f"imports {there}, but kernels see arrays only"


# One test for all files: a test for each takes longer to be told of than to be done.
def test_imports_go_down() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {fault}"
        for path in sources()
        for name, line in imported(path)
        for fault in faults(part(path), name)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("here", "name", "words"),
    [
        ("model", "passerby.audits.audit", "above it"),
        ("model", "passerby.measure", "by the front door"),
        ("kernels", "passerby.support.files", "arrays only"),
        ("audits", "altair.Chart", "which is for {'report'}"),
    ],
)
def test_a_wrong_import_is_noticed(here: str, name: str, words: str) -> None:
    (fault,) = faults(here, name)
    assert words in fault


@pytest.mark.parametrize(
    ("here", "name"),
    [("audits", "passerby.model.prior"), ("cli", "passerby.measure"), ("model", "passerby.__version__")],
)
def test_a_right_import_is_not(here: str, name: str) -> None:
    assert list(faults(here, name)) == []


def subclasses(kind: Any) -> Iterator[type]:
    """The classes below one, at any distance."""
    below: list[type] = kind.__subclasses__()
    for each in below:
        yield each
        yield from subclasses(each)


def asked_for(path: Path, names: set[str]) -> Iterator[str]:
    """The checks of a file for one of some classes, by `isinstance` or by `match`."""
    for node in ast.walk(tree_of(path)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            asked = [part for part in ast.walk(node.args[1]) if isinstance(part, ast.Name | ast.Attribute)]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        for part in asked:
            if (name := ast.unparse(part).rpartition(".")[2]) in names:
                yield f"{path.relative_to(ROOT)}:{part.lineno} asks for {name}"


def test_no_mechanism_is_asked_for_by_its_class() -> None:
    """A mechanism of one's own must be as good as those that are here: what matters is a method of all of them."""
    here = (kind for kind in subclasses(pb.Mechanism) if kind.__module__.startswith("passerby.mechanisms"))
    concrete = {kind.__name__ for kind in here}
    assert {"Raw", "Gaussian", "Then"} <= concrete
    found = [each for path in sources() if part(path) != "mechanisms" for each in asked_for(path, concrete)]
    assert found == []


#: Where counts of each kind are at home: all else asks what a count says of itself.
COUNTS = ("model/count.py", "model/counts.py")


def test_no_count_is_asked_for_by_its_class() -> None:
    """A count of one's own must be as good as those that are here, wherever it is."""
    concrete = {kind.__name__ for kind in subclasses(Count) if kind.__module__.startswith("passerby.")}
    assert {"Present", "Moved", "Visitors", EverMoved.__name__} <= concrete
    others = [path for path in sources() if path.relative_to(ROOT).as_posix() not in COUNTS]
    assert [each for path in others for each in asked_for(path, concrete)] == []


def test_no_release_is_asked_for_by_its_class() -> None:
    """All releases answer the same questions: whether counts reveal a place, and whether they are fixed in advance."""
    concrete = {kind.__name__ for kind in subclasses(pb.Release)} | {"CountRelease", "AdaptiveRelease"}
    above = [path for path in sources() if part(path) != "model"]
    assert [each for path in above for each in asked_for(path, concrete)] == []


def test_a_mechanism_that_is_asked_for_is_noticed() -> None:
    assert list(asked_for(ROOT / "mechanisms" / "composition.py", {"Both"}))


def test_the_experiments_are_loaded_by_one_command_when_it_runs() -> None:
    """The paper's experiments are a package beside this one, which nothing else of it needs."""
    users = {path for path in sources() if "passerby_paper" in {name.split(".")[0] for name, _ in imported(path)}}
    assert users == {ROOT / "cli" / "reproduce.py"}
    (path,) = users
    top = [node for node in tree_of(path).body if "import" in type(node).__name__.lower()]
    assert not any("passerby_paper" in ast.unparse(node) for node in top)


def test_only_the_command_line_prints_and_exits() -> None:
    forbidden = ("print", "exit", "quit", "sys.exit", "sys.stdout.write", "sys.stderr.write")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} calls {ast.unparse(node.func)}"
        for path in sources()
        if part(path) not in ("cli", "__main__")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in forbidden
    ]
    assert found == []


#: One after another, in one process: what one of them loads stays loaded.
LIGHT = (
    "import passerby",
    "passerby.InputError",
    "from passerby.cli import main",
    "assert main(['--version']) == 0",
    "assert main(['--help']) == 0",
    *(
        f"assert main(['{command}', '--help']) == 0"
        for command in ("demo", "check", "audit", "plan", "next", "personas", "simulate", "reproduce")
    ),
)


def test_nothing_heavy_is_loaded_before_it_is_used() -> None:
    look = f"loaded = {set(HEAVY)!r} & sys.modules.keys()\nassert not loaded, loaded"
    code = "\n".join(["import sys", *(f"{each}\n{look}" for each in LIGHT)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
