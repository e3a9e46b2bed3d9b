"""`summary.json` is what its schema and the documents say."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import passerby as pb
from passerby.audits.summary import VERSION, Summary, summarise

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made() -> tuple[pl.DataFrame, pb.People, pb.Release]:
    people = pb.fit_people(pb.simulate_city(20, 20, 4, seed=5), window="3h", places=12, min_active=2, holdout=4)
    release = pb.Release([[0, 1]] * 4)
    return pb.audit(people, release, 1, workers=1), people, release


def schema() -> Any:
    return json.loads((DOCS / "summary.schema.json").read_text(encoding="utf-8"))


def test_the_schema_in_the_documents_is_the_one_in_the_code() -> None:
    """Where they differ, write `model_json_schema()` to the file; raise VERSION if a field is gone or means another."""
    assert schema() == Summary.model_json_schema()
    assert schema()["properties"]["schema_version"]["default"] == VERSION


def test_every_field_is_described() -> None:
    table = (DOCS / "summary.md").read_text(encoding="utf-8")
    rows = [re.findall(r"`(\w+)`", line) for line in table.splitlines() if line.startswith("| `")]
    firsts = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert [name for row in firsts for name in row] == list(Summary.model_fields)
    inner = {name for part in schema()["$defs"].values() for name in part["properties"]}
    assert inner <= {name for row in rows for name in row}
    for name, field in schema()["properties"].items():
        assert field.get("description"), name


def test_summaries_follow_the_schema(made: tuple[pl.DataFrame, pb.People, pb.Release]) -> None:
    table, people, release = made
    plain = summarise(table, people, release, misses=1, window="3h")
    realised = table.with_columns(
        realised_status=pl.Series(["ok", "impossible", "no"] + ["ok"] * (table.height - 3)),
        realised_lower=pl.col("lower"),
        realised_upper=pl.col("upper"),
    )
    nobody = table.with_columns(lower=pl.lit(None, pl.Float64), status=pl.lit("some reason"))
    for rows in (table, realised, nobody):
        record = json.loads(summarise(rows, people, release, misses=1, window="3h").model_dump_json())
        jsonschema.validate(record, schema())
    assert summarise(nobody, people, release, misses=1, window="3h").loss is None
    found = summarise(realised, people, release, misses=1, window="3h").realised
    assert found is not None
    # One person each is told as five, and the rest as so many less.
    assert (found.possible, found.impossible, found.refused) == (table.height - 10, 5, 5)
    assert plain.realised is None
    assert (plain.people, plain.steps, plain.misses, plain.seed) == (table.height, 4, 1, 0)
    assert sum(plain.statuses.values()) == table.height


def test_a_record_that_is_not_one_is_noticed(made: tuple[pl.DataFrame, pb.People, pb.Release]) -> None:
    record = summarise(*made, misses=1, window="3h").model_dump(mode="json")
    for damage in ({"people": "many"}, {"extra": 1}, {"loss": {"lower": 1}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**record, **damage}, schema())


def test_a_summary_tells_of_five_people_or_more(made: tuple[pl.DataFrame, pb.People, pb.Release]) -> None:
    table, people, release = made
    how: dict[str, Any] = {"misses": 1, "window": "3h", "thresholds": [0.2, 0.5, 0.8]}
    chances = [0.1] * 10 + [0.6] * 8 + [0.9] * 2
    some = table.with_columns(pl.Series("lower", chances), pl.Series("upper", chances))
    above = summarise(some, people, release, **how).above
    assert [row.loss_lower for row in above] == [0.5, 0.5, None]
    refused = some.with_columns(
        lower=pl.when(pl.col("lower") < 0.9).then("lower"),
        status=pl.when(pl.col("lower") < 0.9).then(pl.lit("ok")).otherwise(pl.lit("too long")),
    )
    found = summarise(refused, people, release, **how)
    assert (found.people, found.people_measured, found.statuses) == (20, 15, {"ok": 15, "refused": 5})
    loss = found.loss
    assert loss is not None
    assert loss.lower.mean == pytest.approx((10 * 0.1 + 8 * 0.6) / 18)
    assert (loss.lower.reached_by_five, loss.lower.percentile_95) == (0.5, None)  # the mean of 0.1 and four of 0.6
    four = summarise(some.head(4), people, release, **how)
    assert (four.loss, four.baseline, four.advantage) == (None, None, None)
