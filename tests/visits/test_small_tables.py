"""A column that is misspelled is refused in every small table: its rows would mean something else."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.audits import question_words
from passerby.people import count_rows, flow_tables, sensors
from passerby.plans import task
from passerby.visits.delimited import NOTE, Header, read_table

HEADERS = {
    "counts": count_rows.COUNTS,
    "flows": flow_tables.FLOWS,
    "profile": flow_tables.PROFILE,
    "published": count_rows.PUBLISHED,
    "schedule": sensors.SCHEDULE,
    "sensitive": question_words.HEADER,
    "weights": task.HEADER,
    "zones": sensors.HEADER,
}


def test_every_header_is_tried() -> None:
    source = Path(pb.__file__).parent
    made = [path for path in source.rglob("*.py") if " = Header(" in path.read_text(encoding="utf-8")]
    count = sum(path.read_text(encoding="utf-8").count(" = Header(") for path in made)
    assert count == len(HEADERS)


@st.composite
def misspelled(draw: st.DrawFn, word: str) -> str:
    """A word with a letter too few, too many, another one, or two in the wrong order."""
    at = draw(st.integers(0, len(word) - 1))
    letter = draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz_"))
    ways = [word[:at] + word[at + 1 :], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1 :]]
    return draw(st.sampled_from([*ways, word[:at] + word[at : at + 2][::-1] + word[at + 2 :]]))


@settings(max_examples=60)
@given(st.sampled_from(sorted(HEADERS)), st.data())
def test_misspelled_columns_are_refused(name: str, data: st.DataObject) -> None:
    header: Header = HEADERS[name]
    columns = data.draw(st.permutations(header.known))
    at = data.draw(st.integers(0, len(columns) - 1))
    wrong = data.draw(misspelled(columns[at]).filter(lambda word: word.strip() and word not in (*header.known, NOTE)))
    if data.draw(st.booleans()):
        columns.insert(at, wrong)
    else:
        columns[at] = wrong
    separator = data.draw(st.sampled_from([",", ";", "\t"]))
    shout = data.draw(st.booleans())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        names = [name.upper() if shout else name for name in columns]
        path.write_text(f"{separator.join(names)}\n{separator.join('1' for _ in names)}\n")
        with pytest.raises(pb.InputError, match=r"^.*table.csv: ") as said:
            [*read_table(path, header)[1]]
    # Where a column is missing for it, unknown names are shown only if they are like known ones.
    assert wrong in str(said.value) or "not all of these" in str(said.value)
