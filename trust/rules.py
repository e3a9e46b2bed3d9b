"""Changes that are left out, each by a rule with its reason: they cost time, and no number that is reported is wrong.

A rule names a file, a function or a constant, and the text of the lines it is for. It leaves out what follows from the
design: a bound holds with whatever effort it was found, so what decides on the effort cannot make it wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trust.changed import Mutant

COUNTING = "counts the work done, which is compared with a budget and reported as effort"
CHOOSING = "chooses how much effort to spend: a bound holds, and a guess succeeds as said, at any effort"
REFUSING = "the size from which a computation is refused as too long or too large"


@dataclass(frozen=True)
class Rule:
    """Lines of a file that match a text, in a function (any, if not given); not those parts that hold `but`."""

    file: str
    text: str
    reason: str
    function: str = ""
    but: str = ""

    def holds(self, mutant: Mutant) -> bool:
        """Whether a mutant is left out by it."""
        return (
            mutant.file == self.file
            and self.function in ("", mutant.function)
            and re.search(self.text, mutant.text) is not None
            and not (self.but and self.but in mutant.before)
        )


RULES = (
    Rule("kernels/brackets.py", r"^(STATE_NODES|ROOT_NODES|LEVELS|CLOSER|[A-Z]+_LIMIT|UNION_AT_ONCE) = ", CHOOSING),
    Rule("kernels/brackets.py", r"^work (\+)?= (?!ceilings)|^total\[1\] \+=|^total\[0\] \+= nodes", COUNTING),
    Rule("kernels/brackets.py", r"^return low, tried \* cost", COUNTING),
    Rule("kernels/brackets.py", r"", CHOOSING, function="cost_of_level"),
    Rule("kernels/brackets.py", r"^(pairs|union|avoid|top_nodes|cost|tried) = ", CHOOSING),
    Rule("kernels/search.py", r"^NODE = |^work (\+)?= ", COUNTING),
    Rule("kernels/climb.py", r"^SWEEPS = ", CHOOSING),
    Rule("kernels/chain.py", r"^(LEADERS|TRIAL) = |^if n == TRIAL|^alive (\+)?= |^if 2 \* alive > M", CHOOSING),
    Rule("attacks.py", r"^_SHARE = |^small = ", CHOOSING, but="homogeneous"),
    Rule("attacks.py", r"^if not prior.homogeneous or steps \* prior", CHOOSING, but="homogeneous"),
    Rule("bounds.py", r"^FULL_LIMIT = |FULL_LIMIT( / 10)?:$", REFUSING),
    Rule("information.py", r"STRETCHES_LIMIT", REFUSING),
    Rule("posterior.py", r"MEMORY_LIMIT", REFUSING),
    Rule("posterior.py", r"", CHOOSING, function="cost_of_series"),
    Rule("series.py", r"^MAX_SERIES = ", CHOOSING),
)


def reason_to_leave_out(mutant: Mutant) -> str:
    """The reason, or an empty text."""
    return next((rule.reason for rule in RULES if rule.holds(mutant)), "")


#: Lines that no test runs, by file and text, with the reason.
UNRUN: tuple[tuple[str, str, str], ...] = ()


def reason_not_to_run(file: str, text: str) -> str:
    """Why no test runs a line, or an empty text."""
    return next((why for where, what, why in UNRUN if where == file and re.search(what, text)), "")
