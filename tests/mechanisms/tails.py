"""Exact probabilities of far tails, by sums in decimal numbers of many digits: slow and plain."""

from collections.abc import Callable
from decimal import Decimal, getcontext
from functools import cache
from math import comb, log

getcontext().prec = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
FAR = 4000


def log_of(value: Decimal | int) -> float:
    """The logarithm of a decimal, also of one that no float can hold."""
    if not value:
        return float("-inf")
    value = Decimal(value)
    exponent = value.adjusted()
    return log(float(value.scaleb(-exponent))) + exponent * log(10)


def phi_tail(z: Decimal) -> Decimal:
    """`1 - Φ(z)` for z of at least 0: a series near zero, a continued fraction far out."""
    density = (-z * z / 2).exp() / (2 * PI).sqrt()
    if z < 6:
        term = total = z
        k = 1
        while abs(term) > Decimal(10) ** -55:
            term *= z * z / (2 * k + 1)
            total += term
            k += 1
        return Decimal("0.5") - density * total
    fraction = z
    for k in range(400, 0, -1):
        fraction = z + k / fraction
    return density / fraction


def gaussian(sigma: float) -> Callable[[Decimal, Decimal], Decimal]:
    """The probability of normal noise between two numbers."""

    def between(low: Decimal, high: Decimal) -> Decimal:
        a, b = low / Decimal(sigma), high / Decimal(sigma)
        if a >= 0:
            return phi_tail(a) - phi_tail(b)
        return phi_tail(-b) - phi_tail(-a) if b <= 0 else 1 - phi_tail(-a) - phi_tail(b)

    return between


def laplace(scale: float) -> Callable[[Decimal, Decimal], Decimal]:
    """The probability of Laplace noise between two numbers."""

    def below(z: Decimal) -> Decimal:
        tail = (-abs(z) / Decimal(scale)).exp() / 2
        return tail if z < 0 else 1 - tail

    def between(low: Decimal, high: Decimal) -> Decimal:
        return below(-low) - below(-high) if low > 0 else below(high) - below(low)

    return between


@cache
def geometric(scale: float) -> dict[int, Decimal]:
    """The probability of each whole number."""
    weights = {z: (-abs(z) / Decimal(scale)).exp() for z in range(-FAR, FAR + 1)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


@cache
def discrete_gaussian(sigma: float) -> dict[int, Decimal]:
    """The same for the discrete Gaussian."""
    weights = {z: (-Decimal(z * z) / (2 * Decimal(sigma) ** 2)).exp() for z in range(-FAR, FAR + 1)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def power(base: Decimal, exponent: int) -> Decimal:
    """In which `0 ** 0` is one."""
    return base**exponent if exponent else Decimal(1)


def people(shares: list[float], count: int) -> dict[int, Decimal]:
    """The probability of each sum, when a person adds 0, 1, ... with these probabilities."""
    if len(shares) == 2:
        no, yes = (Decimal(share) for share in shares)
        return {k: comb(count, k) * power(yes, k) * power(no, count - k) for k in range(count + 1)}
    law = {0: Decimal(1)}
    for _ in range(count):
        after: dict[int, Decimal] = {}
        for value, chance in law.items():
            for more, share in enumerate(shares):
                after[value + more] = after.get(value + more, Decimal(0)) + chance * Decimal(share)
        law = after
    return law
