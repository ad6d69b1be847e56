"""Average ranks of ensembles and rankings, by quality and by time: tables 2, 3, 6 and 7."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

from ..rankers.methods import ENSEMBLES, FAMILIES
from .paper import paper_tables
from .plan import FOREST_SCORES, SIDES
from .results import SCORES, Key, Matrix, Results
from .statistics import Comparison, compare, friedman, rank_rows
from .table_format import StudyTable
from .tables_words import JUDGES, basis, chosen_ensembles, join, left_out, selections

Row = tuple[Any, ...]


def best_ensembles(results: Results) -> StudyTable:
    """Table 2: average ranks of the ensembles for each score."""
    k = results.ks[-1]
    rows: list[Row] = []
    matrices = []
    bold: set[tuple[int, int]] = set()
    for (label, names), score, (side, pool) in product(selections(results), FOREST_SCORES, JUDGES):
        keys = {n: [Key(n, family, side, score, pool, k) for family in ENSEMBLES] for n in names}
        matrix = results.area_matrix(keys)
        printed = paper_tables()["ensemble_ranks"].get(label, {}).get(score, {}).get(side, {})
        chosen = results.ensembles.get((label, side, pool, score))
        if chosen is not None:
            bold.add((len(rows), 4 + ENSEMBLES.index(chosen)))
        p = friedman(rank_rows(matrix.values)) if matrix.names else None
        matrices.append(matrix)
        rows.append((label, score, JUDGES[side, pool], *_ranks(matrix, ENSEMBLES, ENSEMBLES, printed, p)))
    text = f"Average ranks of the three ensembles by the area under the {k}NN curve over L, 1 is the best."
    columns = ("group", "score", "judge", *_columns(ENSEMBLES, "Friedman p"))
    notes = (
        basis(results, results.about),
        "Bold: the ensemble that stands for the score in the other tables; of equal ones, the faster.",
        *left_out(matrices),
    )
    title = "Which ensemble for which score"
    return StudyTable("2_best_ensembles", title, text, columns, rows, notes, bold=frozenset(bold))


def ensemble_times(results: Results) -> StudyTable:
    """Table 3: average ranks of the ensembles by time."""
    rows: list[Row] = []
    matrices = []
    for (label, names), side in product(selections(results), SIDES):
        matrices.append(results.time_matrix(names, ENSEMBLES, side))
        printed = paper_tables()["ensemble_time_ranks"].get(label, {}) if side == "ssl" else {}
        rows.append((label, side.upper(), *_ranks(matrices[-1], ENSEMBLES, ENSEMBLES, printed)))
    text = "Average ranks of the ensembles by the mean time of the final forest, tuning apart; 1 is fastest."
    columns = ("group", "side", *_columns(ENSEMBLES))
    notes = (basis(results, results.about), *left_out(matrices))
    bold = _best(rows, len(ENSEMBLES))
    return StudyTable("3_ensemble_times", "Which ensemble is fast", text, columns, rows, notes, bold=bold)


class Compared(NamedTuple):
    """Rankings of one set of data sets under one judge; `found` is None where nothing can be compared."""

    side: str
    judge: str
    label: str
    scores: tuple[str, ...]
    matrix: Matrix
    found: Comparison | None


def compared_rankings(results: Results) -> list[Compared]:
    """Every judge and set of data sets that has a ranking; each forest score by its chosen ensemble."""
    compared = []
    for ((side, pool), judge), (label, names) in product(JUDGES.items(), selections(results)):
        if scores := results.compared_everywhere(names):
            columns = [(side, score, pool) for score in scores]
            matrix = results.quality_matrix(names, columns)
            found = compare(scores, matrix.values) if matrix.names and len(scores) > 1 else None
            compared.append(Compared(side, judge, label, scores, matrix, found))
    return compared


def quality(results: Results, compared: Sequence[Compared]) -> StudyTable:
    """Table 6: average ranks of the methods."""
    rows: list[Row] = []
    for one in compared:
        printed = paper_tables()["quality_ranks"].get(one.label, {}) if one.side == "ssl" else {}
        p = None if one.found is None else one.found.friedman
        rows.append((one.judge, one.label, *_ranks(one.matrix, one.scores, SCORES, printed, p)))
    text = (
        f"Average ranks by the area under the {results.ks[-1]}NN curve over L, each forest score by its "
        "chosen ensemble; 1 is the best."
    )
    columns = ("judge", "group", *_columns(SCORES, "Friedman p"))
    notes = [basis(results, results.about), *chosen_ensembles(results, JUDGES)]
    notes += left_out(one.matrix for one in compared)
    bold = _best(rows, len(SCORES))
    return StudyTable("6_quality", "Which ranking is best", text, columns, rows, notes, bold=bold)


def quality_pairs(results: Results, compared: Iterable[Compared]) -> StudyTable:
    """Table 6, second part: which rankings can be told apart."""
    rows: list[Row] = []
    for one in compared:
        if (found := one.found) is not None:
            for i, j in combinations(range(len(found.names)), 2):
                pair = (found.names[i], found.names[j], float(found.ranks[i]), float(found.ranks[j]))
                rows.append((one.judge, one.label, found.n, *pair, float(found.p_values[i, j])))
    text = (
        "Every two rankings of the table before, the one with the better average rank first, and the exact "
        "Wilcoxon signed-rank test over data sets, corrected by Holm's rule within the group."
    )
    columns = ("judge", "group", "data sets", "better", "worse", "rank", "rank (worse)", "p (Holm)")
    notes = (basis(results, results.about),)
    return StudyTable("6_quality_pairs", "Which rankings can be told apart", text, columns, rows, notes)


def all_times(results: Results) -> StudyTable:
    """Table 7: average ranks by time at the smallest and the largest L."""
    rows: list[Row] = []
    matrices = []
    for (label, names), end in product(selections(results), (0, -1)):
        families = results.compared_everywhere(names, "family")
        matrix = results.time_matrix(names, families, "ssl", end)
        matrices.append(matrix)
        cells = [results.time_cells(name, families, "ssl", end) for name in matrix.names]
        levels = Counter(some[0][0] for some in cells)
        shown = join(f"{level} ({n})" if len(levels) > 1 else level for level, n in sorted(levels.items()))
        printed = paper_tables()["time_ranks"].get(label, {}).get("50" if end == 0 else "500", {})
        rows.append((label, shown, *_ranks(matrix, families, FAMILIES, printed)))
    text = (
        "Average ranks of the semi-supervised methods by the mean time of the ranking, its setting fixed, "
        "at the smallest and the largest L; 1 is fastest. The paper's figures are those for L = 50 and 500."
    )
    columns = ("group", "L (data sets)", *_columns(FAMILIES))
    notes = (
        "A data set that cannot hold 500 labels counts with the most it holds. Seconds are in times.csv; "
        "the jobs shared a machine, and unlike in the paper all methods are compiled the same way.",
        *left_out(matrices),
    )
    bold = _best(rows, len(FAMILIES))
    return StudyTable("7_times", "Which ranking is fast", text, columns, rows, notes, bold=bold)


def _columns(names: Sequence[str], *between: str) -> tuple[str, ...]:
    """Headings of the cells that `_ranks` gives."""
    return ("data sets", *names, *between, *(f"{name} (paper)" for name in names))


def _ranks(
    matrix: Matrix, compared: Sequence[str], names: Sequence[str], printed: Mapping[str, float], *between: Any
) -> Row:
    """The number of data sets, our average ranks of `names` (`compared` are known), and the printed ones."""
    means = rank_rows(matrix.values).mean(axis=0).tolist() if matrix.names else []
    ours = dict(zip(compared, means))
    return (len(matrix.names), *map(ours.get, names), *between, *map(printed.get, names))


def _best(rows: Sequence[Row], n: int) -> frozenset[tuple[int, int]]:
    """Cells with the smallest of the `n` ranks from the fourth column on, unless all are equal."""
    found = set()
    for i, row in enumerate(rows):
        ranks = {3 + j: rank for j, rank in enumerate(row[3 : 3 + n]) if rank is not None}
        if len(set(ranks.values())) > 1:
            found |= {(i, j) for j, rank in ranks.items() if rank == min(ranks.values())}
    return frozenset(found)
