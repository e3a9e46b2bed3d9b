"""The commands of the README and of the documentation run as they stand."""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

import passerby as pb
from tests.cli.test_main import run

ROOT = Path(__file__).parents[1]


def commands(name: str) -> list[list[str]]:
    """The lines of a document's blocks that call passerby, as arguments."""
    blocks = re.findall(r"```(?:console|sh|bash)?\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("passerby ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def lighter(arguments: list[str]) -> list[str]:
    """The same with less to do."""
    if arguments[0] == "audit" and "--dry-run" not in arguments:
        light = {"--sample": "6", "--explore": "0", "--workers": "1", "--budget": "1e7"}
        return [*arguments, *(word for pair in light.items() if pair[0] not in arguments for word in pair)]
    if arguments[0] == "simulate":
        return [*arguments, "--people", "40"] if "--people" not in arguments else arguments
    if arguments[0] == "demo":
        return [*arguments, "--people", "40", "--places", "30", "--days", "4", "--audited", "2", "--tried", "0"]
    return arguments


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_commands_run(name: str, tmp_path: Path) -> None:
    found = commands(name)
    assert found
    for arguments in found:
        done = run(*lighter(arguments), cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr)


def test_commands_on_own_data_run(tmp_path: Path) -> None:
    city = pb.simulate_city(40, 20, 3)
    names = city.places.gather(city.table["place"])
    first, second = names.value_counts(sort=True)["place"].head(2)
    names = names.replace({first: "north gate", second: "south gate"})
    table = pl.DataFrame({"card": city.table["person"], "tapped_at": city.table["time"], "stop": names})
    table.write_csv(tmp_path / "visits.csv")
    toml = re.search(r"```toml\n(.*?)```", (ROOT / "docs/own_data.md").read_text(encoding="utf-8"), re.DOTALL)
    assert toml
    columns = 'person = "card"\ntime = "tapped_at"\nplace = "stop"\n'
    (tmp_path / "audit.toml").write_text(toml[1].replace('out = "audit"', 'out = "other"') + columns)
    (tmp_path / "counts.csv").write_text("step,place,count\n1,north gate,3\n")
    for arguments in commands("docs/own_data.md"):
        more = [] if "--settings" in arguments or "--person" in arguments else ["--person", "card"]
        more += [] if "--settings" in arguments or "--time" in arguments else ["--time", "tapped_at", "--place", "stop"]
        done = run(*lighter(arguments), *more, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr)
