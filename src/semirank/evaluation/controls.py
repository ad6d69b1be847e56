"""Controls (Def. 2.6): data whose unlabelled rows can tell nothing, or less; a gain that stays is no gain."""

from __future__ import annotations

import numpy as np

from ..data.table import Table
from ..data.target import Target
from .foreign_columns import FeatureSpace, squared_distances

NEIGHBORS = 5


def invented_rows(table: Table, target: Target, seed: int = 0) -> tuple[Table, Target]:
    """Replace every unlabelled row by one invented from labelled rows.

    An invented row lies at a random place between a labelled row and one of its five nearest labelled rows:
    numbers are interpolated; nominal values, numbers of which the labelled rows know at most two, and what is
    missing in either row are copied from one of the two, feature by feature, the nearer more often. So there
    are as many rows as before, but nothing in them that the labelled ones do not hold.

    Parameters
    ----------
    table, target : Table, Target
        Training rows, some of them unlabelled.
    seed : int

    Returns
    -------
    Table, Target
        The labelled rows are as they were and where they were.

    Examples
    --------
    >>> values = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.5], [70.0, 80.0]])
    >>> table = Table(values, np.zeros(2, int), ("a", "b"), (None, None))
    >>> target = Target("regression", np.array([[0.0], [1.0], [2.0], [np.nan]]), ("y",), np.ones(1))
    >>> invented, _ = invented_rows(table, target)
    >>> bool(invented.values[3, 0] <= 2), invented.values[:3].tolist() == values[:3].tolist()
    (True, True)
    """
    labeled = np.flatnonzero(target.labeled)
    if len(labeled) < 2:
        raise ValueError(f"Rows are invented from at least two labelled ones, there are {len(labeled)}.")
    known = table.take(labeled)
    points = FeatureSpace.fit(known).encode(known)
    distance = squared_distances(points, points)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, : min(NEIGHBORS, len(labeled) - 1)]

    rng = np.random.default_rng([seed, len(labeled)])
    hidden = np.flatnonzero(~target.labeled)
    start = rng.integers(0, len(labeled), len(hidden))
    end = near[start, rng.integers(0, near.shape[1], len(hidden))]
    step = rng.random((len(hidden), 1))
    first, second = known.values[start], known.values[end]
    copied = np.where(rng.random(first.shape) < step, second, first)
    low, high = np.fmin.reduce(known.values), np.fmax.reduce(known.values)
    two_values = ((known.values == low) | (known.values == high) | np.isnan(known.values)).all(axis=0)
    copy = (table.n_values > 0) | two_values
    between = first + step * (second - first)
    invented = np.where(copy | np.isnan(between), copied, between)
    values = table.values.copy()
    values[hidden] = invented
    return Table(values, table.n_values, table.names, table.categories), target


def shuffled_labels(target: Target, seed: int = 0) -> Target:
    """Deal the labels of the labelled rows out anew among them.

    What is taught from such labels knows nothing of the target. In the control a ranking from the true labels
    alone is combined with one taught from the shuffled labels, as the method under test combines them.

    Examples
    --------
    >>> target = Target("regression", np.array([[1.0], [np.nan], [2.0], [3.0]]), ("y",), np.ones(1))
    >>> sorted(shuffled_labels(target).values[[0, 2, 3], 0].tolist())
    [1.0, 2.0, 3.0]
    """
    labeled = np.flatnonzero(target.labeled)
    values = target.values.copy()
    values[labeled] = target.values[np.random.default_rng([seed, len(labeled)]).permutation(labeled)]
    return Target(target.task, values, target.names, target.weights, target.classes, target.hierarchy)


def fewer_unlabeled(table: Table, target: Target, n_unlabeled: int, seed: int = 0) -> tuple[Table, Target]:
    """Keep the labelled rows and `n_unlabeled` of the others (all, where there are fewer).

    With the same seed a smaller number keeps a part of what a larger one keeps.

    Examples
    --------
    >>> table = Table(np.arange(6.0)[:, None], np.zeros(1, int), ("a",), (None,))
    >>> target = Target("regression", np.array([[1.0], [2.0]] + [[np.nan]] * 4), ("y",), np.ones(1))
    >>> [len(part) for part in fewer_unlabeled(table, target, 3)]
    [5, 5]
    """
    hidden = np.random.default_rng([seed, len(target)]).permutation(np.flatnonzero(~target.labeled))
    rows = np.sort(np.concatenate([np.flatnonzero(target.labeled), hidden[:n_unlabeled]]))
    return table.take(rows), target.take(rows)
