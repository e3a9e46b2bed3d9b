"""`passerby plan`: from a wanted release and a limit to the best releases that keep it.

`passerby next`: a check of the next table, in view of everything published about these people so far.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from passerby.plans.names import FOLDER, LEFT_OUT, NEXT_FOLDER, PATHS, TITLE

from .options import Flag, SettingsFile, Visited, Workers, sources_of, with_settings, word

PLAN = Group("Plan", sort_key=0)
# Texts, checked with everything else; the help states their types.
Real = Annotated[str | None, Parameter(group=PLAN, negative="", **word(float))]
Whole = Annotated[str | None, Parameter(group=PLAN, negative="", **word(int))]
Text = Annotated[str | None, Parameter(group=PLAN, negative="", **word(str))]
File = Annotated[str | None, Parameter(group=PLAN, negative="", **word(Path))]
Texts = Annotated[
    list[str] | None, Parameter(group=PLAN, consume_multiple=True, negative="", **word(str, several=True))
]
#: Settings of an audit whose defaults are others here.
DEFAULTS = {"out": FOLDER, "title": TITLE}


@with_settings(leave=LEFT_OUT, defaults=DEFAULTS)
def plan(  # noqa: D417
    *visits: Visited,
    at_most: Real = None,
    above: Real = None,
    added: Real = None,
    ask: Text = None,
    against: Text = None,
    measure: Text = None,
    presence_at_most: Real = None,
    presence_against: Text = None,
    levers: Texts = None,
    forbid: Texts = None,
    fix: Texts = None,
    stay: Texts = None,
    weights: File = None,
    drawn: Whole = None,
    minutes: Real = None,
    personas: Texts = None,
    place: Texts = None,
    settings: SettingsFile = None,
    overwrite: Flag = False,
    workers: Workers = None,
    **given: Any,
) -> None:
    """Find what may be published: releases that keep a limit on how exposed people are, and what each costs readers.

    For example, hourly counts that add more than 2 points for at most 1 % of people:
    `passerby plan visits.csv --window 1h --holdout 8 --sensor-count 3 --at-most 0.01 --added 0.02`

    Writes a folder with plan.json, plan.html, plan.toml, and an audit.toml for each of the plans that are recommended.

    Parameters
    ----------
    at_most
        Share of people who may be above the limit, which is --above or --added: 0.05 for 5 %, 0 for nobody. Several
        limits go into a settings file, as limits = [{share = 0.05, above = 0.5}, ...].
    above
        The limit: a chance to be found, 0.5 for one half.
    added
        The limit instead: what the release adds to the chance, 0.02 for two points.
    ask
        The question that the limit is about, such as "visited:hospital 001", counted, each-step or "trace with 2
        misses". Of a question of yes or no, --above limits the advantage. [default: the trace]
    against
        Who asks: insider, who knows where everybody else was, or habits, who knows the others by their habits alone.
        [default: insider]
    measure
        What of a question of yes or no is limited: advantage, power (found at 1 % false alarms) or certain (90 % sure).
        [default: advantage]
    presence_at_most
        At each counted place, the mean advantage of whoever asks who was ever there stays at most this; 1 is no limit.
        [default: 0.25]
    presence_against
        Who asks that: habits, who knows the others by their habits alone, or insider, from whom no exact count of any
        place can keep it. [default: habits]
    levers
        What may be changed: gaussian, laplace, geometric, discrete-gaussian, rounding, random-rounding, suppression,
        places, steps, counts, every, visitors (different people over several steps), zones (larger ones, by the levels
        of --zones). [default: gaussian rounding suppression places steps counts every zones, and visitors for at most
        16 counts]
    forbid
        Levers that may not be changed.
    fix
        A lever and its position in all plans, such as rounding=10.
    stay
        Names of places that must stay, at all steps.
    weights
        File of how much numbers matter to readers: columns weight, and place, step (from 1) or both.
    drawn
        How many people plans are tried on; what is recommended is measured on everyone. [default: 60]
    minutes
        Stop searching in time to be done after about so many minutes.
    personas
        For a table of counts instead of visits: who the limit is about, ready personas by name or TOML files.
    place
        For a table of counts: which place a role of the personas is, as in clinic="hospital 001".
    settings
        Take settings from this file, which may be an audit's; options given beside it prevail.
    overwrite
        Replace a finished plan in the folder.
    workers
        Processes that share the work. [default: all cores]
    """
    from passerby.plans.settings import check_plan

    from .check import is_table, plan_counts
    from .warm_up import ready

    own = {"at_most": at_most, "above": above, "added": added, "levers": levers, "forbid": forbid, "fix": fix}
    own |= {"ask": ask, "against": against, "measure": measure}
    own |= {"presence_at_most": presence_at_most, "presence_against": presence_against}
    own |= {"stay": stay, "weights": weights, "drawn": drawn, "minutes": minutes}
    if personas or place or (settings is None and is_table(visits)):
        plan_counts(visits, personas, place, {**own, **given, "settings": settings}, overwrite=overwrite)
        return
    checked = check_plan(*sources_of("plan", visits, settings, {**own, **given}, PATHS))
    ready()
    from .run import plan_and_show

    plan_and_show(checked, workers, overwrite=overwrite)


#: The exit code if a checked table may not go out as it is.
HELD = 3


@with_settings(leave=LEFT_OUT, defaults={**DEFAULTS, "out": NEXT_FOLDER})
def next_table(  # noqa: D417
    *visits: Visited,
    earlier: Annotated[Path | None, Parameter(group=PLAN)] = None,
    at_most: Real = None,
    above: Real = None,
    added: Real = None,
    ask: Text = None,
    against: Text = None,
    measure: Text = None,
    presence_at_most: Real = None,
    presence_against: Text = None,
    drawn: Whole = None,
    minutes: Real = None,
    settings: SettingsFile = None,
    check: Flag = False,
    overwrite: Flag = False,
    workers: Workers = None,
    **given: Any,
) -> int:
    """Say whether the next table may be published: as it is, with fewer counts, or not at all.

    For example, hourly counts after those of the folder published, where everything together may add more than 2 points
    for at most 1 % of people: `passerby next visits.csv --window 1h --holdout 8 --sensor-count 3 --earlier published
    --at-most 0.01 --added 0.02 --out published/next`

    The folder of earlier releases holds an audit.toml for each of them, at any depth, as `passerby audit` and `passerby
    plan` write it; all are of the same steps. The loss is that of all releases together. It is found from habits alone:
    where a release treats small and large counts differently, raw counts stand for it, which tell more.

    Writes decision.json and, if anything may go out, its audit.toml; together/together.toml is of all releases.

    Parameters
    ----------
    earlier
        Folder of what has been published so far. [default: nothing has been]
    at_most
        Share of people who may be above the limit, which is --above or --added: 0.05 for 5 %, 0 for nobody. Several
        limits go into a settings file, as limits = [{share = 0.05, above = 0.5}, ...].
    above
        The limit: a chance to be found, 0.5 for one half.
    added
        The limit instead: what all releases together add to the chance, 0.02 for two points.
    ask
        The question that the limit is about, such as "visited:hospital 001", counted, each-step or "trace with 2
        misses". Of a question of yes or no, --above limits the advantage. [default: the trace]
    against
        Who asks: insider, who knows where everybody else was, or habits, who knows the others by their habits alone.
        [default: insider]
    measure
        What of a question of yes or no is limited: advantage, power (found at 1 % false alarms) or certain (90 % sure).
        [default: advantage]
    presence_at_most
        At each counted place, the mean advantage of whoever asks who was ever there stays at most this; 1 is no limit.
        [default: 0.25]
    presence_against
        Who asks that: habits, who knows the others by their habits alone, or insider, from whom no exact count of any
        place can keep it. [default: habits]
    drawn
        How many people releases are tried on; what is decided is measured on everyone. [default: 60]
    minutes
        Stop searching in time to be done after about so many minutes.
    settings
        Take settings from this file, which may be an audit's; options given beside it prevail.
    check
        For scripts: exit with 3 unless the table may go out as it is; otherwise the exit code of any answer is 0.
    overwrite
        Replace an earlier decision in the folder.
    workers
        Processes that share the work. [default: all cores]
    """
    from passerby.plans.settings import check_plan

    from .warm_up import ready

    own = {"at_most": at_most, "above": above, "added": added, "ask": ask, "against": against, "measure": measure}
    own |= {"drawn": drawn, "minutes": minutes}
    own |= {"presence_at_most": presence_at_most, "presence_against": presence_against}
    checked = check_plan(*sources_of("next", visits, settings, {**own, **given}, PATHS), folder=NEXT_FOLDER)
    ready()
    from .run import decide_and_show

    answer = decide_and_show(checked, earlier, workers, overwrite=overwrite)
    return HELD if check and answer != "publish" else 0
