"""`ReliefRanker`: semi-supervised Relief for five kinds of target (Def. 1.6)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..base.parameters import COUNT, NOT_NEGATIVE, UNIT_INTERVAL, Names, at_least, seed_of
from ..base.ranker import RankerBase, Scores
from ..data.table import Table
from ..data.target import Target
from ..judging.splits import TUNING_FOLDS, too_few_for_tuning
from ..runtime.progress import Progress
from .methods import RELIEF_INFLUENCE, RELIEF_INFLUENCES, RELIEF_NEIGHBORS
from .presets import PresetMixin
from .relief_per_class import per_class_parts
from .relief_sums import find_pairs, make_view, nearest_labeled, rows_to_visit, single_setting
from .relief_tuning import Grid, choose_setting

FEW_PAIRS = 250  # with about this many labelled pairs or more, planted features were found reliably


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
        Pairs of a visited row and a neighbour with a known target distance, and all pairs; in the form
        "per_class" those of each class.
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
    form: str = "overall",
    n_neighbors: Sequence[int] = RELIEF_NEIGHBORS[:1],
    influence: Sequence[tuple[float, float]] = (RELIEF_INFLUENCE,),
    n_iterations: int | None = None,
    neighbor_weights: float = 0.0,
    n_folds: int = TUNING_FOLDS,
    judge_neighbors: int | None = None,
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
    form : {"overall", "per_class"}, default="overall"
    n_neighbors : sequence of int
    influence : sequence of (w0, w1)
        Where there is more than one setting, cross-validation chooses.
    n_iterations : int, optional
        Rows to visit, drawn without repetition; by default all.
    neighbor_weights : float, default=0.0
        The i-th nearest row counts exp(-(neighbor_weights * i)^2), i = 0, 1, ...
    n_folds : int, default=4
    judge_neighbors : int, optional
        Folds and neighbours of that cross-validation.
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
    if form == "per_class" and target.classes is None:
        raise ValueError(
            f"form='per_class' compares rows of different classes, but the task is {target.task}; use "
            "form='overall'."
        )
    if not (use_unlabeled and form == "overall") and not labeled.all():
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
    visited = rows_to_visit(len(table), n_iterations, rng)
    pairs = find_pairs(table, max(ks), visited, n_jobs, progress) if form == "overall" else None
    path: list[dict[str, float]] = []
    k, w, apart = ks[0], ws[0], None
    if len(ks) * len(ws) > 1:
        few = too_few_for_tuning(target, n_folds)
        if few:
            message = f"{few}; n_neighbors={k} and influence={w} were taken without comparing settings"
            notes.append(message)
            warnings.warn(message + ".", UserWarning, stacklevel=5)
        else:
            grid = Grid(ks, ws, n_iterations, neighbor_weights, n_folds, judge_neighbors)
            k, w, path, apart = choose_setting(table, target, pairs, grid, rng, n_jobs, progress)
    if pairs is None:
        classes = target.values[:, 0].astype(np.int64)
        (parts,) = per_class_parts(table, classes, [k], visited, neighbor_weights, n_jobs, progress)
        return _mean_parts(parts, k, w, path)
    if apart is None:
        apart = nearest_labeled(table, [np.flatnonzero(labeled)], np.flatnonzero(~labeled), n_jobs)[0]
    view = make_view(target, apart)
    single = single_setting(pairs, view, w, k, neighbor_weights, n_jobs)
    return ReliefScores(*single[:3], k, w, path, single.n_known, len(pairs.visited) * k)


def _mean_parts(
    parts: np.ndarray, k: int, influence: tuple[float, float], path: list[dict[str, float]]
) -> ReliefScores:
    """The result of the form "per_class", from what every visited row adds."""
    m = len(parts)
    found = parts.mean(axis=0)
    error = parts.std(axis=0, ddof=1) / np.sqrt(m) if m > 1 else np.full(len(found), np.nan)
    return ReliefScores(found, error, found[:, None], k, influence, path, m * k, m * k)


def _is_influence(given: Any) -> bool:
    """Whether it is a pair (w0, w1) with 0 <= w0 <= w1 <= 1."""
    if isinstance(given, str) or not np.iterable(given):
        return False
    pair = list(given)
    return len(pair) == 2 and all(UNIT_INTERVAL.is_satisfied_by(w) for w in pair) and pair[0] <= pair[1]


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefRanker(PresetMixin, RankerBase):
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
    form : {"overall", "per_class"}, default="overall"
        "overall" compares a row with its nearest rows, whatever their target, and serves every task.
        "per_class" is the classical form for classes (ReliefF): a row is compared with its nearest rows of
        the same class and of each other class, weighted by the shares of the classes. It looks at labelled
        rows alone.
    n_neighbors : int, sequence of int or "auto", default=15
        Several are compared; "auto" compares 15, 20 and 30.
    influence : (w0, w1), sequence of such pairs or "auto", default=(0.0, 1.0)
        Influence of the unlabelled row farthest from all labelled rows, and of the nearest one; the others
        lie on the straight line between. 0 <= w0 <= w1 <= 1. Several are compared; "auto" compares all
        multiples of 1/4. Choices are made by cross-validation over the labelled rows, judging the rankings
        by nearest neighbour predictions (:func:`semirank.knn_score`); equal scores go to the smaller
        `n_neighbors`, then to (0, 1), then to the pair that was named first.
    n_folds : int, default=4
        Folds of the labelled rows for such choices.
    judge_neighbors : int, optional
        Nearest rows that those predictions are made from; by default the square root of the number of
        labelled rows, but at least 3 and at most 20.
    n_iterations : int, optional
        Number of rows to visit, drawn at random; by default all. Time grows with it.
    neighbor_weights : float, default=0.0
        The nearest, second, ... row counts exp(-(neighbor_weights * i)^2) with i = 0, 1, ...
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
        For each target variable alone, from the pairs of rows that both know it; 0 without such pairs.
    n_neighbors_ : int
    influence_ : tuple of float
    tuning_path_ : list of dict
        The settings that were compared, with their scores.

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

    form: str = "overall"
    n_neighbors: int | Sequence[int] | str = RELIEF_NEIGHBORS[0]
    influence: tuple[float, float] | Sequence[tuple[float, float]] | str = RELIEF_INFLUENCE
    n_folds: int = TUNING_FOLDS
    judge_neighbors: int | None = None
    n_iterations: int | None = None
    neighbor_weights: float = 0.0

    _method = "relief"
    _parameter_constraints = {  # noqa: RUF012  as scikit-learn has it
        "form": [Names("overall", "per_class")],
        "n_folds": [at_least(2)],
        "judge_neighbors": [at_least(1), None],
        "n_iterations": [at_least(1), None],
        "neighbor_weights": [NOT_NEGATIVE],
    }

    def _check(self) -> None:
        super()._check()
        self._neighbor_counts()
        self._influences()

    def _neighbor_counts(self) -> list[int]:
        """The numbers of neighbours to compare, ascending."""
        given: Any = self.n_neighbors
        if isinstance(given, str) and given == "auto":
            return list(RELIEF_NEIGHBORS)
        several = np.iterable(given) and not isinstance(given, str)
        counts = list(given) if several else [given]
        if not counts or not all(COUNT.is_satisfied_by(k) for k in counts):
            raise ValueError(
                f"n_neighbors={given!r} is neither 'auto' nor one or several whole numbers of at least 1."
            )
        return sorted({int(k) for k in counts})

    def _influences(self) -> list[tuple[float, float]]:
        """The pairs (w0, w1) to compare; (0, 1) comes first, so that it wins ties."""
        given: Any = self.influence
        if isinstance(given, str) and given == "auto":
            return list(RELIEF_INFLUENCES)
        pairs = [given] if _is_influence(given) else given
        if isinstance(pairs, str) or not np.iterable(pairs):
            pairs = []
        pairs = list(pairs)
        if not pairs or not all(map(_is_influence, pairs)):
            raise ValueError(
                f"influence={given!r} is neither 'auto' nor one or several pairs (w0, w1) with "
                "0 <= w0 <= w1 <= 1."
            )
        different = list(dict.fromkeys((float(w0), float(w1)) for w0, w1 in pairs))
        return sorted(different, key=lambda pair: pair != RELIEF_INFLUENCE)

    def _rank(
        self, table: Table, target: Target, progress: Progress | None, step: Callable[[str], None]
    ) -> Scores:
        step("read")
        self.seed_ = seed_of(self.random_state)
        found = relief_scores(
            table,
            target,
            form=self.form,
            n_neighbors=self._neighbor_counts(),
            influence=self._influences(),
            n_iterations=self.n_iterations,
            neighbor_weights=self.neighbor_weights,
            n_folds=self.n_folds,
            judge_neighbors=self.judge_neighbors,
            use_unlabeled=self.use_unlabeled,
            seed=self.seed_,
            n_jobs=self.n_jobs,
            progress=progress,
            notes=self.notes_,
        )
        step("relief")
        self.n_neighbors_ = found.n_neighbors
        self.influence_ = found.influence
        self.tuning_path_ = found.path
        if self.form == "overall":
            few = self.n_labeled_ < self.n_rows_ and found.n_labeled_pairs < FEW_PAIRS
            self.notes_.append(
                f"{found.n_labeled_pairs} of {found.n_pairs} pairs of near rows know the target of both"
                + ("; that is few, a larger n_neighbors gives more" if few and self.use_unlabeled else "")
            )
        elif self.n_labeled_ < self.n_rows_:
            self.notes_.append("form='per_class' compares labelled rows alone")
        scores, errors = {"relief": found.importances}, {"relief": found.standard_errors}
        w0, w1 = found.influence
        choice: dict[str, float] = {"n_neighbors": found.n_neighbors}
        if self.form == "overall":
            choice |= {"w0": w0, "w1": w1}
        return Scores(scores, errors, "relief", found.per_target, choice, found.path)
