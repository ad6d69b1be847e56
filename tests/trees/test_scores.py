"""Scores of a tree against their twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from semirank.data.tasks import CLASSES, LABELS, NUMBERS, TASKS
from semirank.trees.columns import build_prototype, build_space, feature_columns, target_columns
from semirank.trees.grow import Tree, leaves_only
from semirank.trees.node_scores import node_scores, per_target_gain
from semirank.trees.out_of_bag_gain import genie3_oob, per_target_gain_oob, rows_with_columns
from semirank.trees.permutation_scores import permutation, permutation_damage
from semirank.trees.predict import apply_tree, node_sums, prototypes

from . import naive_trees as naive
from .cases import (
    Case,
    compare,
    every_task,
    make_target,
    measured,
    random_case,
)


@every_task
def test_scores_from_nodes_equal_their_twins(task):
    for seed in range(30):
        case, tree, twin, _ = compare(seed, task, max_depth=1000, min_samples_leaf=1.0)
        d = case.table.shape[1]
        genie3, symbolic = node_scores(tree, d)
        np.testing.assert_allclose(genie3, naive.genie3(twin, d), atol=1e-9)
        np.testing.assert_allclose(symbolic, naive.symbolic(twin, d), atol=1e-12)


@every_task
def test_per_target_scores_equal_their_twins(task):
    for seed in range(30):
        case, tree, twin, _ = compare(seed, task, max_depth=1000, min_samples_leaf=1.0)
        d, mode = case.table.shape[1], case.growth.missing_weight
        prototype, known, total, square = measured(case, tree)
        gain = np.zeros((d, case.target.values.shape[1]))
        per_target_gain(tree, known, total, square, prototype, mode == "known", gain)
        expected = naive.per_target_genie3(twin, case.target, d, mode)
        np.testing.assert_allclose(gain, expected, atol=1e-9, err_msg=f"seed {seed}")


@pytest.mark.parametrize("missing_weight", ["all", "known"])
def test_per_target_scores_add_up_to_genie3_at_full_supervision(missing_weight):
    case, tree, _, _ = compare(8, "hierarchical", w=1.0, missing_weight=missing_weight, min_labeled=0.0)
    prototype, known, total, square = measured(case, tree)
    gain = np.zeros((case.table.shape[1], len(case.target.weights)))
    per_target_gain(tree, known, total, square, prototype, missing_weight == "known", gain)
    varies = prototype.unit > 0
    alpha = case.target.weights * varies
    assert varies.sum() > 1
    np.testing.assert_allclose(gain @ alpha / alpha.sum(), node_scores(tree, len(gain))[0], atol=1e-12)


def out_of_bag_gain(case: Case, tree: Tree) -> np.ndarray | None:
    columns = feature_columns(case.table), target_columns(case.target)
    space = build_space(*columns, case.w, case.growth.missing_weight)
    rows = np.flatnonzero(rows_with_columns(space))
    leaves = apply_tree(tree, case.table.values, rows)
    return genie3_oob(tree, space, rows, leaves, case.weight, case.table.shape[1])


@every_task
@pytest.mark.parametrize("w", [0.0, 0.5, 1.0])
def test_out_of_bag_gains_equal_their_twins(task, w):
    """Random, missing, tied, constant and nominal data, in bootstraps; without one there is no such score."""
    told = 0
    for seed in range(40):
        case, tree, twin, _ = compare(seed, task, w=w, bootstrapped=seed % 8 != 7)
        found = out_of_bag_gain(case, tree)
        expected = naive.genie3_oob(twin, case.table, case.target, case.w, np.flatnonzero(case.weight == 0))
        if expected is None:
            assert found is None, f"seed {seed}"
        else:
            np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=f"seed {seed}")
            told += bool(np.any(expected != 0))
    assert told >= 12


def out_of_bag_gain_per_target(case: Case, tree: Tree) -> np.ndarray:
    prototype, known, total, _ = measured(case, tree)
    rows = np.flatnonzero(case.target.labeled & (case.weight == 0))
    leaves = apply_tree(tree, case.table.values, rows)
    out_known, out_total, _ = node_sums(tree, leaves, rows, np.ones(len(case.weight)), prototype)
    gain = np.zeros((case.table.shape[1], case.target.values.shape[1]))
    per_target_gain_oob(tree, known, total, out_known, out_total, prototype, gain)
    return gain


@every_task
@pytest.mark.parametrize("w", [0.0, 0.5, 1.0])
def test_out_of_bag_gains_per_target_equal_those_of_the_target_alone(task, w):
    told = 0
    for seed in range(20):
        case, tree, twin, _ = compare(seed, task, w=w, bootstrapped=True)
        found = out_of_bag_gain_per_target(case, tree)
        for t in range(found.shape[1]):
            alone = replace(
                case.target,
                task="classification" if task == "classification" else "multi_target",
                values=case.target.values[:, [t]],
                names=case.target.names[t : t + 1],
                weights=np.ones(1),
                hierarchy=None,
            )
            expected = naive.genie3_oob(twin, case.table, alone, 1.0, np.flatnonzero(case.weight == 0))
            expected = np.zeros(len(found)) if expected is None else expected
            np.testing.assert_allclose(found[:, t], expected, atol=1e-9, err_msg=f"seed {seed}")
            told += bool(np.any(expected != 0))
    assert told >= 5


def test_out_of_bag_gains_per_target_add_up_at_full_supervision():
    case, tree, _, _ = compare(8, "hierarchical", w=1.0, bootstrapped=True, min_labeled=0.0)
    gain = out_of_bag_gain_per_target(case, tree)
    alpha = case.target.weights * (build_prototype(case.target).unit > 0)
    assert (alpha > 0).sum() > 1
    np.testing.assert_allclose(gain @ alpha / alpha.sum(), out_of_bag_gain(case, tree), atol=1e-12)


def test_out_of_bag_gains_of_wide_data_equal_their_twins():
    """More columns than rows: the kernel sums coordinates of the rows (Def. 1.9)."""
    for seed in range(5):
        case, tree, twin, _ = compare(
            seed, "multi_target", m=(12, 20), d=(60, 80), w=0.5, bootstrapped=True, holes=seed % 2 == 1
        )
        out_of_bag = np.flatnonzero(case.weight == 0)
        expected = naive.genie3_oob(twin, case.table, case.target, case.w, out_of_bag)
        np.testing.assert_allclose(out_of_bag_gain(case, tree), expected, atol=1e-9, err_msg=f"seed {seed}")


def test_out_of_bag_gains_of_the_rows_themselves_are_genie3():
    """Twice every row, the second of each out of bag, where the same tests part them (Def. 1.4)."""
    fully = {"n_candidates": 3, "max_depth": 1000, "min_samples_leaf": 1.0, "min_labeled": 0.0}
    case = random_case(
        4, "multi_label", m=(30, 40), d=(5, 6), w=0.5, holes=False, bootstrapped=False, **fully
    )
    known = np.nan_to_num(case.target.values)
    twice = replace(
        case,
        table=case.table.take(np.tile(np.arange(len(known)), 2)),
        target=make_target("multi_label", np.concatenate([known, known])),
        weight=np.repeat([1.0, 0.0], len(known)),
    )
    tree = twice.kernel_tree()
    genie3, _ = node_scores(tree, case.table.shape[1])
    assert np.count_nonzero(genie3) > 1
    np.testing.assert_allclose(out_of_bag_gain(twice, tree), genie3, atol=1e-12)


def compare_damage(case: Case, tree: Tree, twin: naive.Node) -> np.ndarray | None:
    """The damage of all features, equal to the twin's; None without labelled out-of-bag rows."""
    out_of_bag = np.flatnonzero(case.target.labeled & (case.weight == 0))
    if len(out_of_bag) == 0:
        return None
    prototype, known, total, _ = measured(case, tree)
    d, n = case.table.shape[1], len(out_of_bag)
    permutations = np.array([naive.shuffled(naive.feature_seed(case.seed, i), n) for i in range(d)])
    means = prototypes(tree, known, total, prototype.mean)
    kind = TASKS[case.target.task].kind
    damage = permutation_damage(
        tree, case.table.values, out_of_bag, means, prototype, kind, np.uint64(case.seed)
    )
    expected = naive.rforest(twin, case.table, case.target, out_of_bag, permutations)
    np.testing.assert_allclose(damage, expected, atol=1e-7, err_msg=f"seed {case.seed}")
    return expected


@every_task
def test_permutation_scores_equal_their_twins(task):
    damaged = 0
    for seed in range(40):
        case, tree, twin, _ = compare(seed, task, m=(20, 60), max_depth=1000, bootstrapped=True)
        found = compare_damage(case, tree, twin)
        damaged += found is not None and bool(np.any(found != 0))
    assert damaged >= 10


def stump() -> Tree:
    """x <= 0 goes to node 1, what is greater to node 2."""
    tree = leaves_only(3)
    tree.feature[0], tree.left[0], tree.right[0] = 0, 1, 2
    return tree


def test_damage_of_a_tree_that_ranks_badly_is_measured_against_the_floor():
    """The few positive cells come last, so that AUPRC is far below 0.01 (Def. 1.4)."""
    n, seed = 600, np.uint64(5)
    x = np.repeat([-1.0, 1.0], n // 2)[:, None]
    y = np.zeros((n, 2))
    y[-2:, 0] = 1
    tree = stump()
    means = np.array([[0.5, 0.5], [0.9, 0.9], [0.1, 0.1]])
    prototype = build_prototype(make_target("multi_label", y))
    (damage,) = permutation_damage(tree, x, np.arange(n), means, prototype, LABELS, seed)
    shuffled = x[permutation(seed, 0, n)]
    before, after = (average_precision_score(y.ravel(), np.repeat(-z, 2)) for z in (x, shuffled))
    assert before < after < 0.01
    assert damage == pytest.approx((before - after) / 0.01, abs=1e-12)


def test_damage_of_a_tree_that_is_always_wrong_is_measured_against_the_floor():
    """Macro F1 is 0 before (Def. 1.4), so the scale of F1 after shows: a ratio would hide it."""
    n, seed = 30, np.uint64(5)
    x = np.repeat([-1.0, 1.0], n // 2)[:, None]
    truth = np.repeat([0, 1], n // 2)
    tree = stump()
    means = np.array([[0.5, 0.5], [0.1, 0.9], [0.9, 0.1]])
    prototype = build_prototype(make_target("classification", truth[:, None]))
    (damage,) = permutation_damage(
        tree, x, np.arange(n), means, prototype, TASKS["classification"].kind, seed
    )
    guess = (x[permutation(seed, 0, n), 0] < 0).astype(int)
    after = f1_score(truth, guess, average="macro")
    assert 0.1 < after < 0.9
    assert damage == pytest.approx(-after / 0.01, abs=1e-12)


def test_damage_of_a_tree_without_error_is_measured_against_the_floor():
    """RRMSE is 0 before (Def. 1.4), and its mean after is over the targets that vary."""
    n, seed = 30, np.uint64(5)
    x = np.repeat([-1.0, 1.0], n // 2)[:, None]
    y = np.column_stack([x[:, 0], np.full(n, 7.0)])
    tree = stump()
    means = np.array([[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    prototype = build_prototype(make_target("multi_target", y))
    (damage,) = permutation_damage(tree, x, np.arange(n), means, prototype, NUMBERS, seed)
    after = np.sqrt(np.mean((x - x[permutation(seed, 0, n)]) ** 2))  # the variance of the target is 1
    assert 1 < after < 2
    assert damage == pytest.approx(after / 0.001)


def test_a_row_on_the_threshold_is_damaged_by_the_features_of_the_left_branch():
    n, seed = 30, np.uint64(5)
    truth = np.repeat([0, 1], n // 2)
    x = np.column_stack([np.zeros(n), truth])
    tree = leaves_only(5)
    tree.feature[:2] = 0, 1
    tree.threshold[1] = 0.5
    tree.left[:2], tree.right[:2] = (1, 3), (2, 4)
    means = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    prototype = build_prototype(make_target("classification", truth[:, None]))
    damage = permutation_damage(tree, x, np.arange(n), means, prototype, CLASSES, seed)
    after = f1_score(truth, truth[permutation(seed, 1, n)], average="macro")
    np.testing.assert_allclose(damage, [0.0, 1 - after], atol=1e-12)
    assert after < 0.9


def test_permutation_scores_of_a_target_that_one_row_knows():
    """RRMSE is a mean over targets, one with a single known row out of bag included."""
    damaged = 0
    for seed in range(7000, 7012):
        case = random_case(
            seed,
            "multi_target",
            m=(40, 60),
            kinds=("continuous",),
            holes=False,
            bootstrapped=True,
            max_depth=4,
        )
        y = case.target.values.copy()
        rows = np.flatnonzero((case.weight == 0) & ~np.isnan(y).any(axis=1))
        if len(rows) < 3:
            continue
        y[case.weight == 0, 0] = np.nan
        y[rows[0], 0] = case.target.values[rows[0], 0]
        case = replace(case, target=make_target("multi_target", y))
        found = compare_damage(case, case.kernel_tree(), case.naive_tree())
        damaged += found is not None and bool(np.any(found != 0))
    assert damaged >= 3
