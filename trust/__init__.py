"""Runs that show whether the numbers can be believed: mutants, fuzzing and coverage. See docs/trust.md."""
