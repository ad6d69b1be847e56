"""Kernels of the target distance d_Y (DESIGN 1.6): plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from ._kernel import inner, kernel

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
    """d_Y between row first[r] and each of the rows second[r]; -1 where it is unknown."""
    out = np.full(second.shape, -1.0)
    for r in range(second.shape[0]):
        if labeled[first[r]]:
            for c in range(second.shape[1]):
                if labeled[second[r, c]]:
                    out[r, c] = target_distance(values[first[r]], values[second[r, c]], weights, kind)
    return out
