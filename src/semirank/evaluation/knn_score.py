"""`knn_score` for data as users hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.parameters import SHARED, check_parameters
from ..data.align_rows import align_rows
from ..data.encode_features import encode_features, encode_like
from ..data.encode_target import encode_target, encode_target_like
from ..judging.knn_judge import judge_rankings
from ..results.ranking import Ranking


def knn_score(
    importances: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    k: int | Sequence[int] = (20, 40),
    pool: str = "labelled",
    *,
    task: str = "auto",
    hierarchy: Any = None,
    hierarchy_decay: float = 0.75,
    categorical_features: Any = "from_dtype",
    unlabeled: object = None,
    n_jobs: int | None = None,
) -> Any:
    """How well nearest neighbours predict in the space that a ranking weights (Def. 2.2).

    The distance is sum_i max(importance_i, 0) d_i^2, with equal weights where no importance is positive;
    the neighbours vote equally. The measure is macro F1 for classes, RRMSE (smaller is better) for
    numbers, the area under the pooled precision-recall curve for label sets.

    Parameters
    ----------
    importances : array of shape (n_features,) or (n_rankings, n_features), or Ranking
        Several rankings share the work.
    X_train, y_train, X_test, y_test
        In any form that the rankers take. Training rows without a target may be there (see `pool`, and
        they count for the ranges of features); test rows without one are left out.
    k : int or sequence of int, default=(20, 40)
        Numbers of neighbours.
    pool : {"labelled", "all"}, default="labelled"
        Where neighbours are sought: among the labelled training rows, or among all of them. In the
        latter case unlabelled rows take places and give no vote.
    task, hierarchy, hierarchy_decay, categorical_features, unlabeled, n_jobs
        As in the rankers.

    Returns
    -------
    float or ndarray
        Shape (n_rankings, n_k), without the axes for which a single ranking or a single k was given.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import knn_score
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 4))
    >>> y = np.where(X[:, 0] > 0.5, "high", "low")
    >>> good, bad = [1, 0, 0, 0], [0, 1, 1, 1]
    >>> scores = knn_score([good, bad], X[:200], y[:200], X[200:], y[200:], k=(5, 15))
    >>> scores.shape, bool(scores[0].min() > 0.9 > scores[1].max())
    ((2, 2), True)
    """
    check_parameters(SHARED, {"n_jobs": n_jobs})
    train = encode_features(X_train, categorical_features=categorical_features)
    test = encode_like(X_test, train, estimator_name="knn_score")
    target = encode_target(
        align_rows(X_train, y_train), task=task, unlabeled=unlabeled, hierarchy=hierarchy,
        hierarchy_decay=hierarchy_decay, n_rows=len(train),
    )  # fmt: skip
    test_target = encode_target_like(
        align_rows(X_test, y_test), target, unlabeled=unlabeled, n_rows=len(test)
    )
    if not test_target.labeled.any():
        raise ValueError("No row of y_test is labelled, so nothing can be scored.")
    if isinstance(importances, Ranking):
        importances = _in_order(importances, train.names)
    n_pool = int(target.labeled.sum()) if pool == "labelled" else len(train)
    if np.max(k, initial=0) > n_pool:
        what = "labelled training rows" if pool == "labelled" else "training rows"
        raise ValueError(f"k = {np.max(k)} is more than the {n_pool} {what}; use a smaller k.")
    scores = judge_rankings(importances, train, target, test, test_target, k, pool, n_jobs)
    if np.ndim(k) == 0:
        scores = scores[:, 0]
    return scores if np.ndim(importances) > 1 else scores[0]


def _in_order(ranking: Ranking, names: tuple[str, ...]) -> np.ndarray:
    """The scores of a ranking in the order of the columns."""
    score = dict(zip(ranking.names, ranking.scores))
    missing = [name for name in names if name not in score]
    if missing or len(score) != len(names):
        raise ValueError(f"The ranking is of {len(score)} features, the data have {len(names)} others.")
    return np.array([score[name] for name in names])
