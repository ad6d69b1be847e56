"""Exact nearest rows in the mixed metric of Def. 1.6, shared by Relief, Laplace and the judge.

Equal distances go by row number, and "equal" means up to rounding: distances are compared in steps of
2^-34 of the largest one possible. So the answer depends neither on the order of summation nor on `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.table import Table
from ..runtime.memory import ensure_room
from ..runtime.parallel import each
from ..runtime.progress import Progress
from .feature_distance import CELL, Metric, fit_metric
from .layouts import SquaredSpace, l1_layout, plain_first, squared_space, tiles

# Cells of one block of distances: enough for fast matrix products, few enough to stay near the processor.
_BLOCK_CELLS = 1 << 21
_BLOCK_ROWS = 512


class Neighbors(NamedTuple):
    """Nearest first: `rows` of the pool (n_queries x k) and their `distances`."""

    rows: np.ndarray
    distances: np.ndarray


def nearest_l1(
    pool: Table,
    k: int,
    *,
    query: Table | None = None,
    rows: np.ndarray | None = None,
    metric: Metric | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Neighbors:
    """The k nearest rows of `pool` by d_X, the mean of the d_i: Relief's distance (Def. 1.6).

    Features that do not vary, by the metric, are left out; where none does, all distances are 0.

    Parameters
    ----------
    pool : Table
    k : int
        Of a smaller pool, all rows are found.
    query : Table, optional
        Rows whose neighbours are sought; by default the pool's own rows, each without itself.
    rows : array of int, optional
        Which of the pool's own rows are the queries; by default all.
    metric : Metric, optional
        By default the one of the pool.
    n_jobs : int, optional
    progress : callable, optional

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> table = Table(np.array([[0.0], [1.0], [4.0]]), np.array([0]), ("a",), (None,))
    >>> nearest_l1(table, 2)
    Neighbors(rows=array([[1, 2],
           [0, 2],
           [1, 0]]), distances=array([[0.25, 1.  ],
           [0.25, 0.75],
           [0.75, 1.  ]]))
    """
    from .kernels import l1_block

    metric = fit_metric(pool) if metric is None else metric
    scaled, n_values = _in_distance(metric, pool)
    if query is None:
        own = np.arange(len(pool)) if rows is None else np.asarray(rows, dtype=np.int64)
        asked = scaled[own]
        k = max(0, min(k, len(pool) - 1))
    else:
        own = np.full(len(query), -1)
        asked, _ = _in_distance(metric, query)
        k = min(k, len(pool))
    cells = float(len(n_values)) * (4 * len(scaled) + len(asked))  # measured
    ensure_room(8.0 * cells, f"Comparing {len(asked)} rows with {len(scaled)}")
    order, n_plain = plain_first(scaled, asked, n_values)
    scaled, asked, n_values = scaled.take(order, axis=1), asked.take(order, axis=1), n_values[order]
    layout = l1_layout(scaled, asked, n_values)
    numbers, offset, words = layout.rows(asked)
    number_tiles, offset_tiles, word_tiles = (tiles(part) for part in layout.rows(scaled))
    # Rounding of the float32 sums: relative to the sum, and absolute for the rounded numbers themselves.
    unit = 2.0**-24
    n_numbers = numbers.shape[1]
    relative = 2.0 * unit * (n_numbers // 8 + 16 + 2 * len(layout.planes))
    size = np.abs(numbers).sum(axis=1, dtype=np.float64)
    largest = np.abs(number_tiles).sum(axis=1, dtype=np.float64).max(initial=0.0)
    absolute = 2.0 * unit * (size + largest) + CELL * len(order)
    if n_numbers == 0 and not layout.masked.any():  # counts of differing codes are exact
        relative, absolute = 0.0, np.zeros(len(asked))

    def work(block: slice) -> tuple[np.ndarray, np.ndarray]:
        return l1_block(
            numbers[block], number_tiles, offset[block], offset_tiles[:, 0], words[block], word_tiles,
            layout.planes, layout.masked, layout.unlike, relative, absolute[block], own[block], k, len(pool),
            asked[block], scaled, n_plain, n_values,
        )  # fmt: skip

    parts = run_parts(work, row_blocks(len(asked), len(pool)), n_jobs, progress)
    return Neighbors(*(np.concatenate(part) for part in zip(*parts)))


def _in_distance(metric: Metric, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Scaled rows and numbers of values of the features that vary; without any, one column of zeros."""
    if metric.varies.all():
        return metric.scale(table.values), metric.n_values
    if not metric.varies.any():
        return np.zeros((len(table), 1)), np.zeros(1, np.int64)
    return metric.scale(table.values)[:, metric.varies], metric.n_values[metric.varies]


def nearest_points(
    pool: np.ndarray,
    query: np.ndarray,
    k: int,
    *,
    own: np.ndarray | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Neighbors:
    """The k nearest rows of `pool` by the mean squared difference of complete numeric columns.

    Parameters
    ----------
    pool, query : ndarray of shape (n_rows, n_columns)
    k : int
        Of a smaller pool, all rows are found.
    own : ndarray of int64, optional
        For every query row the pool row that it is, which is left out.
    n_jobs : int, optional
    progress : callable, optional

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> nearest_points(np.array([[0.0], [1.0], [4.0]]), np.array([[3.0]]), 2)
    Neighbors(rows=array([[2, 1]]), distances=array([[1., 4.]]))
    """
    n_columns = pool.shape[1]
    space = squared_space(pool, query, np.zeros(n_columns, np.int64), own)
    search = SquaredSearch(space, np.full(n_columns, 1.0 / n_columns))
    blocks = row_blocks(len(query), len(pool))
    parts = run_parts(lambda block: search.nearest(block, k, distances=True), blocks, n_jobs, progress)
    return Neighbors(*(np.concatenate(part) for part in zip(*parts)))


def squares(metric: Metric, pool: Table, query: Table) -> SquaredSpace:
    """Lay out a pool, and rows whose neighbours are sought, for many sets of weights."""
    return squared_space(metric.scale(pool.values), metric.scale(query.values), metric.n_values)


class SquaredSearch:
    """Neighbours for one set of feature weights, which sum to 1, block by block of query rows."""

    def __init__(self, space: SquaredSpace, weights: np.ndarray):
        weights = weights[space.order]
        used = np.flatnonzero(weights > 0)  # features of weight 0 drop out
        columns = np.flatnonzero(weights[space.feature] > 0)
        every = len(used) == len(weights)
        self.own = space.own
        self.query = space.query if every else space.query.take(used, axis=1)
        self.pool = space.pool if every else space.pool.take(used, axis=1)
        self.n_plain = int(np.searchsorted(used, space.n_plain))
        self.n_values = space.n_values[used]
        self.weights = weights[used]
        share = weights.astype(np.float32)
        # All numbers are finite; BLAS raises the flag for numbers that it reads beyond them and does not use.
        with np.errstate(invalid="ignore"):
            self.u = space.query_alone @ share
            v = space.pool_alone @ share
        # Half of the weight to either side keeps both factors small, and so the rounding.
        self.scale = np.sqrt(share[space.feature[columns]])
        self.left = space.left if every else space.left.take(columns, axis=1)
        right = (space.right if every else space.right.take(columns, axis=1)) * self.scale
        self.size = _norms(right).max(initial=0.0), np.abs(v).max(initial=0.0)
        # u + v + left . right as one product: left gains the columns (u, 1), right (1, v).
        self.right = np.column_stack([right, np.ones(len(v), np.float32), v])

    def nearest(self, block: slice, k: int, *, distances: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Pool rows nearest to a block of query rows, and their distances if asked (else no columns)."""
        from .kernels import pair_distances, squared_block

        k = max(0, min(k, len(self.pool) - bool(len(self.own) and self.own[0] >= 0)))
        query, u = self.query[block], self.u[block]
        left = np.empty((len(u), self.right.shape[1]), np.float32)
        np.multiply(self.left[block], self.scale, out=left[:, :-2])
        # A generous bound on the rounding of the product (Cauchy-Schwarz), its float32 factors, u and v.
        bound = _norms(left[:, :-2]) * self.size[0] + np.abs(u) + self.size[1]
        bound *= (2 * (left.shape[1] + query.shape[1]) + 32) * 2.0**-24
        left[:, -2], left[:, -1] = u, 1.0
        approx = left @ self.right.T
        shape = self.pool, self.n_plain, self.n_values, self.weights
        rows = squared_block(approx, bound, self.own[block], k, query, *shape)
        wanted = rows if distances else rows[:, :0]
        return rows, pair_distances(query, wanted, *shape, True)


def _norms(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows)).astype(np.float64)


def row_blocks(n_rows: int, row_cells: int) -> list[slice]:
    """Consecutive blocks of rows, with `row_cells` numbers to hold per row; at least one block."""
    size = min(_BLOCK_ROWS, max(1, _BLOCK_CELLS // max(1, row_cells)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size)]


def run_parts(
    work: Callable[[Any], Any],
    parts: Sequence[Any],
    n_jobs: int | None,
    progress: Progress | None = None,
    what: str = "blocks of rows",
) -> list[Any]:
    """`work` on every part in threads, results in order."""
    done = []
    for result in each(work, parts, n_jobs):
        done.append(result)
        if progress is not None:
            progress(len(done), len(parts), what)
    return done
