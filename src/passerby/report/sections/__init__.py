"""The sections of a report, a file each, in the order in which the page shows them."""

from passerby.report.section import Section

from . import adversaries, backtest, counts, exposure, limits, noise, privacy, ranking, realisation, traits

SECTIONS: tuple[Section, ...] = (
    counts.SECTION,
    exposure.SECTION,
    backtest.SECTION,
    traits.SECTION,
    realisation.SECTION,
    ranking.SECTION,
    noise.SECTION,
    adversaries.SECTION,
    privacy.SECTION,
    limits.SECTION,
)
