"""Features that give the target away: by their values, or by being missing (Def. 3.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from scipy.stats import norm, rankdata

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import CLASSES, LABELS, NUMBERS, TASKS
from .labelled_rows import uneven

MAX_CELLS = 4_000_000  # rows x features x target columns; of larger data some rows are looked at
MAX_ROWS = 1000
FEWEST_ROWS = 200  # that a sample has; then fewer target columns are looked at
MIN_ROWS = 20  # known labels that a verdict needs; fewer agree by chance, or by luck
MIN_ROWS_SAME = 10  # the same for a feature that is the target under other names
MIN_SHARE = 0.9  # held-out R2 from which on classes and labels count as given away
MIN_SHARE_NUMBERS = 0.995
CHANCE = 1e-3  # how often, at most, data without such a feature may seem to have one
CHANCE_MISSING = 1e-2
# Rows with a label, and rows without: rarer labels match some feature of a large table by chance.
MIN_POSITIVE = 10
MIN_POSITIVE_SAME = 5  # the same for a feature that is the label
MIN_MISSING = 5  # rows that miss the feature, and rows that do not
MIN_MISSING_SHARE = 0.1  # R2 from which on being missing tells something worth saying


class Told(NamedTuple):
    """What one feature says of one part of the target.

    `share` is the share of the target that held-out rows have explained, `same` whether the feature is the
    target under other names, `column` the place of the target variable, -1 for the classes together.
    """

    feature: int
    column: int
    share: float
    same: bool = False


class _Columns(NamedTuple):
    """Labelled rows of the target as columns to predict: classes as codes, numbers as ranks, labels 0/1."""

    rows: np.ndarray
    values: np.ndarray  # (rows, columns), NaN where unknown; one column of codes for classes
    places: np.ndarray  # which target variable a column is, -1 for the classes together
    kind: int

    def hot(self) -> np.ndarray:
        """The values, with a column of 0/1 for each class."""
        return (self.values == np.unique(self.values)).astype(float) if self.kind == CLASSES else self.values


def telling_values(table: Table, target: Target) -> list[Told]:
    """Features that alone predict held-out labels almost perfectly, the strongest first.

    A labelled row is predicted from the labelled rows beside it in the order of the feature, and, where the
    feature has few values, from those with the same value.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(50, 3))
    >>> table = Table(values, np.zeros(3, int), ("a", "b", "c"), (None,) * 3)
    >>> y = (values[:, 1:2] > 0).astype(float)
    >>> target = Target("classification", y, ("y",), np.ones(1), np.array(["no", "yes"]))
    >>> [table.names[told.feature] for told in telling_values(table, target)]
    ['b']
    """
    columns = _columns(target, table.shape[1])
    if len(columns.rows) < MIN_ROWS_SAME or not columns.values.shape[1]:
        return []
    X = table.values[columns.rows]
    order = np.argsort(X, axis=0, kind="stable").T  # missing values come last
    share = np.maximum(_beside(X, order, columns), _same_value(X, order, columns, table.n_values))
    least = MIN_SHARE
    if columns.kind == NUMBERS:  # of few ranks, every swap of neighbours costs more
        least = 1 - max(1 - MIN_SHARE_NUMBERS, 10 / len(X) ** 2)
    found = []
    for j, t in zip(*np.nonzero(share >= least)):
        known = ~np.isnan(X[:, j]) & ~np.isnan(columns.values[:, t])
        x, y = X[known, j], columns.values[known, t]
        same = _same(x, y, columns.kind)
        if len(x) < (MIN_ROWS_SAME if same else MIN_ROWS):
            continue
        if columns.kind == LABELS and not same and min(y.sum(), len(y) - y.sum()) < MIN_POSITIVE:
            continue
        if _log_arrangements(y) < np.log(share.size * len(x) / CHANCE):
            continue  # among so many features, one fits by chance
        found.append(Told(int(j), int(columns.places[t]), float(share[j, t]), same))
    return sorted(found, key=lambda told: (-told.share, told.feature, told.column))


def telling_holes(table: Table, target: Target) -> list[Told]:
    """Features whose being missing tells the target of labelled rows, the strongest first."""
    columns = _columns(target, table.shape[1])
    holes = np.isnan(table.values[columns.rows])
    count = holes.sum(axis=0)
    some = np.flatnonzero((count >= MIN_MISSING) & (len(holes) - count >= MIN_MISSING))
    values = columns.hot()
    if not len(some) or not values.shape[1]:
        return []
    known = ~np.isnan(values)
    missing = holes[:, some].astype(float).T
    n, k = known.sum(axis=0), missing @ known  # rows that know the target, and those that miss the feature
    total, inside = np.nansum(values, axis=0), missing @ np.where(known, values, 0.0)
    ss_total = np.nansum(values**2, axis=0) - total**2 / n
    rest = n - k
    with np.errstate(divide="ignore", invalid="ignore"):
        between = k * (inside / k - total / n) ** 2 + rest * ((total - inside) / rest - total / n) ** 2
        each = np.where(np.minimum(k, rest) >= MIN_MISSING, between, 0.0)
        if columns.kind == CLASSES:
            share = each.sum(axis=1, keepdims=True) / ss_total.sum()
        else:
            share = np.where(ss_total > 0, each / ss_total, 0.0)
        enough = np.broadcast_to(share >= MIN_MISSING_SHARE, k.shape)
        p = np.ones(k.shape)
        if columns.kind == NUMBERS:  # ranks: Wilcoxon's test
            z = (inside / k - total / n) / np.sqrt(ss_total / (n - 1) * (1 / k - 1 / n))
            p[enough] = 2 * norm.sf(np.abs(z[enough]))
        else:
            p[enough] = uneven(*(np.broadcast_to(part, k.shape)[enough] for part in (inside, k, total, n)))
    if columns.kind == CLASSES:
        p = p.min(axis=1, keepdims=True)
    sure = (share >= MIN_MISSING_SHARE) & (p < CHANCE_MISSING / k.size)
    cells = zip(*np.nonzero(sure))
    told = [Told(int(some[j]), int(columns.places[t]), float(share[j, t])) for j, t in cells]
    return sorted(told, key=lambda one: (-one.share, one.feature, one.column))


def _columns(target: Target, n_features: int) -> _Columns:
    """The labelled rows in random order, some of them where there are many."""
    kind = TASKS[target.task].kind
    rows = np.flatnonzero(target.labeled)
    places = np.arange(target.values.shape[1])
    if kind == LABELS:
        known = target.values[rows]
        rarer = np.fmin(np.nansum(known, axis=0), np.nansum(1 - known, axis=0))
        places = np.argsort(-rarer, kind="stable")
        places = places[rarer[places] >= MIN_POSITIVE_SAME]
    most = max(MAX_CELLS // (FEWEST_ROWS * max(n_features, 1)), 1)
    places = np.sort(places[:most])
    # In random order, so that rows with equal values of a feature do not come in the file's order.
    most = MAX_CELLS // (max(n_features, 1) * max(len(places), 1))
    rows = np.random.default_rng(0).permutation(rows)[: min(MAX_ROWS, max(most, FEWEST_ROWS))]
    values = target.values[np.ix_(rows, places)]
    if kind == NUMBERS:
        values = np.apply_along_axis(rankdata, 0, values, nan_policy="omit") / max(len(rows), 1)
    return _Columns(rows, values, places if kind != CLASSES else np.array([-1]), kind)


def _beside(X: np.ndarray, order: np.ndarray, columns: _Columns) -> np.ndarray:
    """Share explained (features x columns) by the two neighbours in the order of the feature."""
    found = np.full((X.shape[1], columns.values.shape[1]), -np.inf)
    has_value = ~np.isnan(X).T
    sorted_known = np.take_along_axis(has_value, order, axis=1)
    for t, y in enumerate(columns.values.T):
        known = ~np.isnan(y)
        inside = known[order]
        z = y[order][inside].reshape(len(order), -1)
        if z.shape[1] < MIN_ROWS_SAME:
            continue
        here = sorted_known[inside].reshape(len(order), -1)
        n = here.sum(axis=1)
        last = np.maximum(n - 1, 0)
        lines = np.arange(len(z))
        before, after = np.roll(z, 1, axis=1), np.roll(z, -1, axis=1)
        before[:, 0] = z[:, 1]
        after[lines, last] = before[lines, last]  # behind the last known value there is nothing to go by
        if columns.kind == CLASSES:
            loss = 1.5 + 0.5 * (before == after) - (z == before) - (z == after)
            codes = np.unique(y[known])
            shares = np.stack([((z == code) & here).sum(axis=1) for code in codes]) / np.maximum(n, 1)
            total = n * (1 - (shares**2).sum(axis=0))
        else:
            guess = (before + after) / 2
            if columns.kind == NUMBERS:  # the first and the last on the line through the next two
                guess[:, 0] = 2 * z[:, 1] - z[:, 2]
                guess[lines, last] = 2 * z[lines, last - 1] - z[lines, last - 2]
            loss = (z - guess) ** 2
            mean = (z * here).sum(axis=1) / np.maximum(n, 1)
            total = ((z - mean[:, None]) ** 2 * here).sum(axis=1)
        some = (total > 1e-12) & (n >= MIN_ROWS_SAME)
        found[some, t] = 1 - (loss * here).sum(axis=1)[some] / total[some]
    return found


def _same_value(X: np.ndarray, order: np.ndarray, columns: _Columns, n_values: np.ndarray) -> np.ndarray:
    """Share explained (features x columns) by the other rows with the same value, where values are few."""
    n = len(X)
    width = columns.values.shape[1]
    found = np.full((X.shape[1], width), -np.inf)
    ordered = np.take_along_axis(X.T, order, axis=1)
    starts = np.ones_like(ordered, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts &= ~np.isnan(ordered)
    values = starts.sum(axis=1)
    few = np.flatnonzero((values <= n // 3) & (values > 1))
    if not len(few):
        return found
    group = np.cumsum(starts[few], axis=1) - 1
    offset = np.concatenate([[0], np.cumsum(values[few])])
    here = ~np.isnan(ordered[few])
    feature = np.broadcast_to(np.arange(len(few))[:, None], here.shape)[here]
    cells = (order[few][here], (group + offset[:-1, None])[here])
    member = sparse.csr_matrix((np.ones(len(feature)), cells), shape=(n, offset[-1]))
    y = columns.hot()
    known = ~np.isnan(y)
    y = np.where(known, y, 0.0)
    count, total, squares = (member.T @ part for part in (known.astype(float), y, y**2))
    each = [np.add.reduceat(part, offset[:-1], axis=0) for part in (count, total, squares)]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = each[1] / each[0]
        spread = each[2] - each[1] * mean
        loss = (count / (count - 1)) ** 2 * np.maximum(squares - total**2 / count, 0.0)
    alone = count == 1  # nothing else has this value, so the mean of all is the guess
    of = np.repeat(np.arange(len(few)), values[few])
    loss = np.where(alone, (total - mean[of]) ** 2, np.where(count == 0, 0.0, loss))
    lost = np.add.reduceat(loss, offset[:-1], axis=0)
    if columns.kind == CLASSES:
        lost, spread = lost.sum(axis=1, keepdims=True), spread.sum(axis=1, keepdims=True)
    spread = np.where((spread > 1e-12) & (each[0][:, :width] >= MIN_ROWS_SAME), spread, np.nan)
    found[few] = np.nan_to_num(1 - lost / spread, nan=-np.inf)
    return found


def _same(x: np.ndarray, y: np.ndarray, kind: int) -> bool:
    """Whether two columns are one under other names: each value of one goes with one value of the other."""
    if kind == NUMBERS:  # in another unit: the same order, or the opposite one
        by_x = y[np.argsort(x, kind="stable")]
        step = np.diff(by_x)
        one_way = bool((step >= 0).all() or (step <= 0).all())
        return one_way and len(np.unique(x)) == len(np.unique(y))
    pairs = len(np.unique(np.column_stack([x, y]), axis=0))
    return pairs == len(np.unique(x)) == len(np.unique(y))


def _log_arrangements(y: np.ndarray) -> float:
    """The logarithm of the number of ways to deal the values of y out to the rows."""
    _, counts = np.unique(y, return_counts=True)
    return float(gammaln(len(y) + 1) - gammaln(counts + 1).sum())
