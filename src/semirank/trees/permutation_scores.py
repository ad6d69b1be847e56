"""rforest: the damage that permuting a feature does to the predictions of out-of-bag rows (Def. 1.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.tasks import CLASSES, NUMBERS
from ..runtime.jit import fast_kernel, inner, kernel
from .columns import Prototype
from .grow import Tree
from .predict import apply_tree, child_for, leaf_of
from .random import below, feature_seed

# Losses below the floor, gains below theirs, would make the relative damage explode (Def. 1.4).
LOSS_FLOOR = 1e-3
GAIN_FLOOR = 0.01


class OutOfBag(NamedTuple):
    """Labelled rows that the tree did not see, and which of them each feature can move."""

    values: np.ndarray  # (M, D) of all rows
    rows: np.ndarray
    leaves: np.ndarray  # of these rows
    start: np.ndarray  # (D + 1,); feature f is tested on the paths of places[start[f] : start[f + 1]]
    places: np.ndarray  # places in `rows`
    seed: np.uint64


@kernel
def permutation(seed, feature, n):
    """The permutation of the out-of-bag rows for one feature of one tree (Fisher-Yates)."""
    order = np.arange(n)
    stream = feature_seed(seed, feature)
    for i in range(n - 1):
        j = i + below(stream, i, n - i)
        order[i], order[j] = order[j], order[i]
    return order


@kernel
def rows_of_features(tree, values, rows, n_features):
    """For every feature the rows whose path tests it: only they can change (`start` and `places` above).

    The first pass counts them, the second fills them in.
    """
    start = np.zeros(n_features + 1, np.int64)
    for fill in range(2):
        if fill == 1:
            for f in range(n_features):
                start[f + 1] += start[f]
            places = np.empty(start[n_features], np.int64)
            at = start[:n_features].copy()
        seen = np.full(n_features, -1, np.int64)
        for a in range(len(rows)):
            node = 0
            while tree.feature[node] >= 0:
                f = tree.feature[node]
                if seen[f] != a:
                    seen[f] = a
                    if fill == 0:
                        start[f + 1] += 1
                    else:
                        places[at[f]] = a
                        at[f] += 1
                node = child_for(tree, node, values[rows[a], f])
    return start, places


@inner
def permuted_leaf(tree, out_of_bag, a, f, order):
    """The leaf of the a-th row after feature f was permuted."""
    values, rows = out_of_bag.values, out_of_bag.rows
    return leaf_of(tree, values, rows[a], f, values[rows[order[a]], f])


@inner
def _macro_f1(hits, truth, guess):
    """Macro F1 over the classes that occur: per class its hits, its rows and the rows predicted as it."""
    total, present = 0.0, 0
    for c in range(len(hits)):
        if truth[c] + guess[c] > 0:
            total += 2.0 * hits[c] / (truth[c] + guess[c])
            present += 1
    return total / present


@kernel
def class_damage(tree, out_of_bag, node_class, truth, n_classes):
    """Relative loss of macro F1 per feature; `node_class` is what nodes predict, `truth` what rows are.

    While the rows of a feature are passed, `new_hits` and `new_guess` are `hits` and `guess` with the rows so
    far in the leaves that they reach after the permutation.
    """
    leaves, start = out_of_bag.leaves, out_of_bag.start
    hits, actual, guess = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    for a in range(len(leaves)):
        actual[truth[a]] += 1
        guess[node_class[leaves[a]]] += 1
        hits[truth[a]] += node_class[leaves[a]] == truth[a]
    base = _macro_f1(hits, actual, guess)
    damage = np.zeros(len(start) - 1)
    for f in range(len(damage)):
        if start[f] == start[f + 1]:
            continue
        order = permutation(out_of_bag.seed, f, len(leaves))
        new_hits, new_guess = hits.copy(), guess.copy()
        for p in range(start[f], start[f + 1]):
            a = out_of_bag.places[p]
            before = node_class[leaves[a]]
            after = node_class[permuted_leaf(tree, out_of_bag, a, f, order)]
            new_guess[before] -= 1
            new_guess[after] += 1
            new_hits[truth[a]] += np.int64(after == truth[a]) - np.int64(before == truth[a])
        damage[f] = (base - _macro_f1(new_hits, actual, new_guess)) / max(base, GAIN_FLOOR)
    return damage


@inner
def _rrmse(error, count, unit):
    """Mean root of error / count over the target variables that vary (unit > 0) and that some row knows."""
    total, used = 0.0, 0
    for t in range(len(error)):
        if count[t] > 0 and unit[t] > 0:
            total += np.sqrt(max(error[t], 0.0) / count[t])
            used += 1
    return total / used if used > 0 else 0.0


@kernel
def number_damage(tree, out_of_bag, means, truth, known, unit):
    """Relative growth of RRMSE per feature; the target is standardised, so the training variance is 1.

    means : (node, target); truth, known : (row, target), known being 0 or 1; unit : see `_rrmse`. `new_error`
    is `error` with the rows so far in their new leaves.
    """
    leaves, start, width = out_of_bag.leaves, out_of_bag.start, truth.shape[1]
    error, count = np.zeros(width), np.zeros(width)
    for a in range(len(leaves)):
        for t in range(width):
            error[t] += known[a, t] * (truth[a, t] - means[leaves[a], t]) ** 2
            count[t] += known[a, t]
    base = _rrmse(error, count, unit)
    damage = np.zeros(len(start) - 1)
    for f in range(len(damage)):
        if start[f] == start[f + 1]:
            continue
        order = permutation(out_of_bag.seed, f, len(leaves))
        new_error = error.copy()
        for p in range(start[f], start[f + 1]):
            a = out_of_bag.places[p]
            before, after = leaves[a], permuted_leaf(tree, out_of_bag, a, f, order)
            if after != before:
                for t in range(width):
                    new, old = (truth[a, t] - means[after, t]) ** 2, (truth[a, t] - means[before, t]) ** 2
                    new_error[t] += known[a, t] * (new - old)
        damage[f] = (_rrmse(new_error, count, unit) - base) / max(base, LOSS_FLOOR)
    return damage


@inner
def _average_precision(positive, everything):
    """Area under the precision-recall steps; bins from the highest score to the lowest."""
    total = 0.0
    for b in range(len(positive)):
        total += positive[b]
    if total == 0:
        return 0.0
    area, hits, seen = 0.0, 0.0, 0.0
    for b in range(len(positive)):
        if everything[b] > 0:
            hits += positive[b]
            seen += everything[b]
            area += positive[b] * hits / seen
    return area / total


@fast_kernel
def label_damage(tree, out_of_bag, bins, n_bins, truth, known):
    """Relative loss of pooled AUPRC per feature.

    A tree has few scores: bins[node, label] is the place of that score among the tree's distinct scores, best
    first, so that the curve needs counting instead of sorting. `new_positive` and `new_everything` count the
    cells of every bin with the rows so far in their new leaves.
    """
    leaves, start, width = out_of_bag.leaves, out_of_bag.start, truth.shape[1]
    positive, everything = np.zeros(n_bins), np.zeros(n_bins)
    for a in range(len(leaves)):
        for t in range(width):
            positive[bins[leaves[a], t]] += known[a, t] * truth[a, t]
            everything[bins[leaves[a], t]] += known[a, t]
    base = _average_precision(positive, everything)
    damage = np.zeros(len(start) - 1)
    for f in range(len(damage)):
        if start[f] == start[f + 1]:
            continue
        order = permutation(out_of_bag.seed, f, len(leaves))
        new_positive, new_everything = positive.copy(), everything.copy()
        for p in range(start[f], start[f + 1]):
            a = out_of_bag.places[p]
            before, after = leaves[a], permuted_leaf(tree, out_of_bag, a, f, order)
            if after != before:
                for t in range(width):
                    new_positive[bins[before, t]] -= known[a, t] * truth[a, t]
                    new_positive[bins[after, t]] += known[a, t] * truth[a, t]
                    new_everything[bins[before, t]] -= known[a, t]
                    new_everything[bins[after, t]] += known[a, t]
        damage[f] = (base - _average_precision(new_positive, new_everything)) / max(base, GAIN_FLOOR)
    return damage


def permutation_damage(
    tree: Tree,
    values: np.ndarray,
    rows: np.ndarray,
    node_means: np.ndarray,
    prototype: Prototype,
    kind: int,
    seed: np.uint64,
) -> np.ndarray:
    """*rforest* of one tree: relative damage on its out-of-bag labelled rows, feature by feature.

    Parameters
    ----------
    tree : Tree
    values : ndarray (M, D)
    rows : ndarray
        The tree's out-of-bag labelled rows, at least one.
    node_means : ndarray (nodes, P)
        Prototypes in the columns of `prototype`.
    prototype : Prototype
    kind : int
        CLASSES, NUMBERS or LABELS.
    seed : uint64
        Seed of the permutations.
    """
    start, places = rows_of_features(tree, values, rows, values.shape[1])
    out_of_bag = OutOfBag(values, rows, apply_tree(tree, values, rows), start, places, seed)
    truth, known = prototype.values[rows], prototype.known[rows]
    if kind == CLASSES:
        return class_damage(tree, out_of_bag, node_means.argmax(axis=1), truth.argmax(axis=1), truth.shape[1])
    if kind == NUMBERS:
        return number_damage(tree, out_of_bag, node_means, truth, known, prototype.unit)
    distinct, bins = np.unique(-node_means, return_inverse=True)
    return label_damage(tree, out_of_bag, bins.reshape(node_means.shape), len(distinct), truth, known)
