"""`ReliefRanker`: semi-supervised Relief for five kinds of target (Def. 1.6)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from itertools import product
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.estimator import seed_of
from ..base.ranker import RankerBase
from ..data.table import Table
from ..data.target import Target
from ..neighbors.search import Progress
from ..results.ranking import Ranking
from .relief_sums import find_pairs, make_view, nearest_labeled, rows_to_visit, single_setting
from .relief_tuning import Grid, choose_setting, too_few_labels

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
NEIGHBORS = (15, 20, 30)
INFLUENCE = (0.0, 1.0)
FEW_PAIRS = 250  # from about so many labelled pairs on, planted features were found reliably
# The paper's grid. The setting without tuning comes first: it wins ties.
INFLUENCES = (INFLUENCE, *((a, b) for a, b in product(LEVELS, LEVELS) if a <= b and (a, b) != INFLUENCE))


class ReliefScores(NamedTuple):
    """What Relief found.

    Attributes
    ----------
    importances, standard_errors : ndarray of shape (n_features,)
    per_target : ndarray of shape (n_features, n_targets)
        From the pairs of rows that both know the target variable.
    n_neighbors : int
    influence : tuple of float
        w0 and w1.
    path : list of dict
        The settings that were compared, with their scores; empty if nothing was tuned.
    n_labeled_pairs, n_pairs : int
        Pairs of a visited row and a neighbour with a known target distance, and all pairs.
    """

    importances: np.ndarray
    standard_errors: np.ndarray
    per_target: np.ndarray
    n_neighbors: int
    influence: tuple[float, float]
    path: list[dict[str, float]]
    n_labeled_pairs: int
    n_pairs: int


def relief_scores(
    table: Table,
    target: Target,
    *,
    n_neighbors: Sequence[int] = NEIGHBORS[:1],
    influence: Sequence[tuple[float, float]] = (INFLUENCE,),
    n_iterations: int | None = None,
    neighbor_weights: float = 0.0,
    use_unlabeled: bool = True,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    notes: list[str] | None = None,
) -> ReliefScores:
    """SSL-Relief on encoded data.

    Parameters
    ----------
    table, target : Table, Target
    n_neighbors : sequence of int
    influence : sequence of (w0, w1)
        Where there is more than one setting, cross-validation chooses.
    n_iterations : int, optional
        Rows to visit, drawn without repetition; by default all.
    neighbor_weights : float, default=0.0
        The i-th nearest row counts exp(-(neighbor_weights * i)^2), i = 0, 1, ...
    use_unlabeled : bool, default=True
    seed : int
    n_jobs : int, optional
    progress : callable, optional
    notes : list of str, optional
        Collects what was decided on the way.

    Returns
    -------
    ReliefScores

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.random((200, 4)), np.zeros(4, np.int64), tuple("abcd"), (None,) * 4)
    >>> y = np.where(np.arange(200) < 50, table.values[:, 2], np.nan)
    >>> found = relief_scores(table, Target("regression", y[:, None], ("y",), np.ones(1)))
    >>> int(found.importances.argmax())
    2
    """
    notes = [] if notes is None else notes
    ks, ws = list(n_neighbors), list(influence)
    labeled = target.labeled
    if not use_unlabeled and not labeled.all():
        table, target = table.take(labeled), target.take(labeled)
        labeled = target.labeled
    if labeled.all():
        ws = ws[:1]  # influences play no part
    if len(table) < 2:
        raise ValueError("Relief compares pairs of rows, but only one row is left; label more rows.")
    if max(ks) > len(table) - 1:
        notes.append(
            f"n_neighbors={max(ks)}, but a row has only {len(table) - 1} others: all of them are used"
        )
        ks = sorted({min(k, len(table) - 1) for k in ks})
    rng = np.random.default_rng(seed)
    pairs = find_pairs(table, max(ks), rows_to_visit(len(table), n_iterations, rng), n_jobs, progress)
    path: list[dict[str, float]] = []
    k, w, apart = ks[0], ws[0], None
    if len(ks) * len(ws) > 1:
        few = too_few_labels(target)
        if few:
            message = f"{few}; n_neighbors={k} and influence={w} were taken without comparing settings"
            notes.append(message)
            warnings.warn(message + ".", UserWarning, stacklevel=3)
        else:
            grid = Grid(ks, ws, n_iterations, neighbor_weights)
            k, w, path, apart = choose_setting(table, target, pairs, grid, rng, n_jobs, progress)
    if apart is None:
        apart = nearest_labeled(table, [np.flatnonzero(labeled)], np.flatnonzero(~labeled), n_jobs)[0]
    view = make_view(target, apart)
    found = single_setting(pairs, view, w, k, neighbor_weights, n_jobs)
    return ReliefScores(*found[:3], k, w, path, found.n_known, len(pairs.visited) * k)


class ReliefRanker(RankerBase):
    """Rank features by SSL-Relief: do near rows that differ in the feature also differ in the target?

    For every row and each of its nearest rows, a feature gains if it differs together with the target and
    loses if it differs alone. Where the target of one of the two is unknown, the mean difference of the
    features stands in for it, weighted by how near the unlabelled rows are to labelled ones.

    Unlabelled rows take up places among the nearest rows even where their influence is 0, so with few labels
    few pairs know the target (50 of 1000 rows labelled: about 37 pairs of 15 000); `notes_` has the count.
    More neighbours help: on planted problems of that size with two relevant features of ten, both came first
    in 10 to 30 % of the runs with 15 neighbours, in 75 to 100 % with 100, and in 95 to 100 % with
    ``use_unlabeled=False``.

    Parameters
    ----------
    n_neighbors : int or "auto", default=15
        "auto" chooses among 15, 20 and 30.
    influence : (w0, w1) or "auto", default=(0.0, 1.0)
        Influence of the unlabelled row farthest from all labelled rows, and of the nearest one; the others
        lie on the straight line between. 0 <= w0 <= w1 <= 1. "auto" chooses among multiples of 1/4.
        Choices are made by 4-fold cross-validation over the labelled rows, judging the rankings by nearest
        neighbour predictions (:func:`semirank.judging.knn_judge.knn_score`); equal scores go to the smaller
        `n_neighbors`, then to (0, 1).
    n_iterations : int, optional
        Number of rows to visit, drawn at random; by default all. Time grows with it.
    neighbor_weights : float, default=0.0
        The nearest, second, ... row counts exp(-(neighbor_weights * i)^2) with i = 0, 1, ...
    use_unlabeled : bool, default=True
        False is the supervised counterpart: the labelled rows alone, each with influence 1.
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
        For `transform`: how many features, which share of them, or all with importance > 0.
    n_jobs : int, optional
        Through joblib. Results do not depend on it.
    random_state : int, RandomState or None
        Which rows are visited, and the folds of the tuning.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Between -1 and 1; irrelevant features lie around 0 or below.
    importances_ : dict of str to ndarray
        {"relief": feature_importances_}.
    importances_std_error_ : dict of str to ndarray
        Standard errors over the visited rows: the importance is a difference of ratios of sums over these
        rows, and its error follows from each row's part in it (delta method). That rows share neighbours is
        not accounted for. NaN if a single row was visited.
    importances_per_target_ : ndarray of shape (n_features, n_targets)
        For each target variable alone, from the pairs of rows that both know it; 0 if there are none.
    ranking_ : ndarray of shape (n_features,)
        1 = best, ties share a rank.
    n_neighbors_ : int
    influence_ : tuple of float
    tuning_path_ : list of dict
        The settings that were compared, with their scores.
    task_ : str
    n_labeled_ : int
    notes_ : list of str
        What was found and decided, one sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import ReliefRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 2] + 0.1 * rng.normal(size=300)
    >>> y[80:] = np.nan                     # 80 of 300 rows are labelled
    >>> ranker = ReliefRanker(n_features_to_select=1).fit(X, y)
    >>> ranker.get_feature_names_out()
    array(['x2'], dtype=object)
    """

    def __init__(
        self,
        *,
        n_neighbors: int | str = 15,
        influence: tuple[float, float] | str = INFLUENCE,
        n_iterations: int | None = None,
        neighbor_weights: float = 0.0,
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
        self.influence = influence
        self.n_iterations = n_iterations
        self.neighbor_weights = neighbor_weights
        self.use_unlabeled = use_unlabeled
        self.task = task
        self.hierarchy = hierarchy
        self.hierarchy_decay = hierarchy_decay
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, progress: Progress | None = None) -> ReliefRanker:
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
        self.seed_ = seed_of(self.random_state)
        self.timings_ = {"read": time.perf_counter() - began}
        began = time.perf_counter()
        w0, w1 = INFLUENCE if isinstance(self.influence, str) else self.influence
        found = relief_scores(
            table,
            target,
            n_neighbors=NEIGHBORS if isinstance(self.n_neighbors, str) else (int(self.n_neighbors),),
            influence=INFLUENCES if isinstance(self.influence, str) else ((w0, w1),),
            n_iterations=self.n_iterations,
            neighbor_weights=self.neighbor_weights,
            use_unlabeled=self.use_unlabeled,
            seed=self.seed_,
            n_jobs=self.n_jobs,
            progress=progress,
            notes=self.notes_,
        )
        self.timings_["relief"] = time.perf_counter() - began
        self.n_neighbors_ = found.n_neighbors
        self.influence_ = found.influence
        self.tuning_path_ = found.path
        few = self.n_labeled_ < self.n_rows_ and found.n_labeled_pairs < FEW_PAIRS
        self.notes_.append(
            f"{found.n_labeled_pairs} of {found.n_pairs} pairs of near rows know the target of both"
            + ("; that is few, a larger n_neighbors gives more" if few and self.use_unlabeled else "")
        )
        self._finish(
            {"relief": found.importances}, {"relief": found.standard_errors}, found.per_target, "relief"
        )
        return self

    def _check_parameters(self) -> None:
        """One sentence for whatever cannot be meant."""
        if self.n_neighbors != "auto" and not _is_count(self.n_neighbors):
            raise ValueError(
                f"n_neighbors={self.n_neighbors!r} is neither a whole number from 1 on nor 'auto'."
            )
        if self.n_iterations is not None and not _is_count(self.n_iterations):
            raise ValueError(
                f"n_iterations={self.n_iterations!r} is neither a whole number from 1 on nor None."
            )
        if not isinstance(self.neighbor_weights, Real) or not 0 <= self.neighbor_weights < np.inf:
            raise ValueError(f"neighbor_weights={self.neighbor_weights!r} must be a number of at least 0.")
        if isinstance(self.influence, str):
            fine = self.influence == "auto"
        else:
            fine = np.ndim(self.influence) == 1 and len(self.influence) == 2
            fine = fine and all(isinstance(w, Real) and 0 <= w <= 1 for w in self.influence)
            fine = fine and self.influence[0] <= self.influence[1]
        if not fine:
            raise ValueError(
                f"influence={self.influence!r} is neither 'auto' nor a pair (w0, w1) with 0 <= w0 <= w1 <= 1."
            )

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        check_is_fitted(self, "feature_importances_")
        w0, w1 = self.influence_
        return Ranking(
            names=self._schema.names,
            scores=self.feature_importances_,
            standard_errors=self.importances_std_error_["relief"],
            method="relief",
            importance="relief",
            all_scores=self.importances_,
            all_standard_errors=self.importances_std_error_,
            per_target=self.importances_per_target_,
            target_names=self._target_names,
            task=self.task_,
            n_rows=self.n_rows_,
            n_labeled=self.n_labeled_,
            settings=self.get_params(deep=False),
            choice={"n_neighbors": self.n_neighbors_, "w0": w0, "w1": w1},
            choice_path=self.tuning_path_,
            missing_share=self.missing_share_,
            timings=self.timings_,
            seed=self.seed_,
            notes=self.notes_,
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
