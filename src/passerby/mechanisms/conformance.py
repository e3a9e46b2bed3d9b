"""Whether a mechanism keeps the promises behind everything downstream."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from passerby.errors import InputError
from passerby.support import checks

from .base import Mechanism
from .checks import MOST_COUNTED, check_hashable
from .laws import Floats, mixture_information, same

#: Presence probabilities for comparing the information.
PRESENCE = (0.05, 0.5)
#: The most standard errors between a frequency and its probability.
ERRORS = 5.0


def check_mechanism(
    mechanism: Mechanism, counts: Iterable[int] = range(13), *, runs: int = 4000, seed: int = 0
) -> None:
    """Raise an `InputError` naming a mechanism's broken promise, the count, and the size of the error.

    It can be hashed. Likelihoods add up to one over all outputs, at every count. Total variation and information agree
    with the likelihoods. Stand-ins tell less and more. Samples fall on the outputs as often as the likelihood says
    (`runs` draws at each count). A mechanism calling itself shift-invariant is. Shapes broadcast. Its further
    statements are true: its rules, its epsilon at any delta, the error of readers.

    >>> from passerby.mechanisms import Rounding
    >>> check_mechanism(Rounding(5))
    """
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"check_mechanism: {mechanism!r} is not a Mechanism")
    check_hashable(mechanism)
    if isinstance(counts, str | bytes) or not isinstance(counts, Iterable):
        raise InputError(f"counts: expected a list of whole numbers, got {counts!r}")
    rng = np.random.default_rng(checks.seed(seed))
    checks.whole(runs, "runs", 1, checks.MOST_DRAWS)
    for count in counts:
        checks.whole(count, "counts: each", 0, MOST_COUNTED)
        values, weights = mechanism.quadrature(count)
        _check_shapes(mechanism, values, count)
        pair = _check_likelihood(mechanism, values, weights, count)
        _check_stand_ins(mechanism, pair, count)
        _check_numbers(mechanism, pair, count)
        _check_samples(mechanism, values, pair[:, 0], count, runs, rng)
        _check_shift(mechanism, values, count)
        _check_more(mechanism, pair, count)


def _fail(mechanism: Mechanism, count: int, what: str) -> InputError:
    return InputError(f"{mechanism!r} at a count of {count}: {what}")


def _check_shapes(mechanism: Mechanism, values: Floats, count: int) -> None:
    for left in range(len(values) - 1):
        if bool(same(values[left], values[left + 1])):
            raise _fail(mechanism, count, f"outputs lists {values[left]:g} twice")
    shape = np.shape(mechanism.log_likelihood(np.full((2, 1), values[0]), np.full(3, count)))
    if shape != (2, 3):
        raise _fail(mechanism, count, f"log_likelihood of outputs (2, 1) and counts (3,) has shape {shape}, not (2, 3)")


def _check_likelihood(mechanism: Mechanism, values: Floats, weights: Floats, count: int) -> Floats:
    columns = []
    for n in (count, count + 1):
        column = weights * np.exp(mechanism.log_likelihood(values, n))
        total = float(column.sum())
        if not abs(total - 1) < 1e-6:
            raise _fail(
                mechanism,
                count,
                f"the likelihood at {n} sums to {total:.8g} over the outputs, not to one; a value is missing from "
                "outputs, or a probability is wrong",
            )
        columns.append(column)
    return np.stack(columns, axis=1)


def _check_numbers(mechanism: Mechanism, pair: Floats, count: int) -> None:
    apart = float(np.abs(pair[:, 0] - pair[:, 1]).sum() / 2)
    told = mechanism.total_variation(count)
    if not abs(told - apart) < 1e-5:
        raise _fail(mechanism, count, f"total_variation is {told:.8g}, that of the likelihoods is {apart:.8g}")
    for presence in (0.0, *PRESENCE, 1.0):
        right = mixture_information(presence, pair[:, 0], pair[:, 1])
        told = mechanism.information(presence, count)
        if not abs(told - right) < 1e-5:
            raise _fail(
                mechanism,
                count,
                f"information at a presence of {presence:g} is {told:.8g}, that of the likelihoods is {right:.8g}",
            )


def _check_stand_ins(mechanism: Mechanism, pair: Floats, count: int) -> None:
    stand_ins = mechanism.stand_ins(count)
    if stand_ins is None:
        return

    def right(table: Floats, presence: float) -> float:
        """The chance of telling presence right: for all priors, larger if more is told (Blackwell 1953)."""
        return float(np.maximum((1 - presence) * table[:, 0], presence * table[:, 1]).sum())

    for name, table in zip(("less", "more"), stand_ins, strict=True):
        if np.ndim(table) != 2 or not np.allclose(table.sum(axis=0), 1, atol=1e-6):
            raise _fail(mechanism, count, f"the stand-in that tells {name} is not two laws that sum to one")
    for presence in (*PRESENCE, 0.95):
        less, exact, more = (right(table, presence) for table in (stand_ins[0], pair, stand_ins[1]))
        # A numerical integral over a kink is not exact.
        if not less - 1e-4 <= exact <= more + 1e-4:
            raise _fail(
                mechanism,
                count,
                f"a presence of {presence:g} is told right with probability {exact:.6g}, which is not between those of "
                f"the stand-ins that tell less and more, {less:.6g} and {more:.6g}",
            )


def _check_samples(
    mechanism: Mechanism, values: Floats, law: Floats, count: int, runs: int, rng: np.random.Generator
) -> None:
    drawn = np.asarray(mechanism.sample(np.full((runs, 1), count), rng))
    if drawn.shape != (runs, 1):
        raise _fail(mechanism, count, f"samples for counts of shape {(runs, 1)} have shape {drawn.shape}")
    drawn = np.sort(drawn.ravel())
    if mechanism.outputs(count) is not None:
        stray = drawn[~same(drawn[:, None], values[None]).any(axis=1)]
        if len(stray):
            raise _fail(mechanism, count, f"a sample is {stray[0]:g}, which is not among the outputs")
    # Frequencies of falling at or below each value; NaN comes last in both.
    order = np.argsort(values)
    expected = np.minimum(np.cumsum(law[order]), 1.0)
    seen = np.searchsorted(drawn, values[order], side="right") / runs
    # In a continuum, the sum up to a node is off by no more than the node's own weight.
    slack = 0.0 if mechanism.outputs(count) is not None else law[order]
    excess = np.abs(seen - expected) - slack - ERRORS * np.sqrt(expected * (1 - expected) / runs) - ERRORS / runs
    worst = int(np.argmax(excess))
    if excess[worst] > 0:
        raise _fail(
            mechanism,
            count,
            f"samples are at or below {values[order][worst]:g} in {seen[worst]:.4f} of {runs} draws; the likelihood "
            f"says {expected[worst]:.4f}",
        )


def _check_shift(mechanism: Mechanism, values: Floats, count: int) -> None:
    if not mechanism.shift_invariant:
        return
    here, moved = mechanism.log_likelihood(values, count), mechanism.log_likelihood(values + 7, count + 7)
    if not np.allclose(np.exp(here), np.exp(moved), atol=1e-9):
        raise _fail(mechanism, count, f"it calls itself shift-invariant, but the law at {count + 7} is another")


def _check_more(mechanism: Mechanism, pair: Floats, count: int) -> None:
    """Statements beside the defaults: raw, rules, epsilon, noise for one of a group, the error of readers."""
    at = np.array([float(count)])
    shown = at.copy()
    for rule in mechanism.rules or ():
        shown = rule.apply(shown)
    if mechanism.rules is not None and not same(shown, mechanism.sample(at, np.random.default_rng(0))).all():
        raise _fail(mechanism, count, f"its rules make {shown[0]:g} of the count, and samples are another value")
    if mechanism.raw and (mechanism.rules is None or shown[0] != count):
        raise _fail(mechanism, count, "it calls itself raw, but the count is not published as it is")
    most = mechanism.pure_epsilon(1)
    # Counts without a person and with one: values beyond the reach of noise are not listed.
    listed = pair[(pair > 0).all(axis=1)]
    if most < np.inf and np.abs(np.log(listed[:, 1] / listed[:, 0])).max(initial=0.0) > most + 1e-6:
        raise _fail(mechanism, count, f"one person changes a likelihood by more than its epsilon of {most:g}")
    alone = mechanism.divided(2)
    if alone is not None:
        values, weights = (
            mechanism.around(at + np.arange(3.0), at + 1)
            if mechanism.outputs(count) is None
            else (
                np.union1d(mechanism.outputs(count), mechanism.outputs(count + 1)),  # type: ignore[arg-type]
                1.0,
            )
        )
        laws = [weights * np.exp(mechanism.log_likelihood(values, count + n)) for n in (0, 2)]
        apart = float(np.abs(laws[1] - laws[0]).sum() / 2)
        if not abs(alone.total_variation(count) - apart) < 1e-5:
            raise _fail(mechanism, count, f"of a group of two it tells {apart:.8g}, and {alone!r} another amount")
    _check_error(mechanism, count)
    if not mechanism.tells_less_than(mechanism):
        raise _fail(mechanism, count, "it says that it cannot be made from itself")


def _check_error(mechanism: Mechanism, count: int) -> None:
    for off in (0.0, 1.5):
        said = mechanism.reader_error(off)
        if said is None:
            continue
        values, weights = mechanism.quadrature(count)
        law = weights * np.exp(mechanism.log_likelihood(values, count))
        right = float(law @ np.abs(values - count - off))
        if not abs(said - right) < 0.02 * max(1.0, right):  # the integral is over a kink
            raise _fail(mechanism, count, f"{off:g} away, readers are off by {right:.6g}, not by {said:.6g}")
