"""Forests: bootstraps, trees in parallel, and everything that is measured tree by tree (Def. 1.3, 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
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
from .grow import Growth, Tree, grow_tree, make_scratch
from .predict import apply_tree, node_sums, per_target_gain, prototypes
from .scores import node_scores, permutation_damage
from .sparse_binary import Bits, bits_in, find_bits
from .split import Scratch


class Material(NamedTuple):
    """What forests on the same table share, whatever their target and w: codes and feature columns."""

    table: Table
    tests: Tests
    bits: Bits | None
    features: Columns
    unit: np.ndarray  # (D,) of the numbers in `tests`, see `scale.units`


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
    genie3: np.ndarray  # (D,)
    symbolic: np.ndarray  # (D,)
    rforest: np.ndarray | None  # (D,); None where it was not asked for or no labelled row is out of bag
    out_of_bag: np.ndarray  # labelled rows that the tree did not see


class Forest(NamedTuple):
    """The trees, the target they average, and the one score that is too large to keep for every tree."""

    members: list[Member]
    per_target: np.ndarray  # (D, T) genie3 for each target, mean over trees
    prototype_offset: np.ndarray
    prototype_scale: np.ndarray


def prepare(table: Table) -> Material:
    """The part of the work that does not depend on the target."""
    m, d = table.shape
    n_columns = _n_columns(table)
    # Bytes, here and below, as measured.
    ensure_room(8.0 * m * (3 * d + 2 * n_columns), f"A forest on {m} rows and {n_columns} columns")
    unit = np.where(table.n_values > 0, 1.0, units(table.values))
    plain = table if (unit == 1.0).all() else replace(table, values=table.values / unit)
    tests = build_tests(plain)
    return Material(table, tests, find_bits(tests), feature_columns(table), unit)


def grow_forest(
    material: Material,
    target: Target,
    supervision: float,
    plan: Plan,
    *,
    with_rforest: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    what: str = "trees",
) -> Forest:
    """Grow a forest; the result depends on `plan.seed`, not on `n_jobs`."""
    n_workers = count_workers(n_jobs, shared=False)
    targets = target_columns(target)
    m, n_columns = len(target), material.features.values.shape[1] + targets.values.shape[1]
    gram = 24.0 * m * m if is_wide(m, n_columns) else 0.0
    ensure_room(32.0 * m * n_columns + gram, f"A forest on {m} rows and {n_columns} columns")
    with one_blas_thread():
        space = build_space(material.features, targets, supervision, plan.missing_weight)
    ensure_room(
        n_workers * _bytes_per_worker(material.tests, space),
        f"Growing {n_workers} trees at a time on {m} rows and {n_columns} columns",
    )
    prototype = build_prototype(target)
    answer = number_answers(target) if plan.growth.only_differing else target.labeled.astype(np.int64) - 1
    material = material._replace(bits=bits_in(material.bits, space, supervision))
    work = partial(
        _grow_chunk, material, space, prototype, answer, TASKS[target.task].kind, plan, with_rforest
    )
    members: list[Member] = []
    per_target = np.zeros((material.table.shape[1], len(target.names)))
    for grown in each(work, _chunks(plan.n_trees, n_workers), n_jobs, shared=False):
        for member, gains in grown:  # in the order of trees, so that the sum does not depend on n_jobs
            members.append(member)
            per_target += gains
        if progress is not None:
            progress(len(members), plan.n_trees, what)
    return Forest(members, per_target / plan.n_trees, prototype.offset, prototype.scale)


def number_answers(target: Target) -> np.ndarray:
    """A number for the target of each row, -1 of unlabelled ones (`grow_tree`).

    Equal classes and label sets have one number; numbers have one each, since the mean of equal numbers may
    differ from them in its last bit.
    """
    answer = np.where(target.labeled, np.arange(len(target)), -1)
    if TASKS[target.task].kind != NUMBERS:
        rows = np.flatnonzero(target.labeled)
        answer[rows] = np.unique(target.values[rows], axis=0, return_inverse=True)[1].ravel()
    return answer


def _n_columns(table: Table) -> int:
    """Columns that the features become: one, or one-hot ones for more than two values."""
    wide = [x[~np.isnan(x)] for x in table.values.T[table.n_values > 64]]  # not all of these may occur
    few = np.where(table.n_values > 2, table.n_values, 1)[table.n_values <= 64]
    return int(few.sum()) + sum(len(np.unique(x)) for x in wide)


def _bytes_per_worker(tests: Tests, space: Space) -> float:
    """What `make_scratch` takes for a tree at a time, with what growing it takes besides."""
    d, m = tests.codes.shape
    width = space.full.shape[1] + space.group.shape[1] + 2 * space.group_known.shape[1]
    n_values = int(tests.n_codes[tests.nominal == 1].max(initial=1))
    n_ordered = min(m, n_values)
    return 16.0 * m * width + d * n_values + 16.0 * n_ordered * width


def _chunks(n_trees: int, n_jobs: int) -> list[range]:
    # Rounded down: few large chunks would leave one thread waiting for the other's last.
    size = max(1, min(10, n_trees // (4 * n_jobs)))
    return [range(first, min(first + size, n_trees)) for first in range(0, n_trees, size)]


def _grow_chunk(
    material: Material,
    space: Space,
    prototype: Prototype,
    answer: np.ndarray,
    kind: int,
    plan: Plan,
    with_rforest: bool,
    numbers: Sequence[int],
) -> list[tuple[Member, np.ndarray]]:
    scratch = make_scratch(material.tests, space, plan.growth, material.bits)
    with one_blas_thread():  # here too, for other processes
        return [
            _grow_member(material, space, prototype, answer, kind, plan, with_rforest, scratch, number)
            for number in numbers
        ]


def _grow_member(
    material: Material,
    space: Space,
    prototype: Prototype,
    answer: np.ndarray,
    kind: int,
    plan: Plan,
    with_rforest: bool,
    scratch: Scratch,
    number: int,
) -> tuple[Member, np.ndarray]:
    """A tree, and its genie3 for each target."""
    values = material.table.values
    n_features = values.shape[1]
    labeled = answer >= 0
    rng = np.random.default_rng([plan.seed, number])
    weight = bootstrap_weights(labeled, rng) if plan.bootstrap else np.ones(len(values))
    seeds = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    tree = grow_tree(material.tests, space, weight, answer, plan.growth, seeds[0], scratch, material.bits)
    tree = tree._replace(threshold=from_unit(tree.threshold, material.unit[tree.feature]))
    rows = np.flatnonzero(labeled & (weight > 0))
    known, total, square = node_sums(tree, apply_tree(tree, values, rows), rows, weight, prototype)
    means = prototypes(tree, known, total, prototype.mean)
    per_target = np.zeros((n_features, int(prototype.variable.max()) + 1))
    per_target_gain(tree, known, total, square, prototype, space.by_known, per_target)
    out_of_bag = np.flatnonzero(labeled & (weight == 0))
    rforest = None
    if with_rforest and len(out_of_bag):
        rforest = permutation_damage(tree, values, out_of_bag, means, prototype, kind, seeds[1])
    genie3, symbolic = node_scores(tree, n_features)
    is_leaf = tree.feature < 0
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
    return Member(tree, leaf, means[is_leaf], genie3, symbolic, rforest, out_of_bag), per_target


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
    return _raw(forest, total / len(forest.members))


def predict_out_of_bag(forest: Forest, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labelled rows that some tree did not see, and the mean prototype of those trees for them."""
    total = np.zeros((len(values), len(forest.prototype_scale)))
    count = np.zeros(len(values))
    for member in forest.members:
        rows = member.out_of_bag
        total[rows] += member.means[member.leaf[apply_tree(member.tree, values, rows)]]
        count[rows] += 1
    rows = np.flatnonzero(count)
    return rows, _raw(forest, total[rows] / count[rows, None])


def _raw(forest: Forest, means: np.ndarray) -> np.ndarray:
    """Prototypes in the unit of the target."""
    return unscale(means, forest.prototype_offset, forest.prototype_scale)


def mean_and_error(per_tree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over trees and its standard error (0 for a single tree)."""
    n = len(per_tree)
    if n < 2:
        return per_tree.mean(axis=0), np.zeros(per_tree.shape[1])
    return per_tree.mean(axis=0), per_tree.std(axis=0, ddof=1) / np.sqrt(n)


def forest_scores(forest: Forest) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """All importances of a forest with standard errors over trees, and per-target genie3."""
    members = forest.members
    per_tree = {
        "genie3": np.array([member.genie3 for member in members]),
        "symbolic": np.array([member.symbolic for member in members]),
    }
    # Trees without labelled out-of-bag rows are left out (Def. 1.4).
    damage = [member.rforest for member in members if member.rforest is not None]
    if damage:
        per_tree["rforest"] = np.array(damage)
    means, errors = {}, {}
    for name, scores in per_tree.items():
        means[name], errors[name] = mean_and_error(scores)
    return means, errors, forest.per_target
