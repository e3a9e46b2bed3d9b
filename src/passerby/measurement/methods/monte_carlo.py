"""The paper's way: its three attacks scored by plain Monte Carlo. Koga, Meehan and Chaudhuri (2024), section 4."""

from collections.abc import Iterator

from passerby.measurement.attacks import sampled_attacks
from passerby.measurement.bounds import log_kappa_bound
from passerby.measurement.finding import Finding, Known, Look
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.roots import rounded_up


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Draw traces, publish, guess, count the successes; the baseline's ends are a formula's and a sample's."""
    look = Look(question.runs, sampled=True)
    found = sampled_attacks(
        question.prior, question.release, question.misses, question.rng(), question.runs, question.level, look
    )
    crowd = question.release.crowd
    if crowd is not None and crowd.priors is None and crowd.told is None and not question.release.independent:
        del found["map"]  # how numbers of others go together is not known, so that they cannot be drawn
    yield from found.values()
    floor = max(found[name].floor for name in ("prior", "constant"))
    kappa = rounded_up(log_kappa_bound(question.prior, question.steps, question.misses))
    yield Finding("baseline", min(floor, kappa), kappa, level=question.level, about="baseline")


def refuses(question: Question) -> str | None:
    """Only where it was asked for."""
    return None if question.way == "sampling" else "attacks are scored exactly"


MONTE_CARLO = Method(
    "monte_carlo",
    "draws traces, publishes, guesses and counts successes, as the paper does",
    run,
    attacks=("map", "prior", "constant"),
    refuses=refuses,
)
