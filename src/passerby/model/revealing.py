"""Rules without chance: a value gives the target's presence away, or it does not depend on it."""

from __future__ import annotations

from .signals import Channels


def telling(channels: Channels) -> list[list[int]] | None:
    """Which counts of each step give presence away, where no other depends on it; None where one tells a part."""
    every = [[channel.apart for channel in step] for step in channels]
    if not {0.0, 1.0}.issuperset(value for step in every for value in step):
        return None
    return [[j for j, value in enumerate(step) if value] for step in every]
