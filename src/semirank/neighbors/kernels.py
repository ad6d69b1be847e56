"""Kernels of the neighbour search: plain arrays in, plain arrays out.

Both metrics go the same way. Cheap approximate distances with a known error bound (float32 sums and packed
bits for the plain L1 metric, a matrix product for weighted squares) leave a few candidates per query row;
those that the bound cannot tell apart are compared by `pair_distance`, the definition itself. So the answer
does not depend on how the approximation was computed.
"""

from __future__ import annotations

import numpy as np

from ..runtime.jit import fast_inner, inner, kernel
from .feature_distance import CELL, feature_distance

_feature_distance = inner(feature_distance)


@fast_inner
def _plain_distance(a, b, n_plain, weights, squared):
    """The sum over features with d_i = |a - b|; any order of summation (and so vector instructions)."""
    total = 0.0
    if squared:
        for i in range(n_plain):
            total += weights[i] * ((a[i] - b[i]) * (a[i] - b[i]))
    else:
        for i in range(n_plain):
            total += weights[i] * abs(a[i] - b[i])
    return total


@inner
def pair_distance(a, b, n_plain, n_values, weights, squared):
    """sum_i w_i d_i(a, b), or of d_i^2; the first n_plain features are complete with d_i = |a - b|."""
    total = _plain_distance(a, b, n_plain, weights, squared)
    for i in range(n_plain, len(a)):
        d = _feature_distance(a[i], b[i], n_values[i])
        total += weights[i] * (d * d if squared else d)
    return total


@inner
def _pair_distances(query, rows, pool, n_plain, n_values, weights, squared, out):
    """`pair_distances`, written to `out`."""
    for a in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            out[a, c] = pair_distance(query[a], pool[rows[a, c]], n_plain, n_values, weights, squared)


@kernel
def pair_distances(query, rows, pool, n_plain, n_values, weights, squared):
    """`pair_distance` of every query row to the pool rows found for it."""
    out = np.empty(rows.shape, np.float64)
    _pair_distances(query, rows, pool, n_plain, n_values, weights, squared, out)
    return out


@inner
def _differences(a, b, n_plain, n_values, out):
    """d_i of two rows, feature by feature, written to `out`."""
    for i in range(n_plain):
        out[i] = abs(a[i] - b[i])
    for i in range(n_plain, len(a)):
        out[i] = _feature_distance(a[i], b[i], n_values[i])


@kernel
def weighted_differences(rows, first, second, n_plain, n_values, weights):
    """sum_c weights[v, r, c] d_i(row first[r], row second[r, c]), as an array (v, r, i).

    rows : (row, feature), of which the first n_plain are complete with d_i = |a - b|; first : (r,) and
    second : (r, c) rows; n_values : (feature,); weights : (v, r, c). `d` holds the d_i of the pair at hand.
    """
    n_features = rows.shape[1]
    out = np.zeros((weights.shape[0], len(first), n_features), np.float64)
    d = np.empty(n_features, np.float64)
    for r in range(second.shape[0]):
        for c in range(second.shape[1]):
            _differences(rows[first[r]], rows[second[r, c]], n_plain, n_values, d)
            for v in range(weights.shape[0]):
                weight = weights[v, r, c]
                line = out[v, r]
                if weight != 0.0:
                    for i in range(n_features):
                        line[i] += weight * d[i]
    return out


@kernel
def feature_differences(rows, first, second, n_plain, n_values):
    """d_i between row first[r] and row second[r, c], as an array (c, r, i).

    Arguments as in `weighted_differences`. The neighbour's rank c comes first, so that the pairs of some
    ranks lie together.
    """
    out = np.empty((second.shape[1], second.shape[0], rows.shape[1]), np.float64)
    for c in range(second.shape[1]):
        for r in range(second.shape[0]):
            _differences(rows[first[r]], rows[second[r, c]], n_plain, n_values, out[c, r])
    return out


@inner
def _sift(keys, rows, at, size):
    """Let the entry at `at` sink in a max-heap ordered by (key, row)."""
    key = keys[at]
    row = rows[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            keys[other] > keys[child] or (keys[other] == keys[child] and rows[other] > rows[child])
        ):
            child = other
        if keys[child] < key or (keys[child] == key and rows[child] < row):
            break
        keys[at] = keys[child]
        rows[at] = rows[child]
        at = child
    keys[at] = key
    rows[at] = row


@inner
def _sort_pairs(keys, rows):
    """Sort by (key, row) in place: short lists by insertion, long ones by a heap."""
    size = len(keys)
    if size <= 48:
        for at in range(1, size):
            key = keys[at]
            row = rows[at]
            while at > 0 and (keys[at - 1] > key or (keys[at - 1] == key and rows[at - 1] > row)):
                keys[at] = keys[at - 1]
                rows[at] = rows[at - 1]
                at -= 1
            keys[at] = key
            rows[at] = row
        return
    for at in range(size // 2 - 1, -1, -1):
        _sift(keys, rows, at, size)
    for last in range(size - 1, 0, -1):
        keys[0], keys[last] = keys[last], keys[0]
        rows[0], rows[last] = rows[last], rows[0]
        _sift(keys, rows, 0, last)


@inner
def _kth(values, size, k, scratch):
    """The k-th smallest of the first `size` values, by quickselect on a copy."""
    for c in range(size):
        scratch[c] = values[c]
    low, high = 0, size - 1
    while low < high:
        a, b, c = scratch[low], scratch[(low + high) // 2], scratch[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while scratch[i] < pivot:
                i += 1
            while scratch[j] > pivot:
                j -= 1
            if i <= j:
                scratch[i], scratch[j] = scratch[j], scratch[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return scratch[k - 1]


@inner
def _edge(limit, relative, absolute):
    """Approximate distances above this cannot belong to the k nearest, whose k-th one is `limit`.

    A true distance differs from its approximation by at most relative * distance + absolute.
    """
    return limit * (1.0 + 2.5 * relative) + 2.5 * absolute


@inner
def _keep(keys, rows, size, edge):
    """Drop the candidates beyond the edge; returns how many stay."""
    n = 0
    for c in range(size):
        if keys[c] <= edge:
            keys[n] = keys[c]
            rows[n] = rows[c]
            n += 1
    return n


@inner
def _scan(line, first, own, k, relative, absolute, edge, room, keys, rows, size, scratch):
    """Add the candidates among pool rows first, first + 1, ... with approximate distances `line`.

    Candidates are gathered up to `edge`; when there are more than `room`, the edge moves down to the k-th of
    them. Returns the new edge, room and number of candidates.
    """
    for j in range(len(line)):
        if line[j] <= edge and first + j != own:
            keys[size] = line[j]
            rows[size] = first + j
            size += 1
            if size > room:
                edge = _edge(_kth(keys, size, k, scratch), relative, absolute)
                size = _keep(keys, rows, size, edge)
                room = 2 * max(size, k)
    return edge, room, size


@inner
def _settle(keys, rows, size, scratch, relative, absolute, a, pool, n_plain, n_values, weights, squared, out):
    """Put the nearest of the candidates, nearest first, into `out`."""
    k = len(out)
    limit = _kth(keys, size, k, scratch)
    edge = _edge(limit, relative, absolute)
    blur = edge - limit
    n = _keep(keys, rows, size, edge)
    _sort_pairs(keys[:n], rows[:n])
    # Runs of candidates closer than the blur are put in order by (rounded true distance, row).
    start = 0
    while start < k and blur > 0.0:
        stop = start + 1
        while stop < n and keys[stop] - keys[stop - 1] <= blur:
            stop += 1
        if stop - start > 1:
            for c in range(start, stop):
                d = pair_distance(a, pool[rows[c]], n_plain, n_values, weights, squared)
                keys[c] = np.rint(d / CELL)
            _sort_pairs(keys[start:stop], rows[start:stop])
        start = stop
    for c in range(k):
        out[c] = rows[c]


@kernel
def squared_block(approx, absolute, own, k, query, pool, n_plain, n_values, weights):
    """The k nearest pool rows of each query row by weighted squares (weights sum to 1).

    approx : (query, pool) the distances, each up to absolute[query]; own : (query,) the pool row that is the
    query, -1 for none; query, pool, n_plain, n_values, weights : the rows themselves, for `pair_distance`.
    After a scan, `keys` and `rows` hold every pool row that may be among the k nearest, `size` of them.
    """
    n_query, n_pool = approx.shape
    found = np.empty((n_query, k), np.int64)
    if k == 0:
        return found
    keys = np.empty(n_pool, np.float64)
    rows = np.empty(n_pool, np.int64)
    scratch = np.empty(n_pool, np.float64)
    # Every eighth distance tells roughly where the k-th is, which pays where k is a fair share of the pool;
    # a guess too low only costs a second scan.
    n_sample = n_pool // 8 if n_pool <= 64 * k else 0
    expected = k * n_sample / n_pool
    guess = int(expected + 2.0 * np.sqrt(expected)) + 2
    for a in range(n_query):
        error = absolute[a] + CELL
        size = 0
        if guess <= n_sample:
            for c in range(n_sample):
                keys[c] = approx[a, 8 * c]
            edge = _kth(keys, n_sample, guess, scratch)
            _, _, size = _scan(
                approx[a], 0, own[a], k, 0.0, error, edge + 2.5 * error, 4 * k, keys, rows, 0, scratch
            )
        if size < k:
            _, _, size = _scan(approx[a], 0, own[a], k, 0.0, error, np.inf, 2 * k, keys, rows, 0, scratch)
        _settle(
            keys, rows, size, scratch, 0.0, error, query[a], pool, n_plain, n_values, weights, True, found[a]
        )
    return found


@inner
def _popcount(x):
    """How many bits of a 64-bit word are 1."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inner
def _add_numbers(numbers, tile, line):
    """line[j] += sum_i |numbers[i] - tile[i, j]|, eight features at a time."""
    i = 0
    while i + 8 <= len(numbers):
        q0, q1, q2, q3 = numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]
        q4, q5, q6, q7 = numbers[i + 4], numbers[i + 5], numbers[i + 6], numbers[i + 7]
        t0, t1, t2, t3 = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
        t4, t5, t6, t7 = tile[i + 4], tile[i + 5], tile[i + 6], tile[i + 7]
        for j in range(len(line)):
            line[j] += ((abs(q0 - t0[j]) + abs(q1 - t1[j])) + (abs(q2 - t2[j]) + abs(q3 - t3[j]))) + (
                (abs(q4 - t4[j]) + abs(q5 - t5[j])) + (abs(q6 - t6[j]) + abs(q7 - t7[j]))
            )
        i += 8
    while i < len(numbers):
        for j in range(len(line)):
            line[j] += abs(numbers[i] - tile[i, j])
        i += 1


@inner
def _add_bits(words, tile, planes, masked, unlike, line):
    """Add the differing codes of packed nominal features to line.

    Word group g has planes[g] words (the bits of up to 64 codes) and, if masked[g], one more with the bits
    of the known values; a missing value on either side counts unlike[g].
    """
    at = 0
    for g in range(len(planes)):
        if masked[g]:
            mask = at + planes[g]
            for j in range(len(line)):
                known = words[mask] & tile[mask, j]
                differ = np.uint64(0)
                for p in range(at, mask):
                    differ |= words[p] ^ tile[p, j]
                line[j] += np.float32(_popcount(differ & known)) + unlike[g] * np.float32(_popcount(~known))
            at = mask + 1
        elif planes[g] == 1:
            for j in range(len(line)):
                line[j] += np.float32(_popcount(words[at] ^ tile[at, j]))
            at += 1
        else:
            for j in range(len(line)):
                differ = np.uint64(0)
                for p in range(at, at + planes[g]):
                    differ |= words[p] ^ tile[p, j]
                line[j] += np.float32(_popcount(differ))
            at += planes[g]


@kernel
def l1_block(
    numbers, number_tiles, offset, offset_tiles, words, word_tiles, planes, masked, unlike,
    relative, absolute, own, k, n_pool, query, pool, n_plain, n_values,
):  # fmt: skip
    """The k nearest pool rows of each query row by the sum of d_i, and the distances d_X (the mean).

    numbers, number_tiles : scaled numbers, missing ones at 1/2, of the query rows and of tiles of pool rows
        (features x rows); offset, offset_tiles : 1/2 per missing number. |a - 1/2| + 1/2 = max(a, 1 - a).
    words, word_tiles : packed codes, see `_add_bits`.
    query, pool, n_plain, n_values : the rows themselves, for `pair_distance`.
    relative, absolute : error of the sums, 0 where they are exact.
    After tile t, row a of `keys` and `rows` holds every pool row of tiles 0 ... t that may be among the k
    nearest of query row a: size[a] of them, none with a sum above edge[a].
    """
    n_query = len(numbers)
    n_tiles, width = offset_tiles.shape
    found = np.empty((n_query, k), np.int64)
    n_features = query.shape[1]
    ones = np.full(n_features, 1.0 / n_features)
    if k == 0:
        return found, np.empty((n_query, 0), np.float64)
    keys = np.empty((n_query, n_pool), np.float64)
    rows = np.empty((n_query, n_pool), np.int64)
    scratch = np.empty(n_pool, np.float64)
    size = np.zeros(n_query, np.int64)
    room = np.full(n_query, 2 * k)
    edge = np.full(n_query, np.inf)
    line = np.empty(width, np.float32)
    for t in range(n_tiles):
        filled = min(width, n_pool - t * width)
        for a in range(n_query):
            for j in range(width):
                line[j] = offset[a] + offset_tiles[t, j]
            _add_numbers(numbers[a], number_tiles[t], line)
            _add_bits(words[a], word_tiles[t], planes, masked, unlike, line)
            edge[a], room[a], size[a] = _scan(
                line[:filled], t * width, own[a], k, relative, absolute[a],
                edge[a], room[a], keys[a], rows[a], size[a], scratch,
            )  # fmt: skip
    for a in range(n_query):
        # From sums to means, in which `pair_distance` and the rounding of ties are expressed.
        for c in range(size[a]):
            keys[a, c] /= n_features
        _settle(
            keys[a], rows[a], size[a], scratch, relative, absolute[a] / n_features,
            query[a], pool, n_plain, n_values, ones, False, found[a],
        )  # fmt: skip
    distances = np.empty((n_query, k), np.float64)
    _pair_distances(query, found, pool, n_plain, n_values, ones, False, distances)
    return found, distances
