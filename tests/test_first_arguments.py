"""Whatever is handed to a public function instead of people, a prior or a release, it says what was expected."""

from typing import Any

import numpy as np
import pytest

import passerby as pb
from passerby.audits.job import only

ODD: list[Any] = [None, 5, "x", [1], {}]
PRIOR, RELEASE = pb.line_prior(5), pb.Release([0, 1, 0, 1])


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(pb.simulate_city(12, 20, 3), window="3h", places=9, min_active=1, holdout=4)


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_what_is_no_prior_and_no_release(odd: Any) -> None:
    for name, more in (
        ("entropy", (4,)),
        ("mutual_information", (RELEASE,)),
        ("measure", (RELEASE,)),
        ("tight_bound", (RELEASE, 1)),
        ("loose_bound", (RELEASE, 1)),
        ("reconstruction_advantage", (RELEASE,)),
    ):
        with pytest.raises(pb.InputError, match=r"^prior: expected a MarkovPrior, got"):
            getattr(pb, name)(odd, *more)
        if name != "entropy":
            with pytest.raises(pb.InputError, match=r"^release: expected a Release, got"):
                getattr(pb, name)(PRIOR, odd, *more[1:])


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_what_are_no_people(people: pb.People, odd: Any) -> None:
    limits = [pb.Limit(share=0.5, above=0.5)]
    for name, more in (
        ("audit", (RELEASE,)),
        ("audit_report", (RELEASE,)),
        ("adversaries", (RELEASE,)),
        ("plan", (RELEASE, limits)),
        ("together", ([RELEASE, RELEASE],)),
        ("most_visited_sensors", ()),
    ):
        with pytest.raises(pb.InputError, match=r"^people\b.*expected what fit_people returns"):
            getattr(pb, name)(odd, *more)
    with pytest.raises(pb.InputError, match=r"^release: expected a Release, got"):
        pb.audit_partition(pb.simulate_city(12, 20, 3), people, odd)


@pytest.mark.parametrize("name", ["audit", "audit_report", "adversaries", "plan", "together"])
def test_nobody_cannot_be_measured(people: pb.People, name: str) -> None:
    nobody = only(people, np.arange(0))
    more: dict[str, list[Any]] = {"plan": [RELEASE, [pb.Limit(share=0.5, above=0.5)]], "together": [[RELEASE] * 2]}
    with pytest.raises(pb.InputError, match="people: there is nobody to be measured"):
        getattr(pb, name)(nobody, *more.get(name, [RELEASE]))
