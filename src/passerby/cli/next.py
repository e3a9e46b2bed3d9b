"""`passerby next`: a check of the next table, in view of everything published about these people so far."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from passerby.plans.names import LEFT_OUT, NEXT_FOLDER, PATHS

from .options import Flag, SettingsFile, Visited, Workers, with_settings
from .plan import DEFAULTS, PLAN, Real, Text, Whole
from .sources import sources_of

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
    from .plan_run import decide_and_show

    answer = decide_and_show(checked, earlier, workers, overwrite=overwrite)
    return HELD if check and answer != "publish" else 0
