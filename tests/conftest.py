"""Settings and data shared by all tests."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import reference
from tests.cli.small_audit import OPTIONS, TRIED, Made, write_visits
from tests.cli.test_main import run_here

settings.register_profile(
    "passerby", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=20
)
settings.load_profile("passerby")

#: Examples that a property gets at the most where tests that take long are left out. `make deep` gives it many.
QUICK = 6


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Runs once all tests are collected."""
    if config.option.markexpr != "not thorough":
        return
    for test in {item.function for item in items if isinstance(item, pytest.Function)}:
        # Where hypothesis keeps the settings of a test: those of a decorator do not follow a profile.
        asked = getattr(test, "_hypothesis_internal_use_settings", None)
        if asked is not None and asked.max_examples > QUICK:
            vars(test)["_hypothesis_internal_use_settings"] = settings(asked, max_examples=QUICK)


@pytest.fixture(scope="session")
def line_reference() -> Any:
    """The paper's simulated chain at its default size."""
    return reference.load("line_100_places.json")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A folder with visits of a small town and a finished audit of them."""
    folder = tmp_path_factory.mktemp("audit")
    write_visits(folder / "visits.parquet")
    done = run_here("audit", "visits.parquet", *OPTIONS, *TRIED, "--out", "result", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done
