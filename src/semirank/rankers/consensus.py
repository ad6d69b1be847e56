"""`ConsensusRanker`: several rankers on labelled rows, and again on a target that a teacher completed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..base.estimator import PredictorMixin, has_shares
from ..base.parameters import UNIT_INTERVAL, at_least, seed_of
from ..base.ranker import RankerBase, Scores
from ..data.table import Table
from ..data.target import Target
from ..results.ranking import Ranking, above_mean
from ..results.shares import as_shares
from ..runtime.progress import Progress
from ..teacher.rows import sample_rows
from ..teacher.teacher import MIN_LABELED, Teacher, labels_are_enough
from .consensus_parts import (
    RANKERS,
    Entry,
    Part,
    called,
    combine,
    fit_part,
    rank_classes,
    read_rankers,
    whole,
    with_sensitivity,
)
from .redundancy import copies
from .sensitivity import sensitivity, space_weights
from .taught import check_teacher, content_rows, fit_teacher, in_order_of_rows, with_findings

TEACHER_POWER = 0.5  # of the label-only shares that weigh the teacher's space


def _can_predict(ranker: ConsensusRanker) -> bool:
    if not ranker.use_unlabeled:
        raise AttributeError("With use_unlabeled=False there is no teacher that could predict.")
    if getattr(ranker, "teacher_", "not fitted") is None:
        raise AttributeError(f"There is no teacher that could predict: it needs {MIN_LABELED} labelled rows.")
    return True


def _can_give_shares(ranker: ConsensusRanker) -> bool:
    return _can_predict(ranker) and has_shares(ranker)


@dataclass(kw_only=True, eq=False, repr=False)
class ConsensusRanker(RankerBase, PredictorMixin):
    """Rank features by agreement of several rankers, on labelled rows and on all rows.

    Every score becomes a share: cut at 0 and divided by its sum. First comes the label-only part: the mean
    shares of the rankers on the labelled rows and, as the other half, how much the answers of kernel ridge
    regression for these rows change when a feature is permuted. Then a teacher, in whose space features
    count by that ranking, predicts what is unknown of the target, and the same is done with all rows: the
    rankers for the completed target, and the changes of the answers. The label-only part makes a third of the
    result. Features that are copies of each other share what the rankers say of them. Where there is nothing
    to complete, or there are too few labels to teach from, the label-only part is the result.

    Parameters
    ----------
    rankers : sequence of str and rankers
        "random_forest" and "extra_trees" (two scores each) and "relief"; or forests, Relief and Laplace
        rankers with parameters of your own. Forests look at the target only (w = 1).
    teacher : Teacher, optional
        By default ``Teacher()``.
    use_unlabeled : bool, default=True
        False is the supervised counterpart: the labelled rows alone.
    sensitivity : float in [0, 1], default=0.5
        How much of the result comes from a model of another kind: kernel ridge regression on the labelled
        rows, in the space that the other scores weight. Its score of a feature is how much its answer changes
        when the feature is permuted: for all rows or, in the label-only part, for the labelled ones.
    redundancy : float in [0, 1], default=1.0
        How far what the rankers say of a feature is divided by the number of its copies, those that correlate
        with it closely, in the rows that the rankers see. Any copy can stand for the others, so that no model
        depends on one of them alone; but each of them scores in a forest. 0 ranks each feature as if it were
        alone.
    max_rows : int, default=10000
        Rows that teacher and rankers see; beyond that they are a sample, and `notes_` says so. Of the rows of
        teacher and students, labelled ones are at most half of `max_rows`.
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
        "consensus", its parts "labeled", "taught" and "sensitivity"; "label_only", which is what
        ``use_unlabeled=False`` gives, and its part "labeled_sensitivity"; and every score as a share:
        "labeled_relief", "taught_random_forest_rforest" and so on.
    importances_std_error_ : dict of str to ndarray
        The noise of the forests and of the rows that Relief visits, not that of the labels. Sums of
        importances count as exact.
    importances_per_target_ : ndarray of shape (n_features, n_targets) or None
        For each target variable alone, as shares; None for classes.
    importances_per_class_ : ndarray of shape (n_features, n_classes) or None
        For classes: which features tell each class from the others, as shares, columns as in `classes_`. From
        the students; without them, from the rankers on the columns of known classes.
    teacher_ : Teacher or None
        Fitted; `predict`, `predict_proba` and `score` are its. None where there is none.
    copies_ : ndarray of shape (n_features,)
        How many features go along with each closely, itself included: the sum of the eighth powers of the
        correlations. In the rows that students see or, without them, in the labelled rows.
    rows_ : ndarray of int
        The rows that the teacher saw: those of `teacher_.completed_`.

    Notes
    -----
    Rows are first put into an order that depends on their content, so the order in which they come plays no
    part, unless rows agree in everything. The order of the features changes what forests draw, as another
    seed would; units of numbers change results by rounding only.

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

    rankers: Sequence[Any] = RANKERS
    teacher: Teacher | None = None
    sensitivity: float = 0.5
    redundancy: float = 1.0
    max_rows: int = 10_000

    _method = "consensus"
    _parameter_constraints = {  # noqa: RUF012  as scikit-learn has it
        "sensitivity": [UNIT_INTERVAL],
        "redundancy": [UNIT_INTERVAL],
        "max_rows": [at_least(100)],
    }

    def _read(
        self, X: Any, y: Any, progress: Progress | None = None
    ) -> tuple[Table, Target, Callable[[str], None]]:
        if progress is not None:
            progress(0, 1, "reading")
        return super()._read(X, y, progress)

    def _check(self) -> None:
        super()._check()
        read_rankers(self.rankers, 1, type(self).__name__)
        check_teacher(self.teacher, type(self).__name__)

    def _rank(
        self, table: Table, target: Target, progress: Progress | None, step: Callable[[str], None]
    ) -> Scores:
        self.seed_ = seed_of(self.random_state)
        entries = read_rankers(self.rankers, table.shape[1], type(self).__name__)
        labeled, crowd = self._choose_rows(table, target)
        known, labels = table.take(labeled), target.take(labeled)
        step("read")
        divisor = self._divisor(known)
        part = fit_part(entries, known, labels, None, divisor, self.seed_, self.n_jobs, progress)
        alone = self._changes(known, labels, part.mean(), called(progress, "labeled: sensitivity"))
        step("labeled")
        self.teacher_: Teacher | None = None
        self.rows_ = np.zeros(0, np.int64)
        taught, other = None, None
        holes = _holes(target)
        if self.use_unlabeled and not holes:
            self.notes_.append(
                "no row is unlabelled, so a teacher has nothing to complete: the ranking comes from the "
                "labelled rows alone"
            )
        if self.use_unlabeled and labels_are_enough(target):
            taught, other = self._teach(entries, part, alone, table, target, crowd, progress, step)
        elif self.use_unlabeled and holes:
            self.notes_.append(
                f"only {self.n_labeled_} rows are labelled, and a teacher needs {MIN_LABELED}: the ranking "
                "comes from the labelled rows alone"
            )
        self.importances_per_class_ = None
        per_target = None
        if target.classes is not None:
            by_class = taught
            if by_class is None:
                by_class = rank_classes(entries, known, labels, divisor, self.seed_, self.n_jobs, progress)
                step("classes")
            self.importances_per_class_ = by_class.per_column
        elif part.per_column is not None:
            per_target = part.per_column
            if taught is not None and taught.per_column is not None:
                per_target = whole(per_target, taught.per_column)
        self._say_copies()
        shares, errors = combine(part, alone, taught, other, float(self.sensitivity))
        return Scores(shares, errors, "consensus", per_target)

    def _teach(
        self,
        entries: list[Entry],
        part: Part,
        alone: np.ndarray | None,
        table: Table,
        target: Target,
        rows: np.ndarray,
        progress: Progress | None,
        step: Callable[[str], None],
    ) -> tuple[Part | None, np.ndarray | None]:
        """Fit the teacher, and, unless there is nothing to complete, the students and their sensitivity."""
        table, target = table.take(rows), target.take(rows)
        teacher = Teacher(max_rows=int(self.max_rows)) if self.teacher is None else self.teacher
        label_only = with_sensitivity(part.mean(), alone, float(self.sensitivity))
        weights = space_weights(label_only, TEACHER_POWER)
        self.teacher_ = fit_teacher(
            teacher, table, target, self.seed_, self.n_jobs, progress, self.notes_, weights
        )
        step("teacher")
        student = self.teacher_.student_target(target)
        self.rows_ = in_order_of_rows(self.teacher_, rows)
        if not _holes(target):
            return None, None
        divisor = self._divisor(table)
        taught = fit_part(entries, table, student, target, divisor, self.seed_, self.n_jobs, progress)
        step("students")
        other = self._changes(table, target, (part.mean() + taught.mean()) / 2, progress)
        step("sensitivity")
        return taught, other

    def _divisor(self, table: Table) -> np.ndarray:
        """How many features share what the rankers say of each."""
        self.copies_ = copies(table, self.seed_, self.n_jobs)
        return np.asarray(self.copies_**self.redundancy)

    def _say_copies(self) -> None:
        n_copied = int((self.copies_ >= 2).sum())
        if n_copied and self.redundancy > 0:
            self.notes_.append(
                f"{n_copied} of {len(self.copies_)} features go along closely with others (one with about "
                f"{self.copies_.max() - 1:.0f}): such copies share what rankers say of them; redundancy=0 "
                "ranks each as if it were alone"
            )

    def _changes(
        self, table: Table, target: Target, shares: np.ndarray, progress: Progress | None
    ) -> np.ndarray | None:
        """The sensitivity in the space that these shares weight, as shares; None where it does not count."""
        if self.sensitivity == 0:
            return None
        found = sensitivity(table, target, shares, seed=self.seed_, n_jobs=self.n_jobs, progress=progress)
        return as_shares(found)

    def _choose_rows(self, table: Table, target: Target) -> tuple[np.ndarray, np.ndarray]:
        """Labelled rows to rank on, and rows for teacher and students, the labelled ones first."""
        rng = np.random.default_rng([self.seed_, 0])
        known = target.labeled
        labeled = content_rows(table, target, np.flatnonzero(known))
        codes = None if target.classes is None else target.values[:, 0]
        used = sample_rows(labeled, int(self.max_rows), rng, codes)
        if len(used) < len(labeled):
            self.notes_.append(
                f"rankers see a sample of {len(used)} of {len(labeled)} labelled rows (max_rows)"
            )
        if not self.use_unlabeled:
            return used, used
        taught = sample_rows(used, int(self.max_rows) // 2, rng, codes)
        others = content_rows(table, target, np.flatnonzero(~known))
        crowd = np.concatenate([taught, sample_rows(others, int(self.max_rows) - len(taught), rng)])
        if len(crowd) < len(table):
            self.notes_.append(
                f"teacher and students see a sample of {len(crowd)} of {len(table)} rows (max_rows)"
            )
        return used, crowd

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
    def predict(self, X: Any, *, threshold: float = 0.5) -> np.ndarray:
        """The teacher's predictions in the terms of y; label sets as 0/1 rows, ancestors included.

        Parameters
        ----------
        X : array, frame, sparse matrix or Table of shape (n_rows, n_features)
        threshold : float in [0, 1], default=0.5
            For label sets: labels with at least this share are predicted.
        """
        return super().predict(X, threshold=threshold)

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
        return with_findings(super().to_ranking(), self)


def _holes(target: Target) -> bool:
    """Whether something is unknown of a target variable that is known of other rows."""
    unknown = np.isnan(target.values)
    return bool((unknown.any(axis=0) & ~unknown.all(axis=0)).any())
