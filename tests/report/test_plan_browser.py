"""The page of a plan in a real browser: it loads nothing, complains of nothing, and tells a mark when pointed at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.plans.towns import town, wanted
from tests.report.browser import ABSENT, CHROMIUM, Page, browser, cut

import passerby as pb
from passerby.audits.validation import check_settings
from passerby.plans.record import record_of
from passerby.plans.settings import PlanSettings
from passerby.report.plan_page import render_plan

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=ABSENT)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    people, limits = town(2, people=30), (pb.Limit(share=0.2, added=0.05),)
    found = pb.plan(people, wanted(people), limits, 0, levers=["rounding", "places"], budget=1e6, workers=1)
    settings = PlanSettings(check_settings({"visits": "v.csv", "misses": 0}), limits)
    path = tmp_path_factory.mktemp("plan") / "plan.html"
    path.write_text(render_plan(record_of(found, people, settings, "6h"), settings), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("width", "dark"), [(1200, False), pytest.param(1200, True, marks=pytest.mark.thorough), (380, False)]
)
def test_the_page_is_drawn_and_loads_nothing(page: Page, file: Path, width: int, dark: bool) -> None:
    page.open(file, width, dark=dark)
    assert page.complaints == []
    assert [request for request in page.requests if not request.startswith(("file:", "data:"))] == []
    assert cut(page) == []
    assert page.run("document.querySelectorAll('#chart-frontier-1 svg .mark-symbol path').length") > 4


def test_a_mark_tells_what_it_is(page: Page, file: Path) -> None:
    page.open(file, 1200)
    page.run("document.querySelector('#chart-frontier-1').scrollIntoView({block: 'center'})")
    box = page.run(
        "(() => { const marks = document.querySelectorAll('#chart-frontier-1 svg .mark-symbol.role-mark path');"
        " const b = marks[marks.length - 1].getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] - 1, y=box[1])
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    page.wait("(document.querySelector('#vg-tooltip-element')?.textContent ?? '').includes('publish')")
