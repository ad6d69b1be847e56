"""Tests of nominal features: values in the order of their means, or a random subset (Def. 1.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import fast_inner, hot_inner, inlined, inner
from .numeric_tests import index_values
from .random import draw, feature_seed
from .split_value import TIE, squared_length

# More values than this in a node are ordered along an axis that AXIS_STEPS steps lead to: finding the longest
# one exactly takes the cube of their number.
MANY_VALUES = 32
AXIS_STEPS = 20

# Whether a value of a nominal test goes left; an unseen one has no rows in the node.
RIGHT, LEFT, UNSEEN = 0, 1, 2


class Ordering(NamedTuple):
    """Work arrays of `order_values`."""

    means: np.ndarray  # (values, width)
    direction: np.ndarray  # (values,)
    axis: np.ndarray  # (width,)
    next_axis: np.ndarray  # (width,)
    gram: np.ndarray  # (MANY_VALUES, MANY_VALUES)
    vectors: np.ndarray  # (MANY_VALUES, MANY_VALUES)


@fast_inner
def principal(gram, vectors, n):
    """Diagonalise gram[:n, :n] by cyclic Jacobi rotations; returns the place of its largest eigenvalue.

    The eigenvalues are then on its diagonal, their vectors the columns of `vectors`.
    """
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
    """Power iteration towards the longest axis of n means, into `axis`, from the longest of them.

    Returns the square of that mean's length.
    """
    far, farthest = 0, -1.0
    for a in range(n):
        square = squared_length(means[a], width)
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
        square = squared_length(next_axis, width)
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


@inlined
def centred_means(n_values, low, values, groups, lay, work):
    """The mean vector of each value, centred on the node and times the root of its weight, into work.means.

    The roots go to work.direction; returns the weight of all values.
    """
    means, direction, centre = work.means, work.direction, work.axis
    mass = 0.0
    for c in range(lay.known):
        centre[c] = 0.0
    for a in range(n_values):
        s = values.slot[values.order[a] - low]
        weight = values.weight[s]
        mass += weight
        for c in range(lay.full):
            means[a, c] = values.sums[s, c] / weight
        row, counts, mean = values.sums[s, lay.full :], values.sums[s, lay.known :], means[a, lay.full :]
        for g in range(len(groups.start) - 1 if lay.known > lay.full else 0):
            for c in range(groups.start[g], groups.start[g + 1]):
                mean[c] = row[c] / counts[g] if counts[g] > 0 else 0.0
        for c in range(lay.known):
            centre[c] += weight * means[a, c]
    for a in range(n_values):
        direction[a] = np.sqrt(values.weight[values.slot[values.order[a] - low]])
        for c in range(lay.known):
            means[a, c] = direction[a] * (means[a, c] - centre[c] / mass)
    return mass


@inlined
def project_few(n_values, width, mass, work):
    """Coordinates of the values on the longest axis, into work.direction; returns False if all are equal."""
    means, direction, gram, vectors = work.means, work.direction, work.gram, work.vectors
    for a in range(n_values):
        for b in range(a + 1):
            s = 0.0
            for c in range(width):
                s += means[a, c] * means[b, c]
            gram[a, b] = s
            gram[b, a] = s
    # gram = V diag V': a value's coordinate on an axis is its entry of V over the root of its weight.
    first = principal(gram, vectors, n_values)
    differ = gram[first, first] > 1e-12 * mass
    if differ:
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
    return differ


@inlined
def project_many(n_values, width, mass, work):
    """The same for many values, by `walk_to_axis`."""
    means, direction, axis = work.means, work.direction, work.axis
    differ = walk_to_axis(means, n_values, width, axis, work.next_axis) > 1e-12 * mass
    if differ:
        for a in range(n_values):
            product = 0.0
            for c in range(width):
                product += means[a, c] * axis[c]
            direction[a] = product / direction[a]
    return differ


@fast_inner
def order_values(n_values, low, values, groups, lay, work):
    """Sort values.order by the values' means along their first principal direction (Def. 1.3)."""
    if work is None:  # no feature needs it, and the compiler leaves it out
        return
    mass = centred_means(n_values, low, values, groups, lay, work)
    if n_values > MANY_VALUES:
        differ = project_many(n_values, lay.known, mass, work)
    else:
        differ = project_few(n_values, lay.known, mass, work)
    if not differ:
        return
    direction, order = work.direction, values.order
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
def random_subset(feature, seed, count, low, high, inside):
    """A random proper subset of the values present (count > 0), as 0/1 per value in `inside`."""
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
def mark_subset(feature, code, n, low, high, seed, values, subset, mark):
    """The 0/1 row of a random subset of a nominal feature's values (extra trees)."""
    count, inside = values.tally, values.order
    index_values(code, n, low, high, values)
    random_subset(feature, seed, count, low, high, inside)
    for v in range(low, high + 1):
        if count[v - low] > 0:
            subset[v] = inside[v - low]
    for i in range(n):
        mark[i] = 1.0 if code[i] >= 0 and inside[code[i] - low] == 1 else 0.0


@hot_inner
def split_pair(n_codes, low, high, subset):
    """The only test of two nominal values: the lower code goes left."""
    for v in range(n_codes):
        subset[v] = UNSEEN
    subset[low] = LEFT
    subset[high] = RIGHT
