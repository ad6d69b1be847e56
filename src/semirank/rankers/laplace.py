"""`LaplaceRanker`: the semi-supervised Laplacian score, the competitor of the paper (Def. 1.7)."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.ranker import RankerBase
from ..data.scaling import in_range, ranges
from ..data.table import Table
from ..data.target import Target
from ..neighbors.search import Progress, nearest_points, row_blocks, run_parts
from ..neighbors.target_distance import TargetSpace, target_space
from ..results.ranking import Ranking
from ..runtime.memory import ensure_room

COMBINE = ("product", "semi_supervised")
_CELLS = 1 << 21  # numbers held at a time when all columns are compared along the edges


class Columns(NamedTuple):
    """Numeric features and the one-hot columns of nominal ones, standardised; constant ones left out.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Missing numbers and the columns of missing nominal values are at their mean, 0.
    feature : ndarray of shape (n_columns,)
        The feature that each column belongs to.
    """

    values: np.ndarray
    feature: np.ndarray


class Edges(NamedTuple):
    """Close pairs of rows, first < second; `distance` is d_Y where `labeled`, else that of the features."""

    first: np.ndarray
    second: np.ndarray
    distance: np.ndarray
    labeled: np.ndarray


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
    space = _space(target)
    labeled = target.labeled
    rows = np.flatnonzero(labeled)
    among = _labeled_neighbors(space, rows, columns.values, n_neighbors, n_jobs, progress)
    edges = _edges(rows, among.rows, columns.values, space, labeled)
    supervised = graph_scores(columns.values, edges, label_weight, kernel_width)
    score = supervised
    if use_unlabeled:
        near = _neighbors(among, columns.values, labeled, n_neighbors, n_jobs, progress)
        edges = _edges(np.arange(len(table)), near, columns.values, space, labeled)
        score = _defined(graph_scores(columns.values, edges, label_weight, kernel_width))
        if combine == "product":
            if np.isnan(supervised).all():
                notes.append("the labelled rows are too few or too alike for a supervised factor")
            score = score * _defined(supervised)
    return _importances(_defined(score), columns.feature, table.shape[1])


def standard_columns(table: Table) -> Columns:
    """One column per numeric feature, one per seen value of a nominal one, to mean 0 and variance 1."""
    parts, feature = [], []
    columns = table.values.T
    seen = [np.unique(x[~np.isnan(x)]) if n else np.zeros(1) for x, n in zip(columns, table.n_values)]
    # With the neighbours that are sought in these columns (measured).
    n_cells = 9.0 * len(table) * sum(map(len, seen))
    ensure_room(8.0 * n_cells, f"The graph of {len(table)} rows and {sum(map(len, seen))} columns")
    for i, n_values in enumerate(table.n_values.tolist()):
        x = columns[i]
        missing = np.isnan(x)
        block = x[:, None]
        if n_values:
            block = (block == seen[i]).astype(np.float64)
            block[missing] = np.nan
        low, high = ranges(block)
        varies = low < high
        # First into [0, 1], where neither squares nor differences lose anything.
        block = in_range(block[:, varies], low[varies], high[varies])
        if varies.any():
            block -= block[~missing].mean(axis=0)
            block /= np.sqrt((block[~missing] ** 2).mean(axis=0))
        block[missing] = 0.0
        parts.append(block)
        feature.append(np.full(int(varies.sum()), i))
    return Columns(np.ascontiguousarray(np.hstack(parts)), np.concatenate(feature))


def graph_scores(
    columns: np.ndarray, edges: Edges, label_weight: float = 1.0, kernel_width: float | None = None
) -> np.ndarray:
    """f~' L f~ / f~' Deg f~ of every column f, centred by Deg; NaN where that is 0/0.

    S is exp(-d/t) on the edges, `label_weight` times as much on labelled ones, L = Deg - S; t is
    `kernel_width`, by default the median distance (if that is 0 the mean, if that is 0 one).
    """
    if len(edges.first) == 0:
        return np.full(columns.shape[1], np.nan)
    if kernel_width is None:
        kernel_width = float(np.median(edges.distance)) or float(edges.distance.mean()) or 1.0
    with np.errstate(over="ignore"):  # infinitely many widths apart: exp(-inf) = 0 is right
        weight = np.exp(-edges.distance / kernel_width) * np.where(edges.labeled, label_weight, 1.0)
    degree = np.bincount(edges.first, weight, len(columns)) + np.bincount(edges.second, weight, len(columns))
    if degree.sum() == 0.0:
        raise ValueError(
            f"kernel_width={kernel_width} is so small that all weights exp(-d / kernel_width) vanish; "
            "use a larger one or 'median'."
        )
    across = np.zeros(columns.shape[1])
    step = max(1, _CELLS // columns.shape[1])
    for start in range(0, len(weight), step):
        part = slice(start, start + step)
        across += weight[part] @ (columns[edges.first[part]] - columns[edges.second[part]]) ** 2
    centred = columns - degree @ columns / degree.sum()
    spread = degree @ centred**2
    # Below the rounding of the sum, the column is constant where the graph has weight.
    defined = spread > 1e-20 * degree.sum()
    return np.divide(across, spread, out=np.full(len(spread), np.nan), where=defined)


def _space(target: Target) -> TargetSpace:
    """d_Y of Def. 1.6; for regression the square of the standardised difference, as in the literature."""
    from ..neighbors.target_kernels import SQUARE

    if target.task != "regression":
        return target_space(target)
    y = target_space(target).values[:, 0]  # in [0, 1]: no number is too large to be squared
    known = y[~np.isnan(y)]
    spread = known.std()
    return TargetSpace((y / (spread if spread > 0 else 1.0))[:, None], np.ones(1), SQUARE)


class _Among(NamedTuple):
    """The nearest labelled rows of every labelled row, and their distances by target and by features."""

    rows: np.ndarray
    distances: np.ndarray
    features: np.ndarray


def _labeled_neighbors(
    space: TargetSpace,
    rows: np.ndarray,
    columns: np.ndarray,
    k: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> _Among:
    from ..neighbors.target_kernels import target_nearest

    k = min(k, len(rows) - 1)
    if k < 1:
        empty = np.zeros((len(rows), 0))
        return _Among(empty.astype(np.int64), empty, empty)
    values, features = space.values[rows], columns[rows]

    def work(block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return target_nearest(block.start, block.stop, values, space.weights, space.kind, features, k)

    parts = run_parts(work, row_blocks(len(rows), len(rows)), n_jobs, progress)
    near, distances, apart = (np.concatenate(part) for part in zip(*parts))
    return _Among(rows[near], distances, apart)


def _neighbors(
    among: _Among,
    columns: np.ndarray,
    labeled: np.ndarray,
    k: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> np.ndarray:
    """The k nearest rows of every row under the mixed distance (n_rows x k)."""
    from ..neighbors.kernels import CELL

    k = min(k, len(columns) - 1)
    known, unknown = np.flatnonzero(labeled), np.flatnonzero(~labeled)
    out = np.empty((len(columns), k), np.int64)
    if len(unknown):
        # An unlabelled row compares features with everybody, a labelled one with the unlabelled rows.
        out[unknown] = nearest_points(
            columns, columns[unknown], k, own=unknown, n_jobs=n_jobs, progress=progress
        ).rows
    if len(known):
        rows, distances = among.rows, among.distances
        if len(unknown):
            found, apart = nearest_points(
                columns[unknown], columns[known], k, n_jobs=n_jobs, progress=progress
            )
            apart = np.rint(apart / CELL) * CELL
            rows = np.hstack([rows, unknown[found]])
            distances = np.hstack([distances, apart])
            features = np.hstack([among.features, apart])
            order = np.lexsort((rows, features, distances), axis=1)
            rows = np.take_along_axis(rows, order, axis=1)
        out[known] = rows[:, :k]
    return out


def _edges(
    rows: np.ndarray, near: np.ndarray, columns: np.ndarray, space: TargetSpace, labeled: np.ndarray
) -> Edges:
    """Pairs of which one is among the other's nearest, each once."""
    from ..neighbors.target_kernels import target_pairs

    n_rows = len(columns)
    a, b = np.repeat(rows, near.shape[1]), near.ravel()
    code = np.unique(np.minimum(a, b) * n_rows + np.maximum(a, b))
    first, second = code // n_rows, code % n_rows
    distance = target_pairs(space.values, labeled, first, second[:, None], space.weights, space.kind)[:, 0]
    known = distance >= 0.0
    step = max(1, _CELLS // columns.shape[1])
    other = np.flatnonzero(~known)
    for start in range(0, len(other), step):
        part = other[start : start + step]
        distance[part] = ((columns[first[part]] - columns[second[part]]) ** 2).mean(axis=1)
    return Edges(first, second, distance, known)


def _defined(scores: np.ndarray) -> np.ndarray:
    """Undefined scores take the largest defined one; 1 if there is none."""
    largest = np.nanmax(scores) if not np.isnan(scores).all() else 1.0
    return np.where(np.isnan(scores), largest, scores)


def _importances(scores: np.ndarray, feature: np.ndarray, n_features: int) -> np.ndarray:
    """Sum over the columns of a feature, then max + min - score; constant features come last with 0."""
    total = np.bincount(feature, scores, n_features)
    some = np.isin(np.arange(n_features), feature)
    return np.where(some, total[some].max() + total[some].min() - total, 0.0)


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
    use_unlabeled : bool, default=True
        False is the supervised counterpart: the score from the labelled rows alone.
    task : {"auto", "classification", "regression", "multi_target", "multi_label", "hierarchical"}
        "auto" looks at y and says back what it found in `notes_`.
    hierarchy : Hierarchy, path strings, parent lists or edges, optional
        For label sets with a hierarchy.
    hierarchy_decay : float, default=0.75
        Weight of a label relative to the mean of its parents.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
    unlabeled : optional
        A value of y that means "unknown" besides NaN and None, for example -1. Never guessed.
    n_features_to_select : int, float or None, default=None
        For `transform`: how many features, which share of them, or all with importance > 0 (here all that
        are not constant).
    n_jobs : int, optional
        Through joblib. Results do not depend on it.
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
    ranking_ : ndarray of shape (n_features,)
        1 = best, ties share a rank.
    task_ : str
    n_labeled_ : int
    notes_ : list of str
        What was found and decided, one sentence each.

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

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        label_weight: float = 5.0,
        kernel_width: float | str = "median",
        combine: str = "product",
        use_unlabeled: bool = True,
        task: str = "auto",
        hierarchy: Any = None,
        hierarchy_decay: float = 0.75,
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        n_features_to_select: int | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_neighbors = n_neighbors
        self.label_weight = label_weight
        self.kernel_width = kernel_width
        self.combine = combine
        self.use_unlabeled = use_unlabeled
        self.task = task
        self.hierarchy = hierarchy
        self.hierarchy_decay = hierarchy_decay
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, progress: Progress | None = None) -> LaplaceRanker:
        """Score the features.

        Parameters
        ----------
        X : array, frame, sparse matrix or Table of shape (n_rows, n_features)
        y : array, Series, frame, or sequence of label sets
            Holes (NaN, None) are unlabelled rows or, in two dimensions, unknown cells.
        progress : callable, optional
            Called as ``progress(done, total, what)`` while it works.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        self._check_parameters()
        table, target = self._encode(X, y)
        self._target_names = target.names
        self.timings_ = {"read": time.perf_counter() - began}
        began = time.perf_counter()
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
        self.timings_["laplace"] = time.perf_counter() - began
        self._finish({"laplace": scores}, {}, None, "laplace")
        return self

    def _check_parameters(self) -> None:
        """One sentence for whatever cannot be meant."""
        k = self.n_neighbors
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"n_neighbors={k!r} must be a whole number of at least 1.")
        if not isinstance(self.label_weight, Real) or not 0 < self.label_weight < np.inf:
            raise ValueError(f"label_weight={self.label_weight!r} must be a number above 0.")
        if self.kernel_width != "median" and (
            not isinstance(self.kernel_width, Real) or not 0 < self.kernel_width < np.inf
        ):
            raise ValueError(f"kernel_width={self.kernel_width!r} is neither a number above 0 nor 'median'.")
        if self.combine not in COMBINE:
            raise ValueError(f"combine={self.combine!r} is not one of {', '.join(COMBINE)}.")

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        check_is_fitted(self, "feature_importances_")
        return Ranking(
            names=self._schema.names,
            scores=self.feature_importances_,
            method="laplace",
            importance="laplace",
            all_scores=self.importances_,
            target_names=self._target_names,
            task=self.task_,
            n_rows=self.n_rows_,
            n_labeled=self.n_labeled_,
            settings=self.get_params(deep=False),
            missing_share=self.missing_share_,
            timings=self.timings_,
            notes=self.notes_,
        )
