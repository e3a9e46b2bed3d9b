"""Releases one after another: their joint loss, and what may go out next."""

import re
from dataclasses import replace

import pytest
from tests.plans.towns import limit_between, town, wanted

import passerby as pb
from passerby.audits.settings import Measurement
from passerby.plans.lever import cells_of, ways_of
from passerby.plans.limit import counted
from passerby.plans.sequence import Decision, decide, together
from passerby.plans.survey import COLUMNS
from passerby.plans.task import Task

HOW = Measurement(misses=0, tolerance=0.0, budget=1e9)


def task(people: pb.People, release: pb.Release, limit: pb.Limit) -> Task:
    return Task(people, release, (limit,), HOW, None, (), {}, frozenset(), None, 60, None)


def asked(people: pb.People, earlier: list[pb.Release], release: pb.Release, limit: pb.Limit) -> Decision:
    return decide(task(people, release, limit), earlier, workers=1)


def gains(people: pb.People, release: pb.Release, limit: pb.Limit) -> str:
    table = pb.audit(people, release, 0, tolerance=0.0, budget=1e9, workers=1)
    lower, upper, *known = (table[name].to_numpy() for name in COLUMNS)
    return counted(limit, lower, upper, (known[0], known[1])).verdict


def test_the_same_noise_at_other_sensors_is_one_release() -> None:
    both, exact = together([pb.Release([[0], [1]], pb.Gaussian(1.0)), pb.Release([[2], []], pb.Gaussian(1.0))])
    assert (both.sensors, both.mechanism, exact) == (((0, 2), (1,)), pb.Gaussian(1.0), True)


@pytest.mark.parametrize(
    "releases",
    [
        [pb.Release([0], pb.Gaussian(1.0)), pb.Release([0], pb.Gaussian(1.0))],
        [pb.Release([0], pb.Gaussian(1.0)), pb.Release([1], pb.Laplace(2.0))],
        [pb.Release([0], pb.Gaussian(1.0)), pb.Release(counts=[pb.Present([0, 1], step=0)], steps=1)],
    ],
)
def test_noise_of_each_release_is_its_own(releases: list[pb.Release]) -> None:
    both, exact = together(releases)
    assert exact
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    found, added = (pb.measure(prior, each, 0, tolerance=1e-3) for each in (both, releases[0] + releases[1]))
    assert (found.lower, found.upper) == (added.lower, added.upper)


@pytest.mark.parametrize("other", [pb.Suppression(5), pb.Gaussian(1.0), pb.Raw()])
def test_what_depends_on_the_count_is_bounded_by_raw_counts(other: pb.Mechanism) -> None:
    releases = [pb.Release([0], pb.Suppression(5)), pb.Release([[0, 1]], other)]
    both, exact = together(releases)
    assert not exact
    assert dict(zip(cells_of(both), ways_of(both), strict=True)) == {
        pb.Present([0], step=0): pb.Raw(),
        pb.Present([1], step=0): other if other.shift_invariant else pb.Raw(),
    }


def test_raw_counts_published_again_tell_nothing_new() -> None:
    both, exact = together([pb.Release([0, 1]), pb.Release([[0, 2], []])])
    assert (both.sensors, exact) == (((0, 2), (1,)), True)


def test_releases_of_other_steps_are_refused() -> None:
    with pytest.raises(pb.UnsupportedRelease, match="of the same steps"):
        together([pb.Release([0]), pb.Release([0, 1])])


@pytest.fixture(scope="module")
def people() -> pb.People:
    return town(3, people=20)


def test_a_table_goes_out_while_all_together_keep_the_limit(people: pb.People) -> None:
    (places,) = {*wanted(people).sensors}
    first = pb.Release([[places[0]], [], []])
    whole = pb.Release([places] * 3)
    limit = limit_between(people, whole, 0.1)
    found = {limit_.level: asked(people, [first], whole, limit_) for limit_ in (limit, pb.Limit(0.1, added=0.99))}
    assert found[0.99].answer == "publish"
    strict = found[limit.level]
    assert gains(people, whole, limit) == "refused"
    assert strict.answer in ("coarser", "hold")
    if strict.answer == "coarser":
        assert strict.table is not None
        assert strict.together is not None
        assert {*cells_of(strict.table.release)} < {*cells_of(whole)}
        assert {*cells_of(first), *cells_of(strict.table.release)} == {*cells_of(strict.together)}
        assert gains(people, strict.together, limit) == "sure"


def test_nothing_goes_out_after_too_much_did(people: pb.People) -> None:
    whole = wanted(people)
    limit = limit_between(people, whole, 0.1)
    found = asked(people, [whole], whole, limit)
    assert found.answer == "hold"
    assert "published already" in found.why
    # Of twenty people, a five is a quarter, and what the limit allows is told as that.
    assert {float(share) for share in re.findall(r"([0-9.]+) %", found.why)} <= {0, 10, 15, 25, 50, 75, 100}


def test_a_decision_does_not_look_at_the_counts(people: pb.People) -> None:
    """The same habits with other counts and other traces give the same answer."""
    (places,) = {*wanted(people).sensors}
    whole = pb.Release([places] * 3, pb.Suppression(5))
    limit = limit_between(people, pb.Release([places] * 3), 0.1)
    other = replace(people, counts=people.counts[::-1] * 3 + 1, actual=people.actual[::-1])
    one, two = (asked(some, [], whole, limit) for some in (people, other))
    assert (one.answer, one.why) == (two.answer, two.why)
    assert not one.exact
    if one.table is not None and two.table is not None:
        assert one.table.release == two.table.release


def test_counts_that_are_out_already_can_be_left_out_of_the_next_table(people: pb.People) -> None:
    """The same counts with fresh noise tell more each time; some of them may be published once more."""
    (places,) = {*wanted(people).sensors}
    table = pb.Release([places] * 3, pb.Gaussian(1.0))
    again, exact = together([table, table])
    assert exact
    rows = {}
    for name, release in (("once", table), ("again", again)):
        found = pb.audit(people, release, 0, tolerance=0.01, budget=1e6, workers=1)
        rows[name] = (found["upper"] - found["baseline_lower"]).to_numpy()
    # Halfway between the two, since series are drawn, and those of parts of a table with less doubt.
    level = float(sorted(rows["once"])[-3] + sorted(rows["again"])[-3]) / 2
    limit = pb.Limit(share=2 / len(people), added=level)
    assert (rows["again"] > level).sum() > 2
    how = Measurement(misses=0, tolerance=0.01, budget=1e6)
    decision = decide(replace(task(people, table, limit), measurement=how), [table], workers=1)
    assert decision.answer == "coarser"
    assert decision.table is not None
    assert decision.together is not None
    assert 0 < len(cells_of(decision.table.release)) < len(cells_of(table))
    # Noise of both tables is there: the counts that are published twice, and those that are not.
    assert len(decision.together.listed) == len(cells_of(table)) + len(cells_of(decision.table.release))
