"""Importances as shares of a whole, in which rankings can be averaged and compared (Def. 1.10, 2.6)."""

from __future__ import annotations

import numpy as np


def as_shares(importances: np.ndarray) -> np.ndarray:
    """Importances cut at 0 and divided by their sum, column by column; equal ones where nothing is positive.

    Examples
    --------
    >>> as_shares(np.array([3.0, -1.0, 1.0]))
    array([0.75, 0.  , 0.25])
    >>> as_shares(np.array([0.0, -1.0]))
    array([0.5, 0.5])
    """
    cut = np.maximum(importances, 0.0)
    largest = cut.max(axis=0, initial=0.0)
    cut = cut / np.where(largest > 0, largest, 1.0)  # so that the sum of very large numbers does not overflow
    total = cut.sum(axis=0)
    return np.where(total > 0, cut / np.where(total > 0, total, 1.0), 1.0 / max(len(importances), 1))
