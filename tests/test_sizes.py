"""Files tell one story, and functions fit on a screen."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

import passerby as pb

SOURCE = Path(pb.__file__).parents[1]
SCREEN = 60

#: Functions that are tables: a command's parameters are its options, one a line with its words.
TABLES = {
    "passerby/cli/demo.py: demo",
    "passerby/cli/next.py: next_table",
    "passerby/cli/plan.py: plan",
    "passerby/cli/reproduce.py: reproduce",
}


def sources() -> list[Path]:
    return [path for name in ("passerby", "passerby_paper") for path in sorted((SOURCE / name).rglob("*.py"))]


def long_functions(path: Path) -> Iterator[str]:
    """The functions and methods of a file that do not fit on a screen, without their decorators."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if length > SCREEN:
                yield f"{path.relative_to(SOURCE).as_posix()}: {node.name}"


def test_functions_fit_on_a_screen() -> None:
    assert {name for path in sources() for name in long_functions(path)} == TABLES


def test_a_function_of_one_line_too_many_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_sizes.SOURCE", tmp_path)
    path = tmp_path / "some.py"
    for lines, found in ((SCREEN, []), (SCREEN + 1, ["some.py: f"])):
        path.write_text("@d\ndef f():\n" + "    x = 1\n" * (lines - 1))
        assert list(long_functions(path)) == found


def test_files_tell_one_story() -> None:
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in sources()]
    assert 60 <= median(lengths) <= 150
    assert max(lengths) <= 400
