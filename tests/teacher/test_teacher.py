"""The teacher as an estimator: all tasks, holes, members of all kinds, and what it refuses."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingRegressor, StackingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from semirank import Hierarchy, Table, Teacher
from semirank.data.encode_target import encode_target
from semirank.data.target import Target
from semirank.data.tasks import NUMBERS, TASKS
from semirank.teacher.members import MEMBERS

QUICK = ("linear", "graph")


def problem(task, seed=0, n=160, n_labeled=60, holes=0.0):
    """Mixed features with missing values, of which three make the target, and the target of all rows."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 6))
    values[:, 5] = rng.integers(0, 3, size=n)
    a, b, c = values[:, 0].copy(), values[:, 1].copy(), values[:, 5].copy()
    values[rng.random((n, 6)) < 0.03] = np.nan
    categories = (None,) * 5 + (("x", "y", "z"),)
    table = Table(values, np.array([0] * 5 + [3]), tuple("abcdef"), categories)
    if task == "classification":
        whole = Target(task, (a + c > 1).astype(float)[:, None], ("y",), np.ones(1), np.array(["no", "yes"]))
    elif task == "regression":
        whole = Target(task, (a + b + c)[:, None], ("y",), np.ones(1))
    elif task == "multi_target":
        whole = Target(task, np.column_stack([a + b, 1000 * (c - a)]), ("s", "t"), np.ones(2))
    else:
        labels = np.column_stack([a > -0.5, a > 0.3, (a > -0.5) & (b > 0)]).astype(float)
        tree = Hierarchy.from_paths(["p", "p/q", "p/r"]) if task == "hierarchical" else None
        names = tuple("uvw") if tree is None else tree.labels
        weights = np.ones(3) if tree is None else tree.weights(0.75)
        whole = Target(task, labels, names, weights, None, tree)
    target = whole.hide(rng.permutation(n)[n_labeled:])
    if holes:
        cells = target.values.copy()
        cells[rng.random(cells.shape) < holes] = np.nan
        target = Target(task, cells, whole.names, whole.weights)
    return table, target, whole


@pytest.mark.parametrize("task", TASKS)
def test_completes_every_task(task):
    table, target, whole = problem(task)
    teacher = Teacher(random_state=0).fit(table, target)
    truth = target.columns()
    known = ~np.isnan(truth)
    np.testing.assert_array_equal(teacher.predicted_, ~known)
    np.testing.assert_array_equal(teacher.completed_[known], truth[known])
    assert np.isfinite(teacher.completed_).all()
    assert list(teacher.weights_) == list(MEMBERS)
    assert sum(teacher.weights_.values()) == pytest.approx(1.0)
    assert list(teacher.losses_) == list(teacher.scores_) == [*MEMBERS, "stack"]
    assert teacher.losses_["stack"] < 0.6
    # What was held out tells how good the predictions are.
    other = ~target.labeled
    shares = whole.columns()[other]
    error = np.sum(np.mean((teacher.completed_[other] - shares) ** 2, axis=0) / shares.var(axis=0))
    assert error / shares.shape[1] == pytest.approx(teacher.losses_["stack"], abs=0.25)
    assert teacher.score(table.take(other), whole.take(other)) == pytest.approx(
        teacher.scores_["stack"], abs=0.2
    )
    student = teacher.student_target(target)
    assert student.labeled.all()
    assert len(student) == len(table)
    if TASKS[task].kind == NUMBERS:
        assert not hasattr(teacher, "predict_proba")
    else:
        shares = teacher.predict_proba(table)
        assert shares.min() >= 0.0
        assert shares.max() <= 1.0
    if task == "classification":
        np.testing.assert_allclose(teacher.completed_.sum(axis=1), 1.0)
        assert set(teacher.predict(table)) == {"no", "yes"}
    if task == "hierarchical":
        for shares in (teacher.completed_, teacher.predict_proba(table)):
            assert (shares[:, 1:] <= shares[:, :1]).all()


@pytest.mark.parametrize("task", ["multi_target", "multi_label"])
def test_partly_known_rows_keep_what_is_known(task):
    table, target, _ = problem(task, holes=0.3)
    teacher = Teacher(members=[*MEMBERS, Ridge()], random_state=0).fit(table, target)
    known = ~np.isnan(target.values)
    partly = known.any(axis=1) & ~known.all(axis=1)
    assert partly.any()
    np.testing.assert_array_equal(teacher.completed_[known], target.values[known])
    np.testing.assert_array_equal(teacher.predicted_, ~known)
    assert np.isfinite(teacher.completed_).all()
    assert teacher.losses_["stack"] < 0.7


def test_targets_in_any_unit():
    table, target, _ = problem("multi_target")
    one = Teacher(random_state=0).fit(table, target)
    factor = np.array([1e200, 2.0**-10])
    scaled = Target("multi_target", target.values * factor + [0.0, 1e6], target.names, target.weights)
    other = Teacher(random_state=0).fit(table, scaled)
    np.testing.assert_allclose(other.completed_, one.completed_ * factor + [0.0, 1e6], rtol=1e-6)
    assert other.losses_ == pytest.approx(one.losses_, rel=1e-6)


def test_columns_that_nothing_is_known_of_play_no_part():
    table, target, _ = problem("multi_target")
    values = np.column_stack([target.values, np.where(target.labeled, 4.0, np.nan), np.full(160, np.nan)])
    wide = Target("multi_target", values, tuple("stuv"), np.ones(4))
    teacher = Teacher(members=[*QUICK, Ridge(), GradientBoostingRegressor(n_estimators=5)], random_state=0)
    teacher.fit(table, wide)
    assert (teacher.completed_[:, 2] == 4.0).all()
    assert np.isfinite(teacher.completed_).all()
    assert teacher.student_target(wide).names == ("s", "t")


class TestFeatureWeights:
    @pytest.mark.parametrize("task", TASKS)
    def test_ones_change_nothing(self, task):
        table, target, _ = problem(task)
        plain = Teacher(random_state=0).fit(table, target)
        ones = Teacher(random_state=0).fit(table, target, feature_weights=np.ones(6))
        np.testing.assert_array_equal(ones.completed_, plain.completed_)
        np.testing.assert_array_equal(ones.predict(table), plain.predict(table))

    @pytest.mark.parametrize("member", ["linear", "kernel", "graph"])
    def test_members_answer_in_the_weighted_space(self, member):
        """As if the other features were constant, while what was held out stays as it was."""
        table, target, _ = problem("regression")
        weights = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
        plain = Teacher(members=(member,), random_state=0).fit(table, target)
        weighted = Teacher(members=(member,), random_state=0).fit(table, target, feature_weights=weights)
        assert weighted.losses_ == plain.losses_
        assert weighted.scores_ == plain.scores_
        flat = replace(table, values=table.values.copy())
        flat.values[:, 2:5] = 0.0
        if member != "linear":  # whose kernel is divided by the number of features, constant or not
            alone = Teacher(members=(member,), random_state=0).fit(flat, target)
            np.testing.assert_allclose(weighted.completed_, alone.completed_, rtol=1e-8)
        moved = replace(flat, values=flat.values + np.array([0, 0, 5, 5, 5, 0]))
        np.testing.assert_allclose(weighted.predict(moved), weighted.predict(flat))

    @pytest.mark.parametrize("factor", [1e-300, 1e-3, 1e3, 1e300])
    def test_only_proportions_count(self, factor):
        table, target, _ = problem("regression")
        weights = np.array([1.0, 1.0, 0.5, 0.5, 0.5, 1.0])
        members = ("linear", "kernel", "graph")
        one, other = (
            Teacher(members=members, random_state=0).fit(table, target, feature_weights=c * weights)
            for c in (1.0, factor)
        )
        np.testing.assert_allclose(one.completed_, other.completed_, rtol=1e-8)

    def test_forests_and_estimators_do_not_see_them(self):
        table, target, _ = problem("regression")
        members = ("random_forest", Ridge())
        weights = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        plain = Teacher(members=members, random_state=0).fit(table, target)
        weighted = Teacher(members=members, random_state=0).fit(table, target, feature_weights=weights)
        np.testing.assert_array_equal(weighted.completed_, plain.completed_)

    @pytest.mark.parametrize(
        "weights",
        [
            np.ones(5),
            np.ones((6, 1)),
            np.zeros(6),
            np.array([1, 1, 1, 1, 1, -1]),
            np.full(6, np.nan),
            ["a"] * 6,
            {0: 1.0},
        ],
    )
    def test_what_cannot_be_meant(self, weights):
        table, target, _ = problem("regression")
        with pytest.raises(
            ValueError, match=r"feature_weights must hold a number of at least 0 for each of the 6"
        ):
            Teacher(members=QUICK).fit(table, target, feature_weights=weights)


class TestDeterminism:
    @pytest.mark.parametrize("task", ["classification", "multi_label"])
    def test_threads_do_not_matter(self, task):
        table, target, _ = problem(task)
        one, two = (Teacher(n_jobs=n, random_state=3).fit(table, target) for n in (1, 2))
        np.testing.assert_array_equal(one.completed_, two.completed_)
        assert one.weights_ == two.weights_
        np.testing.assert_array_equal(one.predict_proba(table), two.predict_proba(table))

    @pytest.mark.parametrize("task", TASKS)
    def test_order_of_rows_does_not_matter(self, task):
        table, target, _ = problem(task)
        rows = np.random.default_rng(5).permutation(len(table))
        members = [*MEMBERS, Ridge()]
        one = Teacher(members=members, max_rows=130, random_state=1).fit(table, target)
        two = Teacher(members=members, max_rows=130, random_state=1).fit(table.take(rows), target.take(rows))
        np.testing.assert_allclose(two.completed_, one.completed_[rows], rtol=1e-7, atol=1e-8)
        assert two.losses_ == pytest.approx(one.losses_, rel=1e-7)

    def test_units_of_features_do_not_matter(self):
        table, target, _ = problem("regression")
        scaled = Table(
            table.values * [8.0, 0.3, 1e9, 1e-9, 1.0, 1.0], *(table.n_values, table.names, table.categories)
        )
        one, two = (Teacher(random_state=1).fit(t, target) for t in (table, scaled))
        np.testing.assert_allclose(two.completed_, one.completed_, rtol=1e-6, atol=1e-6)

    def test_seed_matters_only_through_random_state(self):
        table, target, _ = problem("classification")
        first, again, other = (Teacher(random_state=s).fit(table, target) for s in (1, 1, 2))
        np.testing.assert_array_equal(first.completed_, again.completed_)
        assert not np.array_equal(first.completed_, other.completed_)

    def test_pickle_and_clone(self):
        table, target, _ = problem("classification")
        teacher = Teacher(members=[*MEMBERS, LogisticRegression()], random_state=0).fit(table, target)
        copy = pickle.loads(pickle.dumps(teacher))
        np.testing.assert_array_equal(copy.predict_proba(table), teacher.predict_proba(table))
        fresh = clone(teacher)
        assert not hasattr(fresh, "weights_")
        assert fresh.members[-1] is not teacher.members[-1]
        assert list(fresh.fit(table, target).weights_) == list(teacher.weights_)


class TestManyRows:
    def test_rows_beyond_the_graph_take_answers_from_it(self):
        table, target, whole = problem("regression", n=900)
        teacher = Teacher(members=["graph"], max_rows=200, random_state=0).fit(table, target)
        assert any("a sample of 200 of 900 rows" in note for note in teacher.notes_)
        other = ~target.labeled
        assert np.corrcoef(teacher.completed_[other, 0], whole.values[other, 0])[0, 1] > 0.5

    def test_labelled_rows_beyond_half_of_max_rows_are_a_sample(self):
        table, target, _ = problem("classification", n=500, n_labeled=300)
        teacher = Teacher(members=QUICK, max_rows=100, random_state=0).fit(table, target)
        assert any("a sample of 50 of 300 labelled rows" in note for note in teacher.notes_)
        known = target.labeled
        np.testing.assert_array_equal(teacher.completed_[known], target.columns()[known])

    def test_rare_classes_stay_in_the_sample(self):
        X = np.random.default_rng(0).normal(size=(3000, 3))
        X[:4] += 9.0
        y = np.where(np.arange(3000) < 4, "rare", "usual").astype(object)
        y[2900:] = None
        X[2900:2910] += 9.0
        teacher = Teacher(members=["linear", "random_forest"], max_rows=100, random_state=0).fit(X, y)
        assert (teacher.predict(X[2900:]) == "rare").tolist() == [True] * 10 + [False] * 90

    def test_all_rows_labelled(self):
        table, _, whole = problem("multi_label")
        teacher = Teacher(members=QUICK, random_state=0).fit(table, whole)
        np.testing.assert_array_equal(teacher.completed_, whole.values)
        assert not teacher.predicted_.any()

    def test_blocks_of_rows_do_not_matter(self):
        table, target, _ = problem("classification")
        teacher = Teacher(random_state=0).fit(table, target)
        parts = [teacher.predict_proba(table.take(np.arange(i, i + 40))) for i in range(0, 160, 40)]
        np.testing.assert_allclose(np.concatenate(parts), teacher.predict_proba(table), atol=1e-12)


class TestEstimators:
    @pytest.mark.parametrize("task", TASKS)
    def test_any_estimator_can_be_a_member(self, task):
        table, target, _ = problem(task)
        if TASKS[task].kind == NUMBERS:
            members = [Ridge(), GradientBoostingRegressor(n_estimators=20)]  # the second has one output only
        else:
            members = [
                LogisticRegression(),
                LinearSVC(),  # no predict_proba
                ExtraTreesClassifier(20),
                make_pipeline(StandardScaler(), Ridge()),
                LinearDiscriminantAnalysis(),
            ]
        teacher = Teacher(members=members, random_state=0).fit(table, target)
        assert list(teacher.weights_) == [type(member).__name__ for member in members]
        assert max(teacher.losses_.values()) < 1.1
        assert np.isfinite(teacher.completed_).all()
        again = Teacher(members=members, random_state=0).fit(table, target)
        np.testing.assert_array_equal(again.completed_, teacher.completed_)
        assert all(not hasattr(member, "n_features_in_") for member in members)

    def test_held_out_rows_were_not_seen(self):
        """A model that knows its training rows by heart and nothing else has learnt nothing."""
        table, target, _ = problem("regression")
        teacher = Teacher(members=["linear", Parrot()], random_state=0).fit(table, target)
        assert teacher.losses_["Parrot"] == pytest.approx(1.0, abs=0.1)
        assert teacher.weights_["Parrot"] < 0.2

    def test_rare_classes(self):
        """Folds without a class, and one where all rows have the same class."""
        table, _, _ = problem("classification")
        codes = np.full(160, np.nan)
        codes[:12] = 0.0
        codes[0] = 1.0
        codes[1] = 2.0
        target = Target("classification", codes[:, None], ("y",), np.ones(1), np.array(["a", "b", "c"]))
        teacher = Teacher(members=[*MEMBERS, LogisticRegression()], random_state=0).fit(table, target)
        assert teacher.predict_proba(table).shape == (160, 3)
        np.testing.assert_allclose(teacher.completed_.sum(axis=1), 1.0)

    def test_equal_estimators_have_names_of_their_own(self):
        table, target, _ = problem("regression")
        teacher = Teacher(members=[Ridge(1.0), Ridge(9.0), "linear"], random_state=0).fit(table, target)
        assert list(teacher.weights_) == ["Ridge", "Ridge 2", "linear"]

    @pytest.mark.parametrize(
        ("member", "said"),
        [
            ("broken", "the member Broken failed and was left out: the moon is full"),
            ("holes", "the member Holes gave NaN or infinity and was left out"),
            ("classifier", "the member LogisticRegression failed and was left out: it is a classifier"),
        ],
    )
    def test_a_member_that_fails_is_left_out_and_named(self, member, said):
        table, target, _ = problem("regression")
        estimator = {"broken": Broken(), "holes": Holes(), "classifier": LogisticRegression()}[member]
        with pytest.warns(UserWarning, match="was left out"):
            teacher = Teacher(members=["linear", estimator], random_state=0).fit(table, target)
        assert list(teacher.weights_) == ["linear"]
        assert any(note.startswith(said) for note in teacher.notes_)
        with (
            pytest.warns(UserWarning, match="was left out"),
            pytest.raises(ValueError, match="No member is left: the member"),
        ):
            Teacher(members=[estimator]).fit(table, target)

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize(
        ("reach", "said"),
        [
            ("nan", "the member Near gave NaN or infinity and was left out"),
            ("error", "the member Near failed and was left out: no neighbours"),
        ],
    )
    def test_a_member_that_fails_for_unlabelled_rows_only_is_left_out(self, task, reach, said):
        """Held-out rows were no trouble, the others are."""
        table, target, _ = problem(task)
        with pytest.warns(UserWarning, match="was left out"):
            teacher = Teacher(members=["linear", Near(reach), "graph"], random_state=0).fit(table, target)
        without = Teacher(members=["linear", "graph"], random_state=0).fit(table, target)
        assert said in teacher.notes_
        assert (teacher.weights_, teacher.losses_) == (without.weights_, without.losses_)
        np.testing.assert_array_equal(teacher.completed_, without.completed_)
        with (
            pytest.warns(UserWarning, match="was left out"),
            pytest.raises(ValueError, match=f"No member is left: {said}"),
        ):
            Teacher(members=[Near(reach)]).fit(table, target)

    @pytest.mark.parametrize(
        ("reach", "said"), [("nan", "Near gave NaN or infinity"), ("error", "Near failed: no neighbours")]
    )
    def test_new_rows_that_a_member_cannot_answer_for_are_one_sentence(self, reach, said):
        table, target, _ = problem("regression")
        teacher = Teacher(members=["linear", Near(reach, most=120)], random_state=0).fit(table, target)
        with pytest.raises(ValueError, match=f"^The member {said}.$"):
            teacher.predict(table)

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("member", ["PLSRegression", "Pipeline", "Scribbler"])
    def test_members_that_write_into_what_they_get_leave_the_others_alone(self, task, member):
        table, target, _ = problem(task)
        estimator = {
            "PLSRegression": PLSRegression(2, copy=False),
            "Pipeline": make_pipeline(StandardScaler(copy=False), Ridge(copy_X=False)),
            "Scribbler": Scribbler(),
        }[member]
        members = ["linear", "kernel", "graph"]
        last = Teacher(members=[*members, estimator], random_state=0).fit(table, target)
        first = Teacher(members=[estimator, *members], random_state=0).fit(table, target)
        alone = Teacher(members=members, random_state=0).fit(table, target)
        for name in members:
            assert first.losses_[name] == last.losses_[name] == alone.losses_[name]
            assert first.scores_[name] == last.scores_[name] == alone.scores_[name]
        np.testing.assert_allclose(first.completed_, last.completed_, rtol=1e-6, atol=1e-8)

    def test_an_estimator_that_can_predict_only_after_fit(self):
        table, target, _ = problem("classification")
        stacked = StackingClassifier([("linear", LogisticRegression())], cv=2)
        assert not hasattr(stacked, "predict")
        teacher = Teacher(members=["linear", stacked], random_state=0).fit(table, target)
        assert teacher.losses_["StackingClassifier"] < 0.7

    def test_a_fit_that_returns_nothing(self):
        table, target, _ = problem("regression")
        teacher = Teacher(members=["linear", Silent(), Ridge()], random_state=0).fit(table, target)
        assert teacher.losses_["Silent"] == teacher.losses_["Ridge"]

    @pytest.mark.parametrize("task", ["regression", "classification"])
    def test_an_answer_of_the_wrong_shape_is_one_sentence(self, task):
        table, target, _ = problem(task)
        estimator = WideNumbers() if task == "regression" else WideShares()
        with pytest.raises(
            ValueError, match=r"The member Wide\w+ gave an array of shape \(12, 7\) from predict"
        ):
            Teacher(members=["linear", estimator]).fit(table, target)


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "error", "sentence"),
        [
            ({"members": "graph"}, TypeError, "members='graph' is no list"),
            ({"members": []}, ValueError, "members is empty"),
            (
                {"members": ["forest"]},
                ValueError,
                "members holds 'forest', which is not one of random_forest",
            ),
            ({"members": ["graph", "graph"]}, ValueError, "members names 'graph' twice"),
            ({"members": [Ridge]}, TypeError, "which is neither one of .* nor an estimator"),
            ({"members": [3]}, TypeError, "members holds 3"),
            ({"max_rows": 10}, ValueError, "max_rows=10 must be a whole number of at least 100"),
            ({"n_jobs": 0}, ValueError, "n_jobs=0 is neither"),
        ],
    )
    def test_parameters(self, change, error, sentence):
        table, target, _ = problem("regression")
        with pytest.raises(error, match=sentence):
            Teacher(**change).fit(table, target)

    def test_too_few_labels(self):
        table, target, _ = problem("regression", n_labeled=9)
        with pytest.raises(ValueError, match=r"Only 9 rows are labelled .* needs at least 10"):
            Teacher().fit(table, target)

    def test_new_rows_are_checked_as_by_rankers(self):
        table, target, _ = problem("regression")
        teacher = Teacher(members=QUICK).fit(table, target)
        with pytest.raises(ValueError, match="6 features"):
            teacher.predict(np.zeros((2, 4)))

    def test_constant_features(self):
        y = np.where(np.arange(40) < 20, np.arange(40) % 5, np.nan)
        teacher = Teacher(task="regression", random_state=0).fit(np.ones((40, 3)), y)
        np.testing.assert_allclose(teacher.completed_[20:], 2.0, atol=0.5)
        assert encode_target(y, task="regression").task == teacher.task_


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@parametrize_with_checks([Teacher(members=["random_forest", "linear", "kernel", "graph"], random_state=0)])
def test_estimator_checks(estimator, check):
    check(estimator)


class Parrot(RegressorMixin, BaseEstimator):
    """Knows its training rows by heart; everything else is the mean."""

    def fit(self, X, y):
        self.known_ = {row.tobytes(): value for row, value in zip(X, y)}
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.array([self.known_.get(row.tobytes(), self.mean_) for row in X])


class Broken(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("the moon is full.\nSecond line")

    def predict(self, X):
        return np.zeros(len(X))


class Holes(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


class Near(RegressorMixin, BaseEstimator):
    """Answers for a few rows at a time, as held-out ones are, and not for more."""

    def __init__(self, how="nan", most=20):
        self.how, self.most = how, most

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        if len(X) > self.most and self.how == "error":
            raise RuntimeError("no neighbours.")
        return np.full(len(X), self.mean_ if len(X) <= self.most else np.nan)


class Scribbler(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        X[:] = y[:] = 7.0
        return self

    def predict(self, X):
        X[:] = 7.0
        return np.zeros(len(X))


class Silent(Ridge):
    def fit(self, X, y):
        super().fit(X, y)


class WideNumbers(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros((len(X), 7))


class WideShares(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def predict_proba(self, X):
        return np.zeros((len(X), 7))
