"""How far apart are two targets? d_Y of Def. 1.6 for the five tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.scaling import in_range, ranges
from ..data.target import Target

_BLOCK = 2048  # label sets that are compared with all others at a time


class TargetSpace(NamedTuple):
    """Target variables scaled so that the distance kernels need no task.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_targets)
        NaN where unknown.
    weights : ndarray of shape (n_targets,)
    kind : int
        How differences add up, see `target_kernels`.
    """

    values: np.ndarray
    weights: np.ndarray
    kind: int


def target_space(target: Target) -> TargetSpace:
    """The target as d_Y sees it.

    Classes differ or not; numbers by their share of the range (weighted mean over targets); label sets by
    the share of labels on which they disagree; sets of a hierarchy by the weights of those labels, as a share
    of the largest such sum between two label sets of these rows.

    Examples
    --------
    >>> target = Target("regression", np.array([[2.0], [4.0], [np.nan]]), ("y",), np.ones(1))
    >>> target_space(target).values.ravel()
    array([ 0.,  1., nan])
    """
    from .target_kernels import DIFFER, MEAN, SUM

    values = np.ascontiguousarray(target.values)
    ones = np.ones(values.shape[1])
    if target.task == "classification":
        return TargetSpace(values, ones, DIFFER)
    if target.task == "multi_label":
        return TargetSpace(values, ones, MEAN)
    if target.task == "hierarchical":
        largest = largest_difference(values[target.labeled], target.weights)
        return TargetSpace(values, target.weights / largest if largest > 0 else ones, SUM)
    return TargetSpace(np.ascontiguousarray(in_range(values, *ranges(values))), target.weights, MEAN)


def largest_difference(members: np.ndarray, weights: np.ndarray) -> float:
    """Largest sum of weights over the symmetric difference of two of these label sets (0/1 rows)."""
    sets = np.unique(members, axis=0)
    size = sets @ weights
    weighted = sets * weights
    largest = 0.0
    for start in range(0, len(sets), _BLOCK):
        part = slice(start, start + _BLOCK)
        both = weighted[part] @ sets.T
        largest = max(largest, float((size[part, None] + size - 2.0 * both).max()))
    # Below the smallest weight there is only rounding: all sets are the same.
    return largest if largest > 0.5 * weights.min() else 0.0
