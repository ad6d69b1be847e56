"""Tables of the preset `worth`: tasks, controls, ranks of all methods, the value of subsets (Def. 2.6)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.tasks import HEADINGS
from ..evaluation.ranking_judges import SUBSET_MODELS
from ..evaluation.worth import Worth
from .statistics import Comparison, compare, signed_rank
from .table_format import StudyTable
from .tables_words import join
from .worth_methods import FAMILIES, IN_SUBSETS, LABEL_ONLY
from .worth_results import BASE, CONSENSUS, WorthResults
from .worth_tables import known

CONTROLS = tuple(words for family in FAMILIES.values() if family.control for words in family.shown.values())
NEARLY_ALL = 0.9  # of the data sets: a method that has fewer takes no part in ranks over them


def counted(results: WorthResults, level: int, method: str = CONSENSUS) -> dict[str, Worth]:
    """The data sets on which the worth of a method counts at an L."""
    found = {name: results.worth(name, method, level) for name in results.names()}
    return {name: one for name, one in found.items() if one is not None and one.counted}


def tasks(results: WorthResults) -> StudyTable:
    """The consensus, task by task."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for group in HEADINGS:
            names = [name for name in results.names() if results.groups[name] == group]
            found = results.summary(CONSENSUS, level, names)
            if found.n_counted:
                both = [(BASE, level), (CONSENSUS, level)]
                means = [results.means(name, both) for name in counted(results, level) if name in names]
                own = (*known(np.mean(means, axis=0)), *known(found[:3]), found.wins, found.losses)
                rows.append((level, group, found.n_counted, *own))
    text = (
        "The consensus over the data sets of each task that count: captured importance without and with "
        "unlabelled rows, and the geometric mean of the worth with its 90 % interval over data sets."
    )
    columns = (
        "L", "group", "data sets", "captured, labelled rows", "captured, consensus", "worth", "low", "high",
        "above 1", "below 1",
    )  # fmt: skip
    return StudyTable("3_tasks", "Worth by task", text, columns, rows)


def controls(results: WorthResults) -> StudyTable:
    """The consensus beside what must not gain, on the same data sets."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for control in CONTROLS:
            also = counted(results, level, control)
            names = [name for name in counted(results, level) if name in also]
            if names:
                whole = results.summary(CONSENSUS, level, names)
                found = results.summary(control, level, names)
                own = (*known(found[:3]), found.wins, found.losses, *known([found.p]))
                words = control.removeprefix("control: ")
                rows.append((level, words, len(names), *known(whole[:1]), *own))
    text = (
        "What the consensus is worth with its unlabelled rows, and on the same data sets with rows invented "
        "out of labelled ones in their place, with shuffled labels for teacher and students, and with a "
        "quarter of the unlabelled rows. The first two hold no knowledge: what they seem to be worth is what "
        "the method gains from being a mean of more rankings, not from unlabelled rows."
    )
    columns = (
        "L", "control", "data sets", "worth, consensus", "worth, control", "low", "high", "above 1",
        "below 1", "p",
    )  # fmt: skip
    return StudyTable("5_controls", "Controls", text, columns, rows)


class MethodRanks(NamedTuple):
    """All methods over data sets at one L."""

    comparison: Comparison
    means: dict[str, float]  # captured importance of each method
    without: tuple[str, ...]  # methods that lack too many data sets


def rank_methods(results: WorthResults, level: int) -> MethodRanks | None:
    """Compare all methods but the controls by captured importance; None where there is nothing to compare.

    Methods that lack more than one data set in ten are left out, because they are for some tasks only or not
    finished; then data sets without a seed that all methods have.
    """
    methods = [method for method in results.methods if method not in CONTROLS]
    if not {BASE, CONSENSUS} <= set(methods):
        return None
    known_at = np.array(
        [[results.mean(name, method, level) for method in methods] for name in results.names()]
    )
    judged = ~np.isnan(known_at[:, [methods.index(BASE), methods.index(CONSENSUS)]]).any(axis=1)
    often = (~np.isnan(known_at[judged])).sum(axis=0) >= NEARLY_ALL * judged.sum()
    used = [method for method, kept in zip(methods, often) if kept]
    table = np.array([results.means(name, [(method, level) for method in used]) for name in results.names()])
    table = table[~np.isnan(table).any(axis=1)]
    if len(table) < 2:
        return None
    without = tuple(method for method, kept in zip(methods, often) if not kept)
    return MethodRanks(compare(used, table), dict(zip(used, table.mean(axis=0).tolist())), without)


def ranks(results: WorthResults) -> StudyTable:
    """Average ranks of all methods, and which differ from the consensus."""
    rows: list[tuple[Any, ...]] = []
    notes = []
    for level in results.levels:
        found = rank_methods(results, level)
        if found is None:
            continue
        names = found.comparison.names
        with_it = found.comparison.p_values[names.index(CONSENSUS)]
        for name, rank, p in zip(names, found.comparison.ranks.tolist(), with_it.tolist()):
            apart = None if name == CONSENSUS else p
            rows.append((level, name, found.comparison.n, found.means[name], rank, apart))
        left = f"; for too few data sets: {join(found.without)}" if found.without else ""
        notes.append(f"L = {level}: Friedman's p {found.comparison.friedman:.2g}{left}.")
    text = (
        "Methods by captured importance (foreign reference), mean over data sets, and by average rank, 1 is "
        "best; p of the difference to the consensus by Wilcoxon's signed-rank test, with Holm's correction "
        "for all pairs of methods. Data sets and seeds are those that have all methods of the table."
    )
    columns = ("L", "method", "data sets", "captured", "average rank", "p to the consensus")
    return StudyTable("6_ranks", "All methods", text, columns, rows, notes, digits=3)


def subset_values(results: WorthResults) -> StudyTable:
    """Models on the first features of rankings."""
    rows: list[tuple[Any, ...]] = []
    rankings = [family for family, _, _ in IN_SUBSETS]
    for level in results.levels:
        for model in SUBSET_MODELS:
            found = {}
            for name in results.names():
                some = [results.subsets.get((name, level, ranking), {}) for ranking in rankings]
                seeds = set.intersection(*({seed for seed, _ in one} for one in some))
                if seeds:
                    found[name] = [float(np.mean([one[seed, model] for seed in seeds])) for one in some]
            if found:
                values = np.array(list(found.values()))
                gain = values[:, rankings.index("consensus")] - values[:, rankings.index(LABEL_ONLY)]
                ends = (int((gain > 0).sum()), int((gain < 0).sum()), signed_rank(gain))
                rows.append((level, model, len(found), *values.mean(axis=0).tolist(), *ends))
    text = (
        "Held-out R2 of models outside the family, trained with all labels on the first 5, 10 and 20 % of "
        "the features of a ranking made from L labels: mean over data sets and subsets. How many data sets "
        "are better and worse with unlabelled rows, and p of Wilcoxon's signed-rank test."
    )
    columns = (
        "L", "model", "data sets", "consensus", "consensus, labelled rows", "random forest genie3_oob",
        "better", "worse", "p",
    )  # fmt: skip
    return StudyTable("8_subset_value", "Value of the first features", text, columns, rows, digits=3)
