"""`TaughtRanker`: any ranker, on the target that a teacher completed (Def. 1.10)."""

from __future__ import annotations

import inspect
import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..base.estimator import PredictorMixin, seed_of
from ..base.ranker import RankerBase
from ..data.encode_target import encode_target
from ..data.scaling import ranges
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import CLASSES, TASKS
from ..results.ranking import Ranking
from ..runtime.progress import Progress
from ..teacher.rows import row_keys
from ..teacher.teacher import Teacher
from .forest import ForestRanker
from .relief import ReliefRanker

# What X and y mean is settled once, by the estimator that is fitted with them.
_READING = ("task", "hierarchy", "hierarchy_decay", "categorical_features", "unlabeled")


class TaughtRanker(RankerBase, PredictorMixin):
    """Rank features on all rows, for a target whose holes a teacher has filled.

    The teacher predicts what is unknown of the target from the labelled rows; then the ranker treats every
    row as labelled. Classes and labels become columns of shares, which count as numbers.

    Parameters
    ----------
    ranker : ForestRanker, ReliefRanker or LaplaceRanker, optional
        By default ``ReliefRanker()``. Forests look at the target only (w = 1); another number or rule for
        `supervision` than 1.0 and the default is an error.
    teacher : Teacher, optional
        By default ``Teacher()``.
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
        Through joblib; also of ranker and teacher where they have none. Results do not depend on it.
    random_state : int, RandomState or None
        Also of ranker and teacher where they have none.

    Attributes
    ----------
    feature_importances_, importances_, importances_std_error_, ranking_
        Those of the ranker.
    importances_per_target_ : ndarray of shape (n_features, n_targets) or None
        None for classes.
    importances_per_class_ : ndarray of shape (n_features, n_classes) or None
        For classes: the score for the share of each class alone, columns as in `classes_`.
    teacher_ : Teacher
        Fitted; its `completed_` is the target that was ranked for. `predict` and `score` are the teacher's.
    ranker_ : the fitted ranker
    task_ : str
    n_labeled_ : int
    notes_ : list of str
        What was found and decided, one sentence each.

    Notes
    -----
    The rows are first put into an order that depends on their content, so the order in which they come plays
    no part, unless rows agree in everything. That of the features changes what forests draw, as another seed
    would.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import ReliefRanker, TaughtRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 2] + 0.1 * rng.normal(size=300)
    >>> y[40:] = np.nan                     # 40 of 300 rows are labelled
    >>> ranker = TaughtRanker(ReliefRanker(), random_state=0).fit(X, y)
    >>> int(ranker.feature_importances_.argmax()), bool(ranker.teacher_.losses_["stack"] < 0.1)
    (2, True)
    """

    def __init__(
        self,
        ranker: Any = None,
        *,
        teacher: Teacher | None = None,
        task: str = "auto",
        hierarchy: Any = None,
        hierarchy_decay: float = 0.75,
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        n_features_to_select: int | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.ranker = ranker
        self.teacher = teacher
        self.task = task
        self.hierarchy = hierarchy
        self.hierarchy_decay = hierarchy_decay
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, progress: Progress | None = None) -> TaughtRanker:
        """Complete the target, then score the features for it.

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
        ranker = ReliefRanker() if self.ranker is None else self.ranker
        check_ranker(ranker, type(self).__name__, taught=True)
        check_teacher(self.teacher, type(self).__name__)
        table, target = self._encode(X, y)
        self.seed_ = seed_of(self.random_state)
        order = content_rows(table, target, np.arange(len(table)))
        table, target = table.take(order), target.take(order)
        self.timings_ = {"read": time.perf_counter() - began}
        began = time.perf_counter()
        self.teacher_ = fit_teacher(
            self.teacher, table, target, self.seed_, self.n_jobs, progress, self.notes_
        )
        student = self.teacher_.student_target(target)
        back = np.argsort(order)
        self.teacher_.completed_ = self.teacher_.completed_[back]
        self.teacher_.predicted_ = self.teacher_.predicted_[back]
        self.timings_["teacher"] = time.perf_counter() - began
        began = time.perf_counter()
        options: dict[str, Any] = {"supervision": 1.0} if isinstance(ranker, ForestRanker) else {}
        self.ranker_ = prepared(ranker, self.seed_, self.n_jobs, **options)
        student = as_seen_by(self.ranker_, student, target)
        self.ranker_.fit(table, student, progress=progress)
        self.timings_["ranker"] = time.perf_counter() - began
        self._publish(student, target)
        return self

    def _publish(self, student: Target, target: Target) -> None:
        names = tuple(map(str, target.classes.tolist())) if target.classes is not None else target.names
        columns = at_names(self.ranker_.importances_per_target_, student.names, names)
        by_class = TASKS[target.task].kind == CLASSES
        self._target_names = () if by_class else names
        self.importances_per_class_ = columns if by_class else None
        self.importances_ = self.ranker_.importances_
        self.importances_std_error_ = self.ranker_.importances_std_error_
        self.importances_per_target_ = None if by_class else columns
        self.feature_importances_ = self.ranker_.feature_importances_
        self.ranking_ = self.ranker_.ranking_

    def _prototypes(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "teacher_")
        return self.teacher_._prototypes(self._encode_new(X))

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        check_is_fitted(self, "feature_importances_")
        inner = self.ranker_.to_ranking()
        by_class = self.importances_per_class_ is not None
        return replace(
            inner,
            method=f"taught {inner.method}",
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
            seed=self.seed_,
            notes=self.notes_,
            teacher=found_by(self.teacher_),
        )


def content_rows(table: Table, target: Target, rows: np.ndarray) -> np.ndarray:
    """These rows in an order that depends on what they hold, not on where they stand.

    Bootstraps and samples drawn along it, and ties broken by it, are the same for any order of the rows.
    """
    features, known = table.values[rows], target.values[rows]
    return rows[np.lexsort((row_keys(known, *ranges(known)), row_keys(features, *ranges(features))))]


def prepared(ranker: Any, seed: int, n_jobs: int | None, **options: Any) -> Any:
    """A fresh copy with these options, and with this seed and these jobs where it has none of its own."""
    fresh = clone(ranker)
    if fresh.random_state is None:
        options["random_state"] = seed
    if fresh.n_jobs is None:
        options["n_jobs"] = n_jobs
    return fresh.set_params(**options)


def fit_teacher(
    teacher: Teacher | None,
    table: Table,
    target: Target,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
    notes: list[str],
) -> Teacher:
    """A fitted copy of the teacher; what it decided and found is added to the notes."""
    fitted = prepared(Teacher() if teacher is None else teacher, seed, n_jobs)
    fitted.fit(table, target, progress=progress)
    read: list[str] = []
    encode_target(target, notes=read)  # what was read is said already
    notes.extend(note for note in fitted.notes_ if note not in (*notes, *read))
    notes.append(found_in_words(fitted))
    return fitted


def found_by(teacher: Teacher) -> dict[str, Any]:
    """What the teacher found, as plain values."""
    return {
        "members": list(teacher.weights_),
        "weights": dict(teacher.weights_),
        "losses": dict(teacher.losses_),
        "scores": dict(teacher.scores_),
    }


def found_in_words(teacher: Teacher) -> str:
    """One sentence: how well labels that were held out were predicted, and what counts how much."""
    task = TASKS[teacher.task_]
    score = {name: task.sign * value for name, value in teacher.scores_.items()}
    sentence = f"the teacher predicts held-out labels with {task.measure} {score['stack']:.2f}"
    if "random_forest" in score and len(teacher.weights_) > 1:
        sentence += f" (its random forest alone {score['random_forest']:.2f})"
    parts = sorted(teacher.weights_.items(), key=lambda item: -item[1])
    return f"{sentence}; its members count {', '.join(f'{name} {weight:.2f}' for name, weight in parts)}"


def as_seen_by(ranker: Any, student: Target, target: Target) -> Target:
    """The completed target with the weights that put its columns on the scale of this ranker.

    Forests divide columns by their variance, so class columns are weighted by it; distances divide them by
    their range, which is 1 for the share of a class.
    """
    if target.classes is None or isinstance(ranker, ForestRanker):
        return student
    return replace(student, weights=np.ones(len(student.names)))


def at_names(columns: np.ndarray, names: tuple[str, ...], wanted: tuple[str, ...]) -> np.ndarray:
    """Columns under these names, 0 for names that have none.

    Examples
    --------
    >>> at_names(np.array([[1.0, 2.0]]), ("a", "c"), ("a", "b", "c"))
    array([[1., 0., 2.]])
    """
    place = {name: j for j, name in enumerate(wanted)}
    out = np.zeros((len(columns), len(wanted)))
    out[:, [place[name] for name in names]] = columns
    return out


def check_ranker(ranker: Any, owner: str, *, taught: bool) -> None:
    """One sentence if this is none of the rankers that can be used here."""
    from .laplace import LaplaceRanker

    if not isinstance(ranker, ForestRanker | ReliefRanker | LaplaceRanker):
        raise TypeError(
            f"{ranker!r} is no ranker that {owner} can use; give a ForestRanker, ReliefRanker or "
            "LaplaceRanker."
        )
    _check_reading(ranker, (*_READING, "n_features_to_select"), owner)
    if taught and isinstance(ranker, ForestRanker) and ranker.supervision not in (1.0, _default(ranker)):
        raise ValueError(
            f"supervision={ranker.supervision!r}: on a completed target a forest looks at the target only; "
            "leave it out or give 1.0."
        )


def check_teacher(teacher: Any, owner: str) -> None:
    """One sentence if this is no teacher that can be used here."""
    if teacher is None:
        return
    if not isinstance(teacher, Teacher):
        raise TypeError(f"teacher={teacher!r} is no Teacher; give semirank.Teacher(...) or None.")
    _check_reading(teacher, _READING, owner)


def _check_reading(inner: Any, names: tuple[str, ...], owner: str) -> None:
    for name in names:
        value = getattr(inner, name)
        default = _default(inner, name)
        if value is not default and not (isinstance(value, type(default)) and value == default):
            raise ValueError(
                f"{name}={value!r} was given to {type(inner).__name__}, but {owner} is what reads X and y: "
                f"give {name} to {owner}."
            )


def _default(estimator: Any, name: str = "supervision") -> Any:
    return inspect.signature(type(estimator).__init__).parameters[name].default
