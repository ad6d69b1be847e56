"""Definitions that changed after the first records were made, and the jobs whose results changed with them.

A change is part of a job's key only where it changes the results, so that all other finished jobs stay done.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..data.scaling import ranges
from ..data.table import Table
from ..data.target import Target
from ..judging.splits import TUNING_FOLDS, Fold, fold_numbers

PRINTED_WEIGHTS = "weights as printed"
CONSTANTS_LEFT_OUT = "constant features left out"


def changes_for_forests(task: str, normalize_weights: bool) -> tuple[str, ...]:
    """The impurity as printed is another one only where the weights of the target are not all 1 (Def. 1.2).

    Examples
    --------
    >>> changes_for_forests("hierarchical", False), changes_for_forests("multi_label", False)
    (('weights as printed',), ())
    """
    return () if normalize_weights or task != "hierarchical" else (PRINTED_WEIGHTS,)


def changes_for_relief(
    X: Table, target: Target, fold: Fold, seeds: Mapping[int, int]
) -> dict[int, tuple[str, ...]]:
    """For every number of labels, with the seed of its job: does Relief leave features out (Def. 1.6)?

    Among all training rows, a feature that does not vary took part in every distance, which is a mean.
    Among labelled rows alone, in the supervised counterpart and its folds, only the order of the distances
    matters. A feature on which all rows are at distance 0 left that order as it was, but a nominal one with
    missing values did not.
    """
    table = X.take(fold.train)
    if not _all_vary(table.values):
        return dict.fromkeys(seeds, (CONSTANTS_LEFT_OUT,))
    found: dict[int, tuple[str, ...]] = {}
    for n_labeled, seed in seeds.items():
        rows = fold.labeled[n_labeled]
        values, known = X.values[rows], target.take(rows)
        counted = (X.n_values > 0) & np.isnan(values).any(axis=0)
        if np.isnan(known.values).any():  # pairs without a common target have the distance of features
            counted[:] = True
        folds = fold_numbers(known, TUNING_FOLDS, np.random.default_rng(seed))
        parts = [values[:, counted], *(values[folds != f][:, counted] for f in range(TUNING_FOLDS))]
        found[n_labeled] = () if all(map(_all_vary, parts)) else (CONSTANTS_LEFT_OUT,)
    return found


def _all_vary(values: np.ndarray) -> bool:
    low, high = ranges(values)
    return bool((low < high).all())
