"""The content of `plan.json`: a documented, versioned record of a plan without names or groups of few people.

Numbers of people are in fives: people surely above a limit are rounded down, and people possibly above are rounded up.
Errors dependent on the counts are given only if they cover five numbers or more. Missing numbers are in fives of
people, since their exact sum would reveal the withheld counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from passerby import __version__
from passerby.audits.record import Ends
from passerby.audits.record import Record as Part
from passerby.audits.summary import Above, summarise
from passerby.mechanisms import Gaussian
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.rule_of_five import FEW, fives_above, fives_below

from .disclosable import full, told_cost, told_tally, too_few
from .guard import AtPlace, Kept
from .lever import cells_of
from .levers.noise import private_scale
from .limit import KNOWS, Limit, Tally, least_added
from .plan import Plans
from .search import Plan
from .settings import PlanSettings

#: Raised when a field is removed or changes its meaning; new fields do not raise it.
VERSION = 1


class LimitRecord(Part):
    """A limit on the people."""

    share: float = Field(description="The share of people who may be above.")
    above: float | None = Field(description="The chance to be found that is limited.")
    added: float | None = Field(description="Or what the release adds to it.")
    question: str | None = Field(default=None, description="The question, if it is not the trace, in words.")
    against: str | None = Field(default=None, description="Of a question, who asks: insider or habits.")
    measure: str | None = Field(default=None, description="Of a question of yes or no, what is limited.")
    uncertain: int | None = Field(
        default=None,
        description="Of a question of yes or no, for how many people the answer has a chance of 1 % to 99 % without "
        "any release: in fives, rounded up.",
    )
    beyond: str = Field(description="Where people are who exceed it, in words.")
    words: str


class TallyRecord(Part):
    """The share of people above a limit, in fives of people."""

    limit: int = Field(description="The number of the limit in the list, from 0.")
    at_least: float = Field(description="Share of people who surely are above, by attacks; rounded down.")
    at_most: float = Field(description="Share of people whom no bound excludes; rounded up.")
    lowest: float = Field(description="Confidence limit of the first, where some people were drawn.")
    highest: float = Field(description="Confidence limit of the second.")
    verdict: str = Field(description="sure, refused or open.")


class SettingRecord(Part):
    """A lever and where it stands."""

    lever: str
    position: float


class PresenceRecord(Part):
    """Whether it can be told who was ever at a counted place, on average over people who may well be there."""

    place: str
    people: int | None = Field(description="On how many people it rests, in fives, rounded down; null below five.")
    lower: float | None = Field(description="Mean advantage of the best test, at least; null for fewer than five.")
    upper: float | None = Field(description="At most.")
    verdict: str = Field(description="sure to stay below the limit, refused, or open.")
    closely: bool = Field(description="Whether both ends were asked for, or single counts of a few people looked at.")


class KeptRecord(Part):
    """The limit on presence at each counted place."""

    at_most: float = Field(description="The mean advantage that whoever asks may have.")
    against: str = Field(description="Who asks: insider or habits.")
    words: str


class PlanRecord(Part):
    """A release that was tried."""

    words: str
    settings: list[SettingRecord]
    mechanism: str = Field(description="What is done to a count before it is published.")
    counts: int = Field(description="Counts that are published, those that are left empty among them.")
    verdict: str = Field(description="sure to keep all limits, refused, or open.")
    tallies: list[TallyRecord]
    presence: list[PresenceRecord] = Field(
        default_factory=list, description="Each counted place, where presence there is kept below a limit."
    )
    mean_error: float | None = Field(
        description="Expected absolute error of a published number; null where it would tell of few numbers, or there "
        "are none."
    )
    worst_error: float | None = Field(
        description="What the largest error of the table stays below with a chance of 95 %; null as above."
    )
    published: float = Field(
        description="Share of the wanted numbers that are published; where it depends on the counts, those that are "
        "not are told in fives, rounded up."
    )
    some_empty: bool = Field(
        default=False, description="Whether a rule leaves numbers empty: `published` is then the least share."
    )
    places_left_out: list[str] = Field(description="Places of which nothing that is wanted is published.")
    steps_left_out: list[int] = Field(description="Steps, from 1, of which nothing that is wanted is published.")
    total_error: float = Field(
        description="Sum of all errors as a share of the sum of all counts, a number that is not published taken for "
        "0; in fives of people, rounded up, where it depends on the counts."
    )
    everyone: bool = Field(description="Whether everyone was measured, by an audit.")
    people: int = Field(
        description="People who were measured, in fives where not all were. The others are on the same side of each "
        "limit under all plans."
    )


class Recommended(PlanRecord):
    """A plan that is recommended; the settings of its audit lie in the folder of its name."""

    loss: Ends | None = Field(description="As in the summary of its audit.")
    baseline: Ends | None = Field(description="As in the summary of its audit.")
    above: list[Above] = Field(description="As in the summary of its audit.")


class Record(Part):
    """The whole record."""

    schema_version: int = Field(default=VERSION, description="Version of this schema.")
    passerby: str = Field(default_factory=lambda: __version__, description="Version of passerby.")
    assumed: str | None = Field(
        default=None,
        description="What was taken for the wanted release, where nobody said what would be published, and how to say "
        "it; the first of the alerts, too.",
    )
    alerts: list[str] = Field(description="What a reader must know before believing the numbers, in sentences.")
    internal: bool = Field(
        default=False,
        description="Whether a limit allows one to three people, so that verdicts tell of them: not to be shared then.",
    )
    limits: list[LimitRecord]
    people: int = Field(description="People that the limits are about.")
    steps: int
    window: str = Field(description="Length of a step.")
    places: int = Field(description="Places, with `elsewhere`.")
    misses: int = Field(description="Steps that the adversary may get wrong.")
    seed: int
    confidence: float = Field(description="How sure the interval of a person is where series are drawn.")
    drawn: int = Field(description="People that plans were tried on, in fives, rounded up.")
    matter: int = Field(description="People for whom a plan can decide anything, in fives, rounded up.")
    wanted: PlanRecord
    nothing: PlanRecord
    recommended: dict[str, Recommended] = Field(description="By what each is best at: complete, exact, least.")
    frontier: list[PlanRecord] = Field(description="What no other plan beats in error and in people above limit 0.")
    tried: list[PlanRecord]
    always: list[PlanRecord] = Field(
        default_factory=list, description="What readers ask for most: small counts hidden, rounding, or both."
    )
    presence: KeptRecord | None = Field(
        default=None, description="The limit on presence at each counted place; null where there is none."
    )
    not_moved: dict[str, str] = Field(description="Levers that could not be moved, and why.")
    private_noise: float | None = Field(
        description="Standard deviation of normal noise by which differential privacy alone keeps the strictest "
        "limit on what is added, for everybody; null where there is no such limit."
    )
    found_noise: float | None = Field(description="The smallest standard deviation among the plans that are sure.")
    measured: int = Field(
        description="Measurements of a person, over all releases; as if all people were measured each time, rounded up."
    )
    out_of_time: bool = Field(description="Whether the search ended because the time was up.")


def record_of(
    found: Plans,
    people: People,
    settings: PlanSettings,
    window: str,
    alerts: Sequence[str] = (),
    assumed: str | None = None,
) -> Record:
    """The record of the findings; `alerts` are alerts on the visits, and the `assumed` parts come before them."""
    tell = partial(_plan, people=people, wanted=found.wanted.release)
    sure = [plan for plan in found.tried if plan.verdict == "sure" and {*map(type, plan.release.ways)} == {Gaussian}]
    few = too_few(found.limits, len(people))
    whole = [plan for plan in sure if cells_of(plan.release) == cells_of(found.wanted.release)]
    return Record(
        assumed=assumed,
        alerts=[*filter(None, (assumed, few)), *alerts],
        internal=few is not None,
        limits=[
            _limit(*each, people)
            for each in zip(found.limits, found.uncertain or (None,) * len(found.limits), strict=True)
        ],
        people=len(people),
        steps=found.wanted.release.steps,
        window=window,
        places=len(people.places),
        misses=settings.audit.misses,
        seed=settings.audit.seed,
        confidence=settings.audit.confidence,
        drawn=_in_fives(found.drawn, people),
        matter=_in_fives(found.matter, people),
        wanted=tell(found.wanted),
        nothing=tell(found.nothing),
        recommended=_recommended(found, people, settings),
        frontier=[tell(plan) for plan in found.frontier],
        tried=[tell(plan) for plan in sorted(found.tried, key=lambda plan: plan.cost.total)],
        always=[tell(plan) for plan in found.always],
        presence=_kept(found.kept),
        not_moved=found.refused,
        private_noise=private_scale(Gaussian, found.wanted.release, least_added(found.limits)),
        found_noise=min((float(plan.release.mechanism.sigma) for plan in whole), default=None),  # type: ignore[attr-defined]
        measured=len(people) * -(-found.measured // len(people)),
        out_of_time=found.out_of_time,
    )


def thresholds(settings: PlanSettings) -> tuple[float, ...]:
    """The chances with shares in an audit of a plan: the chances of the limits, and the usual ones."""
    own = {limit.above for limit in settings.limits if limit.above and limit.about is None}
    return tuple(sorted(own | {*settings.audit.thresholds}))


def _recommended(found: Plans, people: People, settings: PlanSettings) -> dict[str, Recommended]:
    """The recommended plans, with the results of an audit of each."""
    each = {
        name: summarise(
            found.tables[plan.release],
            people,
            plan.release,
            misses=settings.audit.misses,
            window="",
            thresholds=thresholds(settings),
        )
        for name, plan in found.recommended.items()
    }
    return {
        name: Recommended(
            **_plan(plan, people, found.wanted.release).model_dump(),
            loss=each[name].loss,
            baseline=each[name].baseline,
            above=each[name].above,
        )
        for name, plan in found.recommended.items()
    }


def _plan(plan: Plan, people: People, wanted: Release) -> PlanRecord:
    cost = told_cost(plan.release, plan.cost)
    spots = ([spot for cell in cells_of(release) for spot in cell.around] for release in (wanted, plan.release))
    (steps, places), (kept_steps, kept_places) = (({t for _, t in some}, {x for x, _ in some}) for some in spots)
    return PlanRecord(
        words=plan.words,
        settings=[SettingRecord(lever=each.lever, position=each.position) for each in plan.settings],
        mechanism=", ".join(map(repr, plan.release.ways)),
        counts=len(cells_of(plan.release)),
        verdict=plan.verdict,
        tallies=[_tally(number, tally) for number, tally in enumerate(plan.tallies)],
        presence=[_at(each) for each in plan.presence],
        mean_error=cost.mean,
        worst_error=cost.worst,
        published=cost.published,
        some_empty=not full(plan.release, plan.cost),
        places_left_out=[people.places[x] for x in sorted(places - kept_places)] if kept_places else [],
        steps_left_out=[t + 1 for t in sorted(steps - kept_steps)] if kept_steps else [],
        total_error=cost.total,
        everyone=plan.everyone,
        people=plan.people if plan.everyone else _in_fives(plan.people, people),
    )


def _in_fives(some: int, people: People) -> int:
    """So many of the people, in fives, rounded up."""
    return min(len(people), fives_above(some))


def _limit(limit: Limit, uncertain: int | None, people: People) -> LimitRecord:
    about = limit.about
    return LimitRecord(
        share=limit.share,
        above=limit.above,
        added=limit.added,
        question=None if about is None else about.words,
        against=None if about is None else about.against,
        measure=about.measure if about is not None and about.of_event else None,
        uncertain=None if uncertain is None else _in_fives(uncertain, people),
        beyond=limit.beyond,
        words=str(limit),
    )


def _kept(kept: Kept | None) -> KeptRecord | None:
    if kept is None:
        return None
    words = f"an advantage of at most {100 * kept.at_most:g} % for somebody who knows {KNOWS[kept.against]}"
    return KeptRecord(at_most=kept.at_most, against=kept.against, words=words)


def _at(found: AtPlace) -> PresenceRecord:
    """The shareable record of a place: a verdict on fewer than five people comes without any number of theirs."""
    told = found.people >= FEW
    return PresenceRecord(
        place=found.place,
        people=fives_below(found.people) if told else None,
        lower=round(found.lower, 4) if told else None,
        upper=round(found.upper, 4) if told else None,
        verdict=found.verdict,
        closely=found.closely,
    )


def _tally(number: int, tally: Tally) -> TallyRecord:
    told, people = told_tally(tally), tally.people
    return TallyRecord(
        limit=number,
        at_least=told.surely / people,
        at_most=told.possibly / people,
        lowest=told.least / people,
        highest=told.most / people,
        verdict=tally.verdict,
    )
