"""What is asked about must be a prior and a release."""

from __future__ import annotations

from passerby.errors import InputError
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release


def check_prior(prior: object) -> None:
    """Refuse what is no prior."""
    if not isinstance(prior, MarkovPrior):
        raise InputError(f"prior: expected a MarkovPrior, got {prior!r}")


def check_release(release: object) -> None:
    """Refuse what is no release."""
    if not isinstance(release, Release):
        raise InputError(f"release: expected a Release, got {release!r}")
