import re
from dataclasses import replace
from pathlib import Path

import altair as alt
import polars as pl
import pytest
from tests.report.small_report import saved, small_evidence, specs, summed

import passerby as pb
from passerby.audits.findings import Findings
from passerby.audits.results import Rows
from passerby.audits.validation import check_settings
from passerby.errors import PasserbyError
from passerby.report import section as section_file
from passerby.report.evidence import Evidence
from passerby.report.page import render, render_internal
from passerby.report.section import Section, rests_on, sheet
from passerby.report.sections import SECTIONS
from passerby.report.words import question
from passerby.runs.notebook import Report
from passerby.support.rule_of_five import FEW


@pytest.fixture(scope="module")
def made() -> Evidence:
    return small_evidence()


def shown(made: Evidence) -> str:
    return render(made.table, made.people, made.release, made.settings, made.summary, made.findings)


@pytest.fixture(scope="module")
def page(made: Evidence) -> str:
    return shown(made)


def test_the_questions_come_in_order(page: str) -> None:
    places = [
        page.index(question)
        for question in (
            "Can it be told that somebody was at a place?</h2>",
            "Is somebody counted at all?</h2>",
            "When are people easiest to find?</h2>",
            "What else was asked</h2>",
            "Singling out, linkability, inference</h2>",
            "What would be published?</h2>",
            "How exposed are people?</h2>",
            "Who is most exposed, and why?</h2>",
            "Which sensor and which step reveal most?</h2>",
            "What would noise or rounding do?</h2>",
            "What does differential privacy say?</h2>",
            "What is assumed, and what is not covered</h2>",
            "Settings, and how to run it again</h2>",
        )
    ]
    assert places == sorted(places)


def test_every_chart_follows_its_schema(page: str) -> None:
    for key, spec in specs(page).items():
        assert alt.Chart.from_dict(spec).to_dict(), key


def test_every_figure_has_a_sentence_and_a_table(page: str) -> None:
    parts = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(parts) == 28
    for part in parts:
        assert re.search(r"<figcaption>\s*<h3>[^<]+</h3>\s*<p>[^<]{20,}</p>", part)
        assert part.count("<td>") >= 3
        assert all(len(rows) > 0 for rows in saved(part).values())
        assert len(saved(part)) == 1


def test_a_section_is_one_file() -> None:
    folder = Path(section_file.__file__).parent / "sections"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {section.key for section in SECTIONS} == files
    assert len({section.title for section in SECTIONS}) == len(SECTIONS)
    assert all(isinstance(section, Section) for section in SECTIONS)


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_evaluated(page: str) -> None:
    head = page[: page.index('<script type="application/json"')]
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', head)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    rules = dict(rule.split(maxsplit=1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    assert rules["script-src"].count("'sha256-") == page.count("<script>") == 2
    assert not re.search(r"https?:|\*|unsafe-eval", policy[1])


def test_titles_are_escaped(page: str) -> None:
    assert "A &lt;b&gt;town&lt;/b&gt;" in page
    assert "<b>town" not in page


def test_a_page_without_trials_and_without_people(made: Evidence) -> None:
    nobody = made.table.with_columns(pl.lit(None, pl.Float64).alias("lower"), status=pl.lit("refused"))
    summary = summed(nobody, made.people, made.release, made.settings)
    page = render(nobody, made.people, made.release, made.settings, summary)
    assert '<h2 id="exposure">' not in page
    assert "60: 60 could not be measured" in page
    assert "Nobody could be measured." in page
    # What is left out is said, with the reason.
    assert "How exposed are people? Because fewer than 5 people could be measured." in page
    assert "What would noise or rounding do? Because no other way to publish was tried" in page


def test_few_people_are_not_told_of(made: Evidence) -> None:
    people = made.people
    few = made.table.with_columns(
        lower=pl.when(pl.int_range(pl.len()) < FEW - 1).then("lower"),
        status=pl.when(pl.int_range(pl.len()) < FEW - 1).then("status").otherwise(pl.lit("no")),
    )
    summary = summed(few, people, made.release, made.settings)
    assert summary.loss is None
    assert {above.loss_lower for above in summary.above} == {None}
    page = render(few, people, made.release, made.settings, summary, tried_on(made, FEW - 1))
    assert "Too few people to tell of: fewer than 5 were measured." in page
    assert "55 could not be measured" in page
    assert "chances above" not in page
    assert {"exposed", "why", "which", "noise"}.isdisjoint(re.findall(r'<h2 id="(\w+)"', page))


def tried_on(made: Evidence, people: int) -> Findings:
    assert made.findings is not None
    tried = made.findings.mechanisms.with_columns(people=pl.lit(people, pl.Int64))
    return replace(made.findings, people=people, mechanisms=tried)


def test_habits_are_told_in_plain_words_first(page: str) -> None:
    told = page.partition("<dt>Habits</dt><dd>")[2].partition("</dd>")[0]
    plain, _, detail = told.partition("<details><summary>In detail</summary>")
    assert plain.startswith("a person&#39;s own moves so far")
    assert "worth" not in plain
    assert "moves&#39; worth of everybody&#39;s frequencies" in detail


def test_the_internal_page_says_that_it_is(made: Evidence, page: str) -> None:
    internal = render_internal(made.table, made.people, made.release, made.settings, made.summary, made.findings)
    assert "Internal: holds true counts. Not to be shared" in internal
    assert "<title>A &lt;b&gt;town&lt;/b&gt; (internal)</title>" in internal
    assert "Internal" not in page.split('id="specs"')[0]
    # The rest is the same: what is asked, and what is answered in words.
    assert re.findall(r"<h[23][^>]*>[^<]+", internal) == re.findall(r"<h[23][^>]*>[^<]+", page)


def test_a_row_that_rests_on_few_people_is_refused() -> None:
    rows = pl.DataFrame({"share": [0.5, 0.1], "people": [20, FEW - 1]})
    with pytest.raises(PasserbyError, match="rests on 4 people; 5 is the least"):
        rests_on(rows)
    with pytest.raises(PasserbyError, match="rests on 4 people"):
        sheet(rows, {"share": ("share", str)}, "x.csv")
    assert rests_on(rows, 0) is rows


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\r=1", "\n=1"])
def test_names_that_look_like_formulas_are_quoted(name: str) -> None:
    table = sheet(pl.DataFrame({"place": [name, "a=b"], "people": [5, 5]}), {"place": ("place", str)}, "x.csv")
    assert f"'{name}" in table.numbers
    assert "'a=b" not in table.numbers


def test_who_may_miss_nothing_must_name_all_steps(made: Evidence) -> None:
    summary = made.summary
    assert question(summary.misses, summary.steps) == "where a person was at 3 or more of the 4 steps"
    assert question(0, summary.steps) == "where a person was at all 4 steps"


def test_steps_of_whole_days_are_called_by_their_day(made: Evidence) -> None:
    city = pb.simulate_city(6, 20, 5, start="2024-03-01")
    people = pb.fit_people(city, window="1d", origin="2024-03-01", places=9, min_active=1, holdout=2)
    assert replace(made, people=people).steps == ["2024-03-04", "2024-03-05"]


def test_a_report_is_saved_as_it_is(made: Evidence, tmp_path: Path) -> None:
    report = Report(Rows.here(made.table), made.summary, "<!DOCTYPE html><p>café ☕</p>")
    report.save(str(tmp_path / "report.html"))
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.page
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert re.fullmatch(r"Report\(people=60, mean_loss=0\.\d+ to 0\.\d+\)", repr(report))


def test_the_template_and_the_script_are_installed() -> None:
    folder = Path(section_file.__file__).parent
    assert (folder / "template.html").exists()
    assert (folder / "page.js").exists()


def test_alerts_stand_on_top(made: Evidence) -> None:
    warned = replace(made, summary=made.summary.model_copy(update={"alerts": ["The last step is <left out>."]}))
    page = shown(warned)
    assert page.index("Alert: The last step is &lt;left out&gt;.") < page.index("The counts give away")
    turned = replace(made, summary=made.summary.model_copy(update={"alerts": ["It is \u202eg\nate."]}))
    assert "Alert: It is \ufffdg\ufffdate." in shown(turned)
    assert "\ufffd" not in shown(made)


def test_hostile_names_of_places_do_no_harm(made: Evidence) -> None:
    """Long names, line ends, marks that turn the direction of text, and markup."""
    nasty = ("x" * 5000, "y\u202eevil", "new\nline", "</script><img src=x onerror=alert(1)>", "{{7*7}}", "\x1b[31mred")
    people = replace(made.people, places=(*nasty, *made.people.places[len(nasty) :]))
    release = pb.Release([list(range(6))] * 4)
    table = pb.audit(people, release, 1, workers=1)
    summary = summed(table, people, release, made.settings)
    page = render(table, people, release, made.settings, summary)
    assert not {"\u202e", "\x1b"} & {*page}
    assert "x" * 100 not in page
    assert "<img src=x" not in page
    assert "49" not in page.split("7*7")[0][-5:]
    assert max(spec["height"] for spec in specs(page).values()) < 1000


def test_paths_are_on_no_page_that_is_shared_and_files_only_by_name(made: Evidence) -> None:
    given = {
        "visits": "ann smith/her visits.csv",
        "window": "1h",
        "published": "ann smith/counts.csv",
        "out": "ann smith",
    }
    settings = check_settings(given)
    arguments = (made.table, made.people, made.release, settings, made.summary)
    shared, internal = render(*arguments), render_internal(*arguments)
    assert "ann smith" not in shared + internal
    assert "her visits.csv" not in shared
    assert "counts.csv&#34;" not in shared
    assert "visits = &#34;her visits.csv&#34;" in internal
    assert "published = &#34;counts.csv&#34;" in internal
