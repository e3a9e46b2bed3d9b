"""What is said before an audit is believed."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces, traces

import passerby as pb
from passerby.audits.alerts import KEEP, about_backtest, about_few, about_published, alerts
from passerby.audits.coverage import Absence, Coverage, coverage_of, more_elsewhere, times_there
from passerby.audits.disclosure import told_backtest
from passerby.audits.record import Added
from passerby.visits.table import LeftOut, Skipped


def people(fitted: float, published: float) -> pb.People:
    """Ten people at three places, elsewhere (3) in such shares of 20 fitted and 5 published steps."""
    rng = np.random.default_rng(0)
    array = rng.integers(0, 3, (10, 25))
    array[:, :20][rng.random((10, 20)) < fitted] = 3
    array[:, 20:][rng.random((10, 5)) < published] = 3
    return pb.fit_people(traces(array, 4), holdout=5)


def covered(people: pb.People, skipped: Skipped = Skipped(rows=10)) -> Coverage:  # noqa: B008
    return coverage_of(people, skipped)


def test_nothing_to_say() -> None:
    assert alerts(covered(people(0.1, 0.1), Skipped(rows=10_000, times=5, duplicates=3000))) == ()


def test_shares() -> None:
    some = people(0.0, 1.0)
    fitted, published = Absence.of(some).shares(some)
    assert (fitted, published) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("skipped", "words"),
    [
        (Skipped(rows=1000, times=3, missing=2), "5 of 1,000 rows could not be used: 3 without a time"),
        (Skipped(rows=1000, outside=7), "7 of 1,000 rows lie outside"),
    ],
)
def test_rows(skipped: Skipped, words: str) -> None:
    found = covered(people(0.1, 0.1), skipped)
    (said,) = alerts(found, exact=True)
    assert words in said
    (shared,) = alerts(found)
    assert "500 or fewer of about 1,000 rows" in shared  # ten people, of whom five have five hundred


def test_people_who_are_not_audited() -> None:
    some = replace(people(0.1, 0.1), left_out=LeftOut(people=29_346, unseen=9_336, seldom=20_000))
    (said,) = alerts(covered(some))
    assert "29,336 of 29,346 people are not audited: 20,000 are seen" in said
    assert "9,336 in none" in said


def test_elsewhere_and_change() -> None:
    said = alerts(covered(people(0.1, 1.0)))
    assert any("person is elsewhere" in each and "Longer steps, more places or more misses" in each for each in said)
    assert any("they changed" in each for each in said)
    assert any("at none of the chosen places in any of the published steps" in each for each in said)


def test_change_is_what_habits_did_not_expect() -> None:
    """People who are chosen for being seen often are seen less often afterwards: nothing has changed by that."""
    some = covered(people(0.1, 0.1))
    for fitted, expected, published, changed in (
        (0.0, 0.3, 0.25, False),
        (0.3, 0.05, 0.3, True),
        (0.0, 0.3, 0.0, True),
    ):
        shares = {"elsewhere_fitted": fitted, "elsewhere_expected": expected, "elsewhere_published": published}
        said = alerts(some.model_copy(update=shares), exact=True)
        assert any("they changed" in each for each in said) == changed
    unknown = {"elsewhere_fitted": 0.0, "elsewhere_expected": None, "elsewhere_published": 0.4}
    assert not any("they changed" in each for each in alerts(some.model_copy(update=unknown)))


def gone_of(fitted: pb.People) -> pb.People:
    """The same people, who are elsewhere at all published steps."""
    return replace(fitted, actual=np.full_like(fitted.actual, fitted.elsewhere))


def test_how_often_somebody_is_in_some_states_is_that_of_all_traces() -> None:
    prior = pb.MarkovPrior([0.3, 0.5, 0.2], [[0.1, 0.6, 0.3], [0.4, 0.4, 0.2], [0.9, 0.0, 0.1]])
    there, first, second = np.array([True, False, True]), 0.0, 0.0
    for trace in product(range(3), repeat=4):
        chance = prior.initial[trace[0]] * np.prod([prior.matrix(t)[x, y] for t, (x, y) in enumerate(pairwise(trace))])
        number = there[list(trace)].sum()
        first, second = first + chance * number, second + chance * number**2
    assert times_there(prior, there, 4) == pytest.approx((first, second - first**2))


def test_a_few_steps_of_one_person_are_no_change() -> None:
    """Four steps of somebody who is elsewhere every second time differ by chance from what habits expect."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        one = pb.fit_people(traces(rng.integers(0, 2, (1, 40)) * 3, 4), holdout=4, habits="paper", min_active=1)
        for away in (1, 3):
            some = replace(one, actual=np.array([[3] * away + [0] * (4 - away)], dtype=np.int32))
            said = alerts(covered(some), exact=True)
            assert not any("they changed" in each for each in said)
    many = pb.fit_people(traces(rng.integers(0, 2, (60, 40)) * 3, 4), holdout=4, habits="paper", min_active=1)
    actual = np.where(np.arange(4) < 3, 3, 0) * np.ones((60, 1))
    said = alerts(covered(replace(many, actual=actual.astype(np.int32))), exact=True)
    assert any("they changed" in each for each in said)


def test_what_habits_expect_of_people_who_live_by_them() -> None:
    fitted = pb.fit_people(random_traces(3, 400, 16, 5), holdout=4, habits="paper")
    rng = np.random.default_rng(0)
    drawn = np.array([fitted.prior(each, reduced=False)[0].sample(1, 4, rng)[0] for each in range(len(fitted))])
    living = replace(fitted, actual=drawn.astype(np.int32))
    alive, away = more_elsewhere(living, 400), more_elsewhere(gone_of(fitted), 400)
    assert alive is not None
    assert away is not None
    assert abs(alive.share) < 4 * alive.error < 0.08
    gone, expected = gone_of(fitted), 1 - away.share
    assert expected == pytest.approx((drawn == fitted.elsewhere).mean(), abs=0.04)
    assert covered(gone).elsewhere_expected == pytest.approx(expected, abs=0.05)
    assert more_elsewhere(replace(fitted, actual=fitted.actual[:, :0])) is None


def test_a_step_that_is_covered_in_part_and_remarks() -> None:
    some = replace(people(0.1, 0.1), left_out=LeftOut(people=10, partial_step=True))
    said = alerts(covered(some), ["a remark"])
    assert said[0] == "a remark"
    assert said[1].startswith("The last step is left out")


def test_few_people_are_told_as_five_and_fewer_absent_ones_not_at_all() -> None:
    array = np.zeros((40, 25), dtype=np.int64)
    array[:3, 20:] = 3
    some = replace(pb.fit_people(traces(array, 4), holdout=5), left_out=LeftOut(people=43, unseen=1, seldom=2))
    (said,) = alerts(covered(some))
    assert "10 of 50 people are not audited: 5 are seen" in said
    assert "groups of fewer than 5 are told as 5" in said


def test_elsewhere_where_it_may_be_named() -> None:
    said = alerts(covered(people(0.9, 0.9)), name_elsewhere=True)
    assert "where to say elsewhere is right" in said[-1]
    assert "nobody can be found" not in " ".join(said)


@pytest.mark.parametrize(("many", "some"), [(3, "5 or fewer"), (5, "5 or fewer"), (6, "6")])
def test_people_of_whom_nothing_is_known(many: int, some: str) -> None:
    array = np.zeros((60, 25), dtype=np.int64)
    array[:many, :20] = 3
    (said,) = alerts(covered(pb.fit_people(traces(array, 4), holdout=5, habits="paper")))
    assert said.startswith(f"{some} of the people are at none of the chosen places in any step before")


def test_what_a_backtest_warns_of() -> None:
    walked = random_traces(3, 40, 20, 8)
    found = pb.backtest(walked, holdout=3, habits="paper")
    told = told_backtest(found, pl.Series([0.5] * 40), None)

    def said(**more: object) -> list[str]:
        plain: dict[str, object] = {"added": None, "windows": [], "about": "map"}
        return list(about_backtest(told.model_copy(update={**plain, **more}), None))

    assert said(verdict="came true") == []
    (low,) = said(verdict="did not come true", too_low=True, sentence="They did not.")
    assert low == "They did not. The chances in this report are likely too low."
    assert said(verdict="did not come true", too_low=False)[0].endswith("likely too high.")
    assert "differ too much, or people are too few" in said(verdict="cannot be told", independent=3)[0]
    added = Added(verdict="did not come true", sentence="What the counts add did not.", promised=0.09, right=0.02)
    assert said(verdict="came true", added=added) == ["What the counts add did not."]
    both = said(verdict="did not come true", too_low=False, added=added, about="added", sentence=added.sentence)
    assert both == ["What the counts add did not. What this report says that the counts add is likely too high."]
    [visited] = (each for each in told.windows if (each.what, each.steps_before) == ("visited", 0))
    worse = {"verdict": "did not come true", "promised": 0.3, "right": 0.1}
    [presence] = said(verdict="came true", windows=[visited.model_copy(update=worse)])
    assert "promised a mean chance of 30 % to be at one of them at any time, and 10 % were" in presence
    assert presence.endswith("likely too high.")
    assert "too few for a second time" in said(verdict="cannot be told", independent=1)[0]
    (why,) = about_backtest(None, "6 steps are too few")
    assert why == "Whether such predictions come true was not tried, so nobody knows: 6 steps are too few."
    assert list(about_backtest(None, None)) == []


def test_counts_that_cannot_have_come_from_these_visits() -> None:
    (said,) = about_published({"possible": 6, "impossible": 54})  # told as ten
    assert said.startswith("The published counts are impossible for 83 % of the people, given their habits")
    assert "for 83 % of the people" in next(about_published({"possible": 1, "impossible": 29}))
    assert list(about_published({"possible": 27, "impossible": 3})) == []
    assert list(about_published({"impossible": 4})) == []
    assert list(about_published(None)) == []


@pytest.mark.parametrize(("gains", "few"), [([0.5] + [0.0] * 39, True), ([0.1] * 5, False), ([0.0] * 9, False)])
def test_whoever_made_an_audit_is_told_that_few_people_gain_nearly_all(gains: list[float], few: bool) -> None:
    table = pl.DataFrame({"baseline_lower": [0.2] * len(gains), "lower": [0.2 + gain for gain in gains]})
    said = list(about_few(table))
    assert bool(said) == few
    assert all("keep report.html and summary.json where the visits are kept" in sentence for sentence in said)
    assert list(about_few(table.head(4))) == []


@pytest.mark.parametrize("few", [False, True])
def test_what_must_not_be_shared_says_so_itself(few: bool) -> None:
    """The page and the summary, wherever they are found."""
    people = pb.fit_people(pb.simulate_city(30, 20, 4), window="3h", places=9, min_active=1, holdout=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("passerby.audits.alerts.rests_on_few", lambda _: few)
        made = pb.audit_report(people, pb.Release([0, 1, 0, 1]), misses=1, workers=1, explore=0, adversaries=0)
    assert (KEEP in made.summary.alerts) == few
    assert ('role="note">Internal: means tell of few people here' in made.page) == few
    assert (f"Alert: {KEEP}" in made.page) == few


@pytest.mark.parametrize(("others", "said"), [(126_163, True), (74_000, True), (73_000, False)])
def test_rows_at_places_that_were_not_chosen(others: int, said: bool) -> None:
    some = replace(people(0.1, 0.1), left_out=LeftOut(people=10, other_places=others))
    found = [each for each in alerts(covered(some, Skipped(rows=147_938))) if "not chosen" in each]
    assert bool(found) == said
    if others == 126_163:  # of ten people, so that five have 73,969 of all rows
        assert found[0].startswith("Most rows (about 200,000 of about 200,000) are at")
        many = replace(some, left_out=LeftOut(people=2000, other_places=others))
        (alert,) = (each for each in alerts(covered(many, Skipped(rows=147_938))) if "not chosen" in each)
        assert alert.startswith("Most rows (about 130,000 of about 150,000) are at places that were not chosen")


def test_people_without_visits_have_no_rows_to_speak_of() -> None:
    some = replace(people(0.1, 0.1), left_out=LeftOut(people=10, other_places=84))
    assert alerts(covered(some, Skipped())) == ()
