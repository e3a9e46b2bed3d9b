"""Runs that anybody can repeat: how fast passerby is beside others, how it grows, and how tight its intervals are."""
