"""How much each member counts: non-negative weights from held-out answers (Breiman 1996; Def. 1.10)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

PULL = 0.1  # towards equal weights, in units of their loss


def stack_weights(learnt: np.ndarray, held_out: list[np.ndarray], pull: float = PULL) -> np.ndarray:
    """Weights that add up to 1, none negative, with the least held-out error, pulled towards equal ones.

    Parameters
    ----------
    learnt : ndarray of shape (n_rows, n_columns)
        Truth, NaN where unknown; the variances of its columns add up to 1.
    held_out : list of ndarray of the same shape
        Answers of each member.
    pull : float
        Times the loss of equal weights and the squared distance to them, added to the loss. In this unit a
        target that is known almost exactly is weighed as carefully as any other.

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> truth = np.array([[-1.0], [1.0]])
    >>> stack_weights(truth, [0.9 * truth, -truth]).round(2).tolist()
    [1.0, 0.0]
    >>> stack_weights(truth, [0.5 * truth, 0.5 * truth]).round(2).tolist()
    [0.5, 0.5]
    """
    m = len(held_out)
    known = ~np.isnan(learnt)
    share = np.where(known, 1.0 / np.sqrt(known.sum(axis=0)), 0.0)
    truth = np.where(known, learnt, 0.0)
    errors = np.array([((answers - truth) * share).ravel() for answers in held_out])
    loss = errors @ errors.T
    loss /= loss.mean() or 1.0  # that of equal weights
    loss += pull * (np.eye(m) - 1.0 / m)
    # Where weights add up to 1 the loss is w' Q w. Along every ray from 0 the least of w' Q w + (sum w - 1)^2
    # grows with w' Q w at the point of the ray where the sum is 1, so both are least on the same ray.
    values, vectors = np.linalg.eigh(loss)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    weights = nnls(np.vstack([root, np.ones(m)]), np.r_[np.zeros(m), 1.0])[0]
    return weights / weights.sum()
