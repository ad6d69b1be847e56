"""Who judges a ranking: nearest neighbours in the space that it weights, or a model on its first features."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import CLASSES, LABELS, NUMBERS, TASKS
from ..judging.knn_judge import judge_neighbors, knn_predict
from ..judging.measures import pooled_auprc, task_score
from ..runtime.progress import Progress
from .curves import feature_subsets
from .foreign_columns import FeatureSpace
from .intervals import Estimate, estimate, row_groups


class Judge(Protocol):
    """A ranking becomes one or several rows of weights; its score is their mean score."""

    words: str  # "judged by ..."
    unranked_words: str  # what no ranking is to it
    is_quick: bool  # whether predicting a few times more costs next to nothing

    def views(self, importances: np.ndarray) -> np.ndarray:
        """Weights of the features, n_views x n_features."""
        ...

    def unranked(self, n_features: int, rng: np.random.Generator) -> np.ndarray:
        """The same for no ranking."""
        ...

    def predict(self, weights: np.ndarray, train: Table, target: Target, test: Table) -> np.ndarray:
        """Prototypes of the test rows for every row of weights: n_weights x n_test x n_columns."""
        ...


class KnnJudge:
    """Nearest labelled rows, in the distance that the importances weight (Def. 2.2)."""

    words = "nearest neighbours in the distance that a ranking weights"
    unranked_words = "taking all features equally"
    is_quick = True

    def __init__(self, k: int | None, n_jobs: int | None):
        self.k, self.n_jobs = k, n_jobs

    def views(self, importances: np.ndarray) -> np.ndarray:
        return importances[None]

    def unranked(self, n_features: int, rng: np.random.Generator) -> np.ndarray:
        return np.ones((1, n_features))

    def predict(self, weights: np.ndarray, train: Table, target: Target, test: Table) -> np.ndarray:
        near = self.k or judge_neighbors(int(target.labeled.sum()))
        return knn_predict(weights, train, target, test, k=near, n_jobs=self.n_jobs)[:, 0]


class EstimatorJudge:
    """A scikit-learn estimator on the first 1, 2, 4, ... features of a ranking (Def. 2.7).

    It sees numbers standardised, nominal features as a column for each value, missing values at the mean. For
    several targets, and for labels, there is a model for each.
    """

    unranked_words = "features in a random order"
    is_quick = False

    def __init__(self, estimator: Any, task: str, seed: int):
        from sklearn.base import clone

        self.estimator, self.kind = clone(estimator), TASKS[task].kind
        if "random_state" in estimator.get_params(deep=False) and estimator.random_state is None:
            self.estimator.set_params(random_state=seed % 2**31)
        self.words = f"{type(estimator).__name__} on the first 1, 2, 4, ... and all features of a ranking"

    def views(self, importances: np.ndarray) -> np.ndarray:
        return feature_subsets(importances, len(importances))[1]

    def unranked(self, n_features: int, rng: np.random.Generator) -> np.ndarray:
        """Features in a random order, as many of them."""
        return self.views(rng.permutation(n_features).astype(float))

    def predict(self, weights: np.ndarray, train: Table, target: Target, test: Table) -> np.ndarray:
        known = np.flatnonzero(target.labeled)
        space = FeatureSpace.fit(train.take(known))
        points, others = space.encode(train.take(known)), space.encode(test)
        targets = target.take(known)
        answers: dict[bytes, np.ndarray] = {}
        for row in weights > 0:
            if row.tobytes() not in answers:
                use = row[space.block]
                # Nominal features without two known values have no column; a constant one says as little.
                a, b = (part[:, use] if use.any() else np.zeros((len(part), 1)) for part in (points, others))
                answers[row.tobytes()] = self._answer(a, targets, b)
        return np.stack([answers[row.tobytes()] for row in weights > 0])

    def _answer(self, points: np.ndarray, target: Target, others: np.ndarray) -> np.ndarray:
        if self.kind == CLASSES:
            codes = target.values[:, 0].astype(int)
            said = self._fit(points, codes).predict(others)
            return (said[:, None] == np.arange(target.n_classes)).astype(float)
        return np.column_stack([self._column(points, column, others) for column in target.values.T])

    def _column(self, points: np.ndarray, column: np.ndarray, others: np.ndarray) -> np.ndarray:
        known = ~np.isnan(column)
        values = column[known]
        if len(values) == 0 or values.min() == values.max():
            return np.full(len(others), values[0] if len(values) else 0.0)
        if self.kind == NUMBERS:
            center, scale = values.mean(), values.std()
            fitted = self._fit(points[known], (values - center) / scale)
            return center + scale * np.ravel(fitted.predict(others))
        fitted = self._fit(points[known], values.astype(int))
        if hasattr(fitted, "predict_proba"):
            return fitted.predict_proba(others)[:, 1]
        return np.ravel(fitted.decision_function(others))

    def _fit(self, points: np.ndarray, values: np.ndarray) -> Any:
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # one of hundreds of small fits
            return clone(self.estimator).fit(points, values)


def make_judge(judge: Any, task: str, k: int | None, seed: int, n_jobs: int | None) -> Judge:
    """The judge that a user named, refused if it does not fit the task."""
    if isinstance(judge, str) and judge == "knn":
        return KnnJudge(k, n_jobs)
    if not (hasattr(judge, "fit") and hasattr(judge, "predict")) or isinstance(judge, type):
        raise TypeError(
            f'judge={judge!r} is neither "knn" nor a scikit-learn estimator, such as LogisticRegression().'
        )
    if k is not None:
        raise TypeError("judge_neighbors= goes with the judge knn.")
    from sklearn.base import is_classifier, is_regressor

    wanted, fits = (
        ("regressor", is_regressor) if TASKS[task].kind == NUMBERS else ("classifier", is_classifier)
    )
    if not fits(judge):
        raise TypeError(
            f"The task is {TASKS[task].words}, so the judge must be a {wanted}: {judge!r} is none."
        )
    if TASKS[task].kind == LABELS and not any(
        hasattr(judge, name) for name in ("predict_proba", "decision_function")
    ):
        raise TypeError(f"For label sets the judge must have predict_proba, which {judge!r} has not.")
    return EstimatorJudge(judge, task, seed)


class Court:
    """The tested rows of all splits, and what a judge says about rankings that were made from the others."""

    def __init__(self, judge: Judge, table: Table, target: Target, folds: np.ndarray):
        self.judge, self.table, self.target, self.folds = judge, table, target, folds
        self.rows = np.flatnonzero(folds[0] >= 0)
        self.groups = row_groups(len(self.rows), np.random.default_rng(0))
        self.truth = target.values[self.rows]

    def compare(
        self, rankings: list[list[np.ndarray]], seed: int, progress: Progress | None = None
    ) -> list[Estimate]:
        """The score of every ranking, given by split, and last that of no ranking."""
        rng = np.random.default_rng([seed, 1])
        d = self.table.shape[1]
        views = [
            np.concatenate([*map(self.judge.views, each), self.judge.unranked(d, rng)])
            for each in zip(*rankings)
        ]
        found = self.scores(views, progress=progress)
        n = len(rankings) + 1

        def mean_view(i: int) -> Callable[[np.ndarray], np.ndarray]:
            return lambda part: part.reshape(*part.shape[:-1], n, -1)[..., i, :].mean(axis=-1)

        return [found.mapped(mean_view(i)) for i in range(n)]

    def curves(self, importances: list[np.ndarray]) -> tuple[Estimate, np.ndarray]:
        """Scores of the best 1, 2, 4, ... features of a ranking, given by split, and of the worst."""
        subsets = [feature_subsets(one, self.table.shape[1]) for one in importances]
        forward = self.scores([best for _, best, _ in subsets])
        return forward, self.plain_scores([worst for _, _, worst in subsets])

    def guess(self) -> Estimate:
        """The score of a guess that knows nothing but the target."""
        return estimate(lambda kept: guess_score(self.target.task, self.truth[kept]), self.groups)

    def scores(self, weights: list[np.ndarray], progress: Progress | None = None) -> Estimate:
        """Scores of several rows of weights, given for every split as an array (n_weights, n_features).

        Each repeat predicts all labelled rows once and gives one score, which is steadier than a mean over
        folds of a few rows; the scores of the repeats are averaged. Where the judge is quick, every fold is
        predicted by the weights of every split, to learn what the labels to rank from do (Def. 2.7).
        """
        n_folds = int(self.folds[0].max()) + 1
        kept, trained = [], []
        for repeat in range(len(self.folds)):
            own = weights[repeat * n_folds : (repeat + 1) * n_folds]
            prototypes = self._predict(repeat, own)
            if self.judge.is_quick:
                trained.append(
                    [[task_score(self.target.task, self.truth, one) for one in split] for split in prototypes]
                )
            fold = self.folds[repeat, self.rows]
            held = np.arange(len(self.rows))
            kept.append(np.stack([split_of[fold, held] for split_of in prototypes.swapaxes(0, 1)]))
            if progress is not None:
                progress(repeat + 1, len(self.folds), "judging")

        def mean_score(rows: np.ndarray) -> np.ndarray:
            truth = self.truth[rows]
            each = [[task_score(self.target.task, truth, one[rows]) for one in r] for r in kept]
            return np.mean(each, axis=0)

        found = estimate(mean_score, self.groups)
        return found._replace(trained=np.array(trained)) if trained else found

    def plain_scores(self, weights: list[np.ndarray]) -> np.ndarray:
        """The same without what an interval needs."""
        n_folds = int(self.folds[0].max()) + 1
        total = np.zeros(len(weights[0]))
        for repeat in range(len(self.folds)):
            found = np.empty((len(weights[0]), len(self.rows), self._width))
            for fold in range(n_folds):
                place, said = self._predict_fold(repeat, fold, weights[repeat * n_folds + fold])
                found[:, place] = said
            total += [task_score(self.target.task, self.truth, one) for one in found]
        return total / len(self.folds)

    @property
    def _width(self) -> int:
        return self.target.n_classes or self.target.values.shape[1]

    def _predict(self, repeat: int, weights: list[np.ndarray]) -> np.ndarray:
        """Prototypes of all tested rows by the weights of every split: n_splits x n_weights x n_rows x width.

        A judge that is not quick answers for the rows of the split alone; the others stay 0.
        """
        found = np.zeros((len(weights), len(weights[0]), len(self.rows), self._width))
        for fold, own in enumerate(weights):
            if not self.judge.is_quick:
                place, said = self._predict_fold(repeat, fold, own)
                found[fold][:, place] = said
                continue
            place, said = self._predict_fold(repeat, fold, np.concatenate(weights))
            found[:, :, place] = said.reshape(len(weights), len(own), len(place), -1)
        return found

    def _predict_fold(self, repeat: int, fold: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places of the rows of a fold among all tested rows, and their prototypes."""
        is_held = self.folds[repeat] == fold
        rest, held = np.flatnonzero(~is_held), np.flatnonzero(is_held)
        train, target = self.table.take(rest), self.target.take(rest)
        return np.searchsorted(self.rows, held), self.judge.predict(
            weights, train, target, self.table.take(held)
        )


def guess_score(task: str, truth: np.ndarray) -> float:
    """What a guess scores: classes drawn by their shares, the mean of numbers, shares of labels.

    Drawn by its share p, a class has precision and recall p, so the mean of F1 over C classes is 1 / C.

    Examples
    --------
    >>> guess_score("classification", np.array([[0.0], [1.0], [1.0]]))
    0.5
    >>> guess_score("regression", np.array([[0.0], [1.0], [5.0]]))
    1.0
    """
    kind = TASKS[task].kind
    if kind == CLASSES:
        return 1.0 / len(np.unique(truth[~np.isnan(truth)]))
    if kind == NUMBERS:
        return 1.0
    known = ~np.isnan(truth)
    shares = np.where(known, truth, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return pooled_auprc(truth, np.broadcast_to(shares, truth.shape))
