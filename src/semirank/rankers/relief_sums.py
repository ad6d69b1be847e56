"""The sums behind SSL-Relief (Alg. 3, Def. 1.6), for one setting or for a whole grid of them.

All settings share one neighbour search, made once for the largest k. The influence of an unlabelled row is
w0 + (w1 - w0) g with g in [0, 1] from its distance to the nearest labelled row, so the weight of a pair is a
polynomial in w0 and w1 - w0: six sums per k serve every (w0, w1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..neighbors.feature_distance import CELL, Metric, fit_metric
from ..neighbors.layouts import plain_first
from ..neighbors.search import nearest_l1, row_blocks, run_parts
from ..neighbors.target_distance import TargetSpace, target_space
from ..runtime.progress import Progress

_NONE = 1e-12  # a sum below this share of all pair weights is rounding: the term it divides is 0


class Pairs(NamedTuple):
    """The visited rows and their nearest rows.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_used)
        All scaled rows, with the features `order`.
    order, n_values : ndarray of shape (n_used,)
        The features that vary; all others score 0.
    n_features : int
        Of the table.
    n_plain : int
        So many first features are complete with d_i = |a - b|.
    visited : ndarray of shape (m,)
    near : ndarray of shape (m, k)
    distance : ndarray of shape (m, k)
        d_X.
    """

    rows: np.ndarray
    order: np.ndarray
    n_values: np.ndarray
    n_features: int
    n_plain: int
    visited: np.ndarray
    near: np.ndarray
    distance: np.ndarray

    def blocks(self, k: int, n_targets: int = 0) -> list[slice]:
        """Blocks of visited rows whose differences fit into the cache; they do not depend on threads."""
        return row_blocks(len(self.visited), 8 * k * (self.n_features + n_targets))

    def of(self, block: slice, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Some visited rows and their k nearest."""
        return self.visited[block], np.ascontiguousarray(self.near[block, :k])

    def for_all(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the features in `order` (the last axis) as scores of all features."""
        return for_all_features(scores, self.order, self.n_features)


class View(NamedTuple):
    """Who is labelled: the training target itself, or with the rows of a fold held out.

    Attributes
    ----------
    labeled : ndarray of bool, shape (n_rows,)
    closeness : ndarray of shape (n_rows,)
        g: 1 for the unlabelled rows nearest to a labelled one, 0 for the farthest.
    space : TargetSpace
    """

    labeled: np.ndarray
    closeness: np.ndarray
    space: TargetSpace


class Sums(NamedTuple):
    """The sums of Alg. 3, split by the cluster distance d: weights w d ("apart") and w (1 - d) ("near").

    P_c = apart, s - P_c = near, P_ac = apart_feature and P_a - P_ac = near_feature. The second of each pair
    is summed, not subtracted: where almost nothing is left of s, a difference would be rounding.
    """

    near: np.ndarray
    apart: np.ndarray
    near_feature: np.ndarray
    apart_feature: np.ndarray


def rows_to_visit(n_rows: int, n_iterations: int | None, rng: np.random.Generator) -> np.ndarray | None:
    """Rows to visit, drawn without repetition; None for all."""
    if n_iterations is None or n_iterations >= n_rows:
        return None
    return np.sort(rng.choice(n_rows, size=n_iterations, replace=False))


def find_pairs(
    table: Table,
    k: int,
    visited: np.ndarray | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Pairs:
    """Search the k nearest rows of the visited ones (None: all)."""
    metric = fit_metric(table)
    found = nearest_l1(table, k, rows=visited, metric=metric, n_jobs=n_jobs, progress=progress)
    rows, order, n_plain = varying_features(table, metric)
    visited = np.arange(len(table)) if visited is None else np.asarray(visited, dtype=np.int64)
    n_values, n_features = metric.n_values[order], table.shape[1]
    return Pairs(rows, order, n_values, n_features, n_plain, visited, found.rows, found.distances)


def varying_features(table: Table, metric: Metric) -> tuple[np.ndarray, np.ndarray, int]:
    """Scaled rows of the features that vary, which features these are, and how many first ones are plain."""
    used = np.flatnonzero(metric.varies)
    rows = metric.scale(table.values).take(used, axis=1)
    order, n_plain = plain_first(rows, rows, metric.n_values[used])
    return rows.take(order, axis=1), used[order], n_plain


def for_all_features(scores: np.ndarray, features: np.ndarray, n_features: int) -> np.ndarray:
    """Scores of some features (the last axis) as scores of all; the others have 0."""
    out = np.zeros((*scores.shape[:-1], n_features))
    out[..., features] = scores
    return out


def nearest_labeled(
    table: Table, groups: Sequence[np.ndarray], rows: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Distance of `rows` to the nearest row of each group (n_groups x n_rows, 0 for other rows)."""
    out = np.zeros((len(groups), len(table)))
    if len(rows) == 0:
        return out
    metric = fit_metric(table)
    query = table.take(rows)
    for g, group in enumerate(groups):
        out[g, rows] = nearest_l1(table.take(group), 1, query=query, metric=metric, n_jobs=n_jobs).distances[
            :, 0
        ]
    return out


def closeness(distance: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """g of every row, linear in the distance to the nearest labelled row; 0 where it plays no part.

    The line runs over the distances of the unlabelled rows; all equal: 1/2.
    """
    out = np.zeros(len(labeled))
    if labeled.all():
        return out
    apart = distance[~labeled]
    span = apart.max() - apart.min()
    out[~labeled] = (apart.max() - apart) / span if span > CELL else 0.5
    return out


def make_view(target: Target, distance: np.ndarray) -> View:
    """The view of a target; `distance` is that to the nearest labelled row."""
    return View(target.labeled, closeness(distance, target.labeled), target_space(target))


def importances_of(sums: Sums) -> np.ndarray:
    """P_ac / P_c - (P_a - P_ac) / (s - P_c); a term with a zero denominator is 0.

    `near` and `apart` may have leading axes; those of the features have one more, the features.
    """
    near, apart = _inverses(sums)
    return sums.apart_feature * apart[..., None] - sums.near_feature * near[..., None]


def _inverses(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """1 / (s - P_c) and 1 / P_c, or 0."""
    least = _NONE * (sums.near + sums.apart)
    near, apart = (
        np.divide(1.0, part, out=np.zeros_like(part), where=part > least) for part in (sums.near, sums.apart)
    )
    return near, apart


class Single(NamedTuple):
    """What one setting gives; `n_known` counts the pairs with a known target distance."""

    importances: np.ndarray
    standard_errors: np.ndarray
    per_target: np.ndarray
    n_known: int


def single_setting(
    pairs: Pairs,
    view: View,
    influence: tuple[float, float],
    k: int,
    neighbor_weights: float,
    n_jobs: int | None = None,
) -> Single:
    """Importances with standard errors, over all targets and (without errors) for each alone.

    The standard error is that of a ratio of sums over visited rows (delta method, also known as the
    infinitesimal jackknife): each row's share in the change of the importance, squared and summed, times
    m / (m - 1). NaN if fewer than two rows were visited. For one target variable alone, only the pairs that
    both know it count.
    """
    from ..neighbors.kernels import weighted_differences

    w0, w1 = influence
    own = np.where(view.labeled, 1.0, w0 + (w1 - w0) * view.closeness)
    by_rank = rank_weights(k, neighbor_weights)
    n_targets = view.space.values.shape[1]

    def work(block: slice) -> tuple[np.ndarray, ...]:
        first, second = pairs.of(block, k)
        cluster, known = _cluster_distance(pairs, view, block, k)
        weight = own[first][:, None] * own[second] * by_rank
        weights = [weight * (1.0 - cluster), weight * cluster]
        if n_targets == 1:  # its own sums come along
            weights += [known * by_rank * (1.0 - cluster), known * by_rank * cluster]
        # Per visited row: near and apart, of the pairs (scalar) and of the features (vector).
        pair = np.stack(weights)
        scalar = pair.sum(axis=2)
        vector = weighted_differences(pairs.rows, first, second, pairs.n_plain, pairs.n_values, pair)
        each = _sums_per_target(pairs, view, first, second, by_rank) if n_targets > 1 else ()
        main, lead = scalar[:2], vector[:2]
        return (
            np.array(known.sum()),
            # Sums of products, for the standard errors.
            main @ main.T,
            np.einsum("uri,vr->uvi", lead, main),
            np.stack([np.einsum("ri,ri->i", lead[u], lead[v]) for u, v in ((0, 0), (0, 1), (1, 1))]),
            scalar.sum(axis=1),
            vector.sum(axis=1),
            *each,
        )

    parts = run_parts(work, pairs.blocks(k, n_targets), n_jobs)
    n_known, ss, vs, vv, scalar, vector, *rest = (sum(part) for part in zip(*parts))
    sums = Sums(scalar[0], scalar[1], vector[0], vector[1])
    m = len(pairs.visited)
    errors = np.full(pairs.n_features, np.nan)
    if m > 1:
        known = _standard_errors(sums, ss, vs, vv[[[0, 1], [1, 2]]]) * np.sqrt(m / (m - 1))
        errors = pairs.for_all(known)
    each = Sums(scalar[2:3], scalar[3:4], vector[2:3], vector[3:4]) if n_targets == 1 else Sums(*rest)
    per_target = pairs.for_all(importances_of(each)).T
    return Single(pairs.for_all(importances_of(sums)), errors, per_target, int(n_known))


def _standard_errors(sums: Sums, ss: np.ndarray, vs: np.ndarray, vv: np.ndarray) -> np.ndarray:
    """Root of the summed squares of the rows' parts, which are linear in the four sums of the row."""
    near, apart = _inverses(sums)
    to_scalar = np.stack([sums.near_feature * near**2, -sums.apart_feature * apart**2])
    to_vector = np.array([-near, apart])
    total = np.einsum("ui,uv,vi->i", to_scalar, ss, to_scalar)
    total += 2.0 * np.einsum("u,uvi,vi->i", to_vector, vs, to_scalar)
    total += np.einsum("u,uvi,v->i", to_vector, vv, to_vector)
    return np.sqrt(np.maximum(total, 0.0))


def _sums_per_target(
    pairs: Pairs, view: View, first: np.ndarray, second: np.ndarray, by_rank: np.ndarray
) -> Sums:
    """The sums for each target variable alone, over the pairs that know it (their influence is 1)."""
    from ..neighbors.kernels import feature_differences

    labeled, values = view.labeled, view.space.values
    row, rank = np.nonzero(labeled[first][:, None] & labeled[second])
    a, b = first[row], second[row, rank]
    d = feature_differences(pairs.rows, a, b[:, None], pairs.n_plain, pairs.n_values)[0]
    apart = np.abs(values[a] - values[b])
    shared = ~np.isnan(apart)
    weight = by_rank[rank][:, None] * shared
    apart = np.where(shared, apart, 0.0)
    near, apart = weight * (1.0 - apart), weight * apart
    return Sums(near.sum(axis=0), apart.sum(axis=0), near.T @ d, apart.T @ d)


def grid_importances(
    pairs: Pairs,
    views: Sequence[View],
    influences: Sequence[tuple[float, float]],
    ks: Sequence[int],
    neighbor_weights: float,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Importances for all settings in one pass over the pairs.

    Returns
    -------
    ndarray of shape (n_views, n_k, n_influences, n_features)
    """
    from ..neighbors.kernels import feature_differences

    largest = pairs.near.shape[1]
    ends = [min(k, largest) for k in ks]
    edges = sorted({0, *ends})
    by_rank = rank_weights(largest, neighbor_weights)
    n_features = len(pairs.order)

    def work(block: slice) -> tuple[np.ndarray, np.ndarray]:
        first, second = pairs.visited[block], pairs.near[block]
        differences = feature_differences(pairs.rows, first, second, pairs.n_plain, pairs.n_values)
        parts = np.stack([_monomials(pairs, view, block, by_rank) for view in views])
        shape = parts.shape[:3]  # views x (near, apart) x 6
        scalars, vectors = [], []
        for low, high in pairwise(edges):
            some = parts[..., low:high, :]
            scalars.append(some.sum(axis=(3, 4)))
            n_pairs = (high - low) * len(first)
            each = differences[low:high].reshape(n_pairs, n_features)
            vectors.append((some.reshape(-1, n_pairs) @ each).reshape(*shape, n_features))
        return np.stack(scalars), np.stack(vectors)

    done = run_parts(work, pairs.blocks(largest), n_jobs)
    scalars, vectors = (np.cumsum(sum(part), axis=0) for part in zip(*done))
    take = [edges.index(end) - 1 for end in ends]
    mix = np.array([_powers(w0, w1) for w0, w1 in influences])
    # views x k x influences (x features)
    near, apart = np.einsum("kvtm,im->tvki", scalars[take], mix)
    near_feature, apart_feature = np.einsum("kvtmd,im->tvkid", vectors[take], mix)
    sums = Sums(near, apart, near_feature, apart_feature)
    return pairs.for_all(importances_of(sums))


def _powers(w0: float, w1: float) -> tuple[float, ...]:
    """1 for labelled pairs; w0, w1 - w0 for mixed ones; their products for unlabelled ones."""
    rise = w1 - w0
    return 1.0, w0, rise, w0 * w0, w0 * rise, rise * rise


def _monomials(pairs: Pairs, view: View, block: slice, by_rank: np.ndarray) -> np.ndarray:
    """What each pair of a block adds to the six powers: (near, apart) x 6 x k x rows."""
    first, second = pairs.visited[block], pairs.near[block]
    cluster, _ = _cluster_distance(pairs, view, block, second.shape[1])
    here, there = view.labeled[first][:, None], view.labeled[second]
    g, h = np.broadcast_to(view.closeness[first][:, None], second.shape), view.closeness[second]
    none, both = here & there, ~here & ~there
    one = ~none & ~both
    weight = np.stack([none, one, one * (g + h), both, both * (g + h), both * (g * h)]) * by_rank
    return np.stack([weight * (1.0 - cluster), weight * cluster]).swapaxes(2, 3)


def _cluster_distance(pairs: Pairs, view: View, block: slice, k: int) -> tuple[np.ndarray, np.ndarray]:
    """d_Y where both rows know it, else d_X; and where that is."""
    from ..neighbors.target_kernels import target_pairs

    first, second = pairs.of(block, k)
    space = view.space
    d_y = target_pairs(space.values, view.labeled, first, second, space.weights, space.kind)
    known = d_y >= 0.0
    return np.where(known, d_y, pairs.distance[block, :k]), known


def rank_weights(k: int, neighbor_weights: float) -> np.ndarray:
    """Weight of the nearest, second nearest, ... row: exp(-(neighbor_weights i)^2), i = 0, 1, ..."""
    return np.exp(-((neighbor_weights * np.arange(k)) ** 2))
