"""What a user passes as y: columns, or a set of labels per row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..runtime.messages import plural, short
from .columns import (
    Column,
    NamedColumn,
    column_names,
    frame_kind,
    make_dense,
    native_frame,
    read_array,
    read_column,
    series_kind,
    split_columns,
    unique_names,
)
from .encode_features import feature_names
from .missing_words import MISSING, as_number, same

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


def read_target(y: Any, unlabeled: object, notes: list[str] | None = None) -> GivenTarget:
    """What the user means by y, with the value `unlabeled` as unknown, before its task is settled.

    Words for missing values are unknown, too; `notes` collects which, and that `unlabeled` never occurs.
    """
    if y is None:
        raise ValueError("Ranking requires y to be passed, but the target y is None.")
    if not isinstance(unlabeled, Hashable):
        raise TypeError(
            f"unlabeled={unlabeled!r} is not one value; give the value of y that means unknown, for example "
            "-1, and replace others by NaN or None."
        )
    hidden: Counter[object] = Counter()
    given = _read(native_frame(y), unlabeled, hidden)
    if notes is not None:
        taken = (
            "counts as unlabelled" if given.label_sets is None else "counts as no label, alone as unlabelled"
        )
        notes += [
            f"{short(word)} {taken} ({plural(count, 'row')})"
            for word, count in hidden.items()
            if word is not unlabeled
        ]
        if unlabeled is not None and not hidden[unlabeled]:
            notes.append(f"the value {short(unlabeled)} for unlabelled rows never occurs in y")
    return given


def _read(y: Any, unlabeled: object, hidden: Counter[object]) -> GivenTarget:
    if frame_kind(y) is not None:
        own_names = column_names(y)
        names = unique_names(own_names, len(own_names))
        if not names:
            raise ValueError("y is a frame without columns; give it one per target.")
        columns = [_column(part, name, unlabeled, hidden) for part, name in zip(split_columns(y), names)]
        return GivenTarget(names, columns, wide=True, named=feature_names(y) is not None)
    if isinstance(y, NamedColumn):
        return _read(y.values, unlabeled, hidden)._replace(names=(y.name,), named=True)
    if (cells := _cells_with_sets(y)) is not None:
        sets = [_label_set(cell, row, unlabeled, hidden) for row, cell in enumerate(cells)]
        return GivenTarget((), [], sets)
    if series_kind(y) is not None:
        own = getattr(y, "name", None)
        name = "y" if own in (None, "") else str(own)
        return GivenTarget((name,), [_column(y, name, unlabeled, hidden)], named=own is not None)
    array = read_array(make_dense(y, "The sparse target"))
    if array.ndim == 1:
        return GivenTarget(("y",), [_column(array, "y", unlabeled, hidden)])
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"y should be a 1d array, or 2d with a column per target, got shape {array.shape}.")
    names = ("y",) if array.shape[1] == 1 else tuple(f"y{j}" for j in range(array.shape[1]))
    columns = [_column(part, name, unlabeled, hidden) for part, name in zip(array.T, names)]
    return GivenTarget(names, columns, wide=True)


def _column(values: Any, name: str, unlabeled: object, hidden: Counter[object]) -> Column:
    """Read one column; the value `unlabeled` and words for missing values are holes, counted in `hidden`."""
    if series_kind(values) == "pandas":
        import pandas

        values = pandas.Series(values)
    if hasattr(values, "dtype") and values.dtype == object:
        values = np.array(values, dtype=object)
        words = [v if isinstance(v, str) and v in MISSING else None for v in values]
        hidden.update(word for word in words if word)
        values[[word is not None for word in words]] = None
        if unlabeled is not None:
            found = [same(v, unlabeled) for v in values]
            hidden[unlabeled] += sum(found)
            values[found] = None
    column = read_column(values, name)
    without = hide_words(column, hidden)
    final = hide(without, unlabeled)
    if unlabeled is not None:
        hidden[unlabeled] += int((np.isnan(final.values) & ~np.isnan(without.values)).sum())
    return final


def hide(column: Column, unlabeled: object) -> Column:
    """The column with the value `unlabeled` (None: no value), as text or as a number, as a hole."""
    if unlabeled is None:
        return column
    if column.categories is None:
        found = column.values == as_number(unlabeled)
    else:
        codes = [i for i, category in enumerate(column.categories) if same(category, unlabeled)]
        found = np.isin(column.values, codes)
    return column._replace(values=np.where(found, np.nan, column.values))


def hide_words(column: Column, hidden: Counter[object] | None = None) -> Column:
    """The column with words for missing values as holes; `hidden` counts all but the empty ones."""
    words = {i: c for i, c in enumerate(column.categories or ()) if isinstance(c, str) and c in MISSING}
    for code, word in words.items():
        if hidden is not None and word:
            hidden[word] += int((column.values == code).sum())
    return column._replace(values=np.where(np.isin(column.values, list(words)), np.nan, column.values))


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


def _label_set(cell: Any, row: int, unlabeled: object, hidden: Counter[object]) -> frozenset[object] | None:
    """The labels of a row; None if it is not known, or holds nothing but words that say so."""
    if isinstance(cell, _COLLECTIONS):
        labels = frozenset(cell)
        unknown = {label for label in labels if _says_unknown(label, unlabeled, hidden)}
        return None if unknown and unknown == labels else labels - unknown
    hole = cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, float) and cell != cell)
    if hole or _says_unknown(cell, unlabeled, hidden):
        return None
    raise ValueError(
        f"Row {row} of y is {short(cell)}, not a set of labels; write {{{short(cell)}}}, or None if unknown."
    )


def _says_unknown(label: object, unlabeled: object, hidden: Counter[object]) -> bool:
    if isinstance(label, str) and label in MISSING:
        hidden[label] += bool(label)
        return True
    if unlabeled is not None and same(label, unlabeled):
        hidden[unlabeled] += 1
        return True
    return False
