"""The report of an audit: sections of words, figures and tables, and the pages that hold them."""

from passerby.audits.what_if import Findings

from .notebook import Report, audit_report
from .page import render, render_internal
from .trials import explore, number_of_trials

__all__ = ["Findings", "Report", "audit_report", "explore", "number_of_trials", "render", "render_internal"]
