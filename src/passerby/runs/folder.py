"""The folder of results: without finished ones, and free of other work.

The default release if nobody named one, and the way to name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from passerby.audits.inputs import Inputs
from passerby.audits.settings import AuditSettings
from passerby.audits.subjects import in_words, subjects_of
from passerby.audits.wording import Wording, instead
from passerby.errors import ConfigError, InputError
from passerby.report.words import length, mechanism
from passerby.support.files import alone_in, make_folder


@dataclass(frozen=True)
class Destination:
    """A folder for results; the file written `last` marks finished ones (`holds`)."""

    folder: Path
    last: str
    holds: str
    overwrite: bool
    wording: Wording

    def check(self) -> None:
        """Refuse a file, and refuse to replace finished results unless asked to."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.wording.name('out')}: {str(self.folder)!r} is a file; name a folder")
        if (self.folder / self.last).exists() and not self.overwrite:
            raise ConfigError(f"{self.folder} holds {self.holds}; {instead(self.wording)}")

    @contextmanager
    def held(self) -> Iterator[Path]:
        """The folder, made if need be; within this, no other process works in it."""
        with alone_in(make_folder(self.folder, self.wording.name("out"))):
            self.check()  # another may have finished there meanwhile
            yield self.folder


#: The parts left open.
UNSAID = {
    ("places", "steps"): "what would be published",
    ("places",): "which places would be counted",
    ("steps",): "which steps would be published",
}
#: The most places in a message.
NAMED = 3


def assumption(settings: AuditSettings, inputs: Inputs, wording: Wording) -> str | None:
    """The alert on an assumed release, in the words of the interface; None if somebody described it.

    Numbers about another release are no evidence on the published one.
    """
    if not settings.assumed:
        return None
    release, people = inputs.release, inputs.people
    places = [people.places[zone[0]] for subject in subjects_of(release) for zone in subject.zones]
    most = f", the most visited of all ({_named(places)})" if "places" in settings.assumed and release.reveals else ""
    lasts = length(inputs.window)
    steps = f"the last {release.steps:,} steps of {lasts} each" if release.steps > 1 else f"the last step, of {lasts}"
    how = f"published as {mechanism('; '.join(map(repr, release.ways)))}"
    return (
        f"Nobody said {UNSAID[settings.assumed]}, so this was assumed: {in_words(release)}{most}, at {steps}"
        f"{_when(inputs)}, {how}. If you would publish anything else, no number here is about it. "
        f"Say it: {'; '.join(_ways(settings, wording))}."
    )


def _ways(settings: AuditSettings, wording: Wording) -> Iterator[str]:
    """The ways to describe the release, in the words of the interface."""
    if "places" in settings.assumed:
        yield (
            f"which places are counted, by {wording.given('sensors', 'fixed')} and {wording.name('sensor_places')}, or "
            f"by {wording.name('sensor_count')} for more of the most visited"
        )
    if "steps" in settings.assumed:
        yield f"how long a step is, by {wording.name('window')}, and how many go out, by {wording.name('holdout')}"
    if settings.mechanism == "raw":
        yield f"what is done to counts, by {wording.name('mechanism')}"


def _named(places: list[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
    return ", ".join(repr(place) for place in places[:NAMED]) + more


def _when(inputs: Inputs) -> str:
    """The published time."""
    covered = inputs.coverage
    if covered.published_from is None or covered.steps_end is None:
        return ""
    return f" ({covered.published_from} to {covered.steps_end}, {covered.timezone})"
