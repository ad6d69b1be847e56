"""The target as target variables: one float matrix, NaN where unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .hierarchy import Hierarchy

TASKS = ("classification", "regression", "multi_target", "multi_label", "hierarchical")


@dataclass(frozen=True, eq=False)
class Target:
    """Encoded target (DESIGN 1.1).

    Attributes
    ----------
    task : one of TASKS
    values : ndarray of shape (n_rows, n_targets), float64, C order
        Class codes (classification, one column), numbers, or 0/1 per label; NaN where unknown.
    names : tuple of str
        Names of the target variables (of the one class variable for classification).
    weights : ndarray of shape (n_targets,)
        alpha of DESIGN 1.1: 1 except for hierarchies.
    classes : ndarray or None
        Classification: the class values in code order.
    hierarchy : Hierarchy or None
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
        return 0 if self.classes is None else len(self.classes)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> Target:
        """The same target for some rows (indices or a boolean mask)."""
        return Target(self.task, self.values[rows], self.names, self.weights, self.classes, self.hierarchy)

    def hide(self, rows: np.ndarray) -> Target:
        """The same target with these rows made unlabelled (held out but kept as rows, DESIGN 1.5)."""
        values = self.values.copy()
        values[rows] = np.nan
        return Target(self.task, values, self.names, self.weights, self.classes, self.hierarchy)

    def columns(self) -> np.ndarray:
        """Target columns a prototype averages: class shares (one-hot) or the values themselves."""
        if self.task != "classification":
            return self.values
        codes = self.values[:, 0]
        columns = np.full((len(codes), self.n_classes), np.nan)
        known = ~np.isnan(codes)
        columns[known] = codes[known, None] == np.arange(self.n_classes)
        return columns
