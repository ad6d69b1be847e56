"""The rules that choose the supervision level w (Def. 1.5), against the same choice done by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from semirank import ForestRanker
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.tasks import TASKS
from semirank.judging.knn_judge import judge_neighbors, knn_predict
from semirank.judging.measures import task_score
from semirank.judging.splits import fold_numbers
from semirank.rankers import forest_supervision as tuning
from semirank.rankers.forest_supervision import (
    JUDGE_LEVELS,
    SUPERVISION_LEVELS,
    for_predictions,
)
from semirank.trees.ensemble import Plan, grow_forest, predict_forest, predict_out_of_bag, prepare
from semirank.trees.grow import Growth

from .test_forest import mixed, small


def folds_of(ranker: ForestRanker, target) -> np.ndarray:
    return fold_numbers(target, ranker.n_folds, np.random.default_rng([ranker.seed_, 2**31]))


def hidden(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """y with these rows made unlabelled; they stay rows (Def. 1.5)."""
    y = y.copy()
    y[rows] = None if y.dtype == object else np.nan
    return y


def scored_over_folds(ranker, X, y, tree, predict) -> float:
    """The task's measure of predictions for held-out labelled rows, all folds together."""
    target = encode_target(y, hierarchy=tree)
    fold = folds_of(ranker, target)
    prototypes = np.zeros(target.columns().shape)
    for f in range(ranker.n_folds):
        held = np.flatnonzero(fold == f)
        prototypes[held] = predict(hidden(y, held), held)
    rows = np.flatnonzero(fold >= 0)
    return task_score(target.task, target.values[rows], prototypes[rows])


class TestFolds:
    def test_labelled_rows_are_spread_evenly(self):
        y = np.arange(50.0) + 0.5
        y[10:20] = np.nan
        fold = fold_numbers(encode_target(y), 4, np.random.default_rng(0))
        assert (fold[10:20] == -1).all()
        assert np.bincount(fold[fold >= 0]).tolist() == [10, 10, 10, 10]

    def test_classes_are_spread_evenly(self):
        y = np.array(["a"] * 21 + ["b"] * 9 + ["c"] * 4)
        fold = fold_numbers(encode_target(y), 4, np.random.default_rng(0))
        for name in "abc":
            counts = np.bincount(fold[y == name], minlength=4)
            assert counts.max() - counts.min() <= 1

    def test_neighbours_of_the_judge(self):
        assert [judge_neighbors(n) for n in (8, 9, 16, 50, 100, 400, 10_000)] == [3, 3, 4, 7, 10, 20, 20]


def test_the_judge_without_a_labelled_row_out_of_bag(monkeypatch):
    """No ranking: every feature counts the same, at every level, so w stays 1."""
    X, y, _ = mixed("regression")
    monkeypatch.setattr(tuning, "forest_scores", lambda forest: ({}, {}))
    ranker = small(supervision="judge", importance="rforest").fit(X, y)
    assert ranker.supervision_ == 1.0
    assert len({row["score"] for row in ranker.supervision_path_}) == 1


@pytest.mark.parametrize("ensemble", ["random_forest", "extra_trees", "bagging"])
@pytest.mark.parametrize("task", TASKS)
def test_forests_for_predictions_predict_the_same_bits(task, ensemble):
    """They are smaller, since no node is split whose labelled rows agree."""
    X, y, tree = mixed(task, m=150, seed=1)
    if task in ("regression", "multi_target"):
        y = np.round(y, 1)  # equal numbers
    table, target = encode_features(X), encode_target(y, task=task, hierarchy=tree)
    material = prepare(table)
    growth = Growth(2 if ensemble == "random_forest" else 5, ensemble == "extra_trees", 1.0, 0.0, 1000)
    for w, bootstrap in [(0.0, True), (0.3, True), (0.9, False), (1.0, True)]:
        plan = Plan(6, growth, bootstrap, "all", 7)
        whole, less = (grow_forest(material, target, w, p, n_jobs=1) for p in (plan, for_predictions(plan)))
        np.testing.assert_array_equal(predict_forest(less, table.values), predict_forest(whole, table.values))
        for one, other in zip(
            predict_out_of_bag(less, table.values), predict_out_of_bag(whole, table.values)
        ):
            np.testing.assert_array_equal(one, other)
        n_whole, n_less = (sum(len(m.tree.feature) for m in f.members) for f in (whole, less))
        assert n_less < n_whole if w < 1 else n_less <= n_whole


class TestGrid:
    """The paper's knobs: which levels are compared, in how many folds, by how many neighbours."""

    @pytest.mark.parametrize("rule", ["cv", "oob", "judge"])
    def test_levels(self, rule):
        X, y, _ = mixed("regression")
        ranker = small(supervision=rule, supervision_grid=[1, 0.3, 0.3, 0.0]).fit(X, y)
        found = [row["supervision"] for row in ranker.supervision_path_]
        assert found == [0.0, 0.3, 1.0]
        usual = small(supervision=rule).fit(X, y).supervision_path_
        assert [row for row in usual if row["supervision"] == 1.0] == ranker.supervision_path_[-1:]

    def test_folds(self):
        X, y, tree = mixed("regression")
        grid = {"supervision_grid": [0.5], "n_folds": 6, "n_estimators": 3}
        ranker = small(supervision="cv", **grid).fit(X, y)

        def predict(y_seen, held):
            forest = small(supervision=0.5, n_estimators=3).fit(X, y_seen)._forest
            return predict_forest(forest, encode_features(X).values[held])

        (row,) = ranker.supervision_path_
        assert row == {"supervision": 0.5, "score": scored_over_folds(ranker, X, y, tree, predict)}

    def test_neighbours_of_the_judge(self):
        X, y, tree = mixed("regression")
        ranker = small(supervision="judge", supervision_grid=[1.0], judge_neighbors=2).fit(X, y)
        table = encode_features(X)

        def predict(y_seen, held):
            ranking = small(supervision=1.0).fit(X, y_seen).feature_importances_
            return knn_predict(ranking, table, encode_target(y_seen), table.take(held), k=2)[0, 0]

        (row,) = ranker.supervision_path_
        assert row["score"] == scored_over_folds(ranker, X, y, tree, predict)

    @pytest.mark.parametrize("grid", [[], [0.5, 1.5], [-0.1, 1], 0.5, "all", [True], [None], [[0.5]]])
    def test_bad_grids(self, grid):
        X, y, _ = mixed("regression")
        with pytest.raises(ValueError, match=r"must hold one or several numbers in \[0, 1\]"):
            small(supervision="cv", supervision_grid=grid).fit(X, y)

    def test_the_judge_needs_full_supervision_to_compare_with(self):
        X, y, _ = mixed("regression")
        with pytest.raises(ValueError, match="lacks 1, with which supervision='judge' compares"):
            small(supervision="judge", supervision_grid=[0.25, 0.5]).fit(X, y)


class TestByHand:
    @pytest.mark.parametrize("task", TASKS)
    def test_cv(self, task):
        X, y, tree = mixed(task)
        ranker = small(supervision="cv", n_estimators=3, task=task, hierarchy=tree).fit(X, y)
        path = {row["supervision"]: row["score"] for row in ranker.supervision_path_}
        assert tuple(path) == SUPERVISION_LEVELS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

        for w in (0.0, 0.7, 1.0):

            def predict(y_seen, held, w=w):
                forest = (
                    small(supervision=w, n_estimators=3, task=task, hierarchy=tree).fit(X, y_seen)._forest
                )
                return predict_forest(forest, encode_features(X).values[held])

            assert path[w] == scored_over_folds(ranker, X, y, tree, predict)

    @pytest.mark.parametrize("task", TASKS)
    def test_oob(self, task):
        X, y, tree = mixed(task)
        ranker = small(supervision="oob", task=task, hierarchy=tree).fit(X, y)
        path = {row["supervision"]: row["score"] for row in ranker.supervision_path_}
        assert tuple(path) == SUPERVISION_LEVELS
        values, target = encode_features(X).values, encode_target(y, task=task, hierarchy=tree)
        for w in (0.2, 1.0):
            forest = small(supervision=w, task=task, hierarchy=tree).fit(X, y)._forest
            votes: dict[int, list[np.ndarray]] = {}
            for member in forest.members:
                tree_alone = forest._replace(members=[member])
                for row, vote in zip(
                    member.out_of_bag, predict_forest(tree_alone, values[member.out_of_bag])
                ):
                    votes.setdefault(int(row), []).append(vote)
            rows = sorted(votes)
            means = np.array([np.mean(votes[row], axis=0) for row in rows])
            assert path[w] == pytest.approx(task_score(task, target.values[rows], means), rel=1e-9)

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("importance", ["genie3", "rforest"])
    def test_judge(self, task, importance):
        X, y, tree = mixed(task)
        params = {"importance": importance, "task": task, "hierarchy": tree}
        ranker = small(supervision="judge", n_estimators=30, **params).fit(X, y)
        path = {row["supervision"]: row["score"] for row in ranker.supervision_path_}
        assert tuple(path) == JUDGE_LEVELS == (0.25, 0.5, 0.75, 1.0)
        table = encode_features(X)
        for w in (0.25, 1.0):

            def predict(y_seen, held, w=w):
                # Small forests: 25 trees at most.
                ranking = small(supervision=w, n_estimators=25, **params).fit(X, y_seen).feature_importances_
                seen = encode_target(y_seen, task=task, hierarchy=tree)
                k = judge_neighbors(ranker.n_labeled_)
                return knn_predict(ranking, table, seen, table.take(held), k=k, pool="labelled")[0, 0]

            assert path[w] == pytest.approx(scored_over_folds(ranker, X, y, tree, predict), rel=1e-12)

    @pytest.mark.parametrize("rule", ["cv", "oob", "judge"])
    def test_the_forest_is_the_one_of_the_chosen_level(self, rule):
        X, y, _ = mixed("regression")
        ranker = small(supervision=rule).fit(X, y)
        fixed = small(supervision=ranker.supervision_).fit(X, y)
        np.testing.assert_array_equal(ranker.feature_importances_, fixed.feature_importances_)
        ranking = ranker.to_ranking()
        assert ranking.choice == {"supervision": ranker.supervision_}
        assert [dict(row) for row in ranking.choice_path] == ranker.supervision_path_
        assert "supervision" in ranker.timings_


@pytest.fixture
def scripted(monkeypatch):
    """Choose among levels with given scores."""

    def choose(rule: str, task: str, *scores: float) -> float:
        X, y, tree = mixed(task)
        left = iter(scores)
        monkeypatch.setattr(tuning, "task_score", lambda *_, **__: next(left))
        return small(supervision=rule, n_estimators=1, task=task, hierarchy=tree).fit(X, y).supervision_

    return choose


class TestChoice:
    @pytest.mark.parametrize("rule", ["cv", "oob"])
    def test_best_score_in_the_direction_of_the_task(self, scripted, rule):
        scores = [0.1, 0.2, 0.9, 0.3, 0.4, 0.5, 0.1, 0.05, 0.1, 0.6, 0.7]
        assert scripted(rule, "classification", *scores) == 0.2
        assert scripted(rule, "multi_label", *scores) == 0.2
        assert scripted(rule, "hierarchical", *scores) == 0.2
        assert scripted(rule, "regression", *scores) == 0.7  # RRMSE: smaller is better
        assert scripted(rule, "multi_target", *scores) == 0.7

    @pytest.mark.parametrize("rule", ["cv", "oob"])
    def test_ties_go_to_the_larger_level(self, scripted, rule):
        assert scripted(rule, "classification", *[0.5] * 11) == 1.0
        assert scripted(rule, "classification", *[0.1] * 4, 0.9, 0.9, 0.2, 0.9, *[0.3] * 3) == 0.7
        assert scripted(rule, "regression", 0.2, *[0.5] * 5, 0.2, *[0.5] * 4) == 0.6

    def test_judge_leaves_full_supervision_for_a_clear_gain_only(self, scripted):
        # 2 % of the score at w = 1, in the better direction
        assert scripted("judge", "classification", 0.50, 0.509, 0.3, 0.50) == 1.0
        assert scripted("judge", "classification", 0.50, 0.511, 0.3, 0.50) == 0.5
        assert scripted("judge", "regression", 0.50, 0.491, 0.9, 0.50) == 1.0
        assert scripted("judge", "regression", 0.50, 0.489, 0.9, 0.50) == 0.5
        assert scripted("judge", "regression", 0.9, 0.9, 0.9, 0.50) == 1.0

    def test_judge_breaks_ties_to_the_larger_level(self, scripted):
        assert scripted("judge", "multi_label", 0.8, 0.8, 0.7, 0.5) == 0.5
        assert scripted("judge", "multi_target", 0.3, 0.4, 0.3, 0.8) == 0.75
        assert scripted("judge", "classification", 0.1, 0.0, 0.0, 0.0) == 0.25


class TestFewLabels:
    @pytest.mark.parametrize("rule", ["judge", "cv"])
    def test_too_few_for_folds(self, rule):
        X, y, _ = mixed("regression")
        y = hidden(y, np.flatnonzero(~np.isnan(y))[7:])
        with pytest.warns(UserWarning, match="only 7 labelled rows, too few for 4 folds; .* w = 1") as caught:
            ranker = small(supervision=rule).fit(X, y)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert ranker.supervision_ == 1.0
        assert ranker.supervision_path_ == []
        said = [note for note in ranker.notes_ if "too few" in note]
        assert said == [
            f"only 7 labelled rows, too few for 4 folds; supervision={rule!r} was replaced by w = 1"
        ]
        assert ranker.to_ranking().notes == ranker.notes_
        np.testing.assert_array_equal(
            ranker.feature_importances_, small(supervision=1.0).fit(X, y).feature_importances_
        )

    @pytest.mark.parametrize("rule", ["judge", "cv"])
    def test_enough_for_folds(self, rule):
        X, y, _ = mixed("regression")
        y = hidden(y, np.flatnonzero(~np.isnan(y))[8:])
        ranker = small(supervision=rule, n_estimators=2).fit(X, y)
        assert len(ranker.supervision_path_) == (4 if rule == "judge" else 11)

    def test_out_of_bag_needs_no_folds(self):
        X, y, _ = mixed("regression")
        y = hidden(y, np.flatnonzero(~np.isnan(y))[5:])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(small(supervision="oob").fit(X, y).supervision_path_) == 11

    @pytest.mark.parametrize("rule", ["judge", "cv", "oob"])
    def test_a_class_that_one_fold_holds_alone(self, rule):
        """Hiding the fold leaves one class: nothing to learn there, but no fault either."""
        X, _, _ = mixed("regression")
        y = np.full(len(X), None, dtype=object)
        y[:12] = ["rare", *["common"] * 11]
        ranker = small(supervision=rule, n_estimators=3).fit(X, y)
        assert all(np.isfinite(row["score"]) for row in ranker.supervision_path_)
        assert np.isfinite(ranker.feature_importances_).all()


def test_progress_counts_levels():
    X, y, _ = mixed("regression")
    said = []
    small(supervision="judge", n_estimators=2).fit(X, y, progress=lambda *call: said.append(call))
    levels = [call for call in said if call[2] == "supervision levels"]
    assert [call[:2] for call in levels] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert said[-1] == (2, 2, "trees")
