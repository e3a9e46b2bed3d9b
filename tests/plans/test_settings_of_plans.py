"""The settings that are written for a plan lead back to its release, whatever its counts and mechanisms are."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import passerby as pb
from passerby.audits.inputs import Inputs, gather
from passerby.audits.settings_file import as_toml, read_settings
from passerby.audits.validation import check_settings
from passerby.audits.wording import Source
from passerby.plans.lever import Choice, Dial, Scene, without
from passerby.plans.levers import BY_NAME
from passerby.plans.settings import PlanSettings, check_plan
from passerby.runs.plan import audit_settings, write_release

ALONE = [("zones",), ("visitors",), ("places",), ("counts",), ("every",), ("gaussian",), ("suppression",)]
ONE, OTHER = ("zones", "visitors", "places", "counts", "every"), ("gaussian", "rounding", "suppression", "geometric")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlanSettings, Inputs]:
    folder = tmp_path_factory.mktemp("plans")
    pb.simulate_city(20, 12, 4, seed=3).table.write_parquet(folder / "visits.parquet")
    settings = check_settings(
        {
            "visits": str(folder / "visits.parquet"),
            "window": "6h",
            "places": 6,
            "min_active": 1,
            "holdout": 3,
            "habits": "paper",
            "sensor_count": 3,
        }
    )
    return PlanSettings(settings, (pb.Limit(share=0.1, added=0.05),)), gather(settings)


def moved(release: pb.Release, lever: str, scene: Scene) -> pb.Release:
    """The release with a lever in a middle position."""
    found = BY_NAME[lever]
    if isinstance(found, Choice):
        return without(release, found.items(release, scene)[1].cells)
    assert isinstance(found, Dial)
    assert found.refuses(release, scene) is None
    family = found.family(release, scene)
    return family.build(release, family.positions[len(family.positions) // 2])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"limits": [{"share": 0.1, "abvoe": 0.5}]}, r"such as 'abvoe' \(did you mean above\?\)"),
        ({"limits": [{"shar": 0.1, "above": 0.5}]}, r"such as 'shar' \(did you mean share\?\)"),
        ({"wieghts": "w.csv"}, r"wieghts: there is no such setting; did you mean weights\?"),
        ({"sensor_plaecs": ["a"]}, r"sensor_plaecs: there is no such setting; did you mean sensor_places\?"),
    ],
)
def test_keys_that_are_misspelled(values: dict[str, Any], said: str) -> None:
    with pytest.raises(pb.PasserbyError, match=said):
        check_plan(Source({"visits": "v.csv", "limits": [{"share": 0.1, "above": 0.5}], **values}))


@pytest.mark.parametrize("levers", [*ALONE, *product(ONE, OTHER)], ids=" and ".join)
def test_the_release_comes_back(levers: tuple[str, ...], given: tuple[PlanSettings, Inputs], tmp_path: Path) -> None:
    settings, inputs = given
    first, second, third = inputs.release.sensors[0]
    scene = Scene(inputs.people.places, levels=({"two": (first, second), "one": (third,)},))
    release = inputs.release
    for lever in levers:
        release = moved(release, lever, scene)
    assert release != inputs.release
    write_release(inputs.people, release, tmp_path)
    written = as_toml(audit_settings(settings, inputs, release, tmp_path), tmp_path)
    (tmp_path / "audit.toml").write_text(written, encoding="utf-8")
    again = gather(check_settings(read_settings(tmp_path / "audit.toml"), "audit.toml"))
    assert again.release == release
    assert again.people.ids.equals(inputs.people.ids)


def test_a_number_that_is_published_several_times_comes_back(
    given: tuple[PlanSettings, Inputs], tmp_path: Path
) -> None:
    """With fresh noise each time: rows for it are told apart, and those that are not are refused."""
    settings, inputs = given
    zone, every = pb.Present([0, 2], 1), pb.Visitors([1], [0, 1, 2])
    counts = [zone, every, zone, pb.Moved([0], [1], 0), zone, every]
    release = pb.Release(counts=counts, steps=3, mechanism=pb.Gaussian(2.0))
    write_release(inputs.people, release, tmp_path)
    written = as_toml(audit_settings(settings, inputs, release, tmp_path), tmp_path)
    (tmp_path / "audit.toml").write_text(written, encoding="utf-8")
    chosen = check_settings(read_settings(tmp_path / "audit.toml"), "audit.toml")
    assert gather(chosen).release == release
    lines = (tmp_path / "counts.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(line.rpartition(",")[2] for line in lines) == ["1", "1", "1", "2", "2", "3", "draw"]
    (tmp_path / "counts.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines), encoding="utf-8")
    with pytest.raises(pb.InputError, match=r"the count of .* is given twice, before in line \d; take one out"):
        gather(chosen)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            "{0},1\n{1},2\n{0},1\n",
            "line 4: the count of '{0}' at step 1 is given twice, before in line 2; take one out",
        ),
        ("{0},\n{1},2\n{0},3\n", "line 4: the count of '{0}' at step 3 is given twice, before in line 2"),
        ("{0},1-2\n{0},2-3\n", "line 3: the count of '{0}' at step 2 is given twice, before in line 2"),
        ("{0};{1},1\n{1} ; {0},1\n", "line 3: the count of '{1} ; {0}' at step 1 is given twice, before in line 2"),
    ],
)
def test_a_count_stands_once_in_a_file(
    given: tuple[PlanSettings, Inputs], tmp_path: Path, rows: str, said: str
) -> None:
    settings, inputs = given
    names = inputs.people.places
    (tmp_path / "counts.csv").write_text("place,step\n" + rows.format(*names), encoding="utf-8")
    with pytest.raises(pb.InputError) as caught:
        gather(replace(settings.audit, counts=tmp_path / "counts.csv"))
    assert said.format(*names) in str(caught.value)


def test_the_figures_come_back_to_the_digit(given: tuple[PlanSettings, Inputs], tmp_path: Path) -> None:
    """What a plan measured on everyone, and an audit by its settings."""
    settings, inputs = given
    people = inputs.people
    first, second, third = inputs.release.sensors[0]
    levels = [{"two": (first, second), "one": (third,)}]
    how = {"budget": 1e6, "runs": 700, "workers": 1, "levels": levels, "presence_at_most": 1.0}
    for levers in (["zones", "gaussian"], ["visitors", "rounding"]):
        limit = pb.Limit(share=0.1, added=0.02)
        found = pb.plan(people, inputs.release, [limit], 1, levers=levers, **how)  # type: ignore[arg-type]
        for name, plan in found.recommended.items():
            folder = tmp_path / "-".join([*levers, name])
            folder.mkdir()
            write_release(people, plan.release, folder)
            chosen = replace(settings, audit=replace(settings.audit, misses=1, budget=1e6, runs=700))
            text = as_toml(audit_settings(chosen, inputs, plan.release, folder), folder)
            (folder / "audit.toml").write_text(text, encoding="utf-8")
            read = check_settings(read_settings(folder / "audit.toml"), "audit.toml")
            table = pb.audit(people, gather(read).release, **vars(read.measurement), workers=1)
            assert table.equals(found.tables[plan.release], null_equal=True)
