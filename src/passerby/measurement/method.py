"""What a method is: a way to find attacks or bounds, which says when it can be used and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .finding import Finding, Known
from .question import Question


def never(question: Question) -> None:
    """A method that answers every question refuses none."""
    return


@dataclass(frozen=True)
class Method:
    """A way to find attacks or bounds.

    `attacks` and `bounds` name what it yields, and `says` tells in a sentence how. `needs` names what must have been
    found before. `refuses` gives the reason why a question cannot be answered in this way, if there is one, and `cost`
    the elementary operations that it takes, roughly. `run` yields findings one by one; it may look at what is `Known`,
    yield nothing where that is enough, and raise `UnsupportedRelease` for what it cannot find. Only what is `adaptive`
    is asked about counts that are chosen as one goes. What is `of_places` holds only where a guess names the place
    itself.
    """

    name: str
    says: str
    run: Callable[[Question, Known], Iterator[Finding]]
    attacks: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    refuses: Callable[[Question], str | None] = never
    cost: Callable[[Question], float] = lambda question: 0.0
    adaptive: bool = False
    of_places: bool = False

    def reason(self, question: Question) -> str | None:
        """Why a question is not answered in this way; None where it is."""
        if not question.release.fixed and not self.adaptive:
            return "it is for counts that are fixed in advance, not chosen as one goes"
        if self.of_places and question.prior.naming is not None:
            return "it holds for guesses of the place itself, not of its zone or of a place nearby"
        return self.refuses(question)

    @property
    def yields(self) -> tuple[str, ...]:
        """All that it may find, by name."""
        return self.attacks + self.bounds
