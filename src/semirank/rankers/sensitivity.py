"""A ranker that is no forest: how much kernel ridge regression changes its answer (Def. 1.10)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..runtime.parallel import each, one_blas_thread
from ..runtime.progress import Progress
from ..teacher.lesson import Lesson, relative_loss, scale_target
from ..teacher.ridge import KernelModel, fit_kernel, squared_distances
from ..teacher.space import fit_space

POWERS = (1.0, 0.5, 0.0)  # of the shares that weigh the space; of equal errors the first wins
_CELLS = 4.0e7  # kernel values that are computed in all; with more, the answer is asked for fewer rows
_LEAST_ROWS = 200
_LEAST_ANSWERS = 500  # for each feature; fewer rows are permuted several times
_BLOCK = 1 << 20  # kernel values that a thread holds at a time


class Asked(NamedTuple):
    """A fitted kernel ridge regression and the rows that it is asked about.

    Attributes
    ----------
    model : KernelModel
    points : ndarray of shape (n_asked, n_columns)
    feature : ndarray of shape (n_columns,)
        The feature that a column belongs to.
    n_features : int
    """

    model: KernelModel
    points: np.ndarray
    feature: np.ndarray
    n_features: int


def sensitivity(
    table: Table,
    target: Target,
    shares: np.ndarray,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Mean squared change of the answer over these rows when a feature is permuted.

    Parameters
    ----------
    table, target : Table, Target
        The rows to answer for; the regression learns from the labelled ones among them.
    shares : ndarray of shape (n_features,)
        How much each feature counts in the distances; they add up to 1.
    seed : int
        Of the permutations.
    n_jobs : int, optional
    progress : callable, optional

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.normal(size=(200, 4)), np.zeros(4, np.int64), tuple("abcd"), (None,) * 4)
    >>> y = np.where(np.arange(200) < 40, table.values[:, 2], np.nan)
    >>> target = Target("regression", y[:, None], ("y",), np.ones(1))
    >>> int(sensitivity(table, target, np.full(4, 0.25)).argmax())
    2
    """
    with one_blas_thread():
        asked = ask(table, target, shares, seed, n_jobs)
        return mean_changes(asked, seed, n_jobs, progress)


def ask(table: Table, target: Target, shares: np.ndarray, seed: int, n_jobs: int | None) -> Asked:
    """Fit the regression in the weighted space, and choose the rows to ask about.

    How sharply the shares weigh is chosen by the least error for labelled rows that were left out.
    """
    space = fit_space(table)
    rows = np.flatnonzero(target.labeled)
    known, labels = table.take(rows), target.take(rows)
    _, learnt = scale_target(labels)
    plain = space.points(table.values)
    least = np.inf
    for power in POWERS:
        weights = space_weights(shares, power)[space.feature]
        used = weights > 0  # the others are at the same place for all rows
        places = plain[:, used] * weights[used]
        answer = fit_kernel(Lesson(known, labels, learnt, places[rows], places, seed, n_jobs))
        loss = relative_loss(learnt, answer.held_out)
        if loss < least:
            least, model, points, feature = loss, answer.model, places, space.feature[used]
    assert isinstance(model, KernelModel)
    n_asked = int(_CELLS / (len(model.centres) * max(1, len(np.unique(feature)))))
    n_asked = max(_LEAST_ROWS, n_asked)
    if n_asked < len(points):
        some = np.random.default_rng([seed, 0]).permutation(len(points))[:n_asked]
        points = points[np.sort(some)]
    return Asked(model, points, feature, table.shape[1])


def space_weights(shares: np.ndarray, power: float) -> np.ndarray:
    """What the columns of each feature are multiplied by; the mean of their squares is 1.

    Examples
    --------
    >>> space_weights(np.array([0.8, 0.2, 0.0, 0.0]), 0.5).round(3).tolist()
    [1.633, 1.155, 0.0, 0.0]
    >>> space_weights(np.array([0.8, 0.2, 0.0, 0.0]), 0.0).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    sharpened = shares**power
    return np.sqrt(len(shares) * sharpened / sharpened.sum())


def permutations(seed: int, feature: int, n: int) -> np.ndarray:
    """Where each of n rows takes the feature from, never from itself: a row for each permutation.

    Shifts of a random order. Few rows have several, so that chance counts no more than with many rows.

    Examples
    --------
    >>> permutations(0, 0, 2)
    array([[1, 0]])
    >>> permutations(0, 0, 100).shape, permutations(0, 0, 1000).shape, permutations(0, 0, 1).shape
    ((5, 100), (1, 1000), (0, 1))
    """
    rng = np.random.default_rng([seed, 1, feature])
    order = rng.permutation(n)
    shifts = 1 + rng.permutation(n - 1)[: -(-_LEAST_ANSWERS // n)]
    source = np.empty((len(shifts), n), np.int64)
    for i, shift in enumerate(shifts):
        source[i, order] = np.roll(order, shift)
    return source


def mean_changes(
    asked: Asked, seed: int, n_jobs: int | None = None, progress: Progress | None = None
) -> np.ndarray:
    """The change for each feature, from distances of which only the feature's own part is new."""
    centres, width, dual = asked.model
    features = np.unique(asked.feature).tolist()
    n = len(asked.points)
    times = len(permutations(seed, 0, n))
    if times == 0:  # a single row has none to take from
        return np.zeros(asked.n_features)
    points = np.tile(asked.points, (times, 1))
    before = squared_distances(points, centres)
    answer = np.exp(-width * before) @ dual
    step = max(1, _BLOCK // len(centres))
    blocks = [slice(i, i + step) for i in range(0, len(before), step)]

    def work(feature: int) -> float:
        columns = np.flatnonzero(asked.feature == feature)
        places, centre = points[:, columns], centres[:, columns]
        other = places[permutations(seed, feature, n).ravel()]
        total = 0.0
        for block in blocks:
            distance = squared_distances(other[block], centre)
            distance -= squared_distances(places[block], centre)
            distance += before[block]
            np.maximum(distance, 0.0, out=distance)
            distance *= -width
            np.exp(distance, out=distance)
            total += float(np.sum((distance @ dual - answer[block]) ** 2))
        return total / len(places)

    out = np.zeros(asked.n_features)
    for done, (feature, change) in enumerate(zip(features, each(work, features, n_jobs))):
        out[feature] = change
        if progress is not None:
            progress(done + 1, len(features), "sensitivity")
    return out
