"""The report of an audit: what each figure needs, the figures, and the page that holds them."""

from passerby.audits.what_if import Findings

from .notebook import Report, audit_report
from .page import render
from .trials import explore, number_of_trials

__all__ = ["Findings", "Report", "audit_report", "explore", "number_of_trials", "render"]
