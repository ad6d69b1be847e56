"""Choosing the supervision level w (Def. 1.5)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..data.target import Target
from ..data.tasks import TASKS
from ..judging.knn_judge import judge_neighbors, knn_predict
from ..judging.measures import task_score
from ..judging.splits import TUNING_FOLDS, fold_numbers, too_few_for_tuning
from ..runtime.progress import Progress
from ..trees.ensemble import (
    Forest,
    ForestData,
    Plan,
    forest_scores,
    grow_forest,
    predict_forest,
    predict_out_of_bag,
)
from ..trees.scores import OUT_OF_BAG_SCORES
from .methods import JUDGE_MARGIN, SUPERVISION_LEVELS

# Without w = 0, which ranks for no target at all: on planted problems with 50 of 1000 labels (20 seeds each
# of classification, label sets and hierarchies) the judge took it in 11 of 60 cases and lost the planted
# features in each of them; without it all 60 were solved (so were 20 of regression, either way). These
# problems have no clusters, so they cannot show what w = 0 might gain where there are some.
JUDGE_LEVELS = (0.25, 0.5, 0.75, 1.0)
JUDGE_TREES = 25


class Choice(NamedTuple):
    """The chosen w and the table behind it."""

    supervision: float
    path: list[dict[str, float]]


def for_predictions(plan: Plan) -> Plan:
    """The plan for forests that are only asked for predictions: the same bits for less work.

    Below a node whose labelled rows have one target, every leaf has it too, and below a node without any the
    target of an ancestor; so no such node is split. What a node draws depends on the path to it alone.
    """
    return plan._replace(growth=plan.growth._replace(only_differing=True))


def choose_supervision(
    rule: str,
    importance: str,
    data: ForestData,
    target: Target,
    plan: Plan,
    *,
    levels: Sequence[float] | None = None,
    n_folds: int = TUNING_FOLDS,
    n_neighbors: int | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    notes: list[str] | None = None,
) -> Choice:
    """Pick w by `rule` among `levels` (None: those of the rule).

    n_neighbors : of the judge, None for `judge_neighbors` of the labelled rows.
    """
    reason = _too_few(rule, target, n_folds)
    if reason:
        message = f"{reason}; supervision={rule!r} was replaced by w = 1"
        if notes is not None:
            notes.append(message)
        warnings.warn(message + ".", UserWarning, stacklevel=6)
        return Choice(1.0, [])
    table = data.table
    fold = fold_numbers(target, n_folds, np.random.default_rng([plan.seed, 2**31]))
    if levels is None:
        levels = JUDGE_LEVELS if rule == "judge" else SUPERVISION_LEVELS
    if rule == "judge":
        plan = plan._replace(n_trees=min(plan.n_trees, JUDGE_TREES))
    else:
        plan = for_predictions(plan)
    k = n_neighbors or judge_neighbors(int(target.labeled.sum()))

    def grow(w: float, seen: Target) -> Forest:
        out_of_bag = {importance}.intersection(OUT_OF_BAG_SCORES) if rule == "judge" else ()
        return grow_forest(data, seen, w, plan, out_of_bag=out_of_bag, n_jobs=n_jobs)

    def predict(forest: Forest, seen: Target, held: np.ndarray) -> np.ndarray:
        """Predictions for held-out rows, by the forest or by the judge of its ranking."""
        if rule == "cv":
            return predict_forest(forest, table.values[held])
        ranking = forest_scores(forest)[0].get(importance)
        if ranking is None:  # no tree had a labelled out-of-bag row
            ranking = np.zeros(table.shape[1])
        return knn_predict(ranking, table, seen, table.take(held), k=k, n_jobs=n_jobs)[0, 0]

    def score(w: float) -> float:
        """One score over all held-out rows together: steadier than a mean over small folds."""
        if rule == "oob":
            rows, prototypes = predict_out_of_bag(grow(w, target), table.values)
            return task_score(target.task, target.values[rows], prototypes)
        rows = np.flatnonzero(fold >= 0)
        prototypes = np.empty(target.columns().shape)
        for f in range(n_folds):
            held = np.flatnonzero(fold == f)
            seen = target.hide(held)
            prototypes[held] = predict(grow(w, seen), seen, held)
        return task_score(target.task, target.values[rows], prototypes[rows])

    path = _walk(levels, score, progress)
    return Choice((_unless_better if rule == "judge" else _best)(path, target.task), path)


def _too_few(rule: str, target: Target, n_folds: int) -> str:
    if rule != "oob":
        return too_few_for_tuning(target, n_folds)
    n_labeled = int(target.labeled.sum())
    return "" if n_labeled >= 2 else f"only {n_labeled} labelled row, too few to leave some out of bag"


def _walk(
    levels: Sequence[float], score: Callable[[float], float], progress: Progress | None
) -> list[dict[str, float]]:
    path = []
    for done, w in enumerate(levels, start=1):
        path.append({"supervision": w, "score": score(w)})
        if progress is not None:
            progress(done, len(levels), "supervision levels")
    return path


def _best(path: list[dict[str, float]], task: str) -> float:
    sign = TASKS[task].sign
    return max(path, key=lambda row: (sign * row["score"], row["supervision"]))["supervision"]


def _unless_better(path: list[dict[str, float]], task: str) -> float:
    """w = 1, or the best level if that is clearly better, so that little is left to chance."""
    best, score = _best(path, task), {row["supervision"]: row["score"] for row in path}
    gain = TASKS[task].sign * (score[best] - score[1.0])
    return best if gain > JUDGE_MARGIN * abs(score[1.0]) else 1.0
