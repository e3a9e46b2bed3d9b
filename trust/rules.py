"""What mutants and lines are left out, and why survivors survive: each by a rule with its reason.

A mutant is left out before it is tried where the design says that no number can be wrong by it: a bound holds with
whatever effort it was found, so what decides on the effort cannot make it wrong. A survivor is *equal* where the
changed code gives the same result up to rounding, whatever it is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COUNTING = "counts the work done, which is compared with a budget and reported as effort"
CHOOSING = "chooses how much effort to spend, and where first: bounds hold, and guesses succeed as said, at any effort"
CUTTING = "chooses how finely stand-ins are cut: whatever is told as one, or as one of two, bounds hold"
REFUSING = "the size from which a computation is refused as too long or too large, or done in another way"


@dataclass(frozen=True)
class Rule:
    """Lines of a file that match a text, in some functions (any, if not given).

    With `change`, only the changes "before -> after" that match it; not those that hold `but`.
    """

    file: str
    text: str
    reason: str
    function: str = ""
    change: str = ""
    but: str = ""

    def holds(self, file: str, function: str, text: str, change: str) -> bool:
        """Whether it is for a mutant."""
        return (
            file == self.file
            and re.fullmatch(self.function or ".*", function) is not None
            and re.search(self.text, text) is not None
            and re.search(self.change, change) is not None
            and not (self.but and self.but in change)
        )


BRACKETS, WISE, SERIES = "kernels/brackets.py", "kernels/stretchwise.py", "series.py"

#: Mutants that are not tried.
LEFT_OUT = (
    Rule(BRACKETS, r"^(STATE_NODES|ROOT_NODES|LEVELS|CLOSER|[A-Z]+_LIMIT|UNION_AT_ONCE) = ", CHOOSING),
    Rule(BRACKETS, r"^work (\+)?= (?!ceilings)|^total\[1\] \+=|^total\[0\] \+= nodes", COUNTING),
    Rule(BRACKETS, r"^return low, tried \* cost", COUNTING),
    Rule(BRACKETS, r"", CHOOSING, function="cost_of_level"),
    Rule(BRACKETS, r"^(pairs|union|avoid|top_nodes|cost|tried) = ", CHOOSING),
    # Which series is done next, and when to stop.
    Rule(
        BRACKETS, r"^(gap|floor|beyond|squares|part|more|wider|widest|close)\b.* \+?= ", CHOOSING, function="brackets"
    ),
    Rule(BRACKETS, r"^(if wider and|if sampled|if i < 0 or gap|level = int)", CHOOSING, function="brackets"),
    Rule("kernels/search.py", r"^NODE = |^work (\+)?= ", COUNTING),
    Rule("kernels/climb.py", r"^SWEEPS = ", CHOOSING),
    Rule("kernels/chain.py", r"^(LEADERS|TRIAL) = |^if n == TRIAL|^alive (\+)?= |^if 2 \* alive > M", CHOOSING),
    Rule("kernels/lanes.py", r"^LANES = ", CHOOSING),
    Rule(WISE, r"^BATCH = |^work \+?= |^refined(, nodes, work)? \+?= |^nodes(, work)? \+?= ", COUNTING),
    Rule(WISE, r"^most = ", CHOOSING),
    Rule(WISE, r"", CHOOSING, function="add_before|importance|widest"),
    Rule(WISE, r"^(excess|taken) \+?= |^if (excess|taken)|^for i in range\(min\(gaps|^gaps, us, vs = ", CHOOSING),
    Rule(WISE, r"^levels\[u, v\] \+?= |^(add_before|importance)\(|^if weight\[k\] == 0.0 or", CHOOSING),
    Rule("kernels/growth.py", r"^(m|r|grown|slope|start|before|mass|mean|square)\b.* \+?= ", CUTTING, "told_as_.*"),
    Rule("kernels/growth.py", r"> limit:$", CUTTING, "told_as_.*", but="mass == 0.0"),
    Rule("attacks.py", r"^(_SHARE|_FEW).* = |^few = ", CHOOSING),
    Rule("attacks.py", r"^(shared = |if prior.homogeneous and few)", CHOOSING, but="homogeneous"),
    Rule("attacks.py", r"^if not prior.homogeneous or steps \* prior", CHOOSING, but="homogeneous"),
    Rule("bounds.py", r"^FULL_LIMIT = |FULL_LIMIT( / 10)?:$", REFUSING),
    Rule("information.py", r"STRETCHES_LIMIT", REFUSING),
    Rule("posterior.py", r"MEMORY_LIMIT|PAIRS_LIMIT", REFUSING),
    Rule("posterior.py", r"", CHOOSING, function="cost_of_series"),
    Rule(SERIES, r"^(MAX_SERIES|FINEST|MOST_ANCHORED) = ", CHOOSING),
    Rule(SERIES, r"", CHOOSING, function="count_series|count_outcomes"),
    Rule(SERIES, r"^(later|dear|middle|low, high|best, high|low) = |^while 0 < len|^traces = prior.sample", CUTTING),
    Rule("standins.py", r"^(OUTCOMES|CERTAIN) = |lru_cache", CUTTING),
    Rule("standins.py", r"", CUTTING, function="_groups"),
    Rule("alike.py", r"^(FEWEST|SMALL) = ", CHOOSING),
)

TIES = "decides between equals: either is as good"
NOTHING = "skips what adds nothing: a probability of zero, or minus infinity in logarithms"
ROUNDING = "moves a stopping rule, or a guard against rounding, by less than results are told apart"
SCRATCH = "what an array holds before it is filled, or an entry that nothing reads"
SAFE = "a guard that cannot be needed: what stands there already keeps within it"
SHORT = "a shortcut: the general case gives the same"

#: Survivors that are equal to the original.
EQUAL: tuple[Rule, ...] = ()

#: Survivors that are not, with what they would do.
OPEN: tuple[Rule, ...] = ()

#: Lines that no test runs, by file and text, with the reason.
UNRUN: tuple[tuple[str, str, str], ...] = ()


def reason(rules: tuple[Rule, ...], file: str, function: str, text: str, change: str) -> str:
    """The reason of the first rule that is for a mutant, or an empty text."""
    return next((rule.reason for rule in rules if rule.holds(file, function, text, change)), "")


def reason_not_to_run(file: str, text: str) -> str:
    """Why no test runs a line, or an empty text."""
    return next((why for where, what, why in UNRUN if where == file and re.search(what, text)), "")
