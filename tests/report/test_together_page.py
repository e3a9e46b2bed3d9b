"""The page of several tables: means and shares of five people or more, and nobody's name."""

import base64
import html
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.report.browser import ABSENT, CHROMIUM, browser, cut

import passerby as pb
from passerby.audits.together import Together
from passerby.report.together_page import ADDED, added, in_words, render_together, sections

RELEASES = {"wards": pb.Release([[0, 1], [2]]), "flows": pb.Release(counts=[pb.Moved([0], [1, 2], 0)], steps=2)}


def of(people: int, gain: float = 0.2, gained: int = 20, measured: int | None = None) -> Together:
    """People of whom so many gain by both tables; each has an own baseline, so that a value tells whose it is."""
    rows = []
    for person in range(people):
        lower = 0.3 + 0.001234 * person
        for name in ("wards", "flows", "together"):
            more = gain if name == "together" and person < gained else 0.0
            known = measured is None or person < measured
            ends = {"lower": lower + more, "upper": lower + more + 0.005} if known else {"lower": None, "upper": None}
            base = {"baseline_lower": 0.2, "baseline_upper": 0.21}
            rows.append({"person": f"agent-{person:03}", "release": name, "status": "ok", **ends, **base})
    return Together(pl.DataFrame(rows), ("wards", "flows"), 0, 2)


def numbers_of(page: str) -> str:
    """The page with its saved tables."""
    saved = re.findall(r"base64,([A-Za-z0-9+/=]+)", page)
    return page + "".join(base64.b64decode(each).decode("utf-8", "ignore") for each in saved)


def test_nobody_is_named_and_no_value_is_anybodys() -> None:
    page = numbers_of(render_together(of(60), RELEASES, ["--misses", "0"]))
    assert "agent-" not in page
    for person in range(60):
        assert f"{0.3 + 0.001234 * person:.6f}" not in page
    assert "passerby together wards flows --misses 0" in page
    assert "All numbers" not in page
    assert "1 number of flows, raw counts" in page


def test_small_groups_are_not_told() -> None:
    """Three people gain: a share of them is told at no level, and without five people nothing is."""
    found = added(of(60, gained=3))
    assert found["most"].to_list() == [None, None, None, 0.0, 0.0]
    few = numbers_of(render_together(of(4), RELEASES, []))
    assert "Of fewer than 5 people, nothing is told." in few
    assert "figure-tables" not in few


def test_what_is_added() -> None:
    table = added(of(60))
    ends = {level: (sure, most) for level, sure, most in table.select("level", "sure", "most").iter_rows()}
    assert ends[0.1] == pytest.approx((1 / 3, 1 / 3))
    assert ends[0.25] == (0.0, 0.0)
    assert table["level"].to_list() == list(ADDED)
    sure = added(of(60, gain=0.052))
    assert sure["sure"][1] == 0.0
    assert sure["most"][1] == pytest.approx(1 / 3)
    nothing = render_together(of(60, gain=-0.02), RELEASES, [])
    assert "They add 1 point or more to nobody." in nothing


def test_people_who_could_not_be_measured_are_told_in_fives() -> None:
    page = render_together(of(60, measured=58), RELEASES, [])
    assert "60: about 55 measured with each table and with all; 5 or fewer could not be measured" in page
    assert of(60, measured=2).shared() == []
    found = of(60, measured=58)
    assert {row["people"] for row in found.shared()} == {55}
    shares = [value for row in found.shared() for name, value in row.items() if name.startswith("above_")]
    assert all(round(1000 * share, 6).is_integer() for share in shares if share is not None)
    assert found.lines()[0].startswith("55 people.")
    rows = [section.content.figures[0].sheet.rows for section in sections(found, RELEASES)[:2]]
    assert all("55" in row and "58" not in row for table in rows for row in table)


def test_small_gaps_look_small() -> None:
    """Of chances of 98.2 % and 98.6 %, too: the picture begins at 0."""
    spec = sections(of(60), RELEASES)[0].content.figures[0].spec
    assert spec is not None
    scales = [layer["encoding"]["x"].get("scale") for layer in spec["layer"]]
    assert [scale for scale in scales if scale] == [{"zero": True, "nice": True}] * 2


def test_words_of_tables() -> None:
    counts = [pb.Present([0, 1], 0), pb.Visitors([2], range(2)), pb.Moved([0], [1], 0, mechanism=pb.Rounding(5))]
    words = in_words(pb.Release(counts=counts, steps=2))
    kinds, ways = words.split(", raw")
    assert kinds == "1 number of people in zones, 1 of different visitors and 1 of flows"
    assert ways == " counts; counts rounded to multiples of 5"


@pytest.mark.skipif(CHROMIUM is None, reason=ABSENT)
def test_the_page_is_drawn_and_loads_nothing(tmp_path: Path) -> None:
    file = tmp_path / "together.html"
    rng = np.random.default_rng(0)
    file.write_text(render_together(of(60, gain=float(rng.uniform(0.2, 0.3))), RELEASES, []), encoding="utf-8")
    with browser() as page:
        for width in (1200, 380):
            page.open(file, width)
            assert page.complaints == []
            assert [each for each in page.requests if not each.startswith(("file:", "data:"))] == []
            assert cut(page) == []
            assert page.run("document.querySelectorAll('#chart-tables svg .mark-symbol path').length") == 3
            assert page.run("document.querySelectorAll('#chart-added svg .mark-rect path').length") == 10


def test_tables_are_told_by_their_names_in_quotes() -> None:
    """A folder may be called `audit`, and 'with audit' would be read as a word."""
    page = html.unescape(render_together(of(60), RELEASES, []))
    assert re.search(r'% with "wards", [^"]*% with "flows", and [^"]*% with all of them together\.', page)
