"""Captured importance (Def. 2.6): how much of a reference the first features of a ranking hold."""

from __future__ import annotations

import numpy as np

SHARE = 0.3  # of the features; what comes later in a ranking is seldom used
FEWEST = 5  # but at least so many features


def depth(n_features: int) -> int:
    """How many first features of a ranking count."""
    return min(n_features, max(FEWEST, int(np.ceil(SHARE * n_features))))


def captured_curve(scores: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Reference importance in the first m features over the most that m features can hold, m = 1, 2, ...

    Parameters
    ----------
    scores : array of shape (n_features,)
        The ranking, larger is better. Features of equal score come in random order: what is returned is the
        mean over all orders of them.
    reference : array of shape (n_features,)
        Importances of at least 0, not all 0.

    Returns
    -------
    ndarray of shape (depth(n_features),)

    Examples
    --------
    >>> captured_curve(np.array([1.0, 3.0, 2.0]), np.array([0.5, 0.4, 0.1])).round(3)
    array([0.8  , 0.556, 1.   ])
    """
    scores, reference = _checked(scores, reference)
    order = np.argsort(-scores, kind="stable")
    _, tied, sizes = np.unique(-scores[order], return_inverse=True, return_counts=True)
    held = (np.bincount(tied, reference[order]) / sizes)[tied]  # every place of a tie has its mean
    best = np.sort(reference)[::-1]
    m = depth(len(scores))
    return np.cumsum(held)[:m] / np.cumsum(best)[:m]


def captured(scores: np.ndarray, reference: np.ndarray) -> float:
    """Mean of :func:`captured_curve`: 1 for a ranking by the reference itself.

    Examples
    --------
    >>> captured(np.array([3.0, 2.0, 1.0]), np.array([0.5, 0.4, 0.1]))
    1.0
    """
    return float(captured_curve(scores, reference).mean())


def _checked(scores: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = np.asarray(scores, dtype=np.float64)
    reference = np.asarray(reference, dtype=np.float64)
    if scores.ndim != 1 or scores.shape != reference.shape or scores.size == 0:
        raise ValueError(
            f"The ranking has shape {scores.shape} and the reference {reference.shape}; "
            "both need one number per feature."
        )
    if np.isnan(scores).any():
        raise ValueError("The ranking contains NaN; give every feature a score.")
    if not (np.isfinite(reference).all() and (reference >= 0).all() and (reference > 0).any()):
        raise ValueError("The reference must be finite numbers of at least 0, and not all 0.")
    return scores, reference
