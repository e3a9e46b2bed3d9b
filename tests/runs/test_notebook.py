"""A report made in Python: what a backtest found is handed in, and other adversaries are tried."""

import pytest
from tests.people.test_habits import random_traces

import passerby as pb

QUIET = {"explore": 0, "workers": 1}


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(3, 30, 12, 6), holdout=3, habits="paper")


def test_a_backtest_and_adversaries_are_on_the_page(people: pb.People) -> None:
    release = pb.Release([[0, 1]] * 3)
    found = pb.backtest(random_traces(3, 30, 12, 6), holdout=3, habits="paper", release=release)
    report = pb.audit_report(people, release, 1, backtest=found, adversaries=6, known_steps=[1], **QUIET)  # type: ignore[arg-type]
    assert {"reliability", "promises", "robust", "adversaries"} <= set(report.figures)
    assert report.summary.backtest is not None
    assert report.summary.backtest.verdict == found.verdict
    assert len(report.summary.adversaries) == 3
    assert "Did such predictions come true?" in report.page


def test_presence_is_asked_as_in_a_folder(people: pb.People) -> None:
    """Of both adversaries, at each counted place, on the page and in rows; and not at all where nobody wants it."""
    release, place = pb.Release([[0, 1]] * 3), people.places[0]
    report = pb.audit_report(people, release, 1, adversaries=0, sensitive=[place], presence=6, **QUIET)  # type: ignore[arg-type]
    assert {each.place for each in report.summary.presence} == set(people.places[:2])
    assert {each.place for each in report.summary.presence if each.sensitive} == {place}
    assert set(report.questions["adversary"]) == {"insider", "habits"}
    none = pb.audit_report(people, release, 1, adversaries=0, presence=0, **QUIET)  # type: ignore[arg-type]
    assert none.summary.presence == []
    assert none.questions.height == 0
    with pytest.raises(pb.InputError, match="'nowhere' is not one of the"):
        pb.audit_report(people, release, 1, adversaries=0, sensitive=["nowhere"], **QUIET)  # type: ignore[arg-type]


def test_without_them_the_sections_are_left_out(people: pb.People) -> None:
    report = pb.audit_report(people, pb.Release([[0]] * 3), 1, adversaries=0, **QUIET)  # type: ignore[arg-type]
    assert report.summary.backtest is None
    assert not {"reliability", "adversaries"} & set(report.figures)


def test_nothing_that_is_published_reveals_nothing(people: pb.People) -> None:
    """There is nothing to leave out, and all else is on the page."""
    report = pb.audit_report(people, pb.Release.silent(3), 1, explore=5, adversaries=5, workers=1)
    assert report.table["lower"].to_list() == pytest.approx(report.table["baseline_lower"].to_list())
    assert "0 counts from 0 places over 3 steps" in report.page


def test_a_number_is_no_backtest(people: pb.People) -> None:
    with pytest.raises(pb.InputError, match=r"backtest is a int; expected what passerby\.backtest returns"):
        pb.audit_report(people, pb.Release([[0]] * 3), 1, backtest=300, **QUIET)  # type: ignore[arg-type]
