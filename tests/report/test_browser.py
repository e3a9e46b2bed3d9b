"""The page as a reader meets it, in chromium."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.small_audit import NASTY, OPTIONS, write_visits
from tests.cli.test_main import run
from tests.report.browser import ABSENT, CHROMIUM, Page, browser

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=ABSENT), pytest.mark.xdist_group("browser")]

CHARTS = ("published", "exposure", "advantage", "sighted", "gap", "left-sensor", "left-step", "noise")


def axe() -> Path | None:
    """axe-core's script, where it is installed: by its path in AXE_CORE, or below node_modules."""
    for path in (os.environ.get("AXE_CORE", ""), "node_modules/axe-core/axe.min.js"):
        if path and Path(path).is_file():
            return Path(path)
    return None


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_visits(folder / "visits.parquet", people=60)
    options = ("--sensor-count", "3", "--explore", "9", "--sigmas", "1", "4", "--bases", "5", "--out", "result")
    done = run("audit", "visits.parquet", *OPTIONS, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "result" / "report.html"


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    pytest.importorskip("websockets", reason="websockets drives the browser")
    with browser() as page:
        yield page


@pytest.fixture(params=[(1400, False), (1400, True), (360, False), (360, True)], ids=str)
def shown(request: pytest.FixtureRequest, tab: Page, report: Path) -> Page:
    width, dark = request.param
    tab.requests.clear()
    tab.complaints.clear()
    tab.open(report, width, dark=dark)
    return tab


def test_nothing_leaves_the_page_and_nothing_is_complained_about(shown: Page, report: Path) -> None:
    assert {url for url in shown.requests if not url.startswith(("data:", "blob:"))} == {report.as_uri()}
    assert shown.complaints == []


def test_all_figures_are_drawn(shown: Page) -> None:
    drawn = shown.run(
        "[...document.querySelectorAll('.chart svg')].filter(s => s.querySelectorAll('path').length > 3).length"
    )
    assert drawn == len(CHARTS)


def test_no_text_is_cut(shown: Page) -> None:
    """Nothing is wider than the window, and no letter of a chart lies outside its picture."""
    assert shown.run("document.documentElement.scrollWidth <= innerWidth")
    outside = shown.run(
        "[...document.querySelectorAll('.chart svg')].flatMap(svg => { const box = svg.getBoundingClientRect();"
        "return [...svg.querySelectorAll('text')].filter(t => { const r = t.getBoundingClientRect();"
        "return r.width && getComputedStyle(t).opacity !== '0' && t.getAttribute('opacity') !== '0' &&"
        "(r.left < box.left - 2 || r.right > box.right + 2); }).map(t => t.textContent); })"
    )
    assert outside == []


def test_letters_stand_out(shown: Page) -> None:
    """Letters of charts follow the page's colours, light and dark."""
    colours = shown.run(
        "[...new Set([...document.querySelectorAll('.chart svg text')].map(t => getComputedStyle(t).fill))]"
    )
    assert colours == [shown.run("getComputedStyle(document.body).color")]


def test_places_are_text(tab: Page, report: Path) -> None:
    tab.open(report)
    assert tab.run("document.querySelector('main').textContent").count(NASTY[0]) >= 1
    assert tab.run("[...document.scripts].every(s => !s.textContent.startsWith('alert'))")


def test_hovering_tells_the_numbers(tab: Page, report: Path) -> None:
    tab.open(report)
    spot = tab.run(
        """(() => {
          document.getElementById('figure-left-sensor').scrollIntoView();
          const bars = [...document.querySelectorAll('#chart-left-sensor svg [class*=mark-rect].role-mark path')];
          const wide = bars.sort((a, b) => b.getBBox().width - a.getBBox().width)[0];
          const r = wide.getBoundingClientRect();
          return [r.left + r.width / 2, r.top + r.height / 2];
        })()"""
    )
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=spot[0], y=spot[1])
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=spot[0] + 1, y=spot[1])
    tab.wait("document.querySelector('#vg-tooltip-element.visible') !== null", 10)
    assert "fall" in tab.run("document.querySelector('#vg-tooltip-element').textContent")


def test_all_controls_are_reached_by_keyboard(tab: Page, report: Path) -> None:
    tab.open(report)
    wanted = tab.run("document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]').length")
    hidden = tab.run("document.querySelectorAll('details:not([open]) [tabindex=\"0\"]').length")
    reached = set()
    for _ in range(wanted + 5):
        for kind in ("keyDown", "keyUp"):
            tab.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        reached.add(
            tab.run(
                "[...document.querySelectorAll('a[href], button, summary, "
                '[tabindex="0"]\')].indexOf(document.activeElement)'
            )
        )
    assert len(reached - {-1}) == wanted - hidden


def test_printing_opens_the_tables(tab: Page, report: Path) -> None:
    tab.open(report)
    tab.run("dispatchEvent(new Event('beforeprint'))")
    assert tab.run("document.querySelectorAll('figure details:not([open])').length") == 0
    tab.run("dispatchEvent(new Event('afterprint'))")
    assert tab.run("document.querySelectorAll('figure details:not([open])').length") == len(CHARTS)


@pytest.mark.skipif(axe() is None, reason="axe-core is not installed here (npm install axe-core, or set AXE_CORE)")
def test_no_serious_accessibility_fault(shown: Page) -> None:
    script = axe()
    assert script is not None
    shown.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    shown.run(script.read_text(encoding="utf-8") + "; 1")
    faults = shown.run(
        "axe.run().then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html).join(' | ')))"
    )
    assert faults == []
