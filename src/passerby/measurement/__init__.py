"""One person: attacks, bounds, and the interval between them."""
