"""The tables of the preset `worth`: what has been run, worth by data set, and over data sets (Def. 2.6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..evaluation.cells import half
from ..evaluation.worth import Worth
from .job import Job
from .records import Record
from .statistics import signed_rank
from .table_format import StudyTable
from .tables_words import join
from .worth_methods import FAMILIES
from .worth_plan import WORTH, family_counts
from .worth_results import BASE, CONSENSUS, HALVES, WorthResults

LOSS = 0.9  # a data set loses where its whole interval is below


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
    absent = [name for name in FAMILIES if name not in {place[3] for place in planned}]
    if absent:
        notes.append(f"Methods that were not planned: {join(absent)}.")
    text = (
        "Data sets with their training rows, the L that leave half of them unlabelled, the seeds with "
        "rankings, for how many of the foreign references the data set was learnt, and jobs still to do."
    )
    columns = ("data set", "half", "group", "rows", "L", "seeds", "learnt", "not finished")
    return StudyTable("0_coverage", "What has been run", text, columns, rows, notes)


def covered(table: StudyTable) -> str:
    """What the table of coverage says, in a sentence for all others."""
    return f"Coverage: {table.notes[0]}" if table.rows else "Coverage: nothing has been run."


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
    for level in results.levels:
        for name in results.names():
            found = results.worth(name, CONSENSUS, level)
            if found is None:
                continue
            family = results.worth(name, CONSENSUS, level, "family")
            means = known(results.means(name, [(BASE, level), (CONSENSUS, level)]).tolist())
            what = (name, half(name), results.groups[name], level, found.n_seeds, *means)
            rows.append((*what, *_factors(found, family), found.reason))
    text = (
        "The consensus with unlabelled rows, held against the foreign reference: the factor by which the "
        "labels would have to grow for the consensus of labelled rows alone to capture as much (1: nothing "
        "came from unlabelled rows), with its 90 % interval over seeds. Data sets that do not count say why."
    )
    columns = (
        "data set", "half", "group", "L", "seeds", "captured, labelled rows", "captured, consensus",
        "worth", "low", "high", "worth (family)", "not counted because",
    )  # fmt: skip
    return StudyTable("1_worth", "Worth by data set", text, columns, rows, losses(results))


def losses(results: WorthResults) -> list[str]:
    """The data sets on which the consensus does worse than the labelled rows alone, by name.

    First those whose worth counts; then all that can be judged, by the difference of captured importance.
    """
    lines = []
    for level in results.levels:
        found = {name: results.worth(name, CONSENSUS, level) for name in results.names()}
        counted = {name: one for name, one in found.items() if one is not None and one.counted}
        if counted:
            below = [f"{name} ({one.factor:.2f})" for name, one in counted.items() if one.factor < 1]
            sure = [name for name, one in counted.items() if one.high < LOSS]
            lines.append(
                f"L = {level}: worth below 1 on {len(below)} of {len(counted)} data sets: "
                f"{join(below) or 'none'}. Interval wholly below {LOSS}: {join(sure) or 'none'}."
            )
        pairs = {name: results.means(name, [(BASE, level), (CONSENSUS, level)]) for name in results.names()}
        gains = {name: float(b - a) for name, (a, b) in pairs.items() if not np.isnan(a)}
        if gains:
            less = [f"{name} ({gain:+.3f})" for name, gain in gains.items() if gain < 0]
            lines.append(
                f"L = {level}: captures less than the labelled rows alone on {len(less)} of all {len(gains)} "
                f"data sets that can be judged: {join(less) or 'none'}."
            )
    return lines


def summary(results: WorthResults) -> StudyTable:
    """Every method over all data sets, and its worth on each half."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for method in results.methods:
            found = results.summary(method, level, results.names())
            halves = [results.summary(method, level, results.names(which)) for which in HALVES]
            other = results.summary(method, level, results.names(), "family")
            if found.n_counted or other.n_counted:
                own = (found.n_counted, *known(found[:3]), found.wins, found.losses, *known([found.p]))
                parts = [value for one in halves for value in (one.n_counted, *known(one[:1]))]
                rows.append((level, method, *own, *parts, other.n_counted, *known(other[:1])))
    text = (
        "Geometric mean of the worth over the data sets that count, with its 90 % interval over data sets, "
        "how many are above and below 1, and p of Wilcoxon's signed-rank test. The scale is the same for all "
        "methods: the labels that the consensus of labelled rows alone would need. The foreign reference "
        "decides; the last two columns are by the family reference, which favours rankings of its own kind."
    )
    notes = [
        "Settings are chosen on one half of the data sets and reported on the other.",
        f"{BASE}: what doing nothing reads. It is not exactly 1, because curves are made monotone.",
    ]
    columns = (
        "L", "method", "data sets", "worth", "low", "high", "above 1", "below 1", "p",
        *(f"{what} ({which})" for which in HALVES for what in ("data sets", "worth")),
        "data sets (family)", "worth (family)",
    )  # fmt: skip
    return StudyTable("2_summary", "Worth over data sets", text, columns, rows, notes)


def fair_knn(results: WorthResults) -> StudyTable:
    """Every method against the label-only consensus, by nearest labelled rows."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for method in results.methods:
            found = np.array(list(results.knn_differences(method, level, results.names()).values()))
            if method != BASE and len(found):
                better, worse = int((found > 0).sum()), int((found < 0).sum())
                differences = (float(np.mean(found)), float(np.median(found)))
                rows.append((level, method, len(found), *differences, better, worse, signed_rank(found)))
    text = (
        "How well the nearest labelled rows predict held-out ones in the space that a ranking weights, minus "
        "the same for the consensus of labelled rows alone: mean and median over data sets of the task's "
        "measure, where more than 0 is better, and p of Wilcoxon's signed-rank test."
    )
    columns = ("L", "method", "data sets", "difference", "median", "better", "worse", "p")
    signed = frozenset({"difference", "median"})
    return StudyTable("4_fair_knn", "Fair nearest neighbours", text, columns, rows, digits=3, signed=signed)


def long_table(results: WorthResults) -> StudyTable:
    """For programs: every method, data set and L."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for name in results.names():
            for method in results.methods:
                found = results.worth(name, method, level)
                means = [results.mean(name, method, level, by) for by in ("foreign", "family", "knn")]
                if found is None or np.isnan(means).all():
                    continue
                family = results.worth(name, method, level, "family")
                what = (name, half(name), results.groups[name], level, method, found.n_seeds, *known(means))
                rows.append((*what, *_factors(found, family), found.reason))
    columns = (
        "dataset", "half", "group", "L", "method", "seeds", "captured_foreign", "captured_family", "knn",
        "worth", "low", "high", "worth_family", "reason",
    )  # fmt: skip
    return StudyTable("methods", "", "", columns, rows)


def _factors(found: Worth, family: Worth | None) -> list[float | None]:
    """Factor and interval by the foreign reference, and the factor by the other; empty where unknown."""
    return known([*found[:3], np.nan if family is None else family.factor])


def known(values: Iterable[float]) -> list[float | None]:
    """Numbers for a table, empty cells where there is none."""
    return [None if np.isnan(value) else float(value) for value in values]
