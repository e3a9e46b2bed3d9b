import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.cli.small_audit import ALONE, FILES, NASTY, OPTIONS, Call, Made, counts, person

import passerby as pb
from passerby.audits.settings_file import read_settings
from passerby.audits.summary import Summary
from passerby.cli import run
from passerby.cli.run import found


def test_the_folder_is_complete(made: Made) -> None:
    folder, done = made
    assert {path.name for path in (folder / "result").iterdir()} == FILES
    assert "Report: result/report.html" in done.stdout
    table = pl.read_parquet(folder / "result" / "people.parquet")
    assert table.height == 40
    assert set(table["person"]) == {person(i) for i in range(40)}
    assert bool((table["lower"] <= table["upper"]).all())


def test_the_table_is_the_librarys(made: Made) -> None:
    folder, _ = made
    visits = pb.read_visits(folder / "visits.parquet")
    people = pb.fit_people(visits, window="3h", places=12, min_active=2, holdout=4)
    from passerby.people.sensors import most_visited_sensors

    expected = pb.audit(people, pb.Release(most_visited_sensors(people, 3)), misses=1, workers=1)
    assert_frame_equal(pl.read_parquet(folder / "result" / "people.parquet"), expected)


def test_the_summary_follows_its_schema(made: Made) -> None:
    folder, _ = made
    record = json.loads((folder / "result" / "summary.json").read_text())
    summary = Summary.model_validate(record)
    assert summary.schema_version == 3
    assert (summary.people, summary.steps, summary.misses, summary.places, summary.sensors) == (40, 4, 1, 13, 12)
    assert (summary.mechanism, summary.seed) == ("Raw()", 0)
    table = pl.read_parquet(folder / "result" / "people.parquet")
    for name, lower, upper in (
        ("loss", "lower", "upper"),
        ("baseline", "baseline_lower", "baseline_upper"),
        ("advantage", "advantage_lower", "advantage_upper"),
    ):
        for end, column in (("lower", lower), ("upper", upper)):
            found = record[name][end]
            assert found["mean"] == pytest.approx(table[column].mean())
            values = table[column].sort().to_numpy()
            assert found["median"] == pytest.approx(values[18:23].mean())  # five people around the middle of forty
            assert found["reached_by_five"] == pytest.approx(int(100 * values[31:36].mean() + 1e-9) / 100)
            assert found["percentile_95"] is None  # which two people would exceed


def test_names_of_places_stay_text(made: Made) -> None:
    page = (made[0] / "result" / "report.html").read_text()
    assert NASTY[0] not in page
    assert "&lt;script&gt;alert" in page


def test_it_can_be_run_again(made: Made, call: Call) -> None:
    folder, _ = made
    before = pl.read_parquet(folder / "result" / "people.parquet")
    again = ("--settings", "result/audit.toml", "--workers", "1")
    refused = call(*again)
    assert refused.returncode == 2
    assert "holds a finished audit; choose another --out, or replace it with --overwrite" in refused.stderr
    done = call(*again, *ALONE, "--out", "again")
    assert done.returncode == 0, done.stderr
    assert_frame_equal(pl.read_parquet(folder / "again" / "people.parquet"), before)
    assert read_settings(folder / "again" / "audit.toml")["explore"] == 0
    done = call("visits.parquet", *OPTIONS, "--sample", "7", *ALONE, "--out", "again", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert "7 people (drawn from 40)" in " ".join(done.stdout.split())
    assert {path.name for path in (folder / "again").iterdir()} == FILES


def test_the_settings_say_how_to_run_it_again(made: Made, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    out = made[0] / "told"
    assert call("visits.parquet", *OPTIONS, "--sample", "6", *ALONE, "--out", "told").returncode == 0
    head, _, command = (out / "audit.toml").read_text().splitlines()[0].partition(": passerby audit ")
    assert head == "# Settings of an audit. To run it again"
    monkeypatch.chdir(out)
    done = call(*command.split(), "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES


def test_a_dry_run_writes_nothing(made: Made, call: Call) -> None:
    folder, _ = made
    done = call("visits.parquet", *OPTIONS, "--sensor-count", "2", "--dry-run", "--out", "dry")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    for part in ("people 40", "28 to fit habits to, 4 published", "places 13", "8 counts from 2 places", "time about"):
        assert part in words
    assert not (folder / "dry").exists()


def test_one_person_and_little_time_are_said_in_words() -> None:
    assert [run._people(count) for count in (1, 2, 2000)] == ["1 person", "2 people", "2,000 people"]
    assert [run._pace(seconds) for seconds in (0.0004, 0.0123, 4.5)] == ["less than 1 ms", "12 ms", "4,500 ms"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no visits are given"),
        (("visits.parquet", "--smoothing", "much"), "--smoothing much: it"),
        (("nowhere.csv",), "nowhere.csv"),
        (("visits.parquet", "--window", "fortnight", "--runs", "0"), "--runs 0: it"),
        (("visits.parquet", "--mechanism", "magic"), "--mechanism: 'magic' is not one of raw,"),
        (("visits.parquet", "--settings", "none.toml"), "there is no such settings file"),
        (("visits.parquet", *OPTIONS, "--sensors", "fixed", "--sensor-places", "the moon"), "'the moon' is not one of"),
        (("visits.parquet", *OPTIONS, "--published", "none.csv"), "none.csv does not exist"),
        (("visits.parquet", *OPTIONS, "--together", "400"), "--together: a group of 400 people moves as one, and the"),
        (("visits.parquet", "--min-active", "1000", "--window", "3h"), "no person is seen in at least 1000"),
    ],
)
def test_what_cannot_be_done_is_said(made: Made, call: Call, arguments: tuple[str, ...], message: str) -> None:
    done = call(*arguments, "--out", "bad")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (made[0] / "bad").exists()


def test_a_file_is_no_folder(made: Made, call: Call) -> None:
    before = (made[0] / "visits.parquet").read_bytes()
    done = call("visits.parquet", *OPTIONS, "--out", "visits.parquet")
    assert (done.returncode, done.stderr) == (2, "passerby: --out: 'visits.parquet' is a file; name a folder\n")
    assert (made[0] / "visits.parquet").read_bytes() == before


def test_that_nobody_could_be_measured_is_said(made: Made) -> None:
    summary = Summary.model_validate_json((made[0] / "result" / "summary.json").read_text())
    nobody = summary.model_copy(update={"loss": None, "baseline": None, "people_eligible": 1200})
    assert list(found(nobody)) == [
        "40 people (drawn from 1,200). Fewer than 5 could be measured, and numbers are told of 5 people or more; "
        "people.parquet says why."
    ]
    few = nobody.model_copy(update={"people": 2, "people_eligible": 2})
    assert list(found(few)) == [
        "2 people. Too few: numbers are told of 5 people or more; people.parquet has a row for each."
    ]


def test_that_people_move_as_one_is_said(made: Made, call: Call) -> None:
    summary = Summary.model_validate_json((made[0] / "result" / "summary.json").read_text())
    assert summary.together == 1
    assert not any("move as one" in line for line in found(summary))
    said = next(found(summary.model_copy(update={"together": 4})))
    assert said.startswith("Each person is taken to be one of a group of 4 who move as one:")
    tried = call("visits.parquet", *OPTIONS, "--together", "4", "--dry-run").stdout
    assert "together  4 people move as one, and each is asked about" in tried


def test_every_question_is_answered_on_the_screen(made: Made) -> None:
    summary = Summary.model_validate_json((made[0] / "result" / "summary.json").read_text())
    loss = {"loss": summary.loss, "baseline": summary.baseline, "open": 40, "people": 40}
    about = {"question": "trace with 2 misses", "sentence": "all but 2 of the places of the person", "kind": "trace"}
    one = summary.questions[0].model_copy(update={**about, **loss})
    said = [*found(summary.model_copy(update={"questions": [one]}))]
    assert sum("names all but 2 of the places of the person with a chance of" in line for line in said) == 1


def test_a_share_that_is_not_told_is_said(made: Made) -> None:
    summary = Summary.model_validate_json((made[0] / "result" / "summary.json").read_text())
    half = next(above for above in summary.above if above.threshold == 0.5)
    some = half.model_copy(update={"loss_lower": 0.21, "loss_upper": 0.21, "baseline": None})
    said = list(found(summary.model_copy(update={"above": [some]})))[-1]
    assert said == (
        "More likely than not to be found: 21 % of the people with the release. The share without it would tell of "
        "fewer than 5 people."
    )


def test_what_was_published(made: Made, call: Call) -> None:
    folder, _ = made
    pl.DataFrame(counts(folder)).write_csv(folder / "counts.csv")
    done = call("visits.parquet", *OPTIONS, "--published", "counts.csv", *ALONE, "--out", "post")
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(folder / "post" / "people.parquet")
    assert set(table["realised_status"]) == {"ok"}
    assert bool((table["realised_lower"] <= table["realised_upper"] + 1e-12).all())
    # By hand for one person: the others are everybody else, so the series tells where the person was.
    visits = pb.read_visits(folder / "visits.parquet")
    people = pb.fit_people(visits, window="3h", places=12, min_active=2, holdout=4)
    prior, states = people.prior(0, [0, 5])
    index = {int(place): state for state, place in enumerate(states)}
    series = [[float(people.actual[0, t] == x) for x in (0, 5)] for t in range(4)]
    loss = pb.measure(prior, pb.Release([[index[0], index[5]]] * 4), 1, published=series, budget=1e9)
    assert table["realised_lower"][0] == pytest.approx(loss.lower)
    assert "What did the published counts reveal?" in (folder / "post" / "report.html").read_text()


def test_an_impossible_series_is_a_status(made: Made, call: Call) -> None:
    folder, _ = made
    pl.DataFrame(counts(folder, change=7)).write_csv(folder / "wrong.csv")
    done = call("visits.parquet", *OPTIONS, "--published", "wrong.csv", "--habits", "paper", *ALONE, "--out", "odd")
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(folder / "odd" / "people.parquet")
    assert set(table["realised_status"]) == {"impossible"}
    assert "impossible for 40" in " ".join(done.stdout.split())


def test_a_schedule_and_a_rule_that_depends_on_the_count(made: Made, call: Call) -> None:
    folder, _ = made
    first, second = pl.DataFrame(counts(folder))["place"].unique(maintain_order=True)
    pl.DataFrame({"step": [1, 1, 3], "place": [first, second, first]}).write_csv(folder / "sensors.csv")
    options = ("--sensors", "schedule", "--schedule", "sensors.csv", "--mechanism", "rounding", "--base", "5")
    done = call("visits.parquet", *OPTIONS, *options, "--habits", "paper", "--sample", "5", *ALONE, "--out", "rule")
    assert done.returncode == 0, done.stderr
    summary = Summary.model_validate_json((folder / "rule" / "summary.json").read_text())
    assert (summary.sensors, summary.mechanism, summary.people) == (3, "Rounding(base=5)", 5)
    assert summary.statuses.get("refused", 0) == 0
