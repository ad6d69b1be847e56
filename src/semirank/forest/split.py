"""The best test of a node (paper's Alg. 2, DESIGN 1.2, 1.3 and 4).

A row of the node becomes a *payload*: the numbers whose sums over a side decide the value of a split. Payload
of row i with weight v, centred on the node's means: v * z for the full columns; then, for the columns that
have missing values, v * z of the groups, their counts, their sums of squares, and the same three of the solo
columns. Because the columns are centred, the sums S of the two sides are opposite, and for the full columns h
= |S_left|^2 * n / (n_left * n_right). Everything else follows from the same sums (`rest_terms`).

The payloads of a side are summed along one of three paths, which agree up to rounding: row after row in value
order; into one sum per value, where a feature has few values; and by a matrix product of 0/1 rows with the
payloads, for tests of which a feature has only one (two values, extra trees).

Inner loops run from 0 over whole (views of) arrays: an index with an offset may be negative for all that the
compiler knows, and is then not vectorised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._kernel import fast_inner, hot_inner, inlined, inner, kernel
from .random import below, draw, feature_seed, unit

# Values of h closer than this share of the node's impurity are equal: the first drawn wins (DESIGN 1.3).
TIE = 1e-9

# The float32 product is off by less than this share of the impurity; what is that close to the best is
# computed again in float64.
ROUGH = 1e-5

# 0/1 rows that go into one matrix product.
CHUNK = 128

# Nodes with fewer rows than this add rows instead of calling the matrix product, and can stop at a perfect
# test.
BATCH = 24

# Up to this many rows sorting is cheaper than counting values.
FEW_ROWS = 32

# Numeric features with more values than this in a node are scanned row by row.
MANY_BUCKETS = 512


class Scratch(NamedTuple):
    """Work arrays of one tree, so that nodes allocate nothing."""

    payload: np.ndarray  # flat, n_rows * width
    payload32: np.ndarray  # float32, the same for the matrix product
    totals: np.ndarray  # sums of the payload over the node
    mean: np.ndarray
    has_rest: np.ndarray  # uint8 per row: anything beyond the full columns
    weight: np.ndarray  # weights of the node's rows
    code: np.ndarray  # int32, codes of the candidate feature
    order: np.ndarray  # int64
    keys: np.ndarray  # int64
    keys2: np.ndarray  # int64
    tally: np.ndarray  # int64, rows per code
    slot: np.ndarray  # int64, per code: its bucket
    bucket: np.ndarray  # (values, width)
    bucket_weight: np.ndarray
    run: np.ndarray
    miss: np.ndarray
    indicator: np.ndarray  # float32, flat, CHUNK * n_rows
    product: np.ndarray  # float32, flat, CHUNK * width
    features: np.ndarray  # int64, identity permutation, restored after every node
    swaps: np.ndarray  # int64
    cand_h: np.ndarray
    cand_cut: np.ndarray  # int64
    cand_missing: np.ndarray  # uint8
    cand_rough: np.ndarray  # uint8: h comes from the float32 product
    cand_subset: np.ndarray  # uint8 (candidates, nominal values): 1 left, 0 right, 2 not seen
    pending: np.ndarray  # int64 (CHUNK,), candidates waiting for the matrix product
    pending_weight: np.ndarray  # (CHUNK,), weight of the rows with a 1
    constant_from: np.ndarray  # int64 (D,), rows of the last node in which the feature was found constant
    constant_to: np.ndarray  # int64 (D,)
    means: np.ndarray  # (nominal values, width), for `order_values`
    gram: np.ndarray  # (nominal values, nominal values)
    vectors: np.ndarray  # (nominal values, nominal values)
    direction: np.ndarray  # (nominal values,)


class Layout(NamedTuple):
    """Where the parts of a payload begin; `full` is the number of full columns in use."""

    full: int
    group: int
    group_k: int
    group_q: int
    solo: int
    solo_k: int
    solo_q: int
    width: int


@inner
def layout_of(full, space):
    group = full
    group_k = group + space.group.shape[1]
    group_q = group_k + space.group_known.shape[1]
    solo = group_q + space.group_known.shape[1]
    solo_k = solo + space.solo.shape[1]
    solo_q = solo_k + space.solo.shape[1]
    return Layout(full, group, group_k, group_q, solo, solo_k, solo_q, solo_q + space.solo.shape[1])


@fast_inner
def fill_payload(base, at, rows, weight, space, lay, payload, scratch):
    """Write the centred payloads of a node; returns n * imp(E)."""
    n = len(rows)
    mean, totals = scratch.mean, scratch.totals
    total = 0.0
    for i in range(n):
        scratch.weight[i] = weight[rows[i]]
        total += weight[rows[i]]
    for c in range(lay.full):
        mean[c] = 0.0
    for i in range(n):
        v, a = weight[rows[i]], at[i]
        for c in range(lay.full):
            mean[c] += v * base[a, c]
    for c in range(lay.full):
        mean[c] /= total
    impurity = 0.0
    for i in range(n):
        v, a = weight[rows[i]], at[i]
        square = 0.0
        for c in range(lay.full):
            z = base[a, c] - mean[c]
            payload[i, c] = v * z
            square += z * z
        impurity += v * square
    for c in range(lay.width):
        totals[c] = 0.0
    if lay.width == lay.full:
        return total, impurity
    # Columns with holes: the mean over the rows that know them.
    n_groups = len(space.group_start) - 1
    for c in range(lay.full, lay.width):
        mean[c] = 0.0
    for i in range(n):
        v, r = weight[rows[i]], rows[i]
        for g in range(n_groups):
            if space.group_known[r, g] > 0:
                totals[lay.group_k + g] += v
                for c in range(space.group_start[g], space.group_start[g + 1]):
                    mean[lay.group + c] += v * space.group[r, c]
        for c in range(space.solo.shape[1]):
            totals[lay.solo_k + c] += v * space.solo_known[r, c]
            mean[lay.solo + c] += v * space.solo[r, c]
    for g in range(n_groups):
        for c in range(space.group_start[g], space.group_start[g + 1]):
            mean[lay.group + c] /= max(totals[lay.group_k + g], 1.0)
    for c in range(space.solo.shape[1]):
        mean[lay.solo + c] /= max(totals[lay.solo_k + c], 1.0)
    for i in range(n):
        v, r = weight[rows[i]], rows[i]
        for c in range(lay.full, lay.width):
            payload[i, c] = 0.0
        any_known = False
        for g in range(n_groups):
            if space.group_known[r, g] > 0:
                any_known = True
                square = 0.0
                for c in range(space.group_start[g], space.group_start[g + 1]):
                    z = space.group[r, c] - mean[lay.group + c]
                    payload[i, lay.group + c] = v * z
                    square += z * z
                payload[i, lay.group_k + g] = v
                payload[i, lay.group_q + g] = v * square
                totals[lay.group_q + g] += v * square
        for c in range(space.solo.shape[1]):
            if space.solo_known[r, c] > 0:
                any_known = True
                z = space.solo[r, c] - mean[lay.solo + c]
                payload[i, lay.solo + c] = v * z
                payload[i, lay.solo_k + c] = v
                payload[i, lay.solo_q + c] = v * z * z
                totals[lay.solo_q + c] += v * z * z
        scratch.has_rest[i] = any_known
    for g in range(n_groups):
        k, q = totals[lay.group_k + g], totals[lay.group_q + g]
        if k > 0:
            impurity += space.group_factor[g] * q if space.by_known else total / k * q
    for c in range(space.solo.shape[1]):
        k, q = totals[lay.solo_k + c], totals[lay.solo_q + c]
        if k > 0:
            impurity += space.solo_factor[c] * q if space.by_known else total / k * q
    return total, impurity


@fast_inner
def rest_terms(run, miss, share, space, lay, totals, total):
    """Columns with holes, for a left side with sums run + share * miss (DESIGN 1.2, missing_weight).

    Returns (constant, left, right) of h_rest = constant - n_left * left - n_right * right.
    """
    constant, left, right = 0.0, 0.0, 0.0
    for g in range(len(space.group_start) - 1):
        k = totals[lay.group_k + g]
        if k == 0:
            continue
        kl = run[lay.group_k + g] + share * miss[lay.group_k + g]
        kr = k - kl
        square = 0.0
        for c in range(lay.group + space.group_start[g], lay.group + space.group_start[g + 1]):
            s = run[c] + share * miss[c]
            square += s * s
        if space.by_known:
            if kl > 0 and kr > 0:
                constant += space.group_factor[g] * square * (1.0 / kl + 1.0 / kr)
            continue
        q = totals[lay.group_q + g]
        ql = run[lay.group_q + g] + share * miss[lay.group_q + g]
        constant += total * (q / k)
        left += (ql - square / kl) / kl if kl > 0 else q / k
        right += (q - ql - square / kr) / kr if kr > 0 else q / k
    run_s, run_k, run_q = run[lay.solo :], run[lay.solo_k :], run[lay.solo_q :]
    miss_s, miss_k, miss_q = miss[lay.solo :], miss[lay.solo_k :], miss[lay.solo_q :]
    total_k, total_q = totals[lay.solo_k :], totals[lay.solo_q :]
    for c in range(space.solo.shape[1]):
        k = total_k[c]
        kl = run_k[c] + share * miss_k[c]
        kr = k - kl
        s = run_s[c] + share * miss_s[c]
        inverse_l = 1.0 / kl if kl > 0 else 0.0
        inverse_r = 1.0 / kr if kr > 0 else 0.0
        if space.by_known:
            both = kl > 0 and kr > 0
            constant += space.solo_factor[c] * s * s * (inverse_l + inverse_r) if both else 0.0
        else:
            q = total_q[c]
            ql = run_q[c] + share * miss_q[c]
            node = q / k if k > 0 else 0.0
            constant += total * node
            left += (ql - s * s * inverse_l) * inverse_l if kl > 0 else node
            right += (q - ql - s * s * inverse_r) * inverse_r if kr > 0 else node
    return constant, left, right


@fast_inner
def consider(run, miss, n_left, n_miss, best, tie, space, lay, totals, total, min_leaf):
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
            constant, left, right_ = rest_terms(run, miss, share, space, lay, totals, total)
            h += constant - left_weight * left - right_weight * right_
        if h > best_h + tie:
            best_h, best_side = h, np.uint8(1 - right)
    return best_h, best_side


@hot_inner
def plain_value(run, n_left, lay, total, min_leaf):
    """h where nothing is missing, or 0 where a side is too small."""
    if n_left < min_leaf or total - n_left < min_leaf:
        return 0.0
    square = 0.0
    for c in range(lay.full):
        square += run[c] * run[c]
    return square * total / (n_left * (total - n_left))


@inner
def sort_by_code(n, low, high, scratch):
    """Positions of the rows with a known code, by code, ties by position; returns how many there are."""
    code, order, keys, keys2, count = scratch.code, scratch.order, scratch.keys, scratch.keys2, scratch.tally
    known = 0
    shift = np.int64(32)
    for i in range(n):
        if code[i] >= 0:
            keys[known] = ((np.int64(code[i]) - low) << shift) | i
            known += 1
    if known <= 40:
        for a in range(1, known):
            key = keys[a]
            b = a - 1
            while b >= 0 and keys[b] > key:
                keys[b + 1] = keys[b]
                b -= 1
            keys[b + 1] = key
        for a in range(known):
            order[a] = keys[a] & np.int64(0xFFFFFFFF)
        return known
    source, sink = keys, keys2
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
def scan_rows(payload, known, n_miss, space, lay, total, tie, min_leaf, scratch):
    """Every boundary between neighbouring values, rows in value order: (h, code of the cut, missing left)."""
    run, totals, miss, code, order = scratch.run, scratch.totals, scratch.miss, scratch.code, scratch.order
    rest = lay.width > lay.full
    run_rest = run[lay.full :]
    for c in range(lay.width):
        run[c] = 0.0
    constant, left, right = 0.0, 0.0, 0.0
    changed = rest
    best_h, best_cut, best_missing = 0.0, np.int64(-1), np.uint8(0)
    n_left = 0.0
    for a in range(known - 1):
        i = order[a]
        n_left += scratch.weight[i]
        square = 0.0
        for c in range(lay.full):
            s = run[c] + payload[i, c]
            run[c] = s
            square += s * s
        if rest and scratch.has_rest[i]:
            changed = True
            row = payload[i, lay.full :]
            for c in range(lay.width - lay.full):
                run_rest[c] += row[c]
        if code[order[a + 1]] == code[i]:
            continue
        if n_miss > 0:
            h, side = consider(run, miss, n_left, n_miss, best_h, tie, space, lay, totals, total, min_leaf)
            if h > best_h:
                best_h, best_cut, best_missing = h, code[i], side
            continue
        n_right = total - n_left
        if n_left < min_leaf or n_right < min_leaf:
            continue
        h = square * total / (n_left * n_right)
        if rest:
            # The terms only move when a row that knows one of these columns changes sides.
            if changed:
                constant, left, right = rest_terms(run, miss, 0.0, space, lay, totals, total)
                changed = False
            h += constant - n_left * left - n_right * right
        if h > best_h + tie:
            best_h, best_cut = h, code[i]
    return best_h, best_cut, best_missing


@fast_inner
def fill_buckets(payload, n, low, n_values, n_miss, lay, scratch):
    """One payload sum per value. The most frequent value gets what the others leave, which saves its rows."""
    bucket, bucket_weight, totals, slot = scratch.bucket, scratch.bucket_weight, scratch.totals, scratch.slot
    code = scratch.code
    width = lay.width
    modal = 0
    for s in range(n_values):
        bucket_weight[s] = 0.0
        if scratch.tally[scratch.order[s] - low] > scratch.tally[scratch.order[modal] - low]:
            modal = s
        for c in range(width):
            bucket[s, c] = 0.0
    for i in range(n):
        if code[i] < 0:
            continue
        s = slot[code[i] - low]
        bucket_weight[s] += scratch.weight[i]
        if s != modal:
            for c in range(width):
                bucket[s, c] += payload[i, c]
    for c in range(width):
        bucket[modal, c] = totals[c]
    if n_miss > 0:
        for c in range(width):
            bucket[modal, c] -= scratch.miss[c]
    for s in range(n_values):
        if s != modal:
            for c in range(width):
                bucket[modal, c] -= bucket[s, c]


@fast_inner
def scan_buckets(n_values, low, n_miss, space, lay, total, tie, min_leaf, scratch):
    """Every boundary in the order of values in `order`: (h, position of the cut in it, missing left)."""
    run, bucket, order = scratch.run, scratch.bucket, scratch.order
    for c in range(lay.width):
        run[c] = 0.0
    best_h, best_cut, best_missing = 0.0, np.int64(-1), np.uint8(0)
    n_left = 0.0
    for a in range(n_values - 1):
        s = scratch.slot[order[a] - low]
        n_left += scratch.bucket_weight[s]
        for c in range(lay.width):
            run[c] += bucket[s, c]
        if n_miss == 0 and lay.width == lay.full:
            h = plain_value(run, n_left, lay, total, min_leaf)
            if h > best_h + tie:
                best_h, best_cut = h, np.int64(a)
            continue
        h, side = consider(
            run, scratch.miss, n_left, n_miss, best_h, tie, space, lay, scratch.totals, total, min_leaf
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
def order_values(n_values, low, space, lay, scratch):
    """Sort nominal values by their mean vector along its first principal direction (DESIGN 1.3)."""
    bucket, weight, order = scratch.bucket, scratch.bucket_weight, scratch.order
    means, gram, direction = scratch.means, scratch.gram, scratch.direction
    n_groups = len(space.group_start) - 1
    n_solo = space.solo.shape[1]
    size = lay.full + space.group.shape[1] + n_solo
    mass = 0.0
    for c in range(size):
        scratch.run[c] = 0.0
    for a in range(n_values):
        v = scratch.slot[order[a] - low]
        mass += weight[v]
        for c in range(lay.full):
            means[a, c] = bucket[v, c] / weight[v]
        for g in range(n_groups):
            k = bucket[v, lay.group_k + g]
            for c in range(space.group_start[g], space.group_start[g + 1]):
                means[a, lay.full + c] = bucket[v, lay.group + c] / k if k > 0 else 0.0
        for c in range(n_solo):
            k = bucket[v, lay.solo_k + c]
            means[a, size - n_solo + c] = bucket[v, lay.solo + c] / k if k > 0 else 0.0
        for c in range(size):
            scratch.run[c] += weight[v] * means[a, c]
    for a in range(n_values):
        direction[a] = np.sqrt(weight[scratch.slot[order[a] - low]])
        for c in range(size):
            means[a, c] = direction[a] * (means[a, c] - scratch.run[c] / mass)
    for a in range(n_values):
        for b in range(a + 1):
            s = 0.0
            for c in range(size):
                s += means[a, c] * means[b, c]
            gram[a, b] = s
            gram[b, a] = s
    # gram = V diag V': a value's projection is its entry of the first vector over the root of its weight.
    first = principal(gram, scratch.vectors, n_values)
    largest = 0.0
    for a in range(n_values):
        direction[a] = scratch.vectors[a, first] / direction[a]
        largest = max(largest, abs(direction[a]))
    sign = 0.0
    for a in range(n_values):
        # Rounded, so that values with the same mean keep the order of their codes.
        direction[a] = np.floor(direction[a] / largest * 1e9 + 0.5)
        if sign == 0.0 and direction[a] != 0.0:
            sign = -1.0 if direction[a] > 0 else 1.0
    for a in range(n_values):
        direction[a] *= sign
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
    u = unit(feature_seed(seed, feature), 0)
    lowest, highest = tests.levels[start + low], tests.levels[start + high]
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


@inner
def index_values(code, n, low, high, scratch):
    """Count the rows of each code and number the codes present, in `slot` and `order`; returns how many."""
    count = scratch.tally
    for v in range(high - low + 1):
        count[v] = 0
    for i in range(n):
        if code[i] >= 0:
            count[code[i] - low] += 1
    present = np.int64(0)
    for v in range(high - low + 1):
        if count[v] > 0:
            scratch.slot[v] = present
            scratch.order[present] = v + low
            present += 1
    return present


@fast_inner
def sum_missing(payload, code, n, width, miss):
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
def mark_subset(feature, n, low, high, seed, mark, j, scratch):
    """The 0/1 row of a random subset of a nominal feature's values (extra trees)."""
    code, inside = scratch.code, scratch.order
    index_values(code, n, low, high, scratch)
    random_subset(feature, seed, scratch.tally, low, high, inside)
    for v in range(low, high + 1):
        if scratch.tally[v - low] > 0:
            scratch.cand_subset[j, v] = inside[v - low]
    for i in range(n):
        mark[i] = 1.0 if code[i] >= 0 and inside[code[i] - low] == 1 else 0.0


@hot_inner
def mark_left(tests, feature, n, low, high, random_test, seed, mark, j, scratch):
    """Write the 0/1 row of a feature's only test; returns the weight of the rows on its left."""
    code = scratch.code
    cut = np.int32(low)
    nominal = tests.nominal[feature] == 1
    if nominal:
        for v in range(tests.n_codes[feature]):
            scratch.cand_subset[j, v] = 2
        scratch.cand_subset[j, low] = 1
        scratch.cand_subset[j, high] = 0
    if random_test and nominal and high > low + 1:
        mark_subset(feature, n, low, high, seed, mark, j, scratch)
    else:
        if random_test and not nominal:
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
    """The sum of the marked rows, by adding them."""
    for c in range(width):
        out[c] = 0.0
    for i in range(n):
        if mark[i] > 0:
            for c in range(width):
                out[c] += payload[i, c]


@fast_inner
def value_marked(payload, mark, missed, n, n_left, n_miss, space, lay, total, tie, min_leaf, j, scratch):
    """h of one 0/1 test, by adding its rows."""
    sum_marked(payload, mark, n, lay.width, scratch.run)
    if n_miss > 0:
        sum_marked(payload, missed, n, lay.width, scratch.miss)
    scratch.cand_h[j], scratch.cand_missing[j] = consider(
        scratch.run, scratch.miss, n_left, n_miss, 0.0, tie, space, lay, scratch.totals, total, min_leaf
    )


@kernel
def multiply_marks(payload, indicator, product, n_pending):
    """The sums of all waiting 0/1 rows by one matrix product: (tests x rows) times (rows x payload)."""
    n, width = payload.shape
    left = indicator[: n_pending * n].reshape(n_pending, n)
    out = product[: n_pending * width].reshape(n_pending, width)
    np.dot(left, payload, out)


@fast_inner
def value_products(n_pending, space, lay, total, tie, min_leaf, scratch):
    """Rough h of all waiting 0/1 tests from the product."""
    width = lay.width
    for b in range(n_pending):
        j = scratch.pending[b]
        if j < 0:
            continue
        n_miss = 0.0
        row = scratch.product[b * width : (b + 1) * width]
        for c in range(width):
            scratch.run[c] = row[c]
        if b + 1 < n_pending and scratch.pending[b + 1] < 0:
            n_miss = scratch.pending_weight[b + 1]
            row = scratch.product[(b + 1) * width : (b + 2) * width]
            for c in range(width):
                scratch.miss[c] = row[c]
        scratch.cand_rough[j] = 1
        scratch.cand_h[j], scratch.cand_missing[j] = consider(
            scratch.run,
            scratch.miss,
            scratch.pending_weight[b],
            n_miss,
            0.0,
            tie,
            space,
            lay,
            scratch.totals,
            total,
            min_leaf,
        )


@fast_inner
def settle(
    tests, space, payload, rows, lay, total, impurity, tie, random_test, min_leaf, seed, n_tried, scratch
):
    """Replace the rough values of all 0/1 tests that may be the best by exact ones (DESIGN 1.3, ties)."""
    n = len(rows)
    best = 0.0
    for j in range(n_tried):
        best = max(best, scratch.cand_h[j])
    for j in range(n_tried):
        if scratch.cand_rough[j] and scratch.cand_h[j] >= best - ROUGH * impurity:
            feature = scratch.features[j]
            low, high, n_miss = read_codes(tests, feature, rows, scratch.weight, scratch.code)
            mark, missed = scratch.indicator[:n], scratch.indicator[n : 2 * n]
            n_left = mark_left(tests, feature, n, low, high, random_test, seed, mark, j, scratch)
            for i in range(n):
                missed[i] = 1.0 if scratch.code[i] < 0 else 0.0
            value_marked(
                payload, mark, missed, n, n_left, n_miss, space, lay, total, tie, min_leaf, j, scratch
            )


@inlined
def value_of_values(
    tests, feature, payload, n, low, high, n_miss, space, lay, total, tie, min_leaf, j, scratch
):
    """The best of a feature's tests, by one sum per value or by rows in value order."""
    nominal = tests.nominal[feature] == 1
    if n_miss > 0:
        sum_missing(payload, scratch.code, n, lay.width, scratch.miss)
    if nominal or (n > FEW_ROWS and high - low <= 4 * n + 64):
        n_values = index_values(scratch.code, n, low, high, scratch)
        if nominal or (2 * n_values <= n and n_values <= MANY_BUCKETS):
            fill_buckets(payload, n, low, n_values, n_miss, lay, scratch)
            if nominal and n_values > 2:
                order_values(n_values, low, space, lay, scratch)
            h, position, side = scan_buckets(n_values, low, n_miss, space, lay, total, tie, min_leaf, scratch)
            scratch.cand_h[j] = h
            scratch.cand_missing[j] = side
            scratch.cand_cut[j] = scratch.order[max(position, 0)]
            if nominal:
                for v in range(tests.n_codes[feature]):
                    scratch.cand_subset[j, v] = 2
                for a in range(n_values):
                    scratch.cand_subset[j, scratch.order[a]] = 1 if a <= position else 0
            return
    known = sort_by_code(n, low, high, scratch)
    scratch.cand_h[j], scratch.cand_cut[j], scratch.cand_missing[j] = scan_rows(
        payload, known, n_miss, space, lay, total, tie, min_leaf, scratch
    )


@inlined
def next_candidate(j, n_features, seed, scratch):
    """Step j of a partial Fisher-Yates shuffle; `restore` undoes it, so only the seed decides."""
    swap = j + below(seed, j, n_features - j)
    feature = scratch.features[swap]
    scratch.features[swap] = scratch.features[j]
    scratch.features[j] = feature
    scratch.swaps[j] = swap
    scratch.cand_h[j] = 0.0
    scratch.cand_missing[j] = 0
    scratch.cand_rough[j] = 0
    return feature


@inner
def restore(n_tried, scratch):
    for back in range(n_tried):
        j = n_tried - 1 - back
        swap = scratch.swaps[j]
        other = scratch.features[swap]
        scratch.features[swap] = scratch.features[j]
        scratch.features[j] = other


@inlined
def pick(n_tried, tie, scratch):
    """The winner: the largest h, the first drawn among equals; -1 if none is above rounding."""
    best = -1
    best_h = 0.0
    for j in range(n_tried):
        if scratch.cand_h[j] > best_h + tie:
            best_h = scratch.cand_h[j]
            best = j
    return best


@fast_inner
def try_candidates(
    tests,
    space,
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
):
    """Draw and evaluate candidates from number j on; with `batch`, 0/1 tests are left waiting.

    Returns (number of the next candidate, useful candidates so far, 0/1 rows that wait, whether to stop).
    """
    n = len(rows)
    n_features = tests.codes.shape[0]
    n_pending = 0
    stop = False
    while not stop and j < n_features and (j < most or useful == 0) and n_pending + 2 <= CHUNK:
        feature = next_candidate(j, n_features, seed, scratch)
        j += 1
        # Nodes are nested or disjoint: what is constant in a node is constant in all that lies inside it.
        if scratch.constant_from[feature] <= first and first + n <= scratch.constant_to[feature]:
            continue
        low, high, n_miss = read_codes(tests, feature, rows, scratch.weight, scratch.code)
        if low >= high:
            scratch.constant_from[feature] = first
            scratch.constant_to[feature] = first + n
            continue
        useful += 1
        if not random_test and high > low + 1:
            value_of_values(
                tests,
                feature,
                payload,
                n,
                low,
                high,
                n_miss,
                space,
                lay,
                total,
                tie,
                min_leaf,
                j - 1,
                scratch,
            )
            stop = scratch.cand_h[j - 1] >= enough
            continue
        mark = scratch.indicator[n_pending * n : (n_pending + 1) * n]
        missed = scratch.indicator[(n_pending + 1) * n : (n_pending + 2) * n]
        n_left = mark_left(tests, feature, n, low, high, random_test, seed, mark, j - 1, scratch)
        if n_miss > 0:
            for i in range(n):
                missed[i] = 1.0 if scratch.code[i] < 0 else 0.0
        if not batch:
            if n_miss == 0 and lay.width == lay.full:
                sum_marked(payload, mark, n, lay.width, scratch.run)
                scratch.cand_h[j - 1] = plain_value(scratch.run, n_left, lay, total, min_leaf)
            else:
                value_marked(
                    payload, mark, missed, n, n_left, n_miss, space, lay, total, tie, min_leaf, j - 1, scratch
                )
            stop = scratch.cand_h[j - 1] >= enough
            continue
        scratch.pending[n_pending] = j - 1
        scratch.pending_weight[n_pending] = n_left
        n_pending += 1
        if n_miss > 0:
            scratch.pending[n_pending] = -1
            scratch.pending_weight[n_pending] = n_miss
            n_pending += 1
    return j, useful, n_pending, stop


@fast_inner
def round_payload(payload, single):
    for i in range(payload.shape[0]):
        for c in range(payload.shape[1]):
            single[i, c] = payload[i, c]


@inlined
def best_split(
    tests,
    space,
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
):
    """Evaluate the candidates of a node; returns (number of the winner or -1, candidates tried).

    `first` is the node's place in the order of all rows. What is known of candidate j is in scratch:
    features[j], cand_h[j], cand_cut[j] (last code on the left), cand_missing[j] and cand_subset[j]. Call
    `restore` when done.
    """
    n = len(rows)
    tie = TIE * impurity
    # Nothing is left after a split with h = n * imp(E), and no other test can do better.
    enough = impurity - tie
    batch = n >= BATCH
    rough = False
    j, useful = 0, 0
    while True:
        j, useful, n_pending, stop = try_candidates(
            tests,
            space,
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
        )
        if n_pending > 0:
            single = scratch.payload32[: n * lay.width].reshape(n, lay.width)
            if not rough:
                round_payload(payload, single)
                rough = True
            multiply_marks(single, scratch.indicator, scratch.product, n_pending)
            value_products(n_pending, space, lay, total, tie, min_leaf, scratch)
        if stop or j >= len(tests.n_codes) or (j >= n_candidates and useful > 0):
            break
    if rough:
        settle(
            tests, space, payload, rows, lay, total, impurity, tie, random_test, min_leaf, seed, j, scratch
        )
    return pick(j, tie, scratch), j
