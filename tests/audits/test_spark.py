"""The recipe for Spark, as it stands in the documentation, gives the rows of the audit."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import passerby as pb
from passerby.visits import write_city

RECIPE = Path(__file__).parents[2] / "docs" / "engines.md"


def recipe() -> str:
    found = re.search(r"```python\n(.*?mapInArrow.*?)```", RECIPE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_the_recipe_is_short_and_calls_what_exists() -> None:
    code = recipe()
    compile(code, "recipe", "exec")
    assert len(code.splitlines()) <= 30
    assert {name for name in re.findall(r"\bpb\.(\w+)", code) if not hasattr(pb, name)} == set()


@pytest.mark.filterwarnings("ignore")  # Spark warns of versions of other packages
def test_the_recipe_gives_the_rows_of_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark pyarrow")
    pytest.importorskip("pyarrow", reason="Spark needs pyarrow to hand tables over")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime, which is not here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # the one that has passerby, not the first on the path
    write_city(tmp_path / "visits", 60, 30, 14, seen=0.3)
    # All are drawn, and few partitions made, so that the rows can be compared.
    code = recipe().replace("% 100 = 0", "% 1 = 0").replace("repartition(1000", "repartition(3")
    names: dict[str, Any] = {}
    exec(compile(code, "recipe", "exec"), names)
    names["spark"].stop()
    found = pl.read_parquet(tmp_path / "people" / "*.parquet").sort("person")
    whole = pb.audit(names["like"], names["release"], 1, workers=1).sort("person")
    assert found.select(whole.columns).equals(whole.with_columns(person=whole["person"].cast(found.schema["person"])))
