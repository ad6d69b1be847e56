"""`LaplaceRanker`: the semi-supervised Laplacian score, the competitor of the paper (Def. 1.7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.parameters import POSITIVE, Names, at_least
from ..base.ranker import RankerBase, Scores
from ..data.table import Table
from ..data.target import Target
from ..runtime.progress import Progress
from .laplace_graph import (
    edges_of,
    graph_scores,
    labeled_neighbors,
    laplace_space,
    mixed_neighbors,
    standard_columns,
)


def laplace_scores(
    table: Table,
    target: Target,
    *,
    n_neighbors: int = 5,
    label_weight: float = 5.0,
    kernel_width: float | None = None,
    combine: str = "product",
    use_unlabeled: bool = True,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    notes: list[str] | None = None,
) -> np.ndarray:
    """Importances by the semi-supervised Laplacian score, for encoded data.

    The parameters are those of :class:`LaplaceRanker`; `kernel_width` None is the median.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.random((200, 4)), np.zeros(4, np.int64), tuple("abcd"), (None,) * 4)
    >>> y = np.where(np.arange(200) < 50, table.values[:, 2], np.nan)
    >>> scores = laplace_scores(table, Target("regression", y[:, None], ("y",), np.ones(1)))
    >>> int(scores.argmax())
    2
    """
    notes = [] if notes is None else notes
    if not use_unlabeled:
        labeled = target.labeled
        table, target = table.take(labeled), target.take(labeled)
    if len(table) < 2:
        raise ValueError("The Laplacian score compares rows, but only one row is left; label more rows.")
    if n_neighbors > len(table) - 1:
        notes.append(f"n_neighbors={n_neighbors}, but a row has only {len(table) - 1} others: all are used")
    columns = standard_columns(table)
    if len(columns.feature) == 0:
        return np.zeros(table.shape[1])
    space = laplace_space(target)
    labeled = target.labeled
    rows = np.flatnonzero(labeled)
    among = labeled_neighbors(space, rows, columns.values, n_neighbors, n_jobs, progress)
    edges = edges_of(rows, among.rows, columns.values, space, labeled)
    supervised = graph_scores(columns.values, edges, label_weight, kernel_width)
    score = supervised
    if use_unlabeled:
        near = mixed_neighbors(among, columns.values, labeled, n_neighbors, n_jobs, progress)
        edges = edges_of(np.arange(len(table)), near, columns.values, space, labeled)
        score = _defined(graph_scores(columns.values, edges, label_weight, kernel_width))
        if combine == "product":
            if np.isnan(supervised).all():
                notes.append("the labelled rows are too few or too alike for a supervised factor")
            score = score * _defined(supervised)
    return _importances(_defined(score), columns.feature, table.shape[1])


def _defined(scores: np.ndarray) -> np.ndarray:
    """Undefined scores take the largest defined one; 1 if there is none."""
    largest = np.nanmax(scores) if not np.isnan(scores).all() else 1.0
    return np.where(np.isnan(scores), largest, scores)


def _importances(scores: np.ndarray, feature: np.ndarray, n_features: int) -> np.ndarray:
    """Sum over the columns of a feature, then max + min - score; constant features come last with 0."""
    total = np.bincount(feature, scores, n_features)
    some = np.isin(np.arange(n_features), feature)
    return np.where(some, total[some].max() + total[some].min() - total, 0.0)


@dataclass(kw_only=True, eq=False, repr=False)
class LaplaceRanker(RankerBase):
    """Rank features by the semi-supervised Laplacian score of Doquire and Verleysen (2013).

    Near rows are joined into a graph: labelled rows by how alike their targets are, other pairs by their
    features. A good feature changes little along the edges compared with its variance. The score of this
    graph is multiplied by the same score from the labelled rows alone.

    The original is for regression; for the other tasks the target distance of Relief takes the place of the
    squared difference, an extension of ours. The constants are ours too (the original text was not at hand),
    and so are these rules: missing values are at the mean of their column, equal target distances go to the
    rows with nearer features, then to the lower row number.

    Parameters
    ----------
    n_neighbors : int, default=5
        Two rows are close if one is among so many nearest rows of the other.
    label_weight : float, default=5.0
        Weight of a close pair of labelled rows, relative to other close pairs at the same distance.
    kernel_width : float or "median", default="median"
        t in the weight exp(-d/t) of a close pair at distance d; by default the median d of close pairs.
    combine : {"product", "semi_supervised"}, default="product"
        The product with the supervised score, or the score of the semi-supervised graph alone.
    n_features_to_select : int, float or None, default=None
        For `transform`: how many features, which share of them, or all with importance > 0 (here all that
        are not constant).
    random_state : int, RandomState or None
        Not used: nothing is random. Here so that all rankers take the same parameters.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Largest score + smallest score - score, so that more is better; constant features have 0.
    importances_ : dict of str to ndarray
        {"laplace": feature_importances_}.
    importances_std_error_ : dict
        Empty.
    importances_per_target_ : None

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import LaplaceRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 2] + 0.1 * rng.normal(size=300)
    >>> y[80:] = np.nan                     # 80 of 300 rows are labelled
    >>> ranker = LaplaceRanker(n_features_to_select=1).fit(X, y)
    >>> ranker.get_feature_names_out()
    array(['x2'], dtype=object)
    """

    n_neighbors: int = 5
    label_weight: float = 5.0
    kernel_width: float | str = "median"
    combine: str = "product"

    _method = "laplace"
    _parameter_constraints = {  # noqa: RUF012  as scikit-learn has it
        "n_neighbors": [at_least(1)],
        "label_weight": [POSITIVE],
        "kernel_width": [POSITIVE, Names("median")],
        "combine": [Names("product", "semi_supervised")],
    }

    def _rank(
        self, table: Table, target: Target, progress: Progress | None, step: Callable[[str], None]
    ) -> Scores:
        step("read")
        if self.task_ != "regression":
            self.notes_.append("the Laplacian score is for regression; for other tasks it is our extension")
        scores = laplace_scores(
            table,
            target,
            n_neighbors=self.n_neighbors,
            label_weight=self.label_weight,
            kernel_width=None if isinstance(self.kernel_width, str) else self.kernel_width,
            combine=self.combine,
            use_unlabeled=self.use_unlabeled,
            n_jobs=self.n_jobs,
            progress=progress,
            notes=self.notes_,
        )
        step("laplace")
        return Scores({"laplace": scores}, {}, "laplace")
