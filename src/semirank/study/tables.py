"""The tables of the study, ours beside the paper's (Def. 2.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..runtime.atomic_write import write_together
from . import plan
from .paper import paper_names, paper_tables
from .properties import CH, DEPTH, EXAMPLES, FEATURES, MAJORITY, PER_ROW, SIZE
from .records import Record
from .results import (
    DEFINITIONS,
    ENSEMBLES,
    FAMILIES,
    FOREST_SCORES,
    POOLS,
    SCORES,
    Cell,
    Difference,
    Key,
    Matrix,
    Results,
    area_matrix,
    collect,
    differences,
    level_means,
    methods,
    quality_matrix,
    time_cells,
    time_matrix,
)
from .statistics import Comparison, compare, friedman, rank_rows, signed_rank
from .store import JobRow
from .table_format import Sheet

JUDGES = {  # side and pool -> how tables call it
    ("ssl", "labelled"): "SSL, fair",
    ("ssl", "all"): "SSL, paper's judge",
    ("sl", "labelled"): "SL",
}
DEFINITION_NAMES = {
    "fair": "(a) fair judge",
    "paper": "(b) paper's judge",
    "pool": "(c) pool effect alone",
    "all": "(d) both sides with pool 'all'",
}
DEFINITION_TEXT = (
    "(a) judges both rankings by labelled neighbours only and decides whether unlabelled rows help the "
    "ranking. (b) lets unlabelled rows hold neighbour slots on the semi-supervised side only, as the paper's "
    "program does. (c) uses no ranking at all, every feature counts 1: what the change of pool does alone."
)
AREAS = (
    "Areas are divided by the range of L; the paper's are over L = 50, 100, 200, 350, 500 as far as a data "
    "set holds them, so other L make another scale."
)


def write_tables(
    records: Iterable[Record],
    out: Path | str,
    *,
    jobs: Iterable[JobRow] = (),
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
    jobs : iterable of JobRow, optional
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
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    results = collect(records, stand_ins)
    files: dict[Path, str | bytes] = {}
    for sheet in sheets(results, jobs, properties or {}):
        if not sheet.only_csv:
            files[folder / f"{sheet.name}.md"] = sheet.markdown()
        files[folder / f"{sheet.name}.csv"] = sheet.csv()
    write_together(files)
    return list(files)


def sheets(
    results: Results, jobs: Iterable[JobRow], properties: Mapping[str, Mapping[str, float]]
) -> list[Sheet]:
    """All tables."""
    ch = {name: numbers[CH] for name, numbers in properties.items() if CH in numbers}
    if not results.about:
        return [coverage(results, jobs), data_sets(results, properties)]
    k = results.ks[-1]
    found = {(d, n): differences(results, d, n) for d, n in product(DEFINITIONS, results.ks)}
    main = {definition: found[definition, k] for definition in DEFINITIONS}
    compared = _compared(results)
    return [
        coverage(results, jobs),
        data_sets(results, properties),
        best_ensembles(results),
        ensemble_times(results),
        more_global(results, found),
        difference_table(results, main["fair"], "5a_differences_fair", "fair"),
        difference_table(results, main["paper"], "5b_differences_paper_judge", "paper"),
        pool_effect(results, main["pool"], ch),
        agreement(results, found),
        effect(results, found),
        quality(results, compared),
        quality_pairs(results, compared),
        all_times(results),
        supervision(results),
        relief_settings(results),
        *(
            long_differences([d for (_, n), some in found.items() if n == k for d in some], k)
            for k in results.ks
        ),
        long_curves(results),
        long_times(results),
    ]


def selections(results: Results) -> list[tuple[str, tuple[str, ...]]]:
    """Sets of data sets to average over: the paper's own by group, all of them, then with the stand-ins."""
    found = []
    for group in results.groups:
        own = results.names(group)
        found.append((group, own) if own else (f"{group} (stand-ins)", results.names(group, stand_ins=True)))
    own, everything = results.names(), results.names(stand_ins=True)
    if own:
        found.append(("all", own))
    if len(everything) > len(own):
        found.append(("all with stand-ins", everything))
    return found


def shown_name(results: Results, name: str) -> str:
    """A data set's name, marked if it stands in for another."""
    original = results.about[name].stand_in_for
    return name if original is None else f"{name} [stand-in for {original}]"


def basis(results: Results, names: Iterable[str]) -> str:
    """What a figure rests on: data sets, folds and L."""
    names = list(names)
    folds: dict[int, list[str]] = {}
    levels: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        cells = _cells(results, name)
        folds.setdefault(len({fold for _, fold in cells}), []).append(name)
        levels.setdefault(tuple(sorted({level for level, _ in cells})), []).append(name)
    some_folds = " or ".join(str(n) for n in sorted(folds)) or "0"
    longest = max(levels, key=len, default=())
    text = f"{len(names)} data sets, {some_folds} folds, L = {_join(longest)}"
    rest = [f"{_join(some)} ({_join(who)})" for some, who in levels.items() if some != longest]
    return text + (f"; other L: {'; '.join(rest)}" if rest else "") + "."


def coverage(results: Results, jobs: Iterable[JobRow]) -> Sheet:
    """What has been run, and what is left of the plan."""
    done = _done(results)
    jobs = list(jobs)
    planned = _planned(results, done, jobs)
    groups = {job.dataset: job.group for job in jobs}
    rows: list[tuple[Any, ...]] = []
    unfinished = []
    for name in dict.fromkeys([*results.about, *planned]):
        missing = []
        for family, cells in planned.get(name, {}).items():
            left = cells - done.get((name, family), set())
            if left:
                missing.append(f"{family} {len(cells) - len(left)} of {len(cells)}")
        if missing:
            unfinished.append(name)
        about = results.about.get(name)
        what = (
            (shown_name(results, name), about.group, about.measure) if about else (name, groups[name], None)
        )
        cells = _cells(results, name)
        folds, levels = len({fold for _, fold in cells}), sorted({level for level, _ in cells})
        rows.append((*what, folds, _join(levels), _join(missing)))
    absent = [name for name in paper_names() if name not in results.about]
    notes = [f"Data sets with records: {len(results.about)}. Not complete: {_join(unfinished) or 'none'}."]
    if absent:
        standing = {n: [s for s, a in results.about.items() if a.stand_in_for == n] for n in absent}
        named = [f"{n} (stand-in: {' and '.join(some)})" if some else n for n, some in standing.items()]
        notes.append(
            f"No records for {len(absent)} of the paper's {len(paper_names())} data sets: {_join(named)}."
        )
    return Sheet(
        "0_coverage",
        "What has been run",
        "Data sets, their folds and numbers of labels with records, and (L, fold) cells still to do: those "
        "that are planned, and for every method that was run anywhere, all cells of a data set.",
        ("data set", "group", "measure", "folds", "L", "not finished"),
        tuple(rows),
        tuple(notes),
    )


def _done(results: Results) -> dict[tuple[str, str], set[Cell]]:
    """The (L, fold) cells that each data set and family has records for."""
    found: dict[tuple[str, str], set[Cell]] = {}
    for key, curve in results.values.items():
        found.setdefault((key.dataset, key.family), set()).update(curve)
    return found


def _planned(
    results: Results, done: Iterable[tuple[str, str]], jobs: Iterable[JobRow]
) -> dict[str, dict[str, set[Cell]]]:
    """The (L, fold) cells of every data set and family.

    Those that the store plans, and those that the records let expect: a family that was seen anywhere, in all
    cells of a data set. An imported store has no other plan.
    """
    found: dict[str, dict[str, set[Cell]]] = {}
    seen = {family for _, family in done}
    for name, about in results.about.items():
        # Laplace is for single numbers only; the others are expected wherever the study goes.
        fitting = [f for f in plan.FAMILIES if f in seen and (f != "laplace" or about.group == "STR")]
        found[name] = {family: _cells(results, name) for family in fitting}
    for job in jobs:
        found.setdefault(job.dataset, {}).setdefault(job.family, set()).add((job.n_labeled, job.fold))
    return found


def data_sets(results: Results, properties: Mapping[str, Mapping[str, float]]) -> Sheet:
    """Table 1: sizes as the paper prints them, ours where they differ and for stand-ins, and CH by both."""
    rows: list[tuple[Any, ...]] = []
    sizes = (EXAMPLES, FEATURES, SIZE, MAJORITY, PER_ROW, DEPTH)
    for group, some in paper_tables()["datasets"].items():
        for name, printed in some.items():
            size = next(key for key in ("classes", "labels", "targets") if key in printed)
            rows.append(
                (
                    name, group, printed["examples"], printed["features"], printed[size],
                    printed.get("majority_share"), printed.get("label_cardinality"), printed.get("depth"),
                    printed["ch"] + 0.0, _number(properties.get(name, {}).get(CH)),
                    "yes" if name in results.about else "no",
                    _other_sizes(properties.get(name, {}), printed, size),
                )
            )  # fmt: skip
        for name, about in results.about.items():
            if about.group == group and name not in some:
                own = properties.get(name, {})
                whole = {s: int(own[s]) for s in (EXAMPLES, FEATURES, SIZE, DEPTH) if s in own}
                found = [{**own, **whole}.get(size) for size in sizes]
                rows.append((shown_name(results, name), group, *found, None, _number(own.get(CH)), "yes", ""))
    n_known = sum(CH in properties.get(name, {}) for name in {*paper_names(), *results.about})
    notes = [
        "Sizes and CH (paper) are the printed ones; the sizes of stand-ins are those of the files. The last "
        "column has the sizes of our files where they are known and differ from the printed ones.",
        f"CH (ours) is known for {n_known} data sets: "
        "k-means clusters against the target, with the square root that the printed column needs.",
    ]
    return Sheet(
        "1_data_sets",
        "Data sets",
        "Properties of the paper's data sets and of the stand-ins that were run.",
        ("data set", "group", *sizes, "CH (paper)", "CH (ours)", "run", "our files"),
        tuple(rows),
        tuple(notes),
    )


def _other_sizes(ours: Mapping[str, float], printed: Mapping[str, float], size: str) -> str:
    """The sizes of our files that are not the printed ones."""
    pairs = ((EXAMPLES, "examples"), (FEATURES, "features"), (SIZE, size))
    return _join(f"{int(ours[a])} {b}" for a, b in pairs if ours.get(a, printed[b]) != printed[b])


def best_ensembles(results: Results) -> Sheet:
    """Table 2: average ranks of the ensembles for each score."""
    k = results.ks[-1]
    rows: list[tuple[Any, ...]] = []
    bold: set[tuple[int, int]] = set()
    left_out: dict[str, None] = {}
    for label, names in selections(results):
        for score, (side, pool) in product(FOREST_SCORES, JUDGES):
            keys = {n: [Key(n, family, side, score, pool, k) for family in ENSEMBLES] for n in names}
            matrix = area_matrix(results, keys)
            left_out |= dict.fromkeys(matrix.left_out)
            ours = _ranks(matrix, len(ENSEMBLES))
            printed = paper_tables()["ensemble_ranks"].get(label, {}).get(score, {}).get(side, {})
            chosen = results.ensembles.get((label, side, pool, score))
            if chosen is not None:
                bold.add((len(rows), 4 + ENSEMBLES.index(chosen)))
            p = friedman(rank_rows(matrix.values)) if matrix.names else None
            rows.append(
                (label, score, JUDGES[side, pool], len(matrix.names), *ours, p, *map(printed.get, ENSEMBLES))
            )
    return Sheet(
        "2_best_ensembles",
        "Which ensemble for which score",
        f"Average ranks of the three ensembles by the area under the {k}NN curve over L, 1 is the best.",
        (
            "group", "score", "judge", "data sets", *ENSEMBLES, "Friedman p",
            *(f"{f} (paper)" for f in ENSEMBLES),
        ),
        tuple(rows),
        (
            basis(results, results.about),
            "Bold: the ensemble that stands for the score in the other tables; of equal ones, the faster.",
            *_left_out(left_out),
        ),
        bold=frozenset(bold),
    )  # fmt: skip


def ensemble_times(results: Results) -> Sheet:
    """Table 3: average ranks of the ensembles by time."""
    rows: list[tuple[Any, ...]] = []
    left_out: dict[str, None] = {}
    for (label, names), side in product(selections(results), ("ssl", "sl")):
        matrix = time_matrix(results, names, ENSEMBLES, side)
        left_out |= dict.fromkeys(matrix.left_out)
        printed = paper_tables()["ensemble_time_ranks"].get(label, {}) if side == "ssl" else {}
        ours = _ranks(matrix, len(ENSEMBLES))
        rows.append((label, side.upper(), len(matrix.names), *ours, *map(printed.get, ENSEMBLES)))
    return Sheet(
        "3_ensemble_times",
        "Which ensemble is fast",
        "Average ranks of the ensembles by the mean time of the final forest, tuning apart; 1 is fastest.",
        ("group", "side", "data sets", *ENSEMBLES, *(f"{f} (paper)" for f in ENSEMBLES)),
        tuple(rows),
        (basis(results, results.about), *_left_out(left_out)),
        bold=_best(rows, 3, len(ENSEMBLES)),
    )


def more_global(results: Results, found: Mapping[tuple[str, int], Sequence[Difference]]) -> Sheet:
    """Table 4: how often the difference grows with the number of neighbours."""
    low, high = results.ks[0], results.ks[-1]
    definitions = ("fair", "paper", "pool")
    rows = []
    for label, names in selections(results):
        row: list[Any] = [label]
        for definition in definitions:
            near, far = ({(d.dataset, d.score): d.value for d in found[definition, k]} for k in (low, high))
            both = [far[key] - near[key] > 0 for key in far if key[0] in names and key in near]
            row += [sum(both) / len(both) if both else None, len(both)]
        rows.append((*row, paper_tables()["more_global_share"].get(label)))
    columns = [c for d in definitions for c in (DEFINITION_NAMES[d], "of")]
    return Sheet(
        "4_more_global",
        "Are semi-supervised rankings more global?",
        f"Share of rankings (data set x score) whose difference SSL minus SL is larger with {high} than "
        f"with {low} neighbours. {DEFINITION_TEXT}",
        ("group", *columns, "paper"),
        tuple(rows),
        (basis(results, results.about), "of: the number of rankings that the share is taken of."),
    )


def difference_table(results: Results, found: Sequence[Difference], name: str, definition: str) -> Sheet:
    """Table 5: differences of areas for each data set and score."""
    values = {(d.dataset, d.score): d for d in found}
    scores = [s for s in SCORES if any(d.score == s for d in found)]
    rows, absent = [], []
    for dataset, about in results.about.items():
        some = [values[dataset, s] for s in scores if (dataset, s) in values]
        if not some:
            absent.append(dataset)
            continue
        printed = _printed(about.group, dataset)
        cells = [v for s in scores for v in (_value(values.get((dataset, s))), printed.get(s))]
        rests_on: set[tuple[Any, Any]] = {(_join(d.levels), d.n_folds) for d in some}
        shown = rests_on.pop() if len(rests_on) == 1 else ("differ", "differ")
        rows.append((shown_name(results, dataset), about.group, *cells, *shown))
    notes = [_judged(results)]
    if any(row[-1] == "differ" for row in rows):
        notes.append(f"Where scores rest on different L or folds, see differences_{results.ks[-1]}nn.csv.")
    if absent:
        notes.append(f"No score has both sides yet: {_join(absent)}.")
    return Sheet(
        name,
        f"SSL minus SL: {DEFINITION_NAMES[definition]}",
        f"Differences of areas; more than 0: the semi-supervised ranking is better. {DEFINITION_TEXT}",
        ("data set", "group", *(c for s in scores for c in (s, f"{s} (paper)")), "L", "folds"),
        tuple(rows),
        (*notes, *_choices(results, zip(("ssl", "sl"), POOLS[definition]))),
        digits=3,
        signed=True,
    )


def pool_effect(results: Results, found: Sequence[Difference], ch: Mapping[str, float]) -> Sheet:
    """Table 5c: what the change of pool does without any ranking, beside the paper's range."""
    rows = []
    for d in found:
        printed = list(_printed(d.group, d.dataset).values())
        between = (min(printed), max(printed)) if printed else (None, None)
        name = shown_name(results, d.dataset)
        rows.append(
            (name, d.group, d.value, *between, _number(ch.get(d.dataset)), _join(d.levels), d.n_folds)
        )
    return Sheet(
        "5c_pool_effect",
        f"SSL minus SL: {DEFINITION_NAMES['pool']}",
        "The area with every training row in the judge's pool minus the area with the labelled ones only, "
        "all features counting 1, beside the smallest and largest difference that the paper prints.",
        ("data set", "group", "pool effect", "paper, lowest", "paper, highest", "CH (ours)", "L", "folds"),
        tuple(rows),
        (_judged(results),),
        digits=3,
        signed=True,
    )


def agreement(results: Results, found: Mapping[tuple[str, int], Sequence[Difference]]) -> Sheet:
    """How well each definition's differences agree with the printed ones."""
    rows: list[tuple[Any, ...]] = []
    for k, definition, group in product(results.ks[::-1], DEFINITION_NAMES, (*results.groups, "all")):
        pairs = paper_pairs(found[definition, k], None if group == "all" else group)
        if not pairs:
            continue
        means = [
            tuple(np.mean([p[1:] for p in pairs if p[0] == name], axis=0))
            for name in dict.fromkeys(p[0] for p in pairs)
        ]
        row: list[Any] = [k, DEFINITION_NAMES[definition], group]
        for some in ([p[1:] for p in pairs], means):
            ours, printed = np.array(some, dtype=float).T
            same = float(np.mean(np.sign(ours) == np.sign(printed)))
            row += [len(some), same, spearman(ours, printed)]
        rows.append(tuple(row))
    return Sheet(
        "5d_agreement",
        "Agreement with the paper's differences",
        "Share of equal signs and Spearman's correlation between our differences and the printed ones, which "
        f"are with {results.ks[-1]} neighbours, over pairs (data set, score) and over data sets (means over "
        f"their scores). {DEFINITION_TEXT}",
        (
            "neighbours", "difference", "group", "pairs", "equal signs", "Spearman",
            "data sets", "equal signs (data sets)", "Spearman (data sets)",
        ),
        tuple(rows),
        (
            "Stand-ins have no printed differences and are not counted. A difference of exactly 0 is a sign "
            "of its own.",
            basis(results, results.names()),
        ),
    )  # fmt: skip


def paper_pairs(found: Iterable[Difference], group: str | None) -> list[tuple[str, float, float]]:
    """(data set, ours, printed), for each printed score; no ranking is compared with all of them."""
    pairs = []
    for d in found:
        if group in (None, d.group):
            printed = _printed(d.group, d.dataset)
            scores = printed if d.score == "equal" else [d.score]
            pairs += [(d.dataset, d.value, printed[s]) for s in scores if s in printed]
    return pairs


def spearman(a: np.ndarray, b: np.ndarray) -> float | None:
    """Rank correlation; None where it is not defined.

    Examples
    --------
    >>> spearman(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), spearman(np.ones(3), np.ones(3))
    (0.5, None)
    """
    if len(a) < 3:
        return None
    ranks = rank_rows(np.array([a, b]))
    if np.any(ranks.std(axis=1) == 0):
        return None
    return float(np.corrcoef(ranks)[0, 1])


def effect(results: Results, found: Mapping[tuple[str, int], Sequence[Difference]]) -> Sheet:
    """Do the unlabelled rows help? Counts, medians and Wilcoxon's test over data sets."""
    rows = []
    cases = product(results.ks[::-1], ("fair", "paper", "pool"), selections(results), (*SCORES, "equal"))
    for k, definition, (label, names), score in cases:
        some = (d.value for d in found[definition, k] if d.score == score and d.dataset in names)
        values = np.array(list(some))
        if len(values):
            better, worse = int((values > 0).sum()), int((values < 0).sum())
            counts = (len(values), better, worse, float(np.median(values)), signed_rank(values))
            rows.append((k, DEFINITION_NAMES[definition], label, score, *counts))
    return Sheet(
        "5e_effect",
        "Do the unlabelled rows help?",
        "On how many data sets the semi-supervised side is better or worse, the median difference of areas, "
        f"and Wilcoxon's exact signed-rank test. {DEFINITION_TEXT}",
        ("neighbours", "difference", "group", "score", "data sets", "better", "worse", "median", "p"),
        tuple(rows),
        (
            "p is not corrected for the number of rows here; six data sets cannot give less than 0.03.",
            AREAS,
        ),
        digits=4,
    )


class _Compared(NamedTuple):
    """Rankings of one set of data sets under one judge; `found` is None where nothing can be compared."""

    side: str
    judge: str
    label: str
    scores: tuple[str, ...]
    matrix: Matrix
    found: Comparison | None


def _compared(results: Results) -> list[_Compared]:
    """Every judge and set of data sets that has a ranking; each forest score by its chosen ensemble."""
    compared = []
    for (side, pool), (label, names) in product(JUDGES, selections(results)):
        scores = methods(results, names)
        if scores:
            columns = [(side, score, pool) for score in scores]
            matrix = quality_matrix(results, names, columns, results.ks[-1])
            found = compare(scores, matrix.values) if matrix.names and len(scores) > 1 else None
            compared.append(_Compared(side, JUDGES[side, pool], label, scores, matrix, found))
    return compared


def quality(results: Results, compared: Iterable[_Compared]) -> Sheet:
    """Table 6: average ranks of the methods."""
    rows: list[tuple[Any, ...]] = []
    left_out: dict[str, None] = {}
    for one in compared:
        left_out |= dict.fromkeys(one.matrix.left_out)
        ranks = dict(zip(one.scores, _ranks(one.matrix, len(one.scores))))
        printed = paper_tables()["quality_ranks"].get(one.label, {}) if one.side == "ssl" else {}
        p = None if one.found is None else one.found.friedman
        ours = [ranks.get(s) for s in SCORES]
        rows.append((one.judge, one.label, len(one.matrix.names), *ours, p, *map(printed.get, SCORES)))
    return Sheet(
        "6_quality",
        "Which ranking is best",
        f"Average ranks by the area under the {results.ks[-1]}NN curve over L, each forest score by its "
        "chosen ensemble; 1 is the best.",
        ("judge", "group", "data sets", *SCORES, "Friedman p", *(f"{s} (paper)" for s in SCORES)),
        tuple(rows),
        (basis(results, results.about), *_choices(results, JUDGES), *_left_out(left_out)),
        bold=_best(rows, 3, len(SCORES)),
    )


def quality_pairs(results: Results, compared: Iterable[_Compared]) -> Sheet:
    """Table 6, second part: which rankings can be told apart."""
    rows: list[tuple[Any, ...]] = []
    for one in compared:
        if (found := one.found) is not None:
            for i, j in combinations(range(len(found.names)), 2):
                pair = (found.names[i], found.names[j], float(found.ranks[i]), float(found.ranks[j]))
                rows.append((one.judge, one.label, found.n, *pair, float(found.p_values[i, j])))
    return Sheet(
        "6_quality_pairs",
        "Which rankings can be told apart",
        "Every two rankings of the table before, the one with the better average rank first, and the exact "
        "Wilcoxon signed-rank test over data sets, corrected by Holm's rule within the group.",
        ("judge", "group", "data sets", "better", "worse", "rank", "rank (worse)", "p (Holm)"),
        tuple(rows),
        (basis(results, results.about),),
    )


def all_times(results: Results) -> Sheet:
    """Table 7: average ranks by time at the smallest and the largest L."""
    rows: list[tuple[Any, ...]] = []
    left_out: dict[str, None] = {}
    for (label, names), end in product(selections(results), (0, -1)):
        families = methods(results, names, "family")
        matrix = time_matrix(results, names, families, "ssl", end)
        left_out |= dict.fromkeys(matrix.left_out)
        ranks = dict(zip(families, _ranks(matrix, len(families))))
        cells = [time_cells(results, name, families, "ssl", end) for name in matrix.names]
        levels = Counter(some[0][0] for some in cells)
        printed = paper_tables()["time_ranks"].get(label, {}).get("50" if end == 0 else "500", {})
        shown = ", ".join(
            f"{level} ({n})" if len(levels) > 1 else f"{level}" for level, n in sorted(levels.items())
        )
        ours = [ranks.get(f) for f in FAMILIES]
        rows.append((label, shown, len(matrix.names), *ours, *map(printed.get, FAMILIES)))
    return Sheet(
        "7_times",
        "Which ranking is fast",
        "Average ranks of the semi-supervised methods by the mean time of the ranking, its setting fixed, "
        "at the smallest and the largest L; 1 is fastest. The paper's figures are those for L = 50 and 500.",
        ("group", "L (data sets)", "data sets", *FAMILIES, *(f"{f} (paper)" for f in FAMILIES)),
        tuple(rows),
        (
            "A data set that cannot hold 500 labels counts with the most it holds. Seconds are in times.csv; "
            "the jobs shared a machine, and unlike in the paper all methods are compiled the same way.",
            *_left_out(left_out),
        ),
        bold=_best(rows, 3, len(FAMILIES)),
    )


def supervision(results: Results) -> Sheet:
    """Table 8: how often each supervision level was chosen."""
    chosen: dict[tuple[str, str], Counter[Any]] = {}
    for (name, family), cells in results.settings.items():
        for label in (results.about[name].group, "all"):
            counter = chosen.setdefault((label, family), Counter())
            counter.update(s["w"] for s in cells.values() if "w" in s)
    levels = sorted({level for counter in chosen.values() for level in counter})
    rows = []
    for label, family in product((*results.groups, "all"), ENSEMBLES):
        counter = chosen.get((label, family), Counter())
        if counter:
            rows.append((label, family, *_shares(counter, levels), counter.total()))
    return Sheet(
        "8_supervision",
        "Supervision levels that were chosen",
        "Share of the (data set, L, fold) cells in which each w was chosen; 1 ignores the features in the "
        "impurity, 0 the target. Stand-ins are counted.",
        ("group", "family", *(f"w = {level:g}" for level in levels), "cells"),
        tuple(rows),
        (basis(results, results.about),),
    )


def relief_settings(results: Results) -> Sheet:
    """Table 8, second part: the settings of Relief."""
    chosen: dict[tuple[str, str], Counter[Any]] = {}
    for (name, family), cells in results.settings.items():
        if family != "relief":
            continue
        for label, setting in product((results.about[name].group, "all"), cells.values()):
            for parameter, value in setting.items():
                chosen.setdefault((label, parameter), Counter())[value] += 1
    rows = []
    for label, parameter in product((*results.groups, "all"), ("w0", "w1", "k")):
        counter = chosen.get((label, parameter), Counter())
        shares = ", ".join(f"{v:g}: {100 * counter[v] / counter.total():.0f} %" for v in sorted(counter))
        if counter:
            rows.append((label, parameter, shares, counter.total()))
    return Sheet(
        "8_relief_settings",
        "Relief settings that were chosen",
        "Influence of the farthest (w0) and nearest (w1) unlabelled rows and number of neighbours (k): share "
        "of the (data set, L, fold) cells in which each value was chosen. Stand-ins are counted.",
        ("group", "parameter", "value: share", "cells"),
        tuple(rows),
    )


def long_differences(found: Sequence[Difference], k: int) -> Sheet:
    rows = [
        (
            *d[:5], d.value, None if d.stand_in_for else _mean_printed(d), d.ssl_family, d.sl_family,
            _join(d.levels), d.n_folds,
        )
        for d in found
    ]  # fmt: skip
    columns = (
        "dataset", "group", "stand_in_for", "score", "definition", "difference", "paper", "ssl_family",
        "sl_family", "L", "folds",
    )  # fmt: skip
    return Sheet(f"differences_{k}nn", f"Differences, {k}NN", "", columns, tuple(rows), only_csv=True)


def long_curves(results: Results) -> Sheet:
    """Every curve of every method: the means over folds."""
    rows = []
    for key in sorted(results.values):
        curve = results.values[key]
        levels = sorted({level for level, _ in curve})
        for level, value in zip(levels, level_means(curve, curve)):
            n_folds = sum(cell[0] == level for cell in curve)
            rows.append((*key, level, value, n_folds))
    columns = ("dataset", "family", "side", "score", "pool", "k", "L", "value", "folds")
    return Sheet("curves", "Curves over L", "", columns, tuple(rows), only_csv=True)


def long_times(results: Results) -> Sheet:
    """Mean seconds of every family, data set, side and L."""
    rows = []
    for key in sorted(results.seconds):
        cells = results.seconds[key]
        for level in sorted({level for level, _ in cells}):
            some = np.array([cells[cell] for cell in cells if cell[0] == level], dtype=float)
            rows.append((*key, level, *some.mean(axis=0).tolist(), len(some)))
    columns = ("dataset", "family", "side", "L", "seconds", "tuning_seconds", "folds")
    return Sheet("times", "Times", "", columns, tuple(rows), only_csv=True)


def _cells(results: Results, name: str) -> set[tuple[int, int]]:
    """(L, fold) for which anything is known about a data set."""
    return {cell for key, curve in results.values.items() if key.dataset == name for cell in curve}


def _judged(results: Results) -> str:
    return f"Judged with {results.ks[-1]} neighbours. {AREAS}"


def _ranks(matrix: Matrix, n: int) -> list[float | None]:
    return rank_rows(matrix.values).mean(axis=0).tolist() if len(matrix.names) else [None] * n


def _best(rows: Sequence[tuple[Any, ...]], first: int, n: int) -> frozenset[tuple[int, int]]:
    """Cells with the smallest of the `n` values from column `first`, unless all are equal."""
    found = set()
    for i, row in enumerate(rows):
        ranks = [(v, first + j) for j, v in enumerate(row[first : first + n]) if v is not None]
        if len({v for v, _ in ranks}) > 1:
            found |= {(i, j) for v, j in ranks if v == min(ranks)[0]}
    return frozenset(found)


def _shares(counter: Counter[Any], levels: Sequence[Any]) -> list[float]:
    return [counter[level] / counter.total() for level in levels]


def _printed(group: str, dataset: str) -> dict[str, float]:
    return paper_tables()["difference"].get(group, {}).get(dataset, {})


def _mean_printed(d: Difference) -> float | None:
    """The printed difference; for no ranking the mean over the scores."""
    printed = _printed(d.group, d.dataset)
    return (
        (sum(printed.values()) / len(printed) if printed else None)
        if d.score == "equal"
        else printed.get(d.score)
    )


def _choices(results: Results, judges: Iterable[tuple[str, str]]) -> list[str]:
    """Which ensemble stands for each score, for some (side, pool)."""
    judges = list(judges)
    found = []
    for group in results.groups:
        parts = []
        for score in FOREST_SCORES:
            families = [results.ensembles.get((group, *judge, score), "none") for judge in judges]
            parts.append(f"{score} {' / '.join(families)}")
        order = " / ".join(JUDGES[judge] for judge in judges)
        found.append(f"Ensembles for {group} ({order}): {', '.join(parts)}.")
    return found


def _left_out(names: Iterable[str]) -> list[str]:
    names = list(names)
    return [f"Left out where a compared method is missing: {_join(names)}."] if names else []


def _join(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def _value(found: Difference | None) -> float | None:
    return None if found is None else found.value


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
