"""Average ranks of ensembles and rankings, by quality and by time: tables 2, 3, 6 and 7."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

from ..rankers.methods import ENSEMBLES
from .paper import paper_tables
from .plan import FOREST_SCORES, PAPER_FAMILIES, SCORES, SIDES
from .results import Matrix, Results
from .statistics import Comparison, compare, friedman, rank_rows
from .table_format import StudyTable
from .tables_words import JUDGE_NAMES, basis, chosen_ensembles, join, left_out


class RanksRow(NamedTuple):
    """One row of a table of average ranks.

    Attributes
    ----------
    what : tuple of str
        The first cells: which data sets, which judge.
    matrix : Matrix
        Values of the `compared` methods.
    compared : sequence of str
    printed : mapping
        The paper's average ranks, by method.
    found : Comparison, optional
        Where the methods can be told apart by tests.
    """

    what: tuple[str, ...]
    matrix: Matrix
    compared: Sequence[str]
    printed: Mapping[str, float]
    found: Comparison | None = None

    def cells(self, methods: Sequence[str], *between: Any) -> tuple[Any, ...]:
        """What it is about, how many data sets it rests on, our average ranks, and the printed ones."""
        means = rank_rows(self.matrix.values).mean(axis=0).tolist() if self.matrix.names else []
        ours = dict(zip(self.compared, means)).get
        n_data_sets = len(self.matrix.names)
        return (*self.what, n_data_sets, *map(ours, methods), *between, *map(self.printed.get, methods))


def best_ensembles(results: Results) -> StudyTable:
    """Table 2: average ranks of the ensembles for each score."""
    ranked, bold = [], set()
    rows: list[tuple[Any, ...]] = []
    for (label, names), score, (side, pool) in product(results.selections(), FOREST_SCORES, JUDGE_NAMES):
        matrix = results.ensemble_matrix(names, ENSEMBLES, side, score, pool)
        printed = paper_tables()["ensemble_ranks"].get(label, {}).get(score, {}).get(side, {})
        chosen = results.ensembles.get((label, side, pool, score))
        if chosen is not None:
            bold.add((len(rows), 4 + ENSEMBLES.index(chosen)))
        p = friedman(rank_rows(matrix.values)) if matrix.names else None
        ranked.append(RanksRow((label, score, JUDGE_NAMES[side, pool]), matrix, ENSEMBLES, printed))
        rows.append(ranked[-1].cells(ENSEMBLES, p))
    text = "Average ranks of the three ensembles by the area under the "
    text += f"{results.ks[-1]}NN curve over L, 1 is the best."
    columns = ("group", "score", "judge", *_columns(ENSEMBLES, "Friedman p"))
    about_bold = (
        "Bold: the ensemble that stands for the score in the other tables; of equal ones, the faster."
    )
    notes = (basis(results, results.about), about_bold, *left_out(one.matrix for one in ranked))
    title = "Which ensemble for which score"
    return StudyTable("2_best_ensembles", title, text, columns, rows, notes, bold=frozenset(bold))


def ensemble_times(results: Results) -> StudyTable:
    """Table 3: average ranks of the ensembles by time."""
    ranked = []
    for (label, names), side in product(results.selections(), SIDES):
        printed = paper_tables()["ensemble_time_ranks"].get(label, {}) if side == "ssl" else {}
        matrix = results.time_matrix(names, ENSEMBLES, side)
        ranked.append(RanksRow((label, side.upper()), matrix, ENSEMBLES, printed))
    rows = [one.cells(ENSEMBLES) for one in ranked]
    text = "Average ranks of the ensembles by the mean time of the final forest, tuning apart; 1 is fastest."
    columns = ("group", "side", *_columns(ENSEMBLES))
    notes = (basis(results, results.about), *left_out(one.matrix for one in ranked))
    bold = _best(rows, len(ENSEMBLES))
    return StudyTable("3_ensemble_times", "Which ensemble is fast", text, columns, rows, notes, bold=bold)


def compared_rankings(results: Results) -> list[RanksRow]:
    """Every judge and set of data sets that has a ranking; each forest score by its chosen ensemble."""
    ranked = []
    for ((side, pool), judge), (label, names) in product(JUDGE_NAMES.items(), results.selections()):
        if scores := results.compared_everywhere(names):
            matrix = results.quality_matrix(names, [(side, score, pool) for score in scores])
            found = compare(scores, matrix.values) if matrix.names and len(scores) > 1 else None
            printed = paper_tables()["quality_ranks"].get(label, {}) if side == "ssl" else {}
            ranked.append(RanksRow((judge, label), matrix, scores, printed, found))
    return ranked


def quality(results: Results, ranked: Sequence[RanksRow]) -> StudyTable:
    """Table 6: average ranks of the methods."""
    rows = [one.cells(SCORES, None if one.found is None else one.found.friedman) for one in ranked]
    text = (
        f"Average ranks by the area under the {results.ks[-1]}NN curve over L, each forest score by its "
        "chosen ensemble; 1 is the best."
    )
    columns = ("judge", "group", *_columns(SCORES, "Friedman p"))
    notes = [basis(results, results.about), *chosen_ensembles(results, JUDGE_NAMES)]
    notes += left_out(one.matrix for one in ranked)
    bold = _best(rows, len(SCORES))
    return StudyTable("6_quality", "Which ranking is best", text, columns, rows, notes, bold=bold)


def quality_pairs(results: Results, ranked: Iterable[RanksRow]) -> StudyTable:
    """Table 6, second part: which rankings can be told apart."""
    rows: list[tuple[Any, ...]] = []
    for one in ranked:
        if (found := one.found) is not None:
            for i, j in combinations(range(len(found.names)), 2):
                pair = (found.names[i], found.names[j], float(found.ranks[i]), float(found.ranks[j]))
                rows.append((*one.what, found.n, *pair, float(found.p_values[i, j])))
    text = (
        "Every two rankings of the table before, the one with the better average rank first, and the exact "
        "Wilcoxon signed-rank test over data sets, corrected by Holm's rule within the group."
    )
    columns = ("judge", "group", "data sets", "better", "worse", "rank", "rank (worse)", "p (Holm)")
    notes = (basis(results, results.about),)
    return StudyTable("6_quality_pairs", "Which rankings can be told apart", text, columns, rows, notes)


def all_times(results: Results) -> StudyTable:
    """Table 7: average ranks by time at the smallest and the largest L."""
    ranked = []
    for (label, names), end in product(results.selections(), (0, -1)):
        families = results.compared_everywhere(names, "family")
        matrix = results.time_matrix(names, families, "ssl", end)
        cells = [results.time_cells(name, families, "ssl", end) for name in matrix.names]
        levels = Counter(some[0][0] for some in cells)
        shown = join(f"{level} ({n})" if len(levels) > 1 else level for level, n in sorted(levels.items()))
        printed = paper_tables()["time_ranks"].get(label, {}).get("50" if end == 0 else "500", {})
        ranked.append(RanksRow((label, shown), matrix, families, printed))
    rows = [one.cells(PAPER_FAMILIES) for one in ranked]
    text = (
        "Average ranks of the semi-supervised methods by the mean time of the ranking, its setting fixed, "
        "at the smallest and the largest L; 1 is fastest. The paper's figures are those for L = 50 and 500."
    )
    columns = ("group", "L (data sets)", *_columns(PAPER_FAMILIES))
    note = (
        "A data set without records at L = 500 counts with the largest L it has. Seconds are in times.csv; "
        "the jobs shared a machine, and unlike in the paper all methods are compiled the same way."
    )
    notes = (note, *left_out(one.matrix for one in ranked))
    bold = _best(rows, len(PAPER_FAMILIES))
    return StudyTable("7_times", "Which ranking is fast", text, columns, rows, notes, bold=bold)


def _columns(methods: Sequence[str], *between: str) -> tuple[str, ...]:
    """Headings of the cells of a `RanksRow`, without what it is about."""
    return ("data sets", *methods, *between, *(f"{name} (paper)" for name in methods))


def _best(rows: Sequence[tuple[Any, ...]], n: int) -> frozenset[tuple[int, int]]:
    """Cells with the smallest of the `n` ranks from the fourth column on, unless all are equal."""
    found = set()
    for i, row in enumerate(rows):
        ranks = {3 + j: rank for j, rank in enumerate(row[3 : 3 + n]) if rank is not None}
        if len(set(ranks.values())) > 1:
            found |= {(i, j) for j, rank in ranks.items() if rank == min(ranks.values())}
    return frozenset(found)
