"""Features with a single test, two values or a random one (extra trees), as 0/1 rows.

Many such tests are summed at once by a matrix product of their 0/1 rows with the payloads, in float32; what
is close to the best is computed again in float64 (`settle` in `candidates`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, hot_inner, kernel
from .nominal_tests import mark_subset, split_pair
from .numeric_tests import last_below, random_threshold
from .split_value import value_missing

# 0/1 rows that go into one matrix product.
CHUNK = 128

# The float32 product is off by less than this share of the impurity.
ROUGH = 1e-5

# Up to this many rows sorting is cheaper than counting values, and reading by rows than by features.
FEW_ROWS = 32


class Pending(NamedTuple):
    """Work arrays: 0/1 rows that wait for the matrix product. A row of tests may be followed by one of the
    rows that miss the feature, whose candidate is -1."""

    marks: np.ndarray  # float32, flat, CHUNK * n_rows
    sums: np.ndarray  # float32, flat, CHUNK * width
    candidate: np.ndarray  # int64 (CHUNK,)
    weight: np.ndarray  # (CHUNK,), weight of the marked rows
    payload: np.ndarray  # float32, flat, n_rows * width


@hot_inner
def mark_left(tests, feature, n, low, high, random_test, seed, mark, j, scratch):
    """Write the 0/1 row of the only test of candidate j to `mark`; returns the weight of the marked rows.

    The codes of the node's rows are in scratch.code, between `low` and `high`.
    """
    code = scratch.code
    cut = np.int32(low)
    nominal = tests.nominal[feature] == 1
    subset = scratch.candidates.subset[j]
    if nominal:
        split_pair(tests.n_codes[feature], low, high, subset)
    if random_test is not None and nominal and high > low + 1:
        mark_subset(feature, code, n, low, high, seed, scratch.values, subset, mark)
    else:
        if random_test is not None and not nominal:
            threshold = random_threshold(tests, feature, low, high, seed)
            levels = tests.levels[tests.level_start[feature] :]
            if n < FEW_ROWS:
                for i in range(n):
                    if code[i] > cut and levels[code[i]] <= threshold:
                        cut = code[i]
            else:
                cut = np.int32(last_below(levels, low, high, threshold))
        if tests.has_missing[feature] == 0:
            for i in range(n):
                mark[i] = 1.0 if code[i] <= cut else 0.0
        else:
            for i in range(n):
                mark[i] = 1.0 if 0 <= code[i] <= cut else 0.0
    scratch.candidates.cut[j] = cut
    n_left = 0.0
    for i in range(n):
        n_left += mark[i] * scratch.weight[i]
    return n_left


@hot_inner
def sum_marked(payload, mark, n, width, out):
    """The payload sum of the marked rows."""
    for c in range(width):
        out[c] = 0.0
    for i in range(n):
        if mark[i] > 0:
            for c in range(width):
                out[c] += payload[i, c]


@fast_inner
def sum_missing(payload, code, n, width, miss):
    """The payload sum of the rows that miss the feature."""
    for c in range(width):
        miss[c] = 0.0
    for i in range(n):
        if code[i] < 0:
            for c in range(width):
                miss[c] += payload[i, c]


@fast_inner
def value_marked(payload, mark, code, n, n_left, n_miss, left_sums, miss, criterion):
    """One 0/1 test, by adding its rows: (h, whether missing rows go left)."""
    sum_marked(payload, mark, n, criterion.lay.width, left_sums)
    if n_miss > 0:
        sum_missing(payload, code, n, criterion.lay.width, miss)
    return value_missing(left_sums, miss, n_left, n_miss, 0.0, criterion)


@kernel
def multiply_marks(n, width, marks, payload, sums, n_pending):
    """The sums of all waiting 0/1 rows by one matrix product: (tests x rows) times (rows x payload)."""
    left = marks[: n_pending * n].reshape(n_pending, n)
    right = payload[: n * width].reshape(n, width)
    np.dot(left, right, sums[: n_pending * width].reshape(n_pending, width))


@fast_inner
def value_products(n_pending, pending, left_sums, miss, criterion, candidates):
    """Rough h of all waiting 0/1 tests from the product."""
    width = criterion.lay.width
    for b in range(n_pending):
        j = pending.candidate[b]
        if j < 0:
            continue
        n_miss = 0.0
        row = pending.sums[b * width : (b + 1) * width]
        for c in range(width):
            left_sums[c] = row[c]
        if b + 1 < n_pending and pending.candidate[b + 1] < 0:
            n_miss = pending.weight[b + 1]
            row = pending.sums[(b + 1) * width : (b + 2) * width]
            for c in range(width):
                miss[c] = row[c]
        candidates.rough[j] = 1
        candidates.h[j], candidates.missing_left[j] = value_missing(
            left_sums, miss, pending.weight[b], n_miss, 0.0, criterion
        )


@fast_inner
def round_payload(payload, single):
    """The payload in float32, for the matrix product."""
    n, width = payload.shape
    for i in range(n):
        row = single[i * width : (i + 1) * width]
        for c in range(width):
            row[c] = payload[i, c]
