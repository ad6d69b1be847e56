"""From prototypes back to the user's own terms, for the five tasks (Def. 1.3)."""

from __future__ import annotations

import numpy as np

from .target import Target


def decode(schema: Target, prototypes: np.ndarray, threshold: float = 0.5) -> np.ndarray:
    """Predictions: a class, a number, several numbers, or a 0/1 row per label set.

    Parameters
    ----------
    schema : Target
        Any rows of the fitted target; only its task, classes and hierarchy are used.
    prototypes : ndarray of shape (n_rows, n_columns)
    threshold : float, default=0.5

    Returns
    -------
    ndarray
        Labels with a share of at least `threshold` are predicted; a predicted label brings its ancestors.

    Examples
    --------
    >>> schema = Target("classification", np.zeros((0, 1)), ("y",), np.ones(1), np.array(["a", "b"]))
    >>> decode(schema, np.array([[0.2, 0.8], [0.5, 0.5]]))
    array(['b', 'a'], dtype='<U1')
    """
    if schema.task == "classification":
        assert schema.classes is not None
        return schema.classes[prototypes.argmax(axis=1)]
    if schema.task == "regression":
        return prototypes[:, 0]
    if schema.task == "multi_target":
        return prototypes
    labels = (prototypes >= threshold).astype(np.float64)
    if schema.hierarchy is not None:
        labels = schema.hierarchy.close(labels)
    return labels.astype(np.int64)
