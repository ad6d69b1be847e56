"""The forest kernels against their slow twins (tests/naive.py) and against scikit-learn's trees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from semirank.data.hierarchy import Hierarchy
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import CLASSES, LABELS, NUMBERS, TASKS
from semirank.trees.columns import build_prototype, build_space, build_tests, feature_columns, target_columns
from semirank.trees.ensemble import number_answers
from semirank.trees.grow import Growth, Tree, grow_tree, leaves_only, rotate
from semirank.trees.predict import apply_tree, node_sums, per_target_gain, prototypes
from semirank.trees.scores import node_scores, permutation, permutation_damage
from semirank.trees.sparse_binary import Bits, bits_in, find_bits

from . import naive

# ---------------------------------------------------------------- random data


@dataclass(frozen=True)
class Case:
    """Everything a tree is grown from."""

    table: Table
    target: Target
    w: float
    weight: np.ndarray
    growth: naive.Growth
    seed: int

    def kernel_tree(self) -> Tree:
        g = self.growth
        columns = feature_columns(self.table), target_columns(self.target)
        space = build_space(*columns, self.w, g.missing_weight)
        growth = Growth(
            g.n_candidates, g.random_test, g.min_samples_leaf, g.min_labeled, g.max_depth, g.only_differing
        )
        tests = build_tests(self.table)
        bits = bits_in(find_bits(tests), space, self.w)
        seed = np.uint64(self.seed)
        return grow_tree(tests, space, self.weight, number_answers(self.target), growth, seed, bits=bits)

    def bits(self) -> Bits | None:
        return find_bits(build_tests(self.table))

    def naive_tree(self) -> naive.Node:
        return naive.grow(self.table, self.target, self.w, self.weight, self.growth, self.seed)


def make_table(columns: list[np.ndarray], n_values: list[int]) -> Table:
    names = tuple(f"x{i}" for i in range(len(columns)))
    categories = tuple(tuple(f"v{v}" for v in range(k)) if k else None for k in n_values)
    values = np.ascontiguousarray(np.array(columns, dtype=float).T)
    return Table(values, np.array(n_values, dtype=np.int64), names, categories)


def make_target(task: str, values: np.ndarray, hierarchy: Hierarchy | None = None) -> Target:
    values = np.ascontiguousarray(values, dtype=float)
    weights = np.ones(values.shape[1]) if hierarchy is None else hierarchy.weights(0.75)
    classes = None
    if task == "classification":
        classes = np.arange(int(np.nanmax(values, initial=0)) + 1)
    return Target(task, values, tuple(f"y{j}" for j in range(values.shape[1])), weights, classes, hierarchy)


def random_table(rng, m: int, d: int, kinds: tuple[str, ...], holes: bool) -> Table:
    columns, n_values = [], []
    for j in range(d):
        kind = rng.choice(kinds)
        k = int(rng.integers(2, 7)) if kind == "nominal" else 0
        if kind == "nominal":
            # Not all declared values need to occur.
            x = rng.choice(rng.choice(k, size=rng.integers(1, k + 1), replace=False), size=m).astype(float)
        elif kind == "few":
            x = rng.integers(rng.integers(2, 6), size=m) * 0.7 - 1.0
        elif kind == "binary":
            x = (rng.random(m) < rng.uniform(0.1, 0.9)).astype(float)
        elif kind == "rare":
            # One of two values is rare, whichever; a third one may be declared.
            k = int(rng.choice([0, 2, 3]))
            rare = rng.random(m) < rng.uniform(0.01, 0.1)
            x = np.where(rare ^ (rng.random() < 0.4), 1.0 if k else 2.5, 0.0) + (k == 3)
        elif kind == "constant":
            x = np.full(m, 3.25)
        elif kind == "copy" and j:
            source = int(rng.integers(j))
            x, k = columns[source].copy(), n_values[source]
            if k == 0 and rng.random() < 0.5:
                x = -2.0 * x
        else:
            x = rng.normal(size=m) * 10.0 ** rng.integers(-3, 4)
        share = rng.choice([0.0, 0.0, 0.1, 0.5, 1.0], p=[0.3, 0.3, 0.2, 0.15, 0.05])
        x[rng.random(m) < share * holes] = np.nan
        columns.append(x)
        n_values.append(k)
    return make_table(columns, n_values)


def random_hierarchy(rng, t: int) -> Hierarchy:
    """A DAG in which every label has up to two parents among the earlier ones."""
    parents = [
        tuple(sorted({int(p) for p in rng.integers(j, size=rng.integers(0, 3))})) if j else ()
        for j in range(t)
    ]
    return Hierarchy(tuple(f"l{j}" for j in range(t)), tuple(parents))


def random_target(rng, table: Table, task: str, t: int) -> Target:
    m, d = table.shape
    signal = np.nan_to_num(
        table.values / np.maximum(np.nanmax(np.abs(table.values), axis=0, initial=1e-9), 1e-9)
    )
    t = 1 if task in ("classification", "regression") else t
    y = signal @ rng.normal(size=(d, t)) + rng.uniform(0.1, 1.0) * rng.normal(size=(m, t))
    hierarchy = None
    if task == "classification":
        y = np.searchsorted(np.sort(rng.normal(size=rng.integers(1, 4))), y).astype(float)
    elif task in ("multi_label", "hierarchical"):
        y = (y > rng.normal(size=t)).astype(float)
        if task == "hierarchical":
            hierarchy = random_hierarchy(rng, t)
            y = hierarchy.close(y)
    elif rng.random() < 0.3:
        y = np.round(y)  # ties
    if task in ("multi_target", "multi_label"):
        y[rng.random(y.shape) < rng.choice([0.0, 0.0, 0.3])] = np.nan
    y[rng.random(m) < rng.choice([0.0, 0.3, 0.7, 0.9])] = np.nan
    return make_target(task, y, hierarchy)


def bootstrap(rng, labeled: np.ndarray) -> np.ndarray:
    """Counts of rows drawn with replacement, labelled and unlabelled ones apart (Def. 1.3)."""
    weight = np.zeros(len(labeled))
    for rows in (np.flatnonzero(labeled), np.flatnonzero(~labeled)):
        if len(rows):
            np.add.at(weight, rng.choice(rows, size=len(rows)), 1.0)
    return weight


KINDS = ("continuous", "few", "binary", "nominal", "nominal", "constant", "copy")


def random_case(
    seed: int,
    task: str,
    m=(8, 60),
    d=(1, 8),
    t=(2, 5),
    kinds=KINDS,
    w: float | None = None,
    bootstrapped: bool | None = None,
    holes: bool = True,
    **growth,
) -> Case:
    """m rows, d features and t targets, each from a range; what is not given is drawn."""
    rng = np.random.default_rng([seed, list(TASKS).index(task)])
    m, d, t = (int(rng.integers(low, high + 1)) for low, high in (m, d, t))
    table = random_table(rng, m, d, kinds, holes)
    target = random_target(rng, table, task, t)
    chosen = {
        "n_candidates": int(rng.integers(1, d + 1)),
        "random_test": bool(rng.random() < 0.4),
        "min_samples_leaf": float(rng.choice([1, 1, 2, 5])),
        "min_labeled": float(rng.choice([0, 0, 4])),
        "max_depth": int(rng.choice([1000, 1000, 1, 3])),
        "missing_weight": str(rng.choice(["all", "known"])),
        "only_differing": seed % 4 == 3,
    }
    if bootstrapped is None:
        bootstrapped = bool(rng.random() < 0.6)
    weight = bootstrap(rng, target.labeled) if bootstrapped else np.ones(m)
    if w is None:
        w = float(rng.choice([0.0, 0.3, 0.5, 1.0]))
    return Case(table, target, w, weight, naive.Growth(**{**chosen, **growth}), int(rng.integers(2**63)))


# ---------------------------------------------------------------- comparison


def rows_in_nodes(tree: Tree, values: np.ndarray, rows: np.ndarray) -> list[list[int]]:
    """Rows that pass each node, by walking the arrays."""
    passed: list[list[int]] = [[] for _ in tree.feature]
    for r in rows:
        node = 0
        while True:
            passed[node].append(int(r))
            f = tree.feature[node]
            if f < 0:
                break
            x, start = values[r, f], tree.subset_start[node]
            if np.isnan(x):
                left = tree.missing_left[node] == 1
            elif start >= 0:
                left = tree.subset[start + int(x)] == 1
            else:
                left = x <= tree.threshold[node]
            node = tree.left[node] if left else tree.right[node]
    return passed


def assert_same_tree(case: Case, tree: Tree, twin: naive.Node) -> list[tuple[int, naive.Node]]:
    """Compare everything; returns the nodes that stand at the same place."""
    passed = rows_in_nodes(tree, case.table.values, np.flatnonzero(case.weight > 0))
    todo, pairs = [(0, twin)], []
    while todo:
        i, node = todo.pop()
        pairs.append((i, node))
        assert passed[i] == sorted(set(node.rows.tolist())), f"node {i}: other rows"
        assert tree.weight[i] == len(node.rows)
        if node.split is None:
            assert tree.feature[i] == -1, f"node {i}: the twin stops here"
            assert tree.value[i] == 0
            continue
        test = node.split.test
        assert tree.feature[i] == test.feature, f"node {i}: other feature"
        np.testing.assert_allclose(
            tree.value[i], node.split.h, rtol=0, atol=1e-9 * node.size, err_msg=f"node {i}"
        )
        assert tree.missing_left[i] == node.split.missing_left, f"node {i}: other side for missing values"
        if test.inside is None:
            assert tree.subset_start[i] == -1
            # A random threshold may be computed with one rounding less (fused multiply-add).
            slack = 1e-15 * np.nanmax(np.abs(case.table.values[node.rows, test.feature]))
            assert abs(tree.threshold[i] - test.threshold) <= slack * case.growth.random_test
        else:
            k = case.table.n_values[test.feature]
            subset = tree.subset[tree.subset_start[i] : tree.subset_start[i] + k]
            assert subset.tolist() == [bool(x) for x in test.goes_left(np.arange(k), node.split.missing_left)]
        assert min(tree.left[i], tree.right[i]) > i
        todo += [(tree.left[i], node.left), (tree.right[i], node.right)]
    assert len(pairs) == len(tree.feature)
    return pairs


def compare(seed: int, task: str, **kwargs) -> tuple[Case, Tree, naive.Node, list[tuple[int, naive.Node]]]:
    """Grow both trees from a random case and compare them."""
    case = random_case(seed, task, **kwargs)
    tree, twin = case.kernel_tree(), case.naive_tree()
    try:
        return case, tree, twin, assert_same_tree(case, tree, twin)
    except AssertionError as error:
        error.add_note(f"random_case({seed}, {task!r}, **{kwargs})")
        raise


every_task = pytest.mark.parametrize("task", TASKS)


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
        turned, _ = rotate(rows, np.arange(8))
        centred = rows - rows.mean(axis=0)
        gram = centred @ centred.T
        np.testing.assert_allclose(turned @ turned.T, gram, rtol=0, atol=1e-12 * gram.max())


@pytest.mark.parametrize("share", [0.0, 1e-9, 1e-6, 1e-3, 0.5])
def test_coordinates_for_all_trees_keep_all_inner_products(share):
    for width in (15, 16, 40):
        rng = np.random.default_rng(width)
        table = make_table(list(nearly_dependent(rng, 8, width, share).T), [0] * width)
        target = make_target("regression", np.where(np.arange(8) < 4, rng.normal(size=8), np.nan)[:, None])
        space = build_space(feature_columns(table), target_columns(target), 0.3)
        gram = space.full @ space.full.T
        if width < 16:
            assert space.turned is space.full
            assert space.size == 0
        else:
            assert space.turned.shape[1] < 8  # the rows are centred: their sum is 0
            assert space.size == pytest.approx(gram.max())
        np.testing.assert_allclose(space.turned @ space.turned.T, gram, rtol=0, atol=1e-12 * gram.max())


@pytest.mark.parametrize("share", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_trees_on_nearly_dependent_rows_equal_their_twins(share):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = make_table(list(nearly_dependent(rng, 12, 70, share).T), [0] * 70)
        target = make_target("regression", rng.normal(size=(12, 1)))
        case = Case(table, target, 0.0, np.ones(12), naive.Growth(70, max_depth=2), seed)
        assert_same_tree(case, case.kernel_tree(), case.naive_tree())


# ---------------------------------------------------------------- scikit-learn


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


# ---------------------------------------------------------------- prediction and scores


def measured(case: Case, tree: Tree):
    """What a forest measures on a tree: sums over its labelled rows."""
    prototype = build_prototype(case.target)
    rows = np.flatnonzero(case.target.labeled & (case.weight > 0))
    leaves = apply_tree(tree, case.table.values, rows)
    return prototype, *node_sums(tree, leaves, rows, case.weight, prototype)


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
