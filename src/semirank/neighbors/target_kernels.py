"""Kernels of the target distance d_Y (Def. 1.6): plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import fast_inner, inner, kernel
from .feature_distance import CELL

# How the differences of the target variables make one distance.
DIFFER, MEAN, SUM, SQUARE = 0, 1, 2, 3


@inner
def target_distance(a, b, weights, kind):
    """d_Y of two rows, or -1 if no target variable is known in both.

    DIFFER : 0 or 1; MEAN : weighted mean of |a - b| over the variables known in both; SUM : weighted sum of
    |a - b|; SQUARE : (a - b)^2 of the one variable.
    """
    total = 0.0
    shared = 0.0
    for j in range(len(a)):
        d = abs(a[j] - b[j])
        if not np.isnan(d):
            if kind == DIFFER:
                d = 0.0 if d == 0.0 else 1.0
            elif kind == SQUARE:
                d = d * d
            total += weights[j] * d
            shared += weights[j]
    if shared == 0.0:
        return -1.0
    return total / shared if kind == MEAN else total


@kernel
def target_pairs(values, labeled, first, second, weights, kind):
    """d_Y between row first[r] and each of the rows second[r, c], as an array (r, c); -1 where it is unknown.

    values : (row, target variable), NaN where unknown; labeled : (row,) whether any is known; weights and
    kind as in `target_distance`.
    """
    out = np.full(second.shape, -1.0)
    for r in range(second.shape[0]):
        if labeled[first[r]]:
            for c in range(second.shape[1]):
                if labeled[second[r, c]]:
                    out[r, c] = target_distance(values[first[r]], values[second[r, c]], weights, kind)
    return out


@fast_inner
def _mean_square(a, b):
    """Mean squared difference of two rows."""
    total = 0.0
    for i in range(len(a)):
        total += (a[i] - b[i]) * (a[i] - b[i])
    return total / len(a)


@inner
def _insert(d, feature, row, distances, features, rows):
    """Put a candidate into a list sorted by (d, feature distance, row), which drops its last."""
    at = len(rows) - 1
    if (d, feature, row) >= (distances[at], features[at], rows[at]):
        return
    while at > 0 and (d, feature, row) < (distances[at - 1], features[at - 1], rows[at - 1]):
        distances[at] = distances[at - 1]
        features[at] = features[at - 1]
        rows[at] = rows[at - 1]
        at -= 1
    distances[at] = d
    features[at] = feature
    rows[at] = row


@kernel
def target_nearest(start, stop, values, weights, kind, columns, k):
    """The k nearest of these rows to rows start..stop by d_Y, ties by feature distance, then by row.

    values : all labelled rows' targets; columns : their (standardised) features. A pair without a shared
    target variable is as far apart as its features (mean square). Distances are rounded to CELL, so that
    equal ones tie. Returns rows, d and feature distances; k must be less than the number of rows.
    """
    n = len(values)
    rows = np.full((stop - start, k), n, np.int64)
    distances = np.full((stop - start, k), np.inf)
    features = np.full((stop - start, k), np.inf)
    line = np.empty(n, np.float64)  # d of row a to every row
    smallest = np.empty(k, np.float64)  # the k smallest of `line` so far, sorted
    for a in range(start, stop):
        smallest[:] = np.inf
        for b in range(n):
            d = target_distance(values[a], values[b], weights, kind)
            if d < 0.0:
                d = _mean_square(columns[a], columns[b])
            line[b] = np.rint(d / CELL) * CELL
            if b != a and line[b] < smallest[k - 1]:
                at = k - 1
                while at > 0 and line[b] < smallest[at - 1]:
                    smallest[at] = smallest[at - 1]
                    at -= 1
                smallest[at] = line[b]
        # Only candidates up to the k-th distance need the features.
        for b in range(n):
            if b != a and line[b] <= smallest[k - 1]:
                feature = np.rint(_mean_square(columns[a], columns[b]) / CELL) * CELL
                _insert(line[b], feature, b, distances[a - start], features[a - start], rows[a - start])
    return rows, distances, features
