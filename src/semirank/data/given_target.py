"""What a user passes as y: columns, or a set of labels per row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..runtime.messages import short
from .columns import (
    Column,
    frame_kind,
    is_number,
    make_dense,
    read_array,
    read_column,
    series_kind,
    split_columns,
    unique_names,
)
from .encode_features import feature_names

_COLLECTIONS = (set, frozenset, list, tuple, np.ndarray)


class GivenTarget(NamedTuple):
    """What the user passed as y: columns, or a set of labels (None: unknown) per row."""

    names: tuple[str, ...]
    columns: list[Column]
    label_sets: list[frozenset[object] | None] | None = None
    wide: bool = False  # a 2-D array or frame
    named: bool = False  # the names are the user's

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].values) if self.label_sets is None else len(self.label_sets)


def read_target(y: Any, unlabeled: object) -> GivenTarget:
    """What the user means by y, with the value `unlabeled` as unknown, before its task is settled."""
    if y is None:
        raise ValueError("Ranking requires y to be passed, but the target y is None.")
    if frame_kind(y) is not None:
        names = unique_names(list(y.columns), y.shape[1])
        if not names:
            raise ValueError("y is a frame without columns; give it one per target.")
        columns = [_column(part, name, unlabeled) for part, name in zip(split_columns(y), names)]
        return GivenTarget(names, columns, wide=True, named=feature_names(y) is not None)
    if (cells := _cells_with_sets(y)) is not None:
        return GivenTarget((), [], [_label_set(cell, row, unlabeled) for row, cell in enumerate(cells)])
    if series_kind(y) is not None:
        own = getattr(y, "name", None)
        name = "y" if own in (None, "") else str(own)
        return GivenTarget((name,), [_column(y, name, unlabeled)], named=own is not None)
    array = read_array(make_dense(y, "The sparse target"))
    if array.ndim == 1:
        return GivenTarget(("y",), [_column(array, "y", unlabeled)])
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"y should be a 1d array, or 2d with a column per target, got shape {array.shape}.")
    names = ("y",) if array.shape[1] == 1 else tuple(f"y{j}" for j in range(array.shape[1]))
    columns = [_column(part, name, unlabeled) for part, name in zip(array.T, names)]
    return GivenTarget(names, columns, wide=True)


def _column(values: Any, name: str, unlabeled: object) -> Column:
    """Read one column, with the value `unlabeled` as a hole."""
    if series_kind(values) == "pandas":
        import pandas

        values = pandas.Series(values)
    if values.dtype == object and series_kind(values) != "polars":
        values = np.array(values, dtype=object)
        if unlabeled is not None:
            values[[_same(v, unlabeled) for v in values]] = None
    return hide(read_column(values, name), unlabeled)


def hide(column: Column, unlabeled: object) -> Column:
    """The column with the value `unlabeled` (None: no value) as a hole."""
    if unlabeled is None:
        return column
    if column.categories is None:
        hidden = column.values == unlabeled if is_number(unlabeled) else np.zeros(len(column.values), bool)
    else:
        codes = [i for i, category in enumerate(column.categories) if _same(category, unlabeled)]
        hidden = np.isin(column.values, codes)
    return column._replace(values=np.where(hidden, np.nan, column.values))


def _same(value: object, unlabeled: object) -> bool:
    return type(value).__name__ != "NAType" and bool(value == unlabeled)


def _cells_with_sets(y: Any) -> list[Any] | None:
    """The rows of y if they are sets of labels.

    A list of equally long lists of numbers is a matrix instead; sets are always sets of labels.
    """
    kind = series_kind(y)
    if kind == "polars":
        import polars

        return y.to_list() if y.dtype.is_nested() or y.dtype == polars.Object else None
    given_as_list = isinstance(y, list | tuple)
    is_array = kind == "pandas" or isinstance(y, np.ndarray)
    if not given_as_list and not (is_array and y.dtype == object and y.ndim == 1):
        return None
    cells = list(y)
    if not any(isinstance(cell, _COLLECTIONS) for cell in cells):
        return None
    if given_as_list and all(isinstance(c, list | tuple | np.ndarray) for c in cells):
        text = any(isinstance(v, str) for c in cells for v in c)
        lengths = {len(c) for c in cells}
        if not text and len(lengths) == 1 and lengths != {0}:
            return None
    return cells


def _label_set(cell: Any, row: int, unlabeled: object) -> frozenset[object] | None:
    if isinstance(cell, _COLLECTIONS):
        return frozenset(cell)
    hole = cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, float) and cell != cell)
    if hole or (unlabeled is not None and _same(cell, unlabeled)):
        return None
    raise ValueError(
        f"Row {row} of y is {short(cell)}, not a set of labels; write {{{short(cell)}}}, or None if unknown."
    )
