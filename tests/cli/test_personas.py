"""`passerby personas`: lists, shows and writes."""

from pathlib import Path

from tests.cli.small_audit import Call

import passerby as pb


def test_all_are_listed(typed: Call) -> None:
    done = typed("personas")
    assert done.returncode == 0
    for persona in pb.read_personas("ready"):
        assert persona.name in done.stdout


def test_one_is_shown_with_its_week(typed: Call) -> None:
    done = typed("personas", "show", "nurse")
    assert '["Mon-Fri 06:00-14:00", "clinic", 0.6]' in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("clinic "))
    assert "21 %" in line
    assert "pupil" not in done.stdout


def test_what_is_written_is_read_again(typed: Call) -> None:
    assert typed("personas", "nurse", "pupil", "--write", "all/family.toml").returncode == 0
    again = pb.read_personas(Path("all/family.toml"))
    assert [persona.shares for persona in again] == [pb.read_personas(x)[0].shares for x in ("nurse", "pupil")]
    done = typed("personas", "--write", "all/family.toml")
    assert (done.returncode, "exists; choose another name, or --overwrite" in done.stderr) == (2, True)
    assert typed("personas", "--write", "all/family.toml", "--overwrite").returncode == 0
    assert len(pb.read_personas("all/family.toml")) == 13


def test_a_wrong_name_is_refused(typed: Call) -> None:
    done = typed("personas", "show", "nurs")
    assert (done.returncode, "did you mean nurse" in done.stderr) == (2, True)
    assert typed("personas", "show", "nurse", "--write", "x.toml").returncode == 2
