"""Files of any format as columns, several of them below each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..runtime.messages import short
from .columns import Column, FileColumns, recode
from .hierarchy import Hierarchy
from .read_arff import read_arff
from .read_csv import read_csv
from .read_parquet import read_parquet
from .read_text import decode, read_bytes

ENDINGS = {"arff": (".arff",), "parquet": (".parquet", ".pq"), "csv": (".csv", ".tsv", ".txt")}
BEGINNING = 100_000  # bytes that are looked at to tell the format
_KINDS = {"number": "numbers", "text": "text", "category": "declared values", "bool": "true/false"}


def read_files(
    paths: Sequence[Path], sparse_base: int, missing: frozenset[str]
) -> tuple[FileColumns, np.ndarray]:
    """The columns of files that have the same ones, and for every row the number of its file."""
    files = [_read(path, sparse_base, missing) for path in paths]
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
        columns = zip(*(file.columns for file in files))
        first = first._replace(columns=[_stacked(c, name, paths) for c, name in zip(columns, first.names)])
    return first, part


def _read(path: Path, sparse_base: int, missing: frozenset[str]) -> FileColumns:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    name = path.name.lower().removesuffix(".gz")
    kind = next((kind for kind, endings in ENDINGS.items() if name.endswith(endings)), None)
    if kind is None:
        with path.open("rb") as file:
            kind = sniff_format(read_bytes(file, path.name, BEGINNING))
    if kind is None:
        raise ValueError(f"Cannot tell the format of {path.name}; name it .arff, .csv, .tsv or .parquet.")
    if kind == "arff":
        return read_arff(path, sparse_base=sparse_base)
    return read_parquet(path) if kind == "parquet" else read_csv(path, missing)


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


def _stacked(columns: Sequence[Column], name: str, paths: Sequence[Path]) -> Column:
    """One column of every file, below each other; columns without any value fit every kind."""
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
