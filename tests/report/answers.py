"""Answers to questions as a summary holds them, made by hand: two places, two adversaries, any number of steps."""

from collections.abc import Sequence
from typing import Any

from passerby.audits.record import (
    Answers,
    Bracket,
    Ends,
    HourAnswer,
    PlaceAnswers,
    ShareAnswers,
    Statistics,
    StepAnswer,
    WayAnswer,
    WeekAnswer,
)

#: Ways to publish, and the power of the most telling count under each.
WAYS = {
    "raw": 0.71,
    "hidden below 10": 0.66,
    "rounded to 5": 0.22,
    "rounded to 10": 0.08,
    "hidden to 7, then rounded to 5": 0.12,
    "noise 1": 0.31,
    "noise 2": 0.03,
}


def bracket(lower: float, upper: float | None = None) -> Bracket:
    return Bracket(lower=lower, upper=lower if upper is None else upper)


def statistics(mean: float) -> Statistics:
    return Statistics(mean=mean, median=mean, percentile_95=min(1.0, mean + 0.1), reached_by_five=min(1.0, mean + 0.05))


def ends(lower: float, upper: float | None = None) -> Ends:
    return Ends(lower=statistics(lower), upper=statistics(lower if upper is None else upper))


def weeks(lower: float, upper: float) -> list[WeekAnswer]:
    """Ends that grow with the weeks."""
    return [WeekAnswer(weeks=n, lower=1 - (1 - lower) ** n, upper=1 - (1 - upper) ** n) for n in (1, 4, 12, 26, 52)]


def shares(place: str) -> list[ShareAnswers]:
    """Membership and presence at a place, to whoever knows nobody, half of the others, or all."""
    about: dict[str, Any] = {"people": 40}
    found = []
    for question, where, most in (("counted", None, 0.4), (f"visited:{place}", place, 1.0)):
        for share, lower, upper in ((0.0, 0.1, 0.2), (0.5, 0.3, 0.6), (1.0, 1.0, 1.0)):
            both = bracket(most * lower, most * upper)
            one = ShareAnswers(question=question, place=where, share=share, advantage=both, power=both, **about)
            found.append(one)
    return found


def at_place(name: str, adversary: str, power: Bracket | None, steps: int = 4, **more: Any) -> PlaceAnswers:
    """What one adversary finds at a place; None: fewer than five people may well be there."""
    known = power is not None
    by_habits = known and adversary == "habits"
    hours = [
        HourAnswer(
            step=t,
            people=None if t % 3 else 10.0 + t,
            advantage=round(0.1 + 0.8 * (t % 3) / 3, 3),
            begins=f"{12 + t:02}:00",
        )
        for t in range(steps)
    ]
    given = {
        "label": None,
        "sensitive": False,
        "people": 40 if known else 5,
        "visitors": 12,
        "chance": 0.2 if known else None,
        "advantage": bracket(power.lower, power.upper) if power else None,
        "power": power,
        "certain": bracket(0.9 * power.lower, power.upper) if power else None,
        "weeks": weeks(power.lower, power.upper) if power else [],
        "by_step": hours if by_habits else [],
        "ways": [WayAnswer(way=way, advantage=p, power=p, day=bracket(p, min(1.0, 1.5 * p))) for way, p in WAYS.items()]
        if by_habits
        else [],
    }
    return PlaceAnswers(place=name, adversary=adversary, **{**given, **more})


def presence(names: Sequence[str], steps: int = 4, *, exact: bool = True) -> list[PlaceAnswers]:
    """The first place tells much and is sensitive, the second hardly anything, and of others it is not told."""
    known = bracket(1.0) if exact else bracket(0.3, 0.6)
    first, second, *others = names
    clinic: dict[str, Any] = {"label": "a clinic", "sensitive": True}
    out = [
        at_place(first, "habits", bracket(0.62, 0.8), steps, **clinic),
        at_place(first, "insider", known, steps, **clinic),
        at_place(second, "habits", bracket(0.02, 0.04), steps, visitors=180),
        at_place(second, "insider", known, steps, visitors=180),
    ]
    rest = [at_place(name, who, None, steps, visitors=None) for name in others for who in ("habits", "insider")]
    return [*out, *rest]


def questions(steps: int = 4, people: int = 60) -> list[Answers]:
    """Whether somebody is counted, by both adversaries; each step by itself; and an event that is open for few."""
    about: dict[str, Any] = {"people": people, "open": people}
    counted: dict[str, Any] = {
        "question": "counted",
        "sentence": "whether the person is counted at all",
        "kind": "in_data",
    }
    event: dict[str, Any] = {"kind": "event", "adversary": "insider", "people": people}
    return [
        Answers(
            **counted,
            **about,
            adversary="insider",
            advantage=ends(0.4),
            power=ends(0.42, 0.43),
            certain=ends(0.37),
            weeks=weeks(0.4, 0.4),
        ),
        Answers(
            **counted,
            **about,
            adversary="habits",
            advantage=ends(0.1, 0.3),
            power=ends(0.05, 0.2),
            certain=ends(0, 0.1),
            weeks=weeks(0.1, 0.3),
        ),
        Answers(
            question="each-step",
            sentence="where the person is at each step",
            kind="each_step",
            adversary="insider",
            **about,
            loss=ends(0.8),
            baseline=ends(0.7),
            by_step=[
                StepAnswer(
                    step=t, lower=0.6 + 0.3 * t / steps, upper=0.62 + 0.3 * t / steps, baseline=0.55 + 0.1 * t / steps
                )
                for t in range(steps)
            ],
        ),
        Answers(
            question="visited 2 times:gate",
            sentence="whether the person was at gate at 2 or more of 4 steps",
            open=20,
            chance=statistics(0.1),
            advantage=ends(0.3, 0.5),
            power=ends(0.2, 0.4),
            certain=ends(0.1, 0.2),
            absent=ends(0.3),
            **event,
        ),
        Answers(question="never:park", sentence="whether the person was never at park", open=5, **event),
    ]
