"""Every mechanism keeps its promises, and the helper that checks them finds those that do not."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from tests.strategies import Halved, Jumbled

import passerby as pb
from passerby.mechanisms import check_mechanism

Floats = NDArray[np.float64]

EVERY: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Gaussian(0.3),
    pb.Gaussian(1.0, clamped=True),
    pb.Gaussian(2.0, rounded=True),
    pb.Gaussian(2.0, clamped=True, rounded=True),
    pb.Laplace(0.7),
    pb.Laplace(2.0, clamped=True),
    pb.Laplace(2.0, clamped=True, rounded=True),
    pb.DiscreteGaussian(0.4),
    pb.DiscreteGaussian(2.0, clamped=True),
    pb.Geometric(1.0),
    pb.Geometric(3.0, clamped=True),
    pb.Suppression(4),
    pb.Suppression(4, keep_zeros=True),
    pb.Rounding(5),
    pb.RandomRounding(3),
    pb.Bands([3, 7]),
    pb.AtLeast(4),
    pb.Sampling(0.3),
    pb.Sampling(1.0),
    pb.Miscount(0.1, 0.05),
    pb.Then(pb.Suppression(4), pb.Rounding(3)),
    pb.Then(pb.Then(pb.Laplace(1.0, rounded=True), pb.Suppression(2)), pb.AtLeast(4)),
    pb.Then(pb.Then(pb.Laplace(1.0), pb.Suppression(2)), pb.AtLeast(4)),
    pb.Then(pb.Laplace(1.0), pb.Rounding(5)),
    pb.Then(pb.Gaussian(1.0, clamped=True), pb.Bands([1, 4])),
    pb.Then(pb.Sampling(0.4), pb.Gaussian(1.0)),
    pb.Then(pb.Suppression(3), pb.Laplace(1.0, clamped=True)),
    pb.Then(pb.Geometric(1.0, clamped=True), pb.RandomRounding(3)),
    pb.Then(pb.Gaussian(2.0, clamped=True, rounded=True), pb.Sampling(0.5)),
    pb.Then(pb.Raw(), pb.Gaussian(1.0)),
    pb.Then(pb.Laplace(1.0), pb.Raw()),
    pb.Scaled(5),
    pb.Scaled(0.3),
    pb.RoundingBySize(),
    pb.RoundingBySize([[0, 1], [3, 2], [8, 5]]),
    pb.Then(pb.Scaled(4.7), pb.Suppression(5)),
    pb.Then(pb.Then(pb.Sampling(0.2), pb.Scaled(5)), pb.Suppression(5)),
    pb.Then(pb.Then(pb.Laplace(1.0), pb.Scaled(2.5)), pb.Rounding(5)),
    pb.Then(pb.Gaussian(1.0, clamped=True), pb.Scaled(3)),
    pb.Then(pb.Laplace(1.0, rounded=True), pb.Scaled(4.7)),
    pb.Then(pb.Geometric(1.0), pb.Scaled(0.1)),
    pb.Then(pb.Scaled(2.5), pb.Gaussian(1.0)),
    pb.Then(pb.Gaussian(2.0), pb.RoundingBySize([[2, 2], [8, 5]])),
    Jumbled(0.4),
    Halved(),
)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_every_mechanism_conforms(mechanism: pb.Mechanism) -> None:
    check_mechanism(mechanism)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_cells_are_empty_only_where_a_mechanism_hides(mechanism: pb.Mechanism) -> None:
    drawn = mechanism.sample(np.tile(np.arange(40), (200, 1)), np.random.default_rng(0))
    # Some do not say, and sizes from zero on hide what is below, where only noise leads.
    unsure = isinstance(mechanism, (Jumbled, Halved, pb.RoundingBySize))
    assert mechanism.hides == (unsure or bool(np.isnan(drawn).any()))


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_laws_are_finite_and_sum_to_one(mechanism: pb.Mechanism) -> None:
    for count in (0, 3, 40):
        outputs = mechanism.outputs(count)
        if outputs is not None:
            assert len(outputs) < 2000
            values, chances = mechanism.law(count)
            assert chances.sum() == pytest.approx(1, abs=1e-12)
            assert (np.diff(values[~np.isnan(values)]) > 0).all()


@dataclass(frozen=True)
class Coin(pb.Discrete):
    """A mechanism with a fault of one's choice."""

    fault: str = ""

    def law(self, count: float) -> tuple[Floats, Floats]:
        chances = np.array([0.5, 0.4 if self.fault == "sum" else 0.5])
        return np.array([count, count + 1.0]), chances

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        if self.fault == "shape":
            return np.zeros(3)
        drawn = np.asarray(count) + (rng.random(np.shape(count)) < (0.7 if self.fault == "sample" else 0.5))
        return np.asarray(drawn + (0.5 if self.fault == "stray" else 0.0))

    def outputs(self, count: int) -> Floats | None:
        values = super().outputs(count)
        assert values is not None
        return {"missing": values[:-1], "twice": np.sort([*values, values[1]])}.get(self.fault, values)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        logs = super().log_likelihood(output, count)
        return logs.ravel() if self.fault == "flat" else logs

    def total_variation(self, count: int = 0) -> float:
        return 0.9 if self.fault == "variation" else super().total_variation(count)

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        pair = self.pair(count)
        nothing, half = np.ones((1, 2)), pair / 2
        faulty = {"less": (np.eye(2), pair), "more": (pair, nothing), "halves": (half, pair)}
        return faulty.get(self.fault, (pair, pair))

    def information(self, presence: float, count: int = 0) -> float:
        return super().information(presence, count) + (0.1 if self.fault == "information" else 0.0)


@dataclass(frozen=True)
class Moving(pb.Discrete):
    """Says that it is shift-invariant, and is not."""

    shift_invariant = True

    def law(self, count: float) -> tuple[Floats, Floats]:
        share = 1 / (2 + count)
        return np.array([count, count + 1.0]), np.array([share, 1 - share])


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("sum", r"at a count of 0: the probabilities of its law sum to 0\.9, not to one"),
        ("missing", r"sums to 0\.5 .* a value is missing from outputs"),
        ("twice", r"at a count of 0: outputs lists 1 twice"),
        ("flat", r"log_likelihood of outputs \(2, 1\) and counts \(3,\) has shape \(6,\), not \(2, 3\)"),
        ("variation", r"total_variation is 0\.9, that of the likelihoods is 0\.5"),
        ("information", r"information at a presence of 0 is 0\.1, that of the likelihoods is 0"),
        ("less", r"of 0\.05 is told right with probability .* which is not between .* less and more, 1 and"),
        ("more", r"told right with probability 0\.975, .* less and more, 0\.975 and 0\.95"),
        ("halves", r"the stand-in that tells less is not two laws that sum to one"),
        ("sample", r"samples are at or below 0 in 0\.2.* of 4000 draws; the likelihood says 0\.5"),
        ("stray", r"a sample is 0\.5, which is not among the outputs"),
        ("shape", r"samples for counts of shape \(4000, 1\) have shape \(3,\)"),
    ],
)
def test_faults_are_found(fault: str, message: str) -> None:
    check_mechanism(Coin())
    with pytest.raises(pb.InputError, match=message):
        check_mechanism(Coin(fault))


def test_false_shift_invariance_is_found() -> None:
    with pytest.raises(pb.InputError, match="calls itself shift-invariant"):
        check_mechanism(Moving())
    check_mechanism(replace(Coin()), counts=[0])


class Law(pb.Discrete):
    """A law that is the same at all counts."""

    def __init__(self, values: Any, chances: Any) -> None:
        self.values, self.chances = values, chances

    def __repr__(self) -> str:
        return "Law()"

    def law(self, count: float) -> tuple[Floats, Floats]:
        return self.values, self.chances


@pytest.mark.parametrize(
    ("values", "chances", "message"),
    [
        ([0, 1], [0.5, 0.4], r"^Law\(\) at a count of 2: the probabilities of its law sum to 0\.9, not to one"),
        ([0, 1], [1.5, -0.5], r"its law has a probability of -0\.5"),
        ([0, 1], [0.5, np.nan], r"its law has a probability of nan"),
        ([0, 1], [1.0], r"its law has \(2,\) values and \(1,\) probabilities"),
        ([1, 0], [0.5, 0.5], r"not in increasing order"),
        ([np.nan, 0], [0.5, 0.5], r"not in increasing order"),
    ],
)
def test_what_is_no_law_is_refused_wherever_it_is_used(values: Any, chances: Any, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.measure(pb.line_prior(4), pb.Release([1], Law(values, chances), others=[2]))


def test_lists_are_laws_too() -> None:
    check_mechanism(Law([0, 1, np.nan], [0.5, 0.25, 0.25]))


@dataclass
class Thawed(pb.Discrete):
    """Can be changed, and so cannot be hashed."""

    share: float

    def law(self, count: float) -> tuple[Floats, Floats]:
        return np.array([count]), np.ones(1)


def test_what_cannot_be_remembered_is_refused() -> None:
    for use in (check_mechanism, lambda mechanism: pb.Release([0], mechanism)):
        with pytest.raises(pb.InputError, match=r"Thawed\(share=0\.5\) cannot be hashed.* @dataclass\(frozen=True\)"):
            use(Thawed(0.5))


def test_only_mechanisms_are_checked() -> None:
    nothing: Any = "raw"
    with pytest.raises(pb.InputError, match="'raw' is not a Mechanism"):
        check_mechanism(nothing)


@dataclass(frozen=True, repr=False)
class SaysMore(pb.Laplace):
    """Noise that says of itself what does not hold."""

    says: ClassVar[str] = "nothing"

    def pure_epsilon(self, times: float) -> float:
        return times / self.scale / (2 if self.says == "epsilon" else 1)

    def reader_error(self, off: float) -> float | None:
        return off if self.says == "error" else super().reader_error(off)

    def divided(self, size: int) -> Any:
        return pb.Laplace(self.scale) if self.says == "group" else super().divided(size)

    @property
    def raw(self) -> bool:
        return self.says == "raw"

    def tells_less_than(self, fine: pb.Mechanism) -> bool:
        return self.says != "order" and self == fine


@pytest.mark.parametrize(
    ("says", "words"),
    [("epsilon", "epsilon"), ("error", "readers"), ("group", "group"), ("raw", "raw"), ("order", "from itself")],
)
def test_what_is_said_beyond_the_laws_is_tried(says: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SaysMore, "says", says)
    with pytest.raises(pb.InputError, match=words):
        check_mechanism(SaysMore(1.0), range(2), runs=100)
