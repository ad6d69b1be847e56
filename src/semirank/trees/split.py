"""The best test of a node (paper's Alg. 2, Def. 1.2, 1.3 and 1.9).

A row of the node becomes a *payload*: the numbers whose sums over a side decide the value of a split. Payload
of row i with weight v, centred on the node's means: v * z for the full columns; then, for the groups of
columns that have missing values, v * z, their counts and their sums of squares. Because the columns are
centred, the sums S of the two sides are opposite, and for the full columns
h = |S_left|^2 * n / (n_left * n_right). Everything else follows from the same sums (`rest_terms`).

The payloads of a side are summed along one of three paths, which agree up to rounding: row after row in value
order; into one sum per value, where a feature has few values; and by a matrix product of 0/1 rows with the
payloads, for tests of which a feature has only one (two values, extra trees).

Inner loops run from 0 over whole (views of) arrays: an index with an offset may be negative for all that the
compiler knows, and is then not vectorised. Functions take the arrays they need: handing on all work arrays
costs more than many of them do, and most of the time of compilation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, hot_inner, inlined, inner, kernel
from .random import below, draw, feature_seed, unit
from .sparse_binary import Found, sum_ones

# Values of h closer than this share of the node's impurity are equal: the first drawn wins (Def. 1.3).
TIE = 1e-9

# The float32 product is off by less than this share of the impurity; what is that close to the best is
# computed again in float64.
ROUGH = 1e-5

# 0/1 rows that go into one matrix product.
CHUNK = 128

# Nodes with fewer rows than this add rows instead of calling the matrix product, and can stop at a perfect
# test.
BATCH = 16

# Up to this many rows sorting is cheaper than counting values.
FEW_ROWS = 32

# Nodes of extra trees with at most this many rows evaluate all features side by side (`value_side_by_side`).
SIDE_BY_SIDE = 64

# Nominal features with more values than this in a node are ordered along an axis that AXIS_STEPS steps lead
# to: finding the longest one exactly takes the cube of their number.
MANY_VALUES = 32
AXIS_STEPS = 20

# Numeric features with more values than this in a node are scanned row by row, as are those whose sums per
# value have more than SUM_COST numbers for a row: sorting it costs no more than adding that many (measured).
MANY_BUCKETS = 512
SUM_COST = 32


class Scratch(NamedTuple):
    """Work arrays of one tree, so that nodes allocate nothing."""

    payload: np.ndarray  # flat, n_rows * width
    payload32: np.ndarray  # float32, the same for the matrix product
    sums: np.ndarray  # (4, width): totals over the node, means, left side, rows that miss the feature
    weight: np.ndarray  # weights of the node's rows
    has_rest: np.ndarray  # uint8 per row: anything beyond the full columns
    code: np.ndarray  # int32, codes of the candidate feature
    keys: np.ndarray  # int64 (2, n_rows)
    order: np.ndarray  # int64
    values: np.ndarray  # int64 (2, codes): rows per code; bucket of a code
    bucket: np.ndarray  # (values, width)
    bucket_weight: np.ndarray
    indicator: np.ndarray  # float32, flat, CHUNK * n_rows
    product: np.ndarray  # float32, flat, CHUNK * width
    pending: np.ndarray  # int64 (CHUNK,), candidates waiting for the matrix product
    pending_weight: np.ndarray  # (CHUNK,), weight of the rows with a 1
    features: (
        np.ndarray
    )  # int64 (4, D): permutation, swaps, and rows of the last node where constant (from, to)
    cand_h: np.ndarray  # (D,)
    cand_cut: np.ndarray  # int64 (D,): last code on the left
    cand_flag: np.ndarray  # uint8 (2, D): missing goes left; h comes from the float32 product
    cand_subset: np.ndarray  # uint8 (D, nominal values): 1 left, 0 right, 2 not seen
    means: np.ndarray  # (nominal values, width): work of `order_values`
    lines: np.ndarray  # (2, the larger of both): the same
    axes: np.ndarray | None  # (2, MANY_VALUES, MANY_VALUES): the same; None where no tree orders values
    marks: np.ndarray  # (SIDE_BY_SIDE, D): 0/1 rows of all features
    aside: np.ndarray  # (8, D): work of `value_side_by_side`, a number per feature
    beside: np.ndarray  # (2, SIDE_BY_SIDE + 4): the same, a number per row
    found: Found | None  # the ones of a node, where features are sparse


class Layout(NamedTuple):
    """Where the parts of a payload begin; `full` is the number of full columns in use."""

    full: int
    known: int  # weights of the rows that know each group, behind the groups' columns
    squares: int
    width: int


class Rest(NamedTuple):
    """The columns with holes (Def. 1.2, missing_weight)."""

    start: np.ndarray
    n_single: int  # groups of one column; they come first
    factor: np.ndarray
    by_known: bool


# Rows of Scratch.sums, Scratch.values, Scratch.features and Scratch.cand_flag.
TOTALS, MEAN, LEFT, MISS = 0, 1, 2, 3
TALLY, SLOT = 0, 1
DRAWN, SWAP, CONSTANT_FROM, CONSTANT_TO = 0, 1, 2, 3
MISSING_LEFT, ROUGHLY = 0, 1
VALUE, CUT, LEFT_WEIGHT, LOWEST, PARTIAL, SQUARE, KNOWN_LEFT, SQUARES_LEFT = 0, 1, 2, 3, 4, 5, 6, 7


@inner
def layout_of(full, space, with_rest):
    if not with_rest:
        return Layout(full, full, full, full)
    count = full + space.group.shape[1]
    square = count + space.group_known.shape[1]
    return Layout(full, count, square, square + space.group_known.shape[1])


@fast_inner
def fill_full(base, at, rows, weight, full, payload, mean, node_weight):
    """Centred payloads of the full columns: (weight of the node, n * imp of these columns)."""
    n = len(rows)
    total = 0.0
    for i in range(n):
        node_weight[i] = weight[rows[i]]
        total += weight[rows[i]]
    for c in range(full):
        mean[c] = 0.0
    for i in range(0, n, 2):  # two rows at a time: half as many reads and writes of the means
        v, a = node_weight[i], at[i]
        u, b = (node_weight[i + 1], at[i + 1]) if i + 1 < n else (0.0, a)
        for c in range(full):
            mean[c] += v * base[a, c] + u * base[b, c]
    for c in range(full):
        mean[c] /= total
    impurity = 0.0
    for i in range(n):
        v, a = node_weight[i], at[i]
        square = 0.0
        for c in range(full):
            z = base[a, c] - mean[c]
            payload[i, c] = v * z
            square += z * z
        impurity += v * square
    return total, impurity


@fast_inner
def fill_groups(
    group, known, start, factor, by_known, rows, node_weight, lay, total, payload, totals, mean, has_rest
):
    """Payloads of the columns with holes, centred on the rows that know them; returns their n * imp."""
    n = len(rows)
    for c in range(lay.width):
        totals[c] = 0.0
    means = mean[lay.full :]
    counts, squares = totals[lay.known :], totals[lay.squares :]
    for c in range(group.shape[1]):
        means[c] = 0.0
    for i in range(n):
        v, r = node_weight[i], rows[i]
        for g in range(known.shape[1]):
            if known[r, g] > 0:
                counts[g] += v
                for c in range(start[g], start[g + 1]):
                    means[c] += v * group[r, c]
    for g in range(known.shape[1]):
        for c in range(start[g], start[g + 1]):
            means[c] /= max(counts[g], 1.0)
    for i in range(n):
        v, r = node_weight[i], rows[i]
        row = payload[i, lay.full :]
        row_count, row_square = payload[i, lay.known :], payload[i, lay.squares :]
        for c in range(lay.width - lay.full):
            row[c] = 0.0
        any_known = False
        for g in range(known.shape[1]):
            if known[r, g] > 0:
                any_known = True
                square = 0.0
                for c in range(start[g], start[g + 1]):
                    z = group[r, c] - means[c]
                    row[c] = v * z
                    square += z * z
                row_count[g] = v
                row_square[g] = v * square
                squares[g] += v * square
        has_rest[i] = any_known
    impurity = 0.0
    for g in range(known.shape[1]):
        if counts[g] > 0:
            impurity += squares[g] * (factor[g] if by_known else total / counts[g])
    return impurity


@hot_inner
def group_terms(square, k_left, k_right, q_left, k, q, factor, by_known, total):
    """(constant, left, right) of one group, from |S|^2 and the left side's weight and sum of squares."""
    if by_known:
        if k_left > 0 and k_right > 0:
            return factor * square * (1.0 / k_left + 1.0 / k_right), 0.0, 0.0
        return 0.0, 0.0, 0.0
    # A side that never knows the group inherits the node's impurity.
    own = q / k
    left = (q_left - square / k_left) / k_left if k_left > 0 else own
    right = (q - q_left - square / k_right) / k_right if k_right > 0 else own
    return total * own, left, right


@fast_inner
def rest_terms(run, miss, share, rest, lay, totals, total):
    """Columns with holes, for a left side with sums run + share * miss.

    Returns (constant, left, right) of h_rest = constant - n_left * left - n_right * right.
    """
    constant, left, right = 0.0, 0.0, 0.0
    columns, miss_columns = run[lay.full :], miss[lay.full :]
    counts, squares = totals[lay.known :], totals[lay.squares :]
    run_k, miss_k = run[lay.known :], miss[lay.known :]
    run_q, miss_q = run[lay.squares :], miss[lay.squares :]
    first = 0
    if not rest.by_known:
        # Columns with holes of their own, as measured expressions have: without branches, several at a time.
        first = rest.n_single
        for g in range(first):
            k, q = counts[g], squares[g]
            kl = run_k[g] + share * miss_k[g]
            kr = k - kl
            s = columns[g] + share * miss_columns[g]
            ql = run_q[g] + share * miss_q[g]
            own = q / k if k > 0 else 0.0
            constant += total * own
            left += (ql - s * s / kl) / kl if kl > 0 else own
            right += (q - ql - s * s / kr) / kr if kr > 0 else own
    for g in range(first, len(rest.start) - 1):
        k, q = counts[g], squares[g]
        if k == 0:
            continue
        kl = run_k[g] + share * miss_k[g]
        kr = k - kl
        square = 0.0
        for c in range(rest.start[g], rest.start[g + 1]):
            s = columns[c] + share * miss_columns[c]
            square += s * s
        ql = run_q[g] + share * miss_q[g]
        own, own_left, own_right = group_terms(square, kl, kr, ql, k, q, rest.factor[g], rest.by_known, total)
        constant += own
        left += own_left
        right += own_right
    return constant, left, right


@hot_inner
def terms_without_missing(run, miss, rest, lay, totals, total):
    """`rest_terms` where no row misses the tested feature; the usual single group without a call."""
    if len(rest.start) != 2:
        return rest_terms(run, miss, 0.0, rest, lay, totals, total)
    k, q, k_left = totals[lay.known], totals[lay.squares], run[lay.known]
    if k == 0:
        return 0.0, 0.0, 0.0
    columns = run[lay.full : lay.known]
    square = 0.0
    for c in range(lay.known - lay.full):
        square += columns[c] * columns[c]
    return group_terms(
        square, k_left, k - k_left, run[lay.squares], k, q, rest.factor[0], rest.by_known, total
    )


@fast_inner
def consider(run, miss, n_left, n_miss, best, tie, rest, lay, totals, total, min_leaf):
    """The better place for rows that miss the tested feature: (h, goes left); h = best if none beats it."""
    best_h, best_side = best, np.uint8(0)
    for right in range(2):
        share = 1.0 - right
        if n_miss == 0 and right == 0:
            continue
        left_weight = n_left + share * n_miss
        right_weight = total - left_weight
        if left_weight < min_leaf or right_weight < min_leaf:
            continue
        square = 0.0
        if n_miss == 0:
            for c in range(lay.full):
                square += run[c] * run[c]
        else:
            for c in range(lay.full):
                s = run[c] + share * miss[c]
                square += s * s
        h = square * total / (left_weight * right_weight)
        if lay.width > lay.full:
            constant, left, right_ = rest_terms(run, miss, share, rest, lay, totals, total)
            h += constant - left_weight * left - right_weight * right_
        if h > best_h + tie:
            best_h, best_side = h, np.uint8(1 - right)
    return best_h, best_side


@hot_inner
def plain_value(run, n_left, full, total, min_leaf):
    """h where nothing is missing, or 0 where a side is too small."""
    if n_left < min_leaf or total - n_left < min_leaf:
        return 0.0
    square = 0.0
    for c in range(full):
        square += run[c] * run[c]
    return square * total / (n_left * (total - n_left))


@inner
def sort_by_code(code, n, low, high, keys, order, tally):
    """Positions of the rows with a known code, by code, ties by position; returns how many there are."""
    source, sink = keys[0], keys[1]
    known = 0
    shift = np.int64(32)
    for i in range(n):
        if code[i] >= 0:
            source[known] = ((np.int64(code[i]) - low) << shift) | i
            known += 1
    if known <= 40:
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
                tally[b] = 0
            for a in range(known):
                tally[((source[a] >> (shift + bits)) & 255) + 1] += 1
            for b in range(256):
                tally[b + 1] += tally[b]
            for a in range(known):
                digit = (source[a] >> (shift + bits)) & 255
                sink[tally[digit]] = source[a]
                tally[digit] += 1
            source, sink = sink, source
            bits += 8
    for a in range(known):
        order[a] = source[a] & np.int64(0xFFFFFFFF)
    return known


@fast_inner
def scan_rows(payload, code, order, weight, has_rest, known, n_miss, rest, lay, sums, total, tie, min_leaf):
    """Every boundary between neighbouring values, rows in value order: (h, code of the cut, missing left)."""
    run, totals, miss = sums[LEFT], sums[TOTALS], sums[MISS]
    with_rest = lay.width > lay.full
    run_rest = run[lay.full :]
    for c in range(lay.width):
        run[c] = 0.0
    constant, left, right = 0.0, 0.0, 0.0
    changed = with_rest
    best_h, best_cut, best_missing = 0.0, np.int64(-1), np.uint8(0)
    n_left = 0.0
    for a in range(known - 1):
        i = order[a]
        n_left += weight[i]
        square = 0.0
        for c in range(lay.full):
            s = run[c] + payload[i, c]
            run[c] = s
            square += s * s
        if with_rest and has_rest[i]:
            changed = True
            row = payload[i, lay.full :]
            for c in range(lay.width - lay.full):
                run_rest[c] += row[c]
        if code[order[a + 1]] == code[i]:
            continue
        if n_miss > 0:
            h, side = consider(run, miss, n_left, n_miss, best_h, tie, rest, lay, totals, total, min_leaf)
            if h > best_h:
                best_h, best_cut, best_missing = h, np.int64(code[i]), side
            continue
        n_right = total - n_left
        if n_left < min_leaf or n_right < min_leaf:
            continue
        h = square * total / (n_left * n_right)
        if with_rest:
            # The terms only move when a row that knows one of these columns changes sides.
            if changed:
                constant, left, right = terms_without_missing(run, miss, rest, lay, totals, total)
                changed = False
            h += constant - n_left * left - n_right * right
        if h > best_h + tie:
            best_h, best_cut = h, np.int64(code[i])
    return best_h, best_cut, best_missing


@inner
def index_values(code, n, low, high, values, order):
    """Count the rows of each code and number the codes present, in slot and `order`; returns how many."""
    tally, slot = values[TALLY], values[SLOT]
    for v in range(high - low + 1):
        tally[v] = 0
    for i in range(n):
        if code[i] >= 0:
            tally[code[i] - low] += 1
    present = np.int64(0)
    for v in range(high - low + 1):
        if tally[v] > 0:
            slot[v] = present
            order[present] = v + low
            present += 1
    return present


@fast_inner
def fill_buckets(
    payload, code, weight, n, low, values, order, n_values, n_miss, width, sums, bucket, bucket_weight
):
    """One payload sum per value. The most frequent value gets what the others leave, which saves its rows."""
    tally, slot = values[TALLY], values[SLOT]
    totals, miss = sums[TOTALS], sums[MISS]
    modal = 0
    for s in range(n_values):
        bucket_weight[s] = 0.0
        if tally[order[s] - low] > tally[order[modal] - low]:
            modal = s
        for c in range(width):
            bucket[s, c] = 0.0
    for i in range(n):
        if code[i] < 0:
            continue
        s = slot[code[i] - low]
        bucket_weight[s] += weight[i]
        if s != modal:
            for c in range(width):
                bucket[s, c] += payload[i, c]
    for c in range(width):
        bucket[modal, c] = totals[c]
    if n_miss > 0:
        for c in range(width):
            bucket[modal, c] -= miss[c]
    for s in range(n_values):
        if s != modal:
            for c in range(width):
                bucket[modal, c] -= bucket[s, c]


@fast_inner
def scan_buckets(
    n_values, low, slot, order, bucket, bucket_weight, n_miss, rest, lay, sums, total, tie, min_leaf
):
    """Every boundary in the order of values in `order`: (h, position of the cut in it, missing left)."""
    run = sums[LEFT]
    for c in range(lay.width):
        run[c] = 0.0
    best_h, best_cut, best_missing = 0.0, np.int64(-1), np.uint8(0)
    n_left = 0.0
    for a in range(n_values - 1):
        s = slot[order[a] - low]
        n_left += bucket_weight[s]
        for c in range(lay.width):
            run[c] += bucket[s, c]
        if n_miss == 0:
            h = plain_value(run, n_left, lay.full, total, min_leaf)
            if lay.width > lay.full and n_left >= min_leaf and total - n_left >= min_leaf:
                constant, left, right = terms_without_missing(run, sums[MISS], rest, lay, sums[TOTALS], total)
                h += constant - n_left * left - (total - n_left) * right
            if h > best_h + tie:
                best_h, best_cut = h, np.int64(a)
            continue
        h, side = consider(
            run, sums[MISS], n_left, n_miss, best_h, tie, rest, lay, sums[TOTALS], total, min_leaf
        )
        if h > best_h:
            best_h, best_cut, best_missing = h, np.int64(a), side
    return best_h, best_cut, best_missing


@fast_inner
def principal(gram, vectors, n):
    """Index of the largest eigenvalue of gram[:n, :n], whose vector is in `vectors` (cyclic Jacobi)."""
    for a in range(n):
        for b in range(n):
            vectors[a, b] = 1.0 if a == b else 0.0
    for _ in range(30):
        off, diagonal = 0.0, 0.0
        for a in range(n):
            diagonal += gram[a, a] * gram[a, a]
            for b in range(a):
                off += gram[a, b] * gram[a, b]
        if off <= 1e-30 * diagonal:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if gram[p, q] == 0.0:
                    continue
                theta = (gram[q, q] - gram[p, p]) / (2.0 * gram[p, q])
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0:
                    t = -t
                cosine = 1.0 / np.sqrt(t * t + 1.0)
                sine = t * cosine
                for r in range(n):
                    x, y = gram[p, r], gram[q, r]
                    gram[p, r] = cosine * x - sine * y
                    gram[q, r] = sine * x + cosine * y
                for r in range(n):
                    x, y = gram[r, p], gram[r, q]
                    gram[r, p] = cosine * x - sine * y
                    gram[r, q] = sine * x + cosine * y
                    x, y = vectors[r, p], vectors[r, q]
                    vectors[r, p] = cosine * x - sine * y
                    vectors[r, q] = sine * x + cosine * y
    best = 0
    for a in range(1, n):
        if gram[a, a] > gram[best, best]:
            best = a
    return best


@fast_inner
def walk_to_axis(means, n, width, axis, next_axis):
    """Power iteration towards the longest axis of many values, from the one farthest out; its square."""
    far, farthest = 0, -1.0
    for a in range(n):
        square = 0.0
        for c in range(width):
            square += means[a, c] * means[a, c]
        if square > (1.0 + TIE) * farthest:
            far, farthest = a, square
    for c in range(width):
        axis[c] = means[far, c]
    for _ in range(AXIS_STEPS if farthest > 0.0 else 0):
        for c in range(width):
            next_axis[c] = 0.0
        for a in range(n):
            product = 0.0
            for c in range(width):
                product += means[a, c] * axis[c]
            for c in range(width):
                next_axis[c] += product * means[a, c]
        square = 0.0
        for c in range(width):
            square += next_axis[c] * next_axis[c]
        for c in range(width):
            axis[c] = next_axis[c] / np.sqrt(square)
    return farthest


@fast_inner
def axis_product(gram, vectors, first, a, b, n):
    """Inner product of two values' coordinates on the longest axis, or axes if several are equally long."""
    product = 0.0
    for e in range(n):
        if gram[e, e] >= (1.0 - TIE) * gram[first, first]:
            product += vectors[a, e] * vectors[b, e]
    return product


@fast_inner
def order_values(n_values, low, slot, order, bucket, weight, start, lay, centre, means, lines, axes):
    """Sort nominal values by their mean vector along its first principal direction (Def. 1.3)."""
    if axes is None:  # no feature needs it, and the compiler leaves it out
        return
    gram, vectors = axes[0], axes[1]
    direction, next_axis = lines[0], lines[1]
    mass = 0.0
    for c in range(lay.known):
        centre[c] = 0.0
    for a in range(n_values):
        v = slot[order[a] - low]
        mass += weight[v]
        for c in range(lay.full):
            means[a, c] = bucket[v, c] / weight[v]
        row, counts, mean = bucket[v, lay.full :], bucket[v, lay.known :], means[a, lay.full :]
        for g in range(len(start) - 1 if lay.known > lay.full else 0):
            for c in range(start[g], start[g + 1]):
                mean[c] = row[c] / counts[g] if counts[g] > 0 else 0.0
        for c in range(lay.known):
            centre[c] += weight[v] * means[a, c]
    for a in range(n_values):
        direction[a] = np.sqrt(weight[slot[order[a] - low]])
        for c in range(lay.known):
            means[a, c] = direction[a] * (means[a, c] - centre[c] / mass)
    if n_values > MANY_VALUES:
        if walk_to_axis(means, n_values, lay.known, centre, next_axis) <= 1e-12 * mass:
            return  # all means are equal
        for a in range(n_values):
            product = 0.0
            for c in range(lay.known):
                product += means[a, c] * centre[c]
            direction[a] = product / direction[a]
    else:
        for a in range(n_values):
            for b in range(a + 1):
                s = 0.0
                for c in range(lay.known):
                    s += means[a, c] * means[b, c]
                gram[a, b] = s
                gram[b, a] = s
        # gram = V diag V': a value's coordinate on an axis is its entry of V over the root of its weight.
        first = principal(gram, vectors, n_values)
        if gram[first, first] <= 1e-12 * mass:
            return  # all means are equal
        for a in range(n_values):
            for b in range(n_values):
                vectors[a, b] /= direction[a]
        # One axis, as a rule. Where several are equally long, the mean of the lowest code points the way.
        largest = 0.0
        for a in range(n_values):
            direction[a] = axis_product(gram, vectors, first, a, a, n_values)
            largest = max(largest, direction[a])
        lowest = 0
        while direction[lowest] <= TIE * TIE * largest:
            lowest += 1
        for a in range(n_values):
            direction[a] = axis_product(gram, vectors, first, a, lowest, n_values)
    largest = 0.0
    for a in range(n_values):
        largest = max(largest, abs(direction[a]))
    # The side of the lowest code is the negative one.
    lowest = 0
    while abs(direction[lowest]) <= TIE * largest:
        lowest += 1
    scale = -1e9 / largest if direction[lowest] > 0 else 1e9 / largest
    for a in range(n_values):
        # Rounded, so that values with the same mean keep the order of their codes.
        direction[a] = np.floor(direction[a] * scale + 0.5)
    for a in range(1, n_values):
        key, value = direction[a], order[a]
        b = a - 1
        while b >= 0 and direction[b] > key:
            direction[b + 1] = direction[b]
            order[b + 1] = order[b]
            b -= 1
        direction[b + 1] = key
        order[b + 1] = value


@inner
def random_threshold(tests, feature, low, high, seed):
    """A threshold uniform in [min, max) of the node (extra trees)."""
    start = tests.level_start[feature]
    return between(tests.levels[start + low], tests.levels[start + high], feature, seed)


@inner
def between(lowest, highest, feature, seed):
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


@inner
def random_subset(feature, seed, count, low, high, inside):
    """A random proper subset of the values present (count > 0), written to `inside` (extra trees)."""
    stream = feature_seed(seed, feature)
    for attempt in range(64):
        taken, left_out = 0, 0
        for v in range(low, high + 1):
            if count[v - low] > 0:
                inside[v - low] = np.int64(draw(stream, attempt * (high + 1) + v) >> np.uint64(63))
                taken += inside[v - low]
                left_out += 1 - inside[v - low]
            else:
                inside[v - low] = 0
        if taken > 0 and left_out > 0:
            return
    for v in range(low, high + 1):
        inside[v - low] = np.int64(v == low)


@fast_inner
def sum_missing(payload, code, n, width, miss):
    """The payload sum of the rows that miss the feature."""
    for c in range(width):
        miss[c] = 0.0
    for i in range(n):
        if code[i] < 0:
            for c in range(width):
                miss[c] += payload[i, c]


@hot_inner
def read_codes(tests, feature, rows, weight, code):
    """Codes of the node's rows: (lowest, highest, weight of the rows that miss the feature)."""
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


@inner
def mark_subset(feature, code, n, low, high, seed, values, inside, subset, mark):
    """The 0/1 row of a random subset of a nominal feature's values (extra trees)."""
    tally = values[TALLY]
    index_values(code, n, low, high, values, inside)
    random_subset(feature, seed, tally, low, high, inside)
    for v in range(low, high + 1):
        if tally[v - low] > 0:
            subset[v] = inside[v - low]
    for i in range(n):
        mark[i] = 1.0 if code[i] >= 0 and inside[code[i] - low] == 1 else 0.0


@hot_inner
def split_pair(n_codes, low, high, subset):
    """The only test of two nominal values: the lower code goes left."""
    for v in range(n_codes):
        subset[v] = 2
    subset[low] = 1
    subset[high] = 0


@hot_inner
def mark_left(tests, feature, n, low, high, random_test, seed, mark, j, scratch):
    """Write the 0/1 row of a feature's only test; returns the weight of the rows on its left."""
    code = scratch.code
    cut = np.int32(low)
    nominal = tests.nominal[feature] == 1
    if nominal:
        split_pair(tests.n_codes[feature], low, high, scratch.cand_subset[j])
    if random_test is not None and nominal and high > low + 1:
        subset = scratch.cand_subset[j]
        mark_subset(feature, code, n, low, high, seed, scratch.values, scratch.order, subset, mark)
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
    scratch.cand_cut[j] = cut
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
def value_marked(payload, mark, code, n, n_left, n_miss, rest, lay, sums, total, tie, min_leaf):
    """One 0/1 test, by adding its rows: (h, missing left)."""
    run = sums[LEFT]
    sum_marked(payload, mark, n, lay.width, run)
    if n_miss > 0:
        sum_missing(payload, code, n, lay.width, sums[MISS])
    return consider(run, sums[MISS], n_left, n_miss, 0.0, tie, rest, lay, sums[TOTALS], total, min_leaf)


@kernel
def multiply_marks(payload, indicator, product, n_pending):
    """The sums of all waiting 0/1 rows by one matrix product: (tests x rows) times (rows x payload)."""
    n, width = payload.shape
    left = indicator[: n_pending * n].reshape(n_pending, n)
    out = product[: n_pending * width].reshape(n_pending, width)
    np.dot(left, payload, out)


@fast_inner
def value_products(
    n_pending, pending, pending_weight, product, rest, lay, sums, total, tie, min_leaf, cand_h, cand_flag
):
    """Rough h of all waiting 0/1 tests from the product."""
    width = lay.width
    for b in range(n_pending):
        j = pending[b]
        if j < 0:
            continue
        n_miss = 0.0
        row, run, miss = product[b * width : (b + 1) * width], sums[LEFT], sums[MISS]
        for c in range(width):
            run[c] = row[c]
        if b + 1 < n_pending and pending[b + 1] < 0:
            n_miss = pending_weight[b + 1]
            row = product[(b + 1) * width : (b + 2) * width]
            for c in range(width):
                miss[c] = row[c]
        cand_flag[ROUGHLY, j] = 1
        cand_h[j], cand_flag[MISSING_LEFT, j] = consider(
            run, miss, pending_weight[b], n_miss, 0.0, tie, rest, lay, sums[TOTALS], total, min_leaf
        )


@fast_inner
def round_payload(payload, single):
    for i in range(payload.shape[0]):
        for c in range(payload.shape[1]):
            single[i, c] = payload[i, c]


@inlined
def value_of_values(
    tests, feature, payload, n, low, high, n_miss, rest, lay, total, tie, min_leaf, j, scratch
):
    """The best of a feature's tests, by one sum per value or by rows in value order."""
    code, order, slot = scratch.code, scratch.order, scratch.values[SLOT]
    nominal = tests.nominal[feature] == 1
    by_value = nominal
    n_values = np.int64(0)
    if n_miss > 0:
        sum_missing(payload, code, n, lay.width, scratch.sums[MISS])
    if nominal or (n > FEW_ROWS and high - low <= 4 * n + 64):
        n_values = index_values(code, n, low, high, scratch.values, order)
        few = 2 * n_values <= n and n_values <= MANY_BUCKETS
        by_value = nominal or (few and n_values * lay.width <= SUM_COST * n)
    if by_value:
        fill_buckets(
            payload,
            code,
            scratch.weight,
            n,
            low,
            scratch.values,
            order,
            n_values,
            n_miss,
            lay.width,
            scratch.sums,
            scratch.bucket,
            scratch.bucket_weight,
        )
        if nominal and n_values > 2:
            order_values(
                n_values,
                low,
                slot,
                order,
                scratch.bucket,
                scratch.bucket_weight,
                rest.start,
                lay,
                scratch.sums[LEFT],
                scratch.means,
                scratch.lines,
                scratch.axes,
            )
        h, position, side = scan_buckets(
            n_values,
            low,
            slot,
            order,
            scratch.bucket,
            scratch.bucket_weight,
            n_miss,
            rest,
            lay,
            scratch.sums,
            total,
            tie,
            min_leaf,
        )
        scratch.cand_h[j] = h
        scratch.cand_flag[MISSING_LEFT, j] = side
        scratch.cand_cut[j] = order[max(position, 0)]
        if nominal:
            subset = scratch.cand_subset[j]
            for v in range(tests.n_codes[feature]):
                subset[v] = 2
            for a in range(n_values):
                subset[order[a]] = 1 if a <= position else 0
    else:
        known = sort_by_code(code, n, low, high, scratch.keys, order, scratch.values[TALLY])
        h, cut, side = scan_rows(
            payload,
            code,
            order,
            scratch.weight,
            scratch.has_rest,
            known,
            n_miss,
            rest,
            lay,
            scratch.sums,
            total,
            tie,
            min_leaf,
        )
        scratch.cand_h[j] = h
        scratch.cand_cut[j] = cut
        scratch.cand_flag[MISSING_LEFT, j] = side


@inlined
def next_candidate(j, n_features, seed, features):
    """Step j of a partial Fisher-Yates shuffle; `restore` undoes it, so only the seed decides."""
    swap = j + below(seed, j, n_features - j)
    feature = features[DRAWN, swap]
    features[DRAWN, swap] = features[DRAWN, j]
    features[DRAWN, j] = feature
    features[SWAP, j] = swap
    return feature


@inner
def restore(n_tried, features):
    for back in range(n_tried):
        j = n_tried - 1 - back
        swap = features[SWAP, j]
        other = features[DRAWN, swap]
        features[DRAWN, swap] = features[DRAWN, j]
        features[DRAWN, j] = other


@inner
def pick(n_tried, tie, cand_h):
    """The winner: the largest h, the first drawn among equals; -1 if none is above rounding."""
    best = -1
    best_h = 0.0
    for j in range(n_tried):
        if cand_h[j] > best_h + tie:
            best_h = cand_h[j]
            best = j
    return best


@fast_inner
def value_of_bit(column, bits, rows, weight, payload, rest, lay, sums, total, min_leaf, found):
    """h of the only test of a sparse feature: ones against the rest."""
    run = sums[LEFT]
    n_ones, square = sum_ones(column, bits, rows, weight, payload, lay.full, lay.width, run, found)
    n_rest = total - n_ones
    if n_ones < min_leaf or n_rest < min_leaf:
        return 0.0
    h = square * total / (n_ones * n_rest)
    if lay.width > lay.full:
        constant, one, zero = terms_without_missing(run, sums[MISS], rest, lay, sums[TOTALS], total)
        h += constant - n_ones * one - n_rest * zero
    return h


@fast_inner
def try_candidates(
    tests,
    rest,
    payload,
    rows,
    first,
    lay,
    total,
    tie,
    enough,
    j,
    most,
    batch,
    random_test,
    min_leaf,
    seed,
    useful,
    scratch,
    bits,
):
    """Draw and evaluate candidates from number j on; with `batch`, 0/1 tests are left waiting.

    Returns (number of the next candidate, useful candidates so far, 0/1 rows that wait, whether to stop).
    """
    n = len(rows)
    n_features = tests.codes.shape[0]
    features, code = scratch.features, scratch.code
    n_pending = 0
    stop = False
    while not stop and j < n_features and (j < most or useful == 0) and n_pending + 2 <= CHUNK:
        feature = next_candidate(j, n_features, seed, features)
        scratch.cand_h[j] = 0.0
        scratch.cand_flag[MISSING_LEFT, j] = 0
        scratch.cand_flag[ROUGHLY, j] = 0
        j += 1
        # Nodes are nested or disjoint: what is constant in a node is constant in all that lies inside it.
        if features[CONSTANT_FROM, feature] <= first and first + n <= features[CONSTANT_TO, feature]:
            continue
        if bits is not None and batch:
            column = bits.column_of[feature]
            start = scratch.found.start
            n_ones = start[column + 1] - start[column] if column >= 0 else np.int64(0)
            if n_ones == 0 or n_ones == n:
                features[CONSTANT_FROM, feature] = first
                features[CONSTANT_TO, feature] = first + n
                continue
            useful += 1
            scratch.cand_h[j - 1] = value_of_bit(
                column,
                bits,
                rows,
                scratch.weight,
                payload,
                rest,
                lay,
                scratch.sums,
                total,
                min_leaf,
                scratch.found,
            )
            scratch.cand_cut[j - 1] = bits.low[feature]
            if tests.nominal[feature] == 1:
                low = bits.low[feature]
                split_pair(tests.n_codes[feature], low, low + 1, scratch.cand_subset[j - 1])
            stop = scratch.cand_h[j - 1] >= enough
            continue
        low, high, n_miss = read_codes(tests, feature, rows, scratch.weight, code)
        if low >= high:
            features[CONSTANT_FROM, feature] = first
            features[CONSTANT_TO, feature] = first + n
            continue
        useful += 1
        if random_test is None and high > low + 1:
            value_of_values(
                tests, feature, payload, n, low, high, n_miss, rest, lay, total, tie, min_leaf, j - 1, scratch
            )
            stop = scratch.cand_h[j - 1] >= enough
            continue
        mark = scratch.indicator[n_pending * n : (n_pending + 1) * n]
        n_left = mark_left(tests, feature, n, low, high, random_test, seed, mark, j - 1, scratch)
        if not batch and n_miss == 0 and lay.width == lay.full:
            run = scratch.sums[LEFT]
            sum_marked(payload, mark, n, lay.full, run)
            scratch.cand_h[j - 1] = plain_value(run, n_left, lay.full, total, min_leaf)
            stop = scratch.cand_h[j - 1] >= enough
            continue
        if not batch:
            scratch.cand_h[j - 1], scratch.cand_flag[MISSING_LEFT, j - 1] = value_marked(
                payload, mark, code, n, n_left, n_miss, rest, lay, scratch.sums, total, tie, min_leaf
            )
            stop = scratch.cand_h[j - 1] >= enough
            continue
        scratch.pending[n_pending] = j - 1
        scratch.pending_weight[n_pending] = n_left
        n_pending += 1
        if n_miss > 0:
            mark = scratch.indicator[n_pending * n : (n_pending + 1) * n]
            for i in range(n):
                mark[i] = 1.0 if code[i] < 0 else 0.0
            scratch.pending[n_pending] = -1
            scratch.pending_weight[n_pending] = n_miss
            n_pending += 1
    return j, useful, n_pending, stop


@fast_inner
def settle(
    tests, rest, payload, rows, lay, total, impurity, tie, random_test, min_leaf, seed, n_tried, scratch
):
    """Replace the rough values of all 0/1 tests that may be the best by exact ones (Def. 1.3, ties)."""
    n = len(rows)
    best = 0.0
    for j in range(n_tried):
        best = max(best, scratch.cand_h[j])
    for j in range(n_tried):
        if scratch.cand_flag[ROUGHLY, j] and scratch.cand_h[j] >= best - ROUGH * impurity:
            feature = scratch.features[DRAWN, j]
            low, high, n_miss = read_codes(tests, feature, rows, scratch.weight, scratch.code)
            mark = scratch.indicator[:n]
            n_left = mark_left(tests, feature, n, low, high, random_test, seed, mark, j, scratch)
            scratch.cand_h[j], scratch.cand_flag[MISSING_LEFT, j] = value_marked(
                payload, mark, scratch.code, n, n_left, n_miss, rest, lay, scratch.sums, total, tie, min_leaf
            )


@fast_inner
def side_squares(payload, first, end, known, n, marks, gram, members, partial, out):
    """|S|^2 of the left side of every feature, over payload columns first..end - 1, added to `out`.

    It is m' K m, with m a 0/1 row and K the Gram matrix of the payloads. Only rows with known[i] > 0 count.
    Rows are taken several at a time, which saves reading and writing what they have in common.
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
    """The smallest and the largest value of every feature, as two of the four work arrays.

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


@fast_inner
def value_side_by_side(
    values, rows, weight, payload, rest, lay, totals, total, min_leaf, seed, marks, aside, beside, order
):
    """h of the random test of every feature of a small node, written to aside[VALUE].

    Features lie next to each other, so every step is taken for several of them at once.
    """
    n, d = len(rows), values.shape[1]
    h, cut, n_left, lowest = aside[VALUE], aside[CUT], aside[LEFT_WEIGHT], aside[LOWEST]
    known, gram = beside[0], beside[1]
    partial, square, k_left, q_left = aside[PARTIAL], aside[SQUARE], aside[KNOWN_LEFT], aside[SQUARES_LEFT]
    lowest, highest = span_of_values(values, rows, lowest, partial, square, k_left)
    for f in range(d):
        cut[f] = between(lowest[f], highest[f], f, seed)
    for f in range(d):
        square[f] = 0.0
        n_left[f] = 0.0
    for i in range(n):
        row, mark, v = values[rows[i]], marks[i], weight[i]
        for f in range(d):
            mark[f] = 1.0 if row[f] <= cut[f] else 0.0
            n_left[f] += v * mark[f]
    side_squares(payload, 0, lay.full, weight, n, marks, gram, order, partial, square)
    for f in range(d):
        n_right = total - n_left[f]
        h[f] = square[f] * total / (n_left[f] * n_right) if n_right > 0.0 else 0.0
    # The same terms as in `rest_terms`.
    for g in range(len(rest.start) - 1 if lay.width > lay.full else 0):
        k, q = totals[lay.known + g], totals[lay.squares + g]
        if k == 0:
            continue
        for f in range(d):
            square[f] = 0.0
            k_left[f] = 0.0
            q_left[f] = 0.0
        for i in range(n):
            known[i] = payload[i, lay.known + g]
            if known[i] > 0.0:
                mark, v, own = marks[i], known[i], payload[i, lay.squares + g]
                for f in range(d):
                    k_left[f] += v * mark[f]
                    q_left[f] += own * mark[f]
        first, end = lay.full + rest.start[g], lay.full + rest.start[g + 1]
        side_squares(payload, first, end, known, n, marks, gram, order, partial, square)
        if rest.by_known:
            for f in range(d):
                k_right = k - k_left[f]
                if k_left[f] > 0 and k_right > 0:
                    h[f] += rest.factor[g] * square[f] * (1.0 / k_left[f] + 1.0 / k_right)
        else:
            for f in range(d):
                k_right, q_right = k - k_left[f], q - q_left[f]
                left = (q_left[f] - square[f] / k_left[f]) / k_left[f] if k_left[f] > 0 else q / k
                right = (q_right - square[f] / k_right) / k_right if k_right > 0 else q / k
                h[f] += total * (q / k) - n_left[f] * left - (total - n_left[f]) * right
    for f in range(d):
        # A constant feature sends all rows to the left.
        if n_left[f] == total or n_left[f] < min_leaf or total - n_left[f] < min_leaf:
            h[f] = 0.0


@inner
def best_side_by_side(tests, rows, tie, enough, seed, aside, features):
    """The winner of `value_side_by_side`: (feature or -1, code of its cut)."""
    h = aside[VALUE]
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
        return np.int64(-1), np.int64(0)
    if close > 1:
        # The order of the draw decides among equals, as in `pick`.
        best_h = 0.0
        j = 0
        while j < d and best_h < enough:
            feature = next_candidate(j, d, seed, features)
            if h[feature] > best_h + tie:
                best_h = h[feature]
                best = feature
            j += 1
        restore(j, features)
    cut = np.int64(-1)
    for i in range(len(rows)):
        if tests.values[rows[i], best] <= aside[CUT, best]:
            cut = max(cut, np.int64(tests.codes_by_row[rows[i], best]))
    return np.int64(best), cut


@inlined
def best_split(
    tests,
    rest,
    payload,
    rows,
    first,
    lay,
    total,
    impurity,
    n_candidates,
    random_test,
    min_leaf,
    seed,
    scratch,
    bits,
):
    """Evaluate the candidates of a node; returns (number of the winner or -1, candidates tried).

    `first` is the node's place in the order of all rows. What is known of candidate j is in scratch:
    features[DRAWN, j], cand_h[j], cand_cut[j], cand_flag[MISSING_LEFT, j] and cand_subset[j]. Call `restore`
    when done.
    """
    n = len(rows)
    tie = TIE * impurity
    # Nothing is left after a split with h = n * imp(E), and no other test can do better.
    enough = impurity - tie
    batch = n >= BATCH
    rough = False
    j, useful = np.int64(0), np.int64(0)
    while True:
        j, useful, n_pending, stop = try_candidates(
            tests,
            rest,
            payload,
            rows,
            first,
            lay,
            total,
            tie,
            enough,
            j,
            n_candidates,
            batch,
            random_test,
            min_leaf,
            seed,
            useful,
            scratch,
            bits,
        )
        if n_pending > 0:
            single = scratch.payload32[: n * lay.width].reshape(n, lay.width)
            if not rough:
                round_payload(payload, single)
                rough = True
            multiply_marks(single, scratch.indicator, scratch.product, n_pending)
            value_products(
                n_pending,
                scratch.pending,
                scratch.pending_weight,
                scratch.product,
                rest,
                lay,
                scratch.sums,
                total,
                tie,
                min_leaf,
                scratch.cand_h,
                scratch.cand_flag,
            )
        if stop or j >= len(tests.n_codes) or (j >= n_candidates and useful > 0):
            break
    if rough:
        settle(tests, rest, payload, rows, lay, total, impurity, tie, random_test, min_leaf, seed, j, scratch)
    return pick(j, tie, scratch.cand_h), j
