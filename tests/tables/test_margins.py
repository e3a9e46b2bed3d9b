"""Tables of counts with totals, as files."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import passerby as pb
from passerby.cli import main
from passerby.tables.suppress import Margins, read_margins

TABLE = "place,08:00,09:00,total\na,5,20,25\nb,40,30,70\nc,31,12,43\ntotal,76,62,138\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(TABLE)
    return path


def test_a_hidden_number_needs_three_more(file: Path) -> None:
    found = read_margins(file).concealed(10)
    assert (found.small, found.given_away) == (["a at 08:00"], ["a at 08:00"])
    assert len(found.also) == 3
    assert "a at 09:00" in found.also


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=2, max_size=3), min_size=2, max_size=3).filter(
        lambda rows: len({len(row) for row in rows}) == 1
    )
)
def test_what_is_left_gives_nothing_away(rows: list[list[int]]) -> None:
    """Each hidden cell may be another number: its row and its column hide another cell that can make up for it."""
    values = [[float(n) for n in (*row, sum(row))] for row in rows]
    values.append([sum(column) for column in zip(*values, strict=True)])
    names, columns = ([*map(str, range(n)), "total"] for n in (len(rows), len(rows[0])))
    table = Margins("", names, columns, values)
    try:
        found = table.concealed(5)
    except pb.UnsupportedRelease:
        return
    release = table.release(5)
    flat = [value if value >= 5 else math.nan for row in values for value in row]
    left = [value for row in found.published for value in row]
    also = [c for c, v, w in zip(release.listed, flat, left, strict=True) if math.isnan(w) and not math.isnan(v)]
    assert not any(cell.recovered for cell in pb.recovered(release, [flat], also=also))


def test_the_command_says_what_to_hide_and_writes_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = file.parent / "new" / "published.csv"
    assert main(["conceal", str(file), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Given away by the other numbers (1): a at 08:00" in said
    lines = out.read_text().splitlines()
    assert lines[1] == "a,,,25"
    assert lines[-1] == "total,76,62,138"
    assert main(["conceal", str(file), "--check"]) == 3
    assert main(["conceal", str(file), "--below", "3", "--check"]) == 0
    assert main(["conceal", str(file), "--out", str(out)]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line of names"),
        ("place,a\nx,4.5\n", "no count"),
        ("place,a\nx,-1\n", "no count"),
        ("place,a\nx,1,2\n", "2 numbers for 1 columns"),
        ("place,a,A\nx,1,2\n", "two columns named 'A'"),
        ("place,a,total,sum\nx,1,2,3\n", "several columns of totals"),
        ("place,total\nx,1\n", "totals alone"),
        ("place,a,b,total\nx,20,30,60\n", "no numbers of people fit"),
        ("place,a,total\nx,5,50\n", "no numbers of people fit"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(pb.InputError, match=words):
        read_margins(path).concealed(10)


def test_totals_of_a_single_part_give_it_away(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("place,a,total\nx,*,5\ny,30,30\ntotal,35,35\n")
    with pytest.raises(pb.UnsupportedRelease, match="totals of so few parts"):
        read_margins(path).concealed(10)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(pb.InputError, match="cannot be read"):
        read_margins(tmp_path / "none.csv")
