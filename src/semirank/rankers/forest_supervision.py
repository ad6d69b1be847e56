"""Choosing the supervision level w (Def. 1.5)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..data.target import Target
from ..data.tasks import TASKS
from ..judging.knn_judge import knn_predict
from ..judging.measures import task_score
from ..judging.splits import fold_numbers
from ..trees.ensemble import Material, Plan, Progress, forest_scores, grow_forest, predict_forest
from ..trees.ensemble import predict_out_of_bag as out_of_bag

N_FOLDS = 4
CV_LEVELS = tuple(np.round(np.linspace(0, 1, 11), 1).tolist())
# Without w = 0, which ranks for no target at all: on planted problems with 50 of 1000 labels (20 seeds each
# of classification, label sets and hierarchies) the judge took it in 11 of 60 cases and lost the planted
# features in each of them; without it all 60 were solved (so were 20 of regression, either way). These
# problems have no clusters, so they cannot show what w = 0 might gain where there are some.
JUDGE_LEVELS = (0.25, 0.5, 0.75, 1.0)
JUDGE_TREES = 25
# w = 1 unless another level is better by this share of its score; less is seed noise (Def. 1.8).
JUDGE_MARGIN = 0.02


class Choice(NamedTuple):
    """The chosen w and the table behind it."""

    supervision: float
    path: list[dict[str, float]]


def judge_neighbors(n_labeled: int) -> int:
    """k of the judge: min(20, max(3, round(sqrt L))) (Def. 1.5)."""
    return min(20, max(3, round(np.sqrt(n_labeled))))


def for_predictions(plan: Plan) -> Plan:
    """The plan for forests of which only predictions are asked: the same bits, for less work.

    Below a node whose labelled rows have one target, every leaf has it too, and below a node without any the
    target of an ancestor; so no such node is split. What a node draws depends on the path to it alone.
    """
    return plan._replace(growth=plan.growth._replace(only_differing=True))


def choose_supervision(
    rule: str,
    importance: str,
    material: Material,
    target: Target,
    plan: Plan,
    *,
    levels: Sequence[float] = CV_LEVELS,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    notes: list[str] | None = None,
) -> Choice:
    """Pick w by `rule`: "cv" or "oob" among `levels`, "judge" among its own."""
    n_labeled = int(target.labeled.sum())
    reason = _too_few(rule, target, plan)
    if reason:
        message = f"{reason}; supervision={rule!r} was replaced by w = 1"
        if notes is not None:
            notes.append(message)
        warnings.warn(message + ".", UserWarning, stacklevel=3)
        return Choice(1.0, [])
    fold = fold_numbers(target, N_FOLDS, np.random.default_rng([plan.seed, 2**31]))
    if rule == "judge":
        small = plan._replace(n_trees=min(plan.n_trees, JUDGE_TREES))
        k = judge_neighbors(n_labeled)

        def judged(w: float) -> float:
            prototypes = np.empty(target.columns().shape)
            for f in range(N_FOLDS):
                held = np.flatnonzero(fold == f)
                seen = target.hide(held)
                forest = grow_forest(
                    material, seen, w, small, with_rforest=importance == "rforest", n_jobs=n_jobs
                )
                ranking = forest_scores(forest)[0].get(importance)
                if ranking is None:  # no tree had a labelled out-of-bag row
                    ranking = np.zeros(material.table.shape[1])
                table = material.table
                prototypes[held] = knn_predict(ranking, table, seen, table.take(held), k=k, n_jobs=n_jobs)[
                    0, 0
                ]
            return _score(target, np.flatnonzero(fold >= 0), prototypes)

        path = _walk(JUDGE_LEVELS, judged, progress)
        return Choice(_unless_better(path, target.task), path)
    plan = for_predictions(plan)
    if rule == "cv":

        def validated(w: float) -> float:
            prototypes = np.empty(target.columns().shape)
            for f in range(N_FOLDS):
                held = np.flatnonzero(fold == f)
                forest = grow_forest(material, target.hide(held), w, plan, n_jobs=n_jobs)
                prototypes[held] = predict_forest(forest, material.table.values[held])
            return _score(target, np.flatnonzero(fold >= 0), prototypes)

        path = _walk(levels, validated, progress)
    else:

        def left_out(w: float) -> float:
            rows, means = out_of_bag(
                grow_forest(material, target, w, plan, n_jobs=n_jobs), material.table.values
            )
            prototypes = np.empty(target.columns().shape)
            prototypes[rows] = means
            return _score(target, rows, prototypes)

        path = _walk(levels, left_out, progress)
    return Choice(_best(path, target.task), path)


def _too_few(rule: str, target: Target, plan: Plan) -> str | None:
    n_labeled = int(target.labeled.sum())
    if rule == "oob":
        return None if n_labeled >= 2 else f"only {n_labeled} labelled row, too few to leave some out of bag"
    if n_labeled < 2 * N_FOLDS:
        return f"only {n_labeled} labelled rows, too few for {N_FOLDS} folds"
    return None


def _score(target: Target, rows: np.ndarray, prototypes: np.ndarray) -> float:
    """One score over all held-out rows together: steadier than a mean over small folds."""
    return task_score(target.task, target.values[rows], prototypes[rows])


def _walk(levels: Sequence[float], score, progress: Progress | None) -> list[dict[str, float]]:
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
    sign = TASKS[task].sign
    supervised = path[-1]["score"]
    best = _best(path, task)
    gain = sign * (next(row["score"] for row in path if row["supervision"] == best) - supervised)
    return best if gain > JUDGE_MARGIN * abs(supervised) else 1.0
