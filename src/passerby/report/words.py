"""The sentences of a report, in the words of somebody who protects data and reads no formulas."""

from __future__ import annotations

import polars as pl

from passerby.explore import Findings
from passerby.release import Release
from passerby.summary import Summary

from .data import FEW

STATUSES = {
    "ok": "as asked",
    "wide": "with a wider interval than asked",
    "impossible": "whose real trace is impossible under their habits",
    "refused": "that could not be measured",
}

LIMITS = [
    "The numbers are about a strong adversary and one question. They are a measurement, not a guarantee.",
    "The adversary knows where everybody else was, and knows the habits of the person. A raw count then tells them "
    "whether the person was there. Real adversaries know less: the numbers are what to fear, not what to expect.",
    "Habits are where a person goes next, given where they are (and the hour or weekday, if so set). They are taken "
    "from the steps before those that are published, and are treated as the truth.",
    "People are taken to move independently of each other.",
    "The question is the whole trace, but for the allowed misses. A release with a small chance here may still tell "
    "that somebody was at one place once.",
    "Other data that are published about the same people, now or later, are not considered.",
    "One place per person and step is considered; what was chosen as a step and as a place matters.",
]

THRESHOLDS = (
    "The share of all people whose trace would be named with at least this chance: without the release, with an attack "
    "that was found, and by any attack that the bounds do not exclude. Groups of fewer than "
    f"{FEW} people are not told apart."
)
EXPOSURE = (
    "How to read it: choose a chance on the horizontal axis; the curves give the share of people who are found at "
    "least so often. The truth with the release lies between the two curves for it; the further they are above the "
    "curve without it, the more the release reveals."
)
ADVANTAGE = (
    "The advantage is the part of the remaining uncertainty that the release takes away: 0 % if it adds nothing to "
    "what was known anyway, 100 % if it makes a person certain to be found."
)
SIGHTED = (
    "Each point is a person. To the right are people who are likely to pass a sensor. Where points rise to the right, "
    "being counted exposes people. Shift and the mouse wheel zoom."
)
GAP = (
    "Each point is a person. The spectral gap is small for people who stay where they are for long and large for "
    "people who move about freely. Where points fall to the right, slow movers are the exposed ones: one sighting "
    "tells of many steps."
)
PROFILE = "The tenth of the people who are found most often, as a group, beside everyone."
NOISE = (
    "Each point is a way to publish the same counts: on the lines with noise, the squares rounded. To the right the "
    "counts are less exact; the further down, the less likely people are found. Below the chance without the release "
    "nothing can be gained."
)
REALISED = "How likely the best guess is right for a person, given exactly the series that was published."


def percent(value: float | None) -> str:
    """A share or chance in words.

    >>> [percent(p) for p in (0.0, 0.00001, 0.004, 0.0264, 0.257, 0.999, 1.0, None)]
    ['0 %', '< 0.01 %', '0.40 %', '2.6 %', '26 %', '> 99 %', '100 %', '–']
    """
    if value is None:
        return "–"
    if value <= 0:
        return "0 %"
    if value < 0.0001:
        return "< 0.01 %"
    if value >= 1 - 1e-9:
        return "100 %"
    if value > 0.995:
        return "> 99 %"
    return f"{100 * value:.{0 if value >= 0.0995 else 1 if value >= 0.00995 else 2}f} %"


def spread(lower: float, upper: float) -> str:
    """Two ends of an interval, or one number where they look the same.

    >>> spread(0.1, 0.25), spread(0.1, 0.1001)
    ('10 % to 25 %', '10 %')
    """
    low, high = percent(lower), percent(upper)
    return low if low == high else f"{low} to {high}"


def points(value: float) -> str:
    """A difference of chances, in percentage points.

    >>> points(0.0312), points(-0.0001)
    ('3.12 points', '-0.01 points')
    """
    return f"{100 * value:.2f} points"


def few() -> str:
    """What is said of a small group."""
    return f"fewer than {FEW}"


def mechanism(name: str) -> str:
    """A mechanism in words."""
    if name == "Raw()":
        return "raw counts"
    if name.startswith("Gaussian(sigma="):
        return f"counts with normal noise of standard deviation {float(name[15:-1]):g}"
    return name


def question(summary: Summary) -> str:
    """What the adversary is to name."""
    if not summary.misses:
        return f"all {summary.steps} steps of a person's trace"
    return f"at least {summary.steps - summary.misses} of the {summary.steps} steps of a person's trace"


def in_short(summary: Summary) -> list[str]:
    """The answers before the details."""
    loss, known = summary.loss, summary.baseline
    out = [
        f"An adversary who knows people's habits, and where everybody else is, names {question(summary)} with a chance "
        f"of {percent(known.lower.mean)} on average without the release, and of "
        f"{spread(loss.lower.mean, loss.upper.mean)} with it."
    ]
    half = next((above for above in summary.above if above.threshold == 0.5), None)
    if half is not None and summary.people_measured >= FEW:
        out.append(
            f"{spread(half.loss_lower, half.loss_upper)} of the people are more likely than not to be found with the "
            f"release; {percent(half.baseline)} are so without it."
        )
    gain = summary.advantage
    out.append(
        f"For half of the people the release takes away at most {percent(gain.upper.median)} of the remaining "
        f"uncertainty; for the most exposed twentieth, at least {percent(gain.lower.percentile_95)}."
    )
    if summary.differential_privacy.epsilon is None:
        out.append("Differential privacy gives no guarantee for this release.")
    else:
        out.append(
            f"Differential privacy: epsilon = {summary.differential_privacy.epsilon:.3g} at delta = "
            f"{summary.differential_privacy.delta:g}, the same for everyone."
        )
    return out


def published(summary: Summary, release: Release) -> list[str]:
    """What is published."""
    places = len({place for step in release.sensors for place in step})
    some = "1 place" if places == 1 else f"{places:,} places"
    return [
        f"{summary.sensors:,} counts, from {some}, over {summary.steps:,} steps of {summary.window}: "
        f"{mechanism(summary.mechanism)}."
    ]


def exposed(summary: Summary) -> list[str]:
    """How exposed people are."""
    loss, known = summary.loss, summary.baseline
    return [
        f"To be found means that an adversary names {question(summary)} correctly. Each person's chance with the "
        "release lies between the best attack that was found and a bound that no attack can exceed.",
        f"For half of the people the chance is at least {percent(loss.lower.median)} with the release and "
        f"{percent(known.lower.median)} without it; for the most exposed twentieth, at least "
        f"{percent(loss.lower.percentile_95)} and {percent(known.lower.percentile_95)}.",
    ]


def why(known: pl.DataFrame, group: pl.DataFrame | None) -> list[str]:
    """Three reasons, and which of them shows in the most exposed tenth."""
    out = [
        "People are exposed for three reasons: sensors see them often; they move slowly, so that one sighting tells of "
        "many steps; or they are predictable anyway, with or without the release."
    ]
    if group is None:
        return [*out, f"There are too few people to describe the most exposed tenth: it would be {few()}."]
    most = dict(zip(group["column"], group["most_exposed"], strict=True))
    all_ = dict(zip(group["column"], group["everyone"], strict=True))
    reasons = []
    if (most["sighted"] or 0) > 1.1 * (all_["sighted"] or 0):
        reasons.append("pass sensors more often")
    if (most["spectral_gap"] or 0) < 0.9 * (all_["spectral_gap"] or 0):
        reasons.append("move more slowly")
    if (most["baseline"] or 0) > 1.1 * (all_["baseline"] or 0):
        reasons.append("are more predictable even without the release")
    said = " and ".join([", ".join(reasons[:-1]), reasons[-1]] if len(reasons) > 1 else reasons)
    return [*out, f"The most exposed tenth {said or 'differ little from everyone in these traits'}."]


def profile(group: pl.DataFrame) -> pl.DataFrame:
    """The profile of a group with its rows named and its numbers written."""
    names = {
        "lower": "chance with the release: best attack",
        "upper": "chance with the release: no attack above",
        "baseline": "chance without the release",
        "sighted": "chance to pass a sensor at least once",
        "spectral_gap": "spectral gap",
        "places": "places visited",
    }
    plain = {"spectral_gap": ".2f", "places": ".0f"}
    rows = [
        {"trait": names[row["column"]]}
        | {
            side: "–"
            if row[side] is None
            else format(row[side], plain[row["column"]])
            if row["column"] in plain
            else percent(row[side])
            for side in ("most_exposed", "everyone")
        }
        for row in group.iter_rows(named=True)
    ]
    return pl.DataFrame(rows)


def realised(summary: Summary) -> list[str]:
    """What the published series gave away."""
    found = summary.realised
    assert found is not None
    out = [
        "A published count is of everybody. The adversary takes off the people they know to be there, and what is left "
        "tells whether the person in question was at the sensor.",
        f"The published series is possible for {found.possible:,} of the audited people.",
    ]
    if found.impossible:
        out.append(
            f"For {found.impossible:,} people no trace agrees with it: the published counts were not made from these "
            "visits, or not in the way that this audit assumes (one place per person and step). They have no realised "
            "chance."
        )
    if found.loss is not None and found.possible >= FEW:
        out.append(
            f"Given exactly this series, the best guess is right with "
            f"{spread(found.loss.lower.mean, found.loss.upper.mean)} on average; for the most exposed twentieth, with "
            f"at least {percent(found.loss.lower.percentile_95)}."
        )
    return out


def which(findings: Findings, summary: Summary) -> list[str]:
    """How sensors and steps were tried out."""
    return [
        f"For {findings.people:,} people drawn at random, each sensor and each step was left out in turn. The figures "
        "show by how much the mean chance to be found falls, in percentage points, for attacks that need no search."
    ]


def left_out(what: str, rows: pl.DataFrame) -> str:
    """The sensor or step that matters most."""
    best = rows.sort("fall", descending=True).row(0, named=True)
    where = f"the sensor at {best['name']}" if what == "sensor" else f"step {best['name']}"
    if best["fall"] <= best["error"] or best["fall"] < 0.001:
        return f"No single {what} stands out: without any one of them the chance stays about the same."
    return (
        f"Most is gained by leaving out {where}: the mean chance, {percent(best['with_all'])} with all, falls by "
        f"{points(best['fall'])} (standard error {100 * best['error']:.2f})."
    )


def noise(rows: pl.DataFrame) -> list[str]:
    """What the counts cost and what noise would buy."""
    noisy = rows.filter(~pl.col("mechanism").str.starts_with("rounded"))
    first, last = noisy.row(0, named=True), noisy.row(-1, named=True)
    people = first["people"]
    return [
        f"The same sensors with other ways to publish, for {people:,} people drawn at random. With exact counts they "
        f"are found with {spread(first['lower'], first['upper'])} on average, with a typical error of "
        f"{last['error']:g} people per count with {spread(last['lower'], last['upper'])}, and without any release with "
        f"{percent(first['baseline'])}."
    ]


def privacy(summary: Summary) -> list[str]:
    """Differential privacy beside the loss."""
    found = summary.differential_privacy
    if found.epsilon is None:
        first = f"It gives no guarantee here: {found.remark}."
    else:
        first = (
            f"All steps together are differentially private with epsilon = {found.epsilon:.3g} at delta = "
            f"{found.delta:g}, for datasets that differ in one person's whole trace."
        )
    return [
        first,
        "Epsilon is the same for everyone and holds whatever the adversary knows; it says nothing of how likely a "
        "particular person is found. The chances above differ from person to person and hold for the adversary that is "
        "described below. A small epsilon limits how much the release can add for anybody; a small chance says that "
        "little is to be found.",
    ]
