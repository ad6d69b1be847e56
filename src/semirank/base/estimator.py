"""What rankers and teachers share: parameters, reading X and y, predicting in the terms of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.align_rows import align_rows
from ..data.column_summary import summarize_table, summarize_target
from ..data.columns import native_frame
from ..data.decode_target import decode
from ..data.encode_features import encode_features, encode_like
from ..data.encode_target import encode_target, encode_target_like
from ..data.summary import target_counts
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import NUMBERS, TASKS
from ..judging.measures import task_score
from .parameters import SHARED, UNIT_INTERVAL, check_parameters, with_shared_parts


@dataclass(kw_only=True, eq=False, repr=False)
class EncodingBase(BaseEstimator):
    """Read X and y in any form (Def. 3.1).

    Parameters
    ----------
    task : {"auto", "classification", "regression", "multi_target", "multi_label", "hierarchical"}
        "auto" looks at y and says in `notes_` what it found.
    hierarchy : Hierarchy, path strings, parent lists or edges, optional
        For label sets with a hierarchy.
    hierarchy_decay : float, default=0.75
        Weight of a label relative to the mean of its parents.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
    unlabeled : optional
        A value of y that means "unknown" besides NaN and None, for example -1. Never guessed.
    n_jobs : int, optional
        Through joblib. Results do not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    task_ : str
    n_labeled_ : int
    notes_ : list of str
        What was found and decided, one sentence each.
    """

    task: str = "auto"
    hierarchy: Any = None
    hierarchy_decay: float = 0.75
    categorical_features: Any = "from_dtype"
    unlabeled: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SHARED

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:
            if issubclass(base, EncodingBase):
                cls.__doc__ = with_shared_parts(cls.__doc__ or "", base.__doc__ or "")

    def _check(self) -> None:
        """Refuse a parameter with an impossible value, in one sentence."""
        check_parameters(SHARED | self._parameter_constraints, self.get_params(deep=False))

    def _encode(self, X: Any, y: Any) -> tuple[Table, Target]:
        """Read X and y; sets what scikit-learn expects and starts `notes_`."""
        self.notes_: list[str] = []
        other_notes: list[str] = []
        remarks: dict[str, tuple[str, ...]] = {}
        X = native_frame(X)
        y = align_rows(X, y, other_notes)
        table = encode_features(
            X, categorical_features=self.categorical_features, notes=other_notes, remarks=remarks
        )
        target = encode_target(
            y,
            task=self.task,
            unlabeled=self.unlabeled,
            hierarchy=self.hierarchy,
            hierarchy_decay=self.hierarchy_decay,
            n_rows=len(table),
            notes=self.notes_,
        )
        self.notes_ += other_notes  # what the target was taken for comes first (Def. 3.1)
        validate_data(self, X, skip_check_array=True)
        if isinstance(X, Table):
            self.feature_names_in_ = np.array(X.names, dtype=object)
        self._schema = table.take(np.arange(0))  # no rows: enough to encode later ones alike
        self.task_ = target.task
        self.n_rows_ = len(table)
        self.n_labeled_ = int(target.labeled.sum())
        self.missing_share_ = np.isnan(table.values).mean(axis=0)
        self._target_schema = target.take(np.arange(0))
        self.target_counts_ = target_counts(target)
        self._columns = [*summarize_table(table, remarks), *summarize_target(target)]
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if target.classes is not None:
            self.classes_ = target.classes
        return table, target

    def _encode_new(self, X: Any) -> Table:
        check_is_fitted(self, "_schema")
        X = native_frame(X)
        table = encode_like(X, self._schema, estimator_name=type(self).__name__)
        if not isinstance(X, Table):  # warns where only one of fit and now has names
            validate_data(self, X, skip_check_array=True, reset=False)
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def has_shares(estimator: PredictorMixin) -> bool:
    """Whether there are shares to predict; the condition of `predict_proba`."""
    task = getattr(estimator, "task_", None)
    if task is not None and TASKS[task].kind == NUMBERS:
        raise AttributeError(f"predict_proba is for classes and label sets, not for task={task!r}.")
    return True


class PredictorMixin(EncodingBase):
    """`predict`, `predict_proba` and `score` from prototypes, which a subclass gives by `_prototypes`."""

    def _prototypes(self, X: Any) -> np.ndarray:
        """Class shares, numbers or label shares of new rows."""
        raise NotImplementedError

    def predict(self, X: Any, *, threshold: float = 0.5) -> np.ndarray:
        """Predictions in the terms of y; label sets as 0/1 rows, ancestors included.

        Parameters
        ----------
        X : array, frame, sparse matrix or Table of shape (n_rows, n_features)
        threshold : float in [0, 1], default=0.5
            For label sets: labels with at least this share are predicted.
        """
        check_parameters({"threshold": [UNIT_INTERVAL]}, {"threshold": threshold})
        prototypes = self._prototypes(X)
        if threshold != 0.5 and not TASKS[self.task_].is_label_set:
            raise ValueError(f"threshold={threshold!r} is for label sets, not for task={self.task_!r}.")
        return decode(self._target_schema, prototypes, threshold)

    @available_if(has_shares)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class shares (columns as in `classes_`) or label shares."""
        return self._prototypes(X)

    def score(self, X: Any, y: Any) -> float:
        """The task's measure on the known cells of y, larger is better: macro F1, -RRMSE or pooled AUPRC."""
        prototypes = self._prototypes(X)
        target: Target = encode_target_like(
            align_rows(X, y), self._target_schema, unlabeled=self.unlabeled, n_rows=len(prototypes)
        )
        return larger_is_better(self.task_, target.values, prototypes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # predict_proba promises what a classifier does
        tags.classifier_tags = ClassifierTags(multi_label=True)
        return tags


def larger_is_better(task: str, truth: np.ndarray, prototypes: np.ndarray) -> float:
    """The task's measure as `score` gives it: RRMSE with a minus sign."""
    return TASKS[task].sign * task_score(task, truth, prototypes)
