"""The end of the demo: evidence on presence at a hospital, in a few ways to publish the same counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from passerby.audits.inputs import gather
from passerby.audits.presence import presence
from passerby.audits.record import Bracket
from passerby.audits.validation import check_settings
from passerby.audits.wording import Options
from passerby.mechanisms.registry import read_mechanism
from passerby.report.words import of_hundred
from passerby.support.rule_of_five import FEW, fives_below

from .screen import stage

if TYPE_CHECKING:
    from rich.console import Console

    from passerby.visits import Visits


def compared(
    settings: dict[str, Any], visits: Visits, place: str, ways: Mapping[str, str], sample: int, aside: Console
) -> Iterator[str]:
    """A sentence about the place, and one for each way to publish, by name."""
    with stage(aside, "Comparing ways to publish"):
        chosen = check_settings(settings, "options", Options())
        inputs = gather(chosen, visits)
        people, number = inputs.people, inputs.people.places.index(place)
        there = int((people.actual == number).any(axis=1).sum())
        found = {}
        for name, way in ways.items():
            release = inputs.release.through(read_mechanism(way))
            rows = presence(
                people,
                release,
                [place],
                "insider",
                sample=sample,
                runs=chosen.runs,
                budget=chosen.budget,
                seed=chosen.seed,
            )
            told = rows.drop_nulls("power_lower")
            if told.height >= FEW:
                ends = (float(told[f"power_{end}"].to_numpy().mean()) for end in ("lower", "upper"))
                found[name] = Bracket(**dict(zip(("lower", "upper"), ends, strict=True)))
    who = f"About {fives_below(there):,}" if there >= FEW else f"Fewer than {FEW}" if there else "None"
    yield f"{who} of {len(people):,} people were there. Of 100 who were, whoever knows where the others were finds:"
    for name, power in found.items():
        yield f"  {name + ':':<17} {of_hundred(power)}"
    if not found:
        yield f"  not told: fewer than {FEW} people may well be there"
    yield "by a test that wrongly accuses 1 of 100 who were not there."
