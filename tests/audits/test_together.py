"""Several releases together: they tell at least as much as each, and by their difference what each one hides."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits import together as module
from passerby.audits.audit import audit
from passerby.audits.job import only
from passerby.audits.settings_file import as_toml
from passerby.audits.together import Together, _joined
from passerby.audits.validation import check_settings
from passerby.others.counted import numbers
from passerby.runs.together import names_of, run_together
from passerby.support.files import alone_in

STEPS = 3


@pytest.fixture(scope="module")
def people() -> pb.People:
    city = pb.simulate_city(people=80, places=14, days=5, seed=6)
    # With habits that are chosen they are found anyway, and a zone hardly adds to that.
    return pb.fit_people(city, window="4h", places=12, min_active=6, holdout=STEPS, habits="paper")


def of(zone: list[int], mechanism: pb.Mechanism | None = None) -> pb.Release:
    return pb.Release(counts=[pb.Present(zone, t) for t in range(STEPS)], steps=STEPS, mechanism=mechanism)


def small_zone(people: pb.People) -> list[int]:
    """Places that few people are at, but some."""
    order = np.argsort(people.counts[:, :-1].max(axis=0))
    return sorted(int(place) for place in order[:4] if people.counts[:, place].sum())


def test_a_small_zone_is_told_by_a_difference(people: pb.People) -> None:
    """Each table hides numbers below ten, and none of its own is; the difference of the two is the small zone's."""
    small, rule = small_zone(people), pb.Suppression(10)
    rest = [place for place in range(5) if place not in small]
    visitors = only(people, np.flatnonzero(np.isin(people.fitted, small).any(axis=1)))
    assert len(visitors) > 10
    hidden, whole, nearly = of(small, rule), of([*rest, *small], rule), of(rest, rule)
    assert 0 < numbers(people, hidden).max() < 9
    assert min(numbers(people, whole).min(), numbers(people, nearly).min()) > 10
    # The zone's own number would be left empty, and tell nothing.
    alone = pb.audit(visitors, hidden, 1, tolerance=0, workers=1)
    assert (alone["upper"] <= alone["baseline_upper"] * (1 + 1e-9)).all()
    found = pb.together(visitors, {"whole": whole, "nearly": nearly}, 1, tolerance=0.0, workers=1)
    told = pb.audit(visitors, of(small) + of(rest), 1, tolerance=0, workers=1)
    joint = found.table.filter(release="together")
    for end in ("lower", "upper"):
        np.testing.assert_allclose(joint[end], told[end], rtol=1e-9)
    means = found.means().select("release", "lower", "upper").rows_by_key("release", unique=True)
    raw = pb.audit(visitors, of(small), 1, tolerance=0, workers=1)["lower"].mean()
    assert isinstance(raw, float)
    assert means["together"][0] >= raw * (1 - 1e-12)
    assert means["together"][0] > max(means["whole"][1], means["nearly"][1]) * 1.01
    assert "Together they add" in found.lines()[-1]
    assert "points to the chance with" in found.lines()[-1]


def test_each_tells_no_more_than_all(people: pb.People) -> None:
    """Also where intervals are wide: the one is used for the other."""
    a = pb.Release(counts=[pb.Moved([0, 1], [2, 3], 0)], steps=STEPS, mechanism=pb.Gaussian(0.5))
    b = pb.Release([[0], [4], []], pb.Rounding(3))
    some = only(people, np.arange(12))
    found = pb.together(some, [a, b], 1, budget=1e6, runs=20, workers=1)
    again = pb.together(some, [b, a], 1, budget=1e6, runs=20, workers=1)
    assert found.names == ("release 1", "release 2")
    for each in (found, again):
        joint = each.table.filter(release="together").sort("person")
        for name in each.names:
            one = each.table.filter(release=name).sort("person")
            assert (one["lower"] <= joint["lower"] + 1e-12).all()
            assert (one["upper"] <= joint["upper"] + 1e-12).all()
    assert found.means()["people"].to_list() == [12] * 3
    same = pb.together(some, [b, b], 1, tolerance=0.0, workers=1)
    assert same.lines()[-1] == "Together they tell no more than release 2 alone."


def test_a_release_is_called_the_highest_only_where_it_is() -> None:
    """One whose interval is wide may be below the other."""

    def last(*rows: tuple[str, float, float]) -> str:
        kinds = ["release", "lower", "upper"]
        table = pl.DataFrame([row for row in rows for _ in range(6)], schema=kinds, orient="row").with_columns(
            baseline_lower=0.05, person=pl.int_range(pl.len()) % 6
        )
        return Together(table, ("a", "b"), 1, STEPS).lines()[-1]

    joint = ("together", 0.6, 0.7)
    open_, sure = (last(("a", low, 0.5), ("b", 0.4, 0.45), joint) for low in (0.1, 0.47))
    assert open_ == "Together they add 10 points to 30 points to the highest chance with one of them alone."
    assert sure == "Together they add 10 points to 23 points to the chance with a alone, the highest of one."


def test_next_to_nothing_is_told_in_words() -> None:
    """A loss of 0 has an upper end that is what reckoning leaves of it."""
    kinds = ["release", "lower", "upper"]
    rows = [(name, 0.0, 1.2e-278) for name in ("a", "b", "together") for _ in range(6)]
    table = pl.DataFrame(rows, schema=kinds, orient="row").with_columns(
        baseline_lower=0.0, person=pl.int_range(pl.len()) % 6
    )
    lines = Together(table, ("a", "b"), 1, STEPS).lines()
    assert [line.split("  ")[-1].split(";")[0].strip() for line in lines[1:-1]] == ["0 %", *["< 1e-12"] * 3]
    assert lines[-1] == "Together they tell no more than b alone."


def test_few_people_are_not_told_of(people: pb.People) -> None:
    table = pb.together(people, [of([0]), of([1])], 1, budget=1e5, workers=1).table
    few = Together(table.filter(pl.col("person").is_in(people.ids[:3].implode())), ("release 1", "release 2"), 1, STEPS)
    assert few.lines() == ["Fewer than 5 people were measured with all releases, and numbers are told of 5 or more."]
    assert few.shared() == []


@pytest.mark.parametrize(
    ("releases", "message"),
    [
        ([of([0])], "expected two or more"),
        ({"a": of([0]), "together": of([1])}, "none of them called 'together'"),
        ([of([0]), 3], "release 2 is a int; expected a Release"),
        ("ab", "expected a list or a mapping"),
        ({1: of([0]), 2: of([1])}, "releases: 1 is the name of one; expected a text"),
        ([of([0]), pb.Release([0, 1])], "releases of 3 and 2 steps cannot be put together"),
    ],
)
def test_what_cannot_be_put_together(people: pb.People, releases: object, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.together(people, releases, workers=1)  # type: ignore[arg-type]


def test_people_are_asked_for() -> None:
    with pytest.raises(pb.InputError, match="people is a int; expected what fit_people returns"):
        pb.together(5, [of([0]), of([1])])  # type: ignore[arg-type]


def write_audits(folder: Path) -> None:
    """Settings of two audits that differ by one place of a zone, and of one with other steps."""
    city = pb.simulate_city(people=40, places=12, days=5, seed=4)
    table = city.table.select("time", person=city.people.gather(city.table["person"]).cast(pl.String))
    table.with_columns(place=city.places.gather(city.table["place"])).write_csv(folder / "visits.csv")
    names = city.places.to_list()
    for name, some in (("whole", names), ("nearly", names[1:])):
        rows = [(place, f"zone {k % 2}") for k, place in enumerate(names) if place in some]
        pl.DataFrame(rows, schema=["place", "zone"], orient="row").write_csv(folder / f"{name}.csv")
    how = {"visits": folder / "visits.csv", "window": "6h", "holdout": 3, "min_active": 4, "budget": 1e6}
    for name, more in (
        ("whole", {"zones": folder / "whole.csv"}),
        ("nearly", {"zones": folder / "nearly.csv", "min_active": 8, "mechanism": "rounding"}),
        ("sensor", {"places": 3}),
        ("later", {"zones": folder / "whole.csv", "holdout": 2}),
    ):
        (folder / name).mkdir()
        (folder / name / "audit.toml").write_text(as_toml(check_settings({**how, **more}), folder / name))


def test_folders_are_looked_at_together(tmp_path: Path) -> None:
    write_audits(tmp_path)
    paths = [tmp_path / "whole", tmp_path / "nearly" / "audit.toml", tmp_path / "sensor"]
    found = run_together(paths, tmp_path / "out", sample=9, workers=1)
    assert found.names == ("whole", "audit", "sensor")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "people.parquet",
        "together.html",
        "together.json",
    ]
    assert pl.read_parquet(tmp_path / "out" / "people.parquet").equals(found.table)
    assert found.people == 9
    with pytest.raises(pb.ConfigError, match="holds releases that were looked at together"):
        run_together(paths, tmp_path / "out")
    with pytest.raises(pb.InputError, match=r"later: holdout is 2, but 3 in .*whole; releases are looked at together"):
        run_together([tmp_path / "whole", tmp_path / "later"], tmp_path / "other")
    with pytest.raises(pb.ConfigError, match="two folders of audits or more"):
        run_together([tmp_path / "whole"], tmp_path / "other")
    with pytest.raises(pb.ConfigError, match="there is no such settings file"):
        run_together([tmp_path / "whole", tmp_path / "none"], tmp_path / "other")
    (tmp_path / "other").mkdir()
    with alone_in(tmp_path / "other"), pytest.raises(pb.ConfigError, match="another process is at work in"):
        run_together(paths, tmp_path / "other", sample=5, workers=1)
    with pytest.raises(pb.ConfigError, match="is given twice"):
        names_of([tmp_path / "none", tmp_path / "whole", tmp_path / "whole"])


def test_names_of_releases_tell_no_more_of_where_they_lie_than_it_takes() -> None:
    home = Path("/home/somebody")
    assert names_of([home / "may/a", home / "june/b.toml"]) == ["a", "b"]
    assert names_of([home / "may/a", home / "june/a"]) == ["may/a", "june/a"]
    assert names_of([home / "2023/may/a", home / "2024/may/a"]) == ["2023/may/a", "2024/may/a"]
    assert names_of([home / "a", home / "a.toml"]) == ["a", "a.toml"]
    # The name of all releases together is taken.
    assert names_of([home / "may/together", home / "b"]) == ["may/together", "somebody/b"]


def crossing(sampled: bool) -> dict[str, pl.DataFrame]:
    """Alone 0.6 to 0.7, together 0.2 to 0.5, which cannot be."""
    ends = {"a": (0.6, 0.7), "b": (0.1, 0.4), "together": (0.2, 0.5)}
    known = {"person": ["x"], "status": ["ok"], "baseline_lower": [0.1], "baseline_upper": [0.1], "sampled": [sampled]}
    return {name: pl.DataFrame({**known, "lower": [low], "upper": [high]}) for name, (low, high) in ends.items()}


def test_shares_of_each_table_and_of_all_differ_by_nobody_or_five() -> None:
    """Of all tables, too: who is found so often with one is among those who are found less often with all."""
    all_of = [0.6] * 10 + [0.45] * 3 + [0.3] * 2 + [0.1] * 15
    one = [0.6] * 5 + [0.45] * 7 + [0.1] * 18
    ends = {"lower": one + all_of, "upper": one + all_of, "baseline_lower": [0.0] * 60, "baseline_upper": [0.0] * 60}
    who = {"person": [f"{i % 30}" for i in range(60)], "release": ["a"] * 30 + ["together"] * 30, "status": ["ok"] * 60}
    means = Together(pl.DataFrame({**who, **ends}), ("a",), 0, 1).means([0.25, 0.4, 0.5])
    shares = means.select("above_0.25", "above_0.4", "above_0.5").rows()
    assert shares == [(None, None, 5 / 30), (15 / 30, None, 10 / 30)]


def test_certain_ends_that_cross_are_an_error() -> None:
    with pytest.raises(pb.Contradiction, match=r"a alone achieves 0\.6 .* but all releases together says"):
        _joined(crossing(sampled=False))


def test_drawn_ends_that_cross_are_put_in_order() -> None:
    table = _joined(crossing(sampled=True))
    assert (table["lower"] <= table["upper"]).all()
    assert table.filter(release="together").select("lower", "upper").row(0) == (0.6, 0.6)
    assert table.filter(release="a").select("lower", "upper").row(0) == (0.6, 0.6)


@pytest.mark.parametrize("sampled", [False, True])
def test_upper_ends_of_a_crowd_stay_as_they_are(
    people: pb.People, monkeypatch: pytest.MonkeyPatch, sampled: bool
) -> None:
    """What is told of the others depends on the sensors: the end with all releases is not for one of them."""
    found = iter(crossing(sampled).values())
    monkeypatch.setattr(module, "audit", lambda *args, **how: next(found))
    crowd = pb.Crowd()
    named = {name: pb.Release([sensor] * STEPS, others=crowd) for sensor, name in enumerate("ab")}
    table = pb.together(people, named, workers=1).table
    assert table.filter(release="a").select("lower", "upper").row(0) == (0.6, 0.7)
    assert table.filter(release="b").select("lower", "upper").row(0) == (0.1, 0.4)
    assert table.filter(release="together").select("lower", "upper").row(0) == (0.6, 0.6)


def test_ends_that_are_drawn_hold_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two tables there are three audits of each person, each with a third of the doubt."""
    asked: list[float] = []

    def audited(people: pb.People, release: pb.Release, misses: int, **how: Any) -> pl.DataFrame:
        asked.append(how["confidence"])
        return audit(people, release, misses, **how)

    monkeypatch.setattr(module, "audit", audited)
    people = pb.fit_people(pb.simulate_city(10, 20, 4), window="3h", places=9, min_active=1, holdout=3)
    one, two = pb.Release([0, 1, 0]), pb.Release([1, 0, 1])
    pb.together(people, [one, two], 1, confidence=0.97, workers=1)
    assert asked == pytest.approx([0.99] * 3)
    with pytest.raises(pb.InputError, match="confidence: expected a level"):
        pb.together(people, [one, two], 1, confidence=2.0)
