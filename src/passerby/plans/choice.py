"""Which of the plans that seem to keep the limits are recommended: checked on all who matter, measured on everyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from passerby.model.release import Release

from .estimate import Panel, whole
from .limit import Limit, joint
from .search import Plan
from .strategy import ranked
from .survey import Survey

#: Plans of each kind that are checked at most, where the sample promised too much of the first ones.
CHECKED = 8


def choose(panel: Panel, good: Sequence[Plan], wanted: Plan) -> tuple[dict[str, Plan], dict[Release, Plan]]:
    """The cheapest sure plan of each kind, by all for whom a plan decides anything, and all plans that were checked.

    A plan that turns out not to be sure gives way to the next stronger one, or to another that costs readers less. What
    is open is chosen only where nothing is sure.
    """
    checked: dict[Release, Plan] = {}
    sure: dict[str, Plan] = {}
    open_: dict[str, Plan] = {}
    for name, some in ranked(good, wanted).items():
        left, tried = [*some], 0
        while left and name not in sure and tried < CHECKED:
            plan = min(left, key=lambda each: each.cost.total)
            left.remove(plan)
            if plan.release in {each.release for each in sure.values()}:
                continue
            tried += plan.release not in checked
            plan = checked.setdefault(plan.release, plan if plan.everyone else _checked(panel, plan))
            if plan.verdict == "sure":
                sure[name] = plan
            elif plan.verdict == "open":
                open_.setdefault(name, plan)
            stronger = plan.stronger() if plan.stronger is not None and plan.verdict != "sure" else None
            # A stronger plan must be of the kind that is looked for.
            left += ranked([stronger], wanted)[name] if stronger is not None else []
    return sure or _apart(open_), checked


def _checked(panel: Panel, plan: Plan) -> Plan:
    """The plan with tallies of twice as many people each time, until it is refused or all who matter were measured."""
    count, last = len(panel.drawn), len(panel.order)
    while True:
        count = min(last, 2 * count)
        tallies = tuple(panel.tallies(plan.release, count=count))
        if count == last or joint(tallies) == "refused":
            return replace(plan, tallies=tallies, people=count)


def _apart(plans: dict[str, Plan]) -> dict[str, Plan]:
    """Each plan once, by the first of its names."""
    out: dict[str, Plan] = {}
    for name, plan in plans.items():
        if plan.release not in {each.release for each in out.values()}:
            out[name] = plan
    return out


def confirm(survey: Survey, limits: Sequence[Limit], chosen: dict[str, Plan]) -> dict[str, Plan]:
    """The chosen plans, measured on everyone by an audit."""
    out: dict[str, Plan] = {}
    for name, plan in chosen.items():
        if not plan.everyone:
            tallies = tuple(whole(survey, plan.release, limits))
            plan = replace(plan, tallies=tallies, everyone=True, people=len(survey.people))
        if plan.verdict != "refused":
            out[name] = plan
    return out
