"""Audits, plans and decisions put together: from settings to a folder, or to a report in a notebook."""
