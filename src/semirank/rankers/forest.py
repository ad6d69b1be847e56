"""`ForestRanker`: rankings from semi-supervised tree ensembles."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..base.estimator import PredictorMixin, seed_of
from ..base.ranker import RankerBase
from ..results.ranking import Ranking
from ..trees.ensemble import Plan, Progress, forest_scores, grow_forest, predict_forest, prepare
from ..trees.grow import Growth
from .forest_supervision import choose_supervision

ENSEMBLES = ("random_forest", "extra_trees", "bagging")
IMPORTANCES = ("genie3", "symbolic", "rforest")
RULES = ("judge", "cv", "oob")


class ForestRanker(RankerBase, PredictorMixin):
    """Rank features by an ensemble of semi-supervised predictive clustering trees.

    Rows without a target take part: a split is good if it makes the two sides purer in the target, where that
    is known, *and* in the features. How much each counts is the supervision level w.

    Parameters
    ----------
    ensemble : {"random_forest", "extra_trees", "bagging"}, default="random_forest"
    importance : {"genie3", "symbolic", "rforest"} or a sequence of them, default="genie3"
        The first one is the main one, `feature_importances_`. "genie3" sums the impurity that a feature's
        tests take away, "symbolic" the rows that they see, "rforest" is the damage that permuting the feature
        does to predictions of out-of-bag rows. The first two are always computed, "rforest" only when asked
        for.
    supervision : float in [0, 1] or {"judge", "cv", "oob"}, default="judge"
        w: 1 looks at the target only, 0 at the features only. Or a rule that picks it: "judge" compares the
        rankings by nearest-neighbour predictions and leaves w = 1 only for a clear gain; "cv" (the paper's)
        and "oob" compare the error of the forests.
    n_estimators : int, default=100
    missing_weight : {"all", "known"}, default="all"
        How much a variable with missing values counts in a node: by all rows, or by those where it is known.
    max_features : int, float, "sqrt" or None, default=None
        Candidate features per node; by default ceil(sqrt(D)) for random forests and all for the others.
    min_samples_leaf : int, default=1
    min_labeled : int, default=4
        Labelled rows a node needs to be split further; 0 grows trees fully, as the paper does.
    max_depth : int, optional
    bootstrap : bool, default=True
    use_unlabeled : bool, default=True
        False is the supervised counterpart: w = 1 on the labelled rows alone.
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
        Through joblib. Results do not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
    importances_ : dict of str to ndarray
    importances_std_error_ : dict of str to ndarray
        Standard errors over trees.
    importances_per_target_ : ndarray of shape (n_features, n_targets)
        genie3 for each target variable alone: the decrease of its own normalised impurity.
    ranking_ : ndarray of shape (n_features,)
        1 = best, ties share a rank.
    supervision_ : float
        The w that was used.
    supervision_path_ : list of dict
        The levels that were compared, with their scores.
    task_ : str
    n_labeled_ : int
    notes_ : list of str
        What was found and decided, one sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import ForestRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 2] + 0.1 * rng.normal(size=300)
    >>> y[40:] = np.nan                     # 40 of 300 rows are labelled
    >>> ranker = ForestRanker(supervision=1.0, n_estimators=20, random_state=0).fit(X, y)
    >>> int(ranker.feature_importances_.argmax())
    2
    >>> ranker.task_, ranker.n_labeled_
    ('regression', 40)
    """

    def __init__(
        self,
        *,
        ensemble: str = "random_forest",
        importance: str | Sequence[str] = "genie3",
        supervision: float | str = "judge",
        n_estimators: int = 100,
        missing_weight: str = "all",
        max_features: int | float | str | None = None,
        min_samples_leaf: int = 1,
        min_labeled: int = 4,
        max_depth: int | None = None,
        bootstrap: bool = True,
        use_unlabeled: bool = True,
        task: str = "auto",
        hierarchy: Any = None,
        hierarchy_decay: float = 0.75,
        categorical_features: Any = "from_dtype",
        unlabeled: Any = None,
        n_features_to_select: int | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.ensemble = ensemble
        self.importance = importance
        self.supervision = supervision
        self.n_estimators = n_estimators
        self.missing_weight = missing_weight
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.min_labeled = min_labeled
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.use_unlabeled = use_unlabeled
        self.task = task
        self.hierarchy = hierarchy
        self.hierarchy_decay = hierarchy_decay
        self.categorical_features = categorical_features
        self.unlabeled = unlabeled
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, progress: Progress | None = None) -> ForestRanker:
        """Grow the forest and score the features.

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
        names = self._check_parameters()
        table, target = self._encode(X, y)
        n_features = table.shape[1]
        self._target_names = target.names
        if not self.use_unlabeled:
            labeled = np.flatnonzero(target.labeled)
            table, target = table.take(labeled), target.take(labeled)
        self.seed_ = seed_of(self.random_state)
        plan = Plan(
            n_trees=self.n_estimators,
            growth=Growth(
                n_candidates=self._n_candidates(n_features),
                random_test=self.ensemble == "extra_trees",
                min_samples_leaf=float(self.min_samples_leaf),
                min_labeled=float(self.min_labeled),
                max_depth=np.iinfo(np.int32).max if self.max_depth is None else int(self.max_depth),
            ),
            bootstrap=self.bootstrap,
            missing_weight=self.missing_weight,
            seed=self.seed_,
        )
        material = prepare(table)
        self.timings_ = {"read": time.perf_counter() - began}
        began = time.perf_counter()
        self.supervision_ = 1.0
        self.supervision_path_: list[dict[str, float]] = []
        if self.use_unlabeled:
            if isinstance(self.supervision, str):
                self.supervision_, self.supervision_path_ = choose_supervision(
                    self.supervision,
                    names[0],
                    material,
                    target,
                    plan,
                    n_jobs=self.n_jobs,
                    progress=progress,
                    notes=self.notes_,
                )
                self.timings_["supervision"] = time.perf_counter() - began
                began = time.perf_counter()
            else:
                self.supervision_ = float(self.supervision)
        self._forest = grow_forest(
            material,
            target,
            self.supervision_,
            plan,
            with_rforest="rforest" in names,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        scores, errors, per_target = forest_scores(self._forest)
        if "rforest" in names and "rforest" not in scores:
            raise ValueError(
                f"No tree has labelled rows out of bag to compute rforest from ({self.n_labeled_} labelled "
                "rows); use importance='genie3' or label more rows."
            )
        if not scores["symbolic"].any():
            few = f"there are fewer labelled rows ({self.n_labeled_}) than min_labeled={self.min_labeled}"
            why = few if self.n_labeled_ < self.min_labeled else "no test makes the rows purer"
            self.notes_.append(f"no tree was split and every importance is 0, because {why}")
        self.timings_["forest"] = time.perf_counter() - began
        self._finish(scores, errors, per_target, names[0])
        return self

    def _check_parameters(self) -> tuple[str, ...]:
        """One sentence for whatever cannot be meant; returns the importances asked for."""
        if not isinstance(self.importance, str | Sequence):
            raise TypeError(
                f"importance={self.importance!r} is neither a name nor a list of names out of "
                f"{', '.join(IMPORTANCES)}."
            )
        names = (self.importance,) if isinstance(self.importance, str) else tuple(self.importance)
        _one_of("ensemble", self.ensemble, ENSEMBLES)
        _one_of("missing_weight", self.missing_weight, ("all", "known"))
        if not names:
            raise ValueError(f"importance is empty; name at least one of {', '.join(IMPORTANCES)}.")
        for name in names:
            _one_of("importance", name, IMPORTANCES)
        if isinstance(self.supervision, str):
            _one_of("supervision", self.supervision, (*RULES, "a number in [0, 1]"))
        elif (
            not isinstance(self.supervision, Real)
            or isinstance(self.supervision, bool)
            or not 0 <= self.supervision <= 1
        ):
            raise ValueError(
                f"supervision={self.supervision!r} is neither a number in [0, 1] nor one of "
                f"{', '.join(RULES)}."
            )
        _at_least("n_estimators", self.n_estimators, 1)
        _at_least("min_samples_leaf", self.min_samples_leaf, 1)
        _at_least("min_labeled", self.min_labeled, 0)
        if self.max_depth is not None:
            _at_least("max_depth", self.max_depth, 1)
        for name in ("bootstrap", "use_unlabeled"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name}={getattr(self, name)!r} is neither True nor False.")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs={self.n_jobs!r} is neither None nor a whole number other than 0.")
        out_of_bag = self.supervision == "oob" and self.use_unlabeled
        if not self.bootstrap and ("rforest" in names or out_of_bag):
            asked = "importance='rforest'" if "rforest" in names else "supervision='oob'"
            raise ValueError(f"{asked} needs out-of-bag rows, which bootstrap=False does not leave.")
        return names

    def _n_candidates(self, n_features: int) -> int:
        wanted = self.max_features
        if wanted is None:
            wanted = "sqrt" if self.ensemble == "random_forest" else n_features
        if wanted == "sqrt":
            return math.ceil(math.sqrt(n_features))
        if isinstance(wanted, Integral) and not isinstance(wanted, bool) and wanted >= 1:
            return min(int(wanted), n_features)
        if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < wanted <= 1:
            return max(1, math.ceil(wanted * n_features))
        raise ValueError(
            f"max_features={self.max_features!r} is neither a count (1, 2, ...), a share in (0, 1], "
            "'sqrt' nor None."
        )

    def _prototypes(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_forest")
        return predict_forest(self._forest, self._encode_new(X).values)

    def to_ranking(self) -> Ranking:
        """The result as a :class:`semirank.Ranking`."""
        check_is_fitted(self, "feature_importances_")
        main = self.importance if isinstance(self.importance, str) else self.importance[0]
        return Ranking(
            names=self._schema.names,
            scores=self.feature_importances_,
            standard_errors=self.importances_std_error_[main],
            method="forest",
            importance=main,
            all_scores=self.importances_,
            all_standard_errors=self.importances_std_error_,
            per_target=self.importances_per_target_,
            target_names=self._target_names,
            task=self.task_,
            n_rows=self.n_rows_,
            n_labeled=self.n_labeled_,
            settings=self.get_params(deep=False),
            choice={"supervision": self.supervision_},
            choice_path=self.supervision_path_,
            missing_share=self.missing_share_,
            timings=self.timings_,
            version=__version__,
            seed=self.seed_,
            notes=self.notes_,
        )


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(allowed)}.")


def _at_least(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")
