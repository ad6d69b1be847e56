"""The target as target variables: one float matrix, NaN where unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Target:
    """An encoded target (Def. 1.1): what :func:`semirank.load` makes, and methods of your own receive.

    Attributes
    ----------
    task : str
        "classification", "regression", "multi_target", "multi_label" or "hierarchical".
    values : ndarray of shape (n_rows, n_targets), float64, C order
        Class codes (classification, one column), numbers, or 0/1 per label; NaN where unknown.
    names : tuple of str
        Names of the target variables (of the one class variable for classification).
    weights : ndarray of shape (n_targets,)
        How much each variable counts: 1, except in hierarchies, where deeper labels count less.
    classes : ndarray or None
        Classification: the class values in code order.
    hierarchy : Hierarchy or None
        The hierarchy of the labels of a hierarchical target.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import Target
    >>> values = np.array([[1.0], [np.nan], [0.0]])
    >>> target = Target("classification", values, ("fruit",), np.ones(1), np.array(["lemon", "plum"]))
    >>> target.labeled.tolist(), target.n_classes
    ([True, False, True], 2)
    >>> target.columns().tolist()
    [[0.0, 1.0], [nan, nan], [1.0, 0.0]]
    """

    task: str
    values: np.ndarray
    names: tuple[str, ...]
    weights: np.ndarray
    classes: np.ndarray | None = None
    hierarchy: Hierarchy | None = None

    @property
    def labeled(self) -> np.ndarray:
        """Rows with at least one known target variable."""
        return ~np.isnan(self.values).all(axis=1)

    @property
    def n_classes(self) -> int:
        """Number of classes, 0 for other tasks."""
        return 0 if self.classes is None else len(self.classes)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> Target:
        """The same target for some rows (indices or a boolean mask)."""
        return replace(self, values=self.values[rows])

    def hide(self, rows: np.ndarray) -> Target:
        """The same target with these rows made unlabelled: held out, but kept as rows (Def. 1.5)."""
        values = self.values.copy()
        values[rows] = np.nan
        return replace(self, values=values)

    def columns(self) -> np.ndarray:
        """Target columns a prototype averages: class shares (one-hot) or the values themselves."""
        if self.task != "classification":
            return self.values
        columns = (self.values == np.arange(self.n_classes)).astype(np.float64)
        columns[~self.labeled] = np.nan
        return columns
