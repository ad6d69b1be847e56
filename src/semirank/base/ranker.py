"""What every ranker shares: reading X and y, and being a scikit-learn feature selector."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.encode_features import encode_features, encode_like, frame_kind
from ..data.table import Table
from ..data.target import Target, encode_target
from ..results.ranking import Ranking, rank_numbers


class RankerBase(SelectorMixin, BaseEstimator):
    """Encode, select, describe. A ranker adds its parameters, `fit` and `to_ranking`.

    The constructor of every ranker has `task`, `hierarchy`, `hierarchy_decay`, `categorical_features`,
    `unlabeled`, `n_features_to_select`, `n_jobs` and `random_state`.
    """

    task: Any
    hierarchy: Any
    hierarchy_decay: float
    categorical_features: Any
    unlabeled: Any
    n_features_to_select: Any

    def _encode(self, X: Any, y: Any) -> tuple[Table, Target]:
        """Read X and y (Def. 3.1); sets what scikit-learn expects and starts `notes_`."""
        self.notes_: list[str] = []
        _check_share(self.n_features_to_select)
        table = encode_features(X, categorical_features=self.categorical_features, notes=self.notes_)
        target = encode_target(
            y,
            task=self.task,
            unlabeled=self.unlabeled,
            hierarchy=self.hierarchy,
            hierarchy_decay=self.hierarchy_decay,
            n_rows=len(table),
            notes=self.notes_,
        )
        validate_data(self, X, skip_check_array=True)
        if isinstance(X, Table):
            self.feature_names_in_ = np.array(X.names, dtype=object)
        self._schema = table.take(np.arange(0))  # no rows: enough to encode later ones alike
        self.task_ = target.task
        self.n_rows_ = len(table)
        self.n_labeled_ = int(target.labeled.sum())
        self.missing_share_ = np.isnan(table.values).mean(axis=0)
        self._target_schema = target.take(np.arange(0))
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if target.classes is not None:
            self.classes_ = target.classes
        return table, target

    def _encode_new(self, X: Any) -> Table:
        check_is_fitted(self, "_schema")
        table = encode_like(X, self._schema, estimator_name=type(self).__name__)
        if not isinstance(X, Table):  # warns where only one of fit and now has names
            validate_data(self, X, skip_check_array=True, reset=False)
        return table

    def _finish(
        self,
        importances: dict[str, np.ndarray],
        standard_errors: dict[str, np.ndarray],
        per_target: np.ndarray | None,
        main: str,
    ) -> None:
        """Publish the scores; `main` is the one that ranks."""
        self.importances_ = importances
        self.importances_std_error_ = standard_errors
        self.importances_per_target_ = per_target
        self.feature_importances_ = importances[main]
        self.ranking_ = rank_numbers(self.feature_importances_)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "feature_importances_")
        wanted = self.n_features_to_select
        if wanted is None:
            return self.feature_importances_ > 0
        d = len(self.feature_importances_)
        if isinstance(wanted, Integral):
            count = min(int(wanted), d)
        else:
            count = max(1, round(float(wanted) * d))
        mask = np.zeros(d, dtype=bool)
        mask[np.argsort(-self.feature_importances_, kind="stable")[:count]] = True
        return mask

    def transform(self, X: Any) -> Any:
        """X with the selected features only: an array, or what `set_output` asks for; a Table stays one."""
        chosen = self.get_support(indices=True)
        if isinstance(X, Table):
            names, categories = ([part[j] for j in chosen] for part in (X.names, X.categories))
            return Table(X.values[:, chosen], X.n_values[chosen], tuple(names), tuple(categories))
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if frame_kind(X) == "polars" and wanted in ("polars", "pandas"):
            # scikit-learn keeps the dtypes of pandas frames only; others go through an array of objects.
            validate_data(self, X, skip_check_array=True, reset=False)
            part = X[:, chosen.tolist()]
            return part if wanted == "polars" else part.to_pandas()
        return super().transform(X)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def seed_of(random_state: Any) -> int:
    """The whole number behind a `random_state`: given back as `random_state`, it repeats the run."""
    if isinstance(random_state, Integral):
        check_random_state(random_state)  # says what is wrong with a number out of range
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _check_share(wanted: Any) -> None:
    if wanted is None:
        return
    if isinstance(wanted, Integral) and not isinstance(wanted, bool) and int(wanted) >= 1:
        return
    if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < float(wanted) <= 1:
        return
    raise ValueError(
        f"n_features_to_select={wanted!r} is neither a count (1, 2, ...), a share in (0, 1], nor None "
        "(all features with importance > 0)."
    )
