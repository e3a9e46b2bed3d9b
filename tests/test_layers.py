"""Imports go down the walk of the data and never up; heavy packages are loaded only where they are used."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import passerby as pb

ROOT = Path(pb.__file__).parent

#: From the bottom to the top: a module or folder may import those before it, and itself.
LADDER = (
    "errors",
    "support",
    "kernels",
    "mechanisms",
    "model",
    "outcomes",
    "measurement",
    "visits",
    "people",
    "audits",
    "plans",
    "report",
    "cli",
    "__main__",
)

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


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_down(path: Path) -> None:
    here = part(path)
    for name, line in imported(path):
        head, *rest = name.split(".")
        if head in RESERVED:
            assert here in RESERVED[head], f"{path.name}:{line} imports {head}, which is for {RESERVED[head]}"
        if head != "passerby" or not rest:
            continue
        there = rest[0]
        if there in LADDER:
            assert LADDER.index(there) <= LADDER.index(here), f"{path.name}:{line} imports {there}, which is above it"
        else:
            # A name of the front door, which may come from anywhere: for the command line, and for all the version.
            assert here == "cli" or there == "__version__", f"{path.name}:{line} imports {name} by the front door"
        if here == "kernels":
            assert there == "kernels", f"{path.name}:{line}: kernels see arrays only"


def test_the_experiments_are_loaded_by_one_command_when_it_runs() -> None:
    """The paper's experiments are a package beside this one, which nothing else of it needs."""
    users = {path for path in sources() if "passerby_paper" in {name.split(".")[0] for name, _ in imported(path)}}
    assert users == {ROOT / "cli" / "reproduce.py"}
    (path,) = users
    top = [node for node in tree_of(path).body if "import" in type(node).__name__.lower()]
    assert not any("passerby_paper" in ast.unparse(node) for node in top)


@pytest.mark.parametrize(
    "path",
    [path for path in sources() if part(path) not in ("cli", "__main__")],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_only_the_command_line_prints_and_exits(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in ("print", "exit", "quit", "sys.exit", "sys.stdout.write", "sys.stderr.write"), (
                f"{path.name}:{node.lineno} calls {name}"
            )


@pytest.mark.parametrize(
    "code",
    [
        "import passerby",
        "import passerby; passerby.InputError",
        "from passerby.cli import main; assert main(['--help']) == 0",
        "from passerby.cli import main; assert main(['demo', '--help']) == 0",
        "from passerby.cli import main; assert main(['audit', '--help']) == 0",
        "from passerby.cli import main; assert main(['plan', '--help']) == 0",
        "from passerby.cli import main; assert main(['next', '--help']) == 0",
        "from passerby.cli import main; assert main(['simulate', '--help']) == 0",
        "from passerby.cli import main; assert main(['reproduce', '--help']) == 0",
        "from passerby.cli import main; assert main(['--version']) == 0",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code: str) -> None:
    code += f"; import sys; print(*({set(HEAVY)!r} & sys.modules.keys()), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
