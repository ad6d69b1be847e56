"""Tests x <= t: all boundaries between neighbouring values, or one random threshold (extra trees).

The payloads of the left side are summed row after row in value order or, where a feature has few values, into
one sum per value; the sums per value serve nominal features too. Both agree up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, inner
from .random import feature_seed, unit
from .split_value import group_values_known, squared_length, value_known, value_missing

# Features with more values than this in a node are scanned row by row, as are those whose sums per value have
# more than SUM_COST numbers for a row: sorting it costs no more than adding that many (measured).
MANY_SUMS = 512
SUM_COST = 32

# Up to this many rows insertion beats the passes of a radix sort (measured).
INSERTION_SORT = 40


class ValueSums(NamedTuple):
    """Work arrays: one payload sum per value. Values that occur are numbered by slots, in code order."""

    tally: np.ndarray  # int64, rows per code, counted from the lowest code of the node
    slot: np.ndarray  # int64 per code, likewise
    order: np.ndarray  # int64, the codes that occur, in the order in which they are scanned
    sums: np.ndarray  # (slots, width)
    weight: np.ndarray  # (slots,)


@inner
def sort_by_code(code, n, low, high, keys, order, count):
    """Write to `order` the positions of the rows with a known code, by code, ties by position.

    Codes are between `low` and `high`; `keys` (2, n) and `count` are work arrays. Returns how many rows have
    a known code.
    """
    source, sink = keys[0], keys[1]
    known = 0
    shift = np.int64(32)
    for i in range(n):
        if code[i] >= 0:
            source[known] = ((np.int64(code[i]) - low) << shift) | i
            known += 1
    if known <= INSERTION_SORT:
        for a in range(1, known):
            key = source[a]
            b = a - 1
            while b >= 0 and source[b] > key:
                source[b + 1] = source[b]
                b -= 1
            source[b + 1] = key
    else:  # radix sort, a byte of the code at a time
        span = high - low
        bits = np.int64(0)
        while (span >> bits) > 0:
            for b in range(257):
                count[b] = 0
            for a in range(known):
                count[((source[a] >> (shift + bits)) & 255) + 1] += 1
            for b in range(256):
                count[b + 1] += count[b]
            for a in range(known):
                digit = (source[a] >> (shift + bits)) & 255
                sink[count[digit]] = source[a]
                count[digit] += 1
            source, sink = sink, source
            bits += 8
    for a in range(known):
        order[a] = source[a] & np.int64(0xFFFFFFFF)
    return known


@fast_inner
def scan_rows(payload, code, order, weight, knows_groups, n_known, n_miss, left_sums, miss, criterion):
    """The best boundary, rows in value order: (h, last code on the left, whether missing rows go left).

    `order` lists the n_known rows that have a code, and `miss` and `n_miss` are the payload sum and the
    weight of the others. In the loop `left_sums` and `n_left` are the sums and the weight of rows order[0] to
    order[a], and (constant, left, right) is the part of the groups, which only moves when a row that knows
    one of them changes sides.
    """
    lay, total, min_leaf = criterion.lay, criterion.total, criterion.min_leaf
    with_groups = lay.width > lay.full
    group_sums = left_sums[lay.full :]
    for c in range(lay.width):
        left_sums[c] = 0.0
    constant, left, right = 0.0, 0.0, 0.0
    changed = with_groups
    best_h, best_cut, best_missing = 0.0, np.int64(-1), np.uint8(0)
    n_left = 0.0
    for a in range(n_known - 1):
        i = order[a]
        n_left += weight[i]
        square = 0.0
        for c in range(lay.full):
            s = left_sums[c] + payload[i, c]
            left_sums[c] = s
            square += s * s
        if with_groups and knows_groups[i]:
            changed = True
            row = payload[i, lay.full :]
            for c in range(lay.width - lay.full):
                group_sums[c] += row[c]
        if code[order[a + 1]] == code[i]:
            continue
        if n_miss > 0:
            h, side = value_missing(left_sums, miss, n_left, n_miss, best_h, criterion)
            if h > best_h:
                best_h, best_cut, best_missing = h, np.int64(code[i]), side
            continue
        n_right = total - n_left
        if n_left < min_leaf or n_right < min_leaf:
            continue
        h = square * total / (n_left * n_right)
        if with_groups:
            if changed:
                constant, left, right = group_values_known(left_sums, criterion)
                changed = False
            h += constant - n_left * left - n_right * right
        if h > best_h + criterion.tie:
            best_h, best_cut = h, np.int64(code[i])
    return best_h, best_cut, best_missing


@inner
def index_values(code, n, low, high, values):
    """Count the rows of each code and number the codes that occur; returns how many do."""
    count, slot, order = values.tally, values.slot, values.order
    for v in range(high - low + 1):
        count[v] = 0
    for i in range(n):
        if code[i] >= 0:
            count[code[i] - low] += 1
    present = np.int64(0)
    for v in range(high - low + 1):
        if count[v] > 0:
            slot[v] = present
            order[present] = v + low
            present += 1
    return present


@fast_inner
def sum_values(payload, code, weight, n, low, values, n_values, n_miss, width, totals, miss):
    """One payload sum per value, in values.sums, and its weight.

    The n_values codes that occur have slots in `values`; `totals` and `miss` are the sums of the node and of
    the rows that miss the feature. The most frequent value gets what the others leave, which saves adding
    its rows.
    """
    count, slot, order, sums = values.tally, values.slot, values.order, values.sums
    modal = 0
    for s in range(n_values):
        values.weight[s] = 0.0
        if count[order[s] - low] > count[order[modal] - low]:
            modal = s
        for c in range(width):
            sums[s, c] = 0.0
    for i in range(n):
        if code[i] < 0:
            continue
        s = slot[code[i] - low]
        values.weight[s] += weight[i]
        if s != modal:
            for c in range(width):
                sums[s, c] += payload[i, c]
    for c in range(width):
        sums[modal, c] = totals[c]
    if n_miss > 0:
        for c in range(width):
            sums[modal, c] -= miss[c]
    for s in range(n_values):
        if s != modal:
            for c in range(width):
                sums[modal, c] -= sums[s, c]


@fast_inner
def scan_values(n_values, low, values, n_miss, left_sums, miss, criterion):
    """The best boundary in the order of values: (h, place of the cut in it, whether missing rows go left).

    In the loop `left_sums` and `n_left` are the sums and the weight of the values order[0] to order[a].
    """
    lay = criterion.lay
    for c in range(lay.width):
        left_sums[c] = 0.0
    best_h, best_cut, best_missing = 0.0, np.int64(-1), np.uint8(0)
    n_left = 0.0
    for a in range(n_values - 1):
        s = values.slot[values.order[a] - low]
        n_left += values.weight[s]
        for c in range(lay.width):
            left_sums[c] += values.sums[s, c]
        if n_miss == 0:
            h = value_known(squared_length(left_sums, lay.full), left_sums, n_left, criterion)
            if h > best_h + criterion.tie:
                best_h, best_cut = h, np.int64(a)
            continue
        h, side = value_missing(left_sums, miss, n_left, n_miss, best_h, criterion)
        if h > best_h:
            best_h, best_cut, best_missing = h, np.int64(a), side
    return best_h, best_cut, best_missing


@inner
def random_threshold(tests, feature, low, high, seed):
    """A threshold uniform in [min, max) of the node, whose lowest and highest codes are `low` and `high`."""
    start = tests.level_start[feature]
    return random_between(tests.levels[start + low], tests.levels[start + high], feature, seed)


@inner
def random_between(lowest, highest, feature, seed):
    """A feature's random number in [lowest, highest)."""
    u = unit(feature_seed(seed, feature), 0)
    threshold = lowest * (1.0 - u) + highest * u
    return threshold if lowest <= threshold < highest else lowest


@inner
def last_below(levels, low, high, threshold):
    """The last code of low..high - 1 whose level is at most the threshold."""
    a, b = low, high
    while b - a > 1:
        middle = (a + b) // 2
        if levels[middle] <= threshold:
            a = middle
        else:
            b = middle
    return a
