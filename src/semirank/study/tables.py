"""The tables of the study, ours beside the paper's (Def. 2.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from .job import Job
from .properties import CH
from .records import Record
from .results import DEFINITIONS, Results, collect
from .table_format import StudyTable, save_tables
from .tables_data import coverage, covered, data_sets
from .tables_differences import agreement, difference_table, effect, more_global, pool_effect
from .tables_long import long_curves, long_differences, long_times
from .tables_ranks import all_times, best_ensembles, compared_rankings, ensemble_times, quality, quality_pairs
from .tables_settings import relief_settings, supervision


def write_tables(
    records: Iterable[Record],
    out: Path | str,
    *,
    jobs: Iterable[Job] = (),
    properties: Mapping[str, Mapping[str, float]] | None = None,
    stand_ins: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write every table as Markdown and CSV.

    Parameters
    ----------
    records : iterable of Record
        Finished ones of one run; it may be incomplete.
    out : path
        Folder, made if it is not there.
    jobs : iterable of Job, optional
        All that is planned (:meth:`Store.jobs`), to say what is not finished.
    properties : mapping, optional
        Name of a data set -> its sizes and CH, which need the data (:func:`dataset_properties`).
    stand_ins : mapping, optional
        Data set -> the one it stands in for; by default what the registry says.

    Returns
    -------
    list of Path
        The files.
    """
    return save_tables(all_tables(collect(records, stand_ins), jobs, properties or {}), out)


def all_tables(
    results: Results, jobs: Iterable[Job], properties: Mapping[str, Mapping[str, float]]
) -> list[StudyTable]:
    """All tables, in the paper's order; those for programs last. Each says above it what has been run."""
    about_all = coverage(results, jobs)
    said = covered(results, about_all)
    others = (replace(t, text=f"{t.text} {said}") for t in _other_tables(results, properties))
    return [about_all, *others]


def _other_tables(results: Results, properties: Mapping[str, Mapping[str, float]]) -> list[StudyTable]:
    first = data_sets(results, properties)
    if not results.about:
        return [first]
    k = results.ks[-1]
    ch = {name: numbers[CH] for name, numbers in properties.items() if CH in numbers}
    found = {(d, n): results.differences(d, n) for d, n in product(DEFINITIONS, results.ks)}
    compared = compared_rankings(results)
    return [
        first,
        best_ensembles(results),
        ensemble_times(results),
        more_global(results, found),
        difference_table(results, found["fair", k], "5a_differences_fair", "fair", ch),
        difference_table(results, found["paper", k], "5b_differences_paper_judge", "paper", ch),
        pool_effect(results, found["pool", k], ch),
        agreement(results, found),
        effect(results, found),
        quality(results, compared),
        quality_pairs(results, compared),
        all_times(results),
        supervision(results),
        relief_settings(results),
        *(long_differences([d for name in DEFINITIONS for d in found[name, n]], n) for n in results.ks),
        long_curves(results),
        long_times(results),
    ]
