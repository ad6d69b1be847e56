"""Parquet files, through pyarrow."""

from __future__ import annotations

from pathlib import Path

from ..runtime.memory import ensure_room
from ..runtime.optional import optional
from .columns import FileColumns, arrow_column, unique_names


def read_parquet(path: Path) -> FileColumns:
    """The columns of a Parquet file."""
    complaint = f"Reading {path.name} needs pyarrow; install it with 'pip install pyarrow'."
    pyarrow, parquet = (optional(module, complaint) for module in ("pyarrow", "pyarrow.parquet"))
    try:
        size = parquet.read_metadata(path)
        ensure_room(24.0 * size.num_rows * size.num_columns, f"The table in {path.name}")
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name} is no readable Parquet file ({reason}).") from None
    names = unique_names(table.column_names, len(table.column_names))
    columns = list(map(arrow_column, table.itercolumns(), names))
    skip = {j: "is the frame's index" for j, name in enumerate(names) if name.startswith("__index_level_")}
    return FileColumns(names, columns, skip=skip)
