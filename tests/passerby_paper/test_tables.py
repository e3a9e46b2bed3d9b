"""Tables are known by what they were made from."""

import ast
from pathlib import Path

import polars as pl
from tests.passerby_paper.small import TINY

from passerby_paper import tables
from passerby_paper.tables import SHOWING, fingerprint, read_table, sources, write_table


def test_tables_are_known_by_what_they_were_made_from(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1, 2]})
    write_table(tmp_path, "x", table, "one")
    found = read_table(tmp_path, "x", "one")
    assert found is not None
    assert found.equals(table)
    assert read_table(tmp_path, "x", "two") is None
    assert read_table(tmp_path, "y", "one") is None
    (tmp_path / "x.parquet").write_bytes(b"broken")
    assert read_table(tmp_path, "x", "one") is None
    assert pl.read_csv(tmp_path / "x.csv").equals(table)


def test_tables_of_other_code_are_not_taken(tmp_path: Path) -> None:
    package = tmp_path / "package"
    for name in ("kernels/chain/recursions.py", "claims_steps.py", "cli/main.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("before")
    digests = [sources(package)]
    for name in ("claims_steps.py", "cli/main.py", "kernels/chain/recursions.py"):
        (package / name).write_text("after")
        sources.cache_clear()
        digests.append(sources(package))
    assert digests[0] == digests[1] == digests[2] != digests[3]
    sources.cache_clear()


def test_tables_of_other_files_are_not_taken(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(file.read_bytes()[:-1] + b"x")
    marks = [fingerprint("people", TINY, files) for files in ({}, {"gowalla": file}, {"gowalla": other})]
    assert len(set(marks)) == 3
    assert fingerprint("people", TINY, {"gowalla": file}) == marks[1]


def test_no_table_depends_on_what_only_shows() -> None:
    """The table of experiments names figures, and the run writes the page; no measuring module looks at either."""
    folder = Path(tables.__file__).parent
    for path in folder.glob("*.py"):
        if path.name.startswith((*SHOWING, "experiments", "run")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                used = [node.module] if node.module else [alias.name for alias in node.names]
                assert not any(str(name).startswith(SHOWING) for name in used), f"{path.name}:{node.lineno}"
