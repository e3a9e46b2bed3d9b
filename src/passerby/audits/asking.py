"""Questions in words, as they are asked on the command line, in settings files and in Python, and back.

| words | what is asked |
|---|---|
| `trace` | the whole trace, but for the misses of the audit; `trace with 2 misses` |
| `counted` | whether the person is counted at all |
| `each-step` | where the person is at each step by itself |
| `visited:PLACE` | whether they were ever there, at a published step |
| `visited 3 times:PLACE` | at three steps or more |
| `never:PLACE` | whether they were never there |
| `moved:PLACE>PLACE` | whether they ever went from the one to the other, from a step to the next |

A place is one of the kept places, or a zone. Of some steps alone, from 1: `visited at steps 9-17:PLACE`.

The event of somebody ever going from one zone to another: a flow at any of the published steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.count import Inside, Names
from passerby.model.counts import Moved, Visitors
from passerby.model.release import Release
from passerby.questions.each_step import EachStep
from passerby.questions.event import Event
from passerby.questions.in_data import InData
from passerby.questions.question import Question
from passerby.questions.trace.measure import Trace
from passerby.support.checks import nearest, whole
from passerby.visits.table import ELSEWHERE

from .question_words import ALONE, Named, Zone, check_words, places_by_name


@dataclass(frozen=True)
class EverMoved(Moved):
    """Whether somebody is in one zone at a step and in another one at the next, at any of the first `steps` steps.

    It is the subject of a question; no published value counts it.

    >>> EverMoved([0], [1], 3).bits(np.array([[0, 0, 1], [1, 0, 0]])).tolist()
    [True, False]
    """

    steps: int
    flow: ClassVar[bool] = False

    def __init__(self, origin: int | Iterable[int], destination: int | Iterable[int], steps: int) -> None:
        if whole(steps, "steps", 1) < 2:
            raise InputError("moved: nobody goes anywhere in one step; ask where they are, as in visited:PLACE")
        super().__init__(origin, destination, 0)
        object.__setattr__(self, "steps", int(steps))

    @property
    def read(self) -> int:
        """The last step."""
        return self.steps - 1

    @property
    def sentence(self) -> str:
        """Of somebody for whom it holds, in words."""
        return f"{super().sentence.partition(' between ')[0]} at any of {self.steps} steps"

    def asked(self, names: Names, steps: int | None, never: bool) -> str:
        """The words that ask for it."""
        return f"{'never ' * never}moved:{names(self.origin)}>{names(self.destination)}"

    def said(self, names: Names, steps: int | None, never: bool) -> str:
        """The same for a reader."""
        ends = f"from {names(self.origin)} to {names(self.destination)}"
        return f"whether the person {'did not: ' * never}ever went {ends}"

    def met(self, inside: Inside) -> Any:
        """Whether they are in the one zone at a step, and in the other at the next."""
        found = inside(self.origin, 0) & inside(self.destination, 1)
        for t in range(1, self.steps - 1):
            found = found | (inside(self.origin, t) & inside(self.destination, t + 1))
        return found

    def progress(self, place_of: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
        """Level 1 for people in the one zone, level 2 for good for people then in the other.

        >>> EverMoved([0], [1], 2).progress(np.array([0, 1]), steps=2)[1].tolist()
        [[1, 1, 2], [0, 2, 2]]
        """
        ready = np.isin(place_of, self.origin).astype(np.int64)
        levels = np.empty((steps, len(place_of), 3), dtype=np.int64)
        levels[:, :, 0], levels[:, :, 2] = ready, 2
        levels[:, :, 1] = np.where(np.isin(place_of, self.destination), 2, ready)
        levels[self.steps :] = np.arange(3)
        return levels


def parse_question(text: str, places: Named, release: Release, misses: int = 0) -> Question:
    """The question in some words: `misses` are the misses of the audit.

    >>> parse_question("visited 2 times:gate", ["park", "gate"], Release([0, 1, 1]))
    Event(count=Visitors(mechanism=None, others=None, places=(1,), steps=(0, 1, 2), times=2), never=False)
    """
    verb, times, steps, place = check_words(text)
    if verb in ALONE:
        asked = {"counted": InData(), "each-step": EachStep()}.get(verb)
        return asked or Trace(release.check_misses(misses if times is None else times))
    known = places if isinstance(places, Mapping) else places_by_name(places)
    chosen = _chosen(text, steps, release.steps)
    if verb.endswith("moved"):
        return _moved(text, place, known, release.steps, chosen if steps else None, never=verb != "moved")
    zone = _zone(text, place, known)
    often = times or 1
    if often > len(chosen):
        raise InputError(f"question {text!r}: nobody can be there {often} times in {len(chosen)} steps")
    return Event(Visitors(zone, chosen, often), never=verb == "never")


def parse_questions(texts: Iterable[str], places: Named, release: Release, misses: int = 0) -> list[Question]:
    """Several questions, each once, in order."""
    return list(dict.fromkeys(parse_question(text, places, release, misses) for text in texts))


def words_of(question: Question, places: Named, misses: int | None = None, steps: int | None = None) -> str:
    """The words of a question: its key in tables and records. `misses` and `steps` are the numbers of the audit.

    >>> words_of(Event(Visitors([1], range(3)), never=True), ["park", "gate"])
    'never:gate'
    """
    if isinstance(question, Trace):
        plain = question.zones is None and question.within is None
        number = f" with {question.misses} miss{'es' * (question.misses != 1)}"
        other = "" if plain else " of zones" if question.within is None else " of places nearby"
        return f"trace{other}{'' if misses in (None, question.misses) else number}"
    if isinstance(question, InData):
        return "counted" if question.instead is None else "replaced"
    if not isinstance(question, Event):
        return "each-step" if isinstance(question, EachStep) else question.sentence
    return question.count.asked(_names(places), steps, question.never)


def sentence_of(question: Question, places: Named, steps: int | None = None) -> str:
    """The question, in words for a reader, with the names of places.

    >>> sentence_of(Event(Visitors([1], range(3), 2)), ["park", "gate"])
    'whether the person was at gate at 2 or more of 3 steps'
    """
    if not isinstance(question, Event):
        return question.sentence
    return question.count.said(_names(places), steps, question.never)


def _chosen(text: str, steps: str | None, every: int) -> list[int]:
    """The steps of the question, from 0."""
    if steps is None:
        return list(range(every))
    out: set[int] = set()
    for part in steps.split(","):
        first, _, last = part.partition("-")
        if last and int(last) < int(first):
            raise InputError(f"question {text!r}: steps {part} end before they begin; expected steps {last}-{first}")
        out |= set(range(int(first) - 1, int(last or first)))
    wrong = [step + 1 for step in out if not 0 <= step < every]
    if wrong or not out:
        which = f"step {max(wrong, key=abs)}" if wrong else f"steps {steps}"
        raise InputError(f"question {text!r}: nothing is published about {which}; steps are numbered 1 to {every}")
    return sorted(out)


def _moved(
    text: str, pair: str, known: Mapping[str, Zone], every: int, steps: Sequence[int] | None, *, never: bool
) -> Event:
    """A move between two places; a name may hold the sign between them."""
    cuts = [at for at, letter in enumerate(pair) if letter == ">"]
    halves = [(pair[:at].strip(), pair[at + 1 :].strip()) for at in cuts]
    both = next((half for half in halves if half[0] in known and half[1] in known), halves[0])
    origin, destination = (_zone(text, name, known) for name in both)
    if steps is None:
        return Event(EverMoved(origin, destination, every), never)
    if len(steps) > 1:
        raise InputError(f"question {text!r}: name one step, from which they go to the next, or none")
    if steps[0] + 1 >= every:
        raise InputError(f"question {text!r}: nothing is published about the step after {steps[0] + 1}, the last one")
    return Event(Moved(origin, destination, steps[0]), never)


def _zone(text: str, name: str, known: Mapping[str, Zone]) -> Zone:
    """The places of a name."""
    if name in known:
        return known[name]
    near = nearest(name, tuple(known))
    hint = f"did you mean {near!r}?" if near else f"such as {', '.join(map(repr, list(known)[:3]))}"
    raise InputError(
        f"question {text!r}: {name!r} is not one of the {len(known):,} chosen places and zones ({hint}); correct its "
        "spelling, or keep the place"
    )


def _names(places: Named) -> Callable[[Zone], str]:
    """The name of a zone: its own, or the names of its places."""
    known = places if isinstance(places, Mapping) else places_by_name(places)
    of = {zone: name for name, zone in reversed([*known.items()])}
    return lambda zone: of.get(zone) or " or ".join(of.get((place,), ELSEWHERE) for place in zone)
