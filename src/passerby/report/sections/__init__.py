"""The sections of a report, a file each, in the order of the page."""

from passerby.report.section import Section

from . import (
    adversaries,
    asked,
    backtest,
    counts,
    each_step,
    exposure,
    in_data,
    known_shares,
    law,
    limits,
    noise,
    presence,
    privacy,
    ranking,
    realisation,
    traits,
)

SECTIONS: tuple[Section, ...] = (
    presence.SECTION,
    in_data.SECTION,
    each_step.SECTION,
    asked.SECTION,
    law.SECTION,
    counts.SECTION,
    exposure.SECTION,
    backtest.SECTION,
    traits.SECTION,
    realisation.SECTION,
    ranking.SECTION,
    noise.SECTION,
    adversaries.SECTION,
    known_shares.SECTION,
    privacy.SECTION,
    limits.SECTION,
)
