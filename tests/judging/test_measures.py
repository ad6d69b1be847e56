"""Measures against scikit-learn and against plain loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from semirank.judging.measures import (
    macro_f1,
    pooled_auprc,
    rrmse,
    rrmse_per_target,
    task_score,
)

seeds = st.integers(0, 10_000)


@given(seeds, st.integers(1, 40), st.integers(2, 6))
def test_macro_f1_equals_scikit_learn(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    guess = rng.integers(n_classes, size=n)
    expected = f1_score(truth, guess, average="macro", zero_division=0)
    assert macro_f1(truth, guess, n_classes) == pytest.approx(expected, abs=1e-12)
    with_holes = np.r_[truth.astype(float), np.nan]
    assert macro_f1(with_holes, np.r_[guess, 0], n_classes) == pytest.approx(expected, abs=1e-12)


def test_macro_f1_without_truth_is_zero():
    assert macro_f1(np.array([np.nan]), np.array([0]), 2) == 0.0


def test_macro_f1_counts_classes_that_training_never_saw():
    truth, guess = [0, 2, 1], [0, 1, 1]
    expected = f1_score(truth, guess, average="macro", zero_division=0)
    assert macro_f1(truth, guess, 2) == pytest.approx(expected)


def naive_rrmse(truth, predicted):
    each = []
    for j in range(truth.shape[1]):
        rows = [i for i in range(len(truth)) if not np.isnan(truth[i, j])]
        if not rows:
            each.append(np.nan)
            continue
        known = truth[rows, j]
        error = np.mean((known - predicted[rows, j]) ** 2)
        var = np.mean((known - known.mean()) ** 2)
        each.append(np.sqrt(error / var) if np.ptp(known) > 0 else np.nan)
    return np.array(each)


@settings(deadline=None)
@given(seeds, st.integers(1, 20), st.integers(1, 4))
def test_rrmse_equals_the_formula(seed, n, n_targets):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, n_targets)) * 10.0 ** rng.integers(-3, 4)
    truth[rng.random(truth.shape) < 0.3] = np.nan
    predicted = rng.normal(size=truth.shape)
    expected = naive_rrmse(truth, predicted)
    np.testing.assert_allclose(rrmse_per_target(truth, predicted), expected, rtol=1e-9)
    defined = expected[~np.isnan(expected)]
    assert rrmse(truth, predicted) == pytest.approx(defined.mean() if len(defined) else 1.0, rel=1e-9)


def test_rrmse_of_constant_and_unknown_targets():
    truth = np.array([[0.1, np.nan, 1.0], [0.1, np.nan, 2.0], [0.1, np.nan, 4.0]])
    guess = np.zeros_like(truth)
    assert np.isnan(rrmse_per_target(truth, guess)[:2]).all()
    assert rrmse(truth, guess) == pytest.approx(rrmse(truth[:, 2:], guess[:, 2:]))
    assert rrmse(truth[:, :2], guess[:, :2]) == 1.0
    assert rrmse(np.empty((0, 1)), np.empty((0, 1))) == 1.0
    # Large constants must not look like tiny variances.
    assert np.isnan(rrmse_per_target(np.full((7, 1), 1e9 + 0.3), np.zeros((7, 1)))).all()


@pytest.mark.parametrize("exponent", [-1000, -3, 0, 5, 1000])
def test_rrmse_has_no_unit(exponent):
    """The squares of such numbers vanish or overflow; bit by bit the value is that of the small integers."""
    truth = np.array([[1.0, 3.0], [2.0, np.nan], [4.0, 5.0], [9.0, 6.0]])
    guess = np.array([[0.0, 7.0], [2.0, 8.0], [6.0, 5.0], [9.0, 3.0]])
    # Squares around the means 4 and 14/3: 9, 4, 0, 25 and 25/9, 1/9, 16/9; errors: 1, 0, 4, 0 and 16, 0, 9.
    expected = np.sqrt([5 / 38, 25 / (42 / 9)])
    unit = 2.0**exponent
    np.testing.assert_allclose(rrmse_per_target(truth * unit, guess * unit), expected, rtol=1e-15)
    # Powers of two round nothing: the value is the same bit by bit.
    truth, guess = np.random.default_rng(0).normal(size=(2, 7, 40))
    given = rrmse_per_target(truth * unit, guess * unit)
    assert given.tolist() == rrmse_per_target(truth, guess).tolist()


def test_rrmse_of_predictions_in_quite_another_unit():
    assert 1e50 < rrmse([[1e-300], [3e-300]], [[1e300], [1e300]]) < np.inf


def test_a_target_without_a_known_cell_has_no_rrmse():
    truth = np.array([[1.0, np.nan], [3.0, np.nan]])
    np.testing.assert_array_equal(rrmse_per_target(truth, np.full((2, 2), 2.0)), [1.0, np.nan])


def test_rrmse_of_the_mean_is_one():
    truth = np.random.default_rng(0).normal(5, 3, size=(50, 2))
    assert rrmse(truth, np.tile(truth.mean(axis=0), (50, 1))) == pytest.approx(1.0)


@given(seeds, st.integers(1, 12), st.integers(1, 5), st.booleans())
def test_pooled_auprc_equals_scikit_learn(seed, n, n_labels, ties):
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, n_labels)) < 0.4).astype(float)
    scores = rng.integers(0, 4, size=truth.shape) / 3 if ties else rng.normal(size=truth.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns about labels without positives
        expected = average_precision_score(truth.ravel(), scores.ravel())
    if truth.any():
        assert pooled_auprc(truth, scores) == pytest.approx(expected, abs=1e-12)
    else:
        assert pooled_auprc(truth, scores) == 0.0


def test_pooled_auprc_ignores_unknown_cells():
    truth = np.array([[1, 0, np.nan], [np.nan, 1, 0.0]])
    scores = np.array([[0.9, 0.5, 1.0], [0.95, 0.4, 0.1]])
    assert pooled_auprc(truth, scores) == pytest.approx(
        average_precision_score([1, 0, 1, 0], [0.9, 0.5, 0.4, 0.1])
    )
    assert pooled_auprc(np.full((2, 2), np.nan), np.ones((2, 2))) == 0.0


def test_task_score_picks_the_measure():
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(8, 2))
    labels = (numbers > 0).astype(float)
    guess = rng.random((8, 2))
    assert task_score("multi_target", numbers, guess) == rrmse(numbers, guess)
    assert task_score("regression", numbers[:, :1], guess[:, :1]) == rrmse(numbers[:, :1], guess[:, :1])
    for task in ("multi_label", "hierarchical"):
        assert task_score(task, labels, guess) == pooled_auprc(labels, guess)
    shares = np.array([[0.4, 0.4, 0.2], [0.1, 0.1, 0.8]])
    assert task_score("classification", np.array([[0.0], [2.0]]), shares) == 1.0
