"""The baseline: what is achieved without the release, by the same search on the prior itself."""

from collections.abc import Iterator
from contextlib import suppress

from passerby.errors import UnsupportedRelease
from passerby.kernels.joint_maxima import FAINT
from passerby.measurement.best_guess import bracket_series, cost_of_series
from passerby.measurement.finding import Finding, Known, exact
from passerby.measurement.kappa import log_kappa_bound
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.roots import rounded_up
from passerby.model.release import Release
from passerby.outcomes.series import silent_series

from .constant import constant_attack
from .prior import prior_attack

#: Effort that a baseline gets at the least. It is a single search, and all that is said of a release rests on it.
LEAST_EFFORT = 1e9


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Both ends, and the best guess. Without misses it is the likeliest trace, which the attack `prior` names.

    Where states share places that attack names the places of the likeliest trace of states, and others may do better.
    """
    prior, steps, misses = question.prior, question.steps, question.misses
    plain = [known.attack(name) for name in ("prior", "constant")]
    found = [finding for finding in plain if finding is not None]
    found = found or [attack(prior, steps, misses) for attack in (prior_attack, constant_attack)]
    best = max(found, key=lambda finding: finding.floor)
    if misses == 0 and prior.single and prior.naming is None:
        upper = best.floor if best.floor > FAINT else rounded_up(log_kappa_bound(prior, steps, 0))
        yield _between(best.floor, upper, best.guess)
        return
    if cost_of_series(prior, steps, misses) <= max(question.budget / 4, 10 * LEAST_EFFORT):
        with suppress(UnsupportedRelease):
            effort = max(question.budget / 4, LEAST_EFFORT)
            nothing = Release.silent(steps), silent_series(steps)
            search = bracket_series(prior, *nothing, misses, question.tolerance, effort)
            if search.lower[0] > best.floor:
                best = exact("ascent", float(search.lower[0]), tuple(search.guesses[0, 2].tolist()))
            yield _between(best.floor, float(search.upper[0]), best.guess)
            return
    upper = rounded_up(log_kappa_bound(prior, steps, misses)) if prior.naming is None else 1.0
    yield _between(best.floor, upper, best.guess)


def _between(lower: float, upper: float, guess: tuple[int, ...] | None) -> Finding:
    """Both ends; rounding may have put the upper one a little too low."""
    return Finding("baseline", lower, min(1.0, upper), value=lower, guess=guess, about="baseline")


def refuses(question: Question) -> str | None:
    """The paper's way has its own."""
    return "it is sampled" if question.way == "sampling" else None


BASELINE = Method(
    "baseline",
    "searches for the best guess without the release",
    run,
    needs=("prior", "constant"),
    refuses=refuses,
    adaptive=True,
    cost=lambda question: cost_of_series(question.prior, question.steps, question.misses),
)
