"""Data sets from files: what to read, which columns are features, and what the target is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.messages import did_you_mean, short
from .choose_columns import Selection, choose_features, choose_targets, find_columns
from .column_summary import ColumnSummary, remark_notes, summarize_column, summarize_table
from .columns import Column, as_nominal, recode
from .encode_features import table_from_columns
from .encode_target import check_task, encode_given
from .given_target import GivenTarget, hide, hide_words
from .hierarchy import Hierarchy
from .odd_features import identifier_notes
from .read_files import FileColumns, FileOptions, as_numeric, read_files
from .read_text import parse_numbers
from .summary import describe_target, target_questions
from .table import Table
from .target import Target

if TYPE_CHECKING:
    import pandas

_POSITIVE = {"1", "1.0", "yes", "y", "true", "t", "positive", "pos", "present", "on"}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as :func:`load` reads it.

    Attributes
    ----------
    X : Table
        The features, with the declared categories of nominal ones.
    target : Target
        The encoded target.
    target_names : tuple of str
        The target columns of the file.
    target_categories : tuple
        Per target column None (numeric) or its declared values.
    part : ndarray of int
        Per row the number of the file it came from.
    notes : tuple of str
        What was understood, decided or left out.
    remarks : mapping of str to tuple of str
        What is odd about single features.
    others : tuple of ColumnSummary
        The columns that are no features.
    positions : tuple of int
        Which column of the file each feature is, from 0.
    """

    X: Table
    target: Target
    target_names: tuple[str, ...]
    target_categories: tuple[tuple[object, ...] | None, ...]
    part: np.ndarray
    notes: tuple[str, ...]
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[ColumnSummary, ...] = ()
    positions: tuple[int, ...] = ()

    @cached_property
    def columns(self) -> tuple[ColumnSummary, ...]:
        """What was understood of every column: features first, then the target and what was left out."""
        return (*summarize_table(self.X, self.remarks), *self.others)

    @cached_property
    def y(self) -> np.ndarray:
        """The target in the file's own terms.

        Class names (None where unknown), numbers, or a column per target or label; in a hierarchy every label
        comes with its ancestors.
        """
        if self.target.classes is None:
            values = self.target.values
            return values[:, 0] if self.task == "regression" else values
        codes = self.target.values[:, 0]
        classes = np.array([*self.target.classes.tolist(), None], dtype=object)
        return classes[np.where(np.isnan(codes), -1, codes).astype(np.int64)]

    @property
    def task(self) -> str:
        """One of the five tasks."""
        return self.target.task

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The label hierarchy of a hierarchical target."""
        return self.target.hierarchy

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.X.names

    @property
    def categories(self) -> tuple[tuple[object, ...] | None, ...]:
        """Per feature None (numeric) or its declared values."""
        return self.X.categories

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        nominal = int((self.X.n_values > 0).sum())
        numeric = len(self.feature_names) - nominal
        return (
            f"<Dataset: {numeric} numeric and {nominal} nominal features; {describe_target(self.target)[0]}>"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Make a DataFrame of features and target columns, nominal ones as Categorical.

        A hierarchical target is one column of labels joined by "@".
        """
        import pandas

        columns: dict[str, object] = {}
        for name, values, categories in zip(self.X.names, self.X.values.T, self.X.categories):
            if categories is not None:
                codes = np.where(np.isnan(values), -1, values).astype(np.int64)
                values = pandas.Categorical.from_codes(codes, list(categories))
            columns[name] = values
        if self.hierarchy is not None:
            labels = np.array(self.hierarchy.labels, dtype=object)
            known = self.target.labeled
            joined = ["@".join(labels[row == 1]) if k else None for row, k in zip(self.target.values, known)]
            columns[self.target_names[0]] = pandas.Series(joined, dtype=object)
        elif self.target.classes is not None:
            declared = self.target_categories[0] or self.target.classes.tolist()
            columns[self.target_names[0]] = pandas.Categorical(self.y, categories=list(declared))
        else:
            columns.update(zip(self.target_names, self.target.values.T))
        return pandas.DataFrame(columns)


def load(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    targets: Selection | None = None,
    *,
    task: str = "auto",
    drop: Selection = (),
    features: Selection | None = None,
    numeric: Selection = (),
    nominal: Selection = (),
    unlabeled: object = None,
    hierarchy: Any = None,
    hierarchy_decay: float = 0.75,
    sparse_base: int = 0,
    missing: str | Iterable[str] = (),
    decimal: str = "auto",
) -> Dataset:
    """Read a data set from ARFF, CSV (or TSV), Parquet or Excel, the first two gzipped or not.

    Columns are chosen by name, by pattern ("TAG_*"), or by position: a number or a text such as "72-77" or
    "72-77,80", counted from 0, negative numbers from the end, ranges with both ends. An exact name wins.

    Parameters
    ----------
    path : path or sequence of paths
        Several files with the same columns, such as a training and a test part, are put below each other.
    targets : name, position or sequence of them, optional
        The target columns; files other than ARFF need them. Default: the labels that Mulan's XML file
        beside the ARFF file lists (emotions.xml for emotions.arff), else the last column. If the file ends
        with several columns of zeros and ones, the target must be named, unless most features are such.
    task : "auto", "classification", "regression", "multi_target", "multi_label" or "hierarchical"
        "auto" goes by the target: one nominal column is a class, several columns with two values each are
        labels, a hierarchical attribute is a hierarchy.
    drop : columns to leave out
    features : columns to use, default all others
    numeric : columns that are numbers
        Their other words are missing values.
    nominal : columns of numbers that are categories
    unlabeled : scalar, optional
        A target value that means unknown, besides missing values; it is compared as text and as a number.
    hierarchy : anything :meth:`Hierarchy.coerce` takes, optional
        For a target of strings such as "a/b@c" outside CLUS files.
    hierarchy_decay : float, default=0.75
    sparse_base : {0, 1}, default=0
        Number of the first attribute in sparse ARFF rows: 0 for Weka, 1 for CLUS.
    missing : word or iterable of words
        What stands for a missing value besides the usual words: empty cells, ?, NA, N/A, None, null, NaN and
        the others that pandas knows.
    decimal : {"auto", ".", ","}
        The decimal mark of CSV files; "auto" recognises decimal commas.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import semirank as sr
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("size,colour,fruit\\n3.5,red,cherry\\n20,yellow,lemon\\n?,red,\\n")
    >>> data = sr.load(path, "fruit")
    >>> data.X.values.tolist(), data.y.tolist()
    ([[3.5, 0.0], [20.0, 1.0], [nan, 0.0]], ['cherry', 'lemon', None])
    >>> data.notes
    ('classification, 2 classes, 2 of 3 rows labelled', 'the target is fruit: cherry 1, lemon 1')
    >>> data.columns[0]
    ColumnSummary(name='size', role='feature', kind='numeric', values='3.5 to 20', missing=1, odd='')
    """
    tree = None if hierarchy is None else Hierarchy.coerce(hierarchy)
    paths = [Path(p) for p in ([path] if isinstance(path, str | PathLike) else path)]
    if not paths:
        raise ValueError("No file was named; give a path or a list of paths.")
    raw, columns = read_file_columns(paths, FileOptions(missing, decimal, numeric, nominal, sparse_base))
    file, names, part = paths[0].name, raw.names, raw.part
    chosen, nested, choice_notes = choose_targets(targets, raw, paths[0])
    used = choose_features(features, drop, chosen, raw, file)

    X = table_from_columns((columns[j] for j in used), tuple(names[j] for j in used), len(part))
    target_names = tuple(names[j] for j in chosen)
    given = [columns[j] if raw.declared else hide_words(columns[j]) for j in chosen]
    given = _hide_unlabeled(given, target_names, unlabeled)
    target, notes = _target(given, target_names, task, tree or nested, hierarchy_decay, raw)
    kept = {*used, *chosen}
    notes[1:1] = identifier_notes(X)
    notes += [*choice_notes, *raw.notes]
    notes += remark_notes((names[j], columns[j].remarks) for j in sorted(kept))
    notes += [f"{short(names[j])} {raw.skip[j]} and was left out" for j in raw.skip if j not in kept]
    declared = tuple(columns[j].categories for j in chosen)
    others = [summarize_column(names[j], "target", column) for j, column in zip(chosen, given)]
    others += [summarize_column(names[j], "left out", columns[j]) for j in range(len(names)) if j not in kept]
    remarks = {names[j]: columns[j].remarks for j in used if columns[j].remarks}
    return Dataset(
        X, target, target_names, declared, part, tuple(notes), remarks, tuple(others), tuple(used)
    )  # fmt: skip


def read_file_columns(paths: Sequence[Path], options: FileOptions) -> tuple[FileColumns, list[Column]]:
    """What files hold, and their columns of the kinds that the user wants."""
    if options.decimal not in ("auto", ".", ","):
        raise ValueError(f"The decimal mark must be '.' or ',', got {options.decimal!r}.")
    words = _words(options.missing)
    raw = read_files(paths, options._replace(missing=words))
    file, columns = paths[0].name, list(raw.columns)
    if not len(raw.part):
        raise ValueError(f"{file} has no rows.")
    for word in words:
        columns = [hide(column, word) for column in columns]
    numbers = find_columns(options.numeric, raw.names, file)
    for j in find_columns(options.nominal, raw.names, file):
        if j in numbers:
            raise ValueError(f"Column {short(raw.names[j])} cannot be both numeric and nominal.")
        codes, categories = as_nominal(columns[j], raw.names[j])
        columns[j] = columns[j]._replace(kind="category", values=codes, categories=categories)
    for j in numbers:
        columns[j] = as_numeric(columns[j], raw.names[j])
    return raw, columns


def _words(missing: str | Iterable[str]) -> frozenset[str]:
    return frozenset([missing] if isinstance(missing, str) else map(str, missing))


def _hide_unlabeled(columns: list[Column], names: tuple[str, ...], unlabeled: object) -> list[Column]:
    """The target with the value `unlabeled` as a hole; refused if it never occurs."""
    if unlabeled is None:
        return columns
    hidden = [hide(column, unlabeled) for column in columns]
    if all(np.array_equal(a.values, b.values, equal_nan=True) for a, b in zip(columns, hidden)):
        known = [str(value) for column in columns for value in column.categories or ()]
        where = f"the target {short(names[0])}" if len(names) == 1 else "the targets"
        raise ValueError(
            f"The value {short(unlabeled)} for unlabelled rows never occurs in {where}"
            f"{did_you_mean(unlabeled, known)}."
        )
    return hidden


def _target(
    columns: list[Column],
    names: tuple[str, ...],
    task: str,
    tree: Hierarchy | None,
    decay: float,
    raw: FileColumns,
) -> tuple[Target, list[str]]:
    """The encoded target, and what to say about it."""
    declared = [name for name in names if name in raw.hierarchies]
    if declared and len(names) > 1:
        raise ValueError(f"The hierarchical attribute {short(declared[0])} must be the only target.")
    if declared and tree is None and task in ("auto", "hierarchical"):
        tree = raw.hierarchies[declared[0]]
    task = check_task(task, tree)
    notes: dict[str, None] = {}
    several = task in ("multi_label", "multi_target") or (
        task in ("auto", "hierarchical") and len(columns) > 1
    )
    if several and all(c.kind == "number" or len(c.categories or ()) <= 2 for c in columns):
        columns = [_zero_one(column, notes) for column in columns]
    elif task in ("regression", "multi_target"):
        columns = [_values_as_numbers(column) for column in columns]
    hint = task == "auto" and not raw.declared and columns[0].kind == "number"
    if task == "auto" and raw.declared and len(columns) == 1 and columns[0].kind == "number":
        task = "regression"  # the file says that it is a number
    target = encode_given(GivenTarget(names, columns, wide=several, named=True), task, tree, decay)
    return target, [*describe_target(target, inferred_from_numbers=hint), *notes, *target_questions(target)]


def _zero_one(column: Column, notes: dict[str, None]) -> Column:
    """A column of two values as absence and presence of a label; `notes` collects what was decided."""
    if column.kind in ("number", "bool"):
        return column
    categories = column.categories or ()
    yes = [i for i, category in enumerate(categories) if str(category).lower() in _POSITIVE]
    present = yes[0] if len(yes) == 1 else len(categories) - 1 if len(categories) == 2 else None
    if present is not None and categories[present] != "1":
        notes[f"{short(categories[present])} was taken as having the label"] = None
    ones = [float(i == present) for i in range(len(categories))]
    return Column("number", recode(column.values, ones), None, np.dtype(np.float64))


def _values_as_numbers(column: Column) -> Column:
    """A nominal column whose declared values are numbers, as these numbers."""
    numbers = parse_numbers([str(c) for c in column.categories or ()], frozenset())
    if column.kind == "number" or numbers is None:
        return column
    return Column("number", recode(column.values, numbers), None, np.dtype(np.float64))
