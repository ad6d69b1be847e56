"""What every ranker shares: being a scikit-learn feature selector that tells its ranking."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.columns import frame_kind
from ..data.table import Table
from ..data.target import Target
from ..results.ranking import Ranking, rank_numbers
from .estimator import EncodingBase


class RankerBase(SelectorMixin, EncodingBase):
    """Select and describe. A ranker adds its parameters, `fit` and `to_ranking`.

    The constructor of every ranker has `n_features_to_select` beside the parameters of `EncodingBase`.
    """

    n_features_to_select: Any

    def _encode(self, X: Any, y: Any) -> tuple[Table, Target]:
        _check_share(self.n_features_to_select)
        return super()._encode(X, y)

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
