"""Clusters that carry the target: what unlabelled rows can tell."""

from __future__ import annotations

import numpy as np

from semirank import Hierarchy, Table
from semirank.data.target import Target

N_RELEVANT = 5


def clusters(task, seed=0, n=1000, n_labeled=20, n_features=50, apart=1.5):
    """Four clusters in 5 of the features; the target depends on the cluster. (table, target, relevant)"""
    rng = np.random.default_rng([seed, 11])
    cluster = rng.permutation(n) % 4
    # Every relevant feature tells two clusters from the other two.
    centres = rng.permuted(np.repeat([[-1.0], [-1.0], [1.0], [1.0]], N_RELEVANT, axis=1), axis=0)
    values = rng.normal(size=(n, n_features))
    relevant = np.sort(rng.permutation(n_features)[:N_RELEVANT])
    values[:, relevant] += apart * centres[cluster]
    names = tuple(f"x{j}" for j in range(n_features))
    table = Table(values, np.zeros(n_features, np.int64), names, (None,) * n_features)
    rows = np.concatenate([np.flatnonzero(cluster == c)[: n_labeled // 4] for c in range(4)])
    whole = _target(task, cluster, rng)
    hidden = np.setdiff1d(np.arange(n), rows)
    return table, whole.hide(hidden), relevant


def _target(task, cluster, rng):
    n = len(cluster)
    if task == "classification":
        return Target(task, cluster[:, None].astype(float), ("y",), np.ones(1), np.array(list("abcd")))
    if task in ("regression", "multi_target"):
        width = 1 if task == "regression" else 3
        levels = np.array([[0.0, 1.0, -1.0], [1.0, -1.0, 0.5], [2.5, 0.0, 2.0], [4.0, 2.0, 0.0]])[:, :width]
        values = levels[cluster] + 0.1 * rng.normal(size=(n, width))
        return Target(task, values, tuple("stu")[:width], np.ones(width))
    if task == "multi_label":
        sets = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
        return Target(task, sets[cluster], tuple("uvw"), np.ones(3))
    tree = Hierarchy.from_paths(["p", "p/q", "p/r", "s", "s/t"])
    sets = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 1]], dtype=float)
    place = [tree.labels.index(label) for label in ("p", "p/q", "p/r", "s", "s/t")]
    values = np.empty((n, 5))
    values[:, place] = sets[cluster]
    return Target(task, values, tree.labels, tree.weights(0.75), None, tree)


def found(scores, relevant):
    """How many of the relevant features are among as many first ones."""
    return len(np.intersect1d(np.argsort(-scores, kind="stable")[: len(relevant)], relevant))
