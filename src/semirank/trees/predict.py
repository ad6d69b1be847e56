"""Rows down a tree, and what its nodes know of the target."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import inlined, inner, kernel


@inlined
def child_for(tree, node, x):
    """The child of an inner node that a row with value x of the tested feature goes to."""
    if np.isnan(x):
        goes_left = tree.missing_left[node] == 1
    elif tree.subset_start[node] >= 0:
        goes_left = tree.subset[tree.subset_start[node] + np.int64(x)] == 1
    else:
        goes_left = x <= tree.threshold[node]
    return tree.left[node] if goes_left else tree.right[node]


@inner
def leaf_of(tree, values, i, permuted, replacement):
    """The leaf of row i; the value of feature `permuted` (-1: none) is `replacement` instead of its own."""
    node = 0
    while tree.feature[node] >= 0:
        f = tree.feature[node]
        node = child_for(tree, node, replacement if f == permuted else values[i, f])
    return node


@kernel
def apply_tree(tree, values, rows):
    """The leaf of every row in `rows`."""
    leaves = np.empty(len(rows), np.int64)
    for a in range(len(rows)):
        leaves[a] = leaf_of(tree, values, rows[a], -1, 0.0)
    return leaves


@kernel
def node_sums(tree, leaves, rows, weight, prototype):
    """Known weight, sum and sum of squares of every target column in every node, from the leaves upwards.

    leaves[a] is the leaf of row rows[a], whose weight is weight[rows[a]]. Children come after their parents,
    so on the way back from the last node the sums of both children are complete.
    """
    n_nodes, width = len(tree.feature), prototype.values.shape[1]
    known = np.zeros((n_nodes, width))
    total = np.zeros((n_nodes, width))
    square = np.zeros((n_nodes, width))
    for a in range(len(rows)):
        r, node = rows[a], leaves[a]
        v = weight[r]
        for c in range(width):
            z = prototype.values[r, c]
            known[node, c] += v * prototype.known[r, c]
            total[node, c] += v * z
            square[node, c] += v * z * z
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        if tree.feature[node] >= 0:
            left, right = tree.left[node], tree.right[node]
            for c in range(width):
                known[node, c] = known[left, c] + known[right, c]
                total[node, c] = total[left, c] + total[right, c]
                square[node, c] = square[left, c] + square[right, c]
    return known, total, square


@kernel
def prototypes(tree, known, total, default):
    """Mean target columns of every node; without labelled rows those of the nearest ancestor (Def. 1.3).

    `known` and `total` are those of `node_sums`; `default` is the mean of the training set, for a column that
    none of the tree's rows knows.
    """
    n_nodes, width = known.shape
    mean = np.zeros((n_nodes, width))
    for c in range(width):
        mean[0, c] = total[0, c] / known[0, c] if known[0, c] > 0 else default[c]
    for node in range(n_nodes):
        if tree.feature[node] >= 0:
            for child in (tree.left[node], tree.right[node]):
                for c in range(width):
                    here = known[child, c] > 0
                    mean[child, c] = total[child, c] / known[child, c] if here else mean[node, c]
    return mean
