"""What the sections compute and say."""

import base64
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import vl_convert
from tests.report.small_report import data, small_evidence, summed

import passerby as pb
from passerby.audits.record import Mean
from passerby.audits.results import Rows
from passerby.report import chart
from passerby.report.evidence import CURVES, Evidence, cuts
from passerby.report.facts import in_short
from passerby.report.sections import (
    adversaries,
    backtest,
    counts,
    exposure,
    noise,
    privacy,
    ranking,
    realisation,
    traits,
)
from passerby.report.sections.traits import boxes as made_of
from passerby.report.sections.traits import strips
from passerby.runs.notebook import Report
from passerby.support.rule_of_five import FEW, effective_people, middle


@pytest.fixture(scope="module")
def made() -> Evidence:
    return small_evidence()


def test_small_groups_are_not_told(made: Evidence) -> None:
    table = made.table.head(20).with_columns(
        baseline_lower=pl.lit(0.1),
        lower=pl.Series([0.2] * 17 + [0.9] * 3),
        upper=pl.Series([0.5] * 10 + [1.0] * 10),
    )
    settings = replace(made.settings, thresholds=(0.15, 0.8))
    rows = exposure.thresholds(summed(table, made.people, made.release, settings)).rows()
    assert rows == [(0.15, 0.0, 1.0, 1.0, 20), (0.8, 0.0, None, 0.5, 20)]


def test_of_few_people_the_mean_is_not_called_a_half(made: Evidence) -> None:
    """The median of fewer than fifteen is everybody's mean."""
    for people, begins in ((14, "On average"), (15, "For half of the people")):
        summary = summed(made.table.head(people), made.people, made.release, made.settings)
        assert exposure.words(summary)[1].startswith(f"{begins} the chance is ")
        alone = summary.model_copy(update={"groups": []})
        assert any(line.startswith(f"{begins} the release takes away ") for line in in_short(alone))


def test_small_counts_are_not_told(made: Evidence) -> None:
    true = [int(made.people.counts[t, x]) for t in range(4) for x in (0, 1)]
    assert counts.rows(made)["count"].to_list() == [n if n >= FEW else None for n in true]
    assert counts.rows(replace(made, internal=True))["count"].to_list() == true


def test_of_a_rounded_count_nothing_is_told_but_the_rounded_count(made: Evidence) -> None:
    rounded = replace(made, release=pb.Release(made.release.sensors, pb.Rounding(5)))
    true = np.array([int(made.people.counts[t, x]) for t in range(4) for x in (0, 1)])
    values = pb.Rounding(5).apply(true.astype(np.float64))
    assert counts.rows(rounded)["count"].to_list() == [n if n >= FEW else None for n in values]
    # A cell that is grey is no more than its rounded count says: 3 and 4, which are published as 5, are not grey.
    assert counts.told(pb.Rounding(5), 3) == counts.told(pb.Rounding(5), 6) == (5.0, "5")
    assert counts.told(pb.Suppression(10), 7) == (None, counts.EMPTY)
    assert counts.told(pb.RandomRounding(5), 7) == (None, counts.SECRET)


def with_gains(ends: dict[str, list[float]]) -> pl.DataFrame:
    """Ends of chances, and nothing that a release adds."""
    return pl.DataFrame(ends).with_columns(advantage_lower=pl.lit(0.0), advantage_upper=pl.lit(0.0))


def test_the_exposure_curve_counts_people() -> None:
    ends = {"baseline_lower": [0.0] * 5 + [0.5] * 5, "lower": [0.25] * 5 + [0.5] * 5, "upper": [0.5] * 5 + [1.0] * 5}
    table = with_gains(ends)
    curves = exposure.curves(table, cuts(table, [0.25, 0.5]))
    found = curves.filter(pl.col("which") == chart.FOUND)
    share = dict(zip(found["chance"].to_list(), found["share"].to_list(), strict=True))
    assert [share[c] for c in (0.0, 0.25, 0.3, 0.5, 0.6)] == [1.0, 1.0, 0.5, 0.5, 0.0]
    top = curves.filter(pl.col("which") == chart.BOUND).rows()[-2:]
    assert top == [(chart.BOUND, 1.0, 0.5, 5), (chart.BOUND, 1.0, 0.0, 5)]


@pytest.mark.parametrize("people", [40, 200])
def test_no_curve_crosses_another(people: int) -> None:
    """Between two points, too: with points of its own, the curve without a release lay above the one with it."""
    rng = np.random.default_rng(people)
    base = np.sort(rng.beta(20, 2, people))
    ends = {"baseline_lower": base, "lower": base + 0.6 * (1 - base), "upper": base + 0.7 * (1 - base)}
    table = with_gains({name: values.tolist() for name, values in ends.items()})
    drawn = exposure.curves(table, cuts(table, [0.5, 0.9]))
    at = np.linspace(0, 1, 501)
    lines = [
        np.interp(at, *drawn.filter(which=name).select("chance", "share").to_numpy().T)
        for name in (chart.WITHOUT, chart.FOUND, chart.BOUND)
    ]
    assert (lines[0] <= lines[1] + 1e-9).all()
    assert (lines[1] <= lines[2] + 1e-9).all()


def test_curves_agree_with_the_table_where_that_tells_of_some_of_them_alone() -> None:
    """With the release all twelve are above 90 %; without it one is, which neither the table nor the curve tells."""
    base = [*np.linspace(0.55, 0.85, 11), 0.95]
    ends = {"baseline_lower": base, "lower": [0.96] * 12, "upper": [0.97] * 12}
    table = with_gains(ends)
    told = cuts(table, [0.5, 0.9])
    assert (told.share(0, 0.9), told.share(1, 0.9)) == (None, 1.0)
    drawn = exposure.curves(table, told)
    for which, there in ((chart.WITHOUT, False), (chart.FOUND, True), (chart.BOUND, True)):
        assert ((0.9, 1.0) in drawn.filter(which=which).select("chance", "share").rows()) == there


@pytest.mark.parametrize(("most", "told"), [(6, ["5", "6"]), (25, ["5", "10", "15", "20", "25"])])
def test_the_legend_of_counts_tells_each_number_once(most: int, told: list[str]) -> None:
    rows = [(step, "00:00", "gate", count, str(count), count) for step, count in ((1, 5), (2, most))]
    table = pl.DataFrame(rows, schema=["step", "start", "place", "count", "shown", "people"], orient="row")
    assert texts(counts.picture(table), "legend-label") == told


def test_falls_of_nothing_are_bars_of_nothing_from_the_left() -> None:
    """One tick in the middle of an empty picture told nobody what was seen there."""
    rows = [(name, 0.0, 0.0, 0.5, 0.5, 9) for name in ("gate", "hall")]
    table = pl.DataFrame(rows, schema=["name", "fall", "error", "with_all", "without", "people"], orient="row")
    assert texts(ranking.bars(table, "sensor"), "axis-label")[:2] == ["0.000", "0.002"]


def texts(spec: dict[str, object], role: str) -> list[str]:
    """What a picture writes in one role, such as the labels of its first axis."""
    group = vl_convert.vegalite_to_svg({**spec, "width": 300}).partition(f"role-{role}")[2].partition(" role-")[0]
    return [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", group) if text]


def test_noise_that_is_enough_is_told_once_for_several_thresholds(made: Evidence) -> None:
    assert made.findings is not None
    rows = [(0.1, 0.0, 40), (0.25, 0.0, 40), (0.5, 2.0, 40), (0.9, None, 40)]
    found = pl.DataFrame(rows, schema=["threshold", "sigma", "people"], orient="row")
    said = noise.enough(replace(made, findings=replace(made.findings, noise=found)))[0]
    assert ": this release as it is for 10 %, 25 %; a standard deviation of 2 for 50 %; no noise that was trie" in said


def test_a_lonely_person_makes_no_step_of_their_own() -> None:
    crowd = np.linspace(0.2, 0.4, 40).tolist()
    ends = with_gains({name: [*crowd, 0.83] for name in ("baseline_lower", "lower", "upper")})
    found = exposure.curves(ends, cuts(ends, [0.5])).filter(pl.col("which") == chart.FOUND)
    above = found.filter(pl.col("share") > 0)
    assert above["chance"].max() <= 0.4  # type: ignore[operator]
    assert found.rows()[-1][1:3] == (1.0, 0.0)


def test_classes_of_the_advantage_are_merged_for_both_ends_alike() -> None:
    low, high = [0.05] * 20 + [0.35] * 2 + [0.95] * 8, [0.05] * 12 + [0.15] * 8 + [0.95] * 10
    ends = {"baseline_lower": [0.0] * 30, "lower": low, "upper": high, "advantage_lower": low, "advantage_upper": high}
    bars = exposure.advantages(cuts(pl.DataFrame(ends), []))
    names = bars["advantage"].unique(maintain_order=True).to_list()
    assert names[:2] == ["0–10 %", "10–20 %"]
    assert bars.filter(pl.col("which") == chart.FOUND)["people"].to_list() != []
    assert all(people == 0 or people >= FEW for people in bars["people"])
    for name in (chart.FOUND, chart.BOUND):
        assert bars.filter(pl.col("which") == name)["people"].sum() == 30


def test_ranks_are_told_where_five_people_lie_beyond() -> None:
    values = np.arange(60) / 100
    ranks = exposure.ranks(pl.DataFrame({"lower": values}), ("lower",))
    assert ranks["share_below"].to_list() == [0.25, 0.5, 0.75]
    assert ranks["lower"][0] == pytest.approx(values[13:18].mean())
    assert exposure.ranks(pl.DataFrame({"lower": np.arange(100) / 100}), ("lower",)).height == 3
    assert exposure.ranks(pl.DataFrame({"lower": np.arange(150) / 150}), ("lower",)).height == 5


def test_boxes_hold_everybody_and_five_each(made: Evidence) -> None:
    people = traits.traits(made.known, made.people, made.table)
    for column in ("sighted", "spectral_gap"):
        x = people[column].to_numpy()
        edges = cuts(made.known, [0.5]).levels(CURVES)
        boxes, strips = made_of(x, people["lower"].to_numpy(), traits._top(x, column), edges)
        assert {*boxes["y"], *boxes["y2"]} <= {0.0, *edges, 1.0}
        assert strips["people"].sum() == people.height
        assert abs(int(boxes["people"].sum()) - people.height) <= FEW / 2 * boxes.height
        assert boxes["people"].min() >= FEW  # type: ignore[operator]
        assert strips["people"].min() >= FEW  # type: ignore[operator]
        table = traits.classes(people, column)
        assert table["people"].sum() == people.height
        assert table["people"].min() >= FEW  # type: ignore[operator]
        for told in (table["people"], strips["people"]):
            assert all(people % FEW == 0 for people in told[1:])


@pytest.mark.parametrize("seed", range(5))
def test_strips_do_not_lie_on_both_sides_of_where_people_are_divided_elsewhere(seed: int) -> None:
    """Else those beyond the cut, less a strip that begins within it, were few."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(80) < 0.5, 0.01, rng.random(80))
    for cut in (None, 0.1):
        found = strips(x, 1.0, cut)
        assert sum(int(who.sum()) for _, _, who in found) == 80
        assert all(who.sum() == 0 or who.sum() >= FEW for *_, who in found)
        assert cut is None or not any(low < cut < high for low, high, _ in found)
        boxes, _ = made_of(x, rng.random(80), 1.0, [0.5], cut)
        assert boxes["people"].min() >= FEW  # type: ignore[operator]
    lonely = np.r_[np.full(FEW - 1, 0.01), np.full(40, 0.5)]
    assert len([who for *_, who in strips(lonely, 1.0, 0.1) if who.any()]) == 1


def test_the_profile_is_of_whole_groups(made: Evidence) -> None:
    people = traits.traits(made.known, made.people, made.table)
    groups = traits.profile(people)
    assert groups is not None
    rows = {row["column"]: row for row in groups.to_dicts()}
    most = people.sort("lower", descending=True).head(people.height // 10)
    assert rows["lower"]["most_exposed"] == middle(most["lower"])
    assert [rows["people"][name] for name in ("most_exposed", "most_added", "everyone")] == [6, 6, 60]
    assert traits.profile(people.head(49)) is None


def test_what_sets_the_most_exposed_apart_is_said_where_something_does() -> None:
    everyone = {"sighted": 0.5, "spectral_gap": 0.2, "baseline": 0.3}
    near = {"sighted": 0.52, "spectral_gap": 0.19, "baseline": 0.3}
    far = {"sighted": 0.9, "spectral_gap": 0.1, "baseline": 0.3}
    groups = pl.DataFrame({"column": list(everyone)}).with_columns(
        pl.Series(name, group.values())
        for name, group in {"most_exposed": far, "most_added": near, "everyone": everyone}.items()
    )
    said = traits.words(groups)[-1]
    assert "found most often are counted more often and move more slowly. " in said
    assert said.endswith("adds most differ little from everyone in these traits.")


def test_a_rhythm_still_has_a_spectral_gap(made: Evidence) -> None:
    people = pb.fit_people(pb.simulate_city(12, 20, 4), window="3h", places=9, min_active=1, holdout=4, rhythm="hour")
    table = pb.audit(people, pb.Release([0] * 4), 1, workers=1)
    assert table["spectral_gap"].null_count() == 12
    gap = traits.traits(table, people, table)["spectral_gap"]
    assert gap.null_count() == 0
    assert gap.is_between(0, 1).all()


@pytest.mark.parametrize(("most", "some"), [(7, 7), (8, 12), (12, 12)])
def test_a_part_of_the_people_leaves_out_nobody_or_five(monkeypatch: pytest.MonkeyPatch, most: int, some: int) -> None:
    people = pb.fit_people(pb.simulate_city(12, 20, 4), window="3h", places=9, min_active=1, holdout=4, rhythm="hour")
    table = pb.audit(people, pb.Release([0] * 4), 1, workers=1)
    monkeypatch.setattr(traits, "REFITTED", most)
    assert traits.traits(table, people, table).height == some
    said = ["The figures are of 7 people, drawn at random from 12."]
    assert traits._drawn(some, 12) == (said if some == 7 else [])


def test_the_people_behind_a_fall_are_counted(made: Evidence) -> None:
    """One person alone, six alike, and six of whom one matters most."""
    falls = np.zeros((3, 20))
    falls[0, 0], falls[1, :6], falls[2, :6] = 0.3, 0.1, [0.5, 0.01, 0.01, 0.01, 0.01, 0.01]
    errors = falls.std(axis=1, ddof=1) / np.sqrt(20)
    behind = pl.DataFrame({"fall": falls.mean(axis=1), "error": errors}).select(ranking._behind(20)).to_series()
    assert behind.to_list() == pytest.approx([1, 6, 0.55**2 / (0.25 + 5e-4)])
    assert made.findings is not None
    rows = pl.DataFrame(
        {"what": "sensor", "subject": [0, 1, 2], "step": None, "with_all": 0.5, "without": 0.5 - falls.mean(axis=1)},
        schema_overrides={"step": pl.Int64},
    ).with_columns(
        fall=falls.mean(axis=1), error=errors, told=pl.Series([effective_people(fall) >= FEW for fall in falls])
    )
    tried = replace(made, release=pb.Release([[0, 1, 2]] * 4))
    tried = replace(tried, findings=replace(made.findings, people=20, left_out=rows))
    shared, internal = ranking.rows(tried, "sensor"), ranking.rows(replace(tried, internal=True), "sensor")
    assert shared["people"].to_list() == [6, None, None]
    assert shared.select("fall", "error", "without", "with_all").null_count().row(0) == (2, 2, 2, 2)
    assert internal["people"].to_list() == [6, 1, 1]
    assert "What is left blank is not told: fewer than 5 people are behind the fall, or" in ranking.says(
        "sensor", shared
    )
    places = ranking.bars(shared, "sensor")["encoding"]["y"]["scale"]["domain"]
    assert places == [chart.wrapped(name) for name in shared["name"]], "a bar that is left blank keeps its place"
    alone = replace(made, findings=replace(made.findings, people=20, left_out=rows.head(1)))
    assert ranking.says("sensor", ranking.rows(alone, "sensor")) == (
        "No single sensor stands out: no fall of the chance rests on 5 people or more."
    )


@pytest.mark.parametrize(("falls", "these"), [([0.0, 0.0], "them"), ([0.0, None], "those that are told")])
def test_nothing_is_said_of_falls_that_are_not_told(falls: list[float | None], these: str) -> None:
    rows = pl.DataFrame({"place": ["a", "b"], "step": [1, 1], "start": ["x", "x"], "with_all": 0.5, "fall": falls})
    said = ranking.says("count", rows.with_columns(error=0.0))
    assert said.endswith(f"without any one of {these} the chance stays about the same.")
    assert ranking._colour(rows)["scale"]["domain"] == [0, 0.01]


@pytest.mark.parametrize("places", [chart.PLACES, chart.PLACES + 1])
def test_places_that_are_not_shown_are_told(places: int) -> None:
    rows = pl.DataFrame({"place": [f"place {i}" for i in range(places)], "fall": 2.5, "error": 0.1, "with_all": 0.4})
    rows = rows.with_columns(step=pl.lit(None, pl.Int64), start=pl.lit(None, pl.String))
    said = ranking.says("sensor", rows)
    assert ("The 40 places that reveal most are shown." in said) == (places > chart.PLACES)
    assert "leaving out the sensor at place 0: the mean chance, 40 % with all, falls by 2.50 points" in said


def test_the_error_of_rounded_counts() -> None:
    assert noise.error_of(pb.Rounding(5)) == pytest.approx(np.sqrt(2), rel=1e-6)
    assert noise.error_of(pb.Rounding(20)) == pytest.approx(np.sqrt((20**2 + 2) / 12), rel=0.01)


def test_how_sure_drawn_series_leave_what_is_known_of_a_person(made: Evidence) -> None:
    assert made.findings
    for confidence, said in ((None, False), (0.9875, True)):
        words = " ".join(noise.build(replace(made, findings=replace(made.findings, confidence=confidence))).lead)
        assert ("holds together with a confidence of 98.75 %." in words) == said


def test_realised_counts_of_few_people_are_not_told(made: Evidence) -> None:
    status = ["impossible"] * 2 + ["ok"] * (made.table.height - 2)
    table = made.table.with_columns(
        realised_status=pl.Series(status), realised_lower=pl.col("lower"), realised_upper=pl.col("upper")
    )
    summary = summed(table, made.people, made.release, made.settings)
    said = " ".join(realisation.words(summary))
    assert "possible for 55 of the audited people" in said
    assert "For 5 or fewer people no trace agrees with it" in said
    content = realisation.build(replace(made, table=table, summary=summary))
    assert [row[1] for row in content.figures[0].sheet.rows] == ["5"] * 3


def test_figures_are_pictures_for_notebooks_and_load_nothing(made: Evidence) -> None:
    for figure in exposure.build(made).figures:
        shown = figure._repr_html_()
        if figure.spec is None:
            assert "a table only" in shown
            continue
        code = re.fullmatch(r'<img alt="[^"]+" src="data:image/svg\+xml;base64,([^"]+)">', shown)
        assert code
        picture = base64.b64decode(code[1]).decode()
        assert picture.startswith("<svg")
        assert not re.findall(r"(?:href|src)=|url\((?!#|'#|\"#)|<script|@import", picture)


def test_counts_whose_fall_rests_on_few_people_are_grey_cells(made: Evidence) -> None:
    assert made.findings is not None
    odd = pl.int_range(pl.len()) % 2 == 1
    rows = made.findings.left_out.with_columns(told=~odd)
    tried = replace(made, findings=replace(made.findings, left_out=rows))
    figure = ranking.build(tried).figures[0]
    cells = list(data(figure.spec))
    grey = [cell for cell in cells if cell.get("note")]
    assert len(grey) == 4
    assert all(set(cell) == {"place", "step", "start", "people", "note", "label"} for cell in grey)
    assert all(cell["people"] >= FEW for cell in cells if cell not in grey)
    assert "Grey cells are not told" in figure.says
    assert figure.spec is not None
    marks = [layer["mark"] for layer in figure.spec["layer"]]
    assert [mark.get("stroke") for mark in marks] == [None, ranking.LINE], "pale cells have an outline"
    assert figure._repr_html_().startswith("<img")


def test_promises_and_what_came_true(made: Evidence) -> None:
    found = made.summary.backtest
    assert found is not None
    content = backtest.build(made)
    assert [figure.key for figure in content.figures] == ["windows", "reliability", "events", "promises", "robust"]
    assert content.lead[0].startswith(found.sentence)
    assert found.added is not None
    assert found.added.sentence in (content.lead[1], found.sentence)
    assert any(f"{found.origins} times, the published steps among them" in each for each in content.lead)
    rows = content.figures[0].sheet.rows
    assert len(rows) == len(found.windows) == 8 * found.origins
    assert len(found.tested) == 2
    assert " ".join(each.sentence for each in found.tested) in content.lead
    assert [row[-2] for row in rows[: found.origins]] == [found.windows[0].verdict, *[""] * (found.origins - 1)]
    points = backtest.reliability(found)
    assert set(points["which"]) == {"with the release", chart.WITHOUT}
    assert backtest.by_misses(found).height == 4 * 4
    published = next(each for each in found.windows if (each.what, each.steps_before) == ("map", 0))
    asked = made.settings.misses
    by_misses = next(each for each in found.by_misses if (each.attack, each.misses) == ("map", asked))
    assert (by_misses.published_promised, by_misses.published_right) == pytest.approx(
        (published.promised, published.right), abs=1e-3
    )
    ends = backtest.robust(made.summary)
    assert ends["upper"].is_sorted()
    assert ends["nats"].is_sorted()
    for figure in (content.figures[1], content.figures[3]):
        assert figure._repr_html_().startswith("<img")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"verdict": "came true"}, "nobody knows of drift that has not happened yet"),
        ({"verdict": "did not come true", "about": "added", "too_low": False}, "the counts add is likely too high"),
        ({"verdict": "did not come true", "too_low": True}, "likely too low"),
        ({"verdict": "did not come true", "too_low": False}, "likely too high"),
        ({"verdict": "cannot be told", "origins": 1, "independent": 1}, "if people lived by their habits"),
        ({"independent": 1}, "which overlap, and count for 1"),
        ({"robust": None}, "no departure from them explains it"),
    ],
)
def test_each_verdict_has_its_words(made: Evidence, more: dict[str, object], words: str) -> None:
    assert made.summary.backtest is not None
    summary = made.summary.model_copy(update={"backtest": made.summary.backtest.model_copy(update=more)})
    assert words in " ".join(backtest.words(summary))


def test_a_difference_of_nothing_has_no_sign() -> None:
    said = [backtest._points(value) for value in (None, -0.004, 0.004, -0.026, 0.11)]
    assert said == ["not known", "0 points", "0 points", "-3 points", "+11 points"]


def test_one_origin_has_points_without_bars(made: Evidence) -> None:
    assert made.summary.backtest is not None
    alone = [each.model_copy(update={"lower": None, "upper": None}) for each in made.summary.backtest.by_promise]
    summary = made.summary.model_copy(
        update={"backtest": made.summary.backtest.model_copy(update={"by_promise": alone})}
    )
    figure = backtest.build(replace(made, summary=summary)).figures[1]
    assert figure.spec is not None
    assert len(figure.spec["layer"]) == 2
    assert figure._repr_html_().startswith("<img")


def test_what_came_true_is_said_in_short(made: Evidence) -> None:
    assert made.summary.backtest is not None
    kept = made.summary.backtest.model_copy(update={"verdict": "came true", "sentence": "They came true."})
    assert "They came true." in in_short(made.summary.model_copy(update={"backtest": kept}))
    assert "They came true." not in in_short(made.summary)


def test_what_takes_numbers_of_a_crowd_for_independent_says_so(made: Evidence) -> None:
    crowd = replace(made, release=pb.Release([[0, 1]] * 4, others=pb.Crowd()))
    for section in (backtest, adversaries):
        assert "these figures are estimates" in section.build(crowd).lead[-1]
        assert "estimates" not in " ".join(section.build(made).lead)


def test_the_mean_is_the_same_wherever_it_is_told(made: Evidence) -> None:
    # Limits of the mean are narrower than means of limits, where series were drawn.
    mean = Mean(lower=0.4711, upper=0.4789, confidence=0.99)
    summary = made.summary.model_copy(update={"mean_loss": mean})
    assert any("47 % to 48 % with it" in line for line in in_short(summary))
    assert any("47 % to 48 % with it" in line for line in in_short(summary.model_copy(update={"groups": []})))
    assert "exclude more than 48 %" in privacy.words(summary, 0.9)[0]
    assert backtest.robust(summary)["upper"][0] == mean.upper
    assert repr(Report(Rows.here(made.table), summary, "")) == "Report(people=60, mean_loss=0.471 to 0.479)"


def test_adversaries_stand_from_the_weakest_to_the_strongest(made: Evidence) -> None:
    content = adversaries.build(made)
    (figure,) = content.figures
    assert figure.spec is not None
    rows = list(data(figure.spec))
    assert len(rows) == 4 * len(made.summary.adversaries) == 16
    assert "A colleague, who also" in content.lead[0]
    two = replace(made, summary=made.summary.model_copy(update={"adversaries": made.summary.adversaries[:2]}))
    assert "A colleague" not in adversaries.build(two).lead[0]
    none = replace(made, summary=made.summary.model_copy(update={"adversaries": [], "backtest": None}))
    assert adversaries.SECTION.missing(none) == "other adversaries were not tried on 5 people or more"
    assert "turned off" in str(backtest.SECTION.missing(none))


def test_ways_do_not_tell_what_the_table_of_thresholds_withholds(made: Evidence) -> None:
    above = [
        each.model_copy(update={"loss_lower": 0.5, "loss_upper": 0.5, "baseline": 0.5}) for each in made.summary.above
    ]
    shown = noise.shares(replace(made, summary=made.summary.model_copy(update={"above": above})))
    names = shown.columns[1:-1]
    assert "not told" not in {cell for name in names for cell in shown[name]}
    for name in ("baseline", "loss_lower", "loss_upper"):
        hidden = [above[0].model_copy(update={name: None}), *above[1:]]
        withheld = noise.shares(replace(made, summary=made.summary.model_copy(update={"above": hidden})))
        assert set(withheld[names[0]]) == {"not told"}
        assert withheld.drop(names[0]).equals(shown.drop(names[0]))
