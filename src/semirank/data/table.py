"""Features as the kernels want them: one float matrix, numbers or category codes, NaN where missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Table:
    """Encoded features (Def. 1.1).

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features), float64, C order
        A number, or the code 0..n_values-1 of a nominal value; NaN where missing.
    n_values : ndarray of shape (n_features,), int64
        0 for a numeric feature, otherwise the number of *declared* values of the nominal feature.
    names : tuple of str
        Feature names, unique.
    categories : tuple
        Per feature None (numeric) or the tuple of declared values, in code order.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import Table
    >>> values = np.array([[1.5, 0.0], [2.5, np.nan]])
    >>> table = Table(values, np.array([0, 2]), ("size", "colour"), (None, ("blue", "red")))
    >>> table.shape
    (2, 2)
    >>> table.take(np.array([0])).values.tolist()
    [[1.5, 0.0]]
    """

    values: np.ndarray
    n_values: np.ndarray
    names: tuple[str, ...]
    categories: tuple[tuple[object, ...] | None, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape[0], self.values.shape[1]

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> Table:
        """The same features for some rows (indices or a boolean mask)."""
        return Table(self.values[rows], self.n_values, self.names, self.categories)
