"""Write crowd.md's table and draw crowd.svg: a day of a simulated city, by how many of the others are not known.

Run with `.venv/bin/python docs/figures/make_crowd.py` (half a minute) after `make docs` has installed matplotlib. The
table goes between two marks in `docs/crowd.md`.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from passerby.audits.job import Job
from passerby.audits.person import audit_person
from passerby.audits.settings import Measurement
from passerby.others.by_habits import SensorsByHabits as Expected
from passerby.others.by_habits import View as Told
from passerby.others.by_habits import everyone_else, walked
from passerby.others.crowd import together

HERE = Path(__file__).parent
PAGE = HERE.parent / "crowd.md"
BEGIN, END = "<!-- table: make_crowd.py -->", "<!-- end of table -->"
STEPS, SENSORS, MISSES, TARGETS = 8, 8, 1, 12
UNKNOWN = (0, 5, 20, 50, 100, 200, 400)
COLUMNS = ("baseline_lower", "lower", "upper", "bound_known")

Row = dict[str, float]


def only(found: Expected, release: pb.Release, there: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> Expected:
    """The same for an adversary who knows where everybody was but those who are `unknown` (N,)."""
    views = (
        Told.of(np.where(unknown[:, None], view.known, there), np.where(unknown[:, None], view.chance, 0.0))
        for view in (found.habits, found.told)
    )
    walks = [walked(found.people, int(person), release)[0] for person in np.flatnonzero(unknown)]
    spread = sum((together(walk.prior, walk.sensors) for walk in walks), np.zeros_like(found.spread))
    return Expected(found.rest, *views, spread, found.people)


def days(numbers: tuple[int, ...] = UNKNOWN) -> list[Row]:
    """Averages over the same people, for each number of others who are known by their habits only."""
    city = pb.simulate_city(people=500, places=60, days=10, seed=1)
    people = pb.fit_people(city, window="3h", places=40, min_active=1, holdout=STEPS, rhythm="hour")
    busy = [int(place) for place in np.argsort(-people.counts.sum(axis=0)) if place != people.elsewhere][:SENSORS]
    release = pb.Release([busy] * STEPS, pb.Raw(), pb.Crowd())
    found = everyone_else(people, release)
    there = np.concatenate([people.actual[:, [t]] == step for t, step in enumerate(release.sensors)], axis=1)
    assert isinstance(found, Expected)
    order = np.random.default_rng(0).permutation(len(people))
    targets, others = order[:TARGETS], order[TARGETS:]
    rows = []
    for number in numbers:
        unknown = np.isin(np.arange(len(people)), others[:number])
        job = Job(people, release, Measurement(MISSES, runs=1000), only(found, release, there, unknown))
        table = [audit_person(job, int(person)) for person in targets]
        rows.append({name: float(np.mean([row[name] for row in table])) for name in COLUMNS})
        print(number, rows[-1], flush=True)
    return rows


def draw(rows: list[Row]) -> None:
    """Both ends, what is known without the release, and what one knows who knows everybody."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "passerby", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    where = range(len(UNKNOWN))
    for name, colour, mark, text in (
        ("bound_known", "#777777", "s", "everybody else is known"),
        ("upper", "#0072B2", "o", "at most (told every second step)"),
        ("lower", "#D55E00", "^", "at least"),
        ("baseline_lower", "#000000", "", "without the release"),
    ):
        style = "--" if name == "baseline_lower" else "-"
        axes.plot(where, [row[name] for row in rows], style, color=colour, marker=mark, markersize=4, label=text)
    axes.fill_between(where, *([row[name] for row in rows] for name in ("lower", "upper")), color="#0072B2", alpha=0.15)
    axes.set_xticks(where, [str(number) for number in UNKNOWN])
    axes.set_xlabel("others who are known by their habits only")
    axes.set_ylabel("mean loss")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 0.08))
    figure.savefig(HERE / "crowd.svg", metadata={"Date": None})


def written(rows: list[Row]) -> str:
    """The table."""
    lines = [
        "| others not known | without the release | at least | at most | everybody else known |",
        "|---|---|---|---|---|",
    ]
    for number, row in zip(UNKNOWN[: len(rows)], rows, strict=True):
        lines.append(f"| {number} | {' | '.join(f'{row[name]:.3f}' for name in COLUMNS)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure the same people for each number of others who are not known."""
    rows = days()
    draw(rows)
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{written(rows)}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
