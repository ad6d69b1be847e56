"""Some labels kept at random and the others hidden, to see what a ranking makes of so few."""

from __future__ import annotations

from typing import Any

import numpy as np

from .encode_target import encode_target
from .target import Target


def keep_labels(
    y: Any,
    n_labels: int,
    *,
    task: str = "auto",
    unlabeled: object = None,
    hierarchy: Any = None,
    random_state: Any = 0,
) -> Target:
    """Keep the labels of some rows, chosen at random, and hide all others.

    With the same `random_state`, fewer labels are always a part of more.

    Parameters
    ----------
    y : target in any form that the rankers take, or Target
    n_labels : int
        Number of rows that keep their label.
    task, unlabeled, hierarchy
        As in the rankers.
    random_state : int, numpy Generator or None, default=0

    Returns
    -------
    Target
        Ready for `semirank.rank` and every ranker.

    Examples
    --------
    >>> import numpy as np
    >>> import semirank as sr
    >>> y = sr.keep_labels(np.repeat(["a", "b"], 50), 20, random_state=1)
    >>> int(y.labeled.sum())
    20
    >>> fewer = sr.keep_labels(np.repeat(["a", "b"], 50), 10, random_state=1)
    >>> bool((fewer.labeled <= y.labeled).all())
    True
    """
    target = encode_target(y, task=task, unlabeled=unlabeled, hierarchy=hierarchy)
    if isinstance(n_labels, bool) or not isinstance(n_labels, int | np.integer) or n_labels < 2:
        raise ValueError(f"At least 2 labels must be kept, and a whole number of them, not {n_labels!r}.")
    rows = np.flatnonzero(target.labeled)
    if n_labels > len(rows):
        have = "1 row is" if len(rows) == 1 else f"{len(rows)} rows are"
        raise ValueError(f"{n_labels} labels cannot be kept, because only {have} labelled.")
    hidden = np.random.default_rng(random_state).permutation(rows)[n_labels:]
    kept = target.hide(hidden)
    known = kept.values[kept.labeled]
    if not (np.nanmin(known, axis=0) < np.nanmax(known, axis=0)).any():
        same = "are all of one class" if target.classes is not None else "do not differ in any target"
        raise ValueError(f"The {n_labels} labels that are kept {same}; keep more, or choose another seed.")
    return kept
