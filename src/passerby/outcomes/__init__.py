"""What can be published: series, and channels that stand in for many or a continuum of values."""
