"""Two further judges of a ranking: nearest neighbours, and models on its first features (Def. 2.6)."""

from __future__ import annotations

import numpy as np

from ..data.tasks import TASKS
from ..judging.knn_judge import judge_neighbors, judge_rankings
from .cells import Cell
from .foreign_columns import FeatureSpace, target_columns
from .foreign_models import Boosting, KernelRidge, explained, one_thread

# Share of the features, and at least so many of them.
SUBSETS = ((0.05, 2), (0.1, 4), (0.2, 8))
BOOSTED_COLUMNS = 4
SUBSET_MODELS = ("boosting", "kernel")


def fair_knn(scores: np.ndarray, cell: Cell, n_labeled: int) -> np.ndarray:
    """How well the nearest labelled rows predict held-out ones in the spaces that rankings weight.

    Parameters
    ----------
    scores : array of shape (n_features,) or (n_rankings, n_features)
    cell : Cell
    n_labeled : int
        The rankings' number of labels, which are the pool of neighbours.

    Returns
    -------
    ndarray of shape (n_rankings,)
        The task's measure; minus RRMSE for numbers, so that larger is always better.
    """
    target = cell.labeled(n_labeled)
    k = judge_neighbors(n_labeled)
    found = judge_rankings(scores, cell.train, target, cell.test, cell.test_target, k, "labelled")[:, 0]
    return TASKS[target.task].sign * found


def subset_value(scores: np.ndarray, cell: Cell) -> dict[str, float]:
    """Held-out R2 of boosting and kernel ridge, with all labels, on the first 5, 10 and 20 % of the features.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Features of equal score come in an order that is random but always the same.
    cell : Cell

    Returns
    -------
    dict
        Mean over the three subsets for "boosting" and "kernel".
    """
    n_features = cell.train.shape[1]
    mixed = np.random.default_rng(0).permutation(n_features)
    order = mixed[np.argsort(-scores[mixed], kind="stable")]
    space = FeatureSpace.fit(cell.train)
    train, test = space.encode(cell.train), space.encode(cell.test)
    target = target_columns(cell.train_target, cell.test_target)
    boosted = target.boosted[:BOOSTED_COLUMNS]
    found: dict[str, list[float]] = {model: [] for model in SUBSET_MODELS}
    for share, fewest in SUBSETS:
        first = order[: max(fewest, round(share * n_features))]
        columns = np.flatnonzero(np.isin(space.block, first))
        a, b = train[:, columns], test[:, columns]
        with one_thread():
            boosting = Boosting.fit(a, target.train[:, boosted]).bind(b).base
            kernel = KernelRidge.fit(a, target.train).bind(b).base
        found["boosting"].append(explained(boosting, target.test[:, boosted]))
        found["kernel"].append(explained(kernel, target.test))
    return {model: float(np.mean(values)) for model, values in found.items()}
