"""The Laplacian score against a dense computation, and planted problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from semirank import LaplaceRanker
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.rankers.laplace import laplace_scores
from semirank.rankers.laplace_graph import standard_columns

from ..neighbors import naive_neighbors as naive
from ..neighbors.naive_neighbors import make_table, make_target


@settings(deadline=None, max_examples=80)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(TASKS)),
    st.sampled_from([0.0, 0.25]),
    st.sampled_from([0.0, 0.5, 0.9]),
    st.sampled_from([None, 2]),
    st.sampled_from([1, 3, 50]),
    st.sampled_from([None, 0.7]),
    st.sampled_from(["product", "semi_supervised"]),
)
def test_equals_dense_computation(seed, task, missing, unlabeled, grid, k, width, combine):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    table = make_table(rng, n, [0, 3, 0, 2, 0], missing, grid)
    table.values[:, 4] = 1.0
    target = make_target(rng, n, task, unlabeled, missing)
    options = {"n_neighbors": k, "label_weight": 3.0, "kernel_width": width, "combine": combine}
    expected = naive.laplace(table, target, k, 3.0, width, combine)
    np.testing.assert_allclose(laplace_scores(table, target, **options), expected, rtol=1e-8, atol=1e-10)
    assert expected[4] == 0.0
    if target.labeled.sum() > 1:
        expected = naive.laplace(table, target, k, 3.0, width, combine, supervised_only=True)
        found = laplace_scores(table, target, use_unlabeled=False, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_columns():
    values = np.array([[1.0, 0.0, 7.0], [3.0, 2.0, 7.0], [np.nan, np.nan, 7.0]])
    table = Table(values, np.array([0, 3, 0]), tuple("abc"), (None, tuple("xyz"), None))
    columns = standard_columns(table)
    assert columns.feature.tolist() == [0, 1, 1]  # the value y is never seen
    np.testing.assert_allclose(columns.values, [[-1, 1, -1], [1, -1, 1], [0, 0, 0]])


def test_threads_do_not_matter():
    rng = np.random.default_rng(9)
    table = make_table(rng, 1500, [0] * 6 + [3] * 2, 0.05, 5)
    target = make_target(rng, 1500, "regression", 0.7)
    one, two = (laplace_scores(table, target, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_invariances():
    rng = np.random.default_rng(8)
    table = make_table(rng, 80, [0, 0, 0, 4])
    target = make_target(rng, 80, "regression", 0.4)
    base = laplace_scores(table, target)
    values = table.values.copy()
    values[:, 0] = values[:, 0] * -37.0 + 1e6
    values[:, 3] = np.array([2.0, 0.0, 3.0, 1.0])[values[:, 3].astype(int)]
    changed = Table(values, table.n_values, table.names, table.categories)
    scaled = Target("regression", target.values * 1e200, target.names, target.weights)
    np.testing.assert_allclose(laplace_scores(changed, scaled), base, rtol=1e-7)
    rows = rng.permutation(80)
    np.testing.assert_allclose(laplace_scores(table.take(rows), target.take(rows)), base, rtol=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_planted_main_effect(task):
    rng = np.random.default_rng(1)
    X = rng.random((500, 8))
    a = X[:, 5]
    hierarchy = None
    if task == "classification":
        y = np.where(a > 0.5, "up", "down").astype(object)
    elif task == "regression":
        y = a.copy()
    elif task == "multi_target":
        y = np.column_stack([a, 1 - a])
    else:
        y = np.column_stack([a >= 0, a > 0.3, a > 0.6]).astype(float)
        y[0, 0] = 0.0
        y[0] *= task == "multi_label"
        hierarchy = ["p", "p/q", "p/r"] if task == "hierarchical" else None
    y[100:] = None if y.dtype == object else np.nan
    ranker = LaplaceRanker(task=task, hierarchy=hierarchy).fit(X, y)
    assert ranker.feature_importances_.argmax() == 5
    assert any("extension" in note for note in ranker.notes_) == (task != "regression")


def test_degenerate_data_has_a_documented_result():
    y = np.r_[np.arange(10.0), [np.nan] * 10]
    found = LaplaceRanker(task="regression").fit(np.ones((20, 3)), y)
    np.testing.assert_array_equal(found.feature_importances_, 0.0)
    rng = np.random.default_rng(0)
    X = rng.random((20, 3))
    X[:, 1] = 4.0
    # Constant features come last.
    found = LaplaceRanker(task="regression", n_neighbors=50).fit(X, y)
    assert found.ranking_[1] == 3
    assert any("all are used" in note for note in found.notes_)
    # One labelled row: no supervised factor.
    one = Target("regression", np.r_[1.0, [np.nan] * 19][:, None], ("y",), np.ones(1))
    table = make_table(rng, 20, [0, 2])
    notes: list[str] = []
    scores = laplace_scores(table, one, notes=notes)
    assert np.isfinite(scores).all()
    assert any("supervised factor" in note for note in notes)
    np.testing.assert_array_equal(scores, laplace_scores(table, one, combine="semi_supervised"))
    with pytest.raises(ValueError, match="only one row is left"):
        laplace_scores(table, one, use_unlabeled=False)
    # All rows at the same place in the target: t falls back.
    same = Target("classification", np.zeros((20, 1)), ("y",), np.ones(1), np.array(["a", "b"]))
    assert np.isfinite(laplace_scores(table, same)).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 must be"),
        ({"n_neighbors": True}, "n_neighbors=True must be"),
        ({"label_weight": 0}, "label_weight=0 must be"),
        ({"kernel_width": "mean"}, "kernel_width='mean' is neither"),
        ({"kernel_width": -1.0}, "kernel_width=-1.0 is neither"),
        ({"kernel_width": 1e-300}, "kernel_width=1e-300 is so small"),
        ({"combine": "sum"}, "combine='sum' is not one of"),
    ],
)
def test_bad_parameters(change, sentence):
    X = np.random.default_rng(0).random((10, 2))
    with pytest.raises(ValueError, match=sentence):
        LaplaceRanker(**change).fit(X, X[:, 0])


def test_ranker_is_a_selector():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    ranker = LaplaceRanker(n_features_to_select=2).fit(X, X[:, 1])
    assert ranker.transform(X).shape == (60, 2)
    assert ranker.ranking_[1] == 1
    assert ranker.to_ranking().method == "laplace"
    assert ranker.importances_["laplace"] is ranker.feature_importances_
    assert clone(ranker).get_params() == ranker.get_params()


@parametrize_with_checks([LaplaceRanker(n_features_to_select=0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
