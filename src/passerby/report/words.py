"""The sentences of a report, in the words of somebody who protects data and reads no formulas."""

from __future__ import annotations

import polars as pl

from passerby.audits.summary import Summary
from passerby.audits.what_if import Findings
from passerby.model.release import Release
from passerby.support.numerals import percent, span

from .data import FEW, PLACES
from .terms import few, length, level, mechanism


def question(summary: Summary) -> str:
    """What the adversary is to name."""
    if not summary.misses:
        return f"where a person was at all {summary.steps} steps"
    return f"where a person was at {summary.steps - summary.misses} or more of the {summary.steps} steps"


def in_short(summary: Summary) -> list[str]:
    """The answers before the details."""
    loss, known, gain = summary.loss, summary.baseline, summary.advantage
    if not (loss and known and gain):
        return ["Nobody could be measured."]
    out = [
        f"An adversary who knows a person's habits, and where everybody else is, can name {question(summary)}: with a "
        f"chance of {span(known.lower.mean, known.upper.mean)} on average without the release, and of "
        f"{span(loss.lower.mean, loss.upper.mean)} with it."
    ]
    half = next((above for above in summary.above if above.threshold == 0.5), None)
    if half is not None and summary.people_measured >= FEW:
        out.append(
            f"{span(half.loss_lower, half.loss_upper)} of the people are more likely than not to be found with the "
            f"release; {percent(half.baseline)} are so without it."
        )
    out.append(
        f"For half of the people the release takes away at most {percent(gain.upper.median)} of what was uncertain; "
        f"for one person in twenty, at least {percent(gain.lower.percentile_95)}."
    )
    privacy = summary.differential_privacy
    if privacy.epsilon is None:
        return [*out, "Differential privacy gives no guarantee for this release."]
    return [
        *out,
        f"Differential privacy: epsilon = {privacy.epsilon:.3g} at delta = {privacy.delta:g}, the same for everyone.",
    ]


def published(summary: Summary, release: Release) -> list[str]:
    """What is published."""
    places = len({place for step in release.sensors for place in step})
    some = "1 place" if places == 1 else f"{places:,} places"
    return [
        f"{summary.sensors:,} numbers, from {some} over {summary.steps:,} steps of {length(summary.window)}: "
        f"{mechanism(summary.mechanism)}."
    ]


def counts(rows: pl.DataFrame) -> str:
    """What the picture of the counts shows."""
    says = (
        "Each cell is a count that would be published: a place with a sensor, at a step. The colour shows how many "
        f"people were really there, before anything is done to the count; cells with {few()} are grey."
    )
    return f"{says} The first {PLACES} places are shown." if rows["place"].n_unique() > PLACES else says


def exposed(summary: Summary) -> list[str]:
    """How exposed people are."""
    loss, known = summary.loss, summary.baseline
    assert loss
    assert known
    return [
        f"A person is found if an adversary names {question(summary).replace('a person was', 'they were')}. Each "
        "person's chance to be found with the release lies between that of the best attack found and a bound that no "
        "attack can exceed.",
        f"For half of the people the chance is at least {percent(loss.lower.median)} with the release and "
        f"{percent(known.lower.median)} without it; for one person in twenty, at least "
        f"{percent(loss.lower.percentile_95)} and {percent(known.lower.percentile_95)}.",
    ]


def why(groups: pl.DataFrame | None) -> list[str]:
    """Three reasons, and which of them shows in the most exposed tenths."""
    out = [
        "People are exposed for three reasons: sensors see them often; they move slowly, so that one sighting tells of "
        "many steps; or they are predictable anyway, with or without the release."
    ]
    if groups is None:
        return [*out, f"There are too few people to describe the most exposed tenth: it would be {few()}."]
    return [
        *out,
        f"The tenth who are found most often {_apart(groups, 'most_exposed')}. The tenth to whose chance the release "
        f"adds most {_apart(groups, 'most_added')}.",
    ]


def _apart(groups: pl.DataFrame, group: str) -> str:
    """How the medians of a group differ from everyone's."""
    these, all_ = (
        {column: value or 0.0 for column, value in zip(groups["column"], groups[name], strict=True)}
        for name in (group, "everyone")
    )
    told = {
        "sighted": ("pass sensors less often", "pass sensors more often"),
        "spectral_gap": ("move more slowly", "move about more freely"),
        "baseline": ("are less predictable without the release", "are more predictable even without the release"),
    }
    said = [
        words[these[column] > all_[column]]
        for column, words in told.items()
        if abs(these[column] - all_[column]) > 0.1 * all_[column]
    ]
    if not said:
        return "differ little from everyone in these traits"
    return " and ".join([*([", ".join(said[:-1])] if said[1:] else []), said[-1]])


def profile(groups: pl.DataFrame) -> pl.DataFrame:
    """The profile of groups with its rows named and its numbers written."""
    names = {
        "baseline": "chance without the release",
        "lower": "chance with the release: best attack found",
        "upper": "chance with the release: no attack above",
        "sighted": "chance to pass a sensor at least once",
        "spectral_gap": "spectral gap",
        "places": "places visited",
    }
    plain = {"spectral_gap": "{:.2f}", "places": "{:.0f}"}
    rows = []
    for row in groups.iter_rows(named=True):
        form = plain.get(row.pop("column"))
        rows.append([percent(x) if x is None or form is None else form.format(x) for x in row.values()])
    table = pl.DataFrame(rows, schema=groups.columns[1:], orient="row")
    return table.insert_column(0, groups["column"].replace_strict(names).alias("trait"))


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
            f"Given exactly this series, the best guess is right with a chance of "
            f"{span(found.loss.lower.mean, found.loss.upper.mean)} on average; for one person in twenty, of at least "
            f"{percent(found.loss.lower.percentile_95)}."
        )
    return out


def which(findings: Findings) -> list[str]:
    """How sensors, steps and counts were tried out."""
    return [
        f"For {findings.people:,} people drawn at random, each single count, each sensor and each step was left out in "
        "turn. The figures show by how much the mean chance to be found falls, in percentage points, for attacks that "
        "need no search.",
        "Counts tell in part the same: what is not published at one place or step is often plain from another. So the "
        "falls of single counts do not add up to those of their sensor or step.",
    ]


def left_out(what: str, rows: pl.DataFrame) -> str:
    """What the figure shows, and the count, sensor or step that matters most."""
    shown = {
        "count": "Each cell is a count. The stronger its colour, the more the chance falls without this count alone. ",
        "sensor": "Each bar is a place whose counts are left out at all steps. ",
        "step": "Each bar is a step at which nothing is published. ",
    }[what]
    if what != "step" and rows["place"].n_unique() > PLACES:
        shown += f"The {PLACES} places that reveal most are shown. "
    best = rows.row(0, named=True)
    if best["fall"] <= best["error"] or best["fall"] < 0.01:
        return f"{shown}No single {what} stands out: without any one of them the chance stays about the same."
    where = {
        "count": f"the count of {best['place']} at step {best['step']} ({best['start']})",
        "sensor": f"the sensor at {best['place']}",
        "step": f"step {best['step']} ({best['start']})",
    }[what]
    return (
        f"{shown}Most is gained by leaving out {where}: the mean chance, {percent(best['with_all'])} with all, falls "
        f"by {best['fall']:.2f} points (standard error {best['error']:.2f})."
    )


def noise(rows: pl.DataFrame) -> list[str]:
    """What the counts cost and what noise would buy."""
    noisy = rows.filter(~pl.col("mechanism").str.starts_with("rounded"))
    first, last = noisy.row(0, named=True), noisy.row(-1, named=True)
    from_noise = (
        f"of {span(last['lower'], last['upper'])} from counts with a typical error of {last['error']:g} people, "
    )
    return [
        f"The same sensors, published in other ways, for {first['people']:,} people drawn at random. On average they "
        f"are found with a chance of {span(first['lower'], first['upper'])} from exact counts, "
        f"{from_noise if noisy.height > 1 else ''}and of {percent(first['baseline'])} without any release."
    ]


def privacy(summary: Summary, bound: float | None) -> list[str]:
    """Differential privacy beside the loss; `bound` is what it alone says of the mean chance to be found."""
    found = summary.differential_privacy
    if found.epsilon is None:
        first = f"It gives no guarantee here: {found.remark}."
    else:
        first = (
            f"All steps together are differentially private with epsilon = {found.epsilon:.3g} at delta = "
            f"{found.delta:g}, for datasets that differ in one person's whole trace."
        )
    if bound is not None and summary.loss:
        first += (
            f" From this guarantee alone, people could be found with a chance of up to {percent(bound)} on average; "
            f"the bounds of this audit exclude more than {percent(summary.loss.upper.mean)}."
        )
    return [
        first,
        "Epsilon is the same for everyone and holds whatever the adversary knows; it says nothing of how likely a "
        "particular person is found. The chances above differ from person to person and hold for the adversary that is "
        "described below. A small epsilon limits how much the release can add for anybody; a small chance says that "
        "little is to be found.",
    ]


def sureness(sampled: int, confidence: float) -> str:
    """How sure the ranges are."""
    if not sampled:
        return "every range holds for certain"
    return (
        f"for {sampled:,} people the published series are too many to list and were drawn at random: each of their "
        f"ranges holds with a confidence of {level(confidence)}"
    )
