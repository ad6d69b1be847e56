"""The tables of the preset `worth` (Def. 2.6)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.cells import half
from ..evaluation.worth import Worth
from ..runtime.atomic_write import atomic_write_all
from .job import Job
from .records import Record
from .table_format import StudyTable
from .tables_words import join
from .worth_plan import WORTH, family_counts
from .worth_results import BASE, CONSENSUS, HALVES, WorthResults, collect_worth

LOSS = 0.9  # a data set loses where its whole interval is below
PAGE = "quality.md"


def write_worth_tables(records: Iterable[Record], out: Path | str, *, jobs: Iterable[Job] = ()) -> list[Path]:
    """Write every table as Markdown and CSV, and one page of them with the coverage first.

    Parameters
    ----------
    records : iterable of Record
        Finished ones of one run of the preset `worth`; it may be incomplete.
    out : path
        Folder, made if it is not there.
    jobs : iterable of Job, optional
        All that is planned, to say what is not finished.

    Returns
    -------
    list of Path
        The files.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    tables = worth_tables(records, jobs)
    files: dict[Path, str | bytes] = {}
    for table in tables:
        if table.title:
            files[folder / f"{table.name}.md"] = table.markdown()
        files[folder / f"{table.name}.csv"] = table.csv()
    files[folder / PAGE] = worth_page(tables)
    atomic_write_all(files)
    return list(files)


def worth_page(tables: Iterable[StudyTable]) -> str:
    """All tables on one page: how complete they are, what came out over data sets, then one by one."""
    shown = {table.name: table.markdown().replace("# ", "## ", 1) for table in tables if table.title}
    order = ("0_coverage", "2_summary", "3_fair_knn", "1_worth")
    return "# What unlabelled rows are worth\n\n" + "\n".join(shown[name] for name in order)


def worth_tables(records: Iterable[Record], jobs: Iterable[Job] = ()) -> list[StudyTable]:
    """All tables; the one for programs last."""
    records, jobs = list(records), list(jobs)
    results = collect_worth(records, jobs, WORTH.n_labeled)
    return [
        coverage(results, records, jobs),
        worth_by_data_set(results),
        summary(results),
        fair_knn(results),
        long_table(results),
    ]


def coverage(results: WorthResults, records: Iterable[Record], jobs: Iterable[Job]) -> StudyTable:
    """What has been run, and what is left of the plan."""
    done = {(r.dataset, r.fold, r.n_labeled, r.family) for r in records}
    failed = {job.place for job in jobs if job.state == "failed"}
    planned = done | {job.place for job in jobs} | _expected(results, {place[3] for place in done})
    rows: list[tuple[Any, ...]] = []
    for name in results.names():
        seeds = results.seeds(name)
        known = [found for (of, _), found in results.references.items() if of == name]
        learned = sum(bool(reference.learned) for reference in known)
        levels = [level for level in results.levels if 2 * level <= results.n_train[name]]
        of = [place for place in planned if place[0] == name]
        left = []
        for family in sorted({place[3] for place in of}):
            some = [place for place in of if place[3] == family]
            n_done = sum(place in done for place in some)
            n_failed = sum(place in failed for place in some)
            if n_done < len(some):
                told = f", {n_failed} failed" if n_failed else ""
                left.append(f"{family} {n_done} of {len(some)}{told}")
        what = (name, half(name), results.groups[name], results.n_train[name], join(levels))
        rows.append((*what, len(seeds), f"{learned} of {len(known)}", join(left)))
    complete = sum(not row[-1] for row in rows)
    notes = [
        f"{len(done)} of {len(planned)} jobs are done; {complete} of {len(rows)} data sets are complete.",
        "A data set is learnt if boosted trees or the neural network explain 5 % of the held-out variance.",
    ]
    text = (
        "Data sets with their training rows, the L that leave half of them unlabelled, the seeds with "
        "rankings, for how many of the foreign references the data set was learnt, and jobs still to do."
    )
    columns = ("data set", "half", "group", "rows", "L", "seeds", "learnt", "not finished")
    return StudyTable("0_coverage", "What has been run", text, columns, rows, notes)


def _expected(results: WorthResults, seen: set[str]) -> set[tuple[str, int, int, str]]:
    """The places of every family that has any record, in all data sets: an imported store plans no more."""
    return {
        (name, seed, n, family)
        for name, n_train in results.n_train.items()
        for family in seen
        for n in family_counts(family, results.tasks[name], n_train, results.levels)
        for seed in range(WORTH.n_folds)
    }


def worth_by_data_set(results: WorthResults) -> StudyTable:
    """The consensus on every data set and at every L."""
    rows: list[tuple[Any, ...]] = []
    losses = []
    for level in results.levels:
        for name in results.names():
            found = results.worth(name, CONSENSUS, level)
            if found is None:
                continue
            family = results.worth(name, CONSENSUS, level, "family")
            seeds = results.seeds(name)
            means = [_mean(results.values(name, m, level, "foreign", seeds)) for m in (BASE, CONSENSUS)]
            what = (name, half(name), results.groups[name], level, found.n_seeds, *means)
            rows.append((*what, *_factors(found, family), found.reason))
            if found.counted and found.high < LOSS:
                losses.append(f"{name} at L = {level}")
    text = (
        "The consensus with unlabelled rows, held against the foreign reference: the factor by which the "
        "labels would have to grow for the consensus of labelled rows alone to capture as much (1: nothing "
        "came from unlabelled rows), with its 90 % interval over seeds. Data sets that do not count say why."
    )
    notes = [f"Intervals wholly below {LOSS}: {join(losses) or 'none'}."]
    columns = (
        "data set", "half", "group", "L", "seeds", "captured, labelled rows", "captured, consensus",
        "worth", "low", "high", "worth (family)", "not counted because",
    )  # fmt: skip
    return StudyTable("1_worth", "Worth by data set", text, columns, rows, notes)


def summary(results: WorthResults) -> StudyTable:
    """Every method over the data sets of each half."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for which in (*HALVES, None):
            for method in results.methods:
                if method == BASE:
                    continue
                found = results.summary(method, level, results.names(which))
                other = results.summary(method, level, results.names(which), "family")
                if found.n_counted or other.n_counted:
                    own = (found.n_counted, *_known(found[:3]), found.wins, found.losses, *_known([found.p]))
                    rows.append((level, which or "both", method, *own, other.n_counted, *_known(other[:1])))
    text = (
        "Geometric mean of the worth over the data sets that count, with its 90 % interval over data sets, "
        "how many are above and below 1, and p of Wilcoxon's signed-rank test. The scale is the same for all "
        "methods: the labels that the consensus of labelled rows alone would need. The foreign reference "
        "decides; the last two columns are by the family reference, which favours rankings of its own kind."
    )
    notes = ["Settings are chosen on one half of the data sets and reported on the other."]
    columns = (
        "L", "half", "method", "data sets", "worth", "low", "high", "above 1", "below 1", "p",
        "data sets (family)", "worth (family)",
    )  # fmt: skip
    return StudyTable("2_summary", "Worth over data sets", text, columns, rows, notes)


def fair_knn(results: WorthResults) -> StudyTable:
    """Every method against the label-only consensus, by nearest labelled rows."""
    from scipy.stats import wilcoxon

    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for which in (*HALVES, None):
            for method in results.methods:
                found = list(results.knn_differences(method, level, results.names(which)).values())
                if method == BASE or not found:
                    continue
                p = float(wilcoxon(found).pvalue) if np.any(found) else 1.0
                better, worse = sum(v > 0 for v in found), sum(v < 0 for v in found)
                rows.append(
                    (level, which or "both", method, len(found), float(np.mean(found)), better, worse, p)
                )
    text = (
        "How well the nearest labelled rows predict held-out ones in the space that a ranking weights, minus "
        "the same for the consensus of labelled rows alone: mean over data sets of the task's measure, where "
        "more than 0 is better, and p of Wilcoxon's signed-rank test."
    )
    columns = ("L", "half", "method", "data sets", "difference", "better", "worse", "p")
    return StudyTable("3_fair_knn", "Fair nearest neighbours", text, columns, rows, digits=3)


def long_table(results: WorthResults) -> StudyTable:
    """For programs: every method, data set and L."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for name in results.names():
            seeds = results.seeds(name)
            for method in results.methods:
                found = results.worth(name, method, level)
                if found is None or (name, method) not in results.judged:
                    continue
                means = [
                    _mean(results.values(name, method, level, by, seeds))
                    for by in ("foreign", "family", "knn")
                ]
                family = results.worth(name, method, level, "family")
                what = (name, half(name), results.groups[name], level, method, found.n_seeds, *means)
                rows.append((*what, *_factors(found, family), found.reason))
    columns = (
        "dataset", "half", "group", "L", "method", "seeds", "captured_foreign", "captured_family", "knn",
        "worth", "low", "high", "worth_family", "reason",
    )  # fmt: skip
    return StudyTable("methods", "", "", columns, rows)


def _factors(found: Worth, family: Worth | None) -> list[float | None]:
    """Factor and interval by the foreign reference, and the factor by the other; empty where unknown."""
    return _known([*found[:3], np.nan if family is None else family.factor])


def _known(values: Iterable[float]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values]


def _mean(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
