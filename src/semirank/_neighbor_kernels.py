"""Kernels of the neighbour search: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np
from numba import njit

# Distances are compared after rounding to this share of the largest possible one: mathematically equal
# distances, whose float sums differ in the last bits, are then ties and go by row number (DESIGN 1.6).
CELL = 2.0**-34


@njit(cache=True, nogil=True)
def squared_pair(a, b, n_values, weights):
    """sum_i w_i d_i(a, b)^2 in feature order: the definition that every faster path must agree with."""
    total = 0.0
    for i in range(len(a)):
        x = a[i]
        y = b[i]
        if n_values[i] > 0:
            if np.isnan(x) or np.isnan(y):
                d = 1.0 - 1.0 / n_values[i]
            else:
                d = 0.0 if x == y else 1.0
        elif np.isnan(x):
            d = 1.0 if np.isnan(y) else max(y, 1.0 - y)
        elif np.isnan(y):
            d = max(x, 1.0 - x)
        else:
            d = x - y
        total += weights[i] * d * d
    return total


@njit(cache=True, nogil=True)
def sift(keys, rows, at, size):
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


@njit(cache=True, nogil=True)
def sort_pairs(keys, rows, heaped):
    """Sort by (key, row) in place; `heaped` says that the entries already form a max-heap."""
    size = len(keys)
    if not heaped:
        for at in range(size // 2 - 1, -1, -1):
            sift(keys, rows, at, size)
    for last in range(size - 1, 0, -1):
        keys[0], keys[last] = keys[last], keys[0]
        rows[0], rows[last] = rows[last], rows[0]
        sift(keys, rows, 0, last)


@njit(cache=True, nogil=True)
def select_squared(approx, margin, own, k, query, pool, n_values, weights, exact):
    """The k nearest pool rows of every query row, from approximate distances with a known error bound.

    approx[a, b] is within margin[a] of `squared_pair`; own[a] is the pool row that is the query itself
    (-1: none). Candidates that the bound cannot tell apart are compared by `squared_pair` itself, so the
    answer does not depend on how `approx` was computed.
    """
    n_query, n_pool = approx.shape
    rows = np.empty((n_query, k), np.int64)
    distances = np.empty((n_query, k if exact else 0), np.float64)
    keys = np.empty(n_pool, np.float64)
    kept = np.empty(n_pool, np.int64)
    for a in range(n_query):
        line = approx[a]
        if own[a] >= 0:
            line[own[a]] = np.inf
        size = 0  # first the k smallest, for the limit
        limit = np.inf
        for b in range(n_pool):
            if line[b] < limit:
                if size < k:
                    keys[size] = line[b]
                    kept[size] = b
                    size += 1
                    if size == k:
                        for at in range(k // 2 - 1, -1, -1):
                            sift(keys, kept, at, k)
                        limit = keys[0]
                else:
                    keys[0] = line[b]
                    kept[0] = b
                    sift(keys, kept, 0, k)
                    limit = keys[0]
        blur = 2.0 * margin[a] + CELL
        n_kept = 0
        for b in range(n_pool):
            if line[b] <= limit + blur and b != own[a]:
                keys[n_kept] = line[b]
                kept[n_kept] = b
                n_kept += 1
        sort_pairs(keys[:n_kept], kept[:n_kept], False)
        # Runs of candidates closer than the blur are put in order by (rounded true distance, row).
        start = 0
        while start < k:
            stop = start + 1
            while stop < n_kept and keys[stop] - keys[stop - 1] <= blur:
                stop += 1
            if stop - start > 1:
                for c in range(start, stop):
                    keys[c] = np.rint(squared_pair(query[a], pool[kept[c]], n_values, weights) / CELL)
                sort_pairs(keys[start:stop], kept[start:stop], False)
            start = stop
        rows[a] = kept[:k]
        if exact:
            for c in range(k):
                distances[a, c] = squared_pair(query[a], pool[kept[c]], n_values, weights)
    return rows, distances
