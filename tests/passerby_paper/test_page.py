"""The claims pages."""

import re

from tests.passerby_paper.made_up import CLAIMS, SETTINGS

from passerby_paper import page
from passerby_paper.settings import Settings
from passerby_paper.wording import rows_of, shown


def test_numbers_are_short() -> None:
    assert [shown(x) for x in (0.5, 0.0123, 1e-7, float("nan"))] == ["50 %", "1.2 %", "1.0e-7", "?"]


def test_the_page_without_tables_says_so() -> None:
    pages = page.written({}, SETTINGS)
    assert f"Of {len(CLAIMS)} claims: *not checkable here* {len(CLAIMS)}." in pages["claims.md"]
    assert pages["claims/evidence.md"].count("**Not checkable here**") == len(CLAIMS)
    assert "quick" not in "".join(pages.values())
    assert "not to be quoted" in page.written({}, Settings.fast())["claims.md"]


def test_every_row_of_the_table_leads_to_its_evidence() -> None:
    pages = page.written({}, SETTINGS)
    linked = re.findall(r"\(claims/evidence\.md#([\w-]+)\)", pages["claims.md"])
    headings = re.findall(r"^### (.+)$", pages["claims/evidence.md"], re.MULTILINE)
    assert linked == [page._anchor(heading) for heading in headings]
    assert len(set(linked)) == len(CLAIMS)


def test_cells_of_tables_are_kept_apart() -> None:
    assert rows_of(("a", "b"), [("x|y", "z")]).splitlines()[2] == "| x\\|y | z |"
