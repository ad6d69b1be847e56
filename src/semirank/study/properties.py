"""Numbers about the data sets of a store, which need the data: the clustering hypothesis (DESIGN 6.4)."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from .store import Store

CH = "cluster hypothesis"


def cluster_hypotheses(
    store: str | PathLike[str],
    data: str | PathLike[str] | None = None,
    say: Callable[[str], None] | None = None,
) -> dict[str, float]:
    """How well clusters resemble the target, for the data sets of a store.

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
    dict of str to float
    """
    with Store(store, read_only=data is None) as opened:
        names = {row.dataset: row.sha256 for row in opened.jobs() if row.state == "done"}
        known = {n: numbers[CH] for n, numbers in opened.properties().items() if n in names and CH in numbers}
        if data is None:
            return known
        from ..evaluation.cluster_hypothesis import cluster_hypothesis
        from .registry import data_folder, open_dataset

        folder = data_folder(data)
        for name in sorted(set(names) - set(known)):
            try:
                found = open_dataset(name, folder)
            except ValueError as error:
                if say is not None:
                    say(f"no clustering hypothesis for {name}: {error}")
                continue
            known[name] = cluster_hypothesis(found.dataset.X, found.dataset.target)
            opened.keep_property(name, found.sha256, CH, known[name])
    return known
