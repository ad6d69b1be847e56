"""Judges besides nearest neighbours, guesses, and what the court does with both."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score, f1_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from semirank import evaluate
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.tasks import TASKS
from semirank.evaluation.judges import Court, guess_score, make_judge
from semirank.evaluation.trials import deal

from ..neighbors.naive_neighbors import make_table, make_target
from . import naive_evaluation as naive


def ones(table, target, use_unlabeled, seed):
    return np.ones(table.shape[1])


def right(table, target, use_unlabeled, seed):
    return np.arange(table.shape[1], 0.0, -1.0)


def wrong(table, target, use_unlabeled, seed):
    return np.arange(table.shape[1], dtype=float)


class TestEstimators:
    def test_scores_are_those_of_scikit_learn(self):
        """By hand: the first 1, 2 and 3 features, standardised on the labelled training rows."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3)) * [1.0, 100.0, 0.01] + 5.0
        y = (X[:, 0] > 5.0).astype(float)
        y[40:] = np.nan
        found = evaluate(
            X, y, task="classification", method=right, methods=[], judge=LogisticRegression(), n_repeats=1,
            n_folds=4, random_state=3,
        )  # fmt: skip
        target = encode_target(y, task="classification")
        (folds,) = deal(target, 4, 1, 3, [])
        scores = []
        for m in (1, 2, 3):
            said = np.empty(40)
            for fold in range(4):
                train = np.flatnonzero((folds != fold) & target.labeled)
                test = np.flatnonzero(folds == fold)
                centre, spread = X[train].mean(axis=0), X[train].std(axis=0)
                a, b = ((X[rows] - centre)[:, :m] / spread[:m] for rows in (train, test))
                said[test] = LogisticRegression().fit(a, y[train]).predict(b)
            scores.append(f1_score(y[:40], said, average="macro"))
        np.testing.assert_allclose(found.forward, scores)
        assert found.rankers[0].score == pytest.approx(np.mean(scores))
        assert (
            "Judged by LogisticRegression on the first 1, 2, 4, ... and all features" in found.sentences()[-1]
        )
        assert "features in a random order" in found.summary()

    @pytest.mark.parametrize("task", TASKS)
    def test_every_task(self, task):
        rng = np.random.default_rng(1)
        table = make_table(rng, 50, [0, 0, 3, 2], missing=0.1)
        target = make_target(rng, 50, task, unlabeled=0.3)
        judge = DecisionTreeClassifier(max_depth=2) if TASKS[task].greater_is_better else Ridge()
        small = {"methods": [], "n_repeats": 1, "n_folds": 3}
        one, two = (evaluate(table, target, method=right, judge=judge, **small) for _ in range(2))
        assert one.rankers == two.rankers
        assert np.isfinite([*one.forward, *one.reverse, one.guess]).all()
        assert one.forward[-1] == one.reverse[-1]

    def test_a_good_order_is_better_than_a_bad_one(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(200, 16))
        y = np.where(np.arange(200) < 120, X[:, 0] + X[:, 1], np.nan)
        found = evaluate(
            X, y, method=right, methods={"wrong": wrong}, judge=KNeighborsRegressor(), n_repeats=1
        )
        assert found.worse == ("wrong",)
        assert found.n_keep == 2
        assert "better than features in a random order" in found.summary()

    def test_numbers_of_any_size(self):
        """Targets are standardised for the model and given back."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 2))
        small = {"method": right, "methods": [], "judge": Ridge(), "n_repeats": 1, "n_folds": 3}
        one, large = (evaluate(X, X[:, 0] * unit, **small) for unit in (1.0, 1e6))
        np.testing.assert_allclose(one.forward, large.forward)

    @pytest.mark.parametrize(
        ("judge", "task", "sentence"),
        [
            ("svm", "classification", 'neither "knn" nor a scikit-learn estimator'),
            (LogisticRegression, "classification", 'neither "knn"'),
            (Ridge(), "classification", r"the judge must be a classifier: Ridge\(\) is none"),
            (LogisticRegression(), "regression", "the judge must be a regressor"),
        ],
    )
    def test_refused(self, judge, task, sentence):
        with pytest.raises(TypeError, match=sentence):
            make_judge(judge, task, None, 0, 1)

    def test_refused_for_label_sets_without_shares(self):
        class Plain(DecisionTreeClassifier):
            predict_proba = property()

        with pytest.raises(TypeError, match="must have predict_proba"):
            make_judge(Plain(), "multi_label", None, 0, 1)
        make_judge(LinearSVC(), "multi_label", None, 0, 1)

    def test_neighbours_are_for_knn(self):
        with pytest.raises(TypeError, match="judge_neighbors= goes with the judge knn"):
            make_judge(Ridge(), "regression", 5, 0, 1)


class TestGuess:
    def test_numbers_and_classes(self):
        assert guess_score("regression", np.array([[1.0], [7.0]])) == 1.0
        rng = np.random.default_rng(0)
        truth = rng.choice(3, p=[0.6, 0.3, 0.1], size=4000)
        drawn = [f1_score(truth, rng.permutation(truth), average="macro") for _ in range(20)]
        assert guess_score("classification", truth[:, None].astype(float)) == pytest.approx(
            np.mean(drawn), abs=0.01
        )

    def test_label_sets(self):
        rng = np.random.default_rng(0)
        truth = (rng.random((50, 3)) < [0.5, 0.2, 0.7]).astype(float)
        shares = np.broadcast_to(truth.mean(axis=0), truth.shape)
        expected = average_precision_score(truth.ravel(), shares.ravel())
        assert guess_score("multi_label", truth) == pytest.approx(expected)
        truth[0, 0] = np.nan
        assert 0 < guess_score("multi_label", truth) < 1

    def test_no_number_of_features_for_noise(self):
        """Of 300 features without any meaning none is recommended, whatever is asked."""
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(60, 300)), rng.normal(size=60)
            target = y if seed % 2 else np.where(y > 0, "a", "b")
            found = evaluate(X, target, method=right, methods=[], n_repeats=1, random_state=seed)
            assert found.n_keep is None
            assert "no number of features is better than a guess" in found.summary()


class TestFewUnlabelledRows:
    @pytest.mark.parametrize(
        ("n_rows", "n_labeled", "tells"), [(59, 40, False), (60, 40, True), (329, 300, False)]
    )
    def test_rule(self, n_rows, n_labeled, tells):
        """At least twenty, and a tenth of the labelled ones."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, 2))
        y = np.where(np.arange(n_rows) < n_labeled, X[:, 0], np.nan)
        found = evaluate(X, y, method=ones, methods=[], n_repeats=1, n_folds=2)
        assert (found.verdict == "too few to tell") != tells
        assert (found.effect is None) != tells
        if not tells:
            n = n_rows - n_labeled
            assert f"the {n} unlabelled rows are too few to tell whether they help" in found.summary()
            assert "verdict" not in found.table()


def test_two_jackknives_equal_twins():
    """Of tested rows, group by group, and of the labels that each split ranks from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    table, target = encode_features(X), encode_target(X[:, 0] + 0.5 * rng.normal(size=40))
    folds = deal(target, 4, 2, 0, [])
    weights = [rng.random((2, 3)) for _ in range(8)]
    court = Court(make_judge("knn", "regression", 3, 0, 1), table, target, folds)
    found = court.scores(weights)
    predictions = np.empty((2, 4, 2, 40))
    for repeat in range(2):
        for fold in range(4):
            held = folds[repeat] == fold
            part = table.take(~held), target.take(~held)
            for split in range(4):
                said = court.judge.predict(weights[4 * repeat + split], *part, table.take(held))
                predictions[repeat, split][:, held] = said[..., 0]
    for w in range(2):
        own = [[predictions[repeat, folds[repeat, i], w, i] for i in range(40)] for repeat in range(2)]
        truth = target.values

        def mean(rows, own=own, truth=truth):
            return np.mean([naive.rrmse(truth[rows], np.array(one)[rows, None]) for one in own])

        assert found.whole[w] == pytest.approx(mean(np.arange(40)))
        tested = naive.jackknife(
            [mean(np.flatnonzero(court.groups != group)) for group in range(court.groups.max() + 1)]
        )
        trained = np.mean(
            [
                naive.jackknife([naive.rrmse(truth, predictions[repeat, s, w][:, None]) for s in range(4)])
                for repeat in range(2)
            ]
        )
        assert found.error()[w] == pytest.approx(np.sqrt(tested + max(tested, trained)))
    np.testing.assert_allclose(court.plain_scores(weights), found.whole)
