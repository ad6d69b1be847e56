"""Data sets from ARFF, CSV and Parquet files."""

from __future__ import annotations

import csv
import fnmatch
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime.memory import ensure_room
from ..runtime.messages import did_you_mean, short, short_name
from .encode_features import Column, as_nominal, dates_refused, recode, table_from_columns, unique_names
from .hierarchy import Hierarchy
from .read_arff import read_arff
from .read_text import parse_numbers, read_text
from .table import Table
from .target import Given, Target, check_task, encode_given, hide, said_back

if TYPE_CHECKING:
    import pandas

MISSING = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
_POSITIVE = {"1", "1.0", "yes", "y", "true", "t", "positive", "pos", "present", "on"}

Selection = str | int | Iterable[str | int]


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
    """

    X: Table
    target: Target
    target_names: tuple[str, ...]
    target_categories: tuple[tuple[object, ...] | None, ...]
    part: np.ndarray
    notes: tuple[str, ...]

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
        y = np.full(len(codes), None, dtype=object)
        known = ~np.isnan(codes)
        y[known] = self.target.classes.astype(object)[codes[known].astype(np.int64)]
        return y

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
        said = said_back(self.target, hint=False)[0]
        return f"<Dataset: {numeric} numeric and {nominal} nominal features; {said}>"

    def to_pandas(self) -> pandas.DataFrame:
        """Make a DataFrame of features and target columns, nominal ones as Categorical.

        A hierarchical target is one column of labels joined by "@".
        """
        import pandas

        columns: dict[str, object] = {}
        for j, (name, categories) in enumerate(zip(self.X.names, self.X.categories)):
            values = self.X.values[:, j]
            columns[name] = values if categories is None else _categorical(values, categories)
        if self.hierarchy is not None:
            labels = np.array(self.hierarchy.labels, dtype=object)
            known = self.target.labeled
            joined = ["@".join(labels[row == 1]) if k else None for row, k in zip(self.target.values, known)]
            columns[self.target_names[0]] = pandas.Series(joined, dtype=object)
        elif self.target.classes is not None:
            place = {
                value: i for i, value in enumerate(self.target_categories[0] or self.target.classes.tolist())
            }
            codes = np.array([np.nan if v is None else place[v] for v in self.y])
            columns[self.target_names[0]] = _categorical(codes, tuple(place))
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
    nominal: Selection = (),
    unlabeled: object = None,
    hierarchy: Any = None,
    hierarchy_decay: float = 0.75,
    sparse_base: int = 0,
    missing: Iterable[str] = MISSING,
) -> Dataset:
    """Read a data set from ARFF, CSV (or TSV) or Parquet, gzipped or not.

    Columns are chosen by name, by pattern ("TAG_*") or by position (from 0, negative from the end).

    Parameters
    ----------
    path : path or sequence of paths
        Several files with the same columns, such as a training and a test part, are put below each other.
    targets : name, position or sequence of them, optional
        The target columns. Default: the last attribute of an ARFF file; other files need it.
    task : "auto", "classification", "regression", "multi_target", "multi_label" or "hierarchical"
        "auto" goes by the target: one nominal column is a class, several columns with two values each are
        labels, a hierarchical attribute is a hierarchy.
    drop : columns to leave out
    features : columns to use, default all others
    nominal : columns of numbers that are categories
    unlabeled : scalar, optional
        A target value that means unknown, besides missing values.
    hierarchy : anything :meth:`Hierarchy.coerce` takes, optional
        For a target of strings such as "a/b@c" outside CLUS files.
    hierarchy_decay : float, default=0.75
    sparse_base : {0, 1}, default=0
        Number of the first attribute in sparse ARFF rows: 0 for Weka, 1 for CLUS.
    missing : iterable of str
        What stands for a missing value in CSV files.

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
    ('classification, 2 classes, 2 of 3 rows labelled',)
    """
    tree = None if hierarchy is None else Hierarchy.coerce(hierarchy)
    paths = [Path(p) for p in ([path] if isinstance(path, str | PathLike) else path)]
    if not paths:
        raise ValueError("No file was named; give a path or a list of paths.")
    raw, part = _stack([_read(p, sparse_base, frozenset(missing)) for p in paths], paths)
    file, names, columns = paths[0].name, raw.names, list(raw.columns)
    if not len(part):
        raise ValueError(f"{file} has no rows.")
    for j in _find(nominal, names, file):
        codes, categories = as_nominal(columns[j], names[j])
        columns[j] = Column("category", codes, categories, columns[j].dtype)
    chosen = _chosen_targets(targets, raw, file)
    used = _chosen_features(features, drop, chosen, raw, file)

    X = table_from_columns((columns[j] for j in used), _at(names, used), len(part), None)
    given = [hide(columns[j], unlabeled) for j in chosen]
    target, notes = _target(given, _at(names, chosen), task, tree, hierarchy_decay, raw)
    notes += raw.notes
    kept = {*used, *chosen}
    notes += [f"{short(names[j])} {raw.skip[j]} and was left out" for j in raw.skip if j not in kept]
    declared = tuple(columns[j].categories for j in chosen)
    return Dataset(X, target, _at(names, chosen), declared, part, tuple(notes))


class _Raw(NamedTuple):
    """The columns of a file, whatever its format."""

    names: tuple[str, ...]
    columns: list[Column]
    declared: bool  # the file itself says what kind a column is
    hierarchies: dict[str, Hierarchy]
    skip: dict[int, str]  # columns that are no features unless asked for, and why
    notes: list[str]


def _read(path: Path, sparse_base: int, missing: frozenset[str]) -> _Raw:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    kind = _format(path)
    if kind == "arff":
        return _from_arff(path, sparse_base)
    return _from_parquet(path) if kind == "parquet" else _from_csv(path, missing)


def _format(path: Path) -> str:
    """By the name's ending, else by how the file begins."""
    name = path.name.lower().removesuffix(".gz")
    for kind, endings in {
        "arff": (".arff",),
        "parquet": (".parquet", ".pq"),
        "csv": (".csv", ".tsv", ".txt"),
    }.items():
        if name.endswith(endings):
            return kind
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    if re.search(r"(?im)^\s*@relation\b", read_text(path)[:100_000]):
        return "arff"
    raise ValueError(f"Cannot tell the format of {path.name}; name it .arff, .csv, .tsv or .parquet.")


def _from_arff(path: Path, sparse_base: int) -> _Raw:
    arff = read_arff(path, sparse_base=sparse_base)
    columns, hierarchies, skip = [], {}, {}
    for j, (attribute, cells) in enumerate(zip(arff.attributes, arff.cells)):
        if attribute.kind == "numeric":
            columns.append(Column("number", cells, None, np.dtype(np.float64)))
            continue
        kind = "category" if attribute.kind == "nominal" else "text"
        columns.append(Column(kind, cells, attribute.values, np.dtype(object)))
        if attribute.hierarchy is not None:
            hierarchies[attribute.name] = attribute.hierarchy
            skip[j] = "is a set of labels"
        elif attribute.kind == "key":
            skip[j] = "names the rows"
    return _Raw(tuple(a.name for a in arff.attributes), columns, True, hierarchies, skip, [])


def _from_csv(path: Path, missing: frozenset[str]) -> _Raw:
    text = read_text(path)
    delimiter = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    header: list[str] = []
    rows = []
    try:
        for row in reader:
            if not row or row == [""]:
                continue
            if not header:
                header = [cell.strip() for cell in row]
                continue
            if len(row) != len(header):
                raise ValueError(
                    f"{path.name}, line {reader.line_num}: {len(row)} values, {len(header)} expected."
                )
            rows.append([cell.strip() for cell in row])
    except csv.Error as error:
        raise ValueError(f"{path.name}, line {reader.line_num}: {error}.") from None
    if not header:
        raise ValueError(f"{path.name} is empty.")
    names = unique_names([name or f"unnamed{j}" for j, name in enumerate(header)], len(header))
    columns = [_csv_column(cells, missing) for cells in zip(*rows)] or [_csv_column((), missing)] * len(names)
    notes, skip = [], {}
    if all(_number(name) for name in header):
        notes.append("the first line was taken as column names although it holds numbers")
    first = columns[0].values
    if not header[0] and columns[0].kind == "number" and (first[1:] == first[:-1] + 1).all():
        skip[0] = "counts the rows"
    return _Raw(names, columns, False, {}, skip, notes)


def _delimiter(text: str) -> str:
    """The sign that cuts the first lines into the same number of cells, the most cells winning."""
    start = [line for line in text[:100_000].split("\n")[:20] if line.strip()]
    lines = start[:-1] or [text.partition("\n")[0]]

    def cells(sign: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True)]
        except csv.Error:
            return False, 0
        return widths[0] > 1 and len(set(widths)) == 1, widths[0]

    return max(",;\t|", key=cells) if any(line.strip() for line in lines) else ","


def _number(cell: str) -> bool:
    return parse_numbers([cell], frozenset()) is not None


def _csv_column(cells: Sequence[str], missing: frozenset[str]) -> Column:
    numbers = parse_numbers(cells, missing)
    if numbers is not None:
        known = numbers[~np.isnan(numbers)]
        whole = len(known) and np.isfinite(known).all() and (known == np.floor(known)).all()
        return Column("number", numbers, None, np.dtype(np.int64 if whole else np.float64))
    categories = tuple(sorted(set(cells) - missing))
    code = {**dict.fromkeys(missing, np.nan), **{v: float(i) for i, v in enumerate(categories)}}
    return Column("text", np.array([code[cell] for cell in cells]), categories, np.dtype(object))


def _from_parquet(path: Path) -> _Raw:
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"Reading {path.name} needs pyarrow; install it with 'pip install pyarrow'."
        ) from None
    try:
        size = pyarrow.parquet.read_metadata(path)
        ensure_room(24.0 * size.num_rows * size.num_columns, f"The table in {path.name}")
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name} is no readable Parquet file ({reason}).") from None
    names = unique_names(table.column_names, len(table.column_names))
    columns = [_arrow_column(column, name) for column, name in zip(table.itercolumns(), names)]
    skip = {j: "is the frame's index" for j, name in enumerate(names) if name.startswith("__index_level_")}
    return _Raw(names, columns, False, {}, skip, [])


def _arrow_column(column: Any, name: str) -> Column:
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_boolean(kind):
        values = column.cast(pyarrow.int8()).cast(pyarrow.float64()).to_numpy()
        return Column("bool", values, (False, True), np.dtype(bool))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        own = np.dtype(np.int64 if types.is_integer(kind) else np.float64)
        return Column("number", column.cast(pyarrow.float64(), safe=False).to_numpy(), None, own)
    if types.is_temporal(kind):
        raise ValueError(dates_refused(name))
    text = types.is_string(kind) or types.is_large_string(kind)
    if not text and not types.is_dictionary(kind):
        raise ValueError(
            f"Column {short(name)} is of type {short_name(str(kind))}, "
            "which is neither numbers nor categories."
        )
    whole = pyarrow.table({"_": column.dictionary_encode() if text else column}).unify_dictionaries()
    array = whole.combine_chunks().column(0)
    categories = array.chunk(0).dictionary.to_pylist() if array.num_chunks else []
    codes = (
        array.chunk(0).indices.cast(pyarrow.float64()).to_numpy(zero_copy_only=False) if categories else None
    )
    if codes is None:
        return Column("number", np.full(len(column), np.nan), None, np.dtype(np.float64))
    if not text:
        return Column("category", codes, tuple(categories), np.dtype(object))
    order = sorted(range(len(categories)), key=categories.__getitem__)
    return Column(
        "text", recode(codes, np.argsort(order)), tuple(categories[i] for i in order), np.dtype(object)
    )


def _stack(raws: list[_Raw], paths: list[Path]) -> tuple[_Raw, np.ndarray]:
    """One file below the other."""
    first = raws[0]
    for raw, path in zip(raws[1:], paths[1:]):
        if raw.names != first.names:
            other = next((a, b) for a, b in zip((*first.names, None), (*raw.names, None)) if a != b)
            raise ValueError(
                f"{path.name} does not have the columns of {paths[0].name}: "
                f"{short(other[1])} stands where {short(other[0])} should."
            )
        for name in first.hierarchies.keys() | raw.hierarchies.keys():
            if _relations(first.hierarchies.get(name)) != _relations(raw.hierarchies.get(name)):
                raise ValueError(
                    f"{path.name} and {paths[0].name} declare different hierarchies for {short(name)}."
                )
    part = np.repeat(np.arange(len(raws)), [len(raw.columns[0].values) for raw in raws])
    if len(raws) == 1:
        return first, part
    columns = [
        _stack_columns([raw.columns[j] for raw in raws], name, paths) for j, name in enumerate(first.names)
    ]
    return first._replace(columns=columns), part


def _relations(hierarchy: Hierarchy | None) -> set[tuple[str, frozenset[str]]] | None:
    if hierarchy is None:
        return None
    labels = hierarchy.labels
    return {(label, frozenset(labels[p] for p in above)) for label, above in zip(labels, hierarchy.parents)}


def _stack_columns(columns: list[Column], name: str, paths: list[Path]) -> Column:
    filled = [c for c in columns if c.categories is not None or not np.isnan(c.values).all()] or columns
    first = filled[0]
    for column, path in zip(columns, paths):
        if column.kind != first.kind and any(column is c for c in filled):
            raise ValueError(
                f"The column {short(name)} holds {_KINDS[column.kind]} in {path.name}, "
                f"but {_KINDS[first.kind]} elsewhere."
            )
        if column.kind == "category" and column.categories != first.categories:
            raise ValueError(f"{path.name} declares other values of {short(name)} than {paths[0].name}.")
    if first.kind != "text":
        dtype = np.result_type(*(c.dtype for c in filled))
        return Column(first.kind, np.concatenate([c.values for c in columns]), first.categories, dtype)
    texts = [[str(category) for category in column.categories or ()] for column in columns]
    categories = tuple(sorted(set().union(*texts)))
    place = {category: float(i) for i, category in enumerate(categories)}
    codes = [recode(c.values, [place[t] for t in text]) for c, text in zip(columns, texts)]
    return Column("text", np.concatenate(codes), categories, first.dtype)


_KINDS = {"number": "numbers", "text": "text", "category": "declared values", "bool": "true/false"}


def _chosen_targets(targets: Selection | None, raw: _Raw, file: str) -> list[int]:
    if targets is None:
        if raw.declared:
            return [len(raw.names) - 1]
        shown = ", ".join(map(short_name, raw.names[:5])) + (", ..." if len(raw.names) > 5 else "")
        raise ValueError(f"Name the target column of {file}, one of {shown}.")
    chosen = _find(targets, raw.names, file)
    if not chosen:
        raise ValueError("No target column was named.")
    return chosen


def _chosen_features(
    features: Selection | None, drop: Selection, targets: list[int], raw: _Raw, file: str
) -> list[int]:
    out = set(_find(drop, raw.names, file))
    for j in targets:
        if j in out:
            raise ValueError(f"The target {short(raw.names[j])} cannot also be dropped.")
    if features is None:
        left = {*out, *targets, *raw.skip}
        used = [j for j in range(len(raw.names)) if j not in left]
    else:
        used = [j for j in _find(features, raw.names, file) if j not in out]
    if not used:
        raise ValueError(f"{file} has no feature columns left beside the target.")
    for j in {*targets} & {*used}:
        raise ValueError(f"{short(raw.names[j])} cannot be a feature and the target at once.")
    return used


def _find(selection: Selection, names: tuple[str, ...], file: str) -> list[int]:
    """Positions of the chosen columns."""
    items = [selection] if isinstance(selection, str | int | np.integer) else list(selection)
    place = {name: j for j, name in enumerate(names)}
    found: dict[int, None] = {}
    for item in items:
        if isinstance(item, str) and item in place:
            found[place[item]] = None
        elif isinstance(item, str) and not re.fullmatch(r"[+-]?\d+", item):
            match = [j for j, name in enumerate(names) if fnmatch.fnmatchcase(name, item)]
            if not match:
                raise ValueError(f"{file} has no column {short(item)}{did_you_mean(item, names)}.")
            found.update(dict.fromkeys(match))
        else:
            position = int(item)
            if not -len(names) <= position < len(names):
                raise ValueError(
                    f"{file} has {len(names)} columns, so there is no position {short(position)}."
                )
            found[position % len(names)] = None
    return list(found)


def _at(names: tuple[str, ...], positions: list[int]) -> tuple[str, ...]:
    return tuple(names[j] for j in positions)


def _target(
    columns: list[Column],
    names: tuple[str, ...],
    task: str,
    tree: Hierarchy | None,
    decay: float,
    raw: _Raw,
) -> tuple[Target, list[str]]:
    """The encoded target, and what to say about it."""
    declared = [name for name in names if name in raw.hierarchies]
    if declared and len(names) > 1:
        raise ValueError(f"The hierarchical attribute {short(declared[0])} must be the only target.")
    if declared and tree is None and task in ("auto", "hierarchical"):
        tree = raw.hierarchies[declared[0]]
    task = check_task(task, tree)
    notes: dict[str, None] = {}
    several = task in ("multi_label", "multi_target") or (task == "auto" and len(columns) > 1)
    if several and all(c.kind == "number" or len(c.categories or ()) <= 2 for c in columns):
        columns = [_zero_one(column, notes) for column in columns]
    elif task in ("regression", "multi_target"):
        columns = [_values_as_numbers(column) for column in columns]
    hint = task == "auto" and not raw.declared and columns[0].kind == "number"
    if task == "auto" and raw.declared and len(columns) == 1 and columns[0].kind == "number":
        task = "regression"  # the file says that it is a number
    target = encode_given(
        Given(names, columns, None, several, True, len(columns[0].values)), task, tree, decay
    )
    return target, [*said_back(target, hint=hint), *notes]


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


def _categorical(codes: np.ndarray, categories: tuple[object, ...]) -> pandas.Categorical:
    import pandas

    return pandas.Categorical.from_codes(
        np.where(np.isnan(codes), -1, codes).astype(np.int64), list(categories)
    )
