"""`ConsensusRanker`: several rankers on labelled rows, and again on a target that a teacher completed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..base.estimator import PredictorMixin, has_shares, seed_of
from ..base.ranker import RankerBase
from ..data.table import Table
from ..data.target import Target
from ..results.ranking import Ranking, above_mean
from ..runtime.progress import Progress
from ..teacher.completion import student_target
from ..teacher.teacher import MIN_LABELED, Teacher, labels_are_enough
from .consensus_parts import RANKERS, Entry, Part, as_shares, fit_part, read_rankers
from .forest import ForestRanker
from .sensitivity import sensitivity
from .taught import at_names, check_teacher, content_rows, fit_teacher, found_by


def _can_predict(ranker: ConsensusRanker) -> bool:
    if not ranker.use_unlabeled:
        raise AttributeError("With use_unlabeled=False there is no teacher that could predict.")
    if getattr(ranker, "teacher_", "not fitted") is None:
        raise AttributeError(f"There is no teacher that could predict: it needs {MIN_LABELED} labelled rows.")
    return True


def _can_give_shares(ranker: ConsensusRanker) -> bool:
    return _can_predict(ranker) and has_shares(ranker)


class ConsensusRanker(RankerBase, PredictorMixin):
    """Rank features by agreement of several rankers, half from labelled rows, half from all rows.

    Every score becomes a share: cut at 0 and divided by its sum. One half of the result is the mean share of
    the rankers on the labelled rows. For the other half a teacher predicts what is unknown of the target, and
    the same rankers see all rows. Where there is nothing to complete, or there are too few labels to teach
    from, the first half is the result.

    Parameters
    ----------
    rankers : sequence of str and rankers
        "random_forest" and "extra_trees" (two scores each) and "relief"; or forests, Relief and Laplace
        rankers with parameters of your own. Forests look at the target only (w = 1).
    teacher : Teacher, optional
        By default ``Teacher()``.
    use_unlabeled : bool, default=True
        False is the supervised counterpart: the labelled rows alone.
    sensitivity : float in [0, 1], default=0.0
        How much of the result comes from a student of another kind: kernel ridge regression on the labelled
        rows, in the space that the consensus weights. Its score of a feature is how much its answer for all
        rows changes when the feature is permuted.
    max_rows : int, default=10000
        Rows that teacher and rankers see; beyond that they are a sample, and `notes_` says so. At most half
        of the rows of the teacher are labelled ones, if there are others.
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
        For `transform`: how many features, which share of them, or all with a share above the mean, 1 / D.
    n_jobs : int, optional
        Through joblib; also of rankers and teacher where they have none. Results do not depend on it.
    random_state : int, RandomState or None
        Also of rankers and teacher where they have none.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Shares: none is negative, and they add up to 1.
    importances_ : dict of str to ndarray
        "consensus", its halves "labeled" and "taught", and every score as a share: "labeled_relief",
        "taught_random_forest_rforest" and so on.
    importances_std_error_ : dict of str to ndarray
        The noise of the forests and of the rows that Relief visits, not that of the labels. Sums of
        importances count as exact.
    importances_per_target_ : ndarray of shape (n_features, n_targets) or None
        For each target variable alone, as shares; None for classes.
    importances_per_class_ : ndarray of shape (n_features, n_classes) or None
        For classes: which features tell each class from the others, as shares, columns as in `classes_`. From
        the students; without them, from the rankers on the columns of known classes.
    ranking_ : ndarray of shape (n_features,)
        1 = best, ties share a rank.
    teacher_ : Teacher or None
        Fitted; `predict`, `predict_proba` and `score` are its. None where there is none.
    rows_ : ndarray of int
        The rows that the teacher saw: those of `teacher_.completed_`.
    task_ : str
    n_labeled_ : int
    notes_ : list of str
        What was found and decided, one sentence each.

    Notes
    -----
    Rows are first put into an order that depends on their content, so the order in which they come plays no
    part, unless rows agree in everything. The order of the features changes what forests draw, as another
    seed would; units of numbers play no part but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import ConsensusRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = np.where(X[:, 1] + X[:, 3] > 0, "high", "low").astype(object)
    >>> y[30:] = None                       # 30 of 200 rows are labelled
    >>> ranker = ConsensusRanker(random_state=0).fit(X, y)
    >>> ranker.get_feature_names_out()
    array(['x1', 'x3'], dtype=object)
    >>> round(float(ranker.feature_importances_.sum()), 9)
    1.0
    """

    def __init__(
        self,
        *,
        rankers: Sequence[Any] = RANKERS,
        teacher: Teacher | None = None,
        use_unlabeled: bool = True,
        sensitivity: float = 0.0,
        max_rows: int = 10_000,
        task: str = "auto",
        hierarchy: Any = None,
        hierarchy_decay: float = 0.75,
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        n_features_to_select: int | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.rankers = rankers
        self.teacher = teacher
        self.use_unlabeled = use_unlabeled
        self.sensitivity = sensitivity
        self.max_rows = max_rows
        self.task = task
        self.hierarchy = hierarchy
        self.hierarchy_decay = hierarchy_decay
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, progress: Progress | None = None) -> ConsensusRanker:
        """Rank on the labelled rows, complete the target, and rank for it on all rows.

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
        if progress is not None:
            progress(0, 1, "reading")
        table, target = self._encode(X, y)
        entries = read_rankers(self.rankers, table.shape[1], type(self).__name__)
        self.seed_ = seed_of(self.random_state)
        labeled, crowd = self._choose_rows(table, target)
        self.timings_ = {"read": time.perf_counter() - began}
        if progress is not None:
            progress(1, 1, "reading")
        part = self._rank_labeled(entries, table.take(labeled), target.take(labeled), progress)
        self.teacher_: Teacher | None = None
        self.rows_ = np.zeros(0, np.int64)
        students = None
        if self.use_unlabeled and labels_are_enough(target):
            students = self._teach(entries, part, table.take(crowd), target.take(crowd), progress)
            self._keep_order(crowd)
        elif self.use_unlabeled and _holes(target):
            self.notes_.append(
                f"only {self.n_labeled_} rows are labelled, and a teacher needs {MIN_LABELED}: the ranking "
                "comes from the labelled rows alone"
            )
        self._publish(entries, part, students, table.take(labeled), target.take(labeled), progress)
        return self

    def _check_parameters(self) -> None:
        """One sentence for whatever cannot be meant."""
        check_teacher(self.teacher, type(self).__name__)
        if not isinstance(self.use_unlabeled, bool | np.bool_):
            raise TypeError(f"use_unlabeled={self.use_unlabeled!r} is neither True nor False.")
        share = self.sensitivity
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 <= share <= 1:
            raise ValueError(f"sensitivity={share!r} is no number in [0, 1].")
        if not isinstance(self.max_rows, Integral) or isinstance(self.max_rows, bool) or self.max_rows < 100:
            raise ValueError(f"max_rows={self.max_rows!r} must be a whole number of at least 100.")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs={self.n_jobs!r} is neither None nor a whole number other than 0.")

    def _choose_rows(self, table: Table, target: Target) -> tuple[np.ndarray, np.ndarray]:
        """Labelled rows to rank on, and rows for teacher and students, the labelled ones first."""
        rng = np.random.default_rng([self.seed_, 0])
        known = target.labeled
        labeled = content_rows(table, target, np.flatnonzero(known))
        used = _sample(labeled, int(self.max_rows), rng)
        if len(used) < len(labeled):
            self.notes_.append(
                f"rankers see a sample of {len(used)} of {len(labeled)} labelled rows (max_rows)"
            )
        if not self.use_unlabeled:
            return used, used
        others = np.flatnonzero(~known)
        n_taught = max(int(self.max_rows) // 2, int(self.max_rows) - len(others))
        taught = _sample(used, n_taught, rng)
        others = content_rows(table, target, others)
        others = _sample(others, int(self.max_rows) - len(taught), rng)
        crowd = np.concatenate([taught, others])
        if len(crowd) < len(table):
            self.notes_.append(
                f"teacher and students see a sample of {len(crowd)} of {len(table)} rows (max_rows)"
            )
        return used, crowd

    def _rank_labeled(
        self, entries: list[Entry], table: Table, target: Target, progress: Progress | None
    ) -> Part:
        began = time.perf_counter()
        part = fit_part(entries, table, target, None, self.seed_, self.n_jobs, progress)
        self.timings_["labeled"] = time.perf_counter() - began
        return part

    def _teach(
        self, entries: list[Entry], part: Part, table: Table, target: Target, progress: Progress | None
    ) -> Part | None:
        """Fit the teacher, and the students unless there is nothing to complete."""
        began = time.perf_counter()
        teacher = Teacher(max_rows=int(self.max_rows)) if self.teacher is None else self.teacher
        self.teacher_ = fit_teacher(teacher, table, target, self.seed_, self.n_jobs, progress, self.notes_)
        self.timings_["teacher"] = time.perf_counter() - began
        if not _holes(target):
            return None
        began = time.perf_counter()
        student = self.teacher_.student_target(target)
        students = fit_part(entries, table, student, target, self.seed_, self.n_jobs, progress)
        self._student_names = student.names
        if self.sensitivity > 0:
            both = (part.mean() + students.mean()) / 2
            self._sensitivity = as_shares(
                sensitivity(table, target, both, seed=self.seed_, n_jobs=self.n_jobs, progress=progress)
            )
        self.timings_["students"] = time.perf_counter() - began
        return students

    def _keep_order(self, crowd: np.ndarray) -> None:
        """The rows of `teacher_.completed_` in the order in which they came."""
        assert self.teacher_ is not None
        back = np.argsort(crowd)
        self.rows_ = crowd[back]
        self.teacher_.completed_ = self.teacher_.completed_[back]
        self.teacher_.predicted_ = self.teacher_.predicted_[back]

    def _publish(
        self,
        entries: list[Entry],
        part: Part,
        students: Part | None,
        table: Table,
        target: Target,
        progress: Progress | None,
    ) -> None:
        mean, error = part.mean(), part.mean_error()
        shares, errors = {"labeled": mean}, {"labeled": error}
        columns = part.per_column
        if students is not None:
            shares["taught"], errors["taught"] = students.mean(), students.mean_error()
            mean, error = (mean + shares["taught"]) / 2, np.hypot(error, errors["taught"]) / 2
        own = {}
        if students is not None and self.sensitivity > 0:
            weight = float(self.sensitivity)
            own["taught_sensitivity"] = self._sensitivity
            mean, error = (1 - weight) * mean + weight * self._sensitivity, (1 - weight) * error
        for some in (part, students):
            if some is not None:
                shares |= some.shares
                errors |= some.errors
        self.importances_per_class_ = None
        if target.classes is not None:
            names = tuple(map(str, target.classes.tolist()))
            if students is None:
                students, found = self._rank_classes(entries, table, target, progress)
            else:
                found = self._student_names
            self.importances_per_class_ = at_names(students.per_column, found, names)
        elif students is not None:
            columns = (columns + at_names(students.per_column, self._student_names, target.names)) / 2
        self._target_names = () if target.classes is not None else target.names
        self._finish(
            {"consensus": mean, **shares, **own},
            {"consensus": error, **errors},
            None if target.classes is not None else columns,
            "consensus",
        )

    def _rank_classes(
        self, entries: list[Entry], table: Table, target: Target, progress: Progress | None
    ) -> tuple[Part, tuple[str, ...]]:
        """The rankers on the columns of known classes, for scores per class."""
        student = student_target(target, target.columns())
        lean = [
            entry._replace(
                student=clone(entry.labeled).set_params(importance="genie3")
                if isinstance(entry.labeled, ForestRanker)
                else entry.labeled
            )
            for entry in entries
        ]
        return fit_part(lean, table, student, target, self.seed_, self.n_jobs, progress), student.names

    def _get_support_mask(self) -> np.ndarray:
        if self.n_features_to_select is not None:
            return super()._get_support_mask()
        check_is_fitted(self, "feature_importances_")
        return above_mean(self.feature_importances_)

    def _prototypes(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "teacher_")
        assert self.teacher_ is not None
        return self.teacher_._prototypes(self._encode_new(X))

    @available_if(_can_predict)
    def predict(self, X: Any) -> np.ndarray:
        """The teacher's predictions in the terms of y; label sets as 0/1 rows, ancestors included."""
        return super().predict(X)

    @available_if(_can_give_shares)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The teacher's class shares (columns as in `classes_`) or label shares."""
        return self._prototypes(X)

    @available_if(_can_predict)
    def score(self, X: Any, y: Any) -> float:
        """The task's measure of the teacher's predictions on the known cells of y, larger is better."""
        return super().score(X, y)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        check_is_fitted(self, "feature_importances_")
        by_class = self.importances_per_class_ is not None
        return Ranking(
            names=self._schema.names,
            scores=self.feature_importances_,
            standard_errors=self.importances_std_error_["consensus"],
            method="consensus",
            importance="consensus",
            all_scores=self.importances_,
            all_standard_errors=self.importances_std_error_,
            per_target=self.importances_per_target_,
            target_names=self._target_names,
            per_class=self.importances_per_class_,
            class_names=tuple(map(str, self.classes_.tolist())) if by_class else (),
            task=self.task_,
            n_rows=self.n_rows_,
            n_labeled=self.n_labeled_,
            settings=self.get_params(deep=False),
            missing_share=self.missing_share_,
            timings=self.timings_,
            version=__version__,
            seed=self.seed_,
            notes=self.notes_,
            teacher={} if self.teacher_ is None else found_by(self.teacher_),
        )


def _holes(target: Target) -> bool:
    """Whether something is unknown of a target variable that is known of other rows."""
    unknown = np.isnan(target.values)
    return bool((unknown.any(axis=0) & ~unknown.all(axis=0)).any())


def _sample(rows: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """So many of the rows, in their order; all if there are no more."""
    if len(rows) <= size:
        return rows
    return rows[np.sort(rng.permutation(len(rows))[:size])]
