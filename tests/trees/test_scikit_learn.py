"""Trees on complete data against those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from semirank.data.hierarchy import Hierarchy
from semirank.trees.columns import build_prototype
from semirank.trees.grow import Tree
from semirank.trees.predict import apply_tree, node_sums

from . import naive_trees as naive
from .cases import (
    Case,
    every_task,
    make_table,
    make_target,
    rows_in_nodes,
)


def sklearn_nodes(model, x: np.ndarray) -> dict[frozenset[int], tuple[float, float]]:
    """Rows of every node -> (impurity, decrease of weighted impurity by its split)."""
    path = model.decision_path(x).toarray().astype(bool)
    tree = model.tree_
    size = tree.weighted_n_node_samples * tree.impurity
    inner = tree.children_left >= 0
    gain = np.where(inner, size - size[tree.children_left] - size[tree.children_right], 0.0)
    return {
        frozenset(np.flatnonzero(path[:, i])): (tree.impurity[i], gain[i]) for i in range(tree.node_count)
    }


def settled(twin: naive.Node) -> bool:
    """No node has equally good tests with different partitions: scikit-learn chooses among them at random."""
    splits = [(node.split, node.size) for node in twin.nodes() if node.split is not None]
    return all(split.rival < split.h - 1e-6 * size for split, size in splits)


def complete_case(seed: int, task: str, w: float) -> Case:
    rng = np.random.default_rng([seed, 77])
    # scikit-learn compares features as float32.
    n, depth = (100, 6) if task in ("regression", "multi_target") else (150, 3)
    x = rng.normal(size=(n, 5)).astype(np.float32).astype(float)
    table = make_table(list(x.T), [0] * 5)
    y = x[:, :3] @ rng.normal(size=(3, 4)) + rng.normal(size=(n, 4))
    hierarchy = None
    if task == "classification":
        y = y.argmax(axis=1)[:, None]
    elif task == "regression":
        y = y[:, :1]
    elif task == "multi_label":
        y = y > 0.3
    elif task == "hierarchical":
        hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
        y = hierarchy.close(y > 0.5)
    growth = naive.Growth(5, min_samples_leaf=5.0, max_depth=depth)
    return Case(table, make_target(task, y, hierarchy), w, np.ones(n), growth, seed)


def our_nodes(case: Case, tree: Tree) -> dict[frozenset[int], float]:
    passed = rows_in_nodes(tree, case.table.values, np.arange(len(case.table)))
    return {frozenset(rows): value for rows, value in zip(passed, tree.value)}


@every_task
def test_supervised_trees_equal_those_of_scikit_learn(task):
    used = 0
    for seed in range(4):
        case = complete_case(seed, task, 1.0)
        if not settled(case.naive_tree()):
            continue
        used += 1
        options = {"min_samples_leaf": 5, "max_depth": case.growth.max_depth, "random_state": 0}
        x, y = case.table.values, case.target.values
        if task == "classification":
            model = DecisionTreeClassifier(**options).fit(x, y[:, 0])
            norm = naive.gini(y[:, 0])
        else:
            shares = case.target.weights / case.target.weights.sum()
            model = DecisionTreeRegressor(**options).fit(x, y * np.sqrt(shares / y.var(axis=0)))
            norm = 1 / y.shape[1]  # scikit-learn's impurity is the mean over the outputs
        tree, theirs = case.kernel_tree(), sklearn_nodes(model, x)
        ours = our_nodes(case, tree)
        assert set(ours) == set(theirs)
        assert len(ours) > 8
        np.testing.assert_allclose(
            [ours[k] for k in ours], [theirs[k][1] / norm for k in ours], atol=1e-9 * len(x)
        )
        # Node impurities, from the sums of the target.
        prototype, everything = build_prototype(case.target), np.arange(len(x))
        known, total, square = node_sums(
            tree, apply_tree(tree, x, everything), everything, case.weight, prototype
        )
        alpha = case.target.weights / case.target.weights.sum()
        impurity = ((square / known - (total / known) ** 2) * prototype.unit) @ alpha[prototype.variable]
        np.testing.assert_allclose(impurity, [theirs[k][0] / norm for k in ours], atol=1e-9)
    assert used >= 2


@every_task
@pytest.mark.parametrize("w", [0.3, 0.5])
def test_semi_supervised_trees_equal_those_of_scikit_learn(task, w):
    used = 0
    for seed in range(2):
        case = complete_case(seed, task, w)
        if not settled(case.naive_tree()):
            continue
        used += 1
        x, y = case.table.values, case.target.columns()
        alpha = case.target.weights / case.target.weights.sum()
        if task == "classification":
            scaled = y * np.sqrt(w / naive.gini(case.target.values[:, 0]))
        else:
            scaled = y * np.sqrt(w * alpha / y.var(axis=0))
        both = np.hstack([x * np.sqrt((1 - w) / 5 / x.var(axis=0)), scaled])
        model = DecisionTreeRegressor(
            min_samples_leaf=5, max_depth=case.growth.max_depth, random_state=0
        ).fit(x, both)
        ours, theirs = our_nodes(case, case.kernel_tree()), sklearn_nodes(model, x)
        assert set(ours) == set(theirs)
        gains = [theirs[k][1] * both.shape[1] for k in ours]
        np.testing.assert_allclose([ours[k] for k in ours], gains, atol=1e-9 * len(x))
    assert used >= 1
