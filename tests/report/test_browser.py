"""The page as a reader meets it, in chromium. Each check is tried on a damaged page too: it must notice."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.cli.small_audit import NASTY, OPTIONS, write_visits
from tests.cli.test_main import run_here
from tests.report.browser import ABSENT, CHROMIUM, Page, browser, cut

from passerby.audits.results import Rows
from passerby.audits.summary import Summary
from passerby.runs.notebook import Report

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=ABSENT), pytest.mark.xdist_group("browser")]

CHARTS = (
    *("presence", "presence-ways", "presence-hours", "in-data", "weeks", "each-step"),
    *("published", "exposure", "advantage", "reliability", "promises", "sighted", "gap"),
    *("left-count", "left-sensor", "left-step", "noise", "adversaries", "known-shares"),
)
CONTROLS = "[...document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]')]"


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
    tried = ("--explore", "9", "--sigmas", "1", "4", "--bases", "5", "--backtest", "40", "--origins", "2")
    options = ("--sensor-count", "3", "--out", "result", "--budget", "1e7", *tried, "--adversaries", "20")
    # With chosen habits these people are found anyway, and no count stands out.
    done = run_here("audit", "visits.parquet", *OPTIONS, "--habits", "paper", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "result" / "report.html"


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    pytest.importorskip("websockets", reason="websockets drives the browser")
    with browser() as page:
        yield page


@pytest.fixture(
    scope="class",
    params=[
        (1400, False),
        (360, True),
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ((1400, True), (360, False))),
    ],
    ids=str,
)
def shown(request: pytest.FixtureRequest, tab: Page, report: Path) -> Page:
    width, dark = request.param
    tab.open(report, width, dark=dark)
    return tab


def asked_for(page: Page) -> set[str]:
    """What the page asked for besides itself and what it holds."""
    own = page.run("location.href")
    return {url for url in page.requests if url != own and not url.startswith(("data:", "blob:"))}


def drawn(page: Page) -> list[str]:
    """The figures that hold a chart with marks and letters."""
    found: list[str] = page.run(
        "[...document.querySelectorAll('.chart')].filter(c => c.querySelectorAll('svg .role-mark path').length > 1"
        " && c.querySelectorAll('svg text').length > 3).map(c => c.id.replace('chart-', ''))"
    )
    return found


def faults(page: Page) -> list[str]:
    """Serious faults that axe-core finds."""
    script = axe()
    assert script is not None
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.run(script.read_text(encoding="utf-8") + "; 1")
    found: list[str] = page.run(
        "axe.run().then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html).join(' | ')))"
    )
    return found


class TestAsItIs:
    """The page is opened once for all of these, which change nothing but what is unfolded."""

    def test_nothing_leaves_the_page_and_nothing_is_complained_about(self, shown: Page) -> None:
        assert asked_for(shown) == set()
        assert shown.complaints == []

    def test_all_figures_are_drawn(self, shown: Page) -> None:
        assert drawn(shown) == list(CHARTS)

    def test_no_text_is_cut(self, shown: Page) -> None:
        assert cut(shown) == []
        shown.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert cut(shown) == []

    def test_letters_stand_out(self, shown: Page) -> None:
        """Letters of charts follow the page's colours, light and dark."""
        colours = shown.run(
            "[...new Set([...document.querySelectorAll('.chart svg text')].map(t => getComputedStyle(t).fill))]"
        )
        assert colours == [shown.run("getComputedStyle(document.body).color")]

    @pytest.mark.skipif(axe() is None, reason="axe-core is not installed here (npm install axe-core, or set AXE_CORE)")
    def test_no_serious_accessibility_fault(self, shown: Page) -> None:
        assert faults(shown) == []


def test_the_checks_notice_damage(tab: Page, report: Path, tmp_path: Path) -> None:
    page = report.read_text(encoding="utf-8")
    harm = (
        "<main><img src='http://127.0.0.1:9/a.png'><p style='white-space: nowrap'>" + "long " * 200 + "</p>"
        "<p style='width: 3em; overflow: hidden; white-space: nowrap'>boxed in</p>"
    )
    harmed = page.replace("<main>", harm).replace('id="chart-gap"', 'id="chart-none"')
    harmed = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", harmed)
    harmed = harmed.replace('"use strict";', 'console.error("oh");', 1)
    (tmp_path / "damaged.html").write_text(harmed, encoding="utf-8")
    tab.open(tmp_path / "damaged.html", 360, drawn=False)
    tab.wait("document.querySelectorAll('.chart svg').length >= 3")
    assert "http://127.0.0.1:9/a.png" in asked_for(tab)
    assert any("oh" in complaint for complaint in tab.complaints)
    assert "gap" not in drawn(tab)
    found = cut(tab)
    assert "boxed in" in found
    assert "the page is wider than the window" in found
    if axe() is not None:
        assert any(fault.startswith("image-alt") for fault in faults(tab))
    # As it is, the page's own policy stops what would leave it, and says so.
    (tmp_path / "asking.html").write_text(page.replace("<main>", harm), encoding="utf-8")
    tab.open(tmp_path / "asking.html")
    assert any("Content Security Policy" in complaint for complaint in tab.complaints)


@pytest.mark.parametrize(
    "code",
    [
        "eval('1 + 1')",
        pytest.param("new Function('return 2')()", marks=pytest.mark.thorough),
        pytest.param("setTimeout('window.late = 2', 0)", marks=pytest.mark.thorough),
    ],
)
def test_no_text_becomes_code(tab: Page, report: Path, code: str) -> None:
    """The page's policy forbids eval, also to its own scripts; without the policy the same is allowed."""
    told = f"(() => {{ try {{ {code}; return 'done'; }} catch (e) {{ return e.name; }} }})()"

    def tried(path: Path) -> str:
        tab.open(path)
        answer = tab.call("Runtime.evaluate", expression=told, returnByValue=True, allowUnsafeEvalBlockedByCSP=False)
        tab.wait("new Promise(done => setTimeout(() => done(true), 50))")
        return "done" if tab.run("window.late === 2") else str(answer["result"]["value"])

    free = report.parent / "free.html"
    page = report.read_text(encoding="utf-8")
    free.write_text(re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", page), encoding="utf-8")
    assert tried(free) == "done"
    refused = tried(report)
    assert refused == "EvalError" or (code.startswith("setTimeout") and tab.run("window.late === undefined"))


def test_a_script_that_is_slipped_in_does_not_run(tab: Page, report: Path, tmp_path: Path) -> None:
    page = report.read_text(encoding="utf-8")
    slipped = page.replace(
        "<main>", "<main><script>window.slipped = 1</script><img src=x onerror='window.slipped = 1'>"
    )
    (tmp_path / "slipped.html").write_text(slipped, encoding="utf-8")
    tab.open(tmp_path / "slipped.html")
    assert tab.run("window.slipped === undefined")
    assert any("Content Security Policy" in complaint for complaint in tab.complaints)


def test_the_internal_page_is_marked_on_screen_and_on_paper(tab: Page, report: Path) -> None:
    tab.open(report.with_name("internal.html"), 360)
    assert tab.complaints == []
    assert cut(tab) == []
    tab.run("scrollTo(0, 3000)")
    box = "document.querySelector('.internal').getBoundingClientRect()"
    assert tab.run(f"[scrollY > 1000, {box}.top, {box}.width === innerWidth]") == [True, 0, True]
    tab.call("Emulation.setEmulatedMedia", media="print")
    # A box that is fixed is printed on every page; it stands beside the text and not on it.
    assert tab.run("getComputedStyle(document.querySelector('.internal')).position") == "fixed"
    assert tab.run(f"{box}.right <= document.querySelector('main').getBoundingClientRect().left + 16")
    tab.call("Emulation.setEmulatedMedia", media="")


def test_places_are_text(tab: Page, report: Path) -> None:
    tab.open(report)
    assert tab.run("document.querySelector('main').textContent").count(NASTY[0]) >= 1
    assert tab.run(
        "[...document.querySelectorAll('#chart-published svg text')].map(t => t.textContent).join('')"
    ).count(NASTY[0])
    assert tab.run("[...document.scripts].every(s => !s.textContent.startsWith('alert'))")
    assert tab.dialogs == []


def middle(page: Page, figure: str, marks: str) -> tuple[float, float]:
    """The middle of the widest mark of a figure, once it is in view."""
    x, y = page.run(
        f"""(() => {{
          document.getElementById('figure-{figure}').scrollIntoView();
          const marks = [...document.querySelectorAll('#chart-{figure} svg {marks}')];
          const widest = marks.sort((a, b) => b.getBBox().width - a.getBBox().width)[0];
          const r = widest.getBoundingClientRect();
          return [r.left + r.width / 2, r.top + r.height / 2];
        }})()"""
    )
    return x, y


@pytest.mark.parametrize(
    ("figure", "told"),
    [
        ("left-sensor", "fall"),
        pytest.param("left-count", "begins", marks=pytest.mark.thorough),
        ("published", "people"),
    ],
)
def test_hovering_tells_the_numbers(tab: Page, report: Path, figure: str, told: str) -> None:
    tab.open(report)
    x, y = middle(tab, figure, "[class*=mark-rect].role-mark path")
    for shift in (0, 1):
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + shift, y=y)
    tab.wait("document.querySelector('#vg-tooltip-element.visible') !== null", 10)
    assert told in tab.run("document.querySelector('#vg-tooltip-element').textContent")


@pytest.mark.parametrize(
    "figure", ["exposure", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("sighted", "gap", "noise"))]
)
def test_the_wheel_zooms_only_when_asked_to(tab: Page, report: Path, figure: str) -> None:
    tab.open(report)
    ticks = (
        f"[...document.querySelectorAll('#chart-{figure} svg .role-axis-label text')].map(t => t.textContent).join()"
    )
    x, y = middle(tab, figure, ".background")
    before, where = tab.run(ticks), tab.run("scrollY")
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    tab.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-400, modifiers=2)
    tab.wait(f"{ticks} !== {before!r}", 10)
    assert tab.run("scrollY") == where
    zoomed = tab.run(ticks)
    tab.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
    tab.wait(f"scrollY < {where}", 10)
    assert tab.run(ticks) == zoomed


def press(page: Page, key: str, code: int) -> None:
    text = {"text": "\r"} if key == "Enter" else {}
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)


def test_all_controls_are_reached_and_used_by_keyboard(tab: Page, report: Path) -> None:
    tab.open(report)
    wanted = tab.run(f"{CONTROLS}.length")
    hidden = tab.run("document.querySelectorAll('details:not([open]) [tabindex=\"0\"]').length")
    closed = tab.run("document.querySelectorAll('details:not([open])').length")
    reached = set()
    for _ in range(wanted + 5):
        press(tab, "Tab", 9)
        reached.add(tab.run(f"{CONTROLS}.indexOf(document.activeElement)"))
        if tab.run("document.activeElement.matches('details:not([open]) > summary') && !window.used"):
            tab.run("window.used = 1")
            press(tab, "Enter", 13)
            tab.wait(f"document.querySelectorAll('details:not([open])').length === {closed - 1}", 10)
            press(tab, "Enter", 13)
            tab.wait(f"document.querySelectorAll('details:not([open])').length === {closed}", 10)
        outlined = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
        assert tab.run(f"document.activeElement === document.body || {outlined}")
    assert len(reached - {-1}) == wanted - hidden
    assert tab.run("window.used") == 1


def test_numbers_and_pictures_can_be_saved(tab: Page, report: Path, tmp_path: Path) -> None:
    tab.open(report)
    tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for number, (control, name) in enumerate([("a[download]", "left-out-count.csv"), ("button", "left-count.svg")]):
        tab.run(f"document.querySelector('#figure-left-count {control}').click()")
        end = time.monotonic() + 20
        while [file.name for file in tmp_path.iterdir()].count(name) == 0:
            assert time.monotonic() < end, number
            time.sleep(0.1)
    head = (tmp_path / "left-out-count.csv").read_text().splitlines()
    assert head[0] == "place,step,start,with_all,without,fall,error,people"
    assert len(head) == 1 + 12
    assert "<svg" in (tmp_path / "left-count.svg").read_text()


def test_a_notebook_shows_the_page(tab: Page, report: Path, tmp_path: Path) -> None:
    page = Report(Rows.here(pl.DataFrame()), Summary.model_construct(), report.read_text(encoding="utf-8"))
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><title>x</title>{page._repr_html_()}", encoding="utf-8")
    tab.open(tmp_path / "notebook.html", drawn=False)
    inside = "document.querySelector('iframe')?.contentDocument?.documentElement"
    tab.wait(f"{inside}?.getAttribute('data-drawn') === '{len(CHARTS)}'")
    assert tab.complaints == []


def test_printing_opens_the_tables(tab: Page, report: Path) -> None:
    tab.open(report)
    closed = tab.run("document.querySelectorAll('details:not([open])').length")
    assert closed == len(CHARTS) + 2  # and all settings, and habits in detail
    tab.run("dispatchEvent(new Event('beforeprint'))")
    assert tab.run("document.querySelectorAll('details:not([open])').length") == 0
    tab.run("dispatchEvent(new Event('afterprint'))")
    assert tab.run("document.querySelectorAll('details:not([open])').length") == closed
