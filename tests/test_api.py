"""`semirank.rank`: one call that equals the ranker it stands for."""

from __future__ import annotations

import numpy as np
import pytest

import semirank
from semirank import ConsensusRanker, ForestRanker, LaplaceRanker, Ranking, ReliefRanker, Teacher, rank
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.tasks import TASKS

from .optional import needs_pandas, pd
from .rankers.test_forest import COLUMNS, IMPORTANCES, mixed, names_of

TREES = {"n_estimators": 5, "supervision": 0.5}
QUICK = {"method": "forest", **TREES}


def assert_same(one: Ranking, other: Ranking) -> None:
    assert one.names == other.names
    assert (one.method, one.importance, one.task) == (other.method, other.importance, other.task)
    assert one.all_scores.keys() == other.all_scores.keys()
    for name in one.all_scores:
        np.testing.assert_array_equal(one.all_scores[name], other.all_scores[name])
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.per_target, other.per_target)
    assert one.notes == other.notes
    assert one.choice == other.choice


class TestDefault:
    @pytest.mark.parametrize("task", TASKS)
    def test_auto_is_the_consensus(self, task):
        X, y, tree = mixed(task)
        expected = ConsensusRanker(hierarchy=tree, random_state=3).fit(X, y).to_ranking()
        assert_same(rank(X, y, hierarchy=tree, random_state=3), expected)
        assert_same(rank(X, y, method="consensus", hierarchy=tree, random_state=3), expected)
        assert (expected.method, expected.importance) == ("consensus", "consensus")
        assert expected.scores.sum() == pytest.approx(1.0)

    def test_parameters_reach_the_ranker(self):
        X, y, _ = mixed("regression")
        params = {"rankers": ("relief",), "teacher": Teacher(members=("linear",))}
        ranking = rank(X, y, random_state=1, **params)
        assert_same(ranking, ConsensusRanker(random_state=1, **params).fit(X, y).to_ranking())
        assert ranking.teacher["members"] == ["linear"]

    @pytest.mark.parametrize(
        ("name", "value", "method"),
        [
            ("supervision", 0.5, "forest"),
            ("ensemble", "bagging", "forest"),
            ("n_estimators", 10, "forest"),
            ("n_neighbors", 5, "relief"),
        ],
    )
    def test_parameters_of_other_methods_name_the_method(self, name, value, method):
        X, y, _ = mixed("regression")
        said = f"{name}= is a parameter of method='{method}', and method='auto'"
        with pytest.raises(TypeError, match=said):
            rank(X, y, **{name: value})
        with pytest.raises(ValueError, match="importance='genie3' is for method='forest'"):
            rank(X, y, importance="genie3")


class TestForest:
    @pytest.mark.parametrize("task", TASKS)
    def test_equals_the_ranker(self, task):
        X, y, tree = mixed(task)
        ranking = rank(X, y, hierarchy=tree, random_state=3, **QUICK)
        ranker = ForestRanker(importance=IMPORTANCES, hierarchy=tree, random_state=3, **TREES).fit(X, y)
        assert_same(ranking, ranker.to_ranking())
        assert ranking.task == task
        assert ranking.importance == "genie3"
        assert set(ranking.all_scores) == set(IMPORTANCES)

    def test_importance(self):
        X, y, _ = mixed("regression")
        ranking = rank(X, y, importance="symbolic", random_state=0, **QUICK)
        assert ranking.importance == "symbolic"
        assert set(ranking.all_scores) == set(IMPORTANCES)
        ranking = rank(X, y, importance=["rforest", "symbolic"], random_state=0, **QUICK)
        assert ranking.importance == "rforest"
        assert set(ranking.all_scores) == set(IMPORTANCES)

    def test_without_bootstrap_there_are_no_out_of_bag_scores(self):
        X, y, _ = mixed("regression")
        ranking = rank(X, y, bootstrap=False, random_state=0, **QUICK)
        assert set(ranking.all_scores) == {"genie3", "symbolic"}
        with pytest.raises(ValueError, match="needs out-of-bag rows"):
            rank(X, y, bootstrap=False, importance="rforest", **QUICK)

    def test_default_picks_the_level(self):
        X, y, _ = mixed("classification")
        ranking = rank(X, y, method="forest", n_estimators=3, random_state=0)
        assert [row["supervision"] for row in ranking.choice_path] == [0.25, 0.5, 0.75, 1.0]
        assert ranking.choice["supervision"] in (0.25, 0.5, 0.75, 1.0)

    def test_parameters_reach_the_ranker(self):
        X, y, _ = mixed("regression")
        params = {"ensemble": "extra_trees", "max_depth": 2, "missing_weight": "known", "n_jobs": 2}
        ranking = rank(X, y, random_state=1, **QUICK, **params)
        for name, value in params.items():
            assert ranking.settings[name] == value
        ranker = ForestRanker(importance=IMPORTANCES, random_state=1, **TREES, **params)
        assert_same(ranking, ranker.fit(X, y).to_ranking())

    def test_progress(self):
        X, y, _ = mixed("regression")
        said = []
        rank(X, y, progress=lambda *call: said.append(call), **QUICK)
        assert said[-1] == (5, 5, "trees")

    def test_encoded_data(self):
        X, y, _ = mixed("multi_target")
        encoded = rank(encode_features(X), encode_target(y), random_state=0, **QUICK)
        np.testing.assert_array_equal(encoded.scores, rank(X, y, random_state=0, **QUICK).scores)
        assert encoded.names == tuple(names_of(X, COLUMNS))

    @needs_pandas
    def test_readme_shape(self):
        """The five lines of the first example."""
        X, y, _ = mixed("classification", m=120)
        ranking = rank(X, y, random_state=0)
        assert len(ranking.top(3)) == 3
        frame = ranking.to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == X.shape[1]
        assert ranking.select(2) == [name for name, _ in ranking.top(2)]


class TestOtherMethods:
    @pytest.mark.parametrize(("method", "ranker"), [("relief", ReliefRanker), ("laplace", LaplaceRanker)])
    def test_equals_the_ranker(self, method, ranker):
        X, y, _ = mixed("regression")
        ranking = rank(X, y, method=method, random_state=0, n_neighbors=7)
        assert ranking.method == method
        expected = ranker(random_state=0, n_neighbors=7).fit(X, y).to_ranking()
        np.testing.assert_array_equal(ranking.scores, expected.scores)
        assert rank(X, y, method=method, importance=method, random_state=0).method == method

    @pytest.mark.parametrize("method", ["consensus", "relief", "laplace"])
    def test_importances_are_for_forests(self, method):
        X, y, _ = mixed("regression")
        with pytest.raises(
            ValueError, match=f"importance='genie3' is for method='forest'; the {method} method has one"
        ):
            rank(X, y, method=method, importance="genie3")


class TestPreset:
    def test_paper_alone_means_the_forest(self):
        X, y, _ = mixed("classification")
        found = rank(X, y, preset="paper", random_state=0, n_estimators=3)
        settings = found.settings
        assert (found.method, settings["supervision"], settings["min_labeled"]) == ("forest", "cv", 0)
        ranker = ForestRanker.from_preset("paper", random_state=0, n_estimators=3, importance=IMPORTANCES)
        np.testing.assert_array_equal(found.scores, ranker.fit(X, y).feature_importances_)

    def test_relief(self):
        X, y, _ = mixed("regression")
        found = rank(X, y, preset="paper", method="relief", random_state=0)
        tuned = rank(X, y, method="relief", n_neighbors="auto", influence="auto", random_state=0)
        np.testing.assert_array_equal(found.scores, tuned.scores)

    def test_named_parameters_win(self):
        X, y, _ = mixed("regression")
        found = rank(X, y, preset="paper", supervision=0.3, n_estimators=3)
        assert (found.settings["supervision"], found.choice) == (0.3, {"supervision": 0.3})
        assert found.settings["normalize_weights"] is False

    def test_refused(self):
        X, y, _ = mixed("regression")
        with pytest.raises(ValueError, match=r"no preset 'papr' \(did you mean 'paper'\?\); there is paper"):
            rank(X, y, preset="papr")


class TestRefused:
    def test_unknown_method(self):
        with pytest.raises(
            ValueError, match="method='tree' is not one of auto, consensus, forest, relief, laplace"
        ):
            rank(np.eye(4), [0, 1, 0, 1], method="tree")

    def test_unknown_parameter(self):
        X, y, _ = mixed("regression")
        with pytest.raises(
            TypeError, match=r"ForestRanker has no parameter 'estimators'.*'n_estimators'.*; it has"
        ):
            rank(X, y, method="forest", estimators=3)
        with pytest.raises(TypeError, match=r"ConsensusRanker has no parameter 'teachers'.*'teacher'"):
            rank(X, y, teachers=3)
        with pytest.raises(
            TypeError, match=r"ReliefRanker has no parameter 'ensemble'; it has .*n_neighbors"
        ):
            rank(X, y, method="relief", ensemble="bagging")
        with pytest.raises(TypeError, match="LaplaceRanker has no parameter 'supervision'"):
            rank(X, y, method="laplace", supervision=0.5)

    def test_positional_settings(self):
        with pytest.raises(TypeError):
            rank(np.eye(4), [0, 1, 0, 1], "forest")


def test_public_names():
    for name in ("ForestRanker", "ReliefRanker", "LaplaceRanker", "Ranking", "Hierarchy", "load", "rank"):
        assert name in semirank.__all__
        assert name in dir(semirank)
        assert getattr(semirank, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'rnak'"):
        _ = semirank.rnak
