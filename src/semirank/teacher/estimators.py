"""Members that the user hands in: any scikit-learn estimator, held out by folds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from ..data.target import Target
from ..data.tasks import CLASSES, NUMBERS, TASKS
from ..judging.splits import fold_numbers
from .lesson import Answer, Lesson, Rows, TargetScale

N_FOLDS = 5


class WrongShape(ValueError):
    """An estimator's answer does not have a row for each row, or a column for each column."""


class Unusable(ValueError):
    """An estimator failed, or gave NaN or infinity."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason

    def __str__(self) -> str:
        return f"The member {self.name} {self.reason}."


class Part(NamedTuple):
    """A fitted estimator and the prototype columns that it answers for; None for a constant one."""

    estimator: Any
    columns: np.ndarray
    constant: float


class EstimatorModel(NamedTuple):
    """Fitted estimators that answer for all prototype columns together."""

    name: str
    parts: list[Part]
    scale: TargetScale
    as_classes: bool  # one estimator of classes: its columns are those of its `classes_`

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows; `Unusable` where the estimators have none."""
        out = np.zeros((len(rows.points), len(self.scale.mean)))
        if len(out) == 0:
            return out[:, self.scale.varies]
        try:
            for part in self.parts:
                out[:, part.columns] = self._columns(part, rows.points)
        except (MemoryError, WrongShape):
            raise
        except Exception as error:
            raise Unusable(self.name, f"failed: {in_short(error)}") from error
        if not np.isfinite(out).all():
            raise Unusable(self.name, "gave NaN or infinity")
        raw = (out - self.scale.offset) / self.scale.scale
        return ((raw - self.scale.mean) * self.scale.factor)[:, self.scale.varies]

    def _columns(self, part: Part, points: np.ndarray) -> np.ndarray:
        if part.estimator is None:
            return np.full((len(points), len(part.columns)), part.constant)
        if self.as_classes:
            seen = np.asarray(part.estimator.classes_).astype(np.int64)
            out = np.zeros((len(points), len(part.columns)))
            out[:, seen] = self._shares(part.estimator, points, len(seen))
            return out
        if is_classifier(part.estimator):
            return self._shares(part.estimator, points, 2)[:, 1:]
        answer = part.estimator.predict(points.copy())  # some write into what they are given
        return self._checked(answer, len(points), len(part.columns), "predict")

    def _shares(self, estimator: Any, points: np.ndarray, n_classes: int) -> np.ndarray:
        if hasattr(estimator, "predict_proba"):
            answer = estimator.predict_proba(points.copy())
            return self._checked(answer, len(points), n_classes, "predict_proba")
        codes = self._checked(estimator.predict(points.copy()), len(points), 1, "predict")
        return (codes == np.asarray(estimator.classes_)).astype(np.float64)

    def _checked(self, answer: Any, n_rows: int, n_columns: int, method: str) -> np.ndarray:
        array = np.asarray(answer, dtype=np.float64)
        shape = array.shape
        if array.ndim == 1 and n_columns == 1:
            array = array[:, None]
        if array.shape != (n_rows, n_columns):
            raise WrongShape(
                f"The member {self.name} gave an array of shape {shape} from {method}, but {n_rows} rows of "
                f"{n_columns} column{'' if n_columns == 1 else 's'} were expected; correct the estimator or "
                "leave it out of members."
            )
        return array


def in_short(error: Exception) -> str:
    """The first line of what an error says, without a full stop.

    Examples
    --------
    >>> in_short(ValueError("No rows.\\nSecond line")), in_short(KeyError())
    ('No rows', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def fit_estimator(estimator: Any, name: str, lesson: Lesson, scale: TargetScale) -> Answer:
    """Fit clones of an estimator on the points of all labelled rows, and of all but each fold."""
    rng = np.random.default_rng([lesson.seed, 2])
    fold = fold_numbers(lesson.target, N_FOLDS, rng)
    seed = int(rng.integers(2**31))
    held_out = np.empty(lesson.learnt.shape)
    for f in range(N_FOLDS):
        seen, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        model = _fit(estimator, name, lesson.points[seen], lesson.target.take(seen), scale, seed)
        held_out[held] = model.predict(Rows(lesson.table.values[held], lesson.points[held], None))
    return Answer(held_out, _fit(estimator, name, lesson.points, lesson.target, scale, seed))


def _fit(
    estimator: Any, name: str, points: np.ndarray, target: Target, scale: TargetScale, seed: int
) -> EstimatorModel:
    columns = target.columns()
    every = np.arange(columns.shape[1])
    classifier = is_classifier(estimator)
    kind = TASKS[target.task].kind
    if classifier and kind == NUMBERS:
        raise TypeError("it is a classifier, but the target is numbers; give a regressor")
    if classifier and kind == CLASSES:
        codes = target.values[:, 0].astype(np.int64)
        if (codes == codes[0]).all():  # a fold of few labels
            part = Part(None, every[codes[0] : codes[0] + 1], 1.0)
            return EstimatorModel(name, [part], scale, False)
        fitted = _fitted(estimator, seed, points, codes)
        return EstimatorModel(name, [Part(fitted, every, 0.0)], scale, True)
    together = not classifier and (len(every) == 1 or get_tags(estimator).target_tags.multi_output)
    if together and not np.isnan(columns).any():
        y = columns[:, 0] if len(every) == 1 else columns
        parts = [Part(_fitted(estimator, seed, points, y), every, 0.0)]
    else:
        parts = [_fit_one(estimator, points, columns[:, j], int(j), classifier, seed) for j in every]
    return EstimatorModel(name, parts, scale, False)


def _fit_one(estimator: Any, points: np.ndarray, y: np.ndarray, j: int, classifier: bool, seed: int) -> Part:
    """One column, on the rows that know it; a constant one needs no estimator."""
    rows = np.flatnonzero(~np.isnan(y))
    y = y[rows]
    if len(rows) == 0 or (y == y[0]).all():
        return Part(None, np.array([j]), float(y[0]) if len(rows) else 0.0)
    fitted = _fitted(estimator, seed, points[rows], y.astype(np.int64) if classifier else y)
    return Part(fitted, np.array([j]), 0.0)


def _fitted(estimator: Any, seed: int, points: np.ndarray, y: np.ndarray) -> Any:
    """A fitted clone. Some estimators (`copy=False`) write into what they are given, which others share."""
    fresh = _fresh(estimator, seed)
    fresh.fit(points.copy(), y.copy())
    return fresh


def _fresh(estimator: Any, seed: int) -> Any:
    """A clone whose open random states are fixed, so that the teacher's seed fixes everything."""
    copy = clone(estimator)
    open_ones = [
        name
        for name, value in copy.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return copy.set_params(**dict.fromkeys(open_ones, seed)) if open_ones else copy
