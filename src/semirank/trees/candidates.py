"""The best test of a node: candidates are drawn, evaluated and compared (paper's Alg. 2, Def. 1.3).

A feature's tests are evaluated along one of several paths, which agree up to rounding: by sums per value or
rows in value order (`numeric_tests`, `nominal_tests`), by a matrix product (`binary_tests`), or by counting
ones (`sparse_binary`). Functions take the arrays they need: handing on all work arrays costs more than many
of them do, and most of the time of compilation. So `best_candidate` takes them once per node, and its steps
are inlined; it counts no references, as `grow_nodes` would for every array it touches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, hot_inner, inlined, inner
from .binary_tests import (
    CHUNK,
    FEW_ROWS,
    ROUGH,
    mark_left,
    multiply_marks,
    round_payload,
    sum_marked,
    sum_missing,
    value_marked,
    value_products,
)
from .nominal_tests import LEFT, RIGHT, UNSEEN, order_values, split_pair
from .numeric_tests import (
    MANY_SUMS,
    SUM_COST,
    index_values,
    scan_rows,
    scan_values,
    sort_by_code,
    sum_values,
)
from .random import draw_candidate, restore_order
from .sparse_binary import value_of_ones
from .split_value import Criterion, full_value, squared_length

# Nodes with fewer rows than this add rows instead of calling the matrix product, and can stop at a perfect
# test.
BATCH = 16


class Node(NamedTuple):
    """The node that is being split."""

    rows: np.ndarray
    start: int  # its place in the order of all rows
    payload: np.ndarray  # (rows, width)
    criterion: Criterion
    impurity: float  # n * imp
    seed: np.uint64


class Candidates(NamedTuple):
    """What is known of the best test of each candidate, in drawn order."""

    h: np.ndarray  # (D,)
    cut: np.ndarray  # int64 (D,), last code on the left
    missing_left: np.ndarray  # uint8 (D,)
    rough: np.ndarray  # uint8 (D,), whether h comes from the float32 product
    subset: np.ndarray  # uint8 (D, nominal values): LEFT, RIGHT or UNSEEN


@hot_inner
def read_codes(tests, feature, rows, weight, code):
    """Codes of the node's rows, into `code`: (lowest, highest, weight of the rows that miss the feature)."""
    n = len(rows)
    if n < FEW_ROWS:
        for i in range(n):
            code[i] = tests.codes_by_row[rows[i], feature]
    else:
        for i in range(n):
            code[i] = tests.codes[feature, rows[i]]
    low, high = np.int32(2147483647), np.int32(-1)
    n_miss = 0.0
    if tests.has_missing[feature] == 0:
        for i in range(n):
            low = min(low, code[i])
            high = max(high, code[i])
    else:
        for i in range(n):
            if code[i] < 0:
                n_miss += weight[i]
            else:
                low = min(low, code[i])
                high = max(high, code[i])
    return np.int64(low), np.int64(high), n_miss


@inlined
def try_values(tests, feature, node, low, high, n_miss, j, scratch):
    """Candidate j, a feature with more than two values: by one sum per value or by rows in value order."""
    code, values, payload, n = scratch.code, scratch.values, node.payload, len(node.rows)
    sums, candidates, lay = scratch.sums, scratch.candidates, node.criterion.lay
    nominal = tests.nominal[feature] == 1
    by_value = nominal
    n_values = np.int64(0)
    if n_miss > 0:
        sum_missing(payload, code, n, lay.width, sums.miss)
    if nominal or (n > FEW_ROWS and high - low <= 4 * n + 64):
        n_values = index_values(code, n, low, high, values)
        few = 2 * n_values <= n and n_values <= MANY_SUMS
        by_value = nominal or (few and n_values * lay.width <= SUM_COST * n)
    if by_value:
        sum_values(
            payload, code, scratch.weight, n, low, values, n_values, n_miss, lay.width, sums.totals, sums.miss
        )
        if nominal and n_values > 2:
            order_values(n_values, low, values, node.criterion.groups, lay, scratch.ordering)
        h, last, side = scan_values(n_values, low, values, n_miss, sums.left, sums.miss, node.criterion)
        cut = values.order[max(last, 0)]
        if nominal:
            subset = candidates.subset[j]
            for v in range(tests.n_codes[feature]):
                subset[v] = UNSEEN
            for a in range(n_values):
                subset[values.order[a]] = LEFT if a <= last else RIGHT
    else:
        order = values.order
        n_known = sort_by_code(code, n, low, high, scratch.keys, order, values.tally)
        h, cut, side = scan_rows(
            payload,
            code,
            order,
            scratch.weight,
            scratch.knows_groups,
            n_known,
            n_miss,
            sums.left,
            sums.miss,
            node.criterion,
        )
    candidates.h[j] = h
    candidates.cut[j] = cut
    candidates.missing_left[j] = side


@inlined
def try_ones(tests, feature, node, j, scratch, bits):
    """Candidate j, a sparse feature; returns False where it is constant."""
    column = bits.column_of[feature]
    start = scratch.ones.start
    n_ones = start[column + 1] - start[column] if column >= 0 else np.int64(0)
    varies = 0 < n_ones < len(node.rows)
    if varies:
        low = bits.low[feature]
        scratch.candidates.h[j] = value_of_ones(
            column, bits, node, scratch.weight, scratch.sums.left, scratch.ones
        )
        scratch.candidates.cut[j] = low
        if tests.nominal[feature] == 1:
            split_pair(tests.n_codes[feature], low, low + 1, scratch.candidates.subset[j])
    return varies


@inlined
def try_marked(node, mark, n_left, n_miss, j, scratch):
    """Candidate j, a feature with a single test, in a node of few rows: by adding those it marks."""
    lay, left_sums, candidates, n = node.criterion.lay, scratch.sums.left, scratch.candidates, len(node.rows)
    if n_miss == 0 and lay.width == lay.full:
        sum_marked(node.payload, mark, n, lay.full, left_sums)
        candidates.h[j] = full_value(squared_length(left_sums, lay.full), n_left, node.criterion)
    else:
        candidates.h[j], candidates.missing_left[j] = value_marked(
            node.payload, mark, scratch.code, n, n_left, n_miss, left_sums, scratch.sums.miss, node.criterion
        )


@inlined
def queue_marks(n_pending, j, n, n_left, n_miss, scratch):
    """Leave the 0/1 row of candidate j to the matrix product; returns how many rows wait."""
    pending, code = scratch.pending, scratch.code
    pending.candidate[n_pending] = j
    pending.weight[n_pending] = n_left
    n_pending += 1
    if n_miss > 0:
        mark = pending.marks[n_pending * n : (n_pending + 1) * n]
        for i in range(n):
            mark[i] = 1.0 if code[i] < 0 else 0.0
        pending.candidate[n_pending] = -1
        pending.weight[n_pending] = n_miss
        n_pending += 1
    return n_pending


@inlined
def try_candidates(tests, node, n_candidates, j, useful, random_test, scratch, bits):
    """Draw and evaluate candidates from number j on; in large nodes 0/1 tests are left waiting.

    At least `n_candidates` are drawn, and more until one is useful, which means not constant. Returns (number
    of the next candidate, useful candidates so far, 0/1 rows that wait, whether to stop).
    """
    n, start, drawn, candidates = len(node.rows), node.start, scratch.drawn, scratch.candidates
    n_features = tests.codes.shape[0]
    batch = n >= BATCH
    # Nothing is left after a split with h = n * imp(E), and no other test can do better.
    enough = node.impurity - node.criterion.tie
    n_pending = 0
    stop = False
    while not stop and j < n_features and (j < n_candidates or useful == 0) and n_pending + 2 <= CHUNK:
        feature = draw_candidate(j, n_features, node.seed, drawn)
        candidates.h[j] = 0.0
        candidates.missing_left[j] = 0
        candidates.rough[j] = 0
        j += 1
        # Nodes are nested or disjoint: what is constant in a node is constant in all that lies inside it.
        if drawn.constant_from[feature] <= start and start + n <= drawn.constant_to[feature]:
            continue
        if bits is not None and batch:
            varies = try_ones(tests, feature, node, j - 1, scratch, bits)
        else:
            low, high, n_miss = read_codes(tests, feature, node.rows, scratch.weight, scratch.code)
            varies = low < high
            if varies and random_test is None and high > low + 1:
                try_values(tests, feature, node, low, high, n_miss, j - 1, scratch)
            elif varies:
                mark = scratch.pending.marks[n_pending * n : (n_pending + 1) * n]
                n_left = mark_left(tests, feature, n, low, high, random_test, node.seed, mark, j - 1, scratch)
                if batch:
                    n_pending = queue_marks(n_pending, j - 1, n, n_left, n_miss, scratch)
                else:
                    try_marked(node, mark, n_left, n_miss, j - 1, scratch)
        if varies:
            useful += 1
            stop = candidates.h[j - 1] >= enough
        else:
            drawn.constant_from[feature] = start
            drawn.constant_to[feature] = start + n
    return j, useful, n_pending, stop


@inlined
def settle(tests, node, random_test, n_tried, scratch):
    """Replace the rough values of all 0/1 tests that may be the best by exact ones (Def. 1.3, ties)."""
    n, candidates, sums = len(node.rows), scratch.candidates, scratch.sums
    best = 0.0
    for j in range(n_tried):
        best = max(best, candidates.h[j])
    for j in range(n_tried):
        if candidates.rough[j] and candidates.h[j] >= best - ROUGH * node.impurity:
            feature = scratch.drawn.order[j]
            low, high, n_miss = read_codes(tests, feature, node.rows, scratch.weight, scratch.code)
            mark = scratch.pending.marks[:n]
            n_left = mark_left(tests, feature, n, low, high, random_test, node.seed, mark, j, scratch)
            candidates.h[j], candidates.missing_left[j] = value_marked(
                node.payload, mark, scratch.code, n, n_left, n_miss, sums.left, sums.miss, node.criterion
            )


@inner
def pick(n_tried, tie, h):
    """The winner: the largest h, the first drawn among equals; -1 if none is above rounding."""
    best = -1
    best_h = 0.0
    for j in range(n_tried):
        if h[j] > best_h + tie:
            best_h = h[j]
            best = j
    return best


@fast_inner
def best_candidate(tests, node, n_candidates, random_test, scratch, bits):
    """The best candidate of a node: (its number or -1, feature, last code on the left, missing left, h).

    The order of features is restored. The subset of a nominal test is scratch.candidates.subset[number].
    """
    n, width = node.payload.shape
    pending, candidates = scratch.pending, scratch.candidates
    rough = False
    j, useful = np.int64(0), np.int64(0)
    while True:
        j, useful, n_pending, stop = try_candidates(
            tests, node, n_candidates, j, useful, random_test, scratch, bits
        )
        if n_pending > 0:
            if not rough:
                round_payload(node.payload, pending.payload)
                rough = True
            multiply_marks(n, width, pending.marks, pending.payload, pending.sums, n_pending)
            value_products(
                n_pending, pending, scratch.sums.left, scratch.sums.miss, node.criterion, candidates
            )
        if stop or j >= len(tests.n_codes) or (j >= n_candidates and useful > 0):
            break
    if rough:
        settle(tests, node, random_test, j, scratch)
    winner = pick(j, node.criterion.tie, candidates.h)
    feature = scratch.drawn.order[winner]
    restore_order(j, scratch.drawn)
    return winner, feature, candidates.cut[winner], candidates.missing_left[winner], candidates.h[winner]
