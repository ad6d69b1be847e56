"""Slow, obvious counterparts of captured importance, worth and permutation importance."""

from __future__ import annotations

import math
from itertools import pairwise, permutations, product

import numpy as np


def captured(scores, reference):
    """Mean over all orders of equal scores, and over m, of the share of the best that m features hold."""
    n = len(scores)
    m = min(n, max(5, math.ceil(0.3 * n)))
    best = sorted(reference, reverse=True)
    values = []
    for order in permutations(range(n)):
        if any(scores[a] < scores[b] for a, b in pairwise(order)):
            continue
        parts = [sum(reference[j] for j in order[:i]) / sum(best[:i]) for i in range(1, m + 1)]
        values.append(sum(parts) / m)
    return sum(values) / len(values)


def monotone(curve):
    """Isotonic regression by its min-max formula."""
    n = len(curve)
    return [
        max(min(sum(curve[a : b + 1]) / (b - a + 1) for b in range(i, n)) for a in range(i + 1))
        for i in range(n)
    ]


def labels_needed(score, curve, counts, steps=200_000):
    """Middle, on the log scale, of the places of a fine grid at which the monotone curve has the score."""
    level = [round(value, 12) for value in monotone(curve)]
    if score < level[0]:
        return counts[0]
    if score > level[-1]:
        return counts[-1]
    grid = np.linspace(math.log(counts[0]), math.log(counts[-1]), steps)
    values = np.interp(grid, np.log(counts), level)
    first = grid[np.flatnonzero(values >= score - 1e-12)[0]]
    last = grid[np.flatnonzero(values <= score + 1e-12)[-1]]
    return math.exp((first + last) / 2)


def worth(method, curve, counts, n_labeled):
    """Factor, all factors of seeds drawn with replacement, and whether the curve rises enough."""

    def factor(seeds):
        mean = [sum(curve[s][j] for s in seeds) / len(seeds) for j in range(len(counts))]
        score = sum(method[s] for s in seeds) / len(seeds)
        return min(4.0, max(0.5, labels_needed(score, mean, counts, steps=20_000) / n_labeled))

    n = len(method)
    rises = [row[-1] - row[counts.index(n_labeled)] for row in curve]
    mean = sum(rises) / n
    error = math.sqrt(sum((rise - mean) ** 2 for rise in rises) / (n - 1)) / math.sqrt(n)
    return factor(range(n)), [factor(s) for s in product(range(n), repeat=n)], mean > 0 and mean >= 2 * error


def encode(train, table):
    """Standardised numbers and one-hot values, feature by feature; columns and the feature of each."""
    columns, owners = [], []
    for j in range(train.shape[1]):
        known = [v for v in train.values[:, j] if not math.isnan(v)]
        if train.n_values[j] == 0:
            mean = sum(known) / len(known)
            spread = math.sqrt(sum((v - mean) ** 2 for v in known) / len(known))
            columns.append([0.0 if math.isnan(v) else (v - mean) / spread for v in table.values[:, j]])
            owners.append(j)
            continue
        values = sorted(set(known))
        shares = [known.count(v) / len(known) for v in values]
        if len(values) == 2:
            values, shares = values[1:], shares[1:]
        spread = math.sqrt(sum(p * (1 - p) for p in shares))
        for value, p in zip(values, shares):
            columns.append(
                [0.0 if math.isnan(v) else ((v == value) - p) / spread for v in table.values[:, j]]
            )
            owners.append(j)
    return np.array(columns).T, owners


def permutation_importance(predict, points, truth, owners, n_features, repeats, seed):
    """Predict everything again for every feature and permutation."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(points)) for _ in range(repeats)]
    spread = ((truth - truth.mean(axis=0)) ** 2).sum()
    before = ((predict(points) - truth) ** 2).sum()
    rises = []
    for j in range(n_features):
        rise = 0.0
        for order in orders:
            mixed = points.copy()
            for column, owner in enumerate(owners):
                if owner == j:
                    mixed[:, column] = points[order, column]
            rise += ((predict(mixed) - truth) ** 2).sum() - before
        rises.append(rise / repeats / spread)
    return np.array(rises)
