"""Members: forests on the labelled rows, held out by their bootstraps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.target import Target
from ..trees.ensemble import Forest, forest_plan, grow_forest, predict_forest, predict_out_of_bag, prepare
from .lesson import Answer, Lesson, Rows

N_TREES = 100
MIN_LABELED = 4  # rows that a node needs to be split
MAX_CANDIDATES = 128  # random tests per node of extra trees


class ForestModel(NamedTuple):
    """Answers are the means over trees."""

    forest: Forest

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows."""
        return predict_forest(self.forest, rows.values)


def fit_random_forest(lesson: Lesson) -> Answer:
    """Bootstraps, and the best test of some features in every node."""
    return _fit(lesson, "random_forest", None)


def fit_extra_trees(lesson: Lesson) -> Answer:
    """Bootstraps, and the best of one random test for each of many features."""
    return _fit(lesson, "extra_trees", MAX_CANDIDATES)


def _fit(lesson: Lesson, ensemble: str, max_features: int | None) -> Answer:
    learnt = lesson.learnt
    # Every column counts by its variance, as in the loss: their impurities are relative.
    names = tuple(map(str, range(learnt.shape[1])))
    target = Target("multi_target", learnt, names, np.nanvar(learnt, axis=0))
    plan = forest_plan(
        ensemble,
        lesson.table.shape[1],
        n_trees=N_TREES,
        seed=lesson.seed,
        max_features=max_features,
        min_labeled=MIN_LABELED,
    )
    forest = grow_forest(prepare(lesson.table), target, 1.0, plan, n_jobs=lesson.n_jobs)
    held_out = np.zeros(learnt.shape)  # the mean, for a row that is in every bootstrap
    rows, means = predict_out_of_bag(forest, lesson.table.values)
    held_out[rows] = means
    return Answer(held_out, ForestModel(forest))
