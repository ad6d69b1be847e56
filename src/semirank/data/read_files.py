"""Files of any format as columns, several of them below each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..runtime.messages import short
from .choose_columns import Selection, find_columns
from .columns import Column, FileColumns, recode
from .hierarchy import Hierarchy
from .missing_words import MISSING, as_number
from .read_arff import read_arff
from .read_csv import read_csv
from .read_excel import read_excel
from .read_parquet import read_parquet
from .read_text import decode, read_bytes
from .word_columns import Reading

ENDINGS = {
    "arff": (".arff",),
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".txt"),
    "excel": (".xlsx", ".xlsm"),
}
BEGINNING = 100_000  # bytes that are looked at to tell the format
_KINDS = {"number": "numbers", "text": "text", "category": "declared values", "bool": "true/false"}


class FileOptions(NamedTuple):
    """How to read files: words for missing values besides the usual ones, decimal mark, kinds of columns.

    In the words of :func:`semirank.load`.
    """

    missing: str | Iterable[str] = ()
    decimal: str = "auto"
    numeric: Selection = ()
    nominal: Selection = ()
    sparse_base: int = 0


def read_files(paths: Sequence[Path], options: FileOptions) -> FileColumns:
    """The columns of files that have the same ones, below each other."""
    files = [_read(path, options) for path in paths]
    first = files[0]
    for file, path in zip(files[1:], paths[1:]):
        if file.names != first.names:
            other = next((a, b) for a, b in zip((*first.names, None), (*file.names, None)) if a != b)
            raise ValueError(
                f"{path.name} does not have the columns of {paths[0].name}: "
                f"{short(other[1])} stands where {short(other[0])} should."
            )
        for name in first.hierarchies.keys() | file.hierarchies.keys():
            if _relations(first.hierarchies.get(name)) != _relations(file.hierarchies.get(name)):
                raise ValueError(
                    f"{path.name} and {paths[0].name} declare different hierarchies for {short(name)}."
                )
    part = np.repeat(np.arange(len(files)), [len(file.columns[0].values) for file in files])
    if len(files) > 1:
        nominal = find_columns(options.nominal, first.names, paths[0].name)
        stacked = [
            _stacked([file.columns[j] for file in files], name, paths, j in nominal)
            for j, name in enumerate(first.names)
        ]
        notes = [f"{path.name}: {note}" for path, file in zip(paths, files) for note in file.notes]
        first = first._replace(columns=stacked, notes=notes)
    return first._replace(part=part)


def _read(path: Path, options: FileOptions) -> FileColumns:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    name = path.name.lower().removesuffix(".gz")
    kind = next((kind for kind, endings in ENDINGS.items() if name.endswith(endings)), None)
    if kind is None:
        with path.open("rb") as file:
            kind = sniff_format(read_bytes(file, path.name, BEGINNING))
    if kind is None:
        raise ValueError(
            f"Cannot tell the format of {path.name}; name it .arff, .csv, .tsv, .xlsx or .parquet."
        )
    if kind == "arff":
        return read_arff(path, sparse_base=options.sparse_base)
    if kind == "parquet":
        return read_parquet(path)

    def choose_kinds(names: Sequence[str]) -> Reading:
        kinds = dict.fromkeys(find_columns(options.nominal, names, path.name), "nominal")
        kinds |= dict.fromkeys(find_columns(options.numeric, names, path.name), "numeric")
        return Reading(MISSING.union(options.missing), options.decimal, kinds)

    return (read_csv if kind == "csv" else read_excel)(path, choose_kinds)


def sniff_format(content: bytes) -> str | None:
    """The format that the first bytes of a file show: "parquet", "arff" or None.

    Examples
    --------
    >>> sniff_format(b"% a comment\\n@RELATION fruit\\n")
    'arff'
    """
    if content[:4] == b"PAR1":
        return "parquet"
    return "arff" if re.search(r"(?im)^\s*@relation\b", decode(content[:BEGINNING])) else None


def _relations(hierarchy: Hierarchy | None) -> set[tuple[str, frozenset[str]]] | None:
    if hierarchy is None:
        return None
    labels = hierarchy.labels
    return {(label, frozenset(labels[p] for p in above)) for label, above in zip(labels, hierarchy.parents)}


def _stacked(columns: Sequence[Column], name: str, paths: Sequence[Path], nominal: bool) -> Column:
    """One column of every file, below each other; columns without any value fit every kind."""
    if nominal and {column.kind for column in columns} == {"number", "text"}:
        columns = [_numbers_as_words(column) for column in columns]
    remarks = tuple(
        dict.fromkeys(
            f"{remark} ({path.name})" if "line" in remark else remark
            for column, path in zip(columns, paths)
            for remark in column.remarks
        )
    )
    filled = [c for c in columns if c.categories is not None or not np.isnan(c.values).all()] or columns
    first = filled[0]
    for column, path in zip(columns, paths):
        if column.kind != first.kind and any(column is c for c in filled):
            raise ValueError(
                f"The column {short(name)} holds {_KINDS[column.kind]} in {path.name}, "
                f"but {_KINDS[first.kind]} elsewhere; settle it with --numeric or --nominal."
            )
        if column.kind == "category" and column.categories != first.categories:
            raise ValueError(f"{path.name} declares other values of {short(name)} than {paths[0].name}.")
    if first.kind != "text":
        dtype = np.result_type(*(c.dtype for c in filled))
        values = np.concatenate([c.values for c in columns])
        return Column(first.kind, values, first.categories, dtype, remarks)
    texts = [[str(category) for category in column.categories or ()] for column in columns]
    categories = tuple(sorted(set().union(*texts)))
    place = {category: float(i) for i, category in enumerate(categories)}
    codes = [recode(c.values, [place[t] for t in text]) for c, text in zip(columns, texts)]
    return Column("text", np.concatenate(codes), categories, first.dtype, remarks)


def _numbers_as_words(column: Column) -> Column:
    """Numbers as the words that most likely spelled them; text as it is."""
    if column.kind != "number":
        return column
    distinct, codes = np.unique(column.values, return_inverse=True)
    words = [f"{value:.0f}" if value % 1 == 0 else repr(float(value)) for value in distinct if value == value]
    known = ~np.isnan(column.values)
    return Column("text", np.where(known, codes, np.nan), tuple(words), np.dtype(object), column.remarks)


def as_numeric(column: Column, name: str) -> Column:
    """A column as numbers because the user says so; its other values are missing."""
    if column.categories is None or column.kind == "bool":
        return column._replace(kind="number", categories=None)
    numbers = [as_number(category) for category in column.categories]
    if column.categories and all(number is None for number in numbers):
        raise ValueError(f"Column {short(name)} holds no number, so it cannot be numeric.")
    new = [np.nan if number is None else number for number in numbers]
    others = [short(category) for category, number in zip(column.categories, numbers) if number is None]
    remark = (
        (f"is read as numbers; other values count as missing: {', '.join(others[:4])}",) if others else ()
    )
    return Column("number", recode(column.values, new), None, np.dtype(np.float64), column.remarks + remark)
