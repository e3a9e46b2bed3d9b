"""The sections of a report, a file each, in the order in which the page shows them."""

from passerby.report.section import Section

from . import exposed, limits, noise, privacy, published, realised, which, why

SECTIONS: tuple[Section, ...] = (
    published.SECTION,
    exposed.SECTION,
    why.SECTION,
    realised.SECTION,
    which.SECTION,
    noise.SECTION,
    privacy.SECTION,
    limits.SECTION,
)
