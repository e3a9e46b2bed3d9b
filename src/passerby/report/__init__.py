"""The report of an audit: what each figure needs, the figures, and the page that holds them."""

from passerby.explore import Findings

from .data import explore, trials
from .notebook import Report, audit_report
from .page import render

__all__ = ["Findings", "Report", "audit_report", "explore", "render", "trials"]
