"""How much published counts reveal about one person who was counted.

The front door: every public name is reachable as `passerby.<name>`. Names are loaded on first use, so that
importing the package stays fast and only what is used is compiled.

>>> import passerby as pb
>>> prior = pb.line_prior(places=20, tau=0.1)
>>> release = pb.Release(sensors=[3, 11, 7])
>>> loss = pb.measure(prior, release, 1)
>>> loss.lower <= loss.upper
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audits.adversaries import adversaries as adversaries
    from .audits.audit import audit as audit
    from .audits.audit import audit_partition as audit_partition
    from .audits.backtest import backtest as backtest
    from .audits.calibration import Calibration as Calibration
    from .audits.together import Together as Together
    from .audits.together import together as together
    from .errors import ConfigError as ConfigError
    from .errors import Contradiction as Contradiction
    from .errors import InputError as InputError
    from .errors import PasserbyError as PasserbyError
    from .errors import UnsupportedRelease as UnsupportedRelease
    from .measurement.finding import Finding as Finding
    from .measurement.finding import Interval as Interval
    from .measurement.information import entropy as entropy
    from .measurement.information import mutual_information as mutual_information
    from .mechanisms import AtLeast as AtLeast
    from .mechanisms import Bands as Bands
    from .mechanisms import Discrete as Discrete
    from .mechanisms import DiscreteGaussian as DiscreteGaussian
    from .mechanisms import Gaussian as Gaussian
    from .mechanisms import Geometric as Geometric
    from .mechanisms import Laplace as Laplace
    from .mechanisms import Mechanism as Mechanism
    from .mechanisms import Miscount as Miscount
    from .mechanisms import RandomRounding as RandomRounding
    from .mechanisms import Raw as Raw
    from .mechanisms import Rounding as Rounding
    from .mechanisms import RoundingBySize as RoundingBySize
    from .mechanisms import Sampling as Sampling
    from .mechanisms import Scaled as Scaled
    from .mechanisms import Suppression as Suppression
    from .mechanisms import Then as Then
    from .mechanisms import check_mechanism as check_mechanism
    from .model.counts import Moved as Moved
    from .model.counts import Present as Present
    from .model.counts import Visitors as Visitors
    from .model.line import line_prior as line_prior
    from .model.prior import MarkovPrior as MarkovPrior
    from .model.release import Release as Release
    from .others.crowd import Crowd as Crowd
    from .people.family import Habits as Habits
    from .people.fit import fit_people as fit_people
    from .people.flows import people_from_flows as people_from_flows
    from .people.habits import People as People
    from .people.sensors import fixed_sensors as fixed_sensors
    from .people.sensors import most_visited_sensors as most_visited_sensors
    from .people.sensors import random_sensors as random_sensors
    from .personas.persona import Persona as Persona
    from .personas.persona import read_personas as read_personas
    from .plans.limit import Limit as Limit
    from .plans.plan import Plans as Plans
    from .plans.plan import plan as plan
    from .plans.search import Plan as Plan
    from .plans.table_plan import TablePlan as TablePlan
    from .plans.table_plan import plan_table as plan_table
    from .questions.comparisons import DifferentialPrivacy as DifferentialPrivacy
    from .questions.comparisons import differential_privacy as differential_privacy
    from .questions.comparisons import reconstruction_advantage as reconstruction_advantage
    from .questions.each_step import Curve as Curve
    from .questions.each_step import EachStep as EachStep
    from .questions.event import Event as Event
    from .questions.event_answer import EventAnswer as EventAnswer
    from .questions.in_data import InData as InData
    from .questions.known_share import KnownShare as KnownShare
    from .questions.known_share import known_shares as known_shares
    from .questions.measure import measure as measure
    from .questions.profiles import PROFILES as PROFILES
    from .questions.profiles import Profile as Profile
    from .questions.profiles import ProfileAnswer as ProfileAnswer
    from .questions.profiles import profiles as profiles
    from .questions.trace.hold_back import hold_back as hold_back
    from .questions.trace.loss import Effort as Effort
    from .questions.trace.loss import Loss as Loss
    from .questions.trace.measure import Trace as Trace
    from .questions.trace.methods.formula import loose_bound as loose_bound
    from .questions.trace.methods.formula import tight_bound as tight_bound
    from .runs.audit import audit_folder as audit_folder
    from .runs.notebook import Report as Report
    from .runs.notebook import audit_report as audit_report
    from .runs.tables import check_folder as check_folder
    from .support.workers import stream as stream
    from .tables.check import TableCheck as TableCheck
    from .tables.check import check_table as check_table
    from .tables.read import CountTable as CountTable
    from .tables.read import read_counts as read_counts
    from .tables.recover import Cell as Cell
    from .tables.recover import recovered as recovered
    from .tables.suppress import Concealment as Concealment
    from .tables.suppress import conceal as conceal
    from .visits.city import simulate_city as simulate_city
    from .visits.readers import read_visits as read_visits
    from .visits.table import Traces as Traces
    from .visits.table import Visits as Visits
    from .visits.windows import window_visits as window_visits
__version__ = "0.1.0"

_HOME = {
    "audits.adversaries": ("adversaries",),
    "audits.audit": (
        "audit",
        "audit_partition",
    ),
    "audits.backtest": ("backtest",),
    "audits.calibration": ("Calibration",),
    "audits.together": (
        "Together",
        "together",
    ),
    "errors": (
        "ConfigError",
        "Contradiction",
        "InputError",
        "PasserbyError",
        "UnsupportedRelease",
    ),
    "measurement.finding": (
        "Finding",
        "Interval",
    ),
    "measurement.information": (
        "entropy",
        "mutual_information",
    ),
    "mechanisms": (
        "AtLeast",
        "Bands",
        "Discrete",
        "DiscreteGaussian",
        "Gaussian",
        "Geometric",
        "Laplace",
        "Mechanism",
        "Miscount",
        "RandomRounding",
        "Raw",
        "Rounding",
        "RoundingBySize",
        "Sampling",
        "Scaled",
        "Suppression",
        "Then",
        "check_mechanism",
    ),
    "model.counts": (
        "Moved",
        "Present",
        "Visitors",
    ),
    "model.line": ("line_prior",),
    "model.prior": ("MarkovPrior",),
    "model.release": ("Release",),
    "others.crowd": ("Crowd",),
    "people.family": ("Habits",),
    "people.fit": ("fit_people",),
    "people.flows": ("people_from_flows",),
    "people.habits": ("People",),
    "people.sensors": (
        "fixed_sensors",
        "most_visited_sensors",
        "random_sensors",
    ),
    "personas.persona": (
        "Persona",
        "read_personas",
    ),
    "plans.limit": ("Limit",),
    "plans.plan": (
        "Plans",
        "plan",
    ),
    "plans.search": ("Plan",),
    "plans.table_plan": (
        "TablePlan",
        "plan_table",
    ),
    "questions.comparisons": (
        "DifferentialPrivacy",
        "differential_privacy",
        "reconstruction_advantage",
    ),
    "questions.each_step": (
        "Curve",
        "EachStep",
    ),
    "questions.event": ("Event",),
    "questions.event_answer": ("EventAnswer",),
    "questions.in_data": ("InData",),
    "questions.known_share": (
        "KnownShare",
        "known_shares",
    ),
    "questions.measure": ("measure",),
    "questions.profiles": (
        "PROFILES",
        "Profile",
        "ProfileAnswer",
        "profiles",
    ),
    "questions.trace.hold_back": ("hold_back",),
    "questions.trace.loss": (
        "Effort",
        "Loss",
    ),
    "questions.trace.measure": ("Trace",),
    "questions.trace.methods.formula": (
        "loose_bound",
        "tight_bound",
    ),
    "runs.audit": ("audit_folder",),
    "runs.notebook": (
        "Report",
        "audit_report",
    ),
    "runs.tables": ("check_folder",),
    "support.workers": ("stream",),
    "tables.check": (
        "TableCheck",
        "check_table",
    ),
    "tables.read": (
        "CountTable",
        "read_counts",
    ),
    "tables.recover": (
        "Cell",
        "recovered",
    ),
    "tables.suppress": (
        "Concealment",
        "conceal",
    ),
    "visits.city": ("simulate_city",),
    "visits.readers": ("read_visits",),
    "visits.table": (
        "Traces",
        "Visits",
    ),
    "visits.windows": ("window_visits",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [*sorted(_MODULE), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'passerby' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
