"""Which of the plans that seem to keep the limits are recommended: measured on everyone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from passerby.model.release import Release

from .guard import Guard
from .panels import AnyPanel
from .search import Plan
from .strategy import ranked

#: Plans of each kind that are looked at more closely, where the sample promised too much of the first ones.
LOOKED = 8


def choose(
    panel: AnyPanel,
    good: Sequence[Plan],
    wanted: Plan,
    late: Callable[[], bool] = lambda: False,
    guard: Guard | None = None,
) -> tuple[dict[str, Plan], dict[Release, Plan]]:
    """The cheapest sure plan of each kind, measured on everyone, and all plans that were looked at more closely.

    What seems sure is first asked who was at counted places, where there is a `guard`.
    A plan that turns out not to be sure gives way to the next stronger one, or to another that costs readers less. What
    is open is chosen only where nothing is sure. Once it is `late`, and one is sure, no other is measured.
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
            # A stronger plan must be of the kind that is looked for.
            left += ranked([stronger], wanted)[name] if stronger is not None else []
    if not sure:
        measured = {plan.release: _on_everyone(panel, _asked(plan, guard)) for plan in open_.values()}
        looked |= measured
        sure = {name: measured[plan.release] for name, plan in _apart(open_).items()}
    return {name: plan for name, plan in sure.items() if plan.verdict != "refused"}, looked


def _stronger(plan: Plan, guard: Guard | None) -> Plan | None:
    """The next stronger plan; where presence alone is not kept, one whose single counts tell enough less."""
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
