"""Forests: bootstraps, trees in parallel, and everything that is measured tree by tree (Def. 1.3, 1.4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ..data.scaling import from_unit, units, unscale
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import NUMBERS, TASKS
from ..runtime.memory import ensure_room
from ..runtime.parallel import count_workers, each, one_blas_thread
from ..runtime.progress import Progress
from .columns import (
    Columns,
    Prototype,
    Space,
    Tests,
    build_prototype,
    build_space,
    build_tests,
    feature_columns,
    is_wide,
    target_columns,
)
from .grow import Growth, Tree, grow_tree
from .node_scores import node_scores, per_target_gain
from .out_of_bag_gain import genie3_oob, per_target_gain_oob, rows_with_columns
from .permutation_scores import permutation_damage
from .predict import apply_tree, node_sums, prototypes
from .scores import IMPORTANCES, NODE_SCORES
from .scratch import Scratch, bytes_per_tree, make_scratch
from .sparse_binary import Bits, bits_in, find_bits


class ForestData(NamedTuple):
    """What forests on the same table share, whatever their target and w: codes and feature columns."""

    table: Table
    tests: Tests
    bits: Bits | None
    features: Columns
    unit: np.ndarray  # (D,) of the numbers in `tests`, see `scaling.units`
    normalize_weights: bool = True  # whether the weights of either side are divided by their sum (Def. 1.2)


class Plan(NamedTuple):
    """How to grow a forest."""

    n_trees: int
    growth: Growth
    bootstrap: bool
    missing_weight: str
    seed: int


class Member(NamedTuple):
    """A tree with what was measured on it."""

    tree: Tree
    leaf: np.ndarray  # int32, node -> row of `means`; -1 for inner nodes
    means: np.ndarray  # (leaves, P) prototypes
    labeled: np.ndarray  # (leaves,) labelled rows, in bootstrap counts
    scores: dict[str, np.ndarray]  # (D,) by name; those of `IMPORTANCES` that are there
    out_of_bag: np.ndarray  # labelled rows that the tree did not see


class Forest(NamedTuple):
    """The trees, the target they average, and the one score that is too large to keep for every tree."""

    members: list[Member]
    per_target: np.ndarray  # (D, T) genie3 or genie3_oob for each target, mean over trees
    prototype_offset: np.ndarray
    prototype_scale: np.ndarray


def forest_plan(
    ensemble: str,
    n_features: int,
    *,
    n_trees: int,
    seed: int,
    max_features: int | float | str | None = None,
    min_samples_leaf: int = 1,
    min_labeled: int = 4,
    max_depth: int | None = None,
    bootstrap: bool = True,
    missing_weight: str = "all",
) -> Plan:
    """The plan of a "random_forest", of "extra_trees" or of "bagging" (Def. 1.3).

    `max_features` is a number of candidates per node, a share of the features, "sqrt", or the ensemble's own.
    """
    if max_features is None:
        max_features = "sqrt" if ensemble == "random_forest" else n_features
    if isinstance(max_features, str):
        max_features = math.ceil(math.sqrt(n_features))
    elif not isinstance(max_features, Integral):
        max_features = math.ceil(max_features * n_features)
    growth = Growth(
        n_candidates=min(int(max_features), n_features),
        random_test=ensemble == "extra_trees",
        min_samples_leaf=float(min_samples_leaf),
        min_labeled=float(min_labeled),
        max_depth=np.iinfo(np.int32).max if max_depth is None else int(max_depth),
    )
    return Plan(n_trees, growth, bootstrap, missing_weight, seed)


def prepare(
    table: Table, feature_weights: np.ndarray | None = None, normalize_weights: bool = True
) -> ForestData:
    """The part of the work that does not depend on the target."""
    m, d = table.shape
    n_columns = _n_columns(table)
    # Bytes, here and below, as measured.
    ensure_room(8.0 * m * (3 * d + 2 * n_columns), f"A forest on {m} rows and {n_columns} columns")
    unit = np.where(table.n_values > 0, 1.0, units(table.values))
    plain = table if (unit == 1.0).all() else replace(table, values=table.values / unit)
    tests = build_tests(plain)
    features = feature_columns(table, feature_weights, normalize_weights)
    return ForestData(table, tests, find_bits(tests), features, unit, normalize_weights)


class _Work(NamedTuple):
    """What the trees of a forest share."""

    data: ForestData
    space: Space
    prototype: Prototype
    target_id: np.ndarray
    kind: int
    plan: Plan
    out_of_bag: Collection[str]
    per_target: str


def grow_forest(
    data: ForestData,
    target: Target,
    supervision: float,
    plan: Plan,
    *,
    out_of_bag: Collection[str] = (),
    per_target: str = "genie3",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Grow a forest; the result depends on `plan.seed`, not on `n_jobs`.

    `out_of_bag` names the scores from out-of-bag rows that are wanted besides those of the nodes, and
    `per_target` the score for each target: "genie3" or, if that is among them, "genie3_oob".
    """
    n_workers = count_workers(n_jobs, shared=False)
    targets = target_columns(target, data.normalize_weights)
    m, n_columns = len(target), data.features.values.shape[1] + targets.values.shape[1]
    gram = 24.0 * m * m if is_wide(m, n_columns) else 0.0
    ensure_room(32.0 * m * n_columns + gram, f"A forest on {m} rows and {n_columns} columns")
    with one_blas_thread():
        space = build_space(data.features, targets, supervision, plan.missing_weight)
    ensure_room(
        n_workers * bytes_per_tree(data.tests, space),
        f"Growing {n_workers} trees at a time on {m} rows and {n_columns} columns",
    )
    prototype = build_prototype(target)
    target_id = target_ids(target) if plan.growth.only_differing else target.labeled.astype(np.int64) - 1
    data = data._replace(bits=bits_in(data.bits, space, supervision))
    work = _Work(data, space, prototype, target_id, TASKS[target.task].kind, plan, out_of_bag, per_target)
    members: list[Member] = []
    total = np.zeros((data.table.shape[1], len(target.names)))
    chunks = _chunks(plan.n_trees, n_workers)
    for grown in each(partial(_grow_chunk, work), chunks, n_jobs, shared=False):
        for member, gains in grown:  # in the order of trees, so that the sum does not depend on n_jobs
            members.append(member)
            total += gains
        if progress is not None:
            progress(len(members), plan.n_trees, "trees")
    n_told = len(members) if per_target == "genie3" else sum(per_target in m.scores for m in members)
    return Forest(members, total / max(n_told, 1), prototype.offset, prototype.scale)


def target_ids(target: Target) -> np.ndarray:
    """A number for the target of each row, -1 of unlabelled ones (`grow_tree`).

    Equal classes and label sets have one number; numbers have one each, since the mean of equal numbers may
    differ from them in its last bit.
    """
    ids = np.where(target.labeled, np.arange(len(target)), -1)
    if TASKS[target.task].kind != NUMBERS:
        rows = np.flatnonzero(target.labeled)
        ids[rows] = np.unique(target.values[rows], axis=0, return_inverse=True)[1].ravel()
    return ids


def _n_columns(table: Table) -> int:
    """Columns that the features become: one, or one-hot ones for more than two values."""
    wide = [x[~np.isnan(x)] for x in table.values.T[table.n_values > 64]]  # not all of these may occur
    few = np.where(table.n_values > 2, table.n_values, 1)[table.n_values <= 64]
    return int(few.sum()) + sum(len(np.unique(x)) for x in wide)


def _chunks(n_trees: int, n_jobs: int) -> list[range]:
    # Rounded down: few large chunks would leave one thread waiting for the other's last.
    size = max(1, min(10, n_trees // (4 * n_jobs)))
    return [range(first, min(first + size, n_trees)) for first in range(0, n_trees, size)]


def _grow_chunk(work: _Work, numbers: Sequence[int]) -> list[tuple[Member, np.ndarray]]:
    data = work.data
    scratch = make_scratch(data.tests, work.space, work.plan.growth.random_test, data.bits)
    with one_blas_thread():  # here too, for other processes
        return [_grow_member(work, scratch, number) for number in numbers]


def _grow_member(work: _Work, scratch: Scratch, number: int) -> tuple[Member, np.ndarray]:
    """A tree, and its scores for each target."""
    data, space, target_id, plan = work.data, work.space, work.target_id, work.plan
    labeled = target_id >= 0
    rng = np.random.default_rng([plan.seed, number])
    weight = bootstrap_weights(labeled, rng) if plan.bootstrap else np.ones(len(labeled))
    seeds = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    tree = grow_tree(data.tests, space, weight, target_id, plan.growth, seeds[0], scratch, data.bits)
    tree = tree._replace(threshold=from_unit(tree.threshold, data.unit[tree.feature]))
    values, prototype = data.table.values, work.prototype
    wanted = work.out_of_bag, work.per_target
    return measure_tree(tree, values, labeled, weight, space, prototype, work.kind, *wanted, seeds[1])


def measure_tree(
    tree: Tree,
    values: np.ndarray,
    labeled: np.ndarray,
    weight: np.ndarray,
    space: Space,
    prototype: Prototype,
    kind: int,
    wanted: Collection[str],
    wanted_per_target: str,
    seed: np.uint64,
) -> tuple[Member, np.ndarray]:
    """Prototypes and scores of a grown tree, and its genie3 or genie3_oob for each target.

    `wanted` are scores of out-of-bag rows, `seed` is that of the permutations; a score that these rows cannot
    tell is not there.
    """
    n_features = values.shape[1]
    own, out_of_bag = labeled & (weight > 0), np.flatnonzero(labeled & (weight == 0))
    with_gain = "genie3_oob" in wanted
    rows = np.flatnonzero(labeled | rows_with_columns(space) if with_gain else own)
    leaves = apply_tree(tree, values, rows)
    here = own[rows]
    known, total, square = node_sums(tree, leaves[here], rows[here], weight, prototype)
    means = prototypes(tree, known, total, prototype.mean)
    per_target = np.zeros((n_features, int(prototype.variable.max()) + 1))
    if wanted_per_target == "genie3":
        per_target_gain(tree, known, total, square, prototype, space.groups.by_known, per_target)
    else:
        other = labeled[rows] & ~here
        out_known, out_total, _ = node_sums(tree, leaves[other], rows[other], np.ones(len(values)), prototype)
        per_target_gain_oob(tree, known, total, out_known, out_total, prototype, per_target)
    scores = dict(zip(NODE_SCORES, node_scores(tree, n_features)))
    gain = genie3_oob(tree, space, rows, leaves, weight, n_features) if with_gain else None
    if gain is not None:
        scores["genie3_oob"] = gain
    if "rforest" in wanted and len(out_of_bag):
        scores["rforest"] = permutation_damage(tree, values, out_of_bag, means, prototype, kind, seed)
    is_leaf = tree.feature < 0
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
    counts = np.bincount(leaves[here], weights=weight[rows[here]], minlength=len(leaf))[is_leaf]
    return Member(tree, leaf, means[is_leaf], counts, scores, out_of_bag), per_target


def bootstrap_weights(labeled: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How often each row is drawn; labelled and unlabelled rows separately (Def. 1.3)."""
    weight = np.zeros(len(labeled))
    for part in (np.flatnonzero(labeled), np.flatnonzero(~labeled)):
        if len(part):
            drawn = rng.integers(0, len(part), size=len(part))
            weight[part] = np.bincount(drawn, minlength=len(part))
    return weight


def predict_forest(forest: Forest, values: np.ndarray) -> np.ndarray:
    """Mean prototype of the trees for each row: class shares, numbers or label shares."""
    rows = np.arange(len(values))
    total = np.zeros((len(values), len(forest.prototype_scale)))
    for member in forest.members:
        total += member.means[member.leaf[apply_tree(member.tree, values, rows)]]
    return raw_prototypes(forest, total / len(forest.members))


def predict_out_of_bag(forest: Forest, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labelled rows that some tree did not see, and the mean prototype of those trees for them."""
    total = np.zeros((len(values), len(forest.prototype_scale)))
    count = np.zeros(len(values))
    for member in forest.members:
        rows = member.out_of_bag
        total[rows] += member.means[member.leaf[apply_tree(member.tree, values, rows)]]
        count[rows] += 1
    rows = np.flatnonzero(count)
    return rows, raw_prototypes(forest, total[rows] / count[rows, None])


def raw_prototypes(forest: Forest, means: np.ndarray) -> np.ndarray:
    """Prototypes in the unit of the target."""
    return unscale(means, forest.prototype_offset, forest.prototype_scale)


def forest_scores(forest: Forest) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """All importances of a forest, their standard errors over trees (0 for a single tree), scores per target.

    Scores from out-of-bag rows are the mean over the trees that have such rows (Def. 1.4); where none has,
    there is no such score.
    """
    means, errors = {}, {}
    for name in IMPORTANCES:
        per_tree = np.array([member.scores[name] for member in forest.members if name in member.scores])
        if len(per_tree):
            means[name] = per_tree.mean(axis=0)
            errors[name] = np.zeros(per_tree.shape[1])
            if len(per_tree) > 1:
                errors[name] = per_tree.std(axis=0, ddof=1) / np.sqrt(len(per_tree))
    return means, errors, forest.per_target
