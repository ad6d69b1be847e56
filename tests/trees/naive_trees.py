"""Slow, obvious twins of the forest kernels: impurity, best test, tree, prototypes, scores (Def. 1.1-1.4).

Written from the formulas, one test at a time, without sums of squares and without columns that are scaled in
advance. A node is an array of row numbers in which a row drawn twice by the bootstrap occurs twice, so |E| is
its length. Random draws are those of the kernels (splitmix64, the n-th draw of a seed), in Python integers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import NUMBERS, TASKS
from semirank.judging.measures import task_score

# Values of h closer than this share of |E| imp(E) are equal (Def. 1.3, Ties).
TIE = 1e-9

# A node with less impurity than this per row has nothing to gain.
PURE = 1e-12

# More nominal values than this are ordered along an axis found in a few steps.
MANY_VALUES = 32

_WORD = 2**64 - 1
_MUL1 = 0xBF58476D1CE4E5B9
_MUL2 = 0x94D049BB133111EB


# ---------------------------------------------------------------- random draws


def draw(seed: int, number: int) -> int:
    """The `number`-th 64-bit draw of a seed: splitmix64 as published, jumped ahead."""
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * _MUL1) & _WORD
    z = ((z ^ (z >> 27)) * _MUL2) & _WORD
    return z ^ (z >> 31)


def unit(seed: int, number: int) -> float:
    """A draw in [0, 1) with 53 bits."""
    return (draw(seed, number) >> 11) / 2**53


def below(seed: int, number: int, limit: int) -> int:
    """A draw in 0..limit-1."""
    return ((draw(seed, number) >> 32) * limit) >> 32


def feature_seed(node_seed: int, feature: int) -> int:
    return draw(node_seed ^ _MUL1, feature)


def child_seed(node_seed: int, side: int) -> int:
    return draw(node_seed ^ _MUL2, side)


def shuffled(seed: int, n: int) -> list[int]:
    """0..n-1 in the order in which a node draws its candidate features (Fisher-Yates)."""
    order = list(range(n))
    for j in range(n):
        other = j + below(seed, j, n - j)
        order[j], order[other] = order[other], order[j]
    return order


# ---------------------------------------------------------------- impurity (Def. 1.2)


@dataclass(frozen=True)
class Variable:
    """A feature or target variable that is not constant on the training set."""

    values: np.ndarray  # numbers or codes, NaN where unknown
    nominal: bool
    share: float  # its part of imp: (1 - w) * beta / sum(beta), or w * alpha / sum(alpha); or over D, T
    norm: float  # variance or Gini of the training set
    factor: float  # N / k_train
    place: int  # which feature or target variable it is


class Variables:
    """Several variables; the numeric ones side by side, because Python is slow."""

    def __init__(self, n_rows: int, variables: list[Variable]):
        every = sorted(variables, key=lambda v: v.nominal)
        self.numbers = np.array([v.values for v in every if not v.nominal]).reshape(-1, n_rows).T
        self.codes = [v.values for v in every if v.nominal]
        self.share = np.array([v.share for v in every])
        self.norm = np.array([v.norm for v in every])
        self.factor = np.array([v.factor for v in every])
        self.place = np.array([v.place for v in every], dtype=int)


def variance(z: np.ndarray) -> float:
    """Population variance of known values."""
    return float(np.mean((z - np.mean(z)) ** 2))


def gini(z: np.ndarray) -> float:
    """1 - sum of the squared shares of known values (codes)."""
    shares = np.bincount(z.astype(int)) / len(z)
    return float(1.0 - np.sum(shares**2))


def make_variables(
    columns: np.ndarray, nominal: np.ndarray, weights: np.ndarray, part: float, normalize: bool = True
) -> list[Variable]:
    """Variables that share `part` by their weights; those constant on the training set are left out.

    As the paper prints it (not normalize), the weights are divided by the number of variables.
    """
    kept = []
    for place, values in enumerate(columns.T):
        known = values[~np.isnan(values)]
        if len(np.unique(known)) > 1:
            kept.append((place, values, known))
    total = sum(weights[place] for place, _, _ in kept) or 1.0
    if not normalize:
        total = len(kept)
    return [
        Variable(
            values=values,
            nominal=bool(nominal[place]),
            share=part * weights[place] / total,
            norm=gini(known) if nominal[place] else variance(known),
            factor=len(values) / len(known),
            place=place,
        )
        for place, values, known in kept
    ]


def feature_variables(
    table: Table, part: float = 1.0, beta: np.ndarray | None = None, normalize: bool = True
) -> list[Variable]:
    beta = np.ones(table.shape[1]) if beta is None else beta
    return make_variables(table.values, table.n_values > 0, beta, part, normalize)


def target_variables(target: Target, part: float = 1.0, normalize: bool = True) -> list[Variable]:
    nominal = np.full(target.values.shape[1], target.task == "classification")
    return make_variables(target.values, nominal, target.weights, part, normalize)


def clustering_variables(
    table: Table, target: Target, w: float, beta: np.ndarray | None = None, normalize: bool = True
) -> Variables:
    """imp = w * A_y + (1 - w) * A_x as one weighted sum; a side of weight 0 is left out."""
    x = feature_variables(table, 1 - w, beta, normalize) if w < 1 else []
    y = target_variables(target, w, normalize) if w > 0 else []
    return Variables(len(table), x + y)


def impurities(variables: Variables, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(imp, k) of every variable on a set of rows; imp is 0 where k is."""
    z = variables.numbers[rows]
    known = ~np.isnan(z)
    k = known.sum(axis=0)
    mean = np.where(known, z, 0.0).sum(axis=0) / np.maximum(k, 1)
    imp = np.where(known, (z - mean) ** 2, 0.0).sum(axis=0) / np.maximum(k, 1)
    ginis, counts = [], []
    for codes in variables.codes:
        c = codes[rows]
        c = c[~np.isnan(c)]
        ginis.append(gini(c) if len(c) else 0.0)
        counts.append(len(c))
    return np.concatenate([imp, ginis]) / variables.norm, np.concatenate([k, counts])


def spread(variables: Variables, rows: np.ndarray, missing_weight: str) -> np.ndarray:
    """|E| imp(E, z) of every variable z, without its share: what a split wants to make smaller."""
    imp, k = impurities(variables, rows)
    return k * variables.factor * imp if missing_weight == "known" else len(rows) * imp


def decreases(variables: Variables, rows: np.ndarray, left: np.ndarray, missing_weight: str) -> np.ndarray:
    """|E| imp(E, z) - sum_i |E_i| imp(E_i, z) of every variable z, without its share."""
    imp, k = impurities(variables, rows)
    gain = k * variables.factor * imp if missing_weight == "known" else len(rows) * imp
    for side in (rows[left], rows[~left]):
        imp_i, k_i = impurities(variables, side)
        if missing_weight == "known":
            gain -= k_i * variables.factor * imp_i
        else:
            # A branch where the variable is never known inherits the node's impurity.
            gain -= len(side) * np.where(k_i > 0, imp_i, imp)
    return gain


def split_value(variables: Variables, rows: np.ndarray, left: np.ndarray, missing_weight: str) -> float:
    """h of Alg. 2, line 4."""
    return float(np.sum(variables.share * decreases(variables, rows, left, missing_weight)))


# ---------------------------------------------------------------- tests of a node (Def. 1.3)


@dataclass(frozen=True)
class Test:
    """What a node asks: x <= threshold, or whether x is in `inside`; `seen` are the values in the node."""

    feature: int
    threshold: float
    inside: frozenset[int] | None
    seen: frozenset[int]

    __test__ = False  # not for pytest

    def goes_left(self, x: np.ndarray, missing_left: bool) -> np.ndarray:
        if self.inside is None:
            return np.where(np.isnan(x), missing_left, x <= self.threshold)
        # Values not seen in the node go where missing ones go.
        return np.where(np.isin(x, list(self.seen)), np.isin(x, list(self.inside)), missing_left)


def middle(a: float, b: float) -> float:
    """Midway between two neighbouring values, and never the larger of them."""
    t = a / 2 + b / 2
    return t if a <= t < b else a


def ordered_values(variables: Variables, rows: np.ndarray, x: np.ndarray) -> list[int]:
    """Values of a nominal feature by the projection of their mean clustering vectors (Def. 1.3)."""
    columns = [variables.numbers[rows]]
    for codes in variables.codes:
        hot = (codes[rows, None] == np.unique(codes[~np.isnan(codes)])).astype(float)
        hot[np.isnan(codes[rows])] = np.nan
        columns.append(hot)
    sizes = [1] * variables.numbers.shape[1] + [c.shape[1] for c in columns[1:]]
    z = np.concatenate(columns, axis=1) * np.sqrt(np.repeat(variables.share / variables.norm, sizes))

    def mean(a: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        k = (~np.isnan(a)).sum(axis=0)
        return np.where(k > 0, np.nansum(a, axis=0) / np.maximum(k, 1), otherwise)

    node_mean = mean(z, np.zeros(z.shape[1]))
    present = np.unique(x[~np.isnan(x)])
    counts = np.array([np.sum(x == v) for v in present])
    means = np.array([mean(z[x == v], node_mean) for v in present])
    means -= counts @ means / counts.sum()
    weighted = np.sqrt(counts)[:, None] * means
    if len(present) > MANY_VALUES:
        projection = along_the_way(weighted, counts)
        return [int(v) for v in present[np.argsort(projection, kind="stable")]]
    _, lengths, directions = np.linalg.svd(weighted, full_matrices=False)
    if lengths[0] ** 2 <= PURE * counts.sum():
        return [int(v) for v in present]  # all means are equal
    # One direction, as a rule. Where several are equally long, the lowest code's own mean points the way.
    first = lengths**2 >= (1 - TIE) * lengths[0] ** 2
    inside = means @ directions[first].T
    size = np.linalg.norm(inside, axis=1)
    lowest = inside[np.flatnonzero(size > TIE * size.max())[0]]
    projection = -(inside @ lowest)
    projection = np.floor(projection / np.abs(projection).max() / TIE + 0.5)
    return [int(v) for v in present[np.argsort(projection, kind="stable")]]


def along_the_way(weighted: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Places of many values along the axis that 20 steps of power iteration lead to."""
    squares = (weighted**2).sum(axis=1)
    if squares.max() <= PURE * counts.sum():
        return np.zeros(len(counts))  # all means are equal
    axis = weighted[np.flatnonzero(squares >= (1 - TIE) * squares.max())[0]]
    for _ in range(20):
        axis = weighted.T @ (weighted @ axis)
        axis = axis / np.linalg.norm(axis)
    projection = weighted @ axis / np.sqrt(counts)
    largest = np.abs(projection).max()
    lowest = projection[np.flatnonzero(np.abs(projection) > TIE * largest)[0]]
    return np.floor(-np.sign(lowest) * projection / largest / TIE + 0.5)


def random_values(present: list[int], stream: int) -> frozenset[int]:
    """A random proper subset of the values present (extra trees)."""
    if len(present) == 2 and present[1] == present[0] + 1:
        return frozenset(present[:1])  # one test, nothing to draw
    for attempt in range(64):
        inside = {v for v in present if draw(stream, attempt * (present[-1] + 1) + v) >> 63}
        if 0 < len(inside) < len(present):
            return frozenset(inside)
    return frozenset(present[:1])


def tests_of(
    table: Table, variables: Variables, rows: np.ndarray, feature: int, random_seed: int | None
) -> list[Test]:
    """All tests of a feature in a node, or its one random test; none if it is constant there."""
    x = table.values[rows, feature]
    present = np.unique(x[~np.isnan(x)])
    if len(present) < 2:
        return []
    if table.n_values[feature] == 0:
        if random_seed is None:
            cuts = [middle(a, b) for a, b in pairwise(present)]
        else:
            u = unit(feature_seed(random_seed, feature), 0)
            cut = present[0] * (1.0 - u) + present[-1] * u
            cuts = [cut if present[0] <= cut < present[-1] else present[0]]
        return [Test(feature, float(cut), None, frozenset()) for cut in cuts]
    values = [int(v) for v in present]
    if random_seed is not None:
        subsets = [random_values(values, feature_seed(random_seed, feature))]
    else:
        order = ordered_values(variables, rows, x) if len(values) > 2 else values
        subsets = [frozenset(order[:i]) for i in range(1, len(order))]
    return [Test(feature, 0.0, inside, frozenset(values)) for inside in subsets]


@dataclass(frozen=True)
class Split:
    test: Test
    missing_left: bool
    left: np.ndarray  # bool per row of the node
    h: float
    rival: float  # largest h of a test with another partition


@dataclass(frozen=True)
class Growth:
    """How to grow, with the paper's fully grown tree on all tests as the default."""

    n_candidates: int
    random_test: bool = False
    min_samples_leaf: float = 1.0
    min_labeled: float = 0.0
    max_depth: int = 1000
    missing_weight: str = "all"
    only_differing: bool = False


def best_test(
    table: Table, variables: Variables, rows: np.ndarray, growth: Growth, seed: int
) -> Split | None:
    """Alg. 2 over the candidate features, in drawn order; the first of equal tests wins (Def. 1.3)."""
    tie = TIE * float(np.sum(variables.share * spread(variables, rows, growth.missing_weight)))
    best, best_h, tried, useful = None, 0.0, [], False
    for j, feature in enumerate(shuffled(seed, table.shape[1])):
        # More than n_candidates are drawn only while all of them are constant.
        if j >= growth.n_candidates and useful:
            break
        x = table.values[rows, feature]
        for test in tests_of(table, variables, rows, feature, seed if growth.random_test else None):
            useful = True
            for missing_left in (True, False) if np.isnan(x).any() else (False,):
                left = test.goes_left(x, missing_left)
                if min(left.sum(), (~left).sum()) < growth.min_samples_leaf:
                    continue
                h = split_value(variables, rows, left, growth.missing_weight)
                tried.append((h, left))
                if h > best_h + tie:
                    best, best_h = (test, missing_left, left), h
    if best is None:
        return None
    test, missing_left, left = best
    if not np.isnan(table.values[rows, test.feature]).any():
        missing_left = bool(left.sum() >= (~left).sum())
    others = [h for h, mask in tried if not (np.array_equal(mask, left) or np.array_equal(mask, ~left))]
    return Split(test, missing_left, left, best_h, max(others, default=0.0))


# ---------------------------------------------------------------- trees (Alg. 1)


@dataclass
class Node:
    """A node with its rows (repeated as the bootstrap drew them)."""

    rows: np.ndarray
    size: float  # |E| imp(E), the scale of h
    split: Split | None = None
    left: Node | None = None
    right: Node | None = None
    parent: Node | None = field(default=None, repr=False)

    def nodes(self) -> list[Node]:
        below = [node for child in (self.left, self.right) if child is not None for node in child.nodes()]
        return [self, *below]

    def leaf(self, x: np.ndarray) -> Node:
        """Where a row with these features ends."""
        if self.split is None:
            return self
        goes_left = self.split.test.goes_left(x[self.split.test.feature], self.split.missing_left).item()
        child = self.left if goes_left else self.right
        assert child is not None
        return child.leaf(x)


def grow(
    table: Table,
    target: Target,
    w: float,
    weight: np.ndarray,
    growth: Growth,
    seed: int,
    beta: np.ndarray | None = None,
    normalize: bool = True,
) -> Node:
    """Alg. 1 on the rows of a bootstrap (`weight` holds how often each was drawn)."""
    variables = clustering_variables(table, target, w, beta, normalize)
    labeled = ~np.isnan(target.values).all(axis=1)
    numbers = target.task in ("regression", "multi_target")
    answers = [r if numbers else tuple(y) for r, y in enumerate(target.values.tolist())]

    def pct(rows: np.ndarray, depth: int, seed: int) -> Node:
        node = Node(rows, float(np.sum(variables.share * spread(variables, rows, growth.missing_weight))))
        if depth >= growth.max_depth or labeled[rows].sum() < growth.min_labeled:
            return node
        if growth.only_differing and len({answers[r] for r in rows if labeled[r]}) < 2:
            return node
        if node.size <= PURE * len(rows):
            return node
        node.split = best_test(table, variables, rows, growth, seed)
        if node.split is not None:
            node.left = pct(rows[node.split.left], depth + 1, child_seed(seed, 0))
            node.right = pct(rows[~node.split.left], depth + 1, child_seed(seed, 1))
            node.left.parent = node.right.parent = node
        return node

    return pct(np.repeat(np.arange(len(table)), weight.astype(int)), 0, seed)


def prototype(node: Node, target: Target) -> np.ndarray:
    """Mean of every target column; from the nearest ancestor where a column is unknown (Def. 1.3).

    A column that the tree's rows do not know at all has the mean of the training set, or 0.
    """
    columns = target.columns()
    out = np.zeros(columns.shape[1])
    for c, z in enumerate(columns.T):
        above: Node | None = node
        while above is not None and np.isnan(z[above.rows]).all():
            above = above.parent
        known = z[above.rows] if above is not None else z
        known = known[~np.isnan(known)]
        out[c] = known.mean() if len(known) else 0.0
    return out


# ---------------------------------------------------------------- scores of one tree (Def. 1.4)


def genie3(tree: Node, n_features: int) -> np.ndarray:
    """Sum of h* / |E(root)| over the nodes that test a feature."""
    out = np.zeros(n_features)
    for node in tree.nodes():
        if node.split is not None:
            out[node.split.test.feature] += node.split.h / len(tree.rows)
    return out


def symbolic(tree: Node, n_features: int) -> np.ndarray:
    """Sum of |E(node)| / |E(root)| over the nodes that test a feature."""
    out = np.zeros(n_features)
    for node in tree.nodes():
        if node.split is not None:
            out[node.split.test.feature] += len(node.rows) / len(tree.rows)
    return out


def per_target_genie3(tree: Node, target: Target, n_features: int, missing_weight: str) -> np.ndarray:
    """The same with the decrease of each target variable's own impurity, without w and alpha."""
    variables = Variables(len(target), target_variables(target))
    out = np.zeros((n_features, target.values.shape[1]))
    for node in tree.nodes():
        if node.split is not None:
            gain = decreases(variables, node.rows, node.split.left, missing_weight)
            out[node.split.test.feature, variables.place] += gain / len(tree.rows)
    return out


def genie3_oob(
    tree: Node, table: Table, target: Target, w: float, out_of_bag: np.ndarray
) -> np.ndarray | None:
    """genie3 by rows that the tree was not grown on; None if they know none of the variables.

    Variables are taken apart into columns, one for each value of a nominal one.
    """
    features = feature_variables(table, 1 - w) if w < 1 else []
    targets = target_variables(target, w) if w > 0 else []
    columns = []
    for variable in features + targets:
        z, n_known = variable.values, int((~np.isnan(variable.values[out_of_bag])).sum())
        values = sorted(set(z[~np.isnan(z)])) if variable.nominal else [None]
        for value in values:
            column = z if value is None else np.where(np.isnan(z), np.nan, z == value)
            columns.append((column, variable.share / variable.norm, n_known))
    if not any(n_known for _, _, n_known in columns):
        return None

    def mean(column: np.ndarray, rows: np.ndarray) -> tuple[float, int]:
        known = column[rows][~np.isnan(column[rows])]
        return (float(known.mean()), len(known)) if len(known) else (0.0, 0)

    out = np.zeros(table.shape[1])

    def visit(node: Node, rows: np.ndarray) -> None:
        if node.split is None or node.left is None or node.right is None:
            return
        feature = node.split.test.feature
        left = np.array(
            [
                node.split.test.goes_left(x, node.split.missing_left).item()
                for x in table.values[rows, feature]
            ],
            dtype=bool,
        )
        for column, scale, n_known in columns:
            (own_left, n_left), (own_right, n_right) = (
                mean(column, node.left.rows),
                mean(column, node.right.rows),
            )
            (new_left, k_left), (new_right, k_right) = mean(column, rows[left]), mean(column, rows[~left])
            if min(n_left, n_right, k_left, k_right) > 0:
                size = k_left * k_right / (k_left + k_right) / n_known
                out[feature] += scale * size * (own_left - own_right) * (new_left - new_right)
        visit(node.left, rows[left])
        visit(node.right, rows[~left])

    visit(tree, out_of_bag)
    return out


def training_variance(target: Target) -> np.ndarray:
    """Variance of the known values of every target variable; 0 where there are none."""
    known = [z[~np.isnan(z)] for z in target.values.T]
    return np.array([variance(z) if len(z) else 0.0 for z in known])


def quality_of(target: Target, truth: np.ndarray, guess: np.ndarray) -> float:
    """The measure of the task, RRMSE in the variances of the training set (Def. 1.4)."""
    if TASKS[target.task].kind != NUMBERS:
        return task_score(target.task, truth, guess)
    each = []
    for t, norm in enumerate(training_variance(target)):
        known = ~np.isnan(truth[:, t])
        if norm > 0 and known.any():
            each.append(np.sqrt(np.mean((truth[known, t] - guess[known, t]) ** 2) / norm))
    return float(np.mean(each)) if each else 1.0


def rforest(
    tree: Node, table: Table, target: Target, out_of_bag: np.ndarray, permutations: np.ndarray
) -> np.ndarray:
    """Relative damage on the out-of-bag labelled rows when a feature's values are permuted among them.

    For feature i, row out_of_bag[a] is given the value of row out_of_bag[permutations[i, a]].
    """
    truth = target.values[out_of_bag]
    means = {id(node): prototype(node, target) for node in tree.nodes()}

    def quality(values: np.ndarray) -> float:
        guess = np.array([means[id(tree.leaf(x))] for x in values])
        return quality_of(target, truth, guess)

    tested = {node.split.test.feature for node in tree.nodes() if node.split is not None}
    before = quality(table.values[out_of_bag])
    out = np.zeros(table.shape[1])
    for i in tested:
        values = table.values[out_of_bag]
        values[:, i] = values[permutations[i], i]
        after = quality(values)
        if TASKS[target.task].greater_is_better:
            out[i] = (before - after) / max(before, 0.01)
        else:
            out[i] = (after - before) / max(before, 1e-3)
    return out
