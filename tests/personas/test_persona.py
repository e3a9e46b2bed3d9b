"""A persona spends the time where its file says: by an exact recursion, by simulation, and by a slow clock."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import passerby as pb
from passerby.personas.persona import ready_texts, transitions
from passerby.personas.week import DAYS, WEEK, Calendar, Habit, chances

WORKS = ["Mon-Fri 07:00-15:00", "clinic", 0.9]
FILE = """
[nurse]
weight = 1200
home = "home-area 001"
week = [ ["Mon-Fri 07:00-15:00", "clinic", 0.9], ["Sat-Sun 10:00-13:00", "market 01", 0.4] ]
else = { "home" = 0.85, "park 01" = 0.1, "*" = 0.05 }
stays = 0.7
"""


def by_the_minute(persona: pb.Persona, begin: datetime, end: datetime, timezone: str) -> NDArray[np.float64]:
    """The chances of each place, minute by minute by the clock on the wall."""
    total, minutes = np.zeros(len(persona.places)), 0
    while begin < end:
        clock = begin.astimezone(ZoneInfo(timezone))
        law = dict.fromkeys(persona.places, 0.0)
        for entry in persona.week:
            for back in (0, 1):
                minute = clock.hour * 60 + clock.minute + 1440 * back
                if (clock.weekday() - back) % 7 in entry.days and entry.begin <= minute < entry.end:
                    law[persona.place_of(entry.place)] += entry.chance
        left = 1 - sum(law.values())
        for role, chance in persona.otherwise.items():
            law[persona.place_of(role)] += left * chance
        total += [law[place] for place in persona.places]
        begin, minutes = begin + timedelta(minutes=1), minutes + 1
    return np.asarray(total / minutes)


@st.composite
def personas(draw: st.DrawFn) -> pb.Persona:
    """Somebody with any week that does not contradict itself."""
    week = []
    for place in draw(st.lists(st.sampled_from("abc*"), max_size=3)):
        days = draw(st.sampled_from(["", "Mon", "Sat,Sun", "Fri-Mon", "Sun", "Wed-Thu"]))
        first, last = (draw(st.integers(0, 95)) * 15 for _ in range(2))
        hours = f"{first // 60:02}:{first % 60:02}-{last // 60:02}:{last % 60:02}" if first != last else ""
        week.append([f"{days} {hours}".strip() or "Mon", place, draw(st.sampled_from([0.01, 0.2, 1 / 3]))])
    rest = draw(st.sampled_from([{"home": 1.0}, {"home": 0.5, "*": 0.5}, {"a": 0.3, "home": 0.7}]))
    return pb.Persona("ann", week, rest, stays=draw(st.sampled_from([0.0, 0.3, 0.9, 1.0])))


@settings(max_examples=60, deadline=None)
@given(personas(), st.sampled_from([15, 45, 60, 360, 1440]), st.integers(1, 60), st.sampled_from([0, 86, 300]))
def test_the_chain_has_the_chances_of_the_week(persona: pb.Persona, minutes: int, steps: int, day: int) -> None:
    """Around the days on which clocks are changed, too; the oracle goes by the minute, and knows no matrices."""
    zone = "Europe/Berlin"
    start = datetime(2024, 1, 3 if day != 86 else 5, tzinfo=ZoneInfo(zone)) + timedelta(days=day, hours=1)
    prior = persona.prior(start, timedelta(minutes=minutes), steps, zone)
    law = prior.marginals(steps)
    for t in (0, steps // 2, steps - 1):
        if minutes == 1440:
            begin, end = ((start + timedelta(days=t + k)).astimezone(UTC) for k in (0, 1))
        else:
            begin, end = (start.astimezone(UTC) + timedelta(minutes=minutes * (t + k)) for k in (0, 1))
        np.testing.assert_allclose(law[t], by_the_minute(persona, begin, end, zone), rtol=1e-9, atol=1e-12)


def test_traces_spend_the_time_where_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "nurse.toml").write_text(FILE)
    (nurse,) = pb.read_personas(tmp_path / "nurse.toml")
    assert nurse.places == ("clinic", "market 01", "home-area 001", "park 01", "elsewhere")
    assert nurse.weight == 1200
    prior = nurse.prior("2024-01-15", "1h", 168)
    traces = prior.sample(4000, 168, np.random.default_rng(0))
    on_shift = [24 * day + hour for day in range(5) for hour in range(7, 15)]
    assert (traces[:, on_shift] == 0).mean() == pytest.approx(0.9, abs=0.005)
    assert (traces[:, [30 + 90, 11 + 120]] == 1).mean() == pytest.approx(0.2, abs=0.02)  # night, and Saturday at eleven
    rest = [t for t in range(168) if t not in on_shift and t // 24 < 5]
    assert (traces[:, rest] == 2).mean() == pytest.approx(0.85, abs=0.005)
    shares = np.bincount(traces.ravel(), minlength=5) / traces.size
    np.testing.assert_allclose(shares, list(nurse.shares.values()), atol=0.004)


def test_stays_is_how_likely_somebody_keeps_their_place_in_an_hour() -> None:
    """Within hours of the same chances: kept with `stays`, or chosen afresh; steps of half an hour make up one hour."""
    nurse = pb.Persona("nurse", [WORKS], {"home": 1.0}, stays=0.7)
    hour = nurse.prior("2024-01-15", "1h", 24).matrix(9)
    np.testing.assert_allclose(hour, 0.7 * np.eye(2) + 0.3 * np.array([0.9, 0.1]), rtol=1e-12)
    half = nurse.prior("2024-01-15", "30m", 48).matrix(18)
    np.testing.assert_allclose(half @ half, hour, rtol=1e-12)


def test_who_stays_for_certain_moves_when_the_week_says_so_alone() -> None:
    prior = pb.Persona("nurse", [WORKS], {"home": 1.0}, stays=1.0).prior("2024-01-15", "1h", 24)
    traces = prior.sample(500, 24, np.random.default_rng(1))
    assert (np.diff(traces, axis=1) != 0).sum(axis=1).max() == 2


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 10**6), st.floats(0, 1))
def test_any_marginals_are_kept(places: int, steps: int, seed: int, stays: float) -> None:
    rng = np.random.default_rng(seed)
    law = rng.random((steps, places)) ** 8 * (rng.random((steps, places)) < 0.7)
    law[:, 0] += 1e-300
    law /= law.sum(axis=1, keepdims=True)
    moves = transitions(law, np.full(steps - 1, stays))
    np.testing.assert_allclose(moves.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_allclose(np.einsum("tx,txy->ty", law[:-1], moves), law[1:], rtol=1e-12, atol=1e-15)
    staying = np.einsum("tx,txx->t", law[:-1], moves)
    # No chain with these marginals stays with more than their overlap.
    most = np.minimum(law[:-1], law[1:]).sum(axis=1)
    assert (staying <= most * (1 + 1e-12)).all()
    assert (staying >= stays * most * (1 - 1e-12)).all()


def test_a_night_belongs_to_the_day_on_which_it_begins() -> None:
    entry = Habit.read(["Sun 22:00-06:00", "site", 0.5], "week")
    hours = np.flatnonzero(entry.minutes.reshape(-1, 60).all(axis=1)).tolist()
    assert hours == [*range(6), 166, 167]


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("Mon-Fri", [0, 1, 2, 3, 4]),
        ("Sat,Sun", [5, 6]),
        ("Sat-Mon", [0, 5, 6]),
        ("monday, Wed–Thursday", [0, 2, 3]),
        ("daily", [*range(7)]),
        ("", [*range(7)]),
    ],
)
def test_days_in_words(words: str, days: list[int]) -> None:
    assert list(Habit.read([f"{words} 08:00-09:00", "a", 1.0], "week").days) == days


def test_the_day_on_which_clocks_go_forward_has_an_hour_less() -> None:
    steps = Calendar.regular(datetime(2024, 3, 30, 23, tzinfo=UTC), timedelta(days=1), 2, "Europe/Berlin")
    assert (steps.ends - steps.begins).tolist() == [23 * 60, 24 * 60]
    minutely = np.zeros((WEEK, 2))
    minutely[:, 0] = 1.0
    minutely[6 * 1440 + 2 * 60 : 6 * 1440 + 3 * 60] = 0.0, 1.0  # the hour that is left out
    assert steps.average(minutely)[:, 1].tolist() == [0.0, 0.0]


def test_roles_are_bound_to_places() -> None:
    (nurse,) = pb.read_personas("nurse")
    bound = nurse.bound({"clinic": "hospital 001", "home": "hospital 001", "park": "*"})
    assert bound.places == ("hospital 001", "market", "elsewhere")
    both = nurse.shares
    assert bound.shares["hospital 001"] == pytest.approx(both["clinic"] + both["home"], rel=1e-12)
    assert bound.shares["elsewhere"] == pytest.approx(both["park"] + both["elsewhere"], rel=1e-12)


def test_a_dozen_come_along() -> None:
    ready = pb.read_personas("ready")
    assert [persona.name for persona in ready] == [*ready_texts()]
    assert len(ready) == 13
    for persona in ready:
        law = persona.prior("2024-01-15", "15m", 200, "Europe/Berlin").marginals(200)
        np.testing.assert_allclose(law.sum(axis=1), 1, rtol=1e-9)
        assert persona.about
        assert sum(persona.shares.values()) == pytest.approx(1)


def test_one_step_is_enough() -> None:
    prior = pb.read_personas("dialysis")[0].prior("2024-01-15T08:00", "1h", 1)
    assert prior.marginals(1)[0, 0] == pytest.approx(0.96)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it has no personas"),
        ("x = 1", "'x' belongs to no persona"),
        ("[a", "it is no TOML"),
        ("[a]\nstay = 1", "a: it has no 'stay' (did you mean stays?)"),
        ("[a]\nweight = 0", "a: weight is 0; expected how many people are like this, a number above 0"),
        ("[a]\nweight = nan", "weight is nan"),
        ("[a]\nstays = 1.5", "stays is 1.5; expected a number from 0 to 1"),
        ('[a]\nelse = {"home" = 0.5}', "the chances add up to 0.5, not to 1"),
        ('[a]\nelse = {"*" = 1}', "nowhere but at '*'"),
        ('[a]\nweek = [["Mon", "b", 0.7], ["Mon 08:00-09:00", "c", 0.4]]', "on Mon at 08:00 the chances of 'b' and"),
        ('[a]\nweek = [["Mon", "b", 1.7]]', "the chance of 'b' is 1.7"),
        ('[a]\nweek = [["Mon", "b", 0]]', "the chance of 'b' is 0; expected a number above 0"),
        ('[a]\nweek = [["Mon", "b"]]', "entry 1: expected [when, where, how likely]"),
        ('[a]\nweek = [["Moonday", "b", 1]]', "'Moonday' is no day"),
        ('[a]\nweek = [["Mon 08:00-08:00", "b", 1]]', "has no length"),
        ('[a]\nweek = [["Mon 08:00-25:00", "b", 1]]', "'25:00' is no time of day"),
        ('[a]\nweek = [["2024-01-15", "b", 1]]', "says no time"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "family.toml"
    file.write_text(text)
    with pytest.raises(pb.InputError) as error:
        pb.read_personas(file)
    assert said in str(error.value)
    assert str(file) in str(error.value)


def test_a_name_that_nobody_has_is_refused() -> None:
    with pytest.raises(pb.InputError, match="did you mean nurse"):
        pb.read_personas("nurs")
    with pytest.raises(pb.InputError, match="no role 'clinc'; it has clinic, market, home, park"):
        pb.read_personas("nurse")[0].bound({"clinc": "hospital"})


def test_chances_of_a_minute_sum_to_one() -> None:
    week = [Habit.read([f"{day} 08:00-10:00", "a", 1 / 3], "") for day in DAYS] * 3
    assert chances(week, {"b": 1.0}, ["a", "b"], "ann")[500].tolist() == pytest.approx([1.0, 0.0])
