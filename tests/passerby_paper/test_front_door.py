"""The paper's experiments use the product as anybody would: by its front door."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import passerby as pb
import passerby_paper

SOURCES = sorted(Path(passerby_paper.__file__).parent.rglob("*.py"))


def inside(path: Path) -> Iterator[str]:
    """What a file takes from the inside of the product: modules and names that are not public."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [
                a.name for a in node.names if a.name.startswith("passerby.") or (a.name, a.asname) == ("passerby", None)
            ]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found = [node.module] if node.module.split(".")[0] == "passerby" else []
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pb":
            found = [] if node.attr in (*pb.__all__, "__file__") else [f"pb.{node.attr}"]
        yield from (f"{path.name}:{getattr(node, 'lineno', 0)} {name}" for name in found)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_of_the_inside_is_used(path: Path) -> None:
    assert not [*inside(path)]


@pytest.mark.parametrize(
    "line",
    [
        "from passerby.kernels import chain",
        "import passerby.errors as errors",
        "from passerby import measure",
        "import passerby",
        "import passerby as pb; pb.kernels",
        "def f():\n    from passerby.support import files",
    ],
)
def test_what_would_be_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(line)
    assert len([*inside(tmp_path / "some.py")]) == 1


def test_what_is_fine(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text("import passerby as pb\nfrom .rules import falls\npb.measure, pb.__version__")
    assert not [*inside(tmp_path / "some.py")]
