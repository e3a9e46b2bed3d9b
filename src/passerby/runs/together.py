"""Several audits looked at together: their settings in, everyone's loss with all of their releases out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from passerby.audits.engine import AUDITING, FITTING, Tell, begin
from passerby.audits.inputs import fitting, released, traced, visits_of
from passerby.audits.job import only, some_people
from passerby.audits.settings import AuditSettings, DataSettings, StepSettings
from passerby.audits.settings_file import read_settings
from passerby.audits.together import JOINT, Together, together
from passerby.audits.validation import check_settings
from passerby.audits.wording import Arguments, Wording
from passerby.errors import ConfigError, InputError
from passerby.people.fit import fit_traces, tracing_for
from passerby.people.habits import People
from passerby.people.sensors import Zones, places_of, read_zones
from passerby.report.together_page import render_together
from passerby.support.files import whole_or_nothing, write_json
from passerby.visits.all_visits import AllVisits
from passerby.visits.table import Visits

from .folder import Destination

#: Settings of steps may differ between releases: all of their places are kept, and people must be known well enough for
#: all of them.
OWN = ("places", "place_names", "min_active")


def run_together(
    sources: Sequence[Path],
    out: Path,
    measured: Mapping[str, Any] | None = None,
    sample: int | None = None,
    *,
    overwrite: bool = False,
    workers: int | None = None,
    tell: Tell | None = None,
    wording: Wording = Arguments(),  # noqa: B008
) -> Together:
    """Measure the releases of some audits together, and write the folder: a page, together.json and people.parquet.

    `sources` are folders of audits, or settings files. People are measured by the settings of the first, except for the
    given ones in `measured`.
    """
    settings = [check_settings(read_settings(file), str(file)) for file in map(settings_file, sources)]
    if len(settings) < 2:
        raise ConfigError("together needs two folders of audits or more, or their settings files")
    check_alike(sources, settings)
    names = names_of(sources)
    destination = Destination(out, "together.json", "releases that were looked at together", overwrite, wording)
    destination.check()
    visits = visits_of(settings[0], tell)
    begin(tell, FITTING)
    people, zones = common_people(settings, visits)
    releases = {
        name: released(each, people, inside)[0] for name, each, inside in zip(names, settings, zones, strict=True)
    }
    how = replace(settings[0].measurement, **(measured or {}))
    chosen = settings[0].sample if sample is None else sample
    if chosen is not None:
        people = only(people, some_people(people, chosen, how.seed))
    own = {"misses": how.misses, "budget": f"{how.budget:g}", "seed": how.seed, "sample": chosen}
    words = [word for name, value in own.items() if value is not None for word in (f"--{name}", str(value))]
    with destination.held() as folder:  # before the long part, after which it would be too late
        found = together(people, releases, **vars(how), workers=workers, progress=begin(tell, AUDITING))
        _write(folder, found, render_together(found, releases, words))
    return found


def settings_file(source: Path) -> Path:
    """The settings of an audit, by its folder or by its own name."""
    return source / "audit.toml" if source.is_dir() else source


def names_of(sources: Sequence[Path]) -> list[str]:
    """The names of releases: their folders' or files' names, with as many parent folders as they need to differ.

    >>> names_of([Path("may/a"), Path("june/b")]), names_of([Path("may/a"), Path("june/a")])
    (['a', 'b'], ['may/a', 'june/a'])
    """
    whole = [source.resolve() for source in sources]
    for i, path in enumerate(whole):
        if path in whole[:i]:
            raise ConfigError(f"together: {str(sources[i])!r} is given twice")
    names = [path.stem if path.suffix == ".toml" else path.name for path in whole]
    folders = 0
    while len(set(names)) < len(names) or JOINT in names:
        folders += 1
        names = ["/".join(path.parts[-folders:]) for path in whole]
    return names


def check_alike(sources: Sequence[Path], settings: Sequence[AuditSettings]) -> None:
    """Refuse releases with different visits or steps."""
    first = settings[0]
    for source, each in zip(sources[1:], settings[1:], strict=True):
        for group in (DataSettings, StepSettings):
            for name in (field.name for field in fields(group) if field.name not in OWN):
                theirs, ours = getattr(each, name), getattr(first, name)
                if name == "visits":
                    theirs, ours = ([path.resolve() for path in paths] for paths in (theirs, ours))
                if theirs != ours:
                    raise InputError(
                        f"{source}: {name} is {_shown(theirs)}, but {_shown(ours)} in {sources[0]}; releases are "
                        "looked at together only where they are of the same visits, steps and habits"
                    )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else repr(value)


def common_people(settings: Sequence[AuditSettings], visits: Visits) -> tuple[People, list[Zones | None]]:
    """People known well enough for all releases, with the places of all of them; and the zones of each."""
    levels = [read_zones(each.zones) if each.zones else None for each in settings]
    both = list(zip(settings, levels, strict=True))
    everybody = AllVisits.of(visits)
    kept = [
        tracing_for(everybody, fitting(each), *each.tracing, places_of(own) if own else ()).places for each, own in both
    ]
    least = max(each.min_active for each in settings)
    joint = replace(settings[0], places=max(each.places for each in settings), min_active=least)
    if any(each.place_names or own for each, own in both):
        joint = replace(joint, place_names=tuple(dict.fromkeys(name for own in kept for name in own)))
    if len(set(kept)) > 1 and any(each.sensors == "random" and each.of_sensors for each in settings):
        raise InputError(
            "sensors drawn at random are other ones among other places; name them, or keep the same places"
        )
    people = fit_traces(traced(joint, visits), fitting(joint))
    return people, [Zones.among(people, own, str(each.zones)) if own else None for each, own in both]


def _write(out: Path, found: Together, page: str) -> None:
    """The table, to stay with the visits, and the page and the means, to be shared."""
    (out / "together.json").unlink(missing_ok=True)
    with whole_or_nothing(out / "together.html") as shown:
        shown.write_text(page, encoding="utf-8")
    with whole_or_nothing(out / "people.parquet", private=True) as draft:
        found.table.write_parquet(draft)
    record = {"misses": found.misses, "steps": found.steps, "said": found.lines(), "releases": found.shared()}
    write_json(out / "together.json", record)
