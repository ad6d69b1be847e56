"""genie3_oob as users meet it: what it does not fall for, and where it is not there (Def. 1.4)."""

from __future__ import annotations

import numpy as np
import pytest

from semirank import ConsensusRanker, ForestRanker, Table, rank


def table_of(columns: list[np.ndarray], n_values: list[int]) -> Table:
    names = tuple(f"x{i}" for i in range(len(columns)))
    categories = tuple(tuple(f"v{v}" for v in range(k)) if k else None for k in n_values)
    return Table(np.column_stack(columns).astype(float), np.array(n_values, np.int64), names, categories)


def forest(**params) -> ForestRanker:
    return ForestRanker(**({"supervision": 1.0, "n_estimators": 50, "random_state": 0, "n_jobs": 1} | params))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_noise_with_many_categories_does_not_come_first(task):
    """A column of 155 categories among 160 rows: genie3 puts it first, in front of what makes the target."""
    first = {"genie3": [], "genie3_oob": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        numbers = rng.normal(size=(4, 160))
        X = table_of([*numbers, rng.permutation(np.arange(160) % 155)], [0, 0, 0, 0, 155])
        y = numbers[0] + rng.normal(size=160)
        y = np.where(y > 0, "high", "low") if task == "classification" else y
        ranker = forest(random_state=seed).fit(X, y)
        for name, places in first.items():
            places.append(int(ranker.importances_[name].argmax()))
    assert first == {"genie3": [4] * 10, "genie3_oob": [0] * 10}


@pytest.mark.parametrize("supervision", [0.5, 1.0])
def test_an_identifier_does_not_come_first(supervision):
    """190 individuals in 344 rows, half of them labelled, as a category and as a number."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        group = rng.integers(3, size=344)
        near = group + rng.normal(size=(2, 344))
        who = rng.permutation(np.arange(344) % 190)
        X = table_of([who, who, *near, rng.normal(size=344)], [190, 0, 0, 0, 0])
        y = np.array(["a", "b", "c"], dtype=object)[group]
        y[172:] = None
        ranker = forest(random_state=seed, supervision=supervision, importance="genie3_oob").fit(X, y)
        assert set(np.argsort(-ranker.feature_importances_)[:2]) == {2, 3}, f"seed {seed}"


def test_scores_per_target_are_those_that_were_asked_for():
    rng = np.random.default_rng(0)
    X = table_of([*rng.normal(size=(3, 160)), rng.permutation(np.arange(160) % 155)], [0, 0, 0, 155])
    y = X.values[:, :2] + rng.normal(size=(160, 2))
    inside, outside, both = (
        forest(importance=asked).fit(X, y) for asked in ("genie3", "genie3_oob", ("rforest", "genie3_oob"))
    )
    assert inside.importances_per_target_.argmax(axis=0).tolist() == [3, 3]
    assert outside.importances_per_target_.argmax(axis=0).tolist() == [0, 1]
    np.testing.assert_array_equal(both.importances_per_target_, outside.importances_per_target_)
    for ranker in (inside, outside):  # both targets count alike
        np.testing.assert_allclose(
            ranker.importances_per_target_.mean(axis=1), ranker.feature_importances_, atol=1e-12
        )
    classes = forest(importance="genie3_oob").fit(X, np.where(y[:, 0] > 0, "high", "low"))
    np.testing.assert_allclose(classes.importances_per_target_[:, 0], classes.feature_importances_)


@pytest.mark.parametrize("use_unlabeled", [True, False])
def test_an_identifier_is_not_what_marks_a_class(use_unlabeled):
    """190 individuals in 344 rows, 100 of them labelled: scores per class and per target of the consensus."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        group = rng.integers(3, size=344)
        marks = 2.0 * (group == np.arange(3)[:, None]) + rng.normal(size=(3, 344))
        who = rng.permutation(np.arange(344) % 190)
        X = table_of([*marks, who, rng.normal(size=344)], [0, 0, 0, 190, 0])
        y = np.array(["a", "b", "c"], dtype=object)[group]
        y[100:] = None
        ranker = ConsensusRanker(random_state=seed, use_unlabeled=use_unlabeled).fit(X, y)
        assert (ranker.importances_per_class_[3] < 0.06).all(), f"seed {seed}"
        ranker.fit(X, np.where(np.arange(344)[:, None] < 100, marks.T, np.nan))
        assert (ranker.importances_per_target_[3] < 0.06).all(), f"seed {seed}"


def test_noise_scores_around_nothing():
    """In-bag gains of noise are positive; out of bag their mean over draws is 0, up to its error."""
    inside, outside = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = table_of([rng.normal(size=80), rng.integers(20, size=80)], [0, 20])
        ranker = forest(random_state=seed, n_estimators=20).fit(X, rng.normal(size=80))
        inside.append(ranker.importances_["genie3"])
        outside.append(ranker.importances_["genie3_oob"])
    inside, outside = np.array(inside), np.array(outside)
    assert (inside > 0.2).all()
    assert (np.abs(outside.mean(axis=0)) < 3 * outside.std(axis=0) / np.sqrt(30)).all()
    assert (outside < 0).any()


def test_is_there_with_a_bootstrap_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    assert set(forest().fit(X, y).importances_) == {"genie3", "symbolic", "genie3_oob"}
    assert set(forest(bootstrap=False).fit(X, y).importances_) == {"genie3", "symbolic"}
    assert set(rank(X, y, method="forest", supervision=1.0, bootstrap=False).all_scores) == {
        "genie3",
        "symbolic",
    }
    with pytest.raises(
        ValueError, match="importance='genie3_oob' needs out-of-bag rows, which bootstrap=False"
    ):
        forest(bootstrap=False, importance="genie3_oob").fit(X, y)


def test_trees_without_labelled_rows_out_of_bag_are_left_out():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.full(40, np.nan)
    y[:3] = 0.0, 1.5, 3.0
    ranker = forest(importance="genie3_oob", min_labeled=0, n_estimators=30).fit(X, y)
    counted = [member.scores["genie3_oob"] for member in ranker._forest.members if len(member.out_of_bag)]
    assert 0 < len(counted) < 30
    assert all("genie3_oob" not in m.scores for m in ranker._forest.members if not len(m.out_of_bag))
    np.testing.assert_allclose(ranker.feature_importances_, np.mean(counted, axis=0))
    # Where features count too, every out-of-bag row knows something.
    ranker.set_params(supervision=0.5).fit(X, y)
    assert all("genie3_oob" in member.scores for member in ranker._forest.members)


def test_two_labels_that_were_both_drawn_leave_none_out_of_bag():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.full(40, np.nan)
    y[:2] = 0.0, 1.5

    def one_tree(seed: int, importance: str) -> ForestRanker:
        return forest(n_estimators=1, random_state=seed, importance=importance).fit(X, y)

    seed = next(s for s in range(20) if "genie3_oob" not in one_tree(s, "genie3").importances_)
    with pytest.raises(ValueError, match="No tree has labelled rows out of bag to compute genie3_oob"):
        one_tree(seed, "genie3_oob")


def test_the_judge_compares_it_where_it_is_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.where(np.arange(120) < 60, X[:, 1], np.nan)
    ranker = forest(importance="genie3_oob", supervision="judge", n_estimators=10).fit(X, y)
    other = forest(importance="genie3", supervision="judge", n_estimators=10).fit(X, y)
    assert int(ranker.feature_importances_.argmax()) == 1
    assert [row["score"] for row in ranker.supervision_path_] != [
        row["score"] for row in other.supervision_path_
    ]
