"""Settings and data shared by all tests."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import reference

settings.register_profile(
    "passerby", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=20
)
settings.load_profile("passerby")


@pytest.fixture(scope="session")
def line_reference() -> Any:
    """The paper's simulated chain at its default size."""
    return reference.load("line_100_places.json")
