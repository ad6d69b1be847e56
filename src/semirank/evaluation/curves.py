"""Scores over the number of labels and over the number of features (Def. 2.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .intervals import Estimate


def area(n_labeled: Sequence[float] | np.ndarray, scores: Sequence[float] | np.ndarray) -> float:
    """Area under the points (L, score), by trapezoids, divided by the range of L: the scale of the scores.

    Parameters
    ----------
    n_labeled : sequence of numbers, increasing
    scores : sequence of float, as many

    Returns
    -------
    float
        The score itself where there is one point only.

    Examples
    --------
    >>> area([50, 100, 200], [0.2, 0.4, 0.5])
    0.4
    """
    x, y = np.asarray(n_labeled, dtype=float), np.asarray(scores, dtype=float)
    if len(x) == 1:
        return float(y[0])
    width = np.diff(x) / (x[-1] - x[0])
    return float(np.sum(width * (y[1:] + y[:-1]) / 2))


def addition_sizes(n_features: int) -> np.ndarray:
    """1, 2, 4, ... and all features.

    Examples
    --------
    >>> addition_sizes(10)
    array([ 1,  2,  4,  8, 10])
    """
    powers = 2 ** np.arange(int(n_features).bit_length())
    return np.unique(np.r_[powers, n_features])


def feature_subsets(importances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of features, and the best and the worst that many: rows of ones and zeros.

    Examples
    --------
    >>> sizes, best, worst = feature_subsets(np.array([0.1, 0.3, 0.2]))
    >>> sizes, best.tolist(), worst.tolist()
    (array([1, 2, 3]), [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
     [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    """
    n_features = len(importances)
    sizes = addition_sizes(n_features)
    place = np.empty(n_features, dtype=int)
    place[np.argsort(-importances, kind="stable")] = np.arange(n_features)
    best, worst = place < sizes[:, None], place >= n_features - sizes[:, None]
    return sizes, best.astype(float), worst.astype(float)


def enough_features(n_features: np.ndarray, scores: Estimate, guess: Estimate) -> int | None:
    """The smallest number of features that is as good as the best number, within one standard error.

    Only numbers whose score is above that of a guess can be it, by intervals that hold for all numbers at
    once; None if there are none.

    Parameters
    ----------
    n_features : ndarray of shape (n_sizes,)
    scores : Estimate
        Of arrays of shape (n_sizes,), larger is better: the forward curve.
    guess : Estimate
        Of a number.

    Examples
    --------
    >>> scores = Estimate(np.array([0.5, 0.79, 0.80]), np.array([[0.5, 0.80, 0.80], [0.5, 0.78, 0.80]]))
    >>> enough_features(np.array([1, 2, 4]), scores, Estimate(np.array(0.0), np.zeros(2)))
    2
    """
    ahead = Estimate(scores.whole - guess.whole, scores.without - guess.without[:, None], scores.trained)
    better = ahead.low(len(n_features)) > 0
    if not better.any():
        return None
    best = [int(np.argmax(np.where(better, scores.whole, -np.inf)))]
    behind = scores.mapped(lambda part: part[..., best] - part)
    return int(n_features[np.argmax(better & (behind.whole <= behind.error()))])
