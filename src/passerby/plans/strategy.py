"""The choice of levers, alone and two at a time, and of the recommended plans among the results."""

from __future__ import annotations

from collections.abc import Sequence

from .lever import Choice, Family, Lever
from .search import FEWEST, SCREEN, Plan, Search
from .told import told_tally

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
