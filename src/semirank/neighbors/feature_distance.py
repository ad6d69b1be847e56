"""How far apart are two rows on one feature? d_i of Def. 1.6, and its rule for missing values.

d_i is 0 or 1 on a nominal feature and |a - b| / range on a numeric one. A missing value is taken as the worst
case: on a numeric feature the known value's distance to the far end of the range (1 if both are missing), on
a nominal one the chance that a declared value picked at random differs. A numeric feature that is constant
in the training rows is at distance 0 everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.scaling import in_range, ranges
from ..data.table import Table

# Distances are compared after rounding to this share of the largest possible one: mathematically equal
# distances, whose float sums differ in the last bits, are then ties and go by row number (Def. 1.6).
CELL = 2.0**-34
_FAR = 1000.0  # in ranges of a feature


def feature_distance(x, y, n_values):
    """d_i for scaled numbers (n_values 0) or codes, NaN where missing; `kernels` compiles it."""
    if n_values > 0:
        if np.isnan(x) or np.isnan(y):
            return 1.0 - 1.0 / n_values
        return 0.0 if x == y else 1.0
    if np.isnan(x):
        return 1.0 if np.isnan(y) else max(y, 1.0 - y)
    if np.isnan(y):
        return max(x, 1.0 - x)
    return abs(x - y)


def both_missing(n_values: int) -> float:
    """`feature_distance` of two missing values."""
    return 1.0 - 1.0 / n_values if n_values > 0 else 1.0


def one_missing(x: np.ndarray, n_values: int) -> np.ndarray | float:
    """`feature_distance` of known values to a missing one."""
    return both_missing(n_values) if n_values > 0 else np.maximum(x, 1.0 - x)


@dataclass(frozen=True, eq=False)
class Metric:
    """The d_i with the ranges of the training rows.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,)
        Smallest and largest value of the numeric features; 0 and 1 for nominal ones, whose codes stay.
    n_values : ndarray of shape (n_features,), int64
        0 for numeric features, else the number of declared values.
    varies : ndarray of bool, shape (n_features,)
        Features with at least two different known values; the others have no part in d_X.
    """

    low: np.ndarray
    high: np.ndarray
    n_values: np.ndarray
    varies: np.ndarray

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Numbers as their place in the range, 0 where the range is 0 (missing or not); codes stay."""
        scaled = in_range(values, self.low, self.high)
        scaled[:, self.low == self.high] = 0.0
        # New rows far outside the training range are cut off here, so that squares still fit into a float32.
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
    varies = low < high
    low, high = np.where(nominal, 0.0, low), np.where(nominal, 1.0, high)
    return Metric(low, high, np.asarray(table.n_values, dtype=np.int64), varies)
