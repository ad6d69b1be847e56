"""Rows down a tree, and the prototypes of its nodes, against their twins."""

from __future__ import annotations

import numpy as np
import pytest

from semirank.trees.predict import apply_tree, prototypes

from . import naive_trees as naive
from .cases import (
    Case,
    assert_same_tree,
    compare,
    every_task,
    make_table,
    make_target,
    measured,
)


@every_task
def test_rows_reach_the_leaves_of_the_twin(task):
    for seed in range(20):
        case, tree, twin, pairs = compare(seed, task, max_depth=1000, min_samples_leaf=1.0)
        number = {id(node): i for i, node in pairs}
        # Rows that the tree has not seen, with values and holes where it had none.
        rng = np.random.default_rng(seed)
        values = np.where(case.table.n_values > 0, 0.0, rng.normal(size=(40, case.table.shape[1])))
        for j, k in enumerate(case.table.n_values):
            if k:
                values[:, j] = rng.integers(k, size=40)
        values[rng.random(values.shape) < 0.2] = np.nan
        rows = rng.permutation(40)
        leaves = apply_tree(tree, values, rows)
        assert leaves.tolist() == [number[id(twin.leaf(values[r]))] for r in rows]


@every_task
def test_prototypes_equal_their_twins(task):
    for seed in range(30):
        case, tree, _, pairs = compare(seed, task, min_labeled=0.0)
        prototype, known, total, _ = measured(case, tree)
        means = prototype.offset + prototype.scale * prototypes(tree, known, total, prototype.mean)
        for i, node in pairs:
            expected = naive.prototype(node, case.target)
            np.testing.assert_allclose(means[i], expected, atol=1e-9, err_msg=f"seed {seed}, node {i}")


@pytest.mark.parametrize("task", ["multi_target", "multi_label"])
def test_a_target_that_the_tree_never_saw_has_the_mean_of_the_training_set(task):
    table = make_table([np.arange(8)], [0])
    y = np.array([[0, 0, 0, 1, 1, 1, 0, 1], [np.nan] * 5 + [1, 1, 0]]).T
    weight = np.array([1.0, 1, 1, 1, 1, 0, 0, 0])
    case = Case(table, make_target(task, y), 1.0, weight, naive.Growth(1), 3)
    tree, twin = case.kernel_tree(), case.naive_tree()
    prototype, known, total, _ = measured(case, tree)
    means = prototype.offset + prototype.scale * prototypes(tree, known, total, prototype.mean)
    for i, node in assert_same_tree(case, tree, twin):
        np.testing.assert_allclose(means[i], naive.prototype(node, case.target))
        np.testing.assert_allclose(means[i, 1], 2 / 3)
