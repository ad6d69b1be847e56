"""Who judges a ranking: nearest neighbours in the space that it weights, or a model on its first features."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

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
from .trials import splits


class KnnJudge:
    """Nearest labelled rows, in the distance that the importances weight (Def. 2.2).

    To a judge, a ranking becomes one or several rows of weights; its score is their mean score.
    """

    words = "nearest neighbours in the distance that a ranking weights"  # "judged by ..."
    unranked_words = "taking all features equally"  # what no ranking is to it
    is_quick = True  # whether predicting a few times more costs next to nothing

    def __init__(self, k: int | None, n_jobs: int | None):
        self.k, self.n_jobs = k, n_jobs

    def views(self, importances: np.ndarray) -> np.ndarray:
        """Weights of the features, n_views x n_features."""
        return importances[None]

    def unranked(self, n_features: int, rng: np.random.Generator) -> np.ndarray:
        """The same for no ranking."""
        return np.ones((1, n_features))

    def predict(self, weights: np.ndarray, train: Table, target: Target, test: Table) -> np.ndarray:
        """Prototypes of the test rows for every row of weights: n_weights x n_test x n_columns."""
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
        return feature_subsets(importances)[1]

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


Judge = KnnJudge | EstimatorJudge


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

    kind = TASKS[task].kind
    wanted, fits = ("regressor", is_regressor) if kind == NUMBERS else ("classifier", is_classifier)
    if not fits(judge):
        raise TypeError(
            f"The task is {TASKS[task].words}, so the judge must be a {wanted}: {judge!r} is none."
        )
    if kind == LABELS and not (hasattr(judge, "predict_proba") or hasattr(judge, "decision_function")):
        raise TypeError(f"For label sets the judge must have predict_proba, which {judge!r} has not.")
    return EstimatorJudge(judge, task, seed)


class Court:
    """The tested rows of all splits, and what a judge says about rankings that were made from the others."""

    def __init__(self, judge: Judge, table: Table, target: Target, folds: np.ndarray):
        self.judge, self.table, self.target, self.folds = judge, table, target, folds
        self.rows = np.flatnonzero(folds[0] >= 0)
        self.groups = row_groups(len(self.rows), np.random.default_rng(0))
        self.truth = target.values[self.rows]
        self.n_folds = int(folds[0].max()) + 1
        self.width = target.n_classes or target.values.shape[1]  # of a prototype

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
        subsets = [feature_subsets(one) for one in importances]
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
        kept, trained = [], []
        for repeat in range(len(self.folds)):
            prototypes = self._predict(repeat, weights, every_split=self.judge.is_quick)
            if self.judge.is_quick:
                trained.append([self._scores(split, slice(None)) for split in prototypes])
            kept.append(self._own(repeat, prototypes))
            if progress is not None:
                progress(repeat + 1, len(self.folds), "judging")

        def mean_score(rows: np.ndarray) -> np.ndarray:
            return np.mean([self._scores(views, rows) for views in kept], axis=0)

        found = estimate(mean_score, self.groups)
        return found._replace(trained=np.array(trained)) if trained else found

    def plain_scores(self, weights: list[np.ndarray]) -> np.ndarray:
        """The same without what an interval needs."""
        total = np.zeros(len(weights[0]))
        for repeat in range(len(self.folds)):
            own = self._own(repeat, self._predict(repeat, weights, every_split=False))
            total += self._scores(own, slice(None))
        return total / len(self.folds)

    def _scores(self, prototypes: np.ndarray, rows: np.ndarray | slice) -> list[float]:
        """The scores of several predictions on some of the tested rows."""
        truth = self.truth[rows]
        return [task_score(self.target.task, truth, one[rows]) for one in prototypes]

    def _own(self, repeat: int, prototypes: np.ndarray) -> np.ndarray:
        """Of what `_predict` found, the prototypes of every row by the weights of its own split."""
        fold, held = self.folds[repeat, self.rows], np.arange(len(self.rows))
        return np.stack([split_of[fold, held] for split_of in prototypes.swapaxes(0, 1)])

    def _predict(self, repeat: int, weights: list[np.ndarray], *, every_split: bool) -> np.ndarray:
        """Prototypes of all tested rows by the weights of every split: n_splits x n_weights x n_rows x width.

        Unless by those of every split, rows are predicted by the weights of their own; the others stay 0.
        """
        weights = weights[repeat * self.n_folds : (repeat + 1) * self.n_folds]
        found = np.zeros((len(weights), len(weights[0]), len(self.rows), self.width))
        for fold, (held, rest) in enumerate(splits(self.folds[repeat : repeat + 1])):
            by = slice(None) if every_split else slice(fold, fold + 1)
            data = self.table.take(rest), self.target.take(rest), self.table.take(held)
            said = self.judge.predict(np.concatenate(weights[by]), *data)
            place = np.searchsorted(self.rows, held)
            found[by, :, place] = said.reshape(-1, len(weights[0]), len(place), self.width)
        return found


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
