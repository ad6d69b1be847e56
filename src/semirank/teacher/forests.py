"""Members: forests on the labelled rows, held out by their bootstraps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..data.target import Target
from ..trees.ensemble import Forest, Plan, grow_forest, predict_forest, predict_out_of_bag, prepare
from ..trees.grow import Growth
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
    return _fit(lesson, math.ceil(math.sqrt(lesson.table.shape[1])), random_test=False)


def fit_extra_trees(lesson: Lesson) -> Answer:
    """Bootstraps, and the best of one random test for each of many features."""
    return _fit(lesson, min(lesson.table.shape[1], MAX_CANDIDATES), random_test=True)


def _fit(lesson: Lesson, n_candidates: int, *, random_test: bool) -> Answer:
    learnt = lesson.learnt
    # Every column counts by its variance, as in the loss: their impurities are relative.
    names = tuple(map(str, range(learnt.shape[1])))
    target = Target("multi_target", learnt, names, np.nanvar(learnt, axis=0))
    growth = Growth(n_candidates, random_test, 1.0, float(MIN_LABELED), np.iinfo(np.int32).max)
    plan = Plan(N_TREES, growth, bootstrap=True, missing_weight="all", seed=lesson.seed)
    forest = grow_forest(prepare(lesson.table), target, 1.0, plan, n_jobs=lesson.n_jobs)
    held_out = np.zeros(learnt.shape)  # the mean, for a row that is in every bootstrap
    rows, means = predict_out_of_bag(forest, lesson.table.values)
    held_out[rows] = means
    return Answer(held_out, ForestModel(forest))
