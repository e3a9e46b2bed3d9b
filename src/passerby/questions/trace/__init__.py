"""Where a person was, step by step: the question of the paper, its methods, and its answer."""
