"""Possible outputs: series, and channels standing in for many or a continuum of values."""
