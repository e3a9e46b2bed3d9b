"""What is asked about must be a prior and a release."""

from __future__ import annotations

from passerby.errors import InputError
from passerby.model.prior import check_prior as check_prior
from passerby.model.release import Release


def check_release(release: object) -> None:
    """Refuse what is no release."""
    if not isinstance(release, Release):
        raise InputError(f"release: expected a Release, got {release!r}")
