"""Doubt shared by several measurements, so all of them hold together at the requested confidence."""

from __future__ import annotations

from dataclasses import replace

from passerby.measurement.setup import MOST_CONFIDENT

from .settings import Measurement


def doubted(measurement: Measurement, share: float) -> Measurement:
    """The measurement with a share of its doubt.

    >>> round(doubted(Measurement(confidence=0.98), 0.5).confidence, 12)
    0.99
    """
    return replace(measurement, confidence=min(MOST_CONFIDENT, 1 - share * (1 - measurement.confidence)))
