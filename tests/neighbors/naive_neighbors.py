"""Slow, obvious counterparts of the neighbour search and of what is built on it, from the definitions."""

from __future__ import annotations

import numpy as np

from semirank.data.hierarchy import Hierarchy
from semirank.data.table import Table
from semirank.data.target import Target

TIE = 2.0**-34  # distances closer than this share of the largest possible one are ties


def make_table(rng, n, kinds, missing=0.0, grid=None):
    """Random rows; kinds: per feature 0 (numeric) or the number of values; grid: few distinct numbers."""
    values = np.empty((n, len(kinds)))
    for i, n_values in enumerate(kinds):
        if n_values:
            values[:, i] = rng.integers(n_values, size=n)
        elif grid:
            values[:, i] = rng.integers(grid, size=n) * 0.7 - 3.0
        else:
            values[:, i] = rng.normal(size=n) * 5.0
    values[rng.random(values.shape) < missing] = np.nan
    categories = tuple(tuple(f"v{v}" for v in range(m)) if m else None for m in kinds)
    names = tuple(f"x{i}" for i in range(len(kinds)))
    return Table(values, np.array(kinds, dtype=np.int64), names, categories)


def make_target(rng, n, task, unlabeled=0.0, missing=0.0, n_targets=3):
    """Random target with whole rows unlabelled and, where the task allows it, single cells missing."""
    weights = np.ones(n_targets)
    classes = hierarchy = None
    if task == "classification":
        values = rng.integers(3, size=(n, 1)).astype(float)
        classes, weights = np.array(["a", "b", "c"]), np.ones(1)
    elif task == "regression":
        values, weights = rng.normal(size=(n, 1)), np.ones(1)
    elif task == "multi_target":
        values = rng.normal(size=(n, n_targets)) * [1.0, 10.0, 0.1][:n_targets]
    else:
        values = (rng.random((n, n_targets)) < 0.4).astype(float)
    if task == "hierarchical":
        # 0 -> 1, {0, 1} -> 2: a DAG; labels are closed upwards.
        hierarchy = Hierarchy(("r", "s", "t"), ((), (0,), (0, 1)))
        weights = np.array([1.0, 0.75, 0.75 * (1.0 + 0.75) / 2])
        values[:, 1] = np.maximum(values[:, 1], values[:, 2])
        values[:, 0] = np.maximum(values[:, 0], values[:, 1])
    if task in ("multi_target", "multi_label"):
        values[rng.random(values.shape) < missing] = np.nan
    values[rng.random(n) < unlabeled] = np.nan
    values[0] = values[0] if not np.isnan(values[0]).any() else 0.0  # at least one labelled row
    names = tuple(f"y{j}" for j in range(values.shape[1]))
    return Target(task, values, names, weights, classes, hierarchy)


def ranges(values):
    """(smallest, range) of every column's known values."""
    out = []
    for column in values.T:
        known = column[~np.isnan(column)]
        out.append((known.min(), known.max() - known.min()) if len(known) else (0.0, 0.0))
    return out


def feature_distance(a, b, n_values, low, span):
    """d_i of Def. 1.6 on one feature."""
    if n_values > 0:
        if np.isnan(a) or np.isnan(b):
            return 1.0 - 1.0 / n_values
        return float(a != b)
    if span == 0.0:
        return 0.0
    s, t = (a - low) / span, (b - low) / span
    if np.isnan(s) and np.isnan(t):
        return 1.0
    if np.isnan(s):
        return max(t, 1.0 - t)
    if np.isnan(t):
        return max(s, 1.0 - s)
    return abs(s - t)


def all_distances(a, b, train):
    """d_i between every row of table a and every row of table b: an array len(a) x len(b) x D."""
    scale = ranges(train.values)
    out = np.empty((len(a), len(b), a.shape[1]))
    for r in range(len(a)):
        for s in range(len(b)):
            for i in range(a.shape[1]):
                out[r, s, i] = feature_distance(a.values[r, i], b.values[s, i], a.n_values[i], *scale[i])
    return out


def varying(table):
    """The features with at least two different known values: those that d_X is the mean of."""
    return [i for i, column in enumerate(table.values.T) if len(set(column[~np.isnan(column)])) > 1]


def row_distances(d, used):
    """d_X from the d_i of `all_distances`: their mean over the features `used`, 0 if there is none."""
    return d[..., used].mean(axis=-1) if used else np.zeros(d.shape[:-1])


def leave_out(d, table):
    """Put the d_i of features that do not vary to 0, so that these score 0."""
    d[..., [i for i in range(table.shape[1]) if i not in varying(table)]] = 0.0


def order(distances, k, unit, skip=None):
    """Positions of the k smallest, ties by position; `unit` is the largest possible distance."""
    ranked = sorted((round(d / unit / TIE), s) for s, d in enumerate(distances) if s != skip)
    return [s for _, s in ranked[:k]]


def knn_prototypes(importances, train, target, test, k, pool):
    """Def. 2.2 for one ranking and one k."""
    weights = [max(w, 0.0) for w in importances]
    if sum(weights) == 0.0:
        weights = [1.0] * len(weights)
    rows = [r for r in range(len(train)) if pool == "all" or target.labeled[r]]
    columns = target.columns()
    each = all_distances(test, train.take(np.array(rows)), train) ** 2 @ np.array(weights)
    out = np.zeros((len(test), columns.shape[1]))
    for t in range(len(test)):
        near = [rows[s] for s in order(each[t], k, sum(weights))]
        for j in range(columns.shape[1]):
            votes = [columns[r, j] for r in near if not np.isnan(columns[r, j])]
            if not votes and pool == "labelled":
                votes = [columns[r, j] for r in rows if not np.isnan(columns[r, j])]
            out[t, j] = np.mean(votes) if votes else 0.0
    return out


def target_distance(task, a, b, scale, alpha, gamma):
    """d_Y of Def. 1.6; None if no target variable is known in both rows. scale: ranges of the targets."""
    shared = [j for j in range(len(a)) if not np.isnan(a[j]) and not np.isnan(b[j])]
    if not shared:
        return None
    if task == "classification":
        return float(a[0] != b[0])
    if task == "hierarchical":
        return gamma * sum(alpha[j] for j in shared if a[j] != b[j])
    if task == "multi_label":
        return sum(a[j] != b[j] for j in shared) / len(shared)
    return sum(abs(a[j] - b[j]) / scale[j][1] if scale[j][1] > 0 else 0.0 for j in shared) / len(shared)


def gamma_of(target):
    """1 / the largest weighted symmetric difference of two label sets in the data (0 if there is none)."""
    rows = target.values[target.labeled]
    largest = max(target.weights[a != b].sum() for a in rows for b in rows)
    return 1.0 / largest if largest > 0 else 0.0


def influences(d_x, labeled, w0, w1):
    """computeInstanceInfluence of Alg. 3."""
    n = len(labeled)
    near = {r: min(d_x[r, s] for s in range(n) if labeled[s]) for r in range(n) if not labeled[r]}
    out = np.ones(n)
    for r, d in near.items():
        low, high = min(near.values()), max(near.values())
        if high - low <= TIE:
            out[r] = (w0 + w1) / 2
        else:
            out[r] = w1 + (w0 - w1) * (d - low) / (high - low)
    return out


def ratio(p_ac, p_c, rest_a, rest):
    """The importance of one feature from the sums of Alg. 3; a term with a zero denominator is 0."""
    s = p_c + rest
    first = p_ac / p_c if p_c > 1e-12 * s else 0.0
    second = rest_a / rest if rest > 1e-12 * s else 0.0
    return first - second


def relief(table, target, k, w0, w1, visited=None, sigma=0.0):
    """Alg. 3 word for word (deterministic rows): (importances, per target, standard errors).

    Only s - P_c and P_a - P_ac are sums of w (1 - d), since differences of sums lose their digits.
    """
    n, n_features = table.shape
    d = all_distances(table, table, table)
    d_x = row_distances(d, varying(table))
    leave_out(d, table)
    labeled = target.labeled
    w = influences(d_x, labeled, w0, w1)
    scale = ranges(target.values)
    gamma = gamma_of(target) if target.task == "hierarchical" else None
    n_targets = target.values.shape[1]
    rows = []  # per visited row: P_ac, P_c, P_a - P_ac, s - P_c
    each = [[np.zeros(n_features), 0.0, np.zeros(n_features), 0.0] for _ in range(n_targets)]
    for r in range(n) if visited is None else visited:
        p_ac, p_c, rest_a, rest = np.zeros(n_features), 0.0, np.zeros(n_features), 0.0
        for rank, other in enumerate(order(d_x[r], k, 1.0, skip=r)):
            weight = w[r] * w[other] * np.exp(-((sigma * rank) ** 2))
            y, z = target.values[r], target.values[other]
            d_y = target_distance(target.task, y, z, scale, target.weights, gamma)
            cluster = d_x[r, other] if d_y is None else d_y
            p_c += weight * cluster
            rest += weight * (1 - cluster)
            for i in range(n_features):
                p_ac[i] += weight * cluster * d[r, other, i]
                rest_a[i] += weight * (1 - cluster) * d[r, other, i]
            for j in range(n_targets):
                one = target_distance(
                    "multi_label" if target.task == "hierarchical" else target.task,
                    y[j : j + 1], z[j : j + 1], scale[j : j + 1], None, None,
                )  # fmt: skip
                if one is not None:
                    each[j][0] += weight * one * d[r, other]
                    each[j][1] += weight * one
                    each[j][2] += weight * (1 - one) * d[r, other]
                    each[j][3] += weight * (1 - one)
        rows.append((p_ac, p_c, rest_a, rest))
    sums = [sum(part) for part in zip(*rows)]

    def importances(p_ac, p_c, rest_a, rest):
        return np.array([ratio(p_ac[i], p_c, rest_a[i], rest) for i in range(n_features)])

    # Infinitesimal jackknife: how the importances move with the weight of each visited row.
    step = 1e-6
    moved = []
    for row in rows:
        up, down = ([a + h * b for a, b in zip(sums, row)] for h in (step, -step))
        moved.append((importances(*up) - importances(*down)) / (2 * step))
    m = len(rows)
    errors = np.sqrt(m / (m - 1) * np.sum(np.square(moved), axis=0)) if m > 1 else np.full(n_features, np.nan)
    per_target = np.column_stack([importances(*part) for part in each])
    return importances(*sums), per_target, errors


def relief_per_class(table, target, k, visited=None, sigma=0.0, raw_order=False):
    """The form with near rows of each class: (importances, standard errors).

    `raw_order` compares distances as they come out of a plain sum of |a - b| / range, to the last bit.
    """
    table, target = table.take(target.labeled), target.take(target.labeled)
    y = target.values[:, 0].astype(int)
    d = all_distances(table, table, table)
    d_x = row_distances(d, varying(table))
    leave_out(d, table)
    if raw_order:
        spans = [span for _, span in ranges(table.values)]
        keys = [
            [sum(abs(a - b) / s for a, b, s in zip(one, other, spans)) for other in table.values.tolist()]
            for one in table.values.tolist()
        ]
    else:
        keys = np.round(d_x / TIE)
    share = [np.mean(y == c) for c in range(y.max() + 1)]
    parts = []
    for r in range(len(table)) if visited is None else visited:
        part = np.zeros(table.shape[1])
        for c in set(y):
            members = [s for s in range(len(table)) if y[s] == c and s != r]
            near = sorted(members, key=lambda s: (keys[r][s], s))[:k]
            if not near:
                continue
            weights = [np.exp(-((sigma * j) ** 2)) for j in range(len(near))]
            mean = sum(w * d[r, s] for w, s in zip(weights, near)) / sum(weights)
            part += -mean if c == y[r] else share[c] / (1 - share[y[r]]) * mean
        parts.append(part)
    return np.mean(parts, axis=0), np.std(parts, axis=0, ddof=1) / np.sqrt(len(parts))


def laplace(table, target, k, label_weight, width, combine, supervised_only=False):
    """Def. 1.7 with dense matrices."""
    if supervised_only:
        table, target = table.take(target.labeled), target.take(target.labeled)
    n = len(table)
    columns, owner = [], []
    for i, n_values in enumerate(table.n_values):
        x = table.values[:, i]
        for f in [x] if n_values == 0 else [np.where(np.isnan(x), np.nan, x == v) for v in range(n_values)]:
            known = f[~np.isnan(f)]
            if len(set(known)) > 1:
                columns.append(np.where(np.isnan(f), 0.0, (f - known.mean()) / known.std()))
                owner.append(i)
    if not columns:
        return np.zeros(table.shape[1])
    z = np.column_stack(columns)
    scale = ranges(target.values)
    gamma = gamma_of(target) if target.task == "hierarchical" else None
    y = target.values[:, 0]
    spread = np.std(y[~np.isnan(y)]) or 1.0
    by_features = ((z[:, None] - z[None]) ** 2).mean(axis=2)
    d, both = by_features.copy(), np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            if target.task == "regression":
                d_y = None if np.isnan(y[i]) or np.isnan(y[j]) else ((y[i] - y[j]) / spread) ** 2
            else:
                d_y = target_distance(
                    target.task, target.values[i], target.values[j], scale, target.weights, gamma
                )
            if d_y is not None:
                d[i, j], both[i, j] = d_y, True

    def scores(rows, d, by_features, both):
        close = np.zeros(d.shape, bool)
        for i in range(len(rows)):
            ranked = sorted(
                (round(d[i, j] / TIE), round(by_features[i, j] / TIE), j) for j in range(len(rows)) if j != i
            )
            for _, _, j in ranked[:k]:
                close[i, j] = close[j, i] = True
        upper = d[np.triu(close)]
        if len(upper) == 0:
            return [np.nan] * z.shape[1]
        t = width or np.median(upper) or np.mean(upper) or 1.0
        s = np.where(close, np.exp(-d / t) * np.where(both, label_weight, 1.0), 0.0)
        degree = np.diag(s.sum(axis=1))
        one = np.ones(len(rows))
        out = []
        for f in z[rows].T:
            f = f - (f @ degree @ one) / (one @ degree @ one)
            below = f @ degree @ f
            out.append(f @ (degree - s) @ f / below if below > 1e-20 * s.sum() else np.nan)
        return out

    def defined(values):
        known = [v for v in values if not np.isnan(v)]
        return np.array([max(known, default=1.0) if np.isnan(v) else v for v in values])

    rows = np.flatnonzero(target.labeled)
    part = np.ix_(rows, rows)
    supervised = scores(rows, d[part], by_features[part], both[part])
    if supervised_only:
        total = defined(supervised)
    else:
        total = defined(scores(np.arange(n), d, by_features, both))
        if combine == "product":
            total = total * defined(supervised)
    summed = {i: sum(total[c] for c in range(len(owner)) if owner[c] == i) for i in set(owner)}
    most, least = max(summed.values()), min(summed.values())
    return np.array([most + least - summed[i] if i in summed else 0.0 for i in range(table.shape[1])])
