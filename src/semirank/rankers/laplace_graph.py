"""The graph of close rows behind the Laplacian score, and the score of every column on it (Def. 1.7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.scaling import in_range, ranges
from ..data.table import Table
from ..data.target import Target
from ..neighbors.feature_distance import CELL
from ..neighbors.search import nearest_points, row_blocks, run_parts
from ..neighbors.target_distance import TargetSpace, target_space
from ..runtime.memory import ensure_room
from ..runtime.progress import Progress

_CELLS = 1 << 21  # numbers held at a time when all columns are compared along the edges


class Columns(NamedTuple):
    """Numeric features and the one-hot columns of nominal ones, standardised; constant ones left out.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Missing numbers and the columns of missing nominal values are at their mean, 0.
    feature : ndarray of shape (n_columns,)
        The feature that each column belongs to.
    """

    values: np.ndarray
    feature: np.ndarray


class Edges(NamedTuple):
    """Close pairs of rows, first < second; `distance` is d_Y where `labeled`, else that of the features."""

    first: np.ndarray
    second: np.ndarray
    distance: np.ndarray
    labeled: np.ndarray


def standard_columns(table: Table) -> Columns:
    """One column per numeric feature, one per seen value of a nominal one, to mean 0 and variance 1."""
    parts, feature = [], []
    columns = table.values.T
    seen = [np.unique(x[~np.isnan(x)]) if n else np.zeros(1) for x, n in zip(columns, table.n_values)]
    # With the neighbours that are sought in these columns (measured).
    n_cells = 9.0 * len(table) * sum(map(len, seen))
    ensure_room(8.0 * n_cells, f"The graph of {len(table)} rows and {sum(map(len, seen))} columns")
    for i, n_values in enumerate(table.n_values.tolist()):
        x = columns[i]
        missing = np.isnan(x)
        block = x[:, None]
        if n_values:
            block = (block == seen[i]).astype(np.float64)
            block[missing] = np.nan
        low, high = ranges(block)
        varies = low < high
        # First into [0, 1], where neither squares nor differences lose anything.
        block = in_range(block[:, varies], low[varies], high[varies])
        if varies.any():
            block -= block[~missing].mean(axis=0)
            block /= np.sqrt((block[~missing] ** 2).mean(axis=0))
        block[missing] = 0.0
        parts.append(block)
        feature.append(np.full(int(varies.sum()), i))
    return Columns(np.ascontiguousarray(np.hstack(parts)), np.concatenate(feature))


def graph_scores(
    columns: np.ndarray, edges: Edges, label_weight: float = 1.0, kernel_width: float | None = None
) -> np.ndarray:
    """f~' L f~ / f~' Deg f~ of every column f, centred by Deg; NaN where that is 0/0.

    S is exp(-d/t) on the edges, `label_weight` times as much on labelled ones, L = Deg - S; t is
    `kernel_width`, by default the median distance (if that is 0 the mean, if that is 0 one).
    """
    if len(edges.first) == 0:
        return np.full(columns.shape[1], np.nan)
    if kernel_width is None:
        kernel_width = float(np.median(edges.distance)) or float(edges.distance.mean()) or 1.0
    with np.errstate(over="ignore"):  # infinitely many widths apart: exp(-inf) = 0 is right
        weight = np.exp(-edges.distance / kernel_width) * np.where(edges.labeled, label_weight, 1.0)
    degree = np.bincount(edges.first, weight, len(columns)) + np.bincount(edges.second, weight, len(columns))
    if degree.sum() == 0.0:
        raise ValueError(
            f"kernel_width={kernel_width} is so small that all weights exp(-d / kernel_width) vanish; "
            "use a larger one or 'median'."
        )
    across = np.zeros(columns.shape[1])
    step = max(1, _CELLS // columns.shape[1])
    for start in range(0, len(weight), step):
        part = slice(start, start + step)
        across += weight[part] @ (columns[edges.first[part]] - columns[edges.second[part]]) ** 2
    centred = columns - degree @ columns / degree.sum()
    spread = degree @ centred**2
    # Below the rounding of the sum, the column is constant where the graph has weight.
    defined = spread > 1e-20 * degree.sum()
    return np.divide(across, spread, out=np.full(len(spread), np.nan), where=defined)


def laplace_space(target: Target) -> TargetSpace:
    """d_Y of Def. 1.6; for regression the square of the standardised difference, as in the literature."""
    from ..neighbors.target_kernels import SQUARE

    if target.task != "regression":
        return target_space(target)
    y = target_space(target).values[:, 0]  # in [0, 1]: no number is too large to be squared
    known = y[~np.isnan(y)]
    spread = known.std()
    return TargetSpace((y / (spread if spread > 0 else 1.0))[:, None], np.ones(1), SQUARE)


class LabeledNeighbors(NamedTuple):
    """The nearest labelled rows of every labelled row, and their distances by target and by features."""

    rows: np.ndarray
    distances: np.ndarray
    features: np.ndarray


def labeled_neighbors(
    space: TargetSpace,
    rows: np.ndarray,
    columns: np.ndarray,
    k: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> LabeledNeighbors:
    from ..neighbors.target_kernels import target_nearest

    k = min(k, len(rows) - 1)
    if k < 1:
        empty = np.zeros((len(rows), 0))
        return LabeledNeighbors(empty.astype(np.int64), empty, empty)
    values, features = space.values[rows], columns[rows]

    def work(block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return target_nearest(block.start, block.stop, values, space.weights, space.kind, features, k)

    parts = run_parts(work, row_blocks(len(rows), len(rows)), n_jobs, progress)
    near, distances, apart = (np.concatenate(part) for part in zip(*parts))
    return LabeledNeighbors(rows[near], distances, apart)


def mixed_neighbors(
    among: LabeledNeighbors,
    columns: np.ndarray,
    labeled: np.ndarray,
    k: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> np.ndarray:
    """The k nearest rows of every row under the mixed distance (n_rows x k)."""
    k = min(k, len(columns) - 1)
    known, unknown = np.flatnonzero(labeled), np.flatnonzero(~labeled)
    out = np.empty((len(columns), k), np.int64)
    if len(unknown):
        # An unlabelled row compares features with everybody, a labelled one with the unlabelled rows.
        out[unknown] = nearest_points(
            columns, columns[unknown], k, own=unknown, n_jobs=n_jobs, progress=progress
        ).rows
    if len(known):
        rows, distances = among.rows, among.distances
        if len(unknown):
            found, apart = nearest_points(
                columns[unknown], columns[known], k, n_jobs=n_jobs, progress=progress
            )
            apart = np.rint(apart / CELL) * CELL
            rows = np.hstack([rows, unknown[found]])
            distances = np.hstack([distances, apart])
            features = np.hstack([among.features, apart])
            order = np.lexsort((rows, features, distances), axis=1)
            rows = np.take_along_axis(rows, order, axis=1)
        out[known] = rows[:, :k]
    return out


def edges_of(
    rows: np.ndarray, near: np.ndarray, columns: np.ndarray, space: TargetSpace, labeled: np.ndarray
) -> Edges:
    """Pairs of which one is among the other's nearest, each once."""
    from ..neighbors.target_kernels import target_pairs

    n_rows = len(columns)
    a, b = np.repeat(rows, near.shape[1]), near.ravel()
    code = np.unique(np.minimum(a, b) * n_rows + np.maximum(a, b))
    first, second = code // n_rows, code % n_rows
    distance = target_pairs(space.values, labeled, first, second[:, None], space.weights, space.kind)[:, 0]
    known = distance >= 0.0
    step = max(1, _CELLS // columns.shape[1])
    other = np.flatnonzero(~known)
    for start in range(0, len(other), step):
        part = other[start : start + step]
        distance[part] = ((columns[first[part]] - columns[second[part]]) ** 2).mean(axis=1)
    return Edges(first, second, distance, known)
