"""Answers to questions in a real browser: drawn, not cut, and told when pointed at, on screens of any width."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.answers import presence
from tests.report.browser import ABSENT, CHROMIUM, Page, browser, cut
from tests.report.small_report import small_evidence

from passerby.report.page import built, fill

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=ABSENT), pytest.mark.xdist_group("browser")]

FIGURES = ("presence", "presence-ways", "presence-hours", "in-data", "each-step")


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    pytest.importorskip("websockets", reason="websockets drives the browser")
    with browser() as page:
        yield page


@pytest.fixture(scope="module", params=["few", "long"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with three places, and one with many of which some have long names."""
    made = small_evidence()
    if request.param == "long":
        names = ("Hospital of the Sisters of Mercy, northern wing", *made.people.places[1:])
        some = presence(names[:10])
        people, summary = replace(made.people, places=names), made.summary.model_copy(update={"presence": some})
        made = replace(made, people=people, summary=summary)
    path = tmp_path_factory.mktemp("answers") / "report.html"
    path.write_text(fill(made, built(made)), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (360, True)])
def test_answers_are_drawn_and_not_cut(tab: Page, file: Path, width: int, dark: bool) -> None:
    tab.open(file, width, dark=dark)
    assert tab.complaints == []
    for key in FIGURES:
        marks = tab.run(f"document.querySelectorAll('#chart-{key} svg [class*=mark-].role-mark path').length")
        lines = tab.run(f"document.querySelectorAll('#chart-{key} svg [class*=mark-].role-mark line').length")
        assert marks + lines > 1, key
    assert cut(tab) == []


def test_pointing_at_a_place_tells_its_numbers(tab: Page, file: Path) -> None:
    tab.open(file)
    x, y = tab.run(
        """(() => {
          document.getElementById('figure-presence').scrollIntoView();
          const mark = document.querySelector('#chart-presence svg [class*=mark-symbol].role-mark path');
          const r = mark.getBoundingClientRect();
          return [r.left + r.width / 2, r.top + r.height / 2];
        })()"""
    )
    for shift in (0, 1):
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + shift, y=y)
    tab.wait("document.querySelector('#vg-tooltip-element.visible') !== null", 10)
    assert "found, at least" in tab.run("document.querySelector('#vg-tooltip-element').textContent")
