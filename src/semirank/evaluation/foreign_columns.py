"""Features and targets as columns of numbers, for models that know nothing of nominal or missing values."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import NUMBERS, TASKS

# Boosted trees are grown column by column: of classes and labels the most variable, of numbers the first.
BOOSTED_COLUMNS = 16


class FeatureSpace(NamedTuple):
    """Features as columns of numbers, scaled on the training rows.

    Numbers are standardised, a missing one is the mean. A nominal feature has a column for each of its values
    that occur (one if there are two), together of variance 1; a missing one has the shares of the values.
    """

    block: np.ndarray  # feature of every column
    value: np.ndarray  # the nominal value that the column tells, -1 for numbers
    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, table: Table) -> FeatureSpace:
        block, value, center, scale = [], [], [], []
        for j, n_values in enumerate(table.n_values):
            column = table.values[~np.isnan(table.values[:, j]), j]
            if n_values == 0:
                mean, spread = (column.mean(), column.std()) if len(column) else (0.0, 0.0)
                codes, means = np.array([-1]), np.array([mean])
            else:
                codes, counts = np.unique(column, return_counts=True)
                means = counts / max(len(column), 1)
                if len(codes) == 2:
                    codes, means = codes[1:], means[1:]
                spread = np.sqrt((means * (1.0 - means)).sum())
            block += [j] * len(codes)
            value += codes.astype(int).tolist()
            center += means.tolist()
            scale += [1.0 / spread if spread > 0 else 0.0] * len(codes)
        return cls(np.array(block, int), np.array(value, int), np.array(center), np.array(scale))

    def encode(self, table: Table) -> np.ndarray:
        values = table.values[:, self.block]
        columns = np.where(self.value < 0, values, values == self.value)
        columns = np.where(np.isnan(values), self.center, columns)
        return (columns - self.center) * self.scale

    def columns_of(self, n_features: int) -> list[np.ndarray]:
        """The columns of every feature; none for a nominal feature without two known values."""
        starts = np.searchsorted(self.block, np.arange(n_features + 1))
        return [np.arange(a, b) for a, b in pairwise(starts)]


class Columns(NamedTuple):
    """Target columns of total variance 1: training and held-out rows, and which ones boosting sees."""

    train: np.ndarray
    test: np.ndarray
    boosted: np.ndarray


def target_columns(train: Target, test: Target) -> Columns:
    """Class shares on one scale, numbers and labels each on its own with the label weights.

    Columns that are constant on the training rows are left out, and the second of two classes.
    """
    a, b = train.columns(), test.columns()
    variance = np.concatenate([a, b]).var(axis=0)
    use = np.flatnonzero((a.min(axis=0) < a.max(axis=0)) & (variance > 0))
    if len(use) == 0:
        raise ValueError("The target is constant on the training rows, so no model can learn it.")
    if not (b[:, use].min(axis=0) < b[:, use].max(axis=0)).any():
        raise ValueError("The target is constant on the held-out rows, so no model can be judged.")
    if train.task == "classification":
        use = use[:1] if len(use) == 2 else use
        scale = np.full(len(use), 1.0 / np.sqrt(variance[use].sum()))
    else:
        scale = np.sqrt(train.weights[use] / train.weights[use].sum() / variance[use])
    numbers = TASKS[train.task].kind == NUMBERS  # whose variance says nothing
    first = np.arange(len(use)) if numbers else np.argsort(-variance[use], kind="stable")
    boosted = np.sort(first[:BOOSTED_COLUMNS])
    center = a[:, use].mean(axis=0)
    return Columns((a[:, use] - center) * scale, (b[:, use] - center) * scale, boosted)


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances between rows."""
    return np.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T, 0.0)
