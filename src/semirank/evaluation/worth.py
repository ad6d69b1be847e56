"""What unlabelled rows are worth (Def. 2.6): the factor of labels that would help a ranking as much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

LEAST, MOST = 0.5, 4.0
ERRORS = 2.0  # a curve that rises by fewer standard errors has nothing to measure with
LEVEL = 0.9  # of the intervals
RESAMPLES = 2000


class Worth(NamedTuple):
    """The factor of one data set, with its interval over seeds.

    `reason` says why the data set does not count, and is empty if it does.
    """

    factor: float
    low: float
    high: float
    n_seeds: int
    reason: str

    @property
    def counted(self) -> bool:
        return not self.reason


class Summary(NamedTuple):
    """Over data sets: geometric mean of the factor with its interval, how many are above and below 1, p."""

    factor: float
    low: float
    high: float
    wins: int
    losses: int
    p: float
    n_counted: int
    listed: dict[str, str]


def worth(method: np.ndarray, curve: np.ndarray, counts: Sequence[int], n_labeled: int) -> Worth:
    """The factor f for which the label-only ranking with f L labels captures what the method captures with L.

    Parameters
    ----------
    method : array of shape (n_seeds,)
        Scores of the method with `n_labeled` labels, larger is better; NaN where a seed cannot be judged.
    curve : array of shape (n_seeds, n_counts)
        Scores of the label-only counterpart, for the same seeds.
    counts : sequence of int
        Its numbers of labels, rising, `n_labeled` among them.
    n_labeled : int
        L.

    Returns
    -------
    Worth
        Between 0.5 and 4. The data set does not count where the curve rises by less than two standard errors
        (over the seeds, of the seeds' own rises) from L to its last number of labels.

    Examples
    --------
    >>> curve = np.array([[0.5, 0.6, 0.7, 0.8], [0.52, 0.61, 0.71, 0.82]])
    >>> found = worth(np.array([0.65, 0.66]), curve, (25, 50, 100, 200), 50)
    >>> round(found.factor, 2), found.counted
    (1.41, True)
    """
    method, curve = np.asarray(method, dtype=np.float64), np.asarray(curve, dtype=np.float64)
    counts = list(counts)
    if curve.shape != (len(method), len(counts)) or sorted(set(counts)) != counts or n_labeled not in counts:
        raise ValueError(
            f"A curve of shape {curve.shape} does not fit {len(method)} seeds and the numbers of labels "
            f"{counts}, which must rise and hold {n_labeled}."
        )
    judged = ~(np.isnan(method) | np.isnan(curve).any(axis=1))
    method, curve = method[judged], curve[judged]
    n_seeds = len(method)
    if n_seeds < 2:
        nan = float("nan")
        return Worth(nan, nan, nan, n_seeds, "fewer than two seeds can be judged")
    rises = curve[:, -1] - curve[:, counts.index(n_labeled)]
    error = rises.std(ddof=1) / np.sqrt(n_seeds)
    flat = rises.mean() <= 0 or rises.mean() < ERRORS * error
    reason = f"more labels hardly help: {rises.mean():+.3f} with an error of {error:.3f}" if flat else ""
    draws = np.sort(np.random.default_rng(0).integers(0, n_seeds, (RESAMPLES, n_seeds)), axis=1)
    samples, times = np.unique(draws, axis=0, return_counts=True)  # few seeds have few samples
    factors = [_factor(method[rows].mean(), curve[rows].mean(axis=0), counts, n_labeled) for rows in samples]
    low, high = np.quantile(np.repeat(factors, times), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    factor = _factor(method.mean(), curve.mean(axis=0), counts, n_labeled)
    return Worth(factor, float(low), float(high), n_seeds, reason)


def labels_needed(score: float, curve: np.ndarray, counts: Sequence[int]) -> float:
    """Number of labels at which a curve reaches a score.

    The curve is made monotone (by isotonic regression) and interpolated in the logarithm of the number of
    labels; outside its range the first or last number. Where it stays level at the very score, the geometric
    middle of that stretch.

    Examples
    --------
    >>> float(labels_needed(0.65, np.array([0.5, 0.6, 0.7]), (25, 50, 100)).round(1))
    70.7
    """
    from sklearn.isotonic import isotonic_regression

    # Rounded, since means of level stretches differ in their last bits.
    level = np.round(isotonic_regression(np.asarray(curve, dtype=np.float64)), 12)
    place, score = np.log(counts), round(float(score), 12)
    below, above = np.searchsorted(level, score, "left"), np.searchsorted(level, score, "right")
    first = _between(level, place, int(below), score)
    last = _between(level, place, int(above), score)
    return np.exp((first + last) / 2)


def summarise(worths: Mapping[str, Worth]) -> Summary:
    """Sum the data sets up that count; the others are listed with the reason.

    Examples
    --------
    >>> one = Worth(2.0, 1.5, 2.5, 5, "")
    >>> two, level = one._replace(factor=0.5), one._replace(reason="level")
    >>> found = summarise({"a": one, "b": two, "c": one, "d": level})
    >>> round(found.factor, 2), found.wins, found.losses, found.listed
    (1.26, 2, 1, {'d': 'level'})
    """
    from scipy.stats import wilcoxon

    listed = {name: found.reason for name, found in worths.items() if not found.counted}
    logs = np.log([found.factor for found in worths.values() if found.counted])
    if len(logs) == 0:
        nan = float("nan")
        return Summary(nan, nan, nan, 0, 0, nan, 0, listed)
    draws = np.random.default_rng(0).integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.exp(np.quantile(logs[draws].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    p = float(wilcoxon(logs).pvalue) if np.any(logs != 0) else 1.0
    wins, losses = int((logs > 0).sum()), int((logs < 0).sum())
    return Summary(float(np.exp(logs.mean())), float(low), float(high), wins, losses, p, len(logs), listed)


def _factor(score: float, curve: np.ndarray, counts: Sequence[int], n_labeled: int) -> float:
    return float(np.clip(labels_needed(score, curve, counts) / n_labeled, LEAST, MOST))


def _between(level: np.ndarray, place: np.ndarray, i: int, score: float) -> float:
    """Place of the score between the points i - 1 and i, which are not level."""
    if i == 0 or i == len(level):
        return float(place[0] if i == 0 else place[-1])
    share = (score - level[i - 1]) / (level[i] - level[i - 1])
    return float(place[i - 1] + share * (place[i] - place[i - 1]))
