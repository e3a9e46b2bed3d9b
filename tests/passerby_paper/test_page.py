"""The claims page."""

from tests.passerby_paper.made_up import CLAIMS, SETTINGS

from passerby_paper import page
from passerby_paper.settings import Settings
from passerby_paper.wording import rows_of, shown


def test_numbers_are_short() -> None:
    assert [shown(x) for x in (0.5, 0.0123, 1e-7, float("nan"))] == ["50 %", "1.2 %", "1.0e-7", "?"]


def test_the_page_without_tables_says_so() -> None:
    text = page.written({}, SETTINGS)
    assert f"Of {len(CLAIMS)} claims: *not checkable here* {len(CLAIMS)}." in text
    assert text.count("**Not checkable here**") == len(CLAIMS)
    assert "quick" not in text
    assert "not to be quoted" in page.written({}, Settings.fast())


def test_cells_of_tables_are_kept_apart() -> None:
    assert rows_of(("a", "b"), [("x|y", "z")]).splitlines()[2] == "| x\\|y | z |"
