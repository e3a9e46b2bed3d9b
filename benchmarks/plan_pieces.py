"""What the page on plans shows of the benchmark of plans."""

import math
from typing import Any

from benchmarks.markdown import number, sizes, table

Results = dict[str, Any]


def of_case(results: Results, case: str) -> list[dict[str, Any]]:
    """The rows of the benchmark about one question."""
    return [row for row in results["plan"]["rows"] if row["case"] == case]


def plans(results: Results) -> str:
    """How long plans take, and how that grows."""
    rows = [
        (
            sizes(row["size"]),
            row["moved"],
            f"{row['plans']:,}",
            f"{row['measured']:,}",
            f"{number(row['seconds'])} s",
            number(row["per_minute"]),
        )
        for row in of_case(results, "growth")
    ]
    return table(("size", "moved", "releases tried", "measurements of a person", "one core", "releases a minute"), rows)


def bisections(results: Results) -> str:
    """How many releases each bisection took."""
    rows = [
        (row["lever"], f"{row['positions']}", f"{row['plans']}", f"{math.ceil(math.log2(row['positions'] + 1))}")
        for row in of_case(results, "bisection")
    ]
    return table(("bisection along", "positions", "releases tried", "log2(positions + 1), rounded up"), rows)


def greedy(results: Results) -> str:
    """What is kept by leaving out greedily, beside the best that could be."""
    rows = [
        (row["lever"], f"{row['cases']}", f"{100 * row['mean']:.1f} %", f"{100 * row['least']:.1f} %")
        for row in of_case(results, "greedy")
    ]
    return table(("left out", "towns", "kept of the best, on average", "at least"), rows)


def private_noise(results: Results) -> str:
    """The noise of a plan beside what differential privacy asks for."""
    kinds = {"gaussian": "normal", "laplace": "Laplace"}
    rows = [
        (
            f"{kinds[row['lever']]}, at most {100 * row['added']:g} points added to anybody",
            number(row["ours"]),
            number(row["asked"]),
            number(row["ratio"], 2),
        )
        for row in of_case(results, "noise")
    ]
    return table(("noise and limit", "scale found", "scale by riskcal", "ratio"), rows)


def again(results: Results) -> str:
    """Verdicts that were measured again."""
    (row,) = (row for row in results["plan"]["rows"] if row["case"] == "again")
    levers = ("gaussian", "rounding", "suppression", "places", "every", "zones", "visitors")
    kinds = ", ".join(f"{row[name]} of {name}" for name in levers if row.get(name))
    wrong = "none was wrong" if not row["wrong"] else f"**{row['wrong']} were wrong**"
    return (
        f"Of {row['towns']} random towns, {row['sure']} sure and {row['refused']} refused plans were measured again "
        f"with ten times the effort, everyone in them: {wrong} ({kinds}; a plan may have two levers)."
    )
