"""What tests of kernels share."""

from collections.abc import Iterator

import pytest
from tests.uncompiled import uncompiled


@pytest.fixture(scope="module")
def plainly() -> Iterator[None]:
    """For a module of tests that call helpers of kernels: these are not compiled."""
    with uncompiled():
        yield


@pytest.fixture(scope="class")
def plain_class() -> Iterator[None]:
    """The same for a class of tests."""
    with uncompiled():
        yield
