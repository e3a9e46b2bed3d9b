"""Files tell one story, and functions fit on a screen."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tests import house
from tests.house import SOURCE

SCREEN = 60

#: No import path is longer: this number only goes down, to 20.
LONGEST_PATH = 39
#: A module with a single importer is longer, or an entry of a registry.
ALONE = 120
#: Packages that are registries: `__init__` lists the entries, one a module.
REGISTRIES = ("passerby.cli", "passerby.questions.trace.methods", "passerby.plans.levers", "passerby.report.sections")
#: Short modules with a single importer. This list only shrinks: each belongs into its importer.
LONELY = {
    "passerby.cli.demo_clinic",
    "passerby.questions.trace.covariance",
    "passerby.report.plan_presence",
}

#: Names that several modules give to a public class. This list only shrinks.
NAMESAKES = {
    "About",
    "Above",
    "Chain",
    "Choice",
    "Effort",
    "Ends",
    "Evidence",
    "Finding",
    "Group",
    "Look",
    "Looked",
    "Options",
    "Present",
    "Record",
    "Report",
    "Room",
    "Rows",
    "Table",
    "Tables",
    "Tally",
    "Watch",
}

#: Modules in cycles of imports, which imports inside functions hide. This list only shrinks.
CYCLES = {
    "passerby.model.count_release",
    "passerby.model.adaptive",
    "passerby.model.release",
}

#: Where the misses of the question of the trace are at home: the question, kernels and the setting.
HOME = ("passerby.questions.trace", "passerby.kernels", "passerby.audits.settings")
#: Modules elsewhere that name them all the same. This list only shrinks: they hold for one question of several.
NAME_MISSES = {
    "passerby.audits.adversaries",
    "passerby.audits.alerts",
    "passerby.audits.asking",
    "passerby.audits.attacks",
    "passerby.audits.audit",
    "passerby.audits.backtest",
    "passerby.audits.calibration",
    "passerby.audits.disclosure",
    "passerby.audits.estimate",
    "passerby.audits.flows",
    "passerby.audits.inputs",
    "passerby.audits.job",
    "passerby.audits.person",
    "passerby.audits.presence",
    "passerby.audits.question_rows",
    "passerby.audits.question_words",
    "passerby.audits.record",
    "passerby.audits.setting_rules",
    "passerby.audits.summary",
    "passerby.audits.together",
    "passerby.audits.validation",
    "passerby.audits.what_if",
    "passerby.cli.audit",
    "passerby.cli.demo",
    "passerby.cli.flows",
    "passerby.cli.line",
    "passerby.cli.plan",
    "passerby.cli.run",
    "passerby.cli.together",
    "passerby.model.forms",
    "passerby.model.release",
    "passerby.outcomes.series",
    "passerby.plans.plan",
    "passerby.plans.record",
    "passerby.questions.measure",
    "passerby.questions.profiles",
    "passerby.report.facts",
    "passerby.report.plan_page",
    "passerby.report.sections.backtest",
    "passerby.report.sections.exposure",
    "passerby.report.together_page",
    "passerby.report.words",
    "passerby.runs.audit",
    "passerby.runs.notebook",
    "passerby.runs.together",
}

#: Functions that are tables: a command's parameters are its options, one a line with its words.
TABLES = {
    "passerby/cli/demo.py: demo",
    "passerby/cli/flows.py: flows",
    "passerby/cli/plan.py: next_table",
    "passerby/cli/plan.py: plan",
    "passerby/cli/reproduce.py: reproduce",
}


def sources() -> list[Path]:
    return [path for name in ("passerby", "passerby_paper") for path in sorted((SOURCE / name).rglob("*.py"))]


def long_functions(path: Path) -> Iterator[str]:
    """The functions and methods of a file that do not fit on a screen, without their decorators."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if length > SCREEN:
                yield f"{path.relative_to(SOURCE).as_posix()}: {node.name}"


def test_functions_fit_on_a_screen() -> None:
    assert {name for path in sources() for name in long_functions(path)} == TABLES


def test_a_function_of_one_line_too_many_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_sizes.SOURCE", tmp_path)
    path = tmp_path / "some.py"
    for lines, found in ((SCREEN, []), (SCREEN + 1, ["some.py: f"])):
        path.write_text("@d\ndef f():\n" + "    x = 1\n" * (lines - 1))
        assert list(long_functions(path)) == found


def test_files_are_no_longer_than_can_be_read() -> None:
    assert max(len(path.read_text(encoding="utf-8").splitlines()) for path in sources()) <= 400


def test_misses_are_named_at_home_alone() -> None:
    named = set()
    for path in sorted((SOURCE / "passerby").rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        if not module.startswith(HOME) and re.search(r"\bmisses\b", path.read_text(encoding="utf-8")):
            named.add(module)
    assert named == NAME_MISSES


def test_no_import_path_is_longer() -> None:
    path = house.longest_path(house.graph(deep=False))
    assert len(path) <= LONGEST_PATH, " > ".join(path)


def listed(name: str, imports: house.Graph) -> bool:
    """Whether a module is an entry of a registry."""
    package = name.rpartition(".")[0]
    return package in REGISTRIES and name in imports[package]


def test_a_short_module_has_several_importers() -> None:
    imports = house.graph(deep=True)
    found = {name for name in house.lonely(imports, ALONE) if not listed(name, imports)}
    assert found - LONELY == set()


def test_public_classes_have_names_of_their_own() -> None:
    assert house.namesakes() - NAMESAKES == set()


def test_no_import_inside_a_function_hides_a_cycle() -> None:
    assert house.cycles(house.graph(deep=False)) == set()
    assert house.cycles(house.graph(deep=True)) - CYCLES == set()


class TestHouse:
    """The figures themselves, of a small house."""

    FILES: ClassVar = {
        "__init__": "from .top import A",
        "top": "from .middle import low\nfrom passerby.low import B\nclass A: ...",
        "middle/__init__": "from passerby import low",
        "low": "def f():\n    from . import top\nclass B: ...",
        "other": "class B: ...\nclass _A: ...",
    }

    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        for name, text in self.FILES.items():
            path = tmp_path / "passerby" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    def test_the_longest_path_is_by_imports_at_the_top(self, source: Path) -> None:
        assert house.longest_path(house.graph(False, source)) == [f"passerby.{x}" for x in ("top", "middle", "low")]

    def test_cycles_are_found_inside_functions(self, source: Path) -> None:
        assert house.cycles(house.graph(False, source)) == set()
        assert house.cycles(house.graph(True, source)) == {f"passerby.{x}" for x in ("top", "middle", "low")}

    def test_importers_are_counted(self, source: Path) -> None:
        assert house.lonely(house.graph(True, source), 5, source) == {"passerby.top"}
        assert house.lonely(house.graph(True, source), 2, source) == set()

    def test_namesakes_are_public(self, source: Path) -> None:
        assert house.namesakes(source) == {"B"}
