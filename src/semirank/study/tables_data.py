"""What has been run, on which data, and the settings that tuning chose: tables 0, 1 and 8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from ..data.tasks import HEADINGS
from ..rankers.methods import ENSEMBLES
from ..runtime.messages import plural
from .job import Job
from .paper import paper_names, paper_tables, printed_hypothesis
from .plan import JOB_FAMILIES, fits
from .properties import CH, DEPTH, EXAMPLES, FEATURES, MAJORITY, PER_ROW, SIZE
from .results import Cell, Results, levels_and_folds
from .table_format import StudyTable
from .tables_words import basis, join


def coverage(results: Results, jobs: Iterable[Job]) -> StudyTable:
    """What has been run, and what is left of the plan."""
    done: dict[tuple[str, str], set[Cell]] = {}
    for key, curve in results.values.items():
        done.setdefault((key.dataset, key.family), set()).update(curve)
    jobs = list(jobs)
    planned = _planned(results, {family for _, family in done}, jobs)
    groups = {job.dataset: job.group for job in jobs}
    rows: list[tuple[Any, ...]] = []
    unfinished = []
    for name in dict.fromkeys([*results.about, *planned]):
        missing = []
        for family, cells in planned.get(name, {}).items():
            n_done = len(cells & done.get((name, family), set()))
            if n_done < len(cells):
                missing.append(f"{family} {n_done} of {len(cells)}")
        if missing:
            unfinished.append(name)
        about = results.about.get(name)
        what = (results.shown_name(name), *about[:2]) if about else (name, groups[name], None)
        levels, n_folds = levels_and_folds(results.cells(name))
        rows.append((*what, n_folds, join(levels), join(missing)))
    notes = [f"Data sets with records: {len(results.about)}. Not complete: {join(unfinished) or 'none'}."]
    if absent := [name for name in paper_names() if name not in results.about]:
        standing = {n: [s for s, a in results.about.items() if a.stand_in_for == n] for n in absent}
        named = [f"{n} (stand-in: {' and '.join(some)})" if some else n for n, some in standing.items()]
        notes.append(
            f"No records for {len(absent)} of the paper's {len(paper_names())} data sets: {join(named)}."
        )
    text = (
        "Data sets, their folds and numbers of labels with records, and (L, fold) cells still to do: those "
        "that are planned, and for every method that was run anywhere, all L that were run anywhere in all "
        "folds of a data set. Until they are done, areas are over the cells that the compared methods have."
    )
    columns = ("data set", "group", "measure", "folds", "L", "not finished")
    return StudyTable("0_coverage", "What has been run", text, columns, rows, notes)


def covered(results: Results, table: StudyTable) -> str:
    """What the table of coverage says, in a sentence for all others."""
    own = sum(name in paper_names() for name in results.about)
    others = len(results.about) - own
    more = f" and {plural(others, 'other')}" if others else ""
    unfinished = [str(row[0]) for row in table.rows if row[-1]]
    state = f"not complete: {join(unfinished)}" if unfinished else "all complete"
    return f"Coverage: {own} of the paper's {len(paper_names())} data sets{more}; {state}."


def _planned(results: Results, seen: set[str], jobs: Iterable[Job]) -> dict[str, dict[str, set[Cell]]]:
    """The (L, fold) cells of every data set and family.

    An imported store plans no more than it holds. So a family that has any records (`seen`) is expected in
    every data set that it fits, in all folds and at every L of any data set.
    """
    cells = {name: results.cells(name) for name in results.about}
    every_level = {level for some in cells.values() for level, _ in some}
    found = {
        name: {
            family: set(product(every_level, {fold for _, fold in cells[name]}))
            for family in JOB_FAMILIES
            if family in seen and fits(family, HEADINGS.get(about.group, ""))
        }
        for name, about in results.about.items()
    }
    for job in jobs:
        found.setdefault(job.dataset, {}).setdefault(job.family, set()).add((job.n_labeled, job.fold))
    return found


def data_sets(results: Results, properties: Mapping[str, Mapping[str, float]]) -> StudyTable:
    """Table 1: sizes as the paper prints them, ours where they differ and for stand-ins, and CH by both."""
    rows: list[tuple[Any, ...]] = []
    sizes = (EXAMPLES, FEATURES, SIZE, MAJORITY, PER_ROW, DEPTH)
    for group, some in paper_tables()["datasets"].items():
        for name, printed in some.items():
            own = properties.get(name, {})
            size = next(key for key in ("classes", "labels", "targets") if key in printed)
            keys = ("examples", "features", size, "majority_share", "label_cardinality", "depth")
            others = [
                f"{int(own[ours])} {key}"
                for ours, key in zip((EXAMPLES, FEATURES, SIZE), keys)
                if own.get(ours, printed[key]) != printed[key]
            ]
            if own.get(DEPTH, printed.get("depth")) != printed.get("depth"):
                others.append(f"depth {int(own[DEPTH])}")
            was_run = "yes" if name in results.about else "no"
            ch = (printed_hypothesis(group, name), own.get(CH))
            rows.append((name, group, *map(printed.get, keys), *ch, was_run, join(others)))
        for name, about in results.about.items():
            if about.group == group and name not in some:
                own = properties.get(name, {})
                whole = {s: int(own[s]) for s in (EXAMPLES, FEATURES, SIZE, DEPTH) if s in own}
                found = [{**own, **whole}.get(size) for size in sizes]
                rows.append((results.shown_name(name), group, *found, None, own.get(CH), "yes", ""))
    n_known = sum(CH in properties.get(name, {}) for name in {*paper_names(), *results.about})
    notes = (
        "Sizes and CH (paper) are the printed ones; the sizes of stand-ins are those of the files. The last "
        "column has the sizes of our files where they are known and differ from the printed ones.",
        f"CH (ours) is known for {n_known} data sets: "
        "k-means clusters against the target, with the square root that the printed column needs.",
    )
    text = "Properties of the paper's data sets and of the stand-ins that were run."
    columns = ("data set", "group", *sizes, "CH (paper)", "CH (ours)", "run", "our files")
    return StudyTable("1_data_sets", "Data sets", text, columns, rows, notes)


def supervision(results: Results) -> StudyTable:
    """Table 8: how often each supervision level was chosen."""
    chosen = [(label, family, found) for label, family, name, found in _chosen(results) if name == "w"]
    levels = sorted({level for *_, counter in chosen for level in counter})
    rows = []
    for label, family, counter in chosen:
        rows.append((label, family, *(counter[level] / counter.total() for level in levels), counter.total()))
    text = (
        "Share of the (data set, L, fold) cells in which each w was chosen; 1 ignores the features in the "
        "impurity, 0 the target. Stand-ins are counted."
    )
    columns = ("group", "family", *(f"w = {level:g}" for level in levels), "cells")
    notes = (basis(results, results.about),)
    return StudyTable("8_supervision", "Supervision levels that were chosen", text, columns, rows, notes)


def relief_settings(results: Results) -> StudyTable:
    """Table 8, second part: the settings of Relief."""
    rows = []
    for label, family, parameter, counter in _chosen(results):
        if family == "relief":
            shares = (f"{v:g}: {100 * counter[v] / counter.total():.0f} %" for v in sorted(counter))
            rows.append((label, parameter, join(shares), counter.total()))
    text = (
        "Influence of the farthest (w0) and nearest (w1) unlabelled rows and number of neighbours (k): share "
        "of the (data set, L, fold) cells in which each value was chosen. Stand-ins are counted."
    )
    columns = ("group", "parameter", "value: share", "cells")
    return StudyTable("8_relief_settings", "Relief settings that were chosen", text, columns, rows)


def _chosen(results: Results) -> Iterator[tuple[str, str, str, Counter[Any]]]:
    """(group or "all", family, parameter, how often each value was chosen), in the order of the tables."""
    counts: dict[tuple[str, str, str], Counter[Any]] = {}
    for (name, family), cells in results.settings.items():
        for label, setting in product((results.about[name].group, "all"), cells.values()):
            for parameter, value in setting.items():
                counts.setdefault((label, family, parameter), Counter())[value] += 1
    labels, families, parameters = (*results.groups, "all"), (*ENSEMBLES, "relief"), ("w", "w0", "w1", "k")
    for label, family, parameter in product(labels, families, parameters):
        if counter := counts.get((label, family, parameter)):
            yield label, family, parameter, counter
