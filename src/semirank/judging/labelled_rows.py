"""How labelled rows relate to unlabelled ones: do they differ, are they the same rows (Def. 3.5)?"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc
from scipy.stats import hypergeom, norm, rankdata

from ..data.table import Table

MAX_CELLS = 4_000_000  # rows x features that the classifier looks at
MAX_SIDE = 1000  # labelled rows, and unlabelled ones
MIN_SIDE = 10
N_BINS = 8  # of numbers, by rank; rare words count as one
N_FOLDS = 5
MIN_AUC = 0.6  # below it, a difference is too small to mind
# Folds learn from each other's rows, so that their scores rise and fall together: where labels are dealt out
# at random, the spread of their mean was up to 1.6 of that of independent ones.
SPREAD = 1.75
COPIES = 20  # equal pairs of rows for each that agrees in half of the features only
CHANCE = 1e-3  # how often, at most, rows that do not differ may seem to


class Difference(NamedTuple):
    """How well a classifier tells labelled from unlabelled rows, and by which features.

    `auc` is the chance that it finds the labelled one of a pair, for rows that it has not seen.
    """

    auc: float
    features: list[int]


def labeled_differ(table: Table, labeled: np.ndarray) -> Difference | None:
    """How labelled rows differ from unlabelled ones, or None where they do not, beyond chance.

    The classifier is naive Bayes on the features cut into bins, being missing a bin of its own.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(400, 3))
    >>> values[:100, 2] += 1.5
    >>> table = Table(values, np.zeros(3, int), ("a", "b", "c"), (None,) * 3)
    >>> labeled_differ(table, np.arange(400) < 100).features
    [2]
    >>> labeled_differ(table, np.arange(400) % 4 == 0) is None
    True
    """
    rng = np.random.default_rng(0)
    most = min(MAX_SIDE, max(MAX_CELLS // max(table.shape[1], 1) // 2, 100))
    sides = [rng.permutation(np.flatnonzero(side))[:most] for side in (labeled, ~labeled)]
    if min(map(len, sides)) < MIN_SIDE:
        return None
    rows = np.concatenate(sides)
    is_labeled = np.arange(len(rows)) < len(sides[0])
    bins, start = _bins(table.values[rows], table.n_values)
    ones, zeros = (_count(bins[is_labeled == side], start) for side in (True, False))
    ordered = table.n_values == 0
    p, auc = _each_feature(ones, zeros, start, ordered)
    single = (p < CHANCE / len(p)) & (auc >= MIN_AUC)
    fold = np.concatenate([np.arange(len(side)) % N_FOLDS for side in sides])
    together = _held_out_auc(bins, start, ordered, is_labeled, fold)
    n1, n0 = map(len, sides)
    z = (together - 0.5) / np.sqrt((n1 + n0 + 1) / (12 * n1 * n0))
    sure = norm.sf(z / SPREAD) < CHANCE and together >= MIN_AUC
    if not single.any() and not sure:
        return None
    by_strength = np.argsort(-auc, kind="stable")
    named = by_strength[single[by_strength]] if single.any() else by_strength[:3]
    return Difference(float(max(together, auc[named].max())), named.tolist())


def _bins(values: np.ndarray, n_values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each cell's bin, features one after another, and where those of a feature begin, and the end.

    Equal values share a bin, missing ones have the last of their feature.
    """
    n, d = values.shape
    order = np.argsort(values, axis=0, kind="stable")  # missing values come last
    ordered = np.take_along_axis(values, order, axis=0)
    known = (~np.isnan(values)).sum(axis=0)
    new = np.ones((n, d), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(new, np.arange(n)[:, None], 0), axis=0)
    place = first * N_BINS // np.maximum(known, 1)
    for j in np.flatnonzero(n_values):
        code = (np.cumsum(new[: known[j], j]) - 1).astype(np.int64)
        by_count = np.argsort(np.argsort(-np.bincount(code, minlength=1), kind="stable"))
        place[: known[j], j] = np.minimum(by_count, 2 * N_BINS - 1)[code]
    missing = np.arange(n)[:, None] >= known
    n_bins = np.where(missing, -1, place).max(axis=0) + 2
    bins = np.empty((n, d), dtype=np.int64)
    np.put_along_axis(bins, order, np.where(missing, n_bins - 1, place), axis=0)
    start = np.concatenate([[0], np.cumsum(n_bins)])
    return bins + start[:-1], start


def _count(bins: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Rows per bin."""
    return np.bincount(bins.ravel(), minlength=start[-1]).astype(float)


def _each_feature(
    ones: np.ndarray, zeros: np.ndarray, start: np.ndarray, ordered: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The chance that a feature is spread so differently, and how well its bins tell the sides apart (AUC).

    Three tests, the strictest for each feature: uneven bins (chi-squared), larger or smaller numbers
    (Wilcoxon), more or fewer missing values (Fisher).
    """
    n1, n0 = ones[: start[1]].sum(), zeros[: start[1]].sum()
    both = ones + zeros
    expected = [np.where(both > 0, both * n / (n1 + n0), 1.0) for n in (n1, n0)]
    terms = sum((part - e) ** 2 / e * (both > 0) for part, e in zip((ones, zeros), expected))
    # Bins with fewer than five expected rows on a side would make the test find differences too often.
    fit = np.minimum(*expected) * (both > 0) >= 5
    degrees = np.add.reduceat(fit, start[:-1], dtype=int) - 1
    chi = np.add.reduceat(np.where(fit, terms, 0.0), start[:-1])
    p = [np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), chi), 1.0)]
    last = start[1:] - 1
    p.append(uneven(ones[last], both[last], n1, n1 + n0))
    auc, up = np.empty((2, len(last)))
    odds = np.where(both > 0, ones / np.maximum(both, 1), 0.0)
    for j, (a, b) in enumerate(pairwise(start)):
        order = a + np.argsort(odds[a:b], kind="stable")
        auc[j] = _auc(ones[order], zeros[order])
        up[j] = _rank_sum(ones[a : b - 1], zeros[a : b - 1]) if ordered[j] else 0.0
    p.append(2 * norm.sf(np.abs(up)))
    return np.minimum(len(p) * np.minimum.reduce(p), 1.0), auc


def _auc(ones: np.ndarray, zeros: np.ndarray) -> float:
    """The chance that of a pair the one is in a higher bin than the zero, half a chance in the same bin."""
    below = np.cumsum(zeros) - 0.5 * zeros
    return float((ones * below).sum() / max(ones.sum() * zeros.sum(), 1))


def _rank_sum(ones: np.ndarray, zeros: np.ndarray) -> float:
    """The standardised rank sum of the ones, equal ranks in a bin."""
    n1, n0, tied = ones.sum(), zeros.sum(), ones + zeros
    n = n1 + n0
    if min(n1, n0) < 1 or n < 3:
        return 0.0
    variance = (n + 1 - (tied**3 - tied).sum() / (n * (n - 1))) / (12 * n1 * n0)
    return float((_auc(ones, zeros) - 0.5) / np.sqrt(variance)) if variance > 0 else 0.0


def uneven(
    inside: np.ndarray, drawn: np.ndarray, marked: np.ndarray | float, n: np.ndarray | float
) -> np.ndarray:
    """The chance of so few, or so many, of the marked ones among the rows drawn, of n rows (Fisher)."""
    few, many = hypergeom.cdf(inside, n, marked, drawn), hypergeom.sf(inside - 1, n, marked, drawn)
    return np.minimum(2 * np.minimum(few, many), 1.0)


def _held_out_auc(
    bins: np.ndarray, start: np.ndarray, ordered: np.ndarray, is_labeled: np.ndarray, fold: np.ndarray
) -> float:
    """Mean over folds: the chance that a held-out labelled row scores higher than an unlabelled one."""
    best = max(5, int(np.sqrt(len(ordered))))
    found, weight = [], []
    for k in range(N_FOLDS):
        train, test = fold != k, fold == k
        ones, zeros = (_count(bins[train & (is_labeled == side)], start) for side in (True, False))
        p, _ = _each_feature(ones, zeros, start, ordered)
        chosen = np.argsort(p, kind="stable")[:best]
        odds = np.log((ones + 1) / (ones.sum() + 1)) - np.log((zeros + 1) / (zeros.sum() + 1))
        score = odds[bins[test][:, chosen]].sum(axis=1)
        n1, n0 = int(is_labeled[test].sum()), int((~is_labeled[test]).sum())
        if n1 and n0:
            ranks = rankdata(score)[is_labeled[test]].sum()
            found.append((ranks - n1 * (n1 + 1) / 2) / (n1 * n0))
            weight.append(n1)
    return float(np.average(found, weights=weight))


class Twins(NamedTuple):
    """Unlabelled rows with the same features as a labelled row, and that labelled row."""

    unlabeled: np.ndarray
    labeled: np.ndarray


def same_rows(table: Table, labeled: np.ndarray) -> Twins | None:
    """Unlabelled rows that are copies of labelled ones, or None where equal rows come by themselves.

    Where features have few values, rows agree by chance, and many agree in half of the features: then equal
    rows are named only if labelled ones have more unlabelled twins than labels that were dealt out at random
    would give them.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(40, 4))
    >>> values[30:34] = values[:4]
    >>> table = Table(values, np.zeros(4, int), tuple("abcd"), (None,) * 4)
    >>> same_rows(table, np.arange(40) < 20).unlabeled.tolist()
    [30, 31, 32, 33]
    """
    n, d = table.shape
    if d < 2 or labeled.all() or not labeled.any():
        return None
    rng = np.random.default_rng(0)
    half = rng.permutation(d) < d // 2
    weights = rng.normal(size=d)
    three = np.column_stack([weights, weights * half, weights * ~half])
    # Numbers of all sizes count alike, from -1 to 1, and 2.5 stands for a missing value.
    largest = np.fmax.reduce(np.abs(table.values), axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    scaled = (table.values[a : a + 4096] / largest for a in range(0, n, 4096))
    keys = np.concatenate([np.where(np.isnan(part), 2.5, part) @ three for part in scaled])
    whole, *halves = (np.unique(key, return_inverse=True)[1] for key in keys.T)
    if not (equal := _pairs(whole)):
        return None
    by_chance = min(map(_pairs, halves)) - equal
    if COPIES * by_chance > equal and not _more_than_dealt(whole, labeled):
        return None
    first = np.full(whole.max() + 1, -1)
    rows = np.flatnonzero(labeled)[::-1]
    first[whole[rows]] = rows
    candidates = np.flatnonzero(~labeled & (first[whole] >= 0))
    twins = first[whole[candidates]]
    exact = np.array(
        [np.array_equal(table.values[i], table.values[j], equal_nan=True) for i, j in zip(candidates, twins)],
        dtype=bool,
    )
    candidates, twins = candidates[exact], twins[exact]
    return Twins(candidates, twins) if len(candidates) >= 2 else None


def _pairs(group: np.ndarray) -> int:
    """Pairs of rows in the same group."""
    size = np.bincount(group)
    return int((size * (size - 1) // 2).sum())


def _more_than_dealt(group: np.ndarray, labeled: np.ndarray) -> bool:
    """Whether more groups of equal rows hold both kinds than if the labels had been dealt out at random."""
    size = np.bincount(group)
    inside = np.bincount(group, weights=labeled)
    several = size > 1
    both = int(((inside > 0) & (inside < size))[several].sum())
    share = labeled.mean()
    chance = 1 - share ** size[several] - (1 - share) ** size[several]
    return bool(both - chance.sum() > 4 * np.sqrt((chance * (1 - chance)).sum()) + 1)
