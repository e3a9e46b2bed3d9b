"""What the page says of readings of the paper."""

import polars as pl

from passerby_paper import page_readings
from passerby_paper.page_readings import CHECKS, depending
from passerby_paper.readings import GAPS
from passerby_paper.rules import Answer


def test_which_claims_depend_on_the_reading() -> None:
    same: dict[str, Answer] = dict.fromkeys(CHECKS, True)
    found = {
        ("gowalla", "a"): same,
        ("gowalla", "b"): {**same, "gap_whole_tight": False, "frequent": None},
        ("foursquare", "a"): {**same, "sigma": False},
        ("foursquare", "b"): {**same, "sigma": False},
    }
    assert depending(found) == {"gap_whole_tight": {"gowalla": {True: ["a"], False: ["b"]}}}


def test_that_no_claim_depends_on_the_reading_is_said() -> None:
    same: dict[str, Answer] = dict.fromkeys(CHECKS, True)
    text = page_readings._dependence({("gowalla", "a"): same, ("gowalla", "b"): {**same, "sigma": None}})
    assert text.startswith("**No claim depends on the reading.**\n\n**No reading contradicts another** on: loss falls")
    assert all(words in text for words in CHECKS.values())


def correlations(**values: list[float]) -> pl.DataFrame:
    """Correlations with each kind of gap under two readings; what is not given is undefined."""
    undefined = [float("nan")] * 2
    found = {f"{gap}_tight": values.get(gap, undefined) for gap in GAPS}
    ends = {
        f"{name}_{end}": pl.Series(v) + off for name, v in found.items() for end, off in (("low", -0.1), ("high", 0.1))
    }
    return pl.DataFrame({"dataset": "gowalla", "reading": ["first", "second"], **found, **ends})


def test_how_far_a_correlation_depends_on_the_reading() -> None:
    table = correlations(gap_whole=[-0.3, 0.2], gap_reached=[-0.4, -0.5], gap_signed=[0.0, 0.1])
    assert page_readings._range_of(table) == (
        "- Gowalla: from -0.50 [-0.60, -0.40] (*second*, places reached) to +0.20 [+0.10, +0.30] (*second*, all "
        "places). Whether rows of places never visited count moves it most with *second*: +0.20 [+0.10, +0.30] "
        "where they do, -0.50 [-0.60, -0.40] where they do not."
    )
    some = correlations(gap_whole=[-0.3, 0.2], gap_reached=[-0.4, float("nan")])
    assert "moves it most with *first*: -0.30 [-0.40, -0.20] where they do, -0.40" in page_readings._range_of(some)
    assert page_readings._range_of(correlations(gap_signed=[0.0, 0.1])) == (
        "- Gowalla: from +0.00 [-0.10, +0.10] (*first*, places reached, signed) to +0.10 [+0.00, +0.20] "
        "(*second*, places reached, signed)."
    )
    assert page_readings._range_of(correlations()) == "- Gowalla: undefined."
