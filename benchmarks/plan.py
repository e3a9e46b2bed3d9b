"""Plans: releases tried per minute and how they grow, how near greedy is to the best, and the noise beside riskcal's.

Everything runs in this process, on one core, and times are processor seconds. Verdicts of 200 random towns are measured
again with ten times the effort; `python -m benchmarks.plan --cases 20` does so for fewer, and nothing else.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

import passerby as pb
from benchmarks.record import Section, rounded
from passerby.plans.cost import Truth, cost_of
from passerby.plans.lever import Choice, Scene, without
from passerby.plans.levers import BY_NAME
from passerby.plans.limit import counted
from passerby.plans.survey import COLUMNS

#: What is varied, one at a time: people, steps, sensors, and levers that may be moved.
BASE = {"people": 100, "steps": 4, "sensors": 3}
GROWN: tuple[dict[str, int], ...] = (
    {},
    {"people": 400},
    {"people": 1600},
    {"steps": 8},
    {"sensors": 6},
    {"sensors": 12},
)
FEW: tuple[dict[str, int], ...] = ({"people": 20},)
SEVERAL = ("gaussian", "rounding", "suppression", "places", "every")
LEVERS = (("rounding",), ("gaussian",), ("places",), ("counts",), SEVERAL)
#: Random towns whose verdicts are measured again.
CASES = 200
EXACT = {"tolerance": 0.0, "budget": 1e9, "workers": 1}


def town(seed: int, people: int, steps: int, places: int = 12) -> pb.People:
    city = pb.simulate_city(people, 2 * places, 6, seed=seed)
    return pb.fit_people(city, window="3h", places=places, min_active=1, holdout=steps, habits="paper")


def growth(section: Section, quick: bool = False) -> None:
    for more in FEW if quick else GROWN:
        size = {**BASE, **more}
        people = town(0, size["people"], size["steps"])
        wanted = pb.Release(pb.most_visited_sensors(people, size["sensors"]))
        for levers in LEVERS if size == BASE else LEVERS[-1:]:
            start = time.process_time()
            found = pb.plan(people, wanted, [pb.Limit(0.05, added=0.02)], 1, levers=levers, budget=1e7, workers=1)
            spent = time.process_time() - start
            section.add(
                case="growth",
                size=size,
                levers=len(levers),
                plans=len(found.tried),
                measured=found.measured,
                seconds=rounded(spent),
                per_minute=rounded(60 * len(found.tried) / spent),
                moved=" and ".join(levers) if len(levers) < 2 else f"{len(levers)} levers",
            )
            for lever, positions, plans in found.bisections if levers == SEVERAL and (quick or not more) else ():
                section.add(case="bisection", lever=lever, positions=positions, plans=plans)


def greedy(section: Section, cases: int = 10) -> None:
    """What is kept by leaving counts out greedily, as a share of what the best choice keeps, with exact losses."""
    for name in ("places", "steps", "counts"):
        lever = BY_NAME[name]
        assert isinstance(lever, Choice)
        shares = []
        for seed in range(cases):
            people = town(seed, 9, 3, 6)
            wanted = pb.Release(pb.most_visited_sensors(people, 2 if name == "counts" else 3))
            limit = pb.Limit(0.2, added=0.05)
            found = pb.plan(people, wanted, [limit], 0, levers=[name], **EXACT)  # type: ignore[arg-type]
            items = lever.items(wanted, Scene(people.places))
            best = 1.0
            for size in range(len(items)):
                for gone in combinations(items, size):
                    release = without(wanted, frozenset().union(*(item.cells for item in gone)))
                    total = cost_of(release, wanted, Truth.about(people).as_told(wanted)).total
                    if total < best and verdict(people, release, limit) == "sure":
                        best = total
            mine = min((plan.cost.total for plan in found.recommended.values()), default=1.0)
            shares.append(1.0 if best == 1 else (1 - mine) / (1 - best))
        section.add(case="greedy", lever=name, cases=cases, mean=rounded(float(np.mean(shares))), least=min(shares))


def verdict(people: pb.People, release: pb.Release, limit: pb.Limit) -> str:
    table = pb.audit(people, release, 0, **EXACT)  # type: ignore[arg-type]
    lower, upper, *known = (table[name].to_numpy() for name in COLUMNS)
    return counted(limit, lower, upper, (known[0], known[1])).verdict


def noise(section: Section, added: Sequence[float] = (0.02, 0.1, 0.3)) -> None:
    """The noise of a plan beside what riskcal and dp-accounting ask for to keep the same limit for anybody."""
    riskcal = section.peer("riskcal", "riskcal.analysis")
    if riskcal is None:
        return
    from dp_accounting.pld import privacy_loss_distribution as pld

    kinds = {"gaussian": pld.from_gaussian_mechanism, "laplace": pld.from_laplace_mechanism}
    for (lever, losses), most in product(kinds.items(), added):
        people = town(1, 60, 4)
        wanted = pb.Release(pb.most_visited_sensors(people, 3))
        found = pb.plan(people, wanted, [pb.Limit(0.0, added=most)], 1, levers=[lever], budget=1e7, workers=1)
        low, high = 0.1, 1000.0
        while high / low > 1.0001:
            middle = (low * high) ** 0.5
            told = riskcal.get_advantage_from_pld(losses(middle).self_compose(wanted.steps))
            low, high = (low, middle) if told <= most else (middle, high)
        mine = min(plan.settings[0].position for plan in found.recommended.values())
        section.add(case="noise", lever=lever, added=most, ours=mine, asked=rounded(high), ratio=rounded(mine / high))


#: What is moved in turn where verdicts are measured again.
TURNS: tuple[tuple[str, ...], ...] = (
    ("gaussian",),
    ("rounding", "suppression"),
    ("places", "every"),
    ("zones", "gaussian"),
    ("visitors",),
)


def again(cases: int) -> dict[str, int]:
    """How many verdicts of random towns are wrong when measured with ten times the effort, of how many of each kind."""
    found: Counter[str] = Counter(towns=cases)
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        people = town(seed, int(rng.integers(8, 16)), int(rng.integers(2, 5)), 6)
        wanted = pb.Release(pb.most_visited_sensors(people, int(rng.integers(2, 4))))
        first, *rest = wanted.sensors[0]
        levels: list[Mapping[str, Any]] = [{"two": (first, rest[0])}, {"all": (first, *rest)}]
        limit = pb.Limit(float(rng.choice([0.0, 0.1, 0.3])), added=float(rng.uniform(0.01, 0.2)))
        levers = TURNS[seed % len(TURNS)]
        little: dict[str, Any] = {"budget": 1e5, "runs": 30, "seed": seed, "workers": 1}
        for plan in pb.plan(people, wanted, [limit], 1, levers=levers, levels=levels, **little).tried:
            if plan.verdict == "open" or plan.cost.mean is None:
                continue
            more: dict[str, Any] = {"tolerance": 1e-3, "budget": 1e6, "runs": 300, "seed": seed + 1, "workers": 1}
            table = pb.audit(people, plan.release, 1, **more)
            lower, upper, *known = (table[name].to_numpy() for name in COLUMNS)
            now = counted(limit, lower, upper, (known[0], known[1])).verdict
            found[plan.verdict] += 1
            found.update(setting.lever for setting in plan.settings)
            found["wrong"] += {plan.verdict, now} == {"sure", "refused"}
    print("  ".join(f"{name} {count}" for name, count in found.items()), flush=True)
    return {"wrong": 0, **found}


def run(quick: bool = False) -> Section:
    section = Section("plans")
    growth(section, quick)
    greedy(section, *((1,) if quick else ()))
    noise(section, *(((0.3,),) if quick else ()))
    section.add(case="again", **again(len(TURNS) if quick else CASES))
    return section


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    raise SystemExit(again(parser.parse_args().cases)["wrong"])
