"""Quality of predictions: macro F1, RRMSE and pooled AUPRC, one measure per task (Def. 2.3).

Truth is always the encoded target (NaN where unknown); unknown cells are ignored, cell by cell.
"""

from __future__ import annotations

import numpy as np

from ..data.tasks import TASKS


def macro_f1(truth: np.ndarray, predicted: np.ndarray, n_classes: int) -> float:
    """Mean of the per-class F1 over the classes that occur in the truth or in the prediction.

    Parameters
    ----------
    truth, predicted : array of shape (n_rows,)
        Class codes; NaN in `truth` is ignored together with its prediction.
    n_classes : int

    Returns
    -------
    float
        0.0 if no truth is known.

    Examples
    --------
    >>> macro_f1([0, 1, 1, float("nan")], [0, 1, 0, 1], 2)
    0.6666666666666666
    """
    truth = np.asarray(truth, dtype=np.float64)
    known = ~np.isnan(truth)
    actual = truth[known].astype(np.intp)
    guess = np.asarray(predicted)[known].astype(np.intp)
    if len(actual) == 0:
        return 0.0
    n_classes = max(n_classes, int(actual.max()) + 1)  # a class that training never saw
    hits = np.bincount(actual[actual == guess], minlength=n_classes)
    # F1 = 2 tp / (2 tp + fp + fn), whose denominator is (true count + predicted count).
    total = np.bincount(actual, minlength=n_classes) + np.bincount(guess, minlength=n_classes)
    present = total > 0
    return float(np.mean(2.0 * hits[present] / total[present]))


def rrmse_per_target(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Root of the mean squared error over the variance, for each target variable.

    The variance is the population variance of the known cells of `truth`.

    Parameters
    ----------
    truth, predicted : array of shape (n_rows, n_targets)

    Returns
    -------
    ndarray of shape (n_targets,)
        NaN marks a target without a known cell or with variance 0, for which the measure is undefined.

    Examples
    --------
    >>> rrmse_per_target([[0.0], [2.0], [float("nan")]], [[1.0], [1.0], [5.0]])
    array([1.])
    """
    truth, predicted = np.asarray(truth, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    known = ~np.isnan(truth)
    count = known.sum(axis=0)
    safe = np.maximum(count, 1)
    # In units near the largest value squares neither overflow nor vanish; a power of two rounds nothing.
    unit = np.ldexp(0.5, np.frexp(np.where(known, np.abs(truth), 0.0).max(axis=0, initial=0.0))[1])
    with np.errstate(over="ignore"):  # a prediction may be in quite another unit
        truth, predicted = truth / unit, np.clip(predicted / unit, -1e120, 1e120)
    # Centre twice: the mean of large numbers is rounded, and a constant must come out as exactly 0.
    first = np.where(known, truth, np.inf).min(axis=0, initial=np.inf)
    shifted = np.where(known, truth - first, 0.0)
    centred = np.where(known, shifted - shifted.sum(axis=0) / safe, 0.0)
    variance = (centred**2).sum(axis=0) / safe
    error = np.where(known, predicted - truth, 0.0)
    squared = (error**2).sum(axis=0) / safe
    return np.sqrt(np.divide(squared, variance, out=np.full(count.shape, np.nan), where=variance > 0))


def rrmse(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Mean of :func:`rrmse_per_target` over the targets for which it is defined (smaller is better).

    If it is defined for none of them, the value is 1.0, that of predicting the mean.

    Examples
    --------
    >>> rrmse([[0.0], [2.0]], [[1.0], [1.0]])
    1.0
    >>> rrmse([[3.0], [3.0]], [[1.0], [2.0]])  # a constant target has no relative error
    1.0
    """
    each = rrmse_per_target(truth, predicted)
    defined = ~np.isnan(each)
    return float(each[defined].mean()) if defined.any() else 1.0


def pooled_auprc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Area under the micro-averaged precision-recall curve: all cells of all labels in one pool.

    Interpolated as scikit-learn's average precision (a step function), not by trapezoids.

    Parameters
    ----------
    truth : array of shape (n_rows,) or (n_rows, n_labels)
        0/1, NaN ignored.
    scores : array of the same shape
        Larger means more likely.

    Returns
    -------
    float
        0.0 if there is no positive cell.

    Examples
    --------
    >>> pooled_auprc([[1, 0], [0, 1]], [[0.9, 0.2], [0.4, 0.3]])
    0.8333333333333333
    """
    truth = np.asarray(truth, dtype=np.float64).ravel()
    scores = np.asarray(scores, dtype=np.float64).ravel()
    positive = np.sort(scores[truth == 1.0])
    if len(positive) == 0:
        return 0.0
    ordered = np.sort(scores[~np.isnan(truth)])
    # Recall moves only at the scores of positives: one step per distinct one, weighted by its positives.
    starts = np.flatnonzero(np.r_[True, positive[1:] != positive[:-1]])
    found = len(positive) - starts
    retrieved = len(ordered) - np.searchsorted(ordered, positive[starts], side="left")
    gained = np.diff(np.r_[starts, len(positive)])
    return float(np.sum(gained * (found / retrieved)) / len(positive))


def task_score(task: str, truth_values: np.ndarray, prototypes: np.ndarray) -> float:
    """The measure of a task; `TASKS` names it and says which way it points.

    Parameters
    ----------
    task : str
    truth_values : ndarray of shape (n_rows, n_targets)
        The values of a `Target`.
    prototypes : ndarray of shape (n_rows, n_targets), or (n_rows, n_classes) for classification
        Predicted numbers, label shares, or class shares; the class with the largest share is
        predicted, ties going to the first.

    Examples
    --------
    >>> task_score("classification", np.array([[0.0], [1.0]]), np.array([[0.5, 0.5], [0.2, 0.8]]))
    1.0
    """
    name = TASKS[task].measure
    if name == "macro F1":
        prototypes = np.asarray(prototypes)
        return macro_f1(np.asarray(truth_values)[:, 0], prototypes.argmax(axis=1), prototypes.shape[1])
    if name == "RRMSE":
        return rrmse(truth_values, prototypes)
    return pooled_auprc(truth_values, prototypes)
