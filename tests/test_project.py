"""What the project says of itself is said once, or is the same everywhere."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from trust import lowest, newest

import passerby as pb

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_has_one_source() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    path = PROJECT["tool"]["hatch"]["version"]["path"]
    found = re.findall(r'^__version__ = "([\d.]+)"$', text(path), re.MULTILINE)
    assert found == [pb.__version__]
    for name in ("pyproject.toml", "docs/conf.py", "CITATION.cff"):
        assert f'"{pb.__version__}"' not in text(name), name


def test_pythons_are_the_same_everywhere() -> None:
    classified = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE)
    tried = re.search(r"python: \[(.*)\]", text(".github/workflows/tests.yml"))
    assert tried
    assert re.findall(r"3\.\d+", tried[1]) == classified
    assert PROJECT["project"]["requires-python"] == f">={classified[0]}"


def test_three_systems_are_tried() -> None:
    for system in ("ubuntu", "macos", "windows"):
        assert f"{system}-latest" in text(".github/workflows/tests.yml")


@pytest.mark.parametrize("command", re.findall(r"python -m ([\w.]+)", text(".github/workflows/tests.yml")))
def test_what_the_workflow_calls_is_there(command: str) -> None:
    known = {
        re.split(r"\W", each)[0] for group in PROJECT["project"]["optional-dependencies"].values() for each in group
    }
    paths = [ROOT / f"{command.replace('.', '/')}.py", ROOT / f"src/{command.replace('.', '/')}.py"]
    assert command in known | {"pip", "trust."} or any(path.exists() for path in paths), command


def test_both_ends_of_versions_are_about_the_same_packages() -> None:
    low = {requirement.partition("==")[0] for requirement in lowest.requirements()}
    built = {requirement.partition(">=")[0] for requirement in PROJECT["build-system"]["requires"]}
    assert set(newest.names()) == low - built


def test_links_and_pages_are_checked() -> None:
    workflow, pages = text(".github/workflows/tests.yml"), text(".readthedocs.yaml")
    assert "sphinx -W -b html docs" in workflow
    assert "-b linkcheck docs" in workflow
    assert "extra_requirements: [docs]" in pages
    assert "fail_on_warning: true" in pages


@pytest.mark.parametrize("name", ["ISSUE_TEMPLATE/defect.md", "ISSUE_TEMPLATE/wish.md", "pull_request_template.md"])
def test_templates_send_people_to_files_that_exist(name: str) -> None:
    template = text(f".github/{name}")
    spoken = re.findall(r"\b([A-Z]+\.md|(?:docs|changes)/[\w.]*)", template)
    assert spoken, name
    assert all((ROOT / path).exists() for path in spoken), name


def test_the_paper_is_cited_alike() -> None:
    for name in ("README.md", "CITATION.cff"):
        told = " ".join(text(name).split())
        assert "Measuring Privacy Loss in Distributed Spatio-Temporal Data" in told, name
        assert all(author in told for author in ("Koga", "Meehan", "Chaudhuri", "2024")), name
