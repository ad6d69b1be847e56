"""What unlabelled rows are worth (Def. 2.6): the factor of labels that would help a ranking as much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
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
        (over all seeds of the curve, of the seeds' own rises) from L to its last number of labels.

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
    known = ~np.isnan(curve).any(axis=1)
    judged = known & ~np.isnan(method)
    rises = (curve[:, -1] - curve[:, counts.index(n_labeled)])[known]  # whatever the method has
    method, curve = method[judged], curve[judged]
    n_seeds = len(method)
    if n_seeds < 2:
        nan = float("nan")
        return Worth(nan, nan, nan, n_seeds, "fewer than two seeds can be judged")
    error = rises.std(ddof=1) / np.sqrt(len(rises))
    flat = rises.mean() <= 0 or rises.mean() < ERRORS * error
    reason = f"more labels hardly help: {rises.mean():+.3f} with an error of {error:.3f}" if flat else ""
    samples, times = _samples(n_seeds)
    factors = _factors(method[samples].mean(axis=1), curve[samples].mean(axis=1), counts, n_labeled)
    low, high = np.quantile(np.repeat(factors, times), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    (factor,) = _factors(method.mean()[None], curve.mean(axis=0)[None], counts, n_labeled)
    return Worth(float(factor), float(low), float(high), n_seeds, reason)


@lru_cache(maxsize=16)
def _samples(n_seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Seeds drawn with replacement, and how often each sample was drawn: few seeds have few samples."""
    draws = np.sort(np.random.default_rng(0).integers(0, n_seeds, (RESAMPLES, n_seeds)), axis=1)
    return np.unique(draws, axis=0, return_counts=True)


def labels_needed(score: np.ndarray | float, curve: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """Number of labels at which a curve reaches a score, or each of several curves its own.

    A curve is made monotone (by isotonic regression) and interpolated in the logarithm of the number of
    labels; outside its range the first or last number. Where it stays level at the very score, the geometric
    middle of that stretch.

    Examples
    --------
    >>> float(labels_needed(0.65, np.array([0.5, 0.6, 0.7]), (25, 50, 100)).round(1))
    70.7
    """
    curves, place = np.atleast_2d(np.asarray(curve, dtype=np.float64)), np.log(counts)
    # Rounded, since means of level stretches differ in their last bits.
    level, scores = np.round(_monotone(curves), 12), np.round(np.atleast_1d(score), 12)
    first = _between(level, place, (level < scores[:, None]).sum(axis=1), scores)
    last = _between(level, place, (level <= scores[:, None]).sum(axis=1), scores)
    found = np.exp((first + last) / 2)
    return found if np.ndim(curve) == 2 else found[0]


def _monotone(curves: np.ndarray) -> np.ndarray:
    """Isotonic regression of short curves: the largest, over starts, of the least mean over ends."""
    n = curves.shape[1]
    sums = np.concatenate([np.zeros((len(curves), 1)), np.cumsum(curves, axis=1)], axis=1)
    means = {(a, b): (sums[:, b + 1] - sums[:, a]) / (b + 1 - a) for a in range(n) for b in range(a, n)}
    return np.stack(
        [
            np.max([np.min([means[a, b] for b in range(i, n)], axis=0) for a in range(i + 1)], axis=0)
            for i in range(n)
        ],
        axis=1,
    )


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


def _factors(scores: np.ndarray, curves: np.ndarray, counts: Sequence[int], n_labeled: int) -> np.ndarray:
    return np.clip(labels_needed(scores, curves, counts) / n_labeled, LEAST, MOST)


def _between(level: np.ndarray, place: np.ndarray, after: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Places of the scores between the points `after - 1` and `after`, which are not level; else an end."""
    n, rows = level.shape[1], np.arange(len(level))
    right = np.clip(after, 1, n - 1)
    start, rise = level[rows, right - 1], level[rows, right] - level[rows, right - 1]
    share = (scores - start) / np.where(rise > 0, rise, 1.0)
    inside = place[right - 1] + share * (place[right] - place[right - 1])
    return np.where(after == 0, place[0], np.where(after == n, place[-1], inside))
