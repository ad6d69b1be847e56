"""What was understood of every column: kind, values, missing, and anything odd."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..runtime.messages import first_names, plural, short
from .columns import Column
from .odd_features import odd_features
from .table import Table
from .target import Target
from .tasks import TASKS

_SHOWN_NOTES = 8
_SHOWN_VALUES = 4


class ColumnSummary(NamedTuple):
    """One column as it was understood.

    Attributes
    ----------
    name : str
    role : {"feature", "target", "left out"}
    kind : {"numeric", "nominal"}
    values : str
        The smallest and the largest number, or how many values there are and the first of them.
    missing : int
        Rows without a value.
    odd : str
        What is worth a look, "" for nothing.
    """

    name: str
    role: str
    kind: str
    values: str
    missing: int
    odd: str


def summarize_table(table: Table, remarks: Mapping[str, Sequence[str]]) -> list[ColumnSummary]:
    """A row per feature; `remarks` are what reading it has said, by name.

    Examples
    --------
    >>> values, names = np.array([[1.5, 0], [np.nan, 1]]), ("size", "colour")
    >>> table = Table(values, np.array([0, 2]), names, (None, ("a", "b")))
    >>> for row in summarize_table(table, {}): print(*row, sep=" | ")
    size | feature | numeric | 1.5 | 1 | is constant and cannot matter
    colour | feature | nominal | 2: a, b | 0 |
    """
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    missing = np.isnan(table.values).sum(axis=0)
    odd = odd_features(table)
    return [
        _row(
            name, "feature", _span(low[j], high[j]) if categories is None else _listed(categories),
            categories is None, int(missing[j]), [*remarks.get(name, ()), *odd.get(j, ())],
        )
        for j, (name, categories) in enumerate(zip(table.names, table.categories))
    ]  # fmt: skip


def summarize_target(target: Target) -> list[ColumnSummary]:
    """A row per target variable, or one for all labels of a set.

    Examples
    --------
    >>> target = Target("regression", np.array([[1.5], [np.nan]]), ("y",), np.ones(1))
    >>> summarize_target(target)
    [ColumnSummary(name='y', role='target', kind='numeric', values='1.5', missing=1, odd='')]
    """
    unknown = int((~target.labeled).sum())
    if target.classes is not None:
        return [_row(target.names[0], "target", _listed(target.classes.tolist()), False, unknown, ())]
    if TASKS[target.task].is_label_set:
        return [_row("labels", "target", _listed(target.names), False, unknown, ())]
    low, high = np.fmin.reduce(target.values, axis=0), np.fmax.reduce(target.values, axis=0)
    missing = np.isnan(target.values).sum(axis=0)
    return [
        _row(name, "target", _span(low[j], high[j]), True, int(missing[j]), ())
        for j, name in enumerate(target.names)
    ]


def summarize_columns(names: Sequence[str], columns: Sequence[Column]) -> list[ColumnSummary]:
    """Columns whose role is not settled, with what is odd about each as a feature.

    Examples
    --------
    >>> column = Column("number", np.array([1.0, 1.0]), None, np.dtype(float))
    >>> summarize_columns(["size"], [column])[0].odd
    'is constant and cannot matter'
    """
    categories = tuple(column.categories for column in columns)
    n_values = np.array([len(values or ()) for values in categories], dtype=np.int64)
    table = Table(np.array([column.values for column in columns]).T, n_values, tuple(names), categories)
    remarks = {name: column.remarks for name, column in zip(names, columns)}
    for j in np.flatnonzero(np.isinf(table.values).any(axis=0)).tolist():
        remarks[names[j]] += ("holds infinity, which is refused",)
    return [row._replace(role="") for row in summarize_table(table, remarks)]


def summarize_column(name: str, role: str, column: Column) -> ColumnSummary:
    """One column that is no feature."""
    known = column.values[~np.isnan(column.values)]
    if column.kind == "number":
        values = _span(known.min(), known.max()) if len(known) else ""
    else:
        present = np.unique(known.astype(np.int64)).tolist()
        values = _listed([(column.categories or ())[code] for code in present])
    return _row(name, role, values, column.kind == "number", len(column.values) - len(known), column.remarks)


def remark_notes(remarks: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Remarks on columns as notes: the same remark once for all its columns, and not too many in all.

    Examples
    --------
    >>> remark_notes([("a", ["holds dates"]), ("b", ["holds dates"]), ("c", ["stays text"])])
    ['each of 2 columns (a, b) holds dates', "'c' stays text"]
    """
    columns: dict[str, list[str]] = {}
    for name, said in remarks:
        for remark in said:
            columns.setdefault(remark, []).append(name)
    notes = []
    for remark, names in columns.items():
        several = f"each of {len(names)} columns ({first_names(names, 3)})"
        who = short(names[0]) if len(names) == 1 else several
        notes.append(f"{who} {remark}")
    if len(notes) > _SHOWN_NOTES:
        more = plural(len(notes) - _SHOWN_NOTES, "more remark")
        notes[_SHOWN_NOTES:] = [f"{more} on columns: `semirank describe` and `Dataset.columns` show them all"]
    return notes


def count_kinds(columns: Sequence[ColumnSummary]) -> str:
    """One line about all features.

    Examples
    --------
    >>> count_kinds([ColumnSummary("a", "feature", "numeric", "0 to 1", 3, "")])
    '1 numeric and 0 nominal features, 3 values missing'
    """
    features = [column for column in columns if column.role == "feature"]
    numeric = sum(column.kind == "numeric" for column in features)
    missing = sum(column.missing for column in features)
    odd = sum(bool(column.odd) for column in features)
    line = f"{numeric} numeric and {plural(len(features) - numeric, 'nominal feature')}"
    line += f", {plural(missing, 'value')} missing" if missing else ", no value missing"
    return line + (f", {plural(odd, 'column')} with something odd" if odd else "")


def _row(name: str, role: str, values: str, numeric: bool, missing: int, odd: Sequence[str]) -> ColumnSummary:
    return ColumnSummary(name, role, "numeric" if numeric else "nominal", values, missing, "; ".join(odd))


def _span(low: float, high: float) -> str:
    if np.isnan(low):
        return ""
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"


def _listed(values: Sequence[object]) -> str:
    some = first_names([str(value) for value in values[: _SHOWN_VALUES + 1]], _SHOWN_VALUES)
    return f"{len(values)}: {some}" if values else ""
