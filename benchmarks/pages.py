"""Tables and figures of the documentation that are made from results.json.

A page is written by hand but for what stands between `<!-- made: NAME -->` and `<!-- end -->`: the piece of that name.
`python -m benchmarks.pages` makes all of them again without measuring.
"""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.markdown import counted, number, sizes, table
from benchmarks.plan_pieces import again, bisections, greedy, plans, private_noise
from benchmarks.record import RESULTS, Row

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("speed.md", "growth.md", "tightness.md", "interval/reach.md", "counts.md", "plan_search.md")
MARK = re.compile(r"(<!-- made: (?P<name>[a-z-]+) -->\n)(?:.*?)(<!-- end -->)", re.DOTALL)

#: The comparisons, in the order of the page.
COMPARED = ("decode", "posterior", "exact_loss", "read_visits", "audit", "joint_maxima")
#: A ratio of the two ends beyond which it is asked what limits it.
WIDE = 1.05

Results = dict[str, Any]


def comparisons(results: Results) -> list[tuple[Row, Row]]:
    """Every comparison with its section."""
    return [(results[name], row) for name in COMPARED if name in results for row in results[name]["rows"]]


def verdicts(results: Results) -> str:
    """What was aimed at, and whether it is reached."""
    lines = []
    for section, row in comparisons(results):
        if "target" in row:
            reached = "reached" if row["ratio"] >= row["target"] else "**not reached**"
            what = f"{section['title']} ({row['case']}; {sizes(row['size'])})"
            against = f"{number(row['ratio'])} times as fast as {row['peer']}"
            lines.append(f"- {what}: {against}; aimed at {row['target']:g} times, {reached}.")
    return "\n".join(lines)


def ratios(results: Results) -> str:
    """All comparisons: a row for each case, with every peer in it."""
    cells: dict[tuple[str, str, str], list[str]] = {}
    for section, row in comparisons(results):
        spread = f"{number(row['lowest'])} to {number(row['highest'])}"
        case = (section["title"], row["case"], sizes(row["size"]))
        cells.setdefault(case, []).append(f"{row['peer']} **{number(row['ratio'])}** ({spread})")
    missing = [
        f"\n{name} could not be had: {reason}."
        for key in COMPARED
        for name, reason in results.get(key, {}).get("missing", {}).items()
    ]
    rows = [(*case, ", ".join(found)) for case, found in cells.items()]
    return table(("task", "case", "size", "times as fast as (over the repeats)"), rows) + "".join(missing)


def versions(results: Results) -> str:
    """The versions that all figures hold for."""
    found: dict[str, str] = {}
    for section in results.values():
        found |= section["versions"]
    return "Versions: " + ", ".join(f"{name} {found[name]}" for name in sorted(found)) + "."


def memory(results: Results) -> str:
    """How much more memory the peer needs for reading."""
    lines = [
        f"{number(row['memory'], 2)} times as much memory for {sizes(row['size'])}"
        for row in results["read_visits"]["rows"]
        if row["case"] == "one core"
    ]
    return f"pandas takes {' and '.join(lines)}."


def compiling(results: Results) -> str:
    first, later = results["compile_time"]["rows"]
    return (
        f"The kernels are compiled once, on first use: {first['seconds']:.0f} seconds of one core, or by `make` and "
        f"the command line in two processes side by side, {first['clock']:.0f} seconds by the clock (aimed at: "
        f"{first['target']:.0f}; "
        f"{'reached' if first['clock'] <= first['target'] else '**not reached**'}). "
        f"Later they are loaded from disk in {later['seconds']:.1f} seconds. (The core multiplies two matrices of "
        f"1,000 by 1,000 in {1000 * first['pace']:.0f} milliseconds.)"
    )


def grown(results: Results) -> list[Row]:
    """The axes of growth, without the line that gives the pace."""
    return [row for row in results["growth"]["rows"] if "along" in row]


def exponents(results: Results) -> str:
    """Fitted exponents beside those of the formulas."""
    rows = []
    for row in grown(results):
        cells = [number(row.get(kind, {}).get(key)) for kind in ("time", "memory") for key in ("exponent", "expected")]
        rows.append((row["task"], row["formula"], word(row["along"]), *cells))
    return table(("task", "operations", "along", "time", "by formula", "memory", "by formula"), rows)


def word(along: str) -> str:
    """What a size is called on the page."""
    return "1 / tolerance" if along == "one_in" else along


def walls(results: Results) -> str:
    """Where a minute and 8 GB end."""
    rows = []
    for row in grown(results):
        minute, space = (row.get(kind, {}).get("wall") for kind in ("time", "memory"))
        narrow = [size for size, ratio in zip(row["sizes"], row["ratios"], strict=True) if ratio and ratio <= WIDE]
        within = f"{max(narrow):,}" if narrow else "none" if any(row["ratios"]) else ""
        cells = (number(minute, 2), number(space, 2), within)
        rows.append((row["task"], word(row["along"]), sizes(row["fixed"]), *cells))
    pace = results["growth"]["rows"][0]["seconds"]
    note = f"\n\nOn a core that multiplies two matrices of 1,000 by 1,000 in {1000 * pace:.0f} milliseconds."
    return table(("task", "along", "with", "in a minute", "in 8 GB", "within 5 % up to"), rows) + note


def released(row: Row) -> tuple[str, str, str]:
    """Whose loss, from which sensors, and how counts are published."""
    counts = "raw" if row["sigma"] is None else f"σ = {row['sigma']:g}"
    return f"{row['file'].capitalize()}, {row['people']} people", row["sensors"], counts


def by_misses(results: Results) -> dict[tuple[str, str, str, float], list[Row]]:
    """The rows of the samples by release and tolerance, each in the order of the number of misses."""
    found: dict[tuple[str, str, str, float], list[Row]] = {}
    for row in results["interval_samples"]["rows"]:
        if "file" in row:
            found.setdefault((*released(row), row["tolerance"]), []).append(row)
    return found


def people(results: Results) -> str:
    """The people of the samples: median and 95th percentile of the ratio of the two ends, by number of misses."""
    rows = []
    for (*release, tolerance), found in by_misses(results).items():
        cells = [f"{row['median']:.4f}, {row['most']:.4f}" for row in found]
        cost = max(row["milliseconds"] for row in found)
        rows.append((*release, f"{tolerance:g}", *cells, f"{max(row['largest'] for row in found):.3f}", f"{cost:.1f}"))
    numbers = [f"{row['misses']}" for row in found]
    return table(("file", "sensors", "counts", "tolerance", *numbers, "largest of all", "ms"), rows)


def people_verdicts(results: Results) -> str:
    """The worst number of misses for each kind of release, against what was aimed at."""
    lines = []
    rows = [row for row in results["interval_samples"]["rows"] if row.get("tolerance", 1.0) == 0.01]
    for sigma, median, most in ((None, 1.005, 1.01), (1.0, math.inf, 1.10)):
        for where in ("random", "most-visited"):
            chosen = [row for row in rows if (row["sigma"], row["sensors"]) == (sigma, where)]
            middle, high = max(row["median"] for row in chosen), max(row["most"] for row in chosen)
            what = "raw counts" if sigma is None else f"Gaussian noise of σ = {sigma:g}"
            aim = f"95th percentile {most:g}" if median == math.inf else f"median {median:g}, 95th percentile {most:g}"
            lines.append(
                f"- {what}, sensors {where}: median {middle:.4f}, 95th percentile {high:.4f} at the worst number of "
                f"misses (aimed at: {aim}; {'reached' if high <= most and middle <= median else '**not reached**'})."
            )
    return "\n".join(lines)


def sampled_people(results: Results) -> str:
    """For how many people chance has a say."""
    rows = [row for row in results["interval_samples"]["rows"] if "file" in row]
    many = max(row["sampled"] for row in rows)
    share = sum(row["sampled"] * row["people"] for row in rows) / sum(row["people"] for row in rows)
    if not many:
        return "For none of these people is anything sampled: both ends hold for certain."
    return (
        f"For some people a sample pins the loss down better, and their interval holds with a confidence of 99 %: for "
        f"{100 * many:.1f} % of them at the release, tolerance and number of misses where there are most, and for "
        f"{100 * share:.2f} % in all."
    )


def beside_people(results: Results) -> str:
    """The other bounds over the people, as multiples of the best attack."""
    names = {"tight": "tight", "loose": "loose", "dp": "differential privacy"}
    rows = [
        (*release, name, *(number(row[bound]) for row in found))
        for (*release, tolerance), found in by_misses(results).items()
        for bound, name in names.items()
        if tolerance == 0.01 and bound in found[0]
    ]
    numbers = [f"{row['misses']}" for row in results["interval_samples"]["rows"][1:6]]
    return table(("file", "sensors", "counts", "bound", *numbers), rows)


def wide(results: Results) -> str:
    """The points of the paper's sweeps at which the ends are far apart, and what the upper end is."""
    rows = [
        (
            row["sweep"],
            f"{row['places']}",
            f"{row['steps']}",
            f"{row['misses']}",
            "raw" if row["sigma"] is None else f"σ = {row['sigma']:g}",
            number(row["lower"]),
            number(row["ratio"]),
            *(number(row.get(bound)) for bound in ("tight", "loose", "dp")),
            f"{row['decided_by']}, {'sampled' if row['sampled'] else 'listed'}",
        )
        for row in results["interval_sweeps"]["rows"]
        if row["ratio"] > WIDE or row["sampled"]
    ]
    head = ("sweep", "places", "steps", "misses", "counts", "best attack", "upper", "tight", "loose", "dp", "upper is")
    every = len(results["interval_sweeps"]["rows"])
    note = (
        f"{every - len(rows)} of {every} points are within 5 %, for certain. The others, in multiples of what the best "
        "attack achieves for sure (with a confidence of 99 % where series are sampled):\n\n"
    )
    return note + table(head, rows)


def budgets(results: Results) -> str:
    """The paper's line: ratio and seconds by misses and budget."""
    found = [row for row in results["interval_line"]["rows"] if "budget" in row]
    given = sorted({row["budget"] for row in found})
    by = {(row["misses"], row["budget"]): row for row in found}
    rows = []
    for misses in sorted({row["misses"] for row in found}):
        rows.append([f"{misses}"])
        for budget in given:
            row = by.get((misses, budget))
            rows[-1] += [f"{row['ratio']:.4f}", f"{row['seconds']:.1f}"] if row else ["", ""]
    head = ["misses"]
    for budget in given:
        head += [f"budget {budget:.0e}", "s"]
    return table(head, rows)


def line(results: Results) -> str:
    """The paper's line with the default budget: every bound, the interval, and the seconds."""
    names = ("loose", "tight", "fano", "leakage", "map", "lower", "upper")
    rows = [
        (f"{row['misses']}", *(f"{row[name]:.3g}" for name in names), f"{row['ratio']:.3f}", f"{row['seconds']:.1f}")
        for row in results["interval_line"]["rows"]
        if row.get("budget") == 2e10
    ]
    return table(("misses", *names, "upper / lower", "seconds"), rows)


def day(results: Results) -> str:
    """A day of hours: ratios by budget."""
    rows = [
        (
            f"{row['stay']}",
            f"{row['misses']}",
            f"{row['budget']:.0e}" if row["budget"] else "lowest",
            *(f"{row[name]:.3f}" for name in ("ratio", "mean", "largest")),
            f"{row['milliseconds']:.1f}",
        )
        for row in results["interval_day"]["rows"]
    ]
    head = ("stays with", "misses", "budget a series", "sum of upper / sum of lower", "mean", "largest", "ms a series")
    return table(head, rows)


def realistic(results: Results) -> str:
    """People of realistic size."""
    rows = [
        (
            f"{row['misses']}",
            f"{row['largest']:.4f}",
            f"{row['median']:.4f}",
            f"{row['milliseconds']:.2f}",
            f"{row['search']:.2f}",
        )
        for row in results["interval_person"]["rows"]
    ]
    return table(("misses", "largest upper / lower", "median", "ms, `measure`", "ms, its search"), rows)


def everywhere(results: Results) -> str:
    """People who are everywhere: both ends with little and with the default effort; a star where they hold at 99 %."""
    cases: dict[tuple[str, str, str], list[str]] = {}
    for row in results["taxis"]["rows"]:
        if "kind" in row:
            case = row["kind"], "raw" if row["sigma"] is None else f"σ = {row['sigma']:g}", f"{row['misses']}"
            star = "" if row["confidence"] is None else "*"
            ends = f"{number(row['lower'])} to {number(row['upper'])}{star}"
            cases.setdefault(case, []).extend([ends, f"{row['seconds']:.1f}"])
    header = ("kind", "counts", "misses", "a fifth of the budget", "seconds", "default budget", "seconds")
    return table(header, [(*case, *cells) for case, cells in cases.items()])


def before(results: Results) -> str:
    """The same work by an older version."""
    rows = []
    for row in results["before"]["rows"]:
        times = (f"{1000 * row[key]:.3g} ms" if row[key] < 1 else f"{row[key]:.3g} s" for key in ("before", "after"))
        widths = (f"{100 * row[key]:.3g} %" for key in ("wide_before", "wide_after"))
        rows.append((row["task"], *times, number(row["ratio"]), *widths))
    return table(("work", "before", "after", "times as fast", "upper beyond lower, before", "after"), rows)


def backtest(results: Results) -> str:
    """What chosen habits and the backtest add to an audit."""
    rows = []
    for row in results["backtest"]["rows"]:
        asked = f"{row['origins']} origins, {row['attacked']:,} attacks"
        reached = "reached" if row["ratio"] <= row["most"] else "**not reached**"
        aimed = f"{row['most']:g}: {reached}"
        rows.append((row["case"], number(row["without"]), number(row["ratio"]), asked, aimed))
    people = counted(results["backtest"]["rows"][0]["size"]["people"], "people")
    return f"For {people}:\n\n" + table(("habits", "without the backtest", "with it", "tried", "at most"), rows)


def zones(results: Results) -> str:
    """A day of hours in zones."""
    rows = []
    for row in results["counts"]["rows"]:
        ends = f"{100 * row['lower']:.1f} % to {100 * row['upper']:.1f} %"
        size = f"{row['counts']:,}", f"{row['states']:,}"
        rows.append((row["case"], *size, f"{row['seconds']:.2g} s", ends, f"{row['megabytes']:,} MB"))
    return table(("release", "counts", "states", "a person", "mean ends", "most memory"), rows)


#: Each piece, and the sections of the results that it needs.
PIECES: dict[str, tuple[Callable[[Results], str], tuple[str, ...]]] = {
    "verdicts": (verdicts, COMPARED[:1]),
    "ratios": (ratios, COMPARED[:1]),
    "versions": (versions, ()),
    "memory": (memory, ("read_visits",)),
    "before": (before, ("before",)),
    "compiling": (compiling, ("compile_time",)),
    "backtest": (backtest, ("backtest",)),
    "exponents": (exponents, ("growth",)),
    "walls": (walls, ("growth",)),
    "people": (people, ("interval_samples",)),
    "people-verdicts": (people_verdicts, ("interval_samples",)),
    "sampled-people": (sampled_people, ("interval_samples",)),
    "beside-people": (beside_people, ("interval_samples",)),
    "wide": (wide, ("interval_sweeps",)),
    "budgets": (budgets, ("interval_line",)),
    "line": (line, ("interval_line",)),
    "day": (day, ("interval_day",)),
    "realistic": (realistic, ("interval_person",)),
    "everywhere": (everywhere, ("taxis",)),
    "zones": (zones, ("counts",)),
    "plans": (plans, ("plan",)),
    "bisections": (bisections, ("plan",)),
    "greedy": (greedy, ("plan",)),
    "private-noise": (private_noise, ("plan",)),
    "again": (again, ("plan",)),
}


def filled(text: str, results: Results) -> str:
    """A page with its pieces made anew."""

    def piece(found: re.Match[str]) -> str:
        make, needed = PIECES[found["name"]]
        there = all(name in results for name in needed)
        return f"{found[1]}\n{make(results) if there else 'Not measured yet.'}\n\n{found[3]}"

    return MARK.sub(piece, text)


def write(results: Results) -> None:
    """Fill the pages, and draw their figures."""
    from benchmarks import figures
    from passerby.support.files import whole_or_nothing

    for name in PAGES:
        page = DOCS / name
        text = filled(page.read_text(encoding="utf-8"), results)
        with whole_or_nothing(page) as temporary:
            temporary.write_text(text, encoding="utf-8")
    figures.draw(results, DOCS / "figures")


if __name__ == "__main__":
    write(json.loads(RESULTS.read_text()))
