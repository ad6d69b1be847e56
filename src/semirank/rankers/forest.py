"""`ForestRanker`: rankings from semi-supervised tree ensembles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.estimator import PredictorMixin
from ..base.parameters import (
    COUNT,
    SHARE,
    UNIT_INTERVAL,
    Names,
    at_least,
    check_parameters,
    seed_of,
    weights_of,
)
from ..base.ranker import RankerBase, Scores
from ..data.table import Table
from ..data.target import Target
from ..judging.splits import TUNING_FOLDS
from ..runtime.progress import Progress
from ..trees.ensemble import (
    ForestData,
    Plan,
    forest_plan,
    forest_scores,
    grow_forest,
    predict_forest,
    prepare,
)
from ..trees.scores import OUT_OF_BAG_SCORES, target_score
from ..trees.tree_text import tree_text
from .forest_supervision import Choice, choose_supervision
from .methods import ENSEMBLES, IMPORTANCES
from .presets import PresetMixin


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRanker(PresetMixin, RankerBase, PredictorMixin):
    """Rank features by an ensemble of semi-supervised predictive clustering trees.

    Rows without a target take part: a split is good if it makes the two sides purer in the target, where that
    is known, *and* in the features. How much each counts is the supervision level w.

    Parameters
    ----------
    ensemble : {"random_forest", "extra_trees", "bagging"}, default="random_forest"
    importance : {"genie3", "symbolic", "genie3_oob", "rforest"} or a sequence of them, default="genie3"
        The first one is the main one, `feature_importances_`. "genie3" sums the impurity that a feature's
        tests take away, "symbolic" the rows that they see. "genie3_oob" is genie3 measured on out-of-bag
        rows, so that noise with many different values gains nothing; "rforest" is the damage that permuting
        the feature does to predictions of out-of-bag rows. "rforest" is computed only when asked for, the
        others always (those of out-of-bag rows need a bootstrap).
    supervision : float in [0, 1] or {"judge", "cv", "oob"}, default="judge"
        w: 1 looks at the target only, 0 at the features only. Or a rule that picks it: "judge" compares the
        rankings by nearest-neighbour predictions and leaves w = 1 only for a clear gain; "cv" (the paper's)
        and "oob" compare the error of the forests.
    supervision_grid : sequence of float in [0, 1], optional
        The levels that a rule compares; by default 0, 0.1, ..., 1 for "cv" and "oob", and 0.25, 0.5, 0.75, 1
        for "judge", which compares all others with 1.
    n_folds : int, default=4
        Folds of the labelled rows for "cv" and "judge".
    judge_neighbors : int, optional
        Nearest rows that "judge" predicts from; by default the square root of the number of labelled rows,
        but at least 3 and at most 20.
    target_weights : array of shape (n_targets,), optional
        How much each target variable counts in the impurity, the paper's alpha; by default 1, and in
        hierarchies less for deeper labels. Classes are one variable.
    feature_weights : array of shape (n_features,), optional
        How much each feature counts in the impurity, the paper's beta; by default 1. A feature of weight 0
        is still tested and ranked.
    normalize_weights : bool, default=True
        Divide the weights of either side by their sum, so that w means the same whatever they are; False
        divides by the number of variables, as the paper prints it.
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

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
    importances_ : dict of str to ndarray
    importances_std_error_ : dict of str to ndarray
        Standard errors over trees.
    importances_per_target_ : ndarray of shape (n_features, n_targets)
        For each target variable alone, the decrease of its own normalised impurity: genie3, or genie3_oob if
        `importance` names that and not genie3 before it.
    supervision_ : float
        The w that was used.
    supervision_path_ : list of dict
        The levels that were compared, with their scores.

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

    ensemble: str = "random_forest"
    importance: str | Sequence[str] = "genie3"
    supervision: float | str = "judge"
    supervision_grid: Sequence[float] | None = None
    n_folds: int = TUNING_FOLDS
    judge_neighbors: int | None = None
    target_weights: Any = None
    feature_weights: Any = None
    normalize_weights: bool = True
    n_estimators: int = 100
    missing_weight: str = "all"
    max_features: int | float | str | None = None
    min_samples_leaf: int = 1
    min_labeled: int = 4
    max_depth: int | None = None
    bootstrap: bool = True

    _method = "forest"
    _parameter_constraints = {  # noqa: RUF012  as scikit-learn has it
        "ensemble": [Names(*ENSEMBLES)],
        "supervision": [UNIT_INTERVAL, Names("judge", "cv", "oob")],
        "n_folds": [at_least(2)],
        "judge_neighbors": [at_least(1), None],
        "normalize_weights": ["boolean"],
        "n_estimators": [at_least(1)],
        "missing_weight": [Names("all", "known")],
        "max_features": [COUNT, SHARE, Names("sqrt"), None],
        "min_samples_leaf": [at_least(1)],
        "min_labeled": [at_least(0)],
        "max_depth": [at_least(1), None],
        "bootstrap": ["boolean"],
    }

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.importance, str | Sequence):
            raise TypeError(
                f"importance={self.importance!r} is neither a name nor a list of names out of "
                f"{', '.join(IMPORTANCES)}."
            )
        names = self._importances()
        if not names:
            raise ValueError(f"importance is empty; name at least one of {', '.join(IMPORTANCES)}.")
        for name in names:
            check_parameters({"importance": [Names(*IMPORTANCES)]}, {"importance": name})
        asked = [f"importance={name!r}" for name in names if name in OUT_OF_BAG_SCORES]
        if self.supervision == "oob" and self.use_unlabeled:
            asked.append("supervision='oob'")
        if asked and not self.bootstrap:
            raise ValueError(f"{asked[0]} needs out-of-bag rows, which bootstrap=False does not leave.")
        self._levels()

    def _importances(self) -> tuple[str, ...]:
        return (self.importance,) if isinstance(self.importance, str) else tuple(self.importance)

    def _levels(self) -> tuple[float, ...] | None:
        """The levels of w to compare; None for those of the rule."""
        grid = self.supervision_grid
        if grid is None:
            return None
        levels = list(grid) if np.iterable(grid) and not isinstance(grid, str) else []
        if not levels or not all(UNIT_INTERVAL.is_satisfied_by(w) for w in levels):
            raise ValueError(f"supervision_grid={grid!r} must hold one or several numbers in [0, 1].")
        if self.supervision == "judge" and 1 not in levels:
            raise ValueError(
                f"supervision_grid={grid!r} lacks 1, with which supervision='judge' compares all levels."
            )
        return tuple(sorted({float(w) for w in levels}))

    def _rank(
        self, table: Table, target: Target, progress: Progress | None, step: Callable[[str], None]
    ) -> Scores:
        names = self._importances()
        if not self.use_unlabeled:
            labeled = np.flatnonzero(target.labeled)
            table, target = table.take(labeled), target.take(labeled)
        self.seed_ = seed_of(self.random_state)
        plan = self._plan(table.shape[1])
        beta = weights_of(self.feature_weights, "feature_weights", table.shape[1], "feature")
        alpha = weights_of(self.target_weights, "target_weights", len(target.names), "target variable")
        if alpha is not None:
            target = replace(target, weights=alpha)
        data = prepare(table, beta, self.normalize_weights)
        step("read")
        self.supervision_, self.supervision_path_ = self._choose(data, target, plan, progress)
        if self.use_unlabeled and isinstance(self.supervision, str):
            step("supervision")
        self._forest = grow_forest(
            data,
            target,
            self.supervision_,
            plan,
            out_of_bag={"genie3_oob", *names} if self.bootstrap else (),
            per_target=target_score(names),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        scores, errors, per_target = forest_scores(self._forest)
        untold = [name for name in names if name not in scores]
        if untold:
            raise ValueError(
                f"No tree has labelled rows out of bag to compute {untold[0]} from "
                f"({self.n_labeled_} labelled rows); use importance='genie3' or label more rows."
            )
        if not scores["symbolic"].any():
            few = f"there are fewer labelled rows ({self.n_labeled_}) than min_labeled={self.min_labeled}"
            why = few if self.n_labeled_ < self.min_labeled else "no test makes the rows purer"
            self.notes_.append(f"no tree was split and every importance is 0, because {why}")
        step("forest")
        choice = {"supervision": self.supervision_}
        return Scores(scores, errors, names[0], per_target, choice, self.supervision_path_)

    def _plan(self, n_features: int) -> Plan:
        return forest_plan(
            self.ensemble,
            n_features,
            n_trees=self.n_estimators,
            seed=self.seed_,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            min_labeled=self.min_labeled,
            max_depth=self.max_depth,
            bootstrap=self.bootstrap,
            missing_weight=self.missing_weight,
        )

    def _choose(self, data: ForestData, target: Target, plan: Plan, progress: Progress | None) -> Choice:
        """w as given, or by the rule that was given; 1 where only labelled rows take part."""
        if not self.use_unlabeled:
            return Choice(1.0, [])
        if not isinstance(self.supervision, str):
            return Choice(float(self.supervision), [])
        return choose_supervision(
            self.supervision,
            self._importances()[0],
            data,
            target,
            plan,
            levels=self._levels(),
            n_folds=self.n_folds,
            n_neighbors=self.judge_neighbors,
            n_jobs=self.n_jobs,
            progress=progress,
            notes=self.notes_,
        )

    def _prototypes(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_forest")
        return predict_forest(self._forest, self._encode_new(X).values)

    def export_text(self, tree: int = 0) -> str:
        """One of the trees as text: tests, rows, labelled rows, and the prototypes of the leaves.

        Rows are counted as often as the bootstrap drew them. A leaf without a labelled row has the prototype
        of the nearest node above that has some. Missing values are mentioned where the feature has any.

        Parameters
        ----------
        tree : int, default=0
            Which one, from 0 to `n_estimators` - 1.

        Examples
        --------
        >>> import numpy as np
        >>> from semirank import ForestRanker
        >>> X = np.arange(20.0)[:, None]
        >>> y = np.where(X[:, 0] < 8, "low", "high").astype(object)
        >>> y[::2] = None
        >>> one_tree = {"n_estimators": 1, "bootstrap": False, "supervision": 1.0, "random_state": 0}
        >>> print(ForestRanker(**one_tree).fit(X, y).export_text())
        20 rows, 10 labelled
        ├─ x0 <= 7.5: 8 rows, 4 labelled → low 100 %
        └─ x0 > 7.5: 12 rows, 6 labelled → high 100 %
        """
        check_is_fitted(self, "_forest")
        members = self._forest.members
        if isinstance(tree, bool) or not isinstance(tree, Integral) or not 0 <= tree < len(members):
            raise ValueError(f"tree={tree!r} must be a whole number from 0 to {len(members) - 1}.")
        return tree_text(self._forest, int(tree), self._schema, self._target_schema, self.missing_share_)
