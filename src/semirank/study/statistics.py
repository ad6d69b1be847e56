"""Average ranks over data sets, and which methods they tell apart.

Methods are compared by Friedman's test over all of them, and in pairs by Wilcoxon's signed-rank test with
Holm's correction. The pairwise test looks at the two methods alone, so that, unlike with Nemenyi's
critical difference, adding a bad third method cannot make two others differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, rankdata

ALPHA = 0.05
DECIMALS = 10  # scores that are equal up to rounding are ties


class Comparison(NamedTuple):
    """Methods over data sets, best average rank first.

    Attributes
    ----------
    names : tuple of str
    ranks : ndarray
        Average ranks, 1 is the best possible.
    n : int
        Number of data sets.
    friedman : float
        The p-value of "all methods are alike".
    p_values : ndarray of shape (n_methods, n_methods)
        Of the pairs, after Holm's correction.
    alike : tuple of (first, last)
        Longest runs of methods in which no pair differs at the level ALPHA.
    """

    names: tuple[str, ...]
    ranks: np.ndarray
    n: int
    friedman: float
    p_values: np.ndarray
    alike: tuple[tuple[int, int], ...]


def rank_rows(scores: np.ndarray) -> np.ndarray:
    """Ranks within each row, 1 for the largest; ties share the mean of their ranks.

    Examples
    --------
    >>> rank_rows([[0.9, 0.1, 0.9], [0.3, 0.2, 0.1]])
    array([[1.5, 3. , 1.5],
           [1. , 2. , 3. ]])
    """
    return rankdata(-np.round(np.asarray(scores, dtype=float), DECIMALS), axis=1)


def compare(names: Sequence[str], scores: np.ndarray) -> Comparison:
    """Compare methods (columns) over data sets (rows) by scores of which a larger one is better.

    Examples
    --------
    >>> scores = [[0.9, 0.5, 0.6], [0.8, 0.4, 0.3], [0.7, 0.2, 0.1]]
    >>> found = compare(("a", "b", "c"), scores)
    >>> found.names, found.ranks.round(2).tolist(), found.alike
    (('a', 'b', 'c'), [1.0, 2.33, 2.67], ((0, 2),))
    """
    values = np.asarray(scores, dtype=float)
    ranks = rank_rows(values)
    order = np.argsort(ranks.mean(axis=0), kind="stable")
    values, ranks = values[:, order], ranks[:, order]
    p_values = np.ones((len(order), len(order)))
    pairs = list(combinations(range(len(order)), 2))
    for (i, j), p in zip(pairs, holm([signed_rank(values[:, i] - values[:, j]) for i, j in pairs])):
        p_values[i, j] = p_values[j, i] = p
    names = tuple(names[i] for i in order)
    alike = _runs(p_values > ALPHA)
    return Comparison(names, ranks.mean(axis=0), len(values), friedman(ranks), p_values, alike)


def friedman(ranks: np.ndarray) -> float:
    """The p-value of Friedman's test (chi-square form, with its correction for ties).

    Examples
    --------
    >>> round(friedman(np.array([[1.0, 2, 3], [1, 2, 3], [1, 3, 2]])), 4)
    0.097
    """
    n, k = ranks.shape
    spread = np.square(ranks).sum() - n * k * (k + 1) ** 2 / 4
    if spread <= 0:  # every row is one tie
        return 1.0
    between = np.square(ranks.sum(axis=0) - n * (k + 1) / 2).sum()
    return float(chi2.sf((k - 1) * between / spread, k - 1))


def signed_rank(differences: np.ndarray) -> float:
    """The exact two-sided p-value of Wilcoxon's signed-rank test; zeros are dropped, ties share ranks.

    Examples
    --------
    >>> signed_rank([0.3, 0.1, 0.2, 0.5, 0.4])
    0.0625
    """
    values = np.round(np.asarray(differences, dtype=float), DECIMALS)
    values = values[values != 0]
    # Twice the ranks are whole numbers even where they are shared, so sums can be counted one by one.
    ranks = np.rint(2 * rankdata(np.abs(values))).astype(int)
    chance = np.zeros(ranks.sum() + 1)
    chance[0] = 1.0
    for rank in ranks:
        moved = np.zeros_like(chance)
        moved[rank:] = chance[:-rank]
        chance = (chance + moved) / 2
    plus = int(ranks[values > 0].sum())
    tail = min(plus, int(ranks.sum()) - plus)
    return float(min(1.0, 2 * chance[: tail + 1].sum()))


def spearman(a: np.ndarray, b: np.ndarray) -> float | None:
    """Rank correlation; None where it is not defined.

    Examples
    --------
    >>> spearman(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), spearman(np.ones(3), np.ones(3))
    (0.5, None)
    """
    ranks = rank_rows(np.array([a, b]))
    if len(a) < 3 or np.any(ranks.std(axis=1) == 0):
        return None
    return float(np.corrcoef(ranks)[0, 1])


def holm(p_values: Sequence[float]) -> np.ndarray:
    """p-values of several tests made together, corrected by Holm's step-down rule.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order]))
    return corrected


def _runs(alike: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Longest runs of methods, in order of rank, that are alike in every pair."""
    found: list[tuple[int, int]] = []
    for first in range(len(alike)):
        last = first
        while last + 1 < len(alike) and alike[first : last + 1, last + 1].all():
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return tuple(found)
