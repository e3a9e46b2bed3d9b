"""The claims pages."""

import re

import polars as pl
import pytest
from tests.passerby_paper.made_up import CLAIMS, SETTINGS, simulated

from passerby_paper import page
from passerby_paper.claims import rows_of, shown
from passerby_paper.page import left_of
from passerby_paper.settings import Settings


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


def test_what_noise_leaves_of_what_counts_add() -> None:
    raw = {"lower": 0.30, "upper": 0.30, "baseline_lower": 0.10, "baseline_upper": 0.10}
    assert left_of(raw, {"lower": 0.15, "upper": 0.20}) == pytest.approx((0.25, 0.5))
    assert left_of(raw, {"lower": 0.05, "upper": 0.40}) == (0.0, 1.0)
    wide = {**raw, "upper": 0.50, "baseline_lower": 0.0}
    assert left_of(wide, {"lower": 0.15, "upper": 0.20}) == pytest.approx((0.125, 2 / 3))
    silent = dict.fromkeys(raw, 0.1)
    assert left_of(silent, {"lower": 0.1, "upper": 0.1}) == (1.0, 1.0)


def test_the_page_says_whether_noise_helps() -> None:
    table = simulated(
        right=[5, 5], sigma=[None, 1.0], lower=[0.30, 0.12], upper=[0.31, 0.13],
        baseline_lower=[0.1, 0.1], baseline_upper=[0.1, 0.1],
    )  # fmt: skip
    text = page.section({"sigma": table}, SETTINGS)
    assert "Noise surely lowers the loss in 1 of 1 settings" in text
    assert "In 1 of them noise of σ = 1 surely leaves less than half of what raw counts add" in text
    assert "noise helps for sure from sigma = 1 on. Raw counts add at least 20.0 %" in text
    hidden = table.with_columns(upper=pl.Series([0.31, 0.30]))
    assert "not seen to help at any sigma up to 1" in page.section({"sigma": hidden}, SETTINGS)
    known = table.with_columns(baseline_lower=pl.lit(0.29), baseline_upper=pl.lit(0.29))
    assert (
        "What it cannot lower is the loss without counts, and that is nine tenths or more of the loss in 1 of them "
        "(simulated, 5 of 10 right): there the loss hardly changes" in page.section({"sigma": known}, SETTINGS)
    )
    assert "What it cannot lower" not in text
    assert page.section({}, SETTINGS) == ""


def test_the_page_says_whether_longer_traces_protect() -> None:
    table = simulated(steps=[2, 20], lower=[0.04, 0.001], upper=[0.041, 0.002], tight=[0.50, 0.51])
    text = page.section({"steps-half": table}, SETTINGS)
    assert "Longer traces do protect" in text
    assert (
        "the tight bound moves between 50 % and 51 %, which reads as almost constant. The loss itself falls from "
        in text
    )
    assert "from 4.0 % to 4.1 % at T = 2 to 0.1 % to 0.2 % at T = 20." in text
    moving = page.section({"steps-half": table.with_columns(tight=pl.Series([0.2, 0.9]))}, SETTINGS)
    assert "between 20 % and 90 %. The loss itself" in moving
    assert page.section({"steps-half": table.with_columns(upper=pl.Series([0.041, 0.03]))}, SETTINGS) == ""
