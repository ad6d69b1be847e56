"""Scaled rows laid out for the fast paths of the neighbour search (Def. 1.9).

The plain L1 metric works on tiles of float32 numbers and on packed bits, weighted squares on one float32
matrix product. Both are approximations with a bound; `kernels` settles close calls exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..runtime.memory import ensure_room
from .feature_distance import both_missing, one_missing

_TILE = 256  # pool rows that the L1 kernel takes at a time


def plain_first(pool: np.ndarray, query: np.ndarray, n_values: np.ndarray) -> tuple[np.ndarray, int]:
    """Order of the features with the complete ones of d_i = |a - b| first, and how many these are."""
    holes = np.isnan(pool).any(axis=0) | np.isnan(query).any(axis=0)
    plain = ((n_values == 0) | (n_values == 2)) & ~holes  # two codes differ by 0 or 1
    return np.argsort(~plain, kind="stable"), int(plain.sum())


class L1Layout(NamedTuple):
    """Which features are packed into bits and how; the others stay numbers.

    Attributes
    ----------
    numbers : ndarray of int
        Features kept as numbers.
    groups : list of ndarray of int
        Up to 64 features each, packed into the same words.
    planes, masked, unlike : ndarray
        Per group: bits per code, whether a word of known values follows, d_i of a missing value.
    """

    numbers: np.ndarray
    groups: list[np.ndarray]
    planes: np.ndarray
    masked: np.ndarray
    unlike: np.ndarray

    def rows(self, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(numbers, offset, words) of scaled rows as `l1_block` wants them."""
        numbers = scaled.take(self.numbers, axis=1)
        missing = np.isnan(numbers)
        offset = 0.5 * missing.sum(axis=1, dtype=np.float32)
        numbers = np.where(missing, 0.5, numbers).astype(np.float32)
        words = np.empty((len(scaled), int(self.planes.sum() + self.masked.sum())), np.uint64)
        at = 0
        for features, planes, masked in zip(self.groups, self.planes, self.masked):
            codes = scaled.take(features, axis=1)
            missing = np.isnan(codes)
            codes = np.where(missing, 0.0, codes).astype(np.int64)
            for plane in range(planes):
                words[:, at] = _pack(codes >> plane & 1)
                at += 1
            if masked:
                words[:, at] = ~_pack(missing)  # unused bits count as known
                at += 1
        return numbers, offset, words


def l1_layout(pool: np.ndarray, query: np.ndarray, n_values: np.ndarray) -> L1Layout:
    """Pack nominal features and numeric ones that only know 0 and 1 (there, missing means distance 1)."""
    packed: dict[tuple[int, float], list[int]] = {}
    numbers = []
    holes = np.zeros(len(n_values), bool)
    binary = n_values == 0
    for rows in (pool, query):
        missing = np.isnan(rows)
        holes |= missing.any(axis=0)
        binary &= ((rows == 0.0) | (rows == 1.0) | missing).all(axis=0)
    for i, n in enumerate(n_values.tolist()):
        if n > 0:
            packed.setdefault((max(1, (n - 1).bit_length()), both_missing(n)), []).append(i)
        elif binary[i]:
            packed.setdefault((1, both_missing(0)), []).append(i)
        else:
            numbers.append(i)
    groups, planes, unlike = [], [], []
    for (bits, far), features in packed.items():
        for start in range(0, len(features), 64):
            groups.append(np.array(features[start : start + 64]))
            planes.append(bits)
            unlike.append(far)
    masked = [bool(holes[features].any()) for features in groups]
    return L1Layout(
        np.array(numbers, dtype=np.int64),
        groups,
        np.array(planes, dtype=np.int64),
        np.array(masked, dtype=bool),
        np.array(unlike, dtype=np.float32),
    )


def _pack(bits: np.ndarray) -> np.ndarray:
    """Up to 64 columns of 0/1 as one word per row."""
    whole = np.zeros((len(bits), 64), dtype=np.uint8)
    whole[:, : bits.shape[1]] = bits
    return np.packbits(whole, axis=1, bitorder="little").view(np.uint64)[:, 0]


def tiles(rows: np.ndarray) -> np.ndarray:
    """Rows in tiles of at most _TILE, each turned to features x rows; the last one filled with zeros."""
    rows = rows if rows.ndim == 2 else rows[:, None]
    width = min(_TILE, -(-max(len(rows), 1) // 8) * 8)
    n_tiles = -(-len(rows) // width)
    whole = np.zeros((n_tiles * width, rows.shape[1]), dtype=rows.dtype)
    whole[: len(rows)] = rows
    return np.ascontiguousarray(whole.reshape(n_tiles, width, rows.shape[1]).transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class SquaredSpace:
    """Rows laid out so that weighted squared distances are one matrix product.

    Every d_i^2 is u(a) + v(b) plus a few products of a number of row a and a number of row b: one
    column for a complete numeric or two-valued feature, three where values are missing, and the one-hot
    columns of other nominal features.

    Attributes
    ----------
    query, pool : ndarray of shape (n_rows, n_features), float64
        Scaled rows, features in the order `order`: first `n_plain` complete ones with d_i = |a - b|.
    own : ndarray of int64
        For every query row the pool row that it is, -1 for none.
    order, n_values : ndarray of shape (n_features,)
    n_plain : int
    query_alone, pool_alone : ndarray of shape (n_rows, n_features), float32
        u and v, feature by feature.
    left, right : ndarray of shape (n_rows, n_columns), float32
    feature : ndarray of shape (n_columns,)
        The feature that each column belongs to, by its place in `order`.
    """

    query: np.ndarray
    pool: np.ndarray
    own: np.ndarray
    order: np.ndarray
    n_values: np.ndarray
    n_plain: int
    query_alone: np.ndarray
    pool_alone: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray


def squared_space(
    pool: np.ndarray, query: np.ndarray, n_values: np.ndarray, own: np.ndarray | None = None
) -> SquaredSpace:
    """Lay out scaled rows.

    own : for every query row the pool row that it is; without it, query rows are new ones.
    """
    order, n_plain = plain_first(pool, query, n_values)
    pool, n_values = pool.take(order, axis=1), n_values[order]
    # The one-hot columns of a nominal feature; a value that the pool lacks differs from all of them.
    seen = [
        np.unique(pool[~np.isnan(pool[:, i]), i]) if n not in (0, 2) else np.zeros(2)
        for i, n in enumerate(n_values)
    ]
    n_columns = n_plain + sum(len(values) + 1 for values in seen[n_plain:])
    n_cells = (len(pool) + len(query)) * (2.0 * len(order) + 0.8 * n_columns)  # measured
    ensure_room(8.0 * n_cells, f"Comparing {len(query)} rows with {len(pool)}")
    # |a - b| does not change with the origin, and numbers around 0 lose less in a float32 product.
    centre = np.zeros(len(order))
    centre[:n_plain] = pool[:, :n_plain].mean(axis=0) if len(pool) else 0.0
    pool_alone, right, feature = _factors(pool, centre, n_values, n_plain, seen, right=True)
    query = query.take(order, axis=1)
    own = np.full(len(query), -1) if own is None else own
    query_alone, left, _ = _factors(query, centre, n_values, n_plain, seen, right=False)
    return SquaredSpace(
        query, pool, own, order, n_values, n_plain, query_alone, pool_alone, left, right, feature
    )


def _factors(
    scaled: np.ndarray,
    centre: np.ndarray,
    n_values: np.ndarray,
    n_plain: int,
    seen: list[np.ndarray],
    *,
    right: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(alone, columns, feature): d_i^2(a, b) = alone(a) + alone(b) + left columns(a) . right columns(b)."""
    alone = np.empty(scaled.shape, np.float32)
    plain = (scaled[:, :n_plain] - centre[:n_plain]).astype(np.float32)
    np.square(plain, out=alone[:, :n_plain])
    parts = [-2.0 * plain if right else plain]
    feature = [np.arange(n_plain)]
    for i in range(n_plain, scaled.shape[1]):
        gone = np.isnan(scaled[:, i]).astype(np.float64)
        x = np.where(gone > 0, 0.0, scaled[:, i])
        unlike = both_missing(n_values[i]) ** 2
        if n_values[i] in (0, 2):
            extra = (1.0 - gone) * one_missing(x, n_values[i]) ** 2 - x**2
            alone[:, i] = x**2
            columns = [-2.0 * x, gone, extra] if right else [x, extra + unlike * gone, gone]
        else:
            hot = (x[:, None] == seen[i]) * (1.0 - gone[:, None])
            alone[:, i] = 0.5 * unlike
            columns = [-hot, (1.0 - unlike) * (1.0 - gone)] if right else [hot, 1.0 - gone]
        parts.append(np.column_stack(columns).astype(np.float32))
        feature.append(np.full(parts[-1].shape[1], i))
    return alone, np.hstack(parts) if len(parts) > 1 else parts[0], np.concatenate(feature)
