"""Days and people that habits do not expect: each has a status or an alert, and no silent default."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits.inputs import Inputs, gather
from passerby.audits.validation import check_settings

HOLDOUT, DAYS = 4, 8


def visits(people: int = 40, days: int = DAYS, gone: bool = False) -> pl.DataFrame:
    """People who are at one of three places in most parts of a day, and on the last day nowhere if all are `gone`."""
    rng = np.random.default_rng(people)
    steps = HOLDOUT * days
    there = rng.random((people, steps)) < 0.8
    if gone:
        there[:, -HOLDOUT:] = False
    who, when = np.nonzero(there)
    start = datetime(2024, 1, 1)
    times = [start + timedelta(hours=6 * int(step) + 1) for step in when]
    rows = {"person": who, "time": times, "place": [f"place {k}" for k in rng.integers(0, 3, len(who))]}
    # Somebody else closes the last day, at a place that is not chosen.
    last = {"person": [people], "time": [start + timedelta(days=days, minutes=-1)], "place": ["far away"]}
    return pl.concat([pl.DataFrame(rows), pl.DataFrame(last)])


def gathered(table: pl.DataFrame, folder: Path, **more: object) -> Inputs:
    table.write_parquet(folder / "visits.parquet")
    given = {"visits": folder / "visits.parquet", "out": folder / "out", "window": "6h", "holdout": HOLDOUT}
    given |= {"min_active": 3, "places": 3, "origin": "2024-01-01", "backtest": 20, "sensor_count": 2}
    return gather(check_settings(given | more))


def audited(found: Inputs) -> pl.DataFrame:
    return pb.audit(found.people, found.release, 1, workers=1)


def test_everybody_is_gone_and_totals_are_zero(tmp_path: Path) -> None:
    found = gathered(visits(gone=True), tmp_path)
    assert any("all counts of them are 0, and there is nobody to find" in each for each in found.told())
    assert any("nobody can name where they are" in each for each in found.told())
    table = audited(found)
    assert (table["status"] == "ok").all()
    assert (table["lower"] <= table["upper"]).all()
    assert not table["hit_prior"].any()
    tried = pb.backtest(found.traces, holdout=HOLDOUT, people=20, release=found.release)
    assert tried.verdict != "came true"
    assert tried.published("map")["right"] == 0
    assert not tried.too_low


@pytest.mark.parametrize("people", [1, 2])
def test_a_target_who_is_all_or_half_of_the_data(tmp_path: Path, people: int) -> None:
    found = gathered(visits(people), tmp_path)
    if found.people.common is not None:
        assert any("told by fewer than 5 people" in each and "rests on nobody" in each for each in found.told())
    table = audited(found)
    assert table["status"].is_in(["ok", "wide"]).all()
    assert (table["lower"] <= table["upper"]).all()
    with pytest.raises(pb.InputError, match=r"no people are seen|fewer than 10 people are seen"):
        pb.backtest(found.traces, holdout=HOLDOUT, people=20)


def test_one_origin_cannot_tell(tmp_path: Path) -> None:
    found = gathered(visits(), tmp_path)
    tried = pb.backtest(found.traces, holdout=HOLDOUT, origins=1, people=40, release=found.release)
    assert tried.verdict in ("cannot be told", "did not come true")
    assert tried.published("map")["lower"] is None
    assert tried.nats_upper is None


def test_totals_that_the_people_cannot_make(tmp_path: Path) -> None:
    found = gathered(visits(), tmp_path)
    release = pb.Release(
        found.release.sensors, pb.Rounding(10), others=[[0] * len(step) for step in found.release.sensors]
    )
    prior, states = found.people.prior(0, sorted({place for step in release.sensors for place in step}))
    number = {int(place): k for k, place in enumerate(states)}
    over = pb.Release([[number[place] for place in step] for step in release.sensors], pb.Rounding(10), release.others)
    with pytest.raises(pb.InputError, match="probability zero for a person with this prior"):
        pb.measure(prior, over, 1, published=[[1000.0] * len(step) for step in over.sensors])
