"""The choice of recommended plans among the apparently safe ones: measured on everyone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from passerby.model.release import Release

from .guard import Guard
from .panels import AnyPanel
from .search import Plan
from .strategy import ranked

#: Plans of each kind for a closer look, if the sample promised too much of the first ones.
LOOKED = 8


def choose(
    panel: AnyPanel,
    good: Sequence[Plan],
    wanted: Plan,
    late: Callable[[], bool] = lambda: False,
    guard: Guard | None = None,
) -> tuple[dict[str, Plan], dict[Release, Plan]]:
    """The cheapest sure plan of each kind, measured on everyone, and all plans under a closer look.

    An apparently sure plan is first checked for presence at counted places, if there is a `guard`. If a plan turns out
    not to be sure, the next is a stronger one, or another with a lower cost for readers. An open plan is chosen only if
    no plan is sure. Once it is `late`, and one is sure, no other is measured.
    """
    looked: dict[Release, Plan] = {}
    sure: dict[str, Plan] = {}
    open_: dict[str, Plan] = {}
    for name, some in ranked(good, wanted).items():
        left, before = [*some], len(looked)
        while left and name not in sure and len(looked) < before + LOOKED and not (sure and late()):
            plan = min(left, key=lambda each: each.cost.total)
            left.remove(plan)
            if plan.release in {each.release for each in sure.values()}:
                continue
            plan = looked.setdefault(plan.release, _closer(panel, plan, guard))
            if plan.verdict == "sure":
                sure[name] = plan
            elif plan.verdict == "open":
                open_.setdefault(name, plan)
            stronger = _stronger(plan, guard) if plan.verdict != "sure" else None
            # A stronger plan must be of the wanted kind.
            left += ranked([stronger], wanted)[name] if stronger is not None else []
    if not sure:
        measured = {plan.release: _on_everyone(panel, _asked(plan, guard)) for plan in open_.values()}
        looked |= measured
        sure = {name: measured[plan.release] for name, plan in _apart(open_).items()}
    return {name: plan for name, plan in sure.items() if plan.verdict != "refused"}, looked


def _stronger(plan: Plan, guard: Guard | None) -> Plan | None:
    """The next stronger plan; if presence alone breaks its limit, one with little enough evidence in single counts."""
    found = plan.stronger() if plan.stronger is not None else None
    if guard is None or plan.kept != "sure":
        return found
    before = {each.place: each.lower for each in guard.singles(plan.release)}
    enough = {
        each.place: before[each.place] * each.limit / each.upper
        for each in plan.presence
        if each.verdict != "sure" and each.place in before
    }
    while found is not None and any(each.lower > enough.get(each.place, 1.0) for each in guard.singles(found.release)):
        after = found.stronger() if found.stronger is not None else None
        if after is None:
            break
        found = after
    return found


def _asked(plan: Plan, guard: Guard | None) -> Plan:
    """The plan with both ends of presence at counted places."""
    return plan if guard is None else replace(plan, presence=guard.told(plan.release))


def _closer(panel: AnyPanel, plan: Plan, guard: Guard | None) -> Plan:
    """The plan with tallies of twice as many people each time, until it is refused or seems sure: then of everyone."""
    count, last = len(panel.drawn), len(panel.order)
    while not plan.everyone:
        count = min(last, 2 * count)
        plan = replace(plan, tallies=tuple(panel.tallies(plan.release, count=count)), people=count)
        if plan.kept == "sure":
            plan = _asked(plan, guard)
            return _on_everyone(panel, plan) if plan.verdict == "sure" else plan
        if plan.verdict == "refused" or count == last:
            break
    return plan


def _on_everyone(panel: AnyPanel, plan: Plan) -> Plan:
    """The plan as an audit of everyone sees it."""
    tallies = tuple(panel.whole(plan.release))
    return replace(plan, tallies=tallies, everyone=True, people=panel.people)


def _apart(plans: dict[str, Plan]) -> dict[str, Plan]:
    """Each plan once, by the first of its names."""
    out: dict[str, Plan] = {}
    for name, plan in plans.items():
        if plan.release not in {each.release for each in out.values()}:
            out[name] = plan
    return out
