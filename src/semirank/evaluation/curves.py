"""Scores over the number of labels and over the number of features (Def. 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..judging.knn_judge import knn_score
from ..judging.splits import Fold, fold_mean
from .compared_methods import Method
from .intervals import Estimate


def area(
    n_labeled: Sequence[float] | np.ndarray,
    scores: Sequence[float] | np.ndarray,
    *,
    unit_spacing: bool = False,
) -> float:
    """Area under the points (L, score), by trapezoids.

    Parameters
    ----------
    n_labeled : sequence of numbers, increasing
    scores : sequence of float
    unit_spacing : bool, default=False
        By default widths are differences of L, and the area is divided by the range of L: the scale of
        the scores themselves and of the paper's tables. True puts neighbouring points 1 apart and does
        not divide.

    Returns
    -------
    float
        The score itself where there is one point only.

    Examples
    --------
    >>> area([50, 100, 200], [0.2, 0.4, 0.5]), area([50, 100, 200], [0.2, 0.4, 0.5], unit_spacing=True)
    (0.4, 0.75)
    """
    x, y = np.asarray(n_labeled, dtype=float), np.asarray(scores, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or len(x) == 0:
        raise ValueError(
            f"An area needs a score for every number of labels, got {y.shape} scores for {x.shape} numbers."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (np.diff(x) > 0).all()):
        raise ValueError("An area needs finite scores over increasing numbers of labels.")
    if len(x) == 1:
        return float(y[0])
    width = np.ones(len(x) - 1) if unit_spacing else np.diff(x) / (x[-1] - x[0])
    return float(np.sum(width * (y[1:] + y[:-1]) / 2))


class LabelCurve(NamedTuple):
    """Scores of one ranking method over the number of labels.

    Attributes
    ----------
    n_labeled : ndarray of shape (n_levels,)
    scores : ndarray of shape (n_levels, n_k)
        Means over folds, weighted by test size; a column for every k of the judge.
    """

    n_labeled: np.ndarray
    scores: np.ndarray

    def areas(self, *, unit_spacing: bool = False) -> np.ndarray:
        """The :func:`area` for every k."""
        return np.array([area(self.n_labeled, s, unit_spacing=unit_spacing) for s in self.scores.T])


def label_curves(
    method: Method,
    table: Table,
    target: Target,
    folds: Sequence[Fold],
    *,
    k: int | Sequence[int] = (20, 40),
    pool: str = "labelled",
    use_unlabeled: bool = True,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> dict[str, LabelCurve]:
    """Rank on the training part of every fold and number of labels, judge on its test part.

    Parameters
    ----------
    method : Method
        See :func:`semirank.evaluation.compared_methods.as_methods`.
    table, target : Table, Target
        With all labels; the folds say which are hidden.
    folds : sequence of Fold
    k, pool
        Of the judge (Def. 2.2).
    use_unlabeled : bool, default=True
        False: the supervised counterpart.
    seed : int, default=0
    n_jobs : int, optional

    Returns
    -------
    dict of str to LabelCurve
        One for every ranking that the method makes.

    Examples
    --------
    >>> from semirank.evaluation.compared_methods import as_methods
    >>> from semirank.judging.splits import semi_supervised_folds
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.random((150, 2)), np.zeros(2, int), ("a", "b"), (None, None))
    >>> target = Target("regression", table.values[:, :1], ("y",), np.ones(1))
    >>> folds = semi_supervised_folds(target, 3, (20, 80), random_state=0)
    >>> method, = as_methods({"only a": lambda table, target, use_unlabeled, seed: np.array([1.0, 0.0])})
    >>> curve = label_curves(method, table, target, folds, k=3)["only a"]
    >>> curve.n_labeled, bool(curve.scores[1, 0] < curve.scores[0, 0] < 0.5)  # RRMSE: smaller is better
    (array([20, 80]), True)
    """
    levels = sorted(folds[0].labeled)
    found: dict[str, list[list[np.ndarray]]] = {}
    for n in levels:
        at_level: dict[str, list[np.ndarray]] = {}
        for fold in folds:
            train, train_target, test, test_target = fold.parts(table, target, n)
            rankings = method.rankings(train, train_target, use_unlabeled, seed)
            judged = knn_score(
                np.stack([*rankings.values()]), train, train_target, test, test_target, k, pool, n_jobs
            )
            for name, scores in zip(rankings, judged):
                at_level.setdefault(name, []).append(scores)
        for name, each in at_level.items():
            found.setdefault(name, []).append(each)
    return {
        name: LabelCurve(np.array(levels), np.stack([fold_mean(np.stack(each), folds) for each in per_level]))
        for name, per_level in found.items()
    }


class AdditionCurve(NamedTuple):
    """Scores as features are added one by one, best first (`forward`) or worst first (`reverse`)."""

    n_features: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray


def addition_sizes(n_features: int) -> np.ndarray:
    """1, 2, 4, ... and all features.

    Examples
    --------
    >>> addition_sizes(10)
    array([ 1,  2,  4,  8, 10])
    """
    powers = 2 ** np.arange(int(n_features).bit_length())
    return np.unique(np.r_[powers, n_features])


def addition_curve(
    importances: np.ndarray,
    train: Table,
    train_target: Target,
    test: Table,
    test_target: Target,
    k: int,
    *,
    pool: str = "labelled",
    n_jobs: int | None = 1,
) -> AdditionCurve:
    """How good the judge's predictions are from the 1, 2, 4, ... best features, and from the worst ones.

    The features that take part count equally: a subset is judged, not the weights in it. Ties go by
    column order. A good ranking rises early forward and late in reverse.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.random((300, 5)), np.zeros(5, int), tuple("abcde"), (None,) * 5)
    >>> target = Target("regression", table.values[:, :1], ("y",), np.ones(1))
    >>> train, test = np.arange(200), np.arange(200, 300)
    >>> data = table.take(train), target.take(train), table.take(test), target.take(test)
    >>> curve = addition_curve(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), *data, k=5)
    >>> curve.n_features, bool(curve.forward[0] < 0.1), bool(curve.reverse[0] > 0.9)  # RRMSE
    (array([1, 2, 4, 5]), True, True)
    """
    sizes, forward, reverse = feature_subsets(importances, train.shape[1])
    subsets = np.concatenate([forward, reverse])
    scores = knn_score(subsets, train, train_target, test, test_target, k, pool, n_jobs)[:, 0]
    return AdditionCurve(sizes, scores[: len(sizes)], scores[len(sizes) :])


def feature_subsets(importances: np.ndarray, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of features, and the best and the worst that many: rows of ones and zeros.

    Examples
    --------
    >>> sizes, best, worst = feature_subsets(np.array([0.1, 0.3, 0.2]), 3)
    >>> sizes, best.tolist(), worst.tolist()
    (array([1, 2, 3]), [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
     [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    """
    importances = np.asarray(importances, dtype=float)
    if importances.shape != (n_features,) or not np.isfinite(importances).all():
        raise ValueError(
            f"The importances must be {n_features} finite numbers, one per feature, "
            f"got shape {importances.shape}."
        )
    sizes = addition_sizes(n_features)
    place = np.empty(n_features, dtype=int)
    place[np.argsort(-importances, kind="stable")] = np.arange(n_features)
    best, worst = place < sizes[:, None], place >= n_features - sizes[:, None]
    return sizes, best.astype(float), worst.astype(float)


def enough_features(n_features: np.ndarray, scores: Estimate, greater_is_better: bool) -> int:
    """The smallest number of features that is as good as the best number, within one standard error.

    Parameters
    ----------
    n_features : ndarray of shape (n_sizes,)
    scores : Estimate
        Of arrays of shape (n_sizes,): the forward curve.
    greater_is_better : bool

    Examples
    --------
    >>> scores = Estimate(np.array([0.5, 0.79, 0.80]), np.array([[0.5, 0.80, 0.80], [0.5, 0.78, 0.80]]))
    >>> enough_features(np.array([1, 2, 4]), scores, True)
    2
    """
    sign = 1.0 if greater_is_better else -1.0
    best = [int(np.argmax(sign * scores.whole))]
    behind = Estimate(
        sign * (scores.whole[best] - scores.whole), sign * (scores.without[:, best] - scores.without)
    )
    return int(n_features[np.argmax(behind.whole <= behind.error())])
