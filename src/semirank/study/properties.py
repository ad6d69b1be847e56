"""Numbers about the data sets of a store, which need the data: sizes and the clustering hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS
from .store import Store, StoreError

# Names of the numbers; those of the sizes are the paper's headings.
CH = "cluster hypothesis"
EXAMPLES, FEATURES, SIZE = "examples", "features", "classes, labels or targets"
MISSING = "missing share"
MAJORITY, PER_ROW, DEPTH = "majority share", "labels per row", "depth"


def dataset_properties(
    store: str | PathLike[str],
    data: str | PathLike[str] | None = None,
    say: Callable[[str], None] | None = None,
) -> dict[str, dict[str, float]]:
    """Sizes of the data sets of a store, and how well clusters resemble the target (Def. 2.4).

    Parameters
    ----------
    store : path
    data : path, optional
        A folder of data sets: what is not known yet is computed from it and kept in the store. Without it
        nothing is computed.
    say : callable, optional
        Called with sentences for the user.

    Returns
    -------
    dict of str to dict
        By data set and name of the number.
    """
    say = say or (lambda text: None)
    with Store(store, read_only=True) as opened:
        names = {job.dataset for job in opened.jobs() if job.state == "done"}
        known = {name: numbers for name, numbers in opened.properties().items() if name in names}
    if data is None:
        return known
    from ..datasets.registry import data_folder, open_dataset
    from ..evaluation.cluster_hypothesis import cluster_hypothesis

    folder = data_folder(data)
    wanted = {CH, EXAMPLES, MISSING}
    for name in sorted(name for name in names if not wanted <= known.setdefault(name, {}).keys()):
        try:
            found = open_dataset(name, folder)
        except ValueError as error:
            say(f"no sizes and no clustering hypothesis for {name}: {error}")
            continue
        X, target = found.dataset.X, found.dataset.target
        new = paper_numbers(X, target) | {MISSING: float(np.isnan(X.values).mean())}
        if CH not in known[name]:
            new[CH] = cluster_hypothesis(X, target)
        known[name] |= new
        try:
            with Store(store) as opened:
                for number, value in new.items():
                    opened.keep_property(name, found.sha256, number, value)
        except StoreError as error:
            say(f"the numbers of {name} are not kept for the next time: {error}")
    return known


def paper_numbers(X: Table, target: Target) -> dict[str, float]:
    """The columns of the paper's tables of data sets, as far as the task has them."""
    found: dict[str, float] = {EXAMPLES: X.shape[0], FEATURES: X.shape[1]}
    known = target.values[target.labeled]
    if target.task == "classification":
        counts = np.bincount(known[:, 0].astype(np.int64))
        found |= {SIZE: target.n_classes, MAJORITY: float(counts.max() / counts.sum())}
    else:
        found[SIZE] = known.shape[1]
    if TASKS[target.task].is_label_set:
        found[PER_ROW] = float(np.nansum(known, axis=1).mean())
        found[DEPTH] = 1 if target.hierarchy is None else target.hierarchy.depth
    return found
