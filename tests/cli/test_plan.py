"""`passerby plan`: a folder whose audits give the figures that it promises, and errors that say what to do."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.small_audit import ALONE, Call, person, write_visits
from tests.cli.test_interrupted import stopping
from tests.cli.test_main import Done, run_here

from passerby import InputError
from passerby.plans.limit import Limit, counted
from passerby.plans.record import VERSION, Record
from passerby.runs.plan import earlier_files, earlier_release
from passerby.support.files import alone_in
from passerby.support.rule_of_five import fives_below

OPTIONS = (
    "--window",
    "3h",
    "--places",
    "12",
    "--min-active",
    "2",
    "--holdout",
    "4",
    "--habits",
    "paper",
    "--workers",
    "1",
)
LEVERS = ("--levers", "rounding", "places", "gaussian", "--budget", "1e6", "--runs", "30")
LIMIT = ("--at-most", "0.2", "--added", "0.05")
#: Of decisions that are about losses alone.
TRACE = ("--presence-at-most", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    made = tmp_path_factory.mktemp("plan")
    write_visits(made / "visits.parquet")
    options = (*OPTIONS, "--sensor-count", "3", *LEVERS, *LIMIT)
    done = run_here("plan", "visits.parquet", *options, "--out", "plan", cwd=made)
    assert done.returncode == 0, done.stderr
    return made, done


@pytest.fixture
def call(folder: tuple[Path, Done], typed: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(folder[0])
    return typed


def record(folder: Path) -> Record:
    return Record.model_validate(json.loads((folder / "plan" / "plan.json").read_text()))


def test_the_folder_holds_what_was_found(folder: tuple[Path, Done]) -> None:
    made, done = folder
    found = record(made)
    names = {path.name for path in (made / "plan").iterdir()}
    assert names == {"plan.json", "plan.html", "plan.toml", *found.recommended}
    assert found.schema_version == VERSION
    assert found.recommended
    page = (made / "plan" / "plan.html").read_text(encoding="utf-8")
    for name in found.recommended:
        # By the name of its folder, which the figure and the commands below have too.
        assert f"\n{name.capitalize()}: " in done.stdout
        assert f">{name.capitalize()}: " in page
    assert {plan.verdict for plan in found.recommended.values()} <= {"sure", "open"}


@pytest.mark.thorough
def test_an_audit_of_each_plan_gives_its_figures(folder: tuple[Path, Done], call: Call) -> None:
    made, _ = folder
    for name, plan in record(made).recommended.items():
        done = call("audit", "--settings", f"plan/{name}/audit.toml", "--explore", "0", "--workers", "1")
        assert done.returncode == 0, done.stderr
        summary = json.loads((made / "plan" / name / "audit" / "summary.json").read_text())
        told = plan.model_dump(mode="json")
        for field in ("loss", "baseline"):
            assert summary[field] == told[field]
        assert summary["above"] == told["above"]
        assert summary["mechanism"] == plan.mechanism
        assert summary["sensors"] == plan.counts
        table = pl.read_parquet(made / "plan" / name / "audit" / "people.parquet")
        lower, upper, low, high = (
            table[column].to_numpy() for column in ("lower", "upper", "baseline_lower", "baseline_upper")
        )
        tally = counted(Limit(0.2, added=0.05), lower, upper, (low, high))
        assert tally.verdict == plan.verdict
        assert plan.tallies[0].at_most >= tally.possibly / 40 >= plan.tallies[0].at_most - 5 / 40
        assert plan.tallies[0].at_least == fives_below(tally.surely) / 40
        assert plan.tallies[0].at_most in (0.0, (fives_below(tally.possibly) + 5) / 40)


@pytest.mark.thorough
def test_the_settings_plan_again(folder: tuple[Path, Done], call: Call) -> None:
    made, _ = folder
    before = record(made)
    done = call("plan", "--settings", "plan/plan.toml", "--workers", "1", "--out", "again")
    assert done.returncode == 0, done.stderr
    after = Record.model_validate(json.loads((made / "again" / "plan.json").read_text()))
    assert after == before
    assert after.measured > after.people


def test_nobody_is_named(folder: tuple[Path, Done]) -> None:
    made, done = folder
    for path in (*(made / "plan").glob("plan.*"), *(made / "plan").glob("*/audit.toml")):
        text = path.read_text()
        assert not any(person(number) in text for number in range(40)), path
    assert not any(person(number) in done.stdout + done.stderr for number in range(40))


def test_the_page_names_no_files(folder: tuple[Path, Done]) -> None:
    """It may be shared, and a path may hold the name of somebody."""
    made, _ = folder
    assert 'visits = "../visits.parquet"' in (made / "plan" / "plan.toml").read_text()
    page = (made / "plan" / "plan.html").read_text()
    assert "visits.parquet" not in page
    assert "Files and folders are in plan.toml alone." in page


def test_a_finished_plan_is_left_alone(call: Call) -> None:
    done = call("plan", "visits.parquet", *OPTIONS, *LIMIT, "--out", "plan")
    assert done.returncode == 2
    assert done.stderr == (
        "passerby: plan holds a finished plan; choose another --out, or replace it with --overwrite\n"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "no limit is given"),
        (("--above", "0.5"), "needs --at-most"),
        (("--at-most", "0.05"), "give one of them"),
        (("--at-most", "0.05", "--above", "0.5", "--added", "0.1"), "--above and --added are both given"),
        (("--at-most", "x", "--above", "0.5"), "expected a number"),
        ((*LIMIT, "--stay", "nowhere"), "--stay: 'nowhere' is not"),
        ((*LIMIT, "--levers", "magic"), "--levers: 'magic' is none of gaussian,"),
        ((*LIMIT, "--forbid", "magic"), "--forbid: 'magic' is none of gaussian,"),
        ((*LIMIT, "--fix", "magic=3"), "--fix: 'magic' is none of gaussian,"),
        ((*LIMIT, "--fix", "places=3"), "--fix: 'places' cannot be fixed at a position"),
        ((*LIMIT, "--levers", "places", "--forbid", "places"), "--forbid: 'places' is asked for and forbidden"),
        ((*LIMIT, "--fix", "rounding"), "--fix: 'rounding' comes without a position; give one, as in rounding=10"),
        ((*LIMIT, "--fix", "rounding=inf"), "--fix: 'rounding' cannot be fixed at inf"),
        ((*LIMIT, "--fix", "rounding=1e30"), "--fix: 'rounding' cannot be fixed at 1e+30: Rounding(base="),
        (("--at-most", "nan", "--added", "0.1"), "--at-most is nan; expected a number from 0 to 1"),
        (("--at-most", "0.1", "--added", "-1"), "--added is -1.0; expected a number from 0 to 1"),
        ((*LIMIT, "--drawn", "-5", "--minutes", "x"), "--drawn is -5; expected a whole number of at least 1 --minutes"),
        (("--at-most", "0", "--above", "0.01"), "without any release"),
        ((*LIMIT, "--misses", "9"), "--misses 9 must be below"),
    ],
)
def test_what_is_wrong_is_said(call: Call, given: tuple[str, ...], said: str) -> None:
    done = call("plan", "visits.parquet", *OPTIONS, *given, "--out", "other")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


@pytest.mark.thorough
def test_what_was_audited_can_be_planned(folder: tuple[Path, Done], call: Call) -> None:
    made, _ = folder
    done = call("audit", "visits.parquet", *OPTIONS, "--sensor-count", "2", *ALONE, "--out", "audited")
    assert done.returncode == 0, done.stderr
    done = call("plan", "--settings", "audited/audit.toml", "--at-most", "0.9", "--added", "0.9", "--out", "planned")
    assert done.returncode == 0, done.stderr
    found = json.loads((made / "planned" / "plan.json").read_text())
    assert found["wanted"]["counts"] == 8
    assert not (made / "audited" / "plan.json").exists()
    assert "title" in (made / "planned" / "plan.toml").read_text()


def test_several_limits_and_weights_come_from_a_file(folder: tuple[Path, Done], call: Call) -> None:
    made, _ = folder
    (made / "weights.csv").write_text("step,weight\n1,0\n2,3\n")
    (made / "two.toml").write_text(
        'visits = "visits.parquet"\nwindow = "3h"\nplaces = 12\nmin_active = 2\nholdout = 4\nsensor_count = 2\n'
        'habits = "paper"\n'
        'limits = [{share = 0.2, added = 0.1}, {share = 0.9, above = 0.9}]\nlevers = ["every"]\n'
        'weights = "weights.csv"\nfix = {rounding = 5}\nout = "two"\nbudget = 1e6\n'
    )
    done = call("plan", "--settings", "two.toml", "--workers", "1")
    assert done.returncode == 0, done.stderr
    found = json.loads((made / "two" / "plan.json").read_text())
    assert [limit["share"] for limit in found["limits"]] == [0.2, 0.9]
    assert found["wanted"]["mechanism"] == "Rounding(base=5)"
    assert all(len(plan["tallies"]) == 2 for plan in found["tried"])


def test_the_next_table_after_earlier_ones(folder: tuple[Path, Done], call: Call) -> None:
    made, _ = folder
    table = ("visits.parquet", *OPTIONS, *TRACE, "--sensor-count", "2", "--budget", "1e6", "--runs", "30")
    done = call("next", *table, "--at-most", "0.5", "--added", "0.9", "--out", "first")
    assert done.returncode == 0, done.stderr
    assert "may go out" in done.stdout
    decision = json.loads((made / "first" / "decision.json").read_text())
    assert (decision["answer"], decision["earlier"], decision["exact"]) == ("publish", 0, True)
    done = call("next", *table, *LIMIT, "--earlier", "first", "--out", "second")
    assert done.returncode == 0, done.stderr
    decision = json.loads((made / "second" / "decision.json").read_text())
    assert (decision["answer"], decision["earlier"]) == ("hold", 1)
    assert "published already" in decision["why"]
    assert not (made / "second" / "audit.toml").exists()
    noisy = (*table, "--mechanism", "gaussian", "--sigma", "3", "--at-most", "0.5", "--added", "0.9")
    done = call("next", *noisy, "--earlier", "first", "--out", "third")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (made / "third").iterdir()) == [
        "audit.toml",
        "decision.json",
        "schedule.csv",
        "together",
    ]
    done = call("audit", "--settings", "third/together/together.toml", "--explore", "0", "--workers", "1")
    assert done.returncode == 0, done.stderr
    decision = json.loads((made / "third" / "decision.json").read_text())
    table_of = pl.read_parquet(made / "third" / "together" / "audit" / "people.parquet")
    above = (table_of["upper"] - table_of["baseline_lower"] > 0.9).mean()
    assert above <= decision["plan"]["wanted"]["tallies"][0]["at_most"]


def test_an_interrupted_decision_goes_on(
    folder: tuple[Path, Done], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ("next", "visits.parquet", *OPTIONS, "--sensor-count", "1", *LIMIT, "--out", "stopped")
    for where, how in (
        ("passerby.runs.plan.gather", "nothing was written"),
        ("passerby.plans.sequence.carry_out", "what is finished is kept, and the same command goes on with it"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, stopping(where, 0))
            done = call(*table)
        assert done.returncode == 130
        assert done.stderr.endswith(f"; {how}\n")
    assert call(*table).returncode == 0
    assert call(*table).stderr == (
        "passerby: stopped holds a decision; choose another --out, or replace it with --overwrite\n"
    )


def test_a_script_may_ask_whether_a_table_goes_out(folder: tuple[Path, Done], call: Call) -> None:
    """An answer is no failure, unless it is asked for as one."""
    wanted = ("next", "visits.parquet", *OPTIONS, *TRACE, "--sensor-count", "1", "--out", "asked", "--overwrite")
    weak = ("--at-most", "0.25", "--added", "0.05")
    for limit, answer, code in ((("--at-most", "0.9", "--added", "0.9"), "publish", 0), (weak, "coarser", 3)):
        for check in ((), ("--check",)):
            done = call(*wanted, *limit, *check)
            assert done.returncode == (code if check else 0), done.stderr
            assert json.loads((folder[0] / "asked" / "decision.json").read_text())["answer"] == answer


@pytest.mark.parametrize("command", ["plan", "next"])
def test_two_at_once_in_one_folder(folder: tuple[Path, Done], call: Call, command: str) -> None:
    pytest.importorskip("fcntl", reason="this system has no such locks")
    out = folder[0] / "held"
    out.mkdir(exist_ok=True)
    with alone_in(out):
        done = call(command, "visits.parquet", *OPTIONS, "--sensor-count", "1", *LIMIT, "--out", "held")
    assert done.returncode == 2
    assert "another process is at work in 'held'" in done.stderr
    assert not [*out.iterdir()]


def test_the_audit_of_a_release_is_no_other_release(folder: tuple[Path, Done], call: Call) -> None:
    """With fresh noise, what is published twice tells more; the audit before the sign-off publishes nothing."""
    table = ("visits.parquet", *OPTIONS, *TRACE, "--sensor-count", "1", "--at-most", "0.9", "--added", "0.9")
    noise = (*table, "--mechanism", "gaussian", "--sigma", "3", "--budget", "1e6", "--runs", "30")
    few = ("--explore", "0", "--backtest", "0", "--adversaries", "0", "--workers", "1")
    assert call("next", *noise, "--out", "released/one").returncode == 0
    assert call("audit", "--settings", "released/one/audit.toml", *few).returncode == 0
    assert call("next", *noise, "--earlier", "released", "--out", "released/two").returncode == 0
    assert call("audit", "--settings", "released/two/together/together.toml", *few).returncode == 0
    assert call("audit", "--settings", "released/two/audit.toml", "--mechanism", "raw", *few).returncode == 0
    assert call("next", *noise, "--earlier", "released", "--out", "released/three").returncode == 0
    decisions = [json.loads(Path(f"released/{name}/decision.json").read_text()) for name in ("two", "three")]
    # What an audit looked at that is not the release that lies above it may have been published.
    assert [each["earlier"] for each in decisions] == [1, 3]


def test_weights_lie_beside_the_settings_of_a_decision_too(folder: tuple[Path, Done], call: Call) -> None:
    (folder[0] / "beside").mkdir()
    (folder[0] / "beside" / "weights.csv").write_text("step,weight\n1,0\n2,3\n")
    (folder[0] / "beside" / "next.toml").write_text('visits = "../visits.parquet"\nweights = "weights.csv"\n')
    done = call("next", "--settings", "beside/next.toml", *OPTIONS, *LIMIT, "--budget", "1e6", "--out", "weighed")
    assert done.returncode == 0, done.stderr


def test_a_decision_may_stand_among_earlier_releases(folder: tuple[Path, Done], call: Call) -> None:
    """It counts as published for later tables, but not when it is made again; moved, it must name its files anew."""
    table = ("visits.parquet", *OPTIONS, *TRACE, "--sensor-count", "1", "--at-most", "0.9", "--added", "0.9")
    assert call("next", *table, "--out", "out/one").returncode == 0
    assert earlier_files(Path("out"), Path("out/two")) == [Path("out/one/audit.toml")]
    with pytest.raises(InputError, match=r"holds no audit.toml"):
        earlier_files(Path("out"), Path("out/one"))
    Path("out/deep").mkdir()
    moved = Path(shutil.move("out/one", "out/deep/one"))
    people: Any = None  # not looked at before the files are found
    with pytest.raises(InputError, match=r"visits.parquet is not there; files are named from the folder"):
        earlier_release(moved / "audit.toml", people, people)


def test_earlier_releases_of_other_visits_are_refused(folder: tuple[Path, Done], call: Call) -> None:
    """Their last steps may be other ones."""
    write_visits(folder[0] / "later.parquet")
    done = call("next", "later.parquet", *OPTIONS, *LIMIT, "--earlier", "plan", "--out", "fifth")
    assert done.returncode == 2
    assert "later.parquet for the next table" in " ".join(done.stderr.split())


def test_levers_are_not_ignored_by_a_decision(folder: tuple[Path, Done], call: Call) -> None:
    (folder[0] / "fixed.toml").write_text('visits = "visits.parquet"\nfix = {rounding = 5}\n')
    done = call("next", "--settings", "fixed.toml", *OPTIONS, *LIMIT, "--out", "seventh")
    assert done.returncode == 2
    assert "the settings hold fix, but the next table is decided on as it is" in " ".join(done.stderr.split())


def test_a_decision_leaves_an_unfinished_plan_alone(folder: tuple[Path, Done], call: Call) -> None:
    kept = folder[0] / "passerby-plan" / "parts" / "plan.toml"
    kept.parent.mkdir(parents=True)
    kept.touch()
    done = call("next", "visits.parquet", *OPTIONS, "--sensor-count", "1", "--at-most", "0.5", "--added", "0.9")
    assert done.returncode == 0, done.stderr
    assert kept.exists()
    assert (folder[0] / "passerby-next" / "decision.json").exists()


@pytest.mark.parametrize("command", ["plan", "next"])
def test_verdicts_about_few_people_are_not_written_down(folder: tuple[Path, Done], call: Call, command: str) -> None:
    few = folder[0] / "few.parquet"
    write_visits(few, people=4)
    done = call(command, few.name, *OPTIONS, *LIMIT, "--out", "sixth")
    assert done.returncode == 2
    assert "people: 4 can be measured, and what may be published is told for 5 or more" in " ".join(done.stderr.split())
    assert not (folder[0] / "sixth").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--earlier", "nowhere"), "is no folder"),
        (("--earlier", "empty"), "holds no audit.toml"),
        (("--earlier", "plan", "--holdout", "3"), "holdout is 4, and 3 for the next table"),
        (("--earlier", "plan", "--window", "6h"), "window is '3h', and '6h' for the next table"),
        (("--earlier", "plan", "--window", "auto"), "window is '3h', and 'auto' for the next table"),
    ],
)
def test_earlier_releases_that_cannot_be_looked_at(
    folder: tuple[Path, Done], call: Call, options: tuple[str, ...], said: str
) -> None:
    (folder[0] / "empty").mkdir(exist_ok=True)
    kept = [word for pair in zip(OPTIONS[::2], OPTIONS[1::2], strict=True) for word in pair if pair[0] not in options]
    done = call("next", "visits.parquet", *kept, *LIMIT, *options, "--out", "fourth")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
