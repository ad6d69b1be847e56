"""Features as points in a numeric space (Def. 1.10)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.scaling import in_range, ranges
from ..data.table import Table
from ..runtime.memory import ensure_room

MAX_VALUES = 100  # of a nominal feature that get a column; rarer ones tell rows apart, not alike
_FAR = 1000.0  # new rows stop so many ranges away from the training rows, where squares are still small
_CELLS = 1 << 18  # of a table that are read at a time: few enough to stay near the processor


class Space(NamedTuple):
    """How rows become points: every feature has variance 1, the columns of a nominal one together.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,)
        Range of a numeric feature; 0 and 1 for a nominal one, whose codes stay what they are.
    feature : ndarray of shape (n_columns,), int64
        The feature that a column belongs to; a constant feature has none.
    value : ndarray of shape (n_columns,)
        The nominal value that a column marks with 1; NaN for the column of a numeric feature.
    mean, scale : ndarray of shape (n_columns,)
        A column holds (x - mean) * scale, and 0 where x is missing.
    """

    low: np.ndarray
    high: np.ndarray
    feature: np.ndarray
    value: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    def points(self, values: np.ndarray) -> np.ndarray:
        """Rows of table values as points, n_rows x n_columns."""
        n_cells = 3.0 * len(values) * len(self.feature)
        ensure_room(8.0 * n_cells, f"{len(values)} rows with {len(self.feature)} columns")
        nominal = np.flatnonzero(~np.isnan(self.value))
        cells = values.take(self.feature, axis=1)
        inside = in_range(cells, self.low[self.feature], self.high[self.feature])
        np.clip(inside, -_FAR, _FAR, out=inside)
        inside[:, nominal] = cells[:, nominal] == self.value[nominal]
        inside -= self.mean
        inside *= self.scale
        inside[np.isnan(cells)] = 0.0
        return inside


def fit_space(table: Table) -> Space:
    """The space of these rows.

    Examples
    --------
    >>> values = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0], [2.0, 2.0]])
    >>> table = Table(values, np.array([0, 3]), ("size", "colour"), (None, ("red", "green", "blue")))
    >>> points = fit_space(table).points(table.values)
    >>> points[:, 0].round(3).tolist()
    [-1.225, 1.225, 0.0, 0.0]
    >>> (points[:, 1:] ** 2).sum(axis=1).mean().round(12)
    np.float64(1.0)
    """
    numeric = table.n_values == 0
    low, high = np.zeros(len(numeric)), np.ones(len(numeric))
    parts = []
    step = max(1, _CELLS // max(1, len(table)))
    for first in range(0, len(numeric), step):
        at = first + np.flatnonzero(numeric[first : first + step])
        if len(at):
            cells = table.values[:, at]
            low[at], high[at] = ranges(cells)
            varies = low[at] < high[at]
            inside = in_range(cells[:, varies], low[at[varies]], high[at[varies]])
            known = ~np.isnan(inside)
            count = known.sum(axis=0)
            mean = np.where(known, inside, 0.0).sum(axis=0) / count
            variance = np.where(known, inside - mean, 0.0) ** 2
            scale = 1.0 / np.sqrt(variance.sum(axis=0) / count)
            parts.append((at[varies], np.full(len(mean), np.nan), mean, scale))
    for j in np.flatnonzero(~numeric):
        parts.append(_nominal(table.values[:, j], int(j)))
    nothing = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0))
    feature, value, mean, scale = (np.concatenate(part) for part in zip(nothing, *parts))
    order = np.argsort(feature, kind="stable")
    return Space(low, high, feature[order], value[order], mean[order], scale[order])


def _nominal(codes: np.ndarray, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Columns of a nominal feature; with two values they mirror each other, so that one is enough."""
    known = codes[~np.isnan(codes)].astype(np.int64)
    counts = np.bincount(known)
    values = np.flatnonzero(counts)
    if len(values) < 2:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0)
    frequent = values[np.argsort(-counts[values], kind="stable")][:MAX_VALUES]
    chosen = np.sort(frequent) if len(values) > 2 else values[1:]
    share = counts[chosen] / len(known)
    scale = 1.0 / np.sqrt(np.sum(share * (1.0 - share)))
    return np.full(len(chosen), feature), chosen.astype(np.float64), share, np.full(len(chosen), scale)
