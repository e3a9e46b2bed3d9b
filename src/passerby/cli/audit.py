"""`passerby audit`: from a file of visits to a folder with everyone's loss, a summary and a report."""

from __future__ import annotations

from typing import Any

from .options import Flag, SettingsFile, Visited, Workers, sources_of, with_settings


@with_settings
def audit(  # noqa: D417
    *visits: Visited,
    settings: SettingsFile = None,
    overwrite: Flag = False,
    dry_run: Flag = False,
    workers: Workers = None,
    **given: Any,
) -> None:
    """Audit everyone in files of visits: how exposed each person is by counts that are about to be published.

    For example, hourly counts of the three most visited places over the last 8 hours, of which the adversary may get 2
    wrong: `passerby audit visits.csv --window 1h --holdout 8 --misses 2 --sensor-count 3`

    Writes a folder with people.parquet (a row per person), questions.parquet (a row per person and other question),
    summary.json, report.html, internal.html (with true counts) and audit.toml, which holds all settings:
    `passerby audit --settings FOLDER/audit.toml --overwrite` runs it again.
    An interrupted audit goes on where it was.

    Parameters
    ----------
    settings
        Take settings from this file; options given beside it prevail.
    overwrite
        Replace a finished audit in the folder.
    dry_run
        Say what would be done and how long it would take, and write nothing.
    workers
        Processes that share the work. [default: all cores]
    """
    from passerby.audits.validation import check_sources

    from .warm_up import ready

    checked = check_sources(*sources_of("audit", visits, settings, given))
    ready()
    from .run import estimate_and_show, run_and_show

    if dry_run:
        estimate_and_show(checked, workers)
    else:
        run_and_show(checked, workers, overwrite=overwrite)
