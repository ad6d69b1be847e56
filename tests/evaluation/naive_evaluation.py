"""Slow, obvious counterparts of the evaluation, from the definitions."""

from __future__ import annotations

import math

import numpy as np

from ..neighbors.naive_neighbors import knn_prototypes


def macro_f1(truth, predicted):
    """Mean over the classes that occur of 2 p r / (p + r)."""
    pairs = [(int(t), int(p)) for t, p in zip(truth, predicted) if not math.isnan(t)]
    classes = sorted({c for pair in pairs for c in pair})
    scores = []
    for c in classes:
        hits = sum(t == p == c for t, p in pairs)
        guessed, actual = sum(p == c for _, p in pairs), sum(t == c for t, _ in pairs)
        precision = hits / guessed if guessed else 0.0
        recall = hits / actual if actual else 0.0
        scores.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    return sum(scores) / len(scores) if scores else 0.0


def rrmse(truth, predicted, variances=None):
    """Mean over targets of sqrt(MSE / variance), targets without variance left out."""
    each = []
    for j in range(truth.shape[1]):
        known = [i for i in range(len(truth)) if not math.isnan(truth[i, j])]
        if not known:
            continue
        values = [truth[i, j] for i in known]
        mean = sum(values) / len(values)
        variance = sum((v - mean) ** 2 for v in values) / len(values)
        if len(set(values)) == 1:
            variance = 0.0
        if variances is not None:
            variance = variances[j]
        if variance > 0:
            squared = sum((predicted[i, j] - truth[i, j]) ** 2 for i in known) / len(known)
            each.append(math.sqrt(squared / variance))
    return sum(each) / len(each) if each else 1.0


def pooled_auprc(truth, scores):
    """Sum over distinct thresholds, from the top, of precision times gained recall."""
    cells = [(s, t) for s, t in zip(scores.ravel(), truth.ravel()) if not math.isnan(t)]
    positives = sum(t for _, t in cells)
    if not positives:
        return 0.0
    area, recall = 0.0, 0.0
    for threshold in sorted({s for s, _ in cells}, reverse=True):
        chosen = [t for s, t in cells if s >= threshold]
        new = sum(chosen) / positives
        area += (new - recall) * sum(chosen) / len(chosen)
        recall = new
    return area


def knn_score(importances, train, target, test, test_target, k, pool):
    """The judge for one ranking and one k."""
    rows = np.flatnonzero(test_target.labeled)
    prototypes = knn_prototypes(importances, train, target, test.take(rows), k, pool)
    return measure(test_target.task, test_target.values[rows], prototypes)


def measure(task, truth, prototypes):
    if task == "classification":
        return macro_f1(truth[:, 0], [row.tolist().index(max(row)) for row in prototypes])
    if task in ("regression", "multi_target"):
        return rrmse(truth, prototypes)
    return pooled_auprc(truth, prototypes)


def area(x, y):
    """Trapezoids, one after the other."""
    if len(x) == 1:
        return y[0]
    total = 0.0
    for a in range(len(x) - 1):
        total += (x[a + 1] - x[a]) * (y[a] + y[a + 1]) / 2
    return total / (x[-1] - x[0])


def labels_kept(n, fold, n_folds):
    """floor(L / (x - 1)) + r_i, by dealing the labels out one by one."""
    rest = n % (n_folds - 1)
    return n // (n_folds - 1) + (1 if fold < rest else 0)


def resemblance(clusters, target, root):
    """Def. 2.4 for numbers and label sets: 1 - weighted mean of (sqrt of) the variance left in clusters."""
    total, weights = 0.0, 0.0
    for j in range(target.values.shape[1]):
        rows = [i for i in range(len(clusters)) if not math.isnan(target.values[i, j])]
        values = [target.values[i, j] for i in rows]
        if len(set(values)) < 2:
            continue
        within = 0.0
        for c in set(clusters):
            inside = [target.values[i, j] for i in rows if clusters[i] == c]
            if inside:
                within += len(inside) / len(rows) * float(np.var(inside))
        share = within / float(np.var(values))
        total += target.weights[j] * (math.sqrt(share) if root else share)
        weights += target.weights[j]
    return 1.0 - total / weights


def addition_curve(importances, train, target, test, test_target, k):
    """(sizes, forward, reverse), each subset judged by itself as a ranking of ones and zeros."""
    d = len(importances)
    order = sorted(range(d), key=lambda i: (-importances[i], i))
    sizes = sorted({*(2**p for p in range(20) if 2**p <= d), d})

    def judged(subset):
        weights = [1.0 if i in subset else 0.0 for i in range(d)]
        return knn_score(weights, train, target, test, test_target, k, "labelled")

    return sizes, [judged(order[:n]) for n in sizes], [judged(order[d - n :]) for n in sizes]


def spearman_brown(correlation, times):
    """The correlation of two tests that are `times` as long (Spearman 1910, Brown 1910)."""
    return times * correlation / (1 + (times - 1) * correlation)


def line_at(x, y, where):
    """The least-squares line through the points (x, y), at another x."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
    return mean_y + slope * (where - mean_x)


def score_at(sizes, scores, n, exponent):
    """A score as a line over -n^-c, or over log n where c is 0."""
    over = [math.log(s) if exponent == 0 else -(s**-exponent) for s in (*sizes, n)]
    return line_at(over[:-1], scores, over[-1])


def jackknife(values):
    """(n - 1) / n times the sum of squared distances to the mean."""
    mean = sum(values) / len(values)
    return (len(values) - 1) / len(values) * sum((v - mean) ** 2 for v in values)
