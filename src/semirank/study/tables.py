"""The tables of the study, ours beside the paper's (Def. 2.5), and the long ones for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from .job import Job
from .paper import printed_differences
from .properties import CH
from .records import Record
from .results import DEFINITIONS, Difference, Key, Results, collect, level_means, levels_and_folds
from .table_format import StudyTable, save_tables
from .tables_data import coverage, covered, data_sets, relief_settings, supervision
from .tables_differences import agreement, difference_table, effect, more_global, pool_effect
from .tables_ranks import all_times, best_ensembles, compared_rankings, ensemble_times, quality, quality_pairs
from .tables_words import join


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


def long_differences(found: Sequence[Difference], k: int) -> StudyTable:
    """Every difference with `k` neighbours, beside the printed one."""
    rows = [
        (*d[:5], d.value, _printed(d), d.ssl_family, d.sl_family, join(d.levels), d.n_folds) for d in found
    ]
    columns = (*Difference._fields[:5], "difference", "paper", "ssl_family", "sl_family", "L", "folds")
    return StudyTable(f"differences_{k}nn", "", "", columns, rows)


def long_curves(results: Results) -> StudyTable:
    """Every curve of every method: the means over folds."""
    rows = []
    for key, curve in sorted(results.values.items()):
        levels, _ = levels_and_folds(curve)
        for level, value in zip(levels, level_means(curve, curve)):
            rows.append((*key, level, value, sum(cell[0] == level for cell in curve)))
    columns = (*Key._fields, "L", "value", "folds")
    return StudyTable("curves", "", "", columns, rows)


def long_times(results: Results) -> StudyTable:
    """Mean seconds of every family, data set, side and L."""
    rows = []
    for key, cells in sorted(results.seconds.items()):
        for level in levels_and_folds(cells)[0]:
            some = np.array([cells[cell] for cell in cells if cell[0] == level], dtype=float)
            rows.append((*key, level, *some.mean(axis=0).tolist(), len(some)))
    columns = ("dataset", "family", "side", "L", "seconds", "tuning_seconds", "folds")
    return StudyTable("times", "", "", columns, rows)


def _printed(d: Difference) -> float | None:
    """The printed difference; for no ranking the mean over the scores, for stand-ins none."""
    printed = {} if d.stand_in_for else printed_differences(d.group, d.dataset)
    if d.score == "equal" and printed:
        return sum(printed.values()) / len(printed)
    return printed.get(d.score)
