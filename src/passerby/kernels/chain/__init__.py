"""Recursions on one chain: forward and backward, decoded, scored, lumped, listed."""
