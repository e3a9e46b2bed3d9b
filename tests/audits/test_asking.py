"""Questions in words: both ways, and what is said of words that are none."""

import numpy as np
import pytest
from tests.events import channel, contains
from tests.joint import seen
from tests.oracle import World

import passerby as pb
from passerby.audits.asking import EverMoved, parse_question, parse_questions, sentence_of, words_of
from passerby.audits.question_words import places_by_name
from passerby.errors import InputError
from passerby.questions.question import Question

PLACES = places_by_name(["park", "gate 1", "a>b", "clinic", "elsewhere"], {"east": (0, 1), "clinic": (1, 3)})
RELEASE = pb.Release([0, 3, [], [1, 3]])


def parsed(text: str) -> Question:
    return parse_question(text, PLACES, RELEASE, 1)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("trace", pb.Trace(1)),
        ("trace with 3 misses", pb.Trace(3)),
        ("counted", pb.InData()),
        ("each-step", pb.EachStep()),
        ("visited:clinic", pb.Event(pb.Visitors([3], range(4)))),
        ("visited:zone clinic", pb.Event(pb.Visitors([1, 3], range(4)))),
        ("visited 3 times:gate 1", pb.Event(pb.Visitors([1], range(4), 3))),
        ("never:east", pb.Event(pb.Visitors([0, 1], range(4)), never=True)),
        ("never 2 times:park", pb.Event(pb.Visitors([0], range(4), 2), never=True)),
        ("visited at steps 1-2,4:park", pb.Event(pb.Visitors([0], [0, 1, 3]))),
        ("visited at step 1:park", pb.Event(pb.Visitors([0], [0]))),
        ("moved:park>a>b", pb.Event(EverMoved([0], [2], 4))),
        ("moved:a>b>park", pb.Event(EverMoved([2], [0], 4))),
        ("never moved:park>clinic", pb.Event(EverMoved([0], [3], 4), never=True)),
        ("moved at step 2:park>clinic", pb.Event(pb.Moved([0], [3], 1))),
    ],
)
def test_words_are_a_question_and_back(text: str, question: Question) -> None:
    assert parsed(text) == question
    assert words_of(question, PLACES, 1, 4) == text
    assert sentence_of(question, PLACES).strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("visted:park", "did you mean visited"),
        ("conted", "did you mean counted"),
        ("", "Ask trace, counted"),
        ("visited", "which place? visited:PLACE"),
        ("visited:", "which place? visited:PLACE"),
        ("visited:klinic", "did you mean 'clinic'"),
        ("visited:elsewhere", "'elsewhere' is not one of the 6"),
        ("visited 0 times:park", "0 times is never"),
        ("visited 5 times:park", "nobody can be there 5 times in 4 steps"),
        ("visited at step 5:park", "nothing is published about step 5; steps are numbered 1 to 4"),
        ("visited at step 0:park", "nothing is published about step 0"),
        ("visited at steps 3-2:park", "steps 3-2 end before they begin; expected steps 2-3"),
        ("moved:park", "which place? moved:PLACE>PLACE"),
        ("moved:park>klinic", "did you mean 'clinic'"),
        ("moved 2 times:park>clinic", "how often somebody goes is not asked"),
        ("moved at step 4:park>clinic", "the step after 4, the last one"),
        ("trace with 4 misses", "misses"),
    ],
)
def test_other_words_are_refused_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"question|misses") as error:
        parsed(text)
    assert said in str(error.value)


def test_the_same_question_is_asked_once() -> None:
    assert len(parse_questions(["counted", "trace", "trace with 1 miss", "counted"], PLACES, RELEASE, 1)) == 2


def test_somebody_who_ever_goes_is_somebody_who_goes_at_a_step() -> None:
    traces = np.array(np.meshgrid(*[range(3)] * 4)).reshape(4, -1).T
    count = EverMoved([0, 1], [1], 4)
    bits = np.any([pb.Moved([0, 1], [1], t).bits(traces) for t in range(3)], axis=0)
    assert (count.bits(traces) == bits).all()
    levels = count.progress(np.arange(3), 4)
    level = np.zeros(len(traces), dtype=np.int64)
    for t in range(4):
        level = levels[t, traces[:, t], level]
    assert ((level == 2) == bits).all()


def test_a_move_is_measured_as_enumeration_says() -> None:
    prior = pb.line_prior(3)
    release = pb.Release([0, 2, 1], pb.RandomRounding(2), [1, 2, 0])
    event = pb.Event(EverMoved([0], [1, 2], 3))
    found, world = pb.measure(prior, release, event), World(prior, 3)
    held = np.any([pb.Moved([0], [1, 2], t).bits(world.traces) for t in range(2)], axis=0)
    series = channel(release, seen(release, world.traces))
    chance = world.chance[held].sum()
    yes, no = series[:, held] @ world.chance[held] / chance, series[:, ~held] @ world.chance[~held] / (1 - chance)
    assert contains(found.event, chance)
    assert contains(found.advantage, np.abs(yes - no).sum() / 2)
    assert 0 < found.advantage.lower < 1


def test_who_would_be_there_instead_is_asked_of_one_person() -> None:
    with pytest.raises(InputError, match=r"does not know who would be there instead; ask counted here, or measure\("):
        parsed("replaced")
