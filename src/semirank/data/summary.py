"""What was understood of features and targets, in words."""

from __future__ import annotations

import numpy as np

from ..runtime.messages import plural, short_name
from .table import Table
from .target import Target
from .tasks import TASKS

_MANY_ROWS = 20  # fewer are easily told apart by chance


def describe_target(target: Target, *, inferred_from_numbers: bool = False) -> list[str]:
    """The task, its size and the labelled rows; a hint where numbers were taken as classes (Def. 3.1).

    Examples
    --------
    >>> target = Target("regression", np.array([[1.5], [np.nan]]), ("y",), np.ones(1))
    >>> describe_target(target)
    ['regression, 1 of 2 rows labelled']
    """
    task = TASKS[target.task]
    parts = [task.words]
    if task.name != "regression":
        parts.append(plural(target.n_classes or len(target.names), task.noun))
    parts.append(f"{int(target.labeled.sum())} of {len(target)} rows labelled")
    notes = [", ".join(parts)]
    if inferred_from_numbers and target.classes is not None:
        notes.append('the whole numbers in y were taken as classes; use task="regression" for quantities')
        if (target.classes == -1).any():
            notes.append("-1 was taken as a class; use unlabeled=-1 if it marks unlabelled rows")
    return notes


def describe_features(table: Table) -> list[str]:
    """Sentences about features that cannot matter, or should not.

    Examples
    --------
    >>> describe_features(Table(np.ones((3, 1)), np.zeros(1, int), ("size",), (None,)))
    ['1 of 1 features is constant and cannot matter (size)']
    """
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    notes = []
    for found, one, many in (
        (np.isnan(low), "is always missing and cannot matter", "are always missing and cannot matter"),
        (low == high, "is constant and cannot matter", "are constant and cannot matter"),
        (
            _identifiers(table, low, high),
            "tells every row from all others: drop it if it is an identifier",
            "tell every row from all others: drop them if they are identifiers",
        ),
    ):
        if count := int(found.sum()):
            some = ", ".join(short_name(table.names[j]) for j in np.flatnonzero(found)[:3])
            more = ", ..." if count > 3 else ""
            notes.append(f"{count} of {len(found)} features {one if count == 1 else many} ({some}{more})")
    return notes


def _identifiers(table: Table, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Features that look like identifiers: complete, all names different, or whole numbers without a gap."""
    n = len(table)
    nominal = table.n_values > 0
    with np.errstate(over="ignore"):
        gapless = high - low == n - 1
    # What can be told without counting rules out almost all features.
    found = np.where(nominal, table.n_values >= n, gapless) & (n >= _MANY_ROWS)
    for j in np.flatnonzero(found):
        values = table.values[:, j]
        whole = nominal[j] or np.array_equal(values, np.floor(values))
        found[j] = whole and len(np.unique(values)) == n and not np.isnan(values).any()
    return found
