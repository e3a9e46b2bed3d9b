"""Who is audited: their habits, where sensors stand, and who else is counted."""
