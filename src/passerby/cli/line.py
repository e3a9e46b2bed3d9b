"""`passerby line`: one person on the paper's simulated chain, from the prior to the interval."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from passerby.audits.settings import NOISE

if TYPE_CHECKING:
    from rich.console import Console

    import passerby as pb

#: The sensor of each step, in hundredths of the line.
SENSORS = (7, 93, 41, 15, 60, 22, 88, 5, 50, 71)
#: Operations to spend on each search: it should not take long.
BUDGET = 3e9


def line(
    *,
    places: Annotated[int, Parameter(validator=Number(gte=1))] = 100,
    tau: Annotated[float, Parameter(validator=Number(gt=0))] = 0.1,
    misses: Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")] = None,
    sigma: Annotated[float, Parameter(validator=Number(gte=NOISE["ge"], lte=NOISE["le"]))] = 1.0,
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    out: Path = Path("passerby-line"),
) -> None:
    """Measure one person on a simulated line of places, with raw counts and with noisy ones.

    Parameters
    ----------
    places
        Number of places on the line, at least 1.
    tau
        How freely the person moves, above 0: the larger, the more independent the steps.
    misses
        How many of the 10 steps the adversary may get wrong; several numbers give several rows. [default: 0 2 5 8]
    sigma
        Standard deviation of the noise that is added to the noisy counts.
    seed
        Seed of the sampled noise.
    out
        Folder for loss.json, which holds every number.
    """
    from passerby.support.files import make_folder, write_json

    from .screen import consoles, stage
    from .warm_up import ready

    ready()
    screen, aside = consoles()
    with stage(aside, "Measuring one person") as progress:
        import passerby as pb

        prior = pb.line_prior(places, tau)
        sensors = [place * places // 100 for place in SENSORS]
        releases = {"raw": pb.Release(sensors), "noisy": pb.Release(sensors, pb.Gaussian(sigma))}
        allowed = [releases["raw"].check_misses(s) for s in (misses or [0, 2, 5, 8])]
        make_folder(out, "--out")
        losses: dict[tuple[int, str], pb.Loss] = {}
        for s, name in product(allowed, releases):
            losses[s, name] = pb.measure(prior, releases[name], s, seed=seed, budget=BUDGET)
            progress(len(losses), len(allowed) * len(releases))
        privacy = pb.differential_privacy(releases["noisy"])
    record = {
        "passerby": pb.__version__,
        "settings": {"places": places, "tau": tau, "sensors": sensors, "sigma": sigma, "seed": seed},
        "losses": [{"counts": name, **as_record(loss)} for (_, name), loss in losses.items()],
        "differential_privacy": asdict(privacy),
    }
    write_json(out / "loss.json", record)
    where = f"a line of {places} place{'s' * (places != 1)} (tau {tau:g})"
    show(screen, f"{len(sensors)} steps along {where}", sigma, losses, privacy)
    screen.print(f"All numbers: {out / 'loss.json'}", markup=False, soft_wrap=True)


LEGEND = (
    "Misses: steps that may be wrong. Baseline: the chance without any counts. With them, the chance lies between the "
    "best attack and the upper bound. Tight, loose: the bounds of Koga, Meehan and Chaudhuri (2024)."
)
SAMPLED = " A ~ marks what rests on sampled noise, and holds at the confidence that loss.json tells."


def show(
    screen: Console, walk: str, sigma: float, losses: dict[tuple[int, str], pb.Loss], privacy: pb.DifferentialPrivacy
) -> None:
    """The question, the losses, and differential privacy."""
    screen.print(
        f"\nOne person moves for {walk}; at each step one sensor publishes its count, raw or with noise of standard "
        f"deviation {sigma:g}. How likely is an adversary, who knows the person's habits and where everybody else is, "
        "to name the right place at all steps but a few?"
    )
    screen.print(table(losses))
    screen.print(LEGEND + (SAMPLED if any(map(estimated, losses.values())) else "") + "\n", style="dim")
    screen.print(privacy_line(privacy) + "\n")


def table(losses: dict[tuple[int, str], pb.Loss]) -> Any:
    """A row per number of misses and kind of counts."""
    from rich import box
    from rich.table import Table

    from passerby.support.numbers import chance, span

    out = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    out.add_column("misses", justify="right", vertical="bottom")
    out.add_column("baseline", justify="right", no_wrap=True)
    out.add_column("counts")
    for name in ("best\nattack", "upper\nbound", "paper's\ntight", "paper's\nloose"):
        out.add_column(name, justify="right", no_wrap=True)
    last = None
    for (s, name), loss in losses.items():
        if last not in (None, s):
            out.add_section()
        found = ("~" if estimated(loss) else "") + chance(loss.lower)
        # Misses and baseline do not depend on the counts: they are said once for both.
        shared = ("", "") if last == s else (str(s), span(loss.baseline.lower, loss.baseline.upper, chance))
        paper = [chance(loss.bounds[bound]) for bound in ("tight", "loose")]
        sampled = loss.effort.sampled and loss.effort.bound == "posterior"
        above = ("~" if sampled else "") + chance(loss.upper)
        out.add_row(*shared, name, found, above, *paper)
        last = s
    return out


def estimated(loss: pb.Loss) -> bool:
    """Whether the sure success of the best attack is a confidence limit."""
    best = loss.attacks.get(loss.effort.attack)
    return best is not None and best.level is not None


def privacy_line(privacy: pb.DifferentialPrivacy) -> str:
    """Differential privacy by both ways of counting, in a sentence."""
    delta = f"{privacy.delta:g}".replace("e-0", "e-")
    return (
        f"Differential privacy of the noisy counts, the same for everyone: epsilon = {privacy.exact:.2f} at delta = "
        f"{delta} (exact); {privacy.formula:.2f} by the paper's formula. Remark: {privacy.remark}."
    )


def as_record(loss: pb.Loss) -> dict[str, Any]:
    """A loss as plain numbers, for a file."""
    return {
        "misses": loss.misses,
        "steps": loss.steps,
        "lower": loss.lower,
        "upper": loss.upper,
        "baseline": asdict(loss.baseline),
        "advantage": asdict(loss.advantage),
        "attacks": {
            name: {"value": a.value, "error": a.error, "at_least": a.floor} for name, a in loss.attacks.items()
        },
        "bounds": dict(loss.bounds),
        "refused": dict(loss.refused),
        "confidence": loss.effort.confidence,
    }
