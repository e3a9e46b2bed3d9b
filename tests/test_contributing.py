"""The code of CONTRIBUTING.md does what is said there."""

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passerby as pb
from passerby.questions.trace.measure import investigate
from passerby.questions.trace.methods import METHODS
from tests import events, house
from tests.joint import seen
from tests.oracle import World
from tests.strategies import chain
from tests.test_layers import LADDER

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(heading: str) -> Iterator[str]:
    """The pieces of Python below a heading."""
    part = TEXT.split(f"### {heading}\n")[1].partition("\n#")[0]
    yield from re.findall(r"^```python\n(.*?)^```", part, re.MULTILINE | re.DOTALL)


def made(*pieces: str) -> dict[str, Any]:
    """What some pieces of Python define."""
    names: dict[str, Any] = {"__name__": "contributed"}
    for piece in pieces:
        exec(compile(piece, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    return names


def test_the_picture_shows_the_ladder() -> None:
    shown = re.findall(r"^    [▲│]   (\w+)", TEXT, re.MULTILINE)
    assert shown == [*reversed(LADDER[:-1])]  # all but `__main__`


def test_the_table_is_of_today() -> None:
    assert house.written(TEXT) == TEXT, "run: python -m tests.house"


class TestBound:
    NAMES = made(*blocks("A bound or an attack"))

    def test_appears_beside_the_others(self) -> None:
        found, known = self.NAMES["found"], self.NAMES["known"]
        assert found.name == "capacity"
        assert known.bound("leakage").ceiling <= found.ceiling < 1

    @pytest.mark.parametrize("misses", [0, 1])
    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Geometric(2.0), pb.RandomRounding(3)])
    def test_is_above_what_the_best_guess_achieves(self, mechanism: pb.Mechanism, misses: int) -> None:
        prior = chain(4, 3, 3, "started")
        release = pb.Release([0, [1, 2], []], mechanism, [1, [0, 2], []])
        question = replace(self.NAMES["goal"], prior=prior, release=release, misses=misses)
        known, refused = investigate(question, (*METHODS, self.NAMES["CAPACITY"]))
        bound = known.bound("capacity")
        assert bound is not None
        assert "capacity" not in refused
        world = World(prior, 3)
        truth = world.optimum(world.likelihoods(release), misses)
        factor = np.prod([1 + mechanism.total_variation(count) for count in (1, 0, 2)])
        assert truth <= bound.ceiling * (1 + 1e-12)
        assert bound.ceiling == pytest.approx(min(1.0, factor * known.baseline.ceiling))

    def test_is_refused_for_one_published_series(self) -> None:
        question = replace(self.NAMES["goal"], release=pb.Release([3, 7, 5]), published=((0,), (0,), (0,)))
        assert "one series" in self.NAMES["CAPACITY"].refuses(question)


class TestMechanism:
    CODE, LINE = blocks("A mechanism")

    def test_keeps_its_promises(self) -> None:
        mixup = made(self.CODE)["Mixup"]
        pb.check_mechanism(mixup(0.1))
        assert [mixup(0.1).total_variation(others) for others in (0, 5)] == pytest.approx([0.9, 0.9])
        with pytest.raises(pb.InputError, match="share must be above 0"):
            mixup(0.0)

    def test_is_told_in_words_by_its_line(self) -> None:
        names = {**made(self.CODE), "Entry": import_module("passerby.mechanisms.registry").Entry}
        entry = eval(self.LINE, names)
        assert entry.describe(names["Mixup"](0.1)) == "counts, of which a share of 0.1 is one too many or too few"
        assert entry.notation == "Mixup"


class TestSection:
    def test_appears_on_the_page(self, monkeypatch: pytest.MonkeyPatch) -> None:
        page: Any = import_module("passerby.report.page")
        evidence: Any = import_module("tests.report.small_report").small_evidence()
        section = made(*blocks("A section of the report"))["SECTION"]
        monkeypatch.setattr(page, "SECTIONS", (*page.SECTIONS, section))
        text = page.fill(evidence, page.built(evidence))
        assert section.title in text
        assert f"A loss was measured for {evidence.known.height} people." in text
        assert 'download="measured.csv"' in text
        few = replace(evidence, table=evidence.table.head(4))
        assert section.missing(evidence) is None
        assert "fewer than" in section.missing(few)


class TestQuestion:
    NAMES = made(*blocks("A question"))

    @pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Geometric(2.0), pb.Rounding(2)])
    def test_is_answered_as_well_as_enumeration_finds(self, mechanism: pb.Mechanism) -> None:
        prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
        release = pb.Release([0, 1, 0], mechanism, [1, 0, 2])
        question: Any = self.NAMES["Returned"](0, 2)
        found, counted = pb.measure(prior, release, [question, pb.InData()], tolerance=0.0)
        world = World(prior, 3)
        same = world.traces[:, 0] == world.traces[:, 2]
        channel = events.channel(release, seen(release, world.traces))
        yes, no = (channel @ (world.chance * side / (world.chance @ side)) for side in (same, ~same))
        want = float(np.abs(yes - no).sum()) / 2
        assert (found.advantage.lower, found.advantage.upper) == pytest.approx((want, want), abs=1e-9)
        assert found.event.lower == pytest.approx(world.chance @ same)
        assert counted.advantage.lower > 0

    def test_refuses_steps_in_another_order(self) -> None:
        with pytest.raises(pb.InputError, match="the earlier one first"):
            pb.measure(pb.line_prior(3), pb.Release([0, 1]), self.NAMES["Returned"](1, 0))
