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
            re.fullmatch(self.file, file) is not None
            and re.fullmatch(self.function or ".*", function) is not None
            and re.search(self.text, text) is not None
            and re.search(self.change, change) is not None
            and not (self.but and self.but in change)
        )


BRACKETS, WISE, SERIES = "kernels/brackets.py", "kernels/stretchwise.py", "series.py"

#: Mutants that are not tried.
LEFT_OUT = (
    Rule(BRACKETS, r"^(STATE_NODES|ROOT_NODES|LEVELS|CLOSER|[A-Z]+_LIMIT|UNION_AT_ONCE) = ", CHOOSING),
    Rule("posterior.py", r"^return Brackets\(", COUNTING, change=r"#2$|#3$|total"),
    Rule("alike.py", r"^group = alike\(prior\) if n \* steps", REFUSING),
    Rule(BRACKETS, r"^work (\+)?= (?!ceilings)|^total\[1\] \+=|^total\[0\] \+= nodes", COUNTING),
    Rule(BRACKETS, r"^return low, tried \* cost", COUNTING),
    Rule(BRACKETS, r"^total, sums = np.zeros|^count_in\(", CHOOSING, function="brackets"),
    Rule(BRACKETS, r"", CHOOSING, function="count_in|next_series"),
    Rule(BRACKETS, r"", CHOOSING, function="cost_of_level"),
    Rule(BRACKETS, r"^(pairs|union|avoid|top_nodes|cost|tried) = ", CHOOSING),
    # Which series is done next, and when to stop.
    Rule(
        BRACKETS,
        r"^(close|done|i, size|order|parts|rest|size|thorough)\b.* \+?= ",
        CHOOSING,
        function="brackets",
    ),
    Rule(
        BRACKETS,
        r"^(if sampled|if i < 0 or sums|level = int|if parts|if level > 0 or thorough)",
        CHOOSING,
        function="brackets",
    ),
    Rule("kernels/search.py", r"^NODE = |^work (\+)?= ", COUNTING),
    Rule("kernels/climb.py", r"^SWEEPS = ", CHOOSING),
    Rule("kernels/chain.py", r"^(LEADERS|TRIAL) = |^if n == TRIAL|^alive (\+)?= |^if 2 \* alive > M", CHOOSING),
    Rule("kernels/lanes.py", r"^LANES = ", CHOOSING),
    Rule(WISE, r"^BATCH = |^work \+?= |^refined(, nodes, work)? \+?= |^nodes(, work)? \+?= ", COUNTING),
    Rule(WISE, r"^most = ", CHOOSING),
    Rule(WISE, r"^return np.array", COUNTING, change=r"^1\.0 -> |^(refined|nodes) \* "),
    Rule(WISE, r"", CHOOSING, function="add_before|importance|widest"),
    Rule(WISE, r"^(excess|taken) \+?= |^if (excess|taken)|^for i in range\(min\(gaps|^gaps, us, vs = ", CHOOSING),
    Rule(WISE, r"^levels\[u, v\] \+?= |^(add_before|importance)\(|^if weight\[k\] == 0.0 or", CHOOSING),
    Rule("kernels/growth.py", r"^(m|r|grown|slope|start|before|mass|mean|square)\b.* \+?= ", CUTTING, "told_as_.*"),
    Rule("kernels/growth.py", r"> limit:$", CUTTING, "told_as_.*", but="mass == 0.0"),
    Rule("attacks.py", r"^(_SHARE|_FEW|_SCORE_ALL).* = |^few = |<= _SCORE_ALL:$", CHOOSING),
    Rule("attacks.py", r"^(shared = |if prior.homogeneous and few)", CHOOSING, but="homogeneous"),
    Rule("attacks.py", r"^if not prior.homogeneous or steps \* prior", CHOOSING, but="homogeneous"),
    Rule("bounds.py", r"^FULL_LIMIT = |FULL_LIMIT( / 10)?:$", REFUSING),
    Rule("information.py", r"STRETCHES_LIMIT", REFUSING),
    Rule("posterior.py", r"MEMORY_LIMIT|PAIRS_LIMIT|^points = ", REFUSING),
    Rule("posterior.py", r"", CHOOSING, function="cost_of_series"),
    Rule(SERIES, r"^(MAX_SERIES|FINEST|MOST_ANCHORED) = ", CHOOSING),
    Rule(SERIES, r"", CHOOSING, function="count_series|count_outcomes"),
    Rule(SERIES, r"^(later|dear|middle|low, high|best, high|low) = |^while 0 < len|^traces = prior.sample", CUTTING),
    Rule("standins.py", r"^(OUTCOMES|CERTAIN) = |lru_cache", CUTTING),
    Rule("standins.py", r"", CUTTING, function="_groups"),
    Rule("alike.py", r"^(FEWEST|SMALL) = ", CHOOSING),
)

TIES = "decides between equals, or at a single point of a continuum: either is as good"
NOTHING = "does not skip what adds nothing (a chance of zero, a place that is not watched), or skips what adds nothing"
ROUNDING = "moves a guard against rounding or underflow, or a stopping rule, by less than results are told apart"
SCRATCH = "what an array holds before it is filled, its spare room, or an entry that nothing reads"
SAFE = "a guard that cannot be needed: what stands there already keeps within it"
SHORT = "a shortcut: the general case gives the same"
ORDER = "the same in another order: an index below zero counts from the end, and every entry has its turn"
OFTEN = "the same thing done once more, or in other portions: a largest value is the same however often it is asked for"
SHIFT = "all values that are compared are moved by the same amount, or turned around alike"
ONE = "there is only one entry, whichever is asked for"
SQUARE = "a matrix is square: both of its sides are as long"
MARK = "a mark for none: any number below zero does"
HALVING = "halves the bracket elsewhere: the same root after more or fewer steps"

CEILING, CHAIN, CLIMB, GROWTH = "kernels/ceiling.py", "kernels/chain.py", "kernels/climb.py", "kernels/growth.py"
JOINT, LANES, RIGHT, ROOTS = "kernels/joint.py", "kernels/lanes.py", "kernels/right.py", "kernels/roots.py"
SEARCH, STRETCHES = "kernels/search.py", "kernels/stretches.py"
#: Comparisons that become strict, or cease to be.
STRICT = r"^(.*) ([<>])(=?) (.*) -> \1 \2(?!\3 )=? \4( #\d+)?$"

#: Survivors that are equal to the original.
EQUAL: tuple[Rule, ...] = (
    # What is not above zero (or minus infinity in logarithms) adds nothing.
    Rule(CEILING, r"^if law\[t, x\] > 0.0", NOTHING, "union_sums", change=STRICT),
    Rule(CLIMB, r"^if v\[t - 1, x\] > 0.0", NOTHING, "map_guess", change=STRICT),
    Rule(JOINT, r"^if (top > 0.0|a > -np.inf)", NOTHING, "chained", change=STRICT),
    Rule(JOINT, r"^if table\[source, k, x\] > -np.inf", NOTHING, change=STRICT),
    Rule(STRETCHES, r"^if c >= 0 and row\[c\] > ", NOTHING, change=r"-> c >= 0$|^row\[c\] > .* -> row\[c\] >= "),
    Rule(STRETCHES, r"^if row\[x\] > -np.inf", NOTHING, "log_all_right", change=STRICT),
    Rule(WISE, r"^if [bf] > 0.0", NOTHING, "tell|add_up", change=STRICT),
    Rule(CHAIN, r"^d = b - a if a > -np.inf", SAFE, "dominance", change=STRICT),
    Rule(STRETCHES, r"^if u > 0 and places", NOTHING, change=r"^0 -> 1$|^0 -> -1 #2$"),
    Rule(WISE, r"^if u > 0 and places", NOTHING, change=r"^0 -> 1$|^0 -> -1 #2$"),
    Rule(WISE, r"^if c >= 0 and chance", NOTHING, change=r"^0 -> -1$|and .* -> chance\[u, t \* S \+ j\] > 0\.0$"),
    Rule(
        WISE,
        r"^if c >= 0 and chance",
        SCRATCH,
        change=r"and .* -> c >= 0|^chance\S+ t \* S \+ j\] > 0\.0 -> .* >= 0\.0$",
    ),
    Rule(WISE, r"^if chance\[u, T \* S\] > 0.0", SCRATCH, change=STRICT + r"|^0\.0 -> -1"),
    Rule(WISE, r"^upper\[u, v, k\] = min", SCRATCH, change=r"^f > 0\.0 -> f >= 0\.0$"),
    Rule("bounds.py", r"^reveal = np.zeros", NOTHING, change="np.zeros.*np.ones"),
    Rule("bounds.py", r"^for source in range\(steps\)", NOTHING, "log_moment_bound", change=r"steps - 1\)$"),
    Rule("bounds.py", r"^for source in range\(steps - 1\)", NOTHING, change=r"-> steps \+ 1$|^1 -> 0$"),
    Rule(STRETCHES, r"^for u in range\(N\)", NOTHING, "stretches", change=r"N - 1\)$"),
    Rule(WISE, r"^for u in range\(N\)", NOTHING, "stretchwise", change=r"N - 1\)$"),
    Rule(CHAIN, r"^for n in range\(M - 1, 0, -1\)", NOTHING, change="^0 -> -1"),
    Rule(BRACKETS, r"^for t in range\(T - 2, -1, -1\)", NOTHING, "ceilings", change=r"^T - 2 -> T \+ 2|^2 -> 1"),
    Rule(
        BRACKETS,
        r"^low, high = max\(1, needed",
        NOTHING,
        "ceilings",
        change=r"^min\(.* -> needed$|^T - 1 - t -> |^T - 1 -> |^1 -> 0 #3$",
    ),
    Rule(CLIMB, r"^if v\[t - 1, x\] > 0.0", NOTHING, change=r"^0\.0 -> -1"),
    Rule(
        CLIMB,
        r"^for k in range\(max\(1, needed",
        NOTHING,
        change=r"^1 -> 2 #2$|max\(1, needed - t - 1\) -> 1$",
    ),
    Rule(LANES, r"^for i in range\(0, n, LANES\)", NOTHING, change=r"n - -1"),
    Rule(STRETCHES, r"^for v in range\(TS \+ 1\)", NOTHING, "log_power_sum", change="^1 -> 2"),
    Rule(CEILING, r"^for k in range\(low, min\(high", NOTHING, change=r"T - u -> T \+ u|-> high$"),
    # A stretch of no steps cannot fail: both of its ends are one before that is said.
    Rule(
        WISE,
        r"^for v in range\(after_point\(u, S\) \* S, min\(TS",
        SAFE,
        change=r" - 1\)$|\+ 1 -> |S \+ 1, min\([^-]*$",
    ),
    Rule(WISE, r"^for u in range\(N\)", SAFE, "stretchwise", change=r"0 \+ 1, N\)$"),
    Rule(WISE, r"^lower\[u, v\] = upper\[u, v\] = 1.0", SAFE, "stretchwise", change="pass$"),
    Rule(BRACKETS, r"^if union and low <= high", SAFE, "ceilings", change="-> union$"),
    # Ties.
    Rule(CHAIN, r"^(worst = d if d > worst|top = (s|values\[x\]) if|out\[y\] = b if b)", TIES, change=STRICT),
    Rule(SEARCH, r"^(if bound\[heap|if c \+ 1 < size)", TIES, change=STRICT),
    Rule(JOINT, r"^if best\[y\] > table", TIES, "extend", change=STRICT),
    Rule(JOINT, r"^if now\[y\] > now", TIES, "chained", change=r"-> length\[y\] <= "),
    Rule("attacks.py", r"^traces\[impossible\] = ", TIES, change="^0 -> -1"),
    Rule(BRACKETS, r"^(rare = |if b > |careful = |if upper > low|if whole_guess)", TIES, change=STRICT),
    Rule(WISE, r"^if gain > 0.0", TIES, change=STRICT),
    Rule(ROOTS, r"^(elif low|if not low|if binary_entropy)", TIES, "largest", change=STRICT),
    Rule(STRETCHES, r"^if (not \(at_low|abs\(slope|slope)", TIES, change=r"<= at_high|<= 0\.0 <|<= 1e|<= 0\.0$"),
    Rule("attacks.py", r"^if (ceiling\[place\] <= best|value > best)", TIES, change=STRICT),
    Rule("bounds.py", r"^(beyond = later > best|better = power > best)", TIES, change=STRICT),
    # Rounding.
    Rule(
        ROOTS,
        r"^(elif low > 0.0 or high|for _ in range)",
        ROUNDING,
        "largest",
        r"^1e-300 -> |^2000 -> ",
    ),
    Rule(ROOTS, r"^if low > 0.0 and high", HALVING, "largest", r"^high > .* -> |^2\.0 -> |-> low > 0\.0$|2\.0 / low$"),
    Rule(ROOTS, r"^elif low > 0.0 or high", HALVING, "largest", r"^0\.0 -> -1|^high < .* -> |-> low > 0\.0$"),
    Rule(ROOTS, r"^middle = high / 1024", HALVING, "largest", r"^1024\.0 -> "),
    Rule(
        ROOTS,
        r"^if not low < middle < high",
        ROUNDING,
        change=r"^1e-15 -> |-> not|or high - low <= \S+ \* high -> high -",
    ),
    Rule(ROOTS, r"^break", ROUNDING),
    Rule(
        CHAIN,
        r"^(if top < FAINT|if total < FAINT|if now\[x\] >= FAINT)",
        ROUNDING,
        "posterior",
        change=STRICT + "|<= (FAINT|DOUBTFUL)",
    ),
    Rule(CHAIN, r"^(FAINT|DOUBTFUL) = ", ROUNDING, change=r"^1e-250 -> |^540\.0 -> "),
    Rule("bounds.py", r"^FAINT = |if told > FAINT", ROUNDING, change=r"e-29|>="),
    Rule("bounds.py", r"if told > FAINT", SAFE, change=r"^0\.0 -> 1"),
    Rule(CHAIN, r"^worst = -1e300", ROUNDING, change=r"^1e\+300 -> "),
    Rule(CHAIN, r"^d = b - a if a", ROUNDING, change="1e.?[23]"),
    Rule(CLIMB, r"1e-12", ROUNDING, change=r"^1e-12 -> |/ \(1\.0 \+ 1e-12\)$"),
    Rule("attacks.py", r"^margin = ", ROUNDING, change="^1e-09 -> 1e-10"),
    Rule(BRACKETS, r"b > 1e-12", ROUNDING, change="^1e-12 -> "),
    # Guards.
    Rule("bounds.py", r"^return float\(min\(1.0, value", SAFE, "told_bound", change=r"^min\(.* -> value|^1\.0 -> 2"),
    Rule("bounds.py", r"^return math.exp\(min\(0.0, stretches", SAFE, change=r"-> stretches|^0\.0 -> 1"),
    Rule("bounds.py", r"^values = \[0.0\]", SAFE, "log_kappa_bound", change=r"^0\.0 -> 1"),
    Rule(BRACKETS, r"^upper = min\(min\(blind, told\), 1.0\)", SAFE, change=r"-> min\(blind, told\)$|^1\.0 -> 2"),
    Rule(BRACKETS, r"^V\[t, k, x\] = min\(b, 1.0\)", SAFE, change=r"-> b$|^1\.0 -> 2"),
    Rule(BRACKETS, r"^out\[i, 3\] = max\(min", SAFE, change=r"-> min\(out|^2 -> 1$"),
    Rule(BRACKETS, r"^b = min\(b, first_right", SAFE, change=r"-> first_right"),
    Rule(BRACKETS, r"^if whole_guess and b > low", SAFE, change=r"-> whole_guess$"),
    Rule(CEILING, r"^return min\(best, total\)", SAFE, change="-> best"),
    Rule(CEILING, r"^(best|top) = 0.0", SAFE, change=r"^0\.0 -> -1"),
    Rule(SEARCH, r"^d, parent, won, limit, blind = ", SAFE, change=r"^1\.0 -> 2"),
    Rule(
        SEARCH, r"^if c \+ 1 < size", SAFE, change=r"c \+ 1 -> c - 1$|-> bound\S+ \+ 1\]\] > bound\S+$|1 -> 0$|<= size"
    ),
    Rule(
        WISE,
        r"^(upper\[u, v, k\] = min|F\[k\] = min|lower\[u, .*\] = min)",
        SAFE,
        change=r"^1\.0 -> 2\.0$|^min\(1\.0, [^)]*\) -> (now|total)",
    ),
    Rule(GROWTH, r"^up = min\(1.0, max", SAFE, change=r"\)\)\) -> max\(0\.0, |\)\) -> \(law|^0\.0 -> -1|^1\.0 -> 2"),
    Rule(STRETCHES, r"^return -np.inf, 0.0", SAFE),
    Rule(STRETCHES, r"^S = TS // T if T > 0", SAFE, change="-> T >= 0$|^0 -> -1|^1 -> "),
    Rule(STRETCHES, r"^S = TS // T if T > 0", SHORT, change="^0 -> 1$"),
    Rule(CHAIN, r"^return 0$", SAFE, "argmax"),
    Rule("attacks.py", r"^return min\(1.0, float", ROUNDING, change=r"-> float|^1\.0 -> 2"),
    Rule(BRACKETS, r"^out\[i, 2\] = max\(out\[i, 2\], low\)", SAFE, change="-> low$"),
    Rule(BRACKETS, r"^b = min\(b, found\)", SAFE, change="-> found$"),
    Rule(BRACKETS, r"^low = min\(b, upper\)", SAFE, change="-> b$"),
    # Room.
    Rule(WISE, r"^for v in range\(\(t \+ 1\) \* S", SCRATCH, "tell_the_past", change="^1 -> 0$"),
    Rule(WISE, r"^upper\[u, v, k\] = min", SCRATCH, change=r"^0\.0 -> -1"),
    Rule(BRACKETS, r"^(sums|V|after) = np.empty|^np.empty\(\(nodes|np.int64\),$", SCRATCH, change="^1 -> 2"),
    Rule("kernels/entropies.py", r"^reached = np.zeros", SCRATCH, change="^1 -> 2"),
    Rule(RIGHT, r"^nothing, weights = ", SCRATCH, "constants", change="^1 -> 2"),
    Rule(STRETCHES, r"^terms = np.empty\(T", SCRATCH, change="^1 -> 2"),
    Rule(WISE, r"^now, new = np.zeros\(\(K \+ 1", SCRATCH, "guess_from_the_start", change="^1 -> 2"),
    Rule(WISE, r"^low = ascend", SCRATCH, "refine", change="^1 -> 2"),
    Rule(WISE, r"^(lower, upper|levels) = ", SCRATCH, "stretchwise", change="^1 -> 2"),
    Rule(CHAIN, r"^(count|moves|now) = np.zeros", SCRATCH, change=r"^np\.zeros"),
    Rule(CLIMB, r"^new = np.zeros", SCRATCH, change=r"^np\.zeros"),
    Rule(CLIMB, r"^now = np.zeros", SCRATCH, "ascend", change=r"^np\.zeros"),
    Rule(JOINT, r"^total = np.zeros", SCRATCH, change=r"^np\.zeros"),
    Rule(LANES, r"^v = np.zeros", SCRATCH, change=r"^np\.zeros"),
    Rule(RIGHT, r"^new = np.zeros", SCRATCH, change=r"^np\.zeros"),
    Rule(WISE, r"^(later, now|Q|chance|after, before, weight) = np.zeros", SCRATCH, change=r"^np\.zeros"),
    Rule(WISE, r"^now, new = np.zeros", SCRATCH, "guess_from_the_start", change=r"^np\.zeros"),
    Rule(GROWTH, r"^(cut|kept) = np.empty", SCRATCH, change="^1 -> [02]"),
    Rule("bounds.py", r"^new = np.ones", SCRATCH, change=r"^0 -> 1$|^1 -> 2$"),
    Rule("attacks.py", r"np.ones\(\(steps, 1\)\)", SCRATCH, "_unaided", change="^1 -> 2"),
    Rule("attacks.py", r"np.zeros\(\(1, steps, 1\)\)", SCRATCH, "prior_trace", change="^1 -> 2 #2"),
    Rule(BRACKETS, r"^entries = \(nodes|^np.empty\(\(nodes|np.int64\),$", SCRATCH, "room", change="^1 -> [02]"),
    Rule(BRACKETS, r"scratch\[7\]", SCRATCH, change="^7 -> 6$"),
    Rule(CHAIN, r"^kept\[j\] = ", SCRATCH, change=r"^0\.0 -> |^0 -> -1$"),
    Rule(SEARCH, r"^d, parent, won, limit, blind = ", SCRATCH, change=r"^-1 -> 1|^1 -> [02] #2$|^0\.0 -> .* #2$"),
    Rule(WISE, r"^upper\[u, v, k\] = min", SCRATCH, change=r"^1\.0 -> .* #2$"),
    Rule(BRACKETS, r"^pinned\[t\] = -1", SCRATCH, "look", change=r"-> pass$|^-1 -> 1$|^1 -> [02]$"),
    Rule(CEILING, r"^best = 0.0", SCRATCH, change="pass #2$"),
    # Order and portions.
    Rule(WISE, r"^Q\[t, i, j\] /= total", ORDER, change=r"j - 1\]$"),
    Rule(CHAIN, r"^row\[x\] (\*= first|\+= log_weights\[0\])", ORDER, change=r"x - 1\]$"),
    Rule(LANES, r"^v\[x, b\] \+= kept\[0, b\]", ORDER, change=r"x - 1, b\]$"),
    Rule(SEARCH, r"^entries \+= 1", ORDER, change="-= 1$"),
    Rule(CEILING, r"^best = max\(best, value\[g\]\)", ORDER, change=r"g - 1\]$"),
    Rule("bounds.py", r"^return float\(min\(sums", OFTEN, change="^1 -> 0 #2$"),
    Rule("bounds.py", r"^log_between = logs", SCRATCH, change=r"\+ 1$|^1 -> 0|-> steps \+ source$"),
    Rule(LANES, r"^x \+= 5", OFTEN, change="5 -> 4"),
    Rule(CHAIN, r"^while rest \+ 8 <= n", OFTEN, change="8 -> 9|<= n -> rest \\+ 8 < n"),
    Rule(CHAIN, r"^for x in range\(1, values", OFTEN, change="1 -> 0"),
    Rule(CHAIN, r"^(for y in range\(M\)|break)", OFTEN, "best_step"),
    Rule(CHAIN, r"^rest \+= 8", OFTEN, "best_step", change="^8 -> 7"),
    Rule(LANES, r"^while x \+ 5 <= M", OFTEN, change="^5 -> 6|-> x \\+ 5 < M"),
    Rule(LANES, r"^x = 0", OFTEN, "best_steps", change="^0 -> -1"),
    Rule(WISE, r"^now\[x, :, TS\] = 1.0", ORDER, "tell_the_past", change=r"x - 1, "),
    Rule(WISE, r"^for j in range\(S if t >= 0 else 1\)", OFTEN, change="1 -> 2"),
    Rule(WISE, r"^tell\(row, hidden", OFTEN, change="^2 -> 1"),
    Rule(WISE, r"^for r in range\(min\(K, t( - t0)? \+ 1\)\)", OFTEN, change=r"1 -> 2|-> K$"),
    Rule(CHAIN, r"^top = 0.0", OFTEN, "posterior", change="-1"),
    Rule(CLIMB, r"^after\[:\] = 0.0", SHIFT, "ascend", change="-1"),
    Rule(WISE, r"^b\[i\] = \(1.0 if v == T", SHIFT, change=r"^1\.0 -> 2"),
    Rule("attacks.py", r"np.zeros\(\(1, steps, 1\)\)", SHIFT, "prior_trace", change="np.ones"),
    Rule(CHAIN, r"^out\[0\] = 1.0", SHIFT, "stationary", change="2"),
    Rule(GROWTH, r"^told_next\[grown, t, 1 \+ j\] = ", SHIFT, change=r"1 - j #2$"),
    # Shortcuts.
    Rule("bounds.py", r"^if misses == 0:", SHORT, change="^0 -> -1"),
    Rule(CHAIN, r"^return b, moves, -np.inf", SHORT, "posterior", change="pass$"),
    Rule("bounds.py", r"^if sensors == 0:", SHORT, change="^0 -> -1"),
    Rule("bounds.py", r"^return math.exp\(min\(0.0, log_kappa", SHORT, "leakage_bound", change="pass$"),
    Rule(SERIES, r"^MOST_ANCHORED_GIVEN = ", ROUNDING, change="^1e-09 -> "),
    Rule("bounds.py", r"^return 0.0$", SHORT, "leakage_bound", change="pass$"),
    Rule(CEILING, r"^if not avoid or end == begin", SHORT, change="-> not avoid$"),
    Rule(GROWTH, r"^if 0.0 < p < 1.0", SHORT, change=r"^0\.0 -> -1|<= p|e-1[46]|e-1 |1\.0 \+ 1e-15$"),
    Rule(STRETCHES, r"^ahead = 1 \+ ", SHORT, change=r"^1 -> 2$|[<>]= TS"),
    Rule("attacks.py", r"^(if prior.homogeneous and few|shared = )", SHORT, change=r"-> prior\.homogeneous and [^o]*$"),
    # The homes of what bounds are made of.
    Rule("information.py", r"^return max\(0.0, float", ROUNDING, change=r"-> float|^0\.0 -> -1"),
    Rule("information.py", r"^out.append\(np.append\(max\(0.0, ", ROUNDING, change=r"^0\.0 -> -1|^max\(.* -> law"),
    Rule("information.py", r"^safe = np.where\(law > 0", NOTHING, "shannon", change=r"^1\.0 -> 2"),
    Rule("attacks.py", r"^return Attack\(min\(1.0, float", SHORT, "constant_attack", change="-> pass$"),
    Rule(GROWTH, r"^if mass <= faint", TIES, "grow", change=STRICT),
    Rule(JOINT, r"^for y in range\(M\)", NOTHING, "chained", change=r"0 \+ 1, M\) #4$"),
    Rule(
        "posterior.py",
        r"^moves = np.zeros\(\(max\(steps - 1, 1\)",
        SCRATCH,
        change=r"-> steps - 1$|^np\.zeros|^1 -> [02] #2$",
    ),
    Rule("alike.py", r"^state = np.full", SCRATCH, "merged", change="^-1 -> 1|^1 -> [02]"),
    Rule("alike.py", r"^(state|member) = np.full", MARK, change="^1 -> 2"),
    Rule("alike.py", r"^known = np.append\(self.kept, -1\)", MARK, change="^1 -> 2"),
    Rule("alike.py", r"^best = self.best.reshape", MARK, change="^1 -> 2 #2"),
    Rule("alike.py", r"^shape = np.round", SCRATCH, change=r"^0 -> -1|^1\.0 -> "),
    Rule("alike.py", r"^shape = np.round", ROUNDING, change="^11 -> "),
    Rule("alike.py", r"^shape = np.round", SHIFT, change=r"^0\.0 -> "),
    Rule("alike.py", r"^places = np.full", SCRATCH, "merged", change="^2 -> 3"),
    Rule("attacks.py", r"^traces, value = lanes.decode", ONE, "decode_series", change="^0 -> -1"),
    Rule("attacks.py", r"^ceiling\[~named\] = -1.0", MARK, "constant_attack", change=r"^1\.0 -> 2"),
    Rule("alike.py", r"^out = np.zeros", SCRATCH, "merged", change="np.ones"),
    Rule("alike.py", r"^told = tuple", NOTHING, change="^0 -> -1$"),
    Rule("standins.py", r"clip\(0.0, 1.0\)", SAFE, change=r"^1\.0 -> 2|^0\.0 -> -1"),
    Rule(JOINT, r"^M = log_between.shape\[0\]", SQUARE, change="^0 -> 1"),
    Rule(CLIMB, r"^T, M = guess.shape\[0\], Q.shape\[2\]", SQUARE, change="^2 -> 1"),
    Rule(STRETCHES, r"^if c >= 0 and row\[c\] > -np.inf", NOTHING, "log_all_right", change="-> c >= 0$"),
    Rule("kernels/entropies.py", r"^if reached\[u\] == 0.0", NOTHING, change=r"^0\.0 -> -1"),
    Rule("kernels/listing.py", r"^if places\[t, j\] >= 0", NOTHING, change="^0 -> -1$"),
    Rule(CLIMB, r"^for k in range\(max\(1, needed - t - 1\)", NOTHING, "look_back", change=r"-> 1$|-> T \+ 1$"),
    Rule(WISE, r"^for r in range\(min\(K, t - t0 \+ 1\)\)", NOTHING, change=r"t \+ t0"),
    Rule(CHAIN, r"^left\[y\] = -np.inf if", TIES, "best_step", change="<= top -> .* < top"),
    Rule(RIGHT, r"^for r in range\(last - 1, 0, -1\)", OFTEN, change="^0 -> -1"),
    Rule(CHAIN, r"^pick, top = -1, -1.0", SCRATCH, "likeliest", change="^1 -> [02]$"),
    Rule(BRACKETS, r"^if nodes >= scratch\[7\]", ONE, change="^7 -> 6$"),
    Rule(BRACKETS, r"^(out = np.zeros\(\(n, 5\)\)|guesses = np.zeros)", SCRATCH, "brackets", change="np.ones"),
    Rule("limits.py", r"^for _ in range\(60", ROUNDING, change="^range|^60 -> |^0 -> -1 #2"),
    Rule("roots.py", r"^return 1.0", SHORT, "tight_root", change="pass$"),
    Rule("attacks.py", r"^return np.asarray\(traces\[0\]\)", ONE, change="^0 -> -1"),
    Rule("bounds.py", r"value\[needed, 0\]", ONE, "told_bound", change="^0 -> -1"),
    Rule("bounds.py", r"value\[0\]\)", ONE, "log_likeliest", change="^0 -> -1"),
    Rule(CHAIN, r"^return matrices\[0\] if", ONE, "at", change="^0 -> -1"),
    Rule(CHAIN, r"^low, least = 1.0, 1.0", ROUNDING, "fades", change=r"^1\.0 -> 2"),
    Rule(CHAIN, r"^return low \* least < FAINT", ROUNDING, "fades", change=STRICT),
    Rule(CHAIN, r"^b\[x\] = b\[x\] if b\[x\] >= FAINT", ROUNDING, "posterior", change=STRICT + "|-> pass$"),
    Rule(CHAIN, r"^while n < LEADERS", OFTEN, "best_step", change=STRICT),
    Rule(CHAIN, r"^if a > best or \(a == best and x < pick\)", TIES, "decode", change="-> x <= pick$"),
    Rule(CLIMB, r"^best = -1.0", SCRATCH, "ascend", change=r"^-?1\.0 -> |-> pass$"),
    Rule("kernels/entropies.py", r"^total \+= surprise\(initial\[x\]\)", ORDER, "of_trace", change=r"x - 1\]$"),
    Rule(
        "kernels/entropies.py",
        r"^if t == 1 or matrices.shape\[0\] > 1",
        OFTEN,
        "of_trace",
        change="^0 -> 1$|^1 -> 0 #2$",
    ),
    Rule(JOINT, r"^if top > 0.0 and guessable", NOTHING, "chained", change=r"-> guessable\[y\]$|^0\.0 -> -1"),
    Rule(JOINT, r"^for k in range\(min\(source \+ 1", NOTHING, "add_up", change="^1 -> 2$"),
    Rule("kernels/listing.py", r"^chosen, mass = ", SCRATCH, change=r"^np\.ones|^1 -> 2|^1 -> 0 #2$"),
    Rule(LANES, r"^if places\[j\] >= 0", SCRATCH, "add_evidence", change="^0 -> -1$"),
    Rule(RIGHT, r"^by_wrong = misses <= T - misses", TIES, "success", change=STRICT),
    Rule(WISE, r"^if more > 0:", OFTEN, "refine", change="^0 -> -1$|-> more >= 0$"),
    Rule(CEILING, r"^if law\[t, x\] > 0.0", NOTHING, "union_sums", change=r"^0\.0 -> -1"),
    Rule("kernels/entropies.py", r"^c = places\[t - 1, j\]", ORDER, "of_neighbours", change=r"j - 1\]$"),
    Rule("alike.py", r"^found = found if len\(found\) > 1", ONE, "alike", change="^0 -> -1$"),
    Rule("alike.py", r"^away = np.concatenate", TIES, "merged", change="^0 -> "),
    Rule("alike.py", r"^places\[t, -2:\] = rest", ORDER, "merged", change=r"-> places\[t - 1, -2:\]$"),
    Rule("bounds.py", r"^log_reveal = logs\(reveal.reshape\(-1\)", MARK, "leakage_bound", change="^1 -> 2"),
    Rule("posterior.py", r"^moves\[t\] = np.exp", NOTHING, "log_posterior", change=r"^0\.0 -> "),
    Rule(SERIES, r"^return np.asarray\(np.exp\(evidence", ROUNDING, "relative", change=r"^1e\+300 -> "),
    Rule("kernels/entropies.py", r"^continue", NOTHING, "of_series"),
    Rule(JOINT, r"^pick = 0", ORDER, "chained", change="^0 -> -1"),
    Rule(ROOTS, r"^for _ in range\(2000\)", ROUNDING, "largest", change=r"^range\("),
    Rule(WISE, r"^if f > 0.0:", NOTHING, "add_up", change=r"^0\.0 -> -1"),
    Rule("information.py", r"zip\(.*strict=True", SAFE, change="^True -> False"),
    Rule(SERIES, r"^listed = enumerate_series", SAFE, "listed_series", change=r"^1\.0 -> 2"),
    Rule("alike.py", r"^places = np.full", MARK, "merged", change="^1 -> 2 #2"),
    Rule("alike.py", r"^towards = np.concatenate\(\[prior.initial", MARK, "alike", change="^1 -> 2$"),
    Rule("alike.py", r"^nothing = np.empty\(\(0, 0\)", SCRATCH, "merged", change="^0 -> 1"),
    Rule("posterior.py", r"^found = bracket_series", SCRATCH, "plain_series", change=r"^0\.0 -> "),
    Rule("posterior.py", r"^return table\[0\], guesses\[0\]", ONE, "_in_logs", change="^0 -> -1"),
    Rule("bounds.py", r"^return min\(0.0, log_likeliest", SAFE, "log_kappa_bound", change=r"^0\.0 -> 1|-> log_likelie"),
    Rule("bounds.py", r"^value = np.zeros\(\(needed \+ 1", SCRATCH, "told_bound", change="^1 -> 2"),
    Rule("roots.py", r"^return float\(largest\(peak", HALVING, "loose_root", change=r"^1\.0 -> 2"),
    Rule(
        "roots.py", r"^if log_kappa >= -information or", SHORT, "divergence_root", change=STRICT + "|^-information -> "
    ),
    Rule("standins.py", r"_left\(hull\[-2\], hull\[-1\], point\) >= 0", TIES, "joined", change=r"^_left\(.* > 0$"),
    Rule(
        SEARCH,
        r"^if told > 0.0 and d \+ 1 < V.shape",
        SAFE,
        "blind_hope",
        change=r"-> told > 0\.0$|-> d \+ 1 <= |^1 -> 0$",
    ),
    Rule(SEARCH, r"^size, entries, used = 0, 0, 0", SCRATCH, "search", change="^0 -> 1 #2$"),
    Rule(STRETCHES, r"^continue", NOTHING, "log_all_right"),
    Rule(WISE, r"^lower\[u, T \* S, k\] = 1.0", ORDER, change=r"k - 1\]$"),
    Rule(WISE, r"^if b > 0.0:", SAFE, "add_up", change=r"^0\.0 -> -1"),
    Rule(WISE, r"^F\[k\] = min\(1.0, total\) if k < L", SHORT, "try_guess", change="-> k <= L$"),
    Rule(WISE, r"^lower, upper = np.zeros", SCRATCH, "stretchwise", change=r"^np\.ones"),
    Rule("bounds.py", r"^return success_bound\(", SAFE, "dp_bound", change="-> log_kappa$"),
    Rule("bounds.py", r"^return min\(0.0, log_likeliest", SHORT, "log_kappa_bound", change="-> pass$"),
    Rule("bounds.py", r"^_, value = chain.decode", SCRATCH, "log_likeliest", change="^1 -> 2"),
    Rule("roots.py", r"^if need <= 0 or log_ball", SHORT, "loose_root", change="^0 -> -1$"),
    Rule("roots.py", r"^kappa = math.exp\(min", SAFE, "divergence_root", change=r"^0\.0 -> 1"),
    Rule("roots.py", r"^if log_kappa >= -information or", SHORT, "divergence_root", change="-> kappa == 1$"),
    Rule("posterior.py", r"^start, moves, nothing, np.ones", SCRATCH, "_in_logs", change="^1 -> 2 #[234]$"),
    Rule(SERIES, r"^if anchor is None or anchor.success > MOST", TIES, "sample_series", change=STRICT),
    Rule("limits.py", r"max\(\) >= target", TIES, "upper_limit|lower_limit.*", change=STRICT),
    Rule("limits.py", r"^before = ", NOTHING, "lower_limit", change=r"^0\.0 -> -1"),
    Rule("limits.py", r"^stakes = .* max\(n, 1\)", NOTHING, "lower_limit", change="^1 -> 2"),
    Rule("limits.py", r"^low, high = ", SAFE, "lower_limit", change=r"^0\.0 -> -1\.0 #2"),
    Rule("series.py", r"^anchored = np.clip", SAFE, "sample_series", change=r"^0\.0 -> -1"),
    Rule("attacks.py", r"^dominated = ", ONE, "decode_series", change="^0 -> -1$"),
    Rule("attacks.py", r"^dominated = ", SCRATCH, "decode_series", change="^0 -> 1 #3"),
    Rule("attacks.py", r"^return Attack\(min\(1.0", ROUNDING, "constant_attack", change=r"-> float\(|^1\.0 -> 2"),
    Rule("attacks.py", r"^best, lucky = ", TIES, "constant_attack", change=r"^0\.0 -> -1"),
    Rule("posterior.py", r"^start, moves, nothing", SCRATCH, "_in_logs", change=r"^np\.zeros\(1\)"),
    Rule(LANES, r"^some = ", SHORT, "add_evidence", change="^False"),
    Rule(LANES, r"^some \|= ", ORDER, "add_evidence", change=r"-> log_weights\[b - 1, 0\]"),
    Rule(LANES, r"^kept = np.zeros", SCRATCH, "decode", change="^np|^1 -> 2$"),
    Rule("limits.py", r"^return 1.0", SHORT, "upper_limit", change="-> pass #2$"),
    Rule("standins.py", r"share.round\(12\)", ROUNDING, "in_order", change="^12 -> 1[13]"),
    Rule("standins.py", r"^hull\[0\], hull\[-1\] = ", ROUNDING, "joined", change="-> pass$"),
    Rule("standins.py", r"^hull\[0\], hull\[-1\] = ", SAFE, "joined", change="^0 -> -1$"),
)

LONGER = "searches or computes longer, or less cleverly, for the same bound"
LOOSER = "may give a looser bound, or a guess that is not as good: neither is wrong"
TIGHTER = "gives a bound that holds as well, and is at times tighter"
DRAWS = "draws another sample of the same law"
GAP = "is wrong, and no test noticed it: one was written after this was counted"
#: Survivors that are not, with what they would do.
OPEN: tuple[Rule, ...] = (
    Rule("attacks.py", r"^shared = ", LONGER, "decode_series", change="-> prior.homogeneous and prior.places"),
    Rule("attacks.py", r"^traces, _ = decode_series", LONGER, "prior_trace", change="^1 -> 2$"),
    Rule(
        "posterior.py", r"^if table\[:, 4\].min\(\) < 0|^for i in np", LONGER, "bracket_series", change="<= 0|^0 -> 1"
    ),
    Rule("posterior.py", r"^total = total \+ more", COUNTING, "bracket_series"),
    Rule(WISE, r"^try_guess\(a, Q, trial", LOOSER, "refine", change="pass"),
    Rule("bounds.py", r"^values.append\(log_ball_paper", LOOSER, "log_kappa_bound"),
    Rule(STRETCHES, r"^side = -1", LONGER, "lowest_power_sum"),
    Rule(BRACKETS, r"^trial\[t\] = order\[i\]", LOOSER, "try_constants", but="-> pass"),
    Rule(BRACKETS, r"^nodes = max\(1, min", LOOSER, "brackets"),
    Rule(BRACKETS, r"^better = ", LOOSER, "first_look", change=r"^found\[0\] >= found\[1\] -> "),
    Rule(BRACKETS, r"k, state_nodes, 0.0, False", LONGER, "ceilings", change=r"^False -> |^0\.0 -> "),
    Rule(STRETCHES, r"^if slope < 0.0", LONGER, "lowest_power_sum"),
    Rule(WISE, r"^break", LONGER, "stretchwise"),
    Rule(SEARCH, r"^if named\[g\] == 0.0 or", LONGER, change=r"-> named\[g\] == 0\.0$|> 0$|^0 -> 1$"),
    Rule(BRACKETS, r"^if union and low <= high", LONGER, "ceilings", change="-> (union or )?low <= high$"),
    Rule(BRACKETS, r"^if law\[t, x\] == 0.0", LONGER, "ceilings", change=r"^0\.0 -> -1"),
    Rule(BRACKETS, r"^continue", LONGER, "ceilings"),
    Rule(BRACKETS, r"^low, high = max\(1, needed", LONGER, "ceilings", change=r"^max\(.* -> 1$|^1 -> 2 #2$"),
    Rule(BRACKETS, r"^if nodes >= scratch\[7\]", LOOSER, "brackets", change="^nodes >= "),
    Rule(BRACKETS, r"^scratch = room\(T, M, needed, nodes\)", LOOSER, "brackets", change="-> pass$"),
    Rule(BRACKETS, r"^np.empty\(nodes \+ 1\),", LOOSER, "room", change="^1 -> "),
    Rule(BRACKETS, r"^out\[i, 3\] = max\(min", LOOSER, "brackets", change=r"-> out\[i - 1, 2\]|-> up$"),
    Rule(WISE, r"^levels = np.zeros", LOOSER, "stretchwise", change=r"^np\.zeros"),
    Rule(WISE, r"^continue", LONGER, "refine"),
    Rule(WISE, r"^for k in range\(min\(K, L\) - 1, 0, -1\)", LONGER, "refine", change="^0 -> -1$"),
    Rule(WISE, r"^if more > 0:", LOOSER, "refine", change="^0 -> 1$|^more > 0 -> "),
    Rule(WISE, r"^return nodes, work", LONGER, "refine", change="-> pass$"),
    Rule(CLIMB, r"^changed = False", LONGER, "ascend", change="^False -> True"),
    Rule("posterior.py", r"^prior, release = with_one_sensor", LONGER, "bracket_stretches", change="-> pass$"),
    Rule("posterior.py", r"^start, moves, nothing, np.ones", LONGER, "_in_logs", change="^False -> True$"),
    Rule(SERIES, r"^while len\(kept\) < runs", DRAWS, "sample_series", change=STRICT),
    Rule(BRACKETS, r"^if merit\[order\[best\[i\]\]\] < 0.0", LOOSER, "try_constants", change=STRICT),
    Rule(CEILING, r"^gain = 0.0", TIGHTER, "told_step", change=r"^0\.0 -> -1"),
    Rule(BRACKETS, r"^told, gain = 0.0, 0.0", TIGHTER, "bracket", change=r"^0\.0 -> -1\.0 #2$"),
    Rule(BRACKETS, r"^if \(guesses\[0\] != guesses\[1\]\)", LOOSER, "first_look", change="^0 -> -1$"),
    Rule(WISE, r"^for u in range\(TS, -1, -1\)", LOOSER, "add_up", change="^1 -> 2$"),
    Rule("bounds.py", r"^for delta in range\(formed \+ 1", GAP, "fast_joint_maxima", change="^1 -> 2 #2$"),
    Rule("attacks.py", r"^shared = prior.homogeneous", GAP, "decode_series", change="-> steps > 1 and"),
    Rule(CHAIN, r"^faint = fades\(b, weights\[t \+ 1\]\)", GAP, "posterior", change="^1 -> 0$"),
    Rule(CHAIN, r"^log_faint = max\(log_faint, log_mass\)", GAP, "posterior", change="-> log_mass$"),
    Rule("alike.py", r"^towards = prior.initial \+", GAP, "merged", change="-> prior.initial - "),
    Rule(CLIMB, r"^if gain\[pick\] > gain", LOOSER, "ascend", change=STRICT),
    Rule(
        STRETCHES, r"^best, at_low = best \+ log_kappa", LONGER, "lowest_power_sum", change="-> at_low \\+ log_kappa$"
    ),
    Rule(STRETCHES, r"^best = min\(best, ", LOOSER, "lowest_power_sum", change=r"^min\(.* -> \(1\.0 - power\)"),
    Rule(STRETCHES, r"^(low, at_low|high, at_high) = power, slope", LOOSER, "lowest_power_sum", change="-> pass$"),
    Rule("bounds.py", r"if told > FAINT", TIGHTER, "log_kappa_bound", change=r"^0\.0 -> -1"),
    Rule("posterior.py", r"^for i in np.flatnonzero\(table", LONGER, "bracket_series", change=STRICT),
    Rule("standins.py", r" > OUTCOMES else ", LOOSER, "stand_ins", change=STRICT),
    Rule(BRACKETS, r"^elif (state_nodes > 1|level == 2)", LONGER),
    Rule(
        BRACKETS, r"^(state_nodes|most) = min", LONGER, change=r"level - 1\]$|-> scratch\[7\]\.shape\[0\] - 1$|^1 -> "
    ),
    Rule(BRACKETS, r"^V, Q, named, pinned, a, 0, needed, most", LONGER, change=r"tolerance|^1\.0 -> "),
    Rule("bounds.py", r"^if certified.all\(\) or", LONGER, change="-> formed"),
    Rule("bounds.py", r"^target = min\(2", LONGER),
    Rule(STRETCHES, r"^(side = |at_(low|high) \*= |break|for _ in range|if abs\(slope)", LONGER, "lowest_power_sum"),
    Rule(WISE, r"level - 1, low", LONGER, change="^1 -> "),
    Rule(WISE, r"^if level == 0", LOOSER, "refine"),
    Rule(WISE, r"^if k \+ 1 < K", LOOSER, "refine", change="^1 -> 2$"),
    Rule(
        WISE,
        r"^upper\[k\] = min\(upper\[k\], upper\[k \+ 1\]\)",
        LOOSER,
        "refine",
        change=r"-> pass$|-> max\(|-> upper\[k( \+ 1)?\]$|^upper\[k\] -> upper\[k - 1\]$|^1 -> 0$",
    ),
    Rule(BRACKETS, r"^order = np.argsort", LOOSER, "try_constants", change="-merit -> merit"),
    Rule(CLIMB, r"^for _ in range\(SWEEPS\)", LOOSER),
    Rule(BRACKETS, r"^merit\[x\] = |^for x in range\(M\)|^best = np.argsort", LOOSER, "try_constants"),
    Rule(BRACKETS, r"^for i in range\(best", LOOSER, "try_constants", change="^range"),
    Rule(BRACKETS, r"^merit\[order\[i\]\] = ", LOOSER, "try_constants", change=r"^1\.0 -> 2|^0\.0 -> 1"),
    Rule(
        "attacks.py",
        r"min\(needed, 8\)",
        LONGER,
        "_visits_ceiling",
        change=r"^8 -> |-> needed$|-> min\(needed, 8\) - 1$|^1 -> 0$|1 - 1\)$",
    ),
    Rule(
        "attacks.py", r"^if not prior.homogeneous or", LONGER, "_visits_ceiling", change=r"-> not prior\.homogeneous or"
    ),
)

#: Lines that no test runs, by file and text, with the reason.
UNRUN: tuple[tuple[str, str, str], ...] = (
    (CHAIN, r"^return 0$", "for the compiler, which wants a value at the end: one of the values is always the largest"),
)


def reason(rules: tuple[Rule, ...], file: str, function: str, text: str, change: str) -> str:
    """The reason of the first rule that is for a mutant, or an empty text."""
    return next((rule.reason for rule in rules if rule.holds(file, function, text, change)), "")


def reason_not_to_run(file: str, text: str) -> str:
    """Why no test runs a line, or an empty text."""
    return next((why for where, what, why in UNRUN if where == file and re.search(what, text)), "")
