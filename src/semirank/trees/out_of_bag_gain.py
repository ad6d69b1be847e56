"""genie3_oob: the decrease of impurity on rows that did not choose the tests, also per target (Def. 1.4)."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import fast_inner, fast_kernel, kernel
from .columns import Space
from .grow import Tree


def rows_with_columns(space: Space) -> np.ndarray:
    """Which rows know a clustering column (bool)."""
    return np.ones(len(space.full), bool) if space.full.shape[1] else space.knows == 1


def genie3_oob(
    tree: Tree, space: Space, rows: np.ndarray, leaves: np.ndarray, weight: np.ndarray, n_features: int
) -> np.ndarray | None:
    """The score of every feature, or None if no out-of-bag row knows a column.

    leaves[a] is the leaf of row rows[a]; rows of weight 0 are out of bag. All rows that know a column are
    needed.
    """
    # Coordinates serve as well as columns: only products of differences of means are asked for.
    columns = space.rotated, space.group, space.group_known, space.groups.start
    score, told = sum_gains(tree, *columns, rows, leaves, weight, n_features)
    return score if told else None


@kernel
def per_target_gain_oob(tree, known, total, out_known, out_total, prototype, out):
    """Add genie3_oob for every target variable alone to out[feature, variable].

    `known` and `total` are those of `node_sums` in the columns of `prototype` for the rows that the tree was
    grown on, `out_known` and `out_total` for out-of-bag rows, each of weight 1.
    """
    for node in range(len(tree.feature)):
        f = tree.feature[node]
        if f < 0:
            continue
        a, b = tree.left[node], tree.right[node]
        for c in range(known.shape[1]):
            na, nb, ka, kb = known[a, c], known[b, c], out_known[a, c], out_known[b, c]
            if na == 0.0 or nb == 0.0 or ka == 0.0 or kb == 0.0:
                continue
            own = total[a, c] / na - total[b, c] / nb
            new = out_total[a, c] / ka - out_total[b, c] / kb
            gain = own * new * ka * kb / (ka + kb) / out_known[0, c]
            out[f, prototype.variable[c]] += prototype.unit[c] * gain


@kernel
def children_first(tree):
    """The nodes, each after its children, and the most subtrees that ever wait, finished, to be joined.

    The larger of two subtrees comes first: what is open then grows with the logarithm of the tree's size.
    """
    n_nodes = len(tree.feature)
    size = np.ones(n_nodes, np.int64)
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        if tree.feature[node] >= 0:
            size[node] += size[tree.left[node]] + size[tree.right[node]]
    order = np.empty(n_nodes, np.int64)
    stack = np.zeros(n_nodes + 1, np.int64)
    n_stack, place = 1, n_nodes
    while n_stack > 0:  # parents first and smaller subtrees first, written from the end
        n_stack -= 1
        node, place = stack[n_stack], place - 1
        order[place] = node
        if tree.feature[node] >= 0:
            left, right = np.int64(tree.left[node]), np.int64(tree.right[node])
            left_larger = size[left] >= size[right]
            stack[n_stack] = left if left_larger else right
            stack[n_stack + 1] = right if left_larger else left
            n_stack += 2
    n_open, most = 0, 0
    for a in range(n_nodes):
        n_open += 1 if tree.feature[order[a]] < 0 else -1
        most = max(most, n_open)
    return order, most


@kernel
def by_leaf(rows, leaves, n_nodes):
    """The rows in the order of their leaves; those of leaf i are [first[i] : first[i + 1]]."""
    first = np.zeros(n_nodes + 1, np.int64)
    for a in range(len(rows)):
        first[leaves[a] + 1] += 1
    for node in range(n_nodes):
        first[node + 1] += first[node]
    at = first.copy()
    ordered = np.empty(len(rows), np.int64)
    for a in range(len(rows)):
        ordered[at[leaves[a]]] = rows[a]
        at[leaves[a]] += 1
    return ordered, first


@fast_inner
def _add(line, v, total):
    """total += v * line."""
    for c in range(len(line)):
        total[c] += v * line[c]


@fast_inner
def _merge(a, b):
    """a += b."""
    for c in range(len(a)):
        a[c] += b[c]


@fast_inner
def _product(own_a, own_b, na, nb, out_a, out_b, ka, kb):
    """The product of two differences of means, over columns that `na` .. `kb` rows know."""
    if na == 0.0 or nb == 0.0 or ka == 0.0 or kb == 0.0:
        return 0.0
    ia, ib, ja, jb = 1.0 / na, 1.0 / nb, 1.0 / ka, 1.0 / kb
    product = 0.0
    for c in range(len(own_a)):
        product += (own_a[c] * ia - own_b[c] * ib) * (out_a[c] * ja - out_b[c] * jb)
    return product * ka * kb / (ka + kb)


@fast_kernel
def sum_gains(tree, full, group, group_known, start, rows, leaves, weight, n_features):
    """Per feature the sum over its nodes, and whether an out-of-bag row knows a column.

    Finished subtrees wait in a stack, with the sums of their rows (`own`) and of the out-of-bag rows that
    reach them (`out`), and with the numbers of rows that know each group (`_known`; the last is that of all
    rows, for the complete columns). A node takes those of its two children and leaves their sum.
    """
    order, n_open = children_first(tree)
    ordered, first = by_leaf(rows, leaves, len(tree.feature))
    n_full, n_columns, n_groups = full.shape[1], full.shape[1] + group.shape[1], group_known.shape[1]
    own, own_known = np.zeros((n_open, n_columns)), np.zeros((n_open, n_groups + 1))
    out, out_known = np.zeros((n_open, n_columns)), np.zeros((n_open, n_groups + 1))
    n_known = np.zeros(n_groups + 1)
    for r in rows:
        if weight[r] == 0.0:
            _add(group_known[r], 1.0, n_known)
            n_known[n_groups] += 1.0
    told = n_full > 0 and n_known[n_groups] > 0.0
    for g in range(n_groups):
        told = told or n_known[g] > 0.0
    score = np.zeros(n_features)
    top = -1
    for node in order:
        if tree.feature[node] < 0:
            top += 1
            own[top], own_known[top], out[top], out_known[top] = 0.0, 0.0, 0.0, 0.0
            for r in ordered[first[node] : first[node + 1]]:
                v = weight[r]
                inside = v > 0.0
                total, known = (own[top], own_known[top]) if inside else (out[top], out_known[top])
                v = v if inside else 1.0
                _add(full[r], v, total)
                _add(group[r], v, total[n_full:])
                _add(group_known[r], v, known)
                known[n_groups] += v
            continue
        a, b = top - 1, top
        gain = 0.0
        for g in range(n_groups + 1):
            low, high = (n_full + start[g], n_full + start[g + 1]) if g < n_groups else (0, n_full)
            na, nb, ka, kb = own_known[a, g], own_known[b, g], out_known[a, g], out_known[b, g]
            product = _product(
                own[a, low:high], own[b, low:high], na, nb, out[a, low:high], out[b, low:high], ka, kb
            )
            gain += product / max(n_known[g], 1.0)
        score[tree.feature[node]] += gain
        _merge(own[a], own[b])
        _merge(out[a], out[b])
        _merge(own_known[a], own_known[b])
        _merge(out_known[a], out_known[b])
        top = a
    return score, told
