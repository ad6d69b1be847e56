"""Columns as read, written to .csv, .tsv or .parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..runtime.atomic_write import atomic_write
from ..runtime.optional import optional
from .columns import Column

FORMATS = (".csv", ".tsv", ".parquet")


def write_table(path: Path, names: Sequence[str], columns: Sequence[Column]) -> None:
    """Write columns under their names, missing values as empty cells; the file appears whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.csv"
    >>> size = Column("number", np.array([1.0, np.nan, 2.5]), None, np.dtype(float))
    >>> kind = Column("text", np.array([0.0, 1.0, 0.0]), ("old", "new"), np.dtype(object))
    >>> write_table(path, ["size", "kind"], [size, kind])
    >>> path.read_text()
    'size,kind\\n1,old\\n,new\\n2.5,old\\n'
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        atomic_write(path, _parquet(path, names, columns))
        return
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*map(_words, columns)))
    atomic_write(path, buffer.getvalue())


def _words(column: Column) -> list[str]:
    if column.categories is None:
        # The shortest text that reads back as the same number; whole numbers without a point.
        return ["" if v != v else repr(v).removesuffix(".0") for v in column.values.tolist()]
    words = [*map(str, column.categories), ""]
    return [words[code] for code in np.where(np.isnan(column.values), -1, column.values).astype(int)]


def _parquet(path: Path, names: Sequence[str], columns: Sequence[Column]) -> bytes:
    complaint = f"Writing {path.name} needs pyarrow; install it with 'pip install pyarrow'."
    pyarrow, parquet = (optional(module, complaint) for module in ("pyarrow", "pyarrow.parquet"))
    arrays = []
    for column in columns:
        gaps = np.isnan(column.values)
        if column.categories is None:
            whole = np.issubdtype(column.dtype, np.integer) and not gaps.all()
            values = np.where(gaps, 0, column.values).astype(np.int64) if whole else column.values
            arrays.append(pyarrow.array(values, mask=gaps))
        else:
            words = [word or None for word in _words(column)]
            arrays.append(pyarrow.array(words, type=pyarrow.string()))
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays, names=list(names)), buffer)
    return buffer.getvalue()
