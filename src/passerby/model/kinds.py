"""The inputs of a question must be a prior and a release."""

from __future__ import annotations

from passerby.errors import InputError
from passerby.model.prior import check_prior as check_prior
from passerby.model.release import Release


def check_release(release: object) -> None:
    """Refuse anything but a release."""
    if not isinstance(release, Release):
        raise InputError(f"release: expected a Release, got {release!r}")
