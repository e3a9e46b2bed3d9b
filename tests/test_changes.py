"""Lines of `changes/` become a version of the changelog."""

import datetime
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MADE: dict[str, Any] = runpy.run_path(str(ROOT / "docs/make_changelog.py"))
LOG = "# Changelog\n\n## Unreleased: 0.2.0\n\n### Added\n\n- Old.\n\n## 0.1.0\n\n- First.\n"


def test_each_file_is_a_line() -> None:
    for kind, line in MADE["fragments"](ROOT / "changes"):
        assert kind in MADE["KINDS"]
        assert line.endswith((".", ")")), line


def test_the_changelog_takes_them() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    new = MADE["assembled"](log, list(MADE["fragments"](ROOT / "changes")))
    assert log.partition("\n## 0.1.0")[2] == new.partition("\n## 0.1.0")[2] != ""


def test_the_next_version_is_written_anew() -> None:
    once = MADE["assembled"](LOG, [("fixed", "B."), ("added", "A.")])
    assert "Old." not in once
    assert once == MADE["assembled"](once, [("added", "A."), ("fixed", "B.")])
    assert once.index("- A.") < once.index("### Fixed") < once.index("- B.") < once.index("## 0.1.0")


def test_a_version_is_closed() -> None:
    log = MADE["closed"](LOG, "0.2.0", [("added", "A.")], datetime.date(2026, 1, 2))
    headings = [line for line in log.splitlines() if line.startswith("## ")]
    assert headings == ["## Unreleased: 0.3.0", "## 0.2.0 (2026-01-02)", "## 0.1.0"]
    with pytest.raises(SystemExit, match="expected a number"):
        MADE["closed"](LOG, "two", [], datetime.date(2026, 1, 2))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("new.md", "A."),
        ("new.better.md", "A."),
        ("new.added.md", ""),
        ("new.added.md", "A.\nB."),
        ("new.added.md", "- A."),
        ("new.added.md", "A" * 201),
    ],
)
def test_files_that_are_none_are_refused(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=f"changes/{name}"):
        list(MADE["fragments"](tmp_path))
