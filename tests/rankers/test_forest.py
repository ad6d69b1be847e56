"""`ForestRanker` as users meet it: scikit-learn's contract, what it finds, what must not matter."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from semirank import ForestRanker, Hierarchy, Ranking, Table
from semirank.data.decode_target import decode
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.results.agreement import rank_numbers as ranks
from semirank.trees.ensemble import bootstrap_weights, predict_forest

from ..optional import needs_pandas, pd, pl
from ..trees import naive_trees as naive

ENSEMBLES = ("random_forest", "extra_trees", "bagging")
IMPORTANCES = ("genie3", "symbolic", "genie3_oob", "rforest")
TREE = ["a", "a/b", "a/c", "d", "d/e"]
COLUMNS = ["p", "q", "r", "s", "colour"]
PLANTED = [*(f"n{j}" for j in range(8)), "colour"]


def small(**params) -> ForestRanker:
    return ForestRanker(**({"supervision": 0.5, "n_estimators": 8, "random_state": 0} | params))


def full_tree(**params) -> ForestRanker:
    """One tree without anything random in it, except the order in which equal tests are met."""
    same = {"ensemble": "bagging", "bootstrap": False, "n_estimators": 1, "min_labeled": 0}
    return small(**(same | params))


def features(numbers: np.ndarray, names: np.ndarray, columns: list[str], values: list[str]):
    """A frame of numbers and, as the last column, a category; without pandas an array of the same."""
    if not pd:
        return np.column_stack([numbers.astype(object), names])
    X = pd.DataFrame(numbers, columns=columns[:-1])
    X[columns[-1]] = pd.Categorical(names, categories=values)
    return X


def names_of(X, columns: list[str]) -> list[str]:
    """What the columns are called: an array has no names."""
    return columns if pd else [f"x{j}" for j in range(X.shape[1])]


def numeric(X):
    """The numbers of `mixed`."""
    return X[COLUMNS[:-1]] if pd else X[:, :-1].astype(float)


def polar(X):
    """The same in polars, with text for the category; polars 1.0 takes no NaN among text."""
    return pl.DataFrame({name: [v if v == v else None for v in X[name].tolist()] for name in X.columns})


def mixed(task: str, m: int = 80, seed: int = 0):
    """Numbers and categories with holes, a target that depends on some of them, half of it unknown."""
    rng = np.random.default_rng([seed, list(TASKS).index(task)])
    x = rng.normal(size=(m, 4))
    colour = rng.integers(3, size=m)
    a, b, c = x[:, 0] > 0, x[:, 1] > 0.3, colour == 1
    if task == "classification":
        y = np.array(["low", "mid", "top"], dtype=object)[a.astype(int) + c]
    elif task == "regression":
        y = x[:, 0] + c
    elif task == "multi_target":
        y = np.column_stack([x[:, 0], x[:, 1] + c, rng.normal(size=m)])
    elif task == "multi_label":
        y = np.column_stack([a, b, a & c]).astype(float)
    else:
        y = np.column_stack([a, a & b, a & ~b, c, c & b]).astype(float)
    y[rng.random(m) < 0.5] = None if task == "classification" else np.nan
    if task in ("multi_target", "multi_label"):
        y[rng.random(y.shape) < 0.2] = np.nan
    x[rng.random(x.shape) < 0.1] = np.nan
    names = np.array(["red", "green", "blue"], dtype=object)[colour]
    names[rng.random(m) < 0.1] = None
    X = features(x, names, COLUMNS, ["red", "green", "blue", "never"])
    return X, y, TREE if task == "hierarchical" else None


def same_importances(one: ForestRanker, other: ForestRanker) -> None:
    assert one.importances_.keys() == other.importances_.keys()
    for name, scores in one.importances_.items():
        np.testing.assert_array_equal(scores, other.importances_[name])
        np.testing.assert_array_equal(one.importances_std_error_[name], other.importances_std_error_[name])
    np.testing.assert_array_equal(one.importances_per_target_, other.importances_per_target_)


# ---------------------------------------------------------------- scikit-learn's contract


@pytest.mark.filterwarnings("ignore:only .* labelled rows, too few for 4 folds:UserWarning")
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@parametrize_with_checks(
    [
        ForestRanker(n_estimators=5, supervision=1.0, random_state=0),
        ForestRanker(n_estimators=5, random_state=0),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)


class TestContract:
    def test_parameters_are_keyword_only_and_kept(self):
        with pytest.raises(TypeError):
            ForestRanker("bagging")
        ranker = small(importance=["rforest", "genie3"], hierarchy=TREE)
        copy = clone(ranker)
        assert copy.get_params() == ranker.get_params()
        assert not hasattr(copy, "feature_importances_")

    def test_fit_returns_self_and_can_be_repeated(self):
        X, y, _ = mixed("regression")
        ranker = small()
        assert ranker.fit(X, y) is ranker
        first = ranker.feature_importances_
        assert np.array_equal(ranker.fit(X, y).feature_importances_, first)
        ranker.fit(numeric(X), y)
        assert ranker.feature_importances_.shape == (4,)
        assert ranker.n_features_in_ == 4
        assert ranker.fit(X, mixed("classification")[1]).classes_.tolist() == ["low", "mid", "top"]
        assert not hasattr(ranker.fit(X, y), "classes_")

    @pytest.mark.parametrize("task", TASKS)
    def test_pickle(self, task):
        X, y, tree = mixed(task)
        ranker = small(hierarchy=tree, importance=IMPORTANCES).fit(X, y)
        again = pickle.loads(pickle.dumps(ranker))
        same_importances(ranker, again)
        np.testing.assert_array_equal(ranker.predict(X), again.predict(X))

    def test_select_from_model(self):
        X, y, _ = mixed("classification")
        X = numeric(X)
        selector = SelectFromModel(small(), max_features=2, threshold=-np.inf).fit(X, y)
        best = np.argsort(-selector.estimator_.feature_importances_)[:2]
        assert set(selector.get_feature_names_out()) == {names_of(X, COLUMNS)[j] for j in best}

    def test_pipelines(self):
        X, y, _ = mixed("regression")
        numbers = numeric(X)
        model = make_pipeline(StandardScaler(), small()).fit(numbers, y)  # holes in y go through
        assert np.isfinite(model.score(numbers, y))
        assert model.predict(numbers).shape == (len(X),)
        rng = np.random.default_rng(0)
        complete = rng.normal(size=(90, 6))
        model = make_pipeline(small(n_features_to_select=2, supervision=1.0), LogisticRegression())
        model.fit(complete, complete[:, 4] > 0)
        assert model[-1].coef_.shape == (1, 2)
        assert model.score(complete, complete[:, 4] > 0) > 0.9

    @pytest.mark.parametrize("task", TASKS)
    def test_grid_search_with_holes_in_y(self, task):
        X, y, tree = mixed(task, m=120)
        grid = {"supervision": [0.0, 1.0], "min_samples_leaf": [1, 3]}
        search = GridSearchCV(small(n_estimators=3, task=task, hierarchy=tree), grid, cv=3).fit(X, y)
        scores = search.cv_results_["mean_test_score"]
        assert np.isfinite(scores).all()
        assert search.best_score_ == scores.max()
        assert search.best_params_["supervision"] in (0.0, 1.0)

    @needs_pandas
    def test_set_output(self):
        X, y, _ = mixed("regression")
        ranker = small(n_features_to_select=0.99).fit(X, y)
        assert isinstance(ranker.transform(X), np.ndarray)
        pandas_out = ranker.set_output(transform="pandas").transform(X)
        pd.testing.assert_frame_equal(pandas_out, X)
        frame = polar(X)
        ranker = small(n_features_to_select=3).set_output(transform="polars").fit(frame, y)
        out = ranker.transform(frame)
        assert isinstance(out, pl.DataFrame)
        assert out.equals(frame.select(ranker.get_feature_names_out().tolist()))

    @needs_pandas
    def test_feature_names(self):
        X, y, _ = mixed("regression")
        ranker = small(n_features_to_select=2).fit(X, y)
        assert ranker.feature_names_in_.tolist() == X.columns.tolist()
        assert set(ranker.get_feature_names_out()) < set(X.columns)
        assert len(ranker.get_feature_names_out()) == 2
        with pytest.raises(ValueError, match="same order"):
            ranker.predict(X[X.columns[::-1]])
        plain = small(n_features_to_select=1).fit(X[list("pqrs")].to_numpy(), y)
        assert plain.get_feature_names_out(list("pqrs")).tolist() == ["p"]

    def test_encoded_table(self):
        X, y, _ = mixed("regression")
        table = encode_features(X)
        ranker = small(n_features_to_select=2).fit(table, y)
        same_importances(ranker, small().fit(X, y))
        np.testing.assert_array_equal(ranker.predict(table), small().fit(X, y).predict(X))
        kept = ranker.transform(table)
        assert isinstance(kept, Table)
        assert kept.names == tuple(ranker.get_feature_names_out())
        np.testing.assert_array_equal(kept.values, table.values[:, ranker.get_support()])

    def test_same_result_from_every_container(self):
        rng = np.random.default_rng(3)
        dense = np.where(rng.random((60, 5)) < 0.5, 0.0, rng.normal(size=(60, 5)))
        y = dense[:, 0] + dense[:, 1]
        y[30:] = np.nan
        expected = small(importance=IMPORTANCES).fit(dense, y)
        names = list("abcde")
        inputs = [
            dense.tolist(),
            np.asfortranarray(dense),
            *([pd.DataFrame(dense, columns=names)] if pd else []),
            *([pl.DataFrame(dense, schema=names)] if pl else []),
            sparse.csr_array(dense),
            sparse.coo_matrix(dense),
        ]
        targets = [
            y,
            *([pd.Series(y)] if pd else []),
            *([pl.Series(y).fill_nan(None)] if pl else []),
            y.tolist(),
            [None if v != v else v for v in y],
        ]
        for X in inputs:
            ranker = small(importance=IMPORTANCES).fit(X, y)
            same_importances(ranker, expected)
            np.testing.assert_array_equal(ranker.predict(X), expected.predict(dense))
        for target in targets:
            same_importances(small(importance=IMPORTANCES).fit(dense, target), expected)

    @needs_pandas
    def test_nominal_columns_are_the_same_in_pandas_and_polars(self):
        X, y, _ = mixed("classification")
        text = X.assign(colour=X["colour"].astype(object))
        enum = pl.Enum(X["colour"].cat.categories.tolist())
        frame = polar(X).with_columns(pl.col("colour").cast(enum))
        same_importances(small().fit(X, y), small().fit(frame, y))
        # As text only the values that occur are declared, in alphabetic order, in both libraries.
        same_importances(small().fit(text, y), small().fit(polar(X), y))


# ---------------------------------------------------------------- every combination runs


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_every_combination(task, ensemble):
    X, y, tree = mixed(task)
    n_targets = 1 if y.ndim == 1 else y.shape[1]
    for main in IMPORTANCES:
        ranker = small(ensemble=ensemble, importance=main, n_estimators=5, hierarchy=tree).fit(X, y)
        assert ranker.task_ == task
        assert set(ranker.importances_) == {"genie3", "symbolic", "genie3_oob", main}
        assert ranker.feature_importances_ is ranker.importances_[main]
        assert ranker.supervision_ == 0.5
        assert ranker.supervision_path_ == []
        assert ranker.n_labeled_ == encode_target(y, hierarchy=tree).labeled.sum()
        for scores in (*ranker.importances_.values(), *ranker.importances_std_error_.values()):
            assert scores.shape == (5,)
            assert np.isfinite(scores).all()
        assert (ranker.importances_["genie3"] >= 0).all()
        assert ranker.importances_["symbolic"].max() > 0
        assert ranker.importances_per_target_.shape == (5, n_targets)
        assert np.isfinite(ranker.importances_per_target_).all()
        np.testing.assert_array_equal(ranker.ranking_, ranks(ranker.feature_importances_))
        assert np.isfinite(ranker.score(X, y))


@pytest.mark.parametrize("missing_weight", ["all", "known"])
@pytest.mark.parametrize("w", [0, 0.3, 1])
def test_levels_and_weights_of_missing_values(w, missing_weight):
    X, y, _ = mixed("multi_target")
    ranker = small(supervision=w, missing_weight=missing_weight).fit(X, y)
    assert ranker.supervision_ == w
    assert (ranker.feature_importances_ > 0).any()


def test_standard_errors_are_those_of_the_mean_over_trees():
    X, y, _ = mixed("regression")
    ranker = small(importance=IMPORTANCES).fit(X, y)
    for name in IMPORTANCES:
        per_tree = np.array([member.scores[name] for member in ranker._forest.members])
        np.testing.assert_allclose(ranker.importances_[name], per_tree.mean(axis=0))
        error = per_tree.std(axis=0, ddof=1) / np.sqrt(len(per_tree))
        np.testing.assert_allclose(ranker.importances_std_error_[name], error)


# ---------------------------------------------------------------- planted problems


def planted(task: str, seed: int = 8, m: int = 1000, labels: int = 50):
    """Eight numbers and a colour; n2, colour (and n5 for several targets) decide the target."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, 8))
    colour = rng.integers(4, size=m)
    values = ["red", "blue", "amber", "green"]
    X = features(x, np.array(values, dtype=object)[colour], PLANTED, values)
    a, b, c = x[:, 2] > 0, x[:, 5] > 0, np.isin(colour, [1, 3])
    noise = 0.1 * rng.normal(size=(m, 3))
    relevant = {"n2", "n5", "colour"}
    if task == "classification":
        y, relevant = np.array(list("wxyz"), dtype=object)[2 * a + c], {"n2", "colour"}
    elif task == "regression":
        y, relevant = 0.5 * a + 0.75 * c, {"n2", "colour"}
    elif task == "multi_target":
        y = np.column_stack([a, b * 1.0 - a, c]) + noise
    elif task == "multi_label":
        y = np.column_stack([a, b, c, a & c]).astype(float)
    else:
        y = np.column_stack([a, a & b, a & ~b, c, c & b]).astype(float)
    hidden = np.ones(m, dtype=bool)
    hidden[rng.choice(m, labels, replace=False)] = False
    y[hidden] = None if task == "classification" else np.nan
    return X, y, TREE if task == "hierarchical" else None, relevant


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_planted_features_are_found(task, ensemble):
    X, y, tree, relevant = planted(task)
    ranker = small(
        ensemble=ensemble, importance=IMPORTANCES, supervision=1.0, n_estimators=40, hierarchy=tree
    )
    ranker.fit(X, y)
    assert ranker.n_labeled_ == 50
    for name in IMPORTANCES:
        best = np.argsort(-ranker.importances_[name])[: len(relevant)]
        assert {PLANTED[j] for j in best} == relevant, name


@pytest.mark.parametrize("task", TASKS)
def test_planted_features_are_found_by_default(task):
    X, y, tree, relevant = planted(task)
    ranker = ForestRanker(n_estimators=25, hierarchy=tree, random_state=0).fit(X, y)
    assert [row["supervision"] for row in ranker.supervision_path_] == [0.25, 0.5, 0.75, 1.0]
    best = np.argsort(-ranker.feature_importances_)[: len(relevant)]
    assert {PLANTED[j] for j in best} == relevant


def test_unlabelled_rows_alone_show_structure():
    """w = 0 needs no target: features that go together are the ones that make rows purer."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    X[:, [1, 3, 6]] = X[:, [1]] + 0.3 * rng.normal(size=(300, 3))
    y = np.full(300, np.nan)
    y[:10] = rng.normal(size=10)
    ranker = small(supervision=0.0, min_labeled=0, max_depth=1, n_estimators=40).fit(X, y)
    assert set(np.argsort(-ranker.feature_importances_)[:3]) == {1, 3, 6}


class TestDoesTheEnsembleMatter:
    """The constructions of the paper's section of that name."""

    def test_two_copies_of_the_target_share(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=60)
        X = np.column_stack([y, 1 - y, rng.integers(2, size=60)])
        for ensemble in ENSEMBLES:
            ranker = small(ensemble=ensemble, supervision=1.0, n_estimators=400).fit(X, y)
            first, second, noise = ranker.feature_importances_
            assert noise < 0.05 * min(first, second)
            assert 2 / 3 < first / second < 3 / 2

    def test_bagging_and_random_forests_rank_differently(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=400)
        x1 = np.where(rng.random(400) < 0.15, 1 - y, y)  # h(x1) > h(x_i): it errs less often
        x_i = np.where(rng.random(400) < 0.25, 1 - y, y)
        x2, x3 = x1 ^ y, x_i ^ y  # where x1 and the x_i err: they know nothing of y alone
        X = np.column_stack([x1, x2, x3, *[x_i] * 27])
        for importance in ("genie3", "symbolic"):
            params = {"importance": importance, "supervision": 1.0, "n_estimators": 300}
            bagged = small(ensemble="bagging", **params).fit(X, y)
            assert set(np.argsort(-bagged.feature_importances_)[:2]) == {0, 1}
            assert (bagged.feature_importances_[2:] == 0).all()
            drawn = small(ensemble="random_forest", max_features=1, **params).fit(X, y)
            assert drawn.ranking_[2] == 1
            assert drawn.feature_importances_[2] > 1.1 * drawn.feature_importances_[0]


# ---------------------------------------------------------------- supervised counterpart


def test_candidates_as_a_count_or_a_share():
    X, y, _ = mixed("regression")
    assert X.shape[1] == 5
    for share, count in ((0.5, 3), (0.4, 2), (0.01, 1), (1.0, 5), ("sqrt", 3), (100, 5)):
        one, other = (small(max_features=given).fit(X, y) for given in (share, count))
        same_importances(one, other)


class TestSupervised:
    @pytest.mark.parametrize("task", TASKS)
    def test_is_the_labelled_rows_alone(self, task):
        X, y, tree = mixed(task)
        numbers = numeric(X)
        labeled = encode_target(y, hierarchy=tree).labeled
        params = {"importance": IMPORTANCES, "hierarchy": tree}
        ranker = small(use_unlabeled=False, **params).fit(numbers, y)
        alone = small(supervision=1.0, **params).fit(numbers[labeled], y[labeled])
        same_importances(ranker, alone)
        assert (ranker.supervision_, ranker.n_labeled_) == (1.0, labeled.sum())

    def test_rule_is_not_needed(self):
        X, y, _ = mixed("regression")
        ranker = ForestRanker(use_unlabeled=False, n_estimators=3, random_state=0).fit(X, y)
        assert (ranker.supervision_, ranker.supervision_path_) == (1.0, [])

    def test_full_supervision_on_all_rows_is_another_method(self):
        X, y, _ = mixed("regression")
        all_rows = small(supervision=1.0).fit(X, y)
        labelled_rows = small(use_unlabeled=False).fit(X, y)
        assert not np.allclose(all_rows.feature_importances_, labelled_rows.feature_importances_)

    def test_same_for_complete_targets(self):
        X, _, _ = mixed("regression")
        y = np.nan_to_num(np.asarray(numeric(X))[:, 1]) + 0.5
        same_importances(small(supervision=1.0).fit(X, y), small(use_unlabeled=False).fit(X, y))


# ---------------------------------------------------------------- randomness


class TestRandomness:
    @pytest.mark.parametrize("ensemble", ENSEMBLES)
    def test_same_for_any_number_of_jobs(self, ensemble):
        X, y, _ = mixed("multi_label", m=200)
        params = {"ensemble": ensemble, "importance": IMPORTANCES, "n_estimators": 13}
        one = small(n_jobs=1, **params).fit(X, y)
        same_importances(one, small(n_jobs=2, **params).fit(X, y))
        same_importances(one, small(n_jobs=-1, **params).fit(X, y))

    def test_same_in_other_processes(self):
        X, y, _ = mixed("regression", m=200)
        params = {"importance": IMPORTANCES, "n_estimators": 4}
        one = small(n_jobs=1, **params).fit(X, y)
        with joblib.parallel_config("loky"):
            other = small(n_jobs=2, **params).fit(X, y)
        same_importances(one, other)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))

    def test_judge_does_not_depend_on_jobs(self):
        X, y, _ = mixed("classification", m=120)
        paths = [
            ForestRanker(n_estimators=5, random_state=0, n_jobs=jobs).fit(X, y).supervision_path_
            for jobs in (1, 2)
        ]
        assert paths[0] == paths[1]

    @pytest.mark.parametrize("ensemble", ENSEMBLES)
    def test_seeds(self, ensemble):
        X, y, _ = mixed("regression")
        params = {"ensemble": ensemble, "importance": IMPORTANCES}
        one, again, other = (small(random_state=seed, **params).fit(X, y) for seed in (7, 7, 8))
        same_importances(one, again)
        for name in IMPORTANCES:
            assert not np.array_equal(one.importances_[name], other.importances_[name])

    def test_generator_moves_on(self):
        X, y, _ = mixed("regression")
        state = np.random.RandomState(0)
        one, other = (small(random_state=state).fit(X, y).feature_importances_ for _ in range(2))
        assert not np.array_equal(one, other)

    def test_more_trees_keep_the_first_ones(self):
        X, y, _ = mixed("regression")
        few, many = small(n_estimators=3).fit(X, y), small(n_estimators=6).fit(X, y)
        for one, other in zip(few._forest.members, many._forest.members):
            np.testing.assert_array_equal(one.scores["genie3"], other.scores["genie3"])

    def test_bootstrap_draws_labelled_and_unlabelled_rows_apart(self):
        labeled = np.arange(500) < 40
        weight = bootstrap_weights(labeled, np.random.default_rng(0))
        assert weight[labeled].sum() == 40
        assert weight[~labeled].sum() == 460
        assert (weight[labeled] == 0).sum() == pytest.approx(40 / np.e, abs=8)

    def test_rows_out_of_bag_are_the_labelled_ones_not_drawn(self):
        X, y, _ = mixed("regression")
        ranker = small().fit(X, y)
        labeled = ~np.isnan(y)
        for number, member in enumerate(ranker._forest.members):
            weight = bootstrap_weights(labeled, np.random.default_rng([ranker.seed_, number]))
            np.testing.assert_array_equal(member.out_of_bag, np.flatnonzero(labeled & (weight == 0)))
        unbagged = small(bootstrap=False).fit(X, y)
        assert all(len(member.out_of_bag) == 0 for member in unbagged._forest.members)


# ---------------------------------------------------------------- what must not matter


def grid_data(m: int = 150, d: int = 5, seed: int = 0):
    """Numbers on a grid so fine that adding 1e9 loses nothing, and a target with holes."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, d)) * 2**20) / 2**20
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=m)
    y[rng.random(m) < 0.5] = np.nan
    return X, y


class TestInvariance:
    @pytest.mark.parametrize("ensemble", ENSEMBLES)
    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x * 3.7,
            lambda x: x + 1e9,
            lambda x: x * 1e300,
            lambda x: x * 1e-300,
            lambda x: x / np.abs(x).max() * 8e307,
        ],
        ids=["scaled", "offset", "huge", "tiny", "largest"],
    )
    def test_units_of_a_feature(self, ensemble, change):
        X, y = grid_data()
        changed = X.copy()
        changed[:, 1] = change(X[:, 1])
        params = {"ensemble": ensemble, "importance": IMPORTANCES}
        one, other = small(**params).fit(X, y), small(**params).fit(changed, y)
        for name in IMPORTANCES:
            np.testing.assert_allclose(one.importances_[name], other.importances_[name], rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e9, 1e300])
    def test_units_of_the_target(self, factor):
        X, y = grid_data()
        one, other = (small(importance=IMPORTANCES).fit(X, target) for target in (y, factor * y))
        for name in IMPORTANCES:
            np.testing.assert_allclose(one.importances_[name], other.importances_[name], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(factor * one.predict(X), other.predict(X), rtol=1e-9)
        assert other.score(X, factor * y) == pytest.approx(one.score(X, y))

    def test_order_of_columns(self):
        X, y = grid_data()
        order = np.array([3, 0, 4, 2, 1])
        one, other = (full_tree(min_samples_leaf=5).fit(Z, y) for Z in (X, X[:, order]))
        np.testing.assert_allclose(one.feature_importances_[order], other.feature_importances_, rtol=1e-9)
        np.testing.assert_allclose(one.predict(X), other.predict(X[:, order]))

    def test_order_of_rows(self):
        X, y = grid_data()
        order = np.random.default_rng(1).permutation(len(X))
        one, other = (full_tree(min_samples_leaf=5).fit(*data) for data in ((X, y), (X[order], y[order])))
        np.testing.assert_allclose(one.feature_importances_, other.feature_importances_, rtol=1e-9)
        np.testing.assert_allclose(one.predict(X), other.predict(X))

    def test_every_row_twice(self):
        X, y = grid_data()
        one = full_tree(min_samples_leaf=5).fit(X, y)
        twice = full_tree(min_samples_leaf=10).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
        for name in ("genie3", "symbolic"):
            np.testing.assert_allclose(one.importances_[name], twice.importances_[name], rtol=1e-9)

    def test_unknown_features_and_constant_ones_change_nothing(self):
        """They are no variables of the impurity (Def. 1.2), and no test can ask for them."""
        X, y = grid_data()
        wider = np.column_stack([X, np.full(len(X), 4.0), np.full(len(X), np.nan)])
        one, other = full_tree(min_samples_leaf=5).fit(X, y), full_tree(min_samples_leaf=5).fit(wider, y)
        np.testing.assert_allclose(other.feature_importances_, [*one.feature_importances_, 0, 0], rtol=1e-9)
        assert other.ranking_[-2:].tolist() == [6, 6]
        assert any("constant" in note and "x5" in note for note in other.notes_)
        assert any("always missing" in note and "x6" in note for note in other.notes_)


# ---------------------------------------------------------------- nominal features


class TestNominal:
    def columns(self, noise, letter, more):
        if pd:
            return pd.DataFrame({"noise": noise, "letter": letter, "more": more})
        return np.array([noise, letter, more], dtype=object).T

    def spelled(self, X, names: list):
        """Other names for the letters a to f."""
        new = dict(zip("abcdef", names))
        if pd:
            return X.assign(letter=X["letter"].map(new))
        return self.columns(X[:, 0], [new[letter] for letter in X[:, 1]], X[:, 2])

    def data(self, m: int = 300):
        rng = np.random.default_rng(5)
        letters = np.array(list("abcdef"))
        letter = rng.integers(6, size=m)
        X = self.columns(rng.normal(size=m), letters[letter], rng.normal(size=m))
        y = np.array([0.0, 3.0, 1.0, 4.0, 0.5, 3.5])[letter] + 0.1 * rng.normal(size=m)
        y[100:] = np.nan
        return X, y

    @pytest.mark.parametrize("ensemble", ENSEMBLES)
    def test_order_of_codes_does_not_hide_it(self, ensemble):
        X, y = self.data()
        ranker = small(ensemble=ensemble, importance=IMPORTANCES, supervision=1.0, n_estimators=20).fit(X, y)
        assert all(scores.argmax() == 1 for scores in ranker.importances_.values())

    def test_is_not_a_number(self):
        """One test tells the even letters from the odd ones, which no threshold can."""
        X, y = self.data()
        codes = self.spelled(X, list(range(6)))
        params = {"supervision": 1.0, "max_depth": 1}
        nominal = full_tree(**params).fit(X, y)
        declared = full_tree(categorical_features=["letter"] if pd else [1], **params).fit(codes, y)
        numeric = full_tree(**params).fit(codes, y)
        assert nominal.feature_importances_[1] > 0.9
        same_importances(nominal, declared)
        assert numeric.feature_importances_[1] < 0.6
        groups = nominal.predict(self.columns([0.0] * 6, list("abcdef"), [0.0] * 6))
        assert groups[0] == groups[2] == groups[4] < groups[1] == groups[3] == groups[5]

    def test_names_of_values_do_not_matter(self):
        X, y = self.data()
        renamed = self.spelled(X, ["q", "z", "c", "k", "x", "a"])
        for w in (0.5, 1.0):
            one, other = (
                full_tree(supervision=w, min_samples_leaf=20, bootstrap=True, n_estimators=5).fit(Z, y)
                for Z in (X, renamed)
            )
            np.testing.assert_allclose(one.feature_importances_, other.feature_importances_, rtol=1e-9)

    @pytest.mark.parametrize("place", [0, 3, 6])
    def test_extra_trees_take_the_best_candidate_not_the_last(self, place):
        rng = np.random.default_rng(0)
        X = rng.choice(["yes", "no"], size=(200, 7)).astype(object)
        y = np.where(X[:, place] == "yes", "A", "B").astype(object)
        y[60:] = None
        ranker = small(ensemble="extra_trees", supervision=1.0, max_depth=1, n_estimators=20).fit(X, y)
        assert np.flatnonzero(ranker.feature_importances_).tolist() == [place]
        assert ranker.importances_["symbolic"][place] == 1.0

    def test_new_values_follow_the_missing_branch(self):
        X, y = self.data()
        ranker = full_tree(supervision=1.0).fit(X, y)
        unseen, missing = self.spelled(X, ["new"] * 6), self.spelled(X, [None] * 6)
        np.testing.assert_array_equal(ranker.predict(unseen), ranker.predict(missing))


# ---------------------------------------------------------------- rforest


def damage_by_hand(ranker: ForestRanker, table: Table, target: Target, number: int) -> np.ndarray:
    """rforest of one tree from predictions on a copy of the table with one column permuted (Def. 1.4)."""
    member = ranker._forest.members[number]
    rng = np.random.default_rng([ranker.seed_, number])
    bootstrap_weights(target.labeled, rng)
    seed = int(rng.integers(0, 2**64, size=2, dtype=np.uint64)[1])
    tree = ranker._forest._replace(members=[member])
    rows = member.out_of_bag

    def quality(values: np.ndarray) -> float:
        return naive.quality_of(target, target.values[rows], predict_forest(tree, values))

    before = quality(table.values[rows])
    damage = np.zeros(table.shape[1])
    for j in range(table.shape[1]):
        values = table.values[rows]
        order = naive.shuffled(naive.feature_seed(seed, j), len(rows))
        values[:, j] = values[order, j]
        after = quality(values)
        gain = TASKS[target.task].greater_is_better
        damage[j] = (before - after) / max(before, 0.01) if gain else (after - before) / max(before, 1e-3)
    return damage


class TestRforest:
    @pytest.mark.parametrize("task", TASKS)
    def test_equals_predictions_on_permuted_columns(self, task):
        X, y, tree = mixed(task, m=120)
        ranker = small(importance="rforest", hierarchy=tree, min_samples_leaf=3).fit(X, y)
        table, target = encode_features(X), encode_target(y, hierarchy=tree)
        by_hand = [damage_by_hand(ranker, table, target, number) for number in range(8)]
        for member, damage in zip(ranker._forest.members, by_hand):
            np.testing.assert_allclose(member.scores["rforest"], damage, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(
            ranker.feature_importances_, np.mean(by_hand, axis=0), rtol=1e-7, atol=1e-9
        )

    def test_is_zero_for_unused_features(self):
        X, y, _, _ = planted("regression", m=200)
        ranker = small(importance="rforest", supervision=1.0, max_depth=1, n_estimators=3).fit(X, y)
        used = ranker.importances_["symbolic"] > 0
        assert (~used).any()
        assert (ranker.feature_importances_[~used] == 0).all()
        assert ranker.importances_std_error_["rforest"][~used].tolist() == [0] * (~used).sum()

    def test_negative_scores_are_kept_but_not_selected(self):
        rng = np.random.default_rng(0)  # nothing to find: half of the features help by chance, half harm
        ranker = small(importance="rforest", n_estimators=10).fit(
            rng.normal(size=(60, 10)), rng.normal(size=60)
        )
        assert (ranker.feature_importances_ < 0).any()
        assert (ranker.feature_importances_ > 0).any()
        np.testing.assert_array_equal(ranker.get_support(), ranker.feature_importances_ > 0)

    def test_needs_rows_out_of_bag(self):
        X, y, _ = mixed("regression")
        with pytest.raises(ValueError, match="needs out-of-bag rows, which bootstrap=False does not leave"):
            small(importance=("genie3", "rforest"), bootstrap=False).fit(X, y)
        y[:] = np.nan
        y[:2] = 0.0, 1.5
        seed = next(
            s
            for s in range(20)
            if all(
                len(m.out_of_bag) == 0
                for m in small(n_estimators=2, random_state=s).fit(X, y)._forest.members
            )
        )
        with pytest.raises(ValueError, match="No tree has labelled rows out of bag"):
            small(importance="rforest", n_estimators=2, random_state=seed).fit(X, y)

    def test_trees_without_such_rows_are_left_out(self):
        X, y, _ = mixed("regression")
        y[:] = np.nan
        y[:3] = 0.0, 1.5, 3.0
        ranker = small(importance="rforest", n_estimators=30, min_labeled=0).fit(X, y)
        counted = [member.scores["rforest"] for member in ranker._forest.members if len(member.out_of_bag)]
        assert 0 < len(counted) < 30
        np.testing.assert_allclose(ranker.feature_importances_, np.mean(counted, axis=0))


# ---------------------------------------------------------------- scores per target


@pytest.mark.parametrize("missing_weight", ["all", "known"])
@pytest.mark.parametrize("task", TASKS)
def test_genie3_is_the_weighted_mean_over_targets(task, missing_weight):
    """At w = 1 the value of a split is the alpha-weighted mean of what it does for each target."""
    X, y, tree = mixed(task)
    if task in ("multi_target", "multi_label"):
        y[:, 1] = np.where(np.isnan(y[:, 1]), np.nan, 1.0)  # constant: it plays no part
    ranker = small(supervision=1.0, hierarchy=tree, missing_weight=missing_weight).fit(X, y)
    target = encode_target(y, hierarchy=tree)
    alpha = np.where(naive.training_variance(target) > 0, target.weights, 0.0)
    per_target = ranker.importances_per_target_
    np.testing.assert_allclose(per_target @ alpha / alpha.sum(), ranker.feature_importances_, rtol=1e-7)
    assert (per_target[:, alpha == 0] == 0).all()


class TestWeights:
    """The paper's alpha and beta."""

    def test_given_weights_equal_those_of_the_hierarchy(self):
        X, y, tree = mixed("hierarchical")
        options = {"hierarchy": tree, "supervision": 0.5}
        usual = small(**options).fit(X, y)
        alpha = Hierarchy.from_paths(TREE).weights(0.75)
        given = small(**options, target_weights=alpha, feature_weights=np.full(X.shape[1], 2.0)).fit(X, y)
        for name, scores in usual.importances_.items():
            np.testing.assert_allclose(given.importances_[name], scores, rtol=1e-9)

    @pytest.mark.parametrize("task", ["classification", "multi_target", "multi_label"])
    def test_without_weights_the_printed_form_is_ours(self, task):
        """Bit by bit, since finished jobs of the study rely on it."""
        X, y, _ = mixed(task)
        one, other = (small(supervision=0.5, normalize_weights=form).fit(X, y) for form in (True, False))
        for name, scores in one.importances_.items():
            np.testing.assert_array_equal(other.importances_[name], scores)

    def test_the_printed_form_turns_w_down_in_hierarchies(self):
        """Divided by their number instead of their sum, the targets count mean(alpha) times as much."""
        X, y, tree = mixed("hierarchical")
        varies = np.array([len(set(column[~np.isnan(column)])) > 1 for column in y.T])
        mean = Hierarchy.from_paths(TREE).weights(0.75)[varies].mean()
        printed = small(hierarchy=tree, supervision=0.5, normalize_weights=False).fit(X, y)
        level = mean / (mean + 1)
        ours = small(hierarchy=tree, supervision=level).fit(X, y)
        np.testing.assert_allclose(
            printed.importances_["genie3"], ours.importances_["genie3"] * (mean + 1) / 2, rtol=1e-9
        )

    def test_only_weighted_targets_are_ranked_for(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 6))
        y = X[:, [1, 4]]
        for weights, best in (([1, 0], 1), ([0, 1], 4)):
            ranker = small(supervision=1.0, target_weights=weights).fit(X, y)
            assert ranker.feature_importances_.argmax() == best

    @pytest.mark.parametrize(
        ("weights", "words"),
        [
            ([1.0], "has 1 number, not 2: give one weight for each target variable"),
            ([[1.0, 2.0]], r"has the shape \(1, 2\), not 2"),
            (1.0, r"is a single number; give an array of 2, one for each"),
            ([1.0, -1.0], "from 0 to 1e[+]09, not all 0; position 1 [(]from 0[)] is -1.0"),
            ([np.nan, 1.0], "position 0 [(]from 0[)] is nan"),
            ([np.inf, 1.0], "position 0 [(]from 0[)] is inf"),
            ([0.0, 0.0], "all are 0"),
            ("heavy", "must be an array of 2 numbers, one for each target variable"),
        ],
    )
    def test_bad_weights(self, weights, words):
        X, y, _ = mixed("multi_target")
        with pytest.raises(ValueError, match=f"^target_weights .*{words}"):
            small(target_weights=weights).fit(X, y[:, :2])
        with pytest.raises(ValueError, match=r"^feature_weights has 1 number,"):
            small(feature_weights=[1.0]).fit(X, y)


def test_per_target_scores_tell_targets_apart():
    X, y, _, _ = planted("multi_target")
    ranker = small(supervision=1.0, ensemble="bagging").fit(X, y)
    best = [PLANTED[j] for j in ranker.importances_per_target_.argmax(axis=0)]
    assert (best[0], best[2]) == ("n2", "colour")


# ---------------------------------------------------------------- predictions


class TestPredict:
    def test_classes(self):
        X, y, _ = mixed("classification")
        ranker = small(supervision=1.0, n_estimators=20).fit(X, y)
        shares = ranker.predict_proba(X)
        assert ranker.classes_.tolist() == ["low", "mid", "top"]
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        predicted = ranker.predict(X)
        np.testing.assert_array_equal(predicted, ranker.classes_[shares.argmax(axis=1)])
        known = np.array([v is not None for v in y])
        expected = f1_score(y[known].astype(str), predicted[known].astype(str), average="macro")
        assert ranker.score(X, y) == pytest.approx(expected)
        assert expected > 0.8

    def test_a_class_that_fit_did_not_see(self):
        X, y, _ = mixed("classification")
        ranker = small(supervision=1.0).fit(X, y)
        other = np.array(["other"] * len(X), dtype=object)
        assert ranker.score(X, other) == 0.0

    @pytest.mark.parametrize("task", ["regression", "multi_target"])
    def test_numbers(self, task):
        X, y, _ = mixed(task)
        ranker = small(supervision=1.0, n_estimators=20).fit(X, y)
        assert not hasattr(ranker, "predict_proba")
        predicted = ranker.predict(X)
        assert predicted.shape == y.shape
        columns = zip(y.reshape(len(y), -1).T, predicted.reshape(len(y), -1).T)
        each = [np.sqrt(np.nanmean((t - p) ** 2) / np.nanvar(t)) for t, p in columns]
        assert ranker.score(X, y) == pytest.approx(-np.mean(each))
        assert ranker.score(X, y) > -1

    @pytest.mark.parametrize("task", ["multi_label", "hierarchical"])
    def test_label_sets(self, task):
        X, y, tree = mixed(task)
        ranker = small(supervision=1.0, n_estimators=20, hierarchy=tree).fit(X, y)
        shares = ranker.predict_proba(X)
        assert shares.shape == y.shape
        assert ((shares >= 0) & (shares <= 1)).all()
        known = ~np.isnan(y)
        assert ranker.score(X, y) == pytest.approx(average_precision_score(y[known], shares[known]))
        np.testing.assert_array_equal(ranker.predict(X), shares >= 0.5)

    @pytest.mark.parametrize("task", ["multi_label", "hierarchical"])
    def test_threshold_of_label_sets(self, task):
        X, y, tree = mixed(task)
        ranker = small(supervision=1.0, n_estimators=20, hierarchy=tree).fit(X, y)
        shares = ranker.predict_proba(X)
        for threshold in (0, 0.2, 0.8, 1.0):
            np.testing.assert_array_equal(ranker.predict(X, threshold=threshold), shares >= threshold)
        with pytest.raises(ValueError, match=r"threshold=1.5 must be a number in \[0, 1\]"):
            ranker.predict(X, threshold=1.5)
        X, y, _ = mixed("regression")
        with pytest.raises(ValueError, match=r"threshold=0.3 is for label sets, not for task='regression'"):
            small(supervision=1.0).fit(X, y).predict(X, threshold=0.3)

    def test_a_label_brings_its_ancestors(self):
        tree = Hierarchy.from_paths(TREE)
        schema = Target("hierarchical", np.zeros((0, 5)), tree.labels, tree.weights(0.75), None, tree)
        shares = np.array([[0.2, 0.7, 0.1, 0.4, 0.5], [0.6, 0.4, 0.4, 0.1, 0.0]])
        assert decode(schema, shares).tolist() == [[1, 1, 0, 1, 1], [1, 0, 0, 0, 0]]
        X, y, tree = mixed("hierarchical")
        predicted = small(hierarchy=tree).fit(X, y).predict(X)
        for label, above in ((1, 0), (2, 0), (4, 3)):
            assert (predicted[:, label] <= predicted[:, above]).all()

    def test_the_ensemble_is_the_mean_of_its_trees(self):
        X, y, _ = mixed("multi_target")
        ranker = small().fit(X, y)
        forest, values = ranker._forest, encode_features(X).values
        each = [predict_forest(forest._replace(members=[member]), values) for member in forest.members]
        np.testing.assert_allclose(ranker.predict(X), np.mean(each, axis=0), rtol=1e-9)

    def test_leaf_without_labelled_rows_answers_with_its_ancestor(self):
        """Two clusters, labels in one: the other can only say the mean of all."""
        X = np.r_[np.linspace(0, 1, 20), np.linspace(10, 11, 20)][:, None]
        y = np.full(40, np.nan)
        y[[2, 4, 15, 17]] = 1.0, 3.0, 7.5, 9.5
        ranker = full_tree(supervision=0.0, max_depth=2).fit(X, y)
        np.testing.assert_allclose(ranker.predict([[0.1], [0.9], [10.1], [10.9]]), [2.0, 8.5, 5.25, 5.25])

    def test_missing_features(self):
        X, y, _ = mixed("regression")
        ranker = small().fit(X, y)
        holes = np.full((2, 5), np.nan)
        predicted = ranker.predict(pd.DataFrame(holes, columns=X.columns) if pd else holes)
        assert np.isfinite(predicted).all()
        assert predicted[0] == predicted[1]

    def test_unlabelled_rows_do_not_count_in_the_score(self):
        X, y, _ = mixed("regression")
        ranker = small().fit(X, y)
        known = ~np.isnan(y)
        assert ranker.score(X, y) == ranker.score(X[known], y[known])
        with pytest.raises(ValueError, match="No row of y is labelled"):
            ranker.score(X, np.full(len(X), np.nan))


def test_value_that_means_unlabelled():
    X, y, _ = mixed("classification")
    numbers = np.array([-1 if v is None else ["low", "mid", "top"].index(v) for v in y])
    ranker = small(unlabeled=-1).fit(X, numbers)
    same_importances(ranker, small().fit(X, y))
    assert ranker.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(ranker.score(X, numbers))
    taken = small().fit(X, numbers)
    assert taken.n_labeled_ == len(X)
    assert any("-1 was taken as a class" in note for note in taken.notes_)


# ---------------------------------------------------------------- ranks, selection, result


class TestResult:
    def test_equal_scores_share_a_rank(self):
        assert ranks(np.array([0.5, 0.0, 0.7, 0.5, 0.0])).tolist() == [2, 4, 1, 2, 4]
        X, y = grid_data()
        X[:, [1, 3]] = 5.0
        ranker = small().fit(X, y)
        assert ranker.ranking_[1] == ranker.ranking_[3] == 4
        assert sorted(ranker.ranking_) == [1, 2, 3, 4, 4]

    @pytest.mark.parametrize(("wanted", "count"), [(1, 1), (3, 3), (99, 5), (0.4, 2), (0.01, 1), (1.0, 5)])
    def test_how_many_are_selected(self, wanted, count):
        X, y = grid_data()
        ranker = small(n_features_to_select=wanted).fit(X, y)
        assert ranker.get_support().sum() == count
        kept = ranker.get_support(indices=True)
        assert set(ranker.ranking_[kept]) == set(range(1, count + 1))
        np.testing.assert_array_equal(ranker.transform(X), X[:, kept])
        back = ranker.inverse_transform(ranker.transform(X))
        np.testing.assert_array_equal(back[:, kept], X[:, kept])

    def test_all_positive_ones_by_default(self):
        X, y = grid_data()
        X[:, 2] = 1.0
        assert small().fit(X, y).get_support(indices=True).tolist() == [0, 1, 3, 4]

    @pytest.mark.parametrize("task", TASKS)
    def test_ranking_round_trip(self, task, tmp_path):
        X, y, tree = mixed(task)
        ranker = small(importance=("symbolic", "rforest"), hierarchy=tree).fit(X, y)
        ranking = ranker.to_ranking()
        assert ranking.names == tuple(names_of(X, COLUMNS))
        assert (ranking.method, ranking.importance, ranking.task) == ("forest", "symbolic", task)
        assert set(ranking.all_scores) == set(IMPORTANCES)
        assert ranking.n_labeled == ranker.n_labeled_
        assert ranking.notes == ranker.notes_
        np.testing.assert_array_equal(ranking.ranks, ranker.ranking_)
        holes = [[v is None or v != v for v in row] for row in np.asarray(X, dtype=object)]
        np.testing.assert_allclose(ranking.missing_share, np.mean(holes, axis=0))
        ranking.save(tmp_path / "ranking.json")
        again = Ranking.load(tmp_path / "ranking.json")
        np.testing.assert_array_equal(again.scores, ranker.feature_importances_)
        np.testing.assert_array_equal(again.standard_errors, ranker.importances_std_error_["symbolic"])
        np.testing.assert_array_equal(again.per_target, ranker.importances_per_target_)
        for name in IMPORTANCES:
            np.testing.assert_array_equal(again.all_scores[name], ranker.importances_[name])
        assert again.settings["n_estimators"] == 8
        assert again.choice == {"supervision": 0.5}
        assert again.seed == ranker.seed_
        assert again.target_names == ranking.target_names
        assert len(again.target_names) == ranker.importances_per_target_.shape[1]

    def test_what_was_understood_is_said(self):
        X, y, _ = mixed("multi_target")
        ranker = small().fit(X, y)
        labelled = (~np.isnan(y).all(axis=1)).sum()
        assert f"multi-target regression, 3 targets, {labelled} of 80 rows labelled" in ranker.notes_
        explicit = small(task="classification").fit(X, np.arange(80) % 30)
        assert explicit.task_ == "classification"
        assert small().fit(X, np.arange(80) % 30).task_ == "regression"

    def test_progress(self):
        X, y, _ = mixed("regression")
        said = []
        small().fit(X, y, progress=lambda *call: said.append(call))
        assert said[-1] == (8, 8, "trees")
        assert [done for done, _, _ in said] == sorted(done for done, _, _ in said)

    def test_trees_that_cannot_be_split_say_why(self):
        X, y, _ = mixed("regression")
        y[:] = np.nan
        y[:3] = 0.5, 1.0, 2.0
        ranker = small().fit(X, y)
        assert (ranker.feature_importances_ == 0).all()
        assert "fewer labelled rows (3) than min_labeled=4" in ranker.notes_[-1]
        constant = small().fit(np.ones((20, 2)), np.arange(20) % 2)
        assert "no test makes the rows purer" in constant.notes_[-1]
        assert constant.ranking_.tolist() == [1, 1]
