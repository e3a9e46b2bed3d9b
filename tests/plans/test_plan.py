"""The whole of a plan: time limits, interruptions, weights, workers and what does not apply."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.plans.towns import limit_between, town, wanted

import passerby as pb
from passerby.audits.job import Job
from passerby.audits.person import person_ends
from passerby.plans.lever import tells_less
from passerby.plans.levers import LEVERS, usual
from passerby.plans.names import TRYING
from passerby.visits import write_city

LITTLE = {"budget": 1e5, "runs": 20, "workers": 1, "presence_at_most": 1.0}


@pytest.fixture(scope="module")
def people() -> pb.People:
    return town(6, people=24)


@pytest.fixture(scope="module")
def limit(people: pb.People) -> pb.Limit:
    return limit_between(people, wanted(people), 0.2)


def test_without_time_nothing_is_tried(people: pb.People, limit: pb.Limit) -> None:
    found = pb.plan(people, wanted(people), [limit], 0, minutes=0, **LITTLE)  # type: ignore[arg-type]
    assert found.out_of_time
    assert found.recommended == {}
    assert found.wanted.verdict == "refused"
    assert repr(found) == "Plans(none that keeps the limits was found)"


def test_what_was_measured_before_an_interruption_is_not_measured_again(
    people: pb.People, limit: pb.Limit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, plain = [0], person_ends

    def counting(job: Job, person: int, enough: object = None) -> object:
        calls[0] += 1
        if calls[0] == stop:
            raise KeyboardInterrupt
        return plain(job, person, enough)  # type: ignore[arg-type]

    monkeypatch.setattr("passerby.plans.survey.person_ends", counting)
    how = {**LITTLE, "levers": ["rounding", "places"]}
    stop = -1
    whole = pb.plan(people, wanted(people), [limit], 0, **how)  # type: ignore[arg-type]
    needed, calls[0], stop = calls[0], 0, 30
    with pytest.raises(KeyboardInterrupt):
        pb.plan(people, wanted(people), [limit], 0, folder=tmp_path, **how)  # type: ignore[arg-type]
    calls[0], stop = 0, -1
    again = pb.plan(people, wanted(people), [limit], 0, folder=tmp_path, **how)  # type: ignore[arg-type]
    assert needed > 30
    assert calls[0] == needed - 29
    assert again.recommended == whole.recommended


def test_what_is_sure_already_is_recommended_as_it_is(people: pb.People) -> None:
    found = pb.plan(people, wanted(people), [pb.Limit(share=0.5, added=0.99)], 0, **LITTLE)  # type: ignore[arg-type]
    assert {plan.release for plan in found.recommended.values()} == {wanted(people)}
    # What readers ask for is tried in any case.
    assert {*found.tried} == {*found.always}


@pytest.mark.thorough
def test_several_workers_find_the_same(people: pb.People, limit: pb.Limit) -> None:
    how = {"budget": 1e5, "runs": 20, "presence_at_most": 1.0, "levers": ["rounding", "places"]}
    one, two = (pb.plan(people, wanted(people), [limit], 0, workers=n, **how) for n in (1, 2))  # type: ignore[arg-type]
    assert one.recommended == two.recommended
    assert one.tried == two.tried


def test_weights_change_what_is_left_out(people: pb.People, limit: pb.Limit) -> None:
    release = wanted(people)
    kept = {}
    for place in release.sensors[0]:
        weights = np.full(people.counts.shape, 0.01)
        weights[:, place] = 1.0
        how = {**LITTLE, "levers": ["places"], "weights": weights}
        found = pb.plan(people, release, [limit], 0, **how)  # type: ignore[arg-type]
        assert all(plan.cost.published <= 1 for plan in found.tried)
        kept[place] = {place in step for plan in found.recommended.values() for step in plan.release.sensors}
    assert any(True in there for there in kept.values())


def test_levers_that_do_not_apply_say_why(people: pb.People) -> None:
    release = pb.Release(wanted(people).sensors, pb.Rounding(3))
    how = {**LITTLE, "levers": ["gaussian", "rounding", "suppression"]}
    found = pb.plan(people, release, [pb.Limit(share=0.0, added=0.001)], 0, **how)  # type: ignore[arg-type]
    assert set(found.refused) == {"gaussian", "rounding"}
    assert all(tells_less(plan.release, release) for plan in found.tried)


def test_releases_of_a_crowd_are_compared_with_the_same_sensors_only() -> None:
    """Ends are given where others were at steps that follow from the sensors."""
    crowd = pb.Crowd()
    raw, noisy = (pb.Release([[0, 1], [0]], mechanism, crowd) for mechanism in (pb.Raw(), pb.Gaussian(1.0)))
    assert tells_less(noisy, raw)
    assert not tells_less(raw, noisy)
    assert not tells_less(pb.Release([[0], [0]], others=crowd), raw)
    assert not tells_less(pb.Release([[0], [0]]), raw)


def test_every_lever_tells_less_than_what_is_wanted(people: pb.People) -> None:
    from passerby.plans.lever import Dial, Scene

    release = wanted(people)
    for lever in LEVERS:
        if isinstance(lever, Dial):
            family = lever.family(release, Scene(people.places))
            built = [family.build(release, position) for position in family.positions]
            assert all(tells_less(each, release) for each in built)
            if family.monotone:
                assert all(tells_less(b, a) for a, b in pairwise(built))
    assert set(usual(release)) <= {lever.name for lever in LEVERS}
    assert "visitors" in usual(release)
    assert "visitors" not in usual(pb.Release([[0, 1]] * 12))


@pytest.mark.parametrize("kind", [pb.Laplace, pb.Geometric])
def test_larger_noise_is_smaller_noise_and_more(kind: type[pb.Laplace] | type[pb.Geometric]) -> None:
    """The law of the rest, from generating functions: a part stays, and the other gets noise of the larger scale."""
    small, large = kind(1.5), kind(4.0)
    assert large.tells_less_than(small)
    assert not small.tells_less_than(large)
    if kind is pb.Geometric:
        q, p = np.exp(-1 / 1.5), np.exp(-1 / 4.0)
        stays = (1 - p) ** 2 / (1 - q) ** 2 * q / p
        values = np.arange(-400, 401)
        laws = [(1 - r) / (1 + r) * r ** np.abs(values) for r in (q, p)]
        rest = (1 - stays) * laws[1]
        rest[400] += stays
        assert 0 < stays < 1
        both = np.convolve(laws[0], rest)[400:1201]
        assert both[300:501] == pytest.approx(laws[1][300:501], rel=1e-9)


@pytest.mark.parametrize(
    "noise", [pb.Gaussian(0.5), pytest.param(pb.Laplace(0.5), marks=pytest.mark.thorough)], ids=repr
)
def test_noisy_counts_can_be_planned(people: pb.People, noise: pb.Mechanism) -> None:
    """Hiding small ones of them, and rounding them, is tried as for raw counts."""
    some = {"levers": ["suppression", "rounding"], "drawn": 4, **LITTLE}
    found = pb.plan(people, wanted(people).through(noise), [pb.Limit(share=0, added=0)], 1, **some)  # type: ignore[arg-type]
    assert not {"suppression", "rounding"} & {*found.refused}
    levers = {setting.lever for plan in found.tried for setting in plan.settings}
    assert {"suppression", "rounding"} <= levers


@pytest.mark.parametrize("name", ["one", "two/parts"])
def test_an_unfinished_plan_in_a_folder_of_visits_is_not_read_as_visits(
    people: pb.People, limit: pb.Limit, name: str, tmp_path: Path
) -> None:
    def stop(stage: str, done: int, everything: int) -> None:
        if stage == TRYING and done > 1:
            raise KeyboardInterrupt

    write_city(tmp_path / "city.csv", 12, 20, 4)
    with pytest.raises(KeyboardInterrupt):
        pb.plan(people, wanted(people), [limit], 0, folder=tmp_path / name, progress=stop, **LITTLE)  # type: ignore[arg-type]
    assert [*tmp_path.rglob("*.jsonl")]
    assert len(pb.read_visits(tmp_path).people) == 12
