"""Exact nearest rows in the mixed metric of DESIGN 1.6, shared by Relief, Laplace and the judge.

d_i is 0/1 on a nominal feature and |a - b| / range on a numeric one. A missing value is taken as the worst
case: on a numeric feature the known value's distance to the far end of the range (1 if both are missing),
on a nominal one the chance that a declared value picked at random differs. A numeric feature that is
constant in the training rows is at distance 0 everywhere.

Equal distances go by row number, and "equal" means up to rounding: distances are compared in steps of
2^-34 of the largest one possible. So the answer depends neither on the order of summation nor on `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from .data.table import Table

# Cells of one block of distances: enough for fast matrix products, few enough to stay near the processor.
_BLOCK_CELLS = 1 << 21


class Neighbors(NamedTuple):
    """Nearest first: `rows` of the pool (n_queries x k) and their `distances`."""

    rows: np.ndarray
    distances: np.ndarray


@dataclass(frozen=True, eq=False)
class Metric:
    """The d_i with the ranges of the training rows.

    Attributes
    ----------
    low, half_range : ndarray of shape (n_features,)
        Smallest value and half the range of the numeric features (half: the range of very large
        numbers does not fit into a float).
    n_values : ndarray of shape (n_features,)
        0 for numeric features, else the number of declared values.
    """

    low: np.ndarray
    half_range: np.ndarray
    n_values: np.ndarray

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Numbers as their place in the range, 0 where the range is 0 (missing or not); codes stay."""
        numeric = self.n_values == 0
        flat = numeric & (self.half_range == 0.0)
        half = np.where(numeric, 0.5, 1.0)
        scaled = values * half - self.low * half
        scaled /= np.where(numeric & ~flat, self.half_range, 1.0)
        scaled[:, flat] = 0.0
        return scaled


def fit_metric(table: Table) -> Metric:
    """The metric whose ranges are those of these rows.

    Examples
    --------
    >>> table = Table(np.array([[1.0, 0.0], [5.0, 1.0]]), np.array([0, 2]), ("a", "b"), (None, ("x", "y")))
    >>> fit_metric(table).scale(table.values)
    array([[0., 0.],
           [1., 1.]])
    """
    known = ~np.isnan(table.values)
    low = np.where(known, table.values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, table.values, -np.inf).max(axis=0, initial=-np.inf)
    some = (table.n_values == 0) & (low <= high)
    low = np.where(some, low, 0.0)
    return Metric(low, np.where(some, high, 0.0) * 0.5 - low * 0.5, table.n_values)


def nearest_squared(
    pool: Table,
    k: int,
    weights: np.ndarray,
    *,
    query: Table | None = None,
    metric: Metric | None = None,
    n_jobs: int | None = None,
) -> Neighbors:
    """The k nearest rows of `pool` by sum_i weights_i d_i^2, the judge's distance (DESIGN 6.2).

    Parameters
    ----------
    pool : Table
    k : int
        At most the rows there are is used.
    weights : array of shape (n_features,)
        Not negative, not all zero.
    query : Table, optional
        Rows whose neighbours are sought; by default the pool's own rows, each without itself.
    metric : Metric, optional
        By default the one of the pool.
    n_jobs : int, optional

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> table = Table(np.array([[0.0], [1.0], [4.0]]), np.array([0]), ("a",), (None,))
    >>> nearest_squared(table, 1, np.ones(1)).rows.ravel()
    array([1, 0, 1])
    """
    metric = fit_metric(pool) if metric is None else metric
    space = squared_space(metric, pool, query)
    largest = np.max(weights)
    weights = weights / largest  # first the largest to 1: the sum of very large weights is no float
    total = weights.sum()
    parts = run_blocks(
        lambda block: space.nearest(block, k, weights / total, exact=True),
        len(space.query),
        len(pool),
        n_jobs,
    )
    rows, distances = zip(*parts, strict=True)
    return Neighbors(np.concatenate(rows), np.concatenate(distances) * total * largest)


@dataclass(frozen=True, eq=False)
class SquaredSpace:
    """Rows laid out so that weighted squared distances are one matrix product.

    Every d_i^2 is u(a) + v(b) plus a few products of a number of row a and a number of row b: one
    column for a complete numeric or two-valued feature, three where values are missing, and the one-hot
    columns of other nominal features. Made by :func:`squared_space`.

    Attributes
    ----------
    query, pool : ndarray
        Scaled rows.
    own : ndarray of int64
        For every query row the pool row that it is, -1 for none.
    n_values : ndarray of shape (n_features,)
    query_alone, pool_alone : ndarray of shape (n_rows, n_features)
        u and v, feature by feature.
    left, right : ndarray of shape (n_rows, n_columns)
    feature : ndarray of shape (n_columns,)
        The feature that each column belongs to.
    """

    query: np.ndarray
    pool: np.ndarray
    own: np.ndarray
    n_values: np.ndarray
    query_alone: np.ndarray
    pool_alone: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray

    def nearest(
        self, block: slice, k: int, weights: np.ndarray, *, exact: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pool rows nearest to a block of query rows; `weights` sum to 1.

        With `exact` the second array holds the distances, otherwise it has no columns.
        """
        from ._neighbor_kernels import select_squared

        k = max(0, min(k, len(self.pool) - bool(len(self.own) and self.own[0] >= 0)))
        used = np.flatnonzero(weights > 0)
        columns = np.flatnonzero(weights[self.feature] > 0)
        every = len(columns) == len(self.feature)
        left = self.left[block] if every else self.left[block, columns]
        left = left * weights[self.feature[columns]]
        right = self.right if every else self.right[:, columns]
        u = self.query_alone[block] @ weights
        v = self.pool_alone @ weights
        approx = left @ right.T
        approx += u[:, None]
        approx += v
        # Rounding of the three sums above and of the definition itself, generously.
        size = np.abs(u) + np.abs(v).max(initial=0.0)
        size += np.sqrt((left**2).sum(axis=1)) * np.sqrt((right**2).sum(axis=1).max(initial=0.0))
        margin = size * ((2 * len(self.feature) + 16) * np.finfo(float).eps)
        return select_squared(
            approx,
            margin,
            self.own[block],
            k,
            np.ascontiguousarray(self.query[block, used]),
            np.ascontiguousarray(self.pool[:, used]),
            self.n_values[used],
            weights[used],
            exact,
        )


def squared_space(metric: Metric, pool: Table, query: Table | None = None) -> SquaredSpace:
    """Lay out a pool and the rows whose neighbours are sought (None: the pool's own rows)."""
    scaled_pool = metric.scale(pool.values)
    scaled_query = scaled_pool if query is None else metric.scale(query.values)
    own = np.arange(len(pool)) if query is None else np.full(len(query), -1)
    holes = np.isnan(scaled_pool).any(axis=0) | np.isnan(scaled_query).any(axis=0)
    n_values = metric.n_values.astype(np.int64)
    query_alone, left, _, feature = _factors(scaled_query, n_values, holes)
    pool_alone, _, right, _ = _factors(scaled_pool, n_values, holes)
    return SquaredSpace(
        scaled_query,
        scaled_pool,
        own.astype(np.int64),
        n_values,
        query_alone,
        pool_alone,
        left,
        right,
        feature,
    )


def _factors(
    scaled: np.ndarray, n_values: np.ndarray, holes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(alone, left, right, feature): d_i^2(a, b) = alone(a) + alone(b) + left(a) . right(b)."""
    missing = np.isnan(scaled)
    value = np.where(missing, 0.0, scaled)
    line = (n_values == 0) | (n_values == 2)  # (a - b)^2 also tells two codes apart
    straight = np.flatnonzero(line & ~holes)
    alone = value**2
    left = [value[:, straight]]
    right = [-2.0 * value[:, straight]]
    feature = [straight]
    for i in np.flatnonzero(~line | holes):
        x, gone = value[:, i], missing[:, i].astype(np.float64)
        unlike = (1.0 - 1.0 / n_values[i]) ** 2 if n_values[i] > 0 else 1.0
        if line[i]:
            far = np.maximum(x, 1.0 - x) ** 2 if n_values[i] == 0 else np.full(len(x), unlike)
            extra = (1.0 - gone) * far - alone[:, i]
            left.append(np.column_stack([x, extra + unlike * gone, gone]))
            right.append(np.column_stack([-2.0 * x, gone, extra]))
        else:
            hot = (x[:, None] == np.arange(n_values[i])) * (1.0 - gone[:, None])
            alone[:, i] = 0.5 * unlike
            left.append(np.column_stack([hot, 1.0 - gone]))
            right.append(np.column_stack([-hot, (1.0 - unlike) * (1.0 - gone)]))
        feature.append(np.full(left[-1].shape[1], i))
    return alone, np.hstack(left), np.hstack(right), np.concatenate(feature)


def run_blocks(work: Callable[[slice], Any], n_rows: int, row_cells: int, n_jobs: int | None) -> list[Any]:
    """`work` on consecutive blocks of rows in threads; BLAS itself keeps to one thread meanwhile."""
    size = max(1, _BLOCK_CELLS // max(1, row_cells))
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size)]
    with _blas().limit(limits=1, user_api="blas"):
        return Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(work)(block) for block in blocks)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
