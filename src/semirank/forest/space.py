"""Variables become weighted columns, and features become integer codes (DESIGN 1.2 and 4).

Every impurity is a weighted sum of variances of numeric columns: a numeric or binary variable is one column,
a nominal one its one-hot columns. Scaled by sqrt(weight / training impurity), the value of a split needs sums
of rows only. Columns are kept in two kinds, by the bookkeeping that their missing values need:

full
    known everywhere: one count, the row weight, serves all of them;
group
    columns that are missing together, as the targets of unlabelled rows are: one count per group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target


class Tests(NamedTuple):
    """What a test can ask: integer codes in value order, so that x <= t is a comparison of codes."""

    codes: np.ndarray  # (D, M) int32; -1 where missing
    codes_by_row: np.ndarray  # (M, D) int32, the same: many features of few rows lie together here
    has_missing: np.ndarray  # (D,) uint8
    n_codes: np.ndarray  # (D,) int64; distinct numbers, or declared nominal values
    nominal: np.ndarray  # (D,) uint8
    levels: np.ndarray  # float64, the distinct numbers of all numeric features, one after the other
    level_start: np.ndarray  # (D + 1,) int64
    values: np.ndarray  # (M, D) float64, what the codes stand for
    plain: bool  # all features are numeric and known


class Space(NamedTuple):
    """Clustering columns, scaled so that imp of the training set is (at most) 1."""

    full: np.ndarray  # (M, C_full)
    group: np.ndarray  # (M, C_group), 0 where unknown
    group_known: np.ndarray  # (M, G) float64 0/1
    group_start: np.ndarray  # (G + 1,) int64
    n_single: int  # groups of one column; they come first
    group_factor: np.ndarray  # (G,) N / k_train
    knows: np.ndarray  # (M,) uint8, rows that know any group
    by_known: bool  # missing_weight == "known"


class Prototype(NamedTuple):
    """The target as leaves average it and per-target scores measure it; raw = offset + scale * values.

    Classes and labels stay 0/1, so that shares are exact; numbers are standardised.
    """

    values: np.ndarray  # (M, P), 0 where unknown
    known: np.ndarray  # (M, P) float64 0/1
    variable: np.ndarray  # (P,) int64, which target variable a column belongs to
    unit: np.ndarray  # (P,) 1 / training impurity of the variable in these columns; 0 where it is constant
    factor: np.ndarray  # (P,) N / k_train
    mean: np.ndarray  # (P,) of the known values
    offset: np.ndarray  # (P,)
    scale: np.ndarray  # (P,)


def build_tests(table: Table) -> Tests:
    """Codes of all features; computed once per fit."""
    m, d = table.shape
    codes = np.full((d, m), -1, dtype=np.int32)
    n_codes = np.empty(d, dtype=np.int64)
    levels: list[np.ndarray] = []
    start = np.zeros(d + 1, dtype=np.int64)
    for j, column in enumerate(np.ascontiguousarray(table.values.T)):
        known = ~np.isnan(column)
        if table.n_values[j]:
            codes[j, known] = column[known]
            n_codes[j] = table.n_values[j]
            start[j + 1] = start[j]
            continue
        distinct, inverse = np.unique(column[known], return_inverse=True)
        codes[j, known] = inverse
        n_codes[j] = len(distinct)
        levels.append(distinct)
        start[j + 1] = start[j] + len(distinct)
    flat = np.concatenate(levels) if levels else np.zeros(0)
    has_missing = np.asarray(codes.min(axis=1, initial=0) < 0, dtype=np.uint8)
    return Tests(
        codes=codes,
        codes_by_row=np.ascontiguousarray(codes.T),
        has_missing=has_missing,
        n_codes=n_codes,
        nominal=(table.n_values > 0).astype(np.uint8),
        levels=flat,
        level_start=start,
        values=np.ascontiguousarray(table.values, dtype=np.float64),
        plain=bool(not has_missing.any() and not table.n_values.any()),
    )


class Scaled(NamedTuple):
    """Columns of one variable with training impurity 1; the raw column is offset + scale * column."""

    columns: np.ndarray  # (M, columns), NaN where unknown
    offset: np.ndarray  # (columns,)
    scale: np.ndarray  # (columns,)


def scale_numeric(column: np.ndarray) -> Scaled | None:
    """(x - mean) / standard deviation over the known values, or None where they are all equal.

    The column is first brought into [0, 1], so that neither 1e300 nor a spread of 1 around 1e9 loses digits.
    """
    known = column[~np.isnan(column)]
    if len(known) == 0:
        return None
    low, high = known.min(), known.max()
    if low == high:
        return None
    half = 0.5 if max(-low, high) > 1e300 else 1.0  # high - low must not overflow
    width = half * high - half * low
    inside = (half * column - half * low) / width
    known = inside[~np.isnan(inside)] if len(known) < len(column) else inside
    mean = known.mean()
    deviation = np.sqrt(np.mean((known - mean) ** 2))
    offset, scale = (half * low + mean * width) / half, deviation * width / half
    return Scaled(((inside - mean) / deviation)[:, None], np.array([offset]), np.array([scale]))


def scale_nominal(codes: np.ndarray) -> Scaled | None:
    """One-hot columns, centred, divided by sqrt(training Gini); None where only one value occurs."""
    known = ~np.isnan(codes)
    values, counts = np.unique(codes[known], return_counts=True)
    if len(values) < 2:
        return None
    shares = counts / counts.sum()
    root = np.sqrt(1 - np.sum(shares**2))
    hot = (codes[:, None] == values).astype(float)
    hot[~known] = np.nan
    return Scaled((hot - shares) / root, shares, np.full(len(values), root))


def merge_two_values(scaled: Scaled) -> np.ndarray:
    """With two values the one-hot columns mirror each other: one of them, times sqrt(2), carries both."""
    return scaled.columns[:, :1] * np.sqrt(2) if scaled.columns.shape[1] == 2 else scaled.columns


class Columns(NamedTuple):
    """Columns of the non-constant variables of one side, features or targets; NaN where unknown.

    They do not depend on w, so all supervision levels share them.
    """

    values: np.ndarray  # (M, C), every variable with training impurity 1
    share: np.ndarray  # (C,) weight of the column's variable among its side; sums to 1 over the variables


def feature_columns(table: Table) -> Columns:
    """The features, equally weighted (DESIGN 1.2)."""
    columns = np.ascontiguousarray(table.values.T)
    return _columns([(column, n > 0, 1.0) for column, n in zip(columns, table.n_values)], len(table))


def target_columns(target: Target) -> Columns:
    """The target variables, weighted by alpha (DESIGN 1.2)."""
    nominal = target.task == "classification"
    pairs = [(target.values[:, t], nominal, alpha) for t, alpha in enumerate(target.weights)]
    return _columns(pairs, len(target))


def _columns(variables: list[tuple[np.ndarray, bool, float]], n_rows: int) -> Columns:
    """Scale every variable to training impurity 1; those constant on the known values are left out."""
    blocks, shares = [np.zeros((n_rows, 0))], [np.zeros(0)]
    weights = 0.0
    for column, nominal, weight in variables:
        scaled = scale_nominal(column) if nominal else scale_numeric(column)
        if scaled is None:
            continue
        block = merge_two_values(scaled) if nominal else scaled.columns
        blocks.append(block)
        shares.append(np.full(block.shape[1], weight))
        weights += weight
    return Columns(np.concatenate(blocks, axis=1), np.concatenate(shares) / (weights or 1.0))


def build_space(
    features: Columns, targets: Columns, supervision: float, missing_weight: str = "all"
) -> Space:
    """Clustering columns for one w: features share 1 - w equally, targets share w by alpha."""
    sides = [
        side.values * np.sqrt(level * side.share)
        for side, level in ((features, 1 - supervision), (targets, supervision))
        if level > 0
    ]
    return _by_pattern(np.concatenate(sides, axis=1), missing_weight)


def _by_pattern(columns: np.ndarray, missing_weight: str) -> Space:
    unknown = np.isnan(columns)
    holes = unknown.any(axis=0)
    patterns: dict[bytes, list[int]] = {}
    for j in np.flatnonzero(holes):
        patterns.setdefault(np.packbits(unknown[:, j]).tobytes(), []).append(int(j))
    groups = sorted(patterns.values(), key=lambda group: len(group) > 1)
    grouped = [j for group in groups for j in group]
    known = (~unknown[:, [group[0] for group in groups]]).astype(float)
    return Space(
        full=np.ascontiguousarray(columns[:, ~holes]),
        group=np.ascontiguousarray(np.where(unknown, 0.0, columns)[:, grouped]),
        group_known=np.ascontiguousarray(known),
        group_start=np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64),
        n_single=sum(len(group) == 1 for group in groups),
        group_factor=len(columns) / np.maximum(known.sum(axis=0), 1),
        knows=known.any(axis=1).astype(np.uint8),
        by_known=missing_weight == "known",
    )


def build_prototype(target: Target) -> Prototype:
    """All target columns, constant ones included: they have prototypes too (DESIGN 1.3, 1.4)."""
    raw = target.columns()
    m, width = raw.shape
    known = ~np.isnan(raw)
    count = np.maximum(known.sum(axis=0), 1)
    values = np.where(known, raw, 0.0)
    unit, offset, scale = np.zeros(width), np.zeros(width), np.ones(width)
    variable = np.arange(width, dtype=np.int64)
    if target.task == "classification":
        variable[:] = 0
        gini = 1 - np.sum((values.sum(axis=0) / count) ** 2)
        unit[:] = 1 / gini if gini > 0 else 0.0
    elif target.task in ("multi_label", "hierarchical"):
        share = values.sum(axis=0) / count
        variance = share * (1 - share)
        unit[variance > 0] = 1 / variance[variance > 0]
    else:
        for t in range(width):
            scaled = scale_numeric(raw[:, t])
            if scaled is not None:
                values[:, t], offset[t], scale[t] = scaled.columns[:, 0], scaled.offset[0], scaled.scale[0]
                unit[t] = 1.0
            elif known[:, t].any():
                values[:, t], offset[t] = 0.0, raw[known[:, t], t][0]
        values[~known] = 0.0
    mean = values.sum(axis=0) / count
    return Prototype(values, known.astype(float), variable, unit, m / count, mean, offset, scale)
