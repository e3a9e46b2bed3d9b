"""What a reader must know before believing an audit: who and what was left out, and where the data are thin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from passerby.people.habits import People
from passerby.support.groups import FEW
from passerby.support.numerals import percent
from passerby.visits.table import Skipped

from .record import Backtest

#: Shares from which on something is worth an alert.
MUCH_ELSEWHERE = 0.5
MANY_LEFT_OUT = 0.1
DIFFERENT = 0.15
MANY_GONE = 0.1
SOME_ROWS = 0.001
#: Where it is not known what was left out of the visits.
NOTHING = Skipped()


def alerts(people: People, skipped: Skipped = NOTHING, remarks: Sequence[str] = ()) -> tuple[str, ...]:
    """Sentences for the dry run, the summary and the top of the report; none where there is nothing to say."""
    return (*remarks, *_about_rows(skipped), *_about_people(people), *_about_steps(people))


def about_backtest(found: Backtest | None, reason: str | None) -> Iterator[str]:
    """What a backtest warns of: promises that did not come true or cannot be told, or why there is none."""
    if reason:
        yield f"Whether such predictions come true was not tried, so nobody knows: {reason}."
    if found is None or found.verdict == "came true":
        return
    wrong = "low" if found.too_low else "high"
    if found.verdict == "did not come true":
        yield f"{found.sentence} The chances in this report are likely too {wrong}."
    elif found.independent < 2:
        yield f"{found.sentence} Steps are too few for a second time that does not overlap with the first."
    else:
        yield f"{found.sentence} These times differ too much, or are too few, to say more."


def elsewhere_shares(people: People) -> tuple[float, float]:
    """The shares of person-steps that are elsewhere, of the fitted and of the published ones."""
    return _elsewhere(people, people.fitted), _elsewhere(people, people.actual)


def _elsewhere(people: People, steps: NDArray[np.int32]) -> float:
    return float(np.mean(steps == people.elsewhere)) if steps.size else 0.0


def _about_rows(skipped: Skipped) -> Iterator[str]:
    bad = skipped.times + skipped.missing + skipped.coordinates
    if bad > SOME_ROWS * skipped.rows:
        yield (
            f"{bad:,} of {skipped.rows:,} rows could not be used: {skipped.times:,} without a time that can be read, "
            f"{skipped.missing:,} without a person or place, {skipped.coordinates:,} with bad coordinates."
        )
    if skipped.outside:
        yield f"{skipped.outside:,} of {skipped.rows:,} rows lie outside of the time that was asked for."


def _about_people(people: People) -> Iterator[str]:
    left = people.left_out
    if left.unseen + left.seldom > MANY_LEFT_OUT * left.people:
        yield (
            f"{left.unseen + left.seldom:,} of {left.people:,} people are not audited: {left.seldom:,} are seen at the "
            f"chosen places in too few steps, {left.unseen:,} in none. They are counted among the others. Fewer active "
            "steps, longer steps or more places include more of them."
        )
    unknown = int((people.fitted == people.elsewhere).all(axis=1).sum())
    if unknown:
        some = f"{unknown:,}" if unknown >= FEW else f"Fewer than {FEW}"
        yield (
            f"{some} of the people are at none of the chosen places in any step before those that are published: "
            "nothing is known of their habits but what everybody does. A higher number of active steps leaves them out."
        )
    if not people.actual.size:
        return
    gone = float((people.actual == people.elsewhere).all(axis=1).mean())
    if gone > MANY_GONE:
        yield (
            f"{percent(gone)} of the people are at none of the chosen places in any of the published steps: they may "
            "have left before, and nobody can name where they are."
        )


def _about_steps(people: People) -> Iterator[str]:
    if people.left_out.partial_step:
        yield "The last step is left out, since the visits cover it only in part; give an end to keep it."
    fitted, published = elsewhere_shares(people)
    if published > MUCH_ELSEWHERE:
        yield (
            f"In {percent(published)} of the published person-steps the person is elsewhere, at none of the chosen "
            "places, where nobody can be found. Longer steps, more places or more misses ask a question that says more."
        )
    if abs(fitted - published) > DIFFERENT and people.actual.size:
        yield (
            f"People are elsewhere in {percent(fitted)} of the steps that habits were fitted to, and in "
            f"{percent(published)} of those that are published: they changed, and what the habits promise may not "
            "come true."
        )
