"""Growing one predictive clustering tree (paper's Alg. 1) and the tree as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._kernel import fast_kernel, kernel
from .random import child_seed
from .split import (
    CHUNK,
    MANY_BUCKETS,
    Scratch,
    best_split,
    fill_payload,
    layout_of,
    random_threshold,
    restore,
)

# What a call of `rotate` costs at least, in the unit of one number of one row of one test.
ROTATE_COST = 15000


class Tree(NamedTuple):
    """Nodes in depth-first order, the root first; children come after their parent."""

    feature: np.ndarray  # int32; -1 in a leaf
    threshold: np.ndarray  # float64; numeric tests ask x <= threshold
    left: np.ndarray  # int32; -1 in a leaf
    right: np.ndarray  # int32
    missing_left: np.ndarray  # uint8
    subset_start: np.ndarray  # int32; where the values of a nominal test begin in `subset`; -1 for a number
    subset: np.ndarray  # uint8; 1 left, 0 right, per declared value
    weight: np.ndarray  # float64; |E(node)|
    value: np.ndarray  # float64; h* of the test, 0 in a leaf


class Growth(NamedTuple):
    """How far and how to grow (DESIGN 1.3)."""

    n_candidates: int
    random_test: bool
    min_samples_leaf: float
    min_labeled: float
    max_depth: int


@fast_kernel
def rotate(base, at):
    """Fewer coordinates for few rows: the rows of a Cholesky factor of their Gram matrix (DESIGN 4, trick 5).

    Sums of rows keep their lengths, so every h stays what it was, while n rows need n columns only. A pivot
    that is zero up to rounding belongs to a row that depends on the earlier ones: its column is left at zero.
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
    largest = 0.0
    for i in range(n):
        largest = max(largest, gram[i, i])
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            if factor[j, j] > 0.0:
                s = gram[i, j]
                for c in range(j):
                    s -= factor[i, c] * factor[j, c]
                factor[i, j] = s / factor[j, j]
        s = gram[i, i]
        for c in range(i):
            s -= factor[i, c] * factor[i, c]
        if s > 1e-12 * largest:
            factor[i, i] = np.sqrt(s)
    return factor


@kernel
def make_scratch(tests, space, n, full):
    """Work arrays for a tree with n rows at its root and at most `full` full columns."""
    n_features = tests.codes.shape[0]
    width = layout_of(full, space).width
    most_codes, most_nominal, most_values = 256, 1, 2
    for f in range(n_features):
        most_codes = max(most_codes, tests.n_codes[f])
        if tests.nominal[f] == 1:
            most_nominal = max(most_nominal, tests.n_codes[f])
            most_values = max(most_values, min(n, tests.n_codes[f]))
        else:
            most_values = max(most_values, min(n, tests.n_codes[f], MANY_BUCKETS))
    most_ordered = min(n, most_nominal)
    return Scratch(
        np.empty(n * width),
        np.empty(width),
        np.empty(width),
        np.zeros(n, np.uint8),
        np.empty(n, np.int64),
        np.empty(max(n, most_codes), np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(most_codes + 1, np.int64),
        np.empty(most_codes + 1, np.int64),
        np.empty((most_values, width)),
        np.empty(most_values),
        np.empty(width),
        np.zeros(width),
        np.empty(CHUNK * n),
        np.empty(CHUNK * width),
        np.arange(n_features),
        np.empty(n_features, np.int64),
        np.empty(n_features),
        np.empty(n_features, np.int64),
        np.empty(n_features, np.uint8),
        np.empty((n_features, most_nominal), np.uint8),
        np.empty(CHUNK, np.int64),
        np.empty(CHUNK),
        np.zeros(n_features, np.int64),
        np.full(n_features, -1, np.int64),
        np.empty((most_ordered, width)),
        np.empty((most_ordered, most_ordered)),
        np.empty((most_ordered, most_ordered)),
        np.empty(most_ordered),
    )


@kernel
def grow_tree(tests, space, weight, labeled, growth, seed):
    """Grow a tree on the rows with weight > 0; `labeled` marks the rows that count for `min_labeled`."""
    m = len(weight)
    n_root = 0
    for r in range(m):
        n_root += 1 if weight[r] > 0 else 0
    rows = np.empty(n_root, np.int64)
    n_root = 0
    for r in range(m):
        if weight[r] > 0:
            rows[n_root] = r
            n_root += 1
    scratch = make_scratch(tests, space, n_root, space.full.shape[1])
    # Full columns come from bases[k]: the data, or coordinates made by `rotate` for a subtree; a row's place
    # in its base is in `at`.
    bases = [space.full]
    at = rows.copy()
    spare_rows = np.empty(n_root, np.int64)
    spare_at = np.empty(n_root, np.int64)
    capacity = 2 * n_root
    feature = np.full(capacity, -1, np.int32)
    threshold = np.zeros(capacity)
    left = np.full(capacity, -1, np.int32)
    right = np.full(capacity, -1, np.int32)
    missing_left = np.zeros(capacity, np.uint8)
    subset_start = np.full(capacity, -1, np.int32)
    node_weight = np.zeros(capacity)
    value = np.zeros(capacity)
    seeds = np.zeros(capacity, np.uint64)
    subset = np.zeros(64, np.uint8)
    n_subset = 0
    # Stack of nodes to do: node, first row, end, depth, base.
    stack = np.empty((n_root + 1, 5), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, 0, n_root, 0, 0
    n_stack = 1
    n_nodes = 1
    seeds[0] = seed
    while n_stack > 0:
        n_stack -= 1
        node, start, end, depth, base = (
            stack[n_stack, 0],
            stack[n_stack, 1],
            stack[n_stack, 2],
            stack[n_stack, 3],
            stack[n_stack, 4],
        )
        while len(bases) > base + 1:
            bases.pop()
        n = end - start
        total = 0.0
        known = 0.0
        for i in range(start, end):
            total += weight[rows[i]]
            if labeled[rows[i]]:
                known += weight[rows[i]]
        node_weight[node] = total
        if n < 2 or depth >= growth.max_depth or total < 2 * growth.min_samples_leaf:
            continue
        if known < growth.min_labeled:
            continue
        width = bases[base].shape[1]
        n_candidates = min(growth.n_candidates, len(tests.n_codes))
        # Worth it once the tests save more than the Gram matrix and its factor cost (measured).
        if 2 * n < width and n_candidates * n * (width - n) > ROTATE_COST + n * n * width + n * n * n:
            bases.append(rotate(bases[base], at[start:end]))
            base += 1
            width = n
            for i in range(start, end):
                at[i] = i - start
        lay = layout_of(width, space)
        payload = scratch.payload[: n * lay.width].reshape(n, lay.width)
        total, impurity = fill_payload(
            bases[base], at[start:end], rows[start:end], weight, space, lay, payload, scratch
        )
        if impurity <= 1e-12 * total:
            continue
        winner, n_tried = best_split(
            tests,
            space,
            payload,
            rows[start:end],
            start,
            weight,
            lay,
            total,
            impurity,
            n_candidates,
            growth.random_test,
            growth.min_samples_leaf,
            seeds[node],
            scratch,
        )
        if winner < 0:
            restore(n_tried, scratch)
            continue
        best, cut, missing = scratch.features[winner], scratch.cand_cut[winner], scratch.cand_missing[winner]
        inside = scratch.cand_subset[winner]
        # Stable partition of the node's rows.
        n_left, n_right = 0, 0
        weight_left, n_miss = 0.0, 0.0
        low, high = np.int64(2147483647), np.int64(-1)
        below_cut, above_cut = np.int64(-1), np.int64(2147483647)
        for i in range(start, end):
            r = rows[i]
            code = np.int64(tests.codes[best, r])
            if code < 0:
                goes_left = missing == 1
                n_miss += weight[r]
            elif tests.nominal[best] == 1:
                goes_left = inside[code] == 1
            else:
                goes_left = code <= cut
                low = min(low, code)
                high = max(high, code)
                if goes_left:
                    below_cut = max(below_cut, code)
                else:
                    above_cut = min(above_cut, code)
            if goes_left:
                weight_left += weight[r]
                rows[start + n_left] = r
                at[start + n_left] = at[i]
                n_left += 1
            else:
                spare_rows[n_right] = r
                spare_at[n_right] = at[i]
                n_right += 1
        for i in range(n_right):
            rows[start + n_left + i] = spare_rows[i]
            at[start + n_left + i] = spare_at[i]
        if n_miss == 0:
            missing = np.uint8(2 * weight_left >= total)
        feature[node] = best
        value[node] = scratch.cand_h[winner]
        missing_left[node] = missing
        if tests.nominal[best] == 1:
            size = tests.n_codes[best]
            while n_subset + size > len(subset):
                grown = np.zeros(2 * len(subset), np.uint8)
                grown[:n_subset] = subset[:n_subset]
                subset = grown
            subset_start[node] = n_subset
            for v in range(size):
                # Values not seen here follow the missing branch (DESIGN 1.3).
                subset[n_subset + v] = inside[v] if inside[v] < 2 else missing
            n_subset += size
        elif growth.random_test:
            threshold[node] = random_threshold(tests, best, low, high, seeds[node])
        else:
            first = tests.levels[tests.level_start[best] + below_cut]
            second = tests.levels[tests.level_start[best] + above_cut]
            middle = first / 2 + second / 2
            threshold[node] = middle if first <= middle < second else first
        restore(n_tried, scratch)
        left[node], right[node] = n_nodes, n_nodes + 1
        seeds[n_nodes] = child_seed(seeds[node], 0)
        seeds[n_nodes + 1] = child_seed(seeds[node], 1)
        # The left child is done first.
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = n_nodes + 1, start + n_left, end
        stack[n_stack, 3], stack[n_stack, 4] = depth + 1, base
        n_stack += 1
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = n_nodes, start, start + n_left
        stack[n_stack, 3], stack[n_stack, 4] = depth + 1, base
        n_stack += 1
        n_nodes += 2
    return Tree(
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        left[:n_nodes].copy(),
        right[:n_nodes].copy(),
        missing_left[:n_nodes].copy(),
        subset_start[:n_nodes].copy(),
        subset[:n_subset].copy(),
        node_weight[:n_nodes].copy(),
        value[:n_nodes].copy(),
    )
