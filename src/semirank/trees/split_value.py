"""The value h of a split, from the sums over its left side (Def. 1.2 and 1.9).

The payloads of a node (`payload`) are centred on its means, so the sums S of the two sides are opposite, and
for the full columns h = |S_left|^2 * n / (n_left * n_right). A group of columns that are missing together
adds what `group_value` says. Every kind of test ends here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, hot_inner
from .columns import Groups
from .payload import Layout

# Values of h closer than this share of the node's impurity are equal: the first drawn wins (Def. 1.3).
TIE = 1e-9


class Criterion(NamedTuple):
    """What h depends on besides the sums of the left side; the same for all tests of a node."""

    lay: Layout
    groups: Groups
    totals: np.ndarray  # payload sums of the node
    total: float  # weight of the node
    tie: float  # values of h closer than this are equal
    min_leaf: float  # least weight of a side


@hot_inner
def side_impurity(square, k, q, own):
    """A group's impurity on one side, under missing_weight "all".

    `square` is |S|^2 of the group's columns, k the weight of the rows that know the group, q their sum of
    squares. A side that never knows the group inherits the node's impurity, `own`.
    """
    return (q - square / k) / k if k > 0 else own


@hot_inner
def value_by_known(square, k_left, k_right, factor):
    """What a group adds to h under missing_weight "known"."""
    return factor * square * (1.0 / k_left + 1.0 / k_right) if k_left > 0 and k_right > 0 else 0.0


@hot_inner
def group_value(square, k_left, k_right, q_left, k, q, factor, by_known, total):
    """What one group adds to h, as (constant, left, right): constant - n_left * left - n_right * right.

    k and q are those of the node (`side_impurity`), of which at least one row knows the group.
    """
    if by_known:
        return value_by_known(square, k_left, k_right, factor), 0.0, 0.0
    own = q / k
    left = side_impurity(square, k_left, q_left, own)
    right = side_impurity(square, k_right, q - q_left, own)
    return total * own, left, right


@fast_inner
def group_values(left_sums, miss, share, criterion):
    """`group_value` summed over the groups, for a left side with sums left_sums + share * miss."""
    lay, groups = criterion.lay, criterion.groups
    constant, left, right = 0.0, 0.0, 0.0
    columns, miss_columns = left_sums[lay.full :], miss[lay.full :]
    counts, squares = criterion.totals[lay.known :], criterion.totals[lay.squares :]
    left_k, miss_k = left_sums[lay.known :], miss[lay.known :]
    left_q, miss_q = left_sums[lay.squares :], miss[lay.squares :]
    first = 0
    if not groups.by_known:
        # Groups of one column, as measured expressions have: `group_value` without branches, for several at a
        # time. Written out, because through a call the compiler adds in another order, and the last bit of h
        # changes.
        first = groups.n_single
        for g in range(first):
            k, q = counts[g], squares[g]
            k_left = left_k[g] + share * miss_k[g]
            k_right = k - k_left
            s = columns[g] + share * miss_columns[g]
            q_left = left_q[g] + share * miss_q[g]
            own = q / k if k > 0 else 0.0
            constant += criterion.total * own
            left += (q_left - s * s / k_left) / k_left if k_left > 0 else own
            right += (q - q_left - s * s / k_right) / k_right if k_right > 0 else own
    for g in range(first, len(groups.start) - 1):
        k, q = counts[g], squares[g]
        if k == 0:
            continue
        k_left = left_k[g] + share * miss_k[g]
        k_right = k - k_left
        square = 0.0
        for c in range(groups.start[g], groups.start[g + 1]):
            s = columns[c] + share * miss_columns[c]
            square += s * s
        q_left = left_q[g] + share * miss_q[g]
        own, own_left, own_right = group_value(
            square, k_left, k_right, q_left, k, q, groups.factor[g], groups.by_known, criterion.total
        )
        constant += own
        left += own_left
        right += own_right
    return constant, left, right


@hot_inner
def group_values_known(left_sums, criterion):
    """`group_values` where no row misses the tested feature; the usual single group without a call."""
    lay, groups, totals = criterion.lay, criterion.groups, criterion.totals
    if len(groups.start) != 2:
        return group_values(left_sums, left_sums, 0.0, criterion)
    k, q = totals[lay.known], totals[lay.squares]
    k_left, q_left = left_sums[lay.known], left_sums[lay.squares]
    if k == 0:
        return 0.0, 0.0, 0.0
    square = squared_length(left_sums[lay.full :], lay.known - lay.full)
    return group_value(
        square, k_left, k - k_left, q_left, k, q, groups.factor[0], groups.by_known, criterion.total
    )


@hot_inner
def squared_length(vector, n):
    """The sum of squares of the first n numbers."""
    square = 0.0
    for c in range(n):
        square += vector[c] * vector[c]
    return square


@hot_inner
def full_value(square, n_left, criterion):
    """h of the full columns, or 0 where a side is too small; `square` is |S_left|^2."""
    n_right = criterion.total - n_left
    if n_left < criterion.min_leaf or n_right < criterion.min_leaf:
        return 0.0
    return square * criterion.total / (n_left * n_right)


@hot_inner
def value_known(square, left_sums, n_left, criterion):
    """h where no row misses the tested feature, or 0 where a side is too small.

    `square` is |S_left|^2 of the full columns, `n_left` the weight of the left side.
    """
    total = criterion.total
    n_right = total - n_left
    if n_left < criterion.min_leaf or n_right < criterion.min_leaf:
        return 0.0
    h = square * total / (n_left * n_right)
    if criterion.lay.width > criterion.lay.full:
        constant, left, right = group_values_known(left_sums, criterion)
        h += constant - n_left * left - n_right * right
    return h


@fast_inner
def value_missing(left_sums, miss, n_left, n_miss, best, criterion):
    """The better side for the rows that miss the tested feature: (h, 1 if left); h = best if none beats it.

    `left_sums` and `n_left` are the sums and the weight of the rows known to go left, `miss` and `n_miss`
    those of the rows that miss the feature.
    """
    lay, total = criterion.lay, criterion.total
    best_h, best_side = best, np.uint8(0)
    for right in range(2):
        share = 1.0 - right
        if n_miss == 0 and right == 0:
            continue
        left_weight = n_left + share * n_miss
        right_weight = total - left_weight
        if left_weight < criterion.min_leaf or right_weight < criterion.min_leaf:
            continue
        if n_miss == 0:
            square = squared_length(left_sums, lay.full)
        else:
            square = 0.0
            for c in range(lay.full):
                s = left_sums[c] + share * miss[c]
                square += s * s
        h = square * total / (left_weight * right_weight)
        if lay.width > lay.full:
            constant, left, right_ = group_values(left_sums, miss, share, criterion)
            h += constant - left_weight * left - right_weight * right_
        if h > best_h + criterion.tie:
            best_h, best_side = h, np.uint8(1 - right)
    return best_h, best_side
