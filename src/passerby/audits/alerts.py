"""Warnings for a reader of an audit: people and rows left out, and thin data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from passerby.support.numbers import percent, rows_in_lots
from passerby.support.rule_of_five import FEW, rests_on_few, sizes_in_fives

from .coverage import Coverage, Rows
from .record import Backtest

#: The least shares worth an alert.
MUCH_ELSEWHERE = 0.5
MANY_LEFT_OUT = 0.1
DIFFERENT = 0.15
#: Standard errors from which on a difference is no chance, of few people above all.
ERRORS = 2.0
MANY_GONE = 0.1
MANY_IMPOSSIBLE = 0.5
SOME_ROWS = 0.001
SOME_TIES = 0.01


def alerts(
    coverage: Coverage, remarks: Sequence[str] = (), *, name_elsewhere: bool = False, exact: bool = False
) -> tuple[str, ...]:
    """Sentences for the dry run, the summary and the top of the report; empty without any alert.

    They may be shared: numbers of few people are withheld, unless `exact` asks for all, as in a dry run. With
    `name_elsewhere`, naming elsewhere may be right.
    """
    shown = coverage if exact else coverage.shared
    return (
        *remarks,
        *_about_rows(coverage.rows, shown.rows),
        *_about_people(shown, exact),
        *_about_steps(shown, name_elsewhere),
    )


#: The warning on an audit whose means tell of few people.
KEEP = (
    f"Nearly all that the release adds is added for fewer than {FEW} people, and means tell how much that is: keep "
    "report.html and summary.json where the visits are kept."
)


def about_few(table: pl.DataFrame) -> Iterator[str]:
    """A warning before an audit is shared: few people gain nearly all. It stands in what must not be shared itself.

    >>> list(about_few(pl.DataFrame({"lower": [0.5] * 9, "baseline_lower": [0.4] * 9})))
    []
    """
    gained = (table["lower"] - table["baseline_lower"]).drop_nulls().to_numpy().clip(0)
    if len(gained) >= FEW and rests_on_few(gained):
        yield KEEP


def about_backtest(found: Backtest | None, reason: str | None) -> Iterator[str]:
    """The warnings of a backtest: failed promises, open verdicts, or the reason why there is none."""
    if reason:
        yield f"Whether such predictions come true was not tried, so nobody knows: {reason}."
    if found is None:
        return
    if found.verdict == "did not come true":
        yield f"{found.sentence} {wrong_chances(found)}"
    elif found.verdict == "cannot be told" and found.independent < 2:
        yield f"{found.sentence} Steps are too few for a second time that does not overlap with the first."
    elif found.verdict == "cannot be told":
        yield f"{found.sentence} Earlier times differ too much, or people are too few, to say more."
    if found.added is not None and found.added.verdict == "did not come true" and found.about != "added":
        yield found.added.sentence
    yield from _about_visits(found)
    for test in found.tested:
        if test.verdict == "did not come true":
            wrong = _high(test.promised > test.right)
            yield f"{test.sentence} What this report says of such tests is likely too {wrong}."


def wrong_chances(found: Backtest) -> str:
    """The direction in which failed promises are wrong."""
    what = (
        "What this report says that the counts add is" if found.about == "added" else "The chances in this report are"
    )
    return f"{what} likely too {_high(not found.too_low)}."


def _about_visits(found: Backtest) -> Iterator[str]:
    """Whether as many people were at counted places as habits promised."""
    window = next((each for each in found.windows if (each.what, each.steps_before) == ("visited", 0)), None)
    if window is not None and window.verdict == "did not come true":
        yield (
            "Presence at counted places did not come true: for the published steps, habits promised a mean chance of "
            f"{percent(window.promised)} to be at one of them at any time, and {percent(window.right)} were. What this "
            f"report says of presence rests on chances that are likely too {_high(window.promised > window.right)}."
        )


def _high(high: bool) -> str:
    return "high" if high else "low"


def about_published(groups: Mapping[str, int] | None) -> Iterator[str]:
    """Whether the published counts can come from these visits, by the number of people for whom they are possible."""
    shared = sizes_in_fives(dict(groups or {}))
    possible, impossible = (shared.get(name, 0) for name in ("possible", "impossible"))
    if impossible >= max(FEW, MANY_IMPOSSIBLE * (possible + impossible)):
        yield (
            f"The published counts are impossible for {percent(impossible / (possible + impossible))} of the people, "
            "given their habits and where the others were: they were not made from these visits, or not in this way. "
            "Check places, steps, the time zone and the mechanism."
        )


def _about_rows(rows: Rows, shown: Rows) -> Iterator[str]:
    """The unusable rows; their numbers as they are `shown`."""
    bad, some = rows.unreadable_times + rows.missing + rows.bad_coordinates, shown.some
    if bad > SOME_ROWS * rows.read:
        yield (
            f"{_some_of(bad, shown)} of {some(shown.read)} rows could not be used: {some(shown.unreadable_times)} "
            f"without a time that can be read, {some(shown.missing)} without a person or place, "
            f"{some(shown.bad_coordinates)} with bad coordinates."
        )
    if rows.kept and rows.other_places > MUCH_ELSEWHERE * rows.kept:
        yield (
            f"Most rows ({some(shown.other_places)} of {some(shown.kept)}) are at places that were not chosen: the "
            "audit is about the rest. More places, or those of the publication by name, keep more of them."
        )
    if rows.outside:
        yield f"{some(shown.outside)} of {some(shown.read)} rows lie outside of the time that was asked for."


def _some_of(rows: int, shown: Rows) -> str:
    """A sum of rows as it is shown."""
    return shown.some(rows if shown.lot == 1 else rows_in_lots(rows, shown.lot))


def _about_people(coverage: Coverage, exact: bool) -> Iterator[str]:
    gone = coverage.seldom + coverage.unseen
    if gone > MANY_LEFT_OUT * coverage.people:
        raised = not exact and FEW in (coverage.seldom, coverage.unseen)
        few = f" (groups of fewer than {FEW} are told as {FEW})" * raised
        yield (
            f"{gone:,} of {coverage.people:,} people are not audited: {coverage.seldom:,} are seen at the chosen "
            f"places in too few steps, {coverage.unseen:,} in none{few}. They are counted among the others. Fewer "
            "active steps, longer steps or more places include more of them."
        )
    if coverage.absent_before:
        some = f"{FEW} or fewer" if coverage.absent_before == FEW and not exact else f"{coverage.absent_before:,}"
        yield (
            f"{some} of the people are at none of the chosen places in any step before those that are published: "
            "nothing is known of their habits but what everybody does. A higher number of active steps leaves them out."
        )
    if coverage.absent_after > max(FEW, MANY_GONE * coverage.kept):
        yield (
            f"{percent(coverage.absent_after / coverage.kept)} of the people are at none of the chosen places in any "
            "of the published steps: they may have left before, and nobody can name where they are."
        )


def _about_steps(coverage: Coverage, name_elsewhere: bool) -> Iterator[str]:
    if coverage.partial_step:
        yield "The last step is left out, since the visits cover it only in part; give an end to keep it."
    if (coverage.tied or 0.0) > SOME_TIES:
        yield (
            f"In {percent(coverage.tied)} of the steps in which people are at chosen places, several places were "
            "visited equally often, and times do not tell which came first. The place chosen first is taken (the most "
            "visited of all, or the one listed first). Finer times tell more."
        )
    expected, published = coverage.elsewhere_expected, coverage.elsewhere_published
    if published is None:
        return
    if published > MUCH_ELSEWHERE:
        so = "where to say elsewhere is right" if name_elsewhere else "where nobody can be found"
        yield (
            f"In {percent(published)} of the published person-steps the person is elsewhere, at none of the chosen "
            f"places, {so}. Longer steps, more places or more misses ask a question that says more."
        )
    # Shares before and after are no comparison: people are chosen for being seen before.
    different = max(DIFFERENT, ERRORS * (coverage.elsewhere_error or 0.0))
    if expected is not None and abs(expected - published) > different and coverage.published_from is not None:
        yield (
            f"Habits expected people to be elsewhere in {percent(expected)} of the published person-steps, and they "
            f"were in {percent(published)}: they changed, and what the habits promise may not come true."
        )
