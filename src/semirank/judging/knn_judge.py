"""How good is a ranking? Predict by the nearest rows in the space that it weights (Def. 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..neighbors.feature_distance import fit_metric
from ..neighbors.search import SquaredSearch, row_blocks, run_parts, squares
from .measures import task_score

POOLS = ("labelled", "all")


def knn_predict(
    importances: np.ndarray,
    train: Table,
    train_target: Target,
    test: Table,
    k: int | Sequence[int] = (20, 40),
    pool: str = "labelled",
    n_jobs: int | None = 1,
) -> np.ndarray:
    """Predictions of the k nearest training rows, in the distance that a ranking defines.

    The distance is sum_i max(importance_i, 0) d_i^2 (all ones if nothing is positive), with the d_i of
    Relief and the ranges of all training rows; neighbours vote equally.

    Parameters
    ----------
    importances : array of shape (n_features,) or (n_rankings, n_features)
    train, train_target : Table, Target
    test : Table
    k : int or sequence of int
        Numbers of neighbours; where the pool is smaller, all of it.
    pool : {"labelled", "all"}
        Neighbours are sought among the labelled training rows, or among all of them: then unlabelled
        rows hold a place and add nothing.
    n_jobs : int, optional

    Returns
    -------
    ndarray of shape (n_rankings, n_k, n_test, n_columns)
        Class shares for classification, else one number per target variable. Where no neighbour knows
        a target variable: 0 with the pool "all" (so the first class), and with the pool "labelled" the
        mean of the pool (a row there can still miss single targets).

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0], [9.0, 5.0]])
    >>> train = Table(rows, np.zeros(2, int), ("a", "b"), (None, None))
    >>> target = Target("regression", np.array([[1.0], [2.0], [np.nan]]), ("y",), np.ones(1))
    >>> knn_predict(np.array([1.0, 0.0]), train, target, train, k=1).ravel()
    array([1., 2., 2.])
    """
    judge = Judge(importances, train, train_target, test, k, pool)
    return np.stack([judge.predict(r, n_jobs) for r in range(len(judge.weights))])


def judge_rankings(
    importances: np.ndarray,
    train: Table,
    train_target: Target,
    test: Table,
    test_target: Target,
    k: int | Sequence[int] = (20, 40),
    pool: str = "labelled",
    n_jobs: int | None = 1,
) -> np.ndarray:
    """The task's measure of :func:`knn_predict` on the test rows whose target is known.

    Returns
    -------
    ndarray of shape (n_rankings, n_k)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.random((200, 5)), np.zeros(5, int), tuple("abcde"), (None,) * 5)
    >>> target = Target("regression", table.values[:, :1] ** 2, ("y",), np.ones(1))
    >>> train, test = np.arange(100), np.arange(100, 200)
    >>> rankings = np.array([[1, 0, 0, 0, 0], [0, 1, 1, 1, 1]])
    >>> data = table.take(train), target.take(train), table.take(test), target.take(test)
    >>> scores = judge_rankings(rankings, *data, k=5)
    >>> bool(scores[0] < 0.1), bool(scores[1] > 1.0)  # RRMSE: smaller is better
    (True, True)
    """
    known = test_target.labeled
    judge = Judge(importances, train, train_target, test.take(known), k, pool)
    truth = test_target.values[known]
    return np.array(
        [
            [task_score(test_target.task, truth, prototypes) for prototypes in judge.predict(r, n_jobs)]
            for r in range(len(judge.weights))
        ]
    )


def judge_neighbors(n_labeled: int) -> int:
    """k where rankings are compared by few labels: min(20, max(3, round(sqrt L))) (Def. 1.5)."""
    return min(20, max(3, round(np.sqrt(n_labeled))))


def judge_weights(importances: np.ndarray, n_features: int) -> np.ndarray:
    """Importances as distance weights, one row per ranking, each summing to 1 (Def. 2.2)."""
    weights = np.atleast_2d(np.asarray(importances, dtype=np.float64))
    if weights.ndim != 2 or weights.shape[1] != n_features:
        raise ValueError(
            f"The importances have shape {np.shape(importances)} but there are {n_features} features: "
            "give one importance per feature."
        )
    if not np.isfinite(weights).all():
        raise ValueError("The importances contain NaN or infinite values; give finite numbers.")
    weights = np.maximum(weights, 0.0)
    weights[weights.max(axis=1, initial=0.0) == 0.0] = 1.0
    weights /= weights.max(axis=1, keepdims=True)
    return weights / weights.sum(axis=1, keepdims=True)


class Judge:
    """The distances and votes that several rankings and several k share; parameters of `knn_predict`."""

    def __init__(
        self,
        importances: np.ndarray,
        train: Table,
        train_target: Target,
        test: Table,
        k: int | Sequence[int] = (20, 40),
        pool: str = "labelled",
    ):
        if pool not in POOLS:
            raise ValueError(f"pool must be one of {', '.join(POOLS)}, not {pool!r}.")
        self.k = np.atleast_1d(np.asarray(k))
        if self.k.size == 0 or self.k.dtype.kind not in "iu" or self.k.min() < 1:
            raise ValueError(f"k must be one or several whole numbers of at least 1, not {k!r}.")
        labeled = train_target.labeled
        if not labeled.any():
            raise ValueError("No training row is labelled, so there is nothing to predict from.")
        self.weights = judge_weights(importances, train.shape[1])
        rows = np.flatnonzero(labeled) if pool == "labelled" else np.arange(len(train))
        self.space = squares(fit_metric(train), train.take(rows), test)
        self.columns = train_target.columns()[rows]
        # The sum of very large numbers would overflow: smaller units, by a power of two, which is exact.
        self.unit = 2.0**60 if np.nanmax(np.abs(self.columns)) > 1e280 else 1.0
        self.columns = self.columns / self.unit
        self.empty = np.zeros(self.columns.shape[1])
        if pool == "labelled":
            known = ~np.isnan(self.columns)
            total = np.where(known, self.columns, 0.0).sum(axis=0)
            self.empty = total / np.maximum(known.sum(axis=0), 1)

    def predict(self, ranking: int, n_jobs: int | None = None, *, in_thread: bool = False) -> np.ndarray:
        """Prototypes of one ranking: n_k x n_test x n_columns.

        in_thread : the caller runs in one of several threads, so no further threads are started.
        """
        search = SquaredSearch(self.space, self.weights[ranking])
        blocks = row_blocks(len(self.space.query), len(self.columns))
        work = partial(self._vote, search)
        parts = [*map(work, blocks)] if in_thread else run_parts(work, blocks, n_jobs)
        return np.concatenate(parts, axis=1)

    def _vote(self, search: SquaredSearch, block: slice) -> np.ndarray:
        """Mean over the neighbours that know the target variable."""
        from .vote import vote

        rows, _ = search.nearest(block, int(self.k.max()))
        means = vote(rows, self.k, self.columns, self.empty)
        if self.unit == 1.0:
            return means
        largest = np.finfo(np.float64).max / self.unit
        return np.clip(means, -largest, largest) * self.unit
