"""`TaughtRanker`: any ranker, on the target that a teacher completed (Def. 1.10)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..base.estimator import PredictorMixin
from ..base.parameters import seed_of
from ..base.ranker import RankerBase, Scores
from ..data.encode_target import encode_target
from ..data.scaling import ranges
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS
from ..results.ranking import Ranking
from ..runtime.progress import Progress
from ..teacher.members import WORDS
from ..teacher.rows import row_keys
from ..teacher.teacher import Teacher
from .forest import ForestRanker
from .relief import ReliefRanker

# What X and y mean is settled once, by the estimator that is fitted with them.
_READING = ("task", "hierarchy", "hierarchy_decay", "categorical_features", "unlabeled")


@dataclass(kw_only=True, eq=False, repr=False)
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
    use_unlabeled : bool, default=True
        False is the supervised counterpart: the labelled rows alone, also for the teacher.
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

    ranker: Any = field(default=None, kw_only=False)
    teacher: Teacher | None = None

    def _check(self) -> None:
        super()._check()
        check_ranker(self._ranker(), type(self).__name__)
        check_teacher(self.teacher, type(self).__name__)

    def _ranker(self) -> Any:
        return ReliefRanker() if self.ranker is None else self.ranker

    @property
    def _method(self) -> str:  # type: ignore[override]
        return f"taught {self._ranker()._method}"

    def _rank(
        self, table: Table, target: Target, progress: Progress | None, step: Callable[[str], None]
    ) -> Scores:
        self.seed_ = seed_of(self.random_state)
        rows = np.arange(len(table)) if self.use_unlabeled else np.flatnonzero(target.labeled)
        order = content_rows(table, target, rows)
        table, target = table.take(order), target.take(order)
        step("read")
        self.teacher_ = fit_teacher(
            self.teacher, table, target, self.seed_, self.n_jobs, progress, self.notes_
        )
        student = self.teacher_.student_target(target)
        in_order_of_rows(self.teacher_, order)
        step("teacher")
        ranker = self._ranker()
        options: dict[str, Any] = {"supervision": 1.0} if isinstance(ranker, ForestRanker) else {}
        self.ranker_ = prepared(ranker, self.seed_, self.n_jobs, **options)
        self.ranker_.fit(table, as_seen_by(self.ranker_, student, target), progress=progress)
        step("ranker")
        columns = self.ranker_.importances_per_target_
        if columns is not None:
            columns = at_names(columns, student.names, column_names(target))
        self.importances_per_class_ = None if target.classes is None else columns
        found: Scores = self.ranker_._found
        return found._replace(per_target=columns if target.classes is None else None)

    def _prototypes(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "teacher_")
        return self.teacher_._prototypes(self._encode_new(X))

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        code = f"from semirank import *\n\nranking = {self!r}.fit(X, y).to_ranking()"
        return replace(with_findings(super().to_ranking(), self), origin={"python": code})


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
    feature_weights: np.ndarray | None = None,
) -> Teacher:
    """A fitted copy of the teacher; what it decided and found is added to the notes."""
    fitted = prepared(Teacher() if teacher is None else teacher, seed, n_jobs)
    weighted = {} if feature_weights is None else {"feature_weights": feature_weights}
    fitted.fit(table, target, progress=progress, **weighted)
    read: list[str] = []
    encode_target(target, notes=read)  # what was read is said already
    notes.extend(note for note in fitted.notes_ if note not in (*notes, *read))
    notes.append(found_in_words(fitted))
    return fitted


def in_order_of_rows(teacher: Teacher, rows: np.ndarray) -> np.ndarray:
    """Put the rows of `completed_` and `predicted_` into ascending order; returns that order of `rows`."""
    back = np.argsort(rows)
    teacher.completed_ = teacher.completed_[back]
    teacher.predicted_ = teacher.predicted_[back]
    return rows[back]


def with_findings(ranking: Ranking, ranker: Any) -> Ranking:
    """The ranking with the scores per class of a ranker and what its teacher found."""
    by_class = ranker.importances_per_class_
    return replace(
        ranking,
        per_class=by_class,
        class_names=() if by_class is None else column_names(ranker._target_schema),
        teacher={} if ranker.teacher_ is None else found_by(ranker.teacher_),
    )


def column_names(target: Target) -> tuple[str, ...]:
    """Names of the prototype columns: classes or target variables."""
    return target.names if target.classes is None else tuple(map(str, target.classes.tolist()))


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
    first, *others = [(WORDS.get(name, name), weight) for name, weight in parts if weight >= 0.005]
    sentence += f"; of its answer {first[1]:.2f} comes from {first[0]}"
    return sentence + "".join(f", {weight:.2f} from {words}" for words, weight in others)


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


def check_ranker(ranker: Any, owner: str) -> None:
    """One sentence if this is none of the rankers that can be used here."""
    from .laplace import LaplaceRanker

    if not isinstance(ranker, ForestRanker | ReliefRanker | LaplaceRanker):
        raise TypeError(
            f"{ranker!r} is no ranker that {owner} can use; give a ForestRanker, ReliefRanker or "
            "LaplaceRanker."
        )
    _check_reading(ranker, (*_READING, "n_features_to_select"), owner)
    if isinstance(ranker, ReliefRanker) and ranker.form == "per_class":
        raise ValueError(
            "form='per_class' compares rows of different classes, but a completed target has shares of "
            "classes; use form='overall'."
        )
    if isinstance(ranker, ForestRanker) and ranker.supervision not in (1.0, _default(ranker, "supervision")):
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


def _default(estimator: Any, name: str) -> Any:
    return inspect.signature(type(estimator).__init__).parameters[name].default
