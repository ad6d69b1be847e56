"""The classical form of Relief for classes: near rows of the same class and of each other one (Def. 1.6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.table import Table
from ..neighbors.feature_distance import fit_metric
from ..neighbors.search import nearest_l1, row_blocks, run_parts
from ..runtime.progress import Progress
from .relief_sums import for_all_features, rank_weights, varying_features


def per_class_parts(
    table: Table,
    classes: np.ndarray,
    ks: Sequence[int],
    visited: np.ndarray | None = None,
    neighbor_weights: float = 0.0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """What every visited row adds, for each number of neighbours: the importances are the means over rows.

    Classes are taken one after the other, so that the neighbours of one are in memory at a time.

    Parameters
    ----------
    table : Table
    classes : ndarray of int
        The class of every row.
    ks : sequence of int
    visited : ndarray of int, optional
        By default all rows.
    neighbor_weights : float, default=0.0
    n_jobs : int, optional
    progress : callable, optional

    Returns
    -------
    ndarray of shape (n_k, n_visited, n_features)

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [0.1, 1.0], [1.0, 0.0], [0.9, 1.0]])
    >>> table = Table(rows, np.zeros(2, np.int64), ("a", "b"), (None, None))
    >>> parts = per_class_parts(table, np.array([0, 0, 1, 1]), [1])
    >>> parts[0].mean(axis=0).round(2).tolist()
    [0.8, -1.0]
    """
    from ..neighbors.kernels import weighted_differences

    visited = np.arange(len(table)) if visited is None else visited
    metric = fit_metric(table)
    rows, order, n_plain = varying_features(table, metric)
    n_values = metric.n_values[order]
    share = np.bincount(classes) / len(classes)
    here = classes[visited]
    parts = np.zeros((len(ks), len(visited), len(order)))

    def add(asked: np.ndarray, near: np.ndarray, factor: np.ndarray) -> None:
        """Add the mean differences between rows (places among the visited) and those near them."""
        if near.size == 0:
            return
        by_rank = np.stack([mean_weights(k, near.shape[1], neighbor_weights) for k in ks])

        def work(block: slice) -> None:
            some = asked[block]
            weights = by_rank[:, None] * factor[block, None]
            second = np.ascontiguousarray(near[block])
            parts[:, some] += weighted_differences(rows, visited[some], second, n_plain, n_values, weights)

        run_parts(work, row_blocks(len(asked), 8 * near.shape[1] * len(order)), n_jobs)

    present = np.flatnonzero(share)
    for done, c in enumerate(present, start=1):
        members = np.flatnonzero(classes == c)
        pool = table.take(members)
        inside, outside = np.flatnonzero(here == c), np.flatnonzero(here != c)
        if len(inside):
            own = np.searchsorted(members, visited[inside])
            hits = nearest_l1(pool, max(ks), rows=own, metric=metric, n_jobs=n_jobs)
            add(inside, members[hits.rows], np.full(len(inside), -1.0))
        if len(outside):
            query = table.take(visited[outside])
            misses = nearest_l1(pool, max(ks), query=query, metric=metric, n_jobs=n_jobs)
            add(outside, members[misses.rows], share[c] / (1.0 - share[here[outside]]))
        if progress is not None:
            progress(done, len(present), "classes")
    return for_all_features(parts, order, table.shape[1])


def mean_weights(k: int, n_near: int, neighbor_weights: float) -> np.ndarray:
    """Weights that make a sum over the first k of `n_near` rows a mean."""
    weights = np.zeros(n_near)
    used = min(k, n_near)
    weights[:used] = rank_weights(used, neighbor_weights)
    return weights / weights.sum()
