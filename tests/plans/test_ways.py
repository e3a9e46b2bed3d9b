"""Ways to publish side by side: one set of numbers about everyone."""

from collections import Counter

import polars as pl
import pytest
from tests.plans.towns import town, wanted

import passerby as pb
from passerby.audits.findings import candidates
from passerby.audits.job import Job, doubted
from passerby.audits.settings import Measurement
from passerby.plans import survey
from passerby.plans.survey import LOOK
from passerby.plans.ways import compare
from passerby.questions.trace.measure import Enough

HOW = Measurement(misses=1, budget=1e7, runs=40)
LEVELS = (0.25, 0.5)


def audited(people: pb.People, release: pb.Release, share: float = 1.0) -> pl.DataFrame:
    """With a share of the doubt."""
    confidence = doubted(HOW, share).confidence
    return pb.audit(people, release, 1, budget=1e7, runs=40, workers=1, confidence=confidence)


@pytest.fixture(scope="module")
def people() -> pb.People:
    return town(5, people=30, steps=4)


@pytest.mark.thorough
def test_tried_on_everyone_it_is_an_audit_of_each_way(people: pb.People) -> None:
    release = wanted(people)
    rules = candidates([1.0], [5])
    found = compare(people, release, audited(people, release), rules, HOW, len(people), LEVELS, workers=1)
    for row in found.mechanisms.iter_rows(named=True):
        table = audited(people, pb.Release(release.sensors, rules[row["mechanism"]]), LOOK)
        assert row["lower"] == pytest.approx(table["lower"].mean())
        assert row["upper"] == pytest.approx(table["upper"].mean())
        assert row["baseline"] == pytest.approx(table["baseline_lower"].mean())
        assert row["lowest"] <= row["lower"] <= row["upper"] <= row["highest"]
    raw = found.mechanisms.row(0, named=True)
    assert (raw["lowest"], raw["highest"]) == (raw["lower"], raw["upper"])
    for row in found.shares.iter_rows(named=True):
        table = audited(people, pb.Release(release.sensors, rules[row["mechanism"]]), LOOK)
        truth = [float((table[end] >= row["threshold"] - 1e-12).mean()) for end in ("lower", "upper")]
        # What is known from other ways may say more than an audit of this one alone.
        assert truth[0] - 1e-12 <= row["at_least"] <= row["at_most"] <= truth[1] + 1e-12
        assert (row["lowest"], row["highest"]) == (row["at_least"], row["at_most"])


def test_limits_from_some_people_hold_for_everyone(people: pb.People) -> None:
    release = wanted(people)
    rules = candidates([1.0], [5])
    found = compare(people, release, audited(people, release), rules, HOW, 8, LEVELS, workers=1)
    tables = {name: audited(people, pb.Release(release.sensors, rule)) for name, rule in rules.items()}
    for row in found.mechanisms.iter_rows(named=True):
        table = tables[row["mechanism"]]
        assert row["lowest"] <= table["upper"].mean()
        assert row["highest"] >= table["lower"].mean()
    for row in found.shares.iter_rows(named=True):
        table = tables[row["mechanism"]]
        assert row["lowest"] <= float((table["upper"] >= row["threshold"]).mean())
        assert row["highest"] >= float((table["lower"] >= row["threshold"]).mean())


def test_the_least_noise_is_enough_and_no_less_is(people: pb.People) -> None:
    release = wanted(people)
    table = audited(people, release)
    found = compare(people, release, table, {}, HOW, 2 * len(people), LEVELS, workers=1)
    assert found.noise["threshold"].to_list() == list(LEVELS)
    # More than there are cannot be tried.
    assert set(found.noise["people"]) == {min(len(people), 40)}
    for row in found.noise.iter_rows(named=True):
        known = float((table["baseline_lower"] > row["threshold"]).mean())
        assert row["allowed"] == pytest.approx(min(1.0, known + 4 / len(people)))  # more than 1 % of them
        if row["sigma"]:
            noisy = audited(people, pb.Release(release.sensors, pb.Gaussian(row["sigma"])))
            assert float((noisy["lower"] > row["threshold"] + 1e-12).mean()) <= row["allowed"] + 1e-9
        if row["sigma"] == 0:
            assert float((table["upper"] > row["threshold"] + 1e-12).mean()) <= row["allowed"] + 1e-9
    assert any(row["sigma"] for row in found.noise.iter_rows(named=True))


def test_rounded_counts_get_no_noise(people: pb.People) -> None:
    release = pb.Release(wanted(people).sensors, pb.Rounding(5))
    found = compare(people, release, audited(people, release), {"raw": pb.Raw()}, HOW, 8, LEVELS, workers=1)
    assert found.noise.height == 0
    assert found.mechanisms["people"].to_list() == [8]


def test_the_doubt_of_an_audit_and_of_a_trial_adds_up(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    """One look has a share of the doubt, so that there must be no second one at another threshold."""
    looks = Counter[tuple[pb.Mechanism, int]]()

    def found_at_most(job: Job, person: int, enough: Enough) -> tuple[tuple[float, ...], bool]:
        looks[job.release.mechanism, person] += 1
        wide, narrow = (0.26, 0.6, 0.0, 0.0), (0.26, 0.4, 0.0, 0.0)
        return (wide if enough(*wide) else narrow), False

    monkeypatch.setattr(survey, "person_ends", found_at_most)
    release = wanted(people)
    nothing = {"lower": 0.0, "upper": 1.0, "baseline_lower": 0.0, "baseline_upper": 0.0}
    table = audited(people, release).with_columns(pl.lit(value).alias(name) for name, value in nothing.items())
    for drawn, share in ((True, 1 + LOOK), (False, LOOK)):
        looks.clear()
        known = table.with_columns(sampled=pl.lit(drawn))
        found = compare(people, release, known, {}, HOW, 8, LEVELS, workers=1)
        assert set(looks.values()) == {1}
        assert found.confidence == pytest.approx(1 - share * (1 - HOW.confidence))


def test_what_is_certain_has_no_confidence(people: pb.People) -> None:
    release = wanted(people)
    table = audited(people, release)
    assert not table["sampled"].any()
    assert compare(people, release, table, {}, HOW, 8, (), workers=1).confidence is None
