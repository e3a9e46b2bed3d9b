"""Compiled recursions on chains. They take and return arrays, and do nothing else."""
