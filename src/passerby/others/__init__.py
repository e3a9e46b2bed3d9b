"""Others who are counted beside the target, and what an adversary knows of them.

`numbers` has laws of numbers of people, `counted` the true numbers of an audit. A `Crowd` is known by its habits alone.
With side information, what remains unknown is independent: `bridges` say why, `sensors` has it for counts of single
places, `side_information` for counts of any kind, and `by_habits` for everyone else in an audit.
"""
