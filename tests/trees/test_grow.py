"""Grown trees against their slow twins (naive_trees)."""

from __future__ import annotations

import numpy as np
import pytest

from semirank.data.hierarchy import Hierarchy
from semirank.data.tasks import TASKS
from semirank.trees.columns import build_space, build_tests, feature_columns, target_columns
from semirank.trees.payload import rotate
from semirank.trees.sparse_binary import find_bits

from . import naive_trees as naive
from .cases import (
    Case,
    assert_same_tree,
    bootstrap,
    compare,
    every_task,
    make_table,
    make_target,
    random_case,
    random_hierarchy,
    random_target,
)

# ---------------------------------------------------------------- the twin itself


def test_draws_are_splitmix64():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [naive.draw(1234567, i) for i in range(4)] == published
    assert sorted(naive.shuffled(7, 20)) == list(range(20))
    assert all(0 <= naive.unit(3, i) < 1 for i in range(100))


@every_task
def test_the_training_set_has_impurity_one(task):
    rng = np.random.default_rng(1)
    table = make_table([rng.normal(size=30), rng.integers(3, size=30), np.ones(30)], [0, 3, 0])
    y = rng.integers(2, size=(30, 1 if task in ("classification", "regression") else 4)).astype(float)
    y[20:] = np.nan
    hierarchy = random_hierarchy(rng, 4) if task == "hierarchical" else None
    target = make_target(task, y if hierarchy is None else hierarchy.close(y), hierarchy)
    for w in (0.0, 0.4, 1.0):
        variables = naive.clustering_variables(table, target, w)
        for missing_weight in ("all", "known"):
            size = np.sum(variables.share * naive.spread(variables, np.arange(30), missing_weight))
            np.testing.assert_allclose(size, 30)


def test_values_of_splits_by_hand():
    # Gini of (1/2, 1/2) is 1/2; both sides of x <= 1.5 have shares (3/4, 1/4), Gini 3/8, so imp = 3/4.
    table = make_table([[1, 1, 1, 1, 2, 2, 2, 2]], [0])
    y = np.array([[0], [0], [0], [1], [1], [1], [1], [0]])
    variables = naive.clustering_variables(table, make_target("classification", y), 1.0)
    left = table.values[:, 0] == 1
    assert naive.split_value(variables, np.arange(8), left, "all") == pytest.approx(8 - 8 * 0.75)
    # Only 0, 2 | 4, 10 are known: variances 1 and 9, 14 in all. Two of four rows are known on each side.
    y = np.array([[0.0], [2.0], [np.nan], [np.nan], [4.0], [10.0], [np.nan], [np.nan]])
    variables = naive.clustering_variables(table, make_target("regression", y), 1.0)
    assert naive.split_value(variables, np.arange(8), left, "all") == pytest.approx(8 - 4 / 14 - 4 * 9 / 14)
    assert naive.split_value(variables, np.arange(8), left, "known") == pytest.approx(
        (4 - 2 / 14 - 18 / 14) * 2
    )
    # Nothing is known on the right: it inherits the node's impurity, or weighs nothing.
    y = np.array([[0.0], [2.0], [np.nan], [np.nan], [np.nan], [np.nan], [np.nan], [np.nan]])
    variables = naive.clustering_variables(table, make_target("regression", y), 1.0)
    assert naive.split_value(variables, np.arange(8), left, "all") == pytest.approx(0)
    assert naive.split_value(variables, np.arange(8), left, "known") == pytest.approx(0)


def test_hierarchy_weights_share_the_target_side():
    hierarchy = Hierarchy.from_paths(["a", "a/b"])
    target = make_target("hierarchical", np.array([[1, 1], [1, 0], [0, 0]]), hierarchy)
    assert [v.share for v in naive.target_variables(target, 0.5)] == pytest.approx([0.5 / 1.75, 0.375 / 1.75])
    printed = naive.target_variables(target, 0.5, normalize=False)
    assert [v.share for v in printed] == pytest.approx([0.5 / 2, 0.375 / 2])


def test_weights_of_features_share_their_side():
    """A constant feature counts neither in the sum of weights nor in their number."""
    table = make_table([[1, 2, 3], [4, 4, 4], [0, 1, 1]], [0, 0, 2])
    beta = np.array([1.0, 7.0, 3.0])
    shares = [[v.share for v in naive.feature_variables(table, 0.5, beta, form)] for form in (True, False)]
    assert shares == [pytest.approx([0.5 / 4, 1.5 / 4]), pytest.approx([0.5 / 2, 1.5 / 2])]
    for normalize, expected in zip((True, False), shares):
        assert (0.5 * feature_columns(table, beta, normalize).share).tolist() == pytest.approx(expected)


# ---------------------------------------------------------------- trees


@every_task
def test_trees_equal_their_twins(task):
    for seed in range(60):
        compare(seed, task)


@every_task
def test_fully_grown_trees_equal_their_twins(task):
    for seed in range(1000, 1025):
        compare(seed, task, min_samples_leaf=1.0, min_labeled=0.0, max_depth=1000)


@every_task
def test_trees_with_weights_equal_their_twins(task):
    """Weights of targets and features, 0 among them, divided by their sum or by their number."""
    for seed in range(3000, 3040):
        compare(seed, task, weighted=True)
    for seed in range(3100, 3120):
        compare(seed, task, weighted=True, kinds=("rare",) * 8 + ("constant",), holes=False, m=(30, 150))


@every_task
def test_extra_trees_equal_their_twins(task):
    kinds = ("nominal", "few", "continuous")
    for seed in range(2000, 2030):
        compare(seed, task, kinds=kinds, random_test=True, min_samples_leaf=1.0, max_depth=1000)


@every_task
@pytest.mark.parametrize("leaf", [1.0, 3.0])
def test_extra_trees_on_complete_numbers_equal_their_twins(task, leaf):
    """Small nodes evaluate all features side by side, where no target is known or none has holes."""
    kinds = ("continuous", "few", "binary", "constant", "copy")
    for seed in range(2500, 2530):
        case = {"kinds": kinds, "holes": False, "d": (2, 9), "n_candidates": 9, "random_test": True}
        compare(seed, task, **case, min_samples_leaf=leaf, min_labeled=0.0, max_depth=1000)


@every_task
@pytest.mark.parametrize("random_test", [False, True])
def test_trees_on_sparse_features_equal_their_twins(task, random_test):
    """Where one of two values is rare, nodes count what occurs together."""
    kinds = ("rare",) * 8 + ("constant", "copy")
    counted = 0
    for seed in range(6000, 6040):
        case, tree, _, _ = compare(
            seed,
            task,
            kinds=kinds,
            holes=False,
            m=(30, 150),
            d=(3, 12),
            random_test=random_test,
            max_depth=1000,
        )
        counted += case.bits() is not None and case.w < 1 and tree.feature[0] >= 0
    assert counted >= 15


def test_what_counts_as_sparse():
    """Every feature known, with at most two values, one of them rare."""
    rng = np.random.default_rng(0)
    rare = (rng.random((5, 200)) < 0.05).astype(float)
    rare[1] = 1 - rare[1]
    rare[2] = 7.0
    hole, third, dense = rare.copy(), rare.copy(), rare.copy()
    hole[0, 3], third[0, 3], dense[0] = np.nan, 0.5, rng.random(200) < 0.5
    for columns in (hole, third, dense, rare[2:3], rare[:, :0]):
        assert find_bits(build_tests(make_table(list(columns), [0] * len(columns)))) is None
    assert find_bits(build_tests(make_table([2 * rare[0]], [3]))) is None
    bits = find_bits(build_tests(make_table(list(rare), [0, 0, 0, 2, 3])))
    assert bits is not None
    assert bits.column_of.tolist() == [0, 1, -1, 2, 3]
    ones = np.zeros((200, 4))
    for i in range(200):
        ones[i, bits.column[bits.start[i] : bits.start[i + 1]]] = 1
    np.testing.assert_array_equal(ones, np.stack([rare[0], 1 - rare[1], rare[3], rare[4]], axis=1))
    without, with_one = bits.example
    assert ones[without, range(4)].tolist() == [0] * 4
    assert ones[with_one, range(4)].tolist() == [1] * 4


@every_task
def test_orders_of_nominal_values_equal_their_twins(task):
    for seed in range(3000, 3030):
        compare(seed, task, kinds=("nominal", "continuous"), random_test=False, min_samples_leaf=1.0)


@pytest.mark.parametrize("copies", [1, 2, 3, 5])
@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_the_lowest_code_goes_left_where_all_directions_are_equally_long(k, copies):
    # Values that occur equally often are corners of a regular simplex; rounding must not choose among them.
    table = make_table([np.repeat(np.arange(k), copies)], [k])
    target = make_target("regression", np.full((k * copies, 1), np.nan))
    case = Case(table, target, 0.0, np.ones(k * copies), naive.Growth(1, max_depth=1), 1)
    tree = case.kernel_tree()
    assert_same_tree(case, tree, case.naive_tree())
    assert tree.subset.tolist() == [1] + [0] * (k - 1)


@every_task
def test_orders_without_a_longest_direction_equal_their_twins(task):
    # With nominal features alone, values that occur equally often often have equally long directions.
    for seed in range(40):
        compare(seed, task, kinds=("nominal",), random_test=False, min_samples_leaf=1.0, max_depth=1000)


@every_task
def test_orders_of_many_values_equal_their_twins(task):
    """Such as a column of names: too many values for the exact direction."""
    for seed in range(3500, 3504):
        rng = np.random.default_rng([seed, list(TASKS).index(task)])
        names = rng.integers(60, size=150).astype(float)
        names[rng.random(150) < 0.1 * (seed % 2)] = np.nan
        effect = rng.normal(size=60)[np.nan_to_num(names).astype(int)]
        table = make_table([names, effect + rng.normal(size=150), rng.normal(size=150)], [70, 0, 0])
        target = random_target(rng, table, task, 3)
        growth = naive.Growth(3, False, max_depth=3)
        case = Case(table, target, 0.5, bootstrap(rng, target.labeled), growth, seed)
        assert_same_tree(case, case.kernel_tree(), case.naive_tree())


@every_task
@pytest.mark.parametrize("kinds", [("continuous",), ("binary", "few", "nominal")])
def test_wide_tables_equal_their_twins(task, kinds):
    # More clustering columns than rows, and enough candidates for matrix products.
    for seed in range(2):
        compare(seed, task, m=(12, 32), d=(50, 70), kinds=kinds, n_candidates=80, max_depth=1000)


@pytest.mark.parametrize("task", ["multi_target", "multi_label", "hierarchical"])
def test_many_targets_equal_their_twins(task):
    for seed in range(10):
        compare(seed, task, d=(1, 8), t=(40, 80), max_depth=1000)


@every_task
@pytest.mark.parametrize("random_test", [False, True])
def test_tall_tables_equal_their_twins(task, random_test):
    # Enough rows for every way of sorting and of summing by value.
    for seed in range(3):
        compare(
            seed, task, m=(280, 320), d=(2, 5), max_depth=2, random_test=random_test, min_samples_leaf=1.0
        )


def test_numbers_far_from_one_and_from_zero_grow_the_same_tree():
    # Factors and shifts that are exact in binary change thresholds, and nothing else.
    case = random_case(4, "regression", d=(4, 4), kinds=("few", "continuous"), w=0.5, random_test=False)
    x = np.round(case.table.values * 8) / 8
    tree = None
    for factor, shift in ((1.0, 0.0), (2.0**-900, 0.0), (2.0**1000, 0.0), (1.0, 2.0**33)):
        table = make_table(list((x * factor + shift).T), [0] * x.shape[1])
        other = Case(table, case.target, case.w, case.weight, case.growth, case.seed).kernel_tree()
        tree = other if tree is None else tree
        assert tree.feature.tolist() == other.feature.tolist()
        assert tree.missing_left.tolist() == other.missing_left.tolist()
        np.testing.assert_allclose(tree.value, other.value, rtol=1e-9)
        np.testing.assert_allclose(
            tree.threshold[tree.feature >= 0] * factor + shift, other.threshold[tree.feature >= 0]
        )
    assert len(tree.feature) > 5


@pytest.mark.parametrize("missing_weight", ["all", "known"])
@pytest.mark.parametrize("random_test", [False, True])
@pytest.mark.parametrize("unlabeled", [0, 20])
def test_close_calls_end_as_in_the_twin(missing_weight, random_test, unlabeled):
    # Features that differ in two rows whose targets differ by very little, too little for float32.
    chosen = []
    for seed in range(12):
        rng = np.random.default_rng([seed, unlabeled])
        n = 60
        y = rng.normal(size=n)
        base = (y + rng.normal(size=n) > 0).astype(float)
        columns = [base]
        for _ in range(11):
            i, j = rng.choice(np.flatnonzero(base == 0)), rng.choice(np.flatnonzero(base == 1))
            y[i] = y[j] + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-11, -4)
            column = base.copy()
            column[i], column[j] = 1.0, 0.0
            columns.append(column)
        y[n - unlabeled :] = np.nan
        growth = naive.Growth(12, random_test, max_depth=1, missing_weight=missing_weight)
        target = make_target("regression", y[:, None])
        case = Case(make_table(columns, [0] * 12), target, 1.0, bootstrap(rng, target.labeled), growth, seed)
        twin = case.naive_tree()
        assert_same_tree(case, case.kernel_tree(), twin)
        chosen.append(twin.split.test.feature)
    assert len(set(chosen)) > 3


# ---------------------------------------------------------------- few coordinates for few rows


def nearly_dependent(rng, n: int, width: int, share: float) -> np.ndarray:
    """Rows of which one lies between two others, a little beside the first."""
    rows = rng.normal(size=(n, width))
    rows[1] = rows[0] + share * (rows[2] - rows[0])
    return rows


@pytest.mark.parametrize("share", [0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.5, 1.0])
def test_rotation_keeps_all_inner_products(share):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = nearly_dependent(rng, 8, 30, share)
        rotated, _ = rotate(rows, np.arange(8))
        centred = rows - rows.mean(axis=0)
        gram = centred @ centred.T
        np.testing.assert_allclose(rotated @ rotated.T, gram, rtol=0, atol=1e-12 * gram.max())


@pytest.mark.parametrize("share", [0.0, 1e-9, 1e-6, 1e-3, 0.5])
def test_coordinates_for_all_trees_keep_all_inner_products(share):
    for width in (15, 16, 40):
        rng = np.random.default_rng(width)
        table = make_table(list(nearly_dependent(rng, 8, width, share).T), [0] * width)
        target = make_target("regression", np.where(np.arange(8) < 4, rng.normal(size=8), np.nan)[:, None])
        space = build_space(feature_columns(table), target_columns(target), 0.3)
        gram = space.full @ space.full.T
        if width < 16:
            assert space.rotated is space.full
            assert space.size == 0
        else:
            assert space.rotated.shape[1] < 8  # the rows are centred: their sum is 0
            assert space.size == pytest.approx(gram.max())
        np.testing.assert_allclose(space.rotated @ space.rotated.T, gram, rtol=0, atol=1e-12 * gram.max())


@pytest.mark.parametrize("share", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_trees_on_nearly_dependent_rows_equal_their_twins(share):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = make_table(list(nearly_dependent(rng, 12, 70, share).T), [0] * 70)
        target = make_target("regression", rng.normal(size=(12, 1)))
        case = Case(table, target, 0.0, np.ones(12), naive.Growth(70, max_depth=2), seed)
        assert_same_tree(case, case.kernel_tree(), case.naive_tree())
