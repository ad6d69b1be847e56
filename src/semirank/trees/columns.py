"""Variables become weighted columns, and features become integer codes (Def. 1.2 and 1.9).

Every impurity is a weighted sum of variances of numeric columns: a numeric or binary variable is one column,
a nominal one its one-hot columns. Scaled by sqrt(weight / training impurity), the value of a split needs sums
of rows only. Columns are kept in two kinds, by the bookkeeping that their missing values need:

full
    known everywhere: one count, the row weight, serves all of them;
group
    columns that are missing together, as the targets of unlabelled rows are: one count per group.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..data.scaling import in_range, spans
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS

_BLOCK = 64  # variables that are scaled at a time: few enough to stay in the processor's cache


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


class Groups(NamedTuple):
    """How the columns with holes are grouped and weighted."""

    start: np.ndarray  # (G + 1,) int64, where the columns of a group begin
    n_single: int  # groups of one column; they come first
    factor: np.ndarray  # (G,) N / k_train
    by_known: bool  # missing_weight == "known" (Def. 1.2)


class Space(NamedTuple):
    """Clustering columns, scaled so that imp is the sum of their variances."""

    full: np.ndarray  # (M, C_full)
    rotated: np.ndarray  # the same rows in at most M coordinates, or `full` itself (`_rotated`)
    size: float  # largest squared length of a row that `rotated` was made from; 0 for `full` itself
    group: np.ndarray  # (M, C_group), 0 where unknown
    group_known: np.ndarray  # (M, G) float64 0/1
    groups: Groups
    knows: np.ndarray  # (M,) uint8, rows that know any group


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
    numeric = table.n_values == 0
    codes = np.full((d, m), -1, dtype=np.int32)
    levels = [np.zeros(0)] * d
    for first in range(0, d, _BLOCK):
        part = slice(first, first + _BLOCK)
        lines = np.ascontiguousarray(table.values[:, part].T)
        known = ~np.isnan(lines)
        complete = known.all(axis=1) & numeric[part]
        codes[part][complete], several = _ranked(lines[complete])
        for j, own in zip(np.flatnonzero(complete), several):
            levels[first + j] = own
        for j in np.flatnonzero(~complete):
            values = lines[j, known[j]]
            if numeric[first + j]:
                (values,), (levels[first + j],) = _ranked(values[None])
            codes[first + j, known[j]] = values
    sizes = np.array([len(own) for own in levels], dtype=np.int64)
    has_missing = np.asarray(codes.min(axis=1, initial=0) < 0, dtype=np.uint8)
    return Tests(
        codes=codes,
        codes_by_row=np.ascontiguousarray(codes.T),
        has_missing=has_missing,
        n_codes=np.where(numeric, sizes, table.n_values),
        nominal=(~numeric).astype(np.uint8),
        levels=np.concatenate([np.zeros(0), *levels]),
        level_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        values=np.ascontiguousarray(table.values, dtype=np.float64),
        plain=bool(not has_missing.any() and numeric.all()),
    )


def _ranked(lines: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The place of every number among the different ones of its line, and these, ascending."""
    low = lines.min(axis=1, initial=np.inf)
    high = lines.max(axis=1, initial=-np.inf)
    upper = lines == high[:, None]
    codes = upper.astype(np.int32)
    # Lines of two numbers, as fingerprints are, need no sort.
    two = (low < high) & (upper | (lines == low[:, None])).all(axis=1)
    levels = list(np.stack([low, high], axis=1))
    others = np.flatnonzero(~two)
    order = np.argsort(lines[others], axis=1)
    ascending = np.take_along_axis(lines[others], order, axis=1)
    new = np.ones(ascending.shape, bool)
    new[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    places = np.empty(ascending.shape, np.int32)
    np.put_along_axis(places, order, np.cumsum(new, axis=1, dtype=np.int32) - 1, axis=1)
    codes[others] = places
    for line, numbers, is_new in zip(others, ascending, new):
        levels[line] = numbers[is_new]
    return codes, levels


class Scaled(NamedTuple):
    """Numbers of several variables, each a line with variance 1; raw = offset + scale * line."""

    lines: np.ndarray  # (variables, M), NaN where unknown
    offset: np.ndarray  # (variables,)
    scale: np.ndarray  # (variables,)
    varies: np.ndarray  # (variables,) bool; a constant one is all zeros


def scale_complete(lines: np.ndarray) -> Scaled:
    """(x - mean) / standard deviation.

    A line is first brought into [0, 1], so that neither 1e300 nor a spread of 1 around 1e9 loses digits.
    """
    low, high = lines.min(axis=1, keepdims=True), lines.max(axis=1, keepdims=True)
    half, width = spans(low, high)
    inside = in_range(lines, low, high)
    mean = inside.mean(axis=1, keepdims=True)
    inside -= mean
    deviation = np.sqrt(np.mean(inside**2, axis=1, keepdims=True))
    inside /= np.where(width > 0, deviation, 1.0)
    offset, scale = (half * low + mean * width) / half, deviation * width / half
    return Scaled(inside, offset[:, 0], scale[:, 0], width[:, 0] > 0)


def scale_known(line: np.ndarray) -> Scaled:
    """The same for one variable, over its known values."""
    known = ~np.isnan(line)
    if not known.any():
        return Scaled(line[None], np.zeros(1), np.ones(1), np.zeros(1, bool))
    scaled = scale_complete(line[None, known])
    whole = np.full((1, len(line)), np.nan)
    whole[0, known] = scaled.lines[0]
    return scaled._replace(lines=whole)


def hot_lines(codes: np.ndarray) -> np.ndarray:
    """One-hot lines of a nominal variable, centred, divided by sqrt(training Gini); none if it is constant.

    With two values they mirror each other: one of them, times sqrt(2), carries both.
    """
    known = ~np.isnan(codes)
    counts = np.bincount(codes[known].astype(np.int64))
    values = np.flatnonzero(counts)
    if len(values) < 2:
        return np.zeros((0, len(codes)))
    shares = counts[values] / counts.sum()
    size = np.sqrt(1 - np.sum(shares**2))
    n_lines = 1 if len(values) == 2 else len(values)
    hot = (codes == values[:n_lines, None]).astype(float)
    hot[:, ~known] = np.nan
    hot = (hot - shares[:n_lines, None]) / size
    return hot * np.sqrt(2) if len(values) == 2 else hot


class Columns(NamedTuple):
    """Columns of the non-constant variables of one side, features or targets; NaN where unknown.

    They do not depend on w, so all supervision levels share them.
    """

    values: np.ndarray  # (M, C), every variable with training impurity 1
    share: np.ndarray  # (C,) weight of the column's variable in the impurity of its side


def feature_columns(table: Table, weights: np.ndarray | None = None, normalize: bool = True) -> Columns:
    """The features, weighted by beta, by default equally (Def. 1.2)."""
    weights = np.ones(table.shape[1]) if weights is None else weights
    return _columns(table.values, table.n_values > 0, weights, normalize)


def target_columns(target: Target, normalize: bool = True) -> Columns:
    """The target variables, weighted by alpha (Def. 1.2)."""
    nominal = np.full(target.values.shape[1], target.task == "classification")
    return _columns(target.values, nominal, target.weights, normalize)


def _columns(values: np.ndarray, nominal: np.ndarray, weights: np.ndarray, normalize: bool) -> Columns:
    """Scale every variable to training impurity 1; those constant on the known values are left out.

    The weights are divided by their sum over the variables that stay, or by the number of these.
    """
    lines, shares = [np.zeros((0, len(values)))], [np.zeros(0)]
    total = 0.0
    for first in range(0, values.shape[1], _BLOCK):
        part = slice(first, first + _BLOCK)
        raw = np.ascontiguousarray(values[:, part].T)
        for block, weight in zip(_scaled_lines(raw, nominal[part]), weights[part]):
            if len(block):
                lines.append(block)
                shares.append(np.full(len(block), weight))
                total += weight if normalize else 1.0
    return Columns(np.ascontiguousarray(np.concatenate(lines).T), np.concatenate(shares) / (total or 1.0))


def _scaled_lines(raw: np.ndarray, nominal: np.ndarray) -> Iterator[np.ndarray]:
    """The columns of every variable as lines, NaN where unknown; none where it is constant."""
    complete = ~nominal & ~np.isnan(raw).any(axis=1)
    several = scale_complete(raw[complete])
    done = zip(several.lines, several.varies)
    for line, is_complete, is_nominal in zip(raw, complete, nominal):
        if is_nominal:
            yield hot_lines(line)
            continue
        if is_complete:
            scaled, varies = next(done)
        else:
            (scaled,), _, _, (varies,) = scale_known(line)
        yield scaled[None] if varies else raw[:0]


def build_space(
    features: Columns, targets: Columns, supervision: float, missing_weight: str = "all"
) -> Space:
    """Clustering columns for one w: features share 1 - w equally, targets share w by alpha."""
    sides = [side for side in ((features, 1 - supervision), (targets, supervision)) if side[1] > 0]
    columns = np.empty((len(features.values), sum(side.values.shape[1] for side, _ in sides)))
    end = 0
    for side, level in sides:
        first, end = end, end + side.values.shape[1]
        np.multiply(side.values, np.sqrt(level * side.share), out=columns[:, first:end])
    return _by_pattern(columns, missing_weight)


def _by_pattern(columns: np.ndarray, missing_weight: str) -> Space:
    unknown = np.isnan(columns)
    holes = unknown.any(axis=0)
    patterns: dict[bytes, list[int]] = {}
    for j in np.flatnonzero(holes):
        patterns.setdefault(np.packbits(unknown[:, j]).tobytes(), []).append(int(j))
    groups = sorted(patterns.values(), key=lambda group: len(group) > 1)
    grouped = [j for group in groups for j in group]
    known = (~unknown[:, [group[0] for group in groups]]).astype(float)
    full = np.ascontiguousarray(columns[:, ~holes] if holes.any() else columns)
    rotated, size = _rotated(full)
    return Space(
        full=full,
        rotated=rotated,
        size=size,
        group=np.ascontiguousarray(np.where(unknown[:, grouped], 0.0, columns[:, grouped])),
        group_known=np.ascontiguousarray(known),
        groups=Groups(
            start=np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64),
            n_single=sum(len(group) == 1 for group in groups),
            factor=len(columns) / np.maximum(known.sum(axis=0), 1),
            by_known=missing_weight == "known",
        ),
        knows=known.any(axis=1).astype(np.uint8),
    )


def is_wide(n_rows: int, n_columns: int) -> bool:
    """Whether complete columns so outnumber the rows that `_rotated` is worth its Gram matrix."""
    return n_columns >= 2 * n_rows


def _rotated(full: np.ndarray) -> tuple[np.ndarray, float]:
    """Fewer coordinates for few rows: a factor of their Gram matrix (Def. 1.9), once for all trees.

    Sums of rows keep their lengths, and thereby every h; thousands of genes of some hundred samples become
    some hundred columns. Pivots are taken by size, as in `payload.rotate`, which does the same for small
    nodes.
    """
    if not is_wide(*full.shape):
        return full, 0.0
    m = len(full)
    from scipy.linalg.lapack import dpstrf

    gram = full @ full.T
    size = float(gram.diagonal().max())
    factor, pivots, rank, _ = dpstrf(gram, tol=1e-15 * m * size, lower=1)
    rotated = np.zeros((m, rank))
    rotated[pivots - 1] = np.tril(factor)[:, :rank]
    return rotated, size


def build_prototype(target: Target) -> Prototype:
    """All target columns, constant ones included: they have prototypes too (Def. 1.3, 1.4)."""
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
    elif TASKS[target.task].is_label_set:
        share = values.sum(axis=0) / count
        variance = share * (1 - share)
        unit[variance > 0] = 1 / variance[variance > 0]
    else:
        for t in range(width):
            (line,), (mean,), (deviation,), (varies,) = scale_known(raw[:, t])
            if varies:
                values[:, t], offset[t], scale[t] = line, mean, deviation
                unit[t] = 1.0
            elif known[:, t].any():
                values[:, t], offset[t] = 0.0, raw[known[:, t], t][0]
        values[~known] = 0.0
    mean = values.sum(axis=0) / count
    return Prototype(values, known.astype(float), variable, unit, m / count, mean, offset, scale)
