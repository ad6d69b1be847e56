"""The kNN judge against its slow twin and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.judging.knn_judge import judge_rankings, judge_weights, knn_predict
from semirank.judging.measures import task_score

from ..neighbors.naive_neighbors import knn_prototypes, make_table, make_target


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(TASKS)),
    st.sampled_from(["labelled", "all"]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([None, 3]),
)
def test_equals_twin(seed, task, pool, missing, grid):
    rng = np.random.default_rng(seed)
    kinds = [0, 0, 2, 3, 0]
    train, test = (make_table(rng, n, kinds, missing, grid) for n in (25, 9))
    target = make_target(rng, 25, task, unlabeled=0.5, missing=missing)
    truth = make_target(rng, 9, task, unlabeled=0.2, missing=missing)
    importances = rng.normal(size=(3, len(kinds)))
    importances[1] = -1.0
    ks = (1, 4, 60)
    found = knn_predict(importances, train, target, test, ks, pool)
    scores = judge_rankings(importances, train, target, test, truth, ks, pool, n_jobs=2)
    assert scores.shape == (3, 3)
    for r in range(3):
        for j, k in enumerate(ks):
            expected = knn_prototypes(importances[r], train, target, test, k, pool)
            np.testing.assert_allclose(found[r, j], expected, atol=1e-12)
            known = truth.labeled
            score = task_score(task, truth.values[known], found[r, j][known])
            assert scores[r, j] == pytest.approx(score, abs=1e-12)


def test_equals_scikit_learn_on_complete_numbers():
    rng = np.random.default_rng(3)
    train, test = (make_table(rng, n, [0] * 6) for n in (200, 80))
    importances = rng.random(6)
    low, high = train.values.min(axis=0), train.values.max(axis=0)
    a, b = ((t.values - low) / (high - low) * np.sqrt(importances) for t in (train, test))
    classes = make_target(rng, 200, "classification")
    expected = KNeighborsClassifier(20, algorithm="brute").fit(a, classes.values[:, 0]).predict_proba(b)
    np.testing.assert_allclose(knn_predict(importances, train, classes, test, 20)[0, 0], expected)
    numbers = make_target(rng, 200, "multi_target")
    expected = KNeighborsRegressor(40, algorithm="brute").fit(a, numbers.values).predict(b)
    np.testing.assert_allclose(knn_predict(importances, train, numbers, test, 40)[0, 0], expected)


def test_ranges_come_from_all_training_rows():
    values = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 100.0]])
    train = Table(values, np.zeros(2, np.int64), tuple("ab"), (None,) * 2)
    target = Target("regression", np.array([[1.0], [2.0], [np.nan]]), ("y",), np.ones(1))
    test = Table(np.array([[0.4, 1.0]]), train.n_values, train.names, train.categories)
    # The unlabelled row widens feature b, so that feature a decides.
    assert knn_predict(np.ones(2), train, target, test, 1).item() == 1.0
    labelled = np.array([0, 1])
    assert knn_predict(np.ones(2), train.take(labelled), target.take(labelled), test, 1).item() == 2.0


def test_pools_agree_when_every_row_is_a_neighbour():
    rng = np.random.default_rng(5)
    train, test = (make_table(rng, n, [0] * 3) for n in (60, 20))
    target = make_target(rng, 60, "regression", unlabeled=0.6)
    both = [knn_predict(np.ones(3), train, target, test, 60, pool) for pool in ("labelled", "all")]
    np.testing.assert_allclose(*both)


def test_no_labelled_neighbour():
    table = Table(np.array([[0.0], [1.0], [10.0]]), np.zeros(1, np.int64), ("a",), (None,))
    numbers = Target("regression", np.array([[np.nan], [np.nan], [7.0]]), ("y",), np.ones(1))
    at_zero = table.take([0])
    assert knn_predict(np.ones(1), table, numbers, at_zero, 2, "all").item() == 0.0
    assert knn_predict(np.ones(1), table, numbers, at_zero, 2, "labelled").item() == 7.0
    classes = Target(
        "classification", np.array([[np.nan], [np.nan], [1.0]]), ("y",), np.ones(1), np.array(["p", "q"])
    )
    truth = Target("classification", np.array([[0.0]]), ("y",), np.ones(1), np.array(["p", "q"]))
    assert judge_rankings(np.ones(1), table, classes, at_zero, truth, 2, "all").item() == 1.0


def test_weights():
    np.testing.assert_allclose(judge_weights([3.0, -1.0, 1.0], 3), [[0.75, 0.0, 0.25]])
    np.testing.assert_allclose(judge_weights([-1.0, 0.0], 2), [[0.5, 0.5]])
    np.testing.assert_allclose(judge_weights([1e308, 1e308], 2), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"importances": np.array([1.0, np.nan])}, "NaN or infinite"),
        ({"importances": np.ones(3)}, "one importance per feature"),
        ({"pool": "labeled"}, "pool must be one of"),
        ({"k": 0}, "k must be"),
        ({"k": (2, 1.5)}, "k must be"),
        ({"k": ()}, "k must be"),
        ({"hide": True}, "No training row is labelled"),
    ],
)
def test_bad_input(change, sentence):
    rng = np.random.default_rng(0)
    train = make_table(rng, 6, [0, 0])
    target = make_target(rng, 6, "regression")
    test = make_table(rng, 2, [0, 0])
    if change.pop("hide", False):
        target = target.hide(np.arange(6))
    arguments = {"importances": np.ones(2), "k": 3, "pool": "labelled"} | change
    with pytest.raises(ValueError, match=sentence):
        knn_predict(train=train, train_target=target, test=test, **arguments)
