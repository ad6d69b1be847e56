"""Growing one predictive clustering tree (paper's Alg. 1) and the tree as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import inlined, inner, kernel
from .candidates import BATCH, Node, best_candidate
from .columns import Space, Tests
from .nominal_tests import LEFT, UNSEEN
from .numeric_tests import random_threshold
from .payload import fill_full, fill_groups, layout_of, rotate
from .random import child_seed
from .scratch import Scratch, make_scratch
from .small_nodes import SMALL, best_side_by_side
from .sparse_binary import Bits, fill_others, find_ones
from .split_value import TIE, Criterion

# What a call of `rotate` costs at least, in the unit of one number of one row of one test.
ROTATE_COST = 15000

# Rotated coordinates are exact to rounding of their largest squared length; below this share of it a node
# would see the rounding in its ninth digit.
ROTATE_DIGITS = 1e-4

NO_CODE = 2147483647  # above all codes


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
    # Whether a node is split only where labelled rows differ; see `for_predictions` in `forest_supervision`.
    only_differing: bool = False


class Parts(NamedTuple):
    """The two sides of a node."""

    n_left: int
    weight_left: float
    weight_missing: float
    low: np.int64  # codes of a number in the node, and the two next to the cut
    high: np.int64
    below_cut: np.int64
    above_cut: np.int64


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


def grow_tree(
    tests: Tests,
    space: Space,
    weight: np.ndarray,
    target_id: np.ndarray,
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
    target_id : ndarray of shape (n_rows,), int64
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
    scratch = scratch or make_scratch(tests, space, growth.random_test, bits)
    scratch.drawn.constant_to[:] = -1
    seeds = np.zeros(capacity, np.uint64)
    seeds[0] = seed
    stack = np.empty((len(rows) + 1, 5), np.int64)
    places = np.stack([rows, rows, rows, rows])
    # None, not False: the compiler leaves out what the other kind of tree needs, a third of its work.
    random_test = True if growth.random_test else None
    n_nodes, subset = grow_nodes(
        tests, space, weight, target_id, growth, random_test, nodes, seeds, stack, places, scratch, bits
    )
    arrays = [array[:n_nodes].copy() for array in nodes]
    return Tree(*arrays)._replace(subset=subset)


@inlined
def push(stack, n_stack, node, start, end, depth, base):
    """Put a node on the stack of those to do: its rows are rows[start:end], its columns bases[base]."""
    stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = node, start, end
    stack[n_stack, 3], stack[n_stack, 4] = depth, base
    return n_stack + 1


@inlined
def pop(stack, top):
    """(node, start, end, depth, base) of the node on top."""
    return stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4]


@inner
def survey(rows, weight, target_id, knows, depth, growth):
    """(weight of the node, whether a row knows a column with holes, whether the node may be split)."""
    total, labeled = 0.0, 0.0
    last_id, differ = np.int64(-1), False
    with_groups = False
    for i in range(len(rows)):
        r = rows[i]
        total += weight[r]
        with_groups |= knows[r] == 1
        if target_id[r] >= 0:
            labeled += weight[r]
            if last_id >= 0 and target_id[r] != last_id:
                differ = True
            last_id = target_id[r]
    large = len(rows) >= 2 and depth < growth.max_depth and total >= 2 * growth.min_samples_leaf
    may_split = large and labeled >= growth.min_labeled and (differ or not growth.only_differing)
    return total, with_groups, may_split


@inlined
def change_base(space, bases, sizes, base, rows, at, impurity, n_candidates, may_rotate):
    """Better columns for the node, if any: a new last one of `bases`; returns the place of those to use."""
    n = len(rows)
    if impurity < ROTATE_DIGITS * sizes[base]:
        # What is left is too small against what the coordinates were made for: back to the data.
        bases.append(space.full)
        sizes.append(0.0)
        base = len(bases) - 1
        for i in range(n):
            at[i] = rows[i]
    # Worth it once the tests save more than the Gram matrix and its factor cost (measured).
    full = bases[base].shape[1]
    saved = n_candidates * n * (full - n) - ROTATE_COST - n * n * full - n * n * n
    if may_rotate and 2 * n < full and saved > 0:
        rotated, size = rotate(bases[base], at)
        bases.append(rotated)
        sizes.append(max(size, sizes[base]))
        base = len(bases) - 1
        for i in range(n):
            at[i] = i
    return base


@inlined
def payload_view(scratch, n, lay):
    """The payload of n rows, each of the width of the layout."""
    return scratch.payload[: n * lay.width].reshape(n, lay.width)


@inner
def partition(codes, nominal, cut, inside, missing_left, rows, at, spare_rows, spare_at, weight):
    """Reorder `rows` and `at`: first what goes left, then what goes right, each in its old order.

    codes[r] is the code of row r. On the left are the codes up to `cut`, or with inside[code] == LEFT, and
    with missing_left == 1 the rows without a code. The spare arrays have room for what goes right.
    """
    n_left, n_right = 0, 0
    weight_left, weight_missing = 0.0, 0.0
    low, high = np.int64(NO_CODE), np.int64(-1)
    below_cut, above_cut = np.int64(-1), np.int64(NO_CODE)
    for i in range(len(rows)):
        r = rows[i]
        code = np.int64(codes[r])
        if code < 0:
            goes_left = missing_left == 1
            weight_missing += weight[r]
        elif nominal:
            goes_left = inside[code] == LEFT
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
            rows[n_left] = r
            at[n_left] = at[i]
            n_left += 1
        else:
            spare_rows[n_right] = r
            spare_at[n_right] = at[i]
            n_right += 1
    for i in range(n_right):
        rows[n_left + i] = spare_rows[i]
        at[n_left + i] = spare_at[i]
    return Parts(n_left, weight_left, weight_missing, low, high, below_cut, above_cut)


@inlined
def threshold_between(tests, feature, below_cut, above_cut):
    """Midway between two neighbouring values."""
    low = tests.levels[tests.level_start[feature] + below_cut]
    high = tests.levels[tests.level_start[feature] + above_cut]
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


@inlined
def keep_subset(kept, n_kept, subset, size, missing_left):
    """Append the sides of `size` nominal values to `kept`, which may be replaced by a longer one."""
    while n_kept + size > len(kept):
        longer = np.zeros(2 * len(kept), np.uint8)
        for v in range(n_kept):  # a slice assignment takes seconds to compile
            longer[v] = kept[v]
        kept = longer
    for v in range(size):
        # Values not seen here follow the missing branch (Def. 1.3).
        kept[n_kept + v] = subset[v] if subset[v] != UNSEEN else missing_left
    return kept


@kernel
def grow_nodes(
    tests, space, weight, target_id, growth, random_test, nodes, seeds, stack, places, scratch, bits
):
    """Grow into `nodes`; returns (number of nodes, sides of the values of the nominal tests).

    Longer than other functions, since its steps share the work arrays, which cost too much to hand on (see
    `candidates`); steps that need few of them are functions of their own.

    A node's rows are rows[start:end]. Its full columns come from bases[base]: the data, or coordinates made
    for all rows or, by `rotate`, for a subtree; a row's place in its base is in `at`. `places` are rows, at,
    and spare room for both; `seeds` and `stack` have room for all nodes.
    """
    bases, sizes = [space.rotated], [space.size]
    rows, at = places[0], places[1]
    subset, n_subset = nodes.subset, 0
    # Taken out of `scratch` once, since here every access counts references.
    mean, totals, node_weight = scratch.sums.mean, scratch.sums.totals, scratch.weight
    subsets, knows = scratch.candidates.subset, scratch.knows_groups
    small_work, drawn = scratch.side_by_side, scratch.drawn
    n_features = len(tests.n_codes)
    n_candidates = min(growth.n_candidates, n_features)
    n_stack = push(stack, 0, 0, 0, len(rows), 0, 0)
    n_nodes = 1
    while n_stack > 0:
        n_stack -= 1
        node, start, end, depth, base = pop(stack, n_stack)
        while len(bases) > base + 1:
            bases.pop()
            sizes.pop()
        n, own_rows, own_at = end - start, rows[start:end], at[start:end]
        total, with_groups, may_split = survey(own_rows, weight, target_id, space.knows, depth, growth)
        nodes.weight[node] = total
        if not may_split:
            continue
        # Two rows are told apart by any feature that differs: the first drawn ends the search.
        small = random_test is not None and tests.plain and 2 < n <= SMALL and n_candidates == n_features
        by_ones = bits is not None and not small and n >= BATCH
        lay = layout_of(bases[base].shape[1], space, with_groups)
        payload = payload_view(scratch, n, lay)
        if bits is not None and by_ones:  # `by_ones` says it all, but the compiler needs to see the None
            ones, jump = scratch.ones, bits.jump
            total = find_ones(bits, own_rows, weight, node_weight, ones)
            impurity = fill_others(
                bases[base], own_at, node_weight, lay.full, total, jump, ones.share, payload, mean
            )
        else:
            total, impurity = fill_full(
                bases[base], own_at, own_rows, weight, lay.full, payload, mean, node_weight
            )
        may_rotate = not small and not by_ones
        better = change_base(space, bases, sizes, base, own_rows, own_at, impurity, n_candidates, may_rotate)
        if better != base:
            base = better
            lay = layout_of(bases[base].shape[1], space, with_groups)
            payload = payload_view(scratch, n, lay)
            total, impurity = fill_full(
                bases[base], own_at, own_rows, weight, lay.full, payload, mean, node_weight
            )
        impurity += fill_groups(space, own_rows, lay, total, payload, node_weight, totals, mean, knows)
        if impurity <= 1e-12 * total:
            continue
        min_leaf = growth.min_samples_leaf
        criterion = Criterion(lay, space.groups, totals, total, TIE * impurity, min_leaf)
        here = Node(own_rows, start, payload, criterion, impurity, seeds[node])
        if random_test is not None and small:
            feature, cut, value = best_side_by_side(tests, here, node_weight, small_work, drawn)
            winner, missing_left = feature, np.uint8(0)
            inside = subsets[0]
        else:
            winner, feature, cut, missing_left, value = best_candidate(
                tests, here, n_candidates, random_test, scratch, bits
            )
            inside = subsets[winner]
        if winner < 0:
            continue
        nominal = tests.nominal[feature] == 1
        parts = partition(
            tests.codes[feature],
            nominal,
            cut,
            inside,
            missing_left,
            own_rows,
            own_at,
            places[2],
            places[3],
            weight,
        )
        if parts.weight_missing == 0:
            missing_left = np.uint8(2 * parts.weight_left >= total)
        nodes.feature[node], nodes.value[node] = feature, value
        nodes.missing_left[node] = missing_left
        if nominal:
            nodes.subset_start[node] = n_subset
            subset = keep_subset(subset, n_subset, inside, tests.n_codes[feature], missing_left)
            n_subset += tests.n_codes[feature]
        elif random_test is not None:
            nodes.threshold[node] = random_threshold(tests, feature, parts.low, parts.high, seeds[node])
        else:
            nodes.threshold[node] = threshold_between(tests, feature, parts.below_cut, parts.above_cut)
        nodes.left[node], nodes.right[node] = n_nodes, n_nodes + 1
        seeds[n_nodes] = child_seed(seeds[node], 0)
        seeds[n_nodes + 1] = child_seed(seeds[node], 1)
        # The left child is done first.
        middle = start + parts.n_left
        n_stack = push(stack, n_stack, n_nodes + 1, middle, end, depth + 1, base)
        n_stack = push(stack, n_stack, n_nodes, start, middle, depth + 1, base)
        n_nodes += 2
    return n_nodes, subset[:n_subset].copy()
