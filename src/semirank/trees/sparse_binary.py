"""Sparse two-valued features, as fingerprints and words are: count what occurs together (Def. 1.9).

A column with two values is z = low + jump * one. The sum of the rows with a one in feature f, centred on the
node's means, is then jump_c * (together_fc - n_f * share_c) in column c: all that a test needs to know is how
often f and c occur together. Rows with r ones have r^2 pairs to count, against the square of the number of
features that a sum of whole rows takes. "One" is the rarer value; which side of the test it is on does not
matter for h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, inner
from .columns import Space, Tests
from .split_value import value_known

# Above this share of ones a matrix product of whole rows takes less time (measured).
DENSE = 0.08


class Bits(NamedTuple):
    """The ones of a table whose features are all known and have at most two values, next to each other.

    Column c belongs to the c-th feature that is not constant, and is the c-th of `Space.full`.
    """

    start: np.ndarray  # (M + 1,) int64; the ones of row i are column[start[i] : start[i + 1]]
    column: np.ndarray  # int32
    column_of: np.ndarray  # (D,) int64; -1 for a constant feature
    low: np.ndarray  # (D,) int64, the lower code; the higher one follows it
    example: np.ndarray  # (2, C) int64, a row without and a row with a one
    jump: np.ndarray  # (C,) squared difference of the two values in the space


class NodeOnes(NamedTuple):
    """Work arrays: the ones of a node by column."""

    start: np.ndarray  # (C + 1,) int64
    place: np.ndarray  # int64, positions in the node
    next: np.ndarray  # (C,) int64
    share: np.ndarray  # (C,) of the node's weight
    together: np.ndarray  # (C,)


def find_bits(tests: Tests) -> Bits | None:
    """The ones of the table, or None where the features are not that simple or not that sparse."""
    codes = tests.codes
    if tests.has_missing.any() or not codes.size:
        return None
    low, high = codes.min(axis=1), codes.max(axis=1)
    varies = low < high
    # Codes further apart are those of a nominal feature, where extra trees draw the side of each.
    if not varies.any() or (high > low + 1).any():
        return None
    ones = codes[varies] == high[varies, None]
    often = 2 * ones.sum(axis=1) > ones.shape[1]
    ones[often] = ~ones[often]
    if ones.mean() > DENSE:
        return None
    rows, column = np.nonzero(np.ascontiguousarray(ones.T))
    column_of = np.full(len(codes), -1, np.int64)
    column_of[varies] = np.arange(len(ones))
    return Bits(
        start=np.searchsorted(rows, np.arange(ones.shape[1] + 1)).astype(np.int64),
        column=column.astype(np.int32),
        column_of=column_of,
        low=low.astype(np.int64),
        example=np.stack([ones.argmin(axis=1), ones.argmax(axis=1)]),
        jump=np.zeros(len(ones)),
    )


def bits_in(bits: Bits | None, space: Space, supervision: float) -> Bits | None:
    """The same with the jumps of this space; None where it has no columns for the features."""
    if bits is None or supervision == 1 or space.rotated is not space.full:
        return None
    columns = np.arange(len(bits.jump))
    without, with_one = bits.example
    return bits._replace(jump=(space.full[with_one, columns] - space.full[without, columns]) ** 2)


def make_ones(bits: Bits | None) -> NodeOnes | None:
    """Work arrays for trees on these data."""
    if bits is None:
        return None
    n_columns = len(bits.jump)
    return NodeOnes(
        start=np.empty(n_columns + 1, np.int64),
        place=np.empty(len(bits.column), np.int64),
        next=np.empty(n_columns, np.int64),
        share=np.empty(n_columns),
        together=np.empty(n_columns),
    )


@inner
def find_ones(bits, rows, weight, node_weight, ones):
    """Sort the ones of the node's rows by column, into `ones`; returns the weight of the node.

    The weight of row rows[i] goes to node_weight[i]. `following` first counts the ones of a column, then
    holds the place for the next one.
    """
    start, place, following, share = ones.start, ones.place, ones.next, ones.share
    n_columns = len(share)
    for c in range(n_columns):
        following[c] = 0
        share[c] = 0.0
    total = 0.0
    for i in range(len(rows)):
        r = rows[i]
        v = weight[r]
        node_weight[i] = v
        total += v
        for e in range(bits.start[r], bits.start[r + 1]):
            c = bits.column[e]
            following[c] += 1
            share[c] += v
    start[0] = 0
    for c in range(n_columns):
        start[c + 1] = start[c] + following[c]
        following[c] = start[c]
        share[c] /= total
    for i in range(len(rows)):
        r = rows[i]
        for e in range(bits.start[r], bits.start[r + 1]):
            c = bits.column[e]
            place[following[c]] = i
            following[c] += 1
    return total


@fast_inner
def fill_others(base, at, node_weight, full, total, jump, share, payload, mean):
    """Fill the full columns of `payload` behind the features; returns n * imp of all full columns.

    The first columns belong to the features, with squared jumps `jump` and shares of ones `share`; their sums
    come from `sum_ones`, without a payload.
    """
    first = len(jump)
    impurity = 0.0
    for c in range(first):
        impurity += jump[c] * share[c] * (1.0 - share[c])
    impurity *= total
    n = len(at)
    means = mean[first:full]
    for c in range(full - first):
        means[c] = 0.0
    for i in range(n):
        v, source = node_weight[i], base[at[i], first:full]
        for c in range(full - first):
            means[c] += v * source[c]
    for c in range(full - first):
        means[c] /= total
    for i in range(n):
        v, source, row = node_weight[i], base[at[i], first:full], payload[i, first:full]
        for c in range(full - first):
            z = source[c] - means[c]
            row[c] = v * z
            impurity += v * z * z
    return impurity


@fast_inner
def sum_ones(column, bits, rows, weight, payload, lay, left_sums, ones):
    """Sums over the rows with a one in this column: (their weight, |S|^2 of the full columns).

    The sums of the columns behind the features go to `left_sums`.
    """
    together, share = ones.together, ones.share
    first = len(share)
    others = left_sums[first : lay.width]
    for c in range(first):
        together[c] = 0.0
    for c in range(lay.width - first):
        others[c] = 0.0
    n_ones = 0.0
    for e in range(ones.start[column], ones.start[column + 1]):
        i = ones.place[e]
        r, v = rows[i], weight[i]
        n_ones += v
        for b in range(bits.start[r], bits.start[r + 1]):
            together[bits.column[b]] += v
        row = payload[i, first : lay.width]
        for c in range(lay.width - first):
            others[c] += row[c]
    square = 0.0
    for c in range(first):
        s = together[c] - n_ones * share[c]
        square += bits.jump[c] * s * s
    for c in range(lay.full - first):
        square += others[c] * others[c]
    return n_ones, square


@fast_inner
def value_of_ones(column, bits, node, weight, left_sums, ones):
    """h of the only test of a sparse feature: ones against the rest."""
    n_ones, square = sum_ones(
        column, bits, node.rows, weight, node.payload, node.criterion.lay, left_sums, ones
    )
    return value_known(square, left_sums, n_ones, node.criterion)
