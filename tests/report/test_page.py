import base64
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits.settings import AuditSettings
from passerby.audits.summary import summarise
from passerby.audits.trials import candidates, explore
from passerby.audits.validation import check_settings
from passerby.report import data, figures, render, trials, words
from passerby.report.notebook import Report

Made = tuple[pl.DataFrame, pb.People, pb.Release, AuditSettings]


@pytest.fixture(scope="module")
def made() -> Made:
    city = pb.simulate_city(60, 20, 4, seed=5)
    people = pb.fit_people(city, window="3h", places=12, min_active=2, holdout=4)
    release = pb.Release([[0, 1]] * 4)
    settings = check_settings(
        {"visits": "v.csv", "holdout": 4, "explore": 10, "sigmas": [1, 4], "title": "A <b>town</b>"}
    )
    return pb.audit(people, release, 1, workers=1), people, release, settings


@pytest.fixture(scope="module")
def page(made: Made) -> str:
    table, people, release, settings = made
    rules = candidates(settings.sigmas, settings.bases)
    found = explore(people, release, rules, settings.measurement, settings.explore, workers=1)
    summary = summarise(table, people, release, misses=1, window=settings.window)
    return render(table, people, release, settings, summary, found)


def test_the_questions_come_in_order(page: str) -> None:
    places = [
        page.index(question)
        for question in (
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


def test_every_figure_has_a_sentence_and_a_table(page: str) -> None:
    parts = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(parts) == 12
    for part in parts:
        assert re.search(r"<figcaption>\s*<h3>[^<]+</h3>\s*<p>[^<]{20,}</p>", part)
        assert part.count("<td>") >= 3
        link = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"', part)
        assert link
        assert len(base64.b64decode(link[1]).decode().splitlines()) > 1


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    head = page[: page.index('<script type="application/json"')]
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', head)
    assert "default-src 'none'" in page


def test_titles_are_escaped(page: str) -> None:
    assert "A &lt;b&gt;town&lt;/b&gt;" in page
    assert "<b>town" not in page


def test_a_page_without_trials_and_without_people(made: Made) -> None:
    table, people, release, settings = made
    nobody = table.with_columns(pl.lit(None, pl.Float64).alias("lower"), status=pl.lit("refused"))
    page = render(nobody, people, release, settings, summarise(nobody, people, release, misses=1, window="3h"))
    assert "How exposed are people?" not in page
    assert "60: 60 could not be measured" in page
    assert "Nobody could be measured." in page


def test_small_groups_are_not_told() -> None:
    table = pl.DataFrame(
        {"baseline_lower": [0.1] * 20, "lower": [0.2] * 17 + [0.9] * 3, "upper": [0.5] * 10 + [1.0] * 10}
    )
    rows = data.thresholds(table, (0.15, 0.8)).rows()
    assert rows == [(0.15, 0.0, 1.0, 1.0), (0.8, 0.0, None, 0.5)]


def test_small_counts_are_not_told(made: Made) -> None:
    _, people, release, _ = made
    counts = data.published_counts(people, release)
    true = [int(people.counts[t, x]) for t in range(4) for x in (0, 1)]
    assert counts["count"].to_list() == [n if n >= data.FEW else None for n in true]


def test_points_are_in_no_order_and_carry_no_id(made: Made) -> None:
    table, people, *_ = made
    dots = data.points(table, people)
    assert "person" not in dots.columns
    assert dots.height == table.height
    assert sorted(dots["lower"]) == sorted(table["lower"].round(3))
    assert dots["lower"].to_list() != table["lower"].round(3).to_list()


def test_the_exposure_curve_counts_people() -> None:
    table = pl.DataFrame({"baseline_lower": [0.0, 0.5], "lower": [0.25, 0.5], "upper": [0.5, 1.0]})
    curves = data.exposure(table).filter(pl.col("which") == data.FOUND)
    share = dict(zip(curves["chance"].to_list(), curves["share"].to_list(), strict=True))
    assert [share[c] for c in (0.0, 0.25, 0.26, 0.5, 0.51)] == [1.0, 1.0, 0.5, 0.5, 0.0]


def test_the_error_of_rounded_counts() -> None:
    assert trials.error_of(pb.Rounding(5), np.arange(100)) == pytest.approx(np.sqrt(2), rel=1e-6)


def test_steps_of_whole_days_are_called_by_their_day() -> None:
    city = pb.simulate_city(6, 20, 5, start="2024-03-01")
    people = pb.fit_people(city, window="1d", origin="2024-03-01", places=9, min_active=1, holdout=2)
    assert data.step_labels(people) == ["2024-03-04", "2024-03-05"]


def test_who_may_miss_nothing_must_name_all_steps(made: Made) -> None:
    summary = summarise(*made[:3], misses=1, window="3h")
    assert words.question(summary) == "where a person was at 3 or more of the 4 steps"
    assert words.question(summary.model_copy(update={"misses": 0})) == "where a person was at all 4 steps"


def test_what_sets_the_most_exposed_apart_is_said_where_something_does() -> None:
    everyone = {"sighted": 0.5, "spectral_gap": 0.2, "baseline": 0.3}
    near = {"sighted": 0.52, "spectral_gap": 0.19, "baseline": 0.3}
    far = {"sighted": 0.9, "spectral_gap": 0.1, "baseline": 0.3}
    groups = pl.DataFrame({"column": list(everyone)}).with_columns(
        pl.Series(name, group.values())
        for name, group in {"most_exposed": far, "most_added": near, "everyone": everyone}.items()
    )
    said = words.why(groups)[-1]
    assert "found most often pass sensors more often and move more slowly. " in said
    assert said.endswith("adds most differ little from everyone in these traits.")


@pytest.mark.parametrize("places", [data.PLACES, data.PLACES + 1])
def test_places_that_are_not_shown_are_told(places: int) -> None:
    rows = pl.DataFrame({"place": [f"place {i}" for i in range(places)], "fall": 2.5, "error": 0.1, "with_all": 0.4})
    rows = rows.with_columns(step=pl.lit(None, pl.Int64), start=pl.lit(None, pl.String))
    said = words.left_out("sensor", rows)
    assert ("The 40 places that reveal most are shown." in said) == (places > data.PLACES)
    assert "leaving out the sensor at place 0: the mean chance, 40 % with all, falls by 2.50 points" in said


def test_a_report_is_saved_as_it_is(made: Made, tmp_path: Path) -> None:
    report = Report(made[0], summarise(*made[:3], misses=1, window="3h"), "<!DOCTYPE html><p>café ☕</p>")
    report.save(str(tmp_path / "report.html"))
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.page
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert re.fullmatch(r"Report\(people=60, mean_loss=0\.\d+ to 0\.\d+\)", repr(report))


def test_figures_are_charts_for_notebooks(made: Made) -> None:
    table, people, *_ = made
    chart = figures.scatter(data.points(table, people), "sighted", "seen")
    assert "$schema" in chart.to_dict()


def test_a_rhythm_still_has_a_spectral_gap() -> None:
    people = pb.fit_people(pb.simulate_city(12, 20, 4), window="3h", places=9, min_active=1, holdout=4, rhythm="hour")
    table = pb.audit(people, pb.Release([0] * 4), 1, workers=1)
    assert table["spectral_gap"].null_count() == 12
    gap = data.points(table, people)["spectral_gap"]
    assert gap.null_count() == 0
    assert gap.is_between(0, 1).all()


def test_the_template_is_installed() -> None:
    assert (Path(data.__file__).parent / "template.html").exists()
