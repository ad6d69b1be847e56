"""Choosing k and the influence (w0, w1) of SSL-Relief (Def. 1.6)."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS
from ..judging.knn_judge import Judge, judge_neighbors
from ..judging.measures import task_score
from ..judging.splits import TUNING_FOLDS, fold_numbers
from ..neighbors.search import run_parts
from ..runtime.progress import Progress
from .relief_per_class import per_class_parts
from .relief_sums import Pairs, find_pairs, grid_importances, make_view, nearest_labeled, rows_to_visit


class Grid(NamedTuple):
    """The settings to compare, all pairs of k and (w0, w1), what they have in common, and how to compare.

    `n_folds` are folds of the labelled rows; `judge_neighbors` is the k of the judge, None for that of
    Def. 1.5.
    """

    ks: list[int]
    influences: list[tuple[float, float]]
    n_iterations: int | None
    neighbor_weights: float
    n_folds: int = TUNING_FOLDS
    judge_neighbors: int | None = None


class Choice(NamedTuple):
    """The chosen setting, the table behind it, and the distance of every row to the nearest labelled one.

    That distance is None where there are no unlabelled rows.
    """

    k: int
    influence: tuple[float, float]
    path: list[dict[str, float]]
    apart: np.ndarray | None


def choose_setting(
    table: Table,
    target: Target,
    pairs: Pairs | None,
    grid: Grid,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Choice:
    """The setting whose rankings the kNN judge likes best, by folds of the labelled rows.

    Held-out rows stay as unlabelled rows, so that all folds share the neighbours in `pairs`; where there
    are no unlabelled rows (the supervised counterpart) they are left out and each fold has its own search.
    `pairs` is None for the form "per_class", where all rows are labelled.
    """
    ks, ws, judge_k = grid.ks, grid.influences, grid.judge_neighbors
    labeled = target.labeled
    fold = fold_numbers(target, grid.n_folds, rng)
    groups = [np.flatnonzero(fold == f) for f in range(grid.n_folds)]
    supervised = bool(labeled.all())
    nearest = None
    seen = [np.flatnonzero(fold != f) if supervised else np.arange(len(table)) for f in range(grid.n_folds)]
    targets = [target.hide(held) for held in groups]
    if pairs is None or supervised:
        overall = pairs is not None
        rankings = [_searched_anew(table, target, rows, overall, grid, rng, n_jobs) for rows in seen]
    else:
        apart = nearest_labeled(table, groups, np.arange(len(table)), n_jobs)
        nearest = apart.min(axis=0)
        views = [
            make_view(hidden, np.delete(apart, f, axis=0).min(axis=0)) for f, hidden in enumerate(targets)
        ]
        rankings = list(grid_importances(pairs, views, ws, ks, grid.neighbor_weights, n_jobs))
    judges = [
        Judge(
            scores.reshape(-1, table.shape[1]),
            table.take(rows),
            hidden.take(rows),
            table.take(held),
            judge_k or judge_neighbors(int(labeled.sum())),
        )
        for scores, rows, hidden, held in zip(rankings, seen, targets, groups)
    ]
    truth = target.values[np.concatenate(groups)]

    def judged(setting: int) -> float:
        predicted = np.concatenate([judge.predict(setting, in_thread=True)[0] for judge in judges])
        return task_score(target.task, truth, predicted)

    settings = list(product(ks, ws))
    scored = run_parts(judged, range(len(settings)), n_jobs, progress, "settings")
    path = [
        {"n_neighbors": k, "w0": w0, "w1": w1, "score": score}
        for (k, (w0, w1)), score in zip(settings, scored)
    ]
    best = max(path, key=lambda row: TASKS[target.task].sign * row["score"])  # the first of equals
    return Choice(int(best["n_neighbors"]), (best["w0"], best["w1"]), path, nearest)


def _searched_anew(
    table: Table,
    target: Target,
    rows: np.ndarray,
    overall: bool,
    grid: Grid,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> np.ndarray:
    """The rankings of all settings from labelled rows that have a neighbour search of their own."""
    part, labels = table.take(rows), target.take(rows)
    visited = rows_to_visit(len(part), grid.n_iterations, rng)
    if overall:
        own = find_pairs(part, max(grid.ks), visited, n_jobs)
        view = make_view(labels, np.zeros(len(part)))
        return grid_importances(own, [view], grid.influences, grid.ks, grid.neighbor_weights, n_jobs)[0]
    classes = labels.values[:, 0].astype(np.int64)
    return per_class_parts(part, classes, grid.ks, visited, grid.neighbor_weights, n_jobs).mean(axis=1)
