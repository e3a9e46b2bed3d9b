"""What one page holds back, its companions tell not: folders that are made one after another, as the documents say.

Somebody has all that may be shared of the same people (a summary and a page with raw counts and with noise, a plan made
from the settings of the first, audits of what it recommends, the next table, and several tables together) and takes
each number of people from each other one. A difference of one to four would be about those.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.test_main import run_here
from tests.report.small_report import data, specs

import passerby as pb
from passerby.support.rule_of_five import FEW

#: How many people there are.
PEOPLE = 80
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
STEPS = ("--window", "3h", "--places", "12", "--min-active", "2", "--holdout", "4", "--habits", "paper")
MORE = ("--sensor-count", "2", "--misses", "1", "--budget", "1e6", "--runs", "30")
ALONE = ("--workers", "1")
QUICK = ("--backtest", "0", "--adversaries", "0")
LIMIT = ("--at-most", "0.2", "--added", "0.1")
#: The folders, each with the command that makes it.
MADE = {
    "raw": (
        "audit",
        "visits.parquet",
        *STEPS,
        *MORE,
        *QUICK,
        "--explore",
        "8",
        "--sigmas",
        "1",
        "--bases",
        "5",
        *ALONE,
    ),
    "noisy": ("audit", "visits.parquet", *STEPS, *MORE, *QUICK, "--explore", "0", "--mechanism", "gaussian", *ALONE),
    "plan": ("plan", "--settings", "raw/audit.toml", *LIMIT, "--levers", "rounding", "gaussian", *ALONE),
    "next": ("next", "--settings", "noisy/audit.toml", "--earlier", "raw", *LIMIT, *ALONE),
    "both": ("together", "raw", "noisy", *ALONE),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("companions")
    city = pb.simulate_city(PEOPLE, 20, 4, seed=11)
    city.table.with_columns(place=city.places.gather(city.table["place"])).write_parquet(made / "visits.parquet")

    def make(name: str, *command: str) -> None:
        done = run_here(*command, "--out", name, cwd=made)
        assert done.returncode == 0, (name, done.stderr)

    for name, command in MADE.items():
        make(name, *command)
    for file in sorted(made.glob("plan/*/audit.toml")):
        make(
            str((file.parent / "audit").relative_to(made)),
            *("audit", "--settings", str(file.relative_to(made)), "--explore", "0", *QUICK, *ALONE),
        )
    return made


def shares_of(record: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """All numbers of people of a record that tell how many are so: shares above a level, tallies, statuses."""
    telling = {
        "baseline",
        "loss_lower",
        "loss_upper",
        "surely_below",
        "open",
        "at_least",
        "at_most",
        "lowest",
        "highest",
    }
    if isinstance(record, dict):
        for name, part in record.items():
            here = (*path, name)
            inside = {"above", "tallies"} & {*path}
            if isinstance(part, int | float) and not isinstance(part, bool):
                if (name in telling and inside) or name.startswith("above_"):
                    yield here, part * PEOPLE
                elif (path and path[-1] in ("statuses", "realised")) or name in ("drawn", "matter", "people"):
                    yield here, float(part)
            else:
                yield from shares_of(part, here)
    elif isinstance(record, list):
        for rank, part in enumerate(record):
            yield from shares_of(part, (*path, str(rank)))


def of_page(page: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """The numbers of people of a page: points of curves, and bars; its tables are those of the record."""
    for key in ("exposure", "advantage", "added"):
        for datum in data(specs(page).get(key, {})):
            if datum.get("share") is not None:
                yield (key, *map(str, datum.values())), datum["share"] * PEOPLE


def told(folders: Path) -> dict[tuple[str, ...], float]:
    """Every number of people in every file that may be shared."""
    out: dict[tuple[str, ...], float] = {}
    for file in sorted(folders.rglob("*")):
        here = str(file.relative_to(folders))
        if file.name in ("summary.json", "plan.json", "decision.json", "together.json"):
            out |= {(here, *path): value for path, value in shares_of(json.loads(file.read_text()))}
        elif file.name in ("report.html", "plan.html", "together.html"):
            out |= {(here, *path): value for path, value in of_page(file.read_text(encoding="utf-8"))}
    return out


def exact(folders: Path) -> list[float]:
    """What would be told without the rule: how many people are at each level or above, in each audit."""
    out = []
    for name in ("raw", "noisy"):
        table = pl.read_parquet(folders / name / "people.parquet")
        out += [float((table[end] >= level).sum()) for end in ("baseline_lower", "lower", "upper") for level in LEVELS]
    return out


def apart(numbers: list[float]) -> list[tuple[float, float]]:
    """Pairs of numbers of people whose difference is one to four."""
    whole = sorted({round(value, 6) for value in numbers})
    return [(a, b) for a, b in itertools.combinations(whole, 2) if 0.5 < b - a < FEW - 0.5]


def test_the_town_is_one_in_which_exact_numbers_would_tell(folders: Path) -> None:
    assert apart(exact(folders))


def test_no_two_numbers_of_people_in_any_two_files_differ_by_one_to_four(folders: Path) -> None:
    found = told(folders)
    files = {path[0] for path in found}
    assert {"raw/summary.json", "raw/report.html", "noisy/summary.json", "plan/plan.json"} <= files
    assert {"next/decision.json", "both/together.json"} <= files
    assert any(file.startswith("plan/") and file.endswith("audit/summary.json") for file in files)
    assert len(found) > 150
    assert apart(list(found.values())) == []


def test_shares_without_a_release_are_the_same_in_every_file(folders: Path) -> None:
    """They are told first, so that no file holds back beside its own numbers what another one tells."""
    seen: dict[float, set[float | None]] = {}
    summaries = [json.loads(file.read_text()) for file in folders.rglob("summary.json")]
    recommended = json.loads((folders / "plan" / "plan.json").read_text())["recommended"].values()
    assert len(summaries) + len(recommended) >= 4
    for record in (*summaries, *recommended):
        for row in record["above"]:
            seen.setdefault(row["threshold"], set()).add(row["baseline"])
    assert all(len(shares) == 1 for shares in seen.values()), seen
    assert any(None not in shares for shares in seen.values())


def test_ends_are_rounded_to_the_safe_side(folders: Path) -> None:
    for name in ("raw", "noisy"):
        table = pl.read_parquet(folders / name / "people.parquet")
        for row in json.loads((folders / name / "summary.json").read_text())["above"]:
            true = {
                end: float(np.mean(table[end].to_numpy() >= row["threshold"] - 1e-12)) for end in ("lower", "upper")
            }
            assert row["loss_lower"] is None or row["loss_lower"] <= true["lower"] + 1e-12
            assert row["loss_upper"] is None or row["loss_upper"] >= true["upper"] - 1e-12
            assert row["surely_below"] is None or row["surely_below"] <= 1 - true["upper"] + 1e-12
