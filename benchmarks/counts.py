"""A day of hours in zones: 24 steps, 12 zones of several places, raw and with noise; and flows between 6 zones.

People of a simulated city, each over their own reduced chain: processor seconds of a person at the usual budget, how
far apart the two ends are, the states of the chain with what it must remember, and the most memory that the process
took so far. Cases are in the order of their size, so that the memory of each is its own.
"""

import resource
import time

import numpy as np

import passerby as pb
from benchmarks.record import Section, rounded
from passerby.audits.job import Job, over_states
from passerby.audits.person import audit_person
from passerby.audits.settings import Measurement
from passerby.others.by_habits import everyone_else
from passerby.visits.city import City

STEPS, MISSES, PEOPLE = 24, 2, 4
CITY = City(people=500, places=120, days=8)


def zones(people: pb.People, level: str) -> list[tuple[int, ...]]:
    """The zones of a level, by place numbers."""
    number = {name: k for k, name in enumerate(people.places)}
    found: dict[str, list[int]] = {}
    names = CITY.place_names()
    for place, zone, kind in CITY.zones():
        if kind == level and names[place] in number:
            found.setdefault(zone, []).append(number[names[place]])
    return [tuple(places) for places in found.values()]


def releases(people: pb.People) -> dict[str, pb.Release]:
    wards = zones(people, "ward")
    # Six zones, of two wards each.
    pairs = [(*wards[k], *wards[k + 1]) for k in range(0, 12, 2)]
    present = [pb.Present(zone, t) for t in range(STEPS) for zone in wards]
    moved = [pb.Moved(a, b, t) for t in range(STEPS - 1) for a in pairs for b in pairs]
    return {
        "12 zones, raw": pb.Release(counts=present, steps=STEPS),
        "12 zones, noise 2": pb.Release(counts=present, steps=STEPS, mechanism=pb.Gaussian(2.0)),
        "flows of 6 zones, raw": pb.Release(counts=moved, steps=STEPS),
        "flows of 6 zones, rounded to 5": pb.Release(counts=moved, steps=STEPS, mechanism=pb.Rounding(5)),
        "flows of 6 zones, noise 2": pb.Release(counts=moved, steps=STEPS, mechanism=pb.Gaussian(2.0)),
    }


def run(quick: bool = False) -> Section:
    section = Section("counts of zones")
    count, asked = (1, 2) if quick else (PEOPLE, None)
    city = pb.simulate_city(CITY.people, CITY.places, CITY.days)
    people = pb.fit_people(city, window="1h", places=CITY.places, min_active=24, holdout=STEPS)
    chosen = np.linspace(0, len(people) - 1, count).astype(int).tolist()
    for name, release in list(releases(people).items())[:asked]:
        job = Job(people, release, Measurement(MISSES), everyone_else(people, release))
        states = [measured.over(prior)[0].states for prior, measured, *_ in (over_states(job, who) for who in chosen)]
        began = time.process_time()
        rows = [audit_person(job, who) for who in chosen]
        spent = time.process_time() - began
        low, high = (np.array([row[end] for row in rows], dtype=np.float64) for end in ("lower", "upper"))
        section.add(
            case=name,
            counts=len(release.listed),
            states=int(np.mean(states)),
            seconds=rounded(spent / count),
            lower=rounded(low.mean()),
            upper=rounded(high.mean()),
            width=rounded(float((high - low).mean())),
            megabytes=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        )
    return section
