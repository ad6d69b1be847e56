"""Semi-supervised minus supervised: tables 4 and 5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from .paper import paper_tables, printed_differences, printed_hypothesis
from .plan import SCORES
from .results import DEFINITIONS, Difference, Results
from .statistics import signed_rank, spearman
from .table_format import StudyTable
from .tables_words import AREAS, DEFINITION_NAMES, DEFINITION_TEXT, RESTS_ON, basis, chosen_ensembles, join

Found = Mapping[tuple[str, int], Sequence[Difference]]  # by definition and number of neighbours
_CH = ("CH (paper)", "CH (ours)")  # how well clusters resemble the target


def more_global(results: Results, found: Found) -> StudyTable:
    """Table 4: how often the difference grows with the number of neighbours."""
    low, high = results.ks[0], results.ks[-1]
    definitions = ("fair", "paper", "pool")
    rows = []
    for label, names in results.selections():
        row: list[Any] = [label]
        for definition in definitions:
            near, far = ({(d.dataset, d.score): d.value for d in found[definition, k]} for k in (low, high))
            both = [far[key] - near[key] > 0 for key in far if key[0] in names and key in near]
            row += [sum(both) / len(both) if both else None, len(both)]
        rows.append((*row, paper_tables()["more_global_share"].get(label)))
    text = (
        f"Share of rankings (data set x score) whose difference SSL minus SL is larger with {high} than "
        f"with {low} neighbours. {DEFINITION_TEXT}"
    )
    columns = ("group", *(c for d in definitions for c in (DEFINITION_NAMES[d], "of")), "paper")
    notes = (basis(results, results.about), "of: the number of rankings that the share is taken of.")
    title = "Are semi-supervised rankings more global?"
    return StudyTable("4_more_global", title, text, columns, rows, notes)


def difference_table(
    results: Results, found: Sequence[Difference], name: str, definition: str, ch: Mapping[str, float]
) -> StudyTable:
    """Table 5: differences of areas for each data set and score."""
    values = {(d.dataset, d.score): d for d in found}
    scores = [s for s in SCORES if any(d.score == s for d in found)]
    rows, absent = [], []
    for dataset, about in results.about.items():
        some = {s: values[dataset, s] for s in scores if (dataset, s) in values}
        if not some:
            absent.append(dataset)
            continue
        printed = printed_differences(about.group, dataset)
        cells = [v for s in scores for v in (some[s].value if s in some else None, printed.get(s))]
        rests_on: set[tuple[Any, Any]] = {(join(d.levels), d.n_folds) for d in some.values()}
        shown = rests_on.pop() if len(rests_on) == 1 else ("differ", "differ")
        hypothesis = (printed_hypothesis(about.group, dataset), ch.get(dataset))
        rows.append((results.shown_name(dataset), about.group, *cells, *hypothesis, *shown))
    notes = [_judged(results)]
    if any(row[-1] == "differ" for row in rows):
        notes.append(f"Where scores rest on different L or folds, see differences_{results.ks[-1]}nn.csv.")
    if absent:
        notes.append(f"No score has both sides yet: {join(absent)}.")
    title = f"SSL minus SL: {DEFINITION_NAMES[definition]}"
    text = f"Differences of areas; more than 0: the semi-supervised ranking is better. {DEFINITION_TEXT}"
    differences = [column for score in scores for column in (score, f"{score} (paper)")]
    columns = ("data set", "group", *differences, *_CH, *RESTS_ON)
    notes += chosen_ensembles(results, DEFINITIONS[definition])
    return StudyTable(name, title, text, columns, rows, notes, digits=3, signed=frozenset(differences))


def pool_effect(results: Results, found: Sequence[Difference], ch: Mapping[str, float]) -> StudyTable:
    """Table 5c: what the change of pool does without any ranking, beside the paper's range."""
    rows = []
    for d in found:
        printed = printed_differences(d.group, d.dataset).values()
        between = (min(printed), max(printed)) if printed else (None, None)
        name = results.shown_name(d.dataset)
        hypothesis = (printed_hypothesis(d.group, d.dataset), ch.get(d.dataset))
        rows.append((name, d.group, d.value, *between, *hypothesis, join(d.levels), d.n_folds))
    title = f"SSL minus SL: {DEFINITION_NAMES['pool']}"
    text = (
        "The area with every training row in the judge's pool minus the area with the labelled ones only, "
        "all features counting 1, beside the smallest and largest difference that the paper prints."
    )
    differences = ("pool effect", "paper, lowest", "paper, highest")
    columns = ("data set", "group", *differences, *_CH, *RESTS_ON)
    notes = (_judged(results),)
    signed = frozenset(differences)
    return StudyTable("5c_pool_effect", title, text, columns, rows, notes, digits=3, signed=signed)


def agreement(results: Results, found: Found) -> StudyTable:
    """How well each definition's differences agree with the printed ones."""
    rows: list[tuple[Any, ...]] = []
    for k, definition, group in product(results.ks[::-1], DEFINITION_NAMES, (*results.groups, "all")):
        pairs = paper_pairs(found[definition, k], None if group == "all" else group)
        if not pairs:
            continue
        by_name = {name: [p[1:] for p in pairs if p[0] == name] for name, *_ in pairs}
        row: list[Any] = [k, DEFINITION_NAMES[definition], group]
        for some in ([p[1:] for p in pairs], [np.mean(each, axis=0) for each in by_name.values()]):
            ours, printed = np.array(some, dtype=float).T
            error = float(np.mean(np.abs(ours - printed)))
            row += [len(some), equal_signs(ours, printed), spearman(ours, printed), error]
        rows.append(tuple(row))
    text = (
        "Share of equal signs, Spearman's correlation and mean distance between our differences and the "
        f"printed ones, which are with {results.ks[-1]} neighbours, over pairs (data set, score) and over "
        f"data sets (means over their scores). {DEFINITION_TEXT}"
    )
    figures = ("equal signs", "Spearman", "mean error")
    by_data_set = [f"{figure} (data sets)" for figure in figures]
    columns = ("neighbours", "difference", "group", "pairs", *figures, "data sets", *by_data_set)
    notes = (
        "Stand-ins have no printed differences and are not counted. A difference of exactly 0 is a sign "
        "of its own.",
        basis(results, results.names()),
    )
    title = "Agreement with the paper's differences"
    return StudyTable("5d_agreement", title, text, columns, rows, notes, digits=3)


def paper_pairs(found: Iterable[Difference], group: str | None) -> list[tuple[str, float, float]]:
    """(data set, ours, printed), for each printed score; no ranking is compared with all of them."""
    pairs = []
    for d in found:
        if group in (None, d.group):
            printed = printed_differences(d.group, d.dataset)
            scores = printed if d.score == "equal" else [d.score]
            pairs += [(d.dataset, d.value, printed[s]) for s in scores if s in printed]
    return pairs


def equal_signs(ours: np.ndarray, printed: np.ndarray) -> float:
    """The share of pairs that agree whether the difference is below, at or above 0."""
    return float(np.mean(np.sign(ours) == np.sign(printed)))


def effect(results: Results, found: Found) -> StudyTable:
    """Do the unlabelled rows help? Counts, medians and Wilcoxon's test over data sets."""
    rows = []
    cases = product(results.ks[::-1], ("fair", "paper", "pool"), results.selections(), (*SCORES, "equal"))
    for k, definition, (label, names), score in cases:
        some = [d.value for d in found[definition, k] if d.score == score and d.dataset in names]
        if some:
            values = np.array(some)
            better, worse = int((values > 0).sum()), int((values < 0).sum())
            counts = (len(values), better, worse, float(np.median(values)), signed_rank(values))
            rows.append((k, DEFINITION_NAMES[definition], label, score, *counts))
    text = (
        "On how many data sets the semi-supervised side is better or worse, the median difference of areas, "
        f"and Wilcoxon's exact signed-rank test. {DEFINITION_TEXT}"
    )
    columns = ("neighbours", "difference", "group", "score", "data sets", "better", "worse", "median", "p")
    uncorrected = "p is not corrected for the number of rows here; six data sets cannot give less than 0.03."
    notes = (uncorrected, AREAS)
    return StudyTable("5e_effect", "Do the unlabelled rows help?", text, columns, rows, notes, digits=4)


def _judged(results: Results) -> str:
    return f"Judged with {results.ks[-1]} neighbours. {AREAS}"
