"""All that is public, called with what is right, so that some of it can be replaced by what is not.

`GROUPS` have every function, class and method that people call. `RECORDS` are what comes back from them, which nobody
makes by hand, and `WITHIN` are methods that the package calls itself, with arrays that it has made.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

import passerby as pb


def anything(*_: Any, **__: Any) -> None:
    """Take whatever comes, and give nothing."""


class Anything:
    """Is made of whatever comes."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Keep nothing."""


#: What comes where something else is expected, by its name; each is made anew, since a generator is there once.
HOSTILE: MappingProxyType[str, Callable[[], Any]] = MappingProxyType(
    {
        "None": lambda: None,
        "a word": lambda: "x",
        "an empty text": lambda: "",
        "a text of numbers": lambda: "1.0",
        "a lone surrogate": lambda: "\ud800",
        "a zero byte": lambda: "\0",
        "bytes": lambda: b"x",
        "half": lambda: 1.5,
        "minus one": lambda: -1,
        "zero": lambda: 0,
        "2^70": lambda: 2**70,
        "-2^70": lambda: -(2**70),
        "2^40": lambda: 2**40,
        "1e300": lambda: 1e300,
        "nan": lambda: float("nan"),
        "infinity": lambda: float("inf"),
        "True": lambda: True,
        "a complex number": lambda: 1j,
        "a list of nothing": list,
        "a dictionary of nothing": dict,
        "lists of different lengths": lambda: [[0.5], [0.2, 0.3]],
        "a list of words": lambda: ["x"],
        "a list of None": lambda: [None],
        "a list of 2^70": lambda: [2**70],
        "an array of nothing": lambda: np.array([]),
        "an array of one": lambda: np.array([[1.0]]),
        "an array of words": lambda: np.array(["x"]),
        "an object": object,
        "a function": lambda: anything,
        "a class": lambda: Anything,
        "a generator": lambda: (n for n in [0.5, "x"]),
    }
)

#: What functions give back: made by hand they hold whatever they are given, and are asked nothing.
RECORDS = {
    *("Calibration", "Cell", "Concealment", "Curve", "DifferentialPrivacy", "Effort", "EventAnswer", "Finding"),
    *(
        "CountTable",
        "Interval",
        "KnownShare",
        "Profile",
        "ProfileAnswer",
        "TableCheck",
        "TablePlan",
        "Loss",
        "People",
        "Plan",
        "Plans",
        "Report",
        "Together",
        "Traces",
        "Visits",
    ),
}
#: What others derive from.
BASES = {"Mechanism", "Discrete"}
#: Methods that the package calls itself, with what it has checked or made; no document tells of them.
WITHIN = {
    "Crowd": {"as_if_independent", "at", "channels", "check", "check_said", "covariance", "draw", "independent", "laws"}
    | {"of_counts", "told_of", "of_side_information"},
    "Calibration": {"published", "with_everyone"},
    "Count": {"asked", "bits", "meets", "met", "progress", "relabelled", "said"},
    "People": {"in_modes"},
    "Persona": {"law", "over"},
    "CountTable": {"between"},
    "TableCheck": {"of"},
    "Question": {"answer", "check", "hypotheses", "relabelled"},
    "Limit": {"edges", "ends", "exceeded", "side"},
    "MarkovPrior": {"as_names", "by_place", "guessed_as", "known", "matrix", "with_states", "wrong"},
    "Mechanism": {"apply", "around", "bins", "check_cells", "check_count", "check_sensors", "complete", "crossing"}
    | {
        "divided",
        "draw",
        "extent",
        "followed_by",
        "gives",
        "half",
        "hidden",
        "informations",
        "like",
        "listing",
        "log_between",
    }
    | {
        "log_density",
        "log_mass",
        "log_tail",
        "log_within",
        "mixed",
        "moments",
        "noise",
        "pieces",
        "preimage",
        "quadrature",
    }
    | {"log_ratio", "losses", "pure_epsilon", "reach_of", "reader_error", "size_of", "tells_less_than", "times"}
    | {"unfolded", "window"},
    "Habits": {"weights"},
    "Release": {
        "alike",
        "raw_of",
        "as_raw",
        "by_class",
        "check_places",
        "classes",
        "drawn",
        "kinds",
        "named",
        "of_states",
        "over",
    }
    | {"published", "raw", "relabelled", "signals", "stacked_signals"},
    "Together": {"lines", "shared"},
    # A continuum has no list of values.
    "Gaussian": {"law"},
    "Laplace": {"law"},
}


class Fresh:
    """What is made anew for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


@dataclass(frozen=True)
class Door:
    """Something that is called, by its name, with arguments that are right."""

    name: str
    call: Callable[..., Any]
    arguments: MappingProxyType[str, Any]

    def __repr__(self) -> str:
        return self.name

    def knock(self, **wrong: Any) -> None:
        """Call it with some arguments replaced, and ask what comes back for something."""
        right = {name: each.make() if isinstance(each, Fresh) else each for name, each in self.arguments.items()}
        ask(self.call(**{**right, **wrong}))


def ask(found: Any) -> None:
    """What was let in at the door shall not break behind it."""
    prior, release = pb.line_prior(3), pb.Release([0, 1], pb.Geometric(1.0), [2, 3])
    repr(found)
    if isinstance(found, pb.MarkovPrior):
        pb.measure(found, pb.Release([0, 0]), budget=0, runs=2)
    elif isinstance(found, pb.Release):
        pb.measure(prior, found, budget=0, runs=2)
    elif isinstance(found, pb.Mechanism):
        pb.measure(prior, release.through(found), budget=0, runs=2)
    elif isinstance(found, pb.Present | pb.Moved | pb.Visitors):
        pb.measure(prior, pb.Release(counts=[found], steps=2), budget=0, runs=2)
    elif isinstance(found, pb.Trace | pb.Event | pb.InData | pb.EachStep):
        pb.measure(prior, release, found, budget=0, runs=2)
    elif isinstance(found, pb.Crowd):
        pb.measure(prior, pb.Release([0, 1], others=found), budget=0, runs=2)
    elif isinstance(found, pb.Limit):
        found.allowed(10)
    elif isinstance(found, Iterator):
        list(found)


def door(name: str, call: Callable[..., Any], /, **arguments: Any) -> Door:
    """A door with its arguments."""
    return Door(name, call, MappingProxyType(arguments))


LITTLE = {"tolerance": 0.01, "runs": 3, "confidence": 0.99, "budget": 1e4, "seed": 0}
RNG = Fresh(lambda: np.random.default_rng(0))


def priors() -> Iterator[Door]:
    """Habits."""
    moves = [[0.5, 0.5], [0.2, 0.8]]
    prior, start = pb.line_prior(3), [0.5, 0.5]
    more = {"place_of": [0, 1], "mode_of": [0, 0], "guessable": [True, True], "universe": 2, "elsewhere": None}
    yield door("line_prior", pb.line_prior, places=4, tau=0.1)
    yield door("MarkovPrior", pb.MarkovPrior, initial=start, transition=moves, merged_entropy=[0.0, 0.0], **more)
    yield door("MarkovPrior.stationary", pb.MarkovPrior.stationary, transition=moves)
    yield door("MarkovPrior.mixture", pb.MarkovPrior.mixture, weights=[0.5, 0.5], priors=[prior, prior])
    yield door("MarkovPrior.given", pb.MarkovPrior(start, moves).given, sightings={0: 1}, steps=2)
    yield door("MarkovPrior.sample", prior.sample, size=2, steps=3, rng=RNG)
    yield door("MarkovPrior.marginals", prior.marginals, steps=3)
    yield door("MarkovPrior.log_moves", prior.log_moves, steps=3)
    yield door("MarkovPrior.check_steps", prior.check_steps, steps=3)
    yield door("entropy", pb.entropy, prior=prior, steps=3)
    habits = inspect.signature(pb.Habits).parameters
    yield door("Habits", pb.Habits, **{name: each.default for name, each in habits.items()})


def releases() -> Iterator[Door]:
    """What is published."""
    prior, release = pb.line_prior(3), pb.Release([0, 1, 0])
    noisy = pb.Geometric(1.0)
    either = [pb.Present([0], 0), pb.Present([0], 1)]
    yield door("Release", pb.Release, sensors=[0, 1], mechanism=noisy, others=[3, 4], size=1)
    yield door("Release of raw counts", pb.Release, sensors=[0, 1], size=2)
    yield door("Release of counts", pb.Release, counts=either, steps=2, mechanism=noisy, size=1)
    yield door("Release.__add__", release.__add__, other=release)
    named: Any = lambda history: [pb.Present([0], len(history))]  # noqa: E731
    how = {"steps": 2, "mechanism": pb.Raw(), "size": 1}
    yield door("Release.adaptive", pb.Release.adaptive, policy=named, among=either, **how)
    yield door("Release.adaptive of places", pb.Release.adaptive, policy=lambda history: [0], steps=2)
    yield door("Release.after", pb.Release.adaptive(named, 2).after, published=[0, 0])
    yield door("Release.check", release.check, prior=prior)
    yield door("Release.check_misses", release.check_misses, misses=1)
    yield door("Release.publish", release.publish, traces=[[0, 1, 0]], rng=RNG)
    yield door("Release.evidence", release.evidence, published=[[[0], [0], [0]]])
    yield door("Release.likelihoods", release.likelihoods, published=[[[0], [0], [0]]])
    yield door("Release.of_groups", release.of_groups, size=2)
    yield door("Release.silent", pb.Release.silent, steps=2)
    yield door("Release.there", release.there, traces=[[0, 1, 0]])
    yield door("Release.through", release.with_others([1, 2, 3]).through, mechanism=pb.Rounding(2))
    yield door("Release.with_others", release.with_others, others=[1, 2, 3])
    yield door("Crowd", pb.Crowd, priors=[prior, prior])
    yield door("Crowd of laws", pb.Crowd, laws=[[[0.5, 0.5]], [[0.2, 0.8]]], told=None)
    count = {"mechanism": pb.Raw(), "others": 2}
    yield door("Moved", pb.Moved, origin=0, destination=1, step=0, **count)
    yield door("Present", pb.Present, places=[0], step=1, **count)
    yield door("Visitors", pb.Visitors, places=[0], steps=[0, 1], times=1, **count)
    alike = pb.Suppression(10)
    counts = [*(pb.Present([place], 0) for place in range(3)), pb.Present([0, 1], 0)]
    cells = pb.Release(counts=counts, steps=1, mechanism=alike)
    seen = [[float("nan"), 40, 31, 45]]
    yield door("recovered", pb.recovered, release=cells, published=seen, also=[cells.listed[3]])
    yield door("conceal", pb.conceal, release=cells, published=seen, keep=[cells.listed[3]], cost=None, apart=1)


#: Mechanisms and what they are made of.
MADE_OF: dict[str, dict[str, Any]] = {
    "AtLeast": {"least": 3},
    "Bands": {"edges": [1, 2]},
    "DiscreteGaussian": {"sigma": 1.0, "clamped": False, "persistent": False},
    "Gaussian": {"sigma": 1.0, "clamped": False, "persistent": False, "rounded": False},
    "Geometric": {"scale": 1.0, "clamped": False, "persistent": False},
    "Laplace": {"scale": 1.0, "clamped": False, "persistent": False, "rounded": False},
    "Miscount": {"miss": 0.1, "double": 0.1},
    "RandomRounding": {"base": 3, "persistent": False},
    "Raw": {},
    "Rounding": {"base": 3},
    "RoundingBySize": {"sizes": [[0, 1], [3, 2]]},
    "Sampling": {"rate": 0.5, "persistent": False},
    "Scaled": {"weight": 2.0},
    "Suppression": {"below": 3, "keep_zeros": False},
    "Then": {"first": pb.Geometric(1.0), "second": pb.Rounding(2)},
}


@dataclass(frozen=True)
class Strange(pb.Discrete):
    """A mechanism whose law is whatever it is made of."""

    said: Any

    def law(self, count: float) -> Any:
        """That."""
        return self.said

    def __hash__(self) -> int:
        return id(self.said)


@dataclass(frozen=True)
class Odd(pb.Discrete):
    """A mechanism whose values, or their probabilities, are whatever it is made of."""

    values: Any
    chances: Any

    def law(self, count: float) -> Any:
        """Both."""
        return self.values, self.chances

    def __hash__(self) -> int:
        return id(self.values) ^ id(self.chances)


def mechanisms() -> Iterator[Door]:
    """What is done to counts."""
    for name, settings in MADE_OF.items():
        yield door(name, getattr(pb, name), **settings)
        made = getattr(pb, name)(**settings)
        yield door(f"{name}.sample", made.sample, count=[1, 2], rng=RNG)
        yield door(f"{name}.log_likelihood", made.log_likelihood, output=[1.0, 2.0], count=[1, 2])
        yield door(f"{name}.information", made.information, presence=0.5, count=1)
        for method in ("total_variation", "outputs", "pair", "stand_ins"):
            yield door(f"{name}.{method}", getattr(made, method), count=1)
        if made.outputs(1) is not None:
            yield door(f"{name}.law", made.law, count=1)
    yield door("a law", Strange, said=([0.0, 1.0], [0.5, 0.5]))
    yield door("parts of a law", Odd, values=[0.0, 1.0], chances=[0.5, 0.5])
    yield door("check_mechanism", pb.check_mechanism, mechanism=pb.Raw(), counts=[0, 1], runs=10, seed=0)


def personas() -> Iterator[Door]:
    """People in words."""
    nurse = pb.Persona("nurse", [("Mon-Fri 07:00-15:00", "clinic", 0.9)])
    more = {"home": "home", "stays": 0.5, "weight": 1.0, "about": ""}
    yield door("Persona", pb.Persona, name="ann", week=[("Sat", "park", 0.5)], otherwise={"home": 1.0}, **more)
    yield door("Persona.bound", nurse.bound, places={"clinic": "hospital"})
    yield door("Persona.place_of", nurse.place_of, role="clinic")
    yield door("Persona.prior", nurse.prior, start="2024-01-15", step="1h", steps=2, timezone="UTC")
    yield door("read_personas", pb.read_personas, source="nurse")
    flows = {"flows": [("a", "b", 3)], "start": "2024-01-15", "step": "1h", "steps": 2, "profile": "resident"}
    yield door("people_from_flows", pb.people_from_flows, **flows, people=3, timezone="UTC", seed=0)
    counts = pl.DataFrame({"time": ["2024-01-15 08:00", "2024-01-15 09:00"], "clinic": [3, 12]})
    how = {"timezone": "UTC", "time_format": None, "step": "1h", "runs": 20, "seed": 0, "roles": {"clinic": "clinic"}}
    yield door("check_table", pb.check_table, source=counts, personas="dialysis", ways=[pb.Raw()], **how)
    where = {"out": _folder() / "check", "overwrite": True}
    yield door("check_folder", pb.check_folder, source=counts, personas="dialysis", **how, **where)
    yield door(
        "plan_table",
        pb.plan_table,
        source=counts,
        limit=pb.Limit(share=0, above=0.5),
        personas=["dialysis"],
        against="insider",
        levers=["suppression"],
        stay=["clinic"],
        **how,
    )
    yield door("read_counts", pb.read_counts, source=counts, timezone="UTC", time_format=None, step="1h")


def questions() -> Iterator[Door]:
    """What is asked of a person, and the answers."""
    prior, release, noisy = pb.line_prior(3), pb.Release([0, 1, 0]), pb.Release([0, 1, 0], pb.Gaussian(1.0))
    count = pb.Present([0], 1)
    yield door("Trace", pb.Trace, misses=0, zones=[0, 0, 1])
    yield door("Trace within", pb.Trace, within=None)
    yield door("Event", pb.Event, count=count, never=False)
    yield door("InData", pb.InData, instead=prior, share=0.5)
    yield door("EachStep", pb.EachStep)
    asked = {"prior": prior, "release": release, "question": 0, "misses": None}
    yield door("measure", pb.measure, **asked, series="auto", method="exact", published=None, **LITTLE)
    yield door("measure by samples", pb.measure, **asked, series="sample", method="sampling", **LITTLE)
    yield door("measure what was published", pb.measure, prior=prior, release=noisy, published=[0, 1, 1])
    event = {"prior": prior, "release": noisy, "question": pb.Event(count)}
    yield door("measure an event", pb.measure, **event, **LITTLE)
    crowd = pb.Release([0, 1, 0], pb.Raw(), pb.Crowd([prior]))
    shares = {"prior": prior, "release": crowd, "question": 0, "shares": [0.0, 0.5], "draws": 2, "seed": 0}
    yield door(
        "known_shares", pb.known_shares, **shares, confidence=0.9, runs=2, budget=1e4, tolerance=0.01, series="auto"
    )
    more = {"everybody": prior, "seen": {0: 1}, "together": 2, "shares": [0.5], "seed": 0, "confidence": 0.9}
    more |= {"tolerance": 0.01, "series": "auto", "runs": 2, "budget": 1e4}
    yield door("profiles", pb.profiles, prior=prior, release=crowd, question=0, **more)
    yield door("mutual_information", pb.mutual_information, prior=prior, release=release, method="best")
    for name in ("tight_bound", "loose_bound"):
        yield door(name, getattr(pb, name), prior=prior, release=release, misses=1, information=0.1)
    single = pb.Release([0], pb.Gaussian(1.0))
    yield door("differential_privacy", pb.differential_privacy, release=single, delta=1e-5, prior=prior)
    yield door("reconstruction_advantage", pb.reconstruction_advantage, prior=prior, release=release, success=0.5)
    yield door("hold_back", pb.hold_back, priors=prior, wanted=release, limit=0.5, misses=0)
    loss, answer = pb.measure(prior, release, 1), pb.measure(prior, release, pb.Event(count))
    yield door("Loss.robust", loss.robust, nats=0.1)
    yield door("Loss.worst", loss.worst, chance=0.9)
    yield door("Loss.tail", loss.tail, share=0.1)
    yield door("EventAnswer.power", answer.power, false=0.1)
    yield door("EventAnswer.certain", answer.certain, chance=0.9)
    yield door("EventAnswer.absent", answer.absent, chance=0.9)
    yield door("EventAnswer.weeks", answer.weeks, count=4)


@cache
def _folder() -> Path:
    """A folder with visits in a file."""
    folder = Path(mkdtemp(prefix="passerby-doors-"))
    rows = [f"p{i},2024-01-0{d}T0{h}:00,q{(i + h) % 3}" for i in range(8) for d in range(1, 5) for h in range(8)]
    (folder / "visits.csv").write_text("\n".join(["person,time,place", *rows]))
    return folder


@cache
def _city() -> pb.Visits:
    return pb.simulate_city(12, 20, 3)


@cache
def _people() -> pb.People:
    return pb.fit_people(_city(), window="3h", places=9, min_active=1, holdout=4)


def tables() -> Iterator[Door]:
    """Visits, steps and habits."""
    city, file = _city(), _folder() / "visits.csv"
    traces = pb.window_visits(city, window="3h", places=9, min_active=1)
    one = {"seed": 0, "seen": 1.0, "start": "2024-01-01"}
    yield door("simulate_city", pb.simulate_city, people=5, places=10, days=1, step="1h", **one)
    columns: dict[str, Any] = {
        "person": "person",
        "time": "time",
        "place": "place",
        "latitude": None,
        "longitude": None,
    }
    columns |= {"columns": None, "separator": ",", "skip_lines": 0, "time_format": None, "grid_metres": None}
    columns |= {"h3_resolution": None, "timezone": "UTC", "since": None, "until": None, "max_unparsable": 0.01}
    yield door("read_visits", pb.read_visits, source=file, layout="auto", progress=None, **columns)
    steps = {"window": "3h", "origin": None, "end": None, "places": 9, "min_active": 1, "rule": "most-visited"}
    yield door("window_visits", pb.window_visits, visits=city, **steps, holdout=4)
    fitted = {"holdout": 4, "smoothing": 1.0, "rhythm": "none", "name_elsewhere": False, "habits": "paper"}
    fitted |= {"common": "none"}
    yield door("fit_people", pb.fit_people, visits=city, **steps, **fitted)
    yield door("fit_people of traces", pb.fit_people, visits=traces, **{**fitted, "habits": pb.Habits()})
    how = {"origins": 1, "people": 3, "misses": 1, "release": None, "seed": 0, "workers": 1, "progress": None}
    yield door("backtest", pb.backtest, visits=traces, **steps, **fitted, **how)
    calibration = pb.backtest(traces, origins=1, people=8, holdout=3, habits="paper", min_active=1)
    yield door("Calibration.row", calibration.row, attack="map", misses=0)
    people = _people()
    yield door("fixed_sensors", pb.fixed_sensors, people=people, names=list(people.places[:4]))
    yield door("most_visited_sensors", pb.most_visited_sensors, people=people, count=1)
    yield door("random_sensors", pb.random_sensors, people=people, count=1, seed=0)
    yield door("People.prior", people.prior, person=0, sensed=[0], reduced=True, zones=None)


def audits() -> Iterator[Door]:
    """What is worked out for everybody."""
    people, release, folder = _people(), pb.Release([0, 1, 0, 1]), _folder()
    job = {"workers": 1, "executor": None, "progress": None}
    crew = {**job, "engine": "processes", "scheduler": None}
    every: dict[str, Any] = {"people": people, "release": release, "misses": 1, **LITTLE}
    yield door("audit", pb.audit, **every, **crew, folder=None)
    yield door("audit of questions", pb.audit, **every, **crew, folder=None, questions=[pb.Trace(1), pb.InData()])
    yield door("adversaries", pb.adversaries, **every, **job, sample=2, known_steps=[1], file=None)
    city = _city()
    who, where = city.people.gather(city.table["person"]), city.places.gather(city.table["place"])
    frame = city.table.select("time", person=who, place=where)
    share = {"visits": frame, "like": people, "release": release, "misses": 1, "min_active": 1, "rule": "most-visited"}
    yield door("audit_partition", pb.audit_partition, **share, **LITTLE, questions=[0])
    limits = [pb.Limit(share=0.5, added=0.99)]
    plan: dict[str, Any] = {"people": people, "wanted": release, "limits": limits, "misses": 0, "levers": ["rounding"]}
    plan |= {"presence_at_most": 1.0, "presence_against": "habits"}
    plan |= {"forbid": [], "fix": None, "stay": [], "weights": None, "levels": (), "drawn": 4, "minutes": None}
    yield door("plan", pb.plan, **plan, **LITTLE, **job, folder=None)
    yield door("Limit", pb.Limit, share=0.5, above=0.5)
    yield door(
        "Limit of a question", pb.Limit, share=0.5, above=0.5, question="counted", against="habits", measure="power"
    )
    yield door("Limit of what is added", pb.Limit, share=0.5, added=0.5)
    yield door("Limit.allowed", limits[0].allowed, people=5)
    both = {"releases": [release, release], "misses": 1, "people": people}
    yield door("together", pb.together, **both, **LITTLE, **crew, folder=None)
    found = pb.together(people, [release, release], runs=3, budget=1e4, workers=1)
    yield door("Together.means", found.means, thresholds=[0.5])
    yield door("stream", pb.stream, task=anything, data=1, items=[1, 2], chunk=1, sizes=None, kept=None, **job)
    yield from reports(every, crew, folder)


def reports(every: dict[str, Any], crew: dict[str, Any], folder: Path) -> Iterator[Door]:
    """The page, which takes longest."""
    quick: dict[str, Any] = {"explore": 0, "adversaries": 0}
    yield door("audit_report", pb.audit_report, **every, **crew, **quick, backtest=None)
    little: dict[str, Any] = {"runs": 3, "budget": 1e4, "workers": 1}
    report = pb.audit_report(_people(), pb.Release([0, 1, 0, 1]), **little, **quick)
    yield door("Report.save", report.save, path=folder / "page.html")
    steps = {"window": "3h", "places": 3, "min_active": 1, "holdout": 3, "backtest": 0}
    job = {name: value for name, value in crew.items() if name != "scheduler"}
    where = {"visits": folder / "visits.csv", "out": folder / "out", "overwrite": True}
    yield door("audit_folder", pb.audit_folder, **where, **steps, **job, **quick)


GROUPS = (priors, releases, mechanisms, personas, questions, tables, audits)
