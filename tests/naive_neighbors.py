"""Slow, obvious counterparts of the neighbour search and of what is built on it, from DESIGN's formulas."""

from __future__ import annotations

import numpy as np

from semirank.data.hierarchy import Hierarchy
from semirank.data.table import Table
from semirank.data.target import Target

TIE = 2.0**-34  # distances closer than this share of the largest possible one are ties


def make_table(rng, n, kinds, missing=0.0, grid=None):
    """Random rows; kinds: per feature 0 (numeric) or the number of values; grid: few distinct numbers."""
    values = np.empty((n, len(kinds)))
    for i, n_values in enumerate(kinds):
        if n_values:
            values[:, i] = rng.integers(n_values, size=n)
        elif grid:
            values[:, i] = rng.integers(grid, size=n) * 0.7 - 3.0
        else:
            values[:, i] = rng.normal(size=n) * 5.0
    values[rng.random(values.shape) < missing] = np.nan
    categories = tuple(tuple(f"v{v}" for v in range(m)) if m else None for m in kinds)
    names = tuple(f"x{i}" for i in range(len(kinds)))
    return Table(values, np.array(kinds, dtype=np.int64), names, categories)


def make_target(rng, n, task, unlabeled=0.0, missing=0.0, n_targets=3):
    """Random target with whole rows unlabelled and, where the task allows it, single cells missing."""
    weights = np.ones(n_targets)
    classes = hierarchy = None
    if task == "classification":
        values = rng.integers(3, size=(n, 1)).astype(float)
        classes, weights = np.array(["a", "b", "c"]), np.ones(1)
    elif task == "regression":
        values, weights = rng.normal(size=(n, 1)), np.ones(1)
    elif task == "multi_target":
        values = rng.normal(size=(n, n_targets)) * [1.0, 10.0, 0.1][:n_targets]
    else:
        values = (rng.random((n, n_targets)) < 0.4).astype(float)
    if task == "hierarchical":
        # 0 -> 1, {0, 1} -> 2: a DAG; labels are closed upwards.
        hierarchy = Hierarchy(("r", "s", "t"), ((), (0,), (0, 1)))
        weights = np.array([1.0, 0.75, 0.75 * (1.0 + 0.75) / 2])
        values[:, 1] = np.maximum(values[:, 1], values[:, 2])
        values[:, 0] = np.maximum(values[:, 0], values[:, 1])
    if task in ("multi_target", "multi_label"):
        values[rng.random(values.shape) < missing] = np.nan
    values[rng.random(n) < unlabeled] = np.nan
    values[0] = values[0] if not np.isnan(values[0]).any() else 0.0  # at least one labelled row
    names = tuple(f"y{j}" for j in range(values.shape[1]))
    return Target(task, values, names, weights, classes, hierarchy)


def ranges(values):
    """(smallest, range) of every column's known values."""
    out = []
    for column in values.T:
        known = column[~np.isnan(column)]
        out.append((known.min(), known.max() - known.min()) if len(known) else (0.0, 0.0))
    return out


def feature_distance(a, b, n_values, low, span):
    """d_i of DESIGN 1.6 on one feature."""
    if n_values > 0:
        if np.isnan(a) or np.isnan(b):
            return 1.0 - 1.0 / n_values
        return float(a != b)
    if span == 0.0:
        return 0.0
    s, t = (a - low) / span, (b - low) / span
    if np.isnan(s) and np.isnan(t):
        return 1.0
    if np.isnan(s):
        return max(t, 1.0 - t)
    if np.isnan(t):
        return max(s, 1.0 - s)
    return abs(s - t)


def all_distances(a, b, train):
    """d_i between every row of table a and every row of table b: an array len(a) x len(b) x D."""
    scale = ranges(train.values)
    out = np.empty((len(a), len(b), a.shape[1]))
    for r in range(len(a)):
        for s in range(len(b)):
            for i in range(a.shape[1]):
                out[r, s, i] = feature_distance(a.values[r, i], b.values[s, i], a.n_values[i], *scale[i])
    return out


def order(distances, k, unit, skip=None):
    """Positions of the k smallest, ties by position; `unit` is the largest possible distance."""
    ranked = sorted((round(d / unit / TIE), s) for s, d in enumerate(distances) if s != skip)
    return [s for _, s in ranked[:k]]


def knn_prototypes(importances, train, target, test, k, pool):
    """DESIGN 6.2 for one ranking and one k."""
    weights = [max(w, 0.0) for w in importances]
    if sum(weights) == 0.0:
        weights = [1.0] * len(weights)
    rows = [r for r in range(len(train)) if pool == "all" or target.labeled[r]]
    columns = target.columns()
    each = all_distances(test, train.take(np.array(rows)), train) ** 2 @ np.array(weights)
    out = np.zeros((len(test), columns.shape[1]))
    for t in range(len(test)):
        near = [rows[s] for s in order(each[t], k, sum(weights))]
        for j in range(columns.shape[1]):
            votes = [columns[r, j] for r in near if not np.isnan(columns[r, j])]
            if not votes and pool == "labelled":
                votes = [columns[r, j] for r in rows if not np.isnan(columns[r, j])]
            out[t, j] = np.mean(votes) if votes else 0.0
    return out
