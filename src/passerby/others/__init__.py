"""Others who are counted, and are known to the adversary by their habits alone."""
