"""Write rules.md's table and draw rules.svg: ten publication rules on the same simulated city.

Run with `.venv/bin/python docs/figures/make_rules.py` (about a minute) after `make docs` has installed matplotlib. The
table goes between two marks in `docs/rules.md`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import passerby as pb

HERE = Path(__file__).parent
PAGE = HERE.parent / "rules.md"
BEGIN, END = "<!-- table: make_rules.py -->", "<!-- end of table -->"
STEPS, MISSES = 5, 1

Floats = NDArray[np.float64]
Reading = Callable[[Floats], Floats]


class Entry(NamedTuple):
    """A rule, what it is called, and what a reader takes a published value for."""

    name: str
    mechanism: pb.Mechanism
    read: Reading


def as_it_is(values: Floats) -> Floats:
    """A published value is taken for the count."""
    return values


def hidden_as(value: float) -> Reading:
    """An empty cell is taken for this count."""
    return lambda values: np.where(np.isnan(values), value, values)


def rules() -> list[Entry]:
    """The ten rules."""
    noise = pb.Laplace(1.0, rounded=True)
    dropped = pb.Then(pb.Then(noise, pb.Suppression(2)), pb.AtLeast(4))
    return [
        Entry("raw", pb.Raw(), as_it_is),
        Entry("suppressed below 10", pb.Suppression(10), hidden_as(5)),
        Entry("rounded to 5", pb.Rounding(5), as_it_is),
        Entry("10-5 rule", pb.Then(pb.Suppression(10), pb.Rounding(5)), hidden_as(5)),
        Entry("randomly rounded to 3", pb.RandomRounding(3), as_it_is),
        Entry("bands: 10, 25", pb.Bands([10, 25]), lambda v: np.array([5.0, 17.0, 33.0])[v.astype(int)]),
        Entry("sampled, 30 %", pb.Sampling(0.3), lambda v: v / 0.3),
        Entry("geometric, scale 2", pb.Geometric(2.0, clamped=True), as_it_is),
        Entry("discrete Gaussian, 2", pb.DiscreteGaussian(2.0, clamped=True), as_it_is),
        Entry("Laplace, dropped, top-coded", dropped, hidden_as(1)),
    ]


Row = tuple[Entry, float, dict[str, tuple[float, float]]]


def mean_error(entry: Entry, counts: NDArray[np.int64]) -> float:
    """The mean absolute error of what a reader takes the published values for."""
    many = np.repeat(counts[None], 400, axis=0)
    read = entry.read(entry.mechanism.sample(many, np.random.default_rng(0)))
    return float(np.abs(read - many).mean())


def exposure(
    people: pb.People, sensors: list[list[int]], entry: Entry, workers: int | None
) -> dict[str, tuple[float, float]]:
    """The loss, and what the release adds to the baseline, of the most exposed and of the median person."""
    table = pb.audit(people, pb.Release(sensors, entry.mechanism), misses=MISSES, tolerance=0.002, workers=workers)
    low, high, known_low, known_high = (
        table[name].to_numpy() for name in ("lower", "upper", "baseline_lower", "baseline_upper")
    )
    ends = {"loss": (low, high), "added": (np.maximum(low - known_high, 0.0), high - known_low)}
    found = {}
    for name, (left, right) in ends.items():
        found[f"most {name}"] = (float(left.max()), float(right.max()))
        found[f"median {name}"] = (float(np.median(left)), float(np.median(right)))
    return found


def draw(rows: list[Row]) -> None:
    """Error against loss and against what the release adds, a mark for each rule."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "passerby", "svg.fonttype": "none", "font.size": 9})
    figure, both = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
    for axes, name, label in zip(both, ("loss", "added"), ("loss", "loss less baseline"), strict=True):
        for who, colour, mark in (("most", "#D55E00", "o"), ("median", "#0072B2", "s")):
            errors = [error for _, error, _ in rows]
            low, high = (np.array([ends[f"{who} {name}"][i] for _, _, ends in rows]) for i in (0, 1))
            axes.vlines(errors, low, high, color=colour, linewidth=2, alpha=0.6)
            text = "most exposed person" if who == "most" else "median person"
            axes.plot(errors, (low + high) / 2, mark, color=colour, markersize=5, label=text, linestyle="none")
        raised, before = False, -1.0
        for number, (_, error, ends) in sorted(enumerate(rows, start=1), key=lambda row: row[1][1]):
            raised, before = error - before < 0.12 and not raised, error  # neighbours do not cover each other
            at = (error, ends[f"most {name}"][1])
            axes.annotate(str(number), at, (0, 14 if raised else 4), textcoords="offset points", ha="center")
        axes.set_xlabel("mean absolute error of a count, in people")
        axes.set_ylabel(label)
        axes.set_ylim(0, 1.09 * max(ends[f"most {name}"][1] for _, _, ends in rows))
        axes.spines[["top", "right"]].set_visible(False)
    both[0].legend(frameon=False, loc="lower right")
    figure.savefig(HERE / "rules.svg", metadata={"Date": None})


def written(rows: list[Row]) -> str:
    """The table."""
    lines = [
        "| | rule | error | most exposed: loss | added | median: loss | added |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, (entry, error, ends) in enumerate(rows, start=1):
        cells = [
            f"{ends[f'{who} {name}'][0]:.3f} to {ends[f'{who} {name}'][1]:.3f}"
            for who in ("most", "median")
            for name in ("loss", "added")
        ]
        lines.append(f"| {number} | {entry.name} | {error:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def town() -> tuple[pb.People, list[list[int]]]:
    """The people of the city, and two busy places that are counted at each step."""
    city = pb.simulate_city(people=200, places=60, days=8, seed=1)
    people = pb.fit_people(city, window="1h", places=30, min_active=1, holdout=STEPS)
    busy = np.argsort(-np.bincount(people.actual.ravel(), minlength=31)[:30], kind="stable")
    return people, [[int(busy[t]), int(busy[t + STEPS])] for t in range(STEPS)]


def tried(entries: list[Entry], workers: int | None = None) -> tuple[list[Row], NDArray[np.int64]]:
    """Audit the city once for each rule; and the true counts."""
    people, sensors = town()
    counts = np.array([[int((people.actual[:, t] == c).sum()) for c in step] for t, step in enumerate(sensors)])
    rows = [(entry, mean_error(entry, counts), exposure(people, sensors, entry, workers)) for entry in entries]
    return rows, counts


def main() -> None:
    """Write the table, and draw the figure."""
    rows, counts = tried(rules())
    draw(rows)
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{written(rows)}\n\n{END}{tail}", encoding="utf-8")
    print(written(rows), f"\ncounts: {counts.min()} to {counts.max()}, mean {counts.mean():.1f}")


if __name__ == "__main__":
    main()
