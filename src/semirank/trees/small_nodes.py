"""Small nodes of extra trees on complete numbers: the random tests of all features side by side.

Features lie next to each other in memory, so every step is taken for several of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, inlined
from .numeric_tests import random_between
from .random import draw_candidate, restore_order
from .split_value import side_impurity

# Nodes with at most this many rows are small.
SMALL = 64


class SideBySide(NamedTuple):
    """Work arrays: what is known of every feature's test."""

    marks: np.ndarray  # (SMALL, D), 0/1 rows of the tests
    h: np.ndarray  # (D,)
    cut: np.ndarray  # (D,), thresholds
    per_feature: np.ndarray  # (6, D)
    per_row: np.ndarray  # (2, SMALL + 4)
    members: np.ndarray  # int64 (SMALL,)


@fast_inner
def side_squares(payload, first, end, known, n, marks, gram, members, partial, out):
    """|S_left|^2 of every feature's test, over payload columns first..end - 1, added to `out`.

    It is m' K m, with m a 0/1 row and K the Gram matrix of the payloads. Only rows with known[i] > 0 count.
    Rows are taken several at a time, which saves reading and writing what they have in common. After the a-th
    known row, `out` has the part of m' K m that the first a + 1 known rows make.
    """
    n_known = 0
    for i in range(n):
        if known[i] > 0.0:
            members[n_known] = i
            n_known += 1
    for a in range(n_known):
        mine = payload[members[a], first:end]
        for b in range(0, a + 1, 2):
            one, two = payload[members[b], first:end], payload[members[min(b + 1, a)], first:end]
            s, t = 0.0, 0.0
            for c in range(len(mine)):
                s += mine[c] * one[c]
                t += mine[c] * two[c]
            gram[b], gram[b + 1] = s, t
        gram[a] *= 0.5
        for b in range(a + 1, a + 4):
            gram[b] = 0.0
        for f in range(len(out)):
            partial[f] = 0.0
        for b in range(0, a + 1, 4):
            k0, k1, k2, k3 = gram[b], gram[b + 1], gram[b + 2], gram[b + 3]
            mark0, mark1 = marks[members[b]], marks[members[min(b + 1, a)]]
            mark2, mark3 = marks[members[min(b + 2, a)]], marks[members[min(b + 3, a)]]
            for f in range(len(out)):
                partial[f] += k0 * mark0[f] + k1 * mark1[f] + k2 * mark2[f] + k3 * mark3[f]
        mark = marks[members[a]]
        for f in range(len(out)):
            out[f] += 2.0 * mark[f] * partial[f]


@fast_inner
def span_of_values(values, rows, low, high, next_low, next_high):
    """The smallest and the largest value of every feature, in two of the four work arrays.

    Written from one array into another: in place, the compiler makes it a store under a
    condition, which takes three times as long.
    """
    d = values.shape[1]
    for f in range(d):
        low[f] = values[rows[0], f]
        high[f] = values[rows[0], f]
    for i in range(1, len(rows)):
        row = values[rows[i]]
        for f in range(d):
            next_low[f] = min(low[f], row[f])
            next_high[f] = max(high[f], row[f])
        low, next_low = next_low, low
        high, next_high = next_high, high
    return low, high


@inlined
def add_groups(node, n_left, work):
    """Add to work.h what the columns with holes say, group by group."""
    criterion, payload = node.criterion, node.payload
    lay, groups, total = criterion.lay, criterion.groups, criterion.total
    h, marks, d = work.h, work.marks, len(work.h)
    partial, square = work.per_feature[1], work.per_feature[2]
    k_left, q_left = work.per_feature[3], work.per_feature[4]
    known = work.per_row[0]
    for g in range(len(groups.start) - 1 if lay.width > lay.full else 0):
        k, q = criterion.totals[lay.known + g], criterion.totals[lay.squares + g]
        if k == 0:
            continue
        for f in range(d):
            square[f] = 0.0
            k_left[f] = 0.0
            q_left[f] = 0.0
        for i in range(len(node.rows)):
            known[i] = payload[i, lay.known + g]
            if known[i] > 0.0:
                mark, v, q_row = marks[i], known[i], payload[i, lay.squares + g]
                for f in range(d):
                    k_left[f] += v * mark[f]
                    q_left[f] += q_row * mark[f]
        first, end = lay.full + groups.start[g], lay.full + groups.start[g + 1]
        side_squares(
            payload, first, end, known, len(node.rows), marks, work.per_row[1], work.members, partial, square
        )
        if groups.by_known:
            # `value_by_known`, written out: through a call the order of the product, and so the last bit,
            # depends on what else was compiled before.
            for f in range(d):
                k_right = k - k_left[f]
                if k_left[f] > 0 and k_right > 0:
                    h[f] += groups.factor[g] * square[f] * (1.0 / k_left[f] + 1.0 / k_right)
        else:
            constant, own = total * q / k, q / k
            for f in range(d):
                left = side_impurity(square[f], k_left[f], q_left[f], own)
                right = side_impurity(square[f], k - k_left[f], q - q_left[f], own)
                h[f] += constant - n_left[f] * left - (total - n_left[f]) * right


@inlined
def value_side_by_side(values, node, weight, work):
    """h of the random test of every feature of a small node, written to work.h, its threshold to work.cut."""
    n, d = len(node.rows), values.shape[1]
    total, min_leaf = node.criterion.total, node.criterion.min_leaf
    h, cut, n_left = work.h, work.cut, work.per_feature[0]
    partial, square = work.per_feature[1], work.per_feature[2]
    lowest, highest = span_of_values(
        values, node.rows, work.per_feature[5], partial, square, work.per_feature[3]
    )
    for f in range(d):
        cut[f] = random_between(lowest[f], highest[f], f, node.seed)
    for f in range(d):
        square[f] = 0.0
        n_left[f] = 0.0
    for i in range(n):
        row, mark, v = values[node.rows[i]], work.marks[i], weight[i]
        for f in range(d):
            mark[f] = 1.0 if row[f] <= cut[f] else 0.0
            n_left[f] += v * mark[f]
    full = node.criterion.lay.full
    side_squares(node.payload, 0, full, weight, n, work.marks, work.per_row[1], work.members, partial, square)
    for f in range(d):
        n_right = total - n_left[f]
        h[f] = square[f] * total / (n_left[f] * n_right) if n_right > 0.0 else 0.0
    add_groups(node, n_left, work)
    for f in range(d):
        # A constant feature sends all rows to the left.
        if n_left[f] == total or n_left[f] < min_leaf or total - n_left[f] < min_leaf:
            h[f] = 0.0


@fast_inner
def best_side_by_side(tests, node, weight, work, drawn):
    """The best of the random tests of all features: (feature or -1, last code on the left, h)."""
    value_side_by_side(tests.values, node, weight, work)
    h, rows, tie = work.h, node.rows, node.criterion.tie
    enough = node.impurity - tie
    d = len(h)
    best = 0
    for f in range(1, d):
        if h[f] > h[best]:
            best = f
    close = 0
    for f in range(d):
        if h[f] >= h[best] - tie:
            close += 1
    if h[best] <= tie:
        return np.int64(-1), np.int64(0), 0.0
    if close > 1:
        # The order of the draw decides among equals, as in `pick`.
        best_h = 0.0
        j = 0
        while j < d and best_h < enough:
            feature = draw_candidate(j, d, node.seed, drawn)
            if h[feature] > best_h + tie:
                best_h = h[feature]
                best = feature
            j += 1
        restore_order(j, drawn)
    cut = np.int64(-1)
    for i in range(len(rows)):
        if tests.values[rows[i], best] <= work.cut[best]:
            cut = max(cut, np.int64(tests.codes_by_row[rows[i], best]))
    return np.int64(best), cut, h[best]
