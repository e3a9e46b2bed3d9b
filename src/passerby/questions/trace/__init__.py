"""A person's places, step by step: the question of the paper, its methods, and its answer."""
