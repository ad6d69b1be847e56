"""Do clusters of the features resemble the target? (Def. 2.4)"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..base.parameters import seed_of
from ..data.align_rows import align_rows
from ..data.encode_features import encode_features
from ..data.encode_target import encode_target
from ..data.scaling import in_range, in_widest_range, ranges
from ..data.table import Table
from ..data.target import Target

RUNS = 5  # the best of these many clusterings counts, as in the paper


def cluster_hypothesis(
    X: Any,
    y: Any,
    *,
    root: bool = True,
    task: str = "auto",
    hierarchy: Any = None,
    hierarchy_decay: float = 0.75,
    categorical_features: Any = "from_dtype",
    unlabeled: object = None,
    random_state: Any = 0,
) -> float:
    """How well clusters in the features resemble the target: near 1 completely, near 0 not at all.

    All rows are clustered by k-means into as many clusters as there are classes, or 8; the target is
    compared with the clusters on the labelled rows. Classes are compared by the adjusted Rand index. For
    other targets v_j, the variance within clusters as a share of the whole variance of target variable
    j, gives 1 - mean_j sqrt(v_j), in a hierarchy with the weights of the labels. The best of five
    clusterings counts. Features enter unscaled, nominal ones as the position of the value among the
    declared ones, missing values as the mean; constant targets are left out.

    Parameters
    ----------
    X, y : features and target in any form that the rankers take
    root : bool, default=True
        False leaves the square root out: the formula as the paper prints it. Its table is reproduced
        with the root.
    task, hierarchy, hierarchy_decay, categorical_features, unlabeled
        As in the rankers.
    random_state : int, RandomState or None, default=0
        Seed of the first clustering; the others use the numbers after it.

    Returns
    -------
    float
        At most 1. The index of unrelated classes may be slightly below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import cluster_hypothesis
    >>> X = np.r_[np.linspace(0, 1, 30), np.linspace(10, 11, 30)].reshape(-1, 1)
    >>> cluster_hypothesis(X, np.repeat(["left", "right"], 30))
    1.0
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    table = encode_features(X, categorical_features=categorical_features)
    target = encode_target(
        align_rows(X, y), task=task, unlabeled=unlabeled, hierarchy=hierarchy,
        hierarchy_decay=hierarchy_decay, n_rows=len(table),
    )  # fmt: skip
    values = _filled(table)
    wanted = target.n_classes if target.task == "classification" else 8
    wanted = min(wanted, len(table))
    best = -np.inf
    first = seed_of(random_state)
    for seed in ((first + run) % 2**32 for run in range(RUNS)):
        # One thread: k-means on a few thousand rows loses more by waiting for threads than it gains.
        with warnings.catch_warnings(), threadpool_limits(1):
            # Fewer distinct rows than clusters: the clusters that there are will do.
            warnings.simplefilter("ignore", ConvergenceWarning)
            clusters = KMeans(wanted, n_init=10, random_state=seed).fit_predict(values)
        best = max(best, resemblance(clusters, target, root=root))
    return best


def resemblance(clusters: np.ndarray, target: Target, *, root: bool = True) -> float:
    """Agreement of given clusters with the target; the measure behind :func:`cluster_hypothesis`.

    Examples
    --------
    >>> numbers = Target("regression", np.array([[1.0], [1.0], [5.0], [5.0]]), ("y",), np.ones(1))
    >>> resemblance(np.array([0, 0, 1, 1]), numbers), resemblance(np.array([0, 1, 0, 1]), numbers)
    (1.0, 0.0)
    """
    if target.task == "classification":
        from sklearn.metrics import adjusted_rand_score

        known = target.labeled
        return float(adjusted_rand_score(target.values[known, 0], clusters[known]))
    known = ~np.isnan(target.values)
    low, high = ranges(target.values)
    used = low < high
    # From 0 to 1 first: squares of very large or very small numbers are no floats.
    scaled = np.where(known & used, in_range(target.values, low, high), 0.0)
    members = (clusters[:, None] == np.unique(clusters)).astype(float)
    within = _squares(scaled, known, members)
    whole = _squares(scaled, known, np.ones((len(clusters), 1)))
    share = np.minimum(within[used] / whole[used], 1.0)
    return float(1.0 - np.average(np.sqrt(share) if root else share, weights=target.weights[used]))


def _filled(table: Table) -> np.ndarray:
    """Numbers and codes as they are; missing values at the column's mean (0 where nothing is known)."""
    known = ~np.isnan(table.values)
    values = np.where(known, table.values, 0.0)
    largest = np.abs(values).max(initial=0.0)
    if largest > 1e100 or 0.0 < largest < 1e-100:
        # Squares would overflow or vanish. Clusters are the same in another unit, around another origin.
        values = np.where(known, in_widest_range(values, *ranges(table.values)), 0.0)
    mean = values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values, mean)


def _squares(values: np.ndarray, known: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Per column the squares of the known values around the means of their groups."""
    mean = (members.T @ values) / np.maximum(members.T @ known, 1.0)
    return (np.where(known, values - members @ mean, 0.0) ** 2).sum(axis=0)
