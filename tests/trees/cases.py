"""Random data for trees, and the comparison of a grown tree with its twin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from semirank.data.hierarchy import Hierarchy
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.trees.columns import build_prototype, build_space, build_tests, feature_columns, target_columns
from semirank.trees.ensemble import target_ids
from semirank.trees.grow import Growth, Tree, grow_tree
from semirank.trees.predict import apply_tree, node_sums
from semirank.trees.sparse_binary import Bits, bits_in, find_bits

from . import naive_trees as naive

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
    beta: np.ndarray | None = None
    normalize: bool = True

    def kernel_tree(self) -> Tree:
        g = self.growth
        features = feature_columns(self.table, self.beta, self.normalize)
        columns = features, target_columns(self.target, self.normalize)
        space = build_space(*columns, self.w, g.missing_weight)
        growth = Growth(
            g.n_candidates, g.random_test, g.min_samples_leaf, g.min_labeled, g.max_depth, g.only_differing
        )
        tests = build_tests(self.table)
        bits = bits_in(find_bits(tests), space, self.w)
        seed = np.uint64(self.seed)
        return grow_tree(tests, space, self.weight, target_ids(self.target), growth, seed, bits=bits)

    def bits(self) -> Bits | None:
        return find_bits(build_tests(self.table))

    def naive_tree(self) -> naive.Node:
        weights = self.beta, self.normalize
        return naive.grow(self.table, self.target, self.w, self.weight, self.growth, self.seed, *weights)


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
    weighted: bool = False,
    **growth,
) -> Case:
    """m rows, d features and t targets, each from a range; what is not given is drawn.

    weighted : features and targets have weights of their own, some of them 0, in either form of Def. 1.2.
    """
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
    case = Case(table, target, w, weight, naive.Growth(**{**chosen, **growth}), int(rng.integers(2**63)))
    if not weighted:
        return case
    alpha, beta = (rng.choice([0.0, 0.3, 1.0, 2.5], size=n) for n in (len(target.names), d))
    target = replace(target, weights=alpha)
    return replace(case, target=target, beta=beta, normalize=bool(rng.random() < 0.5))


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


def measured(case: Case, tree: Tree):
    """What a forest measures on a tree: sums over its labelled rows."""
    prototype = build_prototype(case.target)
    rows = np.flatnonzero(case.target.labeled & (case.weight > 0))
    leaves = apply_tree(tree, case.table.values, rows)
    return prototype, *node_sums(tree, leaves, rows, case.weight, prototype)
