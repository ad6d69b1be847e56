"""What people take instead (Def. 2.6): scores of other packages, on the labelled rows alone.

Every feature is one column for them: numbers as they are, nominal values by their position, and a missing
value the mean or the most frequent value; LightGBM takes both itself, and the F test sees
nominal values one by one. Classes are handed over as they are. A score that knows one target column only is
computed for each column of several numbers or labels, divided by its sum and averaged.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import CLASSES, TASKS
from ..evaluation.foreign_columns import FeatureSpace
from ..evaluation.foreign_models import one_thread
from ..results.shares import as_shares
from .rankings import Rankings

MAX_COLUMNS = 8  # of several targets; the most variable labels, the first numbers
N_TREES = 100
REPEATS = 5  # permutations of every feature
HELD_OUT = 3  # one labelled row in three, which permutation importance is computed from
RELIEF_NEIGHBORS = 10
FEWEST_IN_LEAF = 5  # LightGBM's own 20 would leave a tree of fifty rows two leaves
# What is no part of the usual install.
PACKAGES = {"peer_lightgbm": "lightgbm", "peer_relieff": "fast_select"}

# (features, target column, whether it holds classes) -> a score of each feature
Score = Callable[["Columns", np.ndarray, bool, int], np.ndarray]


class Columns(NamedTuple):
    """Labelled rows: as they are, with filled holes, and which columns are nominal."""

    table: Table
    filled: np.ndarray
    nominal: np.ndarray

    @classmethod
    def of(cls, table: Table) -> Columns:
        filled = table.values.copy()
        for j, n_values in enumerate(table.n_values):
            known = filled[~np.isnan(filled[:, j]), j]
            if len(known) < len(filled):
                usual = np.bincount(known.astype(int)).argmax() if n_values and len(known) else None
                mean = known.mean() if len(known) else 0.0
                filled[np.isnan(filled[:, j]), j] = mean if usual is None else usual
        return cls(table, filled, table.n_values > 0)


def missing_peers() -> dict[str, str]:
    """Families whose package is not installed, with its name."""
    return {name: package for name, package in PACKAGES.items() if not importlib.util.find_spec(package)}


def rank_lightgbm(table: Table, target: Target, seed: int) -> Rankings:
    """Total gain of the splits of LightGBM's boosted trees."""
    return _rank(table, target, seed, {"gain": _gain})


def rank_permutation(table: Table, target: Target, seed: int) -> Rankings:
    """scikit-learn's permutation importance of its random forest, on a third of the labelled rows held out.

    The forest takes several target columns together; the loss is the squared error of standardised columns,
    of classes the share of errors. Features that no tree tests are worth 0 without being asked.
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.inspection import permutation_importance

    began = time.thread_time()
    rows = np.flatnonzero(target.labeled)
    points, labels = Columns.of(table.take(rows)).filled.astype(np.float32), target.take(rows)
    mixed = np.random.default_rng(seed).permutation(len(rows))
    test, train = mixed[: len(rows) // HELD_OUT], mixed[len(rows) // HELD_OUT :]
    kind = RandomForestClassifier if labels.task == "classification" else RandomForestRegressor
    y = labels.values
    if labels.task != "classification":
        y = (y - y.mean(axis=0)) / np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)
    with one_thread():
        forest = kind(n_estimators=N_TREES, random_state=seed % 2**32, n_jobs=1)
        forest.fit(points[train], y[train, 0] if y.shape[1] == 1 else y[train])
        used = np.unique(np.concatenate([tree.tree_.feature for tree in forest.estimators_]))
        used = used[used >= 0]
        asked = points[test]

        def score(forest: Any, part: np.ndarray, truth: np.ndarray) -> float:
            """What the forest's own `predict` would answer, without its overhead for each of many calls."""
            asked[:, used] = part
            answer = np.mean([tree.tree_.predict(asked) for tree in forest.estimators_], axis=0)
            if kind is RandomForestClassifier:
                return float((forest.classes_[answer.argmax(axis=1)] == truth[:, 0]).mean())
            return -float(((answer.reshape(truth.shape) - truth) ** 2).mean())

        scores = np.zeros(table.shape[1])
        if len(used):
            scores[used] = permutation_importance(
                forest, asked[:, used], y[test], scoring=score, n_repeats=REPEATS,
                random_state=seed % 2**32, n_jobs=1,
            ).importances_mean  # fmt: skip
    return {("sl", "permutation"): (scores, time.thread_time() - began)}


def rank_filters(table: Table, target: Target, seed: int) -> Rankings:
    """scikit-learn's mutual information and F test, feature by feature."""
    return _rank(table, target, seed, {"mutual_information": _information, "f_test": _f_test})


def rank_relieff(table: Table, target: Target, seed: int) -> Rankings:
    """ReliefF of fast-select, which is for classes; a label is two of them, numbers have none."""
    return _rank(table, target, seed, {"relieff": _relieff})


def _rank(table: Table, target: Target, seed: int, scores: dict[str, Score]) -> Rankings:
    """Each score for the target column by column, as the mean of shares where there are several."""
    rows = np.flatnonzero(target.labeled)
    columns = Columns.of(table.take(rows))
    is_class = TASKS[target.task].kind == CLASSES or TASKS[target.task].is_label_set
    out: Rankings = {}
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about constant features and rare classes
        for name, score in scores.items():
            began = time.thread_time()
            found = [_finite(score(columns, y, is_class, seed % 2**31)) for y in _each(target.take(rows))]
            if target.values.shape[1] > 1:
                found = [as_shares(one) for one in found]
            ranking = np.mean(found, axis=0) if found else np.zeros(table.shape[1])
            out["sl", name] = ranking, time.thread_time() - began
    return out


def _each(target: Target) -> Iterator[np.ndarray]:
    """Target columns that vary: of labels the most variable, of numbers the first."""
    variance = target.values.var(axis=0)
    if TASKS[target.task].is_label_set:
        order = np.argsort(-variance, kind="stable")
    else:
        order = np.arange(len(variance))
    for j in np.sort(order[variance[order] > 0][:MAX_COLUMNS]):
        yield target.values[:, j]


def _finite(scores: np.ndarray) -> np.ndarray:
    """Features for which a score is not defined are the worst, those without any error the best."""
    best = scores[np.isfinite(scores)].max(initial=0.0)
    return np.nan_to_num(scores, nan=0.0, posinf=10 * max(best, 1.0), neginf=-np.inf)


def _gain(columns: Columns, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = (LGBMClassifier if is_class else LGBMRegressor)(
        n_estimators=N_TREES, min_child_samples=FEWEST_IN_LEAF, importance_type="gain", random_state=seed,
        n_jobs=1, deterministic=True, force_row_wise=True, verbose=-1,
    )  # fmt: skip
    nominal = np.flatnonzero(columns.nominal).tolist()
    model.fit(columns.table.values, y.astype(int) if is_class else y, categorical_feature=nominal or "auto")
    return np.asarray(model.feature_importances_, dtype=np.float64)


def _information(columns: Columns, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    information = mutual_info_classif if is_class else mutual_info_regression
    scores = np.zeros(len(columns.nominal))
    varies = np.flatnonzero(np.ptp(columns.filled, axis=0) > 0)  # what does not vary tells nothing
    if len(varies):
        nominal = columns.nominal[varies]
        found = information(columns.filled[:, varies], y, discrete_features=nominal, random_state=seed)
        scores[varies] = found
    return scores


def _f_test(columns: Columns, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    """The largest F of a feature's columns; nominal values have a column each."""
    from sklearn.feature_selection import f_classif, f_regression

    space = FeatureSpace.fit(columns.table)
    found, _ = (f_classif if is_class else f_regression)(space.encode(columns.table), y)
    scores = np.zeros(columns.table.shape[1])
    np.maximum.at(scores, space.block, np.where(np.isnan(found), 0.0, found))
    return scores


def _relieff(columns: Columns, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    from fast_select import ReliefF

    k = min(RELIEF_NEIGHBORS, len(y) - 1)
    model = ReliefF(n_features_to_select=1, n_neighbors=k, backend="cpu", n_jobs=1)
    return np.asarray(model.fit(columns.filled, y.astype(np.int64)).feature_importances_, dtype=np.float64)
