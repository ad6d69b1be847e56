"""Which rows a teacher learns from and joins, whatever their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.scaling import in_range, ranges
from ..data.table import Table
from ..data.target import Target
from .space import Space

KEPT = 10  # rows of a class that a sample has, if there are so many
_CELLS = 1 << 18  # that are read at a time
_STEPS = 2.0**30  # of a column's range that `row_keys` tells apart


class Chosen(NamedTuple):
    """Rows in the order of `content_order`."""

    labeled: np.ndarray  # to learn from
    crowd: np.ndarray  # of the graph: the labelled ones, then unlabelled ones


def choose_rows(table: Table, target: Target, space: Space, max_rows: int, seed: int) -> Chosen:
    """At most `max_rows` rows, all labelled ones if they are no more than half of that; else a sample.

    Examples
    --------
    >>> from semirank.teacher.space import fit_space
    >>> table = Table(np.arange(1000.0)[:, None], np.zeros(1, np.int64), ("a",), (None,))
    >>> y = np.where(np.arange(1000) % 50 == 0, np.arange(1000.0), np.nan)
    >>> target = Target("regression", y[:, None], ("y",), np.ones(1))
    >>> chosen = choose_rows(table, target, fit_space(table), 100, seed=0)
    >>> len(chosen.labeled), len(chosen.crowd)
    (20, 100)
    """
    order = content_order(table, target.values, space)
    labeled = target.labeled[order]
    rng = np.random.default_rng([seed, 0])
    codes = None if target.classes is None else target.values[:, 0]
    some = sample_rows(order[labeled], max_rows // 2, rng, codes)
    others = sample_rows(order[~labeled], max_rows - len(some), rng)
    return Chosen(some, np.concatenate([some, others]))


def sample_rows(
    rows: np.ndarray, size: int, rng: np.random.Generator, codes: np.ndarray | None = None
) -> np.ndarray:
    """So many of the rows, in their order; all if there are no more. No class is lost where that can be.

    Examples
    --------
    >>> codes = np.where(np.arange(1000) == 400, 1.0, 0.0)  # the class of each row of the table
    >>> some = sample_rows(np.arange(1000), 50, np.random.default_rng(0), codes)
    >>> len(some), 400 in some
    (50, True)
    """
    if len(rows) <= size:
        return rows
    drawn = rng.permutation(len(rows))
    if codes is not None:
        of = codes[rows[drawn]]
        first = np.isin(
            np.arange(len(of)), np.concatenate([np.flatnonzero(of == c)[:KEPT] for c in np.unique(of)])
        )
        drawn = np.concatenate([drawn[first], drawn[~first]])
    return rows[np.sort(drawn[:size])]


def content_order(table: Table, target: np.ndarray, space: Space) -> np.ndarray:
    """Rows in an order that depends on what they hold, not on where they stand.

    Folds, bootstraps and samples drawn along this order are the same for any order of the rows. Rows that
    agree in all features come by their target; rows that agree in everything can change places.
    """
    by_features = row_keys(table.values, space.low, space.high)
    by_target = row_keys(target, *ranges(target))
    return np.lexsort((by_target, by_features))


def row_keys(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A number for the content of every row, the same in any unit of the columns, up to rounding.

    Examples
    --------
    >>> values = np.array([[1.0, 5.0], [2.0, np.nan], [1.0, 5.0]])
    >>> a, b, c = row_keys(values, *ranges(values))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    factor = np.random.default_rng(0).integers(0, 2**64, size=values.shape[1], dtype=np.uint64) | np.uint64(1)
    keys = np.empty(len(values), np.uint64)
    step = max(1, _CELLS // max(1, values.shape[1]))
    for first in range(0, len(values), step):
        part = slice(first, first + step)
        place = np.rint(in_range(values[part], low, high) * _STEPS)
        codes = np.where(np.isnan(place), -1.0, place).astype(np.int64).view(np.uint64)
        keys[part] = (codes * factor).sum(axis=1, dtype=np.uint64)  # modulo 2^64
    return keys
