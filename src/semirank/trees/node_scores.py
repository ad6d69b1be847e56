"""Scores from the nodes of a grown tree: genie3, symbolic, and genie3 for each target (Def. 1.4)."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel


@kernel
def node_scores(tree, n_features):
    """Per feature, over its nodes: sums of h* / |E(root)| (genie3), of |E(node)| / |E(root)| (symbolic)."""
    genie3 = np.zeros(n_features)
    symbolic = np.zeros(n_features)
    for node in range(len(tree.feature)):
        if tree.feature[node] >= 0:
            genie3[tree.feature[node]] += tree.value[node] / tree.weight[0]
            symbolic[tree.feature[node]] += tree.weight[node] / tree.weight[0]
    return genie3, symbolic


@kernel
def per_target_gain(tree, known, total, square, prototype, by_known, out):
    """Add each node's decrease of every target variable's impurity to out[feature, variable].

    `known`, `total` and `square` are those of `node_sums` in the columns of `prototype`.
    """
    root = tree.weight[0]
    for node in range(len(tree.feature)):
        f = tree.feature[node]
        if f < 0:
            continue
        for c in range(known.shape[1]):
            k = known[node, c]
            if k == 0:
                continue
            impurity = square[node, c] / k - (total[node, c] / k) ** 2
            gain = (k * prototype.factor[c] if by_known else tree.weight[node]) * impurity
            for child in (tree.left[node], tree.right[node]):
                kc = known[child, c]
                inside = square[child, c] / kc - (total[child, c] / kc) ** 2 if kc > 0 else impurity
                gain -= (kc * prototype.factor[c] if by_known else tree.weight[child]) * inside
            out[f, prototype.variable[c]] += prototype.unit[c] * gain / root
