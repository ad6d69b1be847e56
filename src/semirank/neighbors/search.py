"""Exact nearest rows in the mixed metric of Def. 1.6, shared by Relief, Laplace and the judge.

d_i is 0/1 on a nominal feature and |a - b| / range on a numeric one. A missing value is taken as the worst
case: on a numeric feature the known value's distance to the far end of the range (1 if both are missing),
on a nominal one the chance that a declared value picked at random differs. A numeric feature that is
constant in the training rows is at distance 0 everywhere.

Equal distances go by row number, and "equal" means up to rounding: distances are compared in steps of
2^-34 of the largest one possible. So the answer depends neither on the order of summation nor on `n_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.scaling import in_range, ranges
from ..data.table import Table
from ..runtime.memory import ensure_room
from ..runtime.parallel import each
from .layouts import SquaredSearch, SquaredSpace, l1_layout, plain_first, squared_space, tiles

# progress(done, total, what), called while something long is running.
Progress = Callable[[int, int, str], None]

# Cells of one block of distances: enough for fast matrix products, few enough to stay near the processor.
_BLOCK_CELLS = 1 << 21
_BLOCK_ROWS = 512
_FAR = 1000.0  # in ranges of a feature


class Neighbors(NamedTuple):
    """Nearest first: `rows` of the pool (n_queries x k) and their `distances`."""

    rows: np.ndarray
    distances: np.ndarray


@dataclass(frozen=True, eq=False)
class Metric:
    """The d_i with the ranges of the training rows.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,)
        Smallest and largest value of the numeric features; 0 and 1 for nominal ones, whose codes stay.
    n_values : ndarray of shape (n_features,), int64
        0 for numeric features, else the number of declared values.
    """

    low: np.ndarray
    high: np.ndarray
    n_values: np.ndarray

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Numbers as their place in the range, 0 where the range is 0 (missing or not); codes stay."""
        scaled = in_range(values, self.low, self.high)
        scaled[:, self.low == self.high] = 0.0
        # New rows far outside the training range stop here: their squares must still fit into a float32.
        return np.clip(scaled, -_FAR, np.maximum(_FAR, self.n_values), out=scaled)


def fit_metric(table: Table) -> Metric:
    """The metric whose ranges are those of these rows.

    Examples
    --------
    >>> table = Table(np.array([[1.0, 0.0], [5.0, 1.0]]), np.array([0, 2]), ("a", "b"), (None, ("x", "y")))
    >>> fit_metric(table).scale(table.values)
    array([[0., 0.],
           [1., 1.]])
    """
    low, high = ranges(table.values)
    nominal = table.n_values > 0
    low, high = np.where(nominal, 0.0, low), np.where(nominal, 1.0, high)
    return Metric(low, high, np.asarray(table.n_values, dtype=np.int64))


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

    Parameters
    ----------
    pool : Table
    k : int
        At most the rows there are is used.
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
    from .kernels import CELL, l1_block

    metric = fit_metric(pool) if metric is None else metric
    scaled = metric.scale(pool.values)
    if query is None:
        own = np.arange(len(pool)) if rows is None else np.asarray(rows, dtype=np.int64)
        asked = scaled if rows is None else scaled[own]
        k = max(0, min(k, len(pool) - 1))
    else:
        own = np.full(len(query), -1)
        asked = metric.scale(query.values)
        k = min(k, len(pool))
    cells = float(len(metric.n_values)) * (4 * len(scaled) + len(asked))  # measured
    ensure_room(8.0 * cells, f"Comparing {len(asked)} rows with {len(scaled)}")
    order, n_plain = plain_first(scaled, asked, metric.n_values)
    own_rows = asked is scaled
    scaled, n_values = scaled.take(order, axis=1), metric.n_values[order]
    asked = scaled if own_rows else asked.take(order, axis=1)
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

    return _joined(run_parts(work, row_blocks(len(asked), len(pool)), n_jobs, progress))


def nearest_squared(
    pool: Table,
    k: int,
    weights: np.ndarray,
    *,
    query: Table | None = None,
    metric: Metric | None = None,
    n_jobs: int | None = None,
) -> Neighbors:
    """The k nearest rows of `pool` by sum_i weights_i d_i^2, the judge's distance (Def. 2.2).

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
    space = squares(fit_metric(pool) if metric is None else metric, pool, query)
    largest = np.max(weights)
    shares = weights / largest  # first the largest to 1: the sum of very large weights is no float
    total = shares.sum()
    search = SquaredSearch(space, shares / total)
    blocks = row_blocks(len(space.query), len(pool))
    found = _joined(run_parts(lambda block: search.nearest(block, k, distances=True), blocks, n_jobs))
    return Neighbors(found.rows, found.distances * (total * largest))


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
        At most the rows there are is used.
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
    return _joined(
        run_parts(lambda block: search.nearest(block, k, distances=True), blocks, n_jobs, progress)
    )


def squares(metric: Metric, pool: Table, query: Table | None = None) -> SquaredSpace:
    """Lay out a pool, and rows whose neighbours are sought (None: its own), for many sets of weights."""
    scaled = metric.scale(pool.values)
    return squared_space(scaled, None if query is None else metric.scale(query.values), metric.n_values)


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


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> Neighbors:
    rows, distances = zip(*parts)
    return Neighbors(np.concatenate(rows), np.concatenate(distances))
