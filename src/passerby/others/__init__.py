"""The others counted beside the target, and the adversary's knowledge of them.

`numbers` has laws of numbers of people, `counted` the true numbers of an audit. A `Crowd` is known by its habits alone.
With side information, the unknown rest is independent: `bridges` say why. `sensors` has it for counts of single places,
and `side_information` for counts of any kind. `by_habits` has it for everyone else in an audit.
"""
