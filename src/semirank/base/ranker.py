"""What every ranker shares: `fit`, being a scikit-learn feature selector, and the Ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.columns import frame_kind, native_frame
from ..data.table import Table
from ..data.target import Target
from ..results.agreement import rank_numbers
from ..results.ranking import Ranking
from ..runtime.parallel import plain_interrupts
from ..runtime.progress import Progress, stopwatch
from .estimator import EncodingBase


class Scores(NamedTuple):
    """What a ranker found.

    Attributes
    ----------
    importances, standard_errors : dict of str to ndarray
    main : str
        The importance that ranks.
    per_target : ndarray of shape (n_features, n_targets) or None
    choice : dict
        What was tuned, or could have been.
    path : list of dict
        The settings that were compared, with their scores.
    """

    importances: dict[str, np.ndarray]
    standard_errors: dict[str, np.ndarray]
    main: str
    per_target: np.ndarray | None = None
    choice: dict[str, Any] = {}  # noqa: RUF012  never changed
    path: list[dict[str, float]] = []  # noqa: RUF012


@dataclass(kw_only=True, eq=False, repr=False)
class RankerBase(SelectorMixin, EncodingBase):
    """What all rankers have in common; one adds its own parameters and `_rank`.

    Parameters
    ----------
    use_unlabeled : bool, default=True
        False is the supervised counterpart: the labelled rows alone.
    n_features_to_select : int, float or None, default=None
        For `transform`: how many features, which share of them, or all with importance > 0.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        1 = best, ties share a rank.
    """

    use_unlabeled: bool = True
    n_features_to_select: int | float | None = None

    _method: ClassVar[str]  # its name in the table of methods

    def fit(self, X: Any, y: Any, progress: Progress | None = None) -> Self:
        """Score the features.

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
        return self._score_features(*self._read(X, y, progress), progress)

    def _read(
        self, X: Any, y: Any, progress: Progress | None = None
    ) -> tuple[Table, Target, Callable[[str], None]]:
        """The first half of `fit`: X and y encoded, and a stopwatch that runs."""
        self.timings_: dict[str, float] = {}
        step = stopwatch(self.timings_)
        self._check()
        return *self._encode(X, y), step

    def _score_features(
        self, table: Table, target: Target, step: Callable[[str], None], progress: Progress | None
    ) -> Self:
        """The second half of `fit`."""
        with plain_interrupts():
            found = self._rank(table, target, progress, step)
        self.importances_ = found.importances
        self.importances_std_error_ = found.standard_errors
        self.importances_per_target_ = found.per_target
        self.feature_importances_ = found.importances[found.main]
        self.ranking_ = rank_numbers(self.feature_importances_)
        self._found = found
        return self

    def _rank(
        self, table: Table, target: Target, progress: Progress | None, step: Callable[[str], None]
    ) -> Scores:
        """Compute the scores; `step(name)` writes the seconds since the last step to `timings_`."""
        raise NotImplementedError

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "feature_importances_")
        wanted = self.n_features_to_select
        if wanted is None:
            return self.feature_importances_ > 0
        d = len(self.feature_importances_)
        count = int(wanted) if isinstance(wanted, Integral) else max(1, round(float(wanted) * d))
        mask = np.zeros(d, dtype=bool)
        mask[np.argsort(-self.feature_importances_, kind="stable")[:count]] = True
        return mask

    def transform(self, X: Any) -> Any:
        """X with the selected features only: an array, or what `set_output` asks for; a Table stays one."""
        chosen = self.get_support(indices=True)
        if isinstance(X, Table):
            names, categories = ([part[j] for j in chosen] for part in (X.names, X.categories))
            return Table(X.values[:, chosen], X.n_values[chosen], tuple(names), tuple(categories))
        X = native_frame(X)
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if frame_kind(X) == "polars" and wanted in ("polars", "pandas"):
            # scikit-learn keeps the dtypes of pandas frames only; others go through an array of objects.
            validate_data(self, X, skip_check_array=True, reset=False)
            part = X[:, chosen.tolist()]
            return part if wanted == "polars" else part.to_pandas()
        return super().transform(X)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        check_is_fitted(self, "feature_importances_")
        found = self._found
        return Ranking(
            names=self._schema.names,
            scores=self.feature_importances_,
            standard_errors=found.standard_errors.get(found.main),
            method=self._method,
            importance=found.main,
            all_scores=found.importances,
            all_standard_errors=found.standard_errors,
            per_target=found.per_target,
            target_names=self._target_schema.names,
            target_counts=self.target_counts_,
            columns=[column._asdict() for column in self._columns],
            task=self.task_,
            n_rows=self.n_rows_,
            n_labeled=self.n_labeled_,
            settings=self.get_params(deep=False),
            choice=found.choice,
            choice_path=found.path,
            missing_share=self.missing_share_,
            timings=self.timings_,
            seed=getattr(self, "seed_", None),
            notes=self.notes_,
        )
