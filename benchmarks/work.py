"""What it costs to share work: many tasks that do next to nothing, against waiting for all of them at once.

Tasks are done as they are submitted, so that nothing but the sharing is timed.
"""

from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

import numpy as np

from benchmarks.record import Section, rounded, seconds
from passerby.support.workers import collect

MANY = (1_000, 10_000, 100_000)
#: As many as take some seconds where each part waits for all others.
FEWER = (500, 1_000, 2_000)
QUICK = (10, 20)


class Here(Executor):
    """Does what it is asked at once."""

    def submit(self, task: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Do a task."""
        future: Future[Any] = Future()
        future.set_result(task(*args))
        return future


def all_at_once(tasks: int) -> list[int]:
    """Submit all, and wait for the first of those that are left, again and again."""
    pool = Here()
    flying = {pool.submit(pow, number, 1): number for number in range(tasks)}
    out = [0] * tasks
    while flying:
        ready, _ = wait(flying, return_when=FIRST_COMPLETED)
        future = ready.pop()  # as where each of them takes a while
        out[flying.pop(future)] = future.result()
    return out


def few_at_a_time(tasks: int) -> list[int]:
    return collect(pow, 1, range(tasks), executor=Here(), workers=2)


def run(quick: bool = False) -> Section:
    section = Section("work")
    assert few_at_a_time(10) == [1] * 10
    assert all_at_once(10) == list(range(10))
    many, fewer = (QUICK, QUICK) if quick else (MANY, FEWER)
    for name, work, sizes in (("few at a time", few_at_a_time, many), ("all at once", all_at_once, fewer)):
        spent = [seconds(lambda work=work, size=size: work(size)) for size in sizes]  # type: ignore[misc]
        power = float(np.polyfit(np.log(sizes), np.log(spent), 1)[0])
        section.add(
            case=name,
            tasks=list(sizes),
            seconds=[rounded(each) for each in spent],
            exponent=round(power, 2),
            seconds_for_100_000=rounded(spent[-1] * (MANY[-1] / sizes[-1]) ** power),
        )
    ours, theirs = (row["seconds_for_100_000"] for row in section.rows)
    section.add(case="ratio at 100,000", ratio=rounded(theirs / ours))
    return section
