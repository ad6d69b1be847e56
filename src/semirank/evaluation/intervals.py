"""How sure a cross-validated score is, and a difference between two of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from ..results.interval import Interval

CONFIDENCE = 0.95
GROUPS = 30  # enough for Student's t to be near the normal, few enough for slow measures


class Estimate(NamedTuple):
    """A score (or several), and what two jackknives need to say how sure it is (Def. 2.7).

    Estimates over the same groups can be subtracted and averaged, part by part; then rows that are hard for
    both sides cancel.

    Attributes
    ----------
    whole : ndarray
    without : ndarray of shape (n_groups, ...)
        The same without each group of tested rows.
    trained : ndarray of shape (n_repeats, n_splits, ...) or None
        The score of all tested rows by what was learnt without the labels of each split.
    """

    whole: np.ndarray
    without: np.ndarray
    trained: np.ndarray | None = None

    def minus(self, other: Estimate) -> Estimate:
        """The difference. Nothing was learnt for an estimate without `trained`, such as that of a guess."""
        trained = self.trained
        if trained is not None and other.trained is not None:
            trained = trained - other.trained
        return Estimate(self.whole - other.whole, self.without - other.without, trained)

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> Estimate:
        """A linear change of all parts, along their last axis."""
        return Estimate(*(None if part is None else change(part) for part in self))  # type: ignore[arg-type]

    def error(self) -> np.ndarray:
        """Standard error of a cross-validated score.

        The score leans on the labelled rows in two ways, as rows to test and as rows to rank and to predict
        from, and each has a jackknife of its own: leave out groups of tested rows, and leave out each fold's
        labels where rankings are made, averaged over repeats. Their variances are added. The second counts at
        least as much as the first, since it does not see the labels that predictions are made from, and is
        the mean of a few squares. How often the intervals hold the truth is in docs/testing.md
        (`python -m tools.calibrate`).
        """
        tested = _jackknife(self.without)
        if self.trained is None:
            return np.sqrt(2.0 * tested)
        trained = np.mean([_jackknife(repeat) for repeat in self.trained], axis=0)
        return np.sqrt(tested + np.maximum(tested, trained))

    def times(self, sign: float) -> Estimate:
        """All parts times a number."""
        return self.mapped(lambda part: sign * part)

    def interval(self) -> Interval:
        """Student's t interval."""
        reach = self._reach(1) * self.error()
        return Interval(float(self.whole), float(self.whole - reach), float(self.whole + reach))

    def low(self, n_looks: int) -> np.ndarray:
        """Lower ends of intervals so wide that `n_looks` of them hold together (Bonferroni)."""
        return self.whole - self._reach(n_looks) * self.error()

    def _reach(self, n_looks: int) -> float:
        return float(stdtrit(len(self.without) - 1, 1.0 - (1.0 - CONFIDENCE) / 2 / n_looks))


def _jackknife(without: np.ndarray) -> np.ndarray:
    """The variance that leaving out one of n groups at a time finds."""
    n = len(without)
    squares: np.ndarray = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return (n - 1) / n * squares


def estimate(score: Callable[[np.ndarray], float | np.ndarray], groups: np.ndarray) -> Estimate:
    """The score of all rows, and without each group.

    Parameters
    ----------
    score : callable
        From a mask of rows to a number or an array.
    groups : ndarray of int of shape (n_rows,)
        0 ... n_groups - 1, see :func:`row_groups`.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 3.0, 6.0])
    >>> found = estimate(lambda rows: values[rows].mean(), np.arange(4))
    >>> found.whole, found.without
    (array(3.), array([3.66666667, 3.33333333, 3.        , 2.        ]))
    """
    everything = np.ones(len(groups), dtype=bool)
    without = [score(groups != group) for group in range(groups.max() + 1)]
    return Estimate(np.asarray(score(everything)), np.asarray(without))


def row_groups(n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows dealt into at most `GROUPS` groups of about one size; each row its own group if they are few.

    Examples
    --------
    >>> np.bincount(row_groups(100, np.random.default_rng(0)))[:12]
    array([4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3])
    """
    return rng.permutation(np.arange(n_rows) % GROUPS)
