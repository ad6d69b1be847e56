"""Areas, curves over labels and features, enough features, intervals, and knn_score for users."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from semirank import Ranking, knn_score
from semirank.data.encode_target import encode_target
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.evaluation.curves import (
    addition_sizes,
    area,
    enough_features,
    feature_subsets,
)
from semirank.evaluation.intervals import GROUPS, Estimate, Interval, estimate, row_groups
from semirank.judging import knn_judge as judge
from semirank.judging.splits import semi_supervised_folds

from ..neighbors.naive_neighbors import make_table, make_target
from . import naive_evaluation as naive


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.integers(1, 500), st.floats(-5, 5), min_size=1, max_size=8))
def test_area_equals_twin(points):
    x = sorted(points)
    y = [points[n] for n in x]
    assert area(x, y) == pytest.approx(naive.area(x, y), abs=1e-12)


def test_area_keeps_constants_and_order():
    assert area([50, 100, 500], [0.3] * 3) == pytest.approx(0.3)
    assert area([50], [0.3]) == 0.3
    assert area([50, 100, 500], [0.3, 0.4, 0.5]) > area([50, 100, 500], [0.3, 0.4, 0.4])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("pool", judge.POOLS)
def test_judge_and_measures_equal_twins(task, pool):
    rng = np.random.default_rng(list(TASKS).index(task))
    kinds = [0, 0, 3, 2]
    train, test = make_table(rng, 40, kinds, missing=0.1), make_table(rng, 15, kinds, missing=0.1)
    target = make_target(rng, 40, task, unlabeled=0.4, missing=0.1)
    test_target = make_target(rng, 15, task, unlabeled=0.2, missing=0.1)
    rankings = np.array([[0.5, -1.0, 0.2, 0.1], [0, 0, 0, 0], [1, 0, 0, 0]])
    found = judge.judge_rankings(rankings, train, target, test, test_target, (2, 5), pool)
    expected = [
        [naive.knn_score(r, train, target, test, test_target, k, pool) for k in (2, 5)] for r in rankings
    ]
    np.testing.assert_allclose(found, expected)


def addition_curve(importances, train, target, test, test_target, k):
    """The scores of the best and of the worst 1, 2, 4, ... features, judged as `evaluate` does it."""
    sizes, best, worst = feature_subsets(importances)
    data = train, target, test, test_target
    forward, reverse = (judge.judge_rankings(subsets, *data, k)[:, 0] for subsets in (best, worst))
    return sizes, forward, reverse


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 8, 9, 100])
def test_addition_sizes(d):
    sizes = addition_sizes(d).tolist()
    assert sizes == sorted({*(2**p for p in range(10) if 2**p <= d), d})


@pytest.mark.parametrize("task", ["classification", "regression", "multi_label"])
def test_addition_curve_equals_twin(task):
    rng = np.random.default_rng(3)
    kinds = [0, 0, 3, 0, 2, 0]
    train, test = make_table(rng, 40, kinds, missing=0.1), make_table(rng, 15, kinds)
    target, test_target = make_target(rng, 40, task, unlabeled=0.3), make_target(rng, 15, task)
    importances = np.array([0.3, -0.2, 0.3, 0.9, 0.0, 0.1])
    found_sizes, best, worst = addition_curve(importances, train, target, test, test_target, 4)
    sizes, forward, reverse = naive.addition_curve(importances, train, target, test, test_target, 4)
    assert found_sizes.tolist() == sizes
    np.testing.assert_allclose(best, forward)
    np.testing.assert_allclose(worst, reverse)
    assert best[-1] == worst[-1]


def sure(value, groups):
    return Estimate(np.array(value), np.full(groups, value))


class TestEnoughFeatures:
    sizes = np.array([1, 2, 4, 8])

    def test_planted_number(self):
        """Four features matter equally; sixteen more are noise."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 20))
        table = Table(X, np.zeros(20, int), tuple(f"x{i}" for i in range(20)), (None,) * 20)
        target = Target("regression", X[:, :4].sum(axis=1, keepdims=True), ("y",), np.ones(1))
        importances = np.r_[np.ones(4), np.zeros(16)] + 0.01 * rng.random(20)
        curves = []
        for fold in semi_supervised_folds(target, 5, (400,), random_state=0):
            curves.append(addition_curve(importances, *fold.parts(table, target, 400), 10))
        (sizes, *_), forward, reverse = map(np.stack, zip(*curves))
        folds = estimate(lambda kept: -forward[kept].mean(axis=0), np.arange(5))
        assert enough_features(sizes, folds, sure(-1.0, 5)) == 4
        reverse = reverse.mean(axis=0)
        assert reverse[:-2].min() > 0.95  # noise alone predicts nothing (RRMSE)

    def test_within_one_error_of_the_best(self):
        whole = np.array([0.1, 0.51, 0.52, 0.50])
        unsure = Estimate(whole, whole + np.array([[0, 0.02, 0, 0], [0, -0.02, 0, 0]]))
        assert enough_features(self.sizes, unsure, sure(0.2, 2)) == 4  # two is not surely above the guess
        assert enough_features(self.sizes, unsure, sure(-9.0, 2)) == 2
        certain = Estimate(whole, whole + np.array([[0, 0.001, 0, 0], [0, -0.001, 0, 0]]))
        assert enough_features(self.sizes, certain, sure(-9.0, 2)) == 4
        assert enough_features(self.sizes, certain, sure(0.1, 2)) == 4

    def test_what_splits_learn_counts(self):
        """A number that is as good only by the luck of the labels is within one error."""
        whole = np.array([0.1, 0.51, 0.52, 0.50])
        rows = np.tile(whole, (3, 1))
        assert enough_features(self.sizes, Estimate(whole, rows, rows[None]), sure(0.2, 3)) == 4
        shaken = rows + np.array([0, 0.02, 0, 0]) * np.array([[1.0], [-1.0], [0.0]])
        assert enough_features(self.sizes, Estimate(whole, rows, shaken[None]), sure(0.2, 3)) == 2

    def test_nothing_is_better_than_a_guess(self):
        same = Estimate(np.full(4, 0.5), np.full((3, 4), 0.5))
        assert enough_features(self.sizes, same, sure(0.5, 3)) is None
        assert enough_features(self.sizes, same, sure(0.4, 3)) == 1

    def test_many_numbers_are_many_chances(self):
        """An interval that holds for one number need not hold for all of them at once."""
        rng = np.random.default_rng(0)
        noise = rng.normal(size=30) - rng.normal(size=30).mean()
        noise = (noise - noise.mean()) / np.sqrt(2 * 29 / 30 * ((noise - noise.mean()) ** 2).sum())
        one = Estimate(np.array([2.2]), 2.2 + noise[:, None])
        assert one.error() == pytest.approx([1.0])
        assert one.low(1) > 0 > one.low(4)
        many = Estimate(np.full(4, 2.2), 2.2 + np.tile(noise[:, None], 4))
        assert enough_features(np.array([1]), one, sure(0.0, 30)) == 1
        assert enough_features(self.sizes, many, sure(0.0, 30)) is None


def test_feature_subsets_break_ties_by_column():
    sizes, best, worst = feature_subsets(np.zeros(5))
    assert sizes.tolist() == [1, 2, 4, 5]
    assert best[1].tolist() == [1, 1, 0, 0, 0]
    assert worst[1].tolist() == [0, 0, 0, 1, 1]


class TestInterval:
    def test_mean_is_students_with_twice_the_variance(self):
        """The jackknife of a mean is the usual standard error."""
        values = np.random.default_rng(0).normal(size=12)
        found = estimate(lambda rows: values[rows].mean(), np.arange(12))
        error = values.std(ddof=1) / np.sqrt(12)
        assert found.error() == pytest.approx(error * np.sqrt(2))
        low, high = stats.t.interval(0.95, 11, values.mean(), error * np.sqrt(2))
        assert found.interval() == pytest.approx((values.mean(), low, high))

    def test_hard_rows_cancel_in_differences(self):
        rng = np.random.default_rng(1)
        hard = rng.normal(size=50) * 10
        a, b = (hard + rng.normal(size=50) * 0.1 + shift for shift in (0.5, 0.0))
        first, second = (estimate(lambda rows, v=v: v[rows].mean(), np.arange(50)) for v in (a, b))
        assert first.minus(second).interval().verdict == 1
        assert second.minus(first).interval().verdict == -1
        assert second.minus(second).interval() == (0.0, 0.0, 0.0)
        assert second.minus(second).interval().verdict == 0
        assert first.error() > 10 * first.minus(second).error()

    def test_coverage(self):
        """With the plain variance, of a mean of 40 rows in 30 groups: 95 % of them hold the truth."""
        rng = np.random.default_rng(2)
        hits = 0
        for _ in range(400):
            values = rng.normal(size=40)
            found = estimate(lambda rows, v=values: v[rows].mean(), row_groups(40, rng))
            hits += abs(found.whole) <= stats.t.ppf(0.975, 29) * found.error() / np.sqrt(2)
        assert 0.92 <= hits / 400 <= 0.98

    def test_groups(self):
        rng = np.random.default_rng(0)
        assert sorted(row_groups(7, rng)) == list(range(7))
        assert np.ptp(np.bincount(row_groups(100, rng), minlength=GROUPS)) == 1

    def test_verdict(self):
        ends = ((-1, 1), (0, 0), (0.1, 1), (-1, -0.1))
        assert [Interval(0.0, *pair).verdict for pair in ends] == [0, 0, 1, -1]


class TestKnnScoreForUsers:
    rng = np.random.default_rng(0)
    X = rng.random((120, 3))
    y = np.where(X[:, 0] > 0.5, "high", "low")

    def test_shapes(self):
        data = self.X[:80], self.y[:80], self.X[80:], self.y[80:]
        assert np.ndim(knn_score([1, 0, 0], *data, k=5)) == 0
        assert knn_score([1, 0, 0], *data, k=(5, 7)).shape == (2,)
        assert knn_score(np.eye(3), *data, k=5).shape == (3,)
        assert knn_score(np.eye(3), *data).shape == (3, 2)

    def test_equals_scikit_learn(self):
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.preprocessing import MinMaxScaler

        scale = MinMaxScaler().fit(self.X[:80])
        weights = np.array([0.6, 0.3, 0.1])
        a, b = (scale.transform(part) * np.sqrt(weights) for part in (self.X[:80], self.X[80:]))
        predicted = KNeighborsClassifier(7, algorithm="brute").fit(a, self.y[:80]).predict(b)
        found = knn_score(weights, self.X[:80], self.y[:80], self.X[80:], self.y[80:], k=7)
        assert found == pytest.approx(f1_score(self.y[80:], predicted, average="macro"))

    def test_frames_and_holes(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(self.X, columns=list("abc")).assign(
            kind=np.where(self.X[:, 1] > 0.5, "p", "q")
        )
        y = self.y.astype(object)
        y[40:80] = None
        test_y = y.copy()
        test_y[110:] = None
        found = knn_score([1, 0, 0, 0.1], frame[:80], y[:80], frame[80:], test_y[80:], k=5)
        fewer = knn_score([1, 0, 0, 0.1], frame[:80], y[:80], frame[80:110], self.y[80:110], k=5)
        assert found == fewer > 0.8
        assert (
            knn_score([1, 0, 0, 0.1], frame[:80], y[:80], frame[80:], test_y[80:], k=5, pool="all") != found
        )

    def test_ranking_is_matched_by_name(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(self.X, columns=list("abc"))
        data = frame[:80], self.y[:80], frame[80:], self.y[80:]
        ranking = Ranking(names=("c", "b", "a"), scores=[0.1, 0.2, 0.9], method="relief", importance="relief")
        assert knn_score(ranking, *data, k=5) == knn_score([0.9, 0.2, 0.1], *data, k=5)
        other = Ranking(names=("c", "b", "x"), scores=[0.1, 0.2, 0.9], method="relief", importance="relief")
        with pytest.raises(ValueError, match="the data have"):
            knn_score(other, *data, k=5)

    def test_unseen_class_counts_as_wrong(self):
        y_test = self.y[80:].copy()
        y_test[:10] = "new"
        assert 0 < knn_score([1, 0, 0], self.X[:80], self.y[:80], self.X[80:], y_test, k=5) < 0.7

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"importances": [1, 0]}, "one importance per feature"),
            ({"importances": [1, 0, np.nan]}, "NaN or infinite"),
            ({"k": 81}, "k = 81 is more than the 80 labelled training rows"),
            ({"k": (5, 100), "pool": "all"}, "k = 100 is more than the 80 training rows"),
            ({"k": 0}, "k must be"),
            ({"pool": "some"}, "pool must be"),
            ({"X_test": np.ones((40, 2))}, "2 features"),
            ({"y_test": np.full(40, None)}, "y_test|labelled"),
            ({"y_test": np.array(["high"])}, "inconsistent numbers"),
            ({"y_train": np.full(80, "high")}, "one class"),
        ],
    )
    def test_bad_input(self, change, sentence):
        arguments = {"importances": [1, 0, 0], "X_train": self.X[:80], "y_train": self.y[:80]}
        arguments |= {"X_test": self.X[80:], "y_test": self.y[80:], "k": 5} | change
        with pytest.raises(ValueError, match=sentence):
            knn_score(**arguments)

    def test_an_encoded_target_without_a_label(self):
        hidden = encode_target(self.y[80:]).hide(np.arange(40))
        with pytest.raises(ValueError, match="No row of y_test is labelled"):
            knn_score([1, 0, 0], self.X[:80], self.y[:80], self.X[80:], hidden, k=5)
