"""Growing one predictive clustering tree (paper's Alg. 1) and the tree as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_kernel, kernel
from .columns import Space, Tests
from .random import child_seed
from .sparse_binary import Bits, fill_others, find_ones, make_found
from .split import (
    BATCH,
    CHUNK,
    CONSTANT_TO,
    DRAWN,
    MANY_BUCKETS,
    MANY_VALUES,
    MEAN,
    MISSING_LEFT,
    SIDE_BY_SIDE,
    TIE,
    TOTALS,
    VALUE,
    Rest,
    Scratch,
    best_side_by_side,
    best_split,
    fill_full,
    fill_groups,
    layout_of,
    random_threshold,
    restore,
    value_side_by_side,
)

# What a call of `rotate` costs at least, in the unit of one number of one row of one test.
ROTATE_COST = 15000

# Rotated coordinates are exact to rounding of their largest squared length; below this share of it a node
# would see the rounding in its ninth digit.
ROTATE_DIGITS = 1e-4


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
    """How far and how to grow (Def. 1.3)."""

    n_candidates: int
    random_test: bool
    min_samples_leaf: float
    min_labeled: float
    max_depth: int
    # Whether a node is split only where labelled rows differ; see `for_predictions` in `tuning`.
    only_differing: bool = False


@fast_kernel
def rotate(base, at):
    """Fewer coordinates for few rows: a Cholesky factor of their Gram matrix (Def. 1.9).

    Sums of rows keep their lengths, so every h stays what it was, while n rows need at most n columns. Pivots
    are taken by size, which keeps the error of every inner product at rounding of the largest one. Returns
    the coordinates and the largest squared length.
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
    left = np.empty(n)
    largest = 0.0
    for i in range(n):
        left[i] = gram[i, i]
        largest = max(largest, left[i])
    factor = np.zeros((n, n))
    for k in range(n):
        pivot = 0
        for i in range(1, n):
            if left[i] > left[pivot]:
                pivot = i
        if left[pivot] <= 1e-15 * n * largest:
            break
        root = np.sqrt(left[pivot])
        for i in range(n):
            if left[i] > 0.0 and i != pivot:
                s = gram[i, pivot]
                for c in range(k):
                    s -= factor[i, c] * factor[pivot, c]
                factor[i, k] = s / root
                left[i] -= factor[i, k] * factor[i, k]
        factor[pivot, k] = root
        left[pivot] = 0.0
    return factor, largest


def leaves_only(n_nodes: int) -> Tree:
    """Nodes without a test, to be grown."""
    return Tree(
        feature=np.full(n_nodes, -1, np.int32),
        threshold=np.zeros(n_nodes),
        left=np.full(n_nodes, -1, np.int32),
        right=np.full(n_nodes, -1, np.int32),
        missing_left=np.zeros(n_nodes, np.uint8),
        subset_start=np.full(n_nodes, -1, np.int32),
        subset=np.zeros(64, np.uint8),
        weight=np.ones(n_nodes),
        value=np.zeros(n_nodes),
    )


def make_scratch(tests: Tests, space: Space, growth: Growth, bits: Bits | None = None) -> Scratch:
    """Work arrays for trees on these data, one after the other."""
    n_features, n = tests.codes.shape
    width = space.full.shape[1] + space.group.shape[1] + 2 * space.group_known.shape[1]
    nominal = tests.nominal == 1
    n_codes = int(tests.n_codes.max(initial=256)) + 1
    n_nominal = int(tests.n_codes[nominal].max(initial=1))
    n_ordered = min(n, n_nominal)
    # Sparse features have two values, however many are declared.
    orders = n_nominal > 2 and not growth.random_test and bits is None
    n_values = max(2, n_ordered, min(n, MANY_BUCKETS, int(tests.n_codes[~nominal].max(initial=0))))
    features = np.zeros((4, n_features), np.int64)
    features[DRAWN] = np.arange(n_features)
    return Scratch(
        payload=np.empty(n * width),
        payload32=np.empty(n * width, np.float32),
        sums=np.zeros((4, width)),
        weight=np.empty(n),
        has_rest=np.zeros(n, np.uint8),
        code=np.empty(n, np.int32),
        keys=np.empty((2, n), np.int64),
        order=np.empty(max(n, n_codes), np.int64),
        values=np.empty((2, n_codes), np.int64),
        bucket=np.empty((n_values, width)),
        bucket_weight=np.empty(n_values),
        indicator=np.empty(CHUNK * n, np.float32),
        product=np.empty(CHUNK * width, np.float32),
        pending=np.empty(CHUNK, np.int64),
        pending_weight=np.empty(CHUNK),
        features=features,
        cand_h=np.empty(n_features),
        cand_cut=np.empty(n_features, np.int64),
        cand_flag=np.empty((2, n_features), np.uint8),
        cand_subset=np.empty((n_features, n_nominal), np.uint8),
        means=np.empty((n_ordered, width)),
        lines=np.empty((2, max(width, n_ordered))),
        axes=np.empty((2, MANY_VALUES, MANY_VALUES)) if orders else None,
        marks=np.empty((SIDE_BY_SIDE, n_features)),
        aside=np.empty((8, n_features)),
        beside=np.empty((2, SIDE_BY_SIDE + 4)),
        found=make_found(bits),
    )


def grow_tree(
    tests: Tests,
    space: Space,
    weight: np.ndarray,
    answer: np.ndarray,
    growth: Growth,
    seed: np.uint64,
    scratch: Scratch | None = None,
    bits: Bits | None = None,
) -> Tree:
    """Grow a tree on the rows with weight > 0.

    Parameters
    ----------
    tests, space : Tests, Space
    weight : ndarray of shape (n_rows,), float64
        Bootstrap counts.
    answer : ndarray of shape (n_rows,), int64
        A number for the target of each row, the same for the same target, -1 of unlabelled rows.
    growth : Growth
    seed : uint64
    scratch : Scratch, optional
        Work arrays of `make_scratch`, to be used again.
    bits : Bits, optional
        The features as ones, where they are sparse.
    """
    rows = np.flatnonzero(weight > 0)
    capacity = max(1, 2 * len(rows) - 1)
    nodes = leaves_only(capacity)
    scratch = scratch or make_scratch(tests, space, growth, bits)
    scratch.features[CONSTANT_TO] = -1
    seeds = np.zeros(capacity, np.uint64)
    seeds[0] = seed
    stack = np.empty((len(rows) + 1, 5), np.int64)
    places = np.stack([rows, rows, rows, rows])
    # None, not False: the compiler leaves out what the other kind of tree needs, a third of its work.
    random_test = True if growth.random_test else None
    n_nodes, subset = grow_nodes(
        tests,
        space,
        weight,
        answer,
        growth,
        random_test,
        nodes,
        seeds,
        stack,
        places,
        scratch,
        bits,
    )
    arrays = [array[:n_nodes].copy() for array in nodes]
    return Tree(*arrays)._replace(subset=subset)


@kernel
def grow_nodes(tests, space, weight, answer, growth, random_test, nodes, seeds, stack, places, scratch, bits):
    """Grow into `nodes`; returns (number of nodes, values of the nominal tests)."""
    # Full columns come from bases[k]: the data, or coordinates made for all rows or, by `rotate`, for a
    # subtree; a row's place in its base is in `at`.
    bases = [space.turned]
    sizes = [space.size]
    rest = Rest(space.group_start, space.n_single, space.group_factor, space.by_known)
    totals, mean = scratch.sums[TOTALS], scratch.sums[MEAN]
    rows, at, spare_rows, spare_at = places[0], places[1], places[2], places[3]
    n_root = len(rows)
    subset = nodes.subset
    n_subset = 0
    # Stack of nodes to do: node, first row, end, depth, base.
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, 0, n_root, 0, 0
    n_stack = 1
    n_nodes = 1
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
            sizes.pop()
        n = end - start
        total = 0.0
        known = 0.0
        last_answer, differ = np.int64(-1), False
        with_rest = False
        for i in range(start, end):
            total += weight[rows[i]]
            with_rest |= space.knows[rows[i]] == 1
            if answer[rows[i]] >= 0:
                known += weight[rows[i]]
                if last_answer >= 0 and answer[rows[i]] != last_answer:
                    differ = True
                last_answer = answer[rows[i]]
        nodes.weight[node] = total
        if n < 2 or depth >= growth.max_depth or total < 2 * growth.min_samples_leaf:
            continue
        if known < growth.min_labeled or (growth.only_differing and not differ):
            continue
        n_candidates = min(growth.n_candidates, len(tests.n_codes))
        # Two rows are told apart by any feature that differs: the first drawn ends the search.
        aside = random_test is not None and tests.plain and 2 < n <= SIDE_BY_SIDE
        aside = aside and n_candidates == len(tests.n_codes)
        by_ones = bits is not None and not aside and n >= BATCH
        lay = layout_of(bases[base].shape[1], space, with_rest)
        payload = scratch.payload[: n * lay.width].reshape(n, lay.width)
        if bits is not None and by_ones:  # the first half is for the compiler
            total = find_ones(bits, rows[start:end], weight, scratch.weight, scratch.found)
            impurity = fill_others(
                bases[base],
                at[start:end],
                scratch.weight,
                len(bits.jump),
                lay.full,
                total,
                bits.jump,
                scratch.found.share,
                payload,
                mean,
            )
        else:
            total, impurity = fill_full(
                bases[base], at[start:end], rows[start:end], weight, lay.full, payload, mean, scratch.weight
            )
        again = False
        if impurity < ROTATE_DIGITS * sizes[base]:
            # What is left is too small against what the coordinates were made for: back to the data.
            bases.append(space.full)
            sizes.append(0.0)
            base = len(bases) - 1
            for i in range(start, end):
                at[i] = rows[i]
            again = True
        # Worth it once the tests save more than the Gram matrix and its factor cost (measured).
        full = bases[base].shape[1]
        saved = n_candidates * n * (full - n) - ROTATE_COST - n * n * full - n * n * n
        if not aside and not by_ones and 2 * n < full and saved > 0:
            turned, size = rotate(bases[base], at[start:end])
            bases.append(turned)
            sizes.append(max(size, sizes[base]))
            base = len(bases) - 1
            for i in range(start, end):
                at[i] = i - start
            again = True
        if again:
            lay = layout_of(bases[base].shape[1], space, with_rest)
            payload = scratch.payload[: n * lay.width].reshape(n, lay.width)
            total, impurity = fill_full(
                bases[base], at[start:end], rows[start:end], weight, lay.full, payload, mean, scratch.weight
            )
        if not with_rest:
            for c in range(lay.width):
                totals[c] = 0.0
        else:
            impurity += fill_groups(
                space.group,
                space.group_known,
                space.group_start,
                space.group_factor,
                space.by_known,
                rows[start:end],
                scratch.weight,
                lay,
                total,
                payload,
                totals,
                mean,
                scratch.has_rest,
            )
        if impurity <= 1e-12 * total:
            continue
        if random_test is not None and aside:
            tie = TIE * impurity
            value_side_by_side(
                tests.values,
                rows[start:end],
                scratch.weight,
                payload,
                rest,
                lay,
                totals,
                total,
                growth.min_samples_leaf,
                seeds[node],
                scratch.marks,
                scratch.aside,
                scratch.beside,
                scratch.order,
            )
            best, cut = best_side_by_side(
                tests, rows[start:end], tie, impurity - tie, seeds[node], scratch.aside, scratch.features
            )
            if best < 0:
                continue
            value, missing, inside = scratch.aside[VALUE, best], np.uint8(0), scratch.cand_subset[0]
        else:
            winner, n_tried = best_split(
                tests,
                rest,
                payload,
                rows[start:end],
                start,
                lay,
                total,
                impurity,
                n_candidates,
                random_test,
                growth.min_samples_leaf,
                seeds[node],
                scratch,
                bits,
            )
            best, cut = scratch.features[DRAWN, winner], scratch.cand_cut[winner]
            value, missing = scratch.cand_h[winner], scratch.cand_flag[MISSING_LEFT, winner]
            inside = scratch.cand_subset[winner]
            restore(n_tried, scratch.features)
            if winner < 0:
                continue
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
        nodes.feature[node] = best
        nodes.value[node] = value
        nodes.missing_left[node] = missing
        if tests.nominal[best] == 1:
            size = tests.n_codes[best]
            while n_subset + size > len(subset):
                grown = np.zeros(2 * len(subset), np.uint8)
                for v in range(n_subset):  # a slice assignment takes seconds to compile
                    grown[v] = subset[v]
                subset = grown
            nodes.subset_start[node] = n_subset
            for v in range(size):
                # Values not seen here follow the missing branch (Def. 1.3).
                subset[n_subset + v] = inside[v] if inside[v] < 2 else missing
            n_subset += size
        elif random_test is not None:
            nodes.threshold[node] = random_threshold(tests, best, low, high, seeds[node])
        else:
            first = tests.levels[tests.level_start[best] + below_cut]
            second = tests.levels[tests.level_start[best] + above_cut]
            middle = first / 2 + second / 2
            nodes.threshold[node] = middle if first <= middle < second else first
        nodes.left[node], nodes.right[node] = n_nodes, n_nodes + 1
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
    return n_nodes, subset[:n_subset].copy()
