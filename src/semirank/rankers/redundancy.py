"""How many copies a feature has among the others (Def. 1.10), which share what rankers say of it."""

from __future__ import annotations

import numpy as np

from ..data.table import Table
from ..runtime.parallel import each, one_blas_thread
from ..teacher.space import Space, fit_space

MAX_ROWS = 2000  # on which features are compared
_FEWEST_ROWS = 200
_PRODUCTS = 2e11  # rows times pairs of columns that are multiplied; with more, rows are a sample
_BLOCK = 1 << 24  # cells of the matrix of all pairs that a thread holds at a time


def copies(table: Table, seed: int = 0, n_jobs: int | None = None) -> np.ndarray:
    """Sum over all features, itself included, of the eighth power of the correlation.

    A copy counts 1, a feature with a correlation of 0.9 counts 0.43, one with 0.5 counts 0.004. For nominal
    features the square of the correlation is the sum of squared correlations of their columns in the space of
    the teacher, relative to what each has with itself. Missing values are at the mean.

    Parameters
    ----------
    table : Table
    seed : int
        Of the sample of rows on which many features, or many rows, are compared.
    n_jobs : int, optional

    Returns
    -------
    ndarray of shape (n_features,)
        At least 1.

    Examples
    --------
    >>> x, z = np.random.default_rng(0).normal(size=(2, 500))
    >>> table = Table(np.c_[x, -2 * x, z], np.zeros(3, np.int64), tuple("abc"), (None,) * 3)
    >>> copies(table).round(3)
    array([2., 2., 1.])
    """
    n_columns = max(1, table.shape[1])
    n_rows = int(min(MAX_ROWS, max(_FEWEST_ROWS, _PRODUCTS / n_columns**2)))
    if n_rows < len(table):
        table = table.take(np.sort(np.random.default_rng([seed, 2]).permutation(len(table))[:n_rows]))
    space = fit_space(table)
    out = np.ones(table.shape[1])
    features, first = np.unique(space.feature, return_index=True)
    if len(features) == 0:
        return out
    columns = _own_similarity_one(space, table, first)
    step = max(1, _BLOCK // columns.shape[1])
    blocks = [slice(i, i + step) for i in range(0, len(features), step)]
    ends = np.append(first[1:], columns.shape[1])

    def work(block: slice) -> np.ndarray:
        start = first[block]
        square = columns[:, start[0] : ends[block][-1]].T @ columns
        square *= square
        if len(first) < columns.shape[1]:
            square = np.add.reduceat(np.add.reduceat(square, first, axis=1), start - start[0], axis=0)
        square *= square
        square *= square
        return square.sum(axis=1, dtype=np.float64)

    with one_blas_thread():
        out[features] = np.maximum(1.0, np.concatenate(list(each(work, blocks, n_jobs))))
    return out


def _own_similarity_one(space: Space, table: Table, first: np.ndarray) -> np.ndarray:
    """The points of the rows, each feature's columns scaled so that their squared products add up to 1."""
    points = space.points(table.values)
    counts = np.diff(np.append(first, points.shape[1]))
    own = (points[:, first] ** 2).sum(axis=0) ** 2
    for place in np.flatnonzero(counts > 1):
        part = points[:, first[place] : first[place] + counts[place]]
        own[place] = ((part.T @ part) ** 2).sum()
    points /= np.repeat(own**0.25, counts)
    return points.astype(np.float32)
