"""`Teacher`: the target of every row, from the labelled ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.estimator import PredictorMixin, larger_is_better
from ..base.parameters import at_least, seed_of
from ..data.table import Table
from ..data.target import Target
from ..runtime.parallel import each, one_blas_thread
from ..runtime.progress import Progress
from .completion import possible, student_target
from .estimators import Unusable
from .lesson import Answer, Lesson, Model, Rows, TargetScale, relative_loss, scale_target
from .members import MEMBERS, Member, ask_members, in_weighted_space, leave_out, read_members
from .rows import Chosen, choose_rows
from .space import Space, fit_space
from .stack import stack_weights

MIN_LABELED = 10  # two rows for each of five folds
_BLOCK_ROWS = 4096  # answered at a time, whatever n_jobs is
_BLOCK_CELLS = 1 << 23


class Taught(NamedTuple):
    """What has been learnt, for new rows."""

    space: Space
    scale: TargetScale
    schema: Target
    models: list[Model]
    weights: np.ndarray


def labels_are_enough(target: Target) -> bool:
    """Whether there are labelled rows enough to hold some out."""
    return int(target.labeled.sum()) >= MIN_LABELED


@dataclass(kw_only=True, eq=False, repr=False)
class Teacher(PredictorMixin):
    """Predict the target of every row from the labelled ones, by several models of different kinds.

    Each member answers for labelled rows that it has not seen (out of bag, leave-one-out, or folds). From
    these answers the members get their weights. The completed target is the truth where it is known, and the
    weighted answer elsewhere, cell by cell.

    Parameters
    ----------
    members : sequence of str and estimators
        "random_forest" and "extra_trees" on the labelled rows, "linear" and "kernel" ridge regression,
        "graph", which spreads labels between near rows, labelled or not; and any scikit-learn estimators.
        Estimators see numbers without holes (standardised, missing values at the mean, nominal features as
        0/1 columns); of classes and labels they give shares by `predict_proba`, and where they can only
        predict one column, each column has a clone. One that fails is left out, and `notes_` says so.
    max_rows : int, default=10000
        Rows of the graph; beyond that unlabelled rows are a sample, and the others take the answers of their
        nearest rows in it. At most half as many labelled rows are learnt from.

    Attributes
    ----------
    weights_ : dict of str to float
        How much each member counts; they add up to 1.
    losses_ : dict of str to float
        Squared error of each member, and of the "stack" of all, for labels that were held out, relative to
        that of the mean: 1 knows nothing, 0 knows all.
    scores_ : dict of str to float
        The same by the task's measure, as `score` gives it.
    completed_ : ndarray of shape (n_rows, n_columns)
        Class shares (columns as in `classes_`), numbers, or label shares of the rows of fit. In a hierarchy
        no label is more likely than any of its parents.
    predicted_ : ndarray of bool, of the same shape
        Cells that are the teacher's, not the truth.
    timings_ : dict of str to float

    Notes
    -----
    The order of the rows plays no part: folds, bootstraps and samples are drawn along an order that depends
    on their content, so that results differ by rounding only. The order of the features changes what forests
    draw, as another seed would; their units change results by rounding only.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import Teacher
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> truth = X[:, 2] - X[:, 0]
    >>> y = np.where(np.arange(300) < 40, truth, np.nan)   # 40 of 300 rows are labelled
    >>> teacher = Teacher(random_state=0).fit(X, y)
    >>> bool(teacher.losses_["stack"] < 0.05), max(teacher.weights_, key=teacher.weights_.get)
    (True, 'linear')
    >>> teacher.completed_.shape, int(teacher.predicted_.sum())
    ((300, 1), 260)
    """

    members: Sequence[Any] = tuple(MEMBERS)
    max_rows: int = 10_000

    _parameter_constraints = {"max_rows": [at_least(100)]}  # noqa: RUF012  as scikit-learn has it

    def fit(
        self, X: Any, y: Any, progress: Progress | None = None, *, feature_weights: np.ndarray | None = None
    ) -> Teacher:
        """Learn from the labelled rows, weigh the members and complete the target.

        Parameters
        ----------
        X : array, frame, sparse matrix or Table of shape (n_rows, n_features)
        y : array, Series, frame, or sequence of label sets
            Holes (NaN, None) are unlabelled rows or, in two dimensions, unknown cells.
        progress : callable, optional
            Called as ``progress(done, total, what)`` while it works.
        feature_weights : array of shape (n_features,), optional
            How much each feature counts, in proportion, where "linear", "kernel" and "graph" answer: its
            columns are multiplied by it. The weights of the members and `losses_` are those without it, since
            weights that were learnt from the same labels would flatter them.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        self._check()
        members = read_members(self.members)
        table, target = self._encode(X, y)
        weights = _checked_weights(feature_weights, table.shape[1])
        if not labels_are_enough(target):
            raise ValueError(
                f"Only {self.n_labeled_} rows are labelled (n_samples={self.n_labeled_}), but a teacher "
                f"needs at least {MIN_LABELED}, to hold some out; label more rows."
            )
        self.seed_ = seed_of(self.random_state)
        with one_blas_thread():
            self._learn(table, target, members, weights, progress)
        self.timings_ = {"teacher": time.perf_counter() - began}
        return self

    def _learn(
        self,
        table: Table,
        target: Target,
        members: list[Member],
        feature_weights: np.ndarray | None,
        progress: Progress | None,
    ) -> None:
        space = fit_space(table)
        chosen = choose_rows(table, target, space, int(self.max_rows), self.seed_)
        self._say_samples(len(table), chosen, members)
        labels = target.take(chosen.labeled)
        scale, learnt = scale_target(labels)
        points = space.points(table.values[chosen.crowd])
        lesson = Lesson(
            table.take(chosen.labeled), labels, learnt, points[: len(learnt)], points, self.seed_, self.n_jobs
        )
        answers = ask_members(members, lesson, scale, progress, self.notes_)
        if feature_weights is not None:
            answers = in_weighted_space(answers, lesson, feature_weights[space.feature])
        while True:
            held_out = {name: answer.held_out for name, answer in answers.items()}
            weights = stack_weights(learnt, list(held_out.values()))
            self._taught = Taught(space, scale, self._target_schema, _models(answers), weights)
            try:
                self._complete(table, target, chosen.crowd, progress)
                break
            except Unusable as failure:  # for rows without a label; held-out ones were no trouble
                said = leave_out(failure, self.notes_)
                del answers[failure.name]
                if not answers:
                    raise ValueError(f"No member is left: {said}.") from failure
        self.weights_ = dict(zip(answers, weights.tolist()))
        held_out["stack"] = _weighted(weights, list(held_out.values()))
        self.losses_ = {name: relative_loss(learnt, found) for name, found in held_out.items()}
        self.scores_ = {
            name: larger_is_better(target.task, labels.values, possible(target, scale.raw(found)))
            for name, found in held_out.items()
        }

    def _say_samples(self, n_rows: int, chosen: Chosen, members: list[Member]) -> None:
        n_learnt, n_joined = len(chosen.labeled), len(chosen.crowd)
        if n_learnt < self.n_labeled_:
            self.notes_.append(
                f"the teacher learns from a sample of {n_learnt} of {self.n_labeled_} labelled rows"
            )
        if n_joined < n_rows and any(member.name == "graph" for member in members):
            self.notes_.append(
                f"the teacher's graph joins a sample of {n_joined} of {n_rows} rows; the others take "
                "the answers of their nearest rows in it"
            )

    def _complete(self, table: Table, target: Target, crowd: np.ndarray, progress: Progress | None) -> None:
        completed = target.columns().copy()
        predicted = np.isnan(completed)
        place = np.full(len(table), -1)
        place[crowd] = np.arange(len(crowd))
        open_rows = predicted.any(axis=1)
        for inside in (True, False):
            rows = np.flatnonzero(open_rows & ((place >= 0) == inside))
            found = self._answer(table.values, rows, place if inside else None, progress)
            completed[rows] = np.where(predicted[rows], found, completed[rows])
        self.completed_, self.predicted_ = completed, predicted

    def _answer(
        self,
        values: np.ndarray,
        rows: np.ndarray,
        place: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Prototypes of these rows of `values`, block by block."""
        taught = self._taught
        size = max(1, min(_BLOCK_ROWS, _BLOCK_CELLS // max(1, len(taught.space.feature))))
        blocks = [rows[i : i + size] for i in range(0, len(rows), size)]

        def work(block: np.ndarray) -> np.ndarray:
            part = values[block]
            asked = Rows(part, taught.space.points(part), None if place is None else place[block])
            learnt = _weighted(taught.weights, [model.predict(asked) for model in taught.models])
            return possible(taught.schema, taught.scale.raw(learnt))

        out = [np.zeros((0, len(taught.scale.mean)))]
        for found in each(work, blocks, self.n_jobs):
            out.append(found)
            if progress is not None:
                progress(len(out) - 1, len(blocks), "teacher: blocks of rows")
        return np.concatenate(out)

    def _prototypes(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_taught")
        table = self._encode_new(X)
        return self._answer(table.values, np.arange(len(table)))

    def student_target(self, target: Target) -> Target:
        """The completed target of the rows of fit as numeric columns to rank for.

        Parameters
        ----------
        target : Target
            What the teacher was fitted with.
        """
        check_is_fitted(self, "completed_")
        return student_target(target, self.completed_)


def _checked_weights(weights: Any, n_features: int) -> np.ndarray | None:
    """Weights of which the mean square is 1, so that only their proportions count."""
    if weights is None:
        return None
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_features,) or not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        raise ValueError(
            f"feature_weights must hold a number of at least 0 for each of the {n_features} features, "
            "and not only zeros."
        )
    found = found / found.max()
    return found / np.sqrt(np.mean(found**2))


def _models(answers: dict[str, Answer]) -> list[Model]:
    return [answer.model for answer in answers.values()]


def _weighted(weights: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """The weighted sum, member by member, so that a part of the rows gives the same bits as all of them."""
    out = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:]):
        out += weight * part
    return out
