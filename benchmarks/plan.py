"""Plans: releases tried per minute and how they grow, how near greedy is to the best, and the noise beside riskcal's.

Everything runs in this process, on one core. `python -m benchmarks.plan --cases 200` measures verdicts again with ten
times the effort, for that many random towns.
"""

import argparse
import time
from itertools import combinations

import numpy as np

import passerby as pb
from benchmarks.record import Section, rounded
from passerby.plans.cells import without
from passerby.plans.cost import Truth, cost_of
from passerby.plans.lever import Choice, Scene
from passerby.plans.levers import BY_NAME
from passerby.plans.limit import counted
from passerby.plans.survey import COLUMNS

#: What is varied, one at a time: people, steps, sensors, and levers that may be moved.
BASE = {"people": 100, "steps": 4, "sensors": 3}
GROWN: tuple[dict[str, int], ...] = ({}, {"people": 400}, {"steps": 8}, {"sensors": 6})
LEVERS = (("rounding",), ("gaussian",), ("places",), ("rounding", "gaussian", "places", "every"))
EXACT = {"tolerance": 0.0, "budget": 1e9, "workers": 1}


def town(seed: int, people: int, steps: int, places: int = 12) -> pb.People:
    city = pb.simulate_city(people, 2 * places, 6, seed=seed)
    return pb.fit_people(city, window="3h", places=places, min_active=1, holdout=steps, habits="paper")


def growth(section: Section) -> None:
    for more in GROWN:
        size = {**BASE, **more}
        people = town(0, size["people"], size["steps"])
        wanted = pb.Release(pb.most_visited_sensors(people, size["sensors"]))
        for levers in LEVERS if not more else LEVERS[-1:]:
            start = time.process_time()
            found = pb.plan(people, wanted, [pb.Limit(0.05, added=0.05)], 1, levers=levers, budget=1e7, workers=1)
            spent = time.process_time() - start
            section.add(
                case="growth",
                size=size,
                levers=len(levers),
                plans=len(found.tried),
                measured=found.measured,
                seconds=rounded(spent),
                per_minute=rounded(60 * len(found.tried) / spent),
            )


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
                    total = cost_of(release, wanted, Truth.about(people)).total
                    if total < best and verdict(people, release, limit) == "sure":
                        best = total
            mine = min((plan.cost.total for plan in found.recommended.values()), default=1.0)
            shares.append(1.0 if best == 1 else (1 - mine) / (1 - best))
        section.add(case="greedy", lever=name, cases=cases, mean=rounded(float(np.mean(shares))), least=min(shares))


def verdict(people: pb.People, release: pb.Release, limit: pb.Limit) -> str:
    table = pb.audit(people, release, 0, **EXACT)  # type: ignore[arg-type]
    lower, upper, *known = (table[name].to_numpy() for name in COLUMNS)
    return counted(limit, lower, upper, (known[0], known[1])).verdict


def noise(section: Section) -> None:
    """The noise of a plan beside the one that riskcal finds for the same limit on anybody's advantage."""
    riskcal = section.peer("riskcal", "riskcal.analysis")
    if riskcal is None:
        return
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    for added in (0.02, 0.1, 0.3):
        people = town(1, 60, 4)
        wanted = pb.Release(pb.most_visited_sensors(people, 3))
        found = pb.plan(people, wanted, [pb.Limit(0.0, added=added)], 1, levers=["gaussian"], budget=1e7, workers=1)
        low, high = 0.1, 1000.0
        while high / low > 1.0001:
            middle = (low * high) ** 0.5
            told = riskcal.get_advantage_from_pld(from_gaussian_mechanism(middle).self_compose(wanted.steps))
            low, high = (low, middle) if told <= added else (middle, high)
        mine = min(plan.release.mechanism.sigma for plan in found.recommended.values())  # type: ignore[attr-defined]
        section.add(case="noise", added=added, ours=mine, riskcal=rounded(high), ratio=rounded(mine / high))


def again(cases: int) -> int:
    """How many verdicts of random towns do not stand with ten times the effort, of how many that were measured."""
    wrong = measured = 0
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        people = town(seed, int(rng.integers(8, 16)), int(rng.integers(2, 5)), 6)
        wanted = pb.Release(pb.most_visited_sensors(people, int(rng.integers(1, 4))))
        limit = pb.Limit(float(rng.choice([0.0, 0.1, 0.3])), added=float(rng.uniform(0.01, 0.2)))
        levers = [["gaussian"], ["rounding", "suppression"], ["places", "every"]][seed % 3]
        little = {"budget": 1e5, "runs": 30, "seed": seed, "workers": 1}
        for plan in pb.plan(people, wanted, [limit], 1, levers=levers, **little).tried:  # type: ignore[arg-type]
            if plan.verdict == "open" or plan.cost.mean is None:
                continue
            more = {"tolerance": 1e-3, "budget": 1e6, "runs": 300, "seed": seed + 1, "workers": 1}
            table = pb.audit(people, plan.release, 1, **more)  # type: ignore[arg-type]
            lower, upper, *known = (table[name].to_numpy() for name in COLUMNS)
            now = counted(limit, lower, upper, (known[0], known[1])).verdict
            measured += 1
            wrong += {plan.verdict, now} == {"sure", "refused"}
    print(f"{cases} towns, {measured} verdicts measured again, {wrong} of them wrong", flush=True)
    return wrong


def run() -> Section:
    section = Section("plans")
    growth(section)
    greedy(section)
    noise(section)
    return section


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    raise SystemExit(again(parser.parse_args().cases))
