"""Places that nobody wants to be seen at, and settings that name them."""

from pathlib import Path

import pytest

from passerby.audits.question_words import sensitive_places
from passerby.audits.settings_file import as_shown, as_toml, read_settings
from passerby.audits.validation import check_settings
from passerby.errors import InputError, SettingsError

PLACES = ["park", "hospital 001", "elsewhere"]


def test_places_of_a_file_have_labels(tmp_path: Path) -> None:
    file = tmp_path / "clinics.csv"
    file.write_text("place,label\nhospital 001,a hospital\npark,\n")
    assert sensitive_places([str(file)], PLACES) == {(1,): "a hospital", (0,): None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("place\nhospitl 001\n", "line 2: 'hospitl 001' is not one of the 2 chosen places and zones (did you mean"),
        ("place,label\n,a\n", "line 2: it names no place"),
        ("place\n", "it holds no place"),
        ("name,label\npark,a\n", "place"),
        ("place,label\npark,a\npark,b\n", "has two labels"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "clinics.csv"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        sensitive_places([str(file)], PLACES)
    assert said in str(error.value)
    assert "clinics.csv" in str(error.value)


def test_a_name_that_is_none_says_what_may_be_meant() -> None:
    with pytest.raises(InputError, match=r"sensitive: 'hospital 01' is not one of .* mean 'hospital 001'"):
        sensitive_places(["hospital 01"], PLACES)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"sensitive": ["a.csv", "gate"]}, "'a.csv' is a file beside other names"),
        ({"sensitive": [" "]}, "a name is empty"),
        ({"question": ["counted", "visted:gate"]}, "question 'visted:gate' is not understood; did you mean visited?"),
        ({"together": 0}, "together = 0: it should be greater than or equal to 1"),
        ({"presence": -1}, "presence = -1: it should be greater than or equal to 0"),
        ({"presence": 0, "sensitive": "gate"}, "sensitive has no effect with presence = 0"),
    ],
)
def test_settings_that_are_wrong_are_named(values: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError) as error:
        check_settings({"visits": "v", **values})
    assert said in str(error.value)


def test_a_file_of_places_lies_beside_the_settings_and_is_not_told_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checked = check_settings({"visits": "v.csv", "sensitive": "data/clinics.csv", "question": "visited:gate"})
    assert checked.sensitive == ("data/clinics.csv",)
    assert checked.question == ("visited:gate",)
    text = as_toml(checked, Path("out"))
    assert 'sensitive = ["../data/clinics.csv"]' in text
    Path("out").mkdir()
    Path("out/audit.toml").write_text(text)
    assert check_settings(read_settings("out/audit.toml")) == checked
    assert "clinics" not in as_shown(checked, internal=False)
    assert 'sensitive = ["clinics.csv"]' in as_shown(checked, internal=True)
    named = check_settings({"visits": "v.csv", "sensitive": ["gate"]})
    assert 'sensitive = ["gate"]' in as_shown(named, internal=False)
