"""Presence at counted places: against enumeration, closed forms and laws, for both adversaries."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr, ndtri
from tests.report.answers import at_place

import passerby as pb
from passerby.audits import presence_tests
from passerby.audits.everyone import Everybody
from passerby.audits.job import Job, only
from passerby.audits.presence import Chosen, Presence, Watched, person_of, presence, work_of
from passerby.audits.presence_all import no_less, presence_of_all
from passerby.audits.presence_crowd import Table, block_numbers, habitual
from passerby.audits.presence_habits import Beside, Person, row_of, rows_of_places, single_counts_of
from passerby.audits.presence_summary import NOISE, RULES, _both, about_presence
from passerby.audits.presence_tests import measures, shifted
from passerby.audits.question_words import places_by_name
from passerby.audits.record import Bracket, HourAnswer, WayAnswer, WeekAnswer
from passerby.audits.settings import Measurement
from passerby.errors import InputError
from passerby.others.by_habits import everyone_else
from passerby.others.numbers import poisson_binomial
from passerby.questions.laws import Law
from passerby.support.blocks import Team

T = 4
#: One person, who is asked about the first place.
ONE = Chosen(np.array([0]), ((0,),))
ENDS = ("advantage", "power", "certain", "absent")


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(pb.simulate_city(90, 20, 4, seed=5), window="3h", places=19, min_active=2, holdout=T)


def test_laws_without_a_person_are_those_of_the_rest() -> None:
    chances = np.random.default_rng(0).random((30, 6))
    chances[0, :4] = 1.0, 0.0, 0.5, 0.001
    table = Table.of([poisson_binomial(column) for column in chances.T])
    rest = table.without(chances[0])
    for cell, column in enumerate(chances.T):
        least, law = rest.at(cell)
        right = poisson_binomial(column[1:])
        both = np.zeros((2, 40))
        both[0, least : least + len(law)], both[1, right[0] : right[0] + len(right[1])] = law, right[1]
        assert both[0] == pytest.approx(both[1], abs=1e-12)


def test_others_are_those_of_a_crowd(people: pb.People) -> None:
    """By habits, numbers of others have the laws that audits of a crowd have."""
    release = pb.Release([[0, 2, 5]] * T)
    others = everyone_else(people, release.with_others(pb.Crowd()))
    assert others is not None
    numbers = block_numbers(release, people)
    for person in (0, 11):
        mine = next(habitual(people, release, [person]))
        crowd = others.besides(person, release).given  # type: ignore[union-attr]
        beside = Beside.of(numbers, people.counts[:T][:, [0, 2, 5]].reshape(-1), mine)
        assert crowd is not None
        for cell, (least, law) in enumerate(law for step in crowd for law in step):
            own_least, own = beside.habits.at(cell)
            assert own_least + beside.rest[cell] == least
            assert own == pytest.approx(law, abs=1e-9)
        assert (beside.known >= 0).all()


def test_a_single_raw_count_tells_as_much_as_the_largest_chance_of_a_number() -> None:
    """Section 22: the one count of the only place of an event, exactly `max_k Pr[K = k]`."""
    chances = np.array([0.3, 0.6, 0.2, 0.9, 0.5])
    prior = pb.MarkovPrior([0.25, 0.75], [[1.0, 0.0], [0.0, 1.0]])
    table = Table.of([poisson_binomial(chances)])
    beside = Beside(table, table, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    person = Person(prior, pb.Release([0]), beside, 2000, 0.99)
    exact = float(poisson_binomial(chances)[1].max())
    assert measures(single_counts_of(person, (0,), 0.25), 1 / 3)[0] == pytest.approx(exact)
    (row,) = rows_of_places(person, [(0,)], np.random.default_rng(0))
    assert row["chance"] == pytest.approx(0.25)
    assert row["advantage_lower"] == pytest.approx(exact)
    assert exact <= row["advantage_upper"] < exact + 0.06
    power = shifted(table, 0, 1.0, 1).power(0.01)
    assert row["power_lower"] <= power + 1e-9 <= row["power_upper"] + 1e-9


def one_count(away: float) -> tuple[Person, pb.MarkovPrior, np.ndarray]:
    """A person who stays where they are, at the only counted place or not, beside five others known by habits."""
    chances = np.array([0.3, 0.6, 0.2, 0.9, 0.5])
    prior = pb.MarkovPrior([1 - away, away], np.eye(2))
    law = poisson_binomial(chances)
    table, nobody = Table.of([law]), np.zeros(1, dtype=np.int64)
    absent = np.zeros(8)
    absent[law[0] : law[0] + len(law[1])] = law[1]
    return Person(prior, pb.Release([0]), Beside(table, table, nobody, nobody), 2000, 0.99), prior, absent


@pytest.mark.parametrize(("zone", "share"), [((0,), 1.0), (None, 0.25)])
def test_weeks_hold_the_truth_by_enumeration(zone: tuple[int, ...] | None, share: float) -> None:
    person, _, absent = one_count(0.75)
    present = share * np.roll(absent, 1) + (1 - share) * absent
    rng = np.random.default_rng(1)
    row = row_of(person, person.drawn(rng), zone, rng)
    yes, no = present, absent
    for _ in range(3):
        yes, no = np.multiply.outer(yes, present).ravel(), np.multiply.outer(no, absent).ravel()
    for number, (one, other) in enumerate([(present, absent), (yes, no)]):
        exact = float(np.maximum(one - other, 0).sum())
        assert row["weeks_lower"][number] <= exact + 1e-9
        assert exact <= row["weeks_upper"][number] + 1e-9
    for side in ("weeks_lower", "weeks_upper"):
        assert row[side] == sorted(row[side])
    assert (row["year_lower"], row["year_upper"]) == (row["weeks_lower"][-1], row["weeks_upper"][-1])


def truth(prior: pb.MarkovPrior, others: list[pb.MarkovPrior], place: int, steps: int) -> tuple[float, float]:
    """The advantage, and the power at 1 %, of raw counts of one place by enumeration of everybody's traces."""

    def law_of(person: pb.MarkovPrior, held: bool | None) -> dict[tuple[int, ...], float]:
        out: dict[tuple[int, ...], float] = {}
        for trace in np.ndindex(*[person.places] * steps):
            p = float(person.initial[trace[0]])
            for t in range(1, steps):
                p *= float(person.matrix(t - 1)[trace[t - 1], trace[t]])
            bits = tuple(int(x == place) for x in trace)
            if held is None or any(bits) == held:
                out[bits] = out.get(bits, 0.0) + p
        total = sum(out.values())
        return {bits: p / total for bits, p in out.items()}

    sides = []
    for held in (True, False):
        sums = law_of(prior, held)
        for other in others:
            more: dict[tuple[int, ...], float] = {}
            for a, p in sums.items():
                for b, q in law_of(other, None).items():
                    key = tuple(x + y for x, y in zip(a, b, strict=True))
                    more[key] = more.get(key, 0.0) + p * q
            sums = more
        sides.append(sums)
    keys = {*sides[0], *sides[1]}
    law = Law(*(np.array([side.get(key, 0.0) for key in keys]) for side in sides))
    return law.advantage, law.power(0.01)


def test_both_ends_hold_for_the_true_law_of_others() -> None:
    """What is told is drawn anew in each case, so that the mean upper end is above the truth, and lower ends below."""
    rng = np.random.default_rng(3)
    prior = pb.MarkovPrior([0.3, 0.7], [[0.6, 0.4], [0.2, 0.8]])
    others = [pb.MarkovPrior([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]]) for _ in range(4)]
    exact, upper, lower = truth(prior, others, 0, 3), [], []
    laws = [poisson_binomial([float(other.marginals(3)[t, 0]) for other in others]) for t in range(3)]
    for _ in range(30):
        left, known = np.zeros((4, 3)), np.zeros(3, dtype=np.int64)
        for i, other in enumerate(others):
            trace = other.sample(1, 3, rng)[0]
            move = other.matrix(0)
            for t in range(3):
                if t % 2 == i % 2:
                    known[t] += trace[t] == 0
                    continue
                towards = other.initial if t == 0 else move[trace[t - 1]]
                both = towards if t == 2 else towards * move[:, trace[t + 1]]
                left[i, t] = both[0] / both.sum()
        told = Table.of([poisson_binomial(column) for column in left.T])
        person = Person(
            prior, pb.Release([0] * 3), Beside(Table.of(laws), told, np.zeros(3, dtype=np.int64), known), 700, 0.99
        )
        (row,) = rows_of_places(person, [(0,)], rng)
        upper.append([row["advantage_upper"], row["power_upper"]])
        lower.append([row["advantage_lower"], row["power_lower"]])
    assert (np.mean(lower, axis=0) <= np.array(exact) + 0.02).all()
    assert (np.mean(upper, axis=0) >= exact).all()
    assert max(law[1].max() for law in laws) * 0.3 < np.mean(lower, axis=0)[0]


def test_tests_that_draws_choose_hold_what_they_say() -> None:
    """Normal scores, of which all is known: at most one of 300 ends is above the truth, and they are near it."""
    rng, apart = np.random.default_rng(1), 2.0
    exact = 2 * ndtr(apart / 2) - 1, float(ndtr(apart + ndtri(0.01)))
    sides = ((400, 1000), (1200, 3000))
    tests = []
    for _ in range(300):
        choosing, scoring = ([rng.normal(apart, 1, yes), rng.normal(0, 1, no)] for yes, no in sides)
        tests.append(presence_tests.tested(choosing, scoring, 0.99, math.log(1 / 9)))
    found = [(each.advantage, each.power) for each in tests]
    for most, values in zip(exact, zip(*found, strict=True), strict=True):
        assert np.sum(np.array(values) > most) <= 6
        assert np.mean(values) > 0.5 * most
    nothing = [np.zeros(9), np.zeros(9)]
    assert presence_tests.tested(nothing, nothing, 0.99, 0.0).advantage == 0


def test_tests_find_most_of_what_can_be_found(people: pb.People) -> None:
    """Rounding is the same data, less telling: what a test surely finds must not be more by more than chance."""
    raw, rounded = (presence(people, pb.Release([[0, 2]] * T, way), sample=12) for way in (pb.Raw(), pb.Rounding(3)))
    for name in ("advantage", "power"):
        assert raw[f"{name}_lower"].mean() > rounded[f"{name}_lower"].mean() - 0.03  # type: ignore[operator]


def test_more_runs_draw_more(people: pb.People) -> None:
    few, many = (presence(people, pb.Release([[0, 2]] * T), sample=6, runs=runs) for runs in (10, 3000))
    assert (many["advantage_upper"] - few["advantage_upper"]).mean() < 0  # type: ignore[operator]


def test_an_insider_reads_raw_counts(people: pb.People) -> None:
    table = presence(people, pb.Release([[0, 2]] * T), adversary="insider", sample=9)
    assert set(table["status"]) == {"ok"}
    assert table.select(pl.col(*(f"{name}_lower" for name in ENDS))).min().row(0) == (1.0,) * 4
    assert not table["sampled"].any()
    assert table["chance"].is_between(0.01, 0.99).all()
    for row in table.iter_rows(named=True):
        person = people.ids.to_list().index(row["person"])
        assert row["actual"] == bool((people.actual[person] == people.places.index(row["place"])).any())


@pytest.mark.parametrize("mechanism", [pb.Geometric(1.0), pb.Rounding(5), pb.Suppression(4)])
def test_an_insider_is_who_questions_ask(people: pb.People, mechanism: pb.Mechanism) -> None:
    release = pb.Release([[0, 2]] * T, mechanism)
    table = presence(people, release, adversary="insider", sample=3, runs=60)
    asked = pb.audit(people, release, 0, questions=table["question"].unique().to_list(), workers=1, runs=60)
    both = table.join(asked, on=["person", "question"], suffix="_asked")
    assert both.height == table.height
    assert np.allclose(both["chance"], both["chance_asked"])
    assert (both["advantage_lower"] <= both["advantage_upper_asked"] + 1e-6).all()


def test_whoever_knows_less_finds_less(people: pb.People) -> None:
    release = pb.Release([[0, 2]] * T, pb.Geometric(1.0))
    insider, habits = (presence(people, release, adversary=name, sample=4) for name in ("insider", "habits"))
    both = habits.join(insider, on=["person", "place"], suffix="_insider")
    assert both.height == habits.height
    for name in ("advantage", "power"):
        assert (both[f"{name}_lower"] <= both[f"{name}_upper_insider"] + 1e-6).all()
        assert (both[f"{name}_lower"] <= both[f"{name}_upper"]).all()
        assert (both[f"{name}_upper"] <= both[f"{name}_upper_insider"]).all()


def test_what_others_hide_bounds_presence_where_nothing_else_is_counted(people: pb.People) -> None:
    """With few draws, limits are wide: what is hidden of somebody who is told needs none."""
    release = pb.Release([[0]] * T)
    everybody = Everybody.here(people, Team(1))
    asked = Presence(Job(people, release, Measurement()), Watched.of(release, people.places), ONE, "habits")
    person, zones = person_of(work_of(asked, everybody), 0, [(0,)])
    few, many = (rows_of_places(replace(person, runs=n), zones, np.random.default_rng(1))[0] for n in (20, 20_000))
    assert few["advantage_upper"] < 1
    assert few["advantage_upper"] >= many["advantage_lower"]


def test_zones_are_measured_as_their_places(people: pb.People) -> None:
    """A zone of one place says what the place says; zones that overlap are measured, if in another way."""
    office, shop = (people.places.index(name) for name in ("office 01", "supermarket 01"))
    place = pb.Release([[office]] * T)
    zone = pb.Release(counts=[pb.Present([office, shop], t) for t in range(T)], steps=T)
    several = [office, shop], [shop, people.places.index("restaurant 01")]
    overlapping = pb.Release(counts=[pb.Present(z, t) for t in range(T) for z in several], steps=T)
    for release, wanted in ((place, 1), (zone, 1), (overlapping, 2)):
        for adversary in ("habits", "insider"):
            table = presence(people, release, adversary=adversary, sample=3)
            assert table["place"].n_unique() == wanted
            assert set(table["status"]) <= {"ok", "wide"}


def test_rows_are_the_same_in_other_blocks(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    release = pb.Release([[0, 2]] * T)
    first = presence(people, release, sample=6)
    monkeypatch.setattr("passerby.audits.everyone.partition_size", lambda _: 13)
    with ThreadPoolExecutor(2) as threads:
        assert presence(people, release, sample=6, executor=threads).equals(first)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"places": ["nowhere"]}, "'nowhere' is not one of the"),
        ({"adversary": "nobody"}, "expected 'habits' or 'insider'"),
        ({"sample": 0}, "sample"),
    ],
)
def test_what_cannot_be_asked_is_refused(people: pb.People, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        presence(people, pb.Release([[0]] * T), **arguments)
    assert said in str(error.value)


def found(people: pb.People, release: pb.Release, sensitive: Any = (), sample: int = 40) -> Any:
    named = places_by_name(people.places)
    everybody = Everybody.here(people, Team(1))
    zones = {named[name]: None for name in sensitive}
    return presence_of_all(everybody, release, Measurement(), named, zones, sample, team=Team(1))


def test_a_place_nobody_visits_and_nobody_at_all(people: pb.People) -> None:
    chances = presence(people, pb.Release([[people.elsewhere - 1]] * T), adversary="insider")
    assert chances.columns[:3] == ["person", "place", "question"]
    nobody = only(people, np.empty(0, dtype=np.int64))
    with pytest.raises(InputError, match="nobody to be measured"):
        presence(nobody, pb.Release([[0]] * T))


@pytest.mark.parametrize("sensors", [[[], [0, 2], [], []], [[0], [], [], [2]], [[]] * T])
def test_few_steps_with_counts_or_none(people: pb.People, sensors: list[list[int]]) -> None:
    """Nobody is told anything of the others where there is one step, or everybody is told all of it."""
    present = found(people, pb.Release(sensors), sample=6)
    assert {each.place for each in present.places} == {people.places[p] for step in sensors for p in step}


def test_one_person_is_told_of_nowhere() -> None:
    alone = only(
        pb.fit_people(pb.simulate_city(9, 12, 4), window="3h", places=9, min_active=1, holdout=T), np.array([2])
    )
    present = found(alone, pb.Release([[0, 1]] * T))
    assert all(each.advantage is None and each.people in (0, 5) for each in present.places)


@pytest.fixture(scope="module")
def city() -> pb.People:
    return pb.fit_people(pb.simulate_city(400, 120, 9, seed=2), window="2h", places=120, min_active=5, holdout=12)


def visitors(people: pb.People, kind: str) -> dict[str, int]:
    return {
        name: int((people.actual == number).any(axis=1).sum())
        for number, name in enumerate(people.places)
        if name.startswith(kind)
    }


def test_a_small_hospital_is_an_alert_and_a_large_station_is_none(city: pb.People) -> None:
    """Whatever else is counted; and hidden below 10, or rounded, there is none."""
    small = next(name for name, there in visitors(city, "hospital").items() if there in (2, 3))
    large = max(visitors(city, "office").items(), key=lambda each: each[1])[0]
    sensors = [[city.places.index(small), city.places.index(large)]] * 12
    present = found(city, pb.Release(sensors))
    said = " ".join(present.alerts)
    assert small in said
    assert "tell" in said
    assert f"{large} (at least" not in said
    assert said.count("An insider, who knows where everybody else was,") == 1
    hidden = found(city, pb.Release(sensors, pb.Suppression(10)))
    assert not any(small in alert for alert in hidden.alerts)


def test_what_is_told_obeys_the_rule_of_five(city: pb.People) -> None:
    names = [*visitors(city, "hospital")][:6]
    present = found(city, pb.Release([[city.places.index(name) for name in names]] * 12), sensitive=names[:1], sample=8)
    assert [each.sensitive for each in present.places] == ([True] + [False] * 5) * 2
    for each in present.places:
        assert each.visitors is None or each.visitors == 0 or each.visitors >= 5
        assert (each.people >= 5) or (each.people == 0 and each.advantage is None)
        for pair in (each.advantage, each.power, each.certain):
            assert pair is None or 0 <= pair.lower <= pair.upper <= 1
        assert all(hour.people is None or hour.people >= 5 for hour in each.by_step)
        if each.ways:
            way = {one.way: one.advantage for one in each.ways}
            assert way["raw"] >= max(way["hidden below 5"], way["rounded to 5"], way["noise 1"]) - 1e-4
            assert way["hidden below 5"] >= way["hidden below 10"] - 1e-4
            assert way["noise 1"] >= way["noise 2"]
    tried = [each.place for each in present.places if any(way.day for way in each.ways)]
    assert tried == [] or (tried[0] == names[0] and len(tried) <= 2)


def test_ways_are_tried_on_all_counts_together(people: pb.People) -> None:
    """All counts tell no less than one: what is found for sure is no more than the other end of all of them."""
    ways = [way for each in found(people, pb.Release([[0, 2]] * T)).places for way in each.ways if way.day]
    assert {way.way for way in ways} == {*RULES, *NOISE}
    for way in ways:
        assert way.day is not None
        assert way.day.lower <= way.day.upper
    day = {way.way: way.day for way in ways if way.day}
    assert day["noise 2"].lower <= day["raw"].upper


def test_alerts_name_five_places_at_most(city: pb.People) -> None:
    names = [*visitors(city, "hospital")][:3]
    present = found(city, pb.Release([[city.places.index(name) for name in names]] * 12), sample=8)
    one = next(each for each in present.places if each.adversary == "insider" and each.power)
    many = [one.model_copy(update={"place": f"gate {k}", "adversary": "habits"}) for k in range(9)]
    (first,) = about_presence(many)
    assert first.count("gate") == 5
    assert "and 4 more places" in first
    assert Watched.of(pb.Release([[0]]), ["gate", "elsewhere"]).names == ("gate",)


def test_an_hour_that_gives_people_away_is_an_alert_where_the_day_is_none(city: pb.People) -> None:
    """A mean over all who were there at any time may hide who was there alone."""
    present = found(city, pb.Release([[city.places.index(name) for name in [*visitors(city, "office")][:2]]] * 12))
    calm, alone = Bracket(lower=0.02, upper=0.04), [HourAnswer(step=3, people=None, advantage=0.88, begins="03:00")]
    place = present.places[0].model_copy(
        update={"place": "gate", "adversary": "habits", "sensitive": False, "by_step": alone}
    )
    place = place.model_copy(update={"power": calm, "certain": calm})
    (said,) = about_presence([place])
    assert "gate at 03:00 (88 %, with 100 % of those who are ever there)" in said
    known = place.model_copy(update={"power": Bracket(lower=0.7, upper=0.8)})
    assert not any("Single counts" in alert for alert in about_presence([known]))
    assert not list(about_presence([place.model_copy(update={"by_step": []})]))


def test_an_hour_at_which_hardly_anybody_is_there_is_no_alert() -> None:
    """An office is empty at midnight: whoever is in that count is given away, and hardly anybody is."""
    calm = Bracket(lower=0.02, upper=0.04)
    hours = [
        HourAnswer(step=0, people=None, advantage=0.97, share=0.004, begins="00:00"),
        HourAnswer(step=9, people=None, advantage=0.6, share=0.5, begins="09:00"),
        HourAnswer(step=20, people=None, advantage=0.8, share=0.06, begins="20:00"),
    ]
    place = at_place("office", "habits", calm, certain=calm, by_step=hours)
    (said,) = about_presence([place])
    assert (
        "office at 09:00 (60 %, with 50 % of those who are ever there) and 2 other hours (up to 97 % at 00:00)" in said
    )
    (bare,) = about_presence([place.model_copy(update={"ways": []})])
    assert bare.endswith("Leave such hours out.")
    assert not list(about_presence([place.model_copy(update={"by_step": hours[:1]})]))


def test_an_insider_finds_no_less_than_who_knows_less_or_than_the_advantage_asks_for() -> None:
    """Of the same people; and never more than the other end."""
    weak, other = Bracket(lower=0.01, upper=0.09), Bracket(lower=0.018, upper=0.05)
    insider = at_place("gate", "insider", weak, advantage=Bracket(lower=0.19, upper=0.3))
    known = at_place("gate", "habits", other)
    assert no_less([known, insider])[0] == known
    floored = [no_less(places)[-1].power for places in ([known, insider], [insider])]
    assert [power.lower for power in floored if power] == pytest.approx([0.018, 0.01 / 0.81])
    others = known.model_copy(update={"people": 15})
    apart = no_less([others, insider])[-1].power
    assert apart is not None
    assert apart.lower == pytest.approx(0.01 / 0.81)
    above = known.model_copy(update={"power": Bracket(lower=0.5, upper=0.6)})
    within = no_less([above, insider])[-1].power
    assert within == Bracket(lower=0.09, upper=0.09)


def test_an_alert_on_hours_advises_only_what_tells_less_there() -> None:
    """Hidden below 5 changes nothing here, and rounding tells more over the day."""
    calm = Bracket(lower=0.06, upper=0.3)
    hours = [HourAnswer(step=9, people=None, advantage=0.316, share=0.5, begins="09:00")]
    ways = [
        WayAnswer(way="raw", advantage=0.158, day=calm),
        WayAnswer(way="hidden below 5", advantage=0.158, day=calm),
        WayAnswer(way="hidden below 10", advantage=0.01, day=Bracket(lower=0.01, upper=0.02)),
        WayAnswer(way="rounded to 5", advantage=0.05, day=Bracket(lower=0.078, upper=0.2)),
        WayAnswer(way="noise 2", advantage=0.1),
    ]
    place = at_place("hospital", "habits", calm, sensitive=True, certain=calm, by_step=hours, ways=ways)
    said = next(line for line in about_presence([place]) if line.startswith("Single counts"))
    assert "hospital at 09:00 (32 %, with 50 % of those who are ever there)." in said
    assert said.endswith("another way that tells less there: hidden below 10; or noise 2.")
    useless = place.model_copy(update={"ways": ways[:2]})
    said = next(line for line in about_presence([useless]) if line.startswith("Single counts"))
    assert said.endswith("is sure to tell less there: leave such hours out.")


def test_noise_that_leaves_an_insider_much_is_an_alert() -> None:
    """Counts need not be exact to tell who was there, and no count that is noisy is called exact."""
    said, yearly = about_presence([at_place("gate", "insider", Bracket(lower=0.01, upper=0.48))])
    assert yearly.startswith("Week after week counts tell an insider more")
    assert said.startswith("Counts that are not exact still tell an insider, who knows where everybody else was,")
    assert "gate (up to 48 %)" in said
    sure = at_place("gate", "insider", Bracket(lower=0.01, upper=0.48), certain=Bracket(lower=0.65, upper=0.7))
    assert "gate (up to 48 %)" in next(about_presence([sure]))
    surely, _ = about_presence([at_place("gate", "insider", Bracket(lower=0.6, upper=0.7))])
    assert "gate (between 60 % and 70 %)" in surely
    exact = at_place("gate", "insider", Bracket(lower=1.0, upper=1.0))
    assert [*about_presence([exact])] == [
        "An insider, who knows where everybody else was, reads from any exact count who was there."
    ]
    calm = at_place("gate", "insider", Bracket(lower=0.01, upper=0.09), weeks=[])
    assert not list(about_presence([calm]))
    year = calm.model_copy(update={"weeks": [WeekAnswer(weeks=52, lower=0.26, upper=0.996)]})
    (yearly,) = about_presence([year])
    assert "gate (between 26 % and > 99 %). That is the advantage after a year" in yearly


def test_two_ends_that_look_the_same_are_one_number() -> None:
    assert [_both(0.881, 0.884), _both(0.6, 0.7)] == ["about 88 %", "between 60 % and 70 %"]
