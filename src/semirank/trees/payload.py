"""The payload of a row: the numbers whose sums over a side decide the value of a split (Def. 1.9).

Of row i with weight v, centred on the node's means: v * z for the full columns; then, for the groups of
columns that have missing values, v * z, the weight v where the group is known, and v * |z|^2.

Inner loops, here and in all kernels of trees, run from 0 over whole (views of) arrays: for all that the
compiler knows an index with an offset may be negative, and then it does not vectorise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, fast_kernel, inner


class Layout(NamedTuple):
    """Where the parts of a payload begin; `full` is the number of full columns in use."""

    full: int
    known: int  # weights of the rows that know each group, behind the groups' columns
    squares: int
    width: int


@inner
def layout_of(full, space, with_groups):
    """The layout for a node; without the groups where none of its rows knows any."""
    if not with_groups:
        return Layout(full, full, full, full)
    known = full + space.group.shape[1]
    squares = known + space.group_known.shape[1]
    return Layout(full, known, squares, squares + space.group_known.shape[1])


@fast_inner
def fill_full(base, at, rows, weight, full, payload, mean, node_weight):
    """Fill the full columns of `payload`; returns (weight of the node, n * imp of these columns).

    The columns of row rows[i] are base[at[i]]. Its weight goes to node_weight[i], the means of the node's
    columns to `mean`.
    """
    n = len(rows)
    total = 0.0
    for i in range(n):
        node_weight[i] = weight[rows[i]]
        total += weight[rows[i]]
    for c in range(full):
        mean[c] = 0.0
    for i in range(0, n, 2):  # two rows at a time: half as many reads and writes of the means
        v, a = node_weight[i], at[i]
        u, b = (node_weight[i + 1], at[i + 1]) if i + 1 < n else (0.0, a)
        for c in range(full):
            mean[c] += v * base[a, c] + u * base[b, c]
    for c in range(full):
        mean[c] /= total
    impurity = 0.0
    for i in range(n):
        v, a = node_weight[i], at[i]
        square = 0.0
        for c in range(full):
            z = base[a, c] - mean[c]
            payload[i, c] = v * z
            square += z * z
        impurity += v * square
    return total, impurity


@fast_inner
def fill_groups(space, rows, lay, total, payload, node_weight, totals, mean, knows):
    """Fill the groups' part of `payload`, centred on the rows that know a group; returns their n * imp.

    node_weight[i] is the weight of row rows[i]. The node's sums go to `totals`, its means to `mean`, and
    knows[i] says whether row i knows any group.
    """
    group, known, groups = space.group, space.group_known, space.groups
    n = len(rows)
    start = groups.start
    for c in range(lay.width):
        totals[c] = 0.0
    if lay.width == lay.full:
        return 0.0
    means = mean[lay.full :]
    counts, squares = totals[lay.known :], totals[lay.squares :]
    for c in range(group.shape[1]):
        means[c] = 0.0
    for i in range(n):
        v, r = node_weight[i], rows[i]
        for g in range(known.shape[1]):
            if known[r, g] > 0:
                counts[g] += v
                for c in range(start[g], start[g + 1]):
                    means[c] += v * group[r, c]
    for g in range(known.shape[1]):
        for c in range(start[g], start[g + 1]):
            means[c] /= max(counts[g], 1.0)
    for i in range(n):
        v, r = node_weight[i], rows[i]
        row = payload[i, lay.full :]
        row_count, row_square = payload[i, lay.known :], payload[i, lay.squares :]
        for c in range(lay.width - lay.full):
            row[c] = 0.0
        any_known = False
        for g in range(known.shape[1]):
            if known[r, g] > 0:
                any_known = True
                square = 0.0
                for c in range(start[g], start[g + 1]):
                    z = group[r, c] - means[c]
                    row[c] = v * z
                    square += z * z
                row_count[g] = v
                row_square[g] = v * square
                squares[g] += v * square
        knows[i] = any_known
    impurity = 0.0
    for g in range(known.shape[1]):
        if counts[g] > 0:
            impurity += squares[g] * (groups.factor[g] if groups.by_known else total / counts[g])
    return impurity


@fast_kernel
def rotate(base, at):
    """Fewer coordinates for few rows: a Cholesky factor of the Gram matrix of base[at] (Def. 1.9).

    Sums of rows keep their lengths, so every h stays what it was, while n rows need at most n columns. Pivots
    are taken by size, which keeps the error of every inner product at rounding of the largest one. Returns
    the coordinates and the largest squared length.
    """
    n = len(at)
    width = base.shape[1]
    rows = np.empty((n, width))
    mean = np.zeros(width)
    for i in range(n):
        for c in range(width):
            rows[i, c] = base[at[i], c]
            mean[c] += rows[i, c]
    for i in range(n):
        for c in range(width):
            rows[i, c] -= mean[c] / n
    gram = np.dot(rows, rows.T)
    left = np.empty(n)
    largest = 0.0
    for i in range(n):
        left[i] = gram[i, i]
        largest = max(largest, left[i])
    factor = np.zeros((n, n))
    # left[i] is the squared length of row i that the first k coordinates do not explain.
    for k in range(n):
        pivot = 0
        for i in range(1, n):
            if left[i] > left[pivot]:
                pivot = i
        if left[pivot] <= 1e-15 * n * largest:
            break
        root = np.sqrt(left[pivot])
        for i in range(n):
            if left[i] > 0.0 and i != pivot:
                s = gram[i, pivot]
                for c in range(k):
                    s -= factor[i, c] * factor[pivot, c]
                factor[i, k] = s / root
                left[i] -= factor[i, k] * factor[i, k]
        factor[pivot, k] = root
        left[pivot] = 0.0
    return factor, largest
