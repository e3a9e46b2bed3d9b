"""The choice of levers, alone and two at a time, and of the recommended plans among the results.

The choice of recommended plans among the apparently safe ones: measured on everyone.

The most common wishes of readers: small counts hidden, counts rounded, or both. These ways are always tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from passerby.errors import PasserbyError
from passerby.mechanisms import Mechanism, Rounding, Suppression, Then
from passerby.model.release import Release

from .disclosable import told_tally
from .guard import Guard
from .lever import Choice, Family, Lever, Setting
from .levers.rules import followed
from .panels import AnyPanel
from .search import FEWEST, SCREEN, Plan, Search

#: How many levers of each kind are combined, the cheapest ones.
PAIRED = 2
#: Positions of a lever between nothing and its own best, tried while another one is moved.
PARTS = (1 / 2,)
#: A mean error equals the wanted release's if it is within this share of a person.
EXACT = 1e-9


def explore(search: Search, levers: Sequence[Lever]) -> list[Plan]:
    """Passing plans: each lever alone, then pairs of the cheapest ones."""
    search.expected = sum(_expected(search, lever) for lever in levers) + 4 * PAIRED**2 * len(PARTS)
    families: dict[str, Family] = {}
    best: dict[str, Plan] = {}
    # Dials first: they take few plans each, and the time may be up.
    for lever in sorted(levers, key=lambda lever: isinstance(lever, Choice)):
        if search.over:
            break
        family = search.family(lever, search.wanted)
        if family is None:
            continue
        families[lever.name] = family
        plan = search.along(family, search.wanted)
        if plan is not None and isinstance(lever, Choice):
            plan = search.put_back(plan, lever, search.wanted)
        if plan is not None:
            best[lever.name] = plan
    found = list(best.values())
    kinds = {lever.name: lever.kind for lever in levers}
    ranked = sorted(best, key=lambda name: best[name].cost.total)
    for first in [name for name in ranked if kinds[name] == "sensors"][:PAIRED]:
        for second in [name for name in ranked if kinds[name] == "mechanism"][:PAIRED]:
            found += _pairs(search, families, best, first, second)
    return found


def _expected(search: Search, lever: Lever) -> int:
    """The approximate number of releases for finding a lever's position."""
    if isinstance(lever, Choice):
        items = len(lever.items(search.wanted, search.scene))
        return 2 * items if items < SCREEN // FEWEST else 64
    if lever.refuses(search.wanted, search.scene) is not None:
        return 0
    family = lever.family(search.wanted, search.scene)
    return len(family.positions).bit_length() if family.monotone else len(family.positions)


def _position(plan: Plan, lever: str) -> float | None:
    """The position of a lever in a plan; None if another lever led to the same release before."""
    return next((setting.position for setting in plan.settings if setting.lever == lever), None)


def _pairs(search: Search, families: dict[str, Family], best: dict[str, Plan], first: str, second: str) -> list[Plan]:
    """Plans with one lever part of the way, and the other as far as is needed then: less far than alone."""
    alone, end = (_position(best[name], name) for name in (second, first))
    if alone is None or end is None:
        return []
    positions = [position for position in families[first].positions if position < end]
    chosen = dict.fromkeys(positions[int(part * len(positions))] for part in PARTS if positions)
    out = []
    for position in chosen:
        coarse = families[first].build(search.wanted, position)
        plan = search.along(families[second], coarse, (families[first].setting(position),), stop=alone)
        if plan is not None:
            out.append(plan)
    return out


def ranked(plans: Sequence[Plan], wanted: Plan) -> dict[str, list[Plan]]:
    """Plans by their strengths, the cheapest first.

    `complete` publishes all wanted numbers. `exact` publishes numbers as exact as the wanted ones. `least` has the
    least error in all, with unpublished numbers taken for zero. An empty release is no plan.
    """
    rising = [plan for plan in sorted(plans, key=lambda plan: plan.cost.total) if plan.cost.mean is not None]
    error = wanted.cost.mean or 0.0
    return {
        "complete": [plan for plan in rising if plan.cost.published >= wanted.cost.published - EXACT],
        "exact": [plan for plan in rising if plan.cost.mean is not None and plan.cost.mean <= error + EXACT],
        "least": rising,
    }


def frontier(plans: Sequence[Plan]) -> list[Plan]:
    """Plans without a better one in both: fewer people possibly above the first limit, and less error in all.

    People are compared as published, in fives: the order then reveals no more.
    """

    def people(plan: Plan) -> float:
        return told_tally(plan.tallies[0]).possibly

    out: list[Plan] = []
    for plan in sorted(plans, key=lambda plan: (plan.cost.total, people(plan))):
        if not out or people(plan) < people(out[-1]):
            out.append(plan)
    return out


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


#: The ways by name; their values follow from the count.
WAYS: dict[str, Mechanism] = {
    "hidden below 5": Suppression(5),
    "hidden below 10": Suppression(10),
    "rounded to 5": Rounding(5),
    "rounded to 10": Rounding(10),
    "hidden to 7, then rounded to 5": Then(Suppression(8), Rounding(5)),
}
#: Their names among levers.
ALWAYS = "asked for"


def readers_ask(search: Search, base: Release) -> Iterator[Plan]:
    """Each way, if counts are wanted raw, on some people; and both ends of presence at counted places."""
    if not all(way.raw for way in base.ways):
        return
    for number, (name, way) in enumerate(WAYS.items()):
        try:
            release = followed(base, way)
        except PasserbyError:
            continue
        plan = search.attempt((Setting(ALWAYS, float(number), f"counts {name}"),), release)
        if search.guard is not None:
            plan = replace(plan, presence=search.guard.told(release))
            search.tried[release] = plan
        yield plan
