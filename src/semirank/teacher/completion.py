"""From answers to shares that can be true, and the target with its holes filled (Def. 1.10)."""

from __future__ import annotations

import numpy as np

from ..data.target import Target
from ..data.tasks import CLASSES, NUMBERS, TASKS


def possible(schema: Target, columns: np.ndarray) -> np.ndarray:
    """Prototype columns as near as can be to these that could be true.

    Class shares are at least 0 and add up to 1; label shares lie between 0 and 1, and a label of a hierarchy
    is never more likely than any of its parents. Numbers stay as they are.

    Examples
    --------
    >>> schema = Target("classification", np.zeros((0, 1)), ("y",), np.ones(1), np.array(["a", "b", "c"]))
    >>> possible(schema, np.array([[0.6, 0.6, -0.2]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    kind = TASKS[schema.task].kind
    if kind == NUMBERS:
        return columns
    if kind == CLASSES:
        shares = np.maximum(columns, 0.0)
        total = shares.sum(axis=1, keepdims=True)
        # Regressors that answer class by class may favour none: then all are alike.
        return np.divide(shares, total, out=np.full(shares.shape, 1.0 / shares.shape[1]), where=total > 0)
    shares = np.clip(columns, 0.0, 1.0)
    if schema.hierarchy is not None:
        for label in schema.hierarchy.order.tolist():
            for parent in schema.hierarchy.parents[label]:
                np.minimum(shares[:, label], shares[:, parent], out=shares[:, label])
    return shares


def student_target(target: Target, completed: np.ndarray) -> Target:
    """The completed columns as numbers to rank for, with the weights that they have in the target.

    A class counts by the spread of its share, so that all classes are on one scale; numbers and labels count
    by alpha. Columns that do not vary are left out.

    Parameters
    ----------
    target : Target
        Of the same rows, before completion.
    completed : ndarray of shape (n_rows, n_columns)
        Prototype columns without holes.

    Returns
    -------
    Target
        Of the task "multi_target" ("regression" where one column is left).

    Examples
    --------
    >>> codes = np.array([[0.0], [1.0], [np.nan]])
    >>> target = Target("classification", codes, ("y",), np.ones(1), np.array(["a", "b"]))
    >>> student = student_target(target, np.array([[1.0, 0.0], [0.0, 1.0], [0.2, 0.8]]))
    >>> student.names, student.weights.tolist()
    (('a', 'b'), [1.0, 1.0])
    """
    varies = completed.min(axis=0, initial=np.inf) < completed.max(axis=0, initial=-np.inf)
    if target.classes is not None:
        names = tuple(map(str, target.classes.tolist()))
        spread = completed.var(axis=0)
        weights = spread / spread.max() if varies.any() else spread
    else:
        names, weights = target.names, target.weights
    chosen = np.flatnonzero(varies)
    task = "regression" if len(chosen) == 1 else "multi_target"
    return Target(task, completed[:, chosen], tuple(names[j] for j in chosen), weights[chosen])
